/* values_reduce.h - fold rules of sums, products and extremes of known elements along axes. */
#ifndef CLV_GRAPH_VALUES_REDUCE_H
#define CLV_GRAPH_VALUES_REDUCE_H

#include "graph/rule.h"

clv_fold_rule clv_fold_reduce_sum;
clv_fold_rule clv_fold_reduce_prod;
clv_fold_rule clv_fold_reduce_max;
clv_fold_rule clv_fold_reduce_min;
clv_fold_rule clv_fold_reduce_mean;
clv_fold_rule clv_fold_arg_max; /* of equals the first, or the last if asked */
clv_fold_rule clv_fold_arg_min;
clv_fold_rule clv_fold_cum_sum;

#endif
