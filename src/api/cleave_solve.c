/* cleave_solve.c - the public API on strategy problems, and answers to them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "api/solve_answer.h"
#include "problem/intra_op_json.h"

#define DEADLINE_MAX_S 1e9 /* 30 years; no sum of it and a clock goes wrong */
#define JOBS           2
#define JOBS_MAX       1024

/* Between the solver's callbacks and the host's. */
typedef struct {
    const cleave_solve_options *options;
} relay;

static void relay_progress(void *ctx, const clv_solve_progress *p)
{
    const relay *r = ctx;
    cleave_solve_news news = { p->method, clv_objval_number(p->value), clv_objval_number(p->bound),
                               p->seconds };
    r->options->news(r->options->news_ctx, &news);
}

static bool relay_stop(void *ctx)
{
    const relay *r = ctx;
    return r->options->stop(r->options->stop_ctx) != 0;
}

static clv_status check_options(const cleave_solve_options *o, clv_error *err)
{
    if (!(o->deadline_s >= 0 && o->deadline_s <= DEADLINE_MAX_S))
        return clv_fail(err, CLV_EUSAGE, "deadline_s is %g: expected 0 (none) to %.0f",
                        o->deadline_s, DEADLINE_MAX_S);
    if (!(o->gap >= 0 && o->gap < 1))
        return clv_fail(err, CLV_EUSAGE, "gap is %g: expected 0 (the optimum) to less than 1",
                        o->gap);
    if (o->jobs < 0 || o->jobs > JOBS_MAX)
        return clv_fail(err, CLV_EUSAGE, "jobs is %d: expected 1 to %d", o->jobs, JOBS_MAX);
    return CLV_OK;
}

static clv_status read_strategies(const char *path, cleave_strategies *s, clv_error *err)
{
    s->name = clv_api_file_name(s->arena, path);
    if (!s->name)
        return clv_fail_nomem(err, "a strategy problem");
    return clv_intra_op_read_file(path, s->arena, &s->problem, err);
}

cleave_status cleave_strategies_open(const char *path, const cleave_allocator *allocator,
                                     cleave_strategies **ret_strategies, cleave_error *error)
{
    clv_error err;
    if (!path || !ret_strategies)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "cleave_strategies_open needs a path and a place for the strategies");
    clv_arena *arena = clv_api_arena(allocator);
    cleave_strategies *s = arena ? CLV_NEW(arena, cleave_strategies) : NULL;
    clv_status status = s ? CLV_OK : clv_fail_nomem(&err, "a strategy problem");
    if (status == CLV_OK) {
        s->arena = arena;
        status = read_strategies(path, s, &err);
    }
    if (status == CLV_OK)
        *ret_strategies = s;
    else
        clv_arena_free(arena);
    return clv_api_give(status, &err, error);
}

void cleave_strategies_free(cleave_strategies *strategies)
{
    if (strategies)
        clv_arena_free(strategies->arena);
}

int64_t cleave_strategies_nodes(const cleave_strategies *strategies)
{
    return strategies->problem->n_nodes;
}

int64_t cleave_strategies_edges(const cleave_strategies *strategies)
{
    return strategies->problem->n_edges;
}

static clv_status solve(const cleave_strategies *s, const cleave_solve_options *o,
                        cleave_solution *ret, clv_error *err)
{
    relay r = { o };
    CLV_TRY(check_options(o, err));
    clv_intra_op_options options = {
        .solve = { .deadline_ns = clv_deadline_in(o->deadline_s),
                   .gap = o->gap,
                   .jobs = o->jobs ? o->jobs : JOBS,
                   .seed = o->seed,
                   .stop = o->stop ? relay_stop : NULL,
                   .stop_ctx = &r,
                   .progress = o->news ? relay_progress : NULL,
                   .progress_ctx = &r },
    };
    CLV_TRY(clv_intra_op_solve(s->problem, &options, ret->arena, &ret->result, err));
    const clv_intra_op_result *result = &ret->result;
    if (!result->solve.found && result->solve.end == CLV_END_STOPPED)
        return clv_fail(err, CLV_ECANCELED, "stopped before an answer was found");
    if (result->solve.found)
        clv_int128_text(ret->cost, result->value.cost);
    if (result->solve.end != CLV_END_INFEASIBLE)
        clv_int128_text(ret->bound, result->solve.bound.whole);
    CLV_TRY(clv_intra_op_text(s->problem, result, s->name, ret->arena, &ret->text, err));
    return clv_intra_op_json(s->problem, result, s->name, ret->arena, &ret->json, &ret->n_json,
                             err);
}

cleave_status cleave_solve(cleave_strategies *strategies, const cleave_solve_options *options,
                           cleave_solution **ret_solution, cleave_error *error)
{
    static const cleave_solve_options defaults = CLEAVE_SOLVE_OPTIONS;
    clv_error err;
    if (!strategies || !ret_solution)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "cleave_solve needs strategies and a place for the solution");
    clv_arena *arena = clv_arena_new(clv_arena_alloc(strategies->arena), 0);
    cleave_solution *s = arena ? CLV_NEW(arena, cleave_solution) : NULL;
    clv_status status = s ? CLV_OK : clv_fail_nomem(&err, "a solution");
    if (status == CLV_OK) {
        s->arena = arena;
        s->problem = strategies->problem;
        status = solve(strategies, options ? options : &defaults, s, &err);
    }
    if (status != CLV_OK) {
        clv_arena_free(arena);
        return clv_api_give(status, &err, error);
    }
    *ret_solution = s;
    if (s->result.solve.found)
        return clv_api_give(CLV_OK, &err, error);
    return clv_api_no_answer(error, s->result.solve.why);
}

void cleave_solution_free(cleave_solution *solution)
{
    if (solution)
        clv_arena_free(solution->arena);
}

int cleave_solution_found(const cleave_solution *solution) { return solution->result.solve.found; }
const char *cleave_solution_cost(const cleave_solution *solution) { return solution->cost; }
const char *cleave_solution_bound(const cleave_solution *solution) { return solution->bound; }

double cleave_solution_gap(const cleave_solution *solution)
{
    return solution->result.solve.found ? clv_solve_gap(&solution->result.solve) : -1;
}

const char *cleave_solution_stopped(const cleave_solution *solution)
{
    return clv_end_name(solution->result.solve.end);
}

int cleave_solution_choice_of(const cleave_solution *solution, int64_t node)
{
    return solution->result.solve.found && node >= 0 && node < solution->problem->n_nodes
               ? solution->result.solve.answer[node]
               : -1;
}

const char *cleave_solution_text(const cleave_solution *solution) { return solution->text; }
const char *cleave_solution_json(const cleave_solution *solution) { return solution->json; }
