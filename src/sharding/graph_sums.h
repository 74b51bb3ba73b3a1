/* graph_sums.h - where in a graph parts of sums are worth carrying on.
 *
 * A product that is split along what it sums over leaves parts of its result, and a collective adds
 * them up. Behind an operator that is linear (graph/linear.h) they may be added up as well: experts
 * that are written out each end in a product, whose result is scaled and added to that of the
 * others, and one sum of all of them is enough. So such operators get one more factor,
 * CLV_FACTOR_SUMMANDS: an axis that "splits" it has parts of a sum of the input, and of the
 * outputs.
 *
 * Each such factor is one more choice for every axis, so only operators get one on a way that gains
 * something: from products through linear operators that alone read what they take, to one that
 * adds two such ways up, or makes less of what it reads.
 */
#ifndef CLV_SHARDING_GRAPH_SUMS_H
#define CLV_SHARDING_GRAPH_SUMS_H

#include "graph/infer.h"
#include "sharding/factors.h"

/* Adds these factors to the rules of all operators of a graph. all: by operator, with new lists in
 * the arena where there is something new. O(operators + edges). */
clv_status clv_factors_add_sums(const clv_types *types, clv_factors *all, clv_arena *arena,
                                clv_error *err);

#endif
