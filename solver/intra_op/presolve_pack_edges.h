/* presolve_pack_edges.h - edges between the new nodes.
 *
 * All edges between the same two nodes are added up into one matrix (presolve_pack_sums.h); what it
 * says of one node alone goes to the costs of the nodes. If nothing is left, the edge goes. An edge
 * that nothing happened to keeps its matrix.
 */
#ifndef CLV_SOLVER_INTRA_OP_PRESOLVE_PACK_EDGES_H
#define CLV_SOLVER_INTRA_OP_PRESOLVE_PACK_EDGES_H

#include "solver/intra_op/presolve_packing.h"

/* Writes the edges of k->w, and adds to the costs of nodes what matrices say of one node alone.
 * O(edges + entries of edges that are not as before, those alike once). */
clv_status clv_pack_edges(clv_packing *k, clv_error *err);

#endif
