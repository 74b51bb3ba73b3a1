#include "solver/partition/visit_multiplier.h"

#include <math.h>
#include <stdlib.h>

/* Steps of the ternary search by which a multiplier is guessed. */
#define GUESSES 40
/* Multipliers that differ by less prove the same. */
#define ALIKE_NS 1.0

/* What splitting a segment costs more than not. */
typedef struct {
    double stay_ns, leave_ns;
} cost;

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The least cost of splitting `most` segments with that multiplier; where fewer may be split, only
 * of those that gain. size: of a part. */
static double least_cost_ns(const clv_segment_dp_state *dp, const cost *at, int32_t n, int32_t most,
                            double multiplier, int32_t size)
{
    double sum = -multiplier, *key = dp->key_ns;
    for (int32_t i = 0; i < n; i++)
        key[i] = fmin(at[i].stay_ns, at[i].leave_ns - multiplier) + multiplier / size;
    qsort(key, (size_t)n, sizeof *key, by_size);
    for (int32_t i = 0; i < n && i < most; i++)
        sum += dp->use_all || key[i] < 0 ? key[i] : 0;
    return sum;
}

/* The best multiplier as if all runs were on the fastest kind and of any length. 0 where all
 * devices are to be used and each part has one kind: kinds come by turns then, and parts are
 * entered in any case. costs: scratch, n_nodes. */
static double guess_multiplier(const clv_segment_dp_state *dp, cost *costs)
{
    int32_t slot = 0, n = 0, most = -1;
    double low = 0, high = 0;
    for (int32_t k = 1; k < dp->n_slots; k++)
        if (dp->whole_of[k][dp->n_nodes - 1] < dp->whole_of[slot][dp->n_nodes - 1])
            slot = k;
    if (dp->use_all && dp->is_pure && dp->n_slots > 1)
        return 0;
    for (int32_t d = 0; d < dp->b->p->n_devices; d++)
        most += dp->b->p->kind_of[d] == dp->kind_at[slot];
    int32_t way = clv_split_way(dp, slot, 0, slot), size = dp->part_size[slot];
    const double *whole = dp->whole_of[slot];
    for (int32_t i = 2; i + 1 < dp->n_nodes; i++) {
        const clv_segment_split *it = &dp->splits[dp->first_split[i]];
        double unsplit = whole[i] - whole[i - 1];
        if (!isfinite(it->leave_ns[way]))
            continue;
        costs[n++] = (cost){ it->stay_ns[way] - unsplit, it->leave_ns[way] - unsplit };
        high = fmax(high, it->leave_ns[way] - it->stay_ns[way]);
    }
    for (int32_t turn = 0; turn < GUESSES; turn++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (least_cost_ns(dp, costs, n, most, a, size) < least_cost_ns(dp, costs, n, most, b, size))
            low = a;
        else
            high = b;
    }
    return (low + high) / 2;
}

/* Lists the costs of leaving a part at any segment, 0, and the guess. */
static int32_t list_leave_costs(const clv_segment_dp_state *dp, double guessed, double *list)
{
    int32_t n = 0, kept = 0;
    list[n++] = 0;
    list[n++] = guessed;
    for (int32_t m = 0; m < dp->first_split[dp->n_nodes - 1]; m++)
        for (int32_t way = 0; way < 2 * dp->n_slots * dp->n_slots; way++) {
            double more = dp->splits[m].leave_ns[way] - dp->splits[m].stay_ns[way];
            if (isfinite(more) && more > 0)
                list[n++] = more;
        }
    qsort(list, (size_t)n, sizeof *list, by_size);
    for (int32_t i = 0; i < n; i++)
        if (i == 0 || list[i] > list[kept - 1] + ALIKE_NS)
            list[kept++] = list[i];
    return kept;
}

clv_status clv_visit_multipliers_list(clv_segment_dp_state *dp, int32_t most_solutions,
                                      const double **multipliers, int32_t *n_multipliers,
                                      clv_error *err)
{
    size_t n_ways = 2 * (size_t)dp->n_slots * (size_t)dp->n_slots;
    double *list = CLV_NEW_ARRAY(dp->arena, double, (size_t)dp->n_splits *n_ways + 2);
    cost *costs = CLV_NEW_ARRAY(dp->arena, cost, dp->n_nodes);
    if (!list || !costs)
        return clv_fail_nomem(err, "a bound");
    *n_multipliers = 1;
    *multipliers = list;
    if (!dp->has_parts)
        return CLV_OK;
    double guessed = guess_multiplier(dp, costs);
    int32_t n = list_leave_costs(dp, guessed, list), n_solutions = 1;
    for (int32_t left = n; left > 1; left /= 2)
        n_solutions += 2;
    *n_multipliers = n;
    if (n_solutions > most_solutions) {
        list[0] = guessed;
        *n_multipliers = 1;
    }
    return CLV_OK;
}

void clv_visit_multiplier_set(clv_segment_dp_state *dp, double multiplier_ns)
{
    dp->multiplier_ns = multiplier_ns;
    for (int32_t m = 0; m < dp->n_splits; m++) /* behind the last segment there is no run */
        for (int32_t way = 0; way < 2 * dp->n_slots * dp->n_slots; way++) {
            clv_segment_split *it = &dp->splits[m];
            bool is_end = m >= dp->first_split[dp->n_nodes - 1];
            it->ns[way] = is_end ? it->stay_ns[way]
                                 : fmin(it->stay_ns[way], it->leave_ns[way] - multiplier_ns);
        }
}
