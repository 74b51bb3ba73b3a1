/* bound_latency.c - the least latency, from the units through which all paths lead.
 *
 * Between two such units of the trunk, a and b, either all runs on one device, or a and b are on
 * different ones, and something is sent on every path from a to b: a legal plan never comes back to
 * a device that it has left. So with d devices at most d - 1 of these stretches are parted. Where
 * memory asks for m devices, parted stretches have room for m - 1 more devices than one: a parted
 * stretch has one more, and one for each unit inside it. What is cheaper is taken for each.
 *
 * With unequal devices this is a walk along the stretches that knows the kind and how many were
 * parted. Memory has a price there (Lagrange): a unit on a kind of device pays for its weights, and
 * what all devices of the kind hold is given back. A device has a price too, if it is scarce, or a
 * gift, if it is to be used. Any prices give a bound.
 */
#include "solver/partition/runs.h"

#include <math.h>
#include <stdlib.h>

/* Prices are looked for in so many thirds, each in so many turns, where a walk has so many steps.
 */
#define PRICE_STEPS 24
#define PRICE_TURNS 2
#define PRICE_MAX   INT64_C(2000000)
/* The same where runs.c has walked: it is mostly better. */
#define PRICE_MAX_BESIDE INT64_C(100000)
/* Widths of the trunk: a narrow one leaves out more, a wide one finds fewer units through which all
 * paths lead. */
static const int32_t widths[] = { 8, 64, 1024 };
#define N_WIDTHS (sizeof widths / sizeof *widths)

#define SAME     (-1) /* one device for the whole stretch */
#define FIRST    (-2) /* there is no device before */

typedef clv_stretches bound;
typedef clv_stretch stretch;
typedef clv_parting parting;

static double lesser(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

static double least_of(const bound *b, const double *at)
{
    double least = INFINITY;
    for (int32_t k = 0; k < b->p->n_kinds; k++)
        least = b->used[k] ? lesser(least, at[k]) : least;
    return least;
}

/* -- all stretches, kinds apart -- */

static void walk_on(bound *b, const stretch *s)
{
    int32_t n = b->p->n_devices;
    bool may_part = clv_stretch_devices(s) > 0, is_start = s->first < 0;
    for (int32_t j = 0; j < n; j++) {
        double before = is_start && j == 1 ? 0 : INFINITY;
        int32_t kind_before = FIRST;
        for (int32_t k = 0; k < b->p->n_kinds && j > 0 && !is_start; k++)
            if (b->least[k * n + j - 1] < before) {
                before = b->least[k * n + j - 1];
                kind_before = k;
            }
        for (int32_t k = 0; k < b->p->n_kinds; k++) {
            double gift = s->is_end ? 0 : b->gift[k];
            double on = is_start ? (j == 0 ? -gift : INFINITY) : b->least[k * n + j];
            on += b->whole[k];
            double off = may_part ? before + b->split[k] - gift : INFINITY;
            if (b->choice)
                b->choice[((size_t)b->n_stretches * (size_t)b->p->n_kinds + (size_t)k) * (size_t)n +
                          (size_t)j] = (int16_t)(off < on   ? kind_before
                                                 : is_start ? FIRST
                                                            : SAME);
            on = lesser(on, off);
            b->next[k * n + j] = b->used[k] ? on : INFINITY;
        }
    }
    b->n_stretches++;
    double *swap = b->least;
    b->least = b->next;
    b->next = swap;
}

static double end_walk(const bound *b)
{
    int32_t n = b->p->n_devices;
    double sum = INFINITY;
    for (int32_t j = b->least_partings < n ? b->least_partings : n - 1; j < n; j++)
        for (int32_t k = 0; k < b->p->n_kinds; k++)
            sum = lesser(sum, b->least[k * n + j]);
    for (int32_t k = 0; k < b->p->n_kinds; k++)
        sum +=
            b->gift[k] * (b->gift[k] > 0 ? b->demand[k] : b->supply[k]) - b->price[k] * b->room[k];
    return sum;
}

/* -- all stretches, kinds alike -- */

static int by_cost(const void *a, const void *b)
{
    const parting *x = a, *y = b;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

/* For costs that are not negative. */
static int by_cost_for_each(const void *a, const void *b)
{
    const parting *x = a, *y = b;
    double left = x->cost * y->devices, right = y->cost * x->devices;
    return (left > right) - (left < right);
}

/* The least that parting can cost: all stretches that gain by it, as many as devices allow; then,
 * if those have no room for the devices that are needed, parts of the cheapest others. */
static double part(bound *b)
{
    double sum = 0;
    int32_t n = b->n_partings, i = 0, need = b->least_devices - 1;
    qsort(b->partings, (size_t)n, sizeof *b->partings, by_cost);
    for (; i < n && b->partings[i].cost < 0; i++) {
        sum += i < b->p->n_devices - 1 ? b->partings[i].cost : 0;
        need -= b->partings[i].devices < need ? b->partings[i].devices : need;
    }
    if (need > 0)
        qsort(b->partings + i, (size_t)(n - i), sizeof *b->partings, by_cost_for_each);
    for (; i < n && need > 0; i++) {
        int32_t more = b->partings[i].devices < need ? b->partings[i].devices : need;
        sum += b->partings[i].cost * more / b->partings[i].devices;
        need -= more;
    }
    return sum;
}

/* -- both -- */

/* What it adds to the sum. */
static double add_stretch(bound *b, const stretch *s)
{
    if (s->first == s->last)
        return 0;
    clv_stretch_whole(b, s);
    clv_stretch_split(b, s);
    if (b->by_kind) {
        walk_on(b, s);
        return 0;
    }
    double whole = least_of(b, b->whole);
    if (clv_stretch_devices(s) > 0)
        b->partings[b->n_partings++] =
            (parting){ least_of(b, b->split) - whole, clv_stretch_devices(s) };
    return whole;
}

/* The bound at these prices. */
static double at_prices(bound *b)
{
    int32_t first = -1, n = b->trunk.n;
    double sum = 0;
    b->n_partings = b->n_stretches = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!b->trunk.cut[i])
            continue;
        sum += add_stretch(b, &(stretch){ .first = first, .last = i, .parted = first >= 0 });
        first = i;
    }
    sum += add_stretch(b, &(stretch){ .first = first, .last = n - 1, .is_end = true });
    return b->by_kind && n > 0 ? end_walk(b) : sum + part(b);
}

/* The best value of one price or gift, the others as they are: the bound is concave in it. */
static double find_price(bound *b, double *price, double low, double high)
{
    double best_price = *price, best = at_prices(b);
    for (int32_t i = 0; i < PRICE_STEPS; i++) {
        double at[2] = { low + (high - low) / 3, high - (high - low) / 3 }, got[2];
        for (int32_t k = 0; k < 2; k++) {
            *price = at[k];
            got[k] = at_prices(b);
            if (got[k] > best) {
                best = got[k];
                best_price = at[k];
            }
        }
        if (got[0] < got[1])
            low = at[0];
        else
            high = at[1];
    }
    *price = best_price;
    return best;
}

static double total(const int64_t *at, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += (double)at[i];
    return sum;
}

static bool has_prices(const bound *b, bool walked)
{
    int64_t steps = (int64_t)b->trunk.n * b->p->n_devices * b->p->n_kinds;
    return b->by_kind && b->trunk.n > 0 && steps <= (walked ? PRICE_MAX_BESIDE : PRICE_MAX);
}

/* Nothing is worth more than all time: no device, and no share of the weights. */
static double with_prices(bound *b)
{
    const clv_partition_problem *p = b->p;
    double best = at_prices(b), weights = total(b->weight, p->n_units), all = 0;
    double free_best = best;
    for (int32_t k = 0; k < p->n_kinds; k++)
        if (b->used[k])
            all = larger(all, total(p->time_ns + (size_t)k * (size_t)p->n_units, p->n_units));
    for (int32_t turn = 0; turn < PRICE_TURNS; turn++)
        for (int32_t k = 0; k < p->n_kinds; k++) {
            if (b->used[k] && b->room[k] < weights)
                best = find_price(b, &b->price[k], 0, 4 * all / weights);
            if (b->used[k])
                best = find_price(b, &b->gift[k], -all / b->supply[k], all / b->supply[k]);
        }
    return best > free_best ? floor(best * (1 - CLV_BOUND_MARGIN)) : floor(free_best);
}

/* -- the order behind it -- */

/* kinds: of the devices along the trunk, n_devices at most. Returns how many. The walk must have
 * been done with choice. */
static int32_t trace(const bound *b, int32_t *kinds)
{
    int32_t n = b->p->n_devices, n_runs = 0, at = -1;
    size_t width = (size_t)b->p->n_kinds * (size_t)n;
    for (int32_t i = 0; i < b->p->n_kinds * n; i++)
        if (i % n >= b->least_partings && (at < 0 || b->least[i] < b->least[at]))
            at = i;
    for (int32_t s = b->n_stretches - 1; s >= 0 && at >= 0; s--) {
        int32_t before = b->choice[(size_t)s * width + (size_t)at];
        if (before == SAME)
            continue;
        kinds[n_runs++] = at / n;
        at = before == FIRST ? -1 : before * n + at % n - 1;
    }
    for (int32_t i = 0; i < n_runs / 2; i++) {
        int32_t swap = kinds[i];
        kinds[i] = kinds[n_runs - 1 - i];
        kinds[n_runs - 1 - i] = swap;
    }
    return n_runs;
}

/* Devices of those kinds, the first of each first; another one where a kind has no more; then the
 * rest. */
static void order_by(const bound *b, const int32_t *kinds, int32_t n_runs, bool *taken,
                     int32_t *order)
{
    const clv_partition_problem *p = b->p;
    for (int32_t i = 0; i < p->n_devices; i++) {
        int32_t d = 0;
        while (d < p->n_devices && (taken[d] || (i < n_runs && p->kind_of[d] != kinds[i])))
            d++;
        for (int32_t other = 0; d == p->n_devices; other++)
            if (!taken[other])
                d = other;
        taken[d] = true;
        order[i] = d;
    }
}

static clv_status find_order(bound *b, clv_arena *scratch, int32_t *order, clv_error *err)
{
    const clv_partition_problem *p = b->p;
    size_t width = (size_t)p->n_kinds * (size_t)p->n_devices;
    int32_t *kinds = CLV_NEW_ARRAY(scratch, int32_t, p->n_devices);
    bool *taken = CLV_NEW_ARRAY(scratch, bool, p->n_devices);
    b->choice = CLV_NEW_ARRAY(scratch, int16_t, width * ((size_t)b->trunk.n + 1));
    if (!kinds || !taken || !b->choice)
        return clv_fail_nomem(err, "a bound");
    at_prices(b);
    order_by(b, kinds, trace(b, kinds), taken, order);
    return CLV_OK;
}

/* -- the call -- */

/* Every path of the whole problem, nothing sent. The trunk is lost. */
static double longest_path(bound *b)
{
    for (int32_t u = 0; u < b->p->n_units; u++)
        b->trunk.unit[u] = b->trunk.at[u] = u;
    clv_stretch_split(b, &(stretch){ .first = -1, .last = b->p->n_units - 1, .is_end = true });
    return b->p->n_units > 0 ? least_of(b, b->split) : 0;
}

/* What is found beside a bound. */
typedef struct {
    int32_t *orders, *device_of;
    int32_t n_orders;
    bool has_plan;
} finds;

/* Where nothing fits all ways are endless: nothing is said then. */
static double proven(double ns) { return isfinite(ns) ? floor(ns) : 0; }

/* With one width of the trunk. */
static clv_status bound_with(const clv_partition_problem *p, const clv_bound_options *o,
                             int32_t near, clv_arena *scratch, double *ret, clv_error *err)
{
    clv_mark mark = clv_arena_mark(scratch);
    bound b;
    CLV_TRY(clv_stretches_open(p, o, near, scratch, &b, err));
    *ret = proven(at_prices(&b));
    *ret = larger(*ret, proven(longest_path(&b)));
    clv_arena_rewind(scratch, mark);
    return CLV_OK;
}

/* What takes longer. */
static clv_status bound_further(const clv_partition_problem *p, const clv_bound_options *o,
                                int32_t near, clv_arena *scratch, double *ret, finds *also,
                                clv_error *err)
{
    clv_mark mark = clv_arena_mark(scratch);
    clv_runs runs;
    bound b;
    CLV_TRY(clv_stretches_open(p, o, near, scratch, &b, err));
    CLV_TRY(clv_runs_bound(&b, o, scratch, also->orders, also->device_of, &runs, err));
    *ret = runs.walked ? proven(runs.ns) : 0;
    also->has_plan = runs.found;
    also->n_orders = runs.found;
    if (has_prices(&b, runs.walked)) {
        *ret = larger(*ret, proven(with_prices(&b)));
        CLV_TRY(find_order(&b, scratch, also->orders + (also->n_orders++ * p->n_devices), err));
    }
    clv_arena_rewind(scratch, mark);
    return CLV_OK;
}

/* The width that proves most by what takes little, and then the rest with that. */
static clv_status bound_best(const clv_partition_problem *p, const clv_bound_options *o,
                             clv_arena *scratch, double *best, finds *also, clv_error *err)
{
    int32_t near = o->near;
    double here = 0;
    *best = 0;
    if (near > 0)
        CLV_TRY(bound_with(p, o, near, scratch, best, err));
    for (size_t i = 0; i < N_WIDTHS && o->near == 0; i++) {
        CLV_TRY(bound_with(p, o, widths[i], scratch, &here, err));
        if (here > *best || near == 0)
            near = widths[i];
        *best = larger(*best, here);
    }
    CLV_TRY(bound_further(p, o, near, scratch, &here, also, err));
    *best = larger(*best, here);
    return CLV_OK;
}

clv_status clv_bound_latency(const clv_partition_problem *p, const clv_bound_options *options,
                             clv_arena *arena, int32_t *orders, int32_t *device_of, clv_bound *ret,
                             clv_error *err)
{
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    int64_t work = 0;
    double best = 0;
    finds also = { .orders = orders, .device_of = device_of };
    if (!scratch)
        return clv_fail_nomem(err, "a bound");
    clv_status status = clv_bound_work(p, scratch, &work, err);
    if (status == CLV_OK)
        status = bound_best(p, options, scratch, &best, &also, err);
    clv_arena_free(scratch);
    CLV_TRY(status);
    *ret = (clv_bound){ (int64_t)larger(best, (double)work), also.has_plan, also.n_orders };
    return CLV_OK;
}
