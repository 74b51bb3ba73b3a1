/* node_propagation.h - do the sharding specs of one node make sense together, and what follows from
 * them?
 *
 * A device computes with the parts of the inputs that it has. By the rule of the operator the parts
 * say which run of each factor it works on: so all inputs of a device must name the same run of a
 * factor that they share, and all devices together must have every combination of runs. What each
 * device then has of an output is the runs of the output's factors; where a reduced factor was
 * split it is one summand, and the output is delivered when they are added up, on every device that
 * has a summand.
 *
 * That the node's own spec of an output is another one is no fault: the output is delivered like
 * that. docs/sharding.md, "Checking specs".
 */
#ifndef CLV_ANNOTATIONS_NODE_PROPAGATION_H
#define CLV_ANNOTATIONS_NODE_PROPAGATION_H

#include "notation/spec_shards.h"
#include "sharding/factors.h"

typedef struct {
    const char *name;              /* NULL: left out */
    const clv_type *type;          /* of numbers only */
    const clv_sharding_spec *spec; /* NULL: of an input, whole on whatever device wants it; of an
                                    * output, to be inferred */
    const clv_shards *shards;      /* of spec */
} clv_spec_operand;

/* factors must be those of the shapes, and not say no_rule. */
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
    const char *unsaid; /* no spec says where it is, for this reason; then spec is NULL. NULL */
} clv_output_spec;

typedef struct {
    const char *wrong;          /* a sentence without the node's name; then there is no out. NULL */
    const clv_output_spec *out; /* n_out */
} clv_node_outcome;

/* Parts of one tensor, copies counted, and combinations of parts on devices that have several: each
 * takes some 300 bytes meanwhile. */
#define CLV_CELLS_MAX (1 << 17)

/* The result is in the arena; scratch, another one, is given back. CLV_ELIMIT: over CLV_CELLS_MAX.
 * O(shards * factors * log shards), and the combinations where a device has several parts of a
 * tensor. */
clv_status clv_propagate_node(const clv_spec_node *node, clv_arena *scratch, clv_arena *arena,
                              clv_node_outcome *ret, clv_error *err);

#endif
