/* every_tensor.h - a model that returns all its tensors, and a plan of one device for it. */
#ifndef CLV_VERIFY_EVERY_TENSOR_H
#define CLV_VERIFY_EVERY_TENSOR_H

#include "graph/infer.h"
#include "plan/plan.h"

/* The same model; its outputs are what operators of the main graph write, in topological order, but
 * for what is no tensor, is known before the run, or has no name; own_first: its own outputs, and
 * then the others of these. Ids stay. It shares all else with the model. O(tensors). */
clv_status clv_every_tensor_model(const clv_model *model, const clv_types *types, bool own_first,
                                  clv_arena *arena, clv_model **ret, clv_error *err);
/* All operators on one device. */
clv_status clv_every_tensor_plan(const clv_plan *plan, clv_arena *arena, const clv_plan **ret,
                                 clv_error *err);

#endif
