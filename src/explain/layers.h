/* layers.h - the layers of a model, as names of its nodes say them (layer_names.h): those of the
 * numbered scope that has most operators, "/model/layers.0" to "/model/layers.79".
 */
#ifndef CLV_EXPLAIN_LAYERS_H
#define CLV_EXPLAIN_LAYERS_H

#include "base/arena.h"
#include "graph/graph.h"

typedef struct {
    int32_t n;         /* 0: names say of none, or of one */
    const int32_t *of; /* by operator: 0, 1, ... in the order in which they begin; -1: in none */
} clv_layers;

/* In the arena. CLV_ENOMEM. O(operators * name). */
clv_status clv_layers_find(const clv_graph *g, clv_arena *arena, clv_layers *ret, clv_error *err);

#endif
