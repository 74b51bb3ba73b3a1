/* split_words.h - why an operator cannot be split as a user wants it. */
#ifndef CLV_RULES_SPLIT_WORDS_H
#define CLV_RULES_SPLIT_WORDS_H

#include "sharding/factors.h"

#define CLV_SPLIT_WORDS 400

/* "the factor 'n' of Softmax must be whole", into buf. type: of the operator; parts: how many;
 * dims: those of the dimension that is to be split. Both return buf. */
const char *clv_split_why_factor(const clv_factors *f, clv_str type, int32_t factor, int64_t parts,
                                 char buf[static CLV_SPLIT_WORDS]);
const char *clv_split_why_dim(const clv_factors *f, clv_str type,
                              const clv_operand_factors *operand, int32_t dim, int64_t parts,
                              char buf[static CLV_SPLIT_WORDS]);
/* "'m', 'n', 'k'": the factors of a rule; for messages, so a long list is cut. */
const char *clv_split_list_factors(const clv_factors *f, char buf[static CLV_SPLIT_WORDS]);

#endif
