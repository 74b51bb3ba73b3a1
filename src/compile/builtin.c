#include "compile/builtin.h"

#include <assert.h>

#include "compile/device_report.h"
#include "compile/group_cache.h"
#include "compile/in_flight.h"
#include "compile/memory_bound.h"
#include "compile/schedule.h"

/* A candidate is split into one group a device. Each group is looked up, or its memory planned and
 * the result kept; then one schedule over all. Moving a boundary changes two groups, so the others
 * are found.
 */
typedef struct {
    clv_arena *arena; /* made by the worker's first call */
    clv_memory_planner planner;
} worker;

typedef struct {
    clv_compiler base;
    clv_arena *arena;
    clv_program *program;
    clv_group_cache *cache;
    worker *workers;
    int32_t jobs;
} builtin;

/* One call. */
typedef struct {
    builtin *self;
    clv_memory_planner *planner;
    clv_arena *arena;
    clv_candidate candidate;
    clv_group_result *results; /* [device] */
    int64_t *in_flight_bytes;  /* [device] */
} compilation;

static int32_t n_devices_of(const compilation *c)
{
    return c->self->program->workload.cluster->n_devices;
}

static clv_status plan_group(compilation *c, int32_t device, bool is_packed, clv_error *err)
{
    clv_group group = clv_candidate_group(&c->candidate, device, is_packed);
    clv_group_result *result = &c->results[device];
    if (clv_group_cache_get(c->self->cache, &group, result))
        return CLV_OK;
    CLV_TRY(clv_plan_memory(c->planner, &group, c->arena, result, NULL, err));
    clv_group_cache_put(c->self->cache, &group, result);
    return CLV_OK;
}

static int64_t peak_bytes(const compilation *c, int32_t device)
{
    return clv_add_saturated(clv_group_peak(&c->results[device]), c->in_flight_bytes[device]);
}

/* What the device lacks; not above 0 where all fits. */
static int64_t short_bytes(const compilation *c, int32_t device)
{
    return peak_bytes(c, device) - clv_group_capacity(c->self->program->workload.cluster, device);
}

static clv_status plan_groups(compilation *c, clv_error *err)
{
    int32_t n_devices = n_devices_of(c);
    c->results = CLV_NEW_ARRAY(c->arena, clv_group_result, n_devices);
    if (!c->results)
        return clv_fail_nomem(err, "the devices' results");
    for (int32_t d = 0; d < n_devices; d++) {
        c->results[d].peak_position = -1;
        if (clv_candidate_uses(&c->candidate, d))
            CLV_TRY(plan_group(c, d, false, err));
    }
    c->in_flight_bytes = CLV_NEW_ARRAY(c->arena, int64_t, n_devices);
    if (!c->in_flight_bytes)
        return clv_fail_nomem(err, "the devices' results");
    CLV_TRY(clv_in_flight_bytes(&c->candidate, c->results, c->self->base.microbatches, c->arena,
                                c->in_flight_bytes, err));
    /* where only gaps between tensors are too much, they are packed closer */
    for (int32_t d = 0; d < n_devices; d++) {
        int64_t lacks = short_bytes(c, d);
        if (lacks > 0 && lacks <= c->results[d].arena_bytes - c->results[d].live_bytes)
            CLV_TRY(plan_group(c, d, true, err));
    }
    return CLV_OK;
}

static void judge_memory(const compilation *c, clv_verdict *v)
{
    for (int32_t d = 0; d < n_devices_of(c); d++) {
        int64_t lacks = short_bytes(c, d);
        if (lacks <= 0)
            continue;
        v->outcome = CLV_OOM;
        v->total_short_bytes = clv_add_saturated(v->total_short_bytes, lacks);
        if (lacks > v->short_bytes) {
            v->short_bytes = lacks;
            v->device = d;
        }
    }
}

static clv_status make_report(compilation *c, const clv_schedule *schedule, clv_compile_report *ret,
                              clv_error *err)
{
    clv_device_report *devices = CLV_NEW_ARRAY(c->arena, clv_device_report, n_devices_of(c));
    if (!devices)
        return clv_fail_nomem(err, "the report");
    for (int32_t d = 0; d < n_devices_of(c); d++) {
        clv_group group = clv_candidate_group(&c->candidate, d, c->results[d].is_packed);
        CLV_TRY(
            clv_device_report_make(c->planner, &group, &c->results[d], c->arena, &devices[d], err));
        devices[d].in_flight_bytes = c->in_flight_bytes[d];
        devices[d].peak_bytes = peak_bytes(c, d);
    }
    *ret = (clv_compile_report){ .devices = devices,
                                 .transfers = schedule->transfers,
                                 .n_transfers = schedule->n_transfers,
                                 .fill_ns = schedule->fill_ns,
                                 .drain_ns = schedule->drain_ns };
    return CLV_OK;
}

static clv_status find_planner(builtin *b, int32_t index, clv_memory_planner **ret, clv_error *err)
{
    worker *w = &b->workers[index];
    if (!w->arena && !(w->arena = clv_arena_new(clv_arena_alloc(b->arena), 0)))
        return clv_fail_nomem(err, "a worker");
    if (!w->planner.buffer_of)
        CLV_TRY(clv_memory_planner_init(&w->planner, b->program, w->arena, err));
    *ret = &w->planner;
    return CLV_OK;
}

static clv_status compile(clv_compiler *self, const clv_compile_worker *by,
                          const clv_assignment *candidate, clv_verdict *verdict,
                          clv_compile_report *report, clv_error *err)
{
    builtin *b = (builtin *)self;
    assert(by->index >= 0 && by->index < b->jobs && candidate->proportion >= 0 &&
           candidate->proportion <= 1);
    compilation c = { .self = b, .arena = by->arena };
    CLV_TRY(find_planner(b, by->index, &c.planner, err));
    CLV_TRY(clv_candidate_init(&c.candidate, b->program, candidate, by->arena, err));
    CLV_TRY(plan_groups(&c, err));
    clv_schedule schedule;
    CLV_TRY(clv_schedule_run(&c.candidate, report != NULL, by->arena, &schedule, err));
    clv_verdict made = { .outcome = CLV_FITS,
                         .latency_ns = schedule.latency_ns,
                         .period_ns = schedule.port_ns };
    for (int32_t d = 0; d < n_devices_of(&c); d++)
        if (c.results[d].busy_ns > made.period_ns)
            made.period_ns = c.results[d].busy_ns;
    judge_memory(&c, &made);
    if (report)
        CLV_TRY(make_report(&c, &schedule, report, err));
    *verdict = made;
    return CLV_OK;
}

static void close_builtin(clv_compiler *self)
{
    builtin *b = (builtin *)self;
    for (int32_t k = 0; b->workers && k < b->jobs; k++)
        clv_arena_free(b->workers[k].arena);
    clv_group_cache_close(b->cache);
    clv_arena_free(b->arena);
}

/* Of units, with one micro-batch and with several. */
static clv_status bound_unit_bytes(builtin *b, clv_error *err)
{
    int32_t n = b->program->n_units;
    int64_t *live = CLV_NEW_ARRAY(b->arena, int64_t, n);
    int64_t *held = CLV_NEW_ARRAY(b->arena, int64_t, n);
    int64_t *piped_live = CLV_NEW_ARRAY(b->arena, int64_t, n);
    int64_t *piped_held = CLV_NEW_ARRAY(b->arena, int64_t, n);
    if (!live || !held || !piped_live || !piped_held)
        return clv_fail_nomem(err, "the bytes alive in units");
    CLV_TRY(clv_unit_live_bytes(b->program, b->arena, live, err));
    CLV_TRY(clv_unit_held_bytes(b->program, b->arena, held, err));
    CLV_TRY(clv_unit_copied_bytes(b->program, b->arena, piped_live, err));
    for (int32_t u = 0; u < n; u++) {
        piped_held[u] = held[u] + piped_live[u];
        piped_live[u] += live[u];
    }
    b->base.live_bytes = live;
    b->base.held_bytes = held;
    b->base.piped_live_bytes = piped_live;
    b->base.piped_held_bytes = piped_held;
    return CLV_OK;
}

static clv_status open_program(builtin *b, const clv_workload *workload, size_t cache_bytes,
                               clv_error *err)
{
    const clv_cluster *cluster = workload->cluster;
    CLV_TRY(clv_program_build(workload, b->arena, &b->program, err));
    CLV_TRY(bound_unit_bytes(b, err));
    /* with less workspace an operator is never faster, so times hold up to the smallest default */
    b->base.bounded_at = 1;
    for (int32_t k = 0; k < cluster->n_kinds; k++)
        if (cluster->kinds[k].workspace_proportion < b->base.bounded_at)
            b->base.bounded_at = cluster->kinds[k].workspace_proportion;
    return clv_group_cache_open(clv_arena_alloc(b->arena), cache_bytes, &b->cache, err);
}

clv_status clv_builtin_open_with(const clv_workload *workload, int32_t jobs, size_t cache_bytes,
                                 const clv_alloc *alloc, clv_compiler **ret, clv_error *err)
{
    assert(workload && jobs >= 1 && ret);
    clv_arena *arena = clv_arena_new(alloc, 0);
    builtin *b = arena ? CLV_NEW(arena, builtin) : NULL;
    clv_status status = CLV_ENOMEM;
    if (!b) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "the compiler");
    }
    *b = (builtin){ .base = { .name = "builtin", .compile = compile, .close = close_builtin },
                    .arena = arena,
                    .jobs = jobs };
    b->workers = CLV_NEW_ARRAY(arena, worker, jobs);
    if (!b->workers)
        clv_fail_nomem(err, "the compiler's workers");
    else
        status = open_program(b, workload, cache_bytes, err);
    if (status != CLV_OK) {
        close_builtin(&b->base);
        return status;
    }
    *ret = &b->base;
    return CLV_OK;
}

clv_status clv_builtin_open(const clv_workload *workload, int32_t jobs, const clv_alloc *alloc,
                            clv_compiler **ret, clv_error *err)
{
    return clv_builtin_open_with(workload, jobs, CLV_GROUP_CACHE_BYTES, alloc, ret, err);
}

void clv_builtin_set_backward(clv_compiler *compiler, const bool *backward)
{
    ((builtin *)compiler)->program->backward = backward;
}

int64_t clv_builtin_cache_hits(const clv_compiler *compiler)
{
    return clv_group_cache_hits(((const builtin *)compiler)->cache);
}

size_t clv_builtin_bytes(const clv_compiler *compiler)
{
    return clv_arena_bytes(((const builtin *)compiler)->arena);
}
