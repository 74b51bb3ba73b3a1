/* values_logic.h - fold rules of comparisons, logic, choice and casts of known elements.
 *
 * A symbol stands for a dimension, so it is never negative: that settles what exporters write after
 * Shape, such as "is it -1?".
 */
#ifndef CLV_GRAPH_VALUES_LOGIC_H
#define CLV_GRAPH_VALUES_LOGIC_H

#include "graph/rule.h"

clv_fold_rule clv_fold_equal;
clv_fold_rule clv_fold_less;
clv_fold_rule clv_fold_less_or_equal;
clv_fold_rule clv_fold_greater;
clv_fold_rule clv_fold_greater_or_equal;
clv_fold_rule clv_fold_and;
clv_fold_rule clv_fold_or;
clv_fold_rule clv_fold_xor;
clv_fold_rule clv_fold_where;
clv_fold_rule clv_fold_cast; /* to whole numbers towards zero; what does not fit is open */
clv_fold_rule clv_fold_cast_like;

#endif
