/* plan_annotations.h - what a plan says by hand of single nodes, sharding specs and stages: looked
 * up in the model and checked.
 *
 * A plan file names a node by its label or by its position in the file. Only the model knows which
 * node a label is, so reading leaves labels open and clv_plan_find_nodes() looks them up.
 */
#ifndef CLV_PLAN_PLAN_ANNOTATIONS_H
#define CLV_PLAN_PLAN_ANNOTATIONS_H

#include "base/map.h"
#include "graph/graph.h"
#include "plan/plan.h"

/* Looks labels up and sorts by position. CLV_EFORMAT: no such node, or one annotated twice. The new
 * list is in the arena. O(operators + n log n), nothing when there are no annotations. */
clv_status clv_plan_find_nodes(clv_plan *plan, const clv_graph *graph, clv_arena *arena,
                               clv_error *err);

/* Positions ascend and exist; each spec is legal (clv_spec_check) for an input or output of its
 * node, of its rank where that is known, and on devices of the plan, with meshes on those of the
 * node's mesh; no tensor twice at a node.
 * CLV_EFORMAT names the operator. Scratch is given back. O(operators + what is annotated). */
clv_status clv_plan_check_annotations(const clv_plan *plan, const clv_graph *graph,
                                      clv_arena *arena, clv_error *err);

/* The input or output of an operator that has the name; CLV_NO_TENSOR. O(operands). */
clv_tensor clv_op_operand(const clv_graph *graph, const clv_op_info *op, const char *name);

/* The explicit inputs and outputs of an operator by name: clv_op_named() gives the tensor of a
 * name, or CLV_NO_TENSOR. For many tensors of one operator. O(operands). */
clv_status clv_op_names(const clv_graph *graph, const clv_op_info *op, clv_arena *arena,
                        clv_map *ret, clv_error *err);
static inline clv_tensor clv_op_named(const clv_map *names, const char *tensor)
{
    return (clv_tensor){ clv_map_get(names, clv_str_of(tensor)) };
}

#endif
