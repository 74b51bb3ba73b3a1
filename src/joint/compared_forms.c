#include "joint/compared_forms.h"

#include "joint/candidate_search.h"
#include "joint/choice.h"

/* A lean plan is tried where a device holds so much of what it can, and all together so many times
 * the weights. */
#define FULL_PART   0.25
#define HEAVY_TIMES 2.5

typedef struct {
    clv_joint_form *at;
    int32_t n;
} picked_forms;

/* -- what is there -- */

static bool is_like(const clv_joint *j, const clv_joint_form *a, const clv_joint_form *b)
{
    return a->groups == b->groups && a->lean == b->lean &&
           clv_joint_stages(j, a) == clv_joint_stages(j, b);
}

bool clv_joint_has_outline(const clv_joint *j, const clv_joint_form *form)
{
    for (int32_t i = 0; i < j->n_found; i++)
        if (is_like(j, &j->found[i].form, form))
            return true;
    return false;
}

static bool is_picked(const clv_joint *j, const picked_forms *picked, const clv_joint_form *form)
{
    for (int32_t i = 0; i < picked->n; i++)
        if (is_like(j, &picked->at[i], form))
            return true;
    return false;
}

/* Different ones among the plans that fit. */
static int32_t count_fitting(const clv_joint *j)
{
    int32_t n = 0;
    for (int32_t i = 0; i < j->n_found; i++) {
        bool is_new = j->found[i].score.outcome == CLV_FITS;
        for (int32_t k = 0; k < i && is_new; k++)
            is_new = !is_like(j, &j->found[k].form, &j->found[i].form);
        n += is_new;
    }
    return n;
}

/* -- what is picked -- */

static bool is_found_for(const clv_joint *j, int32_t groups)
{
    bool any = false;
    for (int32_t i = 0; i < j->n_found; i++)
        any |= j->found[i].form.groups == groups;
    return any;
}

/* Where the plan that would be taken holds much more than it must: its mesh once more, lean. Fewer
 * copies of a plan stand for that where it is copied. */
static void pick_lean(const clv_joint *j, picked_forms *picked)
{
    const clv_joint_found *best = clv_joint_choose(j);
    double peak = (double)best->facts.peak_bytes;
    double room = (double)clv_device_capacity(clv_device_kind_of(j->cluster, j->levels.order[0]));
    double weights = (double)j->analysis->costs->total.weight_bytes;
    if (best->form.mesh.n_axes == 0 || clv_joint_copies(j, best->form.groups) > 1 ||
        peak < FULL_PART * room || peak * best->facts.devices < HEAVY_TIMES * weights)
        return;
    picked->at[picked->n] = best->form;
    picked->at[picked->n++].lean = true;
}

/* Of the forms like one in the order that promise as much, but for what a plan has to be worth: the
 * one with fewest axes. */
static const clv_joint_form *simplest(const clv_joint *j, int32_t at)
{
    const clv_joint_form *best = &j->forms[j->order[at]];
    int64_t within = j->floor_ns[at] + (int64_t)(j->req->worth * (double)j->floor_ns[at]);
    for (int32_t i = at + 1; i < j->n_order && j->floor_ns[i] <= within; i++) {
        const clv_joint_form *form = &j->forms[j->order[i]];
        if (is_like(j, form, &j->forms[j->order[at]]) && form->mesh.n_axes < best->mesh.n_axes)
            best = form;
    }
    return best;
}

/* The most promising form with a group of each size. */
static void pick_fewer_devices(const clv_joint *j, picked_forms *picked)
{
    for (int32_t g = 1; g < j->n_groups; g++) {
        int32_t groups = j->groups[g], i = 0;
        if (clv_joint_copies(j, groups) > 1 || is_found_for(j, groups))
            continue;
        while (i < j->n_order && j->forms[j->order[i]].groups != groups)
            i++;
        if (i < j->n_order)
            picked->at[picked->n++] = *simplest(j, i);
    }
}

/* Those that use all devices. */
static void pick_others(const clv_joint *j, picked_forms *picked)
{
    int32_t n = count_fitting(j) + picked->n;
    for (int32_t i = 0; i < j->n_order && n < j->req->alternatives; i++) {
        const clv_joint_form *form = &j->forms[j->order[i]];
        bool uses_all = form->groups == clv_joint_copies(j, form->groups);
        if (!uses_all || clv_joint_has_outline(j, form) || is_picked(j, picked, form))
            continue;
        picked->at[picked->n++] = *simplest(j, i);
        n++;
    }
}

clv_status clv_joint_try_compared(clv_joint *j, clv_error *err)
{
    picked_forms picked = { .at = CLV_NEW_ARRAY(j->arena, clv_joint_form, j->n_forms + 1) };
    if (!picked.at)
        return clv_fail_nomem(err, "forms for comparison");
    pick_lean(j, &picked);
    pick_fewer_devices(j, &picked);
    pick_others(j, &picked);
    return clv_joint_try_beside(j, picked.at, picked.n, err);
}
