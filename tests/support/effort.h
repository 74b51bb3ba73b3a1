/* effort.h - how much a test of random problems tries.
 *
 * CLEAVE_EFFORT=10 in the environment makes it ten times as much, for nights. Under the address
 * sanitizer, where each problem takes several times as long, it is an eighth: faults of memory show
 * in the first ones, and what is said of many is held without it.
 */
#ifndef TEST_SUPPORT_EFFORT_H
#define TEST_SUPPORT_EFFORT_H

#include <stdint.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define TEST_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_IS_SANITIZED 1
#endif
#endif
#ifndef TEST_IS_SANITIZED
#define TEST_IS_SANITIZED 0
#endif

/* So many of n problems, at least one. */
static inline uint64_t test_effort(uint64_t n)
{
    const char *times = getenv("CLEAVE_EFFORT");
    uint64_t more = times ? strtoull(times, NULL, 10) : 1;
    n *= more > 0 ? more : 1;
    return TEST_IS_SANITIZED ? (n + 7) / 8 : n;
}

#endif
