/* graph_factors.c - layers repeat: the rule of an operator whose kind, attributes, shapes and
 * values were seen before is the same.
 */
#include "sharding/graph_factors.h"

#include "base/key.h"
#include "base/map.h"
#include "sharding/graph_sums.h"
#include "sharding/refine_chain.h"
#include "sharding/refine_fused.h"
#include "sharding/resolve.h"

#define FEW 64 /* different operators that there is room for at once */
/* Elements of a value that are compared; with more an operator is like none. */
#define VALUE_MAX 64

/* -- operators that are alike -- */

/* False: there may be no other like it, as it has a graph or a tensor. */
static bool add_attr(clv_key *key, const clv_attr *a)
{
    clv_key_add_bytes(key, a->name.at, (size_t)a->name.n);
    clv_key_add(key, (int64_t)a->kind);
    clv_key_add(key, a->n);
    switch (a->kind) {
    case CLV_ATTR_FLOAT:
        clv_key_add_bytes(key, &a->f, sizeof a->f);
        break;
    case CLV_ATTR_INT:
        clv_key_add(key, a->i);
        break;
    case CLV_ATTR_STRING:
        clv_key_add_bytes(key, a->s.at, (size_t)a->s.n);
        break;
    case CLV_ATTR_FLOATS:
        clv_key_add_bytes(key, a->floats, (size_t)a->n * sizeof *a->floats);
        break;
    case CLV_ATTR_INTS:
        clv_key_add_bytes(key, a->ints, (size_t)a->n * sizeof *a->ints);
        break;
    case CLV_ATTR_STRINGS:
        for (int32_t i = 0; i < a->n; i++)
            clv_key_add_bytes(key, a->strings[i].at, (size_t)a->strings[i].n);
        break;
    case CLV_ATTR_NONE:
    case CLV_ATTR_TENSOR:
    case CLV_ATTR_GRAPH:
    case CLV_ATTR_TYPE:
    case CLV_ATTR_TENSORS:
    case CLV_ATTR_GRAPHS:
    case CLV_ATTR_TYPES:
        return false;
    }
    return a->ref.n == 0;
}

/* All that its rule may look at; false: it is like no other. */
static bool make_key(clv_key *key, const clv_types *types, const clv_op_info *op)
{
    const clv_graph *g = types->graph;
    bool alike = op->kind >= 0 && op->n_implicit == 0;
    key->n = 0;
    clv_key_add(key, op->kind);
    clv_key_add(key, op->n_in);
    clv_key_add(key, op->n_out);
    clv_key_add(key, op->n_attr);
    clv_key_add_bytes(key, op->domain.at, (size_t)op->domain.n); /* which says the version */
    for (int32_t i = 0; i < op->n_attr && alike; i++)
        alike = add_attr(key, &g->attrs[op->first_attr + i]);
    for (int32_t k = 0; k < op->n_in + op->n_out && alike; k++) {
        clv_tensor t = k < op->n_in ? clv_op_input(g, op, k) : clv_op_output(g, op, k - op->n_in);
        clv_key_add(key, t.i < 0);
        if (t.i < 0)
            continue;
        const clv_type *type = &types->of[t.i];
        clv_key_add(key, (int64_t)type->kind);
        clv_key_add(key, (int64_t)type->dtype);
        clv_key_add(key, type->rank);
        if (type->kind == CLV_TYPE_TENSOR && type->rank > 0)
            clv_key_add_bytes(key, type->dims, (size_t)type->rank * sizeof *type->dims);
        const clv_value *value = types->value ? types->value[t.i] : NULL;
        clv_key_add(key, value ? value->n : -1);
        alike = !value || value->n <= VALUE_MAX;
        if (!value || !alike)
            continue;
        clv_key_add(key, value->i != NULL);
        if (value->i)
            clv_key_add_bytes(key, value->i, (size_t)value->n * sizeof *value->i);
        else
            clv_key_add_bytes(key, value->f, (size_t)value->n * sizeof *value->f);
    }
    return alike;
}

static clv_status resolve_each(const clv_resolver *r, clv_arena *keys, clv_factors *ret,
                               clv_error *err)
{
    const clv_graph *g = r->types->graph;
    clv_key key = { .arena = keys };
    clv_map seen;
    CLV_TRY(clv_map_init(&seen, keys, FEW, err));
    for (int32_t i = 0; i < g->n_ops; i++) {
        int32_t first = i;
        if (make_key(&key, r->types, &g->ops[i])) {
            if (key.failed)
                return clv_fail_nomem(err, "the sharding rules");
            CLV_TRY(clv_map_put_key(&seen, key.at, (size_t)key.n * sizeof *key.at, i, &first, err));
        }
        if (first < i)
            ret[i] = ret[first];
        else
            CLV_TRY(clv_resolve_op(r, (clv_op){ i }, &ret[i], err));
    }
    return CLV_OK;
}

clv_status clv_factors_resolve_all(const clv_model *model, const clv_types *types, clv_arena *arena,
                                   clv_factors *ret, clv_error *err)
{
    clv_resolver r = { model, types, clv_arena_new(clv_arena_alloc(arena), 0), arena };
    clv_arena *keys = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_status status = r.scratch && keys ? resolve_each(&r, keys, ret, err)
                                          : clv_fail_nomem(err, "the sharding rules");
    clv_arena_free(r.scratch);
    clv_arena_free(keys);
    return status;
}

/* -- refined -- */

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

/* -- logits of the last token -- */

/* The factors of a dimension of which n elements are left: the sequences come first, and of what is
 * behind them there is one. Where they are no factors of their own nothing is split: parts of the
 * rows in the file would be others. */
static void leave_first(clv_factor *factors, const clv_dim_factors *d, int64_t n)
{
    for (int32_t i = 0; i < d->n; i++) {
        clv_factor *one = &factors[d->at[i]];
        if (n == 1) {
            one->size = one->granule = 1;
        } else if (one->size > 0 && n % one->size == 0) {
            n /= one->size;
        } else {
            one->kind = CLV_FACTOR_WHOLE;
        }
    }
}

static void leave_rows(clv_factor *factors, const clv_operand_factors *o, const clv_type *file,
                       const clv_type *last)
{
    for (int32_t i = 0; i < o->rank && last->dims != file->dims; i++)
        if (last->dims[i] != file->dims[i])
            leave_first(factors, &o->dims[i], last->dims[i]);
}

static clv_status leave_last_tokens(const clv_types *types, clv_factors *all, clv_arena *arena,
                                    clv_error *err)
{
    const clv_graph *g = types->graph;
    for (int32_t i = 0; i < g->n_ops; i++) {
        clv_factors *f = &all[i];
        clv_factor *factors = CLV_NEW_ARRAY(arena, clv_factor, f->n_factors);
        if (!factors)
            return clv_fail_nomem(err, "the sharding rules");
        for (int32_t k = 0; k < f->n_factors; k++)
            factors[k] = f->factors[k];
        for (int32_t k = 0; k < f->n_in; k++) {
            clv_tensor t = clv_op_input(g, &g->ops[i], k);
            if (t.i >= 0)
                leave_rows(factors, &f->in[k], &types->of_file->of[t.i],
                           clv_type_read(types, &g->ops[i], k));
        }
        for (int32_t k = 0; k < f->n_out; k++) {
            clv_tensor t = clv_op_output(g, &g->ops[i], k);
            if (t.i >= 0)
                leave_rows(factors, &f->out[k], &types->of_file->of[t.i], &types->of[t.i]);
        }
        f->factors = factors;
    }
    return CLV_OK;
}

/* -- all -- */

static clv_status factors_of(const clv_model *model, const clv_types *types, clv_factors *all,
                             clv_arena *arena, clv_error *err)
{
    const clv_graph *g = types->graph;
    clv_chain_refiner *refiner;
    CLV_TRY(clv_chain_refiner_new(g, all, arena, &refiner, err));
    CLV_TRY(clv_factors_resolve_all(model, types, arena, all, err));
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_factors f = all[i]; /* as it is now: the chain may take others apart */
        for (int32_t k = 0; k < f.n_in + f.n_out; k++) {
            bool out = k >= f.n_in;
            const clv_operand_factors *o = out ? &f.out[k - f.n_in] : &f.in[k];
            clv_tensor t =
                out ? clv_op_output(g, &g->ops[i], k - f.n_in) : clv_op_input(g, &g->ops[i], k);
            for (int32_t d = 0; t.i >= 0 && d < o->rank; d++) {
                int64_t outer = whole_before(&f, &o->dims[d]);
                if (outer > 1)
                    CLV_TRY(clv_refine_chain(refiner, (clv_dim_place){ t, d, outer }, true, err));
            }
        }
    }
    CLV_TRY(clv_refine_fused(types, all, arena, err));
    return clv_factors_add_sums(types, all, arena, err);
}

clv_status clv_factors_all(const clv_model *model, const clv_types *types, clv_arena *arena,
                           clv_factors **ret, clv_error *err)
{
    clv_factors *all = CLV_NEW_ARRAY(arena, clv_factors, types->graph->n_ops);
    *ret = all;
    if (!all)
        return clv_fail_nomem(err, "the sharding rules");
    CLV_TRY(factors_of(model, types->of_file ? types->of_file : types, all, arena, err));
    return types->of_file ? leave_last_tokens(types, all, arena, err) : CLV_OK;
}
