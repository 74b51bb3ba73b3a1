/* propagation.h - the specs of a whole model seen together: what follows where a node has none, and
 * whether those of a node go together.
 *
 * A forward pass of what GSPMD (Xu et al., 2021) and Shardy (OpenXLA) call sharding propagation,
 * from first operator to last. Unlike theirs it changes nothing that a user has written, goes in
 * one direction, and lists what does not agree instead of resolving it. An input without a spec is
 * as the node that makes it delivers it; an input or weight of the model without one is unsharded,
 * whole on whatever device wants it; an output without one is what follows from the inputs by the
 * operator's rule.
 */
#ifndef CLV_ANNOTATIONS_PROPAGATION_H
#define CLV_ANNOTATIONS_PROPAGATION_H

#include "explain/shard_list.h"

/* Fills in what list has of nodes together (wrong, inferred, moves, unchecked, entries), from its
 * nodes and their rows. types: of the model's main graph. O(operators + the rules' checks + moves),
 * for each configuration. */
clv_status clv_propagate_shardings(const clv_types *types, clv_shard_list *list, clv_arena *arena,
                                   clv_error *err);

#endif
