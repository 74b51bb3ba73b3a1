#include "weights/weight_stream.h"

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
} drain;

struct clv_stream {
    drain *drains;
    int32_t n_drains;
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
        s->n_drains = n_boxes;
        s->buffer_size = buffer_size(n_boxes, memory);
        s->drains = CLV_NEW_ARRAY(arena, drain, n);
        s->block = take_pages(arena, BLOCK);
    }
    if (!s || !s->drains || !s->block)
        return clv_fail_nomem(err, "buffers for weights");
    for (size_t i = 0; i < n; i++) {
        s->drains[i].buffer = take_pages(arena, s->buffer_size);
        if (!s->drains[i].buffer)
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

/* -- elements -- */

static int64_t bytes_of(int64_t elems, int bits) /* elems / (8 / bits) rounded up: no overflow */
{
    return bits >= 8 ? elems * (bits / 8) : elems / (8 / bits) + (elems % (8 / bits) != 0);
}

static void copy_one(uint8_t *to, int64_t at, const uint8_t *source, int64_t from, int bits)
{
    int per = 8 / bits;
    unsigned mask = (1u << bits) - 1;
    unsigned value = (unsigned)source[from / per] >> (from % per * bits) & mask;
    unsigned shift = (unsigned)(at % per * bits);
    to[at / per] = (uint8_t)((to[at / per] & ~(mask << shift)) | value << shift);
}

void clv_copy_elems(uint8_t *to, int64_t at, const uint8_t *source, int64_t from, int64_t n,
                    int bits)
{
    if (bits >= 8) {
        int64_t width = bits / 8;
        memcpy(to + at * width, source + from * width, (size_t)(n * width));
        return;
    }
    int per = 8 / bits;
    for (; n > 0 && at % per != 0; n--)
        copy_one(to, at++, source, from++, bits);
    int64_t whole = n / per;
    int shift = (int)(from % per) * bits;
    const uint8_t *in = source + from / per;
    uint8_t *out = to + at / per;
    if (shift == 0 && whole > 0)
        memcpy(out, in, (size_t)whole);
    for (int64_t i = 0; shift != 0 && i < whole; i++)
        out[i] = (uint8_t)(in[i] >> shift | in[i + 1] << (8 - shift));
    for (int64_t i = whole * per; i < n; i++)
        copy_one(to, at + i, source, from + i, bits);
}

/* -- one block -- */

typedef struct {
    clv_stream *s;
    int bits;
    const clv_box_sink *sink;
    const int32_t *ids;
    int64_t per_buffer, per_page; /* elements */
    clv_error *err;
} pouring;

static clv_status give(const pouring *p, int32_t i, const uint8_t *bytes, int64_t elems)
{
    drain *d = &p->s->drains[i];
    int64_t n = bytes_of(elems, p->bits);
    if (n == 0)
        return CLV_OK;
    CLV_TRY(p->sink->write(p->sink->ctx, p->ids[i], bytes, (size_t)n, d->at, p->err));
    d->at += n;
    return CLV_OK;
}

/* The last byte of a box whose elements do not fill it is padded with zeros. */
static clv_status empty_buffer(const pouring *p, int32_t i)
{
    drain *d = &p->s->drains[i];
    int64_t elems = d->fill;
    if (p->bits < 8 && elems % (8 / p->bits) != 0) {
        unsigned used = (unsigned)(elems % (8 / p->bits) * p->bits);
        uint8_t *last = &d->buffer[elems / (8 / p->bits)];
        *last = (uint8_t)(*last & ((1u << used) - 1));
    }
    d->fill = 0;
    return give(p, i, d->buffer, elems);
}

/* Elements [from, from + n) of the block for box i. */
static clv_status pour_run(const pouring *p, int32_t i, int64_t from, int64_t n)
{
    drain *d = &p->s->drains[i];
    while (n > 0) {
        bool whole_bytes = p->bits >= 8 || from % 8 == 0;
        if (d->fill == 0 && n >= p->per_buffer && whole_bytes) {
            int64_t all = n / p->per_page * p->per_page; /* what follows begins on a page, too */
            CLV_TRY(give(p, i, p->s->block + from / 8 * p->bits + from % 8 * (p->bits / 8), all));
            from += all;
            n -= all;
            continue;
        }
        int64_t room = p->per_buffer - d->fill, part = n < room ? n : room;
        clv_copy_elems(d->buffer, d->fill, p->s->block, from, part, p->bits);
        d->fill += part;
        from += part;
        n -= part;
        if (d->fill == p->per_buffer)
            CLV_TRY(empty_buffer(p, i));
    }
    return CLV_OK;
}

/* What box i has in [first, first + n), which is in the block. */
static clv_status pour(const pouring *p, int32_t i, int64_t first, int64_t n)
{
    clv_runs *r = &p->s->drains[i].runs;
    int64_t end = first + n;
    while (r->n > 0 && r->first < end) {
        int64_t part = r->n < end - r->first ? r->n : end - r->first;
        CLV_TRY(pour_run(p, i, r->first - first, part));
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
        const clv_runs *r = &s->drains[i].runs;
        if (r->n > 0 && (next < 0 || r->first < next))
            next = r->first;
    }
    return next;
}

static clv_status pour_block(const pouring *p, int32_t weight, const clv_weight_source *source,
                             int64_t first, int64_t n, int32_t n_boxes)
{
    if (p->s->stop && p->s->stop(p->s->stop_ctx))
        return clv_fail(p->err, CLV_ECANCELED, "stopped while weights were written");
    CLV_TRY(source->read(source->ctx, weight, first, n, p->s->block, p->err));
    for (int32_t i = 0; i < n_boxes; i++)
        CLV_TRY(pour(p, i, first, n));
    return CLV_OK;
}

clv_status clv_stream_weight(clv_stream *s, const clv_weight *w, int32_t weight,
                             const clv_weight_source *source, const clv_box *const *boxes,
                             const int32_t *ids, int32_t n, const clv_box_sink *sink,
                             clv_error *err)
{
    int bits = clv_dtype_bits(w->dtype);
    int64_t per_block = (int64_t)BLOCK * 8 / bits / 8 * 8;
    pouring p = { .s = s,
                  .bits = bits,
                  .sink = sink,
                  .ids = ids,
                  .per_buffer = (int64_t)s->buffer_size * 8 / bits,
                  .per_page = (int64_t)PAGE * 8 / bits,
                  .err = err };
    assert(n <= s->n_drains && bits > 0);
    for (int32_t i = 0; i < n; i++) {
        clv_runs_start(boxes[i], &s->drains[i].runs);
        s->drains[i].at = s->drains[i].fill = 0;
    }
    for (int64_t first; (first = next_wanted(s, n)) >= 0;) {
        first = first / 8 * 8;
        int64_t left = w->elems - first;
        CLV_TRY(pour_block(&p, weight, source, first, left < per_block ? left : per_block, n));
    }
    for (int32_t i = 0; i < n; i++)
        CLV_TRY(empty_buffer(&p, i));
    return source->end ? source->end(source->ctx, weight, err) : CLV_OK;
}
