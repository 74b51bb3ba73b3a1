/* sharding_split.h - a spec flattened to loops. Seen by sharding_*.c only.
 *
 * Each factor of each listed axis is one loop; the first is the outermost. The part number is what
 * the loops count through.
 */
#ifndef CLV_NOTATION_SHARDING_SPLIT_H
#define CLV_NOTATION_SHARDING_SPLIT_H

#include "notation/sharding.h"

#define CLV_SPEC_NAME(spec) ((spec)->tensor ? (spec)->tensor : "")

/* The groups by key, ascending, so that a long device list is looked up quickly. */
typedef struct {
    const clv_device_group **at;
    int32_t n;
} clv_group_index;

/* CLV_EFORMAT when a key is there twice. O(n log n). */
clv_status clv_group_index_make(const clv_sharding_spec *spec, clv_arena *arena,
                                clv_group_index *ret, clv_error *err);
/* NULL: a plain id. O(log n). */
const clv_device_group *clv_group_find(const clv_group_index *index, int64_t key);

#endif
