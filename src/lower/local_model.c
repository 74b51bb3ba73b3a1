/* local_model.c - one walk over the operators: what an operator reads is brought to where it is
 * needed, then the operator, then what it wrote to where it lies.
 */
#include "lower/local_model.h"

#include "cost/shard_choices.h"
#include "cost/weights.h"
#include "graph/freeze.h"

#define WHAT "the program of one device"

typedef struct {
    const clv_sharded_model *of;
    const clv_graph *whole;
    const clv_shard_problem *s;
    clv_arena *arena;
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
    int32_t cap_tensors, cap_tensor_of, cap_layout_of, cap_type_of, cap_value_of, cap_bytes_of,
        cap_whole_of;
    int32_t cap_weights;
    clv_communication *communications;
    int32_t n_communications, cap_communications;
    int32_t *home;        /* by tensor of the whole model: of the new graph, where it lies; -1 */
    int32_t *last_weight; /* by tensor of the whole model: its newest part; -1 */
    int32_t *earlier;     /* by tensor of the new graph: another part of the same weight; -1 */
    int32_t cap_earlier;
} builder;

/* -- tensors -- */

/* A tensor whose type is that of t in this layout: of the first device, which has the largest part,
 * as it is first along every axis. */
static clv_status part_type(builder *b, clv_tensor t, const clv_layout *layout, clv_type *ret,
                            clv_error *err)
{
    clv_tensor_split split;
    *ret = b->s->types->of[t.i];
    if (!clv_split_of_type(ret, &split) || ret->rank == 0)
        return CLV_OK;
    int64_t *dims = CLV_NEW_ARRAY(b->arena, int64_t, ret->rank);
    if (!dims)
        return clv_fail_nomem(err, WHAT);
    clv_layout_part_dims(layout, b->s->mesh, &split, 0, dims);
    ret->dims = dims;
    return CLV_OK;
}

/* The part of t in a layout, under t's name. */
static clv_status add_tensor(builder *b, clv_tensor t, const clv_layout *layout, clv_op producer,
                             clv_tensor *ret, clv_error *err)
{
    clv_graph *g = b->g;
    int32_t i = g->n_tensors;
    if (!CLV_PUSH_ROOM(b->arena, g->tensors, i, b->cap_tensors) ||
        !CLV_PUSH_ROOM(b->arena, b->tensor_of, i, b->cap_tensor_of) ||
        !CLV_PUSH_ROOM(b->arena, b->layout_of, i, b->cap_layout_of) ||
        !CLV_PUSH_ROOM(b->arena, b->earlier, i, b->cap_earlier) ||
        !CLV_PUSH_ROOM(b->arena, b->types->of, i, b->cap_type_of) ||
        !CLV_PUSH_ROOM(b->arena, b->types->value, i, b->cap_value_of) ||
        !CLV_PUSH_ROOM(b->arena, b->types->bytes, i, b->cap_bytes_of) ||
        !CLV_PUSH_ROOM(b->arena, b->types->whole_bytes, i, b->cap_whole_of))
        return clv_fail_nomem(err, WHAT);
    const clv_tensor_info *from = clv_tensor_at(b->whole, t);
    g->tensors[i] = (clv_tensor_info){ .name = from->name,
                                       .role = producer.i < 0 ? from->role : CLV_TENSOR_RESULT,
                                       .producer = producer,
                                       .weight = -1,
                                       .outer = CLV_NO_TENSOR };
    b->tensor_of[i] = t;
    b->layout_of[i] = *layout;
    b->earlier[i] = -1;
    b->types->value[i] = b->s->types->value[t.i];
    b->types->bytes[i] =
        clv_part_bytes(b->s->mesh, layout, &b->s->types->of[t.i], b->s->types->bytes[t.i]);
    b->types->whole_bytes[i] = clv_part_bytes(b->s->mesh, layout, &b->s->types->of[t.i],
                                              clv_bytes_outside(b->s->types, t));
    CLV_TRY(part_type(b, t, layout, &b->types->of[i], err));
    g->n_tensors++;
    *ret = (clv_tensor){ i };
    return CLV_OK;
}

/* The part of a weight in this layout, made at its first use. */
static clv_status weight_in_layout(builder *b, clv_tensor t, const clv_layout *layout,
                                   clv_tensor *ret, clv_error *err)
{
    clv_graph *g = b->g;
    for (int32_t i = b->last_weight[t.i]; i >= 0; i = b->earlier[i])
        if (clv_layout_equal(&b->layout_of[i], layout)) {
            *ret = (clv_tensor){ i };
            return CLV_OK;
        }
    const clv_tensor_info *from = clv_tensor_at(b->whole, t);
    CLV_TRY(add_tensor(b, t, layout, CLV_NO_OP, ret, err));
    if (!CLV_PUSH_ROOM(b->arena, g->weights, g->n_weights, b->cap_weights))
        return clv_fail_nomem(err, WHAT);
    clv_const *part = &g->weights[g->n_weights];
    *part = b->whole->weights[from->weight];
    if (!part->sparse && b->types->bytes[ret->i] < part->bytes) {
        part->bytes = b->types->bytes[ret->i];
        part->dims = b->types->of[ret->i].dims;
        part->elems = clv_type_elems(&b->types->of[ret->i]);
    }
    g->tensors[ret->i].weight = g->n_weights++;
    b->earlier[ret->i] = b->last_weight[t.i];
    b->last_weight[t.i] = ret->i;
    return CLV_OK;
}

/* -- operators -- */

/* Its operands are to be added next. collective: into communications; -1: none. */
static clv_status add_op(builder *b, const clv_op_info *info, clv_op of, int32_t collective,
                         const clv_op_cost *cost, clv_error *err)
{
    clv_graph *g = b->g;
    int32_t i = g->n_ops;
    if (!CLV_PUSH_ROOM(b->arena, g->ops, i, b->cap_ops) ||
        !CLV_PUSH_ROOM(b->arena, b->op_of, i, b->cap_op_of) ||
        !CLV_PUSH_ROOM(b->arena, b->communication_of, i, b->cap_communication_of) ||
        !CLV_PUSH_ROOM(b->arena, b->cost_of, i, b->cap_cost_of))
        return clv_fail_nomem(err, WHAT);
    g->ops[i] = *info;
    g->ops[i].file_index = i;
    g->ops[i].first_in = b->n_in;
    g->ops[i].first_out = b->n_out;
    b->op_of[i] = of;
    b->communication_of[i] = collective;
    b->cost_of[i] = *cost;
    g->n_ops++;
    return CLV_OK;
}

static clv_status add_in(builder *b, clv_tensor t, clv_error *err)
{
    if (!CLV_PUSH_ROOM(b->arena, b->g->inputs_of, b->n_in, b->cap_in))
        return clv_fail_nomem(err, WHAT);
    b->g->inputs_of[b->n_in++] = t;
    return CLV_OK;
}

static clv_status add_out(builder *b, clv_tensor t, clv_error *err)
{
    if (!CLV_PUSH_ROOM(b->arena, b->g->outputs_of, b->n_out, b->cap_out))
        return clv_fail_nomem(err, WHAT);
    b->g->outputs_of[b->n_out++] = t;
    return CLV_OK;
}

typedef struct {
    const clv_step *step;
    clv_tensor whole;
    clv_op reader;
    clv_op_cost cost;
} new_step;

/* One step: an operator that reads a tensor and writes it in another layout. */
static clv_status add_step(builder *b, const new_step *of, clv_tensor *io, clv_error *err)
{
    const clv_step *step = of->step;
    clv_tensor whole = of->whole;
    clv_str name = clv_tensor_at(b->whole, whole)->name;
    char *label = clv_arena_printf(b->arena, "%s %d of %.*s", clv_step_name(step->kind),
                                   (int)b->n_communications, CLV_STR_ARG(name));
    clv_op op = { b->g->n_ops };
    if (!label ||
        !CLV_PUSH_ROOM(b->arena, b->communications, b->n_communications, b->cap_communications))
        return clv_fail_nomem(err, WHAT);
    clv_op_info info = { .name = clv_str_of(label),
                         .label = clv_str_of(label),
                         .type = clv_str_of(clv_step_name(step->kind)),
                         .domain = clv_str_of("cleave"),
                         .kind = CLV_OPKIND_UNKNOWN,
                         .n_in = 1,
                         .n_out = 1 };
    CLV_TRY(add_op(b, &info, CLV_NO_OP, b->n_communications, &of->cost, err));
    b->communications[b->n_communications++] = (clv_communication){ whole, of->reader, *step };
    CLV_TRY(add_in(b, *io, err));
    CLV_TRY(add_tensor(b, whole, &step->to, op, io, err));
    b->g->tensors[io->i].name = clv_str_of(label);
    return add_out(b, *io, err);
}

/* What would stay inside a kernel lies in memory where that is parted. */
static void store_part(builder *b, clv_tensor part)
{
    clv_tensor whole = b->tensor_of[part.i];
    b->types->bytes[part.i] =
        clv_part_bytes(b->s->mesh, &b->layout_of[part.i], &b->s->types->of[whole.i],
                       b->s->types->whole_bytes[whole.i]);
}

/* Brings a tensor to a layout. *io: where it is, and then where it is so. */
static clv_status reshard(builder *b, const clv_layout *to, clv_op reader, clv_tensor *io,
                          clv_error *err)
{
    clv_tensor whole = b->tensor_of[io->i];
    clv_chain chain;
    if (clv_layout_equal(&b->layout_of[io->i], to))
        return CLV_OK;
    clv_relayout move = { &b->s->types->of[whole.i], &b->layout_of[io->i], to };
    CLV_TRY(clv_resharder_chain(b->of->resharder, &move, b->arena, &chain, err));
    int64_t ns = 0;
    for (int32_t i = 0; i < chain.n; i++)
        ns += chain.steps[i].ns;
    const clv_kernel_break parted = {
        b->s->types->of[whole.i].dtype,
        clv_inside_bytes(b->s->types, whole, b->s->mesh, &b->layout_of[io->i]),
        clv_inside_bytes(b->s->types, whole, b->s->mesh, to), clv_costs_captured(b->of->costs)
    };
    clv_op_cost cost = clv_kernel_break_cost(&parted, ns);
    bool stored = clv_stays_inside(b->s->types, whole) && ns > 0;
    for (int32_t i = 0; i < chain.n; i++) { /* the first one has the rest of the cost */
        cost.link_ns = chain.steps[i].ns;
        cost.link_basis = chain.steps[i].by == CLV_BY_LIBRARY ? CLV_MEASURED : CLV_ASSUMED;
        if (stored)
            store_part(b, *io);
        CLV_TRY(add_step(b, &(new_step){ &chain.steps[i], whole, reader, cost }, io, err));
        if (stored)
            store_part(b, *io);
        cost = (clv_op_cost){ .link_ns = 0 };
    }
    return CLV_OK;
}

/* Input k of an operator, in the layout that it needs. */
static clv_status reshard_input(builder *b, clv_op op, int32_t k, clv_tensor *ret, clv_error *err)
{
    clv_tensor t = clv_op_input(b->whole, clv_op_at(b->whole, op), k);
    clv_layout need = clv_shard_need(b->s, b->of->answer, op, k);
    if (t.i < 0) {
        *ret = t;
        return CLV_OK;
    }
    if (clv_tensor_at(b->whole, t)->role == CLV_TENSOR_WEIGHT)
        return weight_in_layout(b, t, &need, ret, err);
    *ret = (clv_tensor){ b->home[t.i] };
    if (b->s->types->value[t.i] || b->s->node_of_op[op.i] < 0)
        return CLV_OK; /* known before the run: it is everywhere as it is */
    return reshard(b, &need, op, ret, err);
}

static clv_status add_operator(builder *b, clv_op op, clv_error *err)
{
    const clv_op_info *info = clv_op_at(b->whole, op);
    int32_t node = b->s->node_of_op[op.i];
    clv_tensor *in = CLV_NEW_ARRAY(b->arena, clv_tensor, info->n_in);
    if (!in)
        return clv_fail_nomem(err, WHAT);
    for (int32_t k = 0; k < info->n_in; k++)
        CLV_TRY(reshard_input(b, op, k, &in[k], err));
    const clv_op_cost *cost =
        node < 0 ? &b->of->costs->of[op.i] : &b->s->op_cost[node][b->of->answer[node]];
    clv_op made = { b->g->n_ops };
    CLV_TRY(add_op(b, info, op, -1, cost, err));
    for (int32_t k = 0; k < info->n_in; k++)
        CLV_TRY(add_in(b, in[k], err));
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(b->whole, info, k), part = t;
        if (t.i >= 0) {
            clv_layout layout = clv_shard_made(b->s, b->of->answer, t);
            CLV_TRY(add_tensor(b, t, &layout, made, &part, err));
            b->home[t.i] = part.i;
        }
        CLV_TRY(add_out(b, part, err));
    }
    return CLV_OK;
}

/* What an operator wrote is brought to where it lies, behind it. */
static clv_status reshard_outputs(builder *b, clv_op op, clv_error *err)
{
    const clv_op_info *info = clv_op_at(b->whole, op);
    for (int32_t k = 0; b->s->node_of_op[op.i] >= 0 && k < info->n_out; k++) {
        clv_tensor t = clv_op_output(b->whole, info, k);
        if (t.i < 0 || b->s->types->value[t.i])
            continue;
        clv_layout home = clv_shard_home(b->s, b->of->answer, t);
        clv_tensor part = { b->home[t.i] };
        CLV_TRY(reshard(b, &home, CLV_NO_OP, &part, err));
        b->home[t.i] = part.i;
    }
    return CLV_OK;
}

/* -- the graph around them -- */

static clv_status add_inputs(builder *b, clv_error *err)
{
    const clv_graph *w = b->whole;
    b->g->inputs = CLV_NEW_ARRAY(b->arena, clv_tensor, w->n_inputs);
    if (!b->g->inputs)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < w->n_inputs; i++) {
        clv_tensor t = w->inputs[i];
        clv_layout layout = clv_shard_home(b->s, b->of->answer, t);
        CLV_TRY(add_tensor(b, t, &layout, CLV_NO_OP, &b->g->inputs[i], err));
        b->home[t.i] = b->g->inputs[i].i;
    }
    b->g->n_inputs = w->n_inputs;
    return CLV_OK;
}

static clv_status add_outputs(builder *b, clv_error *err)
{
    const clv_graph *w = b->whole;
    b->g->outputs = CLV_NEW_ARRAY(b->arena, clv_tensor, w->n_outputs);
    if (!b->g->outputs)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < w->n_outputs; i++) {
        clv_tensor t = w->outputs[i], part = { b->home[t.i] };
        if (part.i < 0) { /* a weight that is returned as it is */
            clv_layout copies = CLV_LAYOUT_COPIES;
            CLV_TRY(weight_in_layout(b, t, &copies, &part, err));
        }
        b->g->outputs[b->g->n_outputs++] = part;
        b->g->tensors[part.i].is_output = true;
    }
    return CLV_OK;
}

/* Types of bodies stand by operator: those of the operators that were copied, moved. */
static clv_status add_bodies(builder *b, clv_error *err)
{
    const clv_types *from = b->s->types;
    int32_t n = b->g->n_ops;
    if (!from->first_body)
        return CLV_OK;
    int32_t *first = CLV_NEW_ARRAY(b->arena, int32_t, n + 1);
    int64_t *trips = CLV_NEW_ARRAY(b->arena, int64_t, n);
    if (!first || !trips)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < n; i++) { /* operators keep their order, so their bodies do */
        int32_t of = b->op_of[i].i;
        int32_t bodies = of < 0 ? 0 : from->first_body[of + 1] - from->first_body[of];
        first[i + 1] = first[i] + bodies;
        trips[i] = of < 0 || !from->trips ? -1 : from->trips[of];
    }
    b->types->first_body = first;
    b->types->body = from->body;
    b->types->trips = from->trips ? trips : NULL;
    return CLV_OK;
}

/* A collective for one reader goes with it; one for all readers with the operator that wrote the
 * tensor, and so sends nothing in another stage than that one's. */
static clv_status join_collectives(builder *b, clv_costs *c, clv_error *err)
{
    clv_op *goes_with = CLV_NEW_ARRAY(b->arena, clv_op, b->g->n_ops);
    clv_op *local = CLV_NEW_ARRAY(b->arena, clv_op, b->whole->n_ops);
    if (!goes_with || !local)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < b->g->n_ops; i++)
        if (b->op_of[i].i >= 0)
            local[b->op_of[i].i] = (clv_op){ i };
    for (int32_t i = 0; i < b->g->n_ops; i++) {
        clv_op of = b->op_of[i];
        if (of.i < 0) {
            const clv_communication *made = &b->communications[b->communication_of[i]];
            of = made->reader.i >= 0 ? made->reader
                                     : clv_tensor_at(b->whole, made->tensor)->producer;
        }
        if (of.i >= 0 && b->of->costs->goes_with)
            of = b->of->costs->goes_with[of.i]; /* of the same kernel */
        goes_with[i] = of.i < 0 ? (clv_op){ i } : local[of.i];
    }
    c->goes_with = goes_with;
    return CLV_OK;
}

static clv_status add_costs(builder *b, clv_local_model *ret, clv_error *err)
{
    clv_costs *c = CLV_NEW(b->arena, clv_costs);
    int32_t *seen = CLV_NEW_ARRAY(b->arena, int32_t, b->g->n_weights);
    int32_t *seen_whole = CLV_NEW_ARRAY(b->arena, int32_t, b->whole->n_weights);
    int32_t *held_by = CLV_NEW_ARRAY(b->arena, int32_t, b->g->n_ops);
    const int32_t *of_whole = b->of->costs->held_by;
    if (!c || !seen || !seen_whole || !held_by)
        return clv_fail_nomem(err, WHAT);
    *c = *b->of->costs;
    c->graph = b->g;
    c->types = b->types;
    c->of = b->cost_of;
    c->n_unknown = c->n_unsized = 0;
    c->kernels = NULL; /* of the whole model: what is made of them is in the costs */
    c->held_by = of_whole ? held_by : NULL;
    c->total = (clv_op_cost){ .weight_bytes = 0 };
    for (int32_t i = 0; i < b->g->n_ops; i++) {
        clv_op_cost *of = &c->of[i];
        held_by[i] = b->op_of[i].i < 0 || !of_whole ? -1 : of_whole[b->op_of[i].i];
        if (b->op_of[i].i < 0)
            continue;
        const clv_op_cost *whole = &b->of->costs->of[b->op_of[i].i];
        int64_t bodies =
            whole->weight_bytes - clv_weights_read(b->whole, b->op_of[i], i + 1, seen_whole);
        of->weight_bytes = clv_weight_add(bodies > 0 ? bodies : 0,
                                          clv_weights_read(b->g, (clv_op){ i }, i + 1, seen));
        c->total.flops += of->flops; /* no more than the whole model's, which add up */
        c->total.matmul_flops += of->matmul_flops;
    }
    for (int32_t w = 0; w < b->g->n_weights; w++)
        c->total.weight_bytes = clv_weight_add(c->total.weight_bytes, b->g->weights[w].bytes);
    ret->costs = c;
    return join_collectives(b, c, err);
}

#define RESERVE(ptr, cap, n)                                                                       \
    ((ptr) = clv_arena_take_room(b->arena, (size_t)((cap) = (n)), sizeof *(ptr)))

/* Most often there is half an operator more for each one, at most: then nothing has to grow. */
static bool reserve(builder *b)
{
    int32_t n_ops = b->whole->n_ops + b->whole->n_ops / 2;
    int32_t n_tensors = b->whole->n_tensors + b->whole->n_ops / 2;
    return RESERVE(b->g->ops, b->cap_ops, n_ops) && RESERVE(b->op_of, b->cap_op_of, n_ops) &&
           RESERVE(b->communication_of, b->cap_communication_of, n_ops) &&
           RESERVE(b->cost_of, b->cap_cost_of, n_ops) &&
           RESERVE(b->g->tensors, b->cap_tensors, n_tensors) &&
           RESERVE(b->tensor_of, b->cap_tensor_of, n_tensors) &&
           RESERVE(b->layout_of, b->cap_layout_of, n_tensors) &&
           RESERVE(b->earlier, b->cap_earlier, n_tensors) &&
           RESERVE(b->types->of, b->cap_type_of, n_tensors) &&
           RESERVE(b->types->value, b->cap_value_of, n_tensors) &&
           RESERVE(b->types->bytes, b->cap_bytes_of, n_tensors) &&
           RESERVE(b->types->whole_bytes, b->cap_whole_of, n_tensors) &&
           RESERVE(b->g->weights, b->cap_weights, b->whole->n_weights);
}

static bool allocate(builder *b)
{
    int32_t n = b->whole->n_tensors;
    b->g = CLV_NEW(b->arena, clv_graph);
    b->types = CLV_NEW(b->arena, clv_types);
    b->home = CLV_NEW_ARRAY(b->arena, int32_t, n);
    b->last_weight = CLV_NEW_ARRAY(b->arena, int32_t, n);
    if (!b->g || !b->types || !b->home || !b->last_weight)
        return false;
    for (int32_t t = 0; t < n; t++)
        b->home[t] = b->last_weight[t] = -1;
    *b->g = (clv_graph){ .name = b->whole->name,
                         .attrs = b->whole->attrs,
                         .opsets = b->whole->opsets,
                         .n_opsets = b->whole->n_opsets };
    b->types->graph = b->g;
    return reserve(b);
}

clv_status clv_local_model_make(const clv_sharded_model *of, clv_arena *arena,
                                clv_local_model **ret, clv_error *err)
{
    builder b = { .of = of, .whole = of->model->main, .s = of->problem, .arena = arena };
    clv_local_model *made = CLV_NEW(arena, clv_local_model);
    clv_model *copy = CLV_NEW(arena, clv_model);
    if (!made || !copy || !allocate(&b))
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(add_inputs(&b, err));
    for (int32_t i = 0; i < b.whole->n_ops; i++) {
        CLV_TRY(add_operator(&b, (clv_op){ i }, err));
        CLV_TRY(reshard_outputs(&b, (clv_op){ i }, err));
    }
    CLV_TRY(add_outputs(&b, err));
    CLV_TRY(clv_graph_list_readers(b.g, arena, err));
    CLV_TRY(add_bodies(&b, err));
    CLV_TRY(add_costs(&b, made, err));
    *copy = *of->model;
    copy->main = b.g;
    b.g->model = copy;
    made->model = copy;
    made->types = b.types;
    made->op_of = b.op_of;
    made->communication_of = b.communication_of;
    made->tensor_of = b.tensor_of;
    made->layout_of = b.layout_of;
    made->communications = b.communications;
    made->n_communications = b.n_communications;
    *ret = made;
    return CLV_OK;
}
