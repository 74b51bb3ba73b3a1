#include "proto/wire.h"

#include <assert.h>

/* A key's low three bits are the wire type, the rest is the field's number. Wire types 3 and 4 open
 * and close a group, which ONNX never had; 6 and 7 do not exist.
 */
#define FIELD_NUMBER_MAX ((UINT32_C(1) << 29) - 1)

static clv_status fail_cut_short(const clv_wire *w, const char *what, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT,
                    "%s: the file is cut short or damaged: %s at byte %zu does "
                    "not end within its message, which ends at byte %zu",
                    w->name, what, (size_t)(w->at - w->file), (size_t)(w->end - w->file));
}

/* The tenth byte may carry one bit only. */
static clv_status read_long_varint(clv_wire *w, uint64_t *ret, clv_error *err)
{
    const uint8_t *p = w->at;
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (p == w->end)
            return fail_cut_short(w, "a number", err);
        uint8_t byte = *p++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            w->at = p;
            *ret = value;
            return CLV_OK;
        }
    }
    return clv_fail(err, CLV_EFORMAT, "%s: the number at byte %zu is longer than 64 bits", w->name,
                    (size_t)(w->at - w->file));
}

/* Moves past the varint at w->at. Most are one byte: that is looked at in place. */
static inline clv_status read_varint(clv_wire *w, uint64_t *ret, clv_error *err)
{
    if (w->at == w->end || *w->at & 0x80)
        return read_long_varint(w, ret, err);
    *ret = *w->at++;
    return CLV_OK;
}

clv_status clv_wire_scalar(clv_wire *w, clv_wire_type type, uint64_t *ret, clv_error *err)
{
    assert(type != CLV_WIRE_BYTES);
    if (type == CLV_WIRE_VARINT)
        return read_varint(w, ret, err);
    size_t n = type == CLV_WIRE_FIXED32 ? 4 : 8;
    if ((size_t)(w->end - w->at) < n)
        return fail_cut_short(w, "a number", err);
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) /* little-endian */
        value |= (uint64_t)w->at[i] << 8 * i;
    w->at += n;
    *ret = value;
    return CLV_OK;
}

clv_status clv_wire_count(const clv_wire *w, clv_wire_type type, size_t *ret_n, clv_error *err)
{
    size_t bytes = (size_t)(w->end - w->at), n = 0;
    if (type != CLV_WIRE_VARINT) {
        size_t size = type == CLV_WIRE_FIXED32 ? 4 : 8;
        if (bytes % size)
            return clv_fail(err, CLV_EFORMAT, "%s: %zu bytes at byte %zu are no list of %s numbers",
                            w->name, bytes, (size_t)(w->at - w->file), clv_wire_type_name(type));
        *ret_n = bytes / size;
        return CLV_OK;
    }
    for (const uint8_t *p = w->at; p < w->end; p++)
        n += !(*p & 0x80);
    if (bytes && (w->end[-1] & 0x80))
        return fail_cut_short(w, "a list of numbers", err);
    *ret_n = n;
    return CLV_OK;
}

const char *clv_wire_type_name(clv_wire_type type)
{
    switch (type) {
    case CLV_WIRE_VARINT:
        return "varint";
    case CLV_WIRE_FIXED64:
        return "64-bit";
    case CLV_WIRE_BYTES:
        return "bytes";
    case CLV_WIRE_FIXED32:
        return "32-bit";
    }
    return "?";
}

static clv_status read_key(clv_wire *w, clv_field *f, clv_error *err)
{
    uint64_t k = 0;
    f->start = w->at;
    CLV_TRY(read_varint(w, &k, err));
    if (k >> 3 == 0 || k >> 3 > FIELD_NUMBER_MAX)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: byte %zu starts no field (its key is %llu): the file is damaged or is "
                        "no ONNX model",
                        w->name, (size_t)(f->start - w->file), (unsigned long long)k);
    f->number = (uint32_t)(k >> 3);
    unsigned type = k & 7;
    if (type == 3 || type == 4 || type > 5)
        return clv_fail(
            err, CLV_EFORMAT,
            "%s is no ONNX model: field %u at byte %zu has wire type %u, which ONNX does not use",
            w->name, f->number, (size_t)(f->start - w->file), type);
    f->type = (clv_wire_type)type;
    f->head = w->at;
    return CLV_OK;
}

clv_status clv_wire_next(clv_wire *w, clv_field *ret, clv_error *err)
{
    clv_field f = { 0 };
    if (w->at == w->end) {
        *ret = f;
        return CLV_OK;
    }
    CLV_TRY(read_key(w, &f, err));
    if (f.type != CLV_WIRE_BYTES) {
        CLV_TRY(clv_wire_scalar(w, f.type, &f.value, err));
        f.bytes = f.head;
        f.n = (size_t)(w->at - f.head);
    } else {
        uint64_t n = 0;
        CLV_TRY(read_varint(w, &n, err));
        if (n > (uint64_t)(w->end - w->at))
            return clv_fail(err, CLV_EFORMAT,
                            "%s: the file is cut short or damaged: field %u at byte %zu is %llu "
                            "bytes long, but %zu are left in its message",
                            w->name, f.number, (size_t)(f.start - w->file), (unsigned long long)n,
                            (size_t)(w->end - w->at));
        f.bytes = w->at;
        f.n = (size_t)n;
        w->at += n;
    }
    *ret = f;
    return CLV_OK;
}

size_t clv_varint_size(uint64_t value)
{
    size_t n = 1;
    while (value >>= 7)
        n++;
    return n;
}

size_t clv_varint_put(uint8_t *out, uint64_t value)
{
    return clv_varint_put_wide(out, value, clv_varint_size(value));
}

size_t clv_varint_put_wide(uint8_t *out, uint64_t value, size_t width)
{
    assert(width >= clv_varint_size(value) && width <= CLV_VARINT_MAX);
    for (size_t i = 0; i < width; i++, value >>= 7)
        out[i] = (uint8_t)((value & 0x7f) | (i + 1 < width ? 0x80 : 0));
    return width;
}
