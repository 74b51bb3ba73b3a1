#include "rules/backend_limits.h"

#include <inttypes.h>
#include <stdio.h>

static clv_status check_devices(const clv_backend *b, const clv_cluster *c, clv_error *err)
{
    if (c->n_devices > b->max_devices)
        return clv_fail(err, CLV_EUSAGE,
                        "profile '%.40s' runs on %" PRId64 " device%s at most, and %.60s has %d: "
                        "expected --devices with as many or fewer",
                        b->name, b->max_devices, b->max_devices == 1 ? "" : "s", c->name,
                        (int)c->n_devices);
    for (int32_t d = 0; d < c->n_devices; d++)
        if (!clv_backend_knows_device(b, c->devices[d].name))
            return clv_fail(err, CLV_EUSAGE,
                            "profile '%.40s' does not run on device '%.60s' of %.60s, expected "
                            "'%.40s'%s",
                            b->name, c->devices[d].name, c->name, b->device_names[0],
                            b->n_device_names > 1 ? " or another of its platforms" : "");
    return CLV_OK;
}

clv_status clv_backend_limits_find(const clv_backend *backend, const clv_cluster *cluster,
                                   const clv_costs *costs, clv_arena *arena,
                                   clv_backend_limits *ret, clv_error *err)
{
    *ret = (clv_backend_limits){ .backend = backend, .node_devices = cluster->n_devices };
    if (!backend)
        return CLV_OK;
    CLV_TRY(check_devices(backend, cluster, err));
    for (int32_t d = 0; d < cluster->n_devices; d++) {
        int32_t n = clv_backend_node_devices(backend, cluster, d);
        ret->node_devices = n < ret->node_devices ? n : ret->node_devices;
    }
    if (!backend->heads)
        return CLV_OK;
    CLV_TRY(clv_attention_heads_find(costs, arena, &ret->heads, err));
    if (ret->heads.n == 0)
        return clv_fail(err, CLV_EUSAGE,
                        "profile '%.40s' runs transformers, and runtime '%.40s' shows no operator "
                        "with heads of attention in the model",
                        backend->name, costs->kernels ? costs->kernels->runtime->name : "none");
    return CLV_OK;
}

static bool divides(int64_t part, int64_t whole) { return whole % part == 0; }

static bool deals_out_heads(const clv_backend_limits *l, int32_t n, char *why)
{
    for (int32_t i = 0; i < l->heads.n; i++) {
        const clv_head_counts *h = &l->heads.at[i];
        bool queries = divides(n, h->heads);
        if (queries && (divides(n, h->kv_heads) || divides(h->kv_heads, n)))
            continue;
        snprintf(why, CLV_MESSAGE_SIZE,
                 "profile '%.40s' gives each device as many of the %" PRId64 " %s, expected a "
                 "divisor %s instead of %d",
                 l->backend->name, queries ? h->kv_heads : h->heads,
                 queries ? "heads of keys" : "heads", queries ? "or multiple" : "of them", (int)n);
        return false;
    }
    return true;
}

bool clv_backend_runs_mesh(const clv_backend_limits *limits, int32_t n_axes, int32_t n_devices,
                           char why[CLV_MESSAGE_SIZE])
{
    const clv_backend *b = limits->backend;
    char unused[CLV_MESSAGE_SIZE], *words = why ? why : unused;
    if (!b || n_devices == 1)
        return true;
    if (n_axes > b->mesh_axes) {
        snprintf(words, CLV_MESSAGE_SIZE,
                 "profile '%.40s' expects %" PRId64 " %s at most instead of %d", b->name,
                 b->mesh_axes, b->mesh_axes == 1 ? "axis" : "axes", (int)n_axes);
        return false;
    }
    if (b->power_of_two && (n_devices & (n_devices - 1)) != 0) {
        snprintf(words, CLV_MESSAGE_SIZE,
                 "profile '%.40s' expects a power of two of devices instead of %d", b->name,
                 (int)n_devices);
        return false;
    }
    if (b->n_node_links > 0 && !divides(n_devices, limits->node_devices)) {
        snprintf(words, CLV_MESSAGE_SIZE,
                 "profile '%.40s' keeps a mesh within a node, expected a divisor of its %d devices "
                 "instead of %d",
                 b->name, (int)limits->node_devices, (int)n_devices);
        return false;
    }
    return deals_out_heads(limits, n_devices, words);
}
