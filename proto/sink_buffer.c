#include "proto/sink_buffer.h"

#include <assert.h>

#include "proto/onnx_image.h"

#define BUFFER ((size_t)256 << 10)
#define LONG   ((uint64_t)64 << 10) /* a range from here on is worth a call of its own */

static_assert(LONG <= CLV_IMAGE_LIMIT, "a shorter range has no hole in it");

clv_status clv_sink_buffer_init(clv_sink_buffer *out, const clv_onnx_file *file,
                                const clv_sink *sink, clv_arena *arena, clv_error *err)
{
    *out = (clv_sink_buffer){ .sink = sink, .file = file, .buffer = clv_arena_take(arena, BUFFER) };
    return out->buffer ? CLV_OK : clv_fail_nomem(err, "an output buffer");
}

static clv_status flush(clv_sink_buffer *out, clv_error *err)
{
    size_t n = out->n;
    out->n = 0;
    return n ? out->sink->write(out->sink->ctx, out->buffer, n, err) : CLV_OK;
}

/* Precondition: no range waits. */
static clv_status buffer(clv_sink_buffer *out, const uint8_t *bytes, size_t n, clv_error *err)
{
    while (n) {
        if (out->n == BUFFER)
            CLV_TRY(flush(out, err));
        size_t part = n < BUFFER - out->n ? n : BUFFER - out->n;
        memcpy(out->buffer + out->n, bytes, part);
        out->n += part;
        bytes += part;
        n -= part;
    }
    return CLV_OK;
}

static clv_status write_range(clv_sink_buffer *out, uint64_t at, uint64_t n, clv_error *err)
{
    if (out->sink->from_file)
        return out->sink->from_file(out->sink->ctx, out->file, at, n, err);
    while (n) { /* through the buffer, which is empty: in the file's memory there may be a hole */
        size_t part = n < BUFFER ? (size_t)n : BUFFER;
        CLV_TRY(clv_onnx_read_bytes(out->file, at, out->buffer, part, err));
        CLV_TRY(out->sink->write(out->sink->ctx, out->buffer, part, err));
        at += part;
        n -= part;
    }
    return CLV_OK;
}

static clv_status flush_range(clv_sink_buffer *out, clv_error *err)
{
    uint64_t at = out->range_at, n = out->range_n;
    out->range_n = 0;
    if (n < LONG)
        return buffer(out, out->file->bytes + at, (size_t)n, err);
    CLV_TRY(flush(out, err));
    return write_range(out, at, n, err);
}

clv_status clv_sink_buffer_add(clv_sink_buffer *out, const void *bytes, size_t n, clv_error *err)
{
    if (n == 0)
        return CLV_OK;
    if (out->range_n)
        CLV_TRY(flush_range(out, err));
    out->total += n;
    return buffer(out, bytes, n, err);
}

clv_status clv_sink_buffer_add_range(clv_sink_buffer *out, const uint8_t *from, const uint8_t *to,
                                     clv_error *err)
{
    uint64_t at = (uint64_t)(from - out->file->bytes), n = (uint64_t)(to - from);
    if (n == 0)
        return CLV_OK;
    if (out->range_n && out->range_at + out->range_n != at)
        CLV_TRY(flush_range(out, err));
    if (!out->range_n)
        out->range_at = at;
    out->range_n += n;
    out->total += n;
    return CLV_OK;
}

clv_status clv_sink_buffer_flush(clv_sink_buffer *out, clv_error *err)
{
    if (out->range_n)
        CLV_TRY(flush_range(out, err));
    return flush(out, err);
}
