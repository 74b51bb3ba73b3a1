/* noncontiguous.c - the order of things: search a little, prove, search more. */
#include "solver/placement/noncontiguous/noncontiguous.h"

#include "solver/placement/common/fluid_bound.h"
#include "solver/placement/noncontiguous/branch_and_bound.h"
#include "solver/placement/noncontiguous/chains_on_chains.h"
#include "solver/placement/noncontiguous/cutwidth_order.h"
#include "solver/placement/noncontiguous/diving.h"
#include "solver/placement/noncontiguous/local_search.h"
#include "solver/placement/noncontiguous/prove.h"

/* Work of the first turn: about 0.2 s and 1 s. Every turn does twice the work of the one
 * before. */
#define SEARCH_FIRST INT64_C(40000000)
#define PROOF_FIRST  INT64_C(200000000)
#define TURNS        6
/* The contiguous search for a start: looks at the clock, gap, and part of the time left. With more
 * blocks it comes before all else, with more looks: other first solutions take seconds, and are far
 * off. */
#define CONTIGUOUS_LOOKS  500
#define CONTIGUOUS_BLOCKS 2000
#define CONTIGUOUS_FIRST  4000
#define CONTIGUOUS_GAP    0.01
#define CONTIGUOUS_PART   0.1
/* Starts from prices in a turn, for loads up to this part of the best. */
#define DIVES     8
#define DIVE_PART 0.99
/* Few blocks are placed in all ways: a tenth of a second. */
#define EXACT_BLOCKS 20
#define EXACT_TRIES  INT64_C(2000000)

typedef struct {
    clv_place_search *search;
    const clv_contraction *b;
    clv_local_search *local;
    clv_column_gen *bound; /* NULL where there are too many blocks */
    bool contiguous;       /* device_of is the contiguous solution, not tried as a start yet */
    int32_t *device_of;
    uint64_t random;
} solver_state;

/* Raises the bound as near to the best solution as it gets; where that is not all the way, its
 * prices are starts for the search. */
static clv_status prove_and_dive(solver_state *t, int64_t work, clv_error *err)
{
    bool all, found;
    CLV_TRY(clv_noncontiguous_prove(t->bound, t->b, t->search, work, &all, err));
    for (int32_t i = 0; i < DIVES && !all && !clv_place_over(t->search); i++) {
        int64_t ticks = clv_contraction_to_ticks(t->b, clv_place_best(t->search) * DIVE_PART);
        CLV_TRY(clv_diving_run(t->bound, ticks, &t->random, t->device_of, &found, err));
        if (found)
            CLV_TRY(clv_local_search_start(t->local, t->search, t->device_of, err));
    }
    return CLV_OK;
}

/* -- the best contiguous placement, for a start -- */

typedef struct {
    clv_place_search *search;
    int32_t left;
} clock_reads;

static bool count_down(void *ctx)
{
    clock_reads *l = ctx;
    return --l->left < 0 || clv_place_over(l->search);
}

/* It is legal here, too, and often near. It gets a fixed number of looks at the clock. */
static clv_status find_contiguous(solver_state *t, int32_t n_looks, clv_arena *arena,
                                  clv_error *err)
{
    clv_place_options options = *t->search->options;
    clv_place_result result;
    clock_reads left = { t->search, n_looks };
    options.rules.contiguous = true;
    options.solve.gap = options.solve.gap > CONTIGUOUS_GAP ? options.solve.gap : CONTIGUOUS_GAP;
    options.solve.progress = NULL;
    options.solve.stop = count_down;
    options.solve.stop_ctx = &left;
    if (options.solve.deadline_ns > 0) {
        double left_s = clv_place_time_s(t->search) - clv_place_seconds(t->search);
        if (left_s <= 0)
            return CLV_OK;
        options.solve.deadline_ns = clv_deadline_in(left_s * CONTIGUOUS_PART);
    }
    CLV_TRY(t->search->solve_part(t->search->p, &options, arena, &result, err));
    if (!result.solve.found)
        return CLV_OK;
    for (int32_t v = 0; v < t->b->p->n_nodes; v++)
        t->device_of[t->b->block_of[v]] = result.solve.solution[v];
    t->contiguous = true;
    return clv_place_offer(t->search, result.solve.found_by, result.solve.solution, err);
}

static clv_status alternate(solver_state *t, clv_arena *arena, clv_error *err)
{
    int64_t search = SEARCH_FIRST, proof = PROOF_FIRST;
    for (int32_t i = 0; i < TURNS && !clv_place_over(t->search); i++, search *= 2, proof *= 2) {
        if (i == 1 && t->b->n <= CONTIGUOUS_BLOCKS) /* it may take long, and is mostly not needed */
            CLV_TRY(find_contiguous(t, CONTIGUOUS_LOOKS, arena, err));
        if (t->contiguous)
            CLV_TRY(clv_local_search_start(t->local, t->search, t->device_of, err));
        t->contiguous = false;
        CLV_TRY(clv_local_search_run(t->local, t->search, search, err));
        if (t->bound && clv_place_best_solution(t->search))
            CLV_TRY(prove_and_dive(t, proof, err));
    }
    return CLV_OK;
}

clv_status clv_noncontiguous_solve(clv_place_search *search, const clv_contraction *b,
                                   clv_arena *arena, clv_error *err)
{
    solver_state t = { .search = search, .b = b, .random = search->options->solve.seed };
    int32_t *order = CLV_NEW_ARRAY(arena, int32_t, b->n);
    t.device_of = CLV_NEW_ARRAY(arena, int32_t, b->n);
    if (!order || !t.device_of)
        return clv_fail_nomem(err, "the free search");
    if (b->n == 0)
        return CLV_OK;
    clv_fluid_bound share;
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(clv_fluid_bound_new(b, arena, &share, err));
    clv_place_raise(search, "share of work",
                    clv_contraction_from_ticks(b, clv_fluid_bound_least_limit(&share)));
    clv_arena_rewind(arena, mark);
    if (b->n > CONTIGUOUS_BLOCKS)
        CLV_TRY(find_contiguous(&t, CONTIGUOUS_FIRST, arena, err));
    if (clv_place_over(search))
        return CLV_OK;
    CLV_TRY(clv_cutwidth_order(b, arena, order, err));
    if (b->n <= EXACT_BLOCKS)
        CLV_TRY(clv_noncontiguous_exact(search, b, order, EXACT_TRIES, arena, err));
    if (clv_place_over(search))
        return CLV_OK;
    bool found = false;
    CLV_TRY(clv_local_search_new(b, order, t.random, arena, &t.local, err));
    CLV_TRY(clv_noncontiguous_prove_new(search, b, order, arena, &t.bound, err));
    if (!t.contiguous)
        CLV_TRY(clv_chains_on_chains(b, order, arena, t.device_of, &found, err));
    if (found)
        CLV_TRY(clv_local_search_start(t.local, search, t.device_of, err));
    return alternate(&t, arena, err);
}
