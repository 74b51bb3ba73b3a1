/* model_file.h - one model file of a lowered plan: of one device in one phase, or of all devices
 * side by side.
 */
#ifndef CLV_LOWER_MODEL_FILE_H
#define CLV_LOWER_MODEL_FILE_H

#include "lower/emit.h"
#include "proto/tensor_data.h"
#include "weights/weight_stream.h"

/* Whose file it is. */
typedef struct {
    int32_t phase, position; /* -1: of all phases and devices */
} clv_file_place;
#define CLV_ALL_DEVICES ((clv_file_place){ -1, -1 })

/* An input or output of the file. */
typedef struct {
    clv_str name;
    int32_t value; /* of the program; -1: the whole tensor, where devices are side by side */
    clv_tensor tensor;
    const clv_type *type; /* of the part */
} clv_file_io;

typedef struct {
    clv_file_io *at;
    int32_t n, cap;
} clv_file_ios;

typedef struct {
    clv_emit e;
    clv_file_ios inputs, outputs;
} clv_model_file;

/* What one device runs in one phase: inputs are parts of the model's, and what earlier phases send;
 * outputs what later ones receive, and parts of the model's. Or all devices side by side, of
 * dialect plain: the inputs and outputs are the model's own. CLV_EUNSUPP: as clv_emit_phase(). In
 * the arena. O(instructions * positions that are written). */
clv_status clv_model_file_make(const clv_spmd *s, clv_dialect dialect, clv_file_place place,
                               clv_arena *arena, clv_model_file *ret, clv_error *err);

/* Writes it. initialisers: one for each of e.weights. O(bytes written). */
clv_status clv_model_file_write(const clv_model_file *f, const clv_onnx_file *source,
                                const clv_new_tensor *initialisers, const clv_sink *sink,
                                clv_arena *arena, clv_error *err);

/* All weights of the model: where they lie, as clv_tensor_data_find() says, and their elements, as
 * clv_model_source_of() gives them. */
typedef struct {
    const clv_tensor_data *data;
    clv_weight_source elements;
} clv_model_weights;

/* CLV_EIO: the file in which it lies is not there. */
clv_status clv_weight_is_there(const clv_tensor_data *data, clv_error *err);

/* The initialiser of a part that stands in the file itself; what is cut lives in the arena.
 * CLV_EIO: the weight is not there; CLV_EUNSUPP: it is sparse or has texts, and cannot be cut.
 * O(bytes of the weight). */
clv_status clv_model_file_inline(const clv_spmd *s, const clv_emit_weight *w,
                                 const clv_model_weights *weights, clv_arena *arena,
                                 clv_new_tensor *ret, clv_error *err);

#endif
