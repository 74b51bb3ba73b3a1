#include "lower/lower.h"

#include "base/out_folder.h"
#include "lower/annotated.h"
#include "lower/local_file.h"
#include "lower/manifest.h"
#include "lower/spmd_make.h"
#include "weights/model_source.h"

#define WHAT "lowering a plan"

/* Parts of weights up to so many bytes stand in the model file; a page each would be a waste. */
#define INLINE_BYTES 1024

const char *clv_form_name(clv_form form)
{
    static const char *const names[CLV_N_FORMS] = { "stages", "devices", "emulate", "ort-options",
                                                    "olive" };
    return names[form];
}

typedef struct {
    const clv_onnx_file *file;
    const clv_model *model;
    const clv_types *types;
    const clv_plan *plan;
    const clv_lower_options *options;
    clv_arena *arena;
    clv_error *err;
    clv_spmd *s;
    clv_tensor_data *data;
    clv_weight_list weights;
    clv_weight_source elements; /* of the weights */
    clv_part_files *parts;
    const clv_payload *payloads; /* by weight: where its bytes lie in the original */
    int32_t *set_of;             /* by device of the plan: its set of parts; -1 */
    int32_t *entry_of;           /* RANGES: by part, its number in the file that tells its ranges */
    const char *folder;          /* where files are written */
    clv_manifest_model *models;
    clv_manifest_file *files;
    clv_emit_collective *collectives;
    clv_annotated annotated; /* its settings, in forms that have some */
    const char **notes;
    int32_t n_models, n_files, n_collectives, n_notes;
    int32_t cap_models, cap_files, cap_collectives, cap_notes;
    bool weighing; /* the first of two passes: parts are only listed */
    int32_t *ids;  /* of the parts in the order of the first pass, for the second */
    int32_t n_ids, cap_ids, next_id;
} lowering;

static clv_status no_memory(const lowering *l) { return clv_fail_nomem(l->err, WHAT); }

/* -- names of files -- */

/* A device's name as that of a file: what would leave the folder becomes '_'. */
static const char *file_name(lowering *l, const char *name, const char *end)
{
    char *text = clv_arena_printf(l->arena, "%s%s", name, end);
    for (char *c = text; c && *c; c++)
        if (*c == '/' || *c == '\\' || (unsigned char)*c < ' ' || (c == text && *c == '.'))
            *c = '_';
    return text;
}

static const char *model_file(lowering *l, int32_t phase, int32_t position)
{
    if (phase < 0)
        return "model.onnx";
    const clv_spmd_phase *p = &l->s->phases[phase];
    const char *end = p->backward ? ".backward.onnx" : ".onnx";
    bool alone = true; /* several devices may be in one stage, side by side */
    for (int32_t i = 0; i < l->s->n_phases && alone; i++)
        alone = i == phase || l->s->phases[i].stage != p->stage ||
                l->s->phases[i].backward != p->backward;
    if (l->options->form == CLV_FORM_STAGES && alone)
        return clv_arena_printf(l->arena, "stage%d%s", (int)p->stage, end);
    if (l->options->form == CLV_FORM_STAGES) {
        end = clv_arena_printf(l->arena, ".stage%d%s", (int)p->stage, end);
        return end ? file_name(l, l->plan->devices[p->device[position]].name, end) : NULL;
    }
    return file_name(l, l->plan->devices[p->device[position]].name, end);
}

/* Devices whose names make one file name, be it of one's backward pass. */
static clv_status check_names(lowering *l)
{
    static const char *const ends[] = { "", ".backward" };
    clv_map seen;
    CLV_TRY(clv_map_init(&seen, l->arena, 2 * l->plan->n_devices, l->err));
    for (int32_t i = 0; i < 2 * l->plan->n_devices; i++) {
        int32_t d = i / 2, id;
        const char *name = file_name(l, l->plan->devices[d].name, ends[i % 2]);
        if (!name)
            return no_memory(l);
        CLV_TRY(clv_map_put(&seen, clv_str_of(name), d, &id, l->err));
        if (id != d)
            return clv_fail(l->err, CLV_EFORMAT,
                            "devices '%.60s' and '%.60s' would have files of one name",
                            l->plan->devices[id].name, l->plan->devices[d].name);
    }
    return CLV_OK;
}

/* -- weights -- */

static clv_status set_for(lowering *l, int32_t phase, int32_t position, int32_t *ret)
{
    int32_t device = phase < 0 ? 0 : l->s->phases[phase].device[position];
    *ret = l->set_of[device];
    if (*ret >= 0)
        return CLV_OK;
    const char *name = phase < 0 ? "weights" : l->plan->devices[device].name;
    name = file_name(l, name, l->options->weights == CLV_PARTS_EXTERNAL ? ".data" : "");
    if (!name)
        return no_memory(l);
    CLV_TRY(clv_part_files_open(l->parts, name, ret, l->err));
    l->set_of[device] = *ret;
    return CLV_OK;
}

static bool stands_in_file(const lowering *l, const clv_emit_weight *w, int64_t bytes)
{
    clv_data_kind kind = l->data[w->weight].kind;
    bool at_hand = kind == CLV_DATA_RAW || kind == CLV_DATA_TYPED || kind == CLV_DATA_EXTERNAL;
    return kind == CLV_DATA_NONE || (bytes <= INLINE_BYTES && at_hand);
}

/* A part that is one run of the original's bytes is told as external data there. Of others only a
 * file of ranges tells: which one and the number of the entry, in a place of a name that no file
 * has. */
static clv_status tell_range(const lowering *l, const clv_part_place *place, int32_t id,
                             clv_arena *arena, clv_new_tensor *ret)
{
    const clv_payload *payload = &l->payloads[place->weight];
    int bits = clv_dtype_bits(l->data[place->weight].dtype);
    int64_t in_byte = bits < 8 ? 8 / bits : 1, in_elem = bits < 8 ? 1 : bits / 8;
    clv_runs runs;
    clv_runs_start(&place->box, &runs);
    if (payload->file && runs.n == clv_box_elems(&place->box) && runs.first % in_byte == 0) {
        ret->location = clv_str_of(payload->file);
        ret->offset = payload->offset + runs.first / in_byte * in_elem;
        return CLV_OK;
    }
    char *text = clv_arena_printf(arena, "%s#%d", clv_part_files_file(l->parts, place->file)->name,
                                  (int)l->entry_of[id]);
    if (!text)
        return no_memory(l);
    ret->location = clv_str_of(text);
    ret->offset = 0;
    return CLV_OK;
}

/* The number of a part. Where there are two passes nothing is added in the second, which meets the
 * same parts in the same order. */
static clv_status number_part(lowering *l, const clv_emit_weight *w, int32_t phase,
                              int32_t position, clv_arena *arena, int32_t *ret)
{
    clv_box box;
    int32_t set;
    if (l->options->weights != CLV_PARTS_EXTERNAL && !l->weighing) {
        *ret = l->ids[l->next_id++];
        return CLV_OK;
    }
    CLV_TRY(clv_spmd_box(l->s, &(clv_spmd_shard){ w->tensor, w->layout, w->position }, arena, &box,
                         l->err));
    CLV_TRY(set_for(l, phase, position, &set));
    CLV_TRY(clv_part_files_add(l->parts, set, w->weight, &box, ret, l->err));
    if (!l->weighing)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(l->arena, l->ids, l->n_ids, l->cap_ids))
        return no_memory(l);
    l->ids[l->n_ids++] = *ret;
    return CLV_OK;
}

/* Where the initialiser of a part is: in the file itself, or in that of its device. */
static clv_status place_weight(lowering *l, const clv_local_file *f, const clv_emit_weight *w,
                               int32_t phase, int32_t position, clv_arena *arena,
                               clv_new_tensor *ret)
{
    const clv_tensor_data *data = &l->data[w->weight];
    int32_t id;
    int64_t bytes = 0, elems = 1;
    const int64_t *own = w->dims ? w->dims : data->dims;
    int32_t rank = w->dims ? w->rank : data->rank;
    for (int32_t i = 0; i < rank; i++)
        elems *= own[i];
    (void)clv_dtype_bytes(data->dtype, elems, &bytes);
    if (stands_in_file(l, w, bytes) || elems == 0)
        return l->weighing ? CLV_OK
                           : clv_local_file_inline(f, w, l->data, &l->elements, arena, ret, l->err);
    CLV_TRY(number_part(l, w, phase, position, arena, &id));
    const clv_part_place *place = clv_part_files_at(l->parts, id);
    *ret = (clv_new_tensor){ .name = w->name,
                             .dtype = data->dtype,
                             .rank = rank,
                             .dims = own,
                             .n_bytes = bytes,
                             .offset = place->offset,
                             .weight = -1 };
    if (l->weighing)
        return CLV_OK;
    if (l->options->weights == CLV_PARTS_RANGES)
        return tell_range(l, place, id, arena, ret);
    ret->location = clv_str_of(clv_part_files_file(l->parts, place->file)->name);
    return CLV_OK;
}

/* -- model files -- */

static clv_status keep_file(lowering *l, const char *name)
{
    const char *path = clv_arena_printf(l->arena, "%s/%s", l->folder, name);
    if (!path || !CLV_PUSH_ROOM(l->arena, l->files, l->n_files, l->cap_files))
        return no_memory(l);
    clv_manifest_file *file = &l->files[l->n_files++];
    file->name = name;
    return clv_checksum_file(path, l->arena, &file->checksum, &file->bytes, l->err);
}

static clv_status write_model(lowering *l, const clv_local_file *f, const clv_new_tensor *places,
                              const char *name, clv_arena *arena)
{
    const char *path = clv_arena_printf(l->arena, "%s/%s", l->folder, name);
    clv_out_file *out;
    if (!path)
        return no_memory(l);
    CLV_TRY(clv_out_open(path, clv_arena_alloc(l->arena), &out, l->err));
    clv_sink sink = clv_out_sink(out);
    clv_status status = clv_local_file_write(f, l->file, places, &sink, arena, l->err);
    if (status != CLV_OK) {
        clv_out_abort(out);
        return status;
    }
    CLV_TRY(clv_out_commit(out, l->err));
    return keep_file(l, name);
}

static clv_local_io *keep_io(lowering *l, const clv_local_io *at, int32_t n)
{
    clv_local_io *ret = CLV_NEW_ARRAY(l->arena, clv_local_io, n);
    for (int32_t i = 0; ret && i < n; i++) {
        char *name = clv_arena_printf(l->arena, "%.*s", CLV_STR_ARG(at[i].name));
        clv_type *type = CLV_NEW(l->arena, clv_type);
        if (!name || !type)
            return NULL;
        ret[i] = at[i];
        ret[i].name = clv_str_of(name);
        *type = *at[i].type;
        if (type->kind == CLV_TYPE_TENSOR && type->rank > 0) {
            int64_t *dims = CLV_NEW_ARRAY(l->arena, int64_t, type->rank);
            if (!dims)
                return NULL;
            memcpy(dims, at[i].type->dims, (size_t)type->rank * sizeof *dims);
            type->dims = dims;
        }
        ret[i].type = type;
    }
    return ret;
}

/* What the manifest has to know of a file is copied: the file's own arena goes. */
static clv_status note_model(lowering *l, const clv_local_file *f, const char *name, int32_t phase,
                             int32_t position)
{
    if (!CLV_PUSH_ROOM(l->arena, l->models, l->n_models, l->cap_models))
        return no_memory(l);
    clv_manifest_model *model = &l->models[l->n_models++];
    *model = (clv_manifest_model){ .file = name,
                                   .phase = phase,
                                   .position = position,
                                   .inputs = keep_io(l, f->inputs, f->n_inputs),
                                   .outputs = keep_io(l, f->outputs, f->n_outputs),
                                   .n_inputs = f->n_inputs,
                                   .n_outputs = f->n_outputs };
    if (!model->inputs || !model->outputs)
        return no_memory(l);
    for (int32_t i = 0; position == 0 && i < f->e.n_collectives; i++) {
        if (!CLV_PUSH_ROOM(l->arena, l->collectives, l->n_collectives, l->cap_collectives))
            return no_memory(l);
        clv_emit_collective *c = &l->collectives[l->n_collectives++];
        *c = f->e.collectives[i];
        char *node = clv_arena_printf(l->arena, "%.*s", CLV_STR_ARG(c->node));
        if (!node)
            return no_memory(l);
        c->node = clv_str_of(node);
    }
    return CLV_OK;
}

static clv_status lower_in(lowering *l, int32_t phase, int32_t position, clv_arena *arena)
{
    clv_local_file f;
    const char *name = model_file(l, phase, position);
    if (!name)
        return no_memory(l);
    if (phase < 0)
        CLV_TRY(clv_local_file_make_all(l->s, arena, &f, l->err));
    else
        CLV_TRY(clv_local_file_make(l->s, l->options->dialect, phase, position, arena, &f, l->err));
    clv_new_tensor *places = CLV_NEW_ARRAY(arena, clv_new_tensor, f.e.n_weights);
    if (!places)
        return no_memory(l);
    for (int32_t i = 0; i < f.e.n_weights; i++)
        CLV_TRY(place_weight(l, &f, &f.e.weights[i], phase, position, arena, &places[i]));
    if (l->weighing)
        return CLV_OK;
    CLV_TRY(write_model(l, &f, places, name, arena));
    return note_model(l, &f, name, phase, position);
}

static clv_status lower_file(lowering *l, int32_t phase, int32_t position)
{
    clv_arena *arena = clv_arena_new(clv_arena_alloc(l->arena), 0);
    if (!arena)
        return no_memory(l);
    clv_status status = lower_in(l, phase, position, arena);
    clv_arena_free(arena);
    return status;
}

static clv_status lower_files(lowering *l)
{
    if (l->options->form == CLV_FORM_EMULATE)
        return lower_file(l, -1, -1);
    for (int32_t p = 0; p < l->s->n_phases; p++)
        for (int32_t i = 0; i < l->s->mesh.n_devices; i++)
            CLV_TRY(lower_file(l, p, i));
    return CLV_OK;
}

/* -- the folder -- */

static clv_status open_parts(lowering *l)
{
    clv_parts_options options = { .kind = l->options->weights,
                                  .file_sums = true,
                                  .stop = l->options->stop,
                                  .stop_ctx = l->options->stop_ctx };
    clv_payload *payloads = CLV_NEW_ARRAY(l->arena, clv_payload, l->weights.n);
    l->set_of = CLV_NEW_ARRAY(l->arena, int32_t, l->plan->n_devices);
    if (!payloads || !l->set_of)
        return no_memory(l);
    for (int32_t d = 0; d < l->plan->n_devices; d++)
        l->set_of[d] = -1;
    for (int32_t i = 0; i < l->weights.n; i++) {
        const clv_tensor_data *data = &l->data[i];
        bool in_model = data->kind == CLV_DATA_RAW;
        if (!in_model && data->kind != CLV_DATA_EXTERNAL && data->kind != CLV_DATA_ABSENT)
            continue;
        const char *name = in_model
                               ? l->options->model_name
                               : clv_arena_printf(l->arena, "%.*s", CLV_STR_ARG(data->location));
        payloads[i] = (clv_payload){ name, data->offset, data->bytes };
    }
    options.payloads = l->payloads = payloads;
    return clv_part_files_new(l->folder, &l->weights, &options, l->arena, &l->parts, l->err);
}

static clv_status write_weights(lowering *l)
{
    CLV_TRY(clv_part_files_write(l->parts, &l->elements, l->err));
    for (int32_t i = 0; i < clv_part_files_n_files(l->parts); i++) {
        const clv_part_file *part = clv_part_files_file(l->parts, i);
        if (!CLV_PUSH_ROOM(l->arena, l->files, l->n_files, l->cap_files))
            return no_memory(l);
        l->files[l->n_files++] = (clv_manifest_file){ part->name, part->bytes, part->checksum };
    }
    return CLV_OK;
}

static clv_status write_manifest(lowering *l, clv_lower_summary *ret)
{
    clv_manifest m = { .model = l->model,
                       .types = l->types,
                       .plan = l->plan,
                       .s = l->s,
                       .options = l->options,
                       .models = l->models,
                       .n_models = l->n_models,
                       .collectives = l->collectives,
                       .n_collectives = l->n_collectives,
                       .files = l->files,
                       .n_files = l->n_files,
                       .settings = l->annotated.settings,
                       .n_settings = l->annotated.n_settings,
                       .notes = l->notes,
                       .n_notes = l->n_notes };
    const char *text, *path = clv_arena_printf(l->arena, "%s/" CLV_MANIFEST_NAME, l->folder);
    clv_out_file *out;
    size_t n;
    if (!path)
        return no_memory(l);
    CLV_TRY(clv_manifest_write(&m, l->arena, &text, &n, &ret->n_transfers, l->err));
    CLV_TRY(clv_out_open(path, clv_arena_alloc(l->arena), &out, l->err));
    clv_sink sink = clv_out_sink(out);
    clv_status status = sink.write(sink.ctx, text, n, l->err);
    if (status != CLV_OK) {
        clv_out_abort(out);
        return status;
    }
    ret->n_models = l->n_models;
    ret->n_files = l->n_files;
    ret->n_collectives = l->n_collectives;
    for (int32_t i = 0; i < l->n_files; i++)
        ret->bytes += l->files[i].bytes;
    return clv_out_commit(out, l->err);
}

static clv_status note(lowering *l, const char *text)
{
    if (!CLV_PUSH_ROOM(l->arena, l->notes, l->n_notes, l->cap_notes))
        return no_memory(l);
    l->notes[l->n_notes++] = text;
    return CLV_OK;
}

/* Bytes that only the runtime's own collectives over all ranks could carry. */
static clv_status note_groups(lowering *l)
{
    for (int32_t i = 0; i < l->n_collectives; i++) {
        bool all =
            clv_mesh_count(&l->s->mesh, l->collectives[i].mesh_axes) == l->s->mesh.n_devices &&
            l->s->n_phases == 1;
        if (all || l->options->dialect != CLV_DIALECT_ORT)
            continue;
        return note(l, "some collectives go among part of the ranks: the nodes of com.microsoft "
                       "cannot say which, 'groups' here does");
    }
    return CLV_OK;
}

/* What a form of whole operators does not say of the plan. */
static clv_status note_whole(lowering *l)
{
    if (l->options->form != CLV_FORM_STAGES || l->plan->mesh_devices <= 1)
        return CLV_OK;
    return note(l, "the plan splits operators over the devices of a stage: here they are whole, on "
                   "the first of these devices");
}

/* Parts of a file are told in the order in which they were added. */
static clv_status number_entries(lowering *l)
{
    int32_t n = clv_part_files_n(l->parts);
    int32_t *seen = CLV_NEW_ARRAY(l->arena, int32_t, clv_part_files_n_files(l->parts));
    l->entry_of = CLV_NEW_ARRAY(l->arena, int32_t, n);
    if (!seen || !l->entry_of)
        return no_memory(l);
    for (int32_t i = 0; i < n; i++)
        l->entry_of[i] = seen[clv_part_files_at(l->parts, i)->file]++;
    return CLV_OK;
}

static clv_status fill_folder(lowering *l, clv_lower_summary *ret)
{
    CLV_TRY(open_parts(l));
    if (l->options->weights != CLV_PARTS_EXTERNAL) {
        l->weighing = true; /* offsets are known when all parts are */
        CLV_TRY(lower_files(l));
        CLV_TRY(clv_part_files_seal(l->parts, l->err));
        CLV_TRY(number_entries(l));
        l->weighing = false;
    }
    CLV_TRY(lower_files(l));
    if (l->options->weights == CLV_PARTS_EXTERNAL)
        CLV_TRY(clv_part_files_seal(l->parts, l->err));
    CLV_TRY(write_weights(l));
    CLV_TRY(note_groups(l));
    CLV_TRY(note_whole(l));
    return write_manifest(l, ret);
}

static clv_status fill_from_weights(lowering *l, clv_lower_summary *ret)
{
    clv_model_source *source;
    CLV_TRY(clv_model_source_new(l->file, l->data, l->weights.n, NULL, l->arena, &source, l->err));
    l->elements = clv_model_source_of(source);
    clv_status status = fill_folder(l, ret);
    clv_model_source_free(source);
    return status;
}

/* One model with the whole model's inputs and outputs. */
static clv_status note_annotated(lowering *l)
{
    const clv_graph *g = l->model->main;
    clv_local_io *io = CLV_NEW_ARRAY(l->arena, clv_local_io, (int64_t)g->n_inputs + g->n_outputs);
    if (!io || !CLV_PUSH_ROOM(l->arena, l->models, l->n_models, l->cap_models))
        return no_memory(l);
    for (int32_t i = 0; i < g->n_inputs + g->n_outputs; i++) {
        clv_tensor t = i < g->n_inputs ? g->inputs[i] : g->outputs[i - g->n_inputs];
        io[i] = (clv_local_io){ clv_tensor_at(g, t)->name, -1, t, &l->types->of[t.i] };
    }
    l->models[l->n_models++] = (clv_manifest_model){ .file = l->annotated.files[0],
                                                     .phase = -1,
                                                     .position = -1,
                                                     .inputs = io,
                                                     .outputs = io + g->n_inputs,
                                                     .n_inputs = g->n_inputs,
                                                     .n_outputs = g->n_outputs };
    return CLV_OK;
}

static clv_status fill_annotated(lowering *l, clv_lower_summary *ret)
{
    CLV_TRY(clv_annotated_write(l->file, l->model, l->plan, l->options, l->folder, l->arena,
                                &l->annotated, l->err));
    for (int32_t i = 0; i < l->annotated.n_files; i++) {
        if (l->options->stop && l->options->stop(l->options->stop_ctx))
            return clv_fail(l->err, CLV_ECANCELED, "stopped while weights were written");
        CLV_TRY(keep_file(l, l->annotated.files[i]));
    }
    CLV_TRY(note_annotated(l));
    if (l->annotated.note)
        CLV_TRY(note(l, l->annotated.note));
    return write_manifest(l, ret);
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

clv_status clv_lower(const clv_onnx_file *file, const clv_model *model, const clv_types *types,
                     const clv_plan *plan, const clv_lower_options *options, const char *folder,
                     clv_arena *arena, clv_lower_summary *ret, clv_error *err)
{
    lowering l = { .file = file,
                   .model = model,
                   .types = types,
                   .plan = plan,
                   .options = options,
                   .arena = arena,
                   .err = err };
    bool annotated = clv_form_is_annotated(options->form);
    clv_out_folder *out;
    *ret = (clv_lower_summary){ .n_models = 0 };
    CLV_TRY(clv_lower_check(model, options->model_name, err));
    if (!annotated) {
        CLV_TRY(check_names(&l));
        CLV_TRY(options->form == CLV_FORM_STAGES
                    ? clv_spmd_make_whole(model, types, plan, arena, &l.s, err)
                    : clv_spmd_make(model, types, plan, arena, &l.s, err));
        CLV_TRY(clv_tensor_data_find(file, model, arena, &l.data, err));
        CLV_TRY(clv_weight_list_of(model, arena, &l.weights, err));
    }
    CLV_TRY(clv_out_folder_open(folder, clv_arena_alloc(arena), &out, err));
    l.folder = clv_out_folder_path(out);
    clv_status status = annotated ? fill_annotated(&l, ret) : fill_from_weights(&l, ret);
    if (status != CLV_OK) {
        clv_out_folder_abort(out);
        return status;
    }
    return clv_out_folder_commit(out, err);
}
