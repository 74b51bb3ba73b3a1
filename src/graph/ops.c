/* ops.c - the lines of ops.def as a table, and the way from a name to its line.
 *
 * ops.def is made of runs: lines of one domain, sorted by name. The runs' starts are known when
 * this file is compiled, so a name is found by a binary search in each run of its domain and no
 * table is built when the program starts.
 */
#include "graph/ops.h"

#include <assert.h>

#include "graph/graph.h"

#define DOMAIN_STD   ""
#define DOMAIN_ML    "ai.onnx.ml"
#define DOMAIN_TRAIN "ai.onnx.preview.training"
#define DOMAIN_MS    "com.microsoft"

static const clv_op_def defs[] = {
#define CLV_OP(domain, name, shape, fold, flops, k, bytes, flags, rule)                            \
    { DOMAIN_##domain, #name, CLV_FLOPS_##flops, k, CLV_BYTES_##bytes, flags, rule },
#include "graph/ops.def"
};

/* Each line counts one; START_<run> is the count where a run begins, without counting itself. */
enum {
#define CLV_RUN(domain, name)                                           START_##name, BEFORE_##name = START_##name - 1,
#define CLV_OP(domain, name, shape, fold, flops, k, bytes, flags, rule) LINE_##domain##_##name,
#include "graph/ops.def"
    N_LINES
};

typedef struct {
    const char *domain;
    int32_t start;
} op_run;

static const op_run runs[] = {
#define CLV_RUN(domain, name) { DOMAIN_##domain, START_##name },
#define CLV_OP(domain, name, shape, fold, flops, k, bytes, flags, rule)
#include "graph/ops.def"
};

#define N_RUNS ((int32_t)(sizeof runs / sizeof runs[0]))

static int32_t find_in(int32_t from, int32_t to, clv_str type)
{
    while (from < to) {
        int32_t middle = from + (to - from) / 2;
        int d = clv_str_cmp(type, clv_str_of(defs[middle].name));
        if (d == 0)
            return middle;
        if (d < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return CLV_OPKIND_UNKNOWN;
}

int32_t clv_n_op_defs(void) { return N_LINES; }

const clv_op_def *clv_op_def_at(int32_t kind)
{
    assert(kind >= 0 && kind < N_LINES);
    return &defs[kind];
}

int32_t clv_op_def_find(clv_str domain, clv_str type)
{
    for (int32_t i = 0; i < N_RUNS; i++) {
        if (!clv_str_is(domain, runs[i].domain))
            continue;
        int32_t found = find_in(runs[i].start, i + 1 < N_RUNS ? runs[i + 1].start : N_LINES, type);
        if (found >= 0)
            return found;
    }
    return CLV_OPKIND_UNKNOWN;
}
