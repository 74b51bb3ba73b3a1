#include "joint/joint_state.h"

#include <string.h>

#include "base/clock.h"

bool clv_joint_same_mesh(const clv_joint_form *a, const clv_joint_form *b)
{
    bool same = a->mesh.n_axes == b->mesh.n_axes;
    for (int32_t i = 0; same && i < a->mesh.n_axes; i++)
        same = a->mesh.size[i] == b->mesh.size[i];
    return same;
}

/* -- groups -- */

int32_t clv_joint_group_devices(const clv_joint *j, int32_t groups)
{
    return j->cluster->n_devices / groups;
}

int32_t clv_joint_stages(const clv_joint *j, const clv_joint_form *form)
{
    int32_t n = 1;
    for (int32_t a = 0; a < form->mesh.n_axes; a++)
        n *= form->mesh.size[a];
    return clv_joint_group_devices(j, form->groups) / n;
}

int32_t clv_joint_copies(const clv_joint *j, int32_t groups)
{
    bool is_asked = j->req->copies > 1 || j->req->search.objective == CLV_THROUGHPUT;
    return is_asked ? groups : 1;
}

/* Copies bring runs a second; the latency of each is what it is. */
static int32_t divisor(const clv_joint *j, int32_t groups)
{
    return j->req->search.objective == CLV_THROUGHPUT ? clv_joint_copies(j, groups) : 1;
}

int64_t clv_joint_of_all(const clv_joint *j, int32_t groups, clv_int128 ns)
{
    int32_t n = divisor(j, groups);
    if (ns <= 0 || ns >= INT64_MAX - j->analysis->host_ns)
        return ns <= 0 ? 0 : INT64_MAX;
    return (int64_t)((ns + j->analysis->host_ns + n - 1) / n);
}

int64_t clv_joint_of_one(const clv_joint *j, int32_t groups, int64_t ns)
{
    int32_t n = divisor(j, groups);
    if (ns <= 0 || ns >= INT64_MAX / n)
        return ns <= 0 ? 0 : INT64_MAX;
    int64_t one = (ns - 1) * n + 1 - j->analysis->host_ns;
    return one > 1 ? one : 1;
}

int64_t clv_joint_max_latency_ns(const clv_joint *j)
{
    int64_t most = j->req->max_latency_ns, host_ns = j->analysis->host_ns;
    if (j->req->search.objective == CLV_LATENCY)
        return 0;
    return most > host_ns ? most - host_ns : most > 0 ? 1 : 0;
}

/* -- scores -- */

clv_score clv_joint_score(const clv_joint *j, int32_t groups, const clv_plan *p)
{
    int64_t ns = clv_joint_of_all(j, groups, clv_plan_objective_ns(p));
    return (clv_score){ p->outcome, ns, p->latency_ns, p->short_bytes };
}

/* What is too slow fits at least; the worst are plans that break rules; of those that a compiler
 * did not accept little is known. */
static int rank(const clv_score *s)
{
    static const int of[] = {
        [CLV_FITS] = 0, [CLV_LATE] = 1, [CLV_OOM] = 2, [CLV_FAILED] = 3, [CLV_INFEASIBLE] = 4
    };
    return of[s->outcome];
}

bool clv_score_is_better(const clv_score *s, bool any, const clv_score *best)
{
    if (!any || rank(s) != rank(best))
        return !any || rank(s) < rank(best);
    if (s->outcome == CLV_LATE)
        return s->latency_ns < best->latency_ns;
    if (s->outcome != CLV_FITS)
        return s->short_bytes < best->short_bytes;
    return s->ns < best->ns;
}

/* -- what was found -- */

clv_plan_facts clv_joint_facts(const clv_joint *j, int32_t groups, int32_t per_mesh,
                               const clv_plan *p)
{
    bool fills = j->req->search.objective == CLV_THROUGHPUT; /* as far as memory allows */
    clv_plan_facts f = { .latency_ns = p->latency_ns,
                         .period_ns = fills ? clv_plan_interval_ns(p) : p->period_ns,
                         .peak_bytes = CLV_PLAN_UNKNOWN,
                         .stages = p->n_stages };
    for (int32_t d = 0; d < p->n_devices; d++) {
        if (p->devices[d].stage < 0)
            continue;
        f.devices += per_mesh * clv_joint_copies(j, groups);
        f.peak_bytes =
            p->devices[d].peak_bytes > f.peak_bytes ? p->devices[d].peak_bytes : f.peak_bytes;
    }
    return f;
}

static bool is_same_form(const clv_joint_form *a, const clv_joint_form *b)
{
    return a->groups == b->groups && a->lean == b->lean && clv_joint_same_mesh(a, b);
}

clv_status clv_joint_take(clv_joint *j, const clv_joint_found *plan, clv_error *err)
{
    int32_t at = 0;
    while (at < j->n_found && !is_same_form(&j->found[at].form, &plan->form))
        at++;
    if (at == j->n_found) {
        if (!CLV_PUSH_ROOM(j->arena, j->found, j->n_found, j->cap_found))
            return clv_fail_nomem(err, "forms of plans");
        j->n_found++;
    } else if (!clv_score_is_better(&plan->score, true, &j->found[at].score)) {
        return CLV_OK;
    }
    j->found[at] = *plan;
    const clv_joint_found *best = clv_joint_best(j);
    if (at != j->best_at && clv_score_is_better(&plan->score, best, best ? &best->score : NULL))
        j->best_at = at;
    return CLV_OK;
}

const clv_joint_found *clv_joint_best(const clv_joint *j)
{
    return j->best_at >= 0 ? &j->found[j->best_at] : NULL;
}

const clv_joint_found *clv_joint_best_fit(const clv_joint *j)
{
    const clv_joint_found *best = clv_joint_best(j);
    return best && best->score.outcome == CLV_FITS ? best : NULL;
}

int64_t clv_joint_no_use_ns(const clv_joint *j, const clv_joint_form *form)
{
    const clv_joint_found *best = clv_joint_best_fit(j);
    int32_t devices = clv_joint_group_devices(j, form->groups) * clv_joint_copies(j, form->groups);
    if (!best)
        return INT64_MAX;
    int64_t ns = best->score.ns, within = ns + (int64_t)(j->req->worth * (double)ns);
    return devices < best->facts.devices    ? within + 1
           : devices == best->facts.devices ? within
                                            : ns;
}

double clv_joint_rival_gap(const clv_joint *j) { return j->req->worth / 2; }

/* -- limits and bounds -- */

bool clv_joint_time_is_up(const clv_joint *j)
{
    const clv_solve_options *asked = &j->req->search.solve;
    return clv_time_is_up(asked->deadline_ns) || (j->req->stop && j->req->stop(j->req->stop_ctx));
}

int64_t clv_joint_bound_of(const clv_plan *p)
{
    bool none_fits = strcmp(p->stopped, clv_end_name(CLV_END_INFEASIBLE)) == 0;
    return none_fits && p->outcome != CLV_FITS ? INT64_MAX : p->bound_ns;
}

void clv_joint_lower_bound(clv_joint *j, int64_t bound_ns)
{
    if (bound_ns <= 0)
        j->unbounded = true;
    else if (bound_ns < j->bound_ns)
        j->bound_ns = bound_ns;
}
