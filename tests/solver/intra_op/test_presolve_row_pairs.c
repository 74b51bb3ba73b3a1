/* Rows that another row stands for, against the plain comparison of all pairs. */
#include <criterion/criterion.h>

#include "solver/common/random.h"
#include "solver/intra_op/presolve_rows.h"

enum { NODES = 12, CHOICES = 4, ROWS = 24, SPANS = NODES * 4, CHECKS = 12 };

typedef struct {
    clv_pre_problem w;
    int32_t first_choice[NODES + 1], first_span[NODES + 1];
    int64_t lo[SPANS], hi[SPANS], at[SPANS], usage[SPANS * CHOICES], held[ROWS];
} rows;

/* Spans as packing leaves them: in order, the least usage of each is 0. */
static void make(rows *s, uint64_t seed)
{
    uint64_t rng = seed;
    int32_t n = 0;

    *s = (rows){ .w.n_rows = 2 + clv_random_below(&rng, ROWS - 1) };
    for (int32_t r = 0; r < s->w.n_rows; r++)
        s->held[r] = clv_random_below(&rng, 6);
    for (int32_t v = 0; v < NODES; v++) {
        int32_t row = clv_random_below(&rng, s->w.n_rows), choices = 2 + clv_random_below(&rng, 3);

        s->first_choice[v + 1] = s->first_choice[v] + choices;
        for (int32_t k = 0; k < 4 && row < s->w.n_rows; k++, n++) {
            int32_t least = clv_random_below(&rng, choices);

            s->lo[n] = row;
            row += 1 + clv_random_below(&rng, 8);
            s->hi[n] = row = row < s->w.n_rows ? row : s->w.n_rows;
            s->at[n] = n * CHOICES;
            for (int32_t c = 0; c < choices; c++)
                s->usage[s->at[n] + c] = c == least ? 0 : clv_random_below(&rng, 7);
            row += clv_random_below(&rng, 2);
        }
        s->first_span[v + 1] = n;
    }
    s->w.p = (clv_intra_op_problem){ .n_nodes = NODES,
                                     .first_choice = s->first_choice,
                                     .first_span = s->first_span,
                                     .span_lo = s->lo,
                                     .span_hi = s->hi,
                                     .span_usage = s->at,
                                     .usage = s->usage };
    s->w.held = s->held;
}

static int32_t span_at(const rows *s, int32_t v, int32_t r)
{
    for (int32_t i = s->first_span[v]; i < s->first_span[v + 1]; i++)
        if (s->lo[i] <= r && r < s->hi[i])
            return i;
    return -1;
}

static int64_t use(const rows *s, int32_t v, int32_t r, int32_t c)
{
    int32_t i = span_at(s, v, r);

    return i < 0 ? 0 : s->usage[s->at[i] + c];
}

static int32_t choices_of(const rows *s, int32_t v)
{
    return s->first_choice[v + 1] - s->first_choice[v];
}

/* The most that row r can need more than row q. */
static int64_t most_more(const rows *s, int32_t r, int32_t q)
{
    int64_t sum = s->held[r] - s->held[q];

    for (int32_t v = 0; v < NODES; v++) {
        int64_t most = INT64_MIN;

        for (int32_t c = 0; c < choices_of(s, v); c++) {
            int64_t more = use(s, v, r, c) - use(s, v, q, c);

            most = more > most ? more : most;
        }
        sum += most;
    }
    return sum;
}

/* What row q holds when r is filled. */
static int64_t filled(const rows *s, int32_t r, int32_t q)
{
    int64_t sum = s->held[q];

    for (int32_t v = 0; v < NODES; v++) {
        int64_t least = INT64_MAX, most = -1;
        int32_t smallest = 0, largest = 0;

        for (int32_t c = 0; c < choices_of(s, v); c++) {
            int64_t all = 0;

            for (int32_t k = 0; k < s->w.n_rows; k++)
                all += use(s, v, k, c);
            smallest = all < least ? c : smallest;
            least = all < least ? all : least;
            largest = use(s, v, r, c) > most ? c : largest;
            most = use(s, v, r, c) > most ? use(s, v, r, c) : most;
        }
        sum += use(s, v, q, span_at(s, v, r) < 0 ? smallest : largest);
    }
    return sum;
}

static void compare_all(const rows *s, bool *keep)
{
    int32_t n = s->w.n_rows;

    for (int32_t r = 0; r < n; r++)
        for (int32_t d = 1, checks = 0; keep[r] && d < n && checks < CHECKS; d++)
            for (int turn = 0; turn < 2 && keep[r]; turn++) {
                int32_t q = turn ? r - d : r + d;

                if (q < 0 || q >= n || !keep[q] || filled(s, r, q) < filled(s, r, r))
                    continue;
                checks++;
                keep[r] = most_more(s, r, q) > 0;
            }
}

Test(presolve_pairs, are_those_of_the_plain_comparison)
{
    int32_t gone = 0;

    for (uint64_t seed = 0; seed < 1000; seed++) {
        bool keep[ROWS], plain[ROWS];
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_error err;
        rows s;

        make(&s, seed);
        for (int32_t r = 0; r < s.w.n_rows; r++)
            keep[r] = plain[r] = (seed + (uint64_t)r) % 7 != 3; /* some are gone before */
        cr_assert_eq(clv_pre_row_pairs(&s.w, arena, keep, &err), CLV_OK);
        compare_all(&s, plain);
        for (int32_t r = 0; r < s.w.n_rows; r++) {
            bool stands = keep[r] || (seed + (uint64_t)r) % 7 == 3;

            cr_assert_eq(keep[r], plain[r], "seed %llu, row %d", (unsigned long long)seed, r);
            for (int32_t q = 0; q < s.w.n_rows && !stands; q++)
                stands = keep[q] && most_more(&s, r, q) <= 0;
            cr_assert(stands, "seed %llu, row %d", (unsigned long long)seed, r);
            gone += !keep[r];
        }
        clv_arena_free(arena);
    }
    cr_assert_gt(gone, 3000);
}
