#include "calibrate/probe_list.h"

/* First dimensions: so small that calling is all, what an inner cache holds, what it does not. */
static const struct {
    int64_t rows;
    int32_t nodes;
} sizes[] = { { 1, 32 }, { 32, 16 }, { 256, 6 } };
#define N_SIZES ((int32_t)(sizeof sizes / sizeof *sizes))

/* Products and convolutions: weights of the largest are 4 MB, each of the nodes has its own. */
#define MATRIX_NODES 4

/* clang-format off */ /* one line an operator */
#define X(...)       { CLV_PROBE_X, sizeof((int64_t[]){ __VA_ARGS__ }) / 8, { __VA_ARGS__ } }
#define W(...)       { CLV_PROBE_WEIGHT, sizeof((int64_t[]){ __VA_ARGS__ }) / 8, { __VA_ARGS__ } }
#define BOOLS(...)   { CLV_PROBE_BOOLS, sizeof((int64_t[]){ __VA_ARGS__ }) / 8, { __VA_ARGS__ } }
#define INDICES(...) { CLV_PROBE_INDICES, sizeof((int64_t[]){ __VA_ARGS__ }) / 8, { __VA_ARGS__ } }
#define INTS(...)    { CLV_PROBE_INTS, sizeof((int64_t[]){ __VA_ARGS__ }) / 8, { __VA_ARGS__ } }
#define LIST(NAME, ...) { NAME, sizeof((int64_t[]){ __VA_ARGS__ }) / 8, { __VA_ARGS__ } }
#define ONE(NAME, V)    { NAME, 0, { V } }

static const clv_probe_op nothing = { "Identity", { X(1, 4) }, { { 0 } }, 0 };

/* Three sizes each: 512 elements for each row. */
static const clv_probe_op by_rows[] = {
    { "Abs", { X(1, 512) }, { { 0 } }, 0 },
    { "Add", { X(1, 512), X(1, 512) }, { { 0 } }, 0 },
    { "AveragePool", { X(1, 8, 8, 8) }, { LIST("kernel_shape", 2, 2), LIST("strides", 2, 2) }, 0 },
    { "BatchNormalization", { X(1, 8, 8, 8), W(8), W(8), W(8), W(8) }, { { 0 } }, 0 },
    { "Cast", { X(1, 512) }, { ONE("to", 10) }, 0 },
    { "Clip", { X(1, 512) }, { { 0 } }, 0 },
    { "Concat", { X(1, 256), X(1, 256) }, { ONE("axis", 1) }, 0 },
    { "Div", { X(1, 512), X(1, 512) }, { { 0 } }, 0 },
    { "Equal", { X(1, 512), X(1, 512) }, { { 0 } }, 0 },
    { "Erf", { X(1, 512) }, { { 0 } }, 0 },
    { "Exp", { X(1, 512) }, { { 0 } }, 0 },
    { "Gather", { W(64, 512), INDICES(1) }, { ONE("axis", 0) }, 0 },
    { "Gelu", { X(1, 512) }, { { 0 } }, 0 },
    { "GlobalAveragePool", { X(1, 8, 8, 8) }, { { 0 } }, 0 },
    { "HardSigmoid", { X(1, 512) }, { { 0 } }, 0 },
    { "HardSwish", { X(1, 512) }, { { 0 } }, 0 },
    { "InstanceNormalization", { X(1, 8, 8, 8), W(8), W(8) }, { { 0 } }, 0 },
    { "LayerNormalization", { X(1, 512), W(512), W(512) }, { { 0 } }, 0 },
    { "LeakyRelu", { X(1, 512) }, { { 0 } }, 0 },
    { "Log", { X(1, 512) }, { { 0 } }, 0 },
    { "MaxPool", { X(1, 8, 8, 8) }, { LIST("kernel_shape", 2, 2), LIST("strides", 2, 2) }, 0 },
    { "Mul", { X(1, 512), X(1, 512) }, { { 0 } }, 0 },
    { "Neg", { X(1, 512) }, { { 0 } }, 0 },
    { "Pow", { X(1, 512), { CLV_PROBE_TWOS, 1, { 1 } } }, { { 0 } }, 0 },
    { "Reciprocal", { X(1, 512) }, { { 0 } }, 0 },
    { "ReduceMax", { X(1, 512), INTS(1) }, { { 0 } }, 0 },
    { "ReduceMean", { X(1, 512), INTS(1) }, { { 0 } }, 0 },
    { "ReduceSum", { X(1, 512), INTS(1) }, { { 0 } }, 0 },
    { "Relu", { X(1, 512) }, { { 0 } }, 0 },
    { "Sigmoid", { X(1, 512) }, { { 0 } }, 0 },
    { "Slice", { X(1, 512), INTS(128), INTS(384), INTS(1) }, { { 0 } }, 0 },
    { "Softmax", { X(1, 512) }, { { 0 } }, 0 },
    { "Split", { X(1, 512) }, { ONE("axis", 1), ONE("num_outputs", 2) }, 2 },
    { "Sqrt", { X(1, 512) }, { { 0 } }, 0 },
    { "Sub", { X(1, 512), X(1, 512) }, { { 0 } }, 0 },
    { "Tanh", { X(1, 512) }, { { 0 } }, 0 },
    { "Transpose", { X(1, 4, 4, 32) }, { LIST("perm", 0, 2, 1, 3) }, 0 },
    { "SimplifiedLayerNormalization", { X(1, 512), W(512) }, { { 0 } }, 0 },
    { "com.microsoft.SkipLayerNormalization", { X(1, 512), X(1, 512), W(512), W(512) }, { { 0 } }, 0 },
    { "com.microsoft.FastGelu", { X(1, 512) }, { { 0 } }, 0 },
    { "com.microsoft.QuickGelu", { X(1, 512) }, { { 0 } }, 0 },
    { "Where", { BOOLS(1, 512), X(1, 512), X(1, 512) }, { { 0 } }, 0 },
};

static const clv_probe_op matrix[] = {
    { "MatMul", { X(128, 512), W(512, 512) }, { { 0 } }, 0 },
    { "MatMul", { X(128, 256), W(256, 1024) }, { { 0 } }, 0 },
    { "MatMul", { X(64, 128), W(128, 512) }, { { 0 } }, 0 },
    { "MatMul", { X(8, 64, 32), W(8, 32, 64) }, { { 0 } }, 0 },
    { "MatMul", { X(8, 64, 64), W(8, 64, 32) }, { { 0 } }, 0 },
    { "MatMul", { X(1, 1024), W(1024, 1024) }, { { 0 } }, 0 },
    { "Gemm", { X(128, 512), W(512, 512), W(512) }, { { 0 } }, 0 },
    { "Gemm", { X(64, 256), W(256, 256), W(256) }, { { 0 } }, 0 },
    { "Gemm", { X(1, 1024), W(1024, 1024), W(1024) }, { { 0 } }, 0 },
    { "Conv", { X(1, 64, 28, 28), W(64, 64, 3, 3), W(64) }, { LIST("pads", 1, 1, 1, 1) }, 0 },
    { "Conv", { X(1, 128, 14, 14), W(128, 128, 3, 3), W(128) }, { LIST("pads", 1, 1, 1, 1) }, 0 },
    { "Conv", { X(1, 32, 56, 56), W(64, 32, 3, 3), W(64) }, { LIST("pads", 1, 1, 1, 1), LIST("strides", 2, 2) }, 0 },
    { "Conv", { X(1, 128, 28, 28), W(64, 128, 1, 1), W(64) }, { { 0 } }, 0 },
    { "Conv", { X(1, 256, 7, 7), W(256, 256, 3, 3), W(256) }, { LIST("pads", 1, 1, 1, 1) }, 0 },
    { "Conv", { X(1, 64, 28, 28), W(64, 1, 3, 3), W(64) }, { LIST("pads", 1, 1, 1, 1), ONE("group", 64) }, 0 },
    { "Conv", { X(1, 128, 14, 14), W(128, 1, 3, 3), W(128) }, { LIST("pads", 1, 1, 1, 1), ONE("group", 128) }, 0 },
    { "Conv", { X(1, 64, 14, 14), W(64, 1, 7, 7), W(64) }, { LIST("pads", 3, 3, 3, 3), ONE("group", 64) }, 0 },
};
/* clang-format on */

#define N_BY_ROWS ((int32_t)(sizeof by_rows / sizeof *by_rows))
#define N_MATRIX  ((int32_t)(sizeof matrix / sizeof *matrix))

clv_status clv_probes_list(clv_arena *arena, const clv_probe **ret, int32_t *ret_n, clv_error *err)
{
    clv_probe *all = CLV_NEW_ARRAY(arena, clv_probe, 1 + N_BY_ROWS * N_SIZES + N_MATRIX);
    int32_t n = 0;

    if (!all)
        return clv_fail_nomem(err, "the probes");
    all[n++] = (clv_probe){ &nothing, 0, 1, false };
    for (int32_t i = 0; i < N_BY_ROWS; i++)
        for (int32_t s = 0; s < N_SIZES; s++)
            all[n++] = (clv_probe){ &by_rows[i], sizes[s].rows, sizes[s].nodes, false };
    for (int32_t i = 0; i < N_MATRIX; i++)
        all[n++] = (clv_probe){ &matrix[i], 0, MATRIX_NODES, true };
    *ret = all;
    *ret_n = n;
    return CLV_OK;
}
