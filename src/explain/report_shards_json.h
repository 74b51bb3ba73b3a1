/* report_shards_json.h - the shards of an annotated model for programs:
 * docs/formats/shards.schema.json.
 */
#ifndef CLV_EXPLAIN_REPORT_SHARDS_JSON_H
#define CLV_EXPLAIN_REPORT_SHARDS_JSON_H

#include "explain/shard_list.h"

/* Keys in the order of the schema, lists of numbers on one line. The text lives in the arena.
 * CLV_ENOMEM only. O(shards). */
clv_status clv_report_shards_json(const clv_shard_list *list, clv_arena *arena,
                                  const char **ret_text, clv_error *err);

#endif
