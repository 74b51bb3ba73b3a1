/* lessons.h - what a compiler that measures teaches about times.
 *
 * A judge may tell how long each device computed (clv_assignment.busy_ns). The search works on a
 * copy of the problem; its times are the model's until something else is told, and then times with
 * which all that was told comes out, as near to the model's as may be. Times are taken to add up;
 * where they do not, the best plan's come out exactly and those of others nearly.
 */
#ifndef CLV_SOLVER_PARTITION_LESSONS_H
#define CLV_SOLVER_PARTITION_LESSONS_H

#include "solver/partition/desk.h"

typedef struct {
    const clv_partition_problem *model;
    clv_partition_problem corrected;                 /* what the search works on */
    int64_t *time_ns, *net_ready_ns, *read_after_ns; /* of corrected */
    double *time;                                    /* scratch: as time_ns */
    double *sum;                                     /* scratch: by device */
    int32_t *n_units;                                /* scratch: by device */
    int32_t n_seen;                                  /* plans looked at so far */
    bool differs; /* something told is not what the model says: corrected is another problem */
} clv_lessons;

/* The desk asks for times from then on, and works on corrected. CLV_ENOMEM. O(units + pins). */
clv_status clv_lessons_new(const clv_partition_problem *p, clv_arena *arena, clv_lessons **ret,
                           clv_error *err);

/* Looks at what was judged since the last call. True when corrected has changed. O(plans * units),
 * some times over. */
bool clv_lessons_learn(clv_lessons *l, const clv_desk *desk);

#endif
