/* values_index.h - fold rules of elements chosen or replaced by indices that are values themselves.
 */
#ifndef CLV_GRAPH_VALUES_INDEX_H
#define CLV_GRAPH_VALUES_INDEX_H

#include "graph/rule.h"

clv_fold_rule clv_fold_gather;
clv_fold_rule clv_fold_gather_elements;
clv_fold_rule clv_fold_gather_nd; /* without batches: what they index is not worth the arithmetic */
clv_fold_rule clv_fold_scatter_elements;
clv_fold_rule clv_fold_scatter_nd;
clv_fold_rule clv_fold_nonzero; /* sets the shape too, which no shape rule can know */

#endif
