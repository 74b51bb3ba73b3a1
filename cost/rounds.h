/* rounds.h - the algorithms of collectives as rounds of transfers. Seen by collective.c only. */
#ifndef CLV_COST_ROUNDS_H
#define CLV_COST_ROUNDS_H

#include "cost/collective.h"

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

/* Lines found so far, more than are kept in the end. */
#define CLV_LINES_TRIED 96
typedef struct {
    int32_t n;
    clv_line at[CLV_LINES_TRIED];
} clv_lines;

/* Adds a line; the worst may be lost when there is no room. */
void clv_lines_add(clv_lines *lines, clv_line line);
/* Leaves those that are lowest somewhere, by latency, CLV_LINES_MAX at most. */
void clv_lines_prune(clv_lines *lines);

/* One round: bytes in each transfer are counted by the caller. */
clv_line clv_round(const clv_rounds *r);
/* The lines of every collective. */
typedef struct {
    clv_lines of[CLV_N_COLLECTIVES];
} clv_line_set;

/* Adds the lines of all algorithms but hierarchies; those of all-to-all, which need as many rounds
 * as there are devices, only where asked. p is at least 2. O(devices * rounds). */
void clv_rounds_lines(clv_rounds *r, bool exchange, clv_line_set *ret);

#endif
