/* fit_match.h - which dimension of which operand of an operator is which term of its rule.
 *
 * A run ("a..") stands for as many dimensions as are left; where several runs stand in one operand,
 * a note or another operand gives the length of all but one. Runs line up from the right, as numpy
 * does it, so a shorter operand lacks the first of them.
 */
#ifndef CLV_SHARDING_FIT_MATCH_H
#define CLV_SHARDING_FIT_MATCH_H

#include "sharding/rule_context.h"
#include "sharding/rule_text.h"

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

/* A rule laid over the shapes of one operator. */
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

/* Reads the body of a case and matches it; factors have no sizes yet, but those that are numbers of
 * the rule. w->why is set where the operator does not go with it. Lives in w->r->arena. O(length of
 * the rule * operands). */
clv_status clv_fit_match(clv_rule_context *w, clv_str body, clv_fit *ret, clv_error *err);

#endif
