/* report_shards_summary.h - what the annotations of a model come to, for people, on a screen: how
 * many tensors are sharded, what each layer and each device has, what is sent; and what is wrong.
 *
 * Layers that are alike are one line. Of sentences about single nodes the first ones are shown; all
 * of them are in report_shards.h.
 */
#ifndef CLV_EXPLAIN_REPORT_SHARDS_SUMMARY_H
#define CLV_EXPLAIN_REPORT_SHARDS_SUMMARY_H

#include "explain/shard_list.h"
#include "explain/text.h"

/* The text lives in the arena. CLV_ENOMEM only. O(shards), expected. */
clv_status clv_report_shards_summary(const clv_shard_list *list, clv_text_form form,
                                     clv_arena *arena, const char **ret_text, clv_error *err);

#endif
