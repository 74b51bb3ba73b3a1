/* ops.c - the lines of ops.def as a table, and the way from a name to its line.
 *
 * ops.def is made of runs: lines of one domain, sorted by name. The runs' starts are known when
 * this file is compiled, so a name is found by a binary search in each run of its domain and no
 * table is built when the program starts.
 */
#include "graph/ops.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

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

/* -- speeds -- */

static const char *const forms[CLV_N_SPEED_FORMS] = { "", "/grouped", "/depthwise" };

int32_t clv_speed_find(const char *name)
{
    size_t n = strlen(name), n_end = strcspn(name, "/");
    int form = 0;
    while (form < CLV_N_SPEED_FORMS && strcmp(name + n_end, forms[form]) != 0)
        form++;
    if (form == CLV_N_SPEED_FORMS)
        return -1;
    clv_str type = { name, (int32_t)(n - strlen(forms[form])) }, domain = { name, 0 };
    for (int32_t i = 0; i < type.n; i++)
        if (name[i] == '.')
            domain.n = i;
    if (domain.n > 0)
        type = (clv_str){ name + domain.n + 1, type.n - domain.n - 1 };
    int32_t line = clv_op_def_find(domain, type);
    return line < 0 ? -1 : clv_speed_of(line, (clv_speed_form)form);
}

const char *clv_speed_name(int32_t speed, char buf[static CLV_SPEED_NAME_SIZE])
{
    const clv_op_def *def = &defs[speed % N_LINES];

    snprintf(buf, CLV_SPEED_NAME_SIZE, "%s%s%s%s", def->domain, *def->domain ? "." : "", def->name,
             forms[speed / N_LINES]);
    return buf;
}

clv_tensor clv_op_viewed(const clv_graph *g, const clv_op_info *op)
{
    bool is_view = op->kind >= 0 && (clv_op_def_at(op->kind)->flags & CLV_OPF_VIEW);
    return is_view && clv_op_n_explicit(op) > 0 ? clv_op_input(g, op, 0) : CLV_NO_TENSOR;
}

clv_tensor clv_tensor_viewed(const clv_graph *g, clv_tensor t)
{
    const clv_tensor_info *info = clv_tensor_at(g, t);
    if (info->role != CLV_TENSOR_RESULT)
        return CLV_NO_TENSOR;
    const clv_op_info *op = clv_op_at(g, info->producer);
    return clv_op_output(g, op, 0).i == t.i ? clv_op_viewed(g, op) : CLV_NO_TENSOR;
}

clv_tensor clv_tensor_root(const clv_graph *g, clv_tensor t)
{
    for (clv_tensor viewed; (viewed = clv_tensor_viewed(g, t)).i >= 0;)
        t = viewed;
    return t;
}
