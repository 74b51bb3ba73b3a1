/* report_clusters.h - clusters for people: what devices they have, what joins these, and for one
 * of them where each number is from.
 */
#ifndef CLV_EXPLAIN_REPORT_CLUSTERS_H
#define CLV_EXPLAIN_REPORT_CLUSTERS_H

#include "explain/cluster_list.h"
#include "explain/text.h"

/* The text lives in the arena. CLV_ENOMEM only. O(numbers). */
clv_status clv_report_clusters(const clv_cluster_list *list, clv_text_form form, clv_arena *arena,
                               const char **ret_text, clv_error *err);

#endif
