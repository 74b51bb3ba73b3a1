/* values_math.h - fold rules of arithmetic on known elements, one by one.
 *
 * Whole numbers that their type cannot hold become unknown; so does a quotient by zero.
 */
#ifndef CLV_GRAPH_VALUES_MATH_H
#define CLV_GRAPH_VALUES_MATH_H

#include "graph/rule.h"

clv_fold_rule clv_fold_neg;
clv_fold_rule clv_fold_abs;
clv_fold_rule clv_fold_sign;
clv_fold_rule clv_fold_not;
clv_fold_rule clv_fold_floor;
clv_fold_rule clv_fold_ceil;
clv_fold_rule clv_fold_round; /* halves to even */
clv_fold_rule clv_fold_sqrt;
clv_fold_rule clv_fold_exp;
clv_fold_rule clv_fold_log;
clv_fold_rule clv_fold_reciprocal;

/* Two inputs or more, broadcast. */
clv_fold_rule clv_fold_add;
clv_fold_rule clv_fold_sum;
clv_fold_rule clv_fold_sub;
clv_fold_rule clv_fold_mul;
clv_fold_rule clv_fold_div; /* integers towards zero */
clv_fold_rule clv_fold_mod; /* the sign is the divisor's, with fmod the dividend's */
clv_fold_rule clv_fold_pow; /* of like types: a whole number to a fractional power is left open */
clv_fold_rule clv_fold_min;
clv_fold_rule clv_fold_max;
clv_fold_rule clv_fold_mean;
clv_fold_rule clv_fold_clip;

#endif
