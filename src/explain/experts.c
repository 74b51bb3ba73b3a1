#include "explain/experts.h"

#include <string.h>

#include "graph/constant.h"
#include "graph/ops.h"

#define MATRIX_RANK 2
#define STACK_RANK  3

/* What an operator is to a gate. */
enum {
    BEFORE = 1, /* the gate reads of it */
    PURE = 2,   /* made of the gate alone */
    MEETS = 4,  /* reads what is pure and an activation that is not */
    SEEN = 8
};

typedef struct {
    const clv_graph *g;
    const clv_types *types;
    const bool *constant;
    bool *sized; /* by operator: made of sizes alone */
    clv_experts *ret;
    uint8_t *is;     /* by operator, of the gate that is looked at */
    int32_t *stack;  /* of a search */
    int32_t *last;   /* separate products found */
    int32_t n_last;  /* of them */
    int32_t gate;    /* operator */
    int32_t end;     /* the last operator that reads what is pure */
    int64_t experts; /* E */
} finder;

/* -- what operators are -- */

static bool is_weight(const finder *f, clv_tensor t)
{
    return clv_is_constant(f->g, f->constant, t);
}

static int32_t rank_of(const finder *f, clv_tensor t)
{
    const clv_type *type = &f->types->of[t.i];
    return type->kind == CLV_TYPE_TENSOR ? type->rank : 0;
}

static int64_t last_dim(const finder *f, clv_tensor t)
{
    int32_t rank = t.i >= 0 ? rank_of(f, t) : 0;
    return rank > 0 ? f->types->of[t.i].dims[rank - 1] : 0;
}

/* The weight of a product of an activation with it, of matrices or more; CLV_NO_TENSOR. */
static clv_tensor weight_of(const finder *f, int32_t op)
{
    const clv_op_info *info = &f->g->ops[op];
    clv_tensor found = CLV_NO_TENSOR;
    bool any = false;
    if (info->kind < 0 || !(clv_op_def_at(info->kind)->flags & CLV_OPF_CONTRACTION))
        return CLV_NO_TENSOR;
    for (int32_t k = 0; k < clv_op_n_explicit(info); k++) {
        clv_tensor t = clv_op_input(f->g, info, k);
        bool weight = is_weight(f, t);
        any |= t.i >= 0 && !weight;
        if (weight && found.i < 0 && rank_of(f, t) >= MATRIX_RANK)
            found = t;
    }
    return any ? found : CLV_NO_TENSOR;
}

static bool is_stack(const finder *f, clv_tensor weight)
{
    return weight.i >= 0 && rank_of(f, weight) == STACK_RANK &&
           f->types->of[weight.i].dims[0] == f->experts;
}

/* Sizes alone go out of it. */
static bool gives_sizes(const clv_op_info *op)
{
    return clv_str_is(op->type, "Shape") || clv_str_is(op->type, "Size");
}

static bool chooses(const finder *f, const clv_op_info *op)
{
    static const char *const types[] = { "TopK", "ArgMax", "Hardmax", "Softmax" };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (clv_str_is(op->type, types[i]))
            return last_dim(f, clv_op_input(f->g, op, 0)) == f->experts;
    return false;
}

/* The operator that makes input k, where that is an activation; -1. */
static int32_t maker_of(const finder *f, const clv_op_info *op, int32_t k)
{
    clv_tensor t = clv_op_input(f->g, op, k);
    if (t.i < 0 || is_weight(f, t))
        return -1;
    return clv_tensor_at(f->g, t)->producer.i;
}

static void mark_sized(finder *f)
{
    for (int32_t i = 0; i < f->g->n_ops; i++) {
        const clv_op_info *op = &f->g->ops[i];
        bool all = op->n_in > 0 && !f->constant[i];
        for (int32_t k = 0; k < op->n_in && all; k++) {
            clv_tensor t = clv_op_input(f->g, op, k);
            int32_t maker = maker_of(f, op, k);
            all = t.i < 0 || is_weight(f, t) || (maker >= 0 && f->sized[maker]);
        }
        f->sized[i] = all || gives_sizes(op);
    }
}

/* -- the surroundings of a gate -- */

/* From the gate backwards; operators are in topological order. */
static void mark_before(finder *f)
{
    f->is[f->gate] |= BEFORE;
    for (int32_t i = f->gate; i >= 0; i--)
        for (int32_t k = 0; f->is[i] & BEFORE && k < f->g->ops[i].n_in; k++) {
            int32_t maker = maker_of(f, &f->g->ops[i], k);
            if (maker >= 0)
                f->is[maker] |= BEFORE;
        }
}

/* Sizes, and what is made of them alone, mix with nothing. */
static bool is_activation(const finder *f, const clv_op_info *op, int32_t k)
{
    clv_tensor t = clv_op_input(f->g, op, k);
    if (t.i < 0 || is_weight(f, t))
        return false;
    int32_t maker = clv_tensor_at(f->g, t)->producer.i;
    bool is_known = f->types->value && f->types->value[t.i];
    return !is_known && (maker < 0 || !f->sized[maker]);
}

/* The last operator that reads what op writes; readers are in order. */
static int32_t last_reader(const finder *f, const clv_op_info *op)
{
    int32_t last = -1;
    for (int32_t k = 0; k < op->n_out; k++) {
        clv_tensor t = clv_op_output(f->g, op, k);
        const clv_tensor_info *info = t.i >= 0 ? clv_tensor_at(f->g, t) : NULL;
        int32_t n = info ? info->n_readers : 0;
        int32_t reader = n > 0 ? f->g->readers_of[info->first_reader + n - 1].i : -1;
        last = reader > last ? reader : last;
    }
    return last;
}

/* From the gate on: what is pure, and where it meets others. Is there a choice among experts? */
static bool mark_pure(finder *f)
{
    bool any = false;
    f->end = last_reader(f, &f->g->ops[f->gate]);
    for (int32_t i = f->gate + 1; i <= f->end; i++) {
        const clv_op_info *op = &f->g->ops[i];
        bool pure = false, mixed = false;
        for (int32_t k = 0; k < op->n_in; k++) {
            int32_t maker = maker_of(f, op, k);
            bool of_gate = maker >= 0 && (maker == f->gate || f->is[maker] & PURE);
            pure |= of_gate;
            mixed |= !of_gate && is_activation(f, op, k);
        }
        /* features of the product before any choice: it was no gate, and chains stay short */
        bool is_layer = !mixed && !any && weight_of(f, i).i >= 0;
        if (!pure || is_layer || gives_sizes(op))
            continue;
        f->is[i] |= mixed ? MEETS : PURE;
        any |= !mixed && chooses(f, op);
        int32_t last = mixed ? -1 : last_reader(f, op);
        f->end = last > f->end ? last : f->end;
    }
    return any;
}

/* -- experts between -- */

static void push(finder *f, int32_t *n, int32_t op)
{
    if (op < 0 || f->is[op] & (BEFORE | PURE | SEEN))
        return;
    f->is[op] |= SEEN;
    f->stack[(*n)++] = op;
}

/* Backwards from where results are taken, up to the products with matrices. */
static void find_backwards(finder *f)
{
    int32_t n = 0;
    for (int32_t i = f->gate; i < f->g->n_ops; i++)
        if (f->is[i] & MEETS)
            push(f, &n, i);
    while (n > 0) {
        int32_t i = f->stack[--n];
        clv_tensor weight = weight_of(f, i);
        if (is_stack(f, weight))
            f->ret->stacked[i] = true;
        else if (weight.i >= 0) {
            f->last[f->n_last++] = i;
            continue;
        }
        for (int32_t k = 0; k < f->g->ops[i].n_in; k++)
            push(f, &n, maker_of(f, &f->g->ops[i], k));
    }
}

/* Something beside comes in that the gate too reads of: a residual connection. */
static bool joins_others(const finder *f, const clv_op_info *op)
{
    for (int32_t k = 0; k < op->n_in; k++) {
        int32_t maker = maker_of(f, op, k);
        if (maker >= 0 && f->is[maker] & BEFORE)
            return true;
    }
    return false;
}

/* Is what it reads there once for each expert? Slices that all meet the same, as heads do, are
 * known by what is taken of their results alone. */
static bool reads_by_expert(const finder *f, const clv_op_info *op)
{
    for (int32_t k = 0; k < clv_op_n_explicit(op); k++) {
        clv_tensor t = clv_op_input(f->g, op, k);
        int32_t rank = t.i >= 0 && !is_weight(f, t) ? rank_of(f, t) : 0;
        for (int32_t d = 0; d < rank - MATRIX_RANK; d++) {
            clv_dim dim = f->types->of[t.i].dims[d];
            if (dim == f->experts || dim < 0)
                return true;
        }
    }
    return false;
}

/* Forwards from where tokens are sent, through stacks and what is not a product with a weight. */
static void find_forwards(finder *f)
{
    for (int32_t i = 0; i < f->g->n_ops; i++)
        f->is[i] &= (uint8_t)~SEEN;
    for (int32_t i = f->gate + 1; i < f->g->n_ops; i++) {
        const clv_op_info *op = &f->g->ops[i];
        bool follows = f->is[i] & MEETS;
        for (int32_t k = 0; k < op->n_in && !follows; k++) {
            int32_t maker = maker_of(f, op, k);
            follows = maker >= 0 && f->is[maker] & SEEN && !joins_others(f, op);
        }
        clv_tensor weight = follows ? weight_of(f, i) : CLV_NO_TENSOR;
        bool is_expert = is_stack(f, weight) && reads_by_expert(f, op);
        if (is_expert)
            f->ret->stacked[i] = true;
        if (follows && (weight.i < 0 || is_expert))
            f->is[i] |= SEEN;
    }
}

/* Slices of a stack by the numbers that were chosen. */
static void find_lookups(finder *f)
{
    for (int32_t i = f->gate + 1; i < f->g->n_ops; i++) {
        const clv_op_info *op = &f->g->ops[i];
        if (f->is[i] & PURE && clv_str_is(op->type, "Gather"))
            f->ret->stacked[i] |=
                is_weight(f, clv_op_input(f->g, op, 0)) && is_stack(f, clv_op_input(f->g, op, 0));
    }
}

static bool are_alike(const finder *f, clv_tensor a, clv_tensor b)
{
    const clv_type *x = &f->types->of[a.i], *y = &f->types->of[b.i];
    return rank_of(f, a) == MATRIX_RANK && rank_of(f, b) == MATRIX_RANK &&
           memcmp(x->dims, y->dims, MATRIX_RANK * sizeof *x->dims) == 0;
}

/* As many products of one size as there are experts. */
static void take_separate(finder *f)
{
    bool alike = f->n_last == f->experts;
    for (int32_t i = 0; i < f->n_last && alike; i++)
        alike = are_alike(f, weight_of(f, f->last[0]), weight_of(f, f->last[i]));
    for (int32_t i = 0; i < f->n_last && alike; i++)
        f->ret->router[f->last[i]] = f->ret->n_routers;
    f->ret->n_routers += alike;
}

/* A product with a matrix of at least two columns, which a choice is made of soon behind. */
static bool may_be_gate(finder *f, int32_t op)
{
    clv_tensor weight = weight_of(f, op), out = clv_op_output(f->g, &f->g->ops[op], 0);
    f->gate = op;
    f->experts = out.i >= 0 ? last_dim(f, out) : 0;
    return weight.i >= 0 && rank_of(f, weight) == MATRIX_RANK && f->experts > 1;
}

clv_status clv_experts_find(const clv_graph *g, const clv_types *types, const bool *constant,
                            clv_arena *arena, clv_experts *ret, clv_error *err)
{
    finder f = { .g = g, .types = types, .constant = constant, .ret = ret };
    *ret = (clv_experts){ .stacked = CLV_NEW_ARRAY(arena, bool, g->n_ops),
                          .router = CLV_NEW_ARRAY(arena, int32_t, g->n_ops) };
    f.is = CLV_NEW_ARRAY(arena, uint8_t, g->n_ops);
    f.stack = CLV_NEW_ARRAY(arena, int32_t, g->n_ops);
    f.last = CLV_NEW_ARRAY(arena, int32_t, g->n_ops);
    f.sized = CLV_NEW_ARRAY(arena, bool, g->n_ops);
    if (!ret->stacked || !ret->router || !f.is || !f.stack || !f.last || !f.sized)
        return clv_fail_nomem(err, "the experts of a model");
    mark_sized(&f);
    for (int32_t i = 0; i < g->n_ops; i++)
        ret->router[i] = -1;
    for (int32_t i = 0; i < g->n_ops; i++) {
        if (constant[i] || !may_be_gate(&f, i))
            continue;
        f.n_last = 0;
        if (mark_pure(&f)) {
            mark_before(&f);
            find_backwards(&f);
            find_forwards(&f);
            find_lookups(&f);
            take_separate(&f);
            f.end = g->n_ops - 1;
            memset(f.is, 0, (size_t)i);
        }
        if (f.end >= i)
            memset(f.is + i, 0, (size_t)(f.end - i + 1));
    }
    return CLV_OK;
}

bool clv_has_stacked_experts(const clv_experts *experts, const clv_graph *g, clv_op op)
{
    clv_str type = clv_op_at(g, op)->type;
    return experts->stacked[op.i] || clv_str_is(type, "MoE") || clv_str_is(type, "QMoE");
}
