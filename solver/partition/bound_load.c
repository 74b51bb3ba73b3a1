#include "solver/partition/bound_load.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "solver/partition/bound.h"

/* Ternary search of a kind's price within a factor e^PRICE_SPAN of the last one, in PRICE_STEPS
 * steps, PRICE_TURNS times over. */
#define PRICE_SPAN  3.0
#define PRICE_STEPS 40
#define PRICE_TURNS 2

typedef struct {
    const clv_partition_problem *p;
    double *price;      /* n_kinds; 0: no device has it */
    int32_t *n_of_kind; /* n_kinds */
} dual;

/* Weak duality: for any prices of devices' time, all units cost at least what they cost where each
 * is cheapest, and devices that are busy for the whole period earn their price for each ns of it.
 * So the period is at least cost over income. */
static double dual_value(const dual *m)
{
    const clv_partition_problem *p = m->p;
    double cost = 0, income = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        double least = INFINITY;
        for (int32_t k = 0; k < p->n_kinds; k++)
            if (m->n_of_kind[k] > 0)
                least =
                    fmin(least, m->price[k] *
                                    (double)p->time_ns[(size_t)k * (size_t)p->n_units + (size_t)u]);
        cost += least;
    }
    for (int32_t k = 0; k < p->n_kinds; k++)
        income += m->price[k] * m->n_of_kind[k];
    return income > 0 ? cost / income : 0;
}

/* The best price of one kind by ternary search: cost is concave and income linear in it, so their
 * quotient has one maximum. */
static double raise_price(dual *m, int32_t kind)
{
    double start = log(m->price[kind]), low = start - PRICE_SPAN, high = start + PRICE_SPAN;
    double best = dual_value(m), best_price = m->price[kind];
    for (int32_t i = 0; i < PRICE_STEPS; i++) {
        double at[2] = { low + (high - low) / 3, high - (high - low) / 3 }, got[2];
        for (int32_t k = 0; k < 2; k++) {
            m->price[kind] = exp(at[k]);
            got[k] = dual_value(m);
            if (got[k] > best) {
                best = got[k];
                best_price = m->price[kind];
            }
        }
        if (got[0] < got[1])
            low = at[0];
        else
            high = at[1];
    }
    m->price[kind] = best_price;
    return best;
}

clv_status clv_bound_work(const clv_partition_problem *p, clv_arena *arena, int64_t *ret_ns,
                          clv_error *err)
{
    dual m = { p, CLV_NEW_ARRAY(arena, double, p->n_kinds),
               CLV_NEW_ARRAY(arena, int32_t, p->n_kinds) };
    int32_t n_used = 0;
    int64_t all = 0;
    double best = 0;
    if (!m.price || !m.n_of_kind)
        return clv_fail_nomem(err, "a bound");
    for (int32_t d = 0; d < p->n_devices; d++)
        n_used += m.n_of_kind[p->kind_of[d]]++ == 0;
    for (int32_t k = 0; k < p->n_kinds; k++) {
        if (m.n_of_kind[k] == 0)
            continue;
        all = 0;
        for (int32_t u = 0; u < p->n_units; u++)
            all += p->time_ns[(size_t)k * (size_t)p->n_units + (size_t)u];
        m.price[k] = 1 / ((double)all + 1); /* right where one kind is so many times another */
    }
    for (int32_t turn = 0; turn < PRICE_TURNS && n_used > 1; turn++)
        for (int32_t k = 0; k < p->n_kinds; k++)
            if (m.n_of_kind[k] > 0)
                best = fmax(best, raise_price(&m, k));
    *ret_ns = n_used > 1 ? (int64_t)floor(best * (1 - CLV_BOUND_MARGIN))
                         : all / p->n_devices + (all % p->n_devices > 0);
    return CLV_OK;
}

clv_status clv_bound_sharing(const clv_partition_problem *p, clv_arena *arena, int64_t *ret_ns,
                             clv_error *err)
{
    bool *used = CLV_NEW_ARRAY(arena, bool, p->n_kinds);
    int64_t *before = CLV_NEW_ARRAY(arena, int64_t, p->n_units + 1);
    if (!used || !before)
        return clv_fail_nomem(err, "a bound");
    int64_t *time = before + 1;
    for (int32_t d = 0; d < p->n_devices; d++)
        used[p->kind_of[d]] = true;
    for (int32_t u = 0; u < p->n_units; u++) {
        time[u] = INT64_MAX;
        for (int32_t k = 0; k < p->n_kinds; k++) {
            int64_t ns = p->time_ns[(size_t)k * (size_t)p->n_units + (size_t)u];
            time[u] = used[k] && ns < time[u] ? ns : time[u];
        }
    }
    if (p->n_units > 0)
        qsort(time, (size_t)p->n_units, sizeof *time, clv_compare_int64_down);
    for (int32_t u = 0; u < p->n_units; u++)
        before[u + 1] += before[u];
    *ret_ns = 0;
    for (int32_t k = 0, last = 0; last < p->n_units; k++, last += p->n_devices) {
        int64_t sum = before[last + 1] - before[last - k];
        *ret_ns = sum > *ret_ns ? sum : *ret_ns;
        if (last > p->n_units - p->n_devices)
            break;
    }
    return CLV_OK;
}
