/* local_file.h - one model file of a lowered plan: of one device in one phase, or of all devices.
 */
#ifndef CLV_LOWER_LOCAL_FILE_H
#define CLV_LOWER_LOCAL_FILE_H

#include "lower/emit.h"
#include "proto/tensor_data.h"
#include "weights/stream.h"

/* An input or output of the file. */
typedef struct {
    clv_str name;
    int32_t value; /* of the program; -1: the whole tensor, where devices are side by side */
    clv_tensor tensor;
    const clv_type *type; /* of the part */
} clv_local_io;

typedef struct {
    clv_emit e;
    clv_local_io *inputs, *outputs;
    int32_t n_inputs, n_outputs, cap_inputs, cap_outputs;
} clv_local_file;

/* What one device runs in one phase. Inputs are parts of the model's, and what earlier phases send;
 * outputs what later ones receive, and parts of the model's. O(instructions of the phase). */
clv_status clv_local_file_make(const clv_spmd *s, clv_dialect dialect, int32_t phase,
                               int32_t position, clv_arena *arena, clv_local_file *ret,
                               clv_error *err);
/* All devices side by side: the inputs and outputs are the model's own. O(instructions * positions
 * of a mesh). */
clv_status clv_local_file_make_all(const clv_spmd *s, clv_arena *arena, clv_local_file *ret,
                                   clv_error *err);

/* Writes it. places: for each of e.weights its initialiser. */
clv_status clv_local_file_write(const clv_local_file *f, const clv_onnx_file *source,
                                const clv_new_tensor *places, const clv_sink *sink,
                                clv_arena *arena, clv_error *err);
/* The initialiser of a part that stands in the file itself; what is cut lives in the arena. data
 * and weights: of all weights, where they lie (clv_tensor_data_find()) and their elements
 * (clv_model_source_of()). CLV_EIO: the weight is not there. */
clv_status clv_local_file_inline(const clv_local_file *f, const clv_emit_weight *w,
                                 const clv_tensor_data *data, const clv_weight_source *weights,
                                 clv_arena *arena, clv_new_tensor *ret, clv_error *err);

#endif
