#include "run/requests.h"

#include <stdatomic.h>

#include "base/parallel_for.h"

typedef struct {
    clr_copies *copies;
    const clr_requests_options *o;
    clv_arena *arena; /* of the thread that called, which runs the first copy */
    clr_requests *ret;
    clr_inputs first;   /* of request 0; those of others share its files */
    atomic_int lowest;  /* request that failed; o->n: none did */
    clr_copy_end *ends; /* by copy */
} server;

/* The last request that a copy has; -1: it has none. */
static int32_t last_of(const server *s, int32_t copy)
{
    int32_t n = s->o->n, r = s->copies->n;
    return copy < n ? copy + (n - 1 - copy) / r * r : -1;
}

/* Outputs are taken when the copy makes no other ones any more of that request. */
static bool has_pipeline_behind(const server *s, int32_t request)
{
    int32_t copy = request % s->copies->n;
    return request == last_of(s, copy) && clr_copies_share(s->copies, copy, s->o->pipeline) > 0;
}

static clv_status make_inputs(const server *s, int32_t request, clv_arena *arena, clr_inputs *ret,
                              clv_error *err)
{
    clr_input_options options = *s->o->inputs;

    options.seed += (uint64_t)request;
    return clr_inputs_make_again(&s->copies->at[request % s->copies->n], &options, &s->first, arena,
                                 ret, err);
}

/* -- one -- */

static clv_status run_request(server *s, int32_t request, const clr_inputs *inputs,
                              clv_arena *arena, clv_error *err)
{
    clr_execution *x = &s->copies->at[request % s->copies->n];
    clr_request *r = &s->ret->at[request];
    clr_measure_options o = s->o->measure;
    clr_measured m;

    if (request >= s->copies->n)
        o.warmup = 0;
    CLV_TRY(clr_measure(x, inputs->values, &o, arena, &m, err));
    r->median_s = m.median_s;
    if (request == 0)
        s->ret->first = m;
    return has_pipeline_behind(s, request)
               ? CLV_OK
               : clr_output_files_take(s->o->files, request, x, r->outputs, err);
}

static clv_status run_with_inputs(server *s, int32_t request, clv_error *err)
{
    clr_inputs inputs = { 0 };

    if (request == 0)
        return run_request(s, request, &s->first, s->arena, err);
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_status status =
        arena ? make_inputs(s, request, arena, &inputs, err) : clv_fail_nomem(err, "a request");
    if (status == CLV_OK)
        status = run_request(s, request, &inputs, arena, err);
    clr_inputs_free(s->copies->at[0].ort, &inputs);
    clv_arena_free(arena);
    return status;
}

/* -- all, on their copies -- */

static void note_failure(server *s, int32_t request)
{
    int lowest = atomic_load(&s->lowest);

    while (request < lowest && !atomic_compare_exchange_weak(&s->lowest, &lowest, request))
        ;
}

/* Requests before one that failed are still run: one of them may fail too. */
static void serve(void *ctx, int32_t copy)
{
    server *s = ctx;

    for (int32_t k = copy; k < atomic_load(&s->lowest); k += s->copies->n) {
        s->ret->at[k].copy = copy;
        s->ends[copy].status = run_with_inputs(s, k, &s->ends[copy].error);
        if (s->ends[copy].status != CLV_OK) {
            note_failure(s, k);
            return;
        }
    }
}

static clv_status failure_of(const server *s, int32_t request, int32_t copy, clv_error *err)
{
    const clr_program *p = s->copies->at[0].program;
    clv_status status = s->ends[copy].status;
    const char *words = s->ends[copy].error.message;

    if (s->o->n == 1)
        return clv_fail(err, status, "%s", words);
    if (s->copies->n == 1)
        return clv_fail(err, status, "request %d: %s", (int)request, words);
    return clv_fail(err, status, "request %d on the copy of %s: %s", (int)request,
                    p->copies[copy].devices[0], words);
}

static clv_status serve_all(server *s, clv_error *err)
{
    clv_parallel_threads(s->copies->n, serve, s);
    int32_t lowest = atomic_load(&s->lowest);
    return lowest < s->o->n ? failure_of(s, lowest, lowest % s->copies->n, err) : CLV_OK;
}

/* -- pipelines behind them -- */

/* inputs: of each copy, zeroed; they are the caller's in any case. */
static clv_status run_pipelines(server *s, clr_inputs *inputs, clv_error *err)
{
    clr_requests *r = s->ret;
    int32_t runs = s->o->pipeline;
    double *end_s = CLV_NEW_ARRAY(s->arena, double, runs);
    OrtValue *const **values = CLV_NEW_ARRAY(s->arena, OrtValue *const *, s->copies->n);

    if (!end_s || !values)
        return clv_fail_nomem(err, "times");
    for (int32_t c = 0; c < s->copies->n; c++) {
        int32_t request = last_of(s, c);
        if (request > 0)
            CLV_TRY(make_inputs(s, request, s->arena, &inputs[c], err));
        values[c] = request > 0 ? inputs[c].values : s->first.values;
    }
    CLV_TRY(clr_copies_run_pipelined(s->copies, values, runs, end_s, err));
    r->pipelined = runs;
    r->end_s = end_s;
    r->period_s = runs > 1 ? (end_s[runs - 1] - end_s[0]) / (runs - 1) : end_s[0];
    for (int32_t c = 0; c < s->copies->n; c++)
        if (last_of(s, c) >= 0 && has_pipeline_behind(s, last_of(s, c)))
            CLV_TRY(clr_output_files_take(s->o->files, last_of(s, c), &s->copies->at[c],
                                          r->at[last_of(s, c)].outputs, err));
    return CLV_OK;
}

static clv_status pipeline_all(server *s, clv_error *err)
{
    clr_inputs *inputs = CLV_NEW_ARRAY(s->arena, clr_inputs, s->copies->n);

    if (!inputs)
        return clv_fail_nomem(err, "a run");
    clv_status status = run_pipelines(s, inputs, err);
    for (int32_t c = 0; c < s->copies->n; c++)
        clr_inputs_free(s->copies->at[0].ort, &inputs[c]);
    return status;
}

/* -- all of it -- */

static clv_status run_all(server *s, clv_error *err)
{
    int32_t n = s->o->n, r = s->copies->n, n_outputs = s->copies->at[0].program->n_outputs;

    s->ret->at = CLV_NEW_ARRAY(s->arena, clr_request, n);
    s->ends = CLV_NEW_ARRAY(s->arena, clr_copy_end, r);
    if (!s->ret->at || !s->ends)
        return clv_fail_nomem(err, "requests");
    s->ret->n = n;
    for (int32_t k = 0; k < n; k++)
        if (!(s->ret->at[k].outputs = CLV_NEW_ARRAY(s->arena, clr_value_stats, n_outputs)))
            return clv_fail_nomem(err, "requests");
    CLV_TRY(clr_inputs_make(&s->copies->at[0], s->o->inputs, s->arena, &s->first, err));
    CLV_TRY(serve_all(s, err));
    return s->o->pipeline > 0 ? pipeline_all(s, err) : CLV_OK;
}

clv_status clr_requests_run(clr_copies *copies, const clr_requests_options *o, clv_arena *arena,
                            clr_requests *ret, clv_error *err)
{
    server s = { .copies = copies, .o = o, .arena = arena, .ret = ret };

    *ret = (clr_requests){ 0 };
    atomic_init(&s.lowest, o->n);
    clv_status status = run_all(&s, err);
    clr_inputs_free(copies->at[0].ort, &s.first);
    if (status != CLV_OK)
        clr_output_files_remove(o->files);
    return status;
}
