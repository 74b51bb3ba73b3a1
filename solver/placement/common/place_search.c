#include "solver/placement/common/place_search.h"

#include <math.h>

#define DOUBLE_BITS 53
/* What rounding may have put on a bound that is lifted to the next step: far more than it does. */
#define ROUNDING 0x1p-40

/* The largest power of two that x is a multiple of, in place of *step if that is larger. */
static void lower_step(double x, double *step)
{
    int exponent;
    if (x <= 0)
        return;
    int64_t digits = (int64_t)ldexp(frexp(x, &exponent), DOUBLE_BITS);
    double own = ldexp((double)(digits & -digits), exponent - DOUBLE_BITS);
    if (*step <= 0 || own < *step)
        *step = own;
}

void clv_place_find_step(clv_place_search *s)
{
    const clv_place_problem *p = s->p;
    double step = 0, all = 0;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        double most = 0;
        for (int32_t k = 0; k < p->n_kinds; k++) {
            double time = p->time[(size_t)k * (size_t)p->n_nodes + (size_t)v];
            lower_step(time, &step);
            most = fmax(most, time);
        }
        lower_step(p->send_cost[v], &step);
        all += most + p->send_cost[v] * (1 + p->out_first[v + 1] - p->out_first[v]);
    }
    s->sums_round = all >= ldexp(step, DOUBLE_BITS - 1);
    s->step = s->options->rules.objective == CLV_PLACE_DEVICES ? 1 : s->sums_round ? 0 : step;
}

double clv_place_best(const clv_place_search *s) { return s->result->solve.value.real; }
double clv_place_bound(const clv_place_search *s) { return s->result->solve.bound.real; }
double clv_place_seconds(const clv_place_search *s) { return clv_incumbent_seconds(&s->incumbent); }
bool clv_place_over(clv_place_search *s) { return clv_incumbent_over(&s->incumbent); }
bool clv_place_over_ctx(void *search) { return clv_place_over(search); }

const int32_t *clv_place_best_solution(const clv_place_search *s)
{
    return s->result->solve.found ? s->result->solve.solution : NULL;
}

double clv_place_time_s(const clv_place_search *s)
{
    return clv_seconds_until(s->options->solve.deadline_ns, s->incumbent.start_ns);
}

clv_status clv_place_offer(clv_place_search *s, const char *method, const int32_t *device_of,
                           clv_error *err)
{
    clv_place_value value;
    CLV_TRY(clv_place_judge(s->p, &s->options->rules, device_of, s->judge_arena, &value, err));
    if (!value.legal ||
        !clv_incumbent_offer(&s->incumbent, device_of, clv_objval_real(value.objective), method))
        return CLV_OK;
    s->result->value = value;
    clv_incumbent_report(&s->incumbent, method, 0, 0);
    return CLV_OK;
}

clv_status clv_place_offer_groups(clv_place_search *s, const char *method, const int32_t *group_of,
                                  const int32_t *device_of_group, clv_error *err)
{
    clv_mark mark = clv_arena_mark(s->judge_arena);
    int32_t *device_of = CLV_NEW_ARRAY(s->judge_arena, int32_t, s->p->n_nodes);
    if (!device_of)
        return clv_fail_nomem(err, "a solution");
    for (int32_t v = 0; v < s->p->n_nodes; v++)
        device_of[v] = device_of_group[group_of[v]];
    clv_status status = clv_place_offer(s, method, device_of, err);
    clv_arena_rewind(s->judge_arena, mark);
    return status;
}

void clv_place_raise(clv_place_search *s, const char *method, double bound)
{
    if (s->step > 0 && bound > 0 && isfinite(bound))
        bound = fmax(bound, ceil(bound * (1 - ROUNDING) / s->step) * s->step);
    if (clv_incumbent_raise(&s->incumbent, clv_objval_real(bound), method))
        clv_incumbent_report(&s->incumbent, method, 0, 0);
}
