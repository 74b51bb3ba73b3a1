/* model_source.h - the weights of a model as something to stream from. */
#ifndef CLV_WEIGHTS_MODEL_SOURCE_H
#define CLV_WEIGHTS_MODEL_SOURCE_H

#include "proto/tensor_data.h"
#include "weights/weight_stream.h"

typedef struct clv_model_source clv_model_source;

/* data: as clv_tensor_data_find() gives it for the model, which must outlive it, as data and arena.
 * disk NULL: the system's calls. Files beside the model are opened when they are needed. Memory is
 * O(1), but for a weight that is TYPED, which is decoded as a whole. */
clv_status clv_model_source_new(const clv_onnx_model *model, const clv_tensor_data *data,
                                const clv_disk *disk, clv_arena *arena, clv_model_source **ret,
                                clv_error *err);
void clv_model_source_free(clv_model_source *source); /* closes files; NULL is fine */
/* Its read says CLV_EIO where a file is missing or was cut short meanwhile, CLV_EUNSUPP for a
 * weight whose elements have no places. */
clv_weight_source clv_model_source_of(clv_model_source *source);

#endif
