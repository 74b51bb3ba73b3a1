/* lns.h - a placement re-optimised exactly, window by window.
 *
 * A window is the busiest device, one or two others, and a connected set of their blocks; all other
 * blocks stay where they are. What is best for the window is a small 0/1 program:
 *
 *   x[i][s] = 1    block i is on device s of the window; one s for each block
 *   T              the largest load of these devices, below what it is now
 *
 * and for every net that the window can change, on each device that pays: whether it pays. Windows
 * are moved over the devices, and grow while they are solved with little work, until none gets
 * better. A step makes the largest load of its devices smaller, so no arrangement comes twice.
 *
 * Contiguous: the devices of a window are neighbours in the line, and no arc leads back.
 */
#ifndef CLV_SOLVER_PLACEMENT_MIP_LNS_H
#define CLV_SOLVER_PLACEMENT_MIP_LNS_H

#include "solver/placement/common/contraction.h"

typedef struct {
    int64_t pivots;            /* of the simplex in all; 0: CLV_LNS_PIVOTS */
    int64_t pivots_window;     /* and in one window; 0: CLV_LNS_WINDOW_PIVOTS */
    bool (*stop)(void *ctx);   /* asked often; may be NULL */
    double (*left)(void *ctx); /* seconds to the deadline, at least; may be NULL: none */
    /* Told of each answer with a smaller largest load, by block; may be NULL. */
    clv_status (*better)(void *ctx, const int32_t *device_of, clv_error *err);
    void *ctx;
} clv_lns_options;

typedef struct {
    int64_t pivots;
    int32_t n_windows, n_better, n_hard; /* solved or not, that gained, that were given up */
    int32_t n_wrong; /* solved to the end, but the loads are not what the program said */
    int32_t size;    /* of the last windows */
} clv_lns_work;

#define CLV_LNS_PIVOTS        INT64_C(400000)
#define CLV_LNS_WINDOW_PIVOTS INT64_C(8000)

/* Improves device_of (by block, legal) in place for throughput. Without a solver of programs
 * nothing happens; one that gives up costs its window. O(pins) for each window beside its program.
 */
clv_status clv_lns_improve(const clv_contraction *b, const clv_place_rules *rules,
                           const clv_lns_options *options, int32_t *device_of, clv_arena *arena,
                           clv_lns_work *ret, clv_error *err);

#endif
