#include "lower/local_file.h"

#define WHAT "writing a lowered model"

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, WHAT); }

/* -- inputs and outputs -- */

static clv_status add_io(clv_local_file *f, clv_local_io **list, int32_t *n, int32_t *cap,
                         const clv_local_io *io)
{
    if (!CLV_PUSH_ROOM(f->e.arena, *list, *n, *cap))
        return no_memory(f->e.err);
    (*list)[(*n)++] = *io;
    return CLV_OK;
}

static clv_status add_input(clv_local_file *f, const clv_local_io *io)
{
    return add_io(f, &f->inputs, &f->n_inputs, &f->cap_inputs, io);
}

static clv_status add_output(clv_local_file *f, const clv_local_io *io)
{
    return add_io(f, &f->outputs, &f->n_outputs, &f->cap_outputs, io);
}

/* The type of the part that a position has of a value. */
static clv_status part_type(clv_local_file *f, const clv_spmd_value *v, int32_t position,
                            const clv_type **ret)
{
    const clv_type *whole = &f->e.s->types->of[v->tensor.i];
    clv_tensor_split split;
    *ret = whole;
    if (!clv_spmd_split(f->e.s, v->tensor, &split))
        return CLV_OK;
    clv_type *type = CLV_NEW(f->e.arena, clv_type);
    int64_t *dims = CLV_NEW_ARRAY(f->e.arena, int64_t, split.rank);
    if (!type || !dims)
        return no_memory(f->e.err);
    clv_spmd_dims(f->e.s, v->tensor, &v->layout, position, dims);
    *type = *whole;
    type->dims = dims;
    *ret = type;
    return CLV_OK;
}

/* An output has to be what a node makes: what is a constant, a weight, an input or somebody else's
 * output already goes through an Identity. */
static clv_status as_output(clv_local_file *f, clv_str in, clv_str want, bool exact, clv_str *ret)
{
    bool used = false;
    for (int32_t i = 0; i < f->n_outputs && !used; i++)
        used = clv_str_eq(f->outputs[i].name, in);
    *ret = in;
    if (exact && clv_str_eq(in, want))
        return CLV_OK; /* an input that is returned as it is, too */
    if (clv_emit_is_made(&f->e, in) && !used && !exact)
        return CLV_OK;
    CLV_TRY(clv_emit_node(&f->e, "Identity", &in, 1, NULL, 0, want, exact ? -1 : f->e.only, ret));
    if (exact) { /* the name was kept for it */
        clv_str *out = (clv_str *)f->e.nodes[f->e.n_nodes - 1].out;
        out[0] = want;
        *ret = want;
    }
    return CLV_OK;
}

/* -- one device -- */

static clv_status open_device(clv_local_file *f, int32_t phase, int32_t position)
{
    const clv_spmd *s = f->e.s;
    const clv_spmd_phase *p = &s->phases[phase];
    f->e.phase = phase;
    for (int32_t v = p->first_value; v < p->first_value + p->n_values; v++) {
        const clv_spmd_value *value = &s->values[v];
        clv_local_io io = { .value = v, .tensor = value->tensor };
        if (value->role != CLV_SPMD_INPUT && value->role != CLV_SPMD_RECEIVED)
            continue;
        CLV_TRY(clv_emit_fresh(&f->e, value->name, position, false, &io.name));
        CLV_TRY(part_type(f, value, position, &io.type));
        *clv_emit_name(&f->e, v, position) = io.name;
        CLV_TRY(add_input(f, &io));
    }
    return CLV_OK;
}

static clv_status close_device(clv_local_file *f, int32_t phase, int32_t position)
{
    const clv_spmd *s = f->e.s;
    const clv_spmd_phase *p = &s->phases[phase];
    for (int32_t v = p->first_value; v < p->first_value + p->n_values; v++) {
        const clv_spmd_value *value = &s->values[v];
        clv_local_io io = { .value = v, .tensor = value->tensor };
        if (!value->sent && !value->returned)
            continue;
        CLV_TRY(as_output(f, *clv_emit_name(&f->e, v, position), value->name, false, &io.name));
        CLV_TRY(part_type(f, value, position, &io.type));
        CLV_TRY(add_output(f, &io));
    }
    return CLV_OK;
}

clv_status clv_local_file_make(const clv_spmd *s, clv_dialect dialect, int32_t phase,
                               int32_t position, clv_arena *arena, clv_local_file *ret,
                               clv_error *err)
{
    *ret = (clv_local_file){ .n_inputs = 0 };
    CLV_TRY(clv_emit_init(&ret->e, s, dialect, position, arena, err));
    CLV_TRY(open_device(ret, phase, position));
    CLV_TRY(clv_emit_phase(&ret->e, phase));
    return close_device(ret, phase, position);
}

/* -- all devices -- */

static clv_status keep_names(clv_local_file *f)
{
    const clv_graph *g = f->e.s->model->main;
    for (int32_t i = 0; i < g->n_inputs; i++) {
        clv_local_io io = { .value = -1, .tensor = g->inputs[i] };
        CLV_TRY(clv_emit_fresh(&f->e, clv_tensor_at(g, g->inputs[i])->name, -1, false, &io.name));
        io.type = &f->e.s->types->of[g->inputs[i].i];
        CLV_TRY(add_input(f, &io));
    }
    for (int32_t i = 0; i < g->n_outputs && f->e.s->mesh.n_devices > 1; i++) {
        clv_str name;
        if (f->e.s->types->of[g->outputs[i].i].kind != CLV_TYPE_TENSOR)
            continue; /* it is given by the first device */
        if (clv_map_get(&f->e.taken, clv_tensor_at(g, g->outputs[i])->name) < 0)
            CLV_TRY(clv_emit_fresh(&f->e, clv_tensor_at(g, g->outputs[i])->name, -1, false, &name));
    }
    return CLV_OK;
}

/* Each device's part of the inputs that a phase reads. */
static clv_status share_inputs(clv_local_file *f, int32_t phase)
{
    const clv_spmd *s = f->e.s;
    const clv_spmd_phase *p = &s->phases[phase];
    clv_layout copies = CLV_LAYOUT_COPIES;
    f->e.phase = phase;
    for (int32_t v = p->first_value; v < p->first_value + p->n_values; v++) {
        const clv_spmd_value *value = &s->values[v];
        if (value->role != CLV_SPMD_INPUT)
            continue;
        for (int32_t i = 0; i < s->mesh.n_devices; i++)
            CLV_TRY(clv_emit_part(&f->e, clv_tensor_at(s->model->main, value->tensor)->name,
                                  value->tensor, &copies, &value->layout, i, value->name,
                                  clv_emit_name(&f->e, v, i)));
    }
    return CLV_OK;
}

static bool is_input(const clv_graph *g, clv_tensor t)
{
    for (int32_t i = 0; i < g->n_inputs; i++)
        if (g->inputs[i].i == t.i)
            return true;
    return false;
}

/* The parts of an output put together; once, if the model names it twice. An input that is returned
 * as it is was never cut. */
static clv_status join_output(clv_local_file *f, int32_t i)
{
    const clv_spmd *s = f->e.s;
    for (int32_t k = 0; k < i; k++)
        if (s->result[k] == s->result[i]) {
            clv_local_io same = f->outputs[k];
            return add_output(f, &same);
        }
    const clv_spmd_value *value = &s->values[s->result[i]];
    clv_local_io io = { .value = -1, .tensor = value->tensor };
    clv_layout layout = value->layout;
    clv_str *part = CLV_NEW_ARRAY(f->e.arena, clv_str, s->mesh.n_devices);
    if (!part)
        return no_memory(f->e.err);
    io.type = &s->types->of[value->tensor.i];
    io.name = clv_tensor_at(s->model->main, value->tensor)->name;
    if (is_input(s->model->main, value->tensor))
        return add_output(f, &io);
    f->e.phase = value->phase;
    memcpy(part, clv_emit_name(&f->e, s->result[i], 0), (size_t)s->mesh.n_devices * sizeof *part);
    for (int32_t nest = CLV_MESH_AXES_MAX - 1; nest >= 0; nest--)
        for (int32_t a = 0; a < s->mesh.n_axes; a++)
            if (layout.dim[a] >= 0 && layout.nest[a] == nest)
                CLV_TRY(clv_emit_gather(&f->e, value->tensor, &layout, a, part));
    CLV_TRY(as_output(f, part[0], io.name, true, &io.name));
    return add_output(f, &io);
}

clv_status clv_local_file_make_all(const clv_spmd *s, clv_arena *arena, clv_local_file *ret,
                                   clv_error *err)
{
    *ret = (clv_local_file){ .n_inputs = 0 };
    CLV_TRY(clv_emit_init(&ret->e, s, CLV_DIALECT_PLAIN, -1, arena, err));
    CLV_TRY(keep_names(ret));
    for (int32_t p = 0; p < s->n_phases; p++) {
        CLV_TRY(share_inputs(ret, p));
        CLV_TRY(clv_emit_phase(&ret->e, p));
    }
    for (int32_t i = 0; i < s->model->main->n_outputs; i++)
        CLV_TRY(join_output(ret, i));
    return CLV_OK;
}

/* -- weights that stand in the file -- */

static clv_status read_all(const clv_weight_source *weights, int32_t weight,
                           const clv_tensor_data *data, clv_arena *arena, const void **ret,
                           clv_error *err)
{
    uint8_t *bytes = clv_arena_take(arena, (size_t)data->bytes + 1);
    if (!bytes)
        return no_memory(err);
    *ret = bytes;
    if (data->bytes == 0)
        return CLV_OK;
    clv_status status = weights->read(weights->ctx, weight, 0, data->elems, bytes, err);
    return status == CLV_OK || data->kind != CLV_DATA_EXTERNAL
               ? status
               : clv_fail(err, CLV_EIO, "weight '%.*s' could not be read from '%.*s'",
                          CLV_STR_ARG(data->name), CLV_STR_ARG(data->location));
}

static clv_status bytes_of(const clv_weight_source *weights, int32_t weight,
                           const clv_tensor_data *data, clv_arena *arena, const void **ret,
                           clv_error *err)
{
    switch (data->kind) {
    case CLV_DATA_RAW:
    case CLV_DATA_TYPED:
    case CLV_DATA_EXTERNAL:
        return read_all(weights, weight, data, arena, ret, err);
    case CLV_DATA_ABSENT:
        return clv_fail(err, CLV_EIO, "weight '%.*s' is in the file '%.*s', which is not there",
                        CLV_STR_ARG(data->name), CLV_STR_ARG(data->location));
    case CLV_DATA_NONE:
        break;
    }
    return clv_fail(err, CLV_EUNSUPP, "weight '%.*s' is sparse or has texts: it cannot be cut",
                    CLV_STR_ARG(data->name));
}

static clv_status cut(const clv_local_file *f, const clv_emit_weight *w, const uint8_t *whole,
                      clv_arena *arena, clv_new_tensor *ret, clv_error *err)
{
    clv_dtype dtype = f->e.s->types->of[w->tensor.i].dtype;
    int64_t at = 0;
    clv_box box;
    clv_runs runs;
    CLV_TRY(clv_spmd_box(f->e.s, &(clv_spmd_shard){ w->tensor, w->layout, w->position }, arena,
                         &box, err));
    (void)clv_dtype_bytes(dtype, clv_box_elems(&box), &ret->n_bytes);
    uint8_t *bytes = clv_arena_take(arena, (size_t)ret->n_bytes + 1);
    if (!bytes)
        return no_memory(err);
    ret->bytes = bytes;
    for (clv_runs_start(&box, &runs); runs.n > 0; clv_runs_next(&runs)) {
        clv_copy_elems(bytes, at, whole, runs.first, runs.n, clv_dtype_bits(dtype));
        at += runs.n;
    }
    return CLV_OK;
}

clv_status clv_local_file_inline(const clv_local_file *f, const clv_emit_weight *w,
                                 const clv_tensor_data *data, const clv_weight_source *weights,
                                 clv_arena *arena, clv_new_tensor *ret, clv_error *err)
{
    const clv_tensor_data *from = &data[w->weight];
    const void *whole = NULL;
    *ret = (clv_new_tensor){ .name = w->name,
                             .dtype = from->dtype,
                             .rank = from->rank,
                             .dims = w->whole ? from->dims : w->dims,
                             .weight = w->whole ? w->weight : -1 };
    if (w->whole && from->kind != CLV_DATA_EXTERNAL && from->kind != CLV_DATA_ABSENT)
        return CLV_OK; /* as it stands in the source */
    ret->weight = -1;
    CLV_TRY(bytes_of(weights, w->weight, from, arena, &whole, err));
    if (!w->whole)
        return cut(f, w, whole, arena, ret, err);
    ret->bytes = whole;
    ret->n_bytes = from->bytes;
    return CLV_OK;
}

/* -- writing -- */

static clv_new_value *values_of(const clv_local_io *at, int32_t n, clv_arena *arena)
{
    clv_new_value *ret = CLV_NEW_ARRAY(arena, clv_new_value, n);
    for (int32_t i = 0; ret && i < n; i++)
        ret[i] = (clv_new_value){ at[i].name, at[i].type };
    return ret;
}

clv_status clv_local_file_write(const clv_local_file *f, const clv_onnx_file *source,
                                const clv_new_tensor *places, const clv_sink *sink,
                                clv_arena *arena, clv_error *err)
{
    enum { IR_INITIALISERS = 4 }; /* from here on an initialiser need not be an input */
    const clv_emit *e = &f->e;
    int32_t n_tensors = e->n_tensors + e->n_weights;
    clv_new_tensor *tensors = CLV_NEW_ARRAY(arena, clv_new_tensor, n_tensors);
    clv_new_opset opsets[2] = { { clv_str_of("ai.onnx"), e->opset },
                                { clv_str_of("com.microsoft"), 1 } };
    clv_new_model m = { .source = source,
                        .model = e->s->model,
                        .graph_name = e->s->model->main->name,
                        .ir_version =
                            e->s->model->ir_version < IR_INITIALISERS ? IR_INITIALISERS : 0,
                        .opsets = opsets,
                        .n_opsets = e->uses_microsoft ? 2 : 1,
                        .inputs = values_of(f->inputs, f->n_inputs, arena),
                        .n_inputs = f->n_inputs,
                        .outputs = values_of(f->outputs, f->n_outputs, arena),
                        .n_outputs = f->n_outputs,
                        .values = e->values,
                        .n_values = e->n_values,
                        .tensors = tensors,
                        .n_tensors = n_tensors,
                        .nodes = e->nodes,
                        .n_nodes = e->n_nodes };
    if (!tensors || !m.inputs || !m.outputs)
        return no_memory(err);
    if (e->n_tensors)
        memcpy(tensors, e->tensors, (size_t)e->n_tensors * sizeof *tensors);
    if (e->n_weights)
        memcpy(tensors + e->n_tensors, places, (size_t)e->n_weights * sizeof *tensors);
    return clv_onnx_write(&m, sink, arena, err);
}
