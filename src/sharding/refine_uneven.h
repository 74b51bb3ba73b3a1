/* refine_uneven.h - rules for a mesh that does not divide everything.
 *
 * A Reshape of [b, s, 25 * 64] to [b, s, 25, 64] can give one of two devices 13 heads and the other
 * 12. The product before it has one factor n for them all, and could only be cut in the midst of
 * the thirteenth. So where an axis does not divide a factor that others come behind of, the
 * dimension is taken apart behind it, and before it, in all operators that lead there, back to the
 * product (refine_chain.h). Where it does divide it, its parts are plain runs, and nothing is to be
 * done.
 */
#ifndef CLV_SHARDING_REFINE_UNEVEN_H
#define CLV_SHARDING_REFINE_UNEVEN_H

#include "graph/infer.h"
#include "sharding/factors.h"

/* The rules of a graph, by operator, for one mesh: then 13 and 12 heads can be split from one
 * product to the other. *ret is all itself where nothing is to be done, else copies in the arena.
 * O(operators), times the length of such a chain. */
clv_status clv_factors_for_mesh(const clv_types *types, clv_factors *all, const clv_mesh *mesh,
                                clv_arena *arena, clv_factors **ret, clv_error *err);

#endif
