/* plan_check.h - an independent judge of a plan against the graph it is for.
 *
 * It trusts neither search nor file: it looks at every operator and every edge itself. The first
 * fault found is reported in one sentence that names the operator or device:
 *   - the plan is for another number of operators
 *   - an operator on a device that does not exist
 *   - a device whose count of operators is wrong
 *   - a stage on a device without operators, none on one with, or one out of range
 *   - a stage that no device has
 *   - a tensor that is not made of constants alone and goes to another device without going to a
 *     later stage, so that the devices would wait for each other
 *   - meshes that are not disjoint, not of one size, not the product of their axes, of devices in
 *     several stages; an operator split along an axis that there is not (plan_mesh.h)
 *   - a sharding spec on devices that are not of the mesh of its operator
 *   - a sharding spec that is not legal, or of a tensor that its node has not (plan_annotations.h)
 *   - a device that holds more than its capacity, in a plan that says it fits
 */
#ifndef CLV_PLAN_PLAN_CHECK_H
#define CLV_PLAN_PLAN_CHECK_H

#include "graph/graph.h"
#include "plan/plan.h"

/* CLV_EFORMAT for a fault. Scratch is given back. O(operators + edges + devices). */
clv_status clv_plan_check(const clv_plan *plan, const clv_graph *graph, clv_arena *arena,
                          clv_error *err);

#endif
