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
#include "graph/rules.h"

/* Operators and tensors inferred in bodies, all together. Real models stay below a million; what is
 * above is a file made to grow: 60 functions that each call the next one twice. Each costs about
 * 100 bytes, so this is also the limit of the memory that such a file can take.
 */
#define BODY_WORK_MAX INT64_C(5000000)

/* An operator set that the graph does not import is read as newer than any. */
#define NEWEST INT32_MAX

struct clv_infer_state {
    clv_declared_ctx declared;
    int64_t body_work_left;
};

typedef struct {
    const clv_graph *graph;
    clv_types *outer;       /* of the graph around it; NULL: none */
    const clv_rule *caller; /* the call of the function this is in; NULL: none */
    int32_t n_given;        /* types and values of the first inputs */
    const clv_type *given;
    const clv_value *const *given_values;
} inference_of;

/* -- tables -- */

static int32_t count_bodies(const clv_graph *graph, const clv_op_info *op)
{
    int32_t n = op->kind == CLV_OPKIND_FUNCTION;
    for (int32_t i = 0; i < op->n_attr; i++) {
        const clv_attr *attr = &graph->attrs[op->first_attr + i];
        if (attr->kind == CLV_ATTR_GRAPH || attr->kind == CLV_ATTR_GRAPHS)
            n += attr->ref.n ? 0 : attr->n;
    }
    return n;
}

static clv_status make_body_tables(const clv_graph *graph, clv_arena *arena, clv_types *types,
                                   clv_error *err)
{
    int64_t n = 0;
    for (int32_t i = 0; i < graph->n_ops; i++)
        n += count_bodies(graph, &graph->ops[i]);
    if (n == 0)
        return CLV_OK;
    if (n > INT32_MAX)
        return clv_fail(err, CLV_ELIMIT, "graph '%.*s' has more than %d bodies",
                        CLV_STR_ARG(graph->name), INT32_MAX);
    types->first_body = CLV_NEW_ARRAY(arena, int32_t, (size_t)graph->n_ops + 1);
    types->body = CLV_NEW_ARRAY(arena, clv_types *, n);
    types->trips = CLV_NEW_ARRAY(arena, int64_t, graph->n_ops);
    if (!types->first_body || !types->body || !types->trips)
        return clv_fail_nomem(err, "the types of bodies");
    for (int32_t i = 0; i < graph->n_ops; i++) {
        types->first_body[i + 1] = types->first_body[i] + count_bodies(graph, &graph->ops[i]);
        types->trips[i] = -1;
    }
    return CLV_OK;
}

static clv_status make_types(const clv_graph *graph, clv_arena *arena, clv_types **ret,
                             clv_error *err)
{
    clv_types *types = CLV_NEW(arena, clv_types);
    if (!types)
        return clv_fail_nomem(err, "types");
    types->graph = graph;
    types->of = CLV_NEW_ARRAY(arena, clv_type, graph->n_tensors);
    types->value = CLV_NEW_ARRAY(arena, const clv_value *, graph->n_tensors);
    types->bytes = CLV_NEW_ARRAY(arena, int64_t, graph->n_tensors);
    if (!types->of || !types->value || !types->bytes)
        return clv_fail_nomem(err, "types");
    for (int32_t t = 0; t < graph->n_tensors; t++)
        types->of[t].rank = CLV_RANK_UNKNOWN;
    CLV_TRY(make_body_tables(graph, arena, types, err));
    *ret = types;
    return CLV_OK;
}

/* -- tensors that no operator of the graph writes -- */

static void set_sources(const inference_of *in, clv_types *types)
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
    for (int32_t k = 0; k < graph->n_inputs && k < in->n_given; k++) {
        types->of[graph->inputs[k].i] = in->given[k];
        if (in->given_values)
            types->value[graph->inputs[k].i] = in->given_values[k];
    }
}

/* -- one operator -- */

static clv_status infer_call(clv_rule *r)
{
    const clv_graph *function = r->op->function;
    int32_t n = clv_rule_n_in(r);
    clv_type *types = CLV_NEW_ARRAY(r->arena, clv_type, n);
    const clv_value **values = CLV_NEW_ARRAY(r->arena, const clv_value *, n);
    if (!types || !values)
        return clv_fail_nomem(r->err, "a function call");
    for (int32_t k = 0; k < n; k++) {
        types[k] = *clv_rule_in(r, k);
        values[k] = clv_rule_value(r, k);
    }
    const clv_types *body = NULL;
    CLV_TRY(clv_rule_body(r, 0, n, types, values, &body));
    for (int32_t k = 0; k < function->n_outputs; k++) {
        CLV_TRY(clv_rule_set_type(r, k, &body->of[function->outputs[k].i]));
        if (clv_rule_has_out(r, k))
            r->types->value[clv_op_output(r->graph, r->op, k).i] =
                body->value[function->outputs[k].i];
    }
    return CLV_OK;
}

static clv_status infer_op(clv_rule *r)
{
    if (r->op->kind == CLV_OPKIND_FUNCTION)
        return infer_call(r);
    if (r->op->kind < 0)
        return CLV_OK;
    CLV_TRY(clv_shape_rule_of(r->op->kind)(r));
    return clv_fold_rule_of(r->op->kind)(r);
}

/* Bytes of the tensor from its type. */
static clv_status size_of(const clv_graph *graph, int32_t t, clv_types *types, clv_error *err)
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
    return CLV_OK;
}

static clv_status finish_outputs(clv_rule *r)
{
    for (int32_t k = 0; k < r->op->n_out; k++) {
        clv_tensor t = clv_op_output(r->graph, r->op, k);
        if (t.i < 0)
            continue;
        CLV_TRY(clv_declared_merge(&r->state->declared, r->graph, t.i, r->types, r->err));
        CLV_TRY(size_of(r->graph, t.i, r->types, r->err));
    }
    return CLV_OK;
}

/* -- a graph -- */

static clv_status infer_sources(struct clv_infer_state *state, const inference_of *in,
                                clv_types *types, clv_error *err)
{
    set_sources(in, types);
    for (int32_t t = 0; t < in->graph->n_tensors; t++) {
        clv_tensor_role role = in->graph->tensors[t].role;
        if (role == CLV_TENSOR_RESULT)
            continue;
        if (role == CLV_TENSOR_INPUT)
            CLV_TRY(clv_declared_merge(&state->declared, in->graph, t, types, err));
        CLV_TRY(size_of(in->graph, t, types, err));
    }
    return CLV_OK;
}

static int64_t version_of(const clv_graph *graph, clv_str domain)
{
    int64_t version = clv_graph_opset(graph, domain);
    return version > 0 ? version : NEWEST;
}

static clv_status infer_graph(struct clv_infer_state *state, const inference_of *in,
                              clv_arena *arena, clv_types **ret, clv_error *err)
{
    clv_types *types = NULL;
    CLV_TRY(make_types(in->graph, arena, &types, err));
    CLV_TRY(infer_sources(state, in, types, err));
    clv_rule r = { .model = in->graph->model,
                   .graph = in->graph,
                   .types = types,
                   .arena = arena,
                   .err = err,
                   .state = state,
                   .caller = in->caller };
    for (int32_t i = 0; i < in->graph->n_ops; i++) {
        r.op = &in->graph->ops[i];
        r.version = version_of(in->graph, r.op->domain);
        CLV_TRY(infer_op(&r));
        CLV_TRY(finish_outputs(&r));
    }
    *ret = types;
    return CLV_OK;
}

/* -- bodies -- */

/* Body number b of an operator, in the order of its graph attributes. NULL: it has not so many. */
static const clv_graph *body_graph(const clv_rule *r, int32_t b)
{
    if (r->op->kind == CLV_OPKIND_FUNCTION)
        return b == 0 ? r->op->function : NULL;
    for (int32_t i = 0; i < r->op->n_attr; i++) {
        const clv_attr *attr = &r->graph->attrs[r->op->first_attr + i];
        if ((attr->kind != CLV_ATTR_GRAPH && attr->kind != CLV_ATTR_GRAPHS) || attr->ref.n)
            continue;
        if (b < attr->n)
            return attr->graph[b];
        b -= attr->n;
    }
    return NULL;
}

static clv_status pay_for(clv_rule *r, const clv_graph *graph)
{
    r->state->body_work_left -= (int64_t)graph->n_ops + graph->n_tensors + 1;
    if (r->state->body_work_left >= 0)
        return CLV_OK;
    return clv_fail(r->err, CLV_ELIMIT,
                    "operator '%.*s': bodies and functions expand to more than %" PRId64
                    " operators and tensors",
                    CLV_STR_ARG(r->op->label), BODY_WORK_MAX);
}

clv_status clv_rule_body(clv_rule *r, int32_t b, int32_t n, const clv_type *types,
                         const clv_value *const *values, const clv_types **ret)
{
    const clv_graph *graph = body_graph(r, b);
    if (!graph)
        return clv_rule_fail(r, "has no body number %d", b);
    CLV_TRY(pay_for(r, graph));
    bool call = r->op->kind == CLV_OPKIND_FUNCTION;
    inference_of in = { .graph = graph,
                        .outer = call ? NULL : r->types,
                        .caller = call ? r : r->caller,
                        .n_given = n,
                        .given = types,
                        .given_values = values };
    clv_types *body = NULL;
    CLV_TRY(infer_graph(r->state, &in, r->arena, &body, r->err));
    r->types->body[r->types->first_body[r->op - r->graph->ops] + b] = body;
    *ret = body;
    return CLV_OK;
}

void clv_rule_trips(clv_rule *r, int64_t trips)
{
    if (r->types->trips)
        r->types->trips[r->op - r->graph->ops] = trips;
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

/* Sizes that contradict each other show where shapes meet, far from where they were given. */
static clv_status blame_bindings(clv_status status, int32_t n_bindings, clv_error *err)
{
    if (status != CLV_EFORMAT || n_bindings == 0 || !err)
        return status;
    clv_error first = *err;
    return clv_fail(err, status, "%s; the sizes given to symbols may contradict each other",
                    first.message);
}

clv_status clv_infer(const clv_model *model, const clv_binding *bindings, int32_t n_bindings,
                     clv_arena *arena, clv_inference **ret, clv_error *err)
{
    struct clv_infer_state state = { .body_work_left = BODY_WORK_MAX };
    CLV_TRY(clv_declared_init(&state.declared, model, bindings, n_bindings, arena, err));
    clv_inference *inference = CLV_NEW(arena, clv_inference);
    if (!inference)
        return clv_fail_nomem(err, "the types of a model");
    inference_of in = { .graph = model->main };
    clv_status status = infer_graph(&state, &in, arena, &inference->main, err);
    if (status != CLV_OK)
        return blame_bindings(status, n_bindings, err);
    CLV_TRY(list_open(inference, arena, err));
    int64_t in_bodies = count_open(inference->main) - inference->n_open;
    inference->n_open_in_bodies = in_bodies < INT32_MAX ? (int32_t)in_bodies : INT32_MAX;
    inference->conflicts = state.declared.conflicts;
    inference->n_conflicts = state.declared.n_conflicts;
    *ret = inference;
    return CLV_OK;
}
