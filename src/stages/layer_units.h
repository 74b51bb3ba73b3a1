/* layer_units.h - units that are whole layers, for a backend whose stages are such. */
#ifndef CLV_STAGES_LAYER_UNITS_H
#define CLV_STAGES_LAYER_UNITS_H

#include "cost/subgraph.h"

/* What is before the first layer is with that, what is behind the last with the last; what is in no
 * layer, with the layer of what it reads. *io stays where names of nodes say of no layers. In the
 * arena. CLV_ENOMEM. O(operators * name + edges). */
clv_status clv_layer_units_make(const clv_costs *costs, clv_arena *arena, clv_subgraphs **io,
                                clv_error *err);

#endif
