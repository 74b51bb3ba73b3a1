/* layout_lists.h - lists of layouts, each kept once, and the matrices of costs between them.
 *
 * The choices of a node give each tensor at it a list of layouts, one a choice. Layers repeat, so
 * few lists are different, and few matrices.
 */
#ifndef CLV_COST_LAYOUT_LISTS_H
#define CLV_COST_LAYOUT_LISTS_H

#include "base/map.h"
#include "cost/resharder.h"
#include "problem/strategy_draft.h"

typedef struct {
    const clv_layout *at; /* one a choice */
    int32_t n;
    const int32_t *distinct; /* n: number of each layout among those of the list */
    const int32_t *first;    /* n_distinct: a place in the list where it stands */
    int32_t n_distinct;
} clv_layout_list;

typedef struct {
    clv_arena *arena;
    clv_map lists, shapes, matrices;
    clv_layout_list *list;
    int32_t n_lists, cap_lists;
    int32_t n_shapes, n_matrices;
    int32_t *matrix; /* by number in matrices: that of the draft */
    int32_t cap_matrices;
} clv_layout_lists;

clv_status clv_layout_lists_init(clv_layout_lists *l, clv_arena *arena, clv_error *err);
/* Number of the list of these n layouts; they are copied where they are new. O(n^2) then. */
clv_status clv_layout_lists_put(clv_layout_lists *l, int32_t n, const clv_layout *at, int32_t *ret,
                                clv_error *err);
/* Number of the draft's matrix of costs from the layouts of one list (rows) to those of another,
 * for a tensor of that type. */
clv_status clv_layout_lists_matrix(clv_layout_lists *l, clv_resharder *resharder,
                                   const clv_type *type, int32_t from, int32_t to,
                                   clv_strategy_draft *draft, int32_t *ret, clv_error *err);

#endif
