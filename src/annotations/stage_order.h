/* stage_order.h - does every node come in no earlier stage than those that it reads from? */
#ifndef CLV_ANNOTATIONS_STAGE_ORDER_H
#define CLV_ANNOTATIONS_STAGE_ORDER_H

#include "explain/shard_list.h"

/* Marks the entries of list as wrong whose pipeline_stage is before that of a node whose result
 * they read, directly or through nodes without a stage. A backward pass goes through the stages
 * from the last to the first (graph/backward.h): there it is the other way round. What is made of
 * constants alone is wherever it is read, as for plan_check.h. Each configuration by itself. In the
 * arena. O(operators + edges), for each configuration. */
clv_status clv_check_stage_order(clv_shard_list *list, clv_arena *arena, clv_error *err);

#endif
