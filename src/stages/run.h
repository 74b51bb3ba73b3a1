/* run.h - one run of the pipeline: what its steps hand on to each other. */
#ifndef CLV_STAGES_RUN_H
#define CLV_STAGES_RUN_H

#include "stages/manual.h"
#include "pipeline/pipeline.h"
#include "rules/constraints.h"
#include "problem/overlay.h"

/* Everything of one run. */
typedef struct {
    const clv_request *req;
    clv_arena *arena;
    clv_error *err;
    clv_analysis analysis;
    clv_subgraphs *plain_units; /* before any rule, or cut by hand */
    clv_cluster *cluster;
    clv_partition *problem; /* what is searched: of the units, or folded */
    bool *backward_op;      /* n_ops; NULL: not a training problem, or none for this request */
    clv_overlay *overlay;         /* NULL: not a training problem */
    clv_judge pool_judge;   /* of the units; the same as judge but for a training problem */
    clv_manual_cut cut; /* manual mode only */
    clv_constraints rules;
    const bool *skip;     /* by rule: left out; NULL: none is */
    int64_t memory_bytes; /* as it was opened */
    bool by_ops;          /* each operator is a unit: units may be too coarse for the rules */
    const bool *core;     /* by rule: they contradict each other, or a cut by hand breaks them */
    const char *conflict; /* why no plan obeys the rules; NULL: one does, as far as is known */
    const char **told;    /* sentences on rules, for the notes of the plan */
    int32_t n_told, cap_told;
    clv_workload workload;
    clv_compiler *compiler;
    clv_pool *pool;
    clv_judge judge;
    int32_t microbatches; /* in flight at most: memory is judged so; 0: not chosen yet */
    clv_micro_reason why_microbatches;
} clv_run;

/* Cluster -> rules, problem -> judge, for so many devices (0: all) with so much memory (0: as
 * described). The analysis must be there. To be closed in any case. */
clv_status clv_run_open(clv_run *r, int32_t devices, int64_t memory_bytes);
void clv_run_close(clv_run *r);

/* The search on what is open; where no plan of the units obeys the rules, once more with each
 * operator as a unit. */
clv_status clv_run_search(clv_run *r, const clv_search_options *options, clv_search_result *ret);

#endif
