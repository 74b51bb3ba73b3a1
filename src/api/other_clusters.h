/* other_clusters.h - where a model would fit that does not fit the cluster it was planned for. */
#ifndef CLV_API_OTHER_CLUSTERS_H
#define CLV_API_OTHER_CLUSTERS_H

#include "plan/plan.h"
#include "request/request.h"

/* Adds a note to a plan that lacks memory: of the clusters of the configs, those whose devices
 * together hold what the nearest plan holds, and how many of them; up to three, of the same devices
 * first, then those that need fewest. By memory alone: nothing is planned for them. Descriptions
 * that cannot be read are passed over. CLV_ENOMEM. O(clusters * devices^2). */
clv_status clv_note_other_clusters(const clv_request *req, const char *configs, clv_plan *plan,
                                   clv_arena *arena, clv_error *err);

#endif
