/* presolve_rows.c - see presolve_rows.h. */
#include "solver/intra_op/presolve_rows.h"

#include <string.h>

static int64_t largest_difference(const clv_intra_op_problem *p, int32_t v, int32_t one,
                                  int32_t other)
{
    int64_t most = INT64_MIN;

    for (int32_t c = 0, n = clv_intra_op_n_choices(p, v); c < n; c++) {
        int64_t more = (one < 0 ? 0 : p->usage[p->span_usage[one] + c]) -
                       (other < 0 ? 0 : p->usage[p->span_usage[other] + c]);

        most = more > most ? more : most;
    }
    return most;
}

enum { MOST_CHECKS = 12 }; /* exact comparisons a row; the nearest rows come first */

/* Rows, spans and choices looked at while rows are compared; about a second. Beyond it rows stay.
 */
#define MOST_WORK INT64_C(600000000)

/* Spans of row r that are over by the last row looked at in one direction. */
typedef struct {
    int32_t row;   /* the last row looked at */
    int64_t sure;  /* the most that those hold whose nodes hold nothing further on */
    int32_t *span; /* the others */
    int32_t n;
} passed;

typedef struct {
    const clv_pre_problem *w;
    bool *keep;
    int32_t *smallest;         /* by node: its choice of the least memory in all */
    int32_t *largest;          /* by span: the choice that holds the most then */
    int32_t *node;             /* by span */
    int32_t *by_lo, *first_lo; /* spans by the row they begin at; and where those of a row begin */
    int32_t *by_hi, *first_hi; /* the same by the row they end before */
    int64_t *step;             /* by row: held when r is filled, less what the row before holds */
    int64_t *shut;             /* by row: -1 for one that goes, 0 for others */
    passed passed[2];          /* towards later rows, towards earlier ones */
    int64_t work;
} pairs;

static bool find_smallest(pairs *s, clv_arena *arena)
{
    const clv_intra_op_problem *p = &s->w->p;

    s->smallest = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    for (int32_t v = 0; s->smallest && v < p->n_nodes; v++) {
        clv_int128 least = -1;

        for (int32_t c = 0, n = clv_intra_op_n_choices(p, v); c < n; c++) {
            clv_int128 sum = 0;

            for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++)
                sum += (clv_int128)p->usage[p->span_usage[i] + c] * (p->span_hi[i] - p->span_lo[i]);
            if (least < 0 || sum < least) {
                least = sum;
                s->smallest[v] = c;
            }
        }
    }
    return s->smallest != NULL;
}

/* Spans by row, in order: at[i] is a row, 0 to n_rows. */
static bool sort_spans(const pairs *s, const int64_t *at, clv_arena *arena, int32_t **ret,
                       int32_t **ret_first)
{
    int32_t n = s->w->p.first_span[s->w->p.n_nodes], rows = s->w->n_rows;
    int32_t *sorted = CLV_NEW_ARRAY(arena, int32_t, n);
    int32_t *first = CLV_NEW_ARRAY(arena, int32_t, rows + 3);

    if (!sorted || !first)
        return false;
    for (int32_t i = 0; i < n; i++)
        first[at[i] + 2]++;
    for (int32_t r = 0; r <= rows; r++)
        first[r + 2] += first[r + 1];
    for (int32_t i = 0; i < n; i++)
        sorted[first[at[i] + 1]++] = i;
    *ret = sorted;
    *ret_first = first;
    return true;
}

static bool sort_all_spans(pairs *s, clv_arena *arena)
{
    const clv_intra_op_problem *p = &s->w->p;
    int32_t n = p->first_span[p->n_nodes];

    s->largest = CLV_NEW_ARRAY(arena, int32_t, n);
    s->node = CLV_NEW_ARRAY(arena, int32_t, n);
    s->passed[0].span = CLV_NEW_ARRAY(arena, int32_t, n);
    s->passed[1].span = CLV_NEW_ARRAY(arena, int32_t, n);
    if (!s->largest || !s->node || !s->passed[0].span || !s->passed[1].span ||
        !sort_spans(s, p->span_lo, arena, &s->by_lo, &s->first_lo) ||
        !sort_spans(s, p->span_hi, arena, &s->by_hi, &s->first_hi))
        return false;
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++) {
            const int64_t *u = p->usage + p->span_usage[i];

            s->node[i] = v;
            for (int32_t c = 1, n_c = clv_intra_op_n_choices(p, v); c < n_c; c++)
                s->largest[i] = u[c] > u[s->largest[i]] ? c : s->largest[i];
        }
    return true;
}

/* step[] where all nodes take their smallest choice, and shut[]; both have as many rows that are
 * none on either side: a walk from any row to the last in both directions stays in them. */
static bool empty_steps(pairs *s, clv_arena *arena)
{
    const clv_intra_op_problem *p = &s->w->p;
    int32_t n = s->w->n_rows;
    int64_t *step = CLV_NEW_ARRAY(arena, int64_t, 3 * (int64_t)n + 1);
    int64_t *shut = CLV_NEW_ARRAY(arena, int64_t, 3 * (int64_t)n + 1);

    if (!step || !shut)
        return false;
    s->step = step + n;
    s->shut = shut + n;
    for (int64_t k = 0; k < 3 * (int64_t)n; k++)
        shut[k] = k >= n && k < 2 * (int64_t)n && s->keep[k - n] ? 0 : -1;
    for (int32_t i = 0; i < p->first_span[p->n_nodes]; i++) {
        int64_t u = p->usage[p->span_usage[i] + s->smallest[s->node[i]]];

        s->step[p->span_lo[i]] += u;
        s->step[p->span_hi[i]] -= u;
    }
    for (int32_t r = 1; r < n; r++)
        s->step[r] += s->w->held[r] - s->w->held[r - 1];
    return true;
}

/* The node of the span takes the largest choice for it (sign 1), or its smallest again (-1). */
static void set_largest(pairs *s, int32_t span, int64_t sign)
{
    const clv_intra_op_problem *p = &s->w->p;
    int32_t v = s->node[span];

    for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++) {
        const int64_t *x = p->usage + p->span_usage[i];
        int64_t more = sign * (x[s->largest[span]] - x[s->smallest[v]]);

        s->step[p->span_lo[i]] += more;
        s->step[p->span_hi[i]] -= more;
    }
    s->work += p->first_span[v + 1] - p->first_span[v];
}

/* Span k holds memory at r and no more at the row just passed; last: its node holds nothing further
 * on either. */
static void add_passed(pairs *s, passed *x, int32_t k, bool last)
{
    if (last)
        x->sure += s->w->p.usage[s->w->p.span_usage[k] + s->largest[k]];
    else
        x->span[x->n++] = k;
}

/* All spans of r that are over at q, or not yet there. */
static void advance_passed(pairs *s, int32_t q, int32_t r)
{
    const clv_intra_op_problem *p = &s->w->p;
    passed *x = &s->passed[q < r];

    while (x->row < q) {
        x->row++;
        s->work += s->first_hi[x->row + 1] - s->first_hi[x->row];
        for (int32_t i = s->first_hi[x->row]; i < s->first_hi[x->row + 1]; i++) {
            int32_t k = s->by_hi[i];

            if (p->span_lo[k] <= r)
                add_passed(s, x, k, k + 1 == p->first_span[s->node[k] + 1]);
        }
    }
    for (; x->row > q; x->row--) {
        s->work += s->first_lo[x->row + 1] - s->first_lo[x->row];
        for (int32_t i = s->first_lo[x->row]; i < s->first_lo[x->row + 1]; i++) {
            int32_t k = s->by_lo[i];

            if (p->span_hi[k] > r)
                add_passed(s, x, k, k == p->first_span[s->node[k]]);
        }
    }
}

/* The span of k's node at row q; -1: none. The spans of a node are in order. */
static int32_t span_at(const pairs *s, int32_t k, int32_t q)
{
    const clv_intra_op_problem *p = &s->w->p;
    int32_t v = s->node[k], i = k;

    if (p->span_lo[k] > q)
        while (i >= p->first_span[v] && p->span_lo[i] > q)
            i--;
    else
        while (i < p->first_span[v + 1] && p->span_hi[i] <= q)
            i++;
    return i >= p->first_span[v] && i < p->first_span[v + 1] && p->span_lo[i] <= q &&
                   p->span_hi[i] > q
               ? i
               : -1;
}

/* Row q always needs at least as much as row r: what the nodes of r hold more there at most. Nodes
 * at q alone can hold nothing there, those of a span over both hold the same. */
static bool stands_for(pairs *s, int32_t q, int32_t r)
{
    const clv_intra_op_problem *p = &s->w->p;
    const passed *x = &s->passed[q < r];
    int64_t more;

    advance_passed(s, q, r);
    more = s->w->held[r] - s->w->held[q] + x->sure;
    for (int32_t k = 0; k < x->n; k++) {
        int32_t one = x->span[k], other = span_at(s, one, q);

        more += other < 0 ? p->usage[p->span_usage[one] + s->largest[one]]
                          : largest_difference(p, s->node[one], one, other);
        s->work += other < 0 ? 1 : clv_intra_op_n_choices(p, s->node[one]);
    }
    return more <= 0;
}

/* Looks for a row that stands for r, from the nearest on. */
static void find_standing_row(pairs *s, int32_t r)
{
    int32_t n = s->w->n_rows, far = r > n - 1 - r ? r : n - 1 - r, checks = 0, d;
    const int64_t *step = s->step + r, *shut = s->shut + r;
    int64_t more[2] = { 0, 0 }; /* than at r, when r is filled: d rows later, and earlier */

    for (int turn = 0; turn < 2; turn++) {
        s->passed[turn].row = r;
        s->passed[turn].sure = s->passed[turn].n = 0;
    }
    for (d = 1; d <= far && checks < MOST_CHECKS; d++) {
        more[0] += step[d];
        more[1] -= step[1 - d];
        if ((more[0] | shut[d]) < 0 && (more[1] | shut[-d]) < 0)
            continue;
        for (int turn = 0; turn < 2; turn++) {
            int32_t q = turn ? r - d : r + d;

            if ((more[turn] | s->shut[q]) < 0)
                continue;
            checks++;
            if (stands_for(s, q, r)) {
                s->keep[r] = false;
                s->shut[r] = -1;
                return;
            }
        }
    }
    s->work += d;
}

clv_status clv_pre_row_pairs(const clv_pre_problem *w, clv_arena *arena, bool *keep, clv_error *err)
{
    pairs s = { .w = w, .keep = keep };

    if (!find_smallest(&s, arena) || !sort_all_spans(&s, arena) || !empty_steps(&s, arena))
        return clv_fail_nomem(err, "the rows of a strategy problem");
    for (int32_t r = 0; r < w->n_rows && s.work < MOST_WORK; r++) {
        /* From the row before, which was filled, to r. */
        for (int32_t i = s.first_hi[r]; i < s.first_hi[r + 1]; i++)
            set_largest(&s, s.by_hi[i], -1);
        for (int32_t i = s.first_lo[r]; i < s.first_lo[r + 1]; i++)
            set_largest(&s, s.by_lo[i], 1);
        if (keep[r])
            find_standing_row(&s, r);
    }
    return CLV_OK;
}

/* ---- next neighbours ---- */

enum { LITTLE = 32 }; /* one row in so many is not worth another round */

typedef struct {
    const clv_pre_problem *w;
    bool *keep;
    clv_int128 *rise, *fall; /* by row r: what row r needs more than r - 1 at most; and less */
} rows;

/* Between rows r - 1 and r node v goes from span `before` to span `after`; -1: none. */
static void change(rows *s, int32_t v, int64_t r, int32_t before, int32_t after)
{
    if (r <= 0 || r >= s->w->n_rows)
        return;
    s->rise[r] += largest_difference(&s->w->p, v, after, before);
    s->fall[r] += largest_difference(&s->w->p, v, before, after);
}

/* Rows that cannot be exceeded. */
static void slack_rows(rows *s, clv_int128 *most)
{
    const clv_intra_op_problem *p = &s->w->p;

    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++) {
            int64_t u = largest_difference(p, v, i, -1);

            most[p->span_lo[i]] += u;
            most[p->span_hi[i]] -= u;
        }
    for (int32_t r = 0; r < s->w->n_rows; r++) {
        most[r + 1] += most[r];
        s->keep[r] = most[r] + s->w->held[r] > p->usage_limit;
    }
}

static void neighbours(rows *s)
{
    const clv_intra_op_problem *p = &s->w->p;
    const int64_t *held = s->w->held;

    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++) {
            bool joins = i > p->first_span[v] && p->span_hi[i - 1] == p->span_lo[i];
            bool joined = i + 1 < p->first_span[v + 1] && p->span_lo[i + 1] == p->span_hi[i];

            change(s, v, p->span_lo[i], joins ? i - 1 : -1, i);
            if (!joined)
                change(s, v, p->span_hi[i], i, -1);
        }
    /* Of two that always need the same the second stays, so no circle of reasons can close. */
    for (int32_t r = 1; r < s->w->n_rows; r++) {
        if (held[r - 1] - held[r] + s->fall[r] <= 0)
            s->keep[r - 1] = false;
        else if (held[r] - held[r - 1] + s->rise[r] <= 0)
            s->keep[r] = false;
    }
}

clv_status clv_pre_rows(const clv_pre_problem *w, bool every_pair, clv_arena *arena,
                        clv_pre_fold *fold, clv_error *err)
{
    int32_t n = w->n_rows;
    rows s = { .w = w,
               .keep = CLV_NEW_ARRAY(arena, bool, n),
               .rise = CLV_NEW_ARRAY(arena, clv_int128, n),
               .fall = CLV_NEW_ARRAY(arena, clv_int128, n) };
    clv_int128 *most = CLV_NEW_ARRAY(arena, clv_int128, n + 1);
    int32_t left = 0;

    CLV_TRY(clv_pre_fold_new(w, arena, fold, err));
    if (!s.keep || !s.rise || !s.fall || !most)
        return clv_fail_nomem(err, "the rows of a strategy problem");
    slack_rows(&s, most);
    neighbours(&s);
    for (int32_t r = 0; r < n; r++)
        left += s.keep[r];
    /* Rounds of next neighbours end when they bring little; then every pair is looked at. */
    if (every_pair)
        CLV_TRY(clv_pre_row_pairs(w, arena, s.keep, err));
    else if (n - left < n / LITTLE + 1)
        for (int32_t r = 0; r < n; r++)
            s.keep[r] = true;
    fold->row_keep = s.keep;
    for (int32_t r = 0; r < n; r++)
        fold->any |= !s.keep[r];
    return CLV_OK;
}
