/* lns_options.h - what a large neighbourhood search (lns.h) is asked for, and what it did. */
#ifndef CLV_SOLVER_PLACEMENT_MIP_LNS_OPTIONS_H
#define CLV_SOLVER_PLACEMENT_MIP_LNS_OPTIONS_H

#include "solver/placement/common/contraction.h"

typedef struct {
    const clv_place_rules *rules;
    int64_t pivots;            /* of the simplex in all; 0: CLV_LNS_PIVOTS */
    int64_t pivots_window;     /* and in one window; 0: CLV_LNS_WINDOW_PIVOTS */
    bool (*stop)(void *ctx);   /* asked often; may be NULL */
    double (*left)(void *ctx); /* seconds to the deadline, at least; may be NULL: none */
    /* Called with each solution of a smaller largest load, by block; may be NULL. */
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

#endif
