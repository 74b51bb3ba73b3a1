/* bits.h - sets of small numbers as bits of 64-bit words. */
#ifndef CLV_BASE_BITS_H
#define CLV_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words that hold n bits. */
static inline size_t clv_bits_words(int32_t n) { return ((size_t)n + 63) / 64; }
/* Bit i of a row of words: is it set, set it, clear it. */
static inline bool clv_bit(const uint64_t *row, int32_t i) { return row[i / 64] >> (i % 64) & 1; }
static inline void clv_bit_set(uint64_t *row, int32_t i) { row[i / 64] |= UINT64_C(1) << (i % 64); }
static inline void clv_bit_clear(uint64_t *row, int32_t i)
{
    row[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

#endif
