#include "proto/message_index.h"

#include "proto/onnx.pb-c.h"

enum { M_GRAPH = 7, M_FUNCTION = 25 };
enum { G_NODE = 1, G_WEIGHT = 5, G_SPARSE = CLV_SPARSE_INITIALIZER };

static clv_status not_its_model(const clv_onnx_file *file, clv_error *err)
{
    return clv_fail(err, CLV_EUSAGE,
                    "%s has not as many nodes, weights or functions as the model that was said to "
                    "come from it",
                    file->name);
}

/* One more of a kind of which the model has most. */
static bool push_start(const uint8_t **at, int32_t *n, int32_t most, const clv_field *f)
{
    if (*n == most)
        return false;
    at[(*n)++] = f->start;
    return true;
}

static clv_status index_graph(clv_message_index *p, const clv_graph *g, clv_error *err)
{
    clv_message m = p->graph;
    clv_field f;
    bool fits = true;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == G_NODE)
            fits = fits && push_start(p->nodes, &p->n_nodes, g->n_ops, &f);
        else if (f.number == G_WEIGHT || f.number == G_SPARSE)
            fits = fits && push_start(p->weights, &p->n_weights, g->n_weights, &f);
    }
    fits = fits && p->n_nodes == g->n_ops && p->n_weights == g->n_weights;
    return fits ? CLV_OK : not_its_model(p->file, err);
}

static clv_status index_model(clv_message_index *p, const clv_model *model, clv_error *err)
{
    clv_message m = p->model;
    clv_field f, graph = { 0 };
    bool fits = true;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == M_GRAPH)
            CLV_TRY(clv_message_once(&m, &f, &graph, err));
        else if (f.number == M_FUNCTION)
            fits = fits && push_start(p->functions, &p->n_functions, model->n_functions, &f);
    }
    if (!fits || !graph.number || p->n_functions != model->n_functions)
        return not_its_model(p->file, err);
    p->graph = clv_message_sub(&m, &graph, &onnx__graph_proto__descriptor);
    return CLV_OK;
}

clv_status clv_message_index_build(const clv_onnx_file *file, const clv_model *model,
                                   clv_arena *arena, clv_message_index *ret, clv_error *err)
{
    clv_wire whole = clv_onnx_wire(file);
    clv_message_index p = { .file = file };
    p.model = clv_message_in(&whole, &onnx__model_proto__descriptor, file->bytes, file->n);
    p.nodes = CLV_NEW_ARRAY(arena, const uint8_t *, model->main->n_ops);
    p.weights = CLV_NEW_ARRAY(arena, const uint8_t *, model->main->n_weights);
    p.functions = CLV_NEW_ARRAY(arena, const uint8_t *, model->n_functions);
    if (!p.nodes || !p.weights || !p.functions)
        return clv_fail_nomem(err, "the places of a model's nodes");
    CLV_TRY(index_model(&p, model, err));
    CLV_TRY(index_graph(&p, model->main, err));
    *ret = p;
    return CLV_OK;
}

/* The message whose field in m starts at a place. */
static clv_status message_at(clv_message m, const uint8_t *at,
                             const ProtobufCMessageDescriptor *type, clv_message *ret,
                             uint32_t *ret_field, clv_error *err)
{
    clv_field f;
    m.wire.at = at;
    CLV_TRY(clv_message_next(&m, &f, err));
    *ret = clv_message_sub(&m, &f, type);
    *ret_field = f.number;
    return CLV_OK;
}

clv_status clv_message_index_node(const clv_message_index *p, int32_t i, clv_message *ret,
                                  clv_error *err)
{
    uint32_t field;
    return message_at(p->graph, p->nodes[i], &onnx__node_proto__descriptor, ret, &field, err);
}

clv_status clv_message_index_weight(const clv_message_index *p, int32_t i, clv_message *ret,
                                    uint32_t *ret_field, clv_error *err)
{
    CLV_TRY(
        message_at(p->graph, p->weights[i], &onnx__tensor_proto__descriptor, ret, ret_field, err));
    if (*ret_field == G_SPARSE)
        ret->type = &onnx__sparse_tensor_proto__descriptor;
    return CLV_OK;
}

clv_status clv_message_index_function(const clv_message_index *p, int32_t i, clv_message *ret,
                                      clv_error *err)
{
    uint32_t field;
    return message_at(p->model, p->functions[i], &onnx__function_proto__descriptor, ret, &field,
                      err);
}
