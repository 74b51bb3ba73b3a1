#include "plan/plan.h"

#include <string.h>

#include "problem/micro.h"

clv_status clv_plan_add_note(clv_plan *plan, const char *text, clv_arena *arena, clv_error *err)
{
    const char **notes = clv_arena_grow(arena, plan->notes, (size_t)plan->n_notes,
                                        (size_t)plan->n_notes + 1, sizeof *notes);
    if (!text || !notes)
        return clv_fail_nomem(err, "notes of a plan");
    plan->notes = notes;
    plan->notes[plan->n_notes++] = text;
    return CLV_OK;
}

static void add_known(int64_t *ns, int64_t more_ns)
{
    if (*ns > 0)
        *ns = *ns < INT64_MAX - more_ns ? *ns + more_ns : INT64_MAX;
}

void clv_plan_add_host(clv_plan *plan, int64_t host_ns)
{
    add_known(&plan->latency_ns, host_ns);
    add_known(&plan->period_ns, host_ns);
    add_known(&plan->bound_ns, host_ns);
    plan->host_ns = host_ns;
}

void clv_plan_add_front_end(clv_plan *plan, int64_t front_end_ns)
{
    plan->first_token_ns = front_end_ns > 0 ? plan->latency_ns : 0;
    add_known(&plan->first_token_ns, front_end_ns);
}

void clv_plan_limit_latency(clv_plan *plan, int64_t max_ns)
{
    plan->max_latency_ns = max_ns;
    if (max_ns > 0 && plan->outcome == CLV_FITS && plan->latency_ns > max_ns)
        plan->outcome = CLV_LATE;
}

bool clv_plan_has_run(const clv_plan *plan)
{
    return plan->microbatches > 0 && plan->latency_ns > 0 && plan->period_ns > 0;
}

int64_t clv_plan_run_ns(const clv_plan *plan)
{
    return clv_plan_has_run(plan)
               ? clv_micro_total_ns(plan->latency_ns, plan->period_ns, plan->microbatches)
               : 0;
}

double clv_plan_bubble(const clv_plan *plan)
{
    return clv_plan_has_run(plan)
               ? clv_micro_bubble(plan->latency_ns, plan->period_ns, plan->microbatches)
               : -1;
}

int32_t clv_plan_copies(const clv_plan *plan) { return plan->n_copies > 1 ? plan->n_copies : 1; }

int32_t clv_plan_devices_used(const clv_plan *plan)
{
    int32_t n = 0;
    for (int32_t d = 0; d < plan->n_devices; d++)
        n += plan->devices[d].stage >= 0;
    return n;
}

void clv_plan_forget_use(clv_plan_device *device)
{
    device->weight_bytes = device->activation_bytes = device->workspace_bytes = CLV_PLAN_UNKNOWN;
    device->peak_bytes = device->in_flight_bytes = device->state_bytes = CLV_PLAN_UNKNOWN;
    device->busy_ns = CLV_PLAN_UNKNOWN;
}

int64_t clv_plan_interval_ns(const clv_plan *plan)
{
    if (clv_plan_has_run(plan) && plan->why_microbatches != CLV_MICRO_FILLED)
        return clv_micro_share_ns(plan->latency_ns, plan->period_ns, plan->microbatches);
    return plan->period_ns;
}

int64_t clv_plan_objective_ns(const clv_plan *plan)
{
    int64_t ns = clv_plan_interval_ns(plan), copies = clv_plan_copies(plan);
    if (plan->objective == CLV_LATENCY)
        return plan->latency_ns;
    return ns / copies + (ns % copies > 0);
}

double clv_plan_samples_per_s(const clv_plan_batch *batch)
{
    return batch->ns > 0 ? 1e9 * (double)batch->size / (double)batch->ns : 0;
}

bool clv_plan_is_optimal(const clv_plan *plan)
{
    return plan->outcome == CLV_FITS && plan->stopped && strcmp(plan->stopped, "optimal") == 0;
}

double clv_plan_profile_price(const clv_plan_profile *profile)
{
    int64_t with = profile->with.objective_ns, without = profile->without.objective_ns;
    if (!profile->with.form || !profile->without.form || without <= 0)
        return -1;
    return with > without ? (double)(with - without) / (double)without : 0;
}

double clv_plan_gap(const clv_plan *plan)
{
    int64_t found = clv_plan_objective_ns(plan);
    if (found == 0 && clv_plan_is_optimal(plan))
        return 0; /* nothing takes less */
    if (plan->outcome != CLV_FITS || plan->bound_ns <= 0 || found <= 0)
        return -1;
    return plan->bound_ns < found ? (double)(found - plan->bound_ns) / (double)found : 0;
}
