/* weights_folder.h - a folder of shards: weights.json, and the files that it speaks of.
 *
 * weights.json says where each shard of each weight is (file, offset, length, device, which box of
 * the weight, checksum), and what the original was: its files, where each weight's bytes lay in
 * them, and all other bytes of them, which are kept in rest.bin one file after the other. So the
 * original can be put together again byte for byte. docs/formats/weights.schema.json.
 */
#ifndef CLV_WEIGHTS_WEIGHTS_FOLDER_H
#define CLV_WEIGHTS_WEIGHTS_FOLDER_H

#include "weights/part_files.h"

#define CLV_WEIGHTS_JSON "weights.json"
#define CLV_WEIGHTS_REST "rest.bin"

typedef struct {
    const char *name; /* relative to the folder */
    int64_t bytes;
    clv_file_id id; /* of a folder that was read: which file it is */
} clv_weights_file;

typedef struct {
    int32_t file; /* of clv_weights_folder.files */
    int64_t offset, length;
    clv_checksum checksum;
} clv_shard_place;

/* Where a weight's bytes lay in the original; file -1: nowhere as they stand, they are in the rest.
 * length is that of whole bytes: a last one that 4-bit elements do not fill is in the rest too, for
 * what fills it up is no element. */
typedef struct {
    int32_t file; /* of clv_weights_folder.originals */
    int64_t offset, length;
} clv_original_place;
/* That length. */
int64_t clv_whole_bytes(const clv_weight *w);

typedef struct {
    const char *name; /* as the model names it; the model itself is the first, without its folder */
    int64_t bytes;
} clv_original_file;

typedef struct {
    const char *path; /* of the folder, for messages */
    int fd;           /* of a folder that was read: the same, open for base/open_inside.h */
    int32_t version;  /* of a folder that was read: of weights.json */
    clv_parts_kind kind;
    uint64_t fingerprint; /* clv_onnx_fingerprint() */
    clv_weight_list weights;
    clv_weight_layout layout;
    const clv_shard_place *places; /* one for each of layout.shards */
    const clv_weights_file *files;
    const clv_original_place *payloads; /* by weight */
    const clv_original_file *originals;
    int32_t n_files, n_originals;
    clv_weights_file rest;
    clv_checksum rest_checksum;
} clv_weights_folder;

/* A file of the folder, by its name there: for clv_files_add(). path NULL: no memory. */
clv_file_inside clv_weights_file_inside(const clv_weights_folder *f, const clv_weights_file *file,
                                        clv_arena *arena);

/* Bytes of an original file that are in the rest: what is no payload of a sharded weight. */
typedef struct {
    int64_t offset, length;
} clv_rest_range;
/* In ascending order, apart from each other. O(weights log weights). */
clv_status clv_rest_ranges(const clv_weights_folder *f, int32_t original, clv_arena *arena,
                           const clv_rest_range **ret, int32_t *ret_n, clv_error *err);

#endif
