/* split_reasons.h - why an operator cannot be split as a user wants it. */
#ifndef CLV_RULES_SPLIT_REASONS_H
#define CLV_RULES_SPLIT_REASONS_H

#include "sharding/factors.h"

#define CLV_SPLIT_REASON 400

/* "the factor 'n' of Softmax must be whole", into buf. type: of the operator; parts: how many are
 * asked for. Returns buf. */
const char *clv_why_factor_is_whole(const clv_factors *f, clv_str type, int32_t factor,
                                    int64_t parts, char buf[static CLV_SPLIT_REASON]);
/* The same of a dimension of an operand; operand NULL: the rule does not speak of it. */
const char *clv_why_dim_is_whole(const clv_factors *f, clv_str type,
                                 const clv_operand_factors *operand, int32_t dim, int64_t parts,
                                 char buf[static CLV_SPLIT_REASON]);
/* "'m', 'n', 'k'": the factors of a rule; for messages, so a long list is cut. */
const char *clv_list_factors(const clv_factors *f, char buf[static CLV_SPLIT_REASON]);

#endif
