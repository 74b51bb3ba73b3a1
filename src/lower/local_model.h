/* local_model.h - what one device of a mesh runs, as a model: the operators on its parts of the
 * tensors, and between them the collectives as operators of their own.
 *
 * All devices of a mesh run the same program on different parts (single program, multiple data).
 * The model has the largest part of each tensor, so that its memory and times are those of the
 * fullest and slowest device. What looks at a model (subgraphs, the partition problem, the
 * compiler) takes it like any other.
 */
#ifndef CLV_LOWER_LOCAL_MODEL_H
#define CLV_LOWER_LOCAL_MODEL_H

#include "cost/shard_problem.h"

/* One step of a chain from a layout to another. */
typedef struct {
    clv_tensor tensor; /* of the whole model */
    clv_op reader;     /* for whom; CLV_NO_OP: for all readers */
    clv_step step;
} clv_communication;

typedef struct {
    clv_model *model;                /* main: the graph below; the rest is the whole model's */
    clv_types *types;                /* of parts */
    clv_costs *costs;                /* of parts; a collective's is its time on links, and it
                                        goes with its reader, or with who writes for all */
    const clv_op *op_of;             /* by operator: of the whole model; CLV_NO_OP: a collective */
    const int32_t *communication_of; /* by operator: into communications, or -1 */
    const clv_tensor *tensor_of;     /* by tensor: of the whole model */
    const clv_layout *layout_of;     /* by tensor */
    const clv_communication *communications;
    int32_t n_communications;
} clv_local_model;

/* A model with a choice for each operator and tensor how it is split. */
typedef struct {
    const clv_model *model;
    const clv_costs *costs;
    const clv_shard_problem *problem;
    const int32_t *answer;    /* of the problem */
    clv_resharder *resharder; /* has the chains of collectives from layout to layout */
} clv_sharded_model;

/* Tensors keep the names of the whole model; after a collective a name with the layout behind it.
 * Everything lives in the arena, and shares names, attributes and bodies with the whole model.
 * CLV_ENOMEM, or as clv_resharder_chain(). O(operators + edges + collectives). */
clv_status clv_local_model_make(const clv_sharded_model *of, clv_arena *arena,
                                clv_local_model **ret, clv_error *err);

#endif
