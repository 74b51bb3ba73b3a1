/* simple_bounds.c - bounds by work and by the largest block. */
#include "solver/placement/noncontiguous/simple_bounds.h"

#include <math.h>
#include <string.h>

#include "solver/placement/noncontiguous/pricing.h"

/* Blocks of which the least load is looked for: those with most time; and the work for it, half a
 * second. */
#define LARGEST      32
#define LARGEST_WORK INT64_C(50000000)

static const char NAME_WORK[] = "work";

/* -- work -- */

/* With the times on one kind as prices: what devices of each kind can hold in a tick. */
static double work_bound(const clv_column_gen *f, int32_t kind)
{
    const clv_contraction *b = f->b;
    double all = 0, rate = 0;
    for (int32_t i = 0; i < b->n; i++) {
        int64_t t = clv_pricing_cost(f, kind, i);
        all += t == CLV_PARETO_NEVER ? 0 : (double)t;
    }
    for (int32_t k = 0; k < b->n_kinds; k++) {
        double most = 0;
        for (int32_t i = 0; i < b->n && f->devices[k] > 0; i++) {
            int64_t t = clv_pricing_cost(f, kind, i);
            int64_t u = clv_pricing_cost(f, k, i);
            if (t == CLV_PARETO_NEVER || t == 0 || u == CLV_PARETO_NEVER)
                continue;
            double r = u == 0 ? (double)INFINITY : (double)t / (double)u;
            most = r > most ? r : most;
        }
        rate += most * f->devices[k];
    }
    return rate > 0 ? all / rate : 0;
}

void clv_work_bound_raise(clv_column_gen *f)
{
    for (int32_t k = 0; k < f->b->n_kinds; k++)
        if (f->devices[k] > 0)
            clv_place_raise(f->search, NAME_WORK,
                            work_bound(f, k) * (1 - CLV_ROUNDING_PART) * f->b->tick);
}

/* -- the largest block -- */

/* The least load of a device of the kind that holds the block, whatever else it holds. */
static clv_status least_load_with_block(clv_column_gen *f, int32_t kind, int32_t block, double *ret,
                                        clv_error *err)
{
    bool pays = f->b->p->kinds[kind].pays;
    clv_pareto_query ask = { .cost = { f->cost + (size_t)kind * (size_t)f->b->n, f->price },
                             .pays = { pays, false },
                             .weight = { 1, 0 } };
    clv_pareto_pair pair;
    *ret = (double)INFINITY;
    if (clv_pricing_cost(f, kind, block) == CLV_PARETO_NEVER)
        return CLV_OK;
    if (!pays) {
        *ret = (double)clv_pricing_cost(f, kind, block);
        return CLV_OK;
    }
    f->price[block] = CLV_PARETO_NEVER; /* on the other side; those of others are 0 */
    clv_pareto_dp_use(f->dp, f->with_nets);
    clv_status status = clv_pareto_dp_least(f->dp, &ask, &pair, err);
    f->price[block] = 0;
    *ret = (double)pair.total[0];
    return status;
}

clv_status clv_block_bound(clv_column_gen *f, double *ret, clv_error *err)
{
    double most = 0;
    int64_t end = clv_pareto_dp_work(f->dp) + LARGEST_WORK;
    memset(f->price, 0, (size_t)f->b->n * sizeof *f->price);
    for (int32_t i = 0; i < f->b->n; i++) {
        f->list[i] = i;
        f->now[i] = (double)clv_pricing_least_time(f, i);
    }
    for (int32_t i = 0; i < f->b->n && i < LARGEST && clv_pareto_dp_work(f->dp) < end; i++) {
        int32_t at = i;
        for (int32_t j = i + 1; j < f->b->n; j++)
            at = f->now[f->list[j]] > f->now[f->list[at]] ? j : at;
        int32_t block = f->list[at];
        f->list[at] = f->list[i];
        f->list[i] = block;
        double least = (double)INFINITY, load;
        for (int32_t k = 0; k < f->b->n_kinds; k++) {
            if (f->devices[k] == 0)
                continue;
            CLV_TRY(least_load_with_block(f, k, block, &load, err));
            least = load < least ? load : least;
        }
        most = isinf(least) || least < most ? most : least;
    }
    *ret = most * (1 - CLV_ROUNDING_PART) * f->b->tick;
    return CLV_OK;
}
