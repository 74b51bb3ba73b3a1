/* What is left at each moment, against the judge of whole solutions, on random problems. */
#include "problem/memory_moments.h"

#include <criterion/criterion.h>

#include "problem/intra_op_draft.h"

#define N_MAX 5
#define PER   3 /* choices of a node at most */

static clv_error err;

static int32_t below(uint64_t *state, int32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int32_t)((*state >> 33) % (uint64_t)n);
}

/* Nodes with no span, one or two. */
static const clv_intra_op_problem *make(clv_arena *arena, uint64_t *seed, int64_t limit)
{
    clv_intra_op_draft *d;
    const clv_intra_op_problem *p = NULL;
    int32_t n = 1 + below(seed, N_MAX);
    int64_t at[PER] = { 0 };
    cr_assert_eq(clv_intra_op_draft_new(arena, &d, &err), CLV_OK);
    for (int32_t v = 0; v < n; v++) {
        int32_t choices = 1 + below(seed, PER), time = below(seed, 4);
        cr_assert_eq(clv_intra_op_draft_node(d, choices, at, &err), CLV_OK);
        for (int32_t k = below(seed, 3); k > 0; k--) {
            int64_t usage[PER];
            for (int32_t c = 0; c < choices; c++)
                usage[c] = below(seed, 20);
            int32_t end = time + 1 + below(seed, 3);
            cr_assert_eq(clv_intra_op_draft_span(d, time, end, usage, &err), CLV_OK);
            time = end + below(seed, 2);
        }
    }
    cr_assert_eq(clv_intra_op_draft_freeze(d, "moments", limit, &p, &err), CLV_OK);
    return p;
}

typedef struct {
    const clv_intra_op_problem *p;
    clv_arena *arena;
    clv_memory_moments memory;
    int32_t choice_of[N_MAX], order[N_MAX];
    int32_t n_seen, n_cut;
} walk;

/* How many legal solutions begin with the first n choices. cut: a moment has nothing left. */
static int32_t visit(walk *w, int32_t n, bool cut)
{
    clv_intra_op_value value;
    int32_t legal = 0;
    if (n == w->p->n_nodes) {
        cr_assert_eq(clv_intra_op_judge(w->p, w->choice_of, w->arena, &value, &err), CLV_OK);
        cr_assert_eq(value.legal, !cut);
        w->n_seen++;
        return value.legal;
    }
    int32_t v = w->order[n];
    for (int32_t c = 0; c < clv_intra_op_n_choices(w->p, v); c++) {
        w->choice_of[v] = c;
        bool fits = clv_memory_moments_take(&w->memory, v, c);
        int32_t of_choice = visit(w, n + 1, cut || !fits);
        cr_assert(fits || of_choice == 0, "%d legal solutions were cut off", of_choice);
        w->n_cut += !fits && n + 1 < w->p->n_nodes;
        clv_memory_moments_give_back(&w->memory, v, c);
        legal += of_choice;
    }
    return legal;
}

Test(memory_moments, cuts_off_what_is_illegal_and_nothing_else)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    uint64_t seed = 1;
    int32_t n_seen = 0, n_cut = 0;
    for (int32_t i = 0; i < 3000; i++) {
        int64_t limit = i % 10 == 0 ? CLV_INTRA_OP_UNLIMITED : below(&seed, 50);
        clv_mark mark = clv_arena_mark(arena);
        walk w = { .p = make(arena, &seed, limit), .arena = arena };
        for (int32_t v = 0; v < w.p->n_nodes; v++)
            w.order[v] = i % 2 ? v : w.p->n_nodes - 1 - v;
        cr_assert_eq(clv_memory_moments_make(w.p, arena, &w.memory, &err), CLV_OK);
        visit(&w, 0, false);
        n_seen += w.n_seen;
        n_cut += w.n_cut;
        clv_arena_rewind(arena, mark);
    }
    cr_assert_gt(n_cut, 1000, "%d of %d", n_cut, n_seen);
    clv_arena_free(arena);
}
