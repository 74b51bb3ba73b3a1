/* fuzz_annotator.c - whatever can be annotated can be stripped, and then has the same bytes. The
 * same holds where the input is annotated already: what is stripped is then the original of that.
 * The annotations, with specs made from the same bytes, read back as they were given.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/onnx_annotate.h"
#include "tests/proto/given_specs.h"
#include "tests/proto/memory_sink.h"

#define MEMORY_MAX ((size_t)256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool fine)
{
    if (!fine)
        abort();
}

static clv_onnx_file *open_bytes(const uint8_t *bytes, size_t n)
{
    clv_onnx_file *file = NULL;
    need(clv_onnx_open_bytes(bytes, n, NULL, NULL, &file, NULL) == CLV_OK);
    return file;
}

static clv_status strip(const clv_onnx_file *file, bool all, memory *to)
{
    clv_arena *arena = clv_arena_new(NULL, MEMORY_MAX);
    clv_sink sink = memory_sink(to);
    clv_status status = clv_onnx_strip(file, all, &sink, arena, NULL);
    clv_arena_free(arena);
    return status;
}

/* What strip must give: the input, or the original of an input that was annotated already. */
static void check(const clv_onnx_file *input, const memory *annotated)
{
    memory original = { 0 }, got = { 0 };
    clv_onnx_file *file = open_bytes(annotated->bytes, annotated->n);
    need(strip(file, false, &got) == CLV_OK);
    size_t n = input->n;
    const uint8_t *want = input->bytes;
    if (strip(input, false, &original) == CLV_OK) {
        want = original.bytes;
        n = original.n;
    }
    need(got.n == n && memcmp(got.bytes, want, n) == 0);
    clv_onnx_close(file);
    free(original.bytes);
    free(got.bytes);
}

static void check_reading(const memory *annotated, const clv_plan *plan)
{
    clv_arena *arena = clv_arena_new(NULL, MEMORY_MAX);
    clv_annotation_set set;
    clv_onnx_file *file = open_bytes(annotated->bytes, annotated->n);
    need(clv_onnx_read_annotations(file, arena, &set, NULL) == CLV_OK);
    need(reads_back_as_planned(&set, plan));
    clv_onnx_close(file);
    clv_arena_free(arena);
}

/* Annotations are hints: they can be read, with their faults, wherever the model can. */
static void check_any(const clv_onnx_file *file)
{
    clv_arena *arena = clv_arena_new(NULL, MEMORY_MAX);
    clv_annotation_set set;
    need(clv_onnx_read_annotations(file, arena, &set, NULL) == CLV_OK);
    clv_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_arena *arena = clv_arena_new(NULL, MEMORY_MAX);
    clv_model *model = NULL;
    memory annotated = { 0 }, bare = { 0 };
    clv_onnx_file *file = NULL;
    if (size == 0 || clv_onnx_open_bytes(data, size, NULL, NULL, &file, NULL) != CLV_OK)
        goto done;
    (void)strip(file, true, &bare);
    if (clv_onnx_read(file, arena, &model, NULL) == CLV_OK) {
        clv_sink sink = memory_sink(&annotated);
        clv_plan *plan = plan_in_turn(model, 3, arena);
        spec_source source = { data, size, size / 2, arena };
        plan_give_specs(plan, model, &source);
        check_any(file);
        if (clv_onnx_annotate(&(clv_onnx_model){ file, model }, plan, true, &sink, arena, NULL) ==
            CLV_OK) {
            check(file, &annotated);
            check_reading(&annotated, plan);
        }
    }
done:
    clv_onnx_close(file);
    clv_arena_free(arena);
    free(annotated.bytes);
    free(bare.bytes);
    return 0;
}
