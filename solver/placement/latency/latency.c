/* latency.c - see latency.h: which solver of the latency objective runs when. */
#include "solver/placement/latency/latency.h"

/* A short search first: its answer is the limit under which the exact search is quick. */
#define FIRST_ROUNDS 1
#define FIRST_SHARE  0.25

/* Then both in turn: steps of the exact search, and rounds of annealing after it. What is small is
 * searched through in between. */
static const struct {
    int64_t work;
    int32_t rounds;
} PHASES[] = { { 12000000, 3 }, { 30000000, 9 }, { 100000000, 0 } };
#define N_PHASES (sizeof PHASES / sizeof *PHASES)

clv_status clv_latency_solve(clv_place_search *search, clv_arena *arena, clv_error *err)
{
    clv_latency_form *form;
    clv_latency_chain_form *chain;
    CLV_TRY(clv_latency_form_new(search->p, search->options->rules.contiguous, arena, &form, err));
    CLV_TRY(clv_latency_first(search, form, arena, err));
    CLV_TRY(clv_latency_divide(search, arena, err));
    CLV_TRY(clv_latency_local(search, form, NULL, FIRST_ROUNDS, FIRST_SHARE, arena, err));
    CLV_TRY(clv_latency_bounds(search, form, arena, &chain, err));
    if (chain && !clv_place_over(search))
        CLV_TRY(clv_latency_start(search, chain, arena, err));
    size_t n_phases = search->options->brief ? 1 : N_PHASES;
    for (size_t i = 0; i < n_phases && !clv_place_over(search); i++) {
        int32_t *start = NULL;
        if (chain)
            CLV_TRY(clv_latency_exact(search, chain, PHASES[i].work, arena, &start, err));
        if (i == 0)
            CLV_TRY(clv_latency_small(search, form, arena, err));
        if (start)
            CLV_TRY(clv_latency_local(search, form, start, 1, 1, arena, err));
        CLV_TRY(clv_latency_local(search, form, NULL, PHASES[i].rounds, 1, arena, err));
    }
    return CLV_OK;
}
