#include "lower/emit_phase.h"

#include "lower/emit_operator.h"
#include "lower/emit_part.h"
#include "lower/emit_step.h"

#define WHAT "writing a lowered model"

/* -- weights -- */

/* A weight's part, under one name however many devices side by side have it. */
static clv_status name_weight(clv_emit *e, int32_t v, int32_t position, clv_error *err)
{
    const clv_spmd_value *value = &e->s->values[v];
    const clv_tensor_info *info = clv_tensor_at(e->s->model->main, value->tensor);
    const clv_type *type = &e->s->types->of[value->tensor.i];
    clv_emit_weight w = { .weight = info->weight,
                          .shard = { value->tensor, value->layout, position },
                          .whole = true };
    int64_t key[2 + 3 * CLV_SPLIT_RANK_MAX] = { info->weight, 0 };
    int32_t n = 2, id;
    clv_split_dims dims;
    clv_part part;
    if (clv_spmd_part(e->s, &w.shard, &dims, &part)) {
        int64_t *own = CLV_NEW_ARRAY(e->arena, int64_t, type->rank);
        if (!own)
            return clv_fail_nomem(err, WHAT);
        clv_spmd_dims(e->s, value->tensor, &value->layout, position, own);
        w.rank = type->rank;
        w.dims = own;
        w.whole = type->rank == 0 || memcmp(own, type->dims, (size_t)type->rank * sizeof *own) == 0;
        for (int32_t i = 0; i < dims.rank && !w.whole; i++) {
            key[n++] = dims.dims[i];
            key[n++] = part.offset[i];
            key[n++] = part.size[i];
        }
    }
    CLV_TRY(clv_map_put_key(&e->parts, key, (size_t)n * sizeof *key, e->n_weights, &id, err));
    if (id == e->n_weights) {
        if (!CLV_PUSH_ROOM(e->arena, e->weights, e->n_weights, e->cap_weights))
            return clv_fail_nomem(err, WHAT);
        CLV_TRY(clv_emit_fresh(e, info->name, -1, false, &w.name, err));
        e->weights[e->n_weights++] = w;
    }
    *clv_emit_name(e, v, position) = e->weights[id].name;
    return CLV_OK;
}

/* -- known values -- */

/* Element i as bytes of the dtype; false: it cannot be written so. */
static bool write_number(clv_dtype dtype, const clv_value *value, int64_t i, uint8_t *to)
{
    double f = value->f ? value->f[i] : (double)value->i[i];
    float narrow = (float)f;
    if (dtype == CLV_DT_FLOAT) {
        memcpy(to, &narrow, sizeof narrow);
        return true;
    }
    if (dtype == CLV_DT_DOUBLE) {
        memcpy(to, &f, sizeof f);
        return true;
    }
    bool is_whole = value->i || (f >= -0x1p63 && f < 0x1p63); /* a cast of more is undefined */
    if (!is_whole || clv_dtype_is_float(dtype) || clv_dtype_bits(dtype) < 8 ||
        clv_dtype_bits(dtype) > 64)
        return false;
    int64_t n = value->i ? value->i[i] : (int64_t)f;
    memcpy(to, &n, (size_t)clv_dtype_bits(dtype) / 8);
    return true;
}

/* Known numbers of 16 bits are written as those of 32, which hold them exactly, and cast. */
static clv_status name_known(clv_emit *e, int32_t v, int32_t position, clv_error *err)
{
    const clv_spmd_value *value = &e->s->values[v];
    const clv_type *type = &e->s->types->of[value->tensor.i];
    const clv_value *known = e->s->types->value[value->tensor.i];
    const clv_emit_scope scope = { e, value->name, position };
    clv_layout copies = CLV_LAYOUT_COPIES;
    bool half = type->dtype == CLV_DT_FLOAT16 || type->dtype == CLV_DT_BFLOAT16;
    const clv_emit_type written = { half ? CLV_DT_FLOAT : type->dtype, type->rank, type->dims };
    size_t size = (size_t)clv_dtype_bits(written.dtype) / 8;
    uint8_t *bytes = clv_arena_take_array(e->arena, (size_t)known->n + 1, sizeof(int64_t));
    clv_str *name = clv_emit_name(e, v, position);
    if (!bytes)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < known->n; i++)
        if (!write_number(written.dtype, known, i, bytes + (size_t)i * size))
            return clv_fail(err, CLV_EUNSUPP, "a known value of type %s cannot be written",
                            clv_dtype_name(written.dtype));
    CLV_TRY(clv_emit_constant(e, &written, bytes, (int64_t)known->n * (int64_t)size, name, err));
    if (half)
        CLV_TRY(clv_emit_cast(&scope, *name, type->dtype, name, err));
    return clv_emit_part(e, &copies, value, position, name, err);
}

/* -- the phase -- */

/* What is there before the first instruction. */
static clv_status name_value(clv_emit *e, int32_t v, int32_t position, clv_error *err)
{
    const clv_spmd_value *value = &e->s->values[v];
    switch (value->role) {
    case CLV_SPMD_WEIGHT:
        return name_weight(e, v, position, err);
    case CLV_SPMD_KNOWN:
        return name_known(e, v, position, err);
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

clv_status clv_emit_phase(clv_emit *e, int32_t phase, clv_error *err)
{
    const clv_spmd_phase *p = &e->s->phases[phase];
    e->phase = phase;
    e->collected = (clv_typed_name){ .dtype = CLV_DT_UNDEFINED };
    for (int32_t v = p->first_value; v < p->first_value + p->n_values; v++)
        for (int32_t i = 0; i < e->s->mesh.n_devices; i++)
            if (clv_emit_active(e, i))
                CLV_TRY(name_value(e, v, i, err));
    for (int32_t i = p->first_instr; i < p->first_instr + p->n_instrs; i++) {
        const clv_spmd_instr *instr = &e->s->instrs[i];
        CLV_TRY(instr->op.i < 0 ? clv_emit_step(e, instr, err) : clv_emit_operator(e, instr, err));
    }
    return CLV_OK;
}
