/* bound_price.c - see bound_price.h. */
#include "solver/intra_op/bound_price.h"

#include <math.h>
#include <string.h>

#define MEAN_WEIGHT 0.1
/* Squares of the mean, in those of what it is the mean of; and what steps are multiplied by. */
#define STEADY  0.3
#define LONGER  1.1
#define WAVERS  0.02
#define SHORTER 0.98
/* The gap aimed at is no more than these shares of the bound and of the gap together: far away, or
 * with a poor solution, it says little. */
#define FAR     0.1
#define FAR_GAP 0.01
/* And no less than this share of the bound: a solution that is soon near its end, while prices are
 * not, must not stop them. */
#define NEAR        0.01
#define GUESSED_GAP 0.05 /* of the bound, where no solution is known */

/* Rows that get a price in a round: at least so many, more while finding them is no more than this
 * part of a sweep; and only rows at least half as overfull as the fullest. */
enum { NEW_ROWS = 8, MARK_PART = 4 };
#define FULL_ENOUGH 0.5

/* b->over: by how much the choices taken pass the limit in each row. */
static void measure_excess(clv_intra_op_bound *b)
{
    const clv_intra_op_problem *p = b->p;

    memset(b->over, 0, (size_t)(b->n_rows + 1) * sizeof *b->over);
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++) {
            double u = (double)p->usage[p->span_usage[i] + b->taken[v]];

            b->over[p->span_lo[i]] += u;
            b->over[p->span_hi[i]] -= u;
        }
    for (int32_t r = 0; r < b->n_rows; r++)
        b->over[r + 1] += b->over[r];
    for (int32_t r = 0; r < b->n_rows; r++)
        b->over[r] -= (double)p->usage_limit;
}

/* Takes out of rest what goes from all rows when all that is held in row r shrinks until it is just
 * full. O(nodes + spans + rows). */
static void subtract_relief(clv_intra_op_bound *b, int32_t r)
{
    const clv_intra_op_problem *p = b->p;
    double *change = b->before; /* free until prices are paid */
    double load = b->over[r] + (double)p->usage_limit, sum = 0;

    if (load <= 0)
        return;
    double part = fmin(1, b->rest[r] / load);
    memset(change, 0, ((size_t)b->n_rows + 1) * sizeof *change);
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++)
            if (p->span_lo[i] <= r && r < p->span_hi[i]) {
                double u = (double)p->usage[p->span_usage[i] + b->taken[v]];

                change[p->span_lo[i]] += u;
                change[p->span_hi[i]] -= u;
            }
    for (int32_t k = 0; k < b->n_rows; k++) {
        sum += change[k];
        b->rest[k] -= part * sum;
    }
}

/* Marks rows that get a price. */
static void mark_rows(clv_intra_op_bound *b)
{
    const clv_intra_op_problem *p = b->p;
    int64_t each = (int64_t)p->n_nodes + p->first_span[p->n_nodes] + b->n_rows;
    int64_t n = b->n_entries / (MARK_PART * each);
    double most = 0;

    n = n > NEW_ROWS ? n : NEW_ROWS;
    memcpy(b->rest, b->mean, (size_t)b->n_rows * sizeof *b->rest);
    memset(b->marked, 0, (size_t)b->n_rows * sizeof *b->marked);
    for (int64_t k = 0; k < n; k++) {
        int32_t r = -1; /* without a price, and fullest if those marked were just full */

        for (int32_t i = 0; i < b->n_rows; i++)
            if (b->price[i] <= 0 && !b->marked[i] && b->rest[i] > 0 &&
                (r < 0 || b->rest[i] > b->rest[r]))
                r = i;
        if (r < 0 || b->rest[r] < FULL_ENOUGH * most)
            return;
        most = k ? most : b->rest[r];
        b->marked[r] = true;
        subtract_relief(b, r);
    }
}

void clv_bound_update_prices(clv_intra_op_bound *b, clv_int128 cost)
{
    double norm = 0, square = 0, bound = (double)b->bound, gap = GUESSED_GAP * bound;

    measure_excess(b);
    for (int32_t r = 0; r < b->n_rows; r++)
        b->mean[r] += MEAN_WEIGHT * (b->over[r] - b->mean[r]);
    mark_rows(b);
    for (int32_t r = 0; r < b->n_rows; r++)
        if (b->price[r] > 0 || b->marked[r]) {
            norm += b->mean[r] * b->mean[r];
            square += b->over[r] * b->over[r];
        }
    if (norm <= 0)
        return;
    b->square = b->square > 0 ? b->square + MEAN_WEIGHT * (square - b->square) : square;
    if (norm > STEADY * b->square)
        b->step = fmin(b->longest, b->step * LONGER);
    else if (norm < WAVERS * b->square)
        b->step *= SHORTER;
    if (cost >= 0) {
        gap = (double)(cost - b->bound);
        gap = fmin(fmax(gap, NEAR * bound), FAR * bound + FAR_GAP * gap);
    }
    double step = b->step * gap / fmax(norm, b->square);
    for (int32_t r = 0; r < b->n_rows; r++)
        if (b->price[r] > 0 || b->marked[r])
            b->price[r] = fmax(0, b->price[r] + step * b->mean[r]);
    clv_bound_set_memory_costs(b);
}
