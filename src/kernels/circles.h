/* circles.h - kernels that wait for each other. */
#ifndef CLV_KERNELS_CIRCLES_H
#define CLV_KERNELS_CIRCLES_H

#include "kernels/grow.h"

/* Takes kernels apart that wait for each other, and those between them. Growth sees nearly all of
 * it coming: not what goes through kernels with operators far behind. O(operators + edges). */
clv_status clv_break_circles(clv_forming *f, clv_error *err);

#endif
