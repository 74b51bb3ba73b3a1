/* presolve_moments.c - see presolve_moments.h. */
#include "solver/intra_op/presolve_moments.h"

#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Sorts and drops equals; the number left. */
static int32_t sort_unique(int64_t *at, int32_t n)
{
    int32_t kept = 0;

    qsort(at, (size_t)n, sizeof *at, by_time);
    for (int32_t i = 0; i < n; i++)
        if (!kept || at[kept - 1] != at[i])
            at[kept++] = at[i];
    return kept;
}

/* First index with at[index] >= t. */
static int32_t index_of(const int64_t *at, int32_t n, int64_t t)
{
    int32_t lo = 0, hi = n;

    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;

        if (at[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Moments: the last beginning before each ending, once each. Returns how many. */
static int32_t moments(int64_t *lo, int32_t n_lo, const int64_t *hi, int32_t n_hi, int64_t *ret)
{
    int32_t n = 0, i = 0;

    for (int32_t j = 0; j < n_hi; j++) {
        while (i < n_lo && lo[i] < hi[j])
            i++;
        if (i > 0 && (n == 0 || ret[n - 1] != lo[i - 1]))
            ret[n++] = lo[i - 1];
    }
    return n;
}

clv_status clv_pre_moments(const clv_intra_op_problem *p, clv_arena *arena,
                           clv_intra_op_problem *ret, int32_t *n_rows, const int64_t **row_time,
                           clv_error *err)
{
    int32_t n = p->first_span[p->n_nodes], rows;
    int64_t *lo = CLV_NEW_ARRAY(arena, int64_t, n), *hi = CLV_NEW_ARRAY(arena, int64_t, n);
    int64_t *time = CLV_NEW_ARRAY(arena, int64_t, n);

    if (!lo || !hi || !time)
        return clv_fail_nomem(err, "the moments of a strategy problem");
    for (int32_t i = 0; i < n; i++) {
        lo[i] = p->span_lo[i];
        hi[i] = p->span_hi[i];
    }
    rows = moments(lo, sort_unique(lo, n), hi, sort_unique(hi, n), time);
    *ret = *p;
    if (p->usage_limit == CLV_INTRA_OP_UNLIMITED) {
        rows = n = 0;
        ret->first_span = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes + 1);
        if (!ret->first_span)
            return clv_fail_nomem(err, "the moments of a strategy problem");
    }
    /* A span covers the moments that lie in it: the last beginning before its end is one. */
    for (int32_t i = 0; i < n; i++) {
        lo[i] = index_of(time, rows, p->span_lo[i]);
        hi[i] = index_of(time, rows, p->span_hi[i]);
    }
    ret->span_lo = lo;
    ret->span_hi = hi;
    *n_rows = rows;
    *row_time = time;
    return CLV_OK;
}
