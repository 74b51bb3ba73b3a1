/* shard.h - a model's weights into a folder of shards: shard_model(model, spec) in one call. */
#ifndef CLV_WEIGHTS_SHARD_H
#define CLV_WEIGHTS_SHARD_H

#include "proto/onnx_read.h"
#include "weights/weights_folder_make.h"

/* The layout is checked against the model. Weights without shards stay in rest.bin. The model and
 * its files are only read, each weight once, and never held: memory is buffers, and for each thread
 * a decoded weight where one is written in numbers of protobuf. With options->fill no weight is
 * read, also none that is not there. CLV_EFORMAT: not a layout of this model; CLV_EUNSUPP: a weight
 * that cannot be cut; CLV_EIO: a file is missing, cut short or cannot be written; CLV_EUSAGE: dir
 * exists. Nothing is left where it fails. */
clv_status clv_weights_shard(const clv_onnx_model *model, const clv_weight_layout *layout,
                             const char *dir, const clv_shard_options *options, clv_arena *arena,
                             clv_error *err);

#endif
