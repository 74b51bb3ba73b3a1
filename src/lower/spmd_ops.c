#include "lower/spmd_ops.h"

#include "graph/ops.h"
#include "graph/values.h"

/* -- what is needed -- */

static void mark_producer(const clv_spmd *s, clv_tensor t, bool *needed)
{
    const clv_tensor_info *info = t.i < 0 ? NULL : clv_tensor_at(s->model->main, t);
    if (info && info->role == CLV_TENSOR_RESULT && !clv_spmd_known(s->types, t))
        needed[info->producer.i] = true;
}

void clv_spmd_mark_needed(const clv_spmd *s, bool *needed)
{
    const clv_graph *g = s->model->main;
    for (int32_t i = 0; i < g->n_outputs; i++)
        mark_producer(s, g->outputs[i], needed);
    for (int32_t i = g->n_ops - 1; i >= 0; i--)
        for (int32_t k = 0; needed[i] && k < g->ops[i].n_in; k++)
            mark_producer(s, clv_op_input(g, &g->ops[i], k), needed);
}

/* -- what draws random numbers -- */

/* Of a body's tensors nothing is known here. */
static const clv_value *value_of(const clv_spmd *s, const clv_graph *g, clv_tensor t)
{
    return t.i >= 0 && g == s->model->main && s->types->value ? s->types->value[t.i] : NULL;
}

/* The operator, or the first in its bodies, that draws random numbers without a seed; NULL: none.
 */
static const clv_op_info *random_in(const clv_spmd *s, const clv_graph *g, const clv_op_info *op)
{
    bool random = op->kind >= 0 && clv_op_def_at(op->kind)->flags & CLV_OPF_RANDOM;
    bool bias = clv_str_is(op->type, "BiasDropout");
    const clv_op_info *found = NULL;
    if (bias || clv_str_is(op->type, "Dropout")) {
        clv_tensor ratio = clv_op_input(g, op, bias ? 3 : 1);
        clv_tensor mode = clv_op_input(g, op, bias ? 4 : 2);
        random =
            random || clv_dropout_draws(mode.i >= 0, value_of(s, g, mode), value_of(s, g, ratio));
    }
    if (random && !clv_op_attr(g, op, "seed"))
        return op;
    for (int32_t i = 0; op->function && i < op->function->n_ops && !found; i++)
        found = random_in(s, op->function, &op->function->ops[i]);
    for (int32_t i = 0; i < op->n_attr && !found; i++) {
        const clv_attr *attr = &g->attrs[op->first_attr + i];
        bool graphs = attr->kind == CLV_ATTR_GRAPH || attr->kind == CLV_ATTR_GRAPHS;
        for (int32_t j = 0; graphs && j < attr->n && !found; j++)
            for (int32_t k = 0; k < attr->graph[j]->n_ops && !found; k++)
                found = random_in(s, attr->graph[j], &attr->graph[j]->ops[k]);
    }
    return found;
}

clv_status clv_spmd_check_random(const clv_spmd *s, const clv_op_info *op, clv_error *err)
{
    const clv_op_info *random = s->mesh.n_devices > 1 ? random_in(s, s->model->main, op) : NULL;
    if (!random)
        return CLV_OK;
    return clv_fail(err, CLV_EUNSUPP,
                    "operator '%.*s' (%.*s) draws random numbers, which would be others on each of "
                    "the %d devices of its stage; give it a seed, or a stage of one device",
                    CLV_STR_ARG(random->label), CLV_STR_ARG(random->type), (int)s->mesh.n_devices);
}

clv_status clv_find_random(const clv_model *model, const clv_types *types, clv_arena *arena,
                           const clv_op_info **ret, clv_error *err)
{
    const clv_graph *g = model->main;
    const clv_spmd s = { .model = model, .types = types };
    clv_mark mark = clv_arena_mark(arena);
    bool *needed = CLV_NEW_ARRAY(arena, bool, g->n_ops);
    *ret = NULL;
    if (!needed)
        return clv_fail_nomem(err, "what draws random numbers");
    clv_spmd_mark_needed(&s, needed);
    for (int32_t i = 0; i < g->n_ops && !*ret; i++)
        if (needed[i])
            *ret = random_in(&s, g, &g->ops[i]);
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
