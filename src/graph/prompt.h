/* prompt.h - the token ids that a model which generates text reads: how many of how many sequences.
 *
 * Such a model keeps keys and values, or another state, from one run to the next (states.h,
 * first_caches.h), and looks its ids up in a table of embeddings. A run over several tokens of each
 * sequence is a prefill, one over a single token a step of decoding. A mask that an encoder returns
 * as it came is no state, and hidden states that its attention pools are no caches.
 */
#ifndef CLV_GRAPH_PROMPT_H
#define CLV_GRAPH_PROMPT_H

#include "graph/types.h"

/* Ids of an input of the model [sequences, tokens], as an operator looks them up. */
typedef struct {
    int64_t sequences, tokens;
} clv_token_ids;

typedef struct {
    int32_t n;
    const clv_token_ids *at; /* by operator */
    int64_t vocabulary;      /* rows of the largest table: those of positions and of kinds of tokens
                                are smaller; 0 without ids */
} clv_prompt;

/* n is 0 where the model keeps no state, or no ids are looked up in a weight, or the sizes of all
 * that are, are open. Lives in the arena; CLV_ENOMEM. O(operators + edges). */
clv_status clv_prompt_find(const clv_types *types, clv_arena *arena, clv_prompt *ret,
                           clv_error *err);

/* The most tokens of a sequence, 0 without ids; above 1 the run is a prefill. O(n). */
int64_t clv_prompt_tokens(const clv_prompt *prompt);

#endif
