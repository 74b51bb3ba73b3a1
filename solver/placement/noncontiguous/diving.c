/* diving.c - placements from the prices of a proof. */
#include "solver/placement/noncontiguous/diving.h"

#include "solver/common/random.h"
#include "solver/placement/noncontiguous/pricing.h"

/* Prices are changed by up to half of this part before a dive. */
#define DIVE_CHANGE 0.4

/* Blocks in no column go with the block before them in the order, where their kind allows it. */
static void assign_uncovered(const clv_column_gen *f, int32_t *device_of)
{
    const clv_place_kind *kinds = f->b->p->kinds;
    for (int32_t i = 0; i < f->b->n; i++) {
        int32_t block = f->order[i];
        if (device_of[block] >= 0)
            continue;
        device_of[block] = i > 0 ? device_of[f->order[i - 1]] : 0;
        int32_t kind = 0, first = 0;
        while (first + kinds[kind].count <= device_of[block])
            first += kinds[kind++].count;
        if (clv_pricing_cost(f, kind, block) != CLV_PARETO_NEVER)
            continue;
        for (kind = first = 0; kind < f->b->n_kinds; first += kinds[kind++].count)
            if (kinds[kind].count > 0 && clv_pricing_cost(f, kind, block) != CLV_PARETO_NEVER)
                device_of[block] = first;
    }
}

/* Fixes the best column of a device among the blocks that are left. */
static clv_status dive_for_device(clv_column_gen *f, int32_t kind, int32_t device,
                                  int64_t limit_ticks, int32_t *device_of, clv_error *err)
{
    int64_t most;
    CLV_TRY(clv_pricing_solve(f, kind, limit_ticks, &most, err));
    for (int32_t i = 0; i < f->b->n && clv_pareto_dp_done(f->dp); i++) {
        int32_t block = f->order[i];
        if (f->side[i] != 0)
            continue;
        device_of[block] = device;
        f->price_sum -= f->price[block];
        f->price[block] = 0;
        for (int32_t k = 0; k < f->b->n_kinds; k++)
            f->cost[(size_t)k * (size_t)f->b->n + (size_t)block] = CLV_PARETO_NEVER;
    }
    return CLV_OK;
}

clv_status clv_diving_run(clv_column_gen *f, int64_t limit_ticks, uint64_t *random,
                          int32_t *device_of, bool *found, clv_error *err)
{
    const clv_place_problem *p = f->b->p;
    for (int32_t i = 0; i < f->b->n; i++) {
        f->now[i] = f->best[i] * (1 + DIVE_CHANGE * (clv_random_unit(random) - 0.5));
        device_of[i] = -1;
    }
    clv_pricing_set_prices(f, f->now);
    *found = true;
    for (int32_t k = 0, first = 0; k < f->b->n_kinds; first += p->kinds[k++].count) {
        for (int32_t d = 0; d < f->devices[k] && *found; d++) {
            CLV_TRY(dive_for_device(f, k, first + d, limit_ticks, device_of, err));
            *found = clv_pareto_dp_done(f->dp);
        }
    }
    clv_pricing_reset_costs(f);
    assign_uncovered(f, device_of);
    return CLV_OK;
}
