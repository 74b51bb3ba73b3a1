/* backend_profile.h - sharding specs against what one backend supports (cluster/backend.h). A spec
 * that breaks a profile is valid all the same.
 */
#ifndef CLV_ANNOTATIONS_BACKEND_PROFILE_H
#define CLV_ANNOTATIONS_BACKEND_PROFILE_H

#include "cluster/backend.h"
#include "explain/shard_list.h"

/* Lists what of the specs the backend does not support. Wrong ones are passed over. After
 * clv_propagate_shardings(). O(specs * whole_operators + devices). */
clv_status clv_backend_check(const clv_backend *backend, clv_shard_list *list, clv_arena *arena,
                             clv_error *err);

#endif
