/* shard_pipeline_bound.h - a lower bound of the latency of a pipeline: the strategy problem from
 * cut to cut of the critical path (shard_path.h), where stages may change in few places.
 */
#ifndef CLV_COST_SHARD_PIPELINE_BOUND_H
#define CLV_COST_SHARD_PIPELINE_BOUND_H

#include "cost/shard_path.h"
#include "cost/shard_problem.h"
#include "problem/intra_op_between.h"

/* Stages, all of them meshes alike. */
typedef struct {
    int32_t n;
    const clv_cluster *meshes; /* each as a device (stage_cluster.h); NULL: nothing takes time to
                                * be sent */
} clv_pipeline_stages;

/* A stretch whose two ends are on different stages. */
typedef struct {
    int32_t parts;          /* stages that it is dealt out to, at most */
    clv_intra_op_part part; /* its nodes and edges */
    const int64_t *sent_ns; /* by choice of its begin: to send that; NULL: it is no tensor */
} clv_parted_stretch;

/* Where stages change in what takes least by the bound. */
typedef struct {
    const clv_parted_stretch *at;
    int32_t n;
    clv_int128 saved; /* ns: so much less than where one stage does it all */
} clv_parted_stretches;

typedef struct {
    clv_int128 ns; /* no plan takes less; 0: nothing is known */
    clv_parted_stretches parted;
} clv_pipeline_bound;

/* No plan in these stages has less latency, whatever memory there is.
 *
 * Between two ends, which are cuts that no edge passes by and tensors that these make, is a
 * stretch. Where both ends are on one stage, all of it runs there one after the other. Where they
 * are n stages apart, it lasts as long as the way through it, on which something is sent, as all of
 * it dealt out to n + 1 stages, and as the branches that read its first end (shard_branches.h).
 * What each of these costs at least is found for each pair of choices of the two ends
 * (intra_op_between.h), once for all stretches that are alike; then the best way from end to end
 * and from stage to stage, by dynamic programming. What lies in no window does not count, nor do
 * edges that pass by many cuts. O(nodes * choices^3 of distinct stretches + stretches * stages *
 * choices^2). */
clv_status clv_shard_pipeline_bound_ns(const clv_shard_problem *s, const clv_shard_path *path,
                                       const clv_pipeline_stages *stages, clv_arena *arena,
                                       clv_pipeline_bound *ret, clv_error *err);

#endif
