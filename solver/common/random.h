/* random.h - numbers for throws, and keys for hashes: splitmix64 (Steele et al. 2014), the same for
 * the same seed. */
#ifndef CLV_SOLVER_COMMON_RANDOM_H
#define CLV_SOLVER_COMMON_RANDOM_H

#include <stdint.h>

static inline uint64_t clv_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* From 0 to n - 1. */
static inline int32_t clv_random_below(uint64_t *state, int32_t n)
{
    return (int32_t)((clv_random(state) >> 32) * (uint64_t)n >> 32);
}

/* From 0 to below 1. */
static inline double clv_random_unit(uint64_t *state)
{
    return (double)(clv_random(state) >> 11) * 0x1p-53;
}

#endif
