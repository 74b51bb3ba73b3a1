#include "problem/memory_moments.h"

#include <stdlib.h>
#include <string.h>

static int compare_times(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The number of the first moment that is not before a time. */
static int32_t moment_of(const clv_memory_moments *m, int64_t time)
{
    int32_t low = 0, high = m->n;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (m->time[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void list_moments(clv_memory_moments *m, int32_t n_spans)
{
    memcpy(m->time, m->p->span_lo, (size_t)n_spans * sizeof *m->time);
    qsort(m->time, (size_t)n_spans, sizeof *m->time, compare_times);
    for (int32_t i = 0; i < n_spans; i++)
        if (i == 0 || m->time[i] != m->time[m->n - 1])
            m->time[m->n++] = m->time[i];
    for (int32_t i = 0; i < m->n; i++)
        m->left[i] = m->p->usage_limit;
}

static void add_span(clv_memory_moments *m, int32_t v, int32_t k)
{
    const clv_intra_op_problem *p = m->p;
    clv_moment_span *l = &m->spans[k];
    *l = (clv_moment_span){ moment_of(m, p->span_lo[k]), moment_of(m, p->span_hi[k]),
                            p->usage + p->span_usage[k], INT64_MAX };
    for (int32_t c = 0; c < clv_intra_op_n_choices(p, v); c++)
        l->least = l->usage[c] < l->least ? l->usage[c] : l->least;
    for (int32_t i = l->from; i < l->to; i++)
        m->left[i] -= l->least;
}

clv_status clv_memory_moments_make(const clv_intra_op_problem *p, clv_arena *arena,
                                   clv_memory_moments *ret, clv_error *err)
{
    clv_memory_moments m = { .p = p };
    int32_t n = p->first_span[p->n_nodes];
    *ret = m;
    if (p->usage_limit == CLV_INTRA_OP_UNLIMITED || n == 0)
        return CLV_OK;
    m.spans = CLV_NEW_ARRAY(arena, clv_moment_span, n);
    m.time = CLV_NEW_ARRAY(arena, int64_t, n);
    m.left = CLV_NEW_ARRAY(arena, clv_int128, n);
    if (!m.spans || !m.time || !m.left)
        return clv_fail_nomem(err, "moments of memory");
    list_moments(&m, n);
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t k = p->first_span[v]; k < p->first_span[v + 1]; k++)
            add_span(&m, v, k);
    *ret = m;
    return CLV_OK;
}

static bool change(clv_memory_moments *m, int32_t v, int32_t choice, int sign)
{
    bool fits = true;
    for (int32_t k = m->p->first_span[v]; m->spans && k < m->p->first_span[v + 1]; k++) {
        const clv_moment_span *l = &m->spans[k];
        clv_int128 more = sign * (clv_int128)(l->usage[choice] - l->least);
        for (int32_t i = l->from; i < l->to; i++) {
            m->left[i] -= more;
            fits = fits && m->left[i] >= 0;
        }
    }
    return fits;
}

bool clv_memory_moments_take(clv_memory_moments *m, int32_t v, int32_t choice)
{
    return change(m, v, choice, 1);
}

void clv_memory_moments_give_back(clv_memory_moments *m, int32_t v, int32_t choice)
{
    change(m, v, choice, -1);
}
