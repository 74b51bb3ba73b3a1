/* subgradient.c - see subgradient.h. */
#include "solver/intra_op/subgradient.h"

#include <math.h>
#include <string.h>

/* Sweeps before prices move: first messages say something at all. */
#define CLV_SUBGRADIENT_FIRST_SWEEPS 8
/* A step aims this share of the level higher at first, and this much of that after sweeps that led
 * nowhere. */
#define CLV_SUBGRADIENT_STEP        0.1
#define CLV_SUBGRADIENT_STEP_SHRINK 0.6
#define CLV_SUBGRADIENT_PATIENCE    10

clv_status clv_subgradient_new(const clv_pairwise *f, clv_arena *arena, clv_subgradient *ret,
                               clv_error *err)
{
    clv_subgradient a = { .f = f,
                          .price = CLV_NEW_ARRAY(arena, double, f->n_rows),
                          .best_price = CLV_NEW_ARRAY(arena, double, f->n_rows),
                          .sum = CLV_NEW_ARRAY(arena, double, (int64_t)f->n_rows + 1) };
    if (!a.price || !a.best_price || !a.sum)
        return clv_fail_nomem(err, "a search");
    CLV_TRY(clv_trws_new(f, arena, &a.trws, err));
    CLV_TRY(clv_search_state_new(f, arena, &a.read, err));
    *ret = a;
    clv_subgradient_start(ret, NULL);
    return CLV_OK;
}

void clv_subgradient_start(clv_subgradient *a, const double *price)
{
    clv_trws_clear(&a->trws);
    for (int32_t r = 0; r < a->f->n_rows; r++)
        a->price[r] = a->best_price[r] = price ? price[r] : 0;
    a->level = a->best_level = -INFINITY;
    a->reach = CLV_SUBGRADIENT_STEP;
    a->n_sweeps = a->n_since = 0;
}

static void update_prices(clv_subgradient *a, double known)
{
    const clv_pairwise *f = a->f;
    double square = 0, gap = a->reach * fabs(a->level);
    if (known - a->level < gap)
        gap = known - a->level;
    for (int32_t r = 0; r < f->n_rows; r++) {
        double g = (double)(a->read.load[r] - f->limit[r]);
        if (g > 0 || a->price[r] > 0)
            square += g * g;
    }
    if (square <= 0 || gap <= 0)
        return;
    for (int32_t r = 0; r < f->n_rows; r++) {
        double g = (double)(a->read.load[r] - f->limit[r]);
        if (g > 0 || a->price[r] > 0)
            a->price[r] = fmax(0, a->price[r] + gap * g / square);
    }
}

void clv_subgradient_step(clv_subgradient *a, double known)
{
    const clv_pairwise *f = a->f;
    clv_price_sums(f, a->price, a->sum);
    clv_trws_sweep(&a->trws, a->sum);
    a->level = a->trws.level;
    for (int32_t r = 0; r < f->n_rows; r++)
        a->level -= a->price[r] * (double)f->limit[r];
    clv_trws_decode(&a->trws, a->trws.choice);
    clv_search_state_set(&a->read, a->trws.choice);
    a->n_sweeps++;
    if (a->level > a->best_level) {
        a->best_level = a->level;
        a->n_since = 0;
        if (f->n_rows > 0)
            memcpy(a->best_price, a->price, (size_t)f->n_rows * sizeof *a->price);
    } else if (++a->n_since > CLV_SUBGRADIENT_PATIENCE) {
        a->n_since = 0;
        a->reach *= CLV_SUBGRADIENT_STEP_SHRINK;
        if (f->n_rows > 0)
            memcpy(a->price, a->best_price, (size_t)f->n_rows * sizeof *a->price);
        return;
    }
    if (a->n_sweeps > CLV_SUBGRADIENT_FIRST_SWEEPS)
        update_prices(a, known);
}
