#include "solver/common/incumbent.h"

#include <string.h>

#include "base/clock.h"

clv_status clv_incumbent_open(clv_incumbent *inc, const clv_solve_options *options, int32_t n_items,
                              clv_arena *arena, clv_solve_result *result, clv_error *err)
{
    *result = (clv_solve_result){ .value = CLV_OBJVAL_INFINITE, .found_by = "", .bound_by = "" };
    result->solution = CLV_NEW_ARRAY(arena, int32_t, n_items);
    *inc = (clv_incumbent){ .options = options,
                            .result = result,
                            .n_items = n_items,
                            .start_ns = clv_now_ns(),
                            .enough_bound = CLV_OBJVAL_INFINITE,
                            .rival = CLV_OBJVAL_INFINITE };
    inc->limits =
        (clv_limits){ &inc->ended, options->deadline_ns, options->stop, options->stop_ctx };
    return result->solution ? CLV_OK : clv_fail_nomem(err, "a solution");
}

clv_limits clv_incumbent_limits_elsewhere(clv_incumbent *inc)
{
    return (clv_limits){ &inc->ended, inc->options->deadline_ns, NULL, NULL };
}

void clv_incumbent_set(clv_incumbent *inc, const int32_t *solution, clv_objval value,
                       const char *method)
{
    clv_solve_result *r = inc->result;
    if (inc->n_items > 0)
        memcpy(r->solution, solution, (size_t)inc->n_items * sizeof *solution);
    r->found = true;
    r->value = value;
    r->found_by = method;
}

bool clv_incumbent_offer(clv_incumbent *inc, const int32_t *solution, clv_objval value,
                         const char *method)
{
    if (inc->result->found && !clv_objval_less(value, inc->result->value))
        return false;
    clv_incumbent_set(inc, solution, value, method);
    return true;
}

bool clv_incumbent_raise(clv_incumbent *inc, clv_objval bound, const char *method)
{
    if (!clv_objval_less(inc->result->bound, bound))
        return false;
    inc->result->bound = bound;
    inc->result->bound_by = method;
    return true;
}

/* Is the value no more than this part of it above the bound? */
static bool is_within(const clv_solve_result *r, double part)
{
    if (!r->found || clv_objval_is_infinite(r->value))
        return clv_objval_is_infinite(r->bound);
    clv_objval above = { r->value.whole - r->bound.whole, r->value.real - r->bound.real };
    return !clv_objval_less(r->bound, r->value) ||
           clv_objval_number(above) <= part * clv_objval_number(r->value);
}

bool clv_incumbent_is_bound_enough(const clv_incumbent *inc)
{
    return !clv_objval_is_infinite(inc->enough_bound) &&
           !clv_objval_less(inc->result->bound, inc->enough_bound);
}

/* The gap that is enough. */
static double gap_of(const clv_incumbent *inc)
{
    double gap = inc->options->gap;
    bool is_beaten =
        !clv_objval_is_infinite(inc->rival) && !clv_objval_less(inc->result->bound, inc->rival);
    return is_beaten && inc->rival_gap > gap ? inc->rival_gap : gap;
}

bool clv_incumbent_is_enough(const clv_incumbent *inc)
{
    double gap = gap_of(inc);
    return is_within(inc->result, gap > inc->proof_part ? gap : inc->proof_part) ||
           clv_incumbent_is_bound_enough(inc);
}

bool clv_incumbent_over(clv_incumbent *inc)
{
    return clv_incumbent_is_enough(inc) || clv_limits_over(&inc->limits);
}

double clv_incumbent_seconds(const clv_incumbent *inc) { return clv_seconds_since(inc->start_ns); }

void clv_incumbent_report(const clv_incumbent *inc, const char *method, int32_t n_judged,
                          int32_t n_waiting)
{
    const clv_solve_options *o = inc->options;
    clv_solve_progress p = { .method = method,
                             .value = inc->result->value,
                             .bound = inc->result->bound,
                             .n_judged = n_judged,
                             .n_waiting = n_waiting,
                             .seconds = clv_incumbent_seconds(inc) };
    if (o->progress)
        o->progress(o->progress_ctx, &p);
}

void clv_incumbent_close(clv_incumbent *inc)
{
    clv_solve_result *r = inc->result;
    r->end = clv_limits_end(&inc->limits);
    if (!r->found && clv_objval_is_infinite(r->bound))
        r->end = CLV_END_INFEASIBLE;
    else if (is_within(r, inc->proof_part))
        r->end = CLV_END_OPTIMAL;
    else if (clv_incumbent_is_bound_enough(inc))
        r->end = CLV_END_BOUND;
    else if (is_within(r, gap_of(inc)))
        r->end = CLV_END_GAP;
    r->seconds = clv_incumbent_seconds(inc);
    if (!r->found)
        r->solution = NULL;
}
