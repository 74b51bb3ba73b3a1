/* rounds.h - the algorithms of collectives as rounds of transfers.
 *
 * Ring, recursive halving and doubling, Bruck's algorithm and binomial trees, with their costs as
 * in R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in
 * MPICH" (2005).
 */
#ifndef CLV_COST_ROUNDS_H
#define CLV_COST_ROUNDS_H

#include "cluster/cluster.h"
#include "cost/alpha_beta.h"

typedef enum {
    CLV_ALL_GATHER,     /* bytes: of the whole that each has in the end */
    CLV_REDUCE_SCATTER, /* bytes: of the whole that each has at first */
    CLV_ALL_REDUCE,     /* bytes: of what each has */
    CLV_ALL_TO_ALL,     /* bytes: of what each has, one n-th for each device */
    CLV_BROADCAST,      /* bytes: of what the first of a group has */
    CLV_N_COLLECTIVES
} clv_collective;

/* Groups of p devices each, side by side; in a round member i of every group sends to member
 * to[i] (-1: nothing). Every array has room for all devices of the mesh. */
typedef struct {
    const clv_cluster *cluster;
    const int32_t *member; /* n_groups * p devices */
    int32_t n_groups, p;
    int32_t *to;
    int32_t *load;    /* by port; 0 between rounds */
    int32_t *touched; /* ports with a load */
} clv_rounds;

/* The line of one round over the bytes of a transfer: the longest latency, and the port that is
 * busy longest. O(devices * ports of a route). */
clv_line clv_round(const clv_rounds *r);

/* The lines of every collective. */
typedef struct {
    clv_lines of[CLV_N_COLLECTIVES];
} clv_line_set;

/* Adds the lines of all algorithms but hierarchies; those of all-to-all, which need as many rounds
 * as there are devices, only where asked. p is at least 2. O(devices * rounds). */
void clv_rounds_lines(clv_rounds *r, bool exchange, clv_line_set *ret);

#endif
