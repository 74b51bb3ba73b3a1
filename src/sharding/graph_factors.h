/* graph_factors.h - the rules of all operators of a graph, refined so that neighbours can agree.
 *
 * A Split of [b, s, 3 * h] into three takes a third of each of its outputs from each third of its
 * input: on a device its input is split within 3 outer pieces. The product before it has one factor
 * n for that dimension, and splits it into plain runs, which is another layout. Taken apart into
 * n' = 3 and n, it can split n within n', too; the columns of its weights then lie on the devices
 * in that order, and nobody has to move anything. So each dimension that begins with something
 * whole is taken apart behind it, back to the product (refine_chain.h).
 *
 * Where the part that comes first can be split as well, refine_fused.h finds what has to be taken
 * apart.
 */
#ifndef CLV_SHARDING_GRAPH_FACTORS_H
#define CLV_SHARDING_GRAPH_FACTORS_H

#include "graph/infer.h"
#include "sharding/factors.h"

/* The rules of all operators as they are resolved: ret has n_ops, and operators that are alike
 * share what they point at. O(operators). */
clv_status clv_factors_resolve_all(const clv_model *model, const clv_types *types, clv_arena *arena,
                                   clv_factors *ret, clv_error *err);

/* The same, refined, by operator. Where an operator can split only an inner part of a dimension,
 * (3, part) of queries, keys and values in one, the factors of the operators that lead there are
 * taken apart alike, back to the product that makes them: its weights can be laid out so that
 * nothing has to be moved. Likewise where a reshape fuses two dimensions of which only the inner
 * one is parallel all through, or only the outer one: rows (s*b) of a sequence and a batch. And
 * with factors of parts of sums where operators are linear (graph_sums.h). Where types are of the
 * last token (last_token.h), rules are those of the file with one token: what a plan splits is the
 * same to whoever reads the plan with the file.
 * O(operators), times the length of such a chain. */
clv_status clv_factors_all(const clv_model *model, const clv_types *types, clv_arena *arena,
                           clv_factors **ret, clv_error *err);

#endif
