#include "run/program.h"

#include <inttypes.h>
#include <string.h>

#include "base/map.h"

clv_status clr_program_from_paths(const char *const *paths, int32_t n, clv_arena *arena,
                                  clr_program *ret, clv_error *err)
{
    clr_program p = { .form = n == 1 ? "model" : "chain", .n_models = n };

    p.models = CLV_NEW_ARRAY(arena, clr_program_model, n);
    if (!p.models)
        return clv_fail_nomem(err, "a program");
    for (int32_t i = 0; i < n; i++)
        p.models[i] = (clr_program_model){ .file = paths[i], .path = paths[i], .stage = -1 };
    *ret = p;
    return CLV_OK;
}

/* -- a program of paths: by names -- */

typedef struct {
    clr_program *p;
    const clr_session *sessions;
    clv_arena *arena;
    clv_map made;     /* name of an output -> the model that made it last */
    clv_map is_input; /* names of the inputs of the whole */
    clv_map read;     /* outputs that a later model takes */
} chain;

static clv_status connect_inputs(chain *c, int32_t i, clv_error *err)
{
    const clr_session *s = &c->sessions[i];
    clr_program_model *m = &c->p->models[i];

    m->sources = CLV_NEW_ARRAY(c->arena, clr_input_source, s->inputs.n);
    if (!m->sources)
        return clv_fail_nomem(err, "a program");
    m->n_sources = s->inputs.n;
    for (int32_t k = 0; k < s->inputs.n; k++) {
        const char *name = s->inputs.names[k];
        int32_t from = clv_map_get(&c->made, clv_str_of(name)), id = c->p->n_inputs;
        m->sources[k] = (clr_input_source){ name, from, name, { .whole = true } };
        if (from >= 0) {
            CLV_TRY(clv_map_put(&c->read, clv_str_of(name), 0, &id, err));
            continue;
        }
        CLV_TRY(clv_map_put(&c->is_input, clv_str_of(name), c->p->n_inputs, &id, err));
        if (id == c->p->n_inputs)
            c->p->inputs[c->p->n_inputs++] = (clr_program_tensor){ .name = name };
    }
    return CLV_OK;
}

static clv_status add_made(chain *c, int32_t i, clv_error *err)
{
    const clr_ports *outputs = &c->sessions[i].outputs;
    int32_t id = 0;

    for (int32_t k = 0; k < outputs->n; k++) {
        CLV_TRY(clv_map_put(&c->made, clv_str_of(outputs->names[k]), i, &id, err));
        if (id != i)
            return clv_fail(err, CLV_EFORMAT, "%s and %s both make '%s', expected one",
                            c->p->models[id].path, c->p->models[i].path, outputs->names[k]);
    }
    return CLV_OK;
}

/* What no later model takes; all outputs of the last one. */
static clv_status list_outputs(chain *c, int32_t i, clv_error *err)
{
    const clr_ports *outputs = &c->sessions[i].outputs;

    for (int32_t k = 0; k < outputs->n; k++) {
        const char *name = outputs->names[k];
        if (i + 1 < c->p->n_models && clv_map_get(&c->read, clv_str_of(name)) >= 0)
            continue;
        clr_piece *piece = CLV_NEW(c->arena, clr_piece);
        if (!piece)
            return clv_fail_nomem(err, "a program");
        *piece = (clr_piece){ i, name, { .whole = true } };
        c->p->outputs[c->p->n_outputs++] =
            (clr_program_tensor){ .name = name, .pieces = piece, .n_pieces = 1 };
    }
    return CLV_OK;
}

static clv_status connect_by_names(clr_program *p, const clr_session *sessions, clv_arena *arena,
                                   clv_error *err)
{
    chain c = { .p = p, .sessions = sessions, .arena = arena };
    int32_t n_in = 0, n_out = 0;

    for (int32_t i = 0; i < p->n_models; i++) {
        n_in += sessions[i].inputs.n;
        n_out += sessions[i].outputs.n;
    }
    p->inputs = CLV_NEW_ARRAY(arena, clr_program_tensor, n_in);
    p->outputs = CLV_NEW_ARRAY(arena, clr_program_tensor, n_out);
    if (!p->inputs || !p->outputs)
        return clv_fail_nomem(err, "a program");
    CLV_TRY(clv_map_init(&c.made, arena, n_out, err));
    CLV_TRY(clv_map_init(&c.is_input, arena, n_in, err));
    CLV_TRY(clv_map_init(&c.read, arena, n_in, err));
    for (int32_t i = 0; i < p->n_models; i++) {
        CLV_TRY(connect_inputs(&c, i, err));
        CLV_TRY(add_made(&c, i, err));
    }
    for (int32_t i = 0; i < p->n_models; i++)
        CLV_TRY(list_outputs(&c, i, err));
    return CLV_OK;
}

/* -- a manifest: is it about these models? -- */

/* A part of an input of the program, beside what the model takes. */
static clv_status check_part(const clr_program *p, const clr_program_model *m,
                             const clr_input_source *source, const clr_port *port, clv_error *err)
{
    const clr_program_tensor *whole = &p->inputs[clr_program_find_input(p, source->tensor)];
    clr_shape own, takes = port->shape;
    char is[200], expected[200];

    if (!whole->has_dims || port->kind != ONNX_TYPE_TENSOR)
        return CLV_OK;
    CLV_TRY(clr_slice_shape(&source->slice, &whole->shape, source->tensor, &own, err));
    bool same = own.rank == takes.rank;
    for (int32_t d = 0; same && d < own.rank; d++)
        same = takes.dims[d] < 0 || takes.dims[d] == own.dims[d];
    if (same)
        return CLV_OK;
    return clv_fail(err, CLV_EFORMAT,
                    "%s: the manifest gives it %s of '%s', expected %s, as the file says", m->file,
                    clr_shape_text(is, sizeof is, &own), source->tensor,
                    clr_shape_text(expected, sizeof expected, &takes));
}

static clv_status check_source(const clr_program *p, const clr_session *sessions, int32_t i,
                               const clr_input_source *source, clv_error *err)
{
    const clr_program_model *m = &p->models[i];

    int32_t port = clr_find_port(&sessions[i].inputs, source->name);
    if (port < 0)
        return clv_fail(err, CLV_EFORMAT, "%s has no input '%s', which the manifest speaks of",
                        m->file, source->name);
    if (source->from == CLR_FROM_PROGRAM)
        return clr_program_find_input(p, source->tensor) >= 0
                   ? check_part(p, m, source, &sessions[i].inputs.at[port], err)
                   : clv_fail(err, CLV_EFORMAT,
                              "the manifest: %s takes '%s' of the model, which has no such input",
                              m->file, source->tensor);
    if (source->from >= p->n_models || source->from == i)
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest: %s takes '%s' from model %" PRId32
                        ", expected another of %" PRId32,
                        m->file, source->tensor, source->from, p->n_models);
    if (clr_find_port(&sessions[source->from].outputs, source->tensor) < 0)
        return clv_fail(err, CLV_EFORMAT, "%s has no output '%s', which the manifest speaks of",
                        p->models[source->from].file, source->tensor);
    if (!p->concurrent && source->from > i)
        return clv_fail(err, CLV_EFORMAT, "the manifest: %s takes '%s' of a model behind it",
                        m->file, source->tensor);
    return CLV_OK;
}

static clv_status check_model(const clr_program *p, const clr_session *sessions, int32_t i,
                              clv_error *err)
{
    const clr_program_model *m = &p->models[i];
    const clr_ports *inputs = &sessions[i].inputs;

    for (int32_t k = 0; k < m->n_sources; k++)
        CLV_TRY(check_source(p, sessions, i, &m->sources[k], err));
    for (int32_t k = 0; k < inputs->n; k++) {
        bool found = false;
        for (int32_t t = 0; t < m->n_sources; t++)
            found = found || strcmp(m->sources[t].name, inputs->names[k]) == 0;
        if (!found)
            return clv_fail(err, CLV_EFORMAT, "the manifest says not where %s takes '%s' from",
                            m->file, inputs->names[k]);
    }
    return CLV_OK;
}

static clv_status check_cover(const clr_program_tensor *output, clv_arena *arena, clv_error *err)
{
    clr_sliced_value *pieces = CLV_NEW_ARRAY(arena, clr_sliced_value, output->n_pieces);
    const clr_assembly a = { output->name, output->shape, pieces, output->n_pieces };

    if (!pieces)
        return clv_fail_nomem(err, "an output");
    for (int32_t k = 0; k < a.n; k++)
        pieces[k].slice = &output->pieces[k].slice;
    return output->has_dims ? clr_slices_check(&a, err) : CLV_OK;
}

static clv_status check_output(const clr_program *p, const clr_session *sessions,
                               const clr_program_tensor *output, clv_error *err)
{
    if (output->n_pieces == 0)
        return clv_fail(err, CLV_EFORMAT, "the manifest: output '%s' has no pieces", output->name);
    for (int32_t k = 0; k < output->n_pieces; k++) {
        const clr_piece *piece = &output->pieces[k];
        if (piece->model >= p->n_models)
            return clv_fail(err, CLV_EFORMAT,
                            "the manifest: output '%s' has a piece of model %" PRId32
                            ", but there are %" PRId32,
                            output->name, piece->model, p->n_models);
        if (clr_find_port(&sessions[piece->model].outputs, piece->name) < 0)
            return clv_fail(err, CLV_EFORMAT, "%s has no output '%s', which the manifest speaks of",
                            p->models[piece->model].file, piece->name);
    }
    return CLV_OK;
}

static clv_status check_manifest(const clr_program *p, const clr_session *sessions,
                                 clv_arena *arena, clv_error *err)
{
    for (int32_t i = 0; i < p->n_models; i++)
        CLV_TRY(check_model(p, sessions, i, err));
    for (int32_t i = 0; i < p->n_outputs; i++) {
        CLV_TRY(check_output(p, sessions, &p->outputs[i], err));
        CLV_TRY(check_cover(&p->outputs[i], arena, err));
    }
    for (int32_t i = 0; i < p->n_collectives; i++) {
        const clr_collective *c = &p->collectives[i];
        for (int32_t k = 0; k < c->starts[c->n_groups]; k++)
            if (c->members[k] >= p->n_models)
                return clv_fail(err, CLV_EFORMAT,
                                "the manifest: '%s' has member %" PRId32 ", but there are %" PRId32
                                " models",
                                c->node, c->members[k], p->n_models);
    }
    return CLV_OK;
}

clv_status clr_program_connect(clr_program *program, const clr_session *sessions, clv_arena *arena,
                               clv_error *err)
{
    return program->folder ? check_manifest(program, sessions, arena, err)
                           : connect_by_names(program, sessions, arena, err);
}

int32_t clr_program_copies(const clr_program *program)
{
    return program->n_copies > 1 ? program->n_copies : 1;
}

const char *clr_program_device(const clr_program *program, int32_t model, int32_t copy)
{
    const char *device = program->models[model].device;

    if (!device || copy == 0)
        return device;
    for (int32_t i = 0; i < program->copies[0].n; i++)
        if (strcmp(program->copies[0].devices[i], device) == 0)
            return program->copies[copy].devices[i];
    return NULL;
}

int32_t clr_program_find_input(const clr_program *program, const char *name)
{
    for (int32_t i = 0; i < program->n_inputs; i++)
        if (strcmp(program->inputs[i].name, name) == 0)
            return i;
    return -1;
}

const clr_collective *clr_program_find_collective(const clr_program *program, const char *node,
                                                  int32_t model, int32_t *ret_group)
{
    for (int32_t i = 0; i < program->n_collectives; i++) {
        const clr_collective *c = &program->collectives[i];
        if (strcmp(c->node, node) != 0)
            continue;
        for (int32_t g = 0; g < c->n_groups; g++)
            for (int32_t k = c->starts[g]; k < c->starts[g + 1]; k++)
                if (c->members[k] == model) {
                    *ret_group = g;
                    return c;
                }
    }
    return NULL;
}
