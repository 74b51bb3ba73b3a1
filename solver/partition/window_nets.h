/* window_nets.h - what the programs of windows (refine_ilp.h, refine_window.h) both begin with. */
#ifndef CLV_SOLVER_PARTITION_WINDOW_NETS_H
#define CLV_SOLVER_PARTITION_WINDOW_NETS_H

#include "problem/partition_problem.h"

/* Nets, each once, ascending. */
typedef struct {
    int32_t *at, n;
} clv_net_list;

/* The nets that any of these units writes or reads, from the arena. CLV_ENOMEM. O(pins of the
 * units * log). */
clv_status clv_window_nets(const clv_partition_problem *p, const int32_t *unit, int32_t n,
                           clv_arena *arena, clv_net_list *ret, clv_error *err);

#endif
