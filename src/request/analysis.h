/* analysis.h - what is known of a model before any cluster comes in: types, costs, units. All that
 * `inspect` shows.
 */
#ifndef CLV_REQUEST_ANALYSIS_H
#define CLV_REQUEST_ANALYSIS_H

#include "cost/subgraph.h"
#include "graph/infer.h"

typedef struct {
    clv_inference *inference;
    clv_costs *costs;
    clv_subgraphs *units; /* the smallest pieces that a search moves */
} clv_analysis;

/* strict: symbols of the inputs that have no value are CLV_EFORMAT (planning needs numbers). The
 * result lives in the arena. O(operators + edges). */
clv_status clv_analyse(const clv_model *model, const clv_binding *bindings, int32_t n_bindings,
                       bool strict, clv_arena *arena, clv_analysis *ret, clv_error *err);

#endif
