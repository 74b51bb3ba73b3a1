#include "proto/message_writer.h"

#include <assert.h>

void clv_message_writer_start(clv_message_writer *e, clv_sink_buffer *out)
{
    e->out = out;
    e->next = 0;
    e->total = 0;
}

/* n more bytes. Measuring ends where the file becomes larger than any reader takes. */
static clv_status count_bytes(clv_message_writer *e, uint64_t n, clv_error *err)
{
    e->total += n;
    if (e->out || e->total <= CLV_PROTOBUF_MAX)
        return CLV_OK;
    return clv_fail(err, CLV_ELIMIT,
                    "the new model would have over %d bytes, which other tools do not read: keep "
                    "its weights as external data",
                    CLV_PROTOBUF_MAX);
}

static clv_status put_raw(clv_message_writer *e, const void *bytes, size_t n, clv_error *err)
{
    CLV_TRY(count_bytes(e, n, err));
    return e->out ? clv_sink_buffer_add(e->out, bytes, n, err) : CLV_OK;
}

static clv_status put_key(clv_message_writer *e, uint32_t field, clv_wire_type type, uint64_t value,
                          clv_error *err)
{
    uint8_t head[2 * CLV_VARINT_MAX];
    size_t n = clv_varint_put(head, clv_wire_key(field, type));
    n += clv_varint_put(head + n, value);
    return put_raw(e, head, n, err);
}

clv_status clv_put_begin(clv_message_writer *e, uint32_t field, clv_open_message *ret,
                         clv_error *err)
{
    clv_open_message m = { field, e->next, 0 };
    if (e->out) {
        CLV_TRY(put_key(e, field, CLV_WIRE_BYTES, e->lengths[m.i], err));
    } else {
        if (e->n_lengths == INT32_MAX / 2 ||
            !CLV_PUSH_ROOM(e->arena, e->lengths, e->n_lengths, e->cap_lengths))
            return clv_fail_nomem(err, "the lengths of a model's nodes");
        e->n_lengths++;
    }
    e->next++;
    m.before = e->total;
    *ret = m;
    return CLV_OK;
}

clv_status clv_put_end(clv_message_writer *e, const clv_open_message *m, clv_error *err)
{
    uint64_t n = e->total - m->before;
    if (e->out) {
        assert(n == e->lengths[m->i]);
        return CLV_OK;
    }
    e->lengths[m->i] = n;
    return put_key(e, m->field, CLV_WIRE_BYTES, n, err);
}

clv_status clv_put_int(clv_message_writer *e, uint32_t field, int64_t value, clv_error *err)
{
    return put_key(e, field, CLV_WIRE_VARINT, (uint64_t)value, err);
}

clv_status clv_put_float(clv_message_writer *e, uint32_t field, float value, clv_error *err)
{
    uint8_t bytes[CLV_VARINT_MAX + sizeof value];
    uint32_t bits;
    size_t n = clv_varint_put(bytes, clv_wire_key(field, CLV_WIRE_FIXED32));
    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < sizeof bits; i++)
        bytes[n++] = (uint8_t)(bits >> 8 * i);
    return put_raw(e, bytes, n, err);
}

clv_status clv_put_bytes(clv_message_writer *e, uint32_t field, const void *bytes, size_t n,
                         clv_error *err)
{
    CLV_TRY(put_key(e, field, CLV_WIRE_BYTES, n, err));
    return put_raw(e, bytes, n, err);
}

clv_status clv_put_pair(clv_message_writer *e, uint32_t field, clv_str key, clv_str value,
                        clv_error *err)
{
    clv_open_message m = { 0 };
    CLV_TRY(clv_put_begin(e, field, &m, err));
    CLV_TRY(clv_put_str(e, 1, key, err));
    CLV_TRY(clv_put_str(e, 2, value, err));
    return clv_put_end(e, &m, err);
}

clv_status clv_put_field(clv_message_writer *e, const clv_message *m, const clv_field *f,
                         clv_error *err)
{
    CLV_TRY(count_bytes(e, (uint64_t)(m->wire.at - f->start), err));
    return e->out ? clv_sink_buffer_add_range(e->out, f->start, m->wire.at, err) : CLV_OK;
}
