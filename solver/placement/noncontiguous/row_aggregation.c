/* row_aggregation.c - groups cut where coverage is most uneven. */
#include "solver/placement/noncontiguous/row_aggregation.h"

#include <math.h>

/* The imbalance of a group at a place is the weight by which blocks before it are covered less, and
 * those behind it more, than the mean. Less than this part of the mean weight of a group is even.
 */
#define EVEN_PART 1e-3
/* Groups with at least this part of the worst imbalance are split together. */
#define SPLIT_PART 0.25

/* Shares and names from first[]. */
static void index_groups(clv_row_groups *b)
{
    for (int32_t g = 0; g < b->n; g++) {
        double sum = 0;
        for (int32_t i = b->first[g]; i < b->first[g + 1]; i++)
            sum += b->weight[b->order[i]];
        for (int32_t i = b->first[g]; i < b->first[g + 1]; i++) {
            b->of[b->order[i]] = g;
            b->part[b->order[i]] = b->weight[b->order[i]] / sum;
        }
    }
}

clv_status clv_row_groups_init(clv_row_groups *b, int32_t n, clv_arena *arena, clv_error *err)
{
    b->n = 0;
    b->of = CLV_NEW_ARRAY(arena, int32_t, b->n_blocks);
    b->first = CLV_NEW_ARRAY(arena, int32_t, b->n_blocks + 1);
    b->part = CLV_NEW_ARRAY(arena, double, b->n_blocks);
    if (!b->of || !b->first || !b->part)
        return clv_fail_nomem(err, "bunches of blocks");
    double all = 0, sum = 0;
    for (int32_t i = 0; i < b->n_blocks; i++)
        all += b->weight[i];
    for (int32_t i = 0; i < b->n_blocks; i++) {
        if (sum * n >= all * b->n)
            b->first[b->n++] = i;
        sum += b->weight[b->order[i]];
    }
    b->first[b->n] = b->n_blocks;
    index_groups(b);
    return CLV_OK;
}

/* The place in a group with the largest imbalance, and that; 0 where it has one block. */
static double find_best_split(const clv_row_groups *b, const double *covered, int32_t g,
                              int32_t *place)
{
    double sum = 0, weight = 0, most = 0, imbalance = 0;
    for (int32_t i = b->first[g]; i < b->first[g + 1]; i++) {
        sum += b->weight[b->order[i]] * covered[b->order[i]];
        weight += b->weight[b->order[i]];
    }
    double mean = sum / weight;
    *place = b->first[g];
    for (int32_t i = b->first[g]; i + 1 < b->first[g + 1]; i++) {
        imbalance += b->weight[b->order[i]] * (covered[b->order[i]] - mean);
        if (fabs(imbalance) > most) {
            most = fabs(imbalance);
            *place = i + 1;
        }
    }
    return most;
}

bool clv_row_groups_split(clv_row_groups *b, const double *covered)
{
    double worst = 0, all = 0;
    int32_t place, n = b->n;
    for (int32_t i = 0; i < b->n_blocks; i++)
        all += b->weight[i];
    for (int32_t g = 0; g < n; g++)
        worst = fmax(worst, find_best_split(b, covered, g, &place));
    if (worst <= EVEN_PART * all / n)
        return false;
    for (int32_t i = 0; i < b->n_blocks; i++)
        b->of[i] = -1;
    for (int32_t g = 0; g < n; g++) {
        bool split = find_best_split(b, covered, g, &place) >= SPLIT_PART * worst;
        b->of[b->order[b->first[g]]] = g; /* marks where one begins */
        if (split)
            b->of[b->order[place]] = g;
    }
    b->n = 0;
    for (int32_t i = 0; i < b->n_blocks; i++)
        if (b->of[b->order[i]] >= 0)
            b->first[b->n++] = i;
    b->first[b->n] = b->n_blocks;
    index_groups(b);
    return true;
}
