/* annotated_plan.h - the plan that the annotations of a model are, whoever wrote them.
 *
 * Specs say where tensors lie, a plan says how operators are split and which collectives there are.
 * For each operator the split is taken under which its inputs lie as its specs say, and its outputs
 * if they can; else collectives bring them there. A partial sum is added up where it is made, for
 * no spec can say that it waits. An input without a spec comes as it is delivered. The mesh is the
 * one that the file says (annotated_mesh.h), else the one with the fewest axes on which all of that
 * is possible.
 *
 * Nodes that share devices, or have one pipeline_stage, are one stage.
 */
#ifndef CLV_PIPELINE_ANNOTATED_PLAN_H
#define CLV_PIPELINE_ANNOTATED_PLAN_H

#include "pipeline/annotated_notes.h"
#include "plan/plan.h"

/* A plan that clv_plan_check() has passed and whose specs are those of the file, tensor by tensor.
 * CLV_EUSAGE: the file has no such configuration, or several. CLV_EFORMAT: an annotation is
 * malformed or contradicts others. CLV_EUNSUPP: legal, but no plan is like that: stages of unequal
 * numbers of devices, specs of a node that no split gives, a tensor of open size. Each names the
 * node. In the arena. O(meshes * operators * choices * devices). */
clv_status clv_plan_of_annotations(const clv_annotated_model *of, clv_arena *arena, clv_plan **ret,
                                   clv_error *err);

#endif
