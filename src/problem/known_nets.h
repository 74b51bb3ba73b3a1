/* known_nets.h - the problem without nets that are known before the run, for whoever asks about
 * time: their readers come later, but wait for nothing. */
#ifndef CLV_PROBLEM_KNOWN_NETS_H
#define CLV_PROBLEM_KNOWN_NETS_H

#include "problem/partition_problem.h"

/* *ret is p where there are none; what does not change is shared with p. An assignment that is
 * legal for it need not be for p. CLV_ENOMEM. O(units + pins * kinds). */
clv_status clv_problem_without_known_nets(const clv_partition_problem *p, clv_arena *arena,
                                          const clv_partition_problem **ret, clv_error *err);

#endif
