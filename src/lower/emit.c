/* emit.c - the instructions of a phase in their order; what they read first gets its names. */
#include "lower/emit.h"
#include "lower/opset.h"

#define WHAT "writing a lowered model"

static clv_status no_memory(const clv_emit *e) { return clv_fail_nomem(e->err, WHAT); }

clv_status clv_emit_init(clv_emit *e, const clv_spmd *s, clv_dialect dialect, int32_t only,
                         clv_arena *arena, clv_error *err)
{
    *e = (clv_emit){ .s = s,
                     .dialect = dialect,
                     .only = only,
                     .opset = clv_opset_for(s->model),
                     .arena = arena,
                     .err = err };
    e->name =
        CLV_NEW_ARRAY(arena, clv_str, (int64_t)s->n_values * (only < 0 ? s->mesh.n_devices : 1));
    e->io = CLV_NEW_ARRAY(arena, clv_str, s->mesh.n_devices);
    if (!e->name || !e->io)
        return no_memory(e);
    CLV_TRY(clv_map_init(&e->taken, arena, s->n_values, err));
    CLV_TRY(clv_map_init(&e->constants, arena, 64, err));
    return clv_map_init(&e->parts, arena, 64, err);
}

/* -- weights -- */

/* Does the part fill the tensor? */
static bool is_whole(const clv_type *type, const int64_t *dims)
{
    for (int32_t i = 0; i < type->rank; i++)
        if (dims[i] != type->dims[i])
            return false;
    return true;
}

/* A weight's part, under one name however many devices side by side have it. */
static clv_status name_weight(clv_emit *e, int32_t v, int32_t position)
{
    const clv_spmd_value *value = &e->s->values[v];
    const clv_tensor_info *info = clv_tensor_at(e->s->model->main, value->tensor);
    const clv_type *type = &e->s->types->of[value->tensor.i];
    clv_tensor_split split;
    clv_emit_weight w = { .weight = info->weight,
                          .tensor = value->tensor,
                          .layout = value->layout,
                          .position = position,
                          .whole = true };
    int64_t key[2 + 3 * CLV_SPLIT_RANK_MAX] = { info->weight, 0 };
    int32_t n = 2, id;
    if (clv_spmd_split(e->s, value->tensor, &split)) {
        clv_split_dims dims;
        clv_part part;
        int64_t *own = CLV_NEW_ARRAY(e->arena, int64_t, split.rank);
        if (!own)
            return no_memory(e);
        clv_spmd_dims(e->s, value->tensor, &value->layout, position, own);
        w.rank = split.rank;
        w.dims = own;
        w.whole = is_whole(type, own);
        clv_split_dims_of(&value->layout, &split, &dims);
        clv_layout_part(&value->layout, &e->s->mesh, &split, &dims, position, &part);
        for (int32_t i = 0; i < dims.rank && !w.whole; i++) {
            key[n++] = dims.dims[i];
            key[n++] = part.offset[i];
            key[n++] = part.size[i];
        }
    }
    CLV_TRY(clv_map_put_key(&e->parts, key, (size_t)n * sizeof *key, e->n_weights, &id, e->err));
    if (id == e->n_weights) {
        if (!CLV_PUSH_ROOM(e->arena, e->weights, e->n_weights, e->cap_weights))
            return no_memory(e);
        CLV_TRY(clv_emit_fresh(e, info->name, -1, false, &w.name));
        e->weights[e->n_weights++] = w;
    }
    *clv_emit_name(e, v, position) = e->weights[id].name;
    return CLV_OK;
}

/* -- known values -- */

static bool store(clv_dtype dtype, const clv_value *value, int64_t i, uint8_t *to)
{
    double f = value->f ? value->f[i] : (double)value->i[i];
    int64_t n = value->i ? value->i[i] : (int64_t)value->f[i];
    float narrow = (float)f;
    if (dtype == CLV_DT_FLOAT)
        memcpy(to, &narrow, sizeof narrow);
    else if (dtype == CLV_DT_DOUBLE)
        memcpy(to, &f, sizeof f);
    else if (!clv_dtype_is_float(dtype) && clv_dtype_bits(dtype) >= 8 &&
             clv_dtype_bits(dtype) <= 64)
        memcpy(to, &n, (size_t)clv_dtype_bits(dtype) / 8);
    else
        return false;
    return true;
}

/* Known numbers of 16 bits are written as those of 32, which hold them exactly, and cast. */
static clv_status name_known(clv_emit *e, int32_t v, int32_t position)
{
    const clv_spmd_value *value = &e->s->values[v];
    const clv_type *type = &e->s->types->of[value->tensor.i];
    const clv_value *known = e->s->types->value[value->tensor.i];
    clv_layout copies = CLV_LAYOUT_COPIES;
    bool half = type->dtype == CLV_DT_FLOAT16 || type->dtype == CLV_DT_BFLOAT16;
    clv_dtype dtype = half ? CLV_DT_FLOAT : type->dtype;
    size_t size = (size_t)clv_dtype_bits(dtype) / 8;
    uint8_t *bytes = clv_arena_take_array(e->arena, (size_t)known->n + 1, sizeof(int64_t));
    clv_str name;
    if (!bytes)
        return no_memory(e);
    for (int32_t i = 0; i < known->n; i++)
        if (!store(dtype, known, i, bytes + (size_t)i * size))
            return clv_fail(e->err, CLV_EUNSUPP, "a known value of type %s cannot be written",
                            clv_dtype_name(dtype));
    CLV_TRY(clv_emit_constant(e, dtype, type->rank, type->dims, bytes,
                              (int64_t)known->n * (int64_t)size, &name));
    if (half)
        CLV_TRY(clv_emit_cast(e, name, type->dtype, value->name, position, &name));
    return clv_emit_part(e, name, value->tensor, &copies, &value->layout, position, value->name,
                         clv_emit_name(e, v, position));
}

static clv_status name_value(clv_emit *e, int32_t v, int32_t position)
{
    const clv_spmd_value *value = &e->s->values[v];
    switch (value->role) {
    case CLV_SPMD_WEIGHT:
        return name_weight(e, v, position);
    case CLV_SPMD_KNOWN:
        return name_known(e, v, position);
    case CLV_SPMD_RECEIVED: /* side by side it is the sender's own */
        if (e->only < 0)
            *clv_emit_name(e, v, position) = *clv_emit_name(e, value->from, position);
        break;
    case CLV_SPMD_INPUT:
    case CLV_SPMD_RESULT:
        break;
    }
    return CLV_OK;
}

clv_status clv_emit_phase(clv_emit *e, int32_t phase)
{
    const clv_spmd_phase *p = &e->s->phases[phase];
    e->phase = phase;
    e->collected = (clv_str){ NULL, 0 };
    for (int32_t v = p->first_value; v < p->first_value + p->n_values; v++)
        for (int32_t i = 0; i < e->s->mesh.n_devices; i++)
            if (clv_emit_active(e, i))
                CLV_TRY(name_value(e, v, i));
    for (int32_t i = p->first_instr; i < p->first_instr + p->n_instrs; i++) {
        const clv_spmd_instr *instr = &e->s->instrs[i];
        CLV_TRY(instr->op.i < 0 ? clv_emit_step(e, instr) : clv_emit_operator(e, instr));
    }
    return CLV_OK;
}
