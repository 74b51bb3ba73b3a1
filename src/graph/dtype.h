/* dtype.h - element types, with the numbers of TensorProto.DataType. */
#ifndef CLV_GRAPH_DTYPE_H
#define CLV_GRAPH_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

/* X(number, name, bits an element; 0: no fixed size) */
#define CLV_DTYPE_MAP(X)                                                                           \
    X(0, UNDEFINED, 0)                                                                             \
    X(1, FLOAT, 32)                                                                                \
    X(2, UINT8, 8)                                                                                 \
    X(3, INT8, 8)                                                                                  \
    X(4, UINT16, 16)                                                                               \
    X(5, INT16, 16)                                                                                \
    X(6, INT32, 32)                                                                                \
    X(7, INT64, 64)                                                                                \
    X(8, STRING, 0)                                                                                \
    X(9, BOOL, 8)                                                                                  \
    X(10, FLOAT16, 16)                                                                             \
    X(11, DOUBLE, 64)                                                                              \
    X(12, UINT32, 32)                                                                              \
    X(13, UINT64, 64)                                                                              \
    X(14, COMPLEX64, 64)                                                                           \
    X(15, COMPLEX128, 128)                                                                         \
    X(16, BFLOAT16, 16)                                                                            \
    X(17, FLOAT8E4M3FN, 8)                                                                         \
    X(18, FLOAT8E4M3FNUZ, 8)                                                                       \
    X(19, FLOAT8E5M2, 8)                                                                           \
    X(20, FLOAT8E5M2FNUZ, 8)                                                                       \
    X(21, UINT4, 4)                                                                                \
    X(22, INT4, 4)                                                                                 \
    X(23, FLOAT4E2M1, 4)                                                                           \
    X(24, FLOAT8E8M0, 8)                                                                           \
    X(25, UINT2, 2)                                                                                \
    X(26, INT2, 2)

typedef enum {
#define X(number, name, bits) CLV_DT_##name = number,
    CLV_DTYPE_MAP(X)
#undef X
} clv_dtype;

#define CLV_N_DTYPES 27

/* 0 for strings and for numbers that are not in the map. */
int clv_dtype_bits(clv_dtype dtype);
/* "FLOAT16"; "?" for a number that is not in the map. */
const char *clv_dtype_name(clv_dtype dtype);
bool clv_dtype_is_float(clv_dtype dtype); /* of any width; not the complex types */
/* Is from a floating-point type, and to one that takes fewer bits? */
bool clv_dtype_narrows(clv_dtype from, clv_dtype to);

/* Bytes of elems packed elements (4-bit types: two in a byte, the last byte padded). False when 64
 * bits cannot hold it. Strings count 0.
 */
bool clv_dtype_bytes(clv_dtype dtype, int64_t elems, int64_t *ret_bytes);

#endif
