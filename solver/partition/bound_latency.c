#include "solver/partition/bound_latency.h"

#include <math.h>
#include <stdlib.h>

#include "problem/known_nets.h"
#include "solver/partition/bound_load.h"
#include "solver/partition/segment_dp.h"

/* Ternary search of each multiplier in PRICE_STEPS steps, PRICE_TURNS times over, where a solution
 * takes PRICE_MAX steps at most. */
#define PRICE_STEPS 24
#define PRICE_TURNS 2
#define PRICE_MAX   INT64_C(2000000)
/* The same where segment_dp.h has an answer: it is mostly better. */
#define PRICE_MAX_BESIDE INT64_C(100000)
/* Widths of the backbone: a narrow one leaves out more, a wide one finds fewer cut vertices. */
static const int32_t widths[] = { 8, 64, 1024 };
#define N_WIDTHS (sizeof widths / sizeof *widths)

#define SAME     (-1) /* one device for the whole segment */
#define FIRST    (-2) /* there is no device before */

typedef struct {
    clv_segments b;
    double *least_ns, *next_ns; /* [kind * n_devices + how many are split]: up to this segment */
    int16_t *choice; /* [segment * kinds * devices + as least_ns]: kind of the device before; SAME;
                        FIRST. NULL: not wanted */
    int32_t n_segments;
} relaxation;

static double least_of(const clv_segments *b, const double *ns)
{
    double least = INFINITY;
    for (int32_t k = 0; k < b->p->n_kinds; k++)
        least = b->used[k] ? clv_lesser_ns(least, ns[k]) : least;
    return least;
}

/* -- kinds apart: dynamic programming -- */

static void extend_by_kind(relaxation *r, const clv_segment *s)
{
    const clv_segments *b = &r->b;
    int32_t n = b->p->n_devices, n_kinds = b->p->n_kinds;
    bool may_split = clv_segment_extra_devices(s) > 0, is_start = s->first < 0;
    for (int32_t j = 0; j < n; j++) {
        double before = is_start && j == 1 ? 0 : INFINITY;
        int32_t kind_before = FIRST;
        for (int32_t k = 0; k < n_kinds && j > 0 && !is_start; k++)
            if (r->least_ns[k * n + j - 1] < before) {
                before = r->least_ns[k * n + j - 1];
                kind_before = k;
            }
        for (int32_t k = 0; k < n_kinds; k++) {
            double reward = s->is_end ? 0 : b->reward_ns[k];
            double on = is_start ? (j == 0 ? -reward : INFINITY) : r->least_ns[k * n + j];
            on += b->whole_ns[k];
            double off = may_split ? before + b->split_ns[k] - reward : INFINITY;
            if (r->choice)
                r->choice[((size_t)r->n_segments * (size_t)n_kinds + (size_t)k) * (size_t)n +
                          (size_t)j] = (int16_t)(off < on   ? kind_before
                                                 : is_start ? FIRST
                                                            : SAME);
            on = clv_lesser_ns(on, off);
            r->next_ns[k * n + j] = b->used[k] ? on : INFINITY;
        }
    }
    r->n_segments++;
    double *swap = r->least_ns;
    r->least_ns = r->next_ns;
    r->next_ns = swap;
}

static double least_end_by_kind(const relaxation *r)
{
    const clv_segments *b = &r->b;
    int32_t n = b->p->n_devices;
    double sum = INFINITY;
    for (int32_t j = b->least_splits < n ? b->least_splits : n - 1; j < n; j++)
        for (int32_t k = 0; k < b->p->n_kinds; k++)
            sum = clv_lesser_ns(sum, r->least_ns[k * n + j]);
    for (int32_t k = 0; k < b->p->n_kinds; k++)
        sum += b->reward_ns[k] * (b->reward_ns[k] > 0 ? b->demand[k] : b->supply[k]) -
               b->price_ns_per_byte[k] * b->room_bytes[k];
    return sum;
}

/* -- kinds alike: sorting -- */

static int by_cost(const void *a, const void *b)
{
    const clv_split_cost *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

/* For costs that are not negative. */
static int by_cost_of_device(const void *a, const void *b)
{
    const clv_split_cost *x = a, *y = b;
    double left = x->ns * y->devices, right = y->ns * x->devices;
    return (left > right) - (left < right);
}

/* The least sum of split costs: all segments that gain by a split, as many as devices allow; then,
 * if those have no room for the devices that are needed, fractions of the cheapest others, as in
 * the fractional knapsack (Dantzig 1957). */
static double least_split_costs(clv_segments *b)
{
    double sum = 0;
    int32_t n = b->n_split_costs, i = 0, need = b->least_devices - 1;
    clv_split_cost *at = b->split_costs;
    qsort(at, (size_t)n, sizeof *at, by_cost);
    for (; i < n && at[i].ns < 0; i++) {
        sum += i < b->p->n_devices - 1 ? at[i].ns : 0;
        need -= at[i].devices < need ? at[i].devices : need;
    }
    if (need > 0)
        qsort(at + i, (size_t)(n - i), sizeof *at, by_cost_of_device);
    for (; i < n && need > 0; i++) {
        int32_t more = at[i].devices < need ? at[i].devices : need;
        sum += at[i].ns * more / at[i].devices;
        need -= more;
    }
    return sum;
}

/* -- both -- */

/* What it adds to the sum. */
static double add_segment(relaxation *r, const clv_segment *s)
{
    clv_segments *b = &r->b;
    if (s->first == s->last)
        return 0;
    clv_segment_time_whole(b, s);
    clv_segment_time_split(b, s);
    if (b->by_kind) {
        extend_by_kind(r, s);
        return 0;
    }
    double whole = least_of(b, b->whole_ns);
    if (clv_segment_extra_devices(s) > 0)
        b->split_costs[b->n_split_costs++] =
            (clv_split_cost){ least_of(b, b->split_ns) - whole, clv_segment_extra_devices(s) };
    return whole;
}

/* The bound at these prices. */
static double solve_at_prices(relaxation *r)
{
    clv_segments *b = &r->b;
    int32_t first = -1, n = b->backbone.n;
    double sum = 0;
    b->n_split_costs = r->n_segments = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!b->backbone.is_cut[i])
            continue;
        sum += add_segment(r, &(clv_segment){ .first = first, .last = i, .is_split = first >= 0 });
        first = i;
    }
    sum += add_segment(r, &(clv_segment){ .first = first, .last = n - 1, .is_end = true });
    return b->by_kind && n > 0 ? least_end_by_kind(r) : sum + least_split_costs(b);
}

/* The best value of one price or reward, the others as they are: the bound is concave in it. */
static double raise_price(relaxation *r, double *price, double low, double high)
{
    double best_price = *price, best = solve_at_prices(r);
    for (int32_t i = 0; i < PRICE_STEPS; i++) {
        double at[2] = { low + (high - low) / 3, high - (high - low) / 3 }, got[2];
        for (int32_t k = 0; k < 2; k++) {
            *price = at[k];
            got[k] = solve_at_prices(r);
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

static double sum_of(const int64_t *at, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += (double)at[i];
    return sum;
}

/* The bound at the best prices, by coordinate ascent. No price of a device or of all weights need
 * be above the time of all units. */
static double solve_best_prices(relaxation *r)
{
    clv_segments *b = &r->b;
    const clv_partition_problem *p = b->p;
    double best = solve_at_prices(r), weights = sum_of(b->weight_bytes, p->n_units), all = 0;
    double free_best = best;
    for (int32_t k = 0; k < p->n_kinds; k++)
        if (b->used[k])
            all =
                clv_larger_ns(all, sum_of(p->time_ns + (size_t)k * (size_t)p->n_units, p->n_units));
    for (int32_t turn = 0; turn < PRICE_TURNS; turn++)
        for (int32_t k = 0; k < p->n_kinds; k++) {
            if (b->used[k] && b->room_bytes[k] < weights)
                best = raise_price(r, &b->price_ns_per_byte[k], 0, 4 * all / weights);
            if (b->used[k])
                best = raise_price(r, &b->reward_ns[k], -all / b->supply[k], all / b->supply[k]);
        }
    return best > free_best ? floor(best * (1 - CLV_BOUND_MARGIN)) : floor(free_best);
}

/* -- the order behind it -- */

/* kinds: of the devices along the backbone, n_devices at most. Returns how many. It must have been
 * solved with choice. */
static int32_t trace_kinds(const relaxation *r, int32_t *kinds)
{
    int32_t n = r->b.p->n_devices, n_kinds = r->b.p->n_kinds, n_runs = 0, at = -1;
    size_t width = (size_t)n_kinds * (size_t)n;
    for (int32_t i = 0; i < n_kinds * n; i++)
        if (i % n >= r->b.least_splits && (at < 0 || r->least_ns[i] < r->least_ns[at]))
            at = i;
    for (int32_t s = r->n_segments - 1; s >= 0 && at >= 0; s--) {
        int32_t before = r->choice[(size_t)s * width + (size_t)at];
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

/* Devices of the kinds that the backbone goes through, the first of each first; another one where a
 * kind has no more; then the rest. */
static clv_status find_order(relaxation *r, clv_arena *scratch, int32_t *order, clv_error *err)
{
    const clv_partition_problem *p = r->b.p;
    size_t width = (size_t)p->n_kinds * (size_t)p->n_devices;
    int32_t *kinds = CLV_NEW_ARRAY(scratch, int32_t, p->n_devices);
    bool *taken = CLV_NEW_ARRAY(scratch, bool, p->n_devices);
    r->choice = CLV_NEW_ARRAY(scratch, int16_t, width * ((size_t)r->b.backbone.n + 1));
    if (!kinds || !taken || !r->choice)
        return clv_fail_nomem(err, "a bound");
    solve_at_prices(r);
    int32_t n_runs = trace_kinds(r, kinds);
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
    return CLV_OK;
}

/* -- the call -- */

typedef struct {
    const clv_partition_problem *p;
    const clv_bound_options *o;
    clv_arena *scratch;
} request;

static clv_status open_relaxation(const request *q, int32_t near, relaxation *r, clv_error *err)
{
    size_t n = (size_t)q->p->n_kinds * (size_t)q->p->n_devices;
    *r = (relaxation){ .least_ns = CLV_NEW_ARRAY(q->scratch, double, n),
                       .next_ns = CLV_NEW_ARRAY(q->scratch, double, n) };
    if (!r->least_ns || !r->next_ns)
        return clv_fail_nomem(err, "a bound");
    return clv_segments_open(q->p, q->o, near, q->scratch, &r->b, err);
}

/* Infinite where nothing fits: then nothing is proven. */
static double proven_ns(double ns) { return isfinite(ns) ? floor(ns) : 0; }

/* The longest path of the whole problem, nothing sent. The backbone is lost. */
static double longest_path_ns(relaxation *r)
{
    int32_t n_units = r->b.p->n_units;
    clv_segment all = { .first = -1, .last = n_units - 1, .is_end = true };
    for (int32_t u = 0; u < n_units; u++)
        r->b.backbone.unit[u] = r->b.backbone.at[u] = u;
    clv_segment_time_split(&r->b, &all);
    return n_units > 0 ? proven_ns(least_of(&r->b, r->b.split_ns)) : 0;
}

/* The cheap bound, with one width of the backbone. */
static clv_status bound_at_width(const request *q, int32_t near, double *ret_ns, clv_error *err)
{
    clv_mark mark = clv_arena_mark(q->scratch);
    relaxation r;
    CLV_TRY(open_relaxation(q, near, &r, err));
    *ret_ns = proven_ns(solve_at_prices(&r));
    *ret_ns = clv_larger_ns(*ret_ns, longest_path_ns(&r));
    clv_arena_rewind(q->scratch, mark);
    return CLV_OK;
}

/* The costly bound, with the plan and the orders behind it. */
static clv_status bound_closely(const request *q, int32_t near, clv_bound *behind, double *ret_ns,
                                clv_error *err)
{
    clv_mark mark = clv_arena_mark(q->scratch);
    clv_segment_dp dp = { .order = behind->orders, .device_of = behind->device_of };
    relaxation r;
    CLV_TRY(open_relaxation(q, near, &r, err));
    CLV_TRY(clv_segment_dp_bound(&r.b, q->o, q->scratch, &dp, err));
    *ret_ns = dp.is_solved ? proven_ns(dp.ns) : 0;
    behind->found = dp.found;
    behind->n_orders = dp.found;
    int64_t steps = (int64_t)r.b.backbone.n * q->p->n_devices * q->p->n_kinds;
    if (r.b.by_kind && r.b.backbone.n > 0 &&
        steps <= (dp.is_solved ? PRICE_MAX_BESIDE : PRICE_MAX)) {
        *ret_ns = clv_larger_ns(*ret_ns, proven_ns(solve_best_prices(&r)));
        CLV_TRY(find_order(&r, q->scratch, behind->orders + (behind->n_orders++ * q->p->n_devices),
                           err));
    }
    clv_arena_rewind(q->scratch, mark);
    return CLV_OK;
}

/* The width of the backbone that proves most by the cheap bound; then the costly bound with that
 * width. */
static clv_status bound_at_best_width(const request *q, clv_bound *behind, double *ret_ns,
                                      clv_error *err)
{
    int32_t near = q->o->near;
    double here = 0;
    *ret_ns = 0;
    if (near > 0)
        CLV_TRY(bound_at_width(q, near, ret_ns, err));
    for (size_t i = 0; i < N_WIDTHS && q->o->near == 0; i++) {
        CLV_TRY(bound_at_width(q, widths[i], &here, err));
        if (here > *ret_ns || near == 0)
            near = widths[i];
        *ret_ns = clv_larger_ns(*ret_ns, here);
    }
    CLV_TRY(bound_closely(q, near, behind, &here, err));
    *ret_ns = clv_larger_ns(*ret_ns, here);
    return CLV_OK;
}

clv_status clv_bound_latency(const clv_partition_problem *p, const clv_bound_options *options,
                             clv_arena *arena, clv_bound *ret, clv_error *err)
{
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_bound made = { .device_of = ret->device_of, .orders = ret->orders };
    const clv_partition_problem *timed = p;
    int64_t work = 0;
    double best = 0;
    if (!scratch)
        return clv_fail_nomem(err, "a bound");
    clv_status status = clv_bound_work(p, scratch, &work, err);
    if (status == CLV_OK)
        status = clv_problem_without_known_nets(p, scratch, &timed, err);
    if (status == CLV_OK)
        status = bound_at_best_width(&(request){ timed, options, scratch }, &made, &best, err);
    clv_arena_free(scratch);
    CLV_TRY(status);
    made.ns = (int64_t)clv_larger_ns(best, (double)work);
    *ret = made;
    return CLV_OK;
}

clv_status clv_bound_critical_path(const clv_partition_problem *p, clv_arena *arena,
                                   int64_t *ret_ns, clv_error *err)
{
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    request q = { p, &(clv_bound_options){ .near = 0 }, scratch };
    relaxation r;
    if (!scratch)
        return clv_fail_nomem(err, "a bound");
    clv_status status = clv_problem_without_known_nets(p, scratch, &q.p, err);
    if (status == CLV_OK)
        status = open_relaxation(&q, widths[0], &r, err);
    if (status == CLV_OK)
        *ret_ns = (int64_t)longest_path_ns(&r);
    clv_arena_free(scratch);
    return status;
}
