/* presolve_rows.c - see presolve_rows.h. */
#include "solver/intra_op/presolve_rows.h"

#include <string.h>

#include "solver/intra_op/presolve_fold.h"
#include "solver/intra_op/presolve_row_pairs.h"

enum { LITTLE = 32 }; /* one row in so many is not worth another round */

typedef struct {
    const clv_pre_problem *w;
    bool *keep;
    clv_int128 *rise, *fall; /* by row r: what row r needs more than r - 1 at most; and less */
} rows;

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
        memset(s.keep, 1, (size_t)n);
    fold->row_keep = s.keep;
    for (int32_t r = 0; r < n; r++)
        fold->any |= !s.keep[r];
    return CLV_OK;
}
