/* fit_match.h - a rule laid over the shapes of one operator: the state between fit_match.c, which
 * matches dimensions with terms, fit_sizes.c, which solves for sizes, and fit.c, which writes the
 * answer.
 */
#ifndef CLV_SHARDING_FIT_MATCH_H
#define CLV_SHARDING_FIT_MATCH_H

#include "sharding/resolve.h"

#define CLV_SIZE_UNSOLVED (-2)

typedef struct {
    clv_factor f; /* name is the key; empty for a number of the rule */
    clv_str run;  /* the run that it comes from; empty */
    bool given, open;
    int32_t place; /* in the answer; -1: left out */
} clv_fit_factor;

/* A dimension of an operand, or a number of a note: the product of its factors. */
typedef struct {
    clv_dim size;
    int32_t first, n; /* into ids */
    bool blank;       /* no factor is looked for */
    bool may_be_one;  /* 1 although the factors say more: it is broadcast */
} clv_fit_dim;

typedef struct {
    const clv_operand_text *text; /* NULL: not in the rule */
    const clv_type *type;
    bool present;
    int32_t rank;  /* -1: not known */
    int32_t first; /* dims; meaningful if ranked and not "-" */
} clv_fit_operand;

typedef struct {
    clv_rule_context *w;
    clv_rule_text text;
    int32_t n_in, n_out;
    clv_fit_operand *operands; /* inputs, then outputs */
    struct {
        clv_str name;
        int32_t length; /* -1: not known */
    } * runs;
    int32_t n_runs;
    clv_fit_factor *factors;
    clv_fit_dim *dims; /* of operands, then of notes */
    int32_t *ids;
    int32_t n_factors, cap_factors, n_dims, cap_dims, n_ids, cap_ids;
    int32_t *note_dim; /* by note: its number among dims, -1 */
} clv_fit;

/* The value of a source. False: not known or not there. */
bool clv_fit_source(const clv_fit *f, const clv_source *s, int64_t *ret);

/* Sizes of all factors from the sizes of dimensions. Sets w->why where they contradict. */
clv_status clv_fit_solve(clv_fit *f);
/* Kinds, and all that is told about factors, operands, and what changes on a shard. */
clv_status clv_fit_give(clv_fit *f, clv_factors *ret);

#endif
