/* shard_sentences.h - what the reports of annotations say alike, in full and in sum. */
#ifndef CLV_EXPLAIN_SHARD_SENTENCES_H
#define CLV_EXPLAIN_SHARD_SENTENCES_H

#include "explain/shard_list.h"
#include "explain/text.h"

/* "refuse", "ceil", "balanced" */
const char *clv_uneven_word(clv_uneven_policy policy);

/* A line above what is said of a configuration. */
void clv_shards_put_head(const clv_shard_configuration *c, clv_text *text);
/* "  node 'mm': 'y' ", where a line begins. */
void clv_shards_put_place(const clv_shard_list *list, const clv_shard_site *at, clv_text *text);
/* How many tensors are unevenly split, or of unknown size; what is in bodies. */
void clv_shards_put_sums(const clv_shard_list *list, clv_text *text);

/* At most so many lines of each kind, and how many more there are. Inputs of the model that are
 * split where they enter: */
void clv_shards_put_entries(const clv_shard_list *list, int32_t most, clv_text *text);
/* what is not checked, not supported, and wrong. */
void clv_shards_put_findings(const clv_shard_list *list, int32_t most, clv_text *text);

#endif
