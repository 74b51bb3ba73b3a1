/* presolve_pairs.c - rows that another row, not only the next, always needs at least as much as.
 *
 * To tell quickly that row s does not stand for row r, r is filled: all nodes that hold memory at r
 * take their largest choice, all others their smallest. Only rows s that then hold as much as r are
 * compared exactly.
 */
#include "solver/strategies/presolve_work.h"

enum { MOST_CHECKS = 12 }; /* exact comparisons a row; the nearest rows come first */

/* Entries of the lists of spans by row; eight bytes each. Beyond it rows stay. */
#define MOST_LENGTH INT64_C(40000000)
/* Additions while rows are filled; about a second. Beyond it rows stay. */
#define MOST_WORK INT64_C(600000000)

typedef struct {
    const clv_pre_work *w;
    bool *keep;
    int64_t *first; /* by row: the spans that cover it, by node */
    int32_t *span, *owner;
    int32_t *smallest; /* by node: its choice of the least memory in all */
    int64_t *change;   /* by row: held when r is filled, as differences, then sums */
    int64_t work;
} pairs;

static bool cover(pairs *s, clv_arena *arena)
{
    const clv_strategies *p = &s->w->p;
    int32_t n = s->w->n_rows;

    s->first = CLV_NEW_ARRAY(arena, int64_t, n + 2);
    for (int32_t i = 0; s->first && i < p->first_span[p->n_nodes]; i++)
        for (int64_t r = p->span_lo[i]; r < p->span_hi[i]; r++)
            s->first[r + 2]++;
    for (int32_t r = 0; s->first && r < n; r++)
        s->first[r + 2] += s->first[r + 1];
    if (!s->first)
        return false;
    s->span = CLV_NEW_ARRAY(arena, int32_t, s->first[n + 1]);
    s->owner = CLV_NEW_ARRAY(arena, int32_t, s->first[n + 1]);
    if (!s->span || !s->owner)
        return false;
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++)
            for (int64_t r = p->span_lo[i]; r < p->span_hi[i]; r++) {
                s->span[s->first[r + 1]] = i;
                s->owner[s->first[r + 1]++] = v;
            }
    return true;
}

static bool find_smallest(pairs *s, clv_arena *arena)
{
    const clv_strategies *p = &s->w->p;

    s->smallest = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    for (int32_t v = 0; s->smallest && v < p->n_nodes; v++) {
        clv_wide least = -1;

        for (int32_t c = 0, n = clv_strategy_n_choices(p, v); c < n; c++) {
            clv_wide sum = 0;

            for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++)
                sum += (clv_wide)p->usage[p->span_usage[i] + c] * (p->span_hi[i] - p->span_lo[i]);
            if (least < 0 || sum < least) {
                least = sum;
                s->smallest[v] = c;
            }
        }
    }
    return s->smallest != NULL;
}

/* change[]: what each row holds when r is filled. base: the same with all nodes at their smallest.
 */
static void fill(pairs *s, int32_t r, const int64_t *base)
{
    const clv_strategies *p = &s->w->p;
    int32_t n = s->w->n_rows;

    for (int32_t k = 0; k <= n; k++)
        s->change[k] = 0;
    for (int64_t k = s->first[r]; k < s->first[r + 1]; k++) {
        int32_t v = s->owner[k];
        const int64_t *u = p->usage + p->span_usage[s->span[k]];
        int32_t largest = 0;

        for (int32_t c = 1, n_c = clv_strategy_n_choices(p, v); c < n_c; c++)
            largest = u[c] > u[largest] ? c : largest;
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++) {
            const int64_t *x = p->usage + p->span_usage[i];
            int64_t more = x[largest] - x[s->smallest[v]];

            s->change[p->span_lo[i]] += more;
            s->change[p->span_hi[i]] -= more;
        }
        s->work += clv_strategy_n_choices(p, v) + p->first_span[v + 1] - p->first_span[v];
    }
    for (int32_t k = 0; k < n; k++)
        s->change[k + 1] += s->change[k];
    for (int32_t k = 0; k < n; k++)
        s->change[k] += base[k];
    s->work += 2 * n;
}

static int64_t most_more(const clv_strategies *p, int32_t v, int32_t one, int32_t other)
{
    const int64_t *a = p->usage + p->span_usage[one], *b = p->usage + p->span_usage[other];
    int64_t most = INT64_MIN;

    for (int32_t c = 0, n = clv_strategy_n_choices(p, v); c < n; c++)
        most = a[c] - b[c] > most ? a[c] - b[c] : most;
    return most;
}

/* Row q always needs at least as much as row r. Nodes at q alone can hold nothing there. */
static bool stands_for(pairs *s, int32_t q, int32_t r)
{
    const clv_strategies *p = &s->w->p;
    int64_t i = s->first[q];
    clv_wide more = (clv_wide)s->w->held[r] - s->w->held[q];

    for (int64_t k = s->first[r]; k < s->first[r + 1]; k++) {
        int32_t v = s->owner[k];

        while (i < s->first[q + 1] && s->owner[i] < v)
            i++;
        if (i < s->first[q + 1] && s->owner[i] == v) {
            if (s->span[i] != s->span[k])
                more += most_more(p, v, s->span[k], s->span[i]);
        } else {
            const int64_t *u = p->usage + p->span_usage[s->span[k]];
            int64_t most = 0;

            for (int32_t c = 0, n = clv_strategy_n_choices(p, v); c < n; c++)
                most = u[c] > most ? u[c] : most;
            more += most;
        }
    }
    s->work += s->first[r + 1] - s->first[r] + s->first[q + 1] - s->first[q];
    return more <= 0;
}

/* Looks for a row that stands for r, from the nearest on. */
static void test(pairs *s, int32_t r)
{
    int32_t n = s->w->n_rows, checks = 0;

    s->work += n;
    for (int32_t d = 1; d < n && checks < MOST_CHECKS; d++)
        for (int turn = 0; turn < 2; turn++) {
            int32_t q = turn ? r - d : r + d;

            if (q < 0 || q >= n || !s->keep[q] || s->change[q] < s->change[r])
                continue;
            checks++;
            if (stands_for(s, q, r)) {
                s->keep[r] = false;
                return;
            }
        }
}

clv_status clv_pre_pairs(const clv_pre_work *w, clv_arena *arena, bool *keep, clv_error *err)
{
    const clv_strategies *p = &w->p;
    pairs s = { .w = w, .keep = keep, .change = CLV_NEW_ARRAY(arena, int64_t, w->n_rows + 1) };
    int64_t *base = CLV_NEW_ARRAY(arena, int64_t, w->n_rows + 1);
    int64_t length = 0;

    for (int32_t i = 0; i < p->first_span[p->n_nodes]; i++)
        length += p->span_hi[i] - p->span_lo[i];
    if (length > MOST_LENGTH)
        return CLV_OK;
    if (!s.change || !base || !cover(&s, arena) || !find_smallest(&s, arena))
        return clv_fail_nomem(err, "the rows of a strategy problem");
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++) {
            base[p->span_lo[i]] += p->usage[p->span_usage[i] + s.smallest[v]];
            base[p->span_hi[i]] -= p->usage[p->span_usage[i] + s.smallest[v]];
        }
    for (int32_t r = 0; r < w->n_rows; r++)
        base[r + 1] += base[r];
    for (int32_t r = 0; r < w->n_rows; r++)
        base[r] += w->held[r];
    for (int32_t r = 0; r < w->n_rows && s.work < MOST_WORK; r++)
        if (keep[r]) {
            fill(&s, r, base);
            test(&s, r);
        }
    return CLV_OK;
}
