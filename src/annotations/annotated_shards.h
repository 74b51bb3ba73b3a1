/* annotated_shards.h - `cleave shards`: the annotations of a model file worked out, tensor by
 * tensor.
 *
 * Annotations are hints: whatever is wrong with one is a sentence in the list, not a failure.
 */
#ifndef CLV_ANNOTATIONS_ANNOTATED_SHARDS_H
#define CLV_ANNOTATIONS_ANNOTATED_SHARDS_H

#include "annotations/backend_profile.h"
#include "explain/shard_list.h"
#include "proto/onnx_file.h"

typedef struct {
    const clv_onnx_file *file;
    const clv_model *model;
    const char *model_name; /* file name without folder */
    const clv_binding *bindings;
    int32_t n_bindings;
    const char *configuration; /* only this one; NULL: all */
    clv_uneven_policy policy;
    const clv_backend *backend; /* NULL: none */
    bool tiles;                 /* each spec as tiles too (docs/formats/tiles.md) */
} clv_annotated_shards_request;

/* CLV_EUSAGE: no configuration of that name in the file. CLV_ELIMIT: more shards than the list is
 * meant for. Everything is in the arena. O(model + specs + shards * rank). */
clv_status clv_list_annotated_shards(const clv_annotated_shards_request *req, clv_arena *arena,
                                     clv_shard_list *ret, clv_error *err);

#endif
