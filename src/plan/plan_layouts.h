/* plan_layouts.h - how a plan lays the tensors of a model's main graph over the mesh of each stage.
 *
 * A plan decides how operators are split, and over which chains of steps tensors go; where each
 * tensor lies follows from that (lower/derived_layouts.h). Specs, collectives, partial sums, uneven
 * parts and the names of what a plan does are all taken from here.
 */
#ifndef CLV_PLAN_PLAN_LAYOUTS_H
#define CLV_PLAN_PLAN_LAYOUTS_H

#include "graph/types.h"
#include "plan/plan.h"
#include "sharding/layout.h"

typedef struct {
    const clv_graph *graph;
    const clv_types *types;
    clv_mesh mesh; /* the form of all stages; its device array is not used */
    int32_t n_stages;
    const int32_t *stage_of_op; /* NULL: all in one */
    const clv_layout *need;     /* of each input of an operator, as graph->inputs_of */
    const clv_layout *made;     /* of each output as its operator leaves it, as graph->outputs_of */
    const clv_layout *kept;     /* of each tensor: where it lies */
} clv_plan_layouts;

#endif
