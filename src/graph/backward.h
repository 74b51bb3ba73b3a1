/* backward.h - which operators of a training graph belong to the backward pass.
 *
 * ONNX has no mark for it. An operator begins the backward pass where
 *   - its type ends in "Grad" or "Gradient", with or without a number behind it, or
 *   - its name, or the name of an output, has the word "grad", "gradient" or "backward" among those
 *     that signs other than letters and digits part; "no_grad" does not count;
 * and every operator that reads what a backward one makes is backward too: gradients, their sums,
 * what updates weights. So no forward operator reads from a backward one. A user may name the first
 * ones instead.
 */
#ifndef CLV_GRAPH_BACKWARD_H
#define CLV_GRAPH_BACKWARD_H

#include "base/arena.h"
#include "base/status.h"
#include "graph/graph.h"

/* n_ops entries; *ret is NULL when no operator is backward. first: labels of the operators that
 * begin, separated by commas; "none": no operator; NULL: the rule above. CLV_EUSAGE for a name that
 * the graph does not have. O(operators + edges + characters of names). */
clv_status clv_backward_ops(const clv_graph *g, const char *first, clv_arena *arena, bool **ret,
                            clv_error *err);

#endif
