/* fuzz_value.c - any bytes as a value that cleave-run reads: .npy, or TensorProto, SequenceProto or
 * OptionalProto, by the first byte. Refused in a sentence, or a value of the runtime. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "run/value_npy.h"
#include "run/value_pb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static clv_status read_value(const clr_ort *ort, uint8_t kind, const clr_file_bytes *file,
                             clv_arena *arena, OrtValue **ret, clv_error *err)
{
    static const ONNXType kinds[] = { ONNX_TYPE_TENSOR, ONNX_TYPE_SEQUENCE, ONNX_TYPE_OPTIONAL };
    const char *name = NULL;

    if (kind % 4 == 0)
        return clr_npy_read(ort, file, ret, err);
    CLV_TRY(clr_pb_name(file, arena, &name, err));
    if (!name)
        abort();
    return clr_pb_read(ort, file, kinds[kind % 4 - 1], arena, ret, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static clr_ort ort; /* one a process, as the runtime wants it */
    clv_arena *arena = clv_arena_new(NULL, 0);
    OrtValue *value = NULL;
    clv_error err;

    if (!arena || size == 0 || (!ort.api && clr_ort_open(&ort, NULL) != CLV_OK)) {
        clv_arena_free(arena);
        return 0;
    }
    const clr_file_bytes file = { "fuzz", data + 1, size - 1 };
    if (read_value(&ort, data[0], &file, arena, &value, &err) == CLV_OK)
        clr_value_free(&ort, value);
    else if (!memchr(err.message, '\0', sizeof err.message) || !err.message[0])
        abort();
    clv_arena_free(arena);
    return 0;
}
