/* fuzz_annotated_plan.c - any model with annotations: a plan that passes every check, or an error
 * with a sentence; and a model is the same as itself.
 */
#include <stdlib.h>

#include "pipeline/annotated_plan.h"
#include "plan/plan_check.h"
#include "proto/onnx_read.h"
#include "proto/same_model.h"

#define MEMORY_MAX ((size_t)256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_onnx_file *file = NULL;
    clv_model *model = NULL;
    clv_plan *plan = NULL;
    const char *difference = "";
    clv_error err = { CLV_OK, "" };
    clv_arena *arena = clv_arena_new(NULL, MEMORY_MAX);
    clv_status status = clv_onnx_open_bytes(data, size, NULL, NULL, &file, &err);
    if (status == CLV_OK)
        status = clv_onnx_read(file, arena, &model, &err);
    if (status == CLV_OK) {
        const clv_annotated_model req = { .file = file, .model = model, .name = "m.onnx" };
        must(clv_onnx_same_model(file, file, arena, &difference, &err) != CLV_OK || !difference);
        status = clv_plan_of_annotations(&req, arena, &plan, &err);
        must((status == CLV_OK) == (plan != NULL));
        must(!plan || clv_plan_check(plan, model->main, arena, &err) == CLV_OK);
    }
    must(status == CLV_OK || err.message[0]);
    clv_onnx_close(file);
    clv_arena_free(arena);
    return 0;
}
