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

/* The result lives in the arena; symbols without a binding stay open. O(operators + edges). */
clv_status clv_analyse(const clv_model *model, const clv_binding *bindings, int32_t n_bindings,
                       clv_arena *arena, clv_analysis *ret, clv_error *err);

/* Planning needs numbers: CLV_EFORMAT names the symbols of the inputs that have no value, in the
 * form in which they are to be given, with a size that goes with the model beside the bindings. It
 * is looked for among powers of two, so O(10 * clv_infer()) then; else O(inputs + symbols). */
clv_status clv_analysis_require_numbers(const clv_model *model, const clv_binding *bindings,
                                        int32_t n_bindings, const clv_analysis *analysis,
                                        clv_arena *scratch, clv_error *err);

#endif
