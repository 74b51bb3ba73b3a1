#include "proto/encode_node_entry.h"

#include "base/map.h"

/* Up to FEW names are compared with each other; more go through a map. */
#define FEW 12

enum { N_INPUT = 1, N_OUTPUT = 2, N_DEVICES = 10 };
enum { D_CONFIGURATION = 1, D_SPEC = 2, D_STAGE = 3 };
enum { S_TENSOR = 1, S_DEVICE = 2 };

static clv_status gather_names(clv_node_entry *e, clv_message m, clv_error *err)
{
    clv_field f;
    e->n_names = 0;
    for (;;) {
        clv_str name;
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if ((f.number != N_INPUT && f.number != N_OUTPUT) || f.n == 0)
            continue;
        CLV_TRY(clv_message_str(&m, &f, &name, err));
        if (!CLV_PUSH_ROOM(e->arena, e->names, e->n_names, e->cap_names))
            return clv_fail_nomem(err, "the names of a node");
        e->names[e->n_names++] = name;
    }
}

static clv_status keep_distinct_by_map(clv_node_entry *e, clv_error *err)
{
    clv_map seen;
    int32_t kept = 0;
    CLV_TRY(clv_map_init(&seen, e->arena, e->n_names, err));
    for (int32_t i = 0; i < e->n_names; i++) {
        int32_t id;
        CLV_TRY(clv_map_put(&seen, e->names[i], kept, &id, err));
        if (id == kept)
            e->names[kept++] = e->names[i];
    }
    e->n_names = kept;
    return CLV_OK;
}

static clv_status keep_distinct(clv_node_entry *e, clv_error *err)
{
    if (e->n_names > FEW) {
        clv_mark mark = clv_arena_mark(e->arena);
        clv_status status = keep_distinct_by_map(e, err);
        clv_arena_rewind(e->arena, mark);
        return status;
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < e->n_names; i++) {
        bool is_new = true;
        for (int32_t k = 0; k < kept && is_new; k++)
            is_new = !clv_str_eq(e->names[k], e->names[i]);
        if (is_new)
            e->names[kept++] = e->names[i];
    }
    e->n_names = kept;
    return CLV_OK;
}

static size_t text_size(clv_str s) { return 1 + clv_varint_size((uint64_t)s.n) + (size_t)s.n; }

/* -- what the entry says -- */

/* The spec that is given for a name; NULL: the default. */
static clv_spec_message *given_spec(const clv_node_place *place, clv_str name)
{
    int32_t id = place->given ? clv_map_get(&place->given->by_tensor, name) : -1;
    return id < 0 ? NULL : &place->given->specs[id];
}

static clv_status check_given(const clv_node_entry *e, const clv_node_place *place, clv_error *err)
{
    for (int32_t i = 0; place->given && i < e->n_names; i++) {
        clv_spec_message *spec = given_spec(place, e->names[i]);
        if (spec)
            spec->used = true;
    }
    for (int32_t i = 0; place->given && i < place->given->n_specs; i++)
        if (!place->given->specs[i].used)
            return clv_fail(err, CLV_EUSAGE,
                            "the plan has a spec for tensor '%s' of node %d, which has no input or "
                            "output of that name",
                            place->given->specs[i].proto.tensor_name, place->given->file_index);
    return CLV_OK;
}

static bool has_stage(const clv_node_place *place)
{
    return (place->given && place->given->has_stage) || place->stage >= 0;
}

/* Below 0 it is ten bytes, as if it had 64 bits. */
static uint64_t stage_of(const clv_node_place *place)
{
    int64_t stage = place->given && place->given->has_stage ? place->given->stage : place->stage;
    return (uint64_t)stage;
}

static size_t spec_size(const clv_node_place *place, clv_str name)
{
    const clv_spec_message *given = given_spec(place, name);
    if (given)
        return given->n;
    return text_size(name) + (place->copies.n ? (size_t)place->copies.n
                                              : 1 + clv_varint_size((uint64_t)place->device));
}

static size_t entry_size(const clv_node_entry *e, clv_str configuration,
                         const clv_node_place *place)
{
    size_t n = text_size(configuration);
    if (place->device < 0)
        return n;
    for (int32_t i = 0; i < e->n_names; i++) {
        size_t spec = spec_size(place, e->names[i]);
        n += 1 + clv_varint_size(spec) + spec;
    }
    return n + (has_stage(place) ? 1 + clv_varint_size(stage_of(place)) : 0);
}

/* All keys here are below 16, so each is one byte. */
static uint8_t *put_number(uint8_t *out, uint32_t field, uint64_t value)
{
    *out++ = (uint8_t)clv_wire_key(field, CLV_WIRE_VARINT);
    return out + clv_varint_put(out, value);
}

static uint8_t *put_key(uint8_t *out, uint32_t field, size_t n)
{
    *out++ = (uint8_t)clv_wire_key(field, CLV_WIRE_BYTES);
    return out + clv_varint_put(out, n);
}

static uint8_t *put_text(uint8_t *out, uint32_t field, clv_str s)
{
    out = put_key(out, field, (size_t)s.n);
    if (s.n)
        memcpy(out, s.at, (size_t)s.n);
    return out + s.n;
}

static clv_status make_room(clv_node_entry *e, size_t need, clv_error *err)
{
    if (need > INT32_MAX / 2)
        return clv_fail(err, CLV_ELIMIT,
                        "the annotation of one node needs %zu bytes, the limit is %d", need,
                        INT32_MAX / 2);
    if ((int32_t)need <= e->cap)
        return CLV_OK;
    size_t cap = need + need / 2;
    uint8_t *bytes = clv_arena_take(e->arena, cap);
    if (!bytes)
        return clv_fail_nomem(err, "the annotation of a node");
    e->bytes = bytes;
    e->cap = (int32_t)cap;
    return CLV_OK;
}

static uint8_t *put_spec(uint8_t *out, const clv_node_place *place, clv_str name)
{
    const clv_spec_message *given = given_spec(place, name);
    out = put_key(out, D_SPEC, spec_size(place, name));
    if (given)
        return out + onnx__sharding_spec_proto__pack(&given->proto, out);
    out = put_text(out, S_TENSOR, name);
    if (place->copies.n == 0)
        return put_number(out, S_DEVICE, (uint64_t)place->device);
    memcpy(out, place->copies.at, (size_t)place->copies.n);
    return out + place->copies.n;
}

clv_status clv_node_entry_encode(clv_node_entry *e, const clv_message *node, clv_str configuration,
                                 const clv_node_place *place, clv_error *err)
{
    CLV_TRY(gather_names(e, *node, err));
    CLV_TRY(keep_distinct(e, err));
    CLV_TRY(check_given(e, place, err));
    size_t size = entry_size(e, configuration, place);
    CLV_TRY(make_room(e, 1 + CLV_VARINT_MAX + size, err));
    uint8_t *out = put_key(e->bytes, N_DEVICES, size);
    out = put_text(out, D_CONFIGURATION, configuration);
    for (int32_t i = 0; place->device >= 0 && i < e->n_names; i++)
        out = put_spec(out, place, e->names[i]);
    if (place->device >= 0 && has_stage(place))
        out = put_number(out, D_STAGE, stage_of(place));
    e->n = (int32_t)(out - e->bytes);
    return CLV_OK;
}
