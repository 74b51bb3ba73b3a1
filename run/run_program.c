/* run_program.c - all models of a program: one after the other, or each on a thread of its own,
 * through which one run follows the other as through a pipeline. */
#include <stdlib.h>

#include <pthread.h>

#include "base/clock.h"
#include "run/one_run.h"
#include "run/resident_memory.h"

/* -- each on a thread of its own -- */

/* One has failed: those that compute stop after their operator. */
static void stop_all(void *ctx)
{
    clr_execution *x = ctx;

    for (int32_t i = 0; i < x->program->n_members; i++) {
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

/* Until what it takes is there, and those who read what is overwritten have done so. */
static clv_status wait_for_others(const device *d, int32_t run, clv_error *err)
{
    const clr_program_model *m = &d->x->program->members[d->i];

    for (int32_t k = 0; k < m->n_takes; k++)
        if (m->takes[k].from != CLR_FROM_PROGRAM)
            CLV_TRY(
                clr_rendezvous_wait_runs(d->x->rendezvous, d->i, m->takes[k].from, run + 1, err));
    for (int32_t k = 0; k < d->n_readers; k++)
        CLV_TRY(clr_rendezvous_wait_runs(d->x->rendezvous, d->i, d->readers[k],
                                         run - (CLR_RUNS_KEPT - 1), err));
    return CLV_OK;
}

static clv_status run_all_of(const device *d, clv_error *err)
{
    for (int32_t run = 0; run < d->runs; run++) {
        CLV_TRY(wait_for_others(d, run, err));
        CLV_TRY(clr_run_once(d->x, d->i, run, d->inputs, err));
        d->end_s[run] = clv_seconds_since(d->start_ns);
        clr_rendezvous_end_run(d->x->rendezvous, d->i);
    }
    return CLV_OK;
}

static void *run_device(void *ctx)
{
    const device *d = ctx;
    clv_error err = { 0 };
    clv_status status = run_all_of(d, &err);

    clr_rendezvous_leave(d->x->rendezvous, d->i, status, &err);
    return NULL;
}

static void run_threads(clr_execution *x, device *devices)
{
    for (int32_t i = 0; i < x->program->n_members; i++) {
        device *d = &devices[i];
        clv_error none;
        d->started = pthread_create(&d->thread, NULL, run_device, d) == 0;
        if (!d->started)
            clr_rendezvous_leave(x->rendezvous, i,
                                 clv_fail(&none, CLV_ELIMIT,
                                          "no thread for device '%s': the system gives "
                                          "no more",
                                          x->names[i]),
                                 &none);
    }
    for (int32_t i = 0; i < x->program->n_members; i++)
        if (devices[i].started)
            pthread_join(devices[i].thread, NULL);
}

/* Each model once among the readers of those that it takes from. O(models + what they take). */
static clv_status find_readers(const clr_program *p, device *devices, clv_arena *arena,
                               clv_error *err)
{
    int32_t *seen = CLV_NEW_ARRAY(arena, int32_t, p->n_members), n_takes = 0, at = 0;

    for (int32_t i = 0; i < p->n_members; i++)
        n_takes += p->members[i].n_takes;
    int32_t *readers = CLV_NEW_ARRAY(arena, int32_t, n_takes);
    if (!seen || !readers)
        return clv_fail_nomem(err, "a run");
    for (int pass = 0; pass < 2; pass++) { /* how many, then who */
        for (int32_t i = 0; i < p->n_members; i++)
            seen[i] = -1;
        for (int32_t i = 0; i < p->n_members; i++)
            for (int32_t k = 0; k < p->members[i].n_takes; k++) {
                int32_t from = p->members[i].takes[k].from;
                if (from == CLR_FROM_PROGRAM || seen[from] == i)
                    continue;
                seen[from] = i;
                if (pass == 1)
                    readers[devices[from].readers - readers + devices[from].n_readers] = i;
                devices[from].n_readers++;
            }
        for (int32_t i = 0; pass == 0 && i < p->n_members; i++) {
            devices[i].readers = readers + at;
            at += devices[i].n_readers;
            devices[i].n_readers = 0;
        }
    }
    return CLV_OK;
}

static clv_status make_devices(clr_execution *x, OrtValue *const *inputs, int32_t runs,
                               clv_arena *arena, device **ret, clv_error *err)
{
    size_t n = (size_t)x->program->n_members;
    device *devices = CLV_NEW_ARRAY(arena, device, n);
    double *end_s = CLV_NEW_ARRAY(arena, double, n *(size_t)runs);
    int64_t start = clv_now_ns();

    if (!devices || !end_s)
        return clv_fail_nomem(err, "a run");
    for (size_t i = 0; i < n; i++)
        devices[i] = (device){ .x = x,
                               .i = (int32_t)i,
                               .inputs = inputs,
                               .runs = runs,
                               .start_ns = start,
                               .end_s = end_s + i * (size_t)runs };
    *ret = devices;
    return find_readers(x->program, devices, arena, err);
}

static clv_status flow(clr_execution *x, OrtValue *const *inputs, int32_t runs, clv_arena *arena,
                       double *ret_end_s, clv_error *err)
{
    device *devices = NULL;

    CLV_TRY(make_devices(x, inputs, runs, arena, &devices, err));
    clr_rendezvous_start(x->rendezvous, stop_all, x);
    run_threads(x, devices);
    CLV_TRY(clr_rendezvous_failure(x->rendezvous, err));
    for (int32_t run = 0; run < runs; run++) {
        ret_end_s[run] = 0;
        for (int32_t i = 0; i < x->program->n_members; i++)
            if (devices[i].end_s[run] > ret_end_s[run])
                ret_end_s[run] = devices[i].end_s[run];
    }
    x->last = (runs - 1) % CLR_RUNS_KEPT;
    (void)clr_resident_end(&x->peak_bytes);
    return CLV_OK;
}

clv_status clr_execution_run_pipelined(clr_execution *x, OrtValue *const *inputs, int32_t runs,
                                       double *ret_end_s, clv_error *err)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_status status =
        arena ? flow(x, inputs, runs, arena, ret_end_s, err) : clv_fail_nomem(err, "a run");

    clv_arena_free(arena);
    return status;
}

/* -- one after the other -- */

static clv_status run_in_order(clr_execution *x, OrtValue *const *inputs, double *ret_s,
                               clv_error *err)
{
    int64_t start = clv_now_ns();

    for (int32_t i = 0; i < x->program->n_members; i++) {
        int64_t before = x->looks ? clr_resident_begin(&x->peak_bytes) : 0;
        CLV_TRY(clr_run_once(x, i, 0, inputs, err));
        int64_t most = x->looks ? clr_resident_end(&x->peak_bytes).most - before : 0;
        if (before && most > x->memory[i].run_most)
            x->memory[i].run_most = most;
    }
    *ret_s = clv_seconds_since(start);
    x->looks = false; /* later runs find the memory of this one */
    x->last = 0;
    return CLV_OK;
}

clv_status clr_execution_run(clr_execution *x, OrtValue *const *inputs, double *ret_s,
                             clv_error *err)
{
    return x->program->at_once ? clr_execution_run_pipelined(x, inputs, 1, ret_s, err)
                               : run_in_order(x, inputs, ret_s, err);
}
