/* shapes_table.c - from a line of ops.def to its two functions. */
#include <assert.h>

#include "graph/ops.h"
#include "graph/rules.h"

static const struct {
    clv_shape_rule shape;
    clv_fold_rule fold;
} rules[] = {
#define CLV_OP(domain, name, shape, fold, flops, k, bytes, flags, rule)                            \
    { clv_shape_##shape, clv_fold_##fold },
#include "graph/ops.def"
};

clv_status clv_shape_unknown(clv_rule *r)
{
    (void)r;
    return CLV_OK;
}

clv_status clv_fold_none(clv_rule *r)
{
    (void)r;
    return CLV_OK;
}

clv_shape_rule clv_shape_rule_of(int32_t kind)
{
    assert(kind >= 0 && kind < clv_n_op_defs());
    return rules[kind].shape;
}

clv_fold_rule clv_fold_rule_of(int32_t kind)
{
    assert(kind >= 0 && kind < clv_n_op_defs());
    return rules[kind].fold;
}
