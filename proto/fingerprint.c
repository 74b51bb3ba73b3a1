#include "proto/fingerprint.h"

#include "base/map.h"

/* What a plan depends on: names, operators, and the sizes of weights. Not the weights themselves,
 * not the annotations, not the IR version. Every list goes in with its length, so that moving a
 * name from one list to the next changes the hash. Bodies are at most 64 deep.
 */
static uint64_t hash_int(uint64_t h, int64_t value)
{
    uint8_t bytes[8]; /* not memory order: the same on every machine */
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)((uint64_t)value >> 8 * i);
    return clv_hash(h, bytes, sizeof bytes);
}

static uint64_t hash_str(uint64_t h, clv_str s)
{
    h = hash_int(h, s.n);
    return s.n ? clv_hash(h, s.at, (size_t)s.n) : h;
}

static uint64_t hash_tensor(uint64_t h, const clv_graph *g, clv_tensor t)
{
    return t.i < 0 ? hash_int(h, -1) : hash_str(h, g->tensors[t.i].name);
}

static uint64_t hash_graph(uint64_t h, const clv_graph *g);

static uint64_t hash_op(uint64_t h, const clv_graph *g, const clv_op_info *op)
{
    h = hash_str(hash_str(hash_str(h, op->name), op->type), op->domain);
    h = hash_int(hash_int(h, op->file_index), clv_op_n_explicit(op));
    for (int32_t i = 0; i < clv_op_n_explicit(op); i++)
        h = hash_tensor(h, g, g->inputs_of[op->first_in + i]);
    h = hash_int(h, op->n_out);
    for (int32_t i = 0; i < op->n_out; i++)
        h = hash_tensor(h, g, g->outputs_of[op->first_out + i]);
    for (int32_t i = 0; i < op->n_attr; i++) {
        const clv_attr *a = &g->attrs[op->first_attr + i];
        if (a->kind != CLV_ATTR_GRAPH && a->kind != CLV_ATTR_GRAPHS)
            continue;
        for (int32_t k = 0; k < a->n; k++)
            h = hash_graph(h, a->graph[k]);
    }
    return h;
}

static uint64_t hash_graph(uint64_t h, const clv_graph *g)
{
    h = hash_str(h, g->name);
    h = hash_int(h, g->n_inputs);
    for (int32_t i = 0; i < g->n_inputs; i++)
        h = hash_tensor(h, g, g->inputs[i]);
    h = hash_int(h, g->n_outputs);
    for (int32_t i = 0; i < g->n_outputs; i++)
        h = hash_tensor(h, g, g->outputs[i]);
    h = hash_int(h, g->n_weights);
    for (int32_t i = 0; i < g->n_weights; i++) {
        const clv_const *w = &g->weights[i];
        h = hash_int(hash_int(hash_str(h, w->name), w->dtype), w->rank);
        for (int32_t k = 0; k < w->rank; k++)
            h = hash_int(h, w->dims[k]);
    }
    h = hash_int(h, g->n_ops);
    for (int32_t i = 0; i < g->n_ops; i++)
        h = hash_op(h, g, &g->ops[i]);
    return h;
}

uint64_t clv_onnx_fingerprint(const clv_model *model)
{
    uint64_t h = hash_graph(CLV_HASH_INIT, model->main);
    for (int32_t i = 0; i < model->n_functions; i++)
        h = hash_graph(hash_str(h, model->functions[i]->function_domain), model->functions[i]);
    return h;
}
