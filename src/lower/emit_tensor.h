/* emit_tensor.h - tensors made and moved by standard operators: filled with a number, reshaped,
 * transposed, put together, and parts taken out of them.
 *
 * All of them add nodes; *ret is the name of what comes out, which may be a tensor that was there
 * before.
 */
#ifndef CLV_LOWER_EMIT_TENSOR_H
#define CLV_LOWER_EMIT_TENSOR_H

#include "lower/emit.h"
#include "lower/fill.h"
#include "sharding/spans.h"

/* Types that Slice, Gather and Concat do not take (sharding/moved_as.h) are cast for them and back.
 * CLV_EUNSUPP of any call here: the model's operator set has no Cast for the type. */

/* *io: of elements of a type; then cast to the one in which they are moved, and back again. Nothing
 * where they are the same. */
clv_status clv_emit_widen(const clv_emit_scope *scope, clv_dtype dtype, clv_dtype wider,
                          clv_str *io, clv_error *err);
clv_status clv_emit_narrow(const clv_emit_scope *scope, clv_dtype wider, clv_dtype dtype,
                           clv_str *io, clv_error *err);
/* A tensor of one number all over. CLV_EUNSUPP: its type has no such number. */
clv_status clv_emit_filled(clv_emit *e, const clv_emit_type *type, clv_fill fill, clv_str *ret,
                           clv_error *err);
/* The same where it takes the place of something made of these tensors. Where a device has a file
 * of its own, it is made after them: a runtime would else be free to run what they are made of, and
 * the collectives in it, in another order than on devices that do read them. */
clv_status clv_emit_filled_after(const clv_emit_scope *scope, clv_typed_names after,
                                 const clv_emit_type *type, clv_fill fill, clv_str *ret,
                                 clv_error *err);
/* A tensor of this type as it is, but made after another; operator sets before 6 have no nodes for
 * that. Dims are not read. */
clv_status clv_emit_after(const clv_emit_scope *scope, clv_str in, const clv_emit_type *type,
                          clv_typed_name before, clv_str *ret, clv_error *err);

/* What a type of 8 bits or less cannot hold is not the next that it can. */
clv_status clv_emit_cast(const clv_emit_scope *scope, clv_str in, clv_dtype to, clv_str *ret,
                         clv_error *err);
/* To the dims of the type; the dtype is that of the tensor. */
clv_status clv_emit_reshape(const clv_emit_scope *scope, clv_str in, const clv_emit_type *to,
                            clv_str *ret, clv_error *err);
/* Dimension i becomes what perm[i] was; nothing where all stay. type: of what goes in, whose dims
 * are not read. */
clv_status clv_emit_transpose(const clv_emit_scope *scope, clv_str in, const clv_emit_type *type,
                              const int64_t *perm, clv_str *ret, clv_error *err);
/* The same elements, made by a node, the last one. */
clv_status clv_emit_identity(const clv_emit_scope *scope, clv_str in, clv_dtype dtype, clv_str *ret,
                             clv_error *err);
/* Tensors of this type behind each other; of one: itself. */
clv_status clv_emit_concat(const clv_emit_scope *scope, clv_names in, clv_dtype dtype, int32_t axis,
                           clv_str *ret, clv_error *err);
/* The places in each dimension of a tensor or view; places NULL: all of them. Where places are
 * given they are taken, even if they are all: devices of a group shall have the same nodes. */
clv_status clv_emit_take(const clv_emit_scope *scope, clv_str in, const clv_emit_type *type,
                         const clv_spans *const *places, clv_str *ret, clv_error *err);

#endif
