/* op_classes.c - all that choices and their costs are made from, as one key an operator. */
#include "cost/op_classes.h"

#include "base/key.h"
#include "base/map.h"

#define FEW         64   /* classes that there is room for at once */
#define SHARE_UNITS 1e15 /* of which a share is a whole number: as fine as a double holds */

static void add_operand(clv_key *k, const clv_operand_factors *o)
{
    clv_key_add(k, o->rank);
    clv_key_add(k, o->once);
    clv_key_add(k, o->sums);
    for (int32_t i = 0; i < o->rank; i++) {
        clv_key_add(k, o->dims[i].n);
        for (int32_t d = 0; d < o->dims[i].n; d++)
            clv_key_add(k, o->dims[i].at[d]);
    }
}

static void add_tensor(clv_key *k, const clv_types *types, clv_tensor t)
{
    clv_key_add(k, t.i < 0);
    if (t.i < 0)
        return;
    const clv_type *type = &types->of[t.i];
    clv_key_add(k, (int64_t)type->kind);
    clv_key_add(k, (int64_t)type->dtype);
    clv_key_add(k, types->bytes[t.i]);
    if (type->kind != CLV_TYPE_TENSOR && type->kind != CLV_TYPE_SPARSE)
        return;
    clv_key_add(k, type->rank);
    for (int32_t i = 0; i < type->rank; i++)
        clv_key_add(k, type->dims[i]);
}

static void add_op(clv_key *k, const clv_types *types, const clv_op_info *op)
{
    clv_key_add(k, op->kind);
    clv_key_add(k, op->n_in);
    clv_key_add(k, op->n_implicit);
    clv_key_add(k, op->n_out);
    for (int32_t i = 0; i < op->n_in; i++)
        add_tensor(k, types, clv_op_input(types->graph, op, i));
    for (int32_t i = 0; i < op->n_out; i++)
        add_tensor(k, types, clv_op_output(types->graph, op, i));
}

static void add_shape(clv_key *k, const clv_kernel_shape *s)
{
    clv_key_add(k, (int64_t)s->kind);
    clv_key_add(k, (int64_t)s->weights);
    clv_key_add(k, s->batch);
    clv_key_add(k, s->kind == CLV_SHAPE_ATTENTION ? s->heads : s->m);
    clv_key_add(k, s->kind == CLV_SHAPE_ATTENTION ? s->kv_heads : s->n);
    clv_key_add(k, s->kind == CLV_SHAPE_ATTENTION ? s->queries : s->k);
    clv_key_add(k, s->tokens);
    clv_key_add(k, s->hidden);
    clv_key_add(k, s->intermediate);
    clv_key_add(k, s->experts);
    clv_key_add(k, s->top_k);
    clv_key_add(k, s->back);
    clv_key_add(k, s->keys);
    clv_key_add(k, s->width);
    clv_key_add(k, s->causal);
}

static void add_rule_and_cost(clv_key *k, const clv_factors *f, const clv_op_cost *c)
{
    clv_key_add(k, f->n_factors);
    clv_key_add(k, f->n_in);
    clv_key_add(k, f->n_out);
    for (int32_t i = 0; i < f->n_factors; i++) {
        clv_key_add(k, f->factors[i].size);
        clv_key_add(k, (int64_t)f->factors[i].kind);
        clv_key_add(k, (int64_t)f->factors[i].reduce);
        clv_key_add(k, f->factors[i].granule);
        clv_key_add(k, f->factors[i].before);
        clv_key_add(k, f->factors[i].after);
        clv_key_add(k, f->factors[i].even);
        clv_key_add(k, f->factors[i].by_index);
        clv_key_add(k, f->factors[i].sum);
    }
    for (int32_t i = 0; i < f->n_in; i++)
        add_operand(k, &f->in[i]);
    for (int32_t i = 0; i < f->n_out; i++)
        add_operand(k, &f->out[i]);
    clv_key_add(k, c->flops);
    clv_key_add(k, c->matmul_flops);
    clv_key_add(k, c->read_bytes);
    clv_key_add(k, c->write_bytes);
    clv_key_add(k, c->workspace_bytes);
    clv_key_add(k, c->link_ns);
    clv_key_add(k, (int64_t)c->math);
    clv_key_add(k, c->speed);
    add_shape(k, &c->shape);
    clv_key_add(k, (int64_t)(c->share * SHARE_UNITS));
    clv_key_add(k, (int64_t)(c->starts * SHARE_UNITS));
    clv_key_add(k, c->captured);
    clv_key_add(k, c->quantised);
    clv_key_add(k, c->result);
}

clv_status clv_op_classes_make(const clv_types *types, const clv_factors *factors,
                               const clv_costs *costs, clv_arena *arena, clv_op_classes *ret,
                               clv_error *err)
{
    const clv_graph *g = types->graph;
    int32_t *of = CLV_NEW_ARRAY(arena, int32_t, g->n_ops);
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_arena *keys = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_key k = { .arena = scratch };
    clv_map classes;
    clv_status status = of && scratch && keys ? clv_map_init(&classes, keys, FEW, err)
                                              : clv_fail_nomem(err, "operators that are alike");
    *ret = (clv_op_classes){ 0, of };
    for (int32_t i = 0; i < g->n_ops && status == CLV_OK; i++) {
        k.n = 0;
        add_op(&k, types, &g->ops[i]);
        add_rule_and_cost(&k, &factors[i], &costs->of[i]);
        if (k.failed)
            status = clv_fail_nomem(err, "operators that are alike");
        else
            status =
                clv_map_put_key(&classes, k.at, (size_t)k.n * sizeof *k.at, ret->n, &of[i], err);
        ret->n += status == CLV_OK && of[i] == ret->n;
    }
    clv_arena_free(scratch);
    clv_arena_free(keys);
    return status;
}
