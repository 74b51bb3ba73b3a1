/* factors_layout.h - from "this axis splits that factor" to the layouts of inputs and outputs.
 *
 * A choice of an operator says by mesh axis which factor the axis splits, or -1.
 */
#ifndef CLV_SHARDING_FACTORS_LAYOUT_H
#define CLV_SHARDING_FACTORS_LAYOUT_H

#include "sharding/factors.h"

/* False: the choice is not allowed (a whole factor, a part smaller than its granule, uneven where
 * even is asked, a halo wider than a part). O(dimensions). */
bool clv_factors_allow(const clv_factors *f, const clv_mesh *mesh, const int16_t *factor_of_axis);
/* Layouts that its input k must have, and that its output k then has. Axis order on one dimension:
 * the factor's place, then the axis number. O(rank). */
void clv_factors_in(const clv_factors *f, const clv_mesh *mesh, const int16_t *factor_of_axis,
                    int32_t k, clv_layout *ret);
void clv_factors_out(const clv_factors *f, const clv_mesh *mesh, const int16_t *factor_of_axis,
                     int32_t k, clv_layout *ret);

#endif
