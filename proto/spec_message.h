/* spec_message.h - the sharding specs that a plan gives for single nodes, as messages ready to be
 * packed.
 *
 * They are made once, before the file is walked, since the walk looks at each twice. Numbers and
 * names stay those of the plan.
 */
#ifndef CLV_PROTO_SPEC_MESSAGE_H
#define CLV_PROTO_SPEC_MESSAGE_H

#include "base/map.h"
#include "plan/plan.h"
#include "proto/onnx.pb-c.h"

typedef struct {
    Onnx__ShardingSpecProto proto;
    size_t n;  /* bytes when packed */
    bool used; /* its tensor was found at the node */
} clv_spec_message;

/* What one node is given. */
typedef struct {
    int32_t file_index;
    clv_map by_tensor; /* index into specs */
    clv_spec_message *specs;
    int32_t n_specs;
    bool has_stage;
    int32_t stage;
} clv_node_specs;

/* One for each of plan->annotations, in their order. CLV_EUSAGE: nodes not ascending or not among
 * n_ops, a tensor twice at one node, a stage beyond 32 bits, a factor's size below 0. Whether the
 * specs make sense is for clv_spec_check(). O(what the plan gives). */
clv_status clv_node_specs_of_plan(const clv_plan *plan, clv_arena *arena, clv_node_specs **ret,
                                  clv_error *err);

#endif
