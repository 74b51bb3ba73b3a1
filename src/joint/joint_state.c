#include "joint/joint_state.h"

#include <string.h>

#include "base/clock.h"

int32_t clv_joint_group_devices(const clv_joint *j, int32_t groups)
{
    return j->cluster->n_devices / groups;
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

clv_score clv_joint_score(const clv_joint *j, int32_t groups, const clv_plan *p)
{
    int64_t ns = clv_joint_of_all(j, groups, clv_plan_objective_ns(p));
    return (clv_score){ p->outcome, ns, p->short_bytes };
}

/* The worst are plans that break rules. */
static int rank(const clv_score *s)
{
    return s->outcome == CLV_FITS ? 0 : s->outcome == CLV_INFEASIBLE ? 2 : 1;
}

bool clv_score_is_better(const clv_score *s, bool any, const clv_score *best)
{
    if (!any || rank(s) != rank(best))
        return !any || rank(s) < rank(best);
    if (s->outcome != CLV_FITS)
        return s->short_bytes < best->short_bytes;
    return s->ns < best->ns;
}

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
