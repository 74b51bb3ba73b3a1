/* fields.h - the members of our description files, with their units and their sources.
 *
 * Every number stands as { "value": ..., "source": "..." }; a number without a source is refused,
 * for nobody would know later whether to trust it. Each call reads object.key, which is required,
 * and leaves *ret alone when it fails. The bounds are wide: they keep a slip of the pen, or malice,
 * from becoming an infinite time.
 */
#ifndef CLV_CLUSTER_FIELDS_H
#define CLV_CLUSTER_FIELDS_H

#include "base/json.h"
#include "cluster/link_speed.h"

/* Sizes from 0 (min_bytes) to 2^60 bytes. */
clv_status clv_field_bytes(const clv_json_at *object, const char *key, int64_t min_bytes,
                           int64_t *ret, clv_error *err);
/* From 1 KB/s to 1 EB/s. */
clv_status clv_field_bandwidth(const clv_json_at *object, const char *key, double *ret,
                               clv_error *err);
/* From 1 MFLOP/s to 1 ZFLOP/s. */
clv_status clv_field_rate(const clv_json_at *object, const char *key, double *ret, clv_error *err);
/* From 0 to an hour, in nanoseconds. */
clv_status clv_field_time(const clv_json_at *object, const char *key, int64_t *ret, clv_error *err);
/* A share: from 0.000001 to 1. */
clv_status clv_field_share(const clv_json_at *object, const char *key, double *ret, clv_error *err);
/* Of a share: what it rests on. A source that begins with "measured" or "fitted" says so; what
 * stands in a data sheet is assumed to be reached. */
clv_status clv_field_basis(const clv_json_at *object, const char *key, clv_basis *ret,
                           clv_error *err);
/* object.bandwidth, object.latency, and what of the bandwidth is reached, object.efficiency, a
 * share that may be missing: then it is all of it. The basis is that of the efficiency, else of the
 * bandwidth. */
#define CLV_LINK_SPEED_KEYS "bandwidth", "latency", "efficiency"
clv_status clv_field_link_speed(const clv_json_at *object, clv_link_speed *ret, clv_error *err);
/* A part: from 0 to below 1. */
clv_status clv_field_part(const clv_json_at *object, const char *key, double *ret, clv_error *err);
clv_status clv_field_count(const clv_json_at *object, const char *key, int64_t min, int64_t max,
                           int64_t *ret, clv_error *err);

/* object.key, a string that is not empty, without a source; copied to the arena. */
clv_status clv_field_text(const clv_json_at *object, const char *key, clv_arena *arena,
                          const char **ret, clv_error *err);
/* The same where it is there; else *ret stays. */
clv_status clv_field_optional_text(const clv_json_at *object, const char *key, clv_arena *arena,
                                   const char **ret, clv_error *err);
/* object.version, which must be 1. */
clv_status clv_field_version(const clv_json_at *object, clv_error *err);

#endif
