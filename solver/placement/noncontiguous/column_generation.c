/* column_generation.c - prices from the master LP, columns to them, until a bound or a cover.
 */
#include "solver/placement/noncontiguous/column_generation.h"

#include <math.h>
#include <string.h>

#include "solver/placement/noncontiguous/pricing.h"

/* Labels kept for a state, from the first try to the last: more when columns that are too heavy,
 * which pairs made one pretend to be light enough, stand in the way of a proof. */
#define WIDTH_FIRST 200
#define WIDTH_LAST  6400
#define WIDTH_RISE  4
/* How much of the best prices so far is in the next. */
#define SMOOTH 0.7
/* Every so many rounds the prices of the linear program are tried as they are, too. */
#define PLAIN_EVERY 3
/* Penalties: this much times the time of a block and a part of the mean; and its nets. */
#define PENALTY_TIME 2.0
#define PENALTY_MEAN 0.02
/* Penalties that are only what right sides were shifted by, as a part of all. */
#define COVERED_PART 2e-4
/* Row groups at first. */
#define GROUPS_FIRST 12
/* With more they are not split: at most twice as many rows, whose inverse takes 8 bytes by their
 * square, three times. */
#define GROUPS_MAX 2000
/* How far a column may be above T, against what devices hold beyond all: both as parts. */
#define OVER_PART 0.5
/* How far below what was asked a bound is tried, against where it should just hold; only when what
 * is missing is so much less than the last time, and when the bound would rise by this part. */
#define LESS_STEPS 1.1
#define LESS_AGAIN 0.8
#define RISE_PART  1e-3

static const char NAME[] = "sets of blocks";

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "a proof"); }

/* -- making it -- */

/* First prices are times, so that the first try is the bound by work. */
static void init_prices(clv_column_gen *f)
{
    const clv_contraction *b = f->b;
    double mean = 1, all = 0; /* a tick: so that no penalty is 0 */
    for (int32_t i = 0; i < b->n; i++)
        mean += (double)clv_pricing_least_time(f, i) / b->n;
    for (int32_t i = 0; i < b->n; i++) {
        f->best[i] = (double)clv_pricing_least_time(f, i) + mean * PENALTY_MEAN * PENALTY_MEAN;
        f->fine[i] = PENALTY_TIME * ((double)clv_pricing_least_time(f, i) + PENALTY_MEAN * mean);
        for (int32_t a = b->at_first[i]; a < b->at_first[i + 1]; a++)
            f->fine[i] += (double)b->net_cost[b->at[a]];
        all += f->fine[i] / b->n;
    }
    for (int32_t i = 0; i < b->n; i++) {
        f->best[i] /= all;
        f->fine[i] /= all;
        f->weight[i] = f->best[i];
    }
    f->best_part = (double)INFINITY;
}

static bool alloc_arrays(clv_column_gen *f)
{
    size_t n = (size_t)f->b->n, kinds = (size_t)f->b->n_kinds;
    double **by_block[] = { &f->weight, &f->penalty, &f->part, &f->ratio,
                            &f->fine,   &f->covered, &f->best, &f->now };
    for (size_t i = 0; i < sizeof by_block / sizeof *by_block; i++)
        if (!(*by_block[i] = CLV_NEW_ARRAY(f->arena, double, n)))
            return false;
    f->rows = CLV_NEW_ARRAY(f->arena, int32_t, n);
    f->devices = CLV_NEW_ARRAY(f->arena, int32_t, kinds);
    f->cost = CLV_NEW_ARRAY(f->arena, int64_t, kinds * n);
    f->price = CLV_NEW_ARRAY(f->arena, int64_t, n);
    f->side = CLV_NEW_ARRAY(f->arena, uint8_t, n);
    f->list = CLV_NEW_ARRAY(f->arena, int32_t, n);
    f->count = CLV_NEW_ARRAY(f->arena, int32_t, f->b->n_nets);
    return f->rows && f->devices && f->cost && f->price && f->side && f->list && f->count;
}

clv_status clv_column_gen_new(clv_place_search *search, const clv_contraction *b,
                              const int32_t *order, clv_arena *arena, clv_column_gen **ret,
                              clv_error *err)
{
    clv_column_gen *f = CLV_NEW(arena, clv_column_gen);
    if (!f)
        return nomem(err);
    *f = (clv_column_gen){
        .b = b, .order = order, .search = search, .arena = arena, .width = WIDTH_FIRST
    };
    if (!alloc_arrays(f))
        return nomem(err);
    clv_pricing_reset_costs(f);
    init_prices(f);
    f->groups = (clv_row_groups){ .n_blocks = b->n, .order = order, .weight = f->weight };
    CLV_TRY(clv_row_groups_init(&f->groups, GROUPS_FIRST, arena, err));
    CLV_TRY(clv_master_lp_new(b->n_kinds, f->devices, arena, &f->master, err));
    CLV_TRY(clv_pareto_dp_new(b, arena, &f->dp, err));
    clv_diagram_builder *builder;
    CLV_TRY(clv_diagram_builder_new(b, arena, &builder, err));
    CLV_TRY(clv_diagram_build(builder, order, b->n, true, &f->with_nets, err));
    CLV_TRY(clv_diagram_builder_new(b, arena, &builder, err));
    CLV_TRY(clv_diagram_build(builder, order, b->n, false, &f->without, err));
    *ret = f;
    return CLV_OK;
}

/* -- prices -- */

/* Tries prices: a proof, or columns that join. *part: by how much devices hold more than all
 * blocks, as a part of all. */
static clv_status try_prices(clv_column_gen *f, const double *price, int64_t limit_ticks,
                             bool *proven, double *part, clv_error *err)
{
    int64_t held = 0;
    clv_pricing_set_prices(f, price);
    int64_t all = f->price_sum;
    *proven = false;
    *part = (double)INFINITY;
    f->slope = 0;
    for (int32_t k = 0; k < f->b->n_kinds; k++) {
        int64_t most;
        if (f->devices[k] == 0)
            continue;
        CLV_TRY(clv_pricing_solve(f, k, limit_ticks, &most, err));
        if (!clv_pareto_dp_done(f->dp))
            return CLV_OK;
        held += f->devices[k] * most;
        f->slope += all > 0 ? f->devices[k] * f->worth / (double)all : 0;
    }
    *proven = held < all;
    *part = all > 0 ? (double)(held - all) / (double)all : (double)INFINITY;
    return CLV_OK;
}

/* Prices with so much of the best in them, and the rest from the linear program. */
static void smooth_prices(clv_column_gen *f, double of_best)
{
    const double *plain = clv_master_lp_duals(f->master);
    for (int32_t i = 0; i < f->b->n; i++)
        f->now[i] =
            of_best * f->best[i] + (1 - of_best) * f->groups.part[i] * plain[f->groups.of[i]];
}

/* Tries the prices in now, and keeps them where they are the best so far. */
static clv_status try_current_prices(clv_column_gen *f, int64_t limit_ticks, bool *proven,
                                     clv_error *err)
{
    double part;
    f->over_ticks = 0;
    CLV_TRY(try_prices(f, f->now, limit_ticks, proven, &part, err));
    if (part >= f->best_part)
        return CLV_OK;
    f->best_part = part;
    f->best_slope = f->slope;
    f->best_over = limit_ticks > 0 ? (double)f->over_ticks / (double)limit_ticks : 0;
    memcpy(f->best, f->now, (size_t)f->b->n * sizeof *f->best);
    return CLV_OK;
}

/* One round: smoothed prices, and now and then those of the linear program. */
static clv_status try_round(clv_column_gen *f, int64_t limit_ticks, int32_t round, bool *proven,
                            clv_error *err)
{
    if (round == 0)
        memcpy(f->now, f->best, (size_t)f->b->n * sizeof *f->now);
    else
        smooth_prices(f, SMOOTH);
    CLV_TRY(try_current_prices(f, limit_ticks, proven, err));
    if (*proven || round % PLAIN_EVERY != 0)
        return CLV_OK;
    smooth_prices(f, 0);
    return try_current_prices(f, limit_ticks, proven, err);
}

static int64_t work_done(const clv_column_gen *f)
{
    return clv_pareto_dp_work(f->dp) + clv_master_lp_work(f->master);
}

/* The mix covers all row groups: some are split, or else columns become more exact; *refined is
 * false where neither is possible. */
static clv_status refine_rows(clv_column_gen *f, int64_t limit_ticks, bool *refined, clv_error *err)
{
    memset(f->covered, 0, (size_t)f->b->n * sizeof *f->covered);
    clv_master_lp_values(f->master, f->share);
    for (int32_t i = 0; i < f->n_in_master; i++) {
        const clv_column *s = &f->columns[f->in_master[i]];
        for (int32_t m = s->first; m < s->first + s->n && f->share[i] > 0; m++)
            f->covered[f->members[m]] += f->share[i];
    }
    *refined = f->groups.n <= GROUPS_MAX && clv_row_groups_split(&f->groups, f->covered);
    if (!*refined && f->heavy && f->width < WIDTH_LAST) {
        f->width *= WIDTH_RISE;
        *refined = true;
    }
    if (!*refined)
        return CLV_OK;
    CLV_TRY(clv_pricing_drop_columns(f, limit_ticks, err));
    CLV_TRY(clv_pricing_rebuild_master(f, limit_ticks, err));
    clv_master_lp_solve(f->master);
    return CLV_OK;
}

/* The best prices do not refute T, but they may refute a smaller one that is above the bound. */
static clv_status refute_smaller(clv_column_gen *f, int64_t limit_ticks, clv_error *err)
{
    double part;
    bool proven;
    double step =
        f->best_slope > 0 ? LESS_STEPS * f->best_part / f->best_slope : (double)limit_ticks;
    int64_t less = step < (double)limit_ticks ? limit_ticks - (int64_t)step : 0;
    if (f->best_part > LESS_AGAIN * f->less_part ||
        clv_contraction_from_ticks(f->b, less) <= clv_place_bound(f->search) * (1 + RISE_PART))
        return CLV_OK;
    f->less_part = f->best_part;
    CLV_TRY(try_prices(f, f->best, less, &proven, &part, err));
    if (proven)
        clv_place_raise(f->search, NAME, clv_contraction_from_ticks(f->b, less + 1));
    return CLV_OK;
}

clv_status clv_column_gen_refute(clv_column_gen *f, int64_t limit_ticks, int64_t work,
                                 clv_refutation *ret, clv_error *err)
{
    int64_t end = work_done(f) + work;
    *ret = CLV_GAVE_UP;
    f->best_part = f->less_part = (double)INFINITY;
    f->best_over = 0;
    CLV_TRY(clv_pricing_rebuild_master(f, limit_ticks, err));
    clv_master_lp_solve(f->master);
    for (int32_t round = 0; work_done(f) < end && !clv_place_over(f->search); round++) {
        bool proven, refined = true;
        CLV_TRY(try_round(f, limit_ticks, round, &proven, err));
        if (proven) {
            clv_place_raise(f->search, NAME, clv_contraction_from_ticks(f->b, limit_ticks + 1));
            *ret = CLV_REFUTED;
            return CLV_OK;
        }
        CLV_TRY(refute_smaller(f, limit_ticks, err));
        /* More labels, where for want of them columns pretend to be lighter than they are, and that
         * is much of what stands in the way of a proof. */
        bool enough = f->best_over <= OVER_PART * f->best_part || f->width >= WIDTH_LAST;
        if (!enough) {
            f->best_over = 0;
            f->width *= 2;
            CLV_TRY(clv_pricing_rebuild_master(f, limit_ticks, err));
        }
        bool covered = clv_master_lp_solve(f->master) <= COVERED_PART * f->b->n;
        CLV_TRY(covered ? refine_rows(f, limit_ticks, &refined, err)
                        : clv_pricing_drop_columns(f, limit_ticks, err));
        if (!refined) {
            *ret = CLV_COVERED;
            return CLV_OK;
        }
    }
    return CLV_OK;
}
