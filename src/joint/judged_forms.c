#include "joint/judged_forms.h"

#include <stdlib.h>

#include "compile/pool.h"
#include "explain/no_fit.h"
#include "stages/external_judge.h"
#include "stages/stages.h"

/* One candidate; the number in front is all that an assignment says of it. */
typedef struct {
    int32_t id;
    const clv_joint_found *found;
    clv_plan *plan;
} finalist;

typedef struct {
    clv_joint *j;
    const clv_request *req; /* with the compiler */
    finalist *at;
    clv_assignment *assignments;
    clv_verdict *verdicts;
    int32_t n;
    clv_compiler *compiler;
} finalists;

/* -- which -- */

/* What does not fit by Cleave's own count only where nothing does. */
static bool is_worth_judging(const clv_joint *j, const clv_joint_found *f)
{
    return f->score.outcome == CLV_FITS || !clv_joint_best_fit(j);
}

/* The best of Cleave's own times first; of equals the one that was found first. */
static int by_score(const void *a, const void *b)
{
    const finalist *x = a, *y = b;
    bool first = clv_score_is_better(&x->found->score, true, &y->found->score);
    bool second = clv_score_is_better(&y->found->score, true, &x->found->score);
    return first != second ? second - first : (x->found > y->found) - (x->found < y->found);
}

static clv_status pick(clv_joint *j, const clv_request *req, finalists *ret, clv_error *err)
{
    int32_t most = req->search.max_judged;
    *ret = (finalists){ .j = j,
                        .req = req,
                        .at = CLV_NEW_ARRAY(j->arena, finalist, j->n_found),
                        .assignments = CLV_NEW_ARRAY(j->arena, clv_assignment, j->n_found),
                        .verdicts = CLV_NEW_ARRAY(j->arena, clv_verdict, j->n_found) };
    if (!ret->at || !ret->assignments || !ret->verdicts)
        return clv_fail_nomem(err, "candidates");
    for (int32_t i = 0; i < j->n_found; i++)
        if (is_worth_judging(j, &j->found[i]))
            ret->at[ret->n++].found = &j->found[i];
    qsort(ret->at, (size_t)ret->n, sizeof *ret->at, by_score);
    ret->n = most > 0 && most < ret->n ? most : ret->n;
    for (int32_t k = 0; k < ret->n; k++) {
        ret->at[k].id = k;
        ret->assignments[k] = (clv_assignment){ .device_of = &ret->at[k].id };
    }
    return CLV_OK;
}

/* -- what the compiler gets -- */

/* What Cleave's own compiler says of memory, times and transfers is not what this one would. */
static void forget_reports(clv_plan *p)
{
    for (int32_t d = 0; d < p->n_devices; d++)
        clv_plan_forget_use(&p->devices[d]);
    p->outcome = CLV_FITS;
    p->latency_ns = p->period_ns = p->bound_ns = p->short_bytes = 0;
    p->fill_ns = p->drain_ns = CLV_PLAN_UNKNOWN;
    p->transfers = NULL;
    p->n_transfers = p->n_kernels = p->n_judged = p->n_fitting = 0;
    p->stopped = NULL;
}

static clv_status make_plans(const finalists *f, clv_plan_maker make, clv_error *err)
{
    for (int32_t k = 0; k < f->n; k++) {
        CLV_TRY(make(f->j, f->at[k].found, &f->at[k].plan, err));
        forget_reports(f->at[k].plan);
    }
    return CLV_OK;
}

static clv_status emit(void *ctx, const clv_assignment *candidate, const char *folder,
                       clv_arena *arena, clv_error *err)
{
    const finalists *f = ctx;
    clv_plan one = *f->at[*candidate->device_of].plan;
    return clv_candidate_write(f->req, &one, folder, arena, err);
}

static clv_status open_compiler(finalists *f, clv_error *err)
{
    const clv_joint *j = f->j;
    const clv_emitter emitter = { emit, f };
    const clv_workload workload = { .model = j->req->model,
                                    .types = j->analysis->types,
                                    .costs = j->analysis->costs,
                                    .units = j->analysis->units,
                                    .cluster = j->cluster };
    CLV_TRY(clv_external_judge_open(f->req, &workload, &emitter, &f->compiler, err));
    f->compiler->microbatches = f->req->microbatches;
    return CLV_OK;
}

/* By workers of their own. */
static clv_status judge_alone(const finalists *f, const clv_pool_first *all, clv_error *err)
{
    clv_pool *pool;
    const clv_pool_options options = { clv_request_jobs(f->req), 1, 0, all };
    CLV_TRY(clv_pool_open(f->compiler, &options, f->req->alloc, &pool, err));
    clv_status status = clv_pool_finish_first(pool, err);
    clv_pool_close(pool);
    return status;
}

/* Beside stages of whole operators, by their own search, which asks the compiler, with what is left
 * of the candidates. *ret: NULL where those are not asked for, or nothing is left. */
static clv_status judge(finalists *f, clv_plan **ret, clv_error *err)
{
    const clv_joint *j = f->j;
    const clv_pool_first all = { f->compiler, f->assignments, f->n, f->verdicts };
    clv_request req = *f->req;
    *ret = NULL;
    if (!j->whole || req.copies > 1 || clv_joint_time_is_up(j) ||
        (req.search.max_judged > 0 && req.search.max_judged <= f->n))
        return judge_alone(f, &all, err);
    if (req.search.max_judged > 0)
        req.search.max_judged -= f->n;
    return clv_stages_plan_after(&req, j->analysis, &all, j->arena, ret, err);
}

/* -- what it says -- */

/* Of a plan that is whole, with the compiler's times and those of the host. */
static void set_score(clv_joint_found *io, clv_plan *plan)
{
    io->score = (clv_score){ plan->outcome, clv_plan_objective_ns(plan), plan->latency_ns,
                             plan->short_bytes };
    io->facts.latency_ns = plan->latency_ns - plan->host_ns;
    io->facts.period_ns = plan->period_ns - plan->host_ns;
    io->whole = plan;
}

/* Times are of one copy, as those of a plan are. */
static clv_status mark(const finalists *f, int32_t k, clv_joint_found *ret, clv_error *err)
{
    const clv_joint *j = f->j;
    const char *warning = f->compiler->warning;
    const clv_verdict *v = &f->verdicts[k];
    clv_plan *plan = f->at[k].plan;
    plan->compiler = clv_arena_printf(j->arena, "%s", f->req->compiler);
    if (!plan->compiler)
        return clv_fail_nomem(err, "a plan");
    plan->outcome = v->outcome;
    if (v->outcome == CLV_FITS) {
        plan->latency_ns = v->latency_ns;
        plan->period_ns = v->period_ns;
    } else {
        plan->short_device = v->device;
        plan->short_bytes = v->outcome == CLV_OOM ? v->short_bytes : 0;
        CLV_TRY(clv_note_shortage(v, j->req->model->main, NULL, plan, j->arena, err));
    }
    if (warning)
        CLV_TRY(clv_plan_add_note(plan, clv_arena_printf(j->arena, "%s", warning), j->arena, err));
    clv_plan_add_host(plan, j->analysis->host_ns);
    clv_plan_limit_latency(plan, f->req->max_latency_ns);
    *ret = *f->at[k].found;
    ret->facts.peak_bytes = CLV_PLAN_UNKNOWN;
    ret->bound_ns = 0;
    set_score(ret, plan);
    return CLV_OK;
}

static clv_status take(finalists *f, clv_error *err)
{
    clv_joint *j = f->j;
    clv_joint_found *judged = CLV_NEW_ARRAY(j->arena, clv_joint_found, f->n);
    if (!judged)
        return clv_fail_nomem(err, "candidates");
    for (int32_t k = 0; k < f->n; k++)
        CLV_TRY(mark(f, k, &judged[k], err));
    j->n_found = 0;
    j->best_at = -1;
    j->unbounded = true;
    for (int32_t k = 0; k < f->n; k++) {
        CLV_TRY(clv_joint_take(j, &judged[k], err));
        j->n_judged++;
        j->n_fitting += f->verdicts[k].outcome == CLV_FITS;
    }
    return CLV_OK;
}

static clv_status take_whole_operators(clv_joint *j, clv_plan *plan, clv_error *err)
{
    const clv_joint_form form = { .groups = 1 };
    j->n_judged += plan->n_judged;
    j->n_fitting += plan->n_fitting;
    clv_joint_found found = { .form = form, .facts = clv_joint_facts(j, 1, 1, plan) };
    set_score(&found, plan);
    const clv_joint_found *best = clv_joint_best(j);
    if (plan->outcome != CLV_FITS && best &&
        !clv_score_is_better(&best->score, true, &found.score)) {
        j->n_found = 0; /* it says more of what is missing */
        j->best_at = -1;
    }
    return clv_joint_take(j, &found, err);
}

static clv_status judge_and_take(finalists *f, clv_error *err)
{
    clv_plan *whole;
    CLV_TRY(open_compiler(f, err));
    CLV_TRY(judge(f, &whole, err));
    if (f->n > 0)
        CLV_TRY(take(f, err));
    return whole ? take_whole_operators(f->j, whole, err) : CLV_OK;
}

clv_status clv_joint_judge_forms(clv_joint *j, const clv_request *req, clv_plan_maker make,
                                 clv_error *err)
{
    finalists f;
    CLV_TRY(pick(j, req, &f, err));
    CLV_TRY(make_plans(&f, make, err));
    clv_status status = judge_and_take(&f, err);
    clv_compiler_close(f.compiler);
    return status;
}
