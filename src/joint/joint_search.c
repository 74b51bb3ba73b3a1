#include "joint/joint_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel_for.h"

/* So many at once, whatever the threads: what they know of each other decides what is left out. The
 * first is searched alone: most often it is the best, and leaves out the others. */
#define BOUNDS_AT_ONCE 4
#define FORMS_AT_ONCE  2
#define SHOWN          4 /* forms without room for weights that are compared in what they lack */

void clv_joint_take_bound(clv_joint *j, int64_t bound_ns)
{
    if (bound_ns <= 0)
        j->unbounded = true;
    else if (bound_ns < j->bound_ns)
        j->bound_ns = bound_ns;
}

static clv_status merge(clv_joint *j, const clv_form *f)
{
    if (f->status != CLV_OK) {
        if (j->err)
            *j->err = f->own_error;
        return f->status;
    }
    if (f->refused && j->refused.status == CLV_OK)
        j->refused = f->own_error;
    if (f->pins && f->pins->conflict && !j->conflict) {
        j->conflict = clv_arena_printf(j->arena, "%s", f->pins->conflict);
        if (!j->conflict)
            return clv_fail_nomem(j->err, "rules on tensors");
    }
    if (f->bounded)
        clv_joint_take_bound(j, f->bound_ns);
    if (!f->any || !clv_score_is_better(&f->best, j->any, &j->best))
        return CLV_OK;
    j->any = true;
    j->best = f->best;
    j->plain = NULL;
    j->kept = NULL;
    j->shape = f->shape;
    j->limit_bytes = f->limit_bytes;
    j->answer = CLV_NEW_ARRAY(j->arena, int32_t, f->n_answer);
    if (!j->answer)
        return clv_fail_nomem(j->err, "strategies");
    memcpy(j->answer, f->answer, (size_t)f->n_answer * sizeof *f->answer);
    return CLV_OK;
}

static void find_bound(void *ctx, int32_t i)
{
    clv_form *f = (clv_form *)ctx + i;
    f->status = clv_form_bound(f);
}

static void search(void *ctx, int32_t i)
{
    clv_form *f = (clv_form *)ctx + i;
    f->status = clv_form_run(f);
}

/* Does that to forms, at most BOUNDS_AT_ONCE, and takes over what came of it. */
static clv_status share(clv_joint *j, clv_form *forms, int32_t n, void (*work)(void *, int32_t))
{
    int32_t jobs = j->req->jobs > 0 ? j->req->jobs : CLV_DEFAULT_JOBS;
    clv_status status = CLV_OK;
    for (int32_t k = 0; k < n; k++)
        forms[k].jobs = n > 1 ? 1 : jobs;
    clv_parallel_for(n, jobs, work, forms);
    for (int32_t k = 0; k < n && status == CLV_OK; k++)
        status = merge(j, &forms[k]);
    for (int32_t k = 0; k < n; k++)
        clv_arena_free(forms[k].arena);
    return status;
}

typedef struct {
    clv_int128 floor; /* no plan of the form has less */
    int32_t shape;
} candidate;

static int compare(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    int by_floor = (x->floor > y->floor) - (x->floor < y->floor);
    return by_floor ? by_floor : (x->shape > y->shape) - (x->shape < y->shape);
}

/* Those that can be searched, the least bound first. */
static clv_status list_candidates(clv_joint *j, candidate *ret, int32_t *ret_n)
{
    *ret_n = 0;
    for (int32_t i = 0; i < j->n_shapes; i += BOUNDS_AT_ONCE) {
        clv_form forms[BOUNDS_AT_ONCE];
        int32_t n = j->n_shapes - i < BOUNDS_AT_ONCE ? j->n_shapes - i : BOUNDS_AT_ONCE;
        for (int32_t k = 0; k < n; k++)
            forms[k] = (clv_form){ .j = j, .shape = j->shapes[i + k] };
        CLV_TRY(share(j, forms, n, find_bound));
        for (int32_t k = 0; k < n; k++)
            if (!forms[k].out)
                ret[(*ret_n)++] = (candidate){ forms[k].floor, i + k };
    }
    qsort(ret, (size_t)*ret_n, sizeof *ret, compare);
    return CLV_OK;
}

static bool is_enough(const clv_joint *j)
{
    return j->any_will_do && j->any && j->best.outcome == CLV_FITS;
}

static clv_status search_candidates(clv_joint *j, const candidate *c, int32_t n)
{
    bool none = !j->any; /* no plan to show yet */
    for (int32_t i = 0, now = 1; i < n && !is_enough(j); i += now, now = FORMS_AT_ONCE) {
        clv_form forms[FORMS_AT_ONCE];
        now = n - i < now ? n - i : now;
        for (int32_t k = 0; k < now; k++)
            forms[k] = (clv_form){ .j = j,
                                   .shape = j->shapes[c[i + k].shape],
                                   .floor = c[i + k].floor,
                                   .shows = none && i + k < SHOWN };
        CLV_TRY(share(j, forms, now, search));
    }
    return CLV_OK;
}

/* The only form there is: nothing to put in order, and all that comes of it may stay. */
static clv_status search_only(clv_joint *j)
{
    int32_t jobs = j->req->jobs > 0 ? j->req->jobs : CLV_DEFAULT_JOBS;
    clv_form *form = CLV_NEW(j->arena, clv_form);
    if (!form)
        return clv_fail_nomem(j->err, "a form of mesh");
    *form = (clv_form){ .j = j, .arena = j->arena, .shape = j->shapes[0], .jobs = jobs };
    form->status = clv_form_run(form);
    clv_score before = j->best;
    bool any = j->any;
    CLV_TRY(merge(j, form));
    if (form->any && clv_score_is_better(&form->best, any, &before))
        j->kept = form;
    return CLV_OK;
}

/* What all forms look at alike. */
static clv_status prepare(clv_joint *j)
{
    const clv_analysis *a = j->analysis;
    if (j->classes.of)
        return CLV_OK;
    CLV_TRY(clv_op_classes_make(a->inference->main, j->factors, a->costs, j->arena, &j->classes,
                                j->err));
    if (j->req->search.objective != CLV_LATENCY)
        return CLV_OK;
    return clv_shard_path_find(a->inference->main, a->costs, clv_device_kind_of(j->cluster, 0),
                               j->arena, &j->path, j->err);
}

clv_status clv_joint_try_forms(clv_joint *j)
{
    candidate *c = CLV_NEW_ARRAY(j->arena, candidate, j->n_shapes);
    int32_t n;
    if (!c)
        return clv_fail_nomem(j->err, "forms of meshes");
    if (j->n_shapes == 0 || is_enough(j))
        return CLV_OK;
    CLV_TRY(prepare(j));
    if (j->n_shapes == 1)
        return search_only(j);
    CLV_TRY(list_candidates(j, c, &n));
    return search_candidates(j, c, n);
}
