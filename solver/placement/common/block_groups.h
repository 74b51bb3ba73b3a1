/* block_groups.h - a partition of a placement's classes that gets coarser until its groups are the
 * blocks (contraction.h): times, bytes, arcs and nets of groups, and groups that are joined.
 */
#ifndef CLV_SOLVER_PLACEMENT_COMMON_BLOCK_GROUPS_H
#define CLV_SOLVER_PLACEMENT_COMMON_BLOCK_GROUPS_H

#include "problem/place_problem.h"

/* Time of a block or group on a kind that cannot run it. */
#define CLV_BLOCK_NEVER (-1)

typedef struct {
    int32_t from, to;
} clv_block_arc;

/* All arrays by group, unless said otherwise; all in the arena. */
typedef struct {
    const clv_place_problem *p;
    clv_arena *arena;
    bool contiguous;
    bool roomy; /* all bytes together fit every device, so memory never matters */
    int32_t n;
    int32_t *group_of; /* by node */
    int64_t *time;     /* [kind * n_classes + group] */
    int64_t *bytes;
    clv_block_arc *arcs; /* sorted, each once */
    int32_t n_arcs;
    int32_t n_nets, *net_first, *pins; /* pins of a net ascending, two at least */
    int64_t *net_cost;
    int32_t *at_first, *at;
} clv_block_groups;

/* Times in ticks, and bytes. O(kinds * nodes). */
void clv_block_groups_sum(clv_block_groups *j, double tick);
/* Arcs between classes, none where the rules are free. CLV_ENOMEM, as of all below. O(edges log).
 */
clv_status clv_block_groups_list_arcs(clv_block_groups *j, clv_error *err);
/* Sorts arcs, drops those within a group, and keeps each once. O(arcs log arcs). */
void clv_block_groups_sort_arcs(clv_block_groups *j);
/* Nets of the groups as they are, in new arrays. O(edges log edges). */
clv_status clv_block_groups_list_nets(clv_block_groups *j, double tick, clv_error *err);

/* Groups become what to[] says, numbered in the order of their first member. O(nodes + arcs log).
 */
clv_status clv_block_groups_join(clv_block_groups *j, const int32_t *to, clv_error *err);
/* Where the arcs of each group begin, and their end. O(groups + arcs). */
clv_status clv_block_groups_index_arcs(const clv_block_groups *j, int32_t **ret, clv_error *err);
/* Joins strongly connected groups (Tarjan 1972). O(groups + arcs log arcs). */
clv_status clv_block_groups_join_cycles(clv_block_groups *j, clv_error *err);

#endif
