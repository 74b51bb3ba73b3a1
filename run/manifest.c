#include "run/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/json.h"
#include "base/open_inside.h"
#include "base/text_digest.h"
#include "run/manifest_check.h"

#define NAME         "manifest.json"
#define MANIFEST_MAX ((size_t)1 << 30) /* bytes; one of a thousand devices has some megabytes */

typedef struct {
    clr_program *p;
    clv_arena *arena;
} reader;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "the manifest"); }

static clv_status bad(const clv_json_at *at, const char *what, clv_error *err)
{
    char path[256];

    return clv_fail(err, CLV_EFORMAT, "%s: %s", clv_json_path(at, path, sizeof path), what);
}

static clv_status read_text(const reader *r, const clv_json_at *object, const char *key,
                            bool required, const char **ret, clv_error *err)
{
    clv_json_at member;

    CLV_TRY(clv_json_member(object, key, required, &member, err));
    return member.json ? clv_json_copy_string(&member, r->arena, ret, err) : CLV_OK;
}

/* A file's name below the folder. */
static clv_status read_file_name(const reader *r, const clv_json_at *object, const char **ret,
                                 clv_error *err)
{
    CLV_TRY(read_text(r, object, "file", true, ret, err));
    return clv_name_stays_inside(*ret) ? CLV_OK : bad(object, "file leaves the folder", err);
}

/* -- arrays -- */

/* A member that is an array: of what size and how its elements are read. */
typedef struct {
    const char *key;
    bool required; /* else an absent one is empty */
    size_t size;
    clv_status (*read)(const reader *, const clv_json_at *, void *to, clv_error *);
} array_of;

typedef struct {
    void *at;
    int32_t n;
} array;

static clv_status read_elements(const reader *r, const clv_json_at *json, const array_of *what,
                                array *ret, clv_error *err)
{
    clv_json_at element = { 0 };

    CLV_TRY(clv_json_length(json, &ret->n, err));
    ret->at = clv_arena_take_array(r->arena, (size_t)ret->n, what->size);
    if (!ret->at)
        return nomem(err);
    for (int32_t i = 0; i < ret->n; i++) {
        element = clv_json_element(json, i, i ? &element : NULL);
        CLV_TRY(what->read(r, &element, (char *)ret->at + (size_t)i * what->size, err));
    }
    return CLV_OK;
}

static clv_status read_array(const reader *r, const clv_json_at *object, const array_of *what,
                             array *ret, clv_error *err)
{
    clv_json_at member;

    *ret = (array){ 0 };
    CLV_TRY(clv_json_member(object, what->key, what->required, &member, err));
    return member.json ? read_elements(r, &member, what, ret, err) : CLV_OK;
}

static clv_status read_size(const reader *r, const clv_json_at *at, void *to, clv_error *err)
{
    (void)r;
    return clv_json_int(at, 0, INT64_MAX, to, err);
}

static clv_status read_index(const reader *r, const clv_json_at *at, void *to, clv_error *err)
{
    int64_t index = 0;

    (void)r;
    CLV_TRY(clv_json_int(at, 0, INT32_MAX, &index, err));
    *(int32_t *)to = (int32_t)index;
    return CLV_OK;
}

static clv_status read_sizes(const reader *r, const clv_json_at *object, const char *key,
                             bool required, array *ret, clv_error *err)
{
    const array_of sizes = { key, required, sizeof(int64_t), read_size };

    CLV_TRY(read_array(r, object, &sizes, ret, err));
    return ret->n <= CLR_MAX_RANK ? CLV_OK
                                  : bad(object, "a tensor has more than 64 dimensions", err);
}

/* -- tensors and their slices -- */

static clv_status read_slice(const reader *r, const clv_json_at *object, clr_slice *ret,
                             clv_error *err)
{
    static const char *const keys[] = { "offsets", "dims", "view", NULL };
    clv_json_at at;
    array offsets, dims, view;

    *ret = (clr_slice){ .whole = true };
    CLV_TRY(clv_json_member(object, "part", false, &at, err));
    if (!at.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&at, keys, err));
    CLV_TRY(read_sizes(r, &at, "offsets", true, &offsets, err));
    CLV_TRY(read_sizes(r, &at, "dims", true, &dims, err));
    CLV_TRY(read_sizes(r, &at, "view", false, &view, err));
    *ret = (clr_slice){ .rank = offsets.n,
                        .offsets = offsets.at,
                        .dims = dims.at,
                        .view_rank = view.n,
                        .view = view.at };
    if (dims.n != offsets.n)
        return bad(&at, "offsets and dims differ in length", err);
    if (view.at && view.n != offsets.n)
        return bad(&at, "view has not as many dimensions as offsets", err);
    return CLV_OK;
}

static clv_status read_piece(const reader *r, const clv_json_at *at, void *to, clv_error *err)
{
    static const char *const keys[] = { "model", "name", "part", NULL };
    clr_piece *piece = to;
    clv_json_at model;

    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(clv_json_member(at, "model", true, &model, err));
    CLV_TRY(read_index(r, &model, &piece->model, err));
    CLV_TRY(read_text(r, at, "name", true, &piece->name, err));
    return read_slice(r, at, &piece->slice, err);
}

/* An input or output of the whole program. */
static clv_status read_tensor(const reader *r, const clv_json_at *at, void *to, clv_error *err)
{
    static const char *const keys[] = { "name", "dtype", "dims", "pieces", NULL };
    static const array_of pieces_of = { "pieces", false, sizeof(clr_piece), read_piece };
    clr_program_tensor *t = to;
    const char *dtype = NULL;
    array dims, pieces;
    clv_json_at member;

    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(read_text(r, at, "name", true, &t->name, err));
    CLV_TRY(read_text(r, at, "dtype", false, &dtype, err));
    for (int i = 1; dtype && strcmp(clr_dtype_name(i), "unknown") != 0; i++)
        if (strcmp(clr_dtype_name(i), dtype) == 0)
            t->shape.dtype = (ONNXTensorElementDataType)i;
    if (dtype && t->shape.dtype == 0)
        return bad(at, "dtype is not one of ONNX's element types", err);
    CLV_TRY(clv_json_member(at, "dims", false, &member, err));
    t->has_dims = member.json != NULL;
    CLV_TRY(read_sizes(r, at, "dims", false, &dims, err));
    t->shape.rank = dims.n;
    if (dims.n)
        memcpy(t->shape.dims, dims.at, (size_t)dims.n * sizeof *t->shape.dims);
    if (!clr_shape_count(&t->shape))
        return bad(at, "the dims are too large", err);
    CLV_TRY(read_array(r, at, &pieces_of, &pieces, err));
    t->pieces = pieces.at;
    t->n_pieces = pieces.n;
    return CLV_OK;
}

/* -- models -- */

static clv_status read_source(const reader *r, const clv_json_at *at, void *to, clv_error *err)
{
    static const char *const keys[] = { "name", "from", "tensor", "part", NULL };
    clr_input_source *source = to;
    clv_json_at from;
    const char *word = NULL;

    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(read_text(r, at, "name", true, &source->name, err));
    source->tensor = source->name;
    CLV_TRY(read_text(r, at, "tensor", false, &source->tensor, err));
    CLV_TRY(read_slice(r, at, &source->slice, err));
    CLV_TRY(clv_json_member(at, "from", true, &from, err));
    if (!clv_json_is_string(&from))
        return read_index(r, &from, &source->from, err);
    CLV_TRY(clv_json_string(&from, &word, err));
    source->from = CLR_FROM_PROGRAM;
    return strcmp(word, "model") == 0
               ? CLV_OK
               : bad(&from, "expected \"model\" or the index of a model", err);
}

static clv_status read_output_name(const reader *r, const clv_json_at *at, void *to, clv_error *err)
{
    return read_text(r, at, "name", true, to, err);
}

static clv_status read_model(const reader *r, const clv_json_at *at, void *to, clv_error *err)
{
    static const array_of sources_of = { "inputs", true, sizeof(clr_input_source), read_source };
    clr_program_model *m = to;
    static const array_of outputs_of = { "outputs", true, sizeof(const char *), read_output_name };
    clv_json_at stage;
    array sources, outputs;

    CLV_TRY(read_file_name(r, at, &m->file, err));
    m->path = clv_arena_printf(r->arena, "%s/%s", r->p->folder, m->file);
    if (!m->path)
        return nomem(err);
    CLV_TRY(read_text(r, at, "device", false, &m->device, err));
    m->stage = -1;
    CLV_TRY(clv_json_member(at, "stage", false, &stage, err));
    if (stage.json)
        CLV_TRY(read_index(r, &stage, &m->stage, err));
    CLV_TRY(read_array(r, at, &sources_of, &sources, err));
    m->sources = sources.at;
    m->n_sources = sources.n;
    CLV_TRY(read_array(r, at, &outputs_of, &outputs, err));
    m->outputs = outputs.at;
    m->n_outputs = outputs.n;
    m->empty = outputs.n == 0;
    return CLV_OK;
}

static clv_status read_group(const reader *r, const clv_json_at *at, void *to, clv_error *err)
{
    static const array_of members = { NULL, true, sizeof(int32_t), read_index };

    return read_elements(r, at, &members, to, err);
}

static clv_status read_collective(const reader *r, const clv_json_at *at, void *to, clv_error *err)
{
    static const array_of groups_of = { "groups", true, sizeof(array), read_group };
    clr_collective *c = to;
    clv_json_at axis;
    array groups;
    int32_t total = 0, at_member = 0;

    CLV_TRY(read_text(r, at, "node", true, &c->node, err));
    CLV_TRY(read_text(r, at, "kind", false, &c->kind, err));
    CLV_TRY(read_text(r, at, "reduce", false, &c->reduce, err));
    c->axis = -1;
    CLV_TRY(clv_json_member(at, "axis", false, &axis, err));
    if (axis.json)
        CLV_TRY(clv_json_int(&axis, 0, CLR_MAX_RANK, &c->axis, err));
    CLV_TRY(read_array(r, at, &groups_of, &groups, err));
    const array *group = groups.at;
    c->n_groups = groups.n;
    for (int32_t i = 0; i < c->n_groups; i++)
        total += group[i].n;
    c->members = CLV_NEW_ARRAY(r->arena, int32_t, total);
    c->starts = CLV_NEW_ARRAY(r->arena, int32_t, c->n_groups + 1);
    if (!c->members || !c->starts)
        return nomem(err);
    for (int32_t i = 0; i < c->n_groups; i++) {
        for (int32_t k = 0; k < group[i].n; k++)
            c->members[at_member++] = ((const int32_t *)group[i].at)[k];
        c->starts[i + 1] = at_member;
    }
    return CLV_OK;
}

static clv_status read_device(const reader *r, const clv_json_at *at, void *to, clv_error *err)
{
    return clv_json_copy_string(at, r->arena, to, err);
}

static clv_status read_copy(const reader *r, const clv_json_at *at, void *to, clv_error *err)
{
    static const array_of devices_of = { NULL, true, sizeof(const char *), read_device };
    clr_copy *copy = to;
    array devices;

    CLV_TRY(read_elements(r, at, &devices_of, &devices, err));
    *copy = (clr_copy){ devices.at, devices.n };
    return CLV_OK;
}

static clv_status read_transfer(const reader *r, const clv_json_at *at, void *to, clv_error *err)
{
    clr_transfer *t = to;
    clv_json_at from, behind;

    CLV_TRY(read_text(r, at, "tensor", true, &t->tensor, err));
    CLV_TRY(clv_json_member(at, "from", true, &from, err));
    CLV_TRY(clv_json_member(at, "to", true, &behind, err));
    CLV_TRY(read_index(r, &from, &t->from, err));
    return read_index(r, &behind, &t->to, err);
}

static clv_status read_file(const reader *r, const clv_json_at *at, void *to, clv_error *err)
{
    static const char *const keys[] = { "file", "bytes", "xxh3", NULL };
    clr_file *f = to;
    clv_json_at bytes;

    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(read_file_name(r, at, &f->file, err));
    CLV_TRY(clv_json_member(at, "bytes", true, &bytes, err));
    CLV_TRY(clv_json_int(&bytes, 0, INT64_MAX, &f->bytes, err));
    return read_text(r, at, "xxh3", true, &f->xxh3, err);
}

static clv_status read_root(const reader *r, const clv_json_at *root, clv_error *err)
{
    static const array_of lists[] = {
        { "models", true, sizeof(clr_program_model), read_model },
        { "inputs", true, sizeof(clr_program_tensor), read_tensor },
        { "outputs", true, sizeof(clr_program_tensor), read_tensor },
        { "collectives", false, sizeof(clr_collective), read_collective },
        { "files", false, sizeof(clr_file), read_file },
        { "transfers", false, sizeof(clr_transfer), read_transfer },
        { "copies", false, sizeof(clr_copy), read_copy },
    };
    enum { N_LISTS = sizeof lists / sizeof *lists };
    clr_program *p = r->p;
    clv_json_at version;
    int64_t number = 0;
    array list[N_LISTS];

    CLV_TRY(clv_json_member(root, "schema_version", true, &version, err));
    CLV_TRY(clv_json_int(&version, 1, 2, &number, err));
    p->version = (int32_t)number;
    CLV_TRY(read_text(r, root, "form", true, &p->form, err));
    p->concurrent = strcmp(p->form, "devices") == 0;
    for (int i = 0; i < N_LISTS; i++)
        CLV_TRY(read_array(r, root, &lists[i], &list[i], err));
    p->models = list[0].at;
    p->n_models = list[0].n;
    p->inputs = list[1].at;
    p->n_inputs = list[1].n;
    p->outputs = list[2].at;
    p->n_outputs = list[2].n;
    p->collectives = list[3].at;
    p->n_collectives = list[3].n;
    p->files = list[4].at;
    p->n_files = list[4].n;
    p->transfers = list[5].at;
    p->n_transfers = list[5].n;
    p->copies = list[6].at;
    p->n_copies = list[6].n;
    if (p->n_copies > 0 && p->version < 2)
        return bad(root, "has copies, expected none with version 1", err);
    return p->n_models > 0 ? CLV_OK : bad(root, "there are no models", err);
}

clv_status clr_manifest_parse(const char *text, size_t n, const char *folder, clv_arena *arena,
                              clr_program *ret, clv_error *err)
{
    clr_program program = { .folder = folder };
    const reader r = { &program, arena };
    const char *what = clv_arena_printf(arena, "%s/" NAME, folder);
    clv_json *json = NULL;

    if (!what)
        return nomem(err);
    CLV_TRY(clv_json_parse(text, n, what, &json, err));
    clv_json_at root = clv_json_root(json, what);
    clv_status status = read_root(&r, &root, err);
    clv_json_free(json);
    if (status == CLV_OK)
        *ret = program;
    return status;
}

static clv_status note_change(const char *text, size_t n, const char *path, clv_arena *arena,
                              clr_program *p, clv_error *err)
{
    clv_error own;
    clv_status status = clv_text_digest_check(text, n, path, "lower the plan again", arena, &own);

    if (status == CLV_OK)
        return CLV_OK;
    if (status != CLV_EFORMAT)
        return clv_fail(err, status, "%s", own.message);
    p->changed = clv_arena_printf(arena, "%s", own.message);
    return p->changed ? CLV_OK : nomem(err);
}

clv_status clr_manifest_read(const char *folder, clv_arena *arena, clr_program *ret, clv_error *err)
{
    const char *text = NULL, *path = clv_arena_printf(arena, "%s/" NAME, folder);
    const clv_folder_file file = { folder, NAME, MANIFEST_MAX };
    clr_program program;
    size_t n = 0;

    if (!path)
        return nomem(err);
    CLV_TRY(clv_read_folder_file(&file, arena, &text, &n, err));
    CLV_TRY(clr_manifest_parse(text, n, folder, arena, &program, err));
    CLV_TRY(clr_manifest_sum_routes(text, n, arena, &program.routes, err));
    if (program.version >= 2) {
        CLV_TRY(clr_manifest_check(&program, err));
        CLV_TRY(note_change(text, n, path, arena, &program, err));
    }
    *ret = program;
    return CLV_OK;
}

/* -- are the files those that were written? -- */

/* Judged and summed by one descriptor, in the folder that is open as `folder`. */
static clv_status check_file(const clr_program *p, int folder, const clr_file *f, clv_arena *arena,
                             clv_error *err)
{
    clv_file_inside file = { folder, f->file,
                             clv_arena_printf(arena, "%s/%s", p->folder, f->file) };
    clv_checksum sum, listed;
    clv_file_id id;
    char text[CLV_CHECKSUM_TEXT];
    int64_t bytes = 0;
    int fd = -1;

    if (!file.path)
        return clv_fail_nomem(err, "a path");
    if (clv_open_inside(folder, f->file, O_RDONLY, &fd, &id) == CLV_INSIDE_ABSENT)
        return clv_fail(err, CLV_EFORMAT, "%s: %s, but the manifest lists it", file.path,
                        strerror(ENOENT));
    if (fd < 0)
        CLV_TRY(clv_open_inside_or_fail(&file, &fd, &id, err));
    CLV_TRY(clv_checksum_opened(fd, file.path, arena, &sum, &bytes, err));
    if (bytes != f->bytes)
        return clv_fail(err, CLV_EFORMAT,
                        "%s was changed: it has %lld bytes, the manifest says %" PRId64, file.path,
                        (long long)bytes, f->bytes);
    if (!clv_checksum_parse(f->xxh3, &listed) || !clv_checksum_eq(sum, listed))
        return clv_fail(err, CLV_EFORMAT,
                        "%s was changed: its checksum is %s, the manifest says %.40s", file.path,
                        clv_checksum_text(text, sum), f->xxh3);
    return CLV_OK;
}

clv_status clr_manifest_check_files(const clr_program *program, clv_arena *arena, clv_error *err)
{
    clv_status status = CLV_OK;
    int folder = clv_open_folder(program->folder);

    if (folder < 0)
        return clv_fail(err, CLV_EIO, "cannot open %s: %s", program->folder, strerror(errno));
    for (int32_t i = 0; i < program->n_files && status == CLV_OK; i++)
        status = check_file(program, folder, &program->files[i], arena, err);
    close(folder);
    return status;
}
