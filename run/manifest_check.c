#include "run/manifest_check.h"

#include <inttypes.h>
#include <string.h>

#include "base/text_digest.h"

/* -- the checksum of what says how models are run -- */

#define ROUTES "\"routes\""

clv_status clr_manifest_sum_routes(const char *text, size_t n, clv_arena *arena, const char **ret,
                                   clv_error *err)
{
    char sum[CLV_CHECKSUM_TEXT];
    clv_checksum said;
    clv_checksum_state *state = clv_checksum_new(arena);
    const char *behind, *key = clv_text_find_checksum(text, n, ROUTES, &said, &behind);
    size_t end = key ? (size_t)(key - text) : n;

    while (end > 0 && strchr(" \t\r\n", text[end - 1]))
        end--;
    if (key && end > 0 && text[end - 1] == ',')
        end--;
    if (!state)
        return clv_fail_nomem(err, "the manifest");
    clv_checksum_add_json(state, text, end);
    *ret = clv_arena_printf(arena, "%s", clv_checksum_text(sum, clv_checksum_end(state)));
    return *ret ? CLV_OK : clv_fail_nomem(err, "the manifest");
}

/* -- models and files -- */

static bool makes(const clr_program_model *m, const char *output)
{
    for (int32_t i = 0; i < m->n_outputs; i++)
        if (strcmp(m->outputs[i], output) == 0)
            return true;
    return false;
}

static int32_t count_file(const clr_program *p, const char *file)
{
    int32_t n = 0;

    for (int32_t i = 0; i < p->n_files; i++)
        n += strcmp(p->files[i].file, file) == 0;
    return n;
}

static clv_status check_sources(const clr_program *p, int32_t i, clv_error *err)
{
    const clr_program_model *m = &p->models[i];

    for (int32_t k = 0; k < m->n_sources; k++) {
        const clr_input_source *s = &m->sources[k];
        for (int32_t t = 0; t < k; t++)
            if (strcmp(m->sources[t].name, s->name) == 0)
                return clv_fail(err, CLV_EFORMAT,
                                "the manifest: %s has input '%s' twice, expected once", m->file,
                                s->name);
        if (s->from == CLR_FROM_PROGRAM)
            continue;
        if (s->from >= p->n_models || s->from == i)
            return clv_fail(err, CLV_EFORMAT,
                            "the manifest: %s takes '%s' from model %" PRId32
                            ", expected another of %" PRId32,
                            m->file, s->tensor, s->from, p->n_models);
        if (!makes(&p->models[s->from], s->tensor))
            return clv_fail(err, CLV_EFORMAT,
                            "the manifest: %s takes '%s' from %s, which is not said to make it",
                            m->file, s->tensor, p->models[s->from].file);
    }
    return CLV_OK;
}

static clv_status check_models(const clr_program *p, clv_error *err)
{
    for (int32_t i = 0; i < p->n_models; i++) {
        const clr_program_model *m = &p->models[i];
        int32_t n = count_file(p, m->file);
        if (n != 1)
            return clv_fail(err, CLV_EFORMAT,
                            "the manifest: files lists %s %" PRId32 " times, expected once",
                            m->file, n);
        for (int32_t k = 0; k < i; k++)
            if (strcmp(p->models[k].file, m->file) == 0)
                return clv_fail(err, CLV_EFORMAT,
                                "the manifest: models %" PRId32 " and %" PRId32
                                " are both %s, expected a file each",
                                k, i, m->file);
        CLV_TRY(check_sources(p, i, err));
    }
    return CLV_OK;
}

/* -- transfers: once more what inputs say -- */

static const clr_input_source *taken(const clr_program_model *m, const clr_transfer *t)
{
    for (int32_t k = 0; k < m->n_sources; k++)
        if (m->sources[k].from == t->from && strcmp(m->sources[k].tensor, t->tensor) == 0)
            return &m->sources[k];
    return NULL;
}

static clv_status check_transfers(const clr_program *p, clv_error *err)
{
    int32_t n = 0;

    for (int32_t i = 0; i < p->n_models; i++)
        for (int32_t k = 0; k < p->models[i].n_sources; k++)
            n += p->models[i].sources[k].from != CLR_FROM_PROGRAM;
    for (int32_t i = 0; i < p->n_transfers; i++) {
        const clr_transfer *t = &p->transfers[i];
        if (t->to >= p->n_models || !taken(&p->models[t->to], t))
            return clv_fail(err, CLV_EFORMAT,
                            "the manifest: transfers[%" PRId32 "] is '%s' from model %" PRId32
                            " to %" PRId32 ", which takes no such input",
                            i, t->tensor, t->from, t->to);
    }
    return n == p->n_transfers
               ? CLV_OK
               : clv_fail(err, CLV_EFORMAT,
                          "the manifest: %" PRId32 " inputs come from other models, but there are "
                          "%" PRId32 " transfers, expected as many",
                          n, p->n_transfers);
}

/* -- collectives -- */

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && (!word || strcmp(word, *words) != 0))
        words++;
    return *words != NULL;
}

static clv_status check_words(const clr_collective *c, clv_error *err)
{
    static const char *const reducing[] = { "all-reduce", "reduce-scatter", NULL };
    static const char *const moving[] = { "all-gather", "all-to-all", NULL };
    static const char *const reduces[] = { "sum", "mean", "max", "min", "prod", NULL };
    bool reduces_it = is_one_of(c->kind, reducing);

    if (!reduces_it && !is_one_of(c->kind, moving))
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest: kind of '%s' is '%s', expected all-reduce, reduce-scatter, "
                        "all-gather or all-to-all",
                        c->node, c->kind ? c->kind : "");
    if (reduces_it && (!is_one_of(c->reduce, reduces) || c->axis >= 0))
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest: '%s' is %s, expected reduce to be sum, mean, max, min or "
                        "prod, and no axis",
                        c->node, c->kind);
    if (!reduces_it && (c->reduce || c->axis < 0))
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest: '%s' is %s, expected an axis and no reduce", c->node,
                        c->kind);
    return CLV_OK;
}

/* A group begins with its first model; each model is in one; all are of a stage and of one size. */
static clv_status check_group(const clr_program *p, const clr_collective *c, int32_t g,
                              clv_error *err)
{
    int32_t start = c->starts[g], end = c->starts[g + 1], first = c->members[start];

    if (end - start != c->starts[1] || end - start < 2)
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest: group %" PRId32 " of '%s' has %" PRId32
                        " members, expected as many as the first, and 2 or more",
                        g, c->node, end - start);
    for (int32_t k = start; k < end; k++) {
        int32_t member = c->members[k];
        if (member >= p->n_models)
            return clv_fail(err, CLV_EFORMAT,
                            "the manifest: '%s' has member %" PRId32 ", but there are %" PRId32
                            " models",
                            c->node, member, p->n_models);
        if (member < first)
            return clv_fail(err, CLV_EFORMAT,
                            "the manifest: group %" PRId32 " of '%s' begins with %" PRId32
                            ", expected its lowest, %" PRId32,
                            g, c->node, first, member);
        if (p->models[member].stage != p->models[first].stage)
            return clv_fail(err, CLV_EFORMAT,
                            "the manifest: group %" PRId32 " of '%s' has models of stages %" PRId32
                            " and %" PRId32 ", expected one stage",
                            g, c->node, p->models[first].stage, p->models[member].stage);
        for (int32_t t = 0; t < k; t++)
            if (c->members[t] == member)
                return clv_fail(err, CLV_EFORMAT,
                                "the manifest: model %" PRId32 " is twice in groups of '%s', "
                                "expected once",
                                member, c->node);
    }
    return CLV_OK;
}

static bool share_member(const clr_collective *a, const clr_collective *b)
{
    for (int32_t i = 0; i < a->starts[a->n_groups]; i++)
        for (int32_t k = 0; k < b->starts[b->n_groups]; k++)
            if (a->members[i] == b->members[k])
                return true;
    return false;
}

static clv_status check_collectives(const clr_program *p, clv_error *err)
{
    if (p->n_collectives > 0 && !p->concurrent)
        return clv_fail(
            err, CLV_EFORMAT,
            "the manifest: form '%s' has collectives, expected them with 'devices' only", p->form);
    for (int32_t i = 0; i < p->n_collectives; i++) {
        const clr_collective *c = &p->collectives[i];
        CLV_TRY(check_words(c, err));
        for (int32_t g = 0; g < c->n_groups; g++)
            CLV_TRY(check_group(p, c, g, err));
        for (int32_t k = 0; k < i; k++)
            if (strcmp(p->collectives[k].node, c->node) == 0 && share_member(&p->collectives[k], c))
                return clv_fail(err, CLV_EFORMAT,
                                "the manifest: a model has two collectives for node '%s', "
                                "expected one",
                                c->node);
    }
    return CLV_OK;
}

/* -- outputs -- */

static clv_status check_pieces(const clr_program *p, clv_error *err)
{
    for (int32_t i = 0; i < p->n_outputs; i++)
        for (int32_t k = 0; k < p->outputs[i].n_pieces; k++) {
            const clr_piece *piece = &p->outputs[i].pieces[k];
            if (piece->model >= p->n_models || !makes(&p->models[piece->model], piece->name))
                return clv_fail(err, CLV_EFORMAT,
                                "the manifest: output '%s' has piece '%s' of model %" PRId32
                                ", which is not said to make it",
                                p->outputs[i].name, piece->name, piece->model);
        }
    return CLV_OK;
}

/* -- copies -- */

static bool has_device(const clr_copy *copy, const char *device)
{
    for (int32_t i = 0; i < copy->n; i++)
        if (strcmp(copy->devices[i], device) == 0)
            return true;
    return false;
}

/* Each device once in all of them. */
static clv_status check_devices(const clr_program *p, int32_t c, clv_error *err)
{
    const clr_copy *copy = &p->copies[c];

    for (int32_t i = 0; i < copy->n; i++) {
        const clr_copy before = { copy->devices, i };
        int32_t k = 0;
        while (k < c && !has_device(&p->copies[k], copy->devices[i]))
            k++;
        if (k < c || has_device(&before, copy->devices[i]))
            return clv_fail(err, CLV_EFORMAT,
                            "the manifest: copies[%" PRId32 "] has device '%s', which is in "
                            "copies[%" PRId32 "] already, expected each once",
                            c, copy->devices[i], k);
    }
    return CLV_OK;
}

static clv_status check_copies(const clr_program *p, clv_error *err)
{
    static const char *const forms[] = { "stages", "devices", NULL };

    if (p->n_copies == 0)
        return CLV_OK;
    if (p->n_copies == 1 || p->copies[0].n == 0)
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest: copies has %" PRId32 " elements, the first of %" PRId32
                        " devices, expected 2 or more of one device or more",
                        p->n_copies, p->copies[0].n);
    if (!is_one_of(p->form, forms))
        return clv_fail(err, CLV_EFORMAT,
                        "the manifest: form '%s' has copies, expected them with 'stages' and "
                        "'devices' only",
                        p->form);
    for (int32_t c = 0; c < p->n_copies; c++) {
        if (p->copies[c].n != p->copies[0].n)
            return clv_fail(err, CLV_EFORMAT,
                            "the manifest: copies[%" PRId32 "] has %" PRId32
                            " devices, expected %" PRId32 " as the first",
                            c, p->copies[c].n, p->copies[0].n);
        CLV_TRY(check_devices(p, c, err));
    }
    for (int32_t i = 0; i < p->n_models; i++) {
        const char *device = p->models[i].device;
        if (!device || !has_device(&p->copies[0], device))
            return clv_fail(err, CLV_EFORMAT,
                            "the manifest: %s is for device '%s', expected one of copies[0]",
                            p->models[i].file, device ? device : "");
    }
    return CLV_OK;
}

clv_status clr_manifest_check(const clr_program *program, clv_error *err)
{
    static const char *const forms[] = { "stages",      "devices", "emulate",
                                         "ort-options", "olive",   NULL };

    if (!is_one_of(program->form, forms))
        return clv_fail(
            err, CLV_EFORMAT,
            "the manifest: form is '%s', expected stages, devices, emulate, ort-options "
            "or olive",
            program->form);
    CLV_TRY(check_models(program, err));
    CLV_TRY(check_transfers(program, err));
    CLV_TRY(check_collectives(program, err));
    CLV_TRY(check_pieces(program, err));
    return check_copies(program, err);
}
