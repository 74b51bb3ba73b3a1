/* cost_rows.h - the inner loops of all that sends messages or eliminates nodes: costs by choice are
 * added and compared, as in products over the (min, +) semiring (Cuninghame-Green 1979). What is
 * written is no part of what is read, which parameters can say and members cannot: then compilers
 * check nothing before each row of a few choices.
 */
#ifndef CLV_SOLVER_INTRA_OP_COST_ROWS_H
#define CLV_SOLVER_INTRA_OP_COST_ROWS_H

#include <stdint.h>

static inline double clv_lesser(double a, double b) { return a < b ? a : b; }

/* Adds a row of n costs. */
static inline void clv_row_add(double *restrict sum, const double *restrict more, int32_t n)
{
    for (int32_t c = 0; c < n; c++)
        sum[c] += more[c];
}

/* Costs of an edge or factor: rows by one node's choice, which need not follow each other. */
typedef struct {
    const double *at;
    int64_t pitch; /* from one row to the next */
    int32_t n, width;
} clv_cost_rows;

/* The product of a row and a matrix. out[j]: the least of part[c] and entry j of row c over all
 * rows, or most. Four rows at a time, for out is read and written once for them. */
static inline void clv_row_min_plus(const double *restrict part, clv_cost_rows rows, double most,
                                    double *restrict out)
{
    const double *row = rows.at;
    int32_t c = 0;
    for (int32_t j = 0; j < rows.width; j++)
        out[j] = most;
    for (; c + 4 <= rows.n; c += 4, row += 4 * rows.pitch) {
        const double *next = row + rows.pitch, *third = next + rows.pitch;
        const double *last = third + rows.pitch;
        for (int32_t j = 0; j < rows.width; j++) {
            double least = clv_lesser(part[c] + row[j], out[j]);
            least = clv_lesser(part[c + 1] + next[j], least);
            least = clv_lesser(part[c + 2] + third[j], least);
            out[j] = clv_lesser(part[c + 3] + last[j], least);
        }
    }
    for (; c < rows.n; c++, row += rows.pitch)
        for (int32_t j = 0; j < rows.width; j++)
            out[j] = clv_lesser(part[c] + row[j], out[j]);
}

#endif
