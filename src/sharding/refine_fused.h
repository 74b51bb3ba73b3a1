/* refine_fused.h - dimensions followed through the whole graph, to where others are fused with
 * them.
 *
 * An encoder whose tensors are (s, b, h) makes rows of them: (s*b, h), and a product takes these.
 * The batch b is the inner part of its rows, and the product, which has one factor for them, can
 * split only the sequence s, which attention needs whole. Taken apart into s and b it can split the
 * batch too, each device its own elements within each of the s pieces, and nobody has to move
 * anything. The same holds for rows (b*s, h), where the batch is small and the devices are many,
 * and for heads within a batch.
 *
 * So each dimension is followed from the input or the operator where it begins, with what stands
 * before it in the dimension where it lies: that is 1 at first, and s behind the reshape. Those
 * that meet in one factor are the same one from then on. There are two kinds: those that are
 * parallel all through, as a batch is, and those that somewhere are summed up, needed whole, or
 * meet themselves as another factor, as a sequence does. A factor is taken apart where the first of
 * the other kind begins in its midst. A second one of a kind, the w of rows h*w, would only be one
 * more choice that nobody takes: the first can be split in its place.
 */
#ifndef CLV_SHARDING_REFINE_FUSED_H
#define CLV_SHARDING_REFINE_FUSED_H

#include "graph/infer.h"
#include "sharding/factors.h"

/* Takes apart, in the rules of all operators of a graph, the factors in whose midst a dimension
 * begins that can be split where the first one cannot: a batch within (s*b). Each factor in two, at
 * most. all: by operator, with new lists in the arena. O(operators and their dimensions). */
clv_status clv_refine_fused(const clv_types *types, clv_factors *all, clv_arena *arena,
                            clv_error *err);

#endif
