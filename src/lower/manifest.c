#include "lower/manifest.h"

#include <stdio.h>

#include "base/json.h"

typedef struct {
    const clv_manifest *m;
    clv_json_out out;
    clv_arena *arena;
    clv_error *err;
    int32_t n_transfers;
} writing;

/* -- tensors -- */

static const char *dtype_word(clv_dtype dtype)
{
    static const char *const words[CLV_N_DTYPES] = {
        "undefined",      "float32",  "uint8",        "int8",           "uint16",
        "int16",          "int32",    "int64",        "string",         "bool",
        "float16",        "float64",  "uint32",       "uint64",         "complex64",
        "complex128",     "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
        "float8e5m2fnuz", "uint4",    "int4",         "float4e2m1",     "float8e8m0",
        "uint2",          "int2"
    };
    return dtype >= 0 && dtype < CLV_N_DTYPES ? words[dtype] : words[0];
}

static void put_list(writing *w, const char *key, const int64_t *at, int32_t n)
{
    clv_json_open_array(&w->out, key);
    for (int32_t i = 0; i < n; i++)
        clv_json_put_int(&w->out, NULL, at[i]);
    clv_json_close_array(&w->out);
}

/* Which part of its tensor a device has of a value; nothing where it has all of it. */
static void put_part(writing *w, const clv_spmd_value *v, int32_t position)
{
    const clv_spmd *s = w->m->s;
    clv_tensor_split split;
    clv_split_dims dims;
    clv_part part;
    bool whole = true;
    if (position < 0 || !clv_spmd_split(s, v->tensor, &split))
        return;
    clv_split_dims_of(&v->layout, &split, &dims);
    clv_layout_part(&v->layout, &s->mesh, &split, &dims, position, &part);
    for (int32_t i = 0; i < dims.rank; i++)
        whole = whole && part.size[i] == dims.dims[i];
    if (whole)
        return;
    clv_json_open_object(&w->out, "part");
    if (dims.rank != split.rank)
        put_list(w, "view", dims.dims, dims.rank);
    put_list(w, "offsets", part.offset, dims.rank);
    put_list(w, "dims", part.size, dims.rank);
    clv_json_close_object(&w->out);
}

static void put_type(writing *w, clv_tensor t)
{
    const clv_type *type = &w->m->types->of[t.i];
    if (type->kind != CLV_TYPE_TENSOR)
        return;
    clv_json_put_string(&w->out, "dtype", dtype_word(type->dtype));
    if (clv_type_is_static(type) && type->rank >= 0)
        put_list(w, "dims", type->dims, type->rank);
}

/* -- models -- */

static int32_t model_at(const writing *w, int32_t phase, int32_t position)
{
    for (int32_t i = 0; i < w->m->n_models; i++)
        if (w->m->models[i].phase == phase && w->m->models[i].position == position)
            return i;
    return -1;
}

static clv_str output_of(const clv_manifest_model *model, int32_t value)
{
    for (int32_t i = 0; i < model->n_outputs; i++)
        if (model->outputs[i].value == value)
            return model->outputs[i].name;
    return (clv_str){ 0 };
}

static void put_input(writing *w, const clv_manifest_model *model, const clv_local_io *io)
{
    const clv_spmd *s = w->m->s;
    const clv_spmd_value *v = s && io->value >= 0 ? &s->values[io->value] : NULL;
    clv_json_open_object(&w->out, NULL);
    clv_json_put_str(&w->out, "name", io->name);
    if (v && v->role == CLV_SPMD_RECEIVED) {
        int32_t from = model_at(w, s->values[v->from].phase, model->position);
        clv_json_put_int(&w->out, "from", from);
        clv_json_put_str(&w->out, "tensor", output_of(&w->m->models[from], v->from));
        w->n_transfers++;
    } else {
        clv_json_put_string(&w->out, "from", "model");
        clv_json_put_str(&w->out, "tensor", clv_tensor_at(w->m->model->main, io->tensor)->name);
        if (v)
            put_part(w, v, model->position);
    }
    clv_json_close_object(&w->out);
}

static void put_model(writing *w, const clv_manifest_model *model)
{
    const clv_spmd_phase *phase = model->phase >= 0 ? &w->m->s->phases[model->phase] : NULL;
    clv_json_open_object(&w->out, NULL);
    clv_json_put_string(&w->out, "file", model->file);
    if (phase) {
        clv_json_put_int(&w->out, "stage", phase->stage);
        clv_json_put_string(&w->out, "device",
                            w->m->plan->devices[phase->device[model->position]].name);
    }
    clv_json_open_array(&w->out, "inputs");
    for (int32_t i = 0; i < model->n_inputs; i++)
        put_input(w, model, &model->inputs[i]);
    clv_json_close_array(&w->out);
    clv_json_open_array(&w->out, "outputs");
    for (int32_t i = 0; i < model->n_outputs; i++) {
        clv_json_open_object(&w->out, NULL);
        clv_json_put_str(&w->out, "name", model->outputs[i].name);
        clv_json_close_object(&w->out);
    }
    clv_json_close_array(&w->out);
    clv_json_close_object(&w->out);
}

/* -- outputs of the whole -- */

/* Is the device the first of those that have the same part: 0 along all axes that hold copies? */
static bool is_first_copy(const clv_spmd *s, const clv_layout *layout, int32_t position)
{
    uint32_t copies = clv_layout_copy_axes(layout, &s->mesh);
    for (int32_t a = 0; a < s->mesh.n_axes; a++)
        if (copies >> a & 1 && clv_mesh_coord(&s->mesh, position, a) != 0)
            return false;
    return true;
}

/* All of an output, from the one model that there is. */
static void put_all(writing *w, clv_str name)
{
    clv_json_open_array(&w->out, "pieces");
    clv_json_open_object(&w->out, NULL);
    clv_json_put_int(&w->out, "model", 0);
    clv_json_put_str(&w->out, "name", name);
    clv_json_close_object(&w->out);
    clv_json_close_array(&w->out);
}

static void put_pieces(writing *w, int32_t value)
{
    const clv_spmd *s = w->m->s;
    const clv_spmd_value *v = &s->values[value];
    clv_json_open_array(&w->out, "pieces");
    for (int32_t i = 0; i < w->m->n_models; i++) {
        const clv_manifest_model *model = &w->m->models[i];
        bool side_by_side = model->phase < 0;
        if (!side_by_side &&
            (model->phase != v->phase || !is_first_copy(s, &v->layout, model->position) ||
             clv_spmd_is_empty(s, v, model->position)))
            continue;
        clv_json_open_object(&w->out, NULL);
        clv_json_put_int(&w->out, "model", i);
        clv_json_put_str(&w->out, "name",
                         side_by_side ? clv_tensor_at(s->model->main, v->tensor)->name
                                      : output_of(model, value));
        put_part(w, v, model->position);
        clv_json_close_object(&w->out);
    }
    clv_json_close_array(&w->out);
}

static void put_whole(writing *w)
{
    const clv_spmd *s = w->m->s;
    const clv_graph *g = w->m->model->main;
    clv_json_open_array(&w->out, "inputs");
    for (int32_t i = 0; i < g->n_inputs; i++) {
        clv_json_open_object(&w->out, NULL);
        clv_json_put_str(&w->out, "name", clv_tensor_at(g, g->inputs[i])->name);
        put_type(w, g->inputs[i]);
        clv_json_close_object(&w->out);
    }
    clv_json_close_array(&w->out);
    clv_json_open_array(&w->out, "outputs");
    for (int32_t i = 0; i < g->n_outputs; i++) {
        clv_json_open_object(&w->out, NULL);
        clv_json_put_str(&w->out, "name", clv_tensor_at(g, g->outputs[i])->name);
        put_type(w, g->outputs[i]);
        if (s)
            put_pieces(w, s->result[i]);
        else
            put_all(w, clv_tensor_at(g, g->outputs[i])->name);
        clv_json_close_object(&w->out);
    }
    clv_json_close_array(&w->out);
}

/* -- communication -- */

static void put_groups(writing *w, const clv_emit_collective *c)
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

static void put_collectives(writing *w)
{
    if (w->m->options->form != CLV_FORM_DEVICES)
        return;
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
        put_groups(w, c);
        clv_json_put_int(&w->out, "bytes", c->bytes);
        clv_json_close_object(&w->out);
    }
    clv_json_close_array(&w->out);
}

static int64_t bytes_of(const clv_local_io *io)
{
    int64_t elems = clv_type_elems(io->type), bytes = -1;
    return elems >= 0 && clv_dtype_bytes(io->type->dtype, elems, &bytes) ? bytes : -1;
}

static void put_transfers(writing *w)
{
    const clv_spmd *s = w->m->s;
    clv_json_open_array(&w->out, "transfers");
    for (int32_t i = 0; s && i < w->m->n_models; i++)
        for (int32_t k = 0; k < w->m->models[i].n_inputs; k++) {
            const clv_local_io *io = &w->m->models[i].inputs[k];
            if (io->value < 0 || s->values[io->value].role != CLV_SPMD_RECEIVED)
                continue;
            int32_t value = s->values[io->value].from;
            int32_t from = model_at(w, s->values[value].phase, w->m->models[i].position);
            clv_json_open_object(&w->out, NULL);
            clv_json_put_str(&w->out, "tensor", output_of(&w->m->models[from], value));
            clv_json_put_int(&w->out, "from", from);
            clv_json_put_int(&w->out, "to", i);
            if (bytes_of(io) >= 0)
                clv_json_put_int(&w->out, "bytes", bytes_of(io));
            clv_json_close_object(&w->out);
        }
    clv_json_close_array(&w->out);
}

/* -- the whole -- */

static void put_settings(writing *w)
{
    if (w->m->n_settings == 0)
        return;
    clv_json_open_object(&w->out, "settings");
    for (int32_t i = 0; i < w->m->n_settings; i++)
        clv_json_put_string(&w->out, w->m->settings[i].name, w->m->settings[i].value);
    clv_json_close_object(&w->out);
}

static void put_files(writing *w)
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

static void put_heading(writing *w)
{
    char fingerprint[17];
    snprintf(fingerprint, sizeof fingerprint, "%016llx",
             (unsigned long long)w->m->plan->fingerprint);
    clv_json_put_int(&w->out, "schema_version", CLV_MANIFEST_VERSION);
    clv_json_put_string(&w->out, "form", clv_form_name(w->m->options->form));
    if (w->m->options->form == CLV_FORM_DEVICES)
        clv_json_put_string(&w->out, "dialect",
                            w->m->options->dialect == CLV_DIALECT_TENSORRT ? "tensorrt" : "ort");
    clv_json_open_object(&w->out, "model");
    clv_json_put_string(&w->out, "name", w->m->options->model_name);
    clv_json_put_string(&w->out, "fingerprint", fingerprint);
    clv_json_close_object(&w->out);
}

clv_status clv_manifest_write(const clv_manifest *m, clv_arena *arena, const char **ret_text,
                              size_t *ret_n, int32_t *ret_transfers, clv_error *err)
{
    writing w = { .m = m, .arena = arena, .err = err };
    clv_json_begin(&w.out, arena, true);
    clv_json_open_object(&w.out, NULL);
    put_heading(&w);
    put_whole(&w);
    clv_json_open_array(&w.out, "models");
    for (int32_t i = 0; i < m->n_models; i++)
        put_model(&w, &m->models[i]);
    clv_json_close_array(&w.out);
    put_collectives(&w);
    put_transfers(&w);
    put_settings(&w);
    put_files(&w);
    clv_json_open_array(&w.out, "notes");
    for (int32_t i = 0; i < m->n_notes; i++)
        clv_json_put_string(&w.out, NULL, m->notes[i]);
    clv_json_close_array(&w.out);
    clv_json_close_object(&w.out);
    CLV_TRY(clv_json_end(&w.out, err));
    *ret_text = w.out.text;
    *ret_n = w.out.n;
    *ret_transfers = w.n_transfers;
    return CLV_OK;
}
