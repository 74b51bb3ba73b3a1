/* plan_kernels.h - what the time of a plan goes to: its kernels and collectives, by cause.
 *
 * The times are the judge's (cost/op_time.h), so those of a device add up to its busy time.
 */
#ifndef CLV_EXPLAIN_PLAN_KERNELS_H
#define CLV_EXPLAIN_PLAN_KERNELS_H

#include "cluster/cluster.h"
#include "cost/op_cost.h"
#include "plan/plan.h"

/* An operator as a device runs it. */
typedef struct {
    clv_op op;               /* of the model; CLV_NO_OP: a collective */
    int32_t device;          /* -1: it does not run */
    const clv_op_cost *cost; /* there: of its part */
    const char *collective;  /* "all-reduce"; NULL */
    clv_str tensor;          /* of a collective: what changes its layout */
} clv_running;

typedef struct {
    const clv_costs *costs; /* of the model; its kernels may be NULL: each operator is one */
    const clv_cluster *cluster;
    double proportion; /* of memory that is workspace; 0: the device's own */
    const clv_running *at;
    int32_t n;
} clv_run_order;

/* Sets plan->kernels: a kernel for each device that runs some of its operators, in the order of
 * their first ones, without those that take no time. O(operators). */
clv_status clv_plan_add_kernels(const clv_run_order *order, clv_arena *arena, clv_plan *plan,
                                clv_error *err);
/* The same of a plan without meshes, whose devices are those of the cluster. */
clv_status clv_plan_add_whole_kernels(const clv_costs *costs, const clv_cluster *cluster,
                                      clv_arena *arena, clv_plan *plan, clv_error *err);

#endif
