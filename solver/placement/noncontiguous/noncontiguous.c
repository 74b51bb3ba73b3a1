/* noncontiguous.c - the order of things: search a little, prove, search more. */
#include "solver/placement/noncontiguous/noncontiguous.h"

#include "solver/placement/common/share.h"
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
 * blocks it comes before all else, with more looks: other first answers take seconds, and are far
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
    const clv_blocks *b;
    clv_local_search *local;
    clv_column_gen *bound; /* NULL where there are too many blocks */
    bool contiguous;       /* device_of is the contiguous answer, not tried as a start yet */
    int32_t *device_of;
    uint64_t random;
} solver_state;

/* Starts the search from placements that prices lead to. */
static clv_status dive_from_prices(solver_state *t, clv_error *err)
{
    for (int32_t i = 0; i < DIVES && !clv_place_over(t->search); i++) {
        bool found;
        int64_t ticks = clv_blocks_ticks(t->b, clv_place_best(t->search) * DIVE_PART);
        CLV_TRY(clv_diving_run(t->bound, ticks, &t->random, t->device_of, &found, err));
        if (found)
            CLV_TRY(clv_local_search_start(t->local, t->search, t->device_of, err));
    }
    return CLV_OK;
}

/* Raises the bound as near to the best answer as it gets; where that is not all the way, its prices
 * are starts for the search. */
static clv_status prove(solver_state *t, int64_t work, clv_error *err)
{
    bool all;
    CLV_TRY(clv_noncontiguous_prove(t->bound, t->b, t->search, work, &all, err));
    return all ? CLV_OK : dive_from_prices(t, err);
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
        t->device_of[t->b->block_of[v]] = result.solve.answer[v];
    t->contiguous = true;
    return clv_place_offer(t->search, result.solve.found_by, result.solve.answer, err);
}

static clv_status improve_contiguous(solver_state *t, clv_error *err)
{
    if (!t->contiguous)
        return CLV_OK;
    t->contiguous = false;
    return clv_local_search_start(t->local, t->search, t->device_of, err);
}

static clv_status alternate(solver_state *t, clv_arena *arena, clv_error *err)
{
    int64_t search = SEARCH_FIRST, proof = PROOF_FIRST;
    for (int32_t i = 0; i < TURNS && !clv_place_over(t->search); i++, search *= 2, proof *= 2) {
        if (i == 1 && t->b->n <= CONTIGUOUS_BLOCKS) /* it may take long, and is mostly not needed */
            CLV_TRY(find_contiguous(t, CONTIGUOUS_LOOKS, arena, err));
        CLV_TRY(improve_contiguous(t, err));
        CLV_TRY(clv_local_search_run(t->local, t->search, search, err));
        if (t->bound && clv_place_best_answer(t->search))
            CLV_TRY(prove(t, proof, err));
    }
    return CLV_OK;
}

/* What takes no order of the blocks: the share of work, and for large problems a good answer. */
static clv_status bound_and_start(solver_state *t, clv_arena *arena, clv_error *err)
{
    clv_share share;
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(clv_share_new(t->b, arena, &share, err));
    int64_t least = clv_share_least_limit(&share);
    clv_place_raise(t->search, "share of work", clv_blocks_unit(t->b, least));
    clv_arena_rewind(arena, mark);
    return t->b->n > CONTIGUOUS_BLOCKS ? find_contiguous(t, CONTIGUOUS_FIRST, arena, err) : CLV_OK;
}

/* The search, and the proof where there are not too many blocks. */
static clv_status make_solvers(solver_state *t, const int32_t *order, clv_arena *arena,
                               clv_error *err)
{
    uint64_t seed = t->search->options->solve.seed;
    CLV_TRY(clv_local_search_new(t->b, order, seed, arena, &t->local, err));
    return clv_noncontiguous_prove_new(t->search, t->b, order, arena, &t->bound, err);
}

clv_status clv_noncontiguous_solve(clv_place_search *search, const clv_blocks *b, clv_arena *arena,
                                   clv_error *err)
{
    solver_state t = { .search = search, .b = b, .random = search->options->solve.seed };
    int32_t *order = CLV_NEW_ARRAY(arena, int32_t, b->n);
    t.device_of = CLV_NEW_ARRAY(arena, int32_t, b->n);
    if (!order || !t.device_of)
        return clv_fail_nomem(err, "the free search");
    if (b->n == 0)
        return CLV_OK;
    CLV_TRY(bound_and_start(&t, arena, err));
    if (clv_place_over(search))
        return CLV_OK;
    CLV_TRY(clv_cutwidth_order(b, arena, order, err));
    if (b->n <= EXACT_BLOCKS)
        CLV_TRY(clv_noncontiguous_exact(search, b, order, EXACT_TRIES, arena, err));
    if (clv_place_over(search))
        return CLV_OK;
    bool found = false;
    CLV_TRY(make_solvers(&t, order, arena, err));
    if (!t.contiguous)
        CLV_TRY(clv_chains_on_chains(b, order, arena, t.device_of, &found, err));
    if (found)
        CLV_TRY(clv_local_search_start(t.local, search, t.device_of, err));
    return alternate(&t, arena, err);
}
