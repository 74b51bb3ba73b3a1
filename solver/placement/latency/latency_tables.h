/* latency_tables.h - what the solvers of latency.h look up again and again. */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_TABLES_H
#define CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_TABLES_H

#include "problem/place_problem.h"
#include "solver/placement/latency/csr.h"

typedef struct {
    const clv_place_problem *p;
    bool contiguous;
    int32_t n_devices;
    int32_t *kind_of;     /* by device */
    int32_t *column_of;   /* by device: place among the devices that pay; -1: does not pay */
    int32_t n_columns;    /* devices that pay */
    clv_csr in;           /* by node: nodes it reads */
    clv_csr members;      /* by class: nodes, in the order of the problem */
    clv_csr up, down;     /* by class: other classes that it reads, that read it */
    clv_csr line;         /* by class: classes that must not stand before it (contiguous rules) */
    int64_t *class_bytes; /* by class */
    bool *class_fits;     /* [kind * n_classes + class]: every member runs there, and it has room */
} clv_latency_tables;

/* Lives in the arena; p stays the caller's. CLV_ENOMEM. O(nodes * kinds + edges). */
clv_status clv_latency_tables_new(const clv_place_problem *p, bool contiguous, clv_arena *arena,
                                  clv_latency_tables **ret, clv_error *err);

#endif
