/* shard_path.h - the critical path of a model: operators of which none can start before the one
 * before it is done, wherever they run.
 *
 * Some of them are cuts: those beside which nothing runs that waits for the path and is waited for,
 * but for what runs beside a long stretch of it. Between two cuts is a window, of what waits for
 * the first and is waited for by the second. It lasts as long as the way through it, and as long as
 * all its operators dealt out evenly to the stages, as no stage runs two at once. So of experts
 * beside each other more counts than the one on the path. And a pipeline never comes back to a
 * stage that it has left: where both cuts are on one stage, so is all between them, and takes its
 * time one after the other. In S stages at most S - 1 windows are parted.
 */
#ifndef CLV_COST_SHARD_PATH_H
#define CLV_COST_SHARD_PATH_H

#include "cluster/cluster.h"
#include "cost/op_cost.h"

#define CLV_PATH_OFF   (-2) /* not on the path */
#define CLV_PATH_START (-1) /* its first operator */

/* Operators that start when `begin` is done and are done when `end` starts. */
typedef struct {
    int32_t begin, end; /* the cuts; -1: the start, the end of a run */
    const int32_t *op;  /* n, neither of the two */
    int32_t n;
} clv_path_window;

typedef struct {
    const int32_t *in; /* n_ops: by which input an operator is reached on the path, or one of the
                        * two above */
    const clv_path_window *window; /* one after the other: each ends with the cut of the next */
    int32_t n_windows;
    const bool *beside; /* n_ops: it waits for the path and is waited for, but lies in no window, as
                         * it may run beside a long stretch */
    int32_t n_beside;   /* how many do */
} clv_shard_path;

/* Longest by the times of whole operators on that kind of device. Lives in the arena.
 * O(operators + edges). */
clv_status clv_shard_path_find(const clv_costs *costs, const clv_device_kind *kind,
                               clv_arena *arena, const clv_shard_path **ret, clv_error *err);

#endif
