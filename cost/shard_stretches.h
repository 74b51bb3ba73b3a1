/* shard_stretches.h - the strategy problem along the critical path, from cut to cut.
 *
 * Ends are cuts (shard_path.h) that no edge passes by, and the tensor that such a cut makes where
 * it makes one. Between an end and the next is a stretch: all that lies there has edges to nothing
 * else but the two, but for edges that pass by many cuts, which are left out, as is what lies in no
 * window.
 */
#ifndef CLV_COST_SHARD_STRETCHES_H
#define CLV_COST_SHARD_STRETCHES_H

#include "cost/shard_places.h"
#include "problem/intra_op_between.h"

typedef struct {
    clv_shard_places at;
    int32_t n_ends;              /* there is a stretch more: before the first, behind the last */
    int32_t *end;                /* its node */
    clv_tensor *tensor;          /* by end: that it is; CLV_NO_TENSOR: it is an operator */
    int32_t *home;               /* by node: its stretch; -1: none, as of ends */
    int32_t *nodes, *edges;      /* by stretch, ascending */
    int32_t *first, *first_edge; /* by stretch */
} clv_shard_stretches;

/* The path has windows. Lives in the arena. O(nodes + edges). */
clv_status clv_shard_stretches_find(const clv_shard_problem *s, const clv_shard_path *path,
                                    clv_arena *arena, clv_shard_stretches *ret, clv_error *err);

/* What lies in a stretch, and its ends. */
clv_intra_op_part clv_shard_stretch_part(const clv_shard_stretches *l, int32_t i);

#endif
