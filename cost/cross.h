/* cross.h - cross-mesh resharding (Zhuang et al. 2023): from a layout on one mesh to a layout on
 * another one of the same cluster, as a tensor goes from a pipeline stage to the next.
 *
 * Every device of the second mesh fetches what it lacks from devices of the first that have it; of
 * several with the same part the one that would be through with it first, given what it sends
 * already. All is sent at once: the time is the longest latency and that of the busiest port.
 */
#ifndef CLV_COST_CROSS_H
#define CLV_COST_CROSS_H

#include "cost/reshard.h"

/* A tensor on a mesh of a cluster. Both ends of a way are of one cluster, dims and dtype. */
typedef struct {
    const clv_cluster *cluster;
    const clv_mesh *mesh;
    const clv_tensor_split *tensor;
    const clv_layout *layout;
} clv_mesh_tensor;

typedef struct {
    int64_t ns;          /* at most CLV_COMM_NS_MAX */
    int64_t bytes;       /* over links, in all; INT64_MAX when 64 bits do not hold it */
    int32_t n_transfers; /* pairs of devices */
} clv_cross;

/* CLV_EUSAGE: a layout that clv_layout_check() refuses, or one with partial results, which have to
 * be reduced where they are. Scratch is given back. O(parts * devices * (rank + outer parts)). */
clv_status clv_cross_find(const clv_mesh_tensor *from, const clv_mesh_tensor *to, clv_arena *arena,
                          clv_cross *ret, clv_error *err);

/* The way through a layout on the second mesh. */
typedef struct {
    clv_layout via; /* what is sent to */
    int64_t ns;     /* sending and what follows */
} clv_cross_way;

/* The cheapest way through any layout on the second mesh that r, made for it, knows: sending parts
 * over slow links and putting them together behind them is often cheaper. O(layouts *
 * clv_cross_find()). */
clv_status clv_cross_best(const clv_mesh_tensor *from, clv_reshard *r, const clv_layout *to,
                          clv_arena *arena, clv_cross_way *ret, clv_error *err);

#endif
