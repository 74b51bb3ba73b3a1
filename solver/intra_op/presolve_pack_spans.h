/* presolve_pack_spans.h - memory of the new nodes. */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_PACK_SPANS_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_PACK_SPANS_H

#include "solver/intra_op/presolve_packing.h"

/* Writes the rows and spans of k->w. O(spans * choices + spans log spans + rows). */
clv_status clv_pack_spans(clv_packing *k, clv_error *err);

#endif
