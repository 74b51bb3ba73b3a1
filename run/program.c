#include "run/program.h"

#include <inttypes.h>
#include <string.h>

#include "base/map.h"

clv_status clr_program_from_paths(const char *const *paths, int32_t n, clv_arena *arena,
                                  clr_program *ret, clv_error *err)
{
    clr_program p = { .form = n == 1 ? "model" : "chain", .n_members = n };

    p.members = CLV_NEW_ARRAY(arena, clr_program_model, n);
    if (!p.members)
        return clv_fail_nomem(err, "a program");
    for (int32_t i = 0; i < n; i++)
        p.members[i] = (clr_program_model){ .file = paths[i], .path = paths[i], .stage = -1 };
    *ret = p;
    return CLV_OK;
}

/* -- a program of paths: by names -- */

typedef struct {
    clr_program *p;
    const clr_session *sessions;
    clv_arena *arena;
    clv_error *err;
    clv_map made;     /* name of an output -> the model that made it last */
    clv_map is_input; /* names of the inputs of the whole */
    clv_map read;     /* outputs that a later model takes */
} chain;

static clv_status take_one(chain *c, clr_input_source *take, const clr_port *port)
{
    int32_t from = clv_map_get(&c->made, clv_str_of(port->name)), id = c->p->n_inputs;

    *take = (clr_input_source){ port->name, from, port->name, { .whole = true } };
    if (from >= 0)
        return clv_map_put(&c->read, clv_str_of(port->name), 0, &id, c->err);
    CLV_TRY(clv_map_put(&c->is_input, clv_str_of(port->name), c->p->n_inputs, &id, c->err));
    if (id == c->p->n_inputs)
        c->p->inputs[c->p->n_inputs++] = (clr_program_tensor){ .name = port->name };
    return CLV_OK;
}

static clv_status take_all(chain *c, int32_t i)
{
    const clr_session *s = &c->sessions[i];
    clr_program_model *m = &c->p->members[i];
    int32_t id = 0;

    m->takes = CLV_NEW_ARRAY(c->arena, clr_input_source, s->n_inputs);
    if (!m->takes)
        return clv_fail_nomem(c->err, "a program");
    m->n_takes = s->n_inputs;
    for (int32_t k = 0; k < s->n_inputs; k++)
        CLV_TRY(take_one(c, &m->takes[k], &s->inputs[k]));
    for (int32_t k = 0; k < s->n_outputs; k++) {
        CLV_TRY(clv_map_put(&c->made, clv_str_of(s->outputs[k].name), i, &id, c->err));
        if (id != i)
            return clv_fail(c->err, CLV_EFORMAT, "%s and %s both make '%s', expected one",
                            c->p->members[id].path, m->path, s->outputs[k].name);
    }
    return CLV_OK;
}

/* What no later model takes; all outputs of the last one. */
static clv_status give_all(chain *c, int32_t i)
{
    const clr_session *s = &c->sessions[i];

    for (int32_t k = 0; k < s->n_outputs; k++) {
        const char *name = s->outputs[k].name;
        if (i + 1 < c->p->n_members && clv_map_get(&c->read, clv_str_of(name)) >= 0)
            continue;
        clr_piece *piece = CLV_NEW(c->arena, clr_piece);
        if (!piece)
            return clv_fail_nomem(c->err, "a program");
        *piece = (clr_piece){ i, name, { .whole = true } };
        c->p->outputs[c->p->n_outputs++] =
            (clr_program_tensor){ .name = name, .pieces = piece, .n_pieces = 1 };
    }
    return CLV_OK;
}

static clv_status connect_by_names(clr_program *p, const clr_session *sessions, clv_arena *arena,
                                   clv_error *err)
{
    chain c = { .p = p, .sessions = sessions, .arena = arena, .err = err };
    int32_t n_in = 0, n_out = 0;

    for (int32_t i = 0; i < p->n_members; i++) {
        n_in += sessions[i].n_inputs;
        n_out += sessions[i].n_outputs;
    }
    p->inputs = CLV_NEW_ARRAY(arena, clr_program_tensor, n_in);
    p->outputs = CLV_NEW_ARRAY(arena, clr_program_tensor, n_out);
    if (!p->inputs || !p->outputs)
        return clv_fail_nomem(err, "a program");
    CLV_TRY(clv_map_init(&c.made, arena, n_out, err));
    CLV_TRY(clv_map_init(&c.is_input, arena, n_in, err));
    CLV_TRY(clv_map_init(&c.read, arena, n_in, err));
    for (int32_t i = 0; i < p->n_members; i++)
        CLV_TRY(take_all(&c, i));
    for (int32_t i = 0; i < p->n_members; i++)
        CLV_TRY(give_all(&c, i));
    return CLV_OK;
}

/* -- a manifest: is it about these models? -- */

static clv_status check_take(const clr_program *p, const clr_session *sessions, int32_t i,
                             const clr_input_source *take, clv_error *err)
{
    const clr_program_model *m = &p->members[i];

    if (clr_find_port(sessions[i].inputs, sessions[i].n_inputs, take->name) < 0)
        return clv_fail(err, CLV_EFORMAT, "%s has no input '%s', which the manifest speaks of",
                        m->file, take->name);
    if (take->from == CLR_FROM_PROGRAM) {
        for (int32_t k = 0; k < p->n_inputs; k++)
            if (strcmp(p->inputs[k].name, take->tensor) == 0)
                return CLV_OK;
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest: %s takes '%s' of the model, which has no "
                        "such input",
                        m->file, take->tensor);
    }
    if (take->from >= p->n_members || take->from == i)
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest: %s takes '%s' from model %" PRId32
                        ", expected another of %" PRId32,
                        m->file, take->tensor, take->from, p->n_members);
    const clr_session *from = &sessions[take->from];
    if (clr_find_port(from->outputs, from->n_outputs, take->tensor) < 0)
        return clv_fail(err, CLV_EFORMAT, "%s has no output '%s', which the manifest speaks of",
                        p->members[take->from].file, take->tensor);
    return CLV_OK;
}

static clv_status check_member(const clr_program *p, const clr_session *sessions, int32_t i,
                               clv_error *err)
{
    const clr_program_model *m = &p->members[i];

    for (int32_t k = 0; k < m->n_takes; k++) {
        CLV_TRY(check_take(p, sessions, i, &m->takes[k], err));
        if (!p->at_once && m->takes[k].from > i)
            return clv_fail(err, CLV_EFORMAT, "the manifest: %s takes '%s' of a model behind it",
                            m->file, m->takes[k].tensor);
    }
    for (int32_t k = 0; k < sessions[i].n_inputs; k++) {
        bool found = false;
        for (int32_t t = 0; t < m->n_takes; t++)
            found = found || strcmp(m->takes[t].name, sessions[i].inputs[k].name) == 0;
        if (!found)
            return clv_fail(err, CLV_EFORMAT, "the manifest says not where %s takes '%s' from",
                            m->file, sessions[i].inputs[k].name);
    }
    return CLV_OK;
}

static clv_status check_piece(const clr_program *p, const clr_session *sessions,
                              const clr_program_tensor *output, const clr_piece *piece,
                              clv_error *err)
{
    if (piece->model >= p->n_members)
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest: output '%s' has a piece of model %" PRId32
                        ", but there are %" PRId32,
                        output->name, piece->model, p->n_members);
    const clr_session *s = &sessions[piece->model];
    if (clr_find_port(s->outputs, s->n_outputs, piece->name) < 0)
        return clv_fail(err, CLV_EFORMAT, "%s has no output '%s', which the manifest speaks of",
                        p->members[piece->model].file, piece->name);
    return CLV_OK;
}

static clv_status check_groups(const clr_program *p, clv_error *err)
{
    for (int32_t i = 0; i < p->n_collectives; i++) {
        const clr_collective *c = &p->collectives[i];
        for (int32_t k = 0; k < c->starts[c->n_groups]; k++)
            if (c->members[k] >= p->n_members)
                return clv_fail(err, CLV_EFORMAT,
                                "the manifest: '%s' has member %" PRId32 ", but there are %" PRId32
                                " models",
                                c->node, c->members[k], p->n_members);
    }
    return CLV_OK;
}

static clv_status check_manifest(const clr_program *p, const clr_session *sessions, clv_error *err)
{
    for (int32_t i = 0; i < p->n_members; i++)
        CLV_TRY(check_member(p, sessions, i, err));
    for (int32_t i = 0; i < p->n_outputs; i++) {
        if (p->outputs[i].n_pieces == 0)
            return clv_fail(err, CLV_EFORMAT, "the manifest: output '%s' has no pieces",
                            p->outputs[i].name);
        for (int32_t k = 0; k < p->outputs[i].n_pieces; k++)
            CLV_TRY(check_piece(p, sessions, &p->outputs[i], &p->outputs[i].pieces[k], err));
    }
    return check_groups(p, err);
}

clv_status clr_program_connect(clr_program *program, const clr_session *sessions, clv_arena *arena,
                               clv_error *err)
{
    return program->folder ? check_manifest(program, sessions, err)
                           : connect_by_names(program, sessions, arena, err);
}

const clr_collective *clr_program_find_collective(const clr_program *program, const char *node,
                                                  int32_t member, int32_t *ret_group)
{
    for (int32_t i = 0; i < program->n_collectives; i++) {
        const clr_collective *c = &program->collectives[i];
        if (strcmp(c->node, node) != 0)
            continue;
        for (int32_t g = 0; g < c->n_groups; g++)
            for (int32_t k = c->starts[g]; k < c->starts[g + 1]; k++)
                if (c->members[k] == member) {
                    *ret_group = g;
                    return c;
                }
    }
    return NULL;
}
