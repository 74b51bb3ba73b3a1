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

/* The same of what lies at a path: the file of a plan, or a lowered folder, which has one in its
 * manifest. CLV_EIO. */
clv_status clv_plan_open_path(const char *path, const clv_model *model, const char *name,
                              clv_arena *arena, clv_plan **ret, clv_error *err);

/* The plan of a lowered folder, where that is one of those that annotations admit; else *ret stays
 * as it is. They do not say which sums wait for others, what each reader is sent, nor which
 * operators are of a backward pass, so several plans may have the same. annotated: what
 * clv_plan_of_annotations() made of them. CLV_ENOMEM. */
clv_status clv_plan_open_annotated_folder(const char *folder, const clv_plan *annotated,
                                          const clv_model *model, clv_arena *arena,
                                          const clv_plan **ret, clv_error *err);

/* Replaces what a plan with meshes says of layouts by what follows from its decisions. CLV_EFORMAT:
 * the two contradict each other. In the arena. O(operators + edges + shards). */
clv_status clv_plan_derive(clv_plan *plan, const clv_model *model, clv_arena *arena,
                           clv_error *err);
/* Of uneven parts those that specs speak of: not of the model's inputs, which lie anyhow until a
 * node reads them. CLV_ENOMEM. O(inputs + uneven parts). */
clv_status clv_plan_list_uneven(const clv_plan *plan, const clv_graph *g, clv_arena *arena,
                                clv_plan_uneven **ret, int32_t *ret_n, clv_error *err);

#endif
