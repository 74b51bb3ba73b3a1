/* graph_sums.c - forwards: which tensors may be parts of a sum; backwards: which ways end in a
 * gain; then the factors.
 */
#include "sharding/graph_sums.h"

#include <stdio.h>

#include "graph/linear.h"
#include "sharding/known.h"

#define NONE (-1)

typedef struct {
    const clv_types *types;
    const clv_graph *g;
    clv_factors *all;
    clv_linearity *is; /* by operator */
    bool *gains;       /* by operator: a way that gains something goes through it */
    int32_t *taker;    /* by tensor: the operator that alone reads it, and may read it as parts of a
                          sum that it may be; NONE */
} work;

/* -- forwards -- */

/* Is it there before the run? Then it is no parts of a sum. */
static bool is_given(const work *w, clv_tensor t)
{
    return clv_tensor_at(w->g, t)->role != CLV_TENSOR_RESULT || clv_shard_is_known(w->types, t);
}

static bool can_be_cut(const work *w, clv_tensor t)
{
    clv_tensor_split split;
    return t.i < 0 || clv_split_of_type(&w->types->of[t.i], &split);
}

/* Nobody can add up parts whose size only a run knows. */
static clv_linearity linearity_of(const work *w, clv_op op)
{
    const clv_op_info *info = clv_op_at(w->g, op);
    clv_linearity is = CLV_NOT_LINEAR;
    if (!w->all[op.i].why_whole && !w->all[op.i].by_shape)
        is = clv_op_linearity(w->types, op);
    for (int32_t k = 0; k < info->n_out && is != CLV_NOT_LINEAR; k++)
        if (!can_be_cut(w, clv_op_output(w->g, info, k)))
            is = CLV_NOT_LINEAR;
    for (int32_t k = 0; k < info->n_in && is != CLV_NOT_LINEAR; k++)
        if (clv_is_linear_in(w->types, op, is, k) && !can_be_cut(w, clv_op_input(w->g, info, k)))
            is = CLV_NOT_LINEAR;
    return is;
}

/* The operator that alone reads the tensor, in one place, and is linear there. What several read is
 * added up for all of them, and shapes alone are no data. */
static int32_t find_taker(const work *w, clv_tensor t)
{
    const clv_tensor_info *info = clv_tensor_at(w->g, t);
    int32_t taker = NONE, n_places = 0;
    bool linear = false;
    if (info->is_output || is_given(w, t))
        return NONE;
    for (int32_t r = 0; r < info->n_readers && n_places < 2; r++) {
        clv_op op = w->g->readers_of[info->first_reader + r];
        const clv_op_info *reader = clv_op_at(w->g, op);
        for (int32_t k = 0; k < reader->n_in && !w->all[op.i].by_shape; k++)
            if (clv_op_input(w->g, reader, k).i == t.i) {
                taker = op.i;
                linear = clv_is_linear_in(w->types, op, w->is[op.i], k);
                n_places++;
            }
    }
    return n_places == 1 && linear ? taker : NONE;
}

/* Inputs that may be parts of a sum. */
static int32_t n_taken(const work *w, int32_t op)
{
    const clv_op_info *info = &w->g->ops[op];
    int32_t n = 0;
    for (int32_t k = 0; k < info->n_in && w->is[op] != CLV_NOT_LINEAR; k++) {
        clv_tensor t = clv_op_input(w->g, info, k);
        n += t.i >= 0 && w->taker[t.i] == op;
    }
    return n;
}

static bool makes_sums(const clv_factors *f)
{
    for (int32_t i = 0; i < f->n_factors; i++)
        if (f->factors[i].kind == CLV_FACTOR_REDUCED && f->factors[i].reduce == CLV_REDUCE_SUM &&
            f->factors[i].size > 1)
            return true;
    return false;
}

static void find_takers(work *w)
{
    for (int32_t i = 0; i < w->g->n_ops; i++) {
        const clv_op_info *info = &w->g->ops[i];
        bool sums = makes_sums(&w->all[i]) || n_taken(w, i) > 0;
        for (int32_t k = 0; k < info->n_out; k++) {
            clv_tensor t = clv_op_output(w->g, info, k);
            if (t.i >= 0 && sums)
                w->taker[t.i] = find_taker(w, t);
        }
    }
}

/* -- backwards -- */

/* Is there less to add up behind the operator than before? Of a product it is what is wanted of the
 * next one, which has its own sum. */
static bool makes_less(const work *w, int32_t op)
{
    const clv_op_info *info = &w->g->ops[op];
    int64_t in = 0, out = 0;
    for (int32_t k = 0; k < info->n_in; k++) {
        clv_tensor t = clv_op_input(w->g, info, k);
        if (t.i >= 0 && w->taker[t.i] == op)
            in += clv_type_elems(&w->types->of[t.i]);
    }
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(w->g, info, k);
        out += t.i < 0 ? 0 : clv_type_elems(&w->types->of[t.i]);
    }
    return w->is[op] != CLV_BILINEAR && out < in;
}

static void find_gains(work *w)
{
    for (int32_t i = w->g->n_ops - 1; i >= 0; i--) {
        const clv_op_info *info = &w->g->ops[i];
        int32_t n = n_taken(w, i);
        if (n == 0)
            continue;
        w->gains[i] = (n > 1 && w->is[i] == CLV_ADDITIVE) || makes_less(w, i);
        for (int32_t k = 0; k < info->n_out; k++) {
            clv_tensor t = clv_op_output(w->g, info, k);
            w->gains[i] |= t.i >= 0 && w->taker[t.i] != NONE && w->gains[w->taker[t.i]];
        }
    }
}

/* -- factors -- */

/* Names that no factor of a rule has. */
static const char *name_of(clv_linearity is, int32_t k)
{
    static const char *const of_input[] = { "sum0", "sum1" };
    return is == CLV_BILINEAR ? of_input[k] : "sum";
}

/* Operands of a factor: of parts of input `first`, or of all. What is given is there as a
 * whole; the first device adds it, as it does a bias. */
static void take_sums(const work *w, clv_op op, int32_t first, uint8_t bit, clv_operand_factors *in,
                      int32_t n_in)
{
    clv_linearity is = w->is[op.i];
    for (int32_t k = 0; k < n_in; k++) {
        clv_tensor t = clv_op_input(w->g, clv_op_at(w->g, op), k);
        if (!clv_is_linear_in(w->types, op, is, k) || (is != CLV_ADDITIVE && k != first))
            continue;
        if (is == CLV_ADDITIVE && is_given(w, t))
            in[k].once = true;
        else
            in[k].sums |= bit;
    }
}

static clv_status add_factors(const work *w, clv_op op, clv_arena *arena, clv_error *err)
{
    clv_factors *f = &w->all[op.i];
    clv_factor *factors = CLV_NEW_ARRAY(arena, clv_factor, f->n_factors + 2);
    clv_operand_factors *in = CLV_NEW_ARRAY(arena, clv_operand_factors, f->n_in);
    uint8_t sum = 0;
    if (!factors || !in)
        return clv_fail_nomem(err, "a sharding rule");
    for (int32_t i = 0; i < f->n_factors; i++)
        factors[i] = f->factors[i];
    for (int32_t k = 0; k < f->n_in; k++)
        in[k] = f->in[k];
    for (int32_t k = 0; k < f->n_in; k++) {
        clv_tensor t = clv_op_input(w->g, clv_op_at(w->g, op), k);
        if (t.i < 0 || w->taker[t.i] != op.i || (sum > 0 && w->is[op.i] == CLV_ADDITIVE))
            continue;
        clv_factor *one = &factors[f->n_factors++];
        *one = (clv_factor){ .size = CLV_SUMMANDS_MAX,
                             .kind = CLV_FACTOR_SUMMANDS,
                             .reduce = CLV_REDUCE_SUM,
                             .granule = 1,
                             .sum = sum };
        snprintf(one->name, sizeof one->name, "%s", name_of(w->is[op.i], k));
        take_sums(w, op, k, (uint8_t)(1u << sum++), in, f->n_in);
    }
    f->factors = factors;
    f->in = in;
    return CLV_OK;
}

static clv_status add_all(work *w, clv_arena *arena, clv_arena *scratch, clv_error *err)
{
    w->is = CLV_NEW_ARRAY(scratch, clv_linearity, w->g->n_ops);
    w->gains = CLV_NEW_ARRAY(scratch, bool, w->g->n_ops);
    w->taker = CLV_NEW_ARRAY(scratch, int32_t, w->g->n_tensors);
    if (!w->is || !w->gains || !w->taker)
        return clv_fail_nomem(err, "the sums of a graph");
    for (int32_t t = 0; t < w->g->n_tensors; t++)
        w->taker[t] = NONE;
    for (int32_t i = 0; i < w->g->n_ops; i++)
        w->is[i] = linearity_of(w, (clv_op){ i });
    find_takers(w);
    find_gains(w);
    for (int32_t i = 0; i < w->g->n_ops; i++)
        if (w->gains[i])
            CLV_TRY(add_factors(w, (clv_op){ i }, arena, err));
    return CLV_OK;
}

clv_status clv_factors_add_sums(const clv_types *types, clv_factors *all, clv_arena *arena,
                                clv_error *err)
{
    work w = { .types = types, .g = types->graph, .all = all };
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_status status =
        scratch ? add_all(&w, arena, scratch, err) : clv_fail_nomem(err, "the sums of a graph");
    clv_arena_free(scratch);
    return status;
}
