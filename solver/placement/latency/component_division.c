#include "solver/placement/latency/component_division.h"

#include "solver/placement/latency/component_memory_bound.h"
#include "solver/placement/latency/component_shares.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define NAME "parts"

/* T is sought until it is known to this part of itself, as what is proven is. */
#define SAME 1e-9
/* Halvings of the interval that T is in; and fewer, if parts * devices are so many in sum. */
#define MOST_TESTS 64
#define TEST_WORK  1e8

typedef struct {
    clv_component_shares s;
    int32_t *by_least, *by_whole; /* groups, the largest first */
    double *bin_time;             /* by device of the packing kind */
    int64_t *bin_bytes;
    int32_t *bin_of; /* by part */
    int32_t n_bins;
    int32_t *solution; /* by node */
    bool may_solve;
    clv_component_share *longest; /* of the best division, if a part on a share decides it */
    clv_component_group *longest_of;
} divider;

/* -- one limit -- */

/* Parts that would pay less than a device each, first fit, the longest first. False: there are too
 * few devices. O(parts * bins). */
static bool pack(divider *d, double limit)
{
    const clv_components *parts = &d->s.parts;
    int32_t n_most = d->s.packing < 0 ? 0 : d->s.n_shares;
    d->n_bins = 0;
    for (int32_t i = 0; i < parts->n_groups; i++) {
        clv_component_group *g = &d->s.groups[d->by_whole[i]];
        int64_t room = d->s.packing < 0 ? 0 : d->s.p->kinds[d->s.packing].capacity_bytes;
        g->packed = g->alone > limit && g->whole <= limit;
        const int32_t *copy = parts->copies.at + parts->copies.first[d->by_whole[i]];
        int32_t bin = 0; /* equal parts fit into no bin that one of them did not fit into */
        for (int32_t c = 0; g->packed && c < g->n_copies; c++) {
            while (bin < d->n_bins &&
                   (d->bin_time[bin] + g->whole > limit ||
                    (room != CLV_PLACE_UNLIMITED && d->bin_bytes[bin] + g->bytes > room)))
                bin++;
            if (bin == n_most)
                return false;
            if (bin == d->n_bins) {
                d->bin_time[bin] = 0;
                d->bin_bytes[bin] = 0;
                d->n_bins++;
            }
            d->bin_time[bin] += g->whole;
            d->bin_bytes[bin] += g->bytes;
            d->bin_of[copy[c]] = bin;
        }
    }
    return true;
}

/* What is known of the shares that a group needs. */
static void update_share_range(const divider *d, clv_component_group *g, double limit)
{
    bool none = g->packed || g->alone <= limit;
    g->low = none || !g->alone_is_best ? -1 : 0;
    g->high = none ? 0 : d->s.n_shares + 1;
    g->taken = NULL;
    if (none)
        return;
    for (clv_component_share *at = g->solved; at; at = at->next) {
        if (at->value <= limit && at->used < g->high) {
            g->high = at->used;
            g->taken = at;
        }
        if (at->value > limit && at->given > g->low)
            g->low = at->given < g->most ? at->given : d->s.n_shares;
    }
    if (g->low >= g->high) /* a search with more found less */
        g->low = g->high - 1;
}

/* Shares that are needed at least (for_sure), or by what is known. */
static int64_t count_shares(const divider *d, bool for_sure)
{
    int64_t n = d->n_bins;
    for (int32_t i = 0; i < d->s.parts.n_groups; i++) {
        const clv_component_group *g = &d->s.groups[i];
        n += (int64_t)g->n_copies * (for_sure ? g->low + 1 : g->high);
    }
    return n;
}

/* The group of which most shares are in doubt; NULL: none is. */
static clv_component_group *most_doubtful(const divider *d)
{
    clv_component_group *best = NULL;
    int64_t most = 0;
    for (int32_t i = 0; i < d->s.parts.n_groups; i++) {
        clv_component_group *g = &d->s.groups[i];
        int64_t doubt = (int64_t)g->n_copies * (g->high - g->low - 1);
        if (doubt > most) {
            most = doubt;
            best = g;
        }
    }
    return best;
}

/* Is there a division with no part above limit? Solves parts where that decides it. */
static clv_status try_limit(divider *d, double limit, bool *ret, clv_error *err)
{
    *ret = false;
    if (!pack(d, limit))
        return CLV_OK;
    for (int32_t i = 0; i < d->s.parts.n_groups; i++)
        update_share_range(d, &d->s.groups[i], limit);
    while (count_shares(d, false) > d->s.n_shares) {
        int64_t spare = d->s.n_shares - count_shares(d, true);
        clv_component_group *g = most_doubtful(d);
        if (spare < 0 || !g || !d->may_solve || !clv_component_shares_may_solve(&d->s))
            return CLV_OK;
        /* with more than that for each copy, there are too few for the others */
        int64_t most = g->low + 1 + spare / g->n_copies;
        int32_t shares = g->high > most ? (int32_t)most : g->low + (g->high - g->low) / 2;
        if (shares > g->most)
            shares = g->most;
        CLV_TRY(clv_component_shares_solve(&d->s, g, shares, true, err));
        update_share_range(d, g, limit);
    }
    *ret = true;
    return CLV_OK;
}

/* -- solutions -- */

static void place_copy(const divider *d, const clv_component_group *g, int32_t part, int32_t shares)
{
    const clv_components *parts = &d->s.parts;
    const int32_t *node = parts->nodes.at + parts->nodes.first[part];
    const clv_place_kind *kinds = d->s.p->kinds;
    for (int32_t v = 0; v < g->p->n_nodes; v++) {
        int32_t device = g->alone_on, k = 0;
        if (g->packed) {
            device = d->s.first[d->s.packing] + d->bin_of[part];
        } else if (g->taken) {
            device = g->taken->device_of[v];
            while (device >= d->s.first[k] + kinds[k].count)
                k++;
            device += kinds[k].pays ? clv_component_shares_devices(&d->s, k, shares) : 0;
        }
        d->solution[node[v]] = device;
    }
}

/* Offers the division at hand. *ret: its latency by the parts' own. O(nodes * kinds). */
static clv_status offer(divider *d, double *ret, clv_error *err)
{
    const clv_components *parts = &d->s.parts;
    int32_t shares = d->n_bins;
    double longest = 0;
    d->longest = NULL;
    for (int32_t bin = 0; bin < d->n_bins; bin++)
        longest = fmax(longest, d->bin_time[bin]);
    for (int32_t i = 0; i < parts->n_groups; i++) {
        clv_component_group *g = &d->s.groups[i];
        double value = g->packed ? 0 : g->taken ? g->taken->value : g->alone;
        if (value >= longest) {
            longest = value;
            d->longest = g->taken;
            d->longest_of = g;
        }
        for (int32_t c = parts->copies.first[i]; c < parts->copies.first[i + 1]; c++) {
            place_copy(d, g, parts->copies.at[c], shares);
            shares += g->taken ? g->taken->used : 0;
        }
    }
    *ret = longest;
    return clv_place_offer(d->s.search, NAME, d->solution, err);
}

/* The least limit that has a division, and the division. */
static clv_status divide(divider *d, clv_error *err)
{
    double low = d->s.bound * (1 + SAME), high = clv_place_best(d->s.search), limit = low, value;
    double most = TEST_WORK / (1.0 + (double)d->s.parts.n * (d->s.n_shares + 1));
    for (int32_t i = 0; i < MOST_TESTS && i <= most && !clv_place_over(d->s.search); i++) {
        bool found;
        if (limit >= high)
            return CLV_OK;
        CLV_TRY(try_limit(d, limit, &found, err));
        if (found) {
            CLV_TRY(offer(d, &value, err));
            high = fmin(limit, value);
        } else if (limit >= DBL_MAX) {
            return CLV_OK;
        } else {
            low = limit;
        }
        limit = isinf(high) ? DBL_MAX : low + (high - low) / 2;
        if (high - low <= SAME * high)
            return CLV_OK;
    }
    return CLV_OK;
}

/* -- the whole -- */

static void raise_bound(divider *d, double bound)
{
    d->s.bound = fmax(d->s.bound, bound);
    clv_place_raise(d->s.search, NAME, bound);
}

/* Once more, with all there is to do: the part that the bound is from, and the one that the
 * solution is from. */
static clv_status resolve_critical_parts(divider *d, clv_error *err)
{
    for (int32_t i = 0; i < d->s.parts.n_groups && clv_component_shares_may_solve(&d->s); i++) {
        clv_component_group *g = &d->s.groups[i];
        clv_component_share *all = clv_component_shares_solved(g, g->most);
        if (!all || !all->brief || all->bound < d->s.bound || all->value <= all->bound * (1 + SAME))
            continue;
        CLV_TRY(clv_component_shares_solve(&d->s, g, all->given, false, err));
        raise_bound(d, all->bound);
        break;
    }
    clv_component_share *last = d->longest;
    if (!last || !last->brief || last->value <= last->bound * (1 + SAME) ||
        !clv_component_shares_may_solve(&d->s))
        return CLV_OK;
    CLV_TRY(clv_component_shares_solve(&d->s, d->longest_of, last->given, false, err));
    return divide(d, err);
}

typedef struct {
    double key;
    int32_t group;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

/* Groups by what they take at least, or in one piece; the largest first. */
static clv_status rank_groups(const divider *d, bool by_whole, clv_arena *arena, int32_t **ret,
                              clv_error *err)
{
    int32_t n = d->s.parts.n_groups;
    ranked *list = CLV_NEW_ARRAY(arena, ranked, n);
    *ret = CLV_NEW_ARRAY(arena, int32_t, n);
    if (!list || !*ret)
        return clv_fail_nomem(err, "the parts of a placement");
    for (int32_t i = 0; i < n; i++)
        list[i] = (ranked){ by_whole ? d->s.groups[i].whole : d->s.groups[i].least, i };
    qsort(list, (size_t)n, sizeof *list, compare_ranked);
    for (int32_t i = 0; i < n; i++)
        (*ret)[i] = list[i].group;
    return CLV_OK;
}

clv_status clv_component_division_solve(clv_place_search *search, clv_arena *arena, clv_error *err)
{
    divider d = { 0 };
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(clv_component_shares_new(search, arena, &d.s, err));
    if (d.s.parts.n_groups > 0 && !clv_place_over(search)) {
        d.bin_time = CLV_NEW_ARRAY(arena, double, d.s.n_shares);
        d.bin_bytes = CLV_NEW_ARRAY(arena, int64_t, d.s.n_shares);
        d.bin_of = CLV_NEW_ARRAY(arena, int32_t, d.s.parts.n);
        d.solution = CLV_NEW_ARRAY(arena, int32_t, d.s.p->n_nodes);
        if (!d.bin_time || !d.bin_bytes || !d.bin_of || !d.solution)
            return clv_fail_nomem(err, "the parts of a placement");
        CLV_TRY(rank_groups(&d, false, arena, &d.by_least, err));
        CLV_TRY(rank_groups(&d, true, arena, &d.by_whole, err));
        raise_bound(&d, d.s.groups[d.by_least[0]].least);
        CLV_TRY(divide(&d, err)); /* without a solve: a solution at once */
        d.may_solve = true;
        /* each part alone on all devices, but for those that can do no better than the bound so far
         */
        for (int32_t i = 0; i < d.s.parts.n_groups && clv_component_shares_may_solve(&d.s); i++) {
            clv_component_group *g = &d.s.groups[d.by_least[i]];
            if (fmin(g->alone, g->whole) <= d.s.bound)
                continue;
            CLV_TRY(clv_component_shares_solve(&d.s, g, g->most, true, err));
            raise_bound(&d, g->solved->bound);
        }
        CLV_TRY(divide(&d, err));
        if (!clv_place_over(search))
            CLV_TRY(clv_component_memory_bound(&d.s, err));
        CLV_TRY(resolve_critical_parts(&d, err));
    }
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
