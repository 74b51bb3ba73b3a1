#include "weights/box.h"

#include <stddef.h>

clv_status clv_box_whole(int32_t rank, const int64_t *dims, clv_arena *arena, clv_box *ret,
                         clv_error *err)
{
    int64_t *zeros = CLV_NEW_ARRAY(arena, int64_t, rank);
    if (!zeros)
        return clv_fail_nomem(err, "a part of a weight");
    *ret = (clv_box){ rank, dims, zeros, dims };
    return CLV_OK;
}

clv_status clv_box_copy(const clv_box *box, clv_arena *arena, clv_box *ret, clv_error *err)
{
    size_t n = (size_t)box->rank;
    int64_t *at = CLV_NEW_ARRAY(arena, int64_t, 3 * n);
    if (!at)
        return clv_fail_nomem(err, "a part of a weight");
    if (n > 0) {
        memcpy(at, box->view, n * sizeof *at);
        memcpy(at + n, box->offset, n * sizeof *at);
        memcpy(at + 2 * n, box->size, n * sizeof *at);
    }
    *ret = (clv_box){ box->rank, at, at + n, at + 2 * n };
    return CLV_OK;
}

static clv_status check_dim(const clv_box *b, int32_t d, const char *what, clv_error *err)
{
    if (b->view[d] < 0)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: dimension %d of the view is %lld, expected 0 or more", what, d,
                        (long long)b->view[d]);
    if (b->offset[d] < 0 || b->size[d] < 0 || b->offset[d] > b->view[d] ||
        b->size[d] > b->view[d] - b->offset[d])
        return clv_fail(err, CLV_EFORMAT,
                        "%s: %lld elements from %lld on do not lie in dimension %d, which has %lld",
                        what, (long long)b->size[d], (long long)b->offset[d], d,
                        (long long)b->view[d]);
    return CLV_OK;
}

clv_status clv_box_check(const clv_box *box, int64_t elems, const char *what, clv_error *err)
{
    int64_t n = 1;
    bool fits = true;
    if (box->rank < 0 || box->rank > CLV_SPLIT_RANK_MAX)
        return clv_fail(err, CLV_EFORMAT, "%s: a view of %d dimensions, expected at most %d", what,
                        box->rank, CLV_SPLIT_RANK_MAX);
    for (int32_t d = 0; d < box->rank; d++)
        CLV_TRY(check_dim(box, d, what, err));
    for (int32_t d = 0; d < box->rank; d++)
        if (box->view[d] == 0)
            n = 0;
    for (int32_t d = 0; d < box->rank && n > 0 && fits; d++)
        fits = !__builtin_mul_overflow(n, box->view[d], &n);
    if (!fits || n != elems)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: its view does not have the %lld elements of the weight", what,
                        (long long)elems);
    return CLV_OK;
}

int64_t clv_box_elems(const clv_box *box)
{
    int64_t n = 1;
    for (int32_t d = 0; d < box->rank; d++)
        if (box->size[d] == 0)
            return 0;
    for (int32_t d = 0; d < box->rank; d++)
        n *= box->size[d];
    return n;
}

/* A loop outside of the others. Where these end just where it goes on, it is more of the same. */
static void add_loop(clv_runs *r, int64_t size, int64_t stride)
{
    int32_t last = r->rank - 1;
    if (last >= 0 && r->size[last] * r->stride[last] == stride) {
        r->size[last] *= size;
        return;
    }
    r->at[r->rank] = 0;
    r->size[r->rank] = size;
    r->stride[r->rank] = stride;
    r->rank++;
}

/* Inner dims that are full belong to one run with the first that is not; each dim further out is a
 * loop. */
void clv_runs_start(const clv_box *box, clv_runs *ret)
{
    int64_t stride = 1;
    int32_t d = box->rank - 1;
    ret->first = 0;
    ret->n = 1;
    ret->rank = 0;
    ret->skipped = 0;
    if (clv_box_elems(box) == 0) {
        ret->n = 0;
        return;
    }
    for (; d >= 0 && box->size[d] == box->view[d]; d--)
        stride *= box->view[d];
    ret->n = stride;
    if (d >= 0) {
        ret->first = box->offset[d] * stride;
        ret->n = box->size[d] * stride;
        stride *= box->view[d];
        d--;
    }
    for (; d >= 0; d--) {
        ret->first += box->offset[d] * stride;
        if (box->size[d] > 1)
            add_loop(ret, box->size[d], stride);
        stride *= box->view[d];
    }
}

void clv_runs_skip(clv_runs *r, int64_t n)
{
    r->first += n;
    r->n -= n;
    r->skipped += n;
}

void clv_runs_next(clv_runs *r)
{
    r->first -= r->skipped;
    r->n += r->skipped;
    r->skipped = 0;
    for (int32_t d = 0; d < r->rank; d++) {
        r->first += r->stride[d];
        if (++r->at[d] < r->size[d])
            return;
        r->first -= r->stride[d] * r->size[d];
        r->at[d] = 0;
    }
    r->n = 0;
}

static bool same_view(const clv_box *a, const clv_box *b)
{
    if (a->rank != b->rank)
        return false;
    for (int32_t d = 0; d < a->rank; d++)
        if (a->view[d] != b->view[d])
            return false;
    return true;
}

bool clv_box_equal(const clv_box *a, const clv_box *b)
{
    clv_runs x, y;
    clv_runs_start(a, &x);
    clv_runs_start(b, &y);
    if (x.n == 0 || y.n == 0)
        return x.n == y.n;
    bool same = x.first == y.first && x.n == y.n && x.rank == y.rank;
    for (int32_t d = 0; same && d < x.rank; d++)
        same = x.size[d] == y.size[d] && x.stride[d] == y.stride[d];
    if (same)
        return true;
    if (same_view(a, b) || clv_box_elems(a) != clv_box_elems(b))
        return false;
    for (; x.n && y.n; clv_runs_next(&x), clv_runs_next(&y))
        if (x.first != y.first || x.n != y.n)
            return false;
    return x.n == y.n;
}

/* Elements in both of two lists of runs. */
static int64_t common_of_runs(const clv_box *a, const clv_box *b)
{
    clv_runs x, y;
    int64_t n = 0;
    clv_runs_start(a, &x);
    clv_runs_start(b, &y);
    while (x.n && y.n) {
        int64_t x_end = x.first + x.n, y_end = y.first + y.n;
        int64_t first = x.first > y.first ? x.first : y.first;
        int64_t end = x_end < y_end ? x_end : y_end;
        n += end > first ? end - first : 0;
        clv_runs_next(x_end <= y_end ? &x : &y);
    }
    return n;
}

int64_t clv_box_common(const clv_box *a, const clv_box *b)
{
    int64_t n = 1;
    if (!same_view(a, b))
        return common_of_runs(a, b);
    for (int32_t d = 0; d < a->rank; d++) {
        int64_t first = a->offset[d] > b->offset[d] ? a->offset[d] : b->offset[d];
        int64_t a_end = a->offset[d] + a->size[d], b_end = b->offset[d] + b->size[d];
        int64_t end = a_end < b_end ? a_end : b_end;
        if (end <= first)
            return 0;
        n *= end - first;
    }
    return n;
}
