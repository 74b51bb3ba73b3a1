#include "solver/placement/common/place_search.h"

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
    if (clv_incumbent_raise(&s->incumbent, clv_objval_real(bound), method))
        clv_incumbent_report(&s->incumbent, method, 0, 0);
}
