#include "solver/placement/latency/latency.h"

#include "solver/placement/latency/chain_bounds.h"
#include "solver/placement/latency/chain_start.h"
#include "solver/placement/latency/component_division.h"
#include "solver/placement/latency/enumerate_assignments.h"
#include "solver/placement/latency/iterative_deepening.h"
#include "solver/placement/latency/latency_anneal.h"
#include "solver/placement/latency/latency_greedy.h"

/* A short search first: its solution is the limit under which the exact search is quick. */
static const clv_anneal_rounds FIRST = { .rounds = 1, .share = 0.25 };

/* Then both in turn: steps of the exact search, and rounds of annealing after it. What is small is
 * searched through in between. */
static const struct {
    int64_t work;
    int32_t rounds;
} PHASES[] = { { 12000000, 3 }, { 30000000, 9 }, { 100000000, 0 } };
#define N_PHASES (sizeof PHASES / sizeof *PHASES)

clv_status clv_latency_solve(clv_place_search *search, clv_arena *arena, clv_error *err)
{
    clv_latency_tables *tables;
    clv_chain_division *chain;
    CLV_TRY(
        clv_latency_tables_new(search->p, search->options->rules.contiguous, arena, &tables, err));
    CLV_TRY(clv_latency_greedy(search, tables, arena, err));
    CLV_TRY(clv_component_division_solve(search, arena, err));
    CLV_TRY(clv_latency_anneal(search, tables, &FIRST, arena, err));
    CLV_TRY(clv_enumerate_assignments(search, tables, CLV_ENUMERATE_FEW, arena, err));
    CLV_TRY(clv_chain_bounds(search, tables, arena, &chain, err));
    if (chain && !clv_place_over(search))
        CLV_TRY(clv_chain_start(search, chain, arena, err));
    size_t n_phases = search->options->brief ? 1 : N_PHASES;
    for (size_t i = 0; i < n_phases && !clv_place_over(search); i++) {
        int32_t *start = NULL;
        if (chain)
            CLV_TRY(clv_iterative_deepening(search, chain, PHASES[i].work, arena, &start, err));
        if (i == 0)
            CLV_TRY(clv_enumerate_assignments(search, tables, CLV_ENUMERATE_ALL, arena, err));
        if (start)
            CLV_TRY(clv_latency_anneal(search, tables, &(clv_anneal_rounds){ start, 1, 1 }, arena,
                                       err));
        CLV_TRY(clv_latency_anneal(search, tables,
                                   &(clv_anneal_rounds){ NULL, PHASES[i].rounds, 1 }, arena, err));
    }
    if (search->options->brief)
        return CLV_OK;
    return clv_enumerate_assignments(search, tables, CLV_ENUMERATE_LAST, arena, err);
}
