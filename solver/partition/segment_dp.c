#include "solver/partition/segment_dp.h"

#include <math.h>
#include <string.h>

#include "solver/partition/cluster_parts.h"
#include "solver/partition/segment_dp_plan.h"
#include "solver/partition/segment_splits.h"
#include "solver/partition/visit_multiplier.h"

/* Steps of a solution: some tenths of a second. */
#define STEPS_MAX 6e7
/* Steps of all solutions with different multipliers. */
#define MULTIPLIER_STEPS 1e7

/* -- one solution -- */

static double *begun_row(const clv_segment_dp_state *dp, int32_t cell, int32_t slot)
{
    return dp->begun_ns + ((ptrdiff_t)cell * dp->n_slots + slot) * dp->n_nodes;
}

static double *ended_row(const clv_segment_dp_state *dp, int32_t slot, int32_t longer)
{
    return dp->ended_ns + ((ptrdiff_t)slot * 2 + longer) * dp->n_nodes;
}

/* Times at which the last run of a cell ends, where it is of the class. n_used: devices of the
 * cell. */
static void end_runs(clv_segment_dp_state *dp, int32_t cell, int32_t n_used, int32_t c)
{
    const clv_run_class *it = &dp->classes[c];
    int32_t head = 0, tail = 0, slot = dp->slot_of[it->kind];
    double *alone = ended_row(dp, slot, 0), *ended = ended_row(dp, slot, 1);
    for (int32_t e = dp->low[n_used]; e <= dp->high[n_used]; e++) {
        while (head < tail && it->reach[dp->window[head]] < e)
            head++;
        double longer = head < tail ? dp->key_ns[dp->window[head]] : INFINITY, single = INFINITY;
        if (e < dp->n_nodes - 1) { /* a run does not begin at the end of all */
            single = it->reach[e] >= e ? clv_run_begin_ns(dp, cell, c, e) : INFINITY;
            while (head < tail && dp->key_ns[dp->window[tail - 1]] >= single)
                tail--;
            dp->key_ns[e] = single;
            dp->window[tail++] = e;
        }
        if (e == 0) /* the start of all is no run */
            continue;
        alone[e] = clv_lesser_ns(single + it->whole_ns[e], alone[e]);
        ended[e] = clv_lesser_ns(longer + it->whole_ns[e], ended[e]);
    }
}

/* Times at which runs of the cell at hand end with the node, by slot and longer. False: none does.
 */
static bool find_ends(const clv_segment_dp_state *dp, int32_t node, double *ends)
{
    double least = INFINITY;
    for (int32_t q = 0; q < 2 * dp->n_slots; q++) {
        ends[q] = dp->ended_ns[(ptrdiff_t)q * dp->n_nodes + node];
        least = clv_lesser_ns(least, ends[q]);
    }
    return least < INFINITY;
}

/* Begins runs behind those with these ends in the cell, segment i split in that way, for all kinds.
 */
static void begin_runs(clv_segment_dp_state *dp, int32_t cell, int32_t i,
                       const clv_segment_split *it, const double *ends)
{
    int32_t n_slots = dp->n_slots, n_before = 2 * n_slots;
    double *begun = &begun_row(dp, cell + it->cells, 0)[i];
    for (int32_t k = 0; k < n_slots; k++, begun += dp->n_nodes) {
        const double *ns = it->ns + k;
        double least = *begun;
        for (int32_t q = 0; q < n_before; q++, ns += n_slots)
            least = clv_lesser_ns(least, ends[q] + *ns);
        *begun = least;
    }
}

/* An open segment may use any number of devices of its own: carries its begins over to this cell
 * from those with one device less. */
static void begin_behind_open(clv_segment_dp_state *dp, int32_t cell, const int32_t *counts,
                              int32_t i)
{
    for (int32_t c = 0; c < dp->n_classes; c++)
        for (int32_t k = 0; k < dp->n_slots && counts[c] > 0; k++) {
            double *begun = &begun_row(dp, cell, k)[i];
            *begun = clv_lesser_ns(*begun, begun_row(dp, cell - dp->classes[c].stride, k)[i]);
        }
}

static void solve_cell(clv_segment_dp_state *dp, int32_t cell)
{
    int32_t counts[CLV_CLASSES_MAX] = { 0 }, room[CLV_CLASSES_MAX], n_used = 0;
    int32_t n = 2 * dp->n_slots * dp->n_nodes, end = dp->n_nodes - 1;
    double ends[2 * CLV_CLASSES_MAX];
    clv_cell_counts(dp, cell, counts);
    for (int32_t c = 0; c < dp->n_classes; c++) {
        room[c] = dp->classes[c].n - counts[c];
        n_used += counts[c];
    }
    for (int32_t e = 0; e < n; e++)
        dp->ended_ns[e] = cell == 0 && e == 0 ? 0 : INFINITY;
    for (int32_t c = 0; c < dp->n_classes; c++)
        if (counts[c] > 0)
            end_runs(dp, cell, n_used, c);
    for (int32_t i = dp->low[n_used] + 1; i <= end && i <= dp->high[n_used] + 1; i++) {
        if (!find_ends(dp, i - 1, ends))
            continue;
        for (int32_t m = dp->first_split[i]; m < dp->first_split[i + 1]; m++)
            if (clv_split_has_devices(dp, &dp->splits[m], room))
                begin_runs(dp, cell, i, &dp->splits[m], ends);
    }
    for (int32_t i = 1; i <= end && dp->any_open; i++)
        if (dp->is_open[i])
            begin_behind_open(dp, cell, counts, i);
    dp->all_ns[cell] = INFINITY;
    for (int32_t q = 0; q < 2 * dp->n_slots; q++)
        dp->all_ns[cell] =
            clv_lesser_ns(dp->all_ns[cell], dp->ended_ns[(ptrdiff_t)q * dp->n_nodes + end]);
}

/* Runs cost a part of a visit each, but the number of visits is whole: what is missing up to the
 * next whole number is added. Where devices may be used without a run it is not known how many runs
 * there were, and nothing is added. */
static double rounded_visits_ns(const clv_segment_dp_state *dp, const int32_t *counts)
{
    double n_visits[CLV_CLASSES_MAX] = { 0 }, missing = 0;
    if (dp->use_all || !dp->has_parts)
        return 0;
    for (int32_t c = 0; c < dp->n_classes; c++) {
        int32_t slot = dp->slot_of[dp->classes[c].kind];
        n_visits[dp->is_pure ? slot : 0] += (double)counts[c] / dp->part_size[slot];
    }
    for (int32_t k = 0; k < dp->n_slots; k++)
        missing += ceil(n_visits[k] - CLV_BOUND_MARGIN) - n_visits[k];
    return missing * dp->multiplier_ns;
}

/* The cell that all ends with, and the least end. Where all devices are to be used, those that the
 * backbone is not on have units outside it. */
static double find_least_end(const clv_segment_dp_state *dp, clv_segment_dp_end *ret)
{
    int32_t end = dp->n_nodes - 1, counts[CLV_CLASSES_MAX] = { 0 };
    double best = INFINITY;
    for (int32_t cell = 0; cell < dp->n_cells; cell++) {
        int32_t idle = dp->b->p->n_devices;
        clv_cell_counts(dp, cell, counts);
        for (int32_t c = 0; c < dp->n_classes; c++)
            idle -= counts[c];
        if (dp->use_all && idle > dp->n_others)
            continue;
        double rounded_ns = rounded_visits_ns(dp, counts);
        if (dp->all_ns[cell] + rounded_ns < best) {
            best = dp->all_ns[cell] + rounded_ns;
            *ret = (clv_segment_dp_end){ cell, -1 };
        }
        for (int32_t k = 0; k < dp->n_slots; k++)
            if (begun_row(dp, cell, k)[end] + rounded_ns < best) {
                best = begun_row(dp, cell, k)[end] + rounded_ns;
                *ret = (clv_segment_dp_end){ cell, k };
            }
    }
    return best;
}

/* What is proven with that multiplier. */
static double solve_with(clv_segment_dp_state *dp, double multiplier_ns, clv_segment_dp_end *end)
{
    ptrdiff_t n = (ptrdiff_t)dp->n_cells * dp->n_slots * dp->n_nodes;
    clv_visit_multiplier_set(dp, multiplier_ns);
    for (ptrdiff_t i = 0; i < n; i++)
        dp->begun_ns[i] = INFINITY;
    for (int32_t cell = 0; cell < dp->n_cells; cell++)
        solve_cell(dp, cell);
    return find_least_end(dp, end);
}

/* With the best of ascending multipliers: what they prove rises up to it, then falls. */
static double solve_best(clv_segment_dp_state *dp, const double *multipliers, int32_t n,
                         clv_segment_dp_end *end)
{
    int32_t low = 0, high = n - 1;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        double here = solve_with(dp, multipliers[middle], end);
        double next = solve_with(dp, multipliers[middle + 1], end);
        if (here < next)
            low = middle + 1;
        else
            high = middle;
    }
    return solve_with(dp, multipliers[low], end);
}

/* -- the call -- */

static clv_status open_nodes(clv_segment_dp_state *dp, clv_error *err)
{
    const clv_backbone *t = &dp->b->backbone;
    dp->place = CLV_NEW_ARRAY(dp->arena, int32_t, t->n + 2);
    if (!dp->place)
        return clv_fail_nomem(err, "a bound");
    dp->place[dp->n_nodes++] = -1;
    for (int32_t i = 0; i < t->n; i++)
        if (t->is_cut[i])
            dp->place[dp->n_nodes++] = i;
    dp->place[dp->n_nodes++] = t->n;
    dp->first_split = CLV_NEW_ARRAY(dp->arena, int32_t, dp->n_nodes + 1);
    dp->is_open = CLV_NEW_ARRAY(dp->arena, bool, dp->n_nodes);
    dp->key_ns = CLV_NEW_ARRAY(dp->arena, double, dp->n_nodes);
    dp->window = CLV_NEW_ARRAY(dp->arena, int32_t, dp->n_nodes);
    dp->b->only = CLV_NEW_ARRAY(dp->arena, int8_t, t->n);
    dp->slot_of = CLV_NEW_ARRAY(dp->arena, int32_t, dp->b->p->n_kinds);
    if (!dp->slot_of || !dp->first_split || !dp->is_open || !dp->key_ns || !dp->window ||
        !dp->b->only)
        return clv_fail_nomem(err, "a bound");
    memset(dp->b->only, -1, (size_t)t->n);
    for (int32_t k = 0; k < dp->b->p->n_kinds; k++)
        dp->slot_of[k] = -1;
    return CLV_OK;
}

/* Classes, links and ways to split. False in *ret: too many kinds, devices or units. */
static clv_status open_parts(clv_segment_dp_state *dp, bool *ret, clv_error *err)
{
    clv_segments *b = dp->b;
    CLV_TRY(clv_run_classes_find(dp, ret, err));
    if (!*ret)
        return CLV_OK;
    CLV_TRY(clv_cluster_parts_find(dp, err));
    clv_status status = clv_segment_splits_find(dp, err);
    b->only = NULL;
    b->direct = NULL;
    return status;
}

/* The table; and which nodes can end a run, with so many devices used: low and high, by how many
 * devices can have units up to each node. */
static clv_status open_table(clv_segment_dp_state *dp, clv_error *err)
{
    int32_t n = dp->b->p->n_devices, end = dp->n_nodes - 1;
    int32_t *units = CLV_NEW_ARRAY(dp->arena, int32_t, dp->n_nodes);
    dp->begun_ns =
        CLV_NEW_ARRAY(dp->arena, double, (ptrdiff_t)dp->n_cells * dp->n_slots * dp->n_nodes);
    dp->ended_ns = CLV_NEW_ARRAY(dp->arena, double, 2 * dp->n_slots * dp->n_nodes);
    dp->all_ns = CLV_NEW_ARRAY(dp->arena, double, dp->n_cells);
    dp->low = CLV_NEW_ARRAY(dp->arena, int32_t, n + 1);
    dp->high = CLV_NEW_ARRAY(dp->arena, int32_t, n + 1);
    if (!dp->begun_ns || !dp->ended_ns || !dp->all_ns || !units || !dp->low || !dp->high)
        return clv_fail_nomem(err, "a bound");
    for (int32_t i = 1; i < dp->n_nodes; i++) /* the end of all is none, but has those before it */
        units[i] = units[i - 1] + 1 + clv_segment_n_inner(dp, i);
    for (int32_t used = 0; used <= n; used++) {
        int32_t least = dp->use_all ? n - used - dp->n_others : 0; /* behind the node */
        dp->high[used] = end;
        while (dp->low[used] < end && units[dp->low[used]] + 1 < used)
            dp->low[used]++;
        while (dp->high[used] > 0 && units[end] - units[dp->high[used]] < least)
            dp->high[used]--;
    }
    return CLV_OK;
}

clv_status clv_segment_dp_bound(clv_segments *b, const clv_bound_options *o, clv_arena *scratch,
                                clv_segment_dp *ret, clv_error *err)
{
    clv_segment_dp_state dp = { .b = b,
                                .arena = scratch,
                                .n_others = b->p->n_units - b->backbone.n,
                                .use_all = o->use_all && b->p->n_units >= b->p->n_devices,
                                .reserve_bytes = o->reserve_bytes };
    clv_segment_dp_end end = { 0 };
    const double *multipliers;
    int32_t n_multipliers;
    bool few;
    ret->is_solved = ret->found = false;
    ret->ns = 0;
    CLV_TRY(open_nodes(&dp, err));
    if (dp.n_nodes < 3 || b->p->n_kinds > INT8_MAX)
        return CLV_OK;
    CLV_TRY(open_parts(&dp, &few, err));
    double steps = (double)dp.n_cells * (double)(dp.n_splits + dp.n_nodes) * dp.n_classes;
    if (!few || steps > STEPS_MAX)
        return CLV_OK;
    CLV_TRY(clv_visit_multipliers_list(&dp, (int32_t)(MULTIPLIER_STEPS / steps), &multipliers,
                                       &n_multipliers, err));
    CLV_TRY(open_table(&dp, err));
    ret->is_solved = true;
    ret->ns = solve_best(&dp, multipliers, n_multipliers, &end);
    if (ret->ns < INFINITY)
        CLV_TRY(clv_segment_dp_plan(&dp, &end, ret->order, ret->device_of, &ret->found, err));
    return CLV_OK;
}
