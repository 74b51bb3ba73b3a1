/* manifest.c - manifest.json of a lowered folder. */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "run/program.h"

#define MANIFEST_MAX ((size_t)1 << 30) /* bytes; one of a thousand devices has some megabytes */

typedef struct {
    clr_program *p;
    clv_arena *arena;
    clv_error *err;
} reading;

static clv_status nomem(reading *r) { return clv_fail_nomem(r->err, "the manifest"); }

static clv_status bad(reading *r, const clv_json_at *at, const char *what)
{
    char path[256];

    return clv_fail(r->err, CLV_EFORMAT, "%s: %s", clv_json_path(at, path, sizeof path), what);
}

/* Calls one() for each element of a member that is an array; *ret_n is how many. make: bytes of a
 * slot for each, in *ret_array. An absent one is empty. */
static clv_status each(reading *r, const clv_json_at *object, const char *key, bool required,
                       size_t size, void **ret_array, int32_t *ret_n,
                       clv_status (*one)(reading *, const clv_json_at *, void *))
{
    clv_json_at array, element = { 0 };

    CLV_TRY(clv_json_member(object, key, required, &array, r->err));
    if (!array.json)
        return CLV_OK;
    CLV_TRY(clv_json_length(&array, ret_n, r->err));
    *ret_array = clv_arena_take_array(r->arena, (size_t)*ret_n, size);
    if (!*ret_array)
        return nomem(r);
    for (int32_t i = 0; i < *ret_n; i++) {
        element = clv_json_element(&array, i, i ? &element : NULL);
        CLV_TRY(one(r, &element, (char *)*ret_array + (size_t)i * size));
    }
    return CLV_OK;
}

static clv_status read_text(reading *r, const clv_json_at *object, const char *key, bool required,
                            const char **ret)
{
    clv_json_at member;

    CLV_TRY(clv_json_member(object, key, required, &member, r->err));
    return member.json ? clv_json_copy_string(&member, r->arena, ret, r->err) : CLV_OK;
}

static clv_status read_size(reading *r, const clv_json_at *at, void *to)
{
    return clv_json_int(at, 0, INT64_MAX, to, r->err);
}

static clv_status read_index(reading *r, const clv_json_at *at, void *to)
{
    int64_t index = 0;

    CLV_TRY(clv_json_int(at, 0, INT32_MAX, &index, r->err));
    *(int32_t *)to = (int32_t)index;
    return CLV_OK;
}

static clv_status read_sizes(reading *r, const clv_json_at *object, const char *key, bool required,
                             const int64_t **ret, int32_t *ret_n)
{
    void *array = NULL;

    CLV_TRY(each(r, object, key, required, sizeof(int64_t), &array, ret_n, read_size));
    *ret = array;
    return *ret_n <= CLR_MAX_RANK ? CLV_OK : bad(r, object, "a tensor has more than 64 dimensions");
}

static clv_status read_part(reading *r, const clv_json_at *object, clr_slice *ret)
{
    static const char *const keys[] = { "offsets", "dims", "view", NULL };
    clv_json_at at;
    int32_t n_dims = 0;

    *ret = (clr_slice){ .whole = true };
    CLV_TRY(clv_json_member(object, "part", false, &at, r->err));
    if (!at.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&at, keys, r->err));
    ret->whole = false;
    CLV_TRY(read_sizes(r, &at, "offsets", true, &ret->offsets, &ret->rank));
    CLV_TRY(read_sizes(r, &at, "dims", true, &ret->dims, &n_dims));
    CLV_TRY(read_sizes(r, &at, "view", false, &ret->view, &ret->view_rank));
    if (n_dims != ret->rank)
        return bad(r, &at, "offsets and dims differ in length");
    if (ret->view && ret->view_rank != ret->rank)
        return bad(r, &at, "view has not as many dimensions as offsets");
    return CLV_OK;
}

static int dtype_of(const char *name)
{
    for (int i = 1; strcmp(clr_dtype_name(i), "unknown") != 0; i++)
        if (strcmp(clr_dtype_name(i), name) == 0)
            return i;
    return 0;
}

static clv_status read_piece(reading *r, const clv_json_at *at, void *to)
{
    static const char *const keys[] = { "model", "name", "part", NULL };
    clr_piece *piece = to;
    clv_json_at model;

    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(clv_json_member(at, "model", true, &model, r->err));
    CLV_TRY(read_index(r, &model, &piece->model));
    CLV_TRY(read_text(r, at, "name", true, &piece->name));
    return read_part(r, at, &piece->part);
}

/* An input or output of the whole model. */
static clv_status read_tensor(reading *r, const clv_json_at *at, void *to)
{
    static const char *const keys[] = { "name", "dtype", "dims", "pieces", NULL };
    clr_program_tensor *t = to;
    const char *dtype = NULL;
    const int64_t *dims = NULL;
    void *pieces = NULL;
    clv_json_at member;

    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(read_text(r, at, "name", true, &t->name));
    CLV_TRY(read_text(r, at, "dtype", false, &dtype));
    if (dtype && (t->shape.dtype = (ONNXTensorElementDataType)dtype_of(dtype)) == 0)
        return bad(r, at, "dtype is not one of ONNX's element types");
    CLV_TRY(clv_json_member(at, "dims", false, &member, r->err));
    t->has_dims = member.json != NULL;
    CLV_TRY(read_sizes(r, at, "dims", false, &dims, &t->shape.rank));
    if (t->shape.rank)
        memcpy(t->shape.dims, dims, (size_t)t->shape.rank * sizeof *dims);
    if (!clr_shape_count(&t->shape))
        return bad(r, at, "the dims are too large");
    CLV_TRY(each(r, at, "pieces", false, sizeof(clr_piece), &pieces, &t->n_pieces, read_piece));
    t->pieces = pieces;
    return CLV_OK;
}

static clv_status read_take(reading *r, const clv_json_at *at, void *to)
{
    static const char *const keys[] = { "name", "from", "tensor", "part", NULL };
    clr_input_source *take = to;
    clv_json_at from;
    const char *word = NULL;

    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(read_text(r, at, "name", true, &take->name));
    take->tensor = take->name;
    CLV_TRY(read_text(r, at, "tensor", false, &take->tensor));
    CLV_TRY(read_part(r, at, &take->part));
    CLV_TRY(clv_json_member(at, "from", true, &from, r->err));
    if (!clv_json_is_string(&from))
        return read_index(r, &from, &take->from);
    CLV_TRY(clv_json_string(&from, &word, r->err));
    take->from = CLR_FROM_PROGRAM;
    return strcmp(word, "model") == 0 ? CLV_OK
                                      : bad(r, &from, "expected \"model\" or the index of a model");
}

static clv_status read_member(reading *r, const clv_json_at *at, void *to)
{
    clr_program_model *m = to;
    clv_json_at stage, outputs;
    void *takes = NULL;
    int32_t n_outputs = 0;

    CLV_TRY(read_text(r, at, "file", true, &m->file));
    if (m->file[0] == '/' || strstr(m->file, ".."))
        return bad(r, at, "file leaves the folder");
    m->path = clv_arena_printf(r->arena, "%s/%s", r->p->folder, m->file);
    if (!m->path)
        return nomem(r);
    CLV_TRY(read_text(r, at, "device", false, &m->device));
    m->stage = -1;
    CLV_TRY(clv_json_member(at, "stage", false, &stage, r->err));
    if (stage.json)
        CLV_TRY(read_index(r, &stage, &m->stage));
    CLV_TRY(each(r, at, "inputs", true, sizeof(clr_input_source), &takes, &m->n_takes, read_take));
    m->takes = takes;
    CLV_TRY(clv_json_member(at, "outputs", true, &outputs, r->err));
    CLV_TRY(clv_json_length(&outputs, &n_outputs, r->err));
    m->empty = n_outputs == 0;
    return CLV_OK;
}

typedef struct {
    int32_t *at, n;
} group;

static clv_status read_group(reading *r, const clv_json_at *at, void *to)
{
    group *g = to;
    clv_json_at element = { 0 };

    CLV_TRY(clv_json_length(at, &g->n, r->err));
    g->at = CLV_NEW_ARRAY(r->arena, int32_t, g->n);
    if (!g->at)
        return nomem(r);
    for (int32_t i = 0; i < g->n; i++) {
        element = clv_json_element(at, i, i ? &element : NULL);
        CLV_TRY(read_index(r, &element, &g->at[i]));
    }
    return CLV_OK;
}

static clv_status read_collective(reading *r, const clv_json_at *at, void *to)
{
    clr_collective *c = to;
    void *array = NULL;
    int32_t total = 0, at_member = 0;

    CLV_TRY(read_text(r, at, "node", true, &c->node));
    CLV_TRY(each(r, at, "groups", true, sizeof(group), &array, &c->n_groups, read_group));
    const group *groups = array;
    for (int32_t i = 0; i < c->n_groups; i++)
        total += groups[i].n;
    c->members = CLV_NEW_ARRAY(r->arena, int32_t, total);
    c->starts = CLV_NEW_ARRAY(r->arena, int32_t, c->n_groups + 1);
    if (!c->members || !c->starts)
        return nomem(r);
    for (int32_t i = 0; i < c->n_groups; i++) {
        for (int32_t k = 0; k < groups[i].n; k++)
            c->members[at_member++] = groups[i].at[k];
        c->starts[i + 1] = at_member;
    }
    return CLV_OK;
}

static clv_status read_file(reading *r, const clv_json_at *at, void *to)
{
    static const char *const keys[] = { "file", "bytes", "xxh3", NULL };
    clr_file *f = to;
    clv_json_at bytes;

    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(read_text(r, at, "file", true, &f->file));
    if (f->file[0] == '/' || strstr(f->file, ".."))
        return bad(r, at, "file leaves the folder");
    CLV_TRY(clv_json_member(at, "bytes", true, &bytes, r->err));
    CLV_TRY(clv_json_int(&bytes, 0, INT64_MAX, &f->bytes, r->err));
    return read_text(r, at, "xxh3", true, &f->xxh3);
}

static clv_status read_all(reading *r, const clv_json_at *root)
{
    clr_program *p = r->p;
    clv_json_at version;
    int64_t number = 0;
    void *members = NULL, *inputs = NULL, *outputs = NULL, *collectives = NULL, *files = NULL;

    CLV_TRY(clv_json_member(root, "schema_version", true, &version, r->err));
    CLV_TRY(clv_json_int(&version, 1, 1, &number, r->err));
    CLV_TRY(read_text(r, root, "form", true, &p->form));
    p->at_once = strcmp(p->form, "devices") == 0;
    CLV_TRY(each(r, root, "models", true, sizeof(clr_program_model), &members, &p->n_members,
                 read_member));
    CLV_TRY(each(r, root, "inputs", true, sizeof(clr_program_tensor), &inputs, &p->n_inputs,
                 read_tensor));
    CLV_TRY(each(r, root, "outputs", true, sizeof(clr_program_tensor), &outputs, &p->n_outputs,
                 read_tensor));
    CLV_TRY(each(r, root, "collectives", false, sizeof(clr_collective), &collectives,
                 &p->n_collectives, read_collective));
    CLV_TRY(each(r, root, "files", false, sizeof(clr_file), &files, &p->n_files, read_file));
    p->members = members;
    p->inputs = inputs;
    p->outputs = outputs;
    p->collectives = collectives;
    p->files = files;
    return p->n_members > 0 ? CLV_OK : bad(r, root, "there are no models");
}

clv_status clr_manifest_read(const char *folder, clv_arena *arena, clr_program *ret, clv_error *err)
{
    clr_program program = { .folder = folder };
    reading r = { &program, arena, err };
    const char *text = NULL, *path = clv_arena_printf(arena, "%s/manifest.json", folder);
    size_t n = 0;
    clv_json *json = NULL;

    if (!path)
        return nomem(&r);
    CLV_TRY(clv_read_file(path, MANIFEST_MAX, arena, &text, &n, err));
    CLV_TRY(clv_json_parse(text, n, path, &json, err));
    clv_json_at root = clv_json_root(json, path);
    clv_status status = read_all(&r, &root);
    clv_json_free(json);
    if (status == CLV_OK)
        *ret = program;
    return status;
}
