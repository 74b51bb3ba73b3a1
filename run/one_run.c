#include "run/one_run.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "run/slice.h"

/* The inputs of a model: borrowed where they are whole, made where they are parts. */
typedef struct {
    const OrtValue **values;
    OrtValue **own;
    int32_t n;
} taken;

static const clr_input_source *take_of(const clr_program_model *m, const char *name)
{
    for (int32_t t = 0; t < m->n_takes; t++)
        if (strcmp(m->takes[t].name, name) == 0)
            return &m->takes[t];
    return NULL; /* connecting has refused that */
}

static const OrtValue *source_of(const clr_execution *x, const clr_input_source *take, int32_t run,
                                 OrtValue *const *inputs)
{
    const clr_program *p = x->program;

    if (take->from == CLR_FROM_PROGRAM) {
        for (int32_t i = 0; i < p->n_inputs; i++)
            if (strcmp(p->inputs[i].name, take->tensor) == 0)
                return inputs[i];
        return NULL;
    }
    const clr_session *s = &x->sessions[take->from];
    OrtValue **made = x->made[run % CLR_RUNS_KEPT][take->from];
    return made[clr_find_port(s->outputs, s->n_outputs, take->tensor)];
}

static clv_status take_inputs(clr_execution *x, int32_t i, int32_t run, OrtValue *const *inputs,
                              taken *t, clv_error *err)
{
    const clr_session *s = &x->sessions[i];

    for (int32_t k = 0; k < s->n_inputs; k++) {
        const clr_input_source *take = take_of(&x->program->members[i], s->inputs[k].name);
        t->values[k] = source_of(x, take, run, inputs);
        if (take->part.whole)
            continue;
        CLV_TRY(
            clr_slice_extract(x->ort, t->values[k], &take->part, take->tensor, &t->own[k], err));
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

static clv_status run_taken(clr_execution *x, int32_t i, int32_t run, OrtValue *const *inputs,
                            taken *t, clv_error *err)
{
    OrtValue **made = x->made[run % CLR_RUNS_KEPT][i];

    CLV_TRY(take_inputs(x, i, run, inputs, t, err));
    clr_values_free(x->ort, made, x->sessions[i].n_outputs);
    double waited = clr_rendezvous_waited_s(x->rendezvous, i),
           spun = clr_rendezvous_spun_s(x->rendezvous, i);
    int64_t start = clv_now_ns(), cpu = thread_cpu_ns();
    clv_status status = clr_session_run(&x->sessions[i], x->run_options[i], t->values, made, err);
    double cpu_s = (double)(thread_cpu_ns() - cpu) * 1e-9;
    spun = clr_rendezvous_spun_s(x->rendezvous, i) - spun;
    x->times[i] = (clr_model_times){ .run_s = clv_seconds_since(start),
                                     .waited_s = clr_rendezvous_waited_s(x->rendezvous, i) - waited,
                                     .cpu_s = cpu_s > spun ? cpu_s - spun : 0 };
    return status;
}

/* An arena for the run: the execution's belongs to another thread. */
clv_status clr_run_once(clr_execution *x, int32_t i, int32_t run, OrtValue *const *inputs,
                        clv_error *err)
{
    if (x->program->members[i].empty)
        return CLV_OK;
    clv_arena *arena = clv_arena_new(NULL, 0);
    int32_t n = x->sessions[i].n_inputs;
    taken t = { .n = n };

    if (arena) {
        t.values = CLV_NEW_ARRAY(arena, const OrtValue *, n);
        t.own = CLV_NEW_ARRAY(arena, OrtValue *, n);
    }
    clv_status status =
        t.values && t.own ? run_taken(x, i, run, inputs, &t, err) : clv_fail_nomem(err, "a run");
    clr_values_free(x->ort, t.own, n);
    clv_arena_free(arena);
    return status;
}
