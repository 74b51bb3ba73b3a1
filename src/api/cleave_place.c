/* cleave_place.c - the public API on placements: workloads, and answers to them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "api/place_answer.h"
#include "base/file.h"
#include "problem/place_json.h"
#include "solver/placement/portfolio.h"

#define WORKLOAD_FILE_MAX ((size_t)1 << 30) /* ten million nodes take less */
#define DEADLINE_MAX_S    1e9               /* 30 years; no sum of it and a clock goes wrong */

/* Between the solvers' callbacks and the host's. */
typedef struct {
    const cleave_place_options *options;
} relay;

static void relay_progress(void *ctx, const clv_solve_progress *p)
{
    const relay *r = ctx;
    cleave_place_news news = { p->method, p->value.real, p->bound.real, p->seconds };
    r->options->news(r->options->news_ctx, &news);
}

static bool relay_stop(void *ctx)
{
    const relay *r = ctx;
    return r->options->stop(r->options->stop_ctx) != 0;
}

static clv_status check_options(const cleave_place_options *o, clv_error *err)
{
    if (!(o->max_load >= 0 && isfinite(o->max_load)))
        return clv_fail(err, CLV_EUSAGE, "max_load is %g: expected 0 (any) or more", o->max_load);
    if (o->max_load > 0 && o->objective != CLEAVE_PLACE_DEVICES)
        return clv_fail(err, CLV_EUSAGE,
                        "max_load is %g: it goes with the objective of fewest devices only",
                        o->max_load);
    if (!(o->deadline_s >= 0 && o->deadline_s <= DEADLINE_MAX_S))
        return clv_fail(err, CLV_EUSAGE, "deadline_s is %g: expected 0 (none) to %.0f",
                        o->deadline_s, DEADLINE_MAX_S);
    if (!(o->gap >= 0 && o->gap < 1))
        return clv_fail(err, CLV_EUSAGE, "gap is %g: expected 0 (the optimum) to less than 1",
                        o->gap);
    return CLV_OK;
}

static clv_place_objective objective_of(cleave_place_objective objective)
{
    switch (objective) {
    case CLEAVE_PLACE_LATENCY:
        return CLV_PLACE_LATENCY;
    case CLEAVE_PLACE_DEVICES:
        return CLV_PLACE_DEVICES;
    case CLEAVE_PLACE_THROUGHPUT:
        break;
    }
    return CLV_PLACE_THROUGHPUT;
}

static clv_status read_workload(const char *path, cleave_workload *w, clv_error *err)
{
    const char *text;
    size_t n;
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(w->arena), 0);
    w->name = clv_api_file_name(w->arena, path);
    clv_status status = scratch && w->name ? CLV_OK : clv_fail_nomem(err, "a workload");
    if (status == CLV_OK)
        status = clv_read_file(path, WORKLOAD_FILE_MAX, scratch, &text, &n, err);
    if (status == CLV_OK)
        status = clv_place_read_text(text, n, path, w->arena, &w->problem, err);
    clv_arena_free(scratch);
    return status;
}

cleave_status cleave_workload_open(const char *path, const cleave_allocator *allocator,
                                   cleave_workload **ret_workload, cleave_error *error)
{
    clv_error err;
    if (!path || !ret_workload)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "cleave_workload_open needs a path and a place for the workload");
    clv_arena *arena = clv_api_arena(allocator);
    cleave_workload *w = arena ? CLV_NEW(arena, cleave_workload) : NULL;
    clv_status status = w ? CLV_OK : clv_fail_nomem(&err, "a workload");
    if (status == CLV_OK) {
        w->arena = arena;
        status = read_workload(path, w, &err);
    }
    if (status == CLV_OK)
        *ret_workload = w;
    else
        clv_arena_free(arena);
    return clv_api_give(status, &err, error);
}

void cleave_workload_free(cleave_workload *workload)
{
    if (workload)
        clv_arena_free(workload->arena);
}

static clv_status place(const cleave_workload *w, const cleave_place_options *o,
                        cleave_placement *ret, clv_error *err)
{
    relay r = { o };
    CLV_TRY(check_options(o, err));
    clv_place_options options = {
        .solve = { .deadline_ns = clv_deadline_in(o->deadline_s),
                   .gap = o->gap,
                   .seed = o->seed,
                   .stop = o->stop ? relay_stop : NULL,
                   .stop_ctx = &r,
                   .progress = o->news ? relay_progress : NULL,
                   .progress_ctx = &r },
        .rules = { objective_of(o->objective), o->free_assignment == 0, o->max_load },
    };
    CLV_TRY(clv_place_solve(w->problem, &options, ret->arena, &ret->result, err));
    if (!ret->result.solve.found && ret->result.solve.end == CLV_END_STOPPED)
        return clv_fail(err, CLV_ECANCELED, "stopped before an answer was found");
    CLV_TRY(
        clv_place_text(w->problem, &options, &ret->result, w->name, ret->arena, &ret->text, err));
    return clv_place_json(w->problem, &options, &ret->result, w->name, ret->arena, &ret->json,
                          &ret->n_json, err);
}

cleave_status cleave_place(cleave_workload *workload, const cleave_place_options *options,
                           cleave_placement **ret_placement, cleave_error *error)
{
    static const cleave_place_options defaults = CLEAVE_PLACE_OPTIONS;
    clv_error err;
    if (!workload || !ret_placement)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "cleave_place needs a workload and a place for the placement");
    clv_arena *arena = clv_arena_new(clv_arena_alloc(workload->arena), 0);
    cleave_placement *p = arena ? CLV_NEW(arena, cleave_placement) : NULL;
    clv_status status = p ? CLV_OK : clv_fail_nomem(&err, "a placement");
    if (status == CLV_OK) {
        p->arena = arena;
        p->problem = workload->problem;
        status = place(workload, options ? options : &defaults, p, &err);
    }
    if (status != CLV_OK) {
        clv_arena_free(arena);
        return clv_api_give(status, &err, error);
    }
    *ret_placement = p;
    if (p->result.solve.found)
        return clv_api_give(CLV_OK, &err, error);
    return clv_api_no_answer(error, p->result.solve.why);
}

void cleave_placement_free(cleave_placement *placement)
{
    if (placement)
        clv_arena_free(placement->arena);
}

int cleave_placement_found(const cleave_placement *placement)
{
    return placement->result.solve.found;
}

double cleave_placement_objective(const cleave_placement *placement)
{
    return placement->result.solve.found ? placement->result.value.objective : INFINITY;
}

double cleave_placement_bound(const cleave_placement *placement)
{
    return placement->result.solve.bound.real;
}

int cleave_placement_device_of(const cleave_placement *placement, int64_t node)
{
    return placement->result.solve.found && node >= 0 && node < placement->problem->n_nodes
               ? placement->result.solve.answer[node]
               : -1;
}

const char *cleave_placement_text(const cleave_placement *placement) { return placement->text; }
const char *cleave_placement_json(const cleave_placement *placement) { return placement->json; }
