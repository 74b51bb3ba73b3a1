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
 * An input that the node says nothing of comes as it is delivered. Where that does not go with the
 * specs that the node has for other inputs, it is brought to what these ask of it.
 *
 * That the node's own spec of an output is another one is no fault: the output is delivered like
 * that. docs/sharding.md, "Checking specs".
 */
#ifndef CLV_ANNOTATIONS_NODE_PROPAGATION_H
#define CLV_ANNOTATIONS_NODE_PROPAGATION_H

#include "annotations/output_spec.h"

typedef struct {
    const char *wrong;          /* a sentence without the node's name; then there is no out. NULL */
    const clv_output_spec *out; /* n_out */
    clv_followers in;           /* n_in */
} clv_node_outcome;

/* The result is in the arena; scratch, another one, is given back. CLV_ELIMIT: over CLV_CELLS_MAX.
 * O(shards * factors * log shards), and the combinations where a device has several parts of a
 * tensor. */
clv_status clv_propagate_node(const clv_spec_node *node, clv_arena *scratch, clv_arena *arena,
                              clv_node_outcome *ret, clv_error *err);

#endif
