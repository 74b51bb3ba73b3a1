#include "cost/shard_tables.h"

#include "graph/ops.h"

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "choices of operators"); }

clv_status clv_shard_tables_new(const clv_shard_space *of, clv_arena *arena, clv_shard_tables **ret,
                                clv_error *err)
{
    clv_shard_tables *t = CLV_NEW(arena, clv_shard_tables);
    if (!t)
        return no_memory(err);
    *t = (clv_shard_tables){ .of = *of, .arena = arena };
    if (of->filter)
        t->of.classes = NULL;
    int32_t n = t->of.classes ? t->of.classes->n : of->types->graph->n_ops;
    t->by_class = clv_arena_take_array(arena, (size_t)n, sizeof *t->by_class);
    t->choices = CLV_NEW_ROOM(arena, clv_shard_choices, 1);
    t->row = CLV_NEW_ARRAY(arena, clv_layout, CLV_CHOICES_MAX);
    if (!t->by_class || !t->choices || !t->row)
        return no_memory(err);
    *ret = t;
    return clv_layout_lists_init(&t->lists, of->resharder, arena, err);
}

bool clv_shard_takes_part(const clv_types *types, clv_op op)
{
    const clv_op_info *info = clv_op_at(types->graph, op);
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(types->graph, info, k);
        if (t.i >= 0 && !clv_shard_is_known(types, t))
            return true;
    }
    return info->n_out == 0;
}

/* Layouts of each operand by choice, as lists. */
static clv_status list_operands(clv_shard_tables *t, clv_op op, int32_t *in_list, int32_t *out_list,
                                clv_error *err)
{
    const clv_graph *g = t->of.types->graph;
    const clv_op_info *info = clv_op_at(g, op);
    const clv_factors *f = &t->of.factors[op.i];
    const clv_shard_choices *c = t->choices;
    for (int32_t k = 0; k < info->n_in; k++) {
        in_list[k] = -1;
        for (int32_t n = 0; n < c->n; n++)
            t->row[n] = clv_choice_in(f, t->of.mesh, &c->at[n], k);
        if (clv_op_input(g, info, k).i >= 0)
            CLV_TRY(clv_layout_lists_put(&t->lists, c->n, t->row, &in_list[k], err));
    }
    for (int32_t k = 0; k < info->n_out; k++) {
        out_list[k] = -1;
        for (int32_t n = 0; n < c->n; n++)
            t->row[n] = clv_choice_out(f, t->of.mesh, &c->at[n], k);
        if (clv_op_output(g, info, k).i >= 0)
            CLV_TRY(clv_layout_lists_put(&t->lists, c->n, t->row, &out_list[k], err));
    }
    return CLV_OK;
}

static clv_status make_table(clv_shard_tables *t, clv_op op, int32_t id, const clv_op_table **ret,
                             clv_error *err)
{
    const clv_op_info *info = clv_op_at(t->of.types->graph, op);
    clv_shard_choices *c = t->choices;
    CLV_TRY(clv_shard_choices_find(&t->of, op, t->arena, c, err));
    clv_op_table *made = CLV_NEW(t->arena, clv_op_table);
    clv_op_choice *choice = CLV_NEW_ARRAY(t->arena, clv_op_choice, c->n);
    clv_op_cost *cost = CLV_NEW_ARRAY(t->arena, clv_op_cost, c->n);
    int64_t *ns = CLV_NEW_ARRAY(t->arena, int64_t, c->n);
    int32_t *in_list = CLV_NEW_ARRAY(t->arena, int32_t, info->n_in);
    int32_t *out_list = CLV_NEW_ARRAY(t->arena, int32_t, info->n_out);
    if (!made || !choice || !cost || !ns || !in_list || !out_list)
        return no_memory(err);
    int64_t least = INT64_MAX;
    for (int32_t i = 0; i < c->n; i++) {
        choice[i] = c->at[i];
        cost[i] = c->cost[i];
        ns[i] = c->ns[i];
        least = ns[i] < least ? ns[i] : least;
    }
    CLV_TRY(list_operands(t, op, in_list, out_list, err));
    *made = (clv_op_table){ c->n, choice, cost, ns, least, in_list, out_list, id };
    *ret = made;
    return CLV_OK;
}

clv_status clv_shard_table_of(clv_shard_tables *t, clv_op op, const clv_op_table **ret,
                              clv_error *err)
{
    int32_t id = t->of.classes ? t->of.classes->of[op.i] : op.i;
    if (!t->by_class[id])
        CLV_TRY(make_table(t, op, id, &t->by_class[id], err));
    *ret = t->by_class[id];
    return CLV_OK;
}

clv_status clv_shard_least(clv_shard_tables *t, clv_int128 *ret, clv_error *err)
{
    *ret = 0;
    for (int32_t i = 0; i < t->of.types->graph->n_ops; i++) {
        const clv_op_table *one;
        if (!clv_shard_takes_part(t->of.types, (clv_op){ i }))
            continue;
        CLV_TRY(clv_shard_table_of(t, (clv_op){ i }, &one, err));
        *ret += one->least_ns;
    }
    return CLV_OK;
}
