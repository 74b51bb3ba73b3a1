/* fuzz_runtime.c - any bytes as a description of configs/runtimes: refused in a sentence, or a
 * runtime that makes kernels of a small model. */
#include <stdint.h>
#include <stdlib.h>

#include "graph/infer.h"
#include "kernels/form.h"
#include "kernels/runtime_json.h"
#include "support/line_model.h"

static void must(bool yes)
{
    if (!yes)
        abort();
}

static const char *const model[] = { "in x 2 4 8",
                                     "w a 8 8",
                                     "w s 8",
                                     "MatMul x a q",
                                     "Relu q r",
                                     "Transpose r k",
                                     "MatMul q k p",
                                     "Softmax p m",
                                     "MatMul m r v",
                                     "Add v x y",
                                     "LayerNormalization y s z",
                                     "out z",
                                     NULL };

static void form(const clv_runtime *r, clv_arena *arena)
{
    clv_inference *found;
    clv_kernels *k;
    clv_error err = { 0 };
    const clv_model *m = line_model(arena, model);
    if (clv_infer(m, NULL, 0, arena, &found, &err) != CLV_OK)
        return;
    clv_status s = clv_kernels_form(found->main, r, arena, &k, &err);
    must(s == CLV_OK || s == CLV_ENOMEM);
    for (int32_t i = 0, n = 0; s == CLV_OK && i < m->main->n_ops; i++) {
        n += k->of[i] >= 0;
        must(k->of[i] < k->n && n <= m->main->n_ops);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_arena *arena = clv_arena_new(NULL, (size_t)64 << 20);
    clv_runtime *r = NULL;
    clv_error err = { 0 };
    must(arena != NULL);
    clv_status s = clv_runtime_parse((const char *)data, size, "fuzz", arena, &r, &err);
    must(s == CLV_OK || s == CLV_EFORMAT || s == CLV_ELIMIT || s == CLV_ENOMEM);
    must((s == CLV_OK) == (r != NULL) && (s == CLV_OK || err.message[0]));
    if (r)
        form(r, arena);
    clv_arena_free(arena);
    return 0;
}
