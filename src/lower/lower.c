#include "lower/lower.h"

#include "base/out_folder.h"
#include "lower/annotated_model.h"
#include "lower/manifest.h"
#include "lower/model_file.h"
#include "lower/spmd_make.h"
#include "proto/append_metadata.h"
#include "proto/out_file.h"
#include "weights/model_source.h"
#include "weights/part_write.h"

#define WHAT "lowering a plan"

/* Parts of weights up to so many bytes stand in the model file; a page each would be a waste. */
#define INLINE_BYTES 1024

/* A file's name has at most 255 bytes; what stands behind a device's has up to 30, and so has that
 * of a temporary. */
#define DEVICE_NAME_MAX 180

/* The folder as far as it is written. */
typedef struct {
    const clv_lowering *l;
    clv_out_folder *out; /* where files are written */
    clv_arena *arena;
    clv_spmd *s; /* NULL: the model stays one */
    clv_weight_list list;
    clv_model_weights weights;
    clv_part_files *parts;
    const clv_payload *payloads; /* by weight: where its bytes lie in the original */
    int32_t *set_of;             /* by device of the plan: its set of parts; -1 */
    int32_t *entry_of;           /* RANGES: by part, its number in the file that lists its ranges */
    clv_manifest_model *models;
    clv_manifest_file *files;
    clv_emit_collective *collectives;
    clv_annotated annotated; /* its settings, in forms that have some */
    const char **notes;
    int32_t n_models, n_files, n_collectives, n_notes;
    int32_t cap_models, cap_files, cap_collectives, cap_notes;
    bool only_lists; /* the first of two passes: parts are listed, no model is written */
    int32_t *ids;    /* of the parts in the order of the first pass, for the second */
    int32_t n_ids, cap_ids, next_id;
} writer;

/* A model file; its own arena goes when it is written. */
typedef struct {
    writer *w;
    clv_file_place place;
    clv_arena *arena;
    clv_model_file f;
} writing_file;

/* -- names of files -- */

/* A device's name as that of a file: what would leave the folder becomes '_'. */
static const char *file_name(clv_arena *arena, const char *name, const char *end)
{
    char *text = clv_arena_printf(arena, "%s%s", name, end);
    for (char *c = text; c && *c; c++)
        if (*c == '/' || *c == '\\' || (unsigned char)*c < ' ' || (c == text && *c == '.'))
            *c = '_';
    return text;
}

static const char *model_file_name(writer *w, clv_file_place place)
{
    if (place.phase < 0)
        return "model.onnx";
    const clv_spmd_phase *p = &w->s->phases[place.phase];
    const char *device = w->l->plan->devices[p->device[place.position]].name;
    const char *end = p->backward ? ".backward.onnx" : ".onnx";
    bool alone = true; /* several devices may be in one stage, side by side */
    for (int32_t i = 0; i < w->s->n_phases && alone; i++)
        alone = i == place.phase || w->s->phases[i].stage != p->stage ||
                w->s->phases[i].backward != p->backward;
    if (w->l->form == CLV_FORM_STAGES && alone)
        return clv_arena_printf(w->arena, "stage%d%s", (int)p->stage, end);
    if (w->l->form == CLV_FORM_STAGES)
        end = clv_arena_printf(w->arena, ".stage%d%s", (int)p->stage, end);
    return end ? file_name(w->arena, device, end) : NULL;
}

/* Devices whose names make one file name, be it of one's backward pass. */
static clv_status check_names(const clv_plan *plan, clv_arena *arena, clv_error *err)
{
    static const char *const ends[] = { "", ".backward" };
    clv_map seen;
    CLV_TRY(clv_map_init(&seen, arena, 2 * plan->n_devices, err));
    for (int32_t i = 0; i < 2 * plan->n_devices; i++) {
        int32_t d = i / 2, id;
        const char *name = file_name(arena, plan->devices[d].name, ends[i % 2]);
        if (!name)
            return clv_fail_nomem(err, WHAT);
        if (strlen(plan->devices[d].name) > DEVICE_NAME_MAX)
            return clv_fail(err, CLV_EFORMAT,
                            "device '%.60s...' has a name of %zu bytes, expected at most %d for "
                            "files that are called like it",
                            plan->devices[d].name, strlen(plan->devices[d].name), DEVICE_NAME_MAX);
        CLV_TRY(clv_map_put(&seen, clv_str_of(name), d, &id, err));
        if (id != d)
            return clv_fail(err, CLV_EFORMAT,
                            "devices '%.60s' and '%.60s' would have files of one name",
                            plan->devices[id].name, plan->devices[d].name);
    }
    return CLV_OK;
}

/* -- weights -- */

/* The set of parts that the files of a device share. */
static clv_status find_set(writer *w, clv_file_place place, int32_t *ret, clv_error *err)
{
    int32_t device = place.phase < 0 ? 0 : w->s->phases[place.phase].device[place.position];
    *ret = w->set_of[device];
    if (*ret >= 0)
        return CLV_OK;
    const char *name = place.phase < 0 ? "weights" : w->l->plan->devices[device].name;
    name = file_name(w->arena, name, w->l->weights == CLV_PARTS_EXTERNAL ? ".data" : "");
    if (!name)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_part_files_open(w->parts, name, ret, err));
    w->set_of[device] = *ret;
    return CLV_OK;
}

/* Where the ranges of a part are: one that is one run of the original's bytes is external data
 * there. Of others only a file of ranges says: which one and the number of the entry, in a place of
 * a name that no file has. */
static clv_status locate_range(const writing_file *x, int32_t id, clv_new_tensor *ret,
                               clv_error *err)
{
    const writer *w = x->w;
    const clv_part_place *place = clv_part_files_at(w->parts, id);
    const clv_payload *payload = &w->payloads[place->weight];
    int bits = clv_dtype_bits(w->weights.data[place->weight].dtype);
    int64_t in_byte = bits < 8 ? 8 / bits : 1, in_elem = bits < 8 ? 1 : bits / 8;
    clv_runs runs;
    clv_runs_start(&place->box, &runs);
    if (payload->file && runs.n == clv_box_elems(&place->box) && runs.first % in_byte == 0) {
        ret->location = clv_str_of(payload->file);
        ret->offset = payload->offset + runs.first / in_byte * in_elem;
        return CLV_OK;
    }
    char *text = clv_arena_printf(
        x->arena, "%s#%d", clv_part_files_file(w->parts, place->file)->name, (int)w->entry_of[id]);
    if (!text)
        return clv_fail_nomem(err, WHAT);
    ret->location = clv_str_of(text);
    ret->offset = 0;
    return CLV_OK;
}

/* The number of a part. Where there are two passes nothing is added in the second, which meets the
 * same parts in the same order. */
static clv_status number_part(writing_file *x, const clv_emit_weight *part, int32_t *ret,
                              clv_error *err)
{
    writer *w = x->w;
    clv_box box;
    int32_t set;
    if (w->l->weights != CLV_PARTS_EXTERNAL && !w->only_lists) {
        *ret = w->ids[w->next_id++];
        return CLV_OK;
    }
    CLV_TRY(clv_spmd_box(w->s, &part->shard, x->arena, &box, err));
    CLV_TRY(find_set(w, x->place, &set, err));
    CLV_TRY(clv_part_files_add(w->parts, set, part->weight, &box, ret, err));
    if (!w->only_lists)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(w->arena, w->ids, w->n_ids, w->cap_ids))
        return clv_fail_nomem(err, WHAT);
    w->ids[w->n_ids++] = *ret;
    return CLV_OK;
}

/* The initialiser of a part of a weight: its bytes are in the file itself, or in that of its
 * device. */
static clv_status make_initialiser(writing_file *x, const clv_emit_weight *part,
                                   clv_new_tensor *ret, clv_error *err)
{
    writer *w = x->w;
    const clv_tensor_data *data = &w->weights.data[part->weight];
    int32_t id;
    int64_t bytes = 0;
    const clv_emit_type own = { data->dtype, part->dims ? part->rank : data->rank,
                                part->dims ? part->dims : data->dims };
    int64_t elems = clv_emit_elems(&own);
    (void)clv_dtype_bytes(data->dtype, elems, &bytes);
    if (data->kind == CLV_DATA_NONE || elems == 0 ||
        (bytes <= INLINE_BYTES && data->kind != CLV_DATA_ABSENT))
        return w->only_lists ? CLV_OK
                             : clv_model_file_inline(w->s, part, &w->weights, x->arena, ret, err);
    if (w->l->weights != CLV_PARTS_RANGES) /* before room is taken for all files */
        CLV_TRY(clv_weight_is_there(data, err));
    CLV_TRY(number_part(x, part, &id, err));
    const clv_part_place *place = clv_part_files_at(w->parts, id);
    *ret = (clv_new_tensor){ .name = part->name,
                             .dtype = own.dtype,
                             .rank = own.rank,
                             .dims = own.dims,
                             .n_bytes = bytes,
                             .offset = place->offset,
                             .weight = -1 };
    if (w->only_lists)
        return CLV_OK;
    if (w->l->weights == CLV_PARTS_RANGES)
        return locate_range(x, id, ret, err);
    ret->location = clv_str_of(clv_part_files_file(w->parts, place->file)->name);
    return CLV_OK;
}

/* -- model files -- */

static clv_status list_file(writer *w, const char *name, clv_error *err)
{
    clv_file_inside at = { clv_out_folder_fd(w->out), name, NULL };
    at.path = clv_arena_printf(w->arena, "%s/%s", clv_out_folder_path(w->out), name);
    if (!at.path || !CLV_PUSH_ROOM(w->arena, w->files, w->n_files, w->cap_files))
        return clv_fail_nomem(err, WHAT);
    clv_manifest_file *file = &w->files[w->n_files++];
    file->name = name;
    return clv_checksum_inside(&at, w->arena, &file->checksum, &file->bytes, err);
}

/* A copy for the manifest: the file's own arena goes. at NULL: no memory. */
static clv_file_ios copy_ios(clv_arena *arena, const clv_file_ios *from)
{
    clv_file_ios ret = { CLV_NEW_ARRAY(arena, clv_file_io, from->n), from->n, from->n };
    for (int32_t i = 0; ret.at && i < from->n; i++) {
        clv_file_io *io = &ret.at[i];
        char *name = clv_arena_str(arena, from->at[i].name);
        clv_type *type = CLV_NEW(arena, clv_type);
        if (!name || !type)
            return (clv_file_ios){ NULL, 0, 0 };
        *io = from->at[i];
        io->name = clv_str_of(name);
        *type = *io->type;
        if (type->kind == CLV_TYPE_TENSOR && type->rank > 0) {
            int64_t *dims = CLV_NEW_ARRAY(arena, int64_t, type->rank);
            if (!dims)
                return (clv_file_ios){ NULL, 0, 0 };
            memcpy(dims, type->dims, (size_t)type->rank * sizeof *dims);
            type->dims = dims;
        }
        io->type = type;
    }
    return ret;
}

/* What the manifest has to know of a file. */
static clv_status list_model(const writing_file *x, const char *name, clv_error *err)
{
    writer *w = x->w;
    clv_manifest_model model = { .file = name,
                                 .place = x->place,
                                 .inputs = copy_ios(w->arena, &x->f.inputs),
                                 .outputs = copy_ios(w->arena, &x->f.outputs) };
    if (!model.inputs.at || !model.outputs.at ||
        !CLV_PUSH_ROOM(w->arena, w->models, w->n_models, w->cap_models))
        return clv_fail_nomem(err, WHAT);
    w->models[w->n_models++] = model;
    for (int32_t i = 0; x->place.position == 0 && i < x->f.e.n_collectives; i++) {
        clv_emit_collective c = x->f.e.collectives[i];
        char *node = clv_arena_str(w->arena, c.node);
        if (!node || !CLV_PUSH_ROOM(w->arena, w->collectives, w->n_collectives, w->cap_collectives))
            return clv_fail_nomem(err, WHAT);
        c.node = clv_str_of(node);
        w->collectives[w->n_collectives++] = c;
    }
    return CLV_OK;
}

static clv_status make_file(writing_file *x, clv_error *err)
{
    writer *w = x->w;
    clv_out_file *out;
    const char *name = model_file_name(w, x->place);
    if (!name)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_model_file_make(w->s, x->place.phase < 0 ? CLV_DIALECT_PLAIN : w->l->dialect,
                                x->place, x->arena, &x->f, err));
    clv_new_tensor *initialisers = CLV_NEW_ARRAY(x->arena, clv_new_tensor, x->f.e.n_weights);
    if (!initialisers)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < x->f.e.n_weights; i++)
        CLV_TRY(make_initialiser(x, &x->f.e.weights[i], &initialisers[i], err));
    if (w->only_lists)
        return CLV_OK;
    CLV_TRY(clv_out_open_in(w->out, name, clv_arena_alloc(w->arena), &out, err));
    clv_sink sink = clv_out_sink(out);
    clv_status status = clv_model_file_write(&x->f, w->l->file, initialisers, &sink, x->arena, err);
    if (status != CLV_OK) {
        clv_out_abort(out);
        return status;
    }
    CLV_TRY(clv_out_commit(out, err));
    return list_model(x, name, err);
}

static clv_status make_files(writer *w, clv_error *err)
{
    bool one = w->l->form == CLV_FORM_EMULATE;
    int32_t n = w->s->mesh.n_devices;
    for (int32_t i = 0; i < (one ? 1 : w->s->n_phases * n); i++) {
        writing_file x = { .w = w,
                           .place = one ? CLV_ALL_DEVICES : (clv_file_place){ i / n, i % n },
                           .arena = clv_arena_new(clv_arena_alloc(w->arena), 0) };
        clv_status status = x.arena ? make_file(&x, err) : clv_fail_nomem(err, WHAT);
        clv_arena_free(x.arena);
        CLV_TRY(status);
    }
    return CLV_OK;
}

/* -- the folder -- */

static clv_status open_parts(writer *w, clv_error *err)
{
    clv_parts_options options = {
        .kind = w->l->weights, .file_sums = true, .stop = w->l->stop, .stop_ctx = w->l->stop_ctx
    };
    clv_payload *payloads = CLV_NEW_ARRAY(w->arena, clv_payload, w->list.n);
    w->set_of = CLV_NEW_ARRAY(w->arena, int32_t, w->l->plan->n_devices);
    if (!payloads || !w->set_of)
        return clv_fail_nomem(err, WHAT);
    for (int32_t d = 0; d < w->l->plan->n_devices; d++)
        w->set_of[d] = -1;
    for (int32_t i = 0; i < w->list.n; i++) {
        const clv_tensor_data *data = &w->weights.data[i];
        bool in_model = data->kind == CLV_DATA_RAW;
        if (!in_model && data->kind != CLV_DATA_EXTERNAL && data->kind != CLV_DATA_ABSENT)
            continue;
        const char *name = in_model ? w->l->model_name : clv_arena_str(w->arena, data->location);
        payloads[i] = (clv_payload){ name, data->offset, data->bytes };
    }
    options.payloads = w->payloads = payloads;
    return clv_part_files_new(w->out, &w->list, &options, w->arena, &w->parts, err);
}

static clv_manifest manifest_of(const writer *w)
{
    return (clv_manifest){ .l = w->l,
                           .s = w->s,
                           .models = w->models,
                           .n_models = w->n_models,
                           .collectives = w->collectives,
                           .n_collectives = w->n_collectives,
                           .files = w->files,
                           .n_files = w->n_files,
                           .settings = w->annotated.settings,
                           .n_settings = w->annotated.n_settings,
                           .notes = w->notes,
                           .n_notes = w->n_notes };
}

/* Binds the models to the manifest that they will be run by. */
static clv_status bind_models(const writer *w, clv_error *err)
{
    const clv_manifest m = manifest_of(w);
    char text[CLV_CHECKSUM_TEXT];
    clv_checksum routes;
    CLV_TRY(clv_manifest_routes(&m, w->arena, &routes, err));
    clv_checksum_text(text, routes);
    for (int32_t i = 0; i < w->n_models; i++) {
        clv_file_inside at = { clv_out_folder_fd(w->out), w->models[i].file, NULL };
        at.path = clv_arena_printf(w->arena, "%s/%s", clv_out_folder_path(w->out), at.name);
        const char *value = clv_arena_printf(w->arena, "%s %s", text, at.name);
        if (!at.path || !value)
            return clv_fail_nomem(err, WHAT);
        CLV_TRY(clv_onnx_append_metadata(&at, CLV_ROUTES_METADATA, value, w->arena, err));
    }
    return CLV_OK;
}

static clv_status write_manifest(const writer *w, clv_lower_summary *ret, clv_error *err)
{
    const clv_manifest m = manifest_of(w);
    const char *text;
    clv_out_file *out;
    size_t n;
    CLV_TRY(clv_manifest_write(&m, w->arena, &text, &n, &ret->n_transfers, err));
    CLV_TRY(clv_out_open_in(w->out, CLV_MANIFEST_NAME, clv_arena_alloc(w->arena), &out, err));
    clv_sink sink = clv_out_sink(out);
    clv_status status = sink.write(sink.ctx, text, n, err);
    if (status != CLV_OK) {
        clv_out_abort(out);
        return status;
    }
    ret->n_models = w->n_models;
    ret->n_files = w->n_files;
    ret->n_collectives = w->n_collectives;
    for (int32_t i = 0; i < w->n_files; i++)
        ret->bytes += w->files[i].bytes;
    return clv_out_commit(out, err);
}

static clv_status add_note(writer *w, const char *text, clv_error *err)
{
    if (!CLV_PUSH_ROOM(w->arena, w->notes, w->n_notes, w->cap_notes))
        return clv_fail_nomem(err, WHAT);
    w->notes[w->n_notes++] = text;
    return CLV_OK;
}

static clv_status note_copies(writer *w, clv_error *err)
{
    int32_t n = clv_plan_copies(w->l->plan);
    if (n == 1 || clv_lower_form_has_devices(w->l->form))
        return CLV_OK;
    const char *text = clv_arena_printf(
        w->arena, "the plan has %d copies, of which requests take one in turn: this is one of them",
        (int)n);
    return text ? add_note(w, text, err) : clv_fail_nomem(err, WHAT);
}

/* What the files themselves cannot say of the plan. */
static clv_status add_notes(writer *w, clv_error *err)
{
    const clv_mesh *mesh = &w->s->mesh;
    bool some = false; /* collectives go among part of the ranks */
    for (int32_t i = 0; i < w->n_collectives; i++)
        some = some || w->s->n_phases > 1 ||
               clv_mesh_count(mesh, w->collectives[i].mesh_axes) != mesh->n_devices;
    if (some && w->l->dialect == CLV_DIALECT_ORT)
        CLV_TRY(add_note(w,
                         "some collectives go among part of the ranks: the nodes of com.microsoft "
                         "cannot say which, 'groups' here does",
                         err));
    if (w->l->form == CLV_FORM_STAGES && w->l->plan->mesh_devices > 1)
        CLV_TRY(add_note(w,
                         "the plan splits operators over the devices of a stage: here they are "
                         "whole, on the first of these devices",
                         err));
    return note_copies(w, err);
}

static clv_status fill_with_parts(writer *w, clv_lower_summary *ret, clv_error *err)
{
    CLV_TRY(open_parts(w, err));
    if (w->l->weights != CLV_PARTS_EXTERNAL) {
        w->only_lists = true; /* offsets are known when all parts are */
        CLV_TRY(make_files(w, err));
        CLV_TRY(clv_part_files_seal(w->parts, err));
        w->only_lists = false;
        /* entries of a file are in the order in which its parts were added */
        int32_t n = clv_part_files_n(w->parts);
        int32_t *count = CLV_NEW_ARRAY(w->arena, int32_t, clv_part_files_n_files(w->parts));
        w->entry_of = CLV_NEW_ARRAY(w->arena, int32_t, n);
        if (!count || !w->entry_of)
            return clv_fail_nomem(err, WHAT);
        for (int32_t i = 0; i < n; i++)
            w->entry_of[i] = count[clv_part_files_at(w->parts, i)->file]++;
    }
    CLV_TRY(make_files(w, err));
    CLV_TRY(bind_models(w, err));
    for (int32_t i = 0; i < w->n_models; i++)
        CLV_TRY(list_file(w, w->models[i].file, err));
    if (w->l->weights == CLV_PARTS_EXTERNAL)
        CLV_TRY(clv_part_files_seal(w->parts, err));
    CLV_TRY(clv_part_files_write(w->parts, &w->weights.elements, err));
    for (int32_t i = 0; i < clv_part_files_n_files(w->parts); i++) {
        const clv_part_file *part = clv_part_files_file(w->parts, i);
        if (!CLV_PUSH_ROOM(w->arena, w->files, w->n_files, w->cap_files))
            return clv_fail_nomem(err, WHAT);
        w->files[w->n_files++] = (clv_manifest_file){ part->name, part->bytes, part->checksum };
    }
    CLV_TRY(add_notes(w, err));
    return write_manifest(w, ret, err);
}

/* One model with the whole model's inputs and outputs. */
static clv_status list_annotated(writer *w, clv_error *err)
{
    const clv_graph *g = w->l->model->main;
    clv_file_io *io = CLV_NEW_ARRAY(w->arena, clv_file_io, (int64_t)g->n_inputs + g->n_outputs);
    if (!io || !CLV_PUSH_ROOM(w->arena, w->models, w->n_models, w->cap_models))
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < g->n_inputs + g->n_outputs; i++) {
        clv_tensor t = i < g->n_inputs ? g->inputs[i] : g->outputs[i - g->n_inputs];
        io[i] = (clv_file_io){ clv_tensor_at(g, t)->name, -1, t, &w->l->types->of[t.i] };
    }
    w->models[w->n_models++] =
        (clv_manifest_model){ .file = w->annotated.files[0],
                              .place = CLV_ALL_DEVICES,
                              .inputs = { io, g->n_inputs, g->n_inputs },
                              .outputs = { io + g->n_inputs, g->n_outputs, g->n_outputs } };
    return CLV_OK;
}

static clv_status fill_annotated(writer *w, clv_lower_summary *ret, clv_error *err)
{
    CLV_TRY(clv_annotated_write(w->l, w->out, w->arena, &w->annotated, err));
    CLV_TRY(list_annotated(w, err));
    CLV_TRY(bind_models(w, err));
    for (int32_t i = 0; i < w->annotated.n_files; i++) {
        if (w->l->stop && w->l->stop(w->l->stop_ctx))
            return clv_fail(err, CLV_ECANCELED, "stopped while weights were written");
        CLV_TRY(list_file(w, w->annotated.files[i], err));
    }
    if (w->annotated.note)
        CLV_TRY(add_note(w, w->annotated.note, err));
    CLV_TRY(note_copies(w, err));
    return write_manifest(w, ret, err);
}

clv_status clv_lower_check(const clv_model *model, const char *name, clv_error *err)
{
    const char *lacks = model->main->n_ops == 0       ? "operators"
                        : model->main->n_outputs == 0 ? "outputs"
                                                      : NULL;
    return lacks ? clv_fail(err, CLV_EUNSUPP, "%s has no %s: there is nothing to lower",
                            name ? name : "the model", lacks)
                 : CLV_OK;
}

clv_status clv_lower(const clv_lowering *l, const char *folder, clv_arena *arena,
                     clv_lower_summary *ret, clv_error *err)
{
    writer w = { .l = l, .arena = arena };
    bool annotated = clv_lower_form_is_annotated(l->form);
    clv_tensor_data *data = NULL;
    clv_model_source *source = NULL;
    const clv_onnx_model model = { l->file, l->model };
    clv_out_folder *out;
    clv_status status = CLV_OK;
    *ret = (clv_lower_summary){ .n_models = 0 };
    CLV_TRY(clv_lower_check(l->model, l->model_name, err));
    if (!annotated) {
        CLV_TRY(check_names(l->plan, arena, err));
        CLV_TRY(l->form == CLV_FORM_STAGES
                    ? clv_spmd_make_whole(l->model, l->types, l->plan, arena, &w.s, err)
                    : clv_spmd_make(l->model, l->types, l->plan, arena, &w.s, err));
        CLV_TRY(clv_tensor_data_find(l->file, l->model, arena, &data, err));
        CLV_TRY(clv_weight_list_of(l->model, arena, &w.list, err));
    }
    CLV_TRY(clv_out_folder_open(folder, clv_arena_alloc(arena), &out, err));
    w.out = out;
    w.weights.data = data;
    if (!annotated)
        status = clv_model_source_new(&model, data, NULL, arena, &source, err);
    if (source)
        w.weights.elements = clv_model_source_of(source);
    if (status == CLV_OK)
        status = annotated ? fill_annotated(&w, ret, err) : fill_with_parts(&w, ret, err);
    clv_model_source_free(source);
    if (status != CLV_OK) {
        clv_out_folder_abort(out);
        return status;
    }
    return clv_out_folder_commit(out, err);
}
