/* random.h - numbers for throws, and keys for hashes: splitmix64 (Steele et al. 2014), the same for
 * the same seed. */
#ifndef CLV_SOLVER_RANDOM_H
#define CLV_SOLVER_RANDOM_H

#include <stdint.h>

static inline uint64_t clv_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
