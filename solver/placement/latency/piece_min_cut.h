/* piece_min_cut.h - the cheapest set of units for one piece: a minimum cut (Ford, Fulkerson 1956,
 * "Maximal flow through a network"), as in the closure problem (Picard 1976, "Maximal closure of a
 * graph and applications to combinatorial problems").
 *
 * A piece that must have some units and must not have others costs at least the smallest sum, over
 * all such sets, of the times of its units and of the nets that have pins on both sides. That is a
 * smallest cut of a flow network: a unit is linked to the sink by its time, a net by two inner
 * nodes.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_PIECE_MIN_CUT_H
#define CLV_SOLVER_PLACEMENT_LATENCY_PIECE_MIN_CUT_H

#include "solver/placement/latency/latency_units.h"

typedef struct clv_piece_cut clv_piece_cut;

typedef enum { CLV_SIDE_ANY, CLV_SIDE_IN, CLV_SIDE_OUT } clv_cut_side;

/* A network of all units and nets, in the arena, with the units. CLV_ENOMEM. O(units + pins). */
clv_status clv_piece_cut_new(const clv_latency_units *units, clv_arena *arena, clv_piece_cut **ret,
                             clv_error *err);

/* Ticks. side: by unit. weight: by unit, ticks, not negative, what it costs inside. chosen (by
 * unit) may be NULL; it gets the smallest of the best sets. O(paths * pins), few paths in practice.
 */
int64_t clv_piece_cut_min(clv_piece_cut *cut, const clv_cut_side *side, const int64_t *weight,
                          bool *chosen);

#endif
