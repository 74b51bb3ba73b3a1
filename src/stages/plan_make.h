/* plan_make.h - from an assignment of subgraphs and what the judge said of it to a plan. */
#ifndef CLV_STAGES_PLAN_MAKE_H
#define CLV_STAGES_PLAN_MAKE_H

#include "compile/compiler.h"
#include "plan/plan.h"

/* A candidate and what is known of it. */
typedef struct {
    const clv_assignment *assignment;
    const clv_verdict *verdict;
    const clv_compile_report *report; /* NULL: of an external compiler, which reports none */
} clv_judged;

/* Devices, stages, sharding nodes and numbers; strings are copied into the arena. Without a report
 * memory, busy times and transfers are not known. Names of model, cluster and search, bindings and
 * notes are the caller's to add. O(operators + nets). */
clv_status clv_plan_make(const clv_workload *w, const clv_partition_problem *problem,
                         const clv_judged *judged, clv_arena *arena, clv_plan **ret,
                         clv_error *err);

#endif
