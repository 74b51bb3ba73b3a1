#include "proto/node_entry.h"

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

static bool is_among(const clv_str *names, int32_t n, clv_str name)
{
    for (int32_t i = 0; i < n; i++)
        if (clv_str_eq(names[i], name))
            return true;
    return false;
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
    for (int32_t i = 0; i < e->n_names; i++)
        if (!is_among(e->names, kept, e->names[i]))
            e->names[kept++] = e->names[i];
    e->n_names = kept;
    return CLV_OK;
}

static size_t text_size(clv_str s) { return 1 + clv_varint_size((uint64_t)s.n) + (size_t)s.n; }

static size_t spec_size(clv_str name, int32_t device)
{
    return text_size(name) + 1 + clv_varint_size((uint64_t)device);
}

static size_t entry_size(const clv_node_entry *e, clv_str configuration, int32_t device,
                         int32_t stage)
{
    size_t n = text_size(configuration);
    if (device < 0)
        return n;
    for (int32_t i = 0; i < e->n_names; i++) {
        size_t spec = spec_size(e->names[i], device);
        n += 1 + clv_varint_size(spec) + spec;
    }
    return n + (stage < 0 ? 0 : 1 + clv_varint_size((uint64_t)stage));
}

/* All keys here are below 16, so each is one byte. */
static uint8_t *put_number(uint8_t *out, uint32_t field, uint64_t value)
{
    *out++ = (uint8_t)clv_wire_key(field, CLV_WIRE_VARINT);
    return out + clv_varint_put(out, value);
}

static uint8_t *put_head(uint8_t *out, uint32_t field, size_t n)
{
    *out++ = (uint8_t)clv_wire_key(field, CLV_WIRE_BYTES);
    return out + clv_varint_put(out, n);
}

static uint8_t *put_text(uint8_t *out, uint32_t field, clv_str s)
{
    out = put_head(out, field, (size_t)s.n);
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

clv_status clv_node_entry_make(clv_node_entry *e, const clv_message *node, clv_str configuration,
                               int32_t device, int32_t stage, clv_error *err)
{
    CLV_TRY(gather_names(e, *node, err));
    CLV_TRY(keep_distinct(e, err));
    size_t size = entry_size(e, configuration, device, stage);
    CLV_TRY(make_room(e, 1 + CLV_VARINT_MAX + size, err));
    uint8_t *out = put_head(e->bytes, N_DEVICES, size);
    out = put_text(out, D_CONFIGURATION, configuration);
    for (int32_t i = 0; device >= 0 && i < e->n_names; i++) {
        out = put_head(out, D_SPEC, spec_size(e->names[i], device));
        out = put_text(out, S_TENSOR, e->names[i]);
        out = put_number(out, S_DEVICE, (uint64_t)device);
    }
    if (device >= 0 && stage >= 0)
        out = put_number(out, D_STAGE, (uint64_t)stage);
    e->n = (int32_t)(out - e->bytes);
    return CLV_OK;
}
