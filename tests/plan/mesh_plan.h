/* mesh_plan.h - a plan of two stages of 2 x 2 devices, for tests: eight devices, d0 and d4 first.
 */
#ifndef CLV_TESTS_PLAN_MESH_PLAN_H
#define CLV_TESTS_PLAN_MESH_PLAN_H

#include "plan/plan.h"

enum { MESH_PLAN_OPS = 5, MESH_PLAN_DEVICES = 8 };

/* All that a plan points to. */
typedef struct {
    clv_plan plan;
    clv_plan_device devices[MESH_PLAN_DEVICES];
    int32_t device_of[MESH_PLAN_OPS], lead[MESH_PLAN_DEVICES], order[MESH_PLAN_DEVICES];
    clv_plan_axis axes[3];
    const char *split[MESH_PLAN_OPS];
    clv_plan_collective collectives[3];
    clv_plan_finding found[2];
    clv_plan_uneven uneven[1];
    clv_plan_partial partial[1];
} mesh_plan;

/* Nodes 0 0 0 4 4. Within a mesh the devices do not ascend. */
static inline void mesh_plan_init(mesh_plan *m)
{
    static const char *const names[] = { "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7" };
    *m = (mesh_plan){
        .device_of = { 0, 0, 0, 4, 4 },
        .lead = { 0, 0, 0, 0, 4, 4, 4, 4 },
        .order = { 0, 2, 1, 3, 4, 6, 5, 7 },
        .axes = { { .name = "dp", .size = 2 }, { .name = "tp", .size = 2 } },
        .split = { "dp=b tp=n", "dp=b tp=n", "dp=b tp=k", "", "tp=k" },
        .collectives = { { .kind = "all-reduce",
                           .axes = "tp",
                           .tensor = "y",
                           .from = "{dp, -} sum(tp)",
                           .to = "{dp, -}",
                           .stage = 0,
                           .bytes = 4096,
                           .ns = 1500 },
                         { .kind = "all-gather",
                           .axes = "dp",
                           .tensor = "w",
                           .reader = "fc",
                           .from = "{dp, -}",
                           .to = "{-, -}",
                           .stage = 1,
                           .bytes = 64,
                           .ns = 900 },
                         { .kind = "all-reduce",
                           .axes = "tp",
                           .tensor = "z",
                           .stage = 1,
                           .bytes = 8192,
                           .ns = 2500 } },
        .found = { { "Megatron row", "tp", "matmuls", 2 }, { "pipeline", "", "stages", 2 } },
        .uneven = { { "w", 1, "4, 3" } },
        .partial = { { "y", "{dp, -} sum(tp)" } },
    };
    for (int d = 0; d < MESH_PLAN_DEVICES; d++)
        m->devices[d] = (clv_plan_device){ .name = names[d],
                                           .kind = "h100",
                                           .stage = d / 4,
                                           .n_ops = d < 4 ? 3 : 2,
                                           .weight_bytes = 100,
                                           .activation_bytes = 20,
                                           .peak_bytes = 120,
                                           .capacity_bytes = 1000,
                                           .busy_ns = 77 };
    m->plan = (clv_plan){ .model = "m.onnx",
                          .fingerprint = 0x1234,
                          .configuration = "cleave",
                          .cluster = "c",
                          .compiler = "builtin",
                          .search = "joint",
                          .n_devices = MESH_PLAN_DEVICES,
                          .n_stages = 2,
                          .n_ops = MESH_PLAN_OPS,
                          .devices = m->devices,
                          .device_of_op = m->device_of,
                          .axes = m->axes,
                          .n_axes = 2,
                          .mesh_devices = 4,
                          .n_meshes = 2,
                          .mesh_device = m->order,
                          .lead_of_device = m->lead,
                          .split_of_op = m->split,
                          .collectives = m->collectives,
                          .found = m->found,
                          .uneven = m->uneven,
                          .partial = m->partial,
                          .n_collectives = 3,
                          .n_found = 2,
                          .n_uneven = 1,
                          .n_partial = 1,
                          .latency_ns = 5000 };
}

#endif
