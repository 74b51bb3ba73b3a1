/* layout_lists.h - lists of layouts, each kept once, and what it costs to come from one to another.
 *
 * The choices of a node give each tensor at it a list of layouts, one a choice. Layers repeat, so
 * few lists are different, and few pairs of them.
 */
#ifndef CLV_COST_LAYOUT_LISTS_H
#define CLV_COST_LAYOUT_LISTS_H

#include "base/map.h"
#include "cost/resharder.h"

/* A layout, and where it was looked up last: that is done for a row or column, not an entry. */
typedef struct {
    const clv_layout *layout;
    bool is_plain;
    const clv_reshard *in; /* NULL: nowhere yet */
    clv_reshard_end end;
} clv_found_layout;

typedef struct {
    const clv_layout *at; /* one a choice */
    int32_t n;
    const int32_t *distinct; /* n: number of each layout among those of the list */
    const int32_t *first;    /* n_distinct: a place in the list where it stands */
    clv_found_layout *found; /* n_distinct */
    int32_t n_distinct;
} clv_layout_list;

/* What it costs to come from the layouts of one list to those of another. */
typedef struct {
    int32_t id;        /* from 0, in the order in which they are asked for */
    const int64_t *ns; /* row-major: distinct layouts of one list, then of the other */
    const clv_layout_list *from, *to;
} clv_layout_costs;

typedef struct {
    clv_arena *arena;
    clv_resharder *resharder;
    clv_map lists, shapes, pairs;
    clv_layout_list **list;
    clv_layout_costs **costs;
    int32_t n_lists, n_shapes, n_costs, cap_lists, cap_costs;
} clv_layout_lists;

/* The resharder must live as long; all that is found lives in the arena. */
clv_status clv_layout_lists_init(clv_layout_lists *l, clv_resharder *resharder, clv_arena *arena,
                                 clv_error *err);
/* Number of the list of these n layouts; they are copied where they are new. O(n^2) then. */
clv_status clv_layout_lists_put(clv_layout_lists *l, int32_t n, const clv_layout *at, int32_t *ret,
                                clv_error *err);
/* Number of a type's shape and dtype: tensors of one number cost the same. */
clv_status clv_layout_lists_shape(clv_layout_lists *l, const clv_type *type, int32_t *ret,
                                  clv_error *err);
/* Costs from one list to another for a tensor of that type; they stay where they are. O(1) but the
 * first time. */
clv_status clv_layout_lists_costs(clv_layout_lists *l, const clv_type *type, int32_t from,
                                  int32_t to, const clv_layout_costs **ret, clv_error *err);

#endif
