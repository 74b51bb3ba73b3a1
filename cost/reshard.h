/* reshard.h - the cheapest way from one layout of a tensor to another: resharding, as GSPMD (Xu et
 * al. 2021) and Alpa (Zheng et al. 2022) call it, by a shortest path instead of fixed rules.
 *
 * The layouts of a tensor are places, the steps of sharding/steps.h ways between them, each with a
 * time of collective.h for the largest part. The cheapest chain is a shortest path: so its time is
 * 0 only where nothing is sent, never negative, and never more than by way of a third layout.
 */
#ifndef CLV_COST_RESHARD_H
#define CLV_COST_RESHARD_H

#include "cost/collective.h"
#include "sharding/steps.h"

/* Of one tensor on one mesh. One thread at a time: times are worked out when they are first asked
 * for. */
typedef struct clv_reshard clv_reshard;

/* more: slots with an outer or a unit above 1 that layouts asked for may use (clv_layouts_make()).
 */
typedef struct {
    const clv_tensor_split *split;
    const clv_slot *more;
    int32_t n_more;
} clv_reshard_tensor;

/* The comms, what they are of, and the tensor's dimensions must live as long. O(layouts * steps
 * from one); times of the steps. */
clv_status clv_reshard_make(const clv_comms *comms, const clv_reshard_tensor *tensor,
                            clv_arena *arena, clv_reshard **ret, clv_error *err);

/* The layouts it knows, and the costs that it was made with. */
const clv_layouts *clv_reshard_layouts(const clv_reshard *r);
const clv_comms *clv_reshard_comms(const clv_reshard *r);

/* Nanoseconds of the cheapest chain, at most CLV_COMM_NS_MAX. CLV_EUSAGE: one of the layouts is not
 * one of this tensor on this mesh, with the reason. O(log layouts), and the first time from a
 * layout O(all steps * log layouts). */
clv_status clv_reshard_ns(clv_reshard *r, const clv_layout *from, const clv_layout *to,
                          int64_t *ret, clv_error *err);

typedef struct {
    clv_step_kind kind;
    uint32_t axes;    /* that it is over */
    clv_layout to;    /* how the tensor lies afterwards */
    int64_t bytes;    /* as in clv_step_to */
    int64_t sent;     /* by each device, at most */
    int64_t held;     /* by each device afterwards, at most */
    int64_t ns;       /* 0 where nothing is sent */
    clv_algorithm by; /* where ns is above 0 */
} clv_step;

typedef struct {
    const clv_step *steps;
    int32_t n;
    int64_t ns;   /* of all steps, one after another */
    int64_t sent; /* by each device, at most; INT64_MAX when 64 bits do not hold it */
    int64_t peak; /* before and after a step together, at most: what a device holds on the way */
} clv_chain;

/* The cheapest chain; of equal ones one with the fewest steps. No steps for equal layouts. O(all
 * steps * log layouts). */
clv_status clv_reshard_chain(clv_reshard *r, const clv_layout *from, const clv_layout *to,
                             clv_arena *arena, clv_chain *ret, clv_error *err);

/* One end of a chain: its number in clv_reshard_layouts(), and what it is partial by. */
typedef struct {
    int32_t at;
    clv_reduce reduce;
} clv_reshard_end;

/* CLV_EUSAGE as for clv_reshard_ns(). O(log layouts). */
clv_status clv_reshard_find_end(const clv_reshard *r, const clv_layout *layout,
                                clv_reshard_end *ret, clv_error *err);

/* As clv_reshard_ns(), between two ends that were found. */
clv_status clv_reshard_ends_ns(clv_reshard *r, clv_reshard_end from, clv_reshard_end to,
                               int64_t *ret, clv_error *err);

/* The two ends of a chain, by their number in clv_reshard_layouts(). */
typedef struct {
    int32_t from, to;
    clv_reduce before, after; /* what they are partial by */
    bool apart;               /* the two reductions differ: what is between them is not partial */
} clv_reshard_ends;

/* CLV_EUSAGE as for clv_reshard_ns(). O(log layouts). */
clv_status clv_reshard_find_ends(clv_reshard *r, const clv_layout *from, const clv_layout *to,
                                 clv_reshard_ends *ret, clv_error *err);

#endif
