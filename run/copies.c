#include "run/copies.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/compare.h"
#include "base/parallel_for.h"
#include "run/resident_memory.h"
#include "run/run_program.h"

/* -- opening -- */

clv_status clr_copies_open(const clr_ort *ort, clr_program *program,
                           const clr_execution_options *options, clv_arena *arena, clr_copies *io,
                           clv_error *err)
{
    int32_t n = io->n;
    clr_execution_options *own = CLV_NEW_ARRAY(arena, clr_execution_options, n);

    io->at = CLV_NEW_ARRAY(arena, clr_execution, n);
    if (!io->at || !own) {
        *io = (clr_copies){ 0 };
        return clv_fail_nomem(err, "copies");
    }
    for (int32_t c = 0; c < n; c++) {
        own[c] = *options;
        own[c].copy = c;
        own[c].beside = n;
        own[c].profile = c == 0 ? options->profile : NULL;
        CLV_TRY(clr_execution_open(ort, program, &own[c], arena, &io->at[c], err));
        /* what the process grows by while all run is of none of them alone */
        io->at[c].measures_memory = n == 1;
    }
    return CLV_OK;
}

void clr_copies_close(clr_copies *copies)
{
    for (int32_t c = 0; c < copies->n && copies->at; c++)
        clr_execution_close(&copies->at[c]);
    *copies = (clr_copies){ 0 };
}

int64_t clr_copies_peak_bytes(clr_copies *copies)
{
    int64_t most = 0;

    for (int32_t c = 0; c < copies->n; c++)
        if (copies->at[c].peak_bytes > most)
            most = copies->at[c].peak_bytes;
    if (copies->n > 1)
        (void)clr_resident_end(&most);
    return most;
}

/* -- a pipeline of each, side by side -- */

typedef struct {
    clr_copies *copies;
    OrtValue *const *const *inputs;
    int32_t runs;
    double **end_s; /* of each copy */
    int64_t start_ns;
    clr_copy_end *ends;
} pipelines;

int32_t clr_copies_share(const clr_copies *copies, int32_t c, int32_t runs)
{
    return runs / copies->n + (c < runs % copies->n);
}

static void run_pipeline(void *ctx, int32_t c)
{
    const pipelines *p = ctx;
    int32_t runs = clr_copies_share(p->copies, c, p->runs);
    double late_s = clv_seconds_since(p->start_ns);

    if (runs == 0)
        return;
    p->ends[c].status = clr_execution_run_pipelined(&p->copies->at[c], p->inputs[c], runs,
                                                    p->end_s[c], &p->ends[c].error);
    for (int32_t i = 0; i < runs; i++)
        p->end_s[c][i] += late_s;
}

static clv_status run_pipelines(pipelines *p, double *ret_end_s, clv_arena *arena, clv_error *err)
{
    int32_t n = p->copies->n;
    double *next = ret_end_s;

    p->end_s = CLV_NEW_ARRAY(arena, double *, n);
    p->ends = CLV_NEW_ARRAY(arena, clr_copy_end, n);
    if (!p->end_s || !p->ends)
        return clv_fail_nomem(err, "a run");
    for (int32_t c = 0; c < n; next += clr_copies_share(p->copies, c++, p->runs))
        p->end_s[c] = next;
    p->start_ns = clv_now_ns();
    clv_parallel_threads(n, run_pipeline, p);
    for (int32_t c = 0; c < n; c++)
        if (p->ends[c].status != CLV_OK)
            return clv_fail(err, p->ends[c].status, "%s", p->ends[c].error.message);
    qsort(ret_end_s, (size_t)p->runs, sizeof *ret_end_s, clv_compare_double);
    return CLV_OK;
}

clv_status clr_copies_run_pipelined(clr_copies *copies, OrtValue *const *const *inputs,
                                    int32_t runs, double *ret_end_s, clv_error *err)
{
    pipelines p = { .copies = copies, .inputs = inputs, .runs = runs };
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_status status =
        arena ? run_pipelines(&p, ret_end_s, arena, err) : clv_fail_nomem(err, "a run");

    clv_arena_free(arena);
    return status;
}
