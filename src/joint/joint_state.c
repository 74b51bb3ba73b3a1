#include "joint/joint_state.h"

#include <string.h>

#include "base/clock.h"

clv_score clv_joint_score(const clv_plan *p)
{
    return (clv_score){ p->outcome, clv_plan_objective_ns(p), p->short_bytes };
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
