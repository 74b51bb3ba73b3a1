/* time_calibration.h - times of units fitted to what a compiler measures: iterative proportional
 * fitting (Deming and Stephan 1940).
 *
 * A judge may measure how long each device computes (clv_assignment.busy_ns). The search works on a
 * copy of the problem; its times are the model's until something else is measured. Then each
 * group's units are scaled to what was measured of it, group after group and plan after plan, some
 * times over. Where the groups of different plans overlap, that settles which units are slow: the
 * fit converges to the times nearest to the model's in relative entropy (Csiszar 1975) with which
 * all that was measured comes out. Times are taken to add up; where they do not, the best plan's
 * come out exactly and those of others nearly. It wins where one kind of operator, or of device, is
 * far from the model.
 */
#ifndef CLV_SOLVER_PARTITION_TIME_CALIBRATION_H
#define CLV_SOLVER_PARTITION_TIME_CALIBRATION_H

#include "solver/partition/candidate_queue.h"

typedef struct {
    const clv_partition_problem *model;
    clv_partition_problem corrected;                 /* what the search works on */
    int64_t *time_ns, *net_ready_ns, *read_after_ns; /* of corrected */
    double *fitted_ns;                               /* scratch: as time_ns */
    double *sum_ns;                                  /* scratch: by device */
    int32_t *n_units;                                /* scratch: by device */
    int32_t n_seen;                                  /* plans looked at so far */
    bool differs; /* something measured is not what the model says: corrected is another problem */
} clv_time_calibration;

/* corrected is a copy of p, in the arena. CLV_ENOMEM. O(units + pins). */
clv_status clv_time_calibration_new(const clv_partition_problem *p, clv_arena *arena,
                                    clv_time_calibration **ret, clv_error *err);

/* Looks at what was judged since the last call. True when corrected has changed. O(plans * units)
 * a turn, within a limit. */
bool clv_time_calibration_update(clv_time_calibration *c, const clv_candidate_queue *queue);

#endif
