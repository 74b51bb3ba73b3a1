/* reshard_plan.h - what has to move where, so that new shards come out of old ones. */
#ifndef CLV_WEIGHTS_RESHARD_PLAN_H
#define CLV_WEIGHTS_RESHARD_PLAN_H

#include "weights/weights_folder.h"

/* Bytes of a weight that a new shard gets from an old one. */
typedef struct {
    int32_t weight;
    int32_t from, to; /* devices of the old layout, of the new one */
    int32_t file;     /* of the old folder, where they lie */
    bool stays;       /* both are the same device, by name: nothing moves */
    int64_t bytes;    /* rounded up where elements are less than a byte */
} clv_weight_move;

typedef struct {
    const char *name;
    int64_t before_bytes, after_bytes;  /* of its old and new shards */
    int64_t sent_bytes, received_bytes; /* to and from other devices */
} clv_device_load;

typedef struct {
    const clv_weight_move *transfers; /* by weight, new shard, and what it takes in order */
    int32_t n_transfers, n_devices;
    const clv_device_load *devices;  /* old ones, then those that are new */
    int64_t moved_bytes, kept_bytes; /* between devices, and on the device that has them */
    int64_t peak_bytes;   /* of a device that holds old and new shards at once: the largest */
    int64_t buffer_bytes; /* memory that resharding takes for weights, whatever their size */
} clv_reshard_plan;

/* Old and new in terms of the folder's weights; the new layout has every weight that the folder has
 * shards of, and no other. A part that the new device has already stays; else it comes from the
 * copy whose device has sent least. CLV_EFORMAT. O(shards log shards), and for each weight its old
 * parts times its new shards. */
clv_status clv_reshard_plan_make(const clv_weights_folder *folder, const clv_weight_layout *layout,
                                 clv_arena *arena, clv_reshard_plan *ret, clv_error *err);
/* As one JSON object (docs/formats/reshard.schema.json). */
clv_status clv_reshard_plan_json(const clv_weights_folder *folder, const clv_weight_layout *layout,
                                 const clv_reshard_plan *plan, clv_arena *arena, const char **ret,
                                 clv_error *err);

#endif
