/* fuzz_runtime.c - any bytes as a description of configs/runtimes: refused in a sentence, or a
 * runtime that makes kernels of a small model, a prefill. */
#include <stdint.h>
#include <stdlib.h>

#include "kernels/runtime_json.h"
#include "request/analysis.h"
#include "support/line_model.h"

static void must(bool yes)
{
    if (!yes)
        abort();
}

static const char *const model[] = { "in ids 4 4 int",
                                     "w table 16 4",
                                     "w a 4 4",
                                     "w s 4",
                                     "w head 4 16",
                                     "Gather table ids x",
                                     "MatMul x a q",
                                     "Relu q r",
                                     "Transpose r k",
                                     "MatMul q k p",
                                     "Softmax p m",
                                     "MatMul m r v",
                                     "Add v x y",
                                     "LayerNormalization y s z",
                                     "MatMul z head logits",
                                     "out k",
                                     "out r",
                                     "out logits",
                                     NULL };

static void form(const clv_runtime *r, clv_arena *arena)
{
    clv_analysis a;
    clv_error err = { 0 };
    const clv_model *m = line_model(arena, model);
    clv_status s = clv_analyse(&(clv_analysed){ .model = m, .runtime = r }, arena, &a, &err);
    must(s == CLV_OK || s == CLV_ENOMEM);
    must(s != CLV_OK || a.last_token == r->last_token);
    must(s != CLV_OK || (a.host_ns >= 0 && a.front_end_ns >= 0));
    const clv_kernels *k = s == CLV_OK ? a.kernels : NULL;
    for (int32_t i = 0, n = 0; k && i < m->main->n_ops; i++) {
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
