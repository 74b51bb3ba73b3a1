/* shard_layers.h - what annotations come to in sum: layers that are annotated alike as one, bytes
 * by device, collectives by kind.
 *
 * A layer is what a name has in common up to its number: of "/model/layers.7/mlp/MatMul" it is
 * "/model/layers.7", if there are other numbers in its place. Nodes outside of layers are taken
 * together by the part of their names before the last '/'.
 */
#ifndef CLV_EXPLAIN_SHARD_LAYERS_H
#define CLV_EXPLAIN_SHARD_LAYERS_H

#include "explain/shard_list.h"

/* Layers of one configuration whose nodes, one after the other, have specs alike, and for which the
 * same follows; the numbers are of each of them. */
typedef struct {
    int32_t configuration;
    const char *name; /* of one layer its own; else "/model/layers.*" */
    int32_t n_layers, n_nodes, n_tensors, n_sharded;
    int64_t weight_bytes, other_bytes; /* the most that a device has of these tensors */
    int32_t n_inferred, n_moves;
} clv_shard_layer;

/* Each tensor once, as the first node that has a spec of it has it. */
typedef struct {
    int64_t device;
    int64_t weight_bytes, other_bytes;
} clv_shard_device;

/* Of all nodes of one configuration. */
typedef struct {
    int32_t n_nodes, n_specs, n_tensors;
    int32_t n_sharded, n_replicated, n_single; /* tensors in parts, as copies, on one device */
    int32_t n_open;                            /* of unknown size, or with a wrong spec */
    const clv_shard_device *devices;           /* by number */
    int32_t n_devices;
} clv_shard_sums;

/* Steps of one kind, by as many devices. */
typedef struct {
    const char *name;
    int64_t devices, n, bytes; /* bytes: that each sends in all of them; at most 2^63 - 1 */
} clv_shard_traffic;

typedef struct {
    const clv_shard_layer *layers; /* by configuration, then as they come in the file */
    int32_t n_layers;
    const clv_shard_sums *sums;       /* one for each configuration of the list; then one for -1 */
    const clv_shard_traffic *traffic; /* by name, then devices */
    int32_t n_traffic;
} clv_shard_summary;

/* In the arena. CLV_ENOMEM only. O(list + shards), expected. */
clv_status clv_shard_summarise(const clv_shard_list *list, clv_arena *arena, clv_shard_summary *ret,
                               clv_error *err);

#endif
