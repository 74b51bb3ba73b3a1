/* prove_plan.c - proves the lowered program of a plan; for models too large to run.
 *
 *   prove_plan MODEL PLAN [--whole]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "lower/spmd_make.h"
#include "plan/plan_check.h"
#include "plan/plan_json_read.h"
#include "proto/onnx_read.h"
#include "verify/prove.h"

#define BINDINGS_MAX 64
#define PLAN_MAX     ((size_t)1 << 30)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int32_t bindings_of(const clv_plan *plan, clv_binding *ret)
{
    int32_t n = 0;
    for (; n < plan->n_bindings && n < BINDINGS_MAX; n++) {
        const char *equals = strrchr(plan->bindings[n], '=');
        ret[n].symbol = (clv_str){ plan->bindings[n], (int32_t)(equals - plan->bindings[n]) };
        ret[n].value = strtoll(equals + 1, NULL, 10);
    }
    return n;
}

static clv_status work(const char *model_path, const char *plan_path, bool whole, clv_arena *arena,
                       clv_error *err)
{
    clv_onnx_file *file;
    clv_model *model;
    clv_inference *types;
    clv_plan *plan;
    clv_spmd *s;
    clv_proof proof;
    const char *text;
    size_t n;
    clv_binding bindings[BINDINGS_MAX];
    char elems[CLV_INT128_TEXT], parts[CLV_INT128_TEXT];
    CLV_TRY(clv_onnx_open(model_path, NULL, &file, err));
    CLV_TRY(clv_onnx_read(file, arena, &model, err));
    CLV_TRY(clv_read_file(plan_path, PLAN_MAX, arena, &text, &n, err));
    CLV_TRY(clv_plan_read(text, n, plan_path, arena, &plan, err));
    CLV_TRY(clv_infer(model, bindings, bindings_of(plan, bindings), arena, &types, err));
    CLV_TRY(clv_plan_check(plan, model->main, arena, err));
    double start = now();
    CLV_TRY(whole ? clv_spmd_make_whole(model, types->main, plan, arena, &s, err)
                  : clv_spmd_make(model, types->main, plan, arena, &s, err));
    double made = now();
    CLV_TRY(clv_prove(s, arena, &proof, err));
    printf("%s: %s%s%d tensors in %d layouts, %d operators, %d steps, %d transfers, %d outputs, %d "
           "phases of %d devices, %s elements, %s in parts; made in %.2f s, proven in %.2f s\n",
           model_path, proof.holds ? "holds: " : proof.fault, proof.holds ? "" : "; ",
           proof.n_tensors, proof.n_values, proof.n_operators, proof.n_steps, proof.n_transfers,
           proof.n_outputs, proof.n_phases, proof.n_devices, clv_int128_text(elems, proof.elems),
           clv_int128_text(parts, proof.parts), made - start, now() - made);
    clv_onnx_close(file);
    return proof.holds ? CLV_OK : CLV_EINTERNAL;
}

int main(int argc, char **argv)
{
    clv_error err = { CLV_OK, "" };
    clv_arena *arena = clv_arena_new(NULL, 0);
    if (argc < 3 || !arena)
        return 2;
    clv_status status = work(argv[1], argv[2], argc > 3, arena, &err);
    if (status != CLV_OK && *err.message)
        fprintf(stderr, "%s: %s\n", argv[1], err.message);
    clv_arena_free(arena);
    return status != CLV_OK;
}
