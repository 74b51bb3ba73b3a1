#include "solver/common/ilp/ilp_solve.h"

#include <math.h>
#include <string.h>

#include "solver/common/ilp/ilp_cbc.h"
#include "solver/common/ilp/ilp_glpk.h"

/* The one of that name, NULL: the first that is built in. NULL: there is none. */
static const clv_ilp_backend *find_backend(const char *name)
{
    static const clv_ilp_backend *const all[] = { &clv_ilp_glpk, &clv_ilp_cbc };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->solve && (!name || strcmp(name, all[i]->name) == 0))
            return all[i];
    return NULL;
}

const char *clv_ilp_solver(void)
{
    const clv_ilp_backend *first = find_backend(NULL);
    return first ? first->name : NULL;
}

static const clv_ilp_result nothing = { .end = CLV_ILP_FAILED, .bound = -INFINITY };

clv_status clv_ilp_solve(const clv_ilp *ilp, const clv_ilp_limits *limits, clv_arena *arena,
                         clv_ilp_result *ret, clv_error *err)
{
    const clv_ilp_backend *by = find_backend(limits->solver);
    clv_ilp_result result = nothing;
    clv_status status = CLV_ESOLVER;
    if (ilp->failed)
        return clv_fail_nomem(err, "an integer program");
    if (by && ilp->n_columns > 0)
        status = by->solve(ilp, limits, arena, &result, err);
    if (status != CLV_OK && status != CLV_ESOLVER)
        return status;
    *ret = status == CLV_OK ? result : nothing;
    return CLV_OK;
}

clv_status clv_ilp_relax(const clv_ilp *ilp, const clv_ilp_limits *limits, clv_arena *arena,
                         clv_ilp_result *ret, clv_error *err)
{
    const clv_ilp_backend *by = find_backend(limits->solver);
    clv_ilp_result result = nothing;
    clv_status status = CLV_ESOLVER;
    double *multiplier = NULL;
    if (ilp->failed)
        return clv_fail_nomem(err, "an integer program");
    if (by && by->relax && ilp->n_columns > 0)
        status = by->relax(ilp, limits, arena, &result, &multiplier, err);
    if (status != CLV_OK && status != CLV_ESOLVER)
        return status;
    *ret = status == CLV_OK ? result : nothing;
    ret->bound = multiplier ? clv_ilp_dual_bound(ilp, multiplier, arena) : -INFINITY;
    return CLV_OK;
}
