/* error_growth.h - how far rounding may take a tensor apart, when sums are made in another order.
 *
 * Each operator rounds its result to its type, u = 2^-24 of it for float32, and once more for each
 * device whose partial result is added; and it makes sums of n terms in at least float32. Errors
 * are taken as independent, so that squares add up: the error of a sum grows like the root of n
 * (Higham and Mary, A new approach to probabilistic rounding error analysis, 2019), and that of
 * operators one behind the other along the longest way:
 *
 *     square(t) = most of square(inputs) + u(t)^2 (1 + devices) + v^2 n
 *     growth(t) = CLV_ERROR_GROWTH_FACTOR * root(square(t))
 *
 *     absolute(t) = of a function that saturates, what its kernel is off by, in two runs
 *
 * with v = 2^-53 for float64, else 2^-24. n is the product of the factors of the operator's rule
 * that are summed over or have to be whole (a softmax), or without a rule, the elements of an input
 * for each of the output. What is rounded to integers of 8 bits or less counts with their step.
 */
#ifndef CLV_VERIFY_ERROR_GROWTH_H
#define CLV_VERIFY_ERROR_GROWTH_H

#include "graph/infer.h"
#include "sharding/factors.h"

/* root(2 * 2): two runs are compared, and each rounds the product and the sum of a term, or both at
 * once where multiply and add are fused (IEEE 754-2019, 5.4.1), as either may. */
#define CLV_ERRORS_OF_A_TERM 2.0
/* The lambda of Higham and Mary: independent errors are beyond it with probability 2 exp(-128). It
 * is that large because errors are not quite independent, and an exponential makes them larger.
 * Measured on the models of the tests: the largest error is below a seventh of the bound
 * (docs/verifying.md). */
#define CLV_ERROR_CONFIDENCE    16.0
#define CLV_ERROR_GROWTH_FACTOR (CLV_ERRORS_OF_A_TERM * CLV_ERROR_CONFIDENCE)

/* The runtime's kernels of functions with values up to 1, in units of v: near their limits they are
 * a limit plus or minus a rational function, so that the error does not shrink with the value.
 * Measured of ONNX Runtime 1.30 on x86-64 against float64: 2.98, 5.11, 0.94 and 2.99
 * (tests/verify/kernel_errors.py). */
#define CLV_ERROR_OF_SIGMOID 3.0
#define CLV_ERROR_OF_TANH    6.0
#define CLV_ERROR_OF_ERF     1.0
#define CLV_ERROR_OF_SOFTMAX 3.0

/* By tensor of the main graph. */
typedef struct {
    double *growth;   /* relative error; 0 where nothing was rounded */
    double *terms;    /* the sum of n along the longest way */
    double *absolute; /* error that is there however small the values are */
} clv_error_growth;

/* n_devices: of a mesh. In the arena. CLV_ENOMEM. O(operators + edges). */
clv_status clv_error_growth_of(const clv_types *types, const clv_factors *factors,
                               int32_t n_devices, clv_arena *arena, clv_error_growth *ret,
                               clv_error *err);

#endif
