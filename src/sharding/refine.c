/* refine.c - factors taken apart so that neighbours can agree.
 *
 * A Split of [b, s, 3 * h] into three takes a third of each of its outputs from each third of its
 * input: on a device its input is split within 3 outer pieces. The product before it has one factor
 * n for that dimension, and splits it into plain runs, which is another layout. Taken apart into
 * n' = 3 and n, it can split n within n', too; the columns of its weights then lie on the devices
 * in that order, and nobody has to move anything. So from each dimension that begins with something
 * whole the operators are followed, through all factors that are the same dimension, until a
 * product with weights is found; then they are all taken apart. What leads to no such product, or
 * to more than a few operators, stays as it is: it would only make choices that nobody takes.
 *
 * Where the part that comes first can be split as well, follow.c finds what has to be taken apart.
 */
#include <stdio.h>

#include "graph/ops.h"
#include "sharding/resolve.h"

/* Operators between a fused product and where its parts go their own ways: a bias, a reshape, a
 * transposition, the pieces. A chain of more is the stream that runs through all layers. */
#define CHAIN_MAX 48

/* -- one rule -- */

bool clv_factor_divisible(const clv_factor *one, int64_t outer)
{
    bool kind = one->kind == CLV_FACTOR_PARALLEL || one->kind == CLV_FACTOR_REDUCED;
    return kind && !one->by_index && one->size > outer && one->size % outer == 0 &&
           one->size / outer % one->granule == 0;
}

static int32_t count_places(const clv_factors *f)
{
    int32_t n = 0;
    for (int32_t k = 0; k < f->n_in + f->n_out; k++) {
        const clv_operand_factors *o = k < f->n_in ? &f->in[k] : &f->out[k - f->n_in];
        for (int32_t i = 0; i < o->rank; i++)
            n += o->dims[i].n;
    }
    for (int32_t i = 0; i < f->n_local; i++)
        n += f->local[i].of.n;
    return n;
}

static clv_dim_factors refined_dim(clv_dim_factors d, int32_t factor, int16_t outer, int16_t **room)
{
    clv_dim_factors ret = { .at = *room };
    for (int32_t i = 0; i < d.n; i++) {
        if (d.at[i] == factor)
            (*room)[ret.n++] = outer;
        (*room)[ret.n++] = d.at[i];
    }
    *room += ret.n;
    return ret;
}

static bool refine_operand(const clv_operand_factors *o, int32_t factor, int16_t outer,
                           int16_t **room, clv_arena *arena, clv_operand_factors *ret)
{
    clv_dim_factors *dims = CLV_NEW_ARRAY(arena, clv_dim_factors, o->rank);
    *ret = *o;
    ret->dims = dims;
    for (int32_t i = 0; dims && i < o->rank; i++)
        dims[i] = refined_dim(o->dims[i], factor, outer, room);
    return dims != NULL;
}

static void refine_factors(const clv_factors *f, int32_t factor, int64_t outer, clv_factor *ret)
{
    for (int32_t i = 0; i < f->n_factors; i++)
        ret[i] = f->factors[i];
    clv_factor *inner = &ret[factor], *one = &ret[f->n_factors];
    *one = *inner;
    one->size = outer;
    one->granule = 1;
    inner->size /= outer;
    size_t n = strlen(one->name);
    if (n + 1 < sizeof one->name)
        one->name[n] = '\'';
}

clv_status clv_factors_refine(const clv_factors *f, int32_t factor, int64_t outer, clv_arena *arena,
                              clv_factors *ret, clv_error *err)
{
    int16_t added = (int16_t)f->n_factors;
    clv_factors new = *f;
    int32_t n = f->n_in + f->n_out;
    clv_factor *factors = CLV_NEW_ARRAY(arena, clv_factor, f->n_factors + 1);
    clv_operand_factors *operands = CLV_NEW_ARRAY(arena, clv_operand_factors, n);
    clv_local *local = CLV_NEW_ARRAY(arena, clv_local, f->n_local);
    int16_t *room = CLV_NEW_ARRAY(arena, int16_t, 2 * (size_t)count_places(f));
    bool ok = factors && operands && local && room;
    if (ok)
        refine_factors(f, factor, outer, factors);
    for (int32_t k = 0; ok && k < n; k++)
        ok = refine_operand(k < f->n_in ? &f->in[k] : &f->out[k - f->n_in], factor, added, &room,
                            arena, &operands[k]);
    if (!ok)
        return clv_fail_nomem(err, "a sharding rule");
    for (int32_t i = 0; i < f->n_local; i++) {
        local[i] = f->local[i];
        local[i].of = refined_dim(f->local[i].of, factor, added, &room);
    }
    new.n_factors++;
    new.factors = factors;
    new.in = operands;
    new.out = operands + f->n_in;
    new.local = local;
    *ret = new;
    return CLV_OK;
}

/* -- a chain of operators -- */

typedef struct {
    clv_tensor tensor;
    int32_t dim;
} place;

typedef struct {
    int32_t op, factor;
} step;

typedef struct {
    const clv_graph *graph;
    clv_factors *all;
    int64_t outer;
    step steps[CHAIN_MAX];
    place places[8 * CHAIN_MAX]; /* looked at, and to be looked at */
    int32_t n_steps, n_places;
    bool too_long, found; /* found: a product with weights */
} chain;

static void add_place(chain *c, clv_tensor tensor, int32_t dim)
{
    for (int32_t i = 0; i < c->n_places; i++)
        if (c->places[i].tensor.i == tensor.i && c->places[i].dim == dim)
            return;
    if (c->n_places == 8 * CHAIN_MAX)
        c->too_long = true;
    else
        c->places[c->n_places++] = (place){ tensor, dim };
}

/* A constant of the file, or what one operator makes of such. */
static bool is_constant(const clv_graph *g, clv_tensor t)
{
    const clv_tensor_info *info = &g->tensors[t.i];
    if (info->role == CLV_TENSOR_WEIGHT)
        return true;
    if (info->role != CLV_TENSOR_RESULT)
        return false;
    const clv_op_info *op = &g->ops[info->producer.i];
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor in = clv_op_input(g, op, k);
        if (in.i >= 0 && g->tensors[in.i].role != CLV_TENSOR_WEIGHT)
            return false;
    }
    return true;
}

static bool begins_with(const clv_operand_factors *o, int32_t dim, int32_t factor)
{
    return o->dims[dim].n > 0 && o->dims[dim].at[0] == factor;
}

/* The factor of an operator is part of the chain: so are all dimensions that begin with it. */
static void add_step(chain *c, int32_t op, int32_t factor)
{
    const clv_factors *f = &c->all[op];
    const clv_op_info *info = &c->graph->ops[op];
    bool product = info->kind >= 0 && clv_op_def_at(info->kind)->flags & CLV_OPF_CONTRACTION;
    for (int32_t i = 0; i < c->n_steps; i++)
        if (c->steps[i].op == op && c->steps[i].factor == factor)
            return;
    if (c->n_steps == CHAIN_MAX) {
        c->too_long = true;
        return;
    }
    c->steps[c->n_steps++] = (step){ op, factor };
    for (int32_t k = 0; k < f->n_in + f->n_out; k++) {
        bool out = k >= f->n_in;
        const clv_operand_factors *o = out ? &f->out[k - f->n_in] : &f->in[k];
        clv_tensor t =
            out ? clv_op_output(c->graph, info, k - f->n_in) : clv_op_input(c->graph, info, k);
        for (int32_t i = 0; t.i >= 0 && i < o->rank; i++) {
            if (!begins_with(o, i, factor))
                continue;
            c->found |= product && !out && is_constant(c->graph, t);
            add_place(c, t, i);
        }
    }
}

static void visit_operand(chain *c, int32_t op, const clv_operand_factors *o, int32_t dim)
{
    if (dim >= o->rank || o->dims[dim].n == 0)
        return;
    int32_t factor = o->dims[dim].at[0];
    if (clv_factor_divisible(&c->all[op].factors[factor], c->outer))
        add_step(c, op, factor);
}

/* Each operator that writes or reads the tensor. */
static void visit(chain *c, place at)
{
    const clv_graph *g = c->graph;
    const clv_tensor_info *info = &g->tensors[at.tensor.i];
    for (int32_t i = -1; i < info->n_readers && !c->too_long; i++) {
        int32_t op = i < 0 ? info->producer.i : g->readers_of[info->first_reader + i].i;
        if (op < 0 || c->all[op].why_whole)
            continue;
        const clv_factors *f = &c->all[op];
        for (int32_t k = 0; k < f->n_in; k++)
            if (clv_op_input(g, &g->ops[op], k).i == at.tensor.i)
                visit_operand(c, op, &f->in[k], at.dim);
        for (int32_t k = 0; k < f->n_out; k++)
            if (clv_op_output(g, &g->ops[op], k).i == at.tensor.i)
                visit_operand(c, op, &f->out[k], at.dim);
    }
}

static clv_status follow(chain *c, clv_tensor tensor, int32_t dim, clv_arena *arena, clv_error *err)
{
    c->n_steps = c->n_places = 0;
    c->too_long = c->found = false;
    add_place(c, tensor, dim);
    for (int32_t i = 0; i < c->n_places && !c->too_long; i++)
        visit(c, c->places[i]);
    for (int32_t i = 0; i < c->n_steps && c->found && !c->too_long; i++) {
        clv_factors *f = &c->all[c->steps[i].op];
        CLV_TRY(clv_factors_refine(f, c->steps[i].factor, c->outer, arena, f, err));
    }
    return CLV_OK;
}

/* -- a graph -- */

/* The product of the whole factors that a dimension begins with; 1 if it does not, or if nothing
 * after them can be split. */
static int64_t whole_before(const clv_factors *f, const clv_dim_factors *d)
{
    int64_t product = 1;
    for (int32_t i = 0; i < d->n; i++) {
        const clv_factor *one = &f->factors[d->at[i]];
        if (one->kind != CLV_FACTOR_WHOLE)
            return one->size > 1 ? product : 1;
        if (one->size < 1 || __builtin_mul_overflow(product, one->size, &product))
            return 1;
    }
    return 1;
}

static clv_status follow_operand(chain *c, const clv_factors *f, const clv_operand_factors *o,
                                 clv_tensor t, clv_arena *arena, clv_error *err)
{
    for (int32_t i = 0; t.i >= 0 && i < o->rank; i++) {
        c->outer = whole_before(f, &o->dims[i]);
        if (c->outer > 1)
            CLV_TRY(follow(c, t, i, arena, err));
    }
    return CLV_OK;
}

clv_status clv_factors_all(const clv_model *model, const clv_types *types, clv_arena *arena,
                           clv_factors **ret, clv_error *err)
{
    const clv_graph *g = types->graph;
    clv_factors *all = CLV_NEW_ARRAY(arena, clv_factors, g->n_ops);
    chain *c = CLV_NEW(arena, chain);
    if (!all || !c)
        return clv_fail_nomem(err, "the sharding rules");
    c->graph = g;
    c->all = all;
    CLV_TRY(clv_factors_resolve_all(model, types, arena, all, err));
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_factors f = all[i]; /* as it is now: the chain may take others apart */
        for (int32_t k = 0; k < f.n_in + f.n_out; k++) {
            bool out = k >= f.n_in;
            clv_tensor t =
                out ? clv_op_output(g, &g->ops[i], k - f.n_in) : clv_op_input(g, &g->ops[i], k);
            CLV_TRY(follow_operand(c, &f, out ? &f.out[k - f.n_in] : &f.in[k], t, arena, err));
        }
    }
    *ret = all;
    return clv_factors_follow(types, all, arena, err);
}
