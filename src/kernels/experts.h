/* experts.h - a mixture of experts that exporters write out, expert by expert: its parts, once
 * found.
 *
 *   sum over experts of gate[e] * down[e](activation(up[e](x)) [* value[e](x)])
 *
 * where a router has chosen top_k experts for each token, and gates of all others are 0 (Shazeer et
 * al. 2017). The file may compute every expert for every token; an engine computes those that are
 * chosen, as one grouped product (Gale et al., MegaBlocks, 2022).
 */
#ifndef CLV_KERNELS_EXPERTS_H
#define CLV_KERNELS_EXPERTS_H

#include "kernels/grow.h"

/* The parts of the last kernel found; NULL: its operators are no mixture, experts are not alike or
 * not all there, or what one computes is read by others. O(its operators and their edges). */
clv_status clv_expert_kernel_find(const clv_forming *f, clv_arena *arena, clv_experts_parts **ret,
                                  clv_error *err);

#endif
