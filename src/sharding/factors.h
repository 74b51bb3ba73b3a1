/* factors.h - what may be split in one operator: its sharding rule, resolved for its shapes.
 *
 * A rule names factors: (b,i,k),(k,j)->(b,i,j). A dimension of an input or output is a factor, or
 * the product of several, the first outermost, or none (size 1, or always whole). To split a factor
 * over a mesh axis splits every dimension that it is part of; an input without it is copied; an
 * output without it is partial if the factor is reduced. ops.def has the rules, docs/sharding.md
 * the notation; resolve.h lays them over shapes. Factors in this sense are those of Shardy's
 * sharding rules (OpenXLA, 2024).
 */
#ifndef CLV_SHARDING_FACTORS_H
#define CLV_SHARDING_FACTORS_H

#include "base/arena.h"
#include "sharding/layout.h"

typedef enum {
    CLV_FACTOR_PARALLEL, /* parts have nothing to do with each other */
    CLV_FACTOR_REDUCED,  /* not in the outputs: parts give partial results */
    CLV_FACTOR_WHOLE,    /* must not be split: a softmax axis, a sequence of steps */
    CLV_FACTOR_HALO,     /* parts need the borders of their neighbours */
    /* No dimension: the operator is linear, and an axis has parts of a sum, of which it makes parts
     * of a sum. Rules have none; clv_factors_add_sums() adds them. */
    CLV_FACTOR_SUMMANDS
} clv_factor_kind;

typedef struct {
    char name[12]; /* as in the rule: "b", "k", "heads" */
    int64_t size;  /* at least 0; -1 where the shape is open, then it is not split */
    clv_factor_kind kind;
    clv_reduce reduce;     /* CLV_FACTOR_REDUCED */
    int64_t granule;       /* parts are multiples of it: group size of quantised weights; 1 */
    int64_t before, after; /* CLV_FACTOR_HALO: elements of the input dimension beyond a part */
    bool even;             /* parts must be of one size (mean) */
    /* Its elements are chosen by number, rows of a table by the indices of input 1, experts by the
     * router: a part answers for those of its own, and gives 0 for all others. */
    bool by_index;
    uint8_t sum; /* CLV_FACTOR_SUMMANDS: its bit in clv_operand_factors.sums */
} clv_factor;

/* The size of CLV_FACTOR_SUMMANDS: a sum may have any number of parts. */
#define CLV_SUMMANDS_MAX INT32_MAX

typedef struct {
    const int16_t *at; /* factors, outermost first */
    int16_t n;         /* 0: always whole on every device */
} clv_dim_factors;

typedef struct {
    int32_t rank; /* 0 for a missing input, and where the rank is open */
    const clv_dim_factors *dims;
    bool once; /* a bias: where parts of a sum are added up later, only the first part has it; the
                * others take zeros. This is about reduced factors that the operand itself has not,
                * and about parts of sums that it has no part in. */
    uint8_t sums; /* a bit for each CLV_FACTOR_SUMMANDS: parts of a sum along what splits it */
} clv_operand_factors;

/* Are parts of an operand parts of a sum where an axis splits the factor? */
static inline bool clv_takes_summands(const clv_operand_factors *operand, const clv_factor *factor)
{
    return factor->kind == CLV_FACTOR_SUMMANDS && (operand->sums >> factor->sum & 1);
}

/* Do devices that split the factor make parts of a result, to be reduced? */
static inline bool clv_factor_leaves_parts(const clv_factor *factor)
{
    return factor->kind == CLV_FACTOR_REDUCED || factor->kind == CLV_FACTOR_SUMMANDS;
}

/* A number in an attribute or in a constant input that has to change on a shard: the group of a
 * Conv, the shape of a Reshape. It becomes the product of the local sizes of these factors. Only
 * numbers with a factor that may be split are listed; others stay as they are. */
typedef struct {
    const char *attr; /* NULL: the value of input `in` */
    int32_t in;       /* -1: an attribute */
    int32_t at;       /* element of the list or value; -1: it is one number */
    clv_dim_factors of;
    bool zero; /* becomes 0 instead, where one of the factors is split: padding beside a halo */
} clv_local;

typedef struct {
    int32_t n_factors, n_in, n_out; /* n_in: explicit inputs */
    const clv_factor *factors;
    const clv_operand_factors *in, *out;
    const clv_local *local;
    int32_t n_local;
    /* The outputs describe the whole shape of the inputs, which is known beforehand: they are
     * constants of a plan, whatever the layout of the inputs (Shape, Size). */
    bool by_shape;
    const char *why_whole; /* NULL, or why nothing of this operator can be split, in a sentence */
    /* With why_whole: nothing is known of how it may be split. Its rule does not say that it must
     * be whole; there is none, or none for these shapes and attributes. */
    bool no_rule;
} clv_factors;

/* The factor in which something begins that has `outer` parts before it in the dimension; in *outer
 * then how many of these are in the factor itself. -1: it begins in no one place. O(factors). */
int32_t clv_factor_begins(const clv_factors *f, const clv_dim_factors *d, int64_t *outer);
/* Can the factor be taken apart so that `outer` comes first? */
bool clv_factor_divisible(const clv_factor *one, int64_t outer);
/* The same rule with one factor taken apart: n becomes n' * n, n' outermost, of size `outer`, which
 * must divide n, and have the last id; the others keep theirs. Only for parallel and reduced
 * factors that are not chosen by index. O(dimensions). */
clv_status clv_factors_refine(const clv_factors *f, int32_t factor, int64_t outer, clv_arena *arena,
                              clv_factors *ret, clv_error *err);

#endif
