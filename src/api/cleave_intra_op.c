/* cleave_intra_op.c - the public API on intra-operator problems, and solutions of them. */
#include "api/control.h"
#include "api/intra_op_report.h"
#include "api/names.h"
#include "api/objects.h"
#include "api/status.h"
#include "problem/intra_op_json.h"

#define DEFAULT_JOBS 2

static clv_status read_options(const cleave_intra_op_options *given, cleave_intra_op_options *ret,
                               clv_error *err)
{
    cleave_intra_op_options_init(ret);
    CLV_TRY(clv_struct_read(given, sizeof *ret, "cleave_intra_op_options", ret, err));
    CLV_TRY(clv_check_deadline(ret->deadline_s, err));
    CLV_TRY(clv_check_gap(ret->gap, err));
    return clv_check_jobs(ret->jobs, err);
}

cleave_status cleave_intra_op_problem_open(const char *path, const cleave_control *control,
                                           cleave_intra_op_problem **ret_problem,
                                           cleave_error *error)
{
    clv_error err;
    clv_control c;
    clv_arena *arena = NULL;
    cleave_intra_op_problem *p = NULL;
    if (!path || !ret_problem)
        return clv_refuse(error,
                          "cleave_intra_op_problem_open needs a path and a place for the problem");
    clv_status status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK) {
        arena = clv_arena_new(clv_control_alloc(&c), 0);
        p = arena ? CLV_NEW(arena, cleave_intra_op_problem) : NULL;
        if (p)
            p->name = clv_arena_printf(arena, "%s", clv_file_name(path));
        status = p && p->name ? CLV_OK : clv_fail_nomem(&err, "a strategy problem");
    }
    if (status == CLV_OK) {
        p->arena = arena;
        status = clv_intra_op_read_file(path, arena, &p->problem, &err);
    }
    if (status == CLV_OK)
        status = clv_control_check(&c, "the problem was read", &err);
    if (status == CLV_OK)
        *ret_problem = p;
    else
        clv_arena_free(arena);
    return clv_return(status, &err, error);
}

void cleave_intra_op_problem_free(cleave_intra_op_problem *problem)
{
    if (problem)
        clv_arena_free(problem->arena);
}

int64_t cleave_intra_op_problem_nodes(const cleave_intra_op_problem *problem)
{
    return problem->problem->n_nodes;
}

int64_t cleave_intra_op_problem_edges(const cleave_intra_op_problem *problem)
{
    return problem->problem->n_edges;
}

static clv_status solve(const cleave_intra_op_problem *p, const cleave_intra_op_options *given,
                        clv_control *c, cleave_intra_op_solution *ret, clv_error *err)
{
    cleave_intra_op_options o;
    CLV_TRY(read_options(given, &o, err));
    clv_intra_op_options options = {
        .solve = { .deadline_ns = clv_deadline_in(o.deadline_s),
                   .gap = o.gap,
                   .jobs = o.jobs ? o.jobs : DEFAULT_JOBS,
                   .seed = o.seed },
    };
    clv_control_solve(c, &options.solve);
    CLV_TRY(clv_intra_op_solve(p->problem, &options, ret->arena, &ret->result, err));
    const clv_intra_op_result *result = &ret->result;
    if (!result->solve.found && result->solve.end == CLV_END_STOPPED)
        return clv_fail(err, CLV_ECANCELED, "stopped before a solution was found");
    if (result->solve.found)
        clv_int128_text(ret->objective, result->value.cost);
    if (result->solve.end != CLV_END_INFEASIBLE)
        clv_int128_text(ret->bound, result->solve.bound.whole);
    return clv_intra_op_solution_report(p->problem, result, p->name, &ret->report, err);
}

cleave_status cleave_intra_op_solve(cleave_intra_op_problem *problem,
                                    const cleave_intra_op_options *options,
                                    const cleave_control *control,
                                    cleave_intra_op_solution **ret_solution, cleave_error *error)
{
    clv_error err;
    clv_control c;
    if (!problem || !ret_solution)
        return clv_refuse(error,
                          "cleave_intra_op_solve needs a problem and a place for the solution");
    clv_arena *arena = clv_arena_new(clv_arena_alloc(problem->arena), 0);
    cleave_intra_op_solution *s = arena ? CLV_NEW(arena, cleave_intra_op_solution) : NULL;
    clv_status status = s ? CLV_OK : clv_fail_nomem(&err, "a solution");
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

void cleave_intra_op_solution_free(cleave_intra_op_solution *solution)
{
    if (solution)
        clv_arena_free(solution->arena);
}

const cleave_report *cleave_intra_op_solution_report(const cleave_intra_op_solution *solution)
{
    return &solution->report;
}

int cleave_intra_op_solution_found(const cleave_intra_op_solution *solution)
{
    return solution->result.solve.found;
}

const char *cleave_intra_op_solution_objective(const cleave_intra_op_solution *solution)
{
    return solution->objective;
}

const char *cleave_intra_op_solution_bound(const cleave_intra_op_solution *solution)
{
    return solution->bound;
}

double cleave_intra_op_solution_gap(const cleave_intra_op_solution *solution)
{
    return solution->result.solve.found ? clv_solve_gap(&solution->result.solve) : -1;
}

cleave_end cleave_intra_op_solution_end(const cleave_intra_op_solution *solution)
{
    return clv_end_public(solution->result.solve.end);
}

int cleave_intra_op_solution_choice_of(const cleave_intra_op_solution *solution, int64_t node)
{
    return solution->result.solve.found && node >= 0 && node < solution->n_nodes
               ? solution->result.solve.solution[node]
               : -1;
}
