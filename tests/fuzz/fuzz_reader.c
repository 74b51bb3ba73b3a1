/* fuzz_reader.c - any bytes: a model, or an error with a sentence. */
#include <stdlib.h>

#include "proto/fingerprint.h"
#include "proto/onnx_read.h"

#define MEMORY_MAX ((size_t)256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_onnx_file *file = NULL;
    clv_model *model = NULL;
    clv_error err = { CLV_OK, "" };
    clv_arena *arena = clv_arena_new(NULL, MEMORY_MAX);
    clv_status status = clv_onnx_open_bytes(data, size, NULL, NULL, &file, &err);
    if (status == CLV_OK)
        status = clv_onnx_read(file, arena, &model, &err);
    if ((status == CLV_OK) != (model != NULL) || (status != CLV_OK && !err.message[0]))
        abort();
    if (model)
        (void)clv_onnx_fingerprint(model);
    clv_onnx_close(file);
    clv_arena_free(arena);
    return 0;
}
