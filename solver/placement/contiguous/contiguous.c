#include "solver/placement/contiguous/contiguous.h"

#include <math.h>

#include "solver/placement/common/contraction_reverse.h"
#include "solver/placement/contiguous/contiguous_anneal.h"
#include "solver/placement/contiguous/ideal_search.h"
#include "solver/placement/contiguous/order_dp.h"
#include "solver/placement/noncontiguous/cutwidth_order.h"
#include "solver/placement/noncontiguous/prove.h"

/* Blocks added to stages, some 50 ns each: for the exact search both ways, from the first tries on
 * by so many times as many; and for the first line. */
#define STEPS_QUICK INT64_C(100000)
#define STEPS_FIRST INT64_C(1600000)
#define STEPS_TIMES 4
#define STEPS_LINES INT64_C(100000000)
/* Where that is not enough: turns, each with so many times the work of the one before. In the first
 * for annealing (contiguous_anneal.h), 0.6 s; for lines, 0.3 s; for proofs by prices
 * (column_generation.h), 0.5 s; and for the exact search each way, 0.5 s. Annealing gains most in
 * the first rounds, so its work grows less. Proofs end when they raised nothing in so many turns.
 */
#define TURNS        4
#define TURN_TIMES   3
#define ANNEAL_TIMES 2
#define ANNEAL_FIRST INT64_C(100000000)
#define LINES_FIRST  INT64_C(5000000)
#define PROOF_FIRST  INT64_C(100000000)
#define STEPS_LAST   INT64_C(10000000)
#define VAIN_MAX     2
/* More blocks are not searched over ideals: rows of who comes behind whom take 32 MiB each way.
 * They are annealed only, for 15 s. */
#define BLOCKS_MAX   16384
#define ANNEAL_LARGE INT64_C(2000000000)

/* Part of the way from the bound to the best solution at which the first limit is tried, and how
 * many times that the next one is: at once the best solution itself, and where that is too much
 * work, in steps that bring some bound. */
#define FIRST_PART 32
#define QUICK_STEP 32
#define SMALL_STEP 1.5
/* Of the bound: limits that are no further above it are searched for the best solution, others for
 * any solution. */
#define WIDE_PART (1.0 / 32)
/* Times the bound at which the first line is tried, before any load is allowed. */
static const double limit_factors[] = { 1.02, 1.1, 1.5, 4, INFINITY };
#define N_LIMIT_FACTORS (sizeof limit_factors / sizeof *limit_factors)

static void raise(const clv_ideal_search *s, int64_t ticks)
{
    clv_place_raise(s->search, s->name, clv_contraction_from_ticks(s->stage.b, ticks));
}

/* The largest load of the best solution so far, in ticks. O(kinds * n + devices + pins). */
static clv_status load_of_best(const clv_ideal_search *s, clv_arena *arena, int64_t *ret,
                               clv_error *err)
{
    const clv_contraction *b = s->stage.b;
    const int32_t *solution = clv_place_best_solution(s->search);
    int32_t n_devices = clv_place_devices(b->p),
            *kind_of = CLV_NEW_ARRAY(arena, int32_t, n_devices),
            *device_of = CLV_NEW_ARRAY(arena, int32_t, b->n),
            *stamp = CLV_NEW_ARRAY(arena, int32_t, n_devices);
    int64_t *load = CLV_NEW_ARRAY(arena, int64_t, n_devices);
    if (!kind_of || !device_of || !stamp || !load)
        return clv_fail_nomem(err, "the loads of a solution");
    clv_place_kinds(b->p, kind_of);
    for (int32_t v = 0; v < b->p->n_nodes; v++)
        device_of[b->block_of[v]] = solution[v];
    clv_contraction_loads(b, kind_of, device_of, stamp, load);
    *ret = 0;
    for (int32_t d = 0; d < n_devices; d++)
        *ret = load[d] > *ret ? load[d] : *ret;
    return CLV_OK;
}

/* In ticks, the largest load worth having: below the best solution. */
static clv_status top_limit(const clv_ideal_search *s, clv_arena *arena, int64_t *ret,
                            clv_error *err)
{
    double best = clv_place_best(s->search);
    *ret = CLV_TICKS_MAX;
    if (isinf(best))
        return CLV_OK;
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(load_of_best(s, arena, ret, err));
    clv_arena_rewind(arena, mark);
    int64_t ticks = clv_contraction_to_ticks(s->stage.b, best);
    *ret = (ticks < *ret ? ticks : *ret) - 1;
    return CLV_OK;
}

/* Limits that rise from the bound to the best solution. One that fails raises the bound; a solution
 * brings the top down, and then the middle is next. */
static clv_status narrow_limits(clv_ideal_search *s, double step, clv_arena *arena, clv_error *err)
{
    int64_t high, top, load = 0;
    double part = 1.0 / FIRST_PART;
    clv_ideal_search_outcome o;
    CLV_TRY(top_limit(s, arena, &high, err));
    while (s->stage.low <= high) {
        int64_t low = s->stage.low;
        int64_t limit = part < 1 ? low + (int64_t)((double)(high - low) * part) : high;
        s->any = (double)(limit - low) > WIDE_PART * (double)low;
        if (part >= 1 && s->dominating.n_chains == 0)
            CLV_TRY(clv_ideal_search_find_dominating(s, arena, err));
        CLV_TRY(clv_ideal_search_run(s, limit, &o, &load, err));
        if (o == CLV_IDEALS_UNDECIDED)
            return CLV_OK;
        if (o == CLV_IDEALS_FOUND && !s->any) {
            raise(s, load);
            return CLV_OK;
        }
        if (o == CLV_IDEALS_FOUND) {
            CLV_TRY(top_limit(s, arena, &top, err));
            high = load - 1 < top ? load - 1 : top;
            part = 0.5;
            continue;
        }
        s->stage.low = limit + 1;
        raise(s, limit + 1);
        part *= step;
    }
    if (s->stage.low > CLV_TICKS_MAX)
        clv_place_raise(s->search, s->name, INFINITY); /* not with any load */
    return CLV_OK;
}

/* Fewest devices: one limit, which is given, and all loads up to it are alike. */
static clv_status count_devices(clv_ideal_search *line, clv_ideal_search *s, int64_t limit,
                                clv_arena *arena, clv_error *err)
{
    clv_ideal_search_outcome o;
    int64_t load;
    line->count_only = s->count_only = true;
    line->stage.low = s->stage.low = limit;
    CLV_TRY(clv_ideal_search_run(line, limit, &o, &load, err));
    if (clv_place_over(s->search))
        return CLV_OK;
    CLV_TRY(clv_ideal_search_find_dominating(s, arena, err));
    CLV_TRY(clv_ideal_search_run(s, limit, &o, &load, err));
    if (o != CLV_IDEALS_UNDECIDED)
        clv_place_raise(s->search, s->name,
                        clv_place_best(s->search)); /* INFINITY without a solution */
    return CLV_OK;
}

/* Both ways round, one after the other, each with so many steps. What one has proven, the other
 * knows. */
static clv_status narrow_both_ways(clv_ideal_search *ways, double step, int64_t steps,
                                   clv_arena *arena, clv_error *err)
{
    for (int i = 0; i < 2 && !clv_place_over(ways[0].search); i++) {
        ways[i].steps = steps;
        ways[i].stage.low =
            ways[0].stage.low > ways[1].stage.low ? ways[0].stage.low : ways[1].stage.low;
        CLV_TRY(narrow_limits(&ways[i], step, arena, err));
    }
    return CLV_OK;
}

/* -- what has too many ideals -- */

/* The bounds of free placements hold here, too. *vain: turns in which they raised nothing. */
static clv_status prove(clv_place_search *search, const clv_contraction *b, clv_column_gen *bound,
                        int64_t work, int32_t *vain, clv_error *err)
{
    bool all;
    double before = clv_place_bound(search);
    if (!bound || !clv_place_best_solution(search) || *vain == VAIN_MAX)
        return CLV_OK;
    CLV_TRY(clv_noncontiguous_prove(bound, b, search, work, &all, err));
    *vain = clv_place_bound(search) > before ? 0 : *vain + 1;
    return CLV_OK;
}

/* Better solutions, and bounds of any kind, with more and more work. */
static clv_status alternate_methods(clv_place_search *search, const clv_contraction *b,
                                    clv_ideal_search *ways, clv_arena *arena, clv_error *err)
{
    clv_contiguous_anneal *wide;  /* NULL: there are too many blocks for it */
    clv_column_gen *bound = NULL; /* the same */
    int32_t vain = 0, *order = CLV_NEW_ARRAY(arena, int32_t, b->n);
    int64_t times = 1, anneal = ANNEAL_FIRST;
    if (clv_place_over(search))
        return CLV_OK;
    if (!order)
        return clv_fail_nomem(err, "an order of blocks");
    CLV_TRY(clv_contiguous_anneal_new(b, search->options->solve.seed, arena, &wide, err));
    for (int32_t i = 0; i < TURNS && !clv_place_over(search); i++) {
        if (wide)
            CLV_TRY(clv_contiguous_anneal_run(wide, search, anneal, err));
        CLV_TRY(
            clv_order_dp_improve(search, b, ways[1].stage.low, times * LINES_FIRST, arena, err));
        if (i == 0 && !clv_place_over(search)) {
            CLV_TRY(clv_cutwidth_order(b, arena, order, err));
            CLV_TRY(clv_noncontiguous_prove_new(search, b, order, arena, &bound, err));
        }
        CLV_TRY(prove(search, b, bound, times * PROOF_FIRST, &vain, err));
        CLV_TRY(narrow_both_ways(ways, SMALL_STEP, times * STEPS_LAST, arena, err));
        times *= TURN_TIMES;
        anneal *= ANNEAL_TIMES;
    }
    return CLV_OK;
}

clv_status clv_contiguous_solve(clv_place_search *search, const clv_contraction *b,
                                clv_arena *arena, clv_error *err)
{
    const clv_place_rules *rules = &search->options->rules;
    clv_ideal_search ways[2], line;
    clv_contraction reverse;
    CLV_TRY(clv_greedy_fill(search, b, arena, err));
    if (clv_place_over(search))
        return CLV_OK;
    if (b->n > BLOCKS_MAX) {
        clv_contiguous_anneal *wide;
        if (rules->objective == CLV_PLACE_DEVICES)
            return CLV_OK;
        CLV_TRY(clv_contiguous_anneal_new(b, search->options->solve.seed, arena, &wide, err));
        return wide ? clv_contiguous_anneal_run(wide, search, ANNEAL_LARGE, err) : CLV_OK;
    }
    CLV_TRY(clv_ideal_search_new(search, b,
                                 &(clv_ideal_search_options){ "order ideals", false, STEPS_LAST },
                                 arena, &ways[0], err));
    CLV_TRY(clv_ideal_search_new(search, b,
                                 &(clv_ideal_search_options){ "one line", true, STEPS_LINES },
                                 arena, &line, err));
    if (rules->objective == CLV_PLACE_DEVICES)
        return count_devices(&line, &ways[0],
                             rules->max_load > 0 ? clv_contraction_to_ticks(b, rules->max_load)
                                                 : CLV_TICKS_MAX,
                             arena, err);
    CLV_TRY(clv_contraction_reverse(b, arena, &reverse, err));
    CLV_TRY(clv_ideal_search_new(
        search, &reverse,
        &(clv_ideal_search_options){ "order ideals, reversed", false, STEPS_LAST }, arena, &ways[1],
        err));
    line.stage.low = clv_fluid_bound_least_limit(&line.share);
    ways[0].stage.low = ways[1].stage.low = line.stage.low;
    clv_ideal_search_outcome o = CLV_IDEALS_INFEASIBLE;
    for (size_t i = 0; i < N_LIMIT_FACTORS && o == CLV_IDEALS_INFEASIBLE; i++) {
        double limit = (double)line.stage.low * limit_factors[i];
        int64_t load, ticks = limit < (double)CLV_TICKS_MAX ? (int64_t)limit : CLV_TICKS_MAX;
        CLV_TRY(clv_ideal_search_run(&line, ticks, &o, &load, err));
    }
    /* with more and more steps, for what is quick one way may be slow the other way */
    for (int64_t steps = STEPS_QUICK; steps <= STEPS_FIRST; steps *= STEPS_TIMES)
        CLV_TRY(narrow_both_ways(ways, QUICK_STEP, steps, arena, err));
    return alternate_methods(search, b, ways, arena, err);
}
