#include "sharding/known.h"

#include "graph/ops.h"

bool clv_shard_is_known(const clv_types *types, clv_tensor t)
{
    const clv_tensor_info *info = clv_tensor_at(types->graph, t);
    if (types->value && types->value[t.i])
        return true;
    if (info->role != CLV_TENSOR_RESULT)
        return false;
    int32_t kind = types->graph->ops[info->producer.i].kind;
    return kind >= 0 && clv_op_def_at(kind)->bytes == CLV_BYTES_CONST;
}
