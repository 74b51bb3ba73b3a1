/* backend_profile.h - what one backend supports of sharding specs: a profile, from
 * configs/backends/NAME.json. A spec that breaks it is valid all the same.
 */
#ifndef CLV_ANNOTATIONS_BACKEND_PROFILE_H
#define CLV_ANNOTATIONS_BACKEND_PROFILE_H

#include "explain/shard_list.h"

typedef struct clv_backend {
    const char *name;
    const char **device_names; /* names of devices begin with one of these; none: any */
    int32_t n_device_names;
    const char **whole_operators; /* types */
    int32_t n_whole_operators;
    int64_t max_devices, axes_per_tensor; /* INT64_MAX where nothing is said */
    bool power_of_two, static_shapes;
    bool uneven, fused_axes, unequal_groups, stages, reshards; /* allowed */
} clv_backend;

/* A name of configs/backends, or a path (with '/' or ending in ".json"). configs_path: as
 * cluster/config_file.h has it. CLV_EUSAGE: no such name, CLV_EIO, CLV_EFORMAT. */
clv_status clv_backend_load(const char *name_or_path, const char *configs_path, clv_arena *arena,
                            const clv_backend **ret, clv_error *err);
/* The text of such a file, which what names in messages. CLV_EFORMAT. */
clv_status clv_backend_parse(const char *text, size_t n, const char *what, clv_arena *arena,
                             const clv_backend **ret, clv_error *err);

/* Lists what of the specs the backend does not support. Wrong ones are passed over. After
 * clv_propagate_shardings(). O(specs * whole_operators + devices). */
clv_status clv_backend_check(const clv_backend *backend, clv_shard_list *list, clv_arena *arena,
                             clv_error *err);

#endif
