/* group_cache.h - results of groups whose memory was planned before, shared by all workers.
 *
 * A key is everything that a group's result depends on: kind of device, proportion, packing, units.
 * Keys are compared in full, a hash only finds them. Thread-safe. When it is full it starts anew;
 * whether a result came from here can never be seen in it.
 */
#ifndef CLV_COMPILE_GROUP_CACHE_H
#define CLV_COMPILE_GROUP_CACHE_H

#include "compile/memory_plan.h"

typedef struct clv_group_cache clv_group_cache;

/* max_bytes 0: keeps nothing. */
clv_status clv_group_cache_open(const clv_alloc *alloc, size_t max_bytes, clv_group_cache **ret,
                                clv_error *err);
void clv_group_cache_close(clv_group_cache *c); /* NULL is fine */

/* O(ranges) expected. */
bool clv_group_cache_get(clv_group_cache *c, const clv_group *key, clv_group_result *ret);
/* A result that there is no memory for is not kept. */
void clv_group_cache_put(clv_group_cache *c, const clv_group *key, const clv_group_result *result);
/* Keys found so far, for tests and benchmarks. */
int64_t clv_group_cache_hits(clv_group_cache *c);

#endif
