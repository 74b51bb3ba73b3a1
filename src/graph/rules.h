/* rules.h - every shape rule and fold rule that ops.def names, declared, and found by line.
 *
 * A rule is a function clv_shape_<shape>() or clv_fold_<fold>(); writing its name into a line of
 * ops.def declares it here. Only the files that define or call rules include this header.
 */
#ifndef CLV_GRAPH_RULES_H
#define CLV_GRAPH_RULES_H

#include "graph/rule.h"

#define CLV_OP(domain, name, shape, fold, flops, k, bytes, flags, rule)                            \
    clv_status clv_shape_##shape(clv_rule *r);                                                     \
    clv_status clv_fold_##fold(clv_rule *r);
#include "graph/ops.def"

clv_status clv_shape_unknown(clv_rule *r); /* sets nothing */
clv_status clv_fold_none(clv_rule *r);     /* sets nothing */

/* The rules of a line of ops.def; kind is in [0, clv_n_op_defs()). O(1). */
clv_shape_rule clv_shape_rule_of(int32_t kind);
clv_fold_rule clv_fold_rule_of(int32_t kind);

#endif
