/* infer.c - one pass over a graph in operator order: shape rule, fold rule, what the file declares.
 *
 * A body or a called function is inferred where it is met, with the types of the call, by the same
 * pass one level down. A body may be met many times (a loop until its types stay the same, a
 * function called twice by one that is called twice), so all bodies together share one allowance.
 */
#include "graph/infer.h"

#include <inttypes.h>
#include <string.h>

#include "graph/infer_declared.h"
#include "graph/ops.h"
#include "graph/rule_table.h"
#include "graph/states.h"

/* Operators and tensors inferred in bodies, all together. Real models stay below a million; what is
 * above is a file made to grow: 60 functions that each call the next one twice. Each costs about
 * 100 bytes, so this is also the limit of the memory that such a file can take.
 */
#define BODY_WORK_MAX INT64_C(5000000)

/* An operator set that the graph does not import is read as newer than any. */
#define NEWEST INT32_MAX

typedef struct {
    clv_declared_ctx declared;
    clv_arena *arena;
    int64_t body_work_left;
} inferer;

typedef struct {
    const clv_graph *graph;
    clv_types *outer;       /* of the graph around it; NULL: none */
    const clv_rule *caller; /* the call of the function this is in; NULL: none */
    bool always;            /* does every run of the model run the graph? */
    clv_body_inputs inputs;
} inference_of;

/* -- one operator -- */

static clv_status infer_call(clv_rule *r, clv_error *err)
{
    const clv_graph *function = r->op->function;
    int32_t n = clv_rule_n_in(r);
    clv_type *types = CLV_NEW_ARRAY(r->arena, clv_type, n);
    const clv_value **values = CLV_NEW_ARRAY(r->arena, const clv_value *, n);
    if (!types || !values)
        return clv_fail_nomem(err, "a function call");
    for (int32_t k = 0; k < n; k++) {
        types[k] = *clv_rule_in(r, k);
        values[k] = clv_rule_value(r, k);
    }
    const clv_types *body = NULL;
    CLV_TRY(clv_rule_body(r, 0, &(clv_body_inputs){ n, types, values }, &body, err));
    for (int32_t k = 0; k < function->n_outputs; k++) {
        CLV_TRY(clv_rule_set_type(r, k, &body->of[function->outputs[k].i], err));
        if (clv_rule_has_out(r, k))
            r->types->value[clv_op_output(r->graph, r->op, k).i] =
                body->value[function->outputs[k].i];
    }
    return CLV_OK;
}

/* Bytes of the tensor from its type. */
static clv_status set_bytes(const clv_graph *graph, int32_t t, clv_types *types, clv_error *err)
{
    const clv_tensor_info *info = &graph->tensors[t];
    const clv_type *type = &types->of[t];
    types->bytes[t] = -1;
    if (!clv_type_is_static(type))
        return CLV_OK;
    while (type->kind == CLV_TYPE_OPTIONAL)
        type = type->elem;
    if (info->role == CLV_TENSOR_WEIGHT && graph->weights[info->weight].sparse) {
        types->bytes[t] = graph->weights[info->weight].bytes;
        return CLV_OK;
    }
    for (int32_t i = 0; i < type->rank; i++)
        if (type->dims[i] < 0)
            return clv_fail(err, CLV_EFORMAT,
                            "tensor '%.*s': dimension %d is %" PRId64 ", must not be negative",
                            CLV_STR_ARG(info->name), i, type->dims[i]);
    int64_t elems = clv_type_elems(type);
    if (elems < 0 || !clv_dtype_bytes(type->dtype, elems, &types->bytes[t]))
        return clv_fail(err, CLV_EFORMAT, "tensor '%.*s': its size does not fit 64 bits",
                        CLV_STR_ARG(info->name));
    if (info->role == CLV_TENSOR_WEIGHT && clv_dtype_bits(type->dtype) > 0 &&
        graph->weights[info->weight].bytes > types->bytes[t])
        types->bytes[t] = graph->weights[info->weight].bytes; /* with scales of its blocks */
    return CLV_OK;
}

static clv_status infer_op(inferer *f, clv_rule *r, clv_error *err)
{
    if (r->op->kind == CLV_OPKIND_FUNCTION) {
        CLV_TRY(infer_call(r, err));
    } else if (r->op->kind >= 0) {
        CLV_TRY(clv_shape_rule_of(r->op->kind)(r, err));
        CLV_TRY(clv_fold_rule_of(r->op->kind)(r, err));
    }
    for (int32_t k = 0; k < r->op->n_out; k++) {
        clv_tensor t = clv_op_output(r->graph, r->op, k);
        if (t.i < 0)
            continue;
        CLV_TRY(clv_declared_merge(&f->declared, r->graph, t.i, r->types, err));
        CLV_TRY(set_bytes(r->graph, t.i, r->types, err));
    }
    return CLV_OK;
}

/* -- a graph -- */

/* The tensors that no operator of the graph writes. */
static clv_status set_sources(inferer *f, const inference_of *in, clv_types *types, clv_error *err)
{
    const clv_graph *graph = in->graph;
    for (int32_t t = 0; t < graph->n_tensors; t++) {
        const clv_tensor_info *info = &graph->tensors[t];
        if (info->role == CLV_TENSOR_WEIGHT) {
            const clv_const *w = &graph->weights[info->weight];
            types->of[t] = (clv_type){ .kind = w->sparse ? CLV_TYPE_SPARSE : CLV_TYPE_TENSOR,
                                       .dtype = w->dtype,
                                       .rank = w->rank,
                                       .dims = w->dims };
            types->value[t] = w->value;
        } else if (info->role == CLV_TENSOR_OUTER && in->outer) {
            types->of[t] = in->outer->of[info->outer.i];
            types->value[t] = in->outer->value[info->outer.i];
        }
    }
    for (int32_t k = 0; k < graph->n_inputs && k < in->inputs.n; k++) {
        types->of[graph->inputs[k].i] = in->inputs.types[k];
        if (in->inputs.values)
            types->value[graph->inputs[k].i] = in->inputs.values[k];
    }
    for (int32_t t = 0; t < graph->n_tensors; t++) {
        if (graph->tensors[t].role == CLV_TENSOR_RESULT)
            continue;
        if (graph->tensors[t].role == CLV_TENSOR_INPUT)
            CLV_TRY(clv_declared_merge(&f->declared, graph, t, types, err));
        CLV_TRY(set_bytes(graph, t, types, err));
    }
    return CLV_OK;
}

static clv_status infer_body(clv_rule *r, const clv_graph *body, const clv_body_inputs *inputs,
                             clv_types **ret, clv_error *err);

static clv_status infer_graph(inferer *f, const inference_of *in, clv_types **ret, clv_error *err)
{
    clv_types *types = NULL;
    CLV_TRY(clv_types_new(in->graph, f->arena, &types, err));
    CLV_TRY(set_sources(f, in, types, err));
    clv_rule r = { .model = in->graph->model,
                   .graph = in->graph,
                   .types = types,
                   .arena = f->arena,
                   .caller = in->caller,
                   .infer_body = infer_body,
                   .inference = f,
                   .relations = f->declared.relations,
                   .always = in->always };
    for (int32_t i = 0; i < in->graph->n_ops; i++) {
        r.op = &in->graph->ops[i];
        int64_t version = clv_graph_opset(in->graph, r.op->domain);
        r.version = version > 0 ? version : NEWEST;
        CLV_TRY(infer_op(f, &r, err));
    }
    *ret = types;
    return CLV_OK;
}

static clv_status infer_body(clv_rule *r, const clv_graph *body, const clv_body_inputs *inputs,
                             clv_types **ret, clv_error *err)
{
    inferer *f = r->inference;
    bool call = r->op->kind == CLV_OPKIND_FUNCTION;
    f->body_work_left -= (int64_t)body->n_ops + body->n_tensors + 1;
    if (f->body_work_left < 0)
        return clv_fail(err, CLV_ELIMIT,
                        "operator '%.*s': bodies and functions expand to more than %" PRId64
                        " operators and tensors",
                        CLV_STR_ARG(r->op->label), BODY_WORK_MAX);
    inference_of in = { .graph = body,
                        .outer = call ? NULL : r->types,
                        .caller = call ? r : r->caller,
                        .always = call && r->always,
                        .inputs = *inputs };
    return infer_graph(f, &in, ret, err);
}

/* -- the model -- */

static clv_status list_open(clv_inference *inference, clv_arena *arena, clv_error *err)
{
    const clv_types *types = inference->main;
    int32_t n = 0;
    for (int32_t t = 0; t < types->graph->n_tensors; t++)
        n += !clv_type_is_static(&types->of[t]);
    inference->open = CLV_NEW_ARRAY(arena, clv_tensor, n);
    if (!inference->open)
        return clv_fail_nomem(err, "the list of open tensors");
    for (int32_t t = 0; t < types->graph->n_tensors; t++)
        if (!clv_type_is_static(&types->of[t]))
            inference->open[inference->n_open++] = (clv_tensor){ t };
    return CLV_OK;
}

/* Bodies nest at most as deep as the builder allows. */
static int64_t count_open(const clv_types *types)
{
    int64_t n = 0;
    for (int32_t t = 0; t < types->graph->n_tensors; t++)
        n += !clv_type_is_static(&types->of[t]);
    int32_t n_bodies = types->first_body ? types->first_body[types->graph->n_ops] : 0;
    for (int32_t b = 0; b < n_bodies; b++)
        n += types->body[b] ? count_open(types->body[b]) : 0;
    return n;
}

static clv_status infer_main(inferer *f, clv_types **ret, clv_error *err)
{
    const clv_declared_ctx *ctx = &f->declared;
    inference_of in = { .graph = ctx->model->main, .always = true };
    CLV_TRY(infer_graph(f, &in, ret, err));
    if (ctx->relations->failed || ctx->relations->sums.failed)
        return clv_fail_nomem(err, "relations of symbols");
    return CLV_OK;
}

clv_status clv_infer_relations(const clv_model *model, clv_arena *arena, clv_relations **ret,
                               clv_error *err)
{
    clv_types *types;
    clv_relations *relations;
    CLV_TRY(clv_relations_new(model, arena, &relations, err));
    inferer f = { .arena = clv_arena_new(clv_arena_alloc(arena), 0),
                  .body_work_left = BODY_WORK_MAX };
    if (!f.arena)
        return clv_fail_nomem(err, "relations of symbols");
    clv_status status = clv_declared_init(&f.declared, model, NULL, 0, f.arena, err);
    f.declared.relations = relations;
    if (status == CLV_OK)
        status = infer_main(&f, &types, err);
    clv_arena_free(f.arena);
    if (status == CLV_ENOMEM)
        return status;
    if (status != CLV_OK)
        CLV_TRY(clv_relations_new(model, arena, &relations, err));
    *ret = relations;
    return CLV_OK;
}

clv_status clv_infer(const clv_model *model, const clv_binding *bindings, int32_t n_bindings,
                     clv_arena *arena, clv_inference **ret, clv_error *err)
{
    inferer f = { .arena = arena, .body_work_left = BODY_WORK_MAX };
    CLV_TRY(clv_declared_init(&f.declared, model, bindings, n_bindings, arena, err));
    CLV_TRY(clv_relations_new(model, arena, &f.declared.relations, err));
    clv_inference *inference = CLV_NEW(arena, clv_inference);
    if (!inference)
        return clv_fail_nomem(err, "the types of a model");
    clv_status status = infer_main(&f, &inference->main, err);
    if (status == CLV_EFORMAT && n_bindings > 0 && err) {
        /* Such sizes show where shapes meet, far from where they were given. */
        clv_error first = *err;
        return clv_fail(err, status, "%s; the sizes given to symbols may contradict each other",
                        first.message);
    }
    CLV_TRY(status);
    clv_states *states = CLV_NEW(arena, clv_states);
    if (!states)
        return clv_fail_nomem(err, "the types of a model");
    CLV_TRY(clv_states_find(inference->main, arena, states, err));
    inference->main->states = states;
    CLV_TRY(list_open(inference, arena, err));
    int64_t in_bodies = count_open(inference->main) - inference->n_open;
    inference->n_open_in_bodies = in_bodies < INT32_MAX ? (int32_t)in_bodies : INT32_MAX;
    inference->conflicts = f.declared.conflicts;
    inference->n_conflicts = f.declared.n_conflicts;
    inference->relations = f.declared.relations;
    inference->bound = (clv_bindings){ .at = bindings, .n = n_bindings, .n_given = n_bindings };
    *ret = inference;
    return CLV_OK;
}
