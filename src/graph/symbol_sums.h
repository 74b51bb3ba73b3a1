/* symbol_sums.h - dimensions that are sums of symbols and a number: past + sequence, n + 1.
 *
 * A concatenation along an axis is as long as its parts together. Such a dimension has a code above
 * those of the model's symbols: clv_dim_symbol(n_symbols + k) is sum k of this table. Equal sums
 * have equal codes, so they are compared like symbols; and like a symbol a sum is never negative,
 * for what would have a negative term stays open. Codes are given in the order in which sums are
 * met. Nothing but the table can say what is behind a code: to all else it is an open dimension.
 */
#ifndef CLV_GRAPH_SYMBOL_SUMS_H
#define CLV_GRAPH_SYMBOL_SUMS_H

#include "base/map.h"
#include "graph/graph.h"

#define CLV_SUM_TERMS 4 /* longer sums stay open */

/* factor[0] * symbol[0] + ... + constant, terms in the order in which they were added where the sum
 * was met first. No padding, unused terms 0. */
typedef struct {
    int64_t constant, n;
    int64_t symbol[CLV_SUM_TERMS], factor[CLV_SUM_TERMS];
} clv_symbol_sum;

typedef struct {
    const clv_model *model;
    clv_arena *arena;
    clv_map ids;
    clv_symbol_sum *at; /* by id - n_symbols of the model */
    int32_t n, cap;
    bool failed; /* there was no memory for one; it stayed open */
} clv_symbol_sums;

/* Of a model, empty; grows in the arena. CLV_ENOMEM. O(1). */
clv_status clv_symbol_sums_init(clv_symbol_sums *sums, const clv_model *model, clv_arena *arena,
                                clv_error *err);

/* As clv_dim_add() and clv_dim_sub(), but sums of symbols are known. sums NULL: they are not. O(1)
 * expected. */
clv_dim clv_symbol_sums_add(clv_symbol_sums *sums, clv_dim a, clv_dim b);
clv_dim clv_symbol_sums_sub(clv_symbol_sums *sums, clv_dim a, clv_dim b);

/* The terms of a dimension: a number has none, a symbol is its own. False: it is not known. O(1).
 */
bool clv_symbol_sum_of(const clv_symbol_sums *sums, clv_dim d, clv_symbol_sum *ret);
/* a - b in *ret, where terms may be negative. False: it has too many terms, or 64 bits do not hold
 * it. O(1). */
bool clv_symbol_sum_less(const clv_symbol_sum *a, const clv_symbol_sum *b, clv_symbol_sum *ret);
/* The dimension that has these terms: CLV_DIM_UNKNOWN where one is negative, or the table is full.
 * O(1) expected. */
clv_dim clv_symbol_sums_dim(clv_symbol_sums *sums, const clv_symbol_sum *sum);

#endif
