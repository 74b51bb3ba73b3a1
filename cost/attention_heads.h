/* attention_heads.h - how many heads the attention of a model has. */
#ifndef CLV_COST_ATTENTION_HEADS_H
#define CLV_COST_ATTENTION_HEADS_H

#include "cost/op_cost.h"

typedef struct {
    int64_t heads, kv_heads; /* of queries; of keys and values, which several may share */
} clv_head_counts;

/* Each pair once, in the order of the operators; none: the model has no attention. */
typedef struct {
    const clv_head_counts *at;
    int32_t n;
} clv_attention_heads;

/* Of attention as operators and kernels have it; where no kernel takes attention that is written
 * out, of its softmax [batch, heads, queries, keys], each head with keys of its own. Lives in the
 * arena. CLV_ENOMEM. O(operators * pairs). */
clv_status clv_attention_heads_find(const clv_costs *costs, clv_arena *arena,
                                    clv_attention_heads *ret, clv_error *err);

#endif
