/* presolve_pack_edges.h - edges between the new nodes. */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_PACK_EDGES_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_PACK_EDGES_H

#include "solver/intra_op/presolve_packing.h"

/* Writes the edges of k->w, and adds to the costs of nodes what matrices say of one node alone.
 * O(edges + entries of edges that are not as before, those alike once). */
clv_status clv_pack_edges(clv_packing *k, clv_error *err);

#endif
