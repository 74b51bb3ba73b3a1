/* first_caches.h - caches of keys and values that a run begins: outputs of a model without a past.
 *
 * A prefill reads no cache but leaves one, which later runs take as their past (states.h).
 */
#ifndef CLV_GRAPH_FIRST_CACHES_H
#define CLV_GRAPH_FIRST_CACHES_H

#include "graph/states.h"

/* Adds to the states of a graph the outputs that attention, one operator or written out, reads as
 * keys or values, moved at most before or after, and that are no state: `in` is CLV_NO_TENSOR.
 * Their positions are along the axis that is as long as a sequence of the first input, or is open.
 * The longer list lives in the arena; of_out stays as it is. CLV_ENOMEM. O(operators + edges). */
clv_status clv_states_add_first(const clv_types *types, clv_arena *arena, clv_states *states,
                                clv_error *err);

#endif
