/* emit_collective.h - collectives as nodes of a dialect, on the one device that is written down. */
#ifndef CLV_LOWER_EMIT_COLLECTIVE_H
#define CLV_LOWER_EMIT_COLLECTIVE_H

#include "lower/emit_tensor.h"

/* The position of member k of the group that the device at a position is in. O(axes). */
int32_t clv_emit_member(const clv_mesh *mesh, const clv_emit_collective *c, int32_t position,
                        int32_t k);

/* Has the dialect a node for it? reduce: of an all-reduce or reduce-scatter. */
bool clv_emit_has_collective(const clv_emit *e, clv_step_kind kind, clv_dtype dtype,
                             clv_reduce reduce);
/* The node, which all members of the group call the same; it is listed in e->collectives. type: of
 * what it gives. */
clv_status clv_emit_collective_node(const clv_emit_scope *scope, clv_emit_collective *c, clv_str in,
                                    const clv_emit_type *type, clv_str *ret, clv_error *err);
/* An all-gather along any dimension, c->axis, of parts of this type. */
clv_status clv_emit_gather_node(const clv_emit_scope *scope, clv_emit_collective *c, clv_str in,
                                const clv_emit_type *type, clv_str *ret, clv_error *err);

#endif
