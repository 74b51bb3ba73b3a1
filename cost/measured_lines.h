/* measured_lines.h - collectives as they were measured: times by size, and lines near them.
 */
#ifndef CLV_COST_MEASURED_LINES_H
#define CLV_COST_MEASURED_LINES_H

#include "cluster/kernel_times.h"
#include "cost/rounds.h"

#define CLV_FITTED_LINES 4

/* What was measured of one collective between p devices, at the sizes of a clv_curve. */
typedef struct {
    bool known;
    double ns[CLV_POINTS_MAX];
    int32_t n_lines;
    clv_line line[CLV_FITTED_LINES];
} clv_measured_collective;

typedef struct {
    const clv_kernel_times *times;
    int32_t p;
    clv_measured_collective of[CLV_N_COLLECTIVES];
} clv_measured_group;

/* By times and size of a group. */
typedef struct {
    const clv_measured_group *at;
    int32_t n;
} clv_measured_groups;

/* Of groups of all sizes that divide the cluster's devices, as all in its meshes do. O(kinds *
 * divisors), but for fitting lines to some hundred times each. */
clv_status clv_measured_groups_make(const clv_cluster *cluster, clv_arena *arena,
                                    const clv_measured_groups **ret, clv_error *err);

/* What was measured between devices like those of r: all of one kind, with times for so many of
 * them, and routes whose peak is that of what was measured over; NULL: nothing. O(devices^2). */
const clv_measured_group *clv_measured_group_of(const clv_rounds *r,
                                                const clv_measured_groups *groups);

/* In the place of the lines of algorithms those that were measured. What was not is left alone. */
void clv_measured_lines(const clv_measured_group *group, clv_line_set *ret);

/* The measured times themselves, by collective. overlap: the share of the bytes' time that is
 * hidden; the first point's is no bytes' time. */
void clv_measured_points(const clv_measured_group *group, double overlap,
                         clv_curve ret[static CLV_N_COLLECTIVES]);

#endif
