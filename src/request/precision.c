#include "request/precision.h"

#include <string.h>

#include "graph/ops.h"

clv_status clv_precision_find(const char *name, const char *what, clv_dtype *ret, clv_error *err)
{
    static const struct {
        const char *name;
        clv_dtype dtype;
    } all[] = { { "bf16", CLV_DT_BFLOAT16 },
                { "fp8", CLV_DT_FLOAT8E4M3FN },
                { "int8", CLV_DT_INT8 },
                { "int4", CLV_DT_INT4 },
                { "nvfp4", CLV_DT_FLOAT4E2M1 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0) {
            *ret = all[i].dtype;
            return CLV_OK;
        }
    return clv_fail(err, CLV_EUSAGE, "%s is '%.40s': expected bf16, fp8, int8, int4 or nvfp4", what,
                    name);
}

/* The weight that a product reads as its second operand, perhaps by another name or transposed; -1.
 */
static int32_t weight_of(const clv_graph *g, const clv_op_info *op)
{
    clv_tensor t = op->n_in > 1 ? clv_op_input(g, op, 1) : CLV_NO_TENSOR;
    for (int32_t steps = 0; t.i >= 0 && steps < 4; steps++) {
        const clv_tensor_info *at = clv_tensor_at(g, t);
        if (at->role == CLV_TENSOR_WEIGHT)
            return at->weight;
        if (at->producer.i < 0)
            break;
        const clv_op_info *writer = clv_op_at(g, at->producer);
        if (!clv_str_is(writer->type, "Transpose") && clv_op_viewed(g, writer).i < 0)
            break;
        t = clv_op_input(g, writer, 0);
    }
    return -1;
}

/* Does the model return it, as it is or after a cast? */
static bool is_returned(const clv_graph *g, const clv_op_info *op)
{
    for (int32_t steps = 0; op && op->n_out > 0 && steps < 4; steps++) {
        clv_tensor t = clv_op_output(g, op, 0);
        const clv_tensor_info *at = t.i < 0 ? NULL : clv_tensor_at(g, t);
        if (!at || at->is_output)
            return at != NULL;
        const clv_op_info *reader =
            at->n_readers == 1 ? clv_op_at(g, g->readers_of[at->first_reader]) : NULL;
        op = reader && (clv_str_is(reader->type, "Cast") || clv_op_viewed(g, reader).i >= 0)
                 ? reader
                 : NULL;
    }
    return false;
}

/* Types of 4 bits have a scale for each block of weights: INT4 one of 16 bits for 32 of them, which
 * is what ONNX Runtime GenAI's builder writes (MatMulNBits), NVFP4 one of 8 bits for 16 (NVIDIA,
 * "Introducing NVFP4 for Efficient and Accurate Low-Precision Inference", 2025). Wider types have
 * one for a tensor or a channel, which is nothing beside it. */
#define WEIGHTS_A_SCALE_BYTE 16

static void store_as(clv_const *w, clv_dtype dtype)
{
    int64_t bytes;
    if (w->sparse || !clv_dtype_narrows(w->dtype, dtype) ||
        !clv_dtype_bytes(dtype, w->elems, &bytes))
        return;
    w->dtype = dtype;
    w->bytes = bytes + (clv_dtype_bits(dtype) == 4 ? w->elems / WEIGHTS_A_SCALE_BYTE : 0);
}

/* The weights of a mixture of experts that is one operator: those of its products, with a dimension
 * of experts in front. */
static void store_experts(const clv_graph *g, const clv_op_info *op, clv_const *all,
                          clv_dtype dtype)
{
    for (int32_t k = 2; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(g, op, k);
        if (t.i < 0 || clv_tensor_at(g, t)->role != CLV_TENSOR_WEIGHT)
            continue;
        clv_const *w = &all[clv_tensor_at(g, t)->weight];
        if (w->rank == 3)
            store_as(w, dtype);
    }
}

clv_status clv_model_stored_as(const clv_model *model, clv_dtype weights, clv_arena *arena,
                               const clv_model **ret, clv_error *err)
{
    const clv_graph *from = model->main;
    clv_model *made = CLV_NEW(arena, clv_model);
    clv_graph *g = CLV_NEW(arena, clv_graph);
    clv_const *all = CLV_NEW_ARRAY(arena, clv_const, from->n_weights);
    if (!made || !g || !all)
        return clv_fail_nomem(err, "weights");
    for (int32_t w = 0; w < from->n_weights; w++)
        all[w] = from->weights[w];
    *made = *model;
    *g = *from;
    g->weights = all;
    g->model = made;
    made->main = g;
    for (int32_t w = 0; w < g->n_weights && clv_dtype_bits(weights) == 16; w++)
        store_as(&all[w], weights);
    for (int32_t i = 0; i < g->n_ops && clv_dtype_bits(weights) < 16; i++) {
        const clv_op_info *op = &g->ops[i];
        bool product = op->kind >= 0 && op->domain.n == 0 &&
                       (clv_op_def_at(op->kind)->flags & CLV_OPF_CONTRACTION) != 0;
        int32_t weight = product && !is_returned(g, op) ? weight_of(g, op) : -1;
        if (weight >= 0)
            store_as(&all[weight], weights);
        if (op->kind >= 0 && clv_op_def_at(op->kind)->flops == CLV_FLOPS_MOE)
            store_experts(g, op, all, weights);
    }
    *ret = made;
    return CLV_OK;
}
