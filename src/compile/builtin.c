#include "compile/builtin.h"

#include <assert.h>

#include "compile/device_report.h"
#include "compile/flight.h"
#include "compile/group_cache.h"
#include "compile/live.h"
#include "compile/schedule.h"

/* A candidate is split into one group a device. Each group is looked up, or laid out and kept; then
 * one schedule over all. Moving a boundary changes two groups, so the others are found.
 */
typedef struct {
    clv_arena *arena; /* made by the worker's first call */
    clv_layout_marks marks;
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
    worker *worker;
    const clv_assignment *candidate;
    clv_arena *arena;
    clv_unit_ranges units;
    const int64_t **ticks;     /* [device] */
    clv_group_result *results; /* [device] */
    int64_t *in_flight;        /* [device] */
    clv_error *err;
} compilation;

/* Counts, then fills, the runs of units with one device. */
static bool split_units(compilation *c)
{
    const clv_program *p = c->self->program;
    const int32_t *device_of = c->candidate->device_of;
    int32_t n_devices = p->workload.cluster->n_devices, n_ranges = 0;
    c->units.first = CLV_NEW_ARRAY(c->arena, int32_t, n_devices + 1);
    int32_t *next = CLV_NEW_ARRAY(c->arena, int32_t, n_devices);
    if (!c->units.first || !next)
        return false;
    for (int32_t u = 0; u < p->n_units; u++) {
        assert(device_of[u] >= 0 && device_of[u] < n_devices);
        if (u == 0 || device_of[u] != device_of[u - 1]) {
            c->units.first[device_of[u] + 1]++;
            n_ranges++;
        }
    }
    for (int32_t d = 0; d < n_devices; d++) {
        c->units.first[d + 1] += c->units.first[d];
        next[d] = c->units.first[d];
    }
    c->units.ranges = CLV_NEW_ARRAY(c->arena, clv_unit_range, n_ranges);
    if (!c->units.ranges)
        return false;
    for (int32_t u = 0, end; u < p->n_units; u = end) {
        for (end = u + 1; end < p->n_units && device_of[end] == device_of[u]; end++)
            continue;
        c->units.ranges[next[device_of[u]]++] = (clv_unit_range){ u, end };
    }
    return true;
}

/* Times at the candidate's proportion: those of the program where it is the default. */
static clv_status find_ticks(compilation *c)
{
    const clv_program *p = c->self->program;
    const clv_cluster *cluster = p->workload.cluster;
    int64_t **of_kind = CLV_NEW_ARRAY(c->arena, int64_t *, cluster->n_kinds);
    c->ticks = CLV_NEW_ARRAY(c->arena, const int64_t *, cluster->n_devices);
    if (!of_kind || !c->ticks)
        return clv_fail_nomem(c->err, "operator times");
    double proportion = c->candidate->proportion;
    for (int32_t d = 0; d < cluster->n_devices; d++) {
        int32_t kind = cluster->devices[d].kind;
        bool is_default =
            !(proportion > 0) || !(proportion < cluster->kinds[kind].workspace_proportion ||
                                   proportion > cluster->kinds[kind].workspace_proportion);
        if (is_default)
            of_kind[kind] = p->ticks[kind];
        else if (!of_kind[kind] && c->units.first[d] < c->units.first[d + 1])
            CLV_TRY(clv_program_ticks(p, kind, proportion, c->arena, &of_kind[kind], c->err));
        c->ticks[d] = of_kind[kind];
    }
    return CLV_OK;
}

static clv_group group_of(const compilation *c, int32_t device)
{
    const clv_cluster *cluster = c->self->program->workload.cluster;
    int32_t first = c->units.first[device];
    return (clv_group){ .device = device,
                        .kind = cluster->devices[device].kind,
                        .proportion = clv_proportion_of(c->candidate->proportion,
                                                        clv_device_kind_of(cluster, device)),
                        .is_packed = c->results[device].is_packed,
                        .ranges = c->units.ranges + first,
                        .n_ranges = c->units.first[device + 1] - first,
                        .device_of = c->candidate->device_of,
                        .ticks = c->ticks[device] };
}

static clv_status judge_group(compilation *c, int32_t device)
{
    clv_group group = group_of(c, device);
    clv_group_result *result = &c->results[device];
    if (clv_group_cache_get(c->self->cache, &group, result))
        return CLV_OK;
    CLV_TRY(
        clv_layout(c->self->program, &group, &c->worker->marks, c->arena, result, NULL, c->err));
    clv_group_cache_put(c->self->cache, &group, result);
    return CLV_OK;
}

static int64_t peak_of(const compilation *c, int32_t device)
{
    return clv_add_saturated(clv_group_peak(&c->results[device]), c->in_flight[device]);
}

/* Where only gaps between tensors are too much, they are looked for closer. */
static clv_status pack_groups(compilation *c)
{
    const clv_cluster *cluster = c->self->program->workload.cluster;
    for (int32_t d = 0; d < cluster->n_devices; d++) {
        clv_group_result *result = &c->results[d];
        int64_t lacks = peak_of(c, d) - clv_group_capacity(cluster, d);
        if (lacks <= 0 || lacks > result->arena_bytes - result->live_bytes)
            continue;
        result->is_packed = true;
        CLV_TRY(judge_group(c, d));
    }
    return CLV_OK;
}

static clv_status judge_groups(compilation *c)
{
    const clv_program *p = c->self->program;
    int32_t n_devices = p->workload.cluster->n_devices;
    c->results = CLV_NEW_ARRAY(c->arena, clv_group_result, n_devices);
    if (!c->results)
        return clv_fail_nomem(c->err, "the devices' results");
    for (int32_t d = 0; d < n_devices; d++) {
        c->results[d].peak_position = -1;
        if (c->units.first[d] < c->units.first[d + 1])
            CLV_TRY(judge_group(c, d));
    }
    c->in_flight = CLV_NEW_ARRAY(c->arena, int64_t, n_devices);
    if (!c->in_flight)
        return clv_fail_nomem(c->err, "the devices' results");
    CLV_TRY(clv_in_flight(p, c->candidate->device_of, c->results, c->self->base.microbatches,
                          c->arena, c->in_flight, c->err));
    return pack_groups(c);
}

static void judge_memory(const compilation *c, clv_verdict *v)
{
    const clv_cluster *cluster = c->self->program->workload.cluster;
    for (int32_t d = 0; d < cluster->n_devices; d++) {
        int64_t lacks = peak_of(c, d) - clv_group_capacity(cluster, d);
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

static clv_status fill_report(compilation *c, const clv_schedule *schedule, clv_compile_report *ret)
{
    const clv_program *p = c->self->program;
    int32_t n_devices = p->workload.cluster->n_devices;
    clv_device_report *devices = CLV_NEW_ARRAY(c->arena, clv_device_report, n_devices);
    if (!devices)
        return clv_fail_nomem(c->err, "the report");
    for (int32_t d = 0; d < n_devices; d++) {
        clv_group group = group_of(c, d);
        CLV_TRY(clv_device_report_fill(p, &group, &c->results[d], &c->worker->marks, c->arena,
                                       &devices[d], c->err));
        devices[d].in_flight_bytes = c->in_flight[d];
        devices[d].peak_bytes = peak_of(c, d);
    }
    *ret = (clv_compile_report){ .devices = devices,
                                 .transfers = schedule->transfers,
                                 .n_transfers = schedule->n_transfers,
                                 .fill_ns = schedule->fill_ns,
                                 .drain_ns = schedule->drain_ns };
    return CLV_OK;
}

static clv_status find_worker(builtin *b, int32_t index, worker **ret, clv_error *err)
{
    worker *w = &b->workers[index];
    if (!w->arena && !(w->arena = clv_arena_new(clv_arena_alloc(b->arena), 0)))
        return clv_fail_nomem(err, "a worker");
    if (!w->marks.buffer_of)
        CLV_TRY(clv_layout_marks_init(&w->marks, b->program, w->arena, err));
    *ret = w;
    return CLV_OK;
}

static clv_status compile(clv_compiler *self, int32_t index, const clv_assignment *candidate,
                          clv_arena *arena, clv_verdict *verdict, clv_compile_report *report,
                          clv_error *err)
{
    builtin *b = (builtin *)self;
    assert(index >= 0 && index < b->jobs && candidate->proportion >= 0 &&
           candidate->proportion <= 1);
    compilation c = { .self = b, .candidate = candidate, .arena = arena, .err = err };
    CLV_TRY(find_worker(b, index, &c.worker, err));
    if (!split_units(&c))
        return clv_fail_nomem(err, "the devices' units");
    CLV_TRY(find_ticks(&c));
    CLV_TRY(judge_groups(&c));
    clv_schedule schedule;
    CLV_TRY(clv_schedule_run(b->program, candidate->device_of, &c.units, c.ticks, report != NULL,
                             arena, &schedule, err));
    clv_verdict made = { .outcome = CLV_FITS,
                         .latency_ns = schedule.latency_ns,
                         .period_ns = schedule.port_ns };
    for (int32_t d = 0; d < b->program->workload.cluster->n_devices; d++)
        if (c.results[d].busy_ns > made.period_ns)
            made.period_ns = c.results[d].busy_ns;
    judge_memory(&c, &made);
    if (report)
        CLV_TRY(fill_report(&c, &schedule, report));
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

/* With less workspace an operator is never faster, so times hold up to the smallest default. */
static double least_proportion(const clv_cluster *cluster)
{
    double least = 1;
    for (int32_t k = 0; k < cluster->n_kinds; k++)
        if (cluster->kinds[k].workspace_proportion < least)
            least = cluster->kinds[k].workspace_proportion;
    return least;
}

/* Of units, with one micro-batch and with several. */
static clv_status find_unit_bytes(builtin *b, clv_error *err)
{
    int32_t n = b->program->n_units;
    int64_t *live = CLV_NEW_ARRAY(b->arena, int64_t, n);
    int64_t *held = CLV_NEW_ARRAY(b->arena, int64_t, n);
    int64_t *piped_live = CLV_NEW_ARRAY(b->arena, int64_t, n);
    int64_t *piped_held = CLV_NEW_ARRAY(b->arena, int64_t, n);
    if (!live || !held || !piped_live || !piped_held)
        return clv_fail_nomem(err, "the bytes alive in units");
    CLV_TRY(clv_program_live(b->program, b->arena, live, err));
    CLV_TRY(clv_program_held(b->program, b->arena, held, err));
    CLV_TRY(clv_program_copied(b->program, b->arena, piped_live, err));
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
    CLV_TRY(clv_program_build(workload, b->arena, &b->program, err));
    CLV_TRY(find_unit_bytes(b, err));
    b->base.bounded_at = least_proportion(workload->cluster);
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
