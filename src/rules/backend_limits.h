/* backend_limits.h - which meshes a backend runs of a model on a cluster.
 *
 * A serving engine splits every layer alike over one group of devices, as Megatron does (Shoeybi et
 * al. 2019): the devices of a mesh divide the heads of attention, and divide the heads of keys or
 * are divided by them, which are copied then.
 */
#ifndef CLV_RULES_BACKEND_LIMITS_H
#define CLV_RULES_BACKEND_LIMITS_H

#include "cluster/backend.h"
#include "cost/attention_heads.h"

typedef struct {
    const clv_backend *backend; /* NULL: all is run */
    clv_attention_heads heads;
    int32_t node_devices; /* of the smallest node */
} clv_backend_limits;

/* CLV_EUSAGE: the backend does not run the model (it has no attention), or not on the cluster
 * (devices of another platform, too many). Lives in the arena. O(operators + devices^2). */
clv_status clv_backend_limits_find(const clv_backend *backend, const clv_cluster *cluster,
                                   const clv_costs *costs, clv_arena *arena,
                                   clv_backend_limits *ret, clv_error *err);

/* Does the backend run stages that are meshes of so many devices and axes? Else why has the reason,
 * as "profile 'vllm' ..."; why may be NULL. O(head counts). */
bool clv_backend_runs_mesh(const clv_backend_limits *limits, int32_t n_axes, int32_t n_devices,
                           char why[CLV_MESSAGE_SIZE]);

#endif
