/* stage_state.h - one search for stages of whole operators: what its steps hand on to each other.
 */
#ifndef CLV_STAGES_STAGE_STATE_H
#define CLV_STAGES_STAGE_STATE_H

#include "compile/pool.h"
#include "problem/micro.h"
#include "problem/overlay.h"
#include "request/analysis.h"
#include "request/request.h"
#include "rules/rule_state.h"
#include "stages/manual_cut.h"

typedef struct {
    const clv_request *req;
    clv_arena *arena; /* everything here lives in it */
    clv_analysis analysis;
    clv_subgraphs *plain_units; /* before any rule, or cut by hand */
    clv_cluster *cluster;
    clv_partition_problem
        *problem;         /* what is searched: of the units, or of the forward pass alone */
    bool *backward_op;    /* n_ops; NULL: not a training problem, or none for this request */
    clv_overlay *overlay; /* NULL: not a training problem */
    clv_partition_judge pool_judge; /* of the units; the same as judge but for a training problem */
    clv_manual_cut cut;             /* manual mode only */
    clv_rule_state rules;
    int64_t memory_bytes; /* as it was opened */
    bool by_ops;          /* each operator is a unit: units may be too coarse for the rules */
    clv_workload workload;
    clv_compiler *compiler;
    clv_pool *pool;
    const clv_pool_first *first; /* what the pool judges beside; NULL: nothing, or no longer */
    clv_partition_judge judge;
    int32_t microbatches; /* in flight at most: memory is judged so; 0: not chosen yet */
    clv_micro_reason why_microbatches;
} clv_stage_search;

#endif
