/* skeleton.h - the model of a folder of shards, without its weights.
 *
 * The folder has all of the model file but the bytes of sharded weights. Put where they were, with
 * holes where large weights are missing, they are a model that can be read and planned, not run.
 * Small weights are taken from the shards: they may be the shapes and axes that planning needs.
 */
#ifndef CLV_WEIGHTS_SKELETON_H
#define CLV_WEIGHTS_SKELETON_H

#include "proto/onnx_file.h"
#include "weights/weights_folder.h"

/* In memory, as much of it as is no hole; to be closed with clv_onnx_close(). CLV_EIO; CLV_EFORMAT:
 * a shard of a small weight is damaged. O(bytes that are no large weights). */
clv_status clv_weights_skeleton_open(const clv_weights_folder *f, clv_arena *arena,
                                     clv_onnx_file **ret, clv_error *err);

#endif
