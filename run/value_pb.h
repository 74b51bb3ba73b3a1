/* value_pb.h - the messages of ONNX that hold values: TensorProto, SequenceProto, OptionalProto. */
#ifndef CLV_RUN_VALUE_PB_H
#define CLV_RUN_VALUE_PB_H

#include "proto/sink.h"
#include "run/file_bytes.h"
#include "run/tensor.h"

/* The message is TensorProto, SequenceProto or OptionalProto by kind. *ret is the caller's, for
 * clr_value_free(). CLV_EFORMAT; CLV_EUNSUPP: what the runtime's C API cannot make. O(bytes). */
clv_status clr_pb_read(const clr_ort *ort, const clr_file_bytes *file, ONNXType kind,
                       clv_arena *arena, OrtValue **ret, clv_error *err);
/* Only the name, "" where it has none; in the arena. O(bytes that are not payload). */
clv_status clr_pb_name(const clr_file_bytes *file, clv_arena *arena, const char **ret,
                       clv_error *err);
/* A TensorProto with its name. value: a tensor of that shape. */
clv_status clr_pb_write(const clr_ort *ort, const OrtValue *value, const clr_shape *shape,
                        const char *name, const clv_sink *sink, clv_error *err);

#endif
