#include "run/execution.h"

#include <string.h>
#include <unistd.h>

#include "run/resident_memory.h"
#include "run/slice.h"

/* -- opening -- */

static clv_status make_arrays(clr_execution *x, clv_error *err)
{
    int32_t n = x->program->n_members;

    x->sessions = CLV_NEW_ARRAY(x->arena, clr_session, n);
    x->collectives = CLV_NEW_ARRAY(x->arena, clr_collective_ops *, n);
    x->names = CLV_NEW_ARRAY(x->arena, const char *, n);
    for (int k = 0; k < CLR_RUNS_KEPT; k++)
        if (!(x->made[k] = CLV_NEW_ARRAY(x->arena, OrtValue **, n)))
            return clv_fail_nomem(err, "a program");
    x->run_options = CLV_NEW_ARRAY(x->arena, OrtRunOptions *, n);
    x->times = CLV_NEW_ARRAY(x->arena, clr_model_times, n);
    x->memory = CLV_NEW_ARRAY(x->arena, clr_model_memory, n);
    if (!x->sessions || !x->collectives || !x->names || !x->run_options || !x->times || !x->memory)
        return clv_fail_nomem(err, "a program");
    for (int32_t i = 0; i < n; i++) {
        const clr_program_model *m = &x->program->members[i];
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
static clr_opt_level level_at_once(const clr_execution_options *o)
{
    if (!o->level_given)
        return CLR_OPT_NONE;
    return o->level > CLR_OPT_BASIC ? CLR_OPT_BASIC : o->level;
}

static clv_status open_one(clr_execution *x, int32_t i, clv_error *err)
{
    clr_session_options o = { .threads = threads_each(x), .level = x->options->level };

    if (x->program->members[i].empty)
        return CLV_OK;
    if (x->program->at_once) {
        CLV_TRY(
            clr_collective_ops_new(x->ort, x->program, i, x->rendezvous, &x->collectives[i], err));
        o.domains = clr_collective_ops_domains(x->collectives[i], &o.n_domains);
        o.communicates = true;
        o.level = level_at_once(x->options);
    }
    if (x->options->profile) {
        o.profile = clv_arena_printf(x->arena, "%s/%d", x->options->profile, (int)i);
        if (!o.profile)
            return clv_fail_nomem(err, "a path");
    }
    int64_t before = clr_resident_begin(&x->peak_bytes);
    CLV_TRY(
        clr_session_open(x->ort, x->program->members[i].path, &o, x->arena, &x->sessions[i], err));
    clr_resident after = clr_resident_end(&x->peak_bytes);
    if (before)
        x->memory[i] = (clr_model_memory){ after.now - before, after.most - before, 0 };
    for (int k = 0; k < CLR_RUNS_KEPT; k++)
        if (!(x->made[k][i] = CLV_NEW_ARRAY(x->arena, OrtValue *, x->sessions[i].n_outputs)))
            return clv_fail_nomem(err, "outputs");
    return clr_ort_check(x->ort, x->ort->api->CreateRunOptions(&x->run_options[i]), "a run", err);
}

clv_status clr_execution_open(const clr_ort *ort, clr_program *program,
                              const clr_execution_options *options, clv_arena *arena,
                              clr_execution *ret, clv_error *err)
{
    *ret = (clr_execution){
        .ort = ort, .program = program, .options = options, .arena = arena, .looks = true
    };
    CLV_TRY(make_arrays(ret, err));
    CLV_TRY(clr_rendezvous_new(ret->names, program->n_members, options->timeout_s, &ret->rendezvous,
                               err));
    for (int32_t i = 0; i < program->n_members; i++)
        CLV_TRY(open_one(ret, i, err));
    return clr_program_connect(program, ret->sessions, arena, err);
}

void clr_execution_close(clr_execution *x)
{
    if (!x->program || !x->times)
        return;
    for (int32_t i = 0; i < x->program->n_members; i++) {
        for (int k = 0; k < CLR_RUNS_KEPT; k++)
            clr_values_free(x->ort, x->made[k][i], x->sessions[i].n_outputs);
        clr_session_close(&x->sessions[i]);
        clr_collective_ops_free(x->collectives[i]);
        if (x->run_options[i])
            x->ort->api->ReleaseRunOptions(x->run_options[i]);
    }
    clr_rendezvous_free(x->rendezvous);
    *x = (clr_execution){ 0 };
}

/* -- outputs -- */

static const OrtValue *value_of_piece(const clr_execution *x, const clr_piece *piece)
{
    const clr_session *s = &x->sessions[piece->model];

    return x->made[x->last][piece->model][clr_find_port(s->outputs, s->n_outputs, piece->name)];
}

static clv_status join_pieces(clr_execution *x, const clr_program_tensor *output, clv_arena *arena,
                              OrtValue **ret, clv_error *err)
{
    int32_t n = output->n_pieces;
    const clr_slice **parts = CLV_NEW_ARRAY(arena, const clr_slice *, n);
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
    return clr_slices_assemble(x->ort, &shape, parts, values, n, output->name, ret, err);
}

clv_status clr_execution_output(clr_execution *x, int32_t i, const OrtValue **ret,
                                OrtValue **ret_own, clv_error *err)
{
    const clr_program_tensor *output = &x->program->outputs[i];

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
