/* attention.h - attention that exporters write out as operators: its parts, once found.
 *
 *   scores = q k^T, scaled, masked; softmax over the keys; times v
 *
 * as in T. Dao et al., FlashAttention (2022), which never stores the scores.
 */
#ifndef CLV_KERNELS_ATTENTION_H
#define CLV_KERNELS_ATTENTION_H

#include "kernels/grow.h"

/* By tensor: does it say which key comes after which query? It does what comes, over operators that
 * work element by element or move, of a triangle (Trilu) or of positions that are compared with
 * each other; a square of constants that is chosen by, too. NULL without memory. O(operators +
 * edges). */
bool *clv_causal_masks(const clv_types *types, clv_arena *arena);

/* Marks what only makes masks of causal attention, by operator: a kernel that knows its mask wants
 * none of it. attention: of the kernels found. O(operators + edges). */
void clv_find_mask_makers(const clv_forming *f, clv_attention_parts *const *attention,
                          const bool *causal_masks, bool *ret);

/* The parts of the last kernel found; NULL: its operators are no attention, or scores are read by
 * others. O(its operators). */
clv_attention_parts *clv_attention_find(const clv_forming *f, const bool *causal_masks,
                                        clv_arena *arena);

#endif
