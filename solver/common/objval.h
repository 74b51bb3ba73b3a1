/* objval.h - what an objective is measured in, for all solvers.
 *
 * Costs and nanoseconds are whole numbers of up to 128 bits, loads of placement files are doubles.
 * A value is the sum of a whole and a real part; a solver uses one of them, the other is 0, so that
 * comparisons are exact either way. Infinite values have an infinite real part.
 */
#ifndef CLV_SOLVER_COMMON_OBJVAL_H
#define CLV_SOLVER_COMMON_OBJVAL_H

#include <math.h>
#include <stdbool.h>

#include "base/int128.h"

typedef struct {
    clv_int128 whole;
    double real;
} clv_objval;

#define CLV_OBJVAL_INFINITE ((clv_objval){ 0, INFINITY })

static inline clv_objval clv_objval_whole(clv_int128 whole) { return (clv_objval){ whole, 0 }; }
static inline clv_objval clv_objval_real(double real) { return (clv_objval){ 0, real }; }

static inline bool clv_objval_is_infinite(clv_objval v) { return isinf(v.real); }

static inline bool clv_objval_less(clv_objval a, clv_objval b)
{
    if (isinf(a.real) || isinf(b.real) || a.whole == b.whole)
        return a.real < b.real;
    return a.whole < b.whole;
}

/* The nearest double. */
static inline double clv_objval_number(clv_objval v) { return (double)v.whole + v.real; }

/* The part of a value that is above its bound: (value - bound) / value, at least 0. 0 where both
 * are infinite, or the value is not above 0; infinite where only the value is. */
static inline double clv_objval_gap(clv_objval value, clv_objval bound)
{
    double number = clv_objval_number(value);
    if (clv_objval_is_infinite(value))
        return clv_objval_is_infinite(bound) ? 0 : INFINITY;
    if (number <= 0 || !clv_objval_less(bound, value))
        return 0;
    clv_objval above = { value.whole - bound.whole, value.real - bound.real };
    return clv_objval_number(above) / number;
}

#endif
