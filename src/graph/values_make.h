/* values_make.h - fold rules of values that come from a file, from a shape or from a branch that is
 * taken. */
#ifndef CLV_GRAPH_VALUES_MAKE_H
#define CLV_GRAPH_VALUES_MAKE_H

#include "graph/rule.h"

clv_fold_rule clv_fold_constant;
clv_fold_rule clv_fold_shape;
clv_fold_rule clv_fold_size;
clv_fold_rule clv_fold_range; /* how many there are is in the output's shape */
clv_fold_rule clv_fold_constant_of_shape;
clv_fold_rule clv_fold_if;

#endif
