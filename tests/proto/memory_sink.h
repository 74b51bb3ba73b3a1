/* memory_sink.h - a sink into memory, and plans that put nodes on devices in turn, for tests. */
#ifndef CLV_TESTS_PROTO_MEMORY_SINK_H
#define CLV_TESTS_PROTO_MEMORY_SINK_H

#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "proto/sink.h"

typedef struct {
    uint8_t *bytes;
    size_t n, cap, calls;
    size_t fail_at; /* a write that would pass this many bytes fails; 0: never */
} memory;

static inline clv_status memory_write(void *ctx, const void *bytes, size_t n, clv_error *err)
{
    memory *m = ctx;
    m->calls++;
    if (m->fail_at && m->n + n > m->fail_at)
        return clv_fail(err, CLV_EIO, "the sink is full");
    if (m->n + n > m->cap) {
        m->cap = 2 * (m->n + n);
        m->bytes = realloc(m->bytes, m->cap);
        if (!m->bytes)
            abort();
    }
    memcpy(m->bytes + m->n, bytes, n);
    m->n += n;
    return CLV_OK;
}

static inline clv_sink memory_sink(memory *m)
{
    return (clv_sink){ .write = memory_write, .from_file = NULL, .ctx = m };
}

/* Node i on device i mod n_devices; device d in stage d. Devices are named d0, d1, ... */
static inline clv_plan *plan_in_turn(const clv_model *model, int32_t n_devices, clv_arena *arena)
{
    clv_plan *plan = CLV_NEW(arena, clv_plan);
    int32_t *device = CLV_NEW_ARRAY(arena, int32_t, model->main->n_ops);
    plan->configuration = "cleave";
    plan->n_devices = n_devices;
    plan->n_ops = model->main->n_ops;
    plan->devices = CLV_NEW_ARRAY(arena, clv_plan_device, n_devices);
    for (int32_t d = 0; d < n_devices; d++) {
        plan->devices[d].name = clv_arena_printf(arena, "d%d", d);
        plan->devices[d].stage = d;
    }
    for (int32_t i = 0; i < plan->n_ops; i++)
        device[i] = i % n_devices;
    plan->device_of_op = device;
    return plan;
}

#endif
