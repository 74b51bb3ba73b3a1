/* presolve_pack_spans.h - memory of the new nodes of presolve_pack.h: the spans of their members
 * added up by a sweep line (Shamos, Hoey 1976).
 *
 * The spans of a new node's members are swept from row to row; those of a node by itself are in
 * order as they are. What a stretch needs at least, whatever the node chooses, goes to the row
 * itself (held).
 */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_PACK_SPANS_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_PACK_SPANS_H

#include "solver/intra_op/presolve_packing.h"

/* Writes the rows and spans of k->w. O(spans * choices + spans log spans + rows). */
clv_status clv_pack_spans(clv_packing *k, clv_error *err);

#endif
