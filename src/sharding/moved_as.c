#include "sharding/moved_as.h"

#include <stdio.h>

int32_t clv_dtype_cast_opset(clv_dtype dtype)
{
    switch ((int)dtype) {
    case CLV_DT_FLOAT8E4M3FN:
    case CLV_DT_FLOAT8E4M3FNUZ:
    case CLV_DT_FLOAT8E5M2:
    case CLV_DT_FLOAT8E5M2FNUZ:
        return 19;
    case CLV_DT_UINT4:
    case CLV_DT_INT4:
        return 21;
    case CLV_DT_FLOAT4E2M1:
        return 23;
    case CLV_DT_FLOAT8E8M0:
        return 24;
    case CLV_DT_UINT2:
    case CLV_DT_INT2:
        return 25;
    default:
        return 0;
    }
}

clv_dtype clv_dtype_moved_as(clv_dtype dtype, int64_t opset)
{
    if (opset < clv_dtype_cast_opset(dtype))
        return CLV_DT_UNDEFINED;
    switch ((int)dtype) {
    case CLV_DT_FLOAT8E4M3FN:
    case CLV_DT_FLOAT8E4M3FNUZ:
    case CLV_DT_FLOAT8E5M2:
    case CLV_DT_FLOAT8E5M2FNUZ:
    case CLV_DT_FLOAT4E2M1:
        return CLV_DT_FLOAT;
    case CLV_DT_FLOAT8E8M0: /* 2^-127 is below the normal numbers of FLOAT, which some flush */
        return CLV_DT_DOUBLE;
    case CLV_DT_UINT4: /* ONNX Runtime 1.30 takes a byte for an element of these while it plans, and
                        */
    case CLV_DT_INT4:  /* casts them to a type of a byte in place, over elements not read yet */
    case CLV_DT_UINT2:
    case CLV_DT_INT2:
        return CLV_DT_INT32;
    default:
        return dtype;
    }
}

/* ONNX Runtime 1.30 has Reshape and Transpose of float8 from version 21 on, which is the first
 * whose Transpose may have them, and none of the narrower types. */
clv_dtype clv_dtype_viewed_as(clv_dtype dtype, int64_t opset)
{
    enum { OPSET_TRANSPOSE_OF_FLOAT8 = 21 };
    bool float8 = dtype >= CLV_DT_FLOAT8E4M3FN && dtype <= CLV_DT_FLOAT8E5M2FNUZ;
    return float8 && opset >= OPSET_TRANSPOSE_OF_FLOAT8 ? dtype : clv_dtype_moved_as(dtype, opset);
}

bool clv_tensor_is_movable(const clv_types *types, clv_tensor t)
{
    clv_dtype dtype = types->of[t.i].dtype;
    return clv_dtype_cast_opset(dtype) == 0 ||
           clv_tensor_at(types->graph, t)->role == CLV_TENSOR_WEIGHT ||
           clv_dtype_moved_as(dtype, clv_graph_opset(types->graph, (clv_str){ 0 })) !=
               CLV_DT_UNDEFINED;
}

const char *clv_why_immovable(const clv_types *types, clv_op op,
                              char buf[static CLV_IMMOVABLE_TEXT])
{
    const clv_graph *g = types->graph;
    const clv_op_info *info = clv_op_at(g, op);
    for (int32_t k = 0; k < info->n_in + info->n_out; k++) {
        clv_tensor t =
            k < info->n_in ? clv_op_input(g, info, k) : clv_op_output(g, info, k - info->n_in);
        if (t.i < 0 || clv_tensor_is_movable(types, t))
            continue;
        clv_dtype dtype = types->of[t.i].dtype;
        snprintf(buf, CLV_IMMOVABLE_TEXT,
                 "'%.*s' is of %s, which operator set %d can neither cut nor join, expected %d or "
                 "later",
                 CLV_STR_ARG(clv_tensor_at(g, t)->name), clv_dtype_name(dtype),
                 (int)clv_graph_opset(g, (clv_str){ 0 }), (int)clv_dtype_cast_opset(dtype));
        return buf;
    }
    return NULL;
}
