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
    clv_subgraphs *units;       /* the smallest pieces that a search moves */
    const clv_types *types;     /* of the model as its kernels store it */
    const clv_kernels *kernels; /* NULL: each operator is one */
    int64_t host_ns;            /* of a run, while its devices wait for the host */
    int64_t front_end_ns;       /* of a prefill, before the run */
    bool last_token; /* logits are those of the last token of each sequence: not as in the file */
} clv_analysis;

/* A model, with sizes for its symbols, and who runs it. */
typedef struct {
    const clv_model *model;
    const clv_binding *bindings;
    int32_t n_bindings;
    const clv_runtime *runtime; /* NULL: each operator is a kernel */
    /* Of FLOAT tensors, and of caches of keys and values, as if they were stored so; UNDEFINED: as
     * they are. */
    clv_dtype activations, kv;
    bool parts_kernels; /* units may part kernels: rules or a cut by hand say where operators go */
} clv_analysed;

/* The result lives in the arena; symbols without a size stay open (clv_infer_bound()). O(operators
 * + edges). */
clv_status clv_analyse(const clv_analysed *of, clv_arena *arena, clv_analysis *ret, clv_error *err);

/* Planning needs numbers: CLV_EFORMAT names the symbols of the inputs that have no value, in the
 * form in which they are to be given, with a size that goes with the model beside the bindings, but
 * for symbols that follow from others. It is looked for among powers of two, so
 * O(10 * clv_infer()) then; else O(inputs + symbols). Where none of them goes, there is none. */
clv_status clv_analysis_require_numbers(const clv_model *model, const clv_analysis *analysis,
                                        clv_arena *scratch, clv_error *err);

#endif
