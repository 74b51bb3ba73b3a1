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

clv_status clv_latency_solve(clv_place_run *run, clv_arena *arena, clv_error *err)
{
    clv_latency_form *form;
    clv_latency_chain_form *chain;
    CLV_TRY(clv_latency_form_new(clv_run_problem(run), clv_run_options(run)->rules.contiguous,
                                 arena, &form, err));
    CLV_TRY(clv_latency_first(run, form, arena, err));
    CLV_TRY(clv_latency_divide(run, arena, err));
    CLV_TRY(clv_latency_local(run, form, NULL, FIRST_ROUNDS, FIRST_SHARE, arena, err));
    CLV_TRY(clv_latency_bounds(run, form, arena, &chain, err));
    if (chain && !clv_run_over(run))
        CLV_TRY(clv_latency_start(run, chain, arena, err));
    size_t n_phases = clv_run_options(run)->brief ? 1 : N_PHASES;
    for (size_t i = 0; i < n_phases && !clv_run_over(run); i++) {
        int32_t *start = NULL;
        if (chain)
            CLV_TRY(clv_latency_exact(run, chain, PHASES[i].work, arena, &start, err));
        if (i == 0)
            CLV_TRY(clv_latency_small(run, form, arena, err));
        if (start)
            CLV_TRY(clv_latency_local(run, form, start, 1, 1, arena, err));
        CLV_TRY(clv_latency_local(run, form, NULL, PHASES[i].rounds, 1, arena, err));
    }
    return CLV_OK;
}
