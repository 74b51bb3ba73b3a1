/* last_token.h - logits as serving loops compute them: for the last token of each sequence.
 *
 * A file may return the logits of all tokens of a prompt. Whoever serves it samples from those of
 * the last one, and takes those rows of the hidden states before the product with the vocabulary:
 * `logits_indices` of vLLM, `gather_last_token_logits` of TensorRT-LLM, unless it is asked for all.
 */
#ifndef CLV_GRAPH_LAST_TOKEN_H
#define CLV_GRAPH_LAST_TOKEN_H

#include "graph/prompt.h"

/* The same types where logits have one token of each sequence, from their product to the outputs of
 * the model, and where that product reads as many rows (clv_types.read). Logits are the product of
 * a tensor [.., tokens, hidden] and a weight to [.., tokens, vocabulary], as large as the prompt's
 * ids and table say, tokens of all sequences in one dimension or not; casts, scales, caps and other
 * operators that work element by element, with one element or one row, may follow, but nothing else
 * reads them, and they are an output. *ret is types itself where there are none, as in a step of
 * decoding. Shares all else; lives in the arena. O(operators + edges). */
clv_status clv_types_last_token(const clv_types *types, const clv_prompt *prompt, clv_arena *arena,
                                const clv_types **ret, clv_error *err);

#endif
