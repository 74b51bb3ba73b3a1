/* moved_as.h - tensors of types that the operators which cut and join do not take.
 *
 * Slice, Gather and Concat of ONNX take no type of 8 bits or less but whole numbers of 8 bits. Cast
 * takes the others, from some operator set on. So what is cut or joined is cast to a wider type
 * first, in which every number of the narrow one is a different number, and cast back behind it.
 * What an operator of the model itself takes is not the question here: only what is put between two
 * operators because they want another layout.
 */
#ifndef CLV_SHARDING_MOVED_AS_H
#define CLV_SHARDING_MOVED_AS_H

#include "graph/types.h"

/* The first version of the standard operators whose Cast takes the type; 0: Slice and Concat take
 * it as it is. */
int32_t clv_dtype_cast_opset(clv_dtype dtype);

/* The type in which elements are cut and joined with that version of the standard operators: the
 * type itself, or a wider one that Cast brings them to and back from. A cast back of what was cast
 * there gives the same code, bit by bit, but for a NaN of FLOAT8E5M2, which has three codes of a
 * sign: it stays a NaN. UNDEFINED: that version has no Cast for it, so they can only be copied. */
clv_dtype clv_dtype_moved_as(clv_dtype dtype, int64_t opset);
/* The same for what moves no element out of its tensor, Reshape, Transpose and Identity: they take
 * more types, and where runtimes do so too it is the type itself. */
clv_dtype clv_dtype_viewed_as(clv_dtype dtype, int64_t opset);

/* May parts of the tensor be taken out of it and put together while the model runs? Of a weight
 * they are cut before. O(imports). */
bool clv_tensor_is_movable(const clv_types *types, clv_tensor t);
/* "'q' is of INT4, which operator set 17 can neither cut nor join, expected 21 or later", of the
 * first such tensor that the operator reads or makes, into buf; NULL: there is none. */
#define CLV_IMMOVABLE_TEXT 300
const char *clv_why_immovable(const clv_types *types, clv_op op,
                              char buf[static CLV_IMMOVABLE_TEXT]);

#endif
