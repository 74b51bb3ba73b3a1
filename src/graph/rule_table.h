/* rule_table.h - the shape rule and the fold rule of each line of ops.def. */
#ifndef CLV_GRAPH_RULE_TABLE_H
#define CLV_GRAPH_RULE_TABLE_H

#include "graph/rule.h"

/* kind is in [0, clv_n_op_defs()). O(1). */
clv_shape_rule *clv_shape_rule_of(int32_t kind);
clv_fold_rule *clv_fold_rule_of(int32_t kind);

#endif
