#include "run/slice.h"

#include <string.h>

#include "base/packed.h"

/* Merges the dims of a slice of a view as the view merges into the whole: each dimension of the
 * whole is the product of the next few of the view. Ones may go to either side, for they are ones
 * in the slice too. */
static bool merge_dims(const clr_slice *slice, const clr_shape *whole, clr_shape *ret)
{
    int32_t v = 0;

    ret->rank = whole->rank;
    for (int32_t d = 0; d < whole->rank; d++) {
        int64_t of_view = 1;
        ret->dims[d] = 1;
        while (v < slice->view_rank && (of_view != whole->dims[d] || slice->view[v] == 1)) {
            int64_t n = slice->view[v];
            if (n == 0 ? whole->dims[d] != 0 : n > 1 && of_view * n > whole->dims[d])
                return false;
            of_view *= slice->view[v];
            ret->dims[d] *= slice->dims[v++];
        }
        if (of_view != whole->dims[d])
            return false;
    }
    return v == slice->view_rank;
}

clv_status clr_slice_shape(const clr_slice *slice, const clr_shape *whole, const char *what,
                           clr_shape *ret, clv_error *err)
{
    const int64_t *of = slice->view ? slice->view : whole->dims;
    int32_t rank = slice->view ? slice->view_rank : whole->rank;
    clr_shape shape = *whole;
    char text[200];

    if (slice->whole) {
        *ret = shape;
        return CLV_OK;
    }
    if (slice->rank != rank)
        return clv_fail(err, CLV_EFORMAT, "a part of '%s' has %d dimensions, but it is %s", what,
                        (int)slice->rank, clr_shape_text(text, sizeof text, whole));
    for (int32_t d = 0; d < rank; d++) {
        if (slice->offsets[d] > of[d] || slice->dims[d] > of[d] - slice->offsets[d])
            return clv_fail(err, CLV_EFORMAT, "a part of '%s' lies not within %s", what,
                            clr_shape_text(text, sizeof text, whole));
        shape.dims[d] = slice->dims[d];
    }
    if (slice->view && !merge_dims(slice, whole, &shape))
        return clv_fail(err, CLV_EFORMAT, "a part of '%s' has a view that is not of %s", what,
                        clr_shape_text(text, sizeof text, whole));
    if (!clr_shape_count(&shape))
        return clv_fail(err, CLV_ELIMIT, "a part of '%s' is too large", what);
    *ret = shape;
    return CLV_OK;
}

/* -- copying: bytes, or strings -- */

typedef struct {
    const clr_ort *ort;
    const clr_slice *slice;
    const clr_shape *whole, *own; /* of the whole tensor, and of the slice alone */
    const OrtValue *from;         /* of them, one is the whole and the other the slice alone */
    OrtValue *to;
    bool extracting; /* from is the whole */
    int bits;        /* of an element; 0: strings */
    const uint8_t *from_bytes;
    uint8_t *to_bytes;
    clr_strings strings; /* of from */
} copying;

/* n elements that lie side by side in both. */
static clv_status copy_run(const copying *c, int64_t from, int64_t to, int64_t n, clv_error *err)
{
    if (c->bits) {
        clv_copy_elems(c->to_bytes, to, c->from_bytes, from, n, c->bits);
        return CLV_OK;
    }
    for (int64_t i = 0; i < n; i++) {
        char *at = NULL;
        size_t length = c->strings.lengths[from + i];
        CLV_TRY(clr_ort_check(
            c->ort,
            c->ort->api->GetResizedStringTensorElementBuffer(c->to, (size_t)(to + i), length, &at),
            "a string", err));
        if (length)
            memcpy(at, c->strings.texts[from + i], length);
    }
    return CLV_OK;
}

static clv_status copy_elements(const copying *c, clv_error *err)
{
    const clr_slice *s = c->slice;
    const int64_t *of = s->view ? s->view : c->whole->dims;
    int64_t run = 1, at = 0, index[CLR_MAX_RANK] = { 0 };
    int32_t outer = s->rank; /* dimensions before the run */

    if (s->whole)
        return copy_run(c, 0, 0, c->own->count, err);
    /* dimensions that are taken as a whole, and one more, lie side by side */
    while (outer > 0) {
        int32_t d = --outer;
        run *= s->dims[d];
        if (s->dims[d] != of[d])
            break;
    }
    for (bool more = true; more;) {
        int64_t in_whole = 0; /* where the run lies, in elements */
        for (int32_t d = 0; d < s->rank; d++)
            in_whole = in_whole * of[d] + s->offsets[d] + (d < outer ? index[d] : 0);
        CLV_TRY(
            copy_run(c, c->extracting ? in_whole : at, c->extracting ? at : in_whole, run, err));
        at += run;
        more = false;
        for (int32_t d = outer; d-- > 0 && !more;) {
            more = ++index[d] < s->dims[d];
            if (!more)
                index[d] = 0;
        }
    }
    return CLV_OK;
}

static clv_status copy_slice(copying *c, const char *what, clv_error *err)
{
    void *from = NULL, *to = NULL;

    if (c->own->count == 0)
        return CLV_OK;
    if (c->own->dtype == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        if (!arena)
            return clv_fail_nomem(err, "a part");
        clv_status status =
            clr_tensor_strings(c->ort, c->from, c->extracting ? c->whole->count : c->own->count,
                               arena, &c->strings, err);
        if (status == CLV_OK)
            status = copy_elements(c, err);
        clv_arena_free(arena);
        return status;
    }
    c->bits = clr_dtype_bits((int)c->own->dtype);
    if (c->bits == 0)
        return clv_fail(err, CLV_EUNSUPP, "parts of '%s' are not cut: its elements are %s", what,
                        clr_dtype_name((int)c->own->dtype));
    CLV_TRY(clr_tensor_data(c->ort, c->from, &from, err));
    CLV_TRY(clr_tensor_data(c->ort, c->to, &to, err));
    c->from_bytes = from;
    c->to_bytes = to;
    return copy_elements(c, err);
}

clv_status clr_slice_extract(const clr_ort *ort, const OrtValue *whole, const clr_slice *slice,
                             const char *what, OrtValue **ret, clv_error *err)
{
    clr_shape shape, own;
    OrtValue *value = NULL;

    CLV_TRY(clr_tensor_shape(ort, whole, &shape, err));
    CLV_TRY(clr_slice_shape(slice, &shape, what, &own, err));
    CLV_TRY(clr_tensor_new(ort, &own, &value, err));
    copying c = { ort, slice, &shape, &own, .from = whole, .to = value, .extracting = true };
    clv_status status = copy_slice(&c, what, err);
    if (status != CLV_OK) {
        clr_value_free(ort, value);
        return status;
    }
    *ret = value;
    return CLV_OK;
}

/* -- assembling -- */

/* Boxes of one view; slices of different views are compared only by what they cover together. */
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

clv_status clr_slices_check(const clr_assembly *a, clv_error *err)
{
    int64_t count = 0;

    for (int32_t i = 0; i < a->n; i++) {
        clr_shape own;
        CLV_TRY(clr_slice_shape(a->pieces[i].slice, &a->shape, a->what, &own, err));
        count += own.count;
        for (int32_t k = 0; k < i && own.count; k++)
            if (overlap(a->pieces[i].slice, a->pieces[k].slice))
                return clv_fail(err, CLV_EFORMAT, "pieces %d and %d of '%s' overlap", (int)k,
                                (int)i, a->what);
    }
    if (count != a->shape.count)
        return clv_fail(err, CLV_EFORMAT, "the pieces of '%s' have %lld elements, expected %lld",
                        a->what, (long long)count, (long long)a->shape.count);
    return CLV_OK;
}

static clv_status insert_piece(const clr_ort *ort, const clr_assembly *a,
                               const clr_sliced_value *piece, OrtValue *to, clv_error *err)
{
    clr_shape own, is;
    char is_text[200], own_text[200];

    CLV_TRY(clr_slice_shape(piece->slice, &a->shape, a->what, &own, err));
    CLV_TRY(clr_tensor_shape(ort, piece->value, &is, err));
    if (is.dtype != a->shape.dtype || is.rank != own.rank ||
        memcmp(is.dims, own.dims, (size_t)is.rank * sizeof *is.dims) != 0)
        return clv_fail(err, CLV_EFORMAT, "a piece of '%s' is %s, expected %s", a->what,
                        clr_shape_text(is_text, sizeof is_text, &is),
                        clr_shape_text(own_text, sizeof own_text, &own));
    copying c = { ort, piece->slice, &a->shape, &own, .from = piece->value, .to = to };
    return copy_slice(&c, a->what, err);
}

clv_status clr_slices_assemble(const clr_ort *ort, const clr_assembly *assembly, OrtValue **ret,
                               clv_error *err)
{
    OrtValue *value = NULL;
    clv_status status = CLV_OK;

    CLV_TRY(clr_slices_check(assembly, err));
    CLV_TRY(clr_tensor_new(ort, &assembly->shape, &value, err));
    for (int32_t i = 0; i < assembly->n && status == CLV_OK; i++)
        status = insert_piece(ort, assembly, &assembly->pieces[i], value, err);
    if (status != CLV_OK) {
        clr_value_free(ort, value);
        return status;
    }
    *ret = value;
    return CLV_OK;
}
