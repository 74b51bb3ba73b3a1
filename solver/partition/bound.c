/* bound.c - bounds of the period: work, equal units, and order and memory by pieces.c. */
#include "solver/partition/bound.h"

#include "solver/partition/pieces.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"

/* A price of a kind's time is looked for within a factor e^3 of the last one, in so many thirds,
 * and each kind gets so many turns. */
#define PRICE_SPAN  3.0
#define PRICE_STEPS 40
#define PRICE_TURNS 2

/* -- work -- */

typedef struct {
    const clv_partition_problem *p;
    double *price;      /* n_kinds: 0: no device has it */
    int32_t *n_of_kind; /* n_kinds */
} market;

/* For any prices of a device's time, units that all run where they are cheapest cost so much, and
 * devices that are all busy for a period take in that much for each ns of it: the period cannot be
 * less than cost over income. */
static double worth(const market *m)
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

/* Cost is concave and income linear in one price, so thirds are enough. */
static double find_price(market *m, int32_t kind)
{
    double start = log(m->price[kind]), low = start - PRICE_SPAN, high = start + PRICE_SPAN;
    double best = worth(m), best_price = m->price[kind];
    for (int32_t i = 0; i < PRICE_STEPS; i++) {
        double at[2] = { low + (high - low) / 3, high - (high - low) / 3 }, got[2];
        for (int32_t k = 0; k < 2; k++) {
            m->price[kind] = exp(at[k]);
            got[k] = worth(m);
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

static int64_t shared_evenly(market *m)
{
    const clv_partition_problem *p = m->p;
    double best = 0;
    for (int32_t turn = 0; turn < PRICE_TURNS; turn++)
        for (int32_t k = 0; k < p->n_kinds; k++)
            if (m->n_of_kind[k] > 0)
                best = fmax(best, find_price(m, k));
    return (int64_t)floor(best * (1 - CLV_BOUND_MARGIN));
}

clv_status clv_bound_work(const clv_partition_problem *p, clv_arena *arena, int64_t *ret_ns,
                          clv_error *err)
{
    market m = { p, CLV_NEW_ARRAY(arena, double, p->n_kinds),
                 CLV_NEW_ARRAY(arena, int32_t, p->n_kinds) };
    int32_t n_used = 0;
    int64_t all = 0;
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
    *ret_ns = n_used > 1 ? shared_evenly(&m) : all / p->n_devices + (all % p->n_devices > 0);
    return CLV_OK;
}

/* -- units that must share -- */

static int64_t fastest(const clv_partition_problem *p, const bool *used, int32_t unit)
{
    int64_t least = INT64_MAX;
    for (int32_t k = 0; k < p->n_kinds; k++) {
        int64_t ns = p->time_ns[(size_t)k * (size_t)p->n_units + (size_t)unit];
        least = used[k] && ns < least ? ns : least;
    }
    return least;
}

clv_status clv_bound_sharing(const clv_partition_problem *p, clv_arena *arena, int64_t *ret,
                             clv_error *err)
{
    bool *used = CLV_NEW_ARRAY(arena, bool, p->n_kinds);
    int64_t *before = CLV_NEW_ARRAY(arena, int64_t, p->n_units + 1), *time = before + 1;
    if (!used || !before)
        return clv_fail_nomem(err, "a bound");
    for (int32_t d = 0; d < p->n_devices; d++)
        used[p->kind_of[d]] = true;
    for (int32_t u = 0; u < p->n_units; u++)
        time[u] = fastest(p, used, u);
    if (p->n_units > 0)
        qsort(time, (size_t)p->n_units, sizeof *time, clv_compare_int64_down);
    for (int32_t u = 0; u < p->n_units; u++)
        before[u + 1] += before[u];
    *ret = 0;
    for (int32_t k = 0, last = 0; last < p->n_units; k++, last += p->n_devices) {
        int64_t sum = before[last + 1] - before[last - k];
        *ret = sum > *ret ? sum : *ret;
        if (last > p->n_units - p->n_devices)
            break;
    }
    return CLV_OK;
}

/* -- order and memory -- */

typedef struct {
    clv_pieces *pieces;
    int64_t low, high; /* no period below low; something may have high */
    int32_t *device_of;
    bool found;
} bisection;

static clv_status ask(bisection *b, int64_t period_ns, clv_error *err)
{
    clv_pieces_answer answer;
    int64_t reached = period_ns;
    CLV_TRY(clv_pieces_ask(b->pieces, period_ns, &answer, err));
    if (answer == CLV_PIECES_NO) {
        b->low = period_ns + 1;
        return CLV_OK;
    }
    b->high = period_ns;
    b->found = answer == CLV_PIECES_YES && clv_pieces_plan(b->pieces, b->device_of, &reached);
    if (b->found && reached >= b->low && reached < period_ns)
        b->high = reached; /* units left out may have made it longer */
    return CLV_OK;
}

static clv_status bound_order(const clv_partition_problem *p, const clv_bound_options *o,
                              int64_t best_ns, clv_arena *scratch, int32_t *device_of,
                              clv_bound *ret, clv_error *err)
{
    clv_trunk trunk;
    bisection b = { .low = ret->ns, .high = best_ns, .device_of = device_of };
    CLV_TRY(clv_trunk_new(p, o->near ? o->near : CLV_TRUNK_WORD, true, scratch, &trunk, err));
    CLV_TRY(clv_pieces_new(p, &trunk, o, scratch, &b.pieces, err));
    CLV_TRY(ask(&b, best_ns - 1, err)); /* mostly the answer, or the next one */
    if (b.low < b.high)
        CLV_TRY(ask(&b, b.low, err));
    while (b.low < b.high)
        CLV_TRY(ask(&b, b.low + (b.high - b.low) / 2, err));
    ret->ns = b.low;
    ret->found = b.found;
    return CLV_OK;
}

clv_status clv_bound_period(const clv_partition_problem *p, const clv_bound_options *options,
                            int64_t best_ns, clv_arena *arena, int32_t *device_of, clv_bound *ret,
                            clv_error *err)
{
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_bound made = { 0 };
    int64_t sharing = 0;
    if (!scratch)
        return clv_fail_nomem(err, "a bound");
    clv_status status = clv_bound_work(p, scratch, &made.ns, err);
    if (status == CLV_OK)
        status = clv_bound_sharing(p, scratch, &sharing, err);
    made.ns = sharing > made.ns ? sharing : made.ns;
    if (status == CLV_OK && made.ns < best_ns)
        status = clv_bound_sending(p, made.ns, best_ns, scratch, &made.ns, err);
    if (status == CLV_OK && made.ns < best_ns)
        status = clv_bound_together(p, made.ns, best_ns, scratch, &made.ns, err);
    /* last: a plan for a period that all else allows fills its devices better */
    if (status == CLV_OK && made.ns < best_ns)
        status = bound_order(p, options, best_ns, scratch, device_of, &made, err);
    clv_arena_free(scratch);
    CLV_TRY(status);
    *ret = made;
    return CLV_OK;
}
