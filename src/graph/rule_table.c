#include "graph/rule_table.h"

#include <assert.h>

#include "graph/ops.h"
#include "graph/shapes_attention.h"
#include "graph/shapes_body.h"
#include "graph/shapes_contraction.h"
#include "graph/shapes_conv.h"
#include "graph/shapes_elementwise.h"
#include "graph/shapes_image.h"
#include "graph/shapes_index.h"
#include "graph/shapes_make.h"
#include "graph/shapes_ml.h"
#include "graph/shapes_move.h"
#include "graph/shapes_reduce.h"
#include "graph/shapes_reshape.h"
#include "graph/shapes_rnn.h"
#include "graph/shapes_sequence.h"
#include "graph/shapes_signal.h"
#include "graph/shapes_slice.h"
#include "graph/values_index.h"
#include "graph/values_logic.h"
#include "graph/values_make.h"
#include "graph/values_math.h"
#include "graph/values_move.h"
#include "graph/values_reduce.h"

/* A rule that ops.def names and no family's header declares does not compile here. */

static clv_status set_nothing(clv_rule *r, clv_error *err)
{
    (void)r;
    (void)err;
    return CLV_OK;
}
#define clv_shape_unknown set_nothing
#define clv_fold_none     set_nothing

static const struct {
    clv_shape_rule *shape;
    clv_fold_rule *fold;
} rules[] = {
#define CLV_OP(domain, name, shape, fold, flops, k, bytes, flags, rule)                            \
    { clv_shape_##shape, clv_fold_##fold },
#include "graph/ops.def"
};

clv_shape_rule *clv_shape_rule_of(int32_t kind)
{
    assert(kind >= 0 && kind < clv_n_op_defs());
    return rules[kind].shape;
}

clv_fold_rule *clv_fold_rule_of(int32_t kind)
{
    assert(kind >= 0 && kind < clv_n_op_defs());
    return rules[kind].fold;
}
