#include "sharding/spans.h"

/* Appends, as one span with the last where they touch. */
static bool push_span(clv_arena *arena, clv_span **span, int32_t *n, int32_t *cap, int64_t at,
                      int64_t len)
{
    if (len == 0)
        return true;
    if (*n > 0 && (*span)[*n - 1].at + (*span)[*n - 1].n == at) {
        (*span)[*n - 1].n += len;
        return true;
    }
    if (!CLV_PUSH_ROOM(arena, *span, *n, *cap))
        return false;
    (*span)[(*n)++] = (clv_span){ at, len };
    return true;
}

/* What a part has of the factors of one dimension, the outermost first. */
typedef struct {
    int32_t n;
    int64_t size[CLV_SPLIT_RANK_MAX], offset[CLV_SPLIT_RANK_MAX], part[CLV_SPLIT_RANK_MAX];
} dim_part;

static void part_of_dim(const clv_laid_out *of, int32_t dim, int32_t position, dim_part *d)
{
    clv_split_dims dims;
    clv_part part;
    clv_split_dims_of(of->layout, of->tensor, &dims);
    clv_layout_part(of->layout, of->mesh, of->tensor, &dims, position, &part);
    d->n = 0;
    for (int32_t i = 0; i < dims.rank; i++)
        if (dims.axis_of[i] == dim) {
            d->size[d->n] = dims.dims[i];
            d->offset[d->n] = part.offset[i];
            d->part[d->n++] = part.size[i];
        }
}

clv_status clv_layout_spans(const clv_laid_out *of, int32_t dim, int32_t position, clv_arena *arena,
                            clv_spans *ret, clv_error *err)
{
    dim_part d;
    clv_span *span = NULL;
    int32_t n = 0, cap = 0;
    int64_t n_outer = 1;

    part_of_dim(of, dim, position, &d);
    for (int32_t i = 0; i + 1 < d.n; i++)
        if (__builtin_mul_overflow(n_outer, d.part[i], &n_outer) || n_outer > CLV_SPANS_MAX)
            return clv_fail(err, CLV_ELIMIT, "a part of a tensor is more than %d spans of elements",
                            CLV_SPANS_MAX);
    for (int64_t k = 0; k < n_outer; k++) { /* one index of all but the last factor: one span */
        int64_t at = d.offset[d.n - 1], stride = d.size[d.n - 1], index = k;
        for (int32_t i = d.n - 2; i >= 0; i--) {
            at += (d.offset[i] + index % d.part[i]) * stride;
            index /= d.part[i];
            stride *= d.size[i];
        }
        if (!push_span(arena, &span, &n, &cap, at, d.part[d.n - 1]))
            return clv_fail_nomem(err, "the parts of a tensor");
    }
    *ret = (clv_spans){ span, n, n_outer * d.part[d.n - 1] };
    return CLV_OK;
}

bool clv_spans_has(const clv_spans *all, const clv_spans *part)
{
    int32_t k = 0;
    for (int32_t i = 0; i < part->n; i++) {
        const clv_span *one = &part->span[i];
        while (k < all->n && all->span[k].at + all->span[k].n <= one->at)
            k++;
        if (k == all->n || all->span[k].at > one->at ||
            all->span[k].at + all->span[k].n < one->at + one->n)
            return false;
    }
    return true;
}

clv_status clv_spans_within(const clv_spans *part, const clv_spans *all, clv_arena *arena,
                            clv_spans *ret, clv_error *err)
{
    clv_span *span = NULL;
    int32_t n = 0, cap = 0, k = 0;
    int64_t before = 0; /* elements of all spans before k */

    if (!clv_spans_has(all, part))
        return clv_fail(err, CLV_EINTERNAL, "a part of a tensor is not within another");
    for (int32_t i = 0; i < part->n; i++) {
        const clv_span *one = &part->span[i];
        while (all->span[k].at + all->span[k].n <= one->at)
            before += all->span[k++].n;
        if (!push_span(arena, &span, &n, &cap, before + (one->at - all->span[k].at), one->n))
            return clv_fail_nomem(err, "the parts of a tensor");
    }
    *ret = (clv_spans){ span, n, part->elems };
    return CLV_OK;
}
