#include "lower/manifest.h"

#include <stdio.h>
#include <string.h>

#include "base/json_out.h"
#include "base/text_digest.h"
#include "lower/emit_collective.h"
#include "plan/plan_json_write.h"
#include "plan/plan_json_write_mesh.h"

typedef struct {
    const clv_manifest *m;
    clv_json_out out;
    int32_t n_transfers;
} writing;

/* -- tensors -- */

static const char *const dtype_words[CLV_N_DTYPES] = {
    "undefined",      "float32",  "uint8",        "int8",           "uint16",
    "int16",          "int32",    "int64",        "string",         "bool",
    "float16",        "float64",  "uint32",       "uint64",         "complex64",
    "complex128",     "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
    "float8e5m2fnuz", "uint4",    "int4",         "float4e2m1",     "float8e8m0",
    "uint2",          "int2"
};

static void write_list(writing *w, const char *key, const int64_t *at, int32_t n)
{
    clv_json_open_array(&w->out, key);
    for (int32_t i = 0; i < n; i++)
        clv_json_put_int(&w->out, NULL, at[i]);
    clv_json_close_array(&w->out);
}

/* Which part of its tensor a device has of a value; nothing where it has all of it. */
static void write_part(writing *w, const clv_spmd_value *v, int32_t position)
{
    const clv_spmd_shard shard = { v->tensor, v->layout, position };
    clv_split_dims dims;
    clv_part part;
    bool whole = true;
    if (position < 0 || !clv_spmd_part(w->m->s, &shard, &dims, &part))
        return;
    for (int32_t i = 0; i < dims.rank; i++)
        whole = whole && part.size[i] == dims.dims[i];
    if (whole)
        return;
    clv_json_open_object(&w->out, "part");
    if (dims.rank != w->m->s->types->of[v->tensor.i].rank)
        write_list(w, "view", dims.dims, dims.rank);
    write_list(w, "offsets", part.offset, dims.rank);
    write_list(w, "dims", part.size, dims.rank);
    clv_json_close_object(&w->out);
}

/* Name and type of an input or output of the whole model, in an object that stays open. */
static void open_tensor(writing *w, clv_tensor t)
{
    const clv_type *type = &w->m->l->types->of[t.i];
    bool known = type->dtype >= 0 && type->dtype < CLV_N_DTYPES;
    clv_json_open_object(&w->out, NULL);
    clv_json_put_str(&w->out, "name", clv_tensor_at(w->m->l->model->main, t)->name);
    if (type->kind != CLV_TYPE_TENSOR)
        return;
    clv_json_put_string(&w->out, "dtype", dtype_words[known ? type->dtype : 0]);
    if (clv_type_is_static(type) && type->rank >= 0)
        write_list(w, "dims", type->dims, type->rank);
}

/* -- models -- */

static int32_t model_at(const writing *w, int32_t phase, int32_t position)
{
    for (int32_t i = 0; i < w->m->n_models; i++)
        if (w->m->models[i].place.phase == phase && w->m->models[i].place.position == position)
            return i;
    return -1;
}

/* The model that sends what this one receives of a value. */
static int32_t sender_of(const writing *w, const clv_manifest_model *model, int32_t value)
{
    const clv_spmd_value *values = w->m->s->values;
    return model_at(w, values[values[value].from].phase, model->place.position);
}

static clv_str output_of(const clv_manifest_model *model, int32_t value)
{
    for (int32_t i = 0; i < model->outputs.n; i++)
        if (model->outputs.at[i].value == value)
            return model->outputs.at[i].name;
    return (clv_str){ 0 };
}

static void write_input(writing *w, const clv_manifest_model *model, const clv_file_io *io)
{
    const clv_spmd *s = w->m->s;
    const clv_spmd_value *v = s && io->value >= 0 ? &s->values[io->value] : NULL;
    clv_json_open_object(&w->out, NULL);
    clv_json_put_str(&w->out, "name", io->name);
    if (v && v->role == CLV_SPMD_RECEIVED) {
        int32_t from = sender_of(w, model, io->value);
        clv_json_put_int(&w->out, "from", from);
        clv_json_put_str(&w->out, "tensor", output_of(&w->m->models[from], v->from));
        w->n_transfers++;
    } else {
        clv_json_put_string(&w->out, "from", "model");
        clv_json_put_str(&w->out, "tensor", clv_tensor_at(w->m->l->model->main, io->tensor)->name);
        if (v)
            write_part(w, v, model->place.position);
    }
    clv_json_close_object(&w->out);
}

static void write_model(writing *w, const clv_manifest_model *model)
{
    int32_t number = model->place.phase;
    clv_json_open_object(&w->out, NULL);
    clv_json_put_string(&w->out, "file", model->file);
    if (number >= 0) {
        const clv_spmd_phase *phase = &w->m->s->phases[number];
        clv_json_put_int(&w->out, "stage", phase->stage);
        clv_json_put_string(&w->out, "device",
                            w->m->l->plan->devices[phase->device[model->place.position]].name);
    }
    clv_json_open_array(&w->out, "inputs");
    for (int32_t i = 0; i < model->inputs.n; i++)
        write_input(w, model, &model->inputs.at[i]);
    clv_json_close_array(&w->out);
    clv_json_open_array(&w->out, "outputs");
    for (int32_t i = 0; i < model->outputs.n; i++) {
        clv_json_open_object(&w->out, NULL);
        clv_json_put_str(&w->out, "name", model->outputs.at[i].name);
        clv_json_close_object(&w->out);
    }
    clv_json_close_array(&w->out);
    clv_json_close_object(&w->out);
}

/* -- outputs of the whole -- */

/* Does a model give a piece of an output that no model before it gives? Of a phase those where the
 * value is made, of devices with copies the first: 0 along all axes that hold copies. */
static bool gives_piece(const writing *w, const clv_manifest_model *model, int32_t value)
{
    const clv_spmd *s = w->m->s;
    const clv_spmd_value *v = &s->values[value];
    uint32_t copies = clv_layout_copy_axes(&v->layout, &s->mesh);
    if (model->place.phase < 0)
        return true; /* devices are side by side */
    for (int32_t a = 0; a < s->mesh.n_axes; a++)
        if (copies >> a & 1 && clv_mesh_coord(&s->mesh, model->place.position, a) != 0)
            return false;
    return model->place.phase == v->phase && !clv_spmd_is_empty(s, v, model->place.position);
}

/* Of output i: which models have it, and which part. */
static void write_pieces(writing *w, int32_t i)
{
    const clv_graph *g = w->m->l->model->main;
    const clv_spmd *s = w->m->s; /* NULL: there is one model, which has all of it */
    clv_str name = clv_tensor_at(g, g->outputs[i])->name;
    clv_json_open_array(&w->out, "pieces");
    for (int32_t k = 0; k < w->m->n_models; k++) {
        const clv_manifest_model *model = &w->m->models[k];
        bool whole = model->place.phase < 0;
        if (s && !gives_piece(w, model, s->result[i]))
            continue;
        clv_json_open_object(&w->out, NULL);
        clv_json_put_int(&w->out, "model", k);
        clv_json_put_str(&w->out, "name", whole ? name : output_of(model, s->result[i]));
        if (!whole)
            write_part(w, &s->values[s->result[i]], model->place.position);
        clv_json_close_object(&w->out);
    }
    clv_json_close_array(&w->out);
}

static void write_whole(writing *w)
{
    const clv_graph *g = w->m->l->model->main;
    clv_json_open_array(&w->out, "inputs");
    for (int32_t i = 0; i < g->n_inputs; i++) {
        open_tensor(w, g->inputs[i]);
        clv_json_close_object(&w->out);
    }
    clv_json_close_array(&w->out);
    clv_json_open_array(&w->out, "outputs");
    for (int32_t i = 0; i < g->n_outputs; i++) {
        open_tensor(w, g->outputs[i]);
        write_pieces(w, i);
        clv_json_close_object(&w->out);
    }
    clv_json_close_array(&w->out);
}

/* -- communication -- */

static void write_groups(writing *w, const clv_emit_collective *c)
{
    const clv_mesh *mesh = &w->m->s->mesh;
    int32_t n = clv_mesh_count(mesh, c->mesh_axes);
    clv_json_open_array(&w->out, "groups");
    for (int32_t p = 0; p < mesh->n_devices; p++) {
        if (clv_emit_member(mesh, c, p, 0) != p)
            continue; /* it is not the first of its group */
        clv_json_open_array(&w->out, NULL);
        for (int32_t k = 0; k < n; k++)
            clv_json_put_int(&w->out, NULL, model_at(w, c->phase, clv_emit_member(mesh, c, p, k)));
        clv_json_close_array(&w->out);
    }
    clv_json_close_array(&w->out);
}

static void write_collectives(writing *w)
{
    clv_json_open_array(&w->out, "collectives");
    for (int32_t i = 0; i < w->m->n_collectives; i++) {
        const clv_emit_collective *c = &w->m->collectives[i];
        clv_json_open_object(&w->out, NULL);
        clv_json_put_str(&w->out, "node", c->node);
        clv_json_put_string(&w->out, "kind", clv_step_name(c->kind));
        if (c->reduce != CLV_REDUCE_NONE)
            clv_json_put_string(&w->out, "reduce", clv_reduce_name(c->reduce));
        else
            clv_json_put_int(&w->out, "axis", c->axis);
        write_groups(w, c);
        clv_json_put_int(&w->out, "bytes", c->bytes);
        clv_json_close_object(&w->out);
    }
    clv_json_close_array(&w->out);
}

/* An input that another model sends. */
static void write_transfer(writing *w, int32_t to, const clv_file_io *io)
{
    int64_t elems = clv_type_elems(io->type), bytes;
    int32_t from = sender_of(w, &w->m->models[to], io->value);
    clv_json_open_object(&w->out, NULL);
    clv_json_put_str(&w->out, "tensor",
                     output_of(&w->m->models[from], w->m->s->values[io->value].from));
    clv_json_put_int(&w->out, "from", from);
    clv_json_put_int(&w->out, "to", to);
    if (elems >= 0 && clv_dtype_bytes(io->type->dtype, elems, &bytes) && bytes >= 0)
        clv_json_put_int(&w->out, "bytes", bytes);
    clv_json_close_object(&w->out);
}

static void write_transfers(writing *w)
{
    clv_json_open_array(&w->out, "transfers");
    for (int32_t i = 0; w->m->s && i < w->m->n_models; i++)
        for (int32_t k = 0; k < w->m->models[i].inputs.n; k++) {
            const clv_file_io *io = &w->m->models[i].inputs.at[k];
            if (io->value >= 0 && w->m->s->values[io->value].role == CLV_SPMD_RECEIVED)
                write_transfer(w, i, io);
        }
    clv_json_close_array(&w->out);
}

/* -- the whole -- */

static void write_files(writing *w)
{
    clv_json_open_array(&w->out, "files");
    for (int32_t i = 0; i < w->m->n_files; i++) {
        char sum[CLV_CHECKSUM_TEXT];
        clv_json_open_object(&w->out, NULL);
        clv_json_put_string(&w->out, "file", w->m->files[i].name);
        clv_json_put_int(&w->out, "bytes", w->m->files[i].bytes);
        clv_json_put_string(&w->out, "xxh3", clv_checksum_text(sum, w->m->files[i].checksum));
        clv_json_close_object(&w->out);
    }
    clv_json_close_array(&w->out);
}

static void write_model_name(writing *w)
{
    char fingerprint[17];
    snprintf(fingerprint, sizeof fingerprint, "%016llx",
             (unsigned long long)w->m->l->plan->fingerprint);
    clv_json_open_object(&w->out, CLV_MANIFEST_MODEL);
    clv_json_put_string(&w->out, "name", w->m->l->model_name);
    clv_json_put_string(&w->out, "fingerprint", fingerprint);
    clv_json_close_object(&w->out);
}

static void write_settings(writing *w)
{
    if (w->m->n_settings == 0)
        return;
    clv_json_open_object(&w->out, "settings");
    for (int32_t i = 0; i < w->m->n_settings; i++)
        clv_json_put_string(&w->out, w->m->settings[i].name, w->m->settings[i].value);
    clv_json_close_object(&w->out);
}

/* What is run, on what, and how it goes together; and the checksum of the text so far. */
static clv_status write_routes(writing *w, clv_checksum *ret, clv_error *err)
{
    const clv_lowering *l = w->m->l;
    clv_checksum_state *sum = clv_checksum_new(w->out.arena);
    clv_json_put_int(&w->out, "schema_version", CLV_MANIFEST_VERSION);
    clv_json_put_string(&w->out, "form", clv_lower_form_name(l->form));
    if (l->form == CLV_FORM_DEVICES)
        clv_json_put_string(&w->out, "dialect",
                            l->dialect == CLV_DIALECT_TENSORRT ? "tensorrt" : "ort");
    write_whole(w);
    clv_json_open_array(&w->out, "models");
    for (int32_t i = 0; i < w->m->n_models; i++)
        write_model(w, &w->m->models[i]);
    clv_json_close_array(&w->out);
    if (clv_lower_form_has_devices(l->form)) /* one model is of one copy, wherever it runs */
        clv_plan_put_copy_names(&w->out, l->plan);
    if (l->form == CLV_FORM_DEVICES)
        write_collectives(w);
    write_transfers(w);
    write_settings(w);
    if (!sum || w->out.failed)
        return clv_fail_nomem(err, "a manifest");
    clv_checksum_add_json(sum, w->out.text, w->out.n);
    *ret = clv_checksum_end(sum);
    return CLV_OK;
}

clv_status clv_manifest_routes(const clv_manifest *m, clv_arena *arena, clv_checksum *ret,
                               clv_error *err)
{
    writing w = { .m = m };
    clv_json_begin(&w.out, arena, true);
    clv_json_open_object(&w.out, NULL);
    return write_routes(&w, ret, err);
}

clv_status clv_manifest_write(const clv_manifest *m, clv_arena *arena, const char **ret_text,
                              size_t *ret_n, int32_t *ret_transfers, clv_error *err)
{
    writing w = { .m = m };
    char text[CLV_CHECKSUM_TEXT];
    clv_checksum routes;
    clv_json_begin(&w.out, arena, true);
    clv_json_open_object(&w.out, NULL);
    CLV_TRY(write_routes(&w, &routes, err));
    clv_json_put_string(&w.out, CLV_MANIFEST_ROUTES, clv_checksum_text(text, routes));
    write_model_name(&w);
    CLV_TRY(clv_plan_put_decisions(&w.out, CLV_MANIFEST_PLAN, m->l->plan, err));
    write_files(&w);
    clv_json_open_array(&w.out, "notes");
    for (int32_t i = 0; i < m->n_notes; i++)
        clv_json_put_string(&w.out, NULL, m->notes[i]);
    clv_json_close_array(&w.out);
    clv_json_close_object(&w.out);
    CLV_TRY(clv_json_end(&w.out, err));
    *ret_transfers = w.n_transfers;
    /* which part of an input a model takes, say, stands nowhere else */
    return clv_text_digest_add(w.out.text, w.out.n, arena, ret_text, ret_n, err);
}
