/* shard_groups.h - layers of a model that are annotated alike.
 *
 * Two layers are alike where their names differ in the layer's number alone (layer_names.h), and
 * their nodes, one after the other, have the same names but for numbers, specs alike for tensors of
 * the same types, and the same follows for them.
 */
#ifndef CLV_EXPLAIN_SHARD_GROUPS_H
#define CLV_EXPLAIN_SHARD_GROUPS_H

#include "explain/shard_list.h"

typedef struct {
    int32_t configuration;
    const char *name; /* of one layer its own; else "/model/layers.*" */
    int32_t n_layers;
} clv_shard_group;

typedef struct {
    clv_shard_group *at; /* as their first layers come */
    int32_t n;
    int32_t n_layers;
    int32_t *group_of; /* by layer */
    /* Layers of nodes, inferred tensors and moves of the list; -1: none of its nodes has specs. */
    int32_t *of_node, *of_inferred, *of_move;
} clv_shard_groups;

/* In the arena. CLV_ENOMEM only. O(list), expected. */
clv_status clv_shard_group_layers(const clv_shard_list *list, clv_arena *arena,
                                  clv_shard_groups *ret, clv_error *err);

#endif
