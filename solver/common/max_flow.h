/* max_flow.h - the largest flow from a source to a sink, and with it the smallest cut between them:
 * Dinic's algorithm (1970), in flat arrays.
 *
 * Arc a and arc a ^ 1 are each other's reverse. A network is built once; its capacities may change
 * between flows. Nets, which join any number of nodes, are cut as a whole: two inner nodes for each
 * (Lawler 1973), or one pair of arcs for a net of two. All amounts are whole, so a flow is exact.
 * The nodes that the source still reaches are the smallest source side of all smallest cuts, the
 * same whatever ways the flow took.
 *
 * O(nodes^2 * arcs) at worst; where paths are short, as here, a few phases of O(nodes + arcs met).
 */
#ifndef CLV_SOLVER_COMMON_MAX_FLOW_H
#define CLV_SOLVER_COMMON_MAX_FLOW_H

#include <stdbool.h>

#include "base/arena.h"

/* More than any finite cut: what is added up stays below it. */
#define CLV_FLOW_UNLIMITED (INT64_C(1) << 60)

typedef struct {
    int32_t n_nodes, n_arcs, source, sink; /* source and sink are the last two nodes */
    int32_t *to;                           /* by arc: where it leads */
    int64_t *capacity;                     /* by arc */
    int64_t *residual;                     /* by arc: what a flow leaves of it */
    int32_t *first, *arc; /* arcs of node v: arc[first[v]] to arc[first[v + 1] - 1] */
    int32_t *distance;    /* by node: from the source over arcs with room; -1: out of reach */
    int32_t *next, *queue, *path;
    int32_t *used, n_used; /* arcs that a flow took from, one of each pair */
    bool *is_used;         /* by pair */
    int64_t n_steps; /* work of the flow: arcs of the nodes met but the source, and of the paths */
} clv_max_flow;

/* A network of so many nodes, source and sink among them, with room for so many pairs of arcs. */
clv_status clv_max_flow_new(int32_t n_nodes, size_t max_pairs, clv_arena *arena, clv_max_flow *ret,
                            clv_error *err);

/* An arc and its reverse, with their capacities. Returns the arc. */
int32_t clv_max_flow_add_arc(clv_max_flow *f, int32_t from, int32_t to, int64_t capacity,
                             int64_t reverse);

/* A net of n pins that costs `cost` where it is cut. Two pins: one pair of arcs. More: arc a from
 * node inner to inner + 1 has the cost; a + 2 + 4 * i leads from pin i to inner, and a + 4 + 4 * i
 * from inner + 1 to pin i. Returns a. Adds 1 pair or 1 + 2 * n. */
int32_t clv_max_flow_add_net(clv_max_flow *f, const int32_t *pins, int32_t n, int64_t cost,
                             int32_t inner);

/* After the last arc was added, before the first flow. O(nodes + arcs). */
void clv_max_flow_finish(clv_max_flow *f);

/* Sets the capacity of one arc. O(1). */
static inline void clv_max_flow_set(clv_max_flow *f, int32_t arc, int64_t capacity)
{
    f->capacity[arc] = f->residual[arc] = capacity;
}

/* All capacities become 0. */
void clv_max_flow_clear(clv_max_flow *f);

/* A flow from nothing, until it is the largest there is, or about so many steps were taken: then
 * false. *ret: its amount. */
bool clv_max_flow_run(clv_max_flow *f, int64_t max_steps, int64_t *ret);

/* After a flow that is the largest: is the node on the smallest source side? O(1). */
static inline bool clv_max_flow_reaches(const clv_max_flow *f, int32_t node)
{
    return f->distance[node] >= 0;
}

#endif
