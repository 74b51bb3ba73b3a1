#include "run/execute.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pthread.h>

#include "base/clock.h"
#include "run/memory.h"
#include "run/parts.h"

/* -- opening -- */

static clv_status make_arrays(clr_execution *x, clv_error *err)
{
    int32_t n = x->program->n_members;

    x->sessions = CLV_NEW_ARRAY(x->arena, clr_session, n);
    x->collectives = CLV_NEW_ARRAY(x->arena, clr_collectives *, n);
    x->names = CLV_NEW_ARRAY(x->arena, const char *, n);
    x->made = CLV_NEW_ARRAY(x->arena, OrtValue **, n);
    x->run_options = CLV_NEW_ARRAY(x->arena, OrtRunOptions *, n);
    x->times = CLV_NEW_ARRAY(x->arena, clr_times, n);
    x->memory = CLV_NEW_ARRAY(x->arena, clr_model_memory, n);
    if (!x->sessions || !x->collectives || !x->names || !x->made || !x->run_options || !x->times ||
        !x->memory)
        return clv_fail_nomem(err, "a program");
    for (int32_t i = 0; i < n; i++) {
        const clr_member *m = &x->program->members[i];
        x->names[i] = m->device && x->program->at_once ? m->device : m->file;
    }
    return CLV_OK;
}

/* Devices that run at once share the machine. */
static int threads_each(const clr_execution *x)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int32_t n = x->program->n_members;

    if (x->options->threads > 0 || !x->program->at_once || cores < 1)
        return x->options->threads;
    return cores > n ? (int)(cores / n) : 1;
}

/* The runtime puts operators into an order that depends on the form of the graph alone, so devices
 * with equal graphs come to collectives in the same order. An optimisation that finds something in
 * one device's graph and not in another's can change that; beyond "basic" it surely may. */
static clr_opt_level level_at_once(const clr_run_options *o)
{
    if (!o->level_given)
        return CLR_OPT_NONE;
    return o->level > CLR_OPT_BASIC ? CLR_OPT_BASIC : o->level;
}

/* What the process held before something, to be told from what it held at most while it lasted. */
static int64_t start_looking(clr_execution *x)
{
    clr_memory m = clr_memory_look();

    if (m.most > x->peak_bytes)
        x->peak_bytes = m.most;
    return clr_memory_restart() ? clr_memory_look().now : 0;
}

static clr_memory stop_looking(clr_execution *x)
{
    clr_memory m = clr_memory_look();

    if (m.most > x->peak_bytes)
        x->peak_bytes = m.most;
    return m;
}

static clv_status open_one(clr_execution *x, int32_t i, clv_error *err)
{
    clr_session_options o = { .threads = threads_each(x), .level = x->options->level };

    if (x->program->at_once) {
        CLV_TRY(clr_collectives_new(x->ort, x->program, i, x->meet, &x->collectives[i], err));
        o.domains = clr_collectives_domains(x->collectives[i], &o.n_domains);
        o.communicates = true;
        o.level = level_at_once(x->options);
    }
    if (x->options->profile) {
        o.profile = clv_arena_printf(x->arena, "%s/%d", x->options->profile, (int)i);
        if (!o.profile)
            return clv_fail_nomem(err, "a path");
    }
    int64_t before = start_looking(x);
    CLV_TRY(
        clr_session_open(x->ort, x->program->members[i].path, &o, x->arena, &x->sessions[i], err));
    clr_memory after = stop_looking(x);
    if (before)
        x->memory[i] = (clr_model_memory){ after.now - before, after.most - before, 0 };
    x->made[i] = CLV_NEW_ARRAY(x->arena, OrtValue *, x->sessions[i].n_outputs);
    if (!x->made[i])
        return clv_fail_nomem(err, "outputs");
    return clr_ort_check(x->ort, x->ort->api->CreateRunOptions(&x->run_options[i]), "a run", err);
}

clv_status clr_execution_open(const clr_ort *ort, clr_program *program,
                              const clr_run_options *options, clv_arena *arena, clr_execution *ret,
                              clv_error *err)
{
    *ret = (clr_execution){
        .ort = ort, .program = program, .options = options, .arena = arena, .looks = true
    };
    CLV_TRY(make_arrays(ret, err));
    CLV_TRY(clr_meet_new(ret->names, program->n_members, options->timeout_s, &ret->meet, err));
    for (int32_t i = 0; i < program->n_members; i++)
        CLV_TRY(open_one(ret, i, err));
    return clr_program_connect(program, ret->sessions, arena, err);
}

static void forget_made(clr_execution *x)
{
    for (int32_t i = 0; i < x->program->n_members; i++)
        for (int32_t k = 0; x->made[i] && k < x->sessions[i].n_outputs; k++) {
            clr_value_free(x->ort, x->made[i][k]);
            x->made[i][k] = NULL;
        }
}

void clr_execution_close(clr_execution *x)
{
    if (!x->program || !x->times)
        return;
    forget_made(x);
    for (int32_t i = 0; i < x->program->n_members; i++) {
        clr_session_close(&x->sessions[i]);
        clr_collectives_free(x->collectives[i]);
        if (x->run_options[i])
            x->ort->api->ReleaseRunOptions(x->run_options[i]);
    }
    clr_meet_free(x->meet);
    *x = (clr_execution){ 0 };
}

/* -- one model -- */

/* Its inputs: borrowed where they are whole, made where they are parts. */
typedef struct {
    const OrtValue **values;
    OrtValue **own;
    int32_t n;
} taken;

static const clr_take *take_of(const clr_member *m, const char *name)
{
    for (int32_t t = 0; t < m->n_takes; t++)
        if (strcmp(m->takes[t].name, name) == 0)
            return &m->takes[t];
    return NULL; /* connecting has refused that */
}

static const OrtValue *source_of(const clr_execution *x, const clr_take *take,
                                 OrtValue *const *inputs)
{
    const clr_program *p = x->program;

    if (take->from == CLR_FROM_MODEL) {
        for (int32_t i = 0; i < p->n_inputs; i++)
            if (strcmp(p->inputs[i].name, take->tensor) == 0)
                return inputs[i];
        return NULL;
    }
    const clr_session *s = &x->sessions[take->from];
    return x->made[take->from][clr_find_port(s->outputs, s->n_outputs, take->tensor)];
}

static clv_status take_inputs(clr_execution *x, int32_t i, OrtValue *const *inputs, taken *t,
                              clv_error *err)
{
    const clr_session *s = &x->sessions[i];

    for (int32_t k = 0; k < s->n_inputs; k++) {
        const clr_take *take = take_of(&x->program->members[i], s->inputs[k].name);
        if (take->from != CLR_FROM_MODEL && x->program->at_once)
            CLV_TRY(clr_meet_wait_end(x->meet, i, take->from, err));
        t->values[k] = source_of(x, take, inputs);
        if (take->part.whole)
            continue;
        CLV_TRY(clr_part_cut(x->ort, t->values[k], &take->part, take->tensor, &t->own[k], err));
        t->values[k] = t->own[k];
    }
    return CLV_OK;
}

/* 0 where the system does not tell. */
static int64_t thread_cpu_ns(void)
{
    struct timespec t;

    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0
               ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec
               : 0;
}

static clv_status run_taken(clr_execution *x, int32_t i, OrtValue *const *inputs, taken *t,
                            clv_error *err)
{
    CLV_TRY(take_inputs(x, i, inputs, t, err));
    double before = clr_meet_waited_s(x->meet, i);
    int64_t start = clv_now_ns(), cpu = thread_cpu_ns();
    clv_status status =
        clr_session_run(&x->sessions[i], x->run_options[i], t->values, x->made[i], err);
    x->times[i] = (clr_times){ clv_seconds_since(start), clr_meet_waited_s(x->meet, i) - before,
                               (double)(thread_cpu_ns() - cpu) * 1e-9 };
    return status;
}

/* An arena for the run: the execution's belongs to another thread. */
static clv_status run_one(clr_execution *x, int32_t i, OrtValue *const *inputs, clv_error *err)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    int32_t n = x->sessions[i].n_inputs;
    taken t = { .n = n };

    if (arena) {
        t.values = CLV_NEW_ARRAY(arena, const OrtValue *, n);
        t.own = CLV_NEW_ARRAY(arena, OrtValue *, n);
    }
    clv_status status =
        t.values && t.own ? run_taken(x, i, inputs, &t, err) : clv_fail_nomem(err, "a run");
    for (int32_t k = 0; t.own && k < n; k++)
        clr_value_free(x->ort, t.own[k]);
    clv_arena_free(arena);
    return status;
}

/* -- all models -- */

/* One has failed: those that compute stop after their operator. */
static void stop_all(void *ctx)
{
    clr_execution *x = ctx;

    for (int32_t i = 0; i < x->program->n_members; i++) {
        OrtStatus *status = x->ort->api->RunOptionsSetTerminate(x->run_options[i]);
        if (status)
            x->ort->api->ReleaseStatus(status);
    }
}

typedef struct {
    clr_execution *x;
    int32_t i;
    OrtValue *const *inputs;
    pthread_t thread;
    bool started;
} device;

static void *run_device(void *ctx)
{
    device *d = ctx;
    clv_error err = { 0 };
    clv_status status = run_one(d->x, d->i, d->inputs, &err);

    clr_meet_end(d->x->meet, d->i, status, &err);
    return NULL;
}

static clv_status run_at_once(clr_execution *x, OrtValue *const *inputs, device *devices,
                              clv_error *err)
{
    clr_meet_start(x->meet, stop_all, x);
    for (int32_t i = 0; i < x->program->n_members; i++) {
        clv_error none;
        devices[i] = (device){ .x = x, .i = i, .inputs = inputs };
        devices[i].started = pthread_create(&devices[i].thread, NULL, run_device, &devices[i]) == 0;
        if (!devices[i].started)
            clr_meet_end(x->meet, i,
                         clv_fail(&none, CLV_ELIMIT,
                                  "no thread for device '%s': the system gives "
                                  "no more",
                                  x->names[i]),
                         &none);
    }
    for (int32_t i = 0; i < x->program->n_members; i++)
        if (devices[i].started)
            pthread_join(devices[i].thread, NULL);
    return clr_meet_why(x->meet, err);
}

static clv_status run_in_order(clr_execution *x, OrtValue *const *inputs, clv_error *err)
{
    for (int32_t i = 0; i < x->program->n_members; i++) {
        int64_t before = x->looks ? start_looking(x) : 0;
        CLV_TRY(run_one(x, i, inputs, err));
        int64_t most = x->looks ? stop_looking(x).most - before : 0;
        if (before && most > x->memory[i].run_most)
            x->memory[i].run_most = most;
    }
    x->looks = false; /* later runs find the memory of this one */
    return CLV_OK;
}

clv_status clr_execution_run(clr_execution *x, OrtValue *const *inputs, double *ret_s,
                             clv_error *err)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    device *devices = arena ? CLV_NEW_ARRAY(arena, device, x->program->n_members) : NULL;
    clv_status status;

    if (!devices) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a run");
    }
    forget_made(x);
    int64_t start = clv_now_ns();
    status =
        x->program->at_once ? run_at_once(x, inputs, devices, err) : run_in_order(x, inputs, err);
    *ret_s = clv_seconds_since(start);
    if (x->program->at_once)
        stop_looking(x);
    clv_arena_free(arena);
    return status;
}

/* -- outputs -- */

static const OrtValue *value_of_piece(const clr_execution *x, const clr_piece *piece)
{
    const clr_session *s = &x->sessions[piece->model];

    return x->made[piece->model][clr_find_port(s->outputs, s->n_outputs, piece->name)];
}

static clv_status join_pieces(clr_execution *x, const clr_tensor_of *output, clv_arena *arena,
                              OrtValue **ret, clv_error *err)
{
    int32_t n = output->n_pieces;
    const clr_part **parts = CLV_NEW_ARRAY(arena, const clr_part *, n);
    const OrtValue **values = CLV_NEW_ARRAY(arena, const OrtValue *, n);
    clr_shape shape = output->shape, first;

    if (!parts || !values)
        return clv_fail_nomem(err, "an output");
    for (int32_t k = 0; k < n; k++) {
        parts[k] = &output->pieces[k].part;
        values[k] = value_of_piece(x, &output->pieces[k]);
    }
    CLV_TRY(clr_tensor_shape(x->ort, values[0], &first, err));
    if (!output->has_dims)
        return clv_fail(err, CLV_EFORMAT, "the manifest: output '%s' has pieces but says no dims",
                        output->name);
    if (shape.dtype == 0)
        shape.dtype = first.dtype;
    return clr_parts_join(x->ort, &shape, parts, values, n, output->name, ret, err);
}

clv_status clr_execution_output(clr_execution *x, int32_t i, const OrtValue **ret,
                                OrtValue **ret_own, clv_error *err)
{
    const clr_tensor_of *output = &x->program->outputs[i];

    *ret_own = NULL;
    if (output->n_pieces == 1 && output->pieces[0].part.whole) {
        *ret = value_of_piece(x, &output->pieces[0]);
        return CLV_OK;
    }
    clv_arena *arena = clv_arena_new(NULL, 0);
    if (!arena)
        return clv_fail_nomem(err, "an output");
    clv_status status = join_pieces(x, output, arena, ret_own, err);
    clv_arena_free(arena);
    if (status == CLV_OK)
        *ret = *ret_own;
    return status;
}
