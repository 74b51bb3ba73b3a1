/* local_model.c - one walk over the operators: what an operator reads is brought to where it is
 * needed, then the operator, then what it wrote to where it lies.
 */
#include "lower/local_model.h"

#include "cost/shard_choices.h"
#include "cost/weights.h"
#include "graph/graph_build.h"

#define WHAT "the program of one device"

typedef struct {
    const clv_graph *whole;
    const clv_costs *whole_costs;
    const clv_shard_problem *s;
    const int32_t *answer;
    clv_resharder *resharder;
    clv_arena *arena;
    clv_error *err;
    clv_graph *g;
    clv_types *types;
    /* by operator of the new graph */
    clv_op *op_of;
    int32_t *communication_of;
    clv_op_cost *cost_of;
    int32_t cap_ops, cap_op_of, cap_communication_of, cap_cost_of;
    int32_t n_in, n_out, cap_in, cap_out;
    /* by tensor */
    clv_tensor *tensor_of;
    clv_layout *layout_of;
    int32_t cap_tensors, cap_tensor_of, cap_layout_of, cap_type_of, cap_value_of, cap_bytes_of;
    int32_t cap_weights;
    clv_communication *communications;
    int32_t n_communications, cap_communications;
    int32_t *home;        /* by tensor of the whole model: of the new graph, where it lies; -1 */
    int32_t *last_weight; /* by tensor of the whole model: its newest part; -1 */
    int32_t *earlier;     /* by tensor of the new graph: another part of the same weight; -1 */
    int32_t cap_earlier;
} maker;

static clv_status no_memory(const maker *m) { return clv_fail_nomem(m->err, WHAT); }

/* -- tensors -- */

/* A tensor whose type is that of t in this layout: of the first device, which has the largest part,
 * as it is first along every axis. */
static clv_status part_type(maker *m, clv_tensor t, const clv_layout *layout, clv_type *ret)
{
    clv_tensor_split split;
    *ret = m->s->types->of[t.i];
    if (!clv_split_of_type(ret, &split) || ret->rank == 0)
        return CLV_OK;
    int64_t *dims = CLV_NEW_ARRAY(m->arena, int64_t, ret->rank);
    if (!dims)
        return no_memory(m);
    clv_layout_part_dims(layout, m->s->mesh, &split, 0, dims);
    ret->dims = dims;
    return CLV_OK;
}

static clv_status add_tensor(maker *m, clv_tensor t, const clv_layout *layout, clv_op producer,
                             clv_str name, clv_tensor *ret)
{
    clv_graph *g = m->g;
    int32_t i = g->n_tensors;
    if (!CLV_PUSH_ROOM(m->arena, g->tensors, i, m->cap_tensors) ||
        !CLV_PUSH_ROOM(m->arena, m->tensor_of, i, m->cap_tensor_of) ||
        !CLV_PUSH_ROOM(m->arena, m->layout_of, i, m->cap_layout_of) ||
        !CLV_PUSH_ROOM(m->arena, m->earlier, i, m->cap_earlier) ||
        !CLV_PUSH_ROOM(m->arena, m->types->of, i, m->cap_type_of) ||
        !CLV_PUSH_ROOM(m->arena, m->types->value, i, m->cap_value_of) ||
        !CLV_PUSH_ROOM(m->arena, m->types->bytes, i, m->cap_bytes_of))
        return no_memory(m);
    const clv_tensor_info *from = clv_tensor_at(m->whole, t);
    g->tensors[i] = (clv_tensor_info){ .name = name,
                                       .role = producer.i < 0 ? from->role : CLV_TENSOR_RESULT,
                                       .producer = producer,
                                       .weight = -1,
                                       .outer = CLV_NO_TENSOR };
    m->tensor_of[i] = t;
    m->layout_of[i] = *layout;
    m->earlier[i] = -1;
    m->types->value[i] = m->s->types->value[t.i];
    m->types->bytes[i] =
        clv_part_bytes(m->s->mesh, layout, &m->s->types->of[t.i], m->s->types->bytes[t.i]);
    CLV_TRY(part_type(m, t, layout, &m->types->of[i]));
    g->n_tensors++;
    *ret = (clv_tensor){ i };
    return CLV_OK;
}

/* The part of a weight in this layout, made at its first use. */
static clv_status take_weight(maker *m, clv_tensor t, const clv_layout *layout, clv_tensor *ret)
{
    clv_graph *g = m->g;
    for (int32_t i = m->last_weight[t.i]; i >= 0; i = m->earlier[i])
        if (clv_layout_equal(&m->layout_of[i], layout)) {
            *ret = (clv_tensor){ i };
            return CLV_OK;
        }
    const clv_tensor_info *from = clv_tensor_at(m->whole, t);
    CLV_TRY(add_tensor(m, t, layout, CLV_NO_OP, from->name, ret));
    if (!CLV_PUSH_ROOM(m->arena, g->weights, g->n_weights, m->cap_weights))
        return no_memory(m);
    clv_const *part = &g->weights[g->n_weights];
    *part = m->whole->weights[from->weight];
    if (!part->sparse && m->types->bytes[ret->i] < part->bytes) {
        part->bytes = m->types->bytes[ret->i];
        part->dims = m->types->of[ret->i].dims;
        part->elems = clv_type_elems(&m->types->of[ret->i]);
    }
    g->tensors[ret->i].weight = g->n_weights++;
    m->earlier[ret->i] = m->last_weight[t.i];
    m->last_weight[t.i] = ret->i;
    return CLV_OK;
}

/* -- operators -- */

static clv_status add_op(maker *m, const clv_op_info *info, clv_op of, int32_t collective,
                         const clv_op_cost *cost, clv_op *ret)
{
    clv_graph *g = m->g;
    int32_t i = g->n_ops;
    if (!CLV_PUSH_ROOM(m->arena, g->ops, i, m->cap_ops) ||
        !CLV_PUSH_ROOM(m->arena, m->op_of, i, m->cap_op_of) ||
        !CLV_PUSH_ROOM(m->arena, m->communication_of, i, m->cap_communication_of) ||
        !CLV_PUSH_ROOM(m->arena, m->cost_of, i, m->cap_cost_of))
        return no_memory(m);
    g->ops[i] = *info;
    g->ops[i].file_index = i;
    g->ops[i].first_in = m->n_in;
    g->ops[i].first_out = m->n_out;
    m->op_of[i] = of;
    m->communication_of[i] = collective;
    m->cost_of[i] = *cost;
    g->n_ops++;
    *ret = (clv_op){ i };
    return CLV_OK;
}

static clv_status add_in(maker *m, clv_tensor t)
{
    if (!CLV_PUSH_ROOM(m->arena, m->g->inputs_of, m->n_in, m->cap_in))
        return no_memory(m);
    m->g->inputs_of[m->n_in++] = t;
    return CLV_OK;
}

static clv_status add_out(maker *m, clv_tensor t)
{
    if (!CLV_PUSH_ROOM(m->arena, m->g->outputs_of, m->n_out, m->cap_out))
        return no_memory(m);
    m->g->outputs_of[m->n_out++] = t;
    return CLV_OK;
}

/* One step: an operator that reads a tensor and writes it in another layout. */
static clv_status add_step(maker *m, const clv_step *step, clv_tensor whole, clv_op reader,
                           clv_tensor *io)
{
    clv_str name = clv_tensor_at(m->whole, whole)->name;
    char *label = clv_arena_printf(m->arena, "%s %d of %.*s", clv_step_name(step->kind),
                                   (int)m->n_communications, CLV_STR_ARG(name));
    clv_op_cost cost = { .link_ns = step->ns };
    clv_op op;
    if (!label ||
        !CLV_PUSH_ROOM(m->arena, m->communications, m->n_communications, m->cap_communications))
        return no_memory(m);
    clv_op_info info = { .name = clv_str_of(label),
                         .label = clv_str_of(label),
                         .type = clv_str_of(clv_step_name(step->kind)),
                         .domain = clv_str_of("cleave"),
                         .kind = CLV_OPKIND_UNKNOWN,
                         .n_in = 1,
                         .n_out = 1 };
    CLV_TRY(add_op(m, &info, CLV_NO_OP, m->n_communications, &cost, &op));
    m->communications[m->n_communications++] = (clv_communication){ whole, reader, *step };
    CLV_TRY(add_in(m, *io));
    CLV_TRY(add_tensor(m, whole, &step->to, op, clv_str_of(label), io));
    return add_out(m, *io);
}

/* Brings a tensor to a layout. *io: where it is, and then where it is so. */
static clv_status bring(maker *m, const clv_layout *to, clv_op reader, clv_tensor *io)
{
    clv_tensor whole = m->tensor_of[io->i];
    clv_chain chain;
    if (clv_layout_equal(&m->layout_of[io->i], to))
        return CLV_OK;
    CLV_TRY(clv_resharder_chain(m->resharder, &m->s->types->of[whole.i], &m->layout_of[io->i], to,
                                m->arena, &chain, m->err));
    for (int32_t i = 0; i < chain.n; i++)
        CLV_TRY(add_step(m, &chain.steps[i], whole, reader, io));
    return CLV_OK;
}

/* Input k of an operator, in the layout that it needs. */
static clv_status bring_input(maker *m, clv_op op, int32_t k, clv_tensor *ret)
{
    clv_tensor t = clv_op_input(m->whole, clv_op_at(m->whole, op), k);
    clv_layout need = clv_shard_need(m->s, m->answer, op, k);
    if (t.i < 0) {
        *ret = t;
        return CLV_OK;
    }
    if (clv_tensor_at(m->whole, t)->role == CLV_TENSOR_WEIGHT)
        return take_weight(m, t, &need, ret);
    *ret = (clv_tensor){ m->home[t.i] };
    if (m->s->types->value[t.i] || m->s->node_of_op[op.i] < 0)
        return CLV_OK; /* known before the run: it is everywhere as it is */
    return bring(m, &need, op, ret);
}

static clv_status cost_of_op(maker *m, clv_op op, clv_op_cost *ret)
{
    const clv_op_cost *whole = &m->whole_costs->of[op.i];
    const clv_op_choice *choice = clv_shard_choice(m->s, m->answer, op);
    *ret = *whole;
    if (!choice)
        return CLV_OK;
    return clv_shard_choice_cost(m->s->types, op, whole, &m->s->factors[op.i], m->s->mesh, choice,
                                 m->arena, ret, m->err);
}

static clv_status add_operator(maker *m, clv_op op)
{
    const clv_op_info *info = clv_op_at(m->whole, op);
    clv_tensor *in = CLV_NEW_ARRAY(m->arena, clv_tensor, info->n_in);
    clv_op_cost cost;
    clv_op made;
    if (!in)
        return no_memory(m);
    for (int32_t k = 0; k < info->n_in; k++)
        CLV_TRY(bring_input(m, op, k, &in[k]));
    CLV_TRY(cost_of_op(m, op, &cost));
    CLV_TRY(add_op(m, info, op, -1, &cost, &made));
    for (int32_t k = 0; k < info->n_in; k++)
        CLV_TRY(add_in(m, in[k]));
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(m->whole, info, k), part = t;
        if (t.i >= 0) {
            clv_layout layout = clv_shard_made(m->s, m->answer, t);
            CLV_TRY(add_tensor(m, t, &layout, made, clv_tensor_at(m->whole, t)->name, &part));
            m->home[t.i] = part.i;
        }
        CLV_TRY(add_out(m, part));
    }
    return CLV_OK;
}

/* What an operator wrote is brought to where it lies, behind it. */
static clv_status bring_home(maker *m, clv_op op)
{
    const clv_op_info *info = clv_op_at(m->whole, op);
    for (int32_t k = 0; m->s->node_of_op[op.i] >= 0 && k < info->n_out; k++) {
        clv_tensor t = clv_op_output(m->whole, info, k);
        if (t.i < 0 || m->s->types->value[t.i])
            continue;
        clv_layout home = clv_shard_home(m->s, m->answer, t);
        clv_tensor part = { m->home[t.i] };
        CLV_TRY(bring(m, &home, CLV_NO_OP, &part));
        m->home[t.i] = part.i;
    }
    return CLV_OK;
}

/* -- the graph around them -- */

static clv_status add_inputs(maker *m)
{
    const clv_graph *w = m->whole;
    m->g->inputs = CLV_NEW_ARRAY(m->arena, clv_tensor, w->n_inputs);
    if (!m->g->inputs)
        return no_memory(m);
    for (int32_t i = 0; i < w->n_inputs; i++) {
        clv_tensor t = w->inputs[i];
        clv_layout layout = clv_shard_home(m->s, m->answer, t);
        CLV_TRY(add_tensor(m, t, &layout, CLV_NO_OP, clv_tensor_at(w, t)->name, &m->g->inputs[i]));
        m->home[t.i] = m->g->inputs[i].i;
    }
    m->g->n_inputs = w->n_inputs;
    return CLV_OK;
}

static clv_status add_outputs(maker *m)
{
    const clv_graph *w = m->whole;
    m->g->outputs = CLV_NEW_ARRAY(m->arena, clv_tensor, w->n_outputs);
    if (!m->g->outputs)
        return no_memory(m);
    for (int32_t i = 0; i < w->n_outputs; i++) {
        clv_tensor t = w->outputs[i], part = { m->home[t.i] };
        if (part.i < 0) { /* a weight that is returned as it is */
            clv_layout copies = CLV_LAYOUT_COPIES;
            CLV_TRY(take_weight(m, t, &copies, &part));
        }
        m->g->outputs[m->g->n_outputs++] = part;
        m->g->tensors[part.i].is_output = true;
    }
    return CLV_OK;
}

/* Types of bodies stand by operator: those of the operators that were copied, moved. */
static clv_status add_bodies(maker *m)
{
    const clv_types *from = m->s->types;
    int32_t n = m->g->n_ops;
    if (!from->first_body)
        return CLV_OK;
    int32_t *first = CLV_NEW_ARRAY(m->arena, int32_t, n + 1);
    int64_t *trips = CLV_NEW_ARRAY(m->arena, int64_t, n);
    if (!first || !trips)
        return no_memory(m);
    for (int32_t i = 0; i < n; i++) { /* operators keep their order, so their bodies do */
        int32_t of = m->op_of[i].i;
        int32_t bodies = of < 0 ? 0 : from->first_body[of + 1] - from->first_body[of];
        first[i + 1] = first[i] + bodies;
        trips[i] = of < 0 || !from->trips ? -1 : from->trips[of];
    }
    m->types->first_body = first;
    m->types->body = from->body;
    m->types->trips = from->trips ? trips : NULL;
    return CLV_OK;
}

/* A collective for one reader goes with it; one for all readers with the operator that wrote the
 * tensor, and so sends nothing in another stage than that one's. */
static clv_status join_collectives(maker *m, clv_costs *c)
{
    clv_op *goes_with = CLV_NEW_ARRAY(m->arena, clv_op, m->g->n_ops);
    clv_op *local = CLV_NEW_ARRAY(m->arena, clv_op, m->whole->n_ops);
    if (!goes_with || !local)
        return no_memory(m);
    for (int32_t i = 0; i < m->g->n_ops; i++)
        if (m->op_of[i].i >= 0)
            local[m->op_of[i].i] = (clv_op){ i };
    for (int32_t i = 0; i < m->g->n_ops; i++) {
        clv_op of = m->op_of[i];
        if (of.i < 0) {
            const clv_communication *made = &m->communications[m->communication_of[i]];
            of = made->reader.i >= 0 ? made->reader
                                     : clv_tensor_at(m->whole, made->tensor)->producer;
        }
        goes_with[i] = of.i < 0 ? (clv_op){ i } : local[of.i];
    }
    c->goes_with = goes_with;
    return CLV_OK;
}

static clv_status add_costs(maker *m, clv_local_model *ret)
{
    clv_costs *c = CLV_NEW(m->arena, clv_costs);
    int32_t *seen = CLV_NEW_ARRAY(m->arena, int32_t, m->g->n_weights);
    int32_t *seen_whole = CLV_NEW_ARRAY(m->arena, int32_t, m->whole->n_weights);
    if (!c || !seen || !seen_whole)
        return no_memory(m);
    *c = *m->whole_costs;
    c->graph = m->g;
    c->of = m->cost_of;
    c->n_unknown = c->n_unsized = 0;
    c->total = (clv_op_cost){ .weight_bytes = 0 };
    for (int32_t i = 0; i < m->g->n_ops; i++) {
        clv_op_cost *of = &c->of[i];
        if (m->op_of[i].i < 0)
            continue;
        const clv_op_cost *whole = &m->whole_costs->of[m->op_of[i].i];
        int64_t bodies =
            whole->weight_bytes - clv_weights_read(m->whole, m->op_of[i], i + 1, seen_whole);
        of->weight_bytes = clv_weight_add(bodies > 0 ? bodies : 0,
                                          clv_weights_read(m->g, (clv_op){ i }, i + 1, seen));
        c->total.flops += of->flops; /* no more than the whole model's, which add up */
        c->total.matmul_flops += of->matmul_flops;
    }
    for (int32_t w = 0; w < m->g->n_weights; w++)
        c->total.weight_bytes = clv_weight_add(c->total.weight_bytes, m->g->weights[w].bytes);
    ret->costs = c;
    return join_collectives(m, c);
}

#define RESERVE(ptr, cap, n)                                                                       \
    ((ptr) = clv_arena_take_array(m->arena, (size_t)((cap) = (n)), sizeof *(ptr)))

/* Most often there is half an operator more for each one, at most: then nothing has to grow. */
static bool reserve(maker *m)
{
    int32_t n_ops = m->whole->n_ops + m->whole->n_ops / 2;
    int32_t n_tensors = m->whole->n_tensors + m->whole->n_ops / 2;
    return RESERVE(m->g->ops, m->cap_ops, n_ops) && RESERVE(m->op_of, m->cap_op_of, n_ops) &&
           RESERVE(m->communication_of, m->cap_communication_of, n_ops) &&
           RESERVE(m->cost_of, m->cap_cost_of, n_ops) &&
           RESERVE(m->g->tensors, m->cap_tensors, n_tensors) &&
           RESERVE(m->tensor_of, m->cap_tensor_of, n_tensors) &&
           RESERVE(m->layout_of, m->cap_layout_of, n_tensors) &&
           RESERVE(m->earlier, m->cap_earlier, n_tensors) &&
           RESERVE(m->types->of, m->cap_type_of, n_tensors) &&
           RESERVE(m->types->value, m->cap_value_of, n_tensors) &&
           RESERVE(m->types->bytes, m->cap_bytes_of, n_tensors) &&
           RESERVE(m->g->weights, m->cap_weights, m->whole->n_weights);
}

static bool take_room(maker *m)
{
    int32_t n = m->whole->n_tensors;
    m->g = CLV_NEW(m->arena, clv_graph);
    m->types = CLV_NEW(m->arena, clv_types);
    m->home = CLV_NEW_ARRAY(m->arena, int32_t, n);
    m->last_weight = CLV_NEW_ARRAY(m->arena, int32_t, n);
    if (!m->g || !m->types || !m->home || !m->last_weight)
        return false;
    for (int32_t t = 0; t < n; t++)
        m->home[t] = m->last_weight[t] = -1;
    *m->g = (clv_graph){ .name = m->whole->name,
                         .attrs = m->whole->attrs,
                         .opsets = m->whole->opsets,
                         .n_opsets = m->whole->n_opsets };
    m->types->graph = m->g;
    return reserve(m);
}

clv_status clv_local_model_make(const clv_model *model, const clv_costs *costs,
                                const clv_shard_problem *s, const int32_t *answer,
                                clv_resharder *resharder, clv_arena *arena, clv_local_model **ret,
                                clv_error *err)
{
    maker m = { .whole = model->main,
                .whole_costs = costs,
                .s = s,
                .answer = answer,
                .resharder = resharder,
                .arena = arena,
                .err = err };
    clv_local_model *made = CLV_NEW(arena, clv_local_model);
    clv_model *copy = CLV_NEW(arena, clv_model);
    if (!made || !copy || !take_room(&m))
        return no_memory(&m);
    CLV_TRY(add_inputs(&m));
    for (int32_t i = 0; i < m.whole->n_ops; i++) {
        CLV_TRY(add_operator(&m, (clv_op){ i }));
        CLV_TRY(bring_home(&m, (clv_op){ i }));
    }
    CLV_TRY(add_outputs(&m));
    CLV_TRY(clv_graph_list_readers(m.g, arena, err));
    CLV_TRY(add_bodies(&m));
    CLV_TRY(add_costs(&m, made));
    *copy = *model;
    copy->main = m.g;
    m.g->model = copy;
    made->model = copy;
    made->types = m.types;
    made->op_of = m.op_of;
    made->communication_of = m.communication_of;
    made->tensor_of = m.tensor_of;
    made->layout_of = m.layout_of;
    made->communications = m.communications;
    made->n_communications = m.n_communications;
    *ret = made;
    return CLV_OK;
}
