#include "solver/partition/segment_dp_plan.h"

#include <string.h>

typedef struct {
    int32_t class, first, last; /* nodes; class -1: no device */
    int32_t how;                /* the split after it; -1: none */
    int32_t way;                /* of that */
} run;

/* The run of a cell that ends at a node, and what the way in which segment node + 1 is split
 * behind it adds; ns: by kind and length of the run, NULL: nothing. */
static double trace_run(const clv_segment_dp_state *dp, int32_t cell, int32_t node, int32_t slot,
                        const double *ns, run *ret)
{
    int32_t counts[CLV_CLASSES_MAX] = { 0 };
    double least = INFINITY;
    clv_cell_counts(dp, cell, counts);
    for (int32_t c = 0; c < dp->n_classes; c++)
        for (int32_t s = node < dp->n_nodes - 1 ? node : node - 1; counts[c] > 0 && s >= 0; s--) {
            if (dp->classes[c].reach[s] < node)
                break;
            int32_t way = clv_split_way(dp, dp->slot_of[dp->classes[c].kind], s < node, slot);
            double at = clv_run_begin_ns(dp, cell, c, s) + dp->classes[c].whole_ns[node];
            at += ns ? ns[way] : 0;
            if (at < least) {
                least = at;
                *ret = (run){ .class = c, .first = s, .last = node, .how = -1, .way = way };
            }
        }
    return least;
}

/* The run before the one that begins with a node on the slot's kind, the cell's devices before it;
 * and the cell that it ended in. */
static run trace_split(const clv_segment_dp_state *dp, int32_t *cell, int32_t node, int32_t slot)
{
    int32_t counts[CLV_CLASSES_MAX] = { 0 };
    double least = INFINITY;
    run best = { .class = -1 };
    clv_cell_counts(dp, *cell, counts);
    for (int32_t m = dp->first_split[node]; m < dp->first_split[node + 1]; m++) {
        const clv_segment_split *it = &dp->splits[m];
        run here = { .class = -1 };
        if (!clv_split_has_devices(dp, it, counts))
            continue;
        double at = trace_run(dp, *cell - it->cells, node - 1, slot, it->ns, &here);
        if (at < least) {
            least = at;
            best = here;
            best.how = m;
        }
    }
    *cell -= best.how >= 0 ? dp->splits[best.how].cells : 0;
    return best;
}

/* From the last to the first, into runs; n_devices at most. */
static int32_t trace_runs(const clv_segment_dp_state *dp, const clv_segment_dp_end *end, run *runs)
{
    int32_t cell = end->cell, n = 0;
    run it = { .class = -1 };
    if (end->slot < 0)
        trace_run(dp, cell, dp->n_nodes - 1, 0, NULL, &it);
    else
        it = trace_split(dp, &cell, dp->n_nodes - 1, end->slot);
    while (it.class >= 0) {
        runs[n++] = it;
        cell -= dp->classes[it.class].stride;
        if (it.first <= 1)
            break; /* units before the first node may have devices of their own */
        it = trace_split(dp, &cell, it.first, dp->slot_of[dp->classes[it.class].kind]);
    }
    if (it.class < 0)
        return 0;
    for (int32_t i = 0; i < n / 2; i++) {
        run swap = runs[i];
        runs[i] = runs[n - 1 - i];
        runs[n - 1 - i] = swap;
    }
    return n;
}

typedef struct {
    const clv_segment_dp_state *dp;
    bool *taken; /* n_devices */
    int32_t *device_of;
} builder;

/* A free device of the class; -1: none. */
static int32_t claim_device(builder *t, const clv_run_class *c)
{
    const clv_partition_problem *p = t->dp->b->p;
    for (int32_t d = 0; d < p->n_devices; d++)
        if (!t->taken[d] && p->kind_of[d] == c->kind &&
            p->capacity_bytes[d] - t->dp->reserve_bytes == c->capacity_bytes) {
            t->taken[d] = true;
            return d;
        }
    return -1;
}

/* Of a unit between two nodes, the next one on a device of a kind. -1: any. */
static int8_t wanted_kind(const clv_segment_dp_state *dp, const run *a, int32_t index)
{
    const clv_segment_split *it = &dp->splits[a->how];
    return index < CLV_SPLIT_UNITS_MAX ? it->kinds[a->way * CLV_SPLIT_UNITS_MAX + index] : -1;
}

/* The places between a run and the next one. */
static int32_t first_between(const clv_segment_dp_state *dp, const run *a)
{
    return dp->place[a->last] + 1;
}

static int32_t end_between(const clv_segment_dp_state *dp, const run *a)
{
    return a->last + 1 < dp->n_nodes - 1 ? dp->place[a->last + 1] : dp->b->backbone.n;
}

/* Places the units that the split has on devices of their own, one each. */
static void place_own(builder *t, const run *a)
{
    const clv_segment_dp_state *dp = t->dp;
    const clv_segment_split *it = &dp->splits[a->how];
    int32_t own[CLV_CLASSES_MAX], first = first_between(dp, a);
    memcpy(own, it->own, sizeof own);
    for (int32_t i = first; i < end_between(dp, a); i++) {
        int8_t want = wanted_kind(dp, a, i - first);
        for (int32_t c = 0; c < dp->n_classes; c++) {
            if (own[c] == 0 || (want >= 0 && dp->classes[c].kind != want))
                continue;
            own[c]--;
            t->device_of[dp->b->backbone.unit[i]] = claim_device(t, &dp->classes[c]);
            break;
        }
    }
}

/* Places the others on the device of the run before or behind, in turn, so that two may run at a
 * time. */
static void place_between(builder *t, const run *a, int32_t from, int32_t to)
{
    const clv_partition_problem *p = t->dp->b->p;
    int32_t first = first_between(t->dp, a), turn = 0;
    for (int32_t i = first; i < end_between(t->dp, a); i++) {
        int32_t *d = &t->device_of[t->dp->b->backbone.unit[i]];
        int8_t want = wanted_kind(t->dp, a, i - first);
        bool is_near = want < 0 || p->kind_of[from] == want;
        bool is_far = to >= 0 && (want < 0 || p->kind_of[to] == want);
        if (*d < 0)
            *d = is_near && (!is_far || turn++ % 2 == 0) ? from : to >= 0 ? to : from;
    }
}

/* Units outside the backbone: one each for devices that are to be used and have none; else where
 * the last unit that they wait for is. */
static void place_others(builder *t, int32_t first_device)
{
    const clv_partition_problem *p = t->dp->b->p;
    int32_t idle = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        if (t->device_of[u] >= 0)
            continue;
        while (idle < p->n_devices && t->taken[idle])
            idle++;
        int32_t last = -1;
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++)
            last = p->net_from[p->reads[i]] > last ? p->net_from[p->reads[i]] : last;
        t->device_of[u] = last >= 0 ? t->device_of[last] : first_device;
        if (t->dp->use_all && idle < p->n_devices) {
            t->taken[idle] = true;
            t->device_of[u] = idle;
        }
    }
}

/* Devices as the backbone goes through them, then the others. seen: scratch, n_devices, all false.
 */
static void list_devices(const clv_segment_dp_state *dp, const int32_t *device_of, bool *seen,
                         int32_t *order)
{
    const clv_backbone *backbone = &dp->b->backbone;
    int32_t n = 0;
    for (int32_t i = 0; i < backbone->n; i++) {
        int32_t d = device_of[backbone->unit[i]];
        if (!seen[d])
            order[n++] = d;
        seen[d] = true;
    }
    for (int32_t d = 0; d < dp->b->p->n_devices; d++)
        if (!seen[d])
            order[n++] = d;
}

clv_status clv_segment_dp_plan(const clv_segment_dp_state *dp, const clv_segment_dp_end *end,
                               int32_t *order, int32_t *device_of, bool *ret, clv_error *err)
{
    const clv_partition_problem *p = dp->b->p;
    run *runs = CLV_NEW_ARRAY(dp->arena, run, p->n_devices + 1);
    int32_t *device = CLV_NEW_ARRAY(dp->arena, int32_t, p->n_devices + 1);
    bool *seen = CLV_NEW_ARRAY(dp->arena, bool, p->n_devices);
    builder t = { dp, CLV_NEW_ARRAY(dp->arena, bool, p->n_devices), device_of };
    if (!runs || !device || !t.taken || !seen)
        return clv_fail_nomem(err, "a bound");
    int32_t n = trace_runs(dp, end, runs);
    *ret = n > 0;
    if (n == 0)
        return CLV_OK;
    for (int32_t u = 0; u < p->n_units; u++)
        device_of[u] = -1;
    for (int32_t i = 0; i < n; i++) {
        int32_t first = dp->place[runs[i].first], last = dp->place[runs[i].last];
        device[i] = claim_device(&t, &dp->classes[runs[i].class]);
        for (int32_t k = first < 0 ? 0 : first; k <= last && k < dp->b->backbone.n; k++)
            device_of[dp->b->backbone.unit[k]] = device[i];
        if (runs[i].how >= 0)
            place_own(&t, &runs[i]);
    }
    for (int32_t i = 0; i < n; i++)
        if (runs[i].how >= 0) {
            int32_t to = i + 1 < n ? device[i + 1] : -1;
            place_between(&t, &runs[i], device[i], to);
        }
    place_others(&t, device[0]);
    list_devices(dp, device_of, seen, order);
    return CLV_OK;
}
