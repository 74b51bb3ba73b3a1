/* pricing.c - the column worth most comes from a split of all blocks in two. */
#include "solver/placement/noncontiguous/pricing.h"

#include <math.h>
#include <string.h>

/* All prices together in whole numbers. */
#define PRICES_SUM 1e12
/* Columns kept; then those that no mix uses go, but for the newest. */
#define COLUMNS_MAX 4000
#define COLUMNS_NEW (COLUMNS_MAX / 4)
/* Steps along the hull of loads and prices; any number is right, some 10 are enough. */
#define HULL_STEPS 40

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "a proof"); }

void clv_pricing_reset_costs(clv_column_gen *f)
{
    const clv_contraction *b = f->b;
    for (int32_t k = 0; k < b->n_kinds; k++) {
        const clv_place_kind *kind = &b->p->kinds[k];
        f->devices[k] = kind->count < b->n ? kind->count : b->n;
        for (int32_t i = 0; i < b->n; i++) {
            int64_t t = clv_block_time(b, k, i);
            bool never = t == CLV_BLOCK_NEVER ||
                         (kind->capacity_bytes >= 0 && b->bytes[i] > kind->capacity_bytes);
            f->cost[(size_t)k * (size_t)b->n + (size_t)i] = never ? CLV_PARETO_NEVER : t;
        }
    }
}

int64_t clv_pricing_least_time(const clv_column_gen *f, int32_t block)
{
    int64_t least = INT64_MAX;
    for (int32_t k = 0; k < f->b->n_kinds; k++) {
        int64_t t = clv_pricing_cost(f, k, block);
        if (f->devices[k] > 0 && t != CLV_PARETO_NEVER && t < least)
            least = t;
    }
    return least == INT64_MAX ? 0 : least;
}

/* -- columns in the master LP -- */

/* Load of the blocks in list on a device of the kind. O(their pins). */
static int64_t load_ticks_of(clv_column_gen *f, int32_t kind, int32_t n)
{
    const clv_contraction *b = f->b;
    int64_t load = 0;
    for (int32_t i = 0; i < n; i++) {
        load += clv_block_time(b, kind, f->list[i]);
        for (int32_t a = b->at_first[f->list[i]]; a < b->at_first[f->list[i] + 1]; a++)
            f->count[b->at[a]]++;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t a = b->at_first[f->list[i]]; a < b->at_first[f->list[i] + 1]; a++) {
            int32_t e = b->at[a];
            if (f->count[e] > 0 && f->count[e] < b->net_first[e + 1] - b->net_first[e])
                load += b->p->kinds[kind].pays ? b->net_cost[e] : 0;
            f->count[e] = 0;
        }
    }
    return load;
}

/* What the column has of each row group are its coefficients. */
static clv_status add_to_master(clv_column_gen *f, int32_t s, clv_error *err)
{
    if (!CLV_PUSH_ROOM(f->arena, f->in_master, f->n_in_master, f->cap_in_master) ||
        !CLV_PUSH_ROOM(f->arena, f->share, f->n_in_master, f->cap_share))
        return nomem(err);
    f->in_master[f->n_in_master++] = s;
    f->heavy = f->heavy || f->columns[s].load_ticks > f->limit_ticks;
    int32_t n = 0;
    for (int32_t i = f->columns[s].first; i < f->columns[s].first + f->columns[s].n; i++) {
        int32_t g = f->groups.of[f->members[i]];
        if (f->part[g] == 0)
            f->rows[n++] = g;
        f->part[g] += f->groups.part[f->members[i]];
    }
    for (int32_t i = 0; i < n; i++) {
        f->ratio[i] = f->part[f->rows[i]];
        f->part[f->rows[i]] = 0;
    }
    return clv_master_lp_add(f->master, f->columns[s].kind, f->rows, f->ratio, n, err);
}

/* The blocks on side 0 become a column. */
static clv_status add_column(clv_column_gen *f, int32_t kind, clv_error *err)
{
    clv_column s = { .kind = kind, .first = f->n_members };
    for (int32_t i = 0; i < f->b->n; i++)
        if (f->side[i] == 0)
            f->list[s.n++] = f->order[i];
    s.load_ticks = load_ticks_of(f, kind, s.n);
    for (int32_t i = 0; i < s.n; i++) {
        if (!CLV_PUSH_ROOM(f->arena, f->members, f->n_members, f->cap_members))
            return nomem(err);
        f->members[f->n_members++] = f->list[i];
    }
    if (!CLV_PUSH_ROOM(f->arena, f->columns, f->n_columns, f->cap_columns))
        return nomem(err);
    f->columns[f->n_columns++] = s;
    f->over_ticks = s.load_ticks - f->limit_ticks > f->over_ticks ? s.load_ticks - f->limit_ticks
                                                                  : f->over_ticks;
    return add_to_master(f, f->n_columns - 1, err);
}

clv_status clv_pricing_rebuild_master(clv_column_gen *f, int64_t limit_ticks, clv_error *err)
{
    memset(f->penalty, 0, (size_t)f->groups.n * sizeof *f->penalty);
    for (int32_t i = 0; i < f->b->n; i++)
        f->penalty[f->groups.of[i]] += f->fine[i];
    CLV_TRY(clv_master_lp_clear(f->master, f->groups.n, f->penalty, err));
    f->n_in_master = 0;
    f->heavy = false;
    f->limit_ticks = limit_ticks;
    for (int32_t s = 0; s < f->n_columns; s++)
        if (f->columns[s].load_ticks <= limit_ticks)
            CLV_TRY(add_to_master(f, s, err));
    return CLV_OK;
}

clv_status clv_pricing_drop_columns(clv_column_gen *f, int64_t limit_ticks, clv_error *err)
{
    int32_t n = 0, n_members = 0;
    if (f->n_in_master < COLUMNS_MAX)
        return CLV_OK;
    clv_master_lp_values(f->master, f->share);
    for (int32_t i = 0; i < f->n_in_master; i++) {
        clv_column s = f->columns[f->in_master[i]];
        if (f->share[i] <= 0 && i < f->n_in_master - COLUMNS_NEW)
            continue;
        memmove(f->members + n_members, f->members + s.first, (size_t)s.n * sizeof *f->members);
        s.first = n_members;
        n_members += s.n;
        f->columns[n++] = s;
    }
    f->n_columns = n;
    f->n_members = n_members;
    return clv_pricing_rebuild_master(f, limit_ticks, err);
}

/* -- the column worth most -- */

void clv_pricing_set_prices(clv_column_gen *f, const double *price)
{
    double sum = 0;
    f->price_sum = 0;
    for (int32_t i = 0; i < f->b->n; i++)
        sum += fabs(price[i]);
    for (int32_t i = 0; i < f->b->n; i++) {
        f->price[i] = sum > 0 ? (int64_t)(price[i] / sum * PRICES_SUM) : 0;
        f->price_sum += f->price[i];
    }
}

/* The most that a known column is worth to a device of the kind, where it may hold all of it. */
static int64_t best_known_value(const clv_column_gen *f, int32_t kind, int64_t limit_ticks)
{
    int64_t best = 0;
    for (int32_t s = 0; s < f->n_columns; s++) {
        int64_t worth = 0;
        if (f->columns[s].kind != kind || f->columns[s].load_ticks > limit_ticks)
            continue;
        for (int32_t i = f->columns[s].first; i < f->columns[s].first + f->columns[s].n; i++)
            worth += clv_pricing_cost(f, kind, f->members[i]) == CLV_PARETO_NEVER
                         ? INT64_MIN / f->b->n / 2
                         : f->price[f->members[i]];
        best = worth > best ? worth : best;
    }
    return best;
}

/* The weight of load against price at which the least sum of both says most about columns within T:
 * of the lower hull of (load, price left), the edge across T. O(states) for each step, some 10. */
static clv_status solve_lagrangian(clv_column_gen *f, clv_pareto_query *ask, int64_t limit_ticks,
                                   clv_error *err)
{
    clv_pareto_pair heavy, light = { { 0, f->price_sum } }, p;
    ask->weight[0] = 0;
    ask->weight[1] = 1;
    CLV_TRY(clv_pareto_dp_least(f->dp, ask, &heavy, err));
    if (heavy.total[0] <= limit_ticks) {
        ask->weighted = (double)heavy.total[1];
        return CLV_OK;
    }
    for (int32_t i = 0; i < HULL_STEPS; i++) {
        double w =
            (double)(light.total[1] - heavy.total[1]) / (double)(heavy.total[0] - light.total[0]);
        double edge = w * (double)heavy.total[0] + (double)heavy.total[1];
        ask->weight[0] = w;
        CLV_TRY(clv_pareto_dp_least(f->dp, ask, &p, err));
        if (w * (double)p.total[0] + (double)p.total[1] >= edge - CLV_ROUNDING_PART * fabs(edge))
            break;
        if (p.total[0] <= limit_ticks)
            light = p;
        else
            heavy = p;
    }
    ask->weighted = (double)light.total[1] + ask->weight[0] * (double)limit_ticks;
    return CLV_OK;
}

clv_status clv_pricing_solve(clv_column_gen *f, int32_t kind, int64_t limit_ticks,
                             int64_t *ret_most, clv_error *err)
{
    const clv_pareto_pair *pairs;
    bool pays = f->b->p->kinds[kind].pays;
    clv_pareto_query ask = { .cost = { f->cost + (size_t)kind * (size_t)f->b->n, f->price },
                             .pays = { pays, false },
                             .limit = { limit_ticks, INT64_MAX },
                             .relaxed = true,
                             .width = f->width };
    clv_pareto_dp_use(f->dp, pays ? f->with_nets : f->without);
    CLV_TRY(solve_lagrangian(f, &ask, limit_ticks, err));
    double known = (double)(f->price_sum - best_known_value(f, kind, limit_ticks)) +
                   ask.weight[0] * (double)limit_ticks;
    ask.weighted = known < ask.weighted ? known : ask.weighted;
    CLV_TRY(clv_pareto_dp_run(f->dp, &ask, f->search, err));
    int32_t n = clv_pareto_dp_pairs(f->dp, &pairs);
    *ret_most = f->price_sum;
    f->worth = 0;
    if (!clv_pareto_dp_done(f->dp) || n == 0)
        return CLV_OK;
    *ret_most = f->price_sum - pairs[n - 1].total[1];
    f->worth = ask.weight[0];
    clv_pareto_dp_sides(f->dp, n - 1, f->side);
    return add_column(f, kind, err);
}
