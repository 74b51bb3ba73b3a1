/* mip_search.c - between a run and its integer programs. */
#include "solver/placement/mip/mip_search.h"

#include <math.h>

#include "solver/common/ilp/ilp_solve.h"
#include "solver/placement/mip/lns.h"
#include "solver/placement/mip/mip_formulation.h"

/* The largest program whose relaxation is solved, and the pivots that it may take: a second or so
 * in all. */
#define RELAX_TERMS  INT64_C(60000)
#define RELAX_PIVOTS INT64_C(20000)
/* Numbers of the program are ticks in parts of the best solution, each rounded once or twice; loads
 * are sums of positive ones. This is far more than can come of that. */
#define ROUNDED_PART 1e-9

typedef struct {
    clv_place_search *search;
    const clv_contraction *b;
} relay;

static bool is_over(void *ctx) { return clv_place_over(((relay *)ctx)->search); }

static double seconds_left(void *ctx)
{
    const clv_place_search *search = ((relay *)ctx)->search;
    double deadline = clv_place_time_s(search), left = deadline - clv_place_seconds(search);
    if (deadline <= 0)
        return 0;
    return left > 1e-3 ? left : 1e-3;
}

static clv_status offer(void *ctx, const int32_t *device_of, clv_error *err)
{
    relay *r = ctx;
    return clv_place_offer_groups(r->search, "windows", r->b->block_of, device_of, err);
}

clv_status clv_mip_improve(clv_place_search *search, const clv_contraction *b, clv_arena *arena,
                           clv_error *err)
{
    const clv_place_rules *rules = &search->options->rules;
    const int32_t *solution = clv_place_best_solution(search);
    relay r = { search, b };
    int32_t *device_of = CLV_NEW_ARRAY(arena, int32_t, b->n);
    clv_lns_options options = {
        .rules = rules, .stop = is_over, .left = seconds_left, .better = offer, .ctx = &r
    };
    clv_lns_work work;
    if (!device_of)
        return clv_fail_nomem(err, "windows of a placement");
    if (!solution || rules->objective != CLV_PLACE_THROUGHPUT)
        return CLV_OK;
    for (int32_t v = 0; v < b->p->n_nodes; v++)
        device_of[b->block_of[v]] = solution[v];
    return clv_lns_improve(b, &options, device_of, arena, &work, err);
}

clv_status clv_mip_relaxation_bound(const clv_contraction *b, const clv_place_rules *rules,
                                    const clv_mip_relaxation *options, clv_arena *arena,
                                    int64_t *ret, clv_error *err)
{
    int64_t most = options->most_ticks;
    clv_ilp ilp;
    clv_ilp_result result;
    *ret = 0;
    if (most <= 0 || rules->objective != CLV_PLACE_THROUGHPUT || !clv_ilp_solver())
        return CLV_OK;
    CLV_TRY(clv_mip_formulate(b, rules, (clv_mip_scale){ 1 / (double)most, 1 }, arena, &ilp, err));
    CLV_TRY(clv_ilp_relax(&ilp, &options->limits, arena, &result, err));
    double ticks = floor((result.bound - ROUNDED_PART) * (double)most);
    if (ticks > 0)
        *ret = ticks < (double)most ? (int64_t)ticks : most;
    return CLV_OK;
}

clv_status clv_mip_raise_bound(clv_place_search *search, const clv_contraction *b, clv_arena *arena,
                               clv_error *err)
{
    const clv_place_rules *rules = &search->options->rules;
    relay r = { .search = search };
    clv_mip_relaxation options = { .limits = { .pivots = RELAX_PIVOTS,
                                               .seconds = seconds_left(&r),
                                               .stop = is_over,
                                               .stop_ctx = &r } };
    int64_t ticks;
    if (!clv_place_best_solution(search) || clv_mip_count_terms(b, rules) > RELAX_TERMS)
        return CLV_OK;
    clv_mark mark = clv_arena_mark(arena);
    options.most_ticks = clv_contraction_to_ticks(b, clv_place_best(search));
    CLV_TRY(clv_mip_relaxation_bound(b, rules, &options, arena, &ticks, err));
    clv_arena_rewind(arena, mark);
    clv_place_raise(search, "relaxation", clv_contraction_from_ticks(b, ticks));
    return CLV_OK;
}
