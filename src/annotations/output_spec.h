/* output_spec.h - from what each device works on to a sharding spec of what it then has of an
 * output.
 */
#ifndef CLV_ANNOTATIONS_OUTPUT_SPEC_H
#define CLV_ANNOTATIONS_OUTPUT_SPEC_H

#include "annotations/factor_runs.h"

typedef struct {
    const char *name;              /* NULL: left out */
    const clv_type *type;          /* of numbers only */
    const clv_sharding_spec *spec; /* NULL: of an input, whole on whatever device wants it; of an
                                    * output, to be inferred */
    const clv_shards *shards;      /* of spec */
    bool is_own; /* spec is the node's own; else, of an input, how it is delivered */
} clv_spec_operand;

/* factors must be those of the shapes, and not have no_rule. */
typedef struct {
    clv_str op_type;
    const clv_factors *factors;
    const clv_spec_operand *in, *out; /* factors->n_in, factors->n_out */
    clv_uneven_policy policy;
} clv_spec_node;

/* What follows for one output. */
typedef struct {
    const clv_sharding_spec *spec; /* NULL: whole on whatever device wants it */
    bool own_differs;              /* from the spec that the node itself has for it */
    /* Above 1: it is the sum (reduce) of so many summands before it is spec. `summands` says where
     * they are: as spec, of a tensor with one dimension more, the first, of as many elements. */
    int64_t n_summands;
    clv_reduce reduce;
    const clv_sharding_spec *summands;
    const char
        *why_none; /* no spec can say where it is, for this reason; then spec is NULL. NULL */
} clv_output_spec;

/* For each output that is there, from the cells of the whole node, at least one. ret: n_out.
 * O(cells * factors * log cells) for each. */
clv_status clv_output_specs_infer(const clv_spec_node *node, const clv_cells *cells,
                                  clv_arena *scratch, clv_arena *arena, clv_output_spec *ret,
                                  clv_error *err);
/* Inputs of a node without a spec that are cut as its own specs of others want it. */
typedef struct {
    bool *follows;                      /* by input */
    const clv_sharding_spec **taken_as; /* by input that follows; NULL: no spec says how */
} clv_followers;

/* Likewise for each input that follows: each device gets what it works on. */
clv_status clv_followers_infer(const clv_spec_node *node, const clv_cells *cells,
                               clv_arena *scratch, clv_arena *arena, clv_followers *io,
                               clv_error *err);

#endif
