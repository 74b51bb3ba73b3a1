/* run.h - one run of the pipeline: what its steps hand on to each other. */
#ifndef CLV_RUN_H
#define CLV_RUN_H

#include "manual.h"
#include "pipeline.h"

/* Everything of one run. */
typedef struct {
    const clv_request *req;
    clv_arena *arena;
    clv_error *err;
    clv_analysis analysis;
    clv_cluster *cluster;
    clv_partition *problem;
    clv_manual_cut cut; /* manual mode only */
    clv_workload workload;
    clv_compiler *compiler;
    clv_pool *pool;
    clv_judge judge;
} clv_run;

/* Cluster -> problem -> judge, for so many devices (0: all) with so much memory (0: as described).
 * The analysis must be there. To be closed in any case. */
clv_status clv_run_open(clv_run *r, int32_t devices, int64_t memory_bytes);
void clv_run_close(clv_run *r);

#endif
