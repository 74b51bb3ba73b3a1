/* fuzz_writer.c - whatever can be read can be written anew with other names, or is refused before a
 * byte goes out; what was written reads again, and its own copy has the same bytes. Weights of both
 * are found and decoded, with the same elements.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/tensor_data.h"
#include "support/copied.h"
#include "tests/proto/memory_sink.h"

#define MEMORY_MAX ((size_t)256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool fine)
{
    if (!fine)
        abort();
}

typedef struct {
    clv_arena *arena;
    clv_onnx_file *file;
    clv_model *model; /* NULL: not a model that we read */
} input;

static input open_input(const uint8_t *bytes, size_t n)
{
    input in = { .arena = clv_arena_new(NULL, MEMORY_MAX) };
    if (n && clv_onnx_open_bytes(bytes, n, NULL, NULL, &in.file, NULL) == CLV_OK)
        (void)clv_onnx_read(in.file, in.arena, &in.model, NULL);
    return in;
}

static void close_input(input *in)
{
    clv_onnx_close(in->file);
    clv_arena_free(in->arena);
}

static clv_status copy(const input *in, const char *suffix, memory *to)
{
    clv_sink sink = memory_sink(to);
    clv_new_model *m = test_copied(in->file, in->model, suffix, in->arena);
    clv_status s = m ? clv_onnx_write(m, &sink, in->arena, NULL) : CLV_ENOMEM;
    need(s == CLV_OK || to->calls == 0);
    return s;
}

static clv_status elements(const input *in, int32_t i, const void **ret, clv_tensor_data *ret_data)
{
    clv_tensor_data *data;
    CLV_TRY(clv_tensor_data_find(in->file, in->model, in->arena, &data, NULL));
    *ret_data = data[i];
    return clv_tensor_data_decode(in->file, &data[i], in->arena, ret, NULL);
}

static void compare_weights(const input *a, const input *b)
{
    int32_t n = a->model->main->n_weights;
    for (int32_t i = 0; i < n && i < 16; i++) { /* sparse ones may have moved behind the others */
        const void *x = NULL, *y = NULL;
        clv_tensor_data p = { 0 }, q = { 0 };
        clv_status s = elements(a, i, &x, &p), t = elements(b, i, &y, &q);
        if (a->model->main->weights[i].sparse || b->model->main->weights[i].sparse)
            return;
        need(s == t && p.kind == q.kind && p.bytes == q.bytes);
        need(s != CLV_OK || p.bytes == 0 || memcmp(x, y, (size_t)p.bytes) == 0);
    }
}

/* The same nodes, and again the same bytes. */
static void check(const input *in, const memory *once)
{
    memory twice = { 0 };
    input again = open_input(once->bytes, once->n);
    need(again.model && again.model->main->n_ops == in->model->main->n_ops);
    compare_weights(in, &again);
    need(copy(&again, "", &twice) == CLV_OK);
    need(twice.n == once->n && memcmp(twice.bytes, once->bytes, once->n) == 0);
    free(twice.bytes);
    close_input(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    memory once = { 0 };
    input in = open_input(data, size);
    if (in.model && copy(&in, "_z", &once) == CLV_OK)
        check(&in, &once);
    free(once.bytes);
    close_input(&in);
    return 0;
}
