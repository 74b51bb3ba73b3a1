/* values_move.h - fold rules of operators that only move elements.
 *
 * The output's shape is known when a rule here runs, so each is a map from places of the output to
 * places of the input. Open elements move like any other.
 */
#ifndef CLV_GRAPH_VALUES_MOVE_H
#define CLV_GRAPH_VALUES_MOVE_H

#include "graph/rule.h"

clv_fold_rule clv_fold_identity; /* same elements, same order */
clv_fold_rule clv_fold_squeeze;
clv_fold_rule clv_fold_unsqueeze;
clv_fold_rule clv_fold_reshape;
clv_fold_rule clv_fold_flatten;
clv_fold_rule clv_fold_transpose;
clv_fold_rule clv_fold_expand;
clv_fold_rule clv_fold_tile;
clv_fold_rule clv_fold_concat;
clv_fold_rule clv_fold_split;
clv_fold_rule clv_fold_slice;
clv_fold_rule clv_fold_pad; /* by constants only */
clv_fold_rule clv_fold_trilu;

#endif
