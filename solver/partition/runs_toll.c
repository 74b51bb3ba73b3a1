/* runs_toll.c - what it costs to come to a part of a cluster that slow links join.
 *
 * A part's devices have one run each at most. So many runs make so many visits to parts, and to all
 * visits but the first they come from another part, over a slow link. For any toll that each visit
 * costs, its runs sharing in it, and that is given back where a part is come to, what is proven is
 * proven: no plan pays more than it is given back. Every plan's time is linear in the toll, so the
 * least of all is concave in it.
 */
#include <math.h>
#include <stdlib.h>

#include "solver/partition/runs_walk.h"

/* Thirds by which a toll is guessed. */
#define GUESSES 40
/* Tolls that differ by less, in ns, prove the same. */
#define ALIKE_NS 1.0

/* What parting a stretch costs more than not. */
typedef struct {
    double stay_ns, leave_ns;
} cost;

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The kind on which all takes least. */
static int32_t fastest_slot(const clv_runs_walk *w)
{
    int32_t best = 0;
    for (int32_t k = 1; k < w->n_slots; k++)
        if (w->whole_of[k][w->n_nodes - 1] < w->whole_of[best][w->n_nodes - 1])
            best = k;
    return best;
}

/* What parting so many stretches at that toll takes at least; if any number may be, what gains.
 * size: of a part. key: scratch. */
static double with_toll(const clv_runs_walk *w, const cost *at, int32_t n, int32_t most,
                        double toll, int32_t size)
{
    double sum = -toll;
    for (int32_t i = 0; i < n; i++)
        w->key[i] = fmin(at[i].stay_ns, at[i].leave_ns - toll) + toll / size;
    qsort(w->key, (size_t)n, sizeof *w->key, by_size);
    for (int32_t i = 0; i < n && i < most; i++)
        sum += w->use_all || w->key[i] < 0 ? w->key[i] : 0;
    return sum;
}

/* As if all runs were on the fastest kind and of any length. Where all devices of kinds with parts
 * of their own are to be used, kinds come by turns, and parts are come to in any case. costs:
 * scratch, n_nodes. */
static double guess(const clv_runs_walk *w, cost *costs)
{
    int32_t slot = fastest_slot(w), way = clv_runs_way(w, slot, 0, slot), n = 0, most = -1;
    const double *whole = w->whole_of[slot];
    double low = 0, high = 0;
    if (w->use_all && w->is_pure && w->n_slots > 1)
        return 0;
    for (int32_t d = 0; d < w->b->p->n_devices; d++)
        most += w->b->p->kind_of[d] == w->kind_at[slot];
    for (int32_t i = 2; i + 1 < w->n_nodes; i++) {
        const clv_runs_parting *it = &w->partings[w->first_parting[i]];
        double unparted = whole[i] - whole[i - 1];
        if (!isfinite(it->leave_ns[way]))
            continue;
        costs[n++] = (cost){ it->stay_ns[way] - unparted, it->leave_ns[way] - unparted };
        high = fmax(high, it->leave_ns[way] - it->stay_ns[way]);
    }
    for (int32_t turn = 0; turn < GUESSES; turn++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;
        int32_t size = w->part_size[slot];
        if (with_toll(w, costs, n, most, a, size) < with_toll(w, costs, n, most, b, size))
            low = a;
        else
            high = b;
    }
    return (low + high) / 2;
}

/* What it takes to leave a part at any stretch, nothing, and what was guessed. */
static int32_t list_leaves(const clv_runs_walk *w, double guessed, double *tolls)
{
    int32_t n = 0, kept = 0;
    tolls[n++] = 0;
    tolls[n++] = guessed;
    for (int32_t m = 0; m < w->first_parting[w->n_nodes - 1]; m++)
        for (int32_t way = 0; way < 2 * w->n_slots * w->n_slots; way++) {
            double more = w->partings[m].leave_ns[way] - w->partings[m].stay_ns[way];
            if (isfinite(more) && more > 0)
                tolls[n++] = more;
        }
    qsort(tolls, (size_t)n, sizeof *tolls, by_size);
    for (int32_t i = 0; i < n; i++)
        if (i == 0 || tolls[i] > tolls[kept - 1] + ALIKE_NS)
            tolls[kept++] = tolls[i];
    return kept;
}

clv_status clv_runs_tolls(clv_runs_walk *w, int32_t most_walks, const double **tolls,
                          int32_t *n_tolls, clv_error *err)
{
    size_t n_ways = 2 * (size_t)w->n_slots * (size_t)w->n_slots;
    double *list = CLV_NEW_ARRAY(w->arena, double, (size_t)w->n_partings *n_ways + 2);
    cost *costs = CLV_NEW_ARRAY(w->arena, cost, w->n_nodes);
    if (!list || !costs)
        return clv_fail_nomem(err, "a bound");
    *n_tolls = 1;
    *tolls = list;
    if (!w->has_parts)
        return CLV_OK;
    double guessed = guess(w, costs);
    int32_t n = list_leaves(w, guessed, list), n_walks = 1;
    for (int32_t left = n; left > 1; left /= 2)
        n_walks += 2;
    *n_tolls = n;
    if (n_walks > most_walks) {
        list[0] = guessed;
        *n_tolls = 1;
    }
    return CLV_OK;
}

void clv_runs_set_toll(clv_runs_walk *w, double toll_ns)
{
    w->toll_ns = toll_ns;
    for (int32_t m = 0; m < w->n_partings; m++) /* the last stretch comes to no run */
        for (int32_t way = 0; way < 2 * w->n_slots * w->n_slots; way++) {
            clv_runs_parting *it = &w->partings[m];
            bool is_end = m >= w->first_parting[w->n_nodes - 1];
            it->ns[way] =
                is_end ? it->stay_ns[way] : fmin(it->stay_ns[way], it->leave_ns[way] - toll_ns);
        }
}
