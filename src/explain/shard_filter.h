/* shard_filter.h - a part of what annotations come to: of some nodes, or some tensors. */
#ifndef CLV_EXPLAIN_SHARD_FILTER_H
#define CLV_EXPLAIN_SHARD_FILTER_H

#include "explain/shard_list.h"

/* Patterns of base/glob.h; NULL: all. */
typedef struct {
    const char *node, *tensor;
} clv_shard_filter;

/* What the list says of the nodes and tensors that both patterns match, in the arena; what is wrong
 * with the file itself is always among it. The rest is shared with the list. CLV_EUSAGE: a pattern
 * matches nothing that is annotated; the sentence has the nearest name. O(list * pattern). */
clv_status clv_shard_list_filter(const clv_shard_list *list, const clv_shard_filter *filter,
                                 clv_arena *arena, clv_shard_list *ret, clv_error *err);

#endif
