#include "run/slice.h"

#include <string.h>

/* Merges the dims of a part of a view as the view merges into the whole: each dimension of the
 * whole is the product of the next few of the view. Ones may go to either side, for they are ones
 * in the part too. */
static bool merge(const clr_slice *part, const clr_shape *whole, clr_shape *ret)
{
    int32_t v = 0;

    ret->rank = whole->rank;
    for (int32_t d = 0; d < whole->rank; d++) {
        int64_t of_view = 1;
        ret->dims[d] = 1;
        while (v < part->view_rank && (of_view != whole->dims[d] || part->view[v] == 1)) {
            int64_t n = part->view[v];
            if (n == 0 ? whole->dims[d] != 0 : n > 1 && of_view * n > whole->dims[d])
                return false;
            of_view *= part->view[v];
            ret->dims[d] *= part->dims[v++];
        }
        if (of_view != whole->dims[d])
            return false;
    }
    return v == part->view_rank;
}

clv_status clr_slice_shape(const clr_slice *part, const clr_shape *whole, const char *what,
                           clr_shape *ret, clv_error *err)
{
    const int64_t *of = part->view ? part->view : whole->dims;
    int32_t rank = part->view ? part->view_rank : whole->rank;
    clr_shape shape = *whole;
    char text[200];

    if (part->whole) {
        *ret = shape;
        return CLV_OK;
    }
    if (part->rank != rank)
        return clv_fail(err, CLV_EFORMAT, "a part of '%s' has %d dimensions, but it is %s", what,
                        (int)part->rank, clr_shape_text(text, sizeof text, whole));
    for (int32_t d = 0; d < rank; d++) {
        if (part->offsets[d] > of[d] || part->dims[d] > of[d] - part->offsets[d])
            return clv_fail(err, CLV_EFORMAT, "a part of '%s' lies not within %s", what,
                            clr_shape_text(text, sizeof text, whole));
        shape.dims[d] = part->dims[d];
    }
    if (part->view && !merge(part, whole, &shape))
        return clv_fail(err, CLV_EFORMAT, "a part of '%s' has a view that is not of %s", what,
                        clr_shape_text(text, sizeof text, whole));
    if (!clr_shape_count(&shape))
        return clv_fail(err, CLV_ELIMIT, "a part of '%s' is too large", what);
    *ret = shape;
    return CLV_OK;
}

/* -- going through the runs of elements that lie side by side in the whole -- */

typedef struct {
    const clr_slice *part;
    const int64_t *of; /* dims of the view, or of the whole */
    int32_t rank;
    int64_t run;   /* elements side by side */
    int32_t outer; /* dimensions before the run */
    int64_t index[CLR_MAX_RANK];
} walk;

static void start_walk(walk *w, const clr_slice *part, const clr_shape *whole)
{
    *w = (walk){ .part = part,
                 .of = part->view ? part->view : whole->dims,
                 .rank = part->rank,
                 .run = 1,
                 .outer = part->rank };
    /* dimensions that are taken as a whole, and one more, lie side by side */
    while (w->outer > 0) {
        int32_t d = --w->outer;
        w->run *= part->dims[d];
        if (part->dims[d] != w->of[d])
            break;
    }
}

/* Where the run lies in the whole, in elements. */
static int64_t place(const walk *w)
{
    int64_t at = 0;

    for (int32_t d = 0; d < w->rank; d++)
        at = at * w->of[d] + w->part->offsets[d] + (d < w->outer ? w->index[d] : 0);
    return at;
}

static bool next(walk *w)
{
    for (int32_t d = w->outer; d-- > 0;) {
        if (++w->index[d] < w->part->dims[d])
            return true;
        w->index[d] = 0;
    }
    return false;
}

/* -- elements: bytes, or strings -- */

typedef struct {
    const clr_ort *ort;
    clv_arena *arena;
    const OrtValue *from;
    OrtValue *to;
    size_t size; /* of an element; 0: strings */
    const uint8_t *from_bytes;
    uint8_t *to_bytes;
    const char **texts;
    size_t *lengths;
    clv_error *err;
} copying;

static clv_status start_copying(copying *c, const clr_shape *from, const char *what)
{
    int bits = clr_dtype_bits((int)from->dtype);
    void *data = NULL;

    if (from->dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
        return clr_tensor_strings(c->ort, c->from, from->count, c->arena, &c->texts, &c->lengths,
                                  c->err);
    if (bits < 8)
        return clv_fail(c->err, CLV_EUNSUPP, "parts of '%s' are not cut: its elements are %s", what,
                        clr_dtype_name((int)from->dtype));
    c->size = (size_t)bits / 8;
    CLV_TRY(clr_tensor_data(c->ort, c->from, &data, c->err));
    c->from_bytes = data;
    CLV_TRY(clr_tensor_data(c->ort, c->to, &data, c->err));
    c->to_bytes = data;
    return CLV_OK;
}

static clv_status copy_run(copying *c, int64_t from, int64_t to, int64_t n)
{
    if (c->size) {
        memcpy(c->to_bytes + (size_t)to * c->size, c->from_bytes + (size_t)from * c->size,
               (size_t)n * c->size);
        return CLV_OK;
    }
    for (int64_t i = 0; i < n; i++) {
        char *at = NULL;
        size_t length = c->lengths[from + i];
        CLV_TRY(clr_ort_check(
            c->ort,
            c->ort->api->GetResizedStringTensorElementBuffer(c->to, (size_t)(to + i), length, &at),
            "a string", c->err));
        if (length)
            memcpy(at, c->texts[from + i], length);
    }
    return CLV_OK;
}

/* The part of whole, which is from (cutting) or to (joining); the other is the part alone. */
static clv_status copy_part(copying *c, const clr_slice *part, const clr_shape *whole,
                            const clr_shape *own, bool cutting)
{
    walk w;
    int64_t at = 0;

    if (own->count == 0)
        return CLV_OK;
    if (part->whole)
        return copy_run(c, 0, 0, own->count);
    start_walk(&w, part, whole);
    do {
        int64_t in_whole = place(&w);
        CLV_TRY(copy_run(c, cutting ? in_whole : at, cutting ? at : in_whole, w.run));
        at += w.run;
    } while (next(&w));
    return CLV_OK;
}

static clv_status copy_all(const clr_ort *ort, const OrtValue *from, const clr_shape *from_shape,
                           OrtValue *to, const clr_slice *part, const clr_shape *whole,
                           const clr_shape *own, bool cutting, const char *what, clv_error *err)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    copying c = { .ort = ort, .arena = arena, .from = from, .to = to, .err = err };

    if (!arena)
        return clv_fail_nomem(err, "a part");
    clv_status status = start_copying(&c, from_shape, what);
    if (status == CLV_OK)
        status = copy_part(&c, part, whole, own, cutting);
    clv_arena_free(arena);
    return status;
}

clv_status clr_slice_extract(const clr_ort *ort, const OrtValue *whole, const clr_slice *part,
                             const char *what, OrtValue **ret, clv_error *err)
{
    clr_shape shape, own;
    OrtValue *value = NULL;

    CLV_TRY(clr_tensor_shape(ort, whole, &shape, err));
    CLV_TRY(clr_slice_shape(part, &shape, what, &own, err));
    CLV_TRY(clr_tensor_new(ort, &own, &value, err));
    clv_status status =
        own.count ? copy_all(ort, whole, &shape, value, part, &shape, &own, true, what, err)
                  : CLV_OK;
    if (status != CLV_OK) {
        clr_value_free(ort, value);
        return status;
    }
    *ret = value;
    return CLV_OK;
}

/* -- joining -- */

/* Boxes of one view; parts of different views are compared only by what they cover together. */
static bool overlap(const clr_slice *a, const clr_slice *b)
{
    if (a->whole || b->whole)
        return true;
    if (a->rank != b->rank || (a->view != NULL) != (b->view != NULL) ||
        (a->view && memcmp(a->view, b->view, (size_t)a->rank * sizeof *a->view) != 0))
        return false;
    for (int32_t d = 0; d < a->rank; d++)
        if (a->offsets[d] + a->dims[d] <= b->offsets[d] ||
            b->offsets[d] + b->dims[d] <= a->offsets[d])
            return false;
    return true;
}

static clv_status check_cover(const clr_shape *shape, const clr_slice *const *parts, int32_t n,
                              const char *what, clv_error *err)
{
    int64_t count = 0;

    for (int32_t i = 0; i < n; i++) {
        clr_shape own;
        CLV_TRY(clr_slice_shape(parts[i], shape, what, &own, err));
        count += own.count;
        for (int32_t k = 0; k < i && own.count; k++)
            if (overlap(parts[i], parts[k]))
                return clv_fail(err, CLV_EFORMAT, "pieces %d and %d of '%s' overlap", (int)k,
                                (int)i, what);
    }
    if (count != shape->count)
        return clv_fail(err, CLV_EFORMAT, "the pieces of '%s' have %lld elements, expected %lld",
                        what, (long long)count, (long long)shape->count);
    return CLV_OK;
}

static clv_status put_piece(const clr_ort *ort, const clr_shape *shape, const clr_slice *part,
                            const OrtValue *value, OrtValue *to, const char *what, clv_error *err)
{
    clr_shape own, is;
    char a[200], b[200];

    CLV_TRY(clr_slice_shape(part, shape, what, &own, err));
    CLV_TRY(clr_tensor_shape(ort, value, &is, err));
    if (is.dtype != shape->dtype || is.rank != own.rank ||
        memcmp(is.dims, own.dims, (size_t)is.rank * sizeof *is.dims) != 0)
        return clv_fail(err, CLV_EFORMAT, "a piece of '%s' is %s, expected %s", what,
                        clr_shape_text(a, sizeof a, &is), clr_shape_text(b, sizeof b, &own));
    return own.count ? copy_all(ort, value, &is, to, part, shape, &own, false, what, err) : CLV_OK;
}

clv_status clr_slices_assemble(const clr_ort *ort, const clr_shape *shape,
                               const clr_slice *const *parts, const OrtValue *const *values,
                               int32_t n, const char *what, OrtValue **ret, clv_error *err)
{
    OrtValue *value = NULL;
    clv_status status = CLV_OK;

    CLV_TRY(check_cover(shape, parts, n, what, err));
    CLV_TRY(clr_tensor_new(ort, shape, &value, err));
    for (int32_t i = 0; i < n && status == CLV_OK; i++)
        status = put_piece(ort, shape, parts[i], values[i], value, what, err);
    if (status != CLV_OK) {
        clr_value_free(ort, value);
        return status;
    }
    *ret = value;
    return CLV_OK;
}
