/* shard_places.h - where nodes of the strategy problem lie along the critical path.
 *
 * Places count along it: window w is at 2 w, the cut that ends it at 2 w + 1.
 */
#ifndef CLV_COST_SHARD_PLACES_H
#define CLV_COST_SHARD_PLACES_H

#include "cost/shard_path.h"
#include "cost/shard_problem.h"

#define CLV_PLACE_OUTSIDE (-1) /* of what lies in no window */

typedef struct {
    int32_t *place;  /* by node */
    bool *kept;      /* by node: on the path, or made there: no stage runs beside it */
    int32_t *before; /* by node on the path: the node before it; -1: none is */
    int32_t *edge;   /* likewise: the edge from there, the first of several; -1 */
} clv_shard_places;

static inline int32_t clv_place_of_window(int32_t w) { return 2 * w; }
static inline int32_t clv_place_of_cut(int32_t w) { return 2 * w + 1; }

/* Of an operator, and of what it makes. Lives in the arena. O(nodes + edges). */
clv_status clv_shard_places_find(const clv_shard_problem *s, const clv_shard_path *path,
                                 clv_arena *arena, clv_shard_places *ret, clv_error *err);

#endif
