#include "weights/weight_stream.h"

#include "base/packed.h"

#include <assert.h>

/* A block of the weight is read, and every box takes its runs out of it into a buffer of its own,
 * which goes to the sink when it is full. Runs as long as a buffer go straight from the block. Both
 * are small enough to stay in a core's cache between reading, summing and writing.
 */
#define BLOCK      CLV_STREAM_BLOCK
#define BUFFER_MAX ((size_t)64 << 10)
#define PAGE       4096

typedef struct {
    clv_runs runs; /* what is still to come */
    int64_t at;    /* bytes that went to the sink */
    uint8_t *buffer;
    int64_t fill; /* elements in the buffer */
} box_buffer;

struct clv_stream {
    box_buffer *of_box;
    int32_t n_boxes_max;
    size_t buffer_size;
    uint8_t *block;
    int (*stop)(void *ctx);
    void *stop_ctx;
};

static uint8_t *take_pages(clv_arena *arena, size_t n)
{
    uint8_t *raw = clv_arena_take(arena, n + PAGE);
    return raw ? raw + (PAGE - (uintptr_t)raw % PAGE) : NULL;
}

static size_t buffer_size(int32_t n_boxes, size_t memory)
{
    size_t each = memory / (n_boxes > 0 ? (size_t)n_boxes : 1) / PAGE * PAGE;
    return each < PAGE ? PAGE : each > BUFFER_MAX ? BUFFER_MAX : each;
}

size_t clv_stream_memory(int32_t n_boxes, size_t memory)
{
    return BLOCK + PAGE + (size_t)n_boxes * (buffer_size(n_boxes, memory) + PAGE);
}

clv_status clv_stream_new(int32_t n_boxes, size_t memory, clv_arena *arena, clv_stream **ret,
                          clv_error *err)
{
    clv_stream *s = CLV_NEW(arena, clv_stream);
    size_t n = n_boxes > 0 ? (size_t)n_boxes : 1;
    if (s) {
        s->n_boxes_max = n_boxes;
        s->buffer_size = buffer_size(n_boxes, memory);
        s->of_box = CLV_NEW_ARRAY(arena, box_buffer, n);
        s->block = take_pages(arena, BLOCK);
    }
    if (!s || !s->of_box || !s->block)
        return clv_fail_nomem(err, "buffers for weights");
    for (size_t i = 0; i < n; i++) {
        s->of_box[i].buffer = take_pages(arena, s->buffer_size);
        if (!s->of_box[i].buffer)
            return clv_fail_nomem(err, "buffers for weights");
    }
    *ret = s;
    return CLV_OK;
}

void clv_stream_set_stop(clv_stream *s, int (*stop)(void *ctx), void *ctx)
{
    s->stop = stop;
    s->stop_ctx = ctx;
}

/* -- one block -- */

typedef struct {
    clv_stream *s;
    int bits;
    const clv_box_sink *sink;
    int64_t per_buffer, per_page; /* elements */
} cutting;

static clv_status write_out(const cutting *c, int32_t i, const uint8_t *bytes, int64_t elems,
                            clv_error *err)
{
    box_buffer *b = &c->s->of_box[i];
    int64_t per_byte = c->bits < 8 ? 8 / c->bits : 1;
    int64_t n = c->bits < 8 ? elems / per_byte + (elems % per_byte != 0) : elems * (c->bits / 8);
    if (n == 0)
        return CLV_OK;
    CLV_TRY(c->sink->write(c->sink->ctx, i, bytes, (size_t)n, b->at, err));
    b->at += n;
    return CLV_OK;
}

/* The last byte of a box whose elements do not fill it is padded with zeros. */
static clv_status flush(const cutting *c, int32_t i, clv_error *err)
{
    box_buffer *b = &c->s->of_box[i];
    int64_t elems = b->fill;
    if (c->bits < 8 && elems % (8 / c->bits) != 0) {
        unsigned used = (unsigned)(elems % (8 / c->bits) * c->bits);
        uint8_t *last = &b->buffer[elems / (8 / c->bits)];
        *last = (uint8_t)(*last & ((1u << used) - 1));
    }
    b->fill = 0;
    return write_out(c, i, b->buffer, elems, err);
}

/* Elements [from, from + n) of the block for box i. */
static clv_status copy_run(const cutting *c, int32_t i, int64_t from, int64_t n, clv_error *err)
{
    box_buffer *b = &c->s->of_box[i];
    while (n > 0) {
        bool whole_bytes = c->bits >= 8 || from % 8 == 0;
        if (b->fill == 0 && n >= c->per_buffer && whole_bytes) {
            int64_t all = n / c->per_page * c->per_page; /* what follows begins on a page, too */
            const uint8_t *bytes = c->s->block + from / 8 * c->bits + from % 8 * (c->bits / 8);
            CLV_TRY(write_out(c, i, bytes, all, err));
            from += all;
            n -= all;
            continue;
        }
        int64_t room = c->per_buffer - b->fill, part = n < room ? n : room;
        clv_copy_elems(b->buffer, b->fill, c->s->block, from, part, c->bits);
        b->fill += part;
        from += part;
        n -= part;
        if (b->fill == c->per_buffer)
            CLV_TRY(flush(c, i, err));
    }
    return CLV_OK;
}

/* What box i has in [first, first + n), which is in the block. */
static clv_status copy_runs(const cutting *c, int32_t i, int64_t first, int64_t n, clv_error *err)
{
    clv_runs *r = &c->s->of_box[i].runs;
    int64_t end = first + n;
    while (r->n > 0 && r->first < end) {
        int64_t part = r->n < end - r->first ? r->n : end - r->first;
        CLV_TRY(copy_run(c, i, r->first - first, part, err));
        if (part < r->n)
            return clv_runs_skip(r, part), CLV_OK;
        clv_runs_next(r);
    }
    return CLV_OK;
}

/* The first element that any box still wants; -1: none does. */
static int64_t next_wanted(const clv_stream *s, int32_t n)
{
    int64_t next = -1;
    for (int32_t i = 0; i < n; i++) {
        const clv_runs *r = &s->of_box[i].runs;
        if (r->n > 0 && (next < 0 || r->first < next))
            next = r->first;
    }
    return next;
}

clv_status clv_stream_weight(clv_stream *s, const clv_weight_cut *cut,
                             const clv_weight_source *source, const clv_box_sink *sink,
                             clv_error *err)
{
    int bits = clv_dtype_bits(cut->w->dtype);
    int64_t per_block = (int64_t)BLOCK * 8 / bits / 8 * 8;
    cutting c = { .s = s,
                  .bits = bits,
                  .sink = sink,
                  .per_buffer = (int64_t)s->buffer_size * 8 / bits,
                  .per_page = (int64_t)PAGE * 8 / bits };
    assert(cut->n <= s->n_boxes_max && bits > 0);
    for (int32_t i = 0; i < cut->n; i++) {
        clv_runs_start(cut->boxes[i], &s->of_box[i].runs);
        s->of_box[i].at = s->of_box[i].fill = 0;
    }
    for (int64_t first; (first = next_wanted(s, cut->n)) >= 0;) {
        first = first / 8 * 8;
        int64_t left = cut->w->elems - first, n = left < per_block ? left : per_block;
        if (s->stop && s->stop(s->stop_ctx))
            return clv_fail(err, CLV_ECANCELED, "stopped while weights were written");
        CLV_TRY(source->read(source->ctx, cut->weight, first, n, s->block, err));
        for (int32_t i = 0; i < cut->n; i++)
            CLV_TRY(copy_runs(&c, i, first, n, err));
    }
    for (int32_t i = 0; i < cut->n; i++)
        CLV_TRY(flush(&c, i, err));
    return source->end ? source->end(source->ctx, cut->weight, err) : CLV_OK;
}
