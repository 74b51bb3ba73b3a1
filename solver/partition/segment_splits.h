/* segment_splits.h - what the dynamic programme of segment_dp.h is made of: classes of devices and
 * how far each reaches, and the ways to split a segment.
 */
#ifndef CLV_SOLVER_PARTITION_SEGMENT_SPLITS_H
#define CLV_SOLVER_PARTITION_SEGMENT_SPLITS_H

#include "solver/partition/segment_dp_state.h"

/* Classes of devices, and reach and whole_ns of each. False in *ret_few: too many. CLV_ENOMEM.
 * O(nodes * classes), and the units' (segments.h). */
clv_status clv_run_classes_find(clv_segment_dp_state *dp, bool *ret_few, clv_error *err);

/* Ways to split each segment, after the links between kinds are known (cluster_parts.h).
 * CLV_ENOMEM. O(units * kinds^2 * ways), within a limit of tries. */
clv_status clv_segment_splits_find(clv_segment_dp_state *dp, clv_error *err);

#endif
