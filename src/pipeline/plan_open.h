/* plan_open.h - a plan file, checked against the model that it is to be for. */
#ifndef CLV_PIPELINE_PLAN_OPEN_H
#define CLV_PIPELINE_PLAN_OPEN_H

#include "graph/graph.h"
#include "plan/plan.h"

typedef struct {
    const char *path; /* for messages */
    const char *text;
    size_t n;
    const char *key; /* of the object that is the plan; NULL: the whole text is */
} clv_plan_file;

/* name: the model's, for messages. CLV_EFORMAT: not a plan, one for another model, or one that
 * clv_plan_check() refuses. In the arena. As clv_plan_read(). */
clv_status clv_plan_open(const clv_plan_file *file, const clv_model *model, const char *name,
                         clv_arena *arena, clv_plan **ret, clv_error *err);

/* Replaces what a plan with meshes says of layouts by what follows from its decisions. CLV_EFORMAT:
 * the two contradict each other. In the arena. O(operators + edges + shards). */
clv_status clv_plan_derive(clv_plan *plan, const clv_model *model, clv_arena *arena,
                           clv_error *err);

#endif
