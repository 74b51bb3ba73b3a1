/* report_clusters_json.h - clusters as JSON, by docs/formats/clusters.schema.json. */
#ifndef CLV_EXPLAIN_REPORT_CLUSTERS_JSON_H
#define CLV_EXPLAIN_REPORT_CLUSTERS_JSON_H

#include "explain/cluster_list.h"

/* The text lives in the arena. CLV_ENOMEM only. O(numbers). */
clv_status clv_report_clusters_json(const clv_cluster_list *list, clv_arena *arena,
                                    const char **ret_text, clv_error *err);

#endif
