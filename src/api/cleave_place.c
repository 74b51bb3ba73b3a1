/* cleave_place.c - the public API on placement problems, and solutions of them. */
#include <math.h>

#include "api/control.h"
#include "api/names.h"
#include "api/objects.h"
#include "api/place_report.h"
#include "api/status.h"
#include "api/write_file.h"
#include "base/file.h"
#include "problem/place_json.h"
#include "solver/placement/mip/mip_formulation.h"
#include "solver/placement/portfolio.h"

#define WORKLOAD_FILE_MAX ((size_t)1 << 30) /* ten million nodes take less */

static clv_status read_options(const cleave_place_options *given, cleave_place_options *ret,
                               clv_error *err)
{
    const cleave_place_options *o = ret;
    cleave_place_options_init(ret);
    CLV_TRY(clv_struct_read(given, sizeof *ret, "cleave_place_options", ret, err));
    CLV_TRY(clv_check_objective(o->objective, err));
    if (!(o->max_load >= 0 && isfinite(o->max_load)))
        return clv_fail(err, CLV_EUSAGE,
                        "max_load is %g: expected 0 (any) or a finite number above", o->max_load);
    if (o->max_load > 0 && o->objective != CLEAVE_DEVICES)
        return clv_fail(err, CLV_EUSAGE,
                        "max_load is %g: it goes with the objective of fewest devices only",
                        o->max_load);
    CLV_TRY(clv_check_deadline(o->deadline_s, err));
    return clv_check_gap(o->gap, err);
}

static clv_place_objective objective_of(cleave_objective objective)
{
    switch (objective) {
    case CLEAVE_LATENCY:
        return CLV_PLACE_LATENCY;
    case CLEAVE_DEVICES:
        return CLV_PLACE_DEVICES;
    case CLEAVE_THROUGHPUT:
        break;
    }
    return CLV_PLACE_THROUGHPUT;
}

static clv_status read_problem(const char *path, cleave_place_problem *p, clv_error *err)
{
    const char *text;
    size_t n;
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(p->arena), 0);
    p->name = clv_arena_printf(p->arena, "%s", clv_file_name(path));
    clv_status status = scratch && p->name ? CLV_OK : clv_fail_nomem(err, "a workload");
    if (status == CLV_OK)
        status = clv_read_file(path, WORKLOAD_FILE_MAX, scratch, &text, &n, err);
    if (status == CLV_OK)
        status = clv_place_read_text(text, n, path, p->arena, &p->problem, err);
    clv_arena_free(scratch);
    return status;
}

cleave_status cleave_place_problem_open(const char *path, const cleave_control *control,
                                        cleave_place_problem **ret_problem, cleave_error *error)
{
    clv_error err;
    clv_control c;
    clv_arena *arena = NULL;
    cleave_place_problem *p = NULL;
    if (!path || !ret_problem)
        return clv_refuse(error,
                          "cleave_place_problem_open needs a path and a place for the problem");
    clv_status status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK) {
        arena = clv_arena_new(clv_control_alloc(&c), 0);
        p = arena ? CLV_NEW(arena, cleave_place_problem) : NULL;
        status = p ? CLV_OK : clv_fail_nomem(&err, "a workload");
    }
    if (status == CLV_OK) {
        p->arena = arena;
        status = read_problem(path, p, &err);
    }
    if (status == CLV_OK)
        status = clv_control_check(&c, "the problem was read", &err);
    if (status == CLV_OK)
        *ret_problem = p;
    else
        clv_arena_free(arena);
    return clv_return(status, &err, error);
}

void cleave_place_problem_free(cleave_place_problem *problem)
{
    if (problem)
        clv_arena_free(problem->arena);
}

static clv_status solve(const cleave_place_problem *p, const cleave_place_options *given,
                        clv_control *c, cleave_place_solution *ret, clv_error *err)
{
    cleave_place_options o;
    CLV_TRY(read_options(given, &o, err));
    clv_place_options options = {
        .solve = { .deadline_ns = clv_deadline_in(o.deadline_s), .gap = o.gap, .seed = o.seed },
        .rules = { objective_of(o.objective), o.free_assignment == 0, o.max_load },
    };
    clv_control_solve(c, &options.solve);
    CLV_TRY(clv_place_solve(p->problem, &options, ret->arena, &ret->result, err));
    if (!ret->result.solve.found && ret->result.solve.end == CLV_END_STOPPED)
        return clv_fail(err, CLV_ECANCELED, "stopped before a solution was found");
    clv_place_solved solved = { p->problem, &options.rules, &ret->result, p->name };
    return clv_place_solution_report(&solved, &ret->report, err);
}

cleave_status cleave_place_solve(cleave_place_problem *problem, const cleave_place_options *options,
                                 const cleave_control *control,
                                 cleave_place_solution **ret_solution, cleave_error *error)
{
    clv_error err;
    clv_control c;
    if (!problem || !ret_solution)
        return clv_refuse(error, "cleave_place_solve needs a problem and a place for the solution");
    clv_arena *arena = clv_arena_new(clv_arena_alloc(problem->arena), 0);
    cleave_place_solution *s = arena ? CLV_NEW(arena, cleave_place_solution) : NULL;
    clv_status status = s ? CLV_OK : clv_fail_nomem(&err, "a placement");
    if (status == CLV_OK)
        status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK) {
        s->arena = s->report.arena = arena;
        s->report.form = clv_control_form(&c);
        s->n_nodes = problem->problem->n_nodes;
        status = solve(problem, options, &c, s, &err);
    }
    if (status != CLV_OK) {
        clv_arena_free(arena);
        return clv_return(status, &err, error);
    }
    *ret_solution = s;
    return s->result.solve.found ? clv_return(CLV_OK, &err, error)
                                 : clv_return_no_solution(error, s->result.solve.why);
}

void cleave_place_solution_free(cleave_place_solution *solution)
{
    if (solution)
        clv_arena_free(solution->arena);
}

const cleave_report *cleave_place_solution_report(const cleave_place_solution *solution)
{
    return &solution->report;
}

int cleave_place_solution_found(const cleave_place_solution *solution)
{
    return solution->result.solve.found;
}

double cleave_place_solution_objective(const cleave_place_solution *solution)
{
    return solution->result.solve.found ? solution->result.value.objective : INFINITY;
}

double cleave_place_solution_bound(const cleave_place_solution *solution)
{
    return solution->result.solve.bound.real;
}

double cleave_place_solution_gap(const cleave_place_solution *solution)
{
    return solution->result.solve.found ? clv_solve_gap(&solution->result.solve) : -1;
}

cleave_end cleave_place_solution_end(const cleave_place_solution *solution)
{
    return clv_end_public(solution->result.solve.end);
}

int cleave_place_solution_device_of(const cleave_place_solution *solution, int64_t node)
{
    return solution->result.solve.found && node >= 0 && node < solution->n_nodes
               ? solution->result.solve.solution[node]
               : -1;
}

/* -- the problem as a mixed 0/1 program -- */

static clv_status save_mps(const cleave_place_problem *p, const cleave_place_options *given,
                           const char *path, clv_arena *arena, clv_error *err)
{
    clv_contraction *b;
    const char *text;
    size_t n;
    cleave_place_options o;
    CLV_TRY(read_options(given, &o, err));
    clv_place_rules rules = { .objective = CLV_PLACE_THROUGHPUT,
                              .contiguous = o.free_assignment == 0 };
    if (o.objective != CLEAVE_THROUGHPUT)
        return clv_fail(err, CLV_EUSAGE,
                        "only the objective of throughput can be written as a program");
    CLV_TRY(clv_contraction_new(p->problem, &rules, arena, &b, err));
    CLV_TRY(clv_mip_write_mps(b, &rules, arena, &text, &n, err));
    return clv_write_text(path, clv_arena_alloc(arena), text, n, err);
}

cleave_status cleave_place_problem_save_mps(cleave_place_problem *problem,
                                            const cleave_place_options *options, const char *path,
                                            const cleave_control *control, cleave_error *error)
{
    clv_error err;
    clv_control c;
    if (!problem || !path)
        return clv_refuse(error, "cleave_place_problem_save_mps needs a problem and a path");
    clv_arena *arena = clv_arena_new(clv_arena_alloc(problem->arena), 0);
    clv_status status = arena ? CLV_OK : clv_fail_nomem(&err, "an integer program as text");
    if (status == CLV_OK)
        status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK)
        status = save_mps(problem, options, path, arena, &err);
    clv_arena_free(arena);
    return clv_return(status, &err, error);
}
