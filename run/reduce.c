#include "run/reduce.h"

#include <onnxruntime_c_api.h>
#include <string.h>

#include "run/element.h"

static const char *const names[] = { "sum", "prod", "min", "max", "avg" };

bool clr_reduce_op_parse(const char *name, clr_reduce_op *ret)
{
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(names[i], name) == 0) {
            *ret = (clr_reduce_op)i;
            return true;
        }
    return false;
}

/* T: of an element; A: of the sum; LOAD and STORE go from one to the other. */
#define REDUCE(name, T, A, LOAD, STORE)                                                            \
    static void reduce_##name(const clr_reduction *j)                                              \
    {                                                                                              \
        for (int64_t i = j->first; i < j->first + j->n; i++) {                                     \
            A sum = LOAD(((const T *)j->ins[0])[i]);                                               \
            for (int32_t k = 1; k < j->n_ins; k++) {                                               \
                A v = LOAD(((const T *)j->ins[k])[i]);                                             \
                switch (j->op) {                                                                   \
                case CLR_SUM:                                                                      \
                case CLR_AVG:                                                                      \
                    sum = (A)(sum + v);                                                            \
                    break;                                                                         \
                case CLR_PROD:                                                                     \
                    sum = (A)(sum * v);                                                            \
                    break;                                                                         \
                case CLR_MIN:                                                                      \
                    sum = v < sum ? v : sum;                                                       \
                    break;                                                                         \
                case CLR_MAX:                                                                      \
                    sum = v > sum ? v : sum;                                                       \
                    break;                                                                         \
                }                                                                                  \
            }                                                                                      \
            if (j->op == CLR_AVG)                                                                  \
                sum = (A)(sum / (A)j->n_ins);                                                      \
            for (int32_t k = 0; k < j->n_outs; k++)                                                \
                ((T *)j->outs[k])[i - j->shift] = STORE(sum);                                      \
        }                                                                                          \
    }

/* Signed integers are summed as unsigned ones, which wrap around as every device's would. */
#define SAME(x) (x)
REDUCE(float, float, float, SAME, SAME)
REDUCE(double, double, double, SAME, SAME)
REDUCE(half, uint16_t, float, clr_half_to_float, clr_half_from_float)
REDUCE(bfloat, uint16_t, float, clr_bfloat_to_float, clr_bfloat_from_float)
#define WRAP(name, T, U)                                                                           \
    static T add_##name(T a, T b) { return (T)((U)a + (U)b); }                                     \
    static T mul_##name(T a, T b) { return (T)((U)a * (U)b); }                                     \
    static void reduce_##name(const clr_reduction *j)                                              \
    {                                                                                              \
        for (int64_t i = j->first; i < j->first + j->n; i++) {                                     \
            T sum = ((const T *)j->ins[0])[i];                                                     \
            for (int32_t k = 1; k < j->n_ins; k++) {                                               \
                T v = ((const T *)j->ins[k])[i];                                                   \
                if (j->op == CLR_PROD)                                                             \
                    sum = mul_##name(sum, v);                                                      \
                else if (j->op == CLR_MIN)                                                         \
                    sum = v < sum ? v : sum;                                                       \
                else if (j->op == CLR_MAX)                                                         \
                    sum = v > sum ? v : sum;                                                       \
                else                                                                               \
                    sum = add_##name(sum, v);                                                      \
            }                                                                                      \
            if (j->op == CLR_AVG)                                                                  \
                sum = (T)(sum / (T)j->n_ins);                                                      \
            for (int32_t k = 0; k < j->n_outs; k++)                                                \
                ((T *)j->outs[k])[i - j->shift] = sum;                                             \
        }                                                                                          \
    }
WRAP(int8, int8_t, uint32_t)
WRAP(int16, int16_t, uint32_t)
WRAP(int32, int32_t, uint32_t)
WRAP(int64, int64_t, uint64_t)
WRAP(uint8, uint8_t, uint32_t)
WRAP(uint16, uint16_t, uint32_t)
WRAP(uint32, uint32_t, uint32_t)
WRAP(uint64, uint64_t, uint64_t)

static void (*reducer(int dtype))(const clr_reduction *)
{
    switch (dtype) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
        return reduce_float;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
        return reduce_double;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
        return reduce_half;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
        return reduce_bfloat;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
        return reduce_int8;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
        return reduce_int16;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
        return reduce_int32;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
        return reduce_int64;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
        return reduce_uint8;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16:
        return reduce_uint16;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32:
        return reduce_uint32;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64:
        return reduce_uint64;
    default:
        return NULL;
    }
}

bool clr_reduce_supports(int dtype) { return reducer(dtype) != NULL; }

void clr_reduce_run(const clr_reduction *r)
{
    if (r->n > 0)
        reducer(r->dtype)(r);
}
