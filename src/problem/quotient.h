/* quotient.h - which device waits for which, as rows of bits. */
#ifndef CLV_PROBLEM_QUOTIENT_H
#define CLV_PROBLEM_QUOTIENT_H

#include "problem/partition_problem.h"

static inline size_t clv_bits_words(int32_t n) { return ((size_t)n + 63) / 64; }
static inline bool clv_bit(const uint64_t *row, int32_t i) { return row[i / 64] >> (i % 64) & 1; }
static inline void clv_bit_set(uint64_t *row, int32_t i) { row[i / 64] |= UINT64_C(1) << (i % 64); }
static inline void clv_bit_clear(uint64_t *row, int32_t i)
{
    row[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* Row a has bit b where a net leads from device a to device b. rows: n_devices * words, zeroed. */
void clv_quotient_rows(const clv_partition_problem *p, const int32_t *device_of, uint64_t *rows);

/* Longest chain before each of n nodes; false when there is a cycle. scratch: 2 * n. O(n * n). */
bool clv_quotient_levels(const uint64_t *rows, int32_t n, int32_t *level, int32_t *scratch);

#endif
