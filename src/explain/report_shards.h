/* report_shards.h - the shards of an annotated model for people: tables, one for each
 * configuration, then what follows from the specs, then what is wrong.
 *
 * Names are never cut: those of a model often differ in the middle. Control characters in them are
 * escaped.
 */
#ifndef CLV_EXPLAIN_REPORT_SHARDS_H
#define CLV_EXPLAIN_REPORT_SHARDS_H

#include "explain/shard_list.h"
#include "explain/text.h"

/* The text lives in the arena. CLV_ENOMEM only. O(shards). */
clv_status clv_report_shards(const clv_shard_list *list, clv_text_form form, clv_arena *arena,
                             const char **ret_text, clv_error *err);

#endif
