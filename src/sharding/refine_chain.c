#include "sharding/refine_chain.h"

#include "graph/ops.h"

/* Operators between a fused product and where its parts go their own ways: a bias, a reshape, a
 * transposition, the pieces. A chain of more is the stream that runs through all layers. */
#define CHAIN_MAX 48

typedef struct {
    int32_t op, factor;
    int64_t outer; /* of the factor, that come first */
} step;

struct clv_chain_refiner {
    const clv_graph *graph;
    clv_factors *all;
    clv_arena *arena;
    step steps[CHAIN_MAX];
    clv_dim_place places[8 * CHAIN_MAX]; /* looked at, and to be looked at */
    int32_t n_steps, n_places;
    bool at_start;       /* only factors that a dimension begins with */
    bool gave_up, found; /* found: a product with weights */
};

clv_status clv_chain_refiner_new(const clv_graph *graph, clv_factors *all, clv_arena *arena,
                                 clv_chain_refiner **ret, clv_error *err)
{
    clv_chain_refiner *c = CLV_NEW(arena, clv_chain_refiner);
    if (!c)
        return clv_fail_nomem(err, "the sharding rules");
    c->graph = graph;
    c->all = all;
    c->arena = arena;
    *ret = c;
    return CLV_OK;
}

static void add_place(clv_chain_refiner *c, clv_dim_place new)
{
    for (int32_t i = 0; i < c->n_places; i++)
        if (c->places[i].tensor.i == new.tensor.i && c->places[i].dim == new.dim &&
            c->places[i].outer == new.outer)
            return;
    if (c->n_places == 8 * CHAIN_MAX)
        c->gave_up = true;
    else
        c->places[c->n_places++] = new;
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

/* The factors of a dimension that come before one; -1: it is not there, or they are too many. */
static int64_t product_before(const clv_factors *f, const clv_dim_factors *d, int32_t factor)
{
    int64_t product = 1;
    for (int32_t i = 0; i < d->n; i++) {
        int64_t size = f->factors[d->at[i]].size;
        if (d->at[i] == factor)
            return product;
        if (size < 0 || __builtin_mul_overflow(product, size, &product))
            return -1;
    }
    return -1;
}

/* All dimensions of an operator that have the factor are taken apart with it. */
static void add_places(clv_chain_refiner *c, const step *s)
{
    const clv_factors *f = &c->all[s->op];
    const clv_op_info *info = &c->graph->ops[s->op];
    bool product = info->kind >= 0 && clv_op_def_at(info->kind)->flags & CLV_OPF_CONTRACTION;
    for (int32_t k = 0; k < f->n_in + f->n_out; k++) {
        bool out = k >= f->n_in;
        const clv_operand_factors *o = out ? &f->out[k - f->n_in] : &f->in[k];
        clv_tensor t =
            out ? clv_op_output(c->graph, info, k - f->n_in) : clv_op_input(c->graph, info, k);
        for (int32_t i = 0; t.i >= 0 && i < o->rank; i++) {
            int64_t outer = product_before(f, &o->dims[i], s->factor);
            bool begins = !c->at_start || (outer > 0 && o->dims[i].at[0] == s->factor);
            if (!begins || outer < 0 || __builtin_mul_overflow(outer, s->outer, &outer))
                continue;
            c->found |= product && !out && is_constant(c->graph, t);
            add_place(c, (clv_dim_place){ t, i, outer });
        }
    }
}

/* A factor that would have to be taken apart at two places at once is not. */
static void add_step(clv_chain_refiner *c, step s)
{
    for (int32_t i = 0; i < c->n_steps; i++)
        if (c->steps[i].op == s.op && c->steps[i].factor == s.factor) {
            c->gave_up |= c->steps[i].outer != s.outer;
            return;
        }
    if (c->n_steps == CHAIN_MAX) {
        c->gave_up = true;
        return;
    }
    c->steps[c->n_steps++] = s;
    add_places(c, &s);
}

static void visit_operand(clv_chain_refiner *c, int32_t op, const clv_operand_factors *o,
                          clv_dim_place at)
{
    if (at.dim >= o->rank || o->dims[at.dim].n == 0)
        return;
    step s = { .op = op, .outer = at.outer };
    s.factor = clv_factor_begins(&c->all[op], &o->dims[at.dim], &s.outer);
    bool begins = !c->at_start || s.factor == o->dims[at.dim].at[0];
    if (s.factor >= 0 && s.outer > 1 && begins &&
        clv_factor_divisible(&c->all[op].factors[s.factor], s.outer))
        add_step(c, s);
}

/* Each operator that writes or reads the tensor. */
static void visit(clv_chain_refiner *c, clv_dim_place at)
{
    const clv_graph *g = c->graph;
    const clv_tensor_info *info = &g->tensors[at.tensor.i];
    for (int32_t i = -1; i < info->n_readers && !c->gave_up; i++) {
        int32_t op = i < 0 ? info->producer.i : g->readers_of[info->first_reader + i].i;
        if (op < 0 || c->all[op].why_whole)
            continue;
        const clv_factors *f = &c->all[op];
        for (int32_t k = 0; k < f->n_in; k++)
            if (clv_op_input(g, &g->ops[op], k).i == at.tensor.i)
                visit_operand(c, op, &f->in[k], at);
        for (int32_t k = 0; k < f->n_out; k++)
            if (clv_op_output(g, &g->ops[op], k).i == at.tensor.i)
                visit_operand(c, op, &f->out[k], at);
    }
}

clv_status clv_refine_chain(clv_chain_refiner *c, clv_dim_place place, bool at_start,
                            clv_error *err)
{
    c->at_start = at_start;
    c->n_steps = c->n_places = 0;
    c->gave_up = c->found = false;
    add_place(c, place);
    for (int32_t i = 0; i < c->n_places && !c->gave_up; i++)
        visit(c, c->places[i]);
    for (int32_t i = 0; i < c->n_steps && c->found && !c->gave_up; i++) {
        const step *s = &c->steps[i];
        clv_factors *f = &c->all[s->op];
        CLV_TRY(clv_factors_refine(f, s->factor, s->outer, c->arena, f, err));
        clv_factor *made = (clv_factor *)f->factors; /* by the line above */
        clv_factor *a = &made[s->factor], *b = &made[f->n_factors - 1];
        char name[sizeof a->name];
        if (at_start)
            continue;
        /* The part that comes first takes the name, where it is what people mean by it: columns in
         * whole heads, not columns of each head. */
        memcpy(name, a->name, sizeof name);
        memcpy(a->name, b->name, sizeof name);
        memcpy(b->name, name, sizeof name);
    }
    return CLV_OK;
}
