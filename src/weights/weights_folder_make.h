/* weights_folder_make.h - a new folder of shards, out of weights from anywhere. */
#ifndef CLV_WEIGHTS_WEIGHTS_FOLDER_MAKE_H
#define CLV_WEIGHTS_WEIGHTS_FOLDER_MAKE_H

#include "weights/fill_source.h"
#include "weights/weights_folder.h"

typedef struct {
    clv_parts_kind kind;
    int64_t max_bytes;      /* safetensors: a file is begun anew above it; 0: never */
    clv_weight_fill fill;   /* clv_weights_shard: weights are not read, but are all 0 or 1 */
    int32_t threads;        /* as in clv_parts_options */
    const clv_disk *disk;   /* NULL: the system's calls */
    int (*stop)(void *ctx); /* as in clv_parts_options */
    void *stop_ctx;
} clv_shard_options;

typedef struct {
    /* Weights, where they lay, and the files of the original. Its layout and files do not count. */
    const clv_weights_folder *like;
    const clv_weight_layout *layout; /* checked */
    clv_weight_source source;
    /* Appends the bytes of the original that are no payload to a file: f is `like` with the new
     * layout. */
    clv_status (*rest)(void *ctx, const clv_weights_folder *f, clv_files *files, int32_t to,
                       clv_checksum_state *sum, clv_error *err);
    void *rest_ctx;
} clv_weights_folder_input;

/* Makes the folder dir, which must not exist yet, or be empty. It is there as a whole or not at
 * all. With ranges it has no weights.json and no rest. O(bytes). */
clv_status clv_weights_folder_make(const clv_weights_folder_input *m, const char *dir,
                                   const clv_shard_options *options, clv_arena *arena,
                                   clv_error *err);

#endif
