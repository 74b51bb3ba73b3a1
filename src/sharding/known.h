/* known.h - values that every device has before the run. */
#ifndef CLV_SHARDING_KNOWN_H
#define CLV_SHARDING_KNOWN_H

#include "graph/types.h"

/* Is it known before the run, so that it lies everywhere and nobody chooses how? O(1). */
bool clv_shard_is_known(const clv_types *types, clv_tensor t);

#endif
