#include "run/run_program.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "run/resident_memory.h"

/* -- one model, once -- */

/* The inputs of a model: borrowed where they are whole, new where they are slices. */
typedef struct {
    const OrtValue **values;
    OrtValue **own;
} model_inputs;

/* What it takes of other models has been made in that run. */
static clv_status find_inputs(const clr_execution *x, int32_t i, int32_t run,
                              OrtValue *const *inputs, model_inputs *ret, clv_error *err)
{
    const clr_program_model *m = &x->program->models[i];
    const clr_ports *ports = &x->sessions[i].inputs;

    for (int32_t k = 0; k < ports->n; k++) {
        const clr_input_source *source = m->sources; /* there is one: connecting has checked that */
        while (strcmp(source->name, ports->names[k]) != 0)
            source++;
        ret->values[k] = source->from == CLR_FROM_PROGRAM
                             ? inputs[clr_program_find_input(x->program, source->tensor)]
                             : clr_execution_made(x, run, source->from, source->tensor);
        if (source->slice.whole)
            continue;
        CLV_TRY(clr_slice_extract(x->ort, ret->values[k], &source->slice, source->tensor,
                                  &ret->own[k], err));
        ret->values[k] = ret->own[k];
    }
    return CLV_OK;
}

/* 0 where the system does not report it. */
static int64_t thread_cpu_ns(void)
{
    struct timespec t;

    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0
               ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec
               : 0;
}

static clv_status run_session(clr_execution *x, int32_t i, int32_t run, const model_inputs *inputs,
                              clv_error *err)
{
    OrtValue **made = x->made[run % CLR_RUNS_KEPT][i];

    clr_values_free(x->ort, made, x->sessions[i].outputs.n);
    double waited_s = clr_rendezvous_waited_s(x->rendezvous, i);
    double spun_s = clr_rendezvous_spun_s(x->rendezvous, i);
    int64_t start = clv_now_ns(), cpu_ns = thread_cpu_ns();
    clv_status status =
        clr_session_run(&x->sessions[i], x->run_options[i], inputs->values, made, err);
    double cpu_s = (double)(thread_cpu_ns() - cpu_ns) * 1e-9;
    spun_s = clr_rendezvous_spun_s(x->rendezvous, i) - spun_s;
    x->times[i] =
        (clr_model_times){ .run_s = clv_seconds_since(start),
                           .waited_s = clr_rendezvous_waited_s(x->rendezvous, i) - waited_s,
                           .cpu_s = cpu_s > spun_s ? cpu_s - spun_s : 0 };
    return status;
}

/* Run number `run` of model i, counted from the start. What it makes replaces what it made
 * CLR_RUNS_KEPT runs before. On the thread of the model: others may run other models meanwhile, so
 * scratch is not in the execution's arena. */
static clv_status run_model(clr_execution *x, int32_t i, int32_t run, OrtValue *const *inputs,
                            clv_error *err)
{
    int32_t n = x->sessions[i].inputs.n;
    model_inputs taken = { 0 };

    if (x->program->models[i].empty)
        return CLV_OK;
    clv_arena *arena = clv_arena_new(NULL, 0);
    if (arena) {
        taken.values = CLV_NEW_ARRAY(arena, const OrtValue *, n);
        taken.own = CLV_NEW_ARRAY(arena, OrtValue *, n);
    }
    clv_status status = taken.values && taken.own ? find_inputs(x, i, run, inputs, &taken, err)
                                                  : clv_fail_nomem(err, "a run");
    if (status == CLV_OK)
        status = run_session(x, i, run, &taken, err);
    clr_values_free(x->ort, taken.own, n);
    clv_arena_free(arena);
    return status;
}

/* -- each on a thread of its own -- */

/* One has failed: those that compute stop after their operator. */
static void terminate_runs(void *ctx)
{
    clr_execution *x = ctx;

    for (int32_t i = 0; i < x->program->n_models; i++) {
        OrtStatus *status =
            x->run_options[i] ? x->ort->api->RunOptionsSetTerminate(x->run_options[i]) : NULL;
        if (status)
            x->ort->api->ReleaseStatus(status);
    }
}

typedef struct {
    clr_execution *x;
    int32_t i;
    OrtValue *const *inputs;
    int32_t runs;
    const int32_t *readers; /* models that take something of this one */
    int32_t n_readers;
    int64_t start_ns;
    double *end_s; /* of each run */
    pthread_t thread;
    bool started;
} device;

static clv_status run_device(const device *d, clv_error *err)
{
    clr_rendezvous *r = d->x->rendezvous;
    const clr_program_model *m = &d->x->program->models[d->i];

    for (int32_t run = 0; run < d->runs; run++) {
        /* until what it takes is there, and those who read what is overwritten have done so */
        for (int32_t k = 0; k < m->n_sources; k++)
            if (m->sources[k].from != CLR_FROM_PROGRAM)
                CLV_TRY(clr_rendezvous_wait_runs(r, d->i, m->sources[k].from, run + 1, err));
        for (int32_t k = 0; k < d->n_readers; k++)
            CLV_TRY(
                clr_rendezvous_wait_runs(r, d->i, d->readers[k], run - (CLR_RUNS_KEPT - 1), err));
        CLV_TRY(run_model(d->x, d->i, run, d->inputs, err));
        d->end_s[run] = clv_seconds_since(d->start_ns);
        clr_rendezvous_end_run(r, d->i);
    }
    return CLV_OK;
}

static void *device_thread(void *ctx)
{
    const device *d = ctx;
    clv_error err = { 0 };
    clv_status status = run_device(d, &err);

    clr_rendezvous_leave(d->x->rendezvous, d->i, status, &err);
    return NULL;
}

static void run_threads(clr_execution *x, device *devices)
{
    for (int32_t i = 0; i < x->program->n_models; i++) {
        device *d = &devices[i];
        clv_error none;
        d->started = pthread_create(&d->thread, NULL, device_thread, d) == 0;
        if (!d->started)
            clr_rendezvous_leave(x->rendezvous, i,
                                 clv_fail(&none, CLV_ELIMIT,
                                          "no thread for device '%s': the system gives no more",
                                          x->names[i]),
                                 &none);
    }
    for (int32_t i = 0; i < x->program->n_models; i++)
        if (devices[i].started)
            pthread_join(devices[i].thread, NULL);
}

/* Each model once among the readers of those that it takes from. O(models + what they take). */
static clv_status find_readers(const clr_program *p, device *devices, clv_arena *arena,
                               clv_error *err)
{
    int32_t *seen = CLV_NEW_ARRAY(arena, int32_t, p->n_models), n_sources = 0, at = 0;

    for (int32_t i = 0; i < p->n_models; i++)
        n_sources += p->models[i].n_sources;
    int32_t *readers = CLV_NEW_ARRAY(arena, int32_t, n_sources);
    if (!seen || !readers)
        return clv_fail_nomem(err, "a run");
    for (int pass = 0; pass < 2; pass++) { /* how many, then who */
        for (int32_t i = 0; i < p->n_models; i++)
            seen[i] = -1;
        for (int32_t i = 0; i < p->n_models; i++)
            for (int32_t k = 0; k < p->models[i].n_sources; k++) {
                int32_t from = p->models[i].sources[k].from;
                if (from == CLR_FROM_PROGRAM || seen[from] == i)
                    continue;
                seen[from] = i;
                if (pass == 1)
                    readers[devices[from].readers - readers + devices[from].n_readers] = i;
                devices[from].n_readers++;
            }
        for (int32_t i = 0; pass == 0 && i < p->n_models; i++) {
            devices[i].readers = readers + at;
            at += devices[i].n_readers;
            devices[i].n_readers = 0;
        }
    }
    return CLV_OK;
}

static clv_status run_devices(clr_execution *x, device *devices, const device *each, double *end_s,
                              clv_arena *arena, clv_error *err)
{
    int32_t n = x->program->n_models;

    for (int32_t i = 0; i < n; i++) {
        devices[i] = *each;
        devices[i].i = i;
        devices[i].end_s = end_s + (size_t)i * (size_t)each->runs;
    }
    CLV_TRY(find_readers(x->program, devices, arena, err));
    clr_rendezvous_start(x->rendezvous, terminate_runs, x);
    run_threads(x, devices);
    return clr_rendezvous_failure(x->rendezvous, err);
}

clv_status clr_execution_run_pipelined(clr_execution *x, OrtValue *const *inputs, int32_t runs,
                                       double *ret_end_s, clv_error *err)
{
    size_t n = (size_t)x->program->n_models;
    clv_arena *arena = clv_arena_new(NULL, 0);
    device *devices = arena ? CLV_NEW_ARRAY(arena, device, n) : NULL;
    double *end_s = arena ? CLV_NEW_ARRAY(arena, double, n *(size_t)runs) : NULL;
    const device each = { .x = x, .inputs = inputs, .runs = runs, .start_ns = clv_now_ns() };
    clv_status status = devices && end_s ? run_devices(x, devices, &each, end_s, arena, err)
                                         : clv_fail_nomem(err, "a run");

    for (int32_t run = 0; status == CLV_OK && run < runs; run++) {
        ret_end_s[run] = 0;
        for (size_t i = 0; i < n; i++)
            if (devices[i].end_s[run] > ret_end_s[run])
                ret_end_s[run] = devices[i].end_s[run];
    }
    clv_arena_free(arena);
    if (status != CLV_OK)
        return status;
    x->last_slot = (runs - 1) % CLR_RUNS_KEPT;
    (void)clr_resident_end(&x->peak_bytes);
    return CLV_OK;
}

/* -- one after the other -- */

clv_status clr_execution_run(clr_execution *x, OrtValue *const *inputs, double *ret_s,
                             clv_error *err)
{
    int64_t start = clv_now_ns();

    if (x->program->concurrent)
        return clr_execution_run_pipelined(x, inputs, 1, ret_s, err);
    for (int32_t i = 0; i < x->program->n_models; i++) {
        int64_t before_bytes = x->measures_memory ? clr_resident_begin(&x->peak_bytes) : 0;
        CLV_TRY(run_model(x, i, 0, inputs, err));
        if (x->options->again)
            CLV_TRY(run_model(x, i, 0, inputs, err));
        int64_t most_bytes =
            x->measures_memory ? clr_resident_end(&x->peak_bytes).peak_bytes - before_bytes : 0;
        if (before_bytes && most_bytes > x->memory[i].run_peak_bytes)
            x->memory[i].run_peak_bytes = most_bytes;
    }
    *ret_s = clv_seconds_since(start);
    x->measures_memory = false; /* later runs find the memory of this one */
    x->last_slot = 0;
    return CLV_OK;
}
