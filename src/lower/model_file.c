#include "lower/model_file.h"

#include "base/packed.h"
#include "lower/emit_part.h"
#include "lower/emit_phase.h"

#define WHAT "writing a lowered model"

/* -- inputs and outputs -- */

static clv_status add_io(clv_model_file *f, clv_file_ios *list, clv_file_io io, clv_error *err)
{
    if (!CLV_PUSH_ROOM(f->e.arena, list->at, list->n, list->cap))
        return clv_fail_nomem(err, WHAT);
    list->at[list->n++] = io;
    return CLV_OK;
}

/* An input or output that is what a position has of a value. */
static clv_status add_part(clv_model_file *f, clv_file_ios *list, int32_t v, int32_t position,
                           clv_str name, clv_error *err)
{
    const clv_spmd *s = f->e.s;
    const clv_spmd_value *value = &s->values[v];
    clv_file_io io = { name, v, value->tensor, &s->types->of[value->tensor.i] };
    clv_tensor_split split;
    if (clv_spmd_split(s, value->tensor, &split)) {
        clv_type *type = CLV_NEW(f->e.arena, clv_type);
        int64_t *dims = CLV_NEW_ARRAY(f->e.arena, int64_t, split.rank);
        if (!type || !dims)
            return clv_fail_nomem(err, WHAT);
        clv_spmd_dims(s, value->tensor, &value->layout, position, dims);
        *type = *io.type;
        type->dims = dims;
        io.type = type;
    }
    return add_io(f, list, io, err);
}

/* An output has to be what a node makes: what is a constant, a weight, an input or somebody else's
 * output already goes through an Identity. *io: the tensor, and then the output. exact: it must
 * have the name, which was kept for it. */
static clv_status make_output(clv_model_file *f, clv_str name, bool exact, clv_dtype dtype,
                              clv_str *io, clv_error *err)
{
    clv_emit_scope scope = { &f->e, name, exact ? -1 : f->e.only };
    bool used = false;
    for (int32_t i = 0; i < f->outputs.n && !used; i++)
        used = clv_str_eq(f->outputs.at[i].name, *io);
    if (exact && clv_str_eq(*io, name))
        return CLV_OK; /* an input that is returned as it is, too */
    if (clv_map_get(&f->e.taken, *io) > 0 && !used && !exact)
        return CLV_OK; /* a node's, and of no other output */
    CLV_TRY(clv_emit_identity(&scope, *io, dtype, io, err));
    if (exact) {
        clv_str *out = (clv_str *)f->e.nodes[f->e.n_nodes - 1].out;
        *io = out[0] = name;
    }
    return CLV_OK;
}

/* -- one device -- */

static clv_status make_one(clv_model_file *f, clv_file_place place, clv_error *err)
{
    const clv_spmd_phase *p = &f->e.s->phases[place.phase];
    int32_t first = p->first_value, end = p->first_value + p->n_values;
    clv_str name;
    f->e.phase = place.phase;
    for (int32_t v = first; v < end; v++) {
        const clv_spmd_value *value = &f->e.s->values[v];
        if (value->role != CLV_SPMD_INPUT && value->role != CLV_SPMD_RECEIVED)
            continue;
        CLV_TRY(clv_emit_fresh(&f->e, value->name, place.position, false, &name, err));
        *clv_emit_name(&f->e, v, place.position) = name;
        CLV_TRY(add_part(f, &f->inputs, v, place.position, name, err));
    }
    CLV_TRY(clv_emit_phase(&f->e, place.phase, err));
    for (int32_t v = first; v < end; v++) {
        const clv_spmd_value *value = &f->e.s->values[v];
        if (!value->sent && !value->returned)
            continue;
        name = *clv_emit_name(&f->e, v, place.position);
        CLV_TRY(make_output(f, value->name, false, f->e.s->types->of[value->tensor.i].dtype, &name,
                            err));
        CLV_TRY(add_part(f, &f->outputs, v, place.position, name, err));
    }
    return CLV_OK;
}

/* -- all devices -- */

/* Inputs and outputs of the model keep their names. */
static clv_status take_names(clv_model_file *f, clv_error *err)
{
    const clv_graph *g = f->e.s->model->main;
    const clv_types *types = f->e.s->types;
    clv_str name;
    for (int32_t i = 0; i < g->n_inputs; i++) {
        clv_tensor t = g->inputs[i];
        CLV_TRY(clv_emit_fresh(&f->e, clv_tensor_at(g, t)->name, -1, false, &name, err));
        CLV_TRY(add_io(f, &f->inputs, (clv_file_io){ name, -1, t, &types->of[t.i] }, err));
    }
    for (int32_t i = 0; i < g->n_outputs && f->e.s->mesh.n_devices > 1; i++) {
        clv_tensor t = g->outputs[i];
        if (types->of[t.i].kind != CLV_TYPE_TENSOR)
            continue; /* it is given by the first device */
        if (clv_map_get(&f->e.taken, clv_tensor_at(g, t)->name) < 0)
            CLV_TRY(clv_emit_fresh(&f->e, clv_tensor_at(g, t)->name, -1, false, &name, err));
    }
    return CLV_OK;
}

/* Each device's part of the inputs that a phase reads. */
static clv_status cut_inputs(clv_model_file *f, int32_t phase, clv_error *err)
{
    const clv_spmd *s = f->e.s;
    const clv_spmd_phase *p = &s->phases[phase];
    clv_layout copies = CLV_LAYOUT_COPIES;
    f->e.phase = phase;
    for (int32_t v = p->first_value; v < p->first_value + p->n_values; v++) {
        const clv_spmd_value *value = &s->values[v];
        for (int32_t i = 0; value->role == CLV_SPMD_INPUT && i < s->mesh.n_devices; i++) {
            clv_str *name = clv_emit_name(&f->e, v, i);
            *name = clv_tensor_at(s->model->main, value->tensor)->name;
            CLV_TRY(clv_emit_part(&f->e, &copies, value, i, name, err));
        }
    }
    return CLV_OK;
}

/* The parts of output i put together; once, if the model names it twice. An input that is returned
 * as it is was never cut. */
static clv_status join_output(clv_model_file *f, int32_t i, clv_error *err)
{
    const clv_spmd *s = f->e.s;
    const clv_graph *g = s->model->main;
    const clv_spmd_value *value = &s->values[s->result[i]];
    clv_str name = clv_tensor_at(g, value->tensor)->name;
    clv_layout layout = value->layout;
    clv_str *part = CLV_NEW_ARRAY(f->e.arena, clv_str, s->mesh.n_devices);
    bool is_input = false;
    if (!part)
        return clv_fail_nomem(err, WHAT);
    for (int32_t k = 0; k < i; k++)
        if (s->result[k] == s->result[i])
            return add_io(f, &f->outputs, f->outputs.at[k], err);
    for (int32_t k = 0; k < g->n_inputs; k++)
        is_input = is_input || g->inputs[k].i == value->tensor.i;
    if (!is_input) {
        f->e.phase = value->phase;
        memcpy(part, clv_emit_name(&f->e, s->result[i], 0),
               (size_t)s->mesh.n_devices * sizeof *part);
        for (int32_t nest = CLV_MESH_AXES_MAX - 1; nest >= 0; nest--)
            for (int32_t a = 0; a < s->mesh.n_axes; a++)
                if (layout.dim[a] >= 0 && layout.nest[a] == nest)
                    CLV_TRY(clv_emit_gather(&f->e, value->tensor, &layout, a, part, err));
        CLV_TRY(make_output(f, name, true, s->types->of[value->tensor.i].dtype, &part[0], err));
        name = part[0];
    }
    return add_io(f, &f->outputs,
                  (clv_file_io){ name, -1, value->tensor, &s->types->of[value->tensor.i] }, err);
}

clv_status clv_model_file_make(const clv_spmd *s, clv_dialect dialect, clv_file_place place,
                               clv_arena *arena, clv_model_file *ret, clv_error *err)
{
    *ret = (clv_model_file){ .inputs = { NULL, 0, 0 } };
    CLV_TRY(clv_emit_init(&ret->e, s, dialect, place.position, arena, err));
    if (place.phase >= 0)
        return make_one(ret, place, err);
    CLV_TRY(take_names(ret, err));
    for (int32_t p = 0; p < s->n_phases; p++) {
        CLV_TRY(cut_inputs(ret, p, err));
        CLV_TRY(clv_emit_phase(&ret->e, p, err));
    }
    for (int32_t i = 0; i < s->model->main->n_outputs; i++)
        CLV_TRY(join_output(ret, i, err));
    return CLV_OK;
}

/* -- weights that stand in the file -- */

clv_status clv_weight_is_there(const clv_tensor_data *data, clv_error *err)
{
    return data->kind != CLV_DATA_ABSENT
               ? CLV_OK
               : clv_fail(err, CLV_EIO, "weight '%.*s' is in the file '%.*s', which is not there",
                          CLV_STR_ARG(data->name), CLV_STR_ARG(data->location));
}

/* All bytes of a weight. */
static clv_status read_weight(const clv_model_weights *weights, int32_t weight, clv_arena *arena,
                              const void **ret, clv_error *err)
{
    const clv_tensor_data *data = &weights->data[weight];
    CLV_TRY(clv_weight_is_there(data, err));
    if (data->kind == CLV_DATA_NONE)
        return clv_fail(err, CLV_EUNSUPP, "weight '%.*s' is sparse or has texts: it cannot be cut",
                        CLV_STR_ARG(data->name));
    uint8_t *bytes = clv_arena_take(arena, (size_t)data->bytes + 1);
    if (!bytes)
        return clv_fail_nomem(err, WHAT);
    *ret = bytes;
    if (data->bytes == 0)
        return CLV_OK;
    clv_status status =
        weights->elements.read(weights->elements.ctx, weight, 0, data->elems, bytes, err);
    return status == CLV_OK || data->kind != CLV_DATA_EXTERNAL
               ? status
               : clv_fail(err, CLV_EIO, "weight '%.*s' could not be read from '%.*s'",
                          CLV_STR_ARG(data->name), CLV_STR_ARG(data->location));
}

clv_status clv_model_file_inline(const clv_spmd *s, const clv_emit_weight *w,
                                 const clv_model_weights *weights, clv_arena *arena,
                                 clv_new_tensor *ret, clv_error *err)
{
    const clv_tensor_data *from = &weights->data[w->weight];
    clv_dtype dtype = s->types->of[w->shard.tensor.i].dtype;
    const void *whole = NULL;
    int64_t at = 0;
    clv_box box;
    clv_runs runs;
    *ret = (clv_new_tensor){ .name = w->name,
                             .dtype = from->dtype,
                             .rank = from->rank,
                             .dims = w->whole ? from->dims : w->dims,
                             .weight = w->whole ? w->weight : -1 };
    if (w->whole && from->kind != CLV_DATA_EXTERNAL && from->kind != CLV_DATA_ABSENT)
        return CLV_OK; /* as it stands in the source */
    ret->weight = -1;
    ret->bytes = "";
    if (!w->whole)
        CLV_TRY(clv_spmd_box(s, &w->shard, arena, &box, err));
    if (from->elems == 0 || (!w->whole && clv_box_elems(&box) == 0))
        return CLV_OK; /* for which no file is needed */
    CLV_TRY(read_weight(weights, w->weight, arena, &whole, err));
    ret->bytes = whole;
    ret->n_bytes = from->bytes;
    if (w->whole)
        return CLV_OK;
    (void)clv_dtype_bytes(dtype, clv_box_elems(&box), &ret->n_bytes);
    uint8_t *bytes = clv_arena_take(arena, (size_t)ret->n_bytes + 1);
    if (!bytes)
        return clv_fail_nomem(err, WHAT);
    ret->bytes = bytes;
    for (clv_runs_start(&box, &runs); runs.n > 0; clv_runs_next(&runs)) {
        clv_copy_elems(bytes, at, whole, runs.first, runs.n, clv_dtype_bits(dtype));
        at += runs.n;
    }
    return CLV_OK;
}

/* -- writing -- */

static clv_new_value *values_of(const clv_file_ios *list, clv_arena *arena)
{
    clv_new_value *ret = CLV_NEW_ARRAY(arena, clv_new_value, list->n);
    for (int32_t i = 0; ret && i < list->n; i++)
        ret[i] = (clv_new_value){ list->at[i].name, list->at[i].type };
    return ret;
}

clv_status clv_model_file_write(const clv_model_file *f, const clv_onnx_file *source,
                                const clv_new_tensor *initialisers, const clv_sink *sink,
                                clv_arena *arena, clv_error *err)
{
    enum { IR_INITIALISERS = 4 }; /* from here on an initialiser need not be an input */
    const clv_emit *e = &f->e;
    const clv_model *model = e->s->model;
    int32_t n_tensors = e->n_tensors + e->n_weights;
    clv_new_tensor *tensors = CLV_NEW_ARRAY(arena, clv_new_tensor, n_tensors);
    clv_new_opset opsets[2] = { { clv_str_of("ai.onnx"), e->opset },
                                { clv_str_of("com.microsoft"), 1 } };
    clv_new_model m = { .source = source,
                        .model = model,
                        .graph_name = model->main->name,
                        .ir_version = model->ir_version < IR_INITIALISERS ? IR_INITIALISERS : 0,
                        .opsets = opsets,
                        .n_opsets = e->uses_microsoft ? 2 : 1,
                        .inputs = values_of(&f->inputs, arena),
                        .n_inputs = f->inputs.n,
                        .outputs = values_of(&f->outputs, arena),
                        .n_outputs = f->outputs.n,
                        .values = e->values,
                        .n_values = e->n_values,
                        .tensors = tensors,
                        .n_tensors = n_tensors,
                        .nodes = e->nodes,
                        .n_nodes = e->n_nodes };
    if (!tensors || !m.inputs || !m.outputs)
        return clv_fail_nomem(err, WHAT);
    if (e->n_tensors)
        memcpy(tensors, e->tensors, (size_t)e->n_tensors * sizeof *tensors);
    if (e->n_weights)
        memcpy(tensors + e->n_tensors, initialisers, (size_t)e->n_weights * sizeof *tensors);
    return clv_onnx_write(&m, sink, arena, err);
}
