#include "run/execution.h"

#include <string.h>
#include <unistd.h>

#include "run/resident_memory.h"

/* -- opening -- */

static clv_status make_arrays(clr_execution *x, clv_error *err)
{
    int32_t n = x->program->n_models;

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
        const char *device = clr_program_device(x->program, i, x->options->copy);
        bool by_device = x->program->concurrent || clr_program_copies(x->program) > 1;
        x->names[i] = device && by_device ? device : x->program->models[i].file;
    }
    return CLV_OK;
}

/* Devices and copies that run at once share the machine. */
static int threads_each(const clr_execution *x)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long n = x->program->concurrent ? x->program->n_models : 1;
    bool shared = x->program->concurrent || x->options->beside > 1;

    if (x->options->beside > 1)
        n *= x->options->beside;
    if (x->options->threads > 0 || !shared || cores < 1)
        return x->options->threads;
    return cores > n ? (int)(cores / n) : 1;
}

/* The runtime puts operators into an order that depends on the form of the graph alone, so devices
 * with equal graphs come to collectives in the same order. An optimisation that finds something in
 * one device's graph and not in another's can change that, so there is none unless it is
 * asked for; a deadlock is found and named. */
static clr_opt_level concurrent_level(const clr_execution_options *o)
{
    return o->level_given ? o->level : CLR_OPT_NONE;
}

static bool takes_part(const clr_program *program, int32_t model)
{
    for (int32_t i = 0; i < program->n_collectives; i++) {
        const clr_collective *c = &program->collectives[i];
        for (int32_t k = 0; k < c->starts[c->n_groups]; k++)
            if (c->members[k] == model)
                return true;
    }
    return false;
}

static clv_status open_model(clr_execution *x, int32_t i, clv_error *err)
{
    const clr_program_model *m = &x->program->models[i];
    clr_session_options o = { .threads = threads_each(x), .level = x->options->level };

    if (m->empty)
        return CLV_OK;
    if (x->program->concurrent) {
        CLV_TRY(
            clr_collective_ops_new(x->ort, x->program, i, x->rendezvous, &x->collectives[i], err));
        o.communicates = true;
        o.level = concurrent_level(x->options);
        /* Beyond "basic" the runtime makes operators of com.microsoft, and does not find its own
         * where a model without any comes with a domain of that name. */
        if (o.level <= CLR_OPT_BASIC || takes_part(x->program, i))
            o.domains = clr_collective_ops_domains(x->collectives[i], &o.n_domains);
    }
    if (x->options->profile) {
        o.profile = clv_arena_printf(x->arena, "%s/%d", x->options->profile, (int)i);
        if (!o.profile)
            return clv_fail_nomem(err, "a path");
    }
    int64_t before_bytes = clr_resident_begin(&x->peak_bytes);
    CLV_TRY(clr_session_open(x->ort, m->path, &o, x->arena, &x->sessions[i], err));
    clr_resident after = clr_resident_end(&x->peak_bytes);
    if (before_bytes)
        x->memory[i] = (clr_model_memory){ .loaded_bytes = after.now_bytes - before_bytes,
                                           .load_peak_bytes = after.peak_bytes - before_bytes };
    for (int k = 0; k < CLR_RUNS_KEPT; k++)
        if (!(x->made[k][i] = CLV_NEW_ARRAY(x->arena, OrtValue *, x->sessions[i].outputs.n)))
            return clv_fail_nomem(err, "outputs");
    return clr_ort_check(x->ort, x->ort->api->CreateRunOptions(&x->run_options[i]), "a run", err);
}

/* -- is the manifest the one that the models were lowered with? -- */

#define ROUTES_KEY "cleave.routes" /* of a model's metadata */

static clv_status check_model_routes(const clr_execution *x, int32_t i, clv_error *err)
{
    const clr_program *p = x->program;
    const char *said = NULL;

    CLV_TRY(clr_session_metadata(&x->sessions[i], ROUTES_KEY, x->arena, &said, err));
    if (!said && p->version < 2)
        return CLV_OK;
    if (!said)
        return clv_fail(err, CLV_EFORMAT,
                        "%s says of no manifest that it was lowered with it, expected '%s' of its "
                        "metadata to be %s",
                        p->models[i].file, ROUTES_KEY, p->routes);
    size_t n = strlen(p->routes);
    if (strncmp(said, p->routes, n) != 0 || (said[n] != '\0' && said[n] != ' '))
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest was changed: the checksum of what it says of models, their "
                        "inputs and outputs is %s, expected %.32s, with which %s was lowered; "
                        "lower the plan again",
                        p->routes, said, p->models[i].file);
    /* folders of older programs have no name there */
    return said[n] == '\0' || strcmp(said + n + 1, p->models[i].file) == 0
               ? CLV_OK
               : clv_fail(err, CLV_EFORMAT,
                          "%s was lowered as %.100s, expected the file of that name: the two were "
                          "exchanged",
                          p->models[i].file, said + n + 1);
}

static clv_status check_routes(const clr_execution *x, clv_error *err)
{
    const clr_program *p = x->program;

    if (!p->folder)
        return CLV_OK;
    if (p->changed)
        return clv_fail(err, CLV_EFORMAT, "%s", p->changed);
    for (int32_t i = 0; i < p->n_models; i++)
        if (!p->models[i].empty)
            CLV_TRY(check_model_routes(x, i, err));
    return CLV_OK;
}

clv_status clr_execution_open(const clr_ort *ort, clr_program *program,
                              const clr_execution_options *options, clv_arena *arena,
                              clr_execution *ret, clv_error *err)
{
    *ret = (clr_execution){
        .ort = ort, .program = program, .options = options, .arena = arena, .measures_memory = true
    };
    CLV_TRY(make_arrays(ret, err));
    CLV_TRY(clr_rendezvous_new(ret->names, program->n_models, options->timeout_s, &ret->rendezvous,
                               err));
    clr_rendezvous_share_cores(ret->rendezvous, options->beside);
    for (int32_t i = 0; i < program->n_models; i++)
        CLV_TRY(open_model(ret, i, err));
    CLV_TRY(clr_program_connect(program, ret->sessions, arena, err));
    return check_routes(ret, err);
}

void clr_execution_close(clr_execution *x)
{
    if (!x->program || !x->times)
        return;
    for (int32_t i = 0; i < x->program->n_models; i++) {
        for (int k = 0; k < CLR_RUNS_KEPT; k++)
            clr_values_free(x->ort, x->made[k][i], x->sessions[i].outputs.n);
        clr_session_close(&x->sessions[i]);
        clr_collective_ops_free(x->collectives[i]);
        if (x->run_options[i])
            x->ort->api->ReleaseRunOptions(x->run_options[i]);
    }
    clr_rendezvous_free(x->rendezvous);
    *x = (clr_execution){ 0 };
}

/* -- outputs -- */

OrtValue *clr_execution_made(const clr_execution *x, int32_t run, int32_t model, const char *name)
{
    return x->made[run % CLR_RUNS_KEPT][model][clr_find_port(&x->sessions[model].outputs, name)];
}

static clv_status assemble_pieces(clr_execution *x, const clr_program_tensor *output,
                                  clv_arena *arena, OrtValue **ret, clv_error *err)
{
    clr_sliced_value *pieces = CLV_NEW_ARRAY(arena, clr_sliced_value, output->n_pieces);
    clr_assembly a = { output->name, output->shape, pieces, output->n_pieces };
    clr_shape first;

    if (!pieces)
        return clv_fail_nomem(err, "an output");
    for (int32_t k = 0; k < a.n; k++) {
        const clr_piece *piece = &output->pieces[k];
        pieces[k] =
            (clr_sliced_value){ &piece->slice,
                                clr_execution_made(x, x->last_slot, piece->model, piece->name) };
    }
    CLV_TRY(clr_tensor_shape(x->ort, pieces[0].value, &first, err));
    if (!output->has_dims)
        return clv_fail(err, CLV_EFORMAT, "the manifest: output '%s' has pieces but says no dims",
                        output->name);
    if (a.shape.dtype == 0)
        a.shape.dtype = first.dtype;
    return clr_slices_assemble(x->ort, &a, ret, err);
}

clv_status clr_execution_output(clr_execution *x, int32_t i, const OrtValue **ret,
                                OrtValue **ret_own, clv_error *err)
{
    const clr_program_tensor *output = &x->program->outputs[i];
    const clr_piece *piece = &output->pieces[0];

    *ret_own = NULL;
    if (output->n_pieces == 1 && piece->slice.whole) {
        *ret = clr_execution_made(x, x->last_slot, piece->model, piece->name);
        return CLV_OK;
    }
    clv_arena *arena = clv_arena_new(NULL, 0);
    if (!arena)
        return clv_fail_nomem(err, "an output");
    clv_status status = assemble_pieces(x, output, arena, ret_own, err);
    clv_arena_free(arena);
    if (status == CLV_OK)
        *ret = *ret_own;
    return status;
}
