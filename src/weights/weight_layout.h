/* weight_layout.h - what is to be cut how: the weights of a model, and which box of which weight
 * goes to which device.
 *
 * Everything that says how weights are to lie (a plan, a PyTorch sharding spec, a tile notation, a
 * file) becomes a clv_weight_layout; sharding a model and resharding a folder start from one.
 */
#ifndef CLV_WEIGHTS_WEIGHT_LAYOUT_H
#define CLV_WEIGHTS_WEIGHT_LAYOUT_H

#include "weights/box.h"

typedef struct {
    clv_str name;
    clv_dtype dtype;
    int32_t rank;
    const int64_t *dims;
    int64_t elems, bytes; /* packed */
} clv_weight;

/* Weights by dense ids: those of a model's main graph, in its order. */
typedef struct {
    const clv_weight *at;
    int32_t n;
} clv_weight_list;

/* The list of a model: clv_graph.weights of its main graph, one for one; names stay where they are.
 */
clv_status clv_weight_list_of(const clv_model *model, clv_arena *arena, clv_weight_list *ret,
                              clv_error *err);

typedef struct {
    int32_t weight; /* of the list */
    int32_t device; /* of clv_weight_layout.devices */
    clv_box box;
} clv_weight_shard;

typedef struct {
    const char *const *devices; /* names: "gpu0", "rank:1/cuda:1"; distinct, not empty */
    int32_t n_devices, n_shards;
    const clv_weight_shard *shards; /* in any order */
} clv_weight_layout;

/* Is every shard a box of its weight, does a device have a box once only, are boxes of a weight
 * equal or apart, and do they cover it? A weight without any shard is left where it is: it is not
 * sharded. CLV_EFORMAT. O(shards log shards) and what clv_boxes_cover() takes. */
clv_status clv_weight_layout_check(const clv_weight_layout *layout, const clv_weight_list *weights,
                                   clv_arena *arena, clv_error *err);

/* The same with shards in the order of their weights; what is of one weight keeps its order.
 * Indices have to be right. O(shards + weights). */
clv_status clv_weight_layout_sort(const clv_weight_layout *layout, int32_t n_weights,
                                  clv_arena *arena, clv_weight_layout *ret, clv_error *err);

#endif
