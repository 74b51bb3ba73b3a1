#include "joint/choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* By latency plans are not judged by the limit while they are searched. */
static bool fits(const clv_joint *j, const clv_joint_found *f)
{
    int64_t most_ns = j->req->max_latency_ns;
    return f->score.outcome == CLV_FITS &&
           (most_ns == 0 || f->facts.latency_ns + j->analysis->host_ns <= most_ns);
}

/* -- the choice -- */

static int64_t devices_of(const clv_joint *j, const clv_joint_found *f)
{
    (void)j;
    return f->facts.devices;
}
static int64_t capacity(const clv_joint *j)
{
    return clv_device_capacity(clv_device_kind_of(j->cluster, j->levels.order[0]));
}
/* As long as half of a device is free, what a plan holds is of no interest. */
static int64_t memory_of(const clv_joint *j, const clv_joint_found *f)
{
    int64_t half = capacity(j) / 2;
    return f->facts.peak_bytes > half ? f->facts.peak_bytes : half;
}
static int64_t other_objective_of(const clv_joint *j, const clv_joint_found *f)
{
    if (j->req->search.objective == CLV_THROUGHPUT)
        return f->facts.latency_ns;
    return f->facts.period_ns / clv_joint_copies(j, f->form.groups);
}
static int64_t collectives_of(const clv_joint *j, const clv_joint_found *f)
{
    (void)j;
    return f->facts.collectives;
}
/* Stages are one more. */
static int64_t axes_of(const clv_joint *j, const clv_joint_found *f)
{
    (void)j;
    return f->form.mesh.n_axes + (f->facts.stages > 1);
}
static int64_t objective_of(const clv_joint *j, const clv_joint_found *f)
{
    (void)j;
    return f->score.ns;
}

/* What plans differ by, the most important first, and by how much. */
typedef enum { EXACTLY, OF_ITSELF, OF_CAPACITY } tolerance;

typedef struct {
    int64_t (*of)(const clv_joint *, const clv_joint_found *);
    tolerance within; /* as good is what has more by clv_request.worth of this */
} criterion;

static const criterion criteria[] = {
    { objective_of, OF_ITSELF },       { devices_of, EXACTLY },     { memory_of, OF_CAPACITY },
    { other_objective_of, OF_ITSELF }, { collectives_of, EXACTLY }, { axes_of, EXACTLY },
    { objective_of, EXACTLY },
};
enum { N_CRITERIA = sizeof criteria / sizeof *criteria };

/* How much more is as good as the least. */
static int64_t slack_of(const clv_joint *j, tolerance within, int64_t least)
{
    double of = within == OF_ITSELF     ? (double)least
                : within == OF_CAPACITY ? (double)capacity(j)
                                        : 0;
    return (int64_t)(j->req->worth * of);
}

/* Drops what is not among the best by a criterion; *io_n: how many stay. */
static void filter(const clv_joint *j, const criterion *by, const clv_joint_found **at,
                   int32_t *io_n)
{
    int64_t least = INT64_MAX;
    int32_t n = 0;
    for (int32_t i = 0; i < *io_n; i++) {
        int64_t value = by->of(j, at[i]);
        least = value < least ? value : least;
    }
    int64_t most = least + slack_of(j, by->within, least);
    for (int32_t i = 0; i < *io_n; i++)
        if (by->of(j, at[i]) <= most)
            at[n++] = at[i];
    *io_n = n;
}

/* Does each axis of its mesh do something? Else the same is done with fewer devices. */
static bool uses_all_axes(const clv_joint *j, const clv_joint_found *f)
{
    bool all = true;
    for (int32_t a = 0; a < f->form.mesh.n_axes && j->role_ops.n > 0; a++)
        all &= f->roles[a] != CLV_ROLE_NONE;
    return all;
}

/* Those that fit; with all, also such as have an axis that nobody needs. NULL: no memory. */
static const clv_joint_found **list_fitting(const clv_joint *j, bool all, int32_t *ret_n)
{
    const clv_joint_found **at = CLV_NEW_ARRAY(j->arena, const clv_joint_found *, j->n_found);
    *ret_n = 0;
    for (int32_t i = 0; at && i < j->n_found; i++)
        if (fits(j, &j->found[i]) && (all || uses_all_axes(j, &j->found[i])))
            at[(*ret_n)++] = &j->found[i];
    return at;
}

const clv_joint_found *clv_joint_choose(const clv_joint *j)
{
    int32_t n;
    const clv_joint_found **at = list_fitting(j, true, &n);
    for (int32_t k = 0; at && k < N_CRITERIA && n > 1; k++)
        filter(j, &criteria[k], at, &n);
    return at && n > 0 ? at[0] : clv_joint_best(j);
}

/* -- names -- */

/* Two axes that do the same are one, and their order is that of the roles. */
static const char *mesh_name(const clv_joint_found *f, clv_arena *arena)
{
    const char *text = "";
    for (int32_t r = 0; text && r < CLV_N_ROLES; r++) {
        int32_t size = 1;
        for (int32_t a = 0; a < f->form.mesh.n_axes; a++)
            size *= (int32_t)f->roles[a] == r ? f->form.mesh.size[a] : 1;
        if (size > 1)
            text = clv_arena_printf(arena, "%s%s%s%d", text, *text ? "x" : "",
                                    clv_axis_role_form((clv_axis_role)r), (int)size);
    }
    return text;
}

const char *clv_joint_form_name(const clv_joint *j, const clv_joint_found *f, clv_arena *arena)
{
    int32_t copies = clv_joint_copies(j, f->form.groups), stages = f->facts.stages;
    const char *text = mesh_name(f, arena);
    if (text && stages > 1)
        text = clv_arena_printf(arena, "%s%sPP%d", text, *text ? "x" : "", (int)stages);
    if (text && copies > 1)
        return *text ? clv_arena_printf(arena, "%d x %s", (int)copies, text)
                     : clv_arena_printf(arena, "%d copies", (int)copies);
    return text && *text == '\0' ? "1 device" : text;
}

/* What to ask for, to get it. */
static const char *options_of(const clv_joint *j, const clv_joint_found *f, clv_arena *arena)
{
    int32_t copies = clv_joint_copies(j, f->form.groups), each = f->facts.devices / copies;
    bool asks_copies = copies > 1 || j->req->search.objective == CLV_THROUGHPUT;
    const char *text = f->form.mesh.n_axes > 0 ? "--mesh " : each > 1 ? "--max-tp 1" : "";
    for (int32_t a = 0; text && a < f->form.mesh.n_axes; a++)
        text = clv_arena_printf(arena, "%s%s%d", text, a ? "x" : "", (int)f->form.mesh.size[a]);
    if (text && f->form.mesh.n_axes > 0 && f->facts.stages > 1)
        text = clv_arena_printf(arena, "%s --stages %d", text, (int)f->facts.stages);
    if (text && f->form.lean)
        text = clv_arena_printf(arena, "%s --memory %.0fGiB", text,
                                ceil((double)f->facts.peak_bytes / (double)(1 << 30)));
    if (text && f->facts.devices < j->cluster->n_devices)
        text = clv_arena_printf(arena, "%s%s--devices %d", text, *text ? " " : "",
                                (int)f->facts.devices);
    if (text && asks_copies)
        text = clv_arena_printf(arena, "%s%s--copies %d", text, *text ? " " : "", (int)copies);
    return text;
}

/* -- beside each other -- */

static int by_objective(const void *a, const void *b)
{
    const clv_joint_found *x = *(const clv_joint_found *const *)a;
    const clv_joint_found *y = *(const clv_joint_found *const *)b;
    int order = (x->score.ns > y->score.ns) - (x->score.ns < y->score.ns);
    order = order ? order : x->form.mesh.n_axes - y->form.mesh.n_axes;
    return order ? order : (x > y) - (x < y);
}

static clv_status fill(const clv_joint *j, const clv_joint_found *f, clv_plan_alternative *ret,
                       clv_error *err)
{
    int64_t host_ns = j->analysis->host_ns;
    *ret =
        (clv_plan_alternative){ .form = clv_joint_form_name(j, f, j->arena),
                                .options = options_of(j, f, j->arena),
                                .devices = f->facts.devices,
                                .copies = clv_joint_copies(j, f->form.groups),
                                .latency_ns = f->facts.latency_ns + host_ns,
                                .period_ns = f->facts.period_ns + host_ns,
                                .peak_bytes = f->facts.peak_bytes,
                                .bound_ns = f->bound_ns < f->score.ns ? f->bound_ns : f->score.ns };
    return ret->form && ret->options ? CLV_OK : clv_fail_nomem(err, "alternatives");
}

/* The chosen one, then the best of each other form of another name. */
static clv_status list_alternatives(const clv_joint *j, const clv_joint_found *chosen,
                                    const clv_joint_found **at, int32_t n, clv_plan *plan,
                                    clv_error *err)
{
    clv_plan_alternative *all = CLV_NEW_ARRAY(j->arena, clv_plan_alternative, n + 1);
    int32_t n_all = 0;
    if (!all)
        return clv_fail_nomem(err, "alternatives");
    CLV_TRY(fill(j, chosen, &all[n_all++], err));
    for (int32_t i = 0; i < n && n_all < j->req->alternatives; i++) {
        bool is_new = at[i] != chosen;
        CLV_TRY(fill(j, at[i], &all[n_all], err));
        for (int32_t k = 0; k < n_all && is_new; k++)
            is_new =
                strcmp(all[k].form, all[n_all].form) != 0 || all[k].devices != all[n_all].devices;
        n_all += is_new;
    }
    plan->alternatives = all;
    plan->n_alternatives = n_all;
    return CLV_OK;
}

/* The best for each number of devices in use, rising. */
static clv_status list_counts(const clv_joint *j, const clv_joint_found **at, int32_t n,
                              clv_plan *plan, clv_error *err)
{
    clv_plan_count *all = CLV_NEW_ARRAY(j->arena, clv_plan_count, n);
    int32_t n_all = 0;
    if (!all)
        return clv_fail_nomem(err, "alternatives");
    for (int32_t devices = 1; devices <= j->cluster->n_devices; devices++)
        for (int32_t i = 0; i < n; i++)
            if (at[i]->facts.devices == devices) {
                all[n_all++] = (clv_plan_count){ devices, at[i]->score.ns };
                break;
            }
    plan->counts = all;
    plan->n_counts = n_all > 1 ? n_all : 0;
    return CLV_OK;
}

/* -- why -- */

static const char *measure_of(const clv_joint *j)
{
    return j->req->search.objective == CLV_THROUGHPUT ? "time between runs" : "latency";
}

static const char *other_measure_of(const clv_joint *j)
{
    return j->req->search.objective == CLV_THROUGHPUT ? "latency" : "time between runs";
}

/* How much more the other takes. */
static const char *percent(char buf[static 32], int64_t more, int64_t than)
{
    return clv_show_percent(buf, than > 0 ? (double)more / (double)than - 1 : 0);
}

/* The best of another form than this; NULL: there is none. */
static const clv_joint_found *next_of(const clv_joint *j, const clv_joint_found *of,
                                      const char *name, const clv_joint_found **at, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const char *other = at[i] == of ? name : clv_joint_form_name(j, at[i], j->arena);
        if (other && (strcmp(other, name) != 0 || at[i]->facts.devices != of->facts.devices))
            return at[i];
    }
    return NULL;
}

/* What the chosen plan has less of than the best one, by the criterion that decided. */
static const char *gain(const clv_joint *j, const clv_joint_found *chosen,
                        const clv_joint_found *best, clv_arena *arena)
{
    const clv_plan_facts *a = &chosen->facts, *b = &best->facts;
    char less[32], more[32];
    if (a->devices != b->devices)
        return clv_arena_printf(arena, "%d device%s instead of %d", (int)a->devices,
                                a->devices == 1 ? "" : "s", (int)b->devices);
    if (memory_of(j, chosen) + slack_of(j, OF_CAPACITY, 0) < memory_of(j, best))
        return clv_arena_printf(arena, "%s of memory instead of %s",
                                clv_show_bytes(less, a->peak_bytes),
                                clv_show_bytes(more, b->peak_bytes));
    if (other_objective_of(j, chosen) < other_objective_of(j, best))
        return clv_arena_printf(arena, "%s of %s instead of %s", other_measure_of(j),
                                clv_show_time(less, other_objective_of(j, chosen)),
                                clv_show_time(more, other_objective_of(j, best)));
    if (a->collectives != b->collectives)
        return clv_arena_printf(arena, "%d collectives instead of %d", (int)a->collectives,
                                (int)b->collectives);
    return "a simpler mesh";
}

/* How it stands beside the next best of another form. */
static const char *compare(const clv_joint *j, const clv_joint_found *chosen,
                           const clv_joint_found *next, const char *name)
{
    char more[32];
    const char *other = next ? clv_joint_form_name(j, next, j->arena) : "";
    if (!next)
        return clv_arena_printf(j->arena, "%s: the only form that was found to fit", name);
    return other ? clv_arena_printf(j->arena, "%s: least %s; %s takes %s more", name, measure_of(j),
                                    other, percent(more, next->score.ns, chosen->score.ns))
                 : NULL;
}

static const char *reason(const clv_joint *j, const clv_joint_found *chosen,
                          const clv_joint_found **at, int32_t n)
{
    char more[32];
    const clv_joint_found *best = at[0];
    const char *name = clv_joint_form_name(j, chosen, j->arena);
    if (!name)
        return NULL;
    if (best->score.ns >= chosen->score.ns)
        return compare(j, chosen, next_of(j, chosen, name, at, n), name);
    const char *better = clv_joint_form_name(j, best, j->arena);
    if (better && strcmp(better, name) == 0)
        better = "the fastest mesh of that form";
    const char *less = gain(j, chosen, best, j->arena);
    return less && better ? clv_arena_printf(j->arena, "%s: %s, at %s more %s than %s", name, less,
                                             percent(more, chosen->score.ns, best->score.ns),
                                             measure_of(j), better)
                          : NULL;
}

/* The reason, and a form that would be better within any latency. */
static const char *reason_within(const clv_joint *j, const clv_joint_found *chosen, const char *why)
{
    const clv_joint_found *late = NULL;
    char latency[32];
    for (int32_t i = 0; i < j->n_found; i++)
        if (j->found[i].score.outcome == CLV_LATE && j->found[i].score.ns < chosen->score.ns &&
            (!late || j->found[i].score.ns < late->score.ns))
            late = &j->found[i];
    const char *form = late ? clv_joint_form_name(j, late, j->arena) : NULL;
    if (!late || !why || !form)
        return late && !form ? NULL : why;
    return clv_arena_printf(j->arena, "%s; %s has less %s, but a latency of %s", why, form,
                            measure_of(j),
                            clv_show_time(latency, late->facts.latency_ns + j->analysis->host_ns));
}

clv_status clv_joint_add_alternatives(const clv_joint *j, const clv_joint_found *chosen,
                                      clv_plan *plan, clv_error *err)
{
    int32_t n;
    const clv_joint_found **at = list_fitting(j, !uses_all_axes(j, chosen), &n);
    if (!at)
        return clv_fail_nomem(err, "alternatives");
    if (n == 0 || j->req->alternatives == 0)
        return CLV_OK;
    qsort(at, (size_t)n, sizeof *at, by_objective);
    CLV_TRY(list_alternatives(j, chosen, at, n, plan, err));
    CLV_TRY(list_counts(j, at, n, plan, err));
    plan->why_chosen = reason_within(j, chosen, reason(j, chosen, at, n));
    return plan->why_chosen ? CLV_OK : clv_fail_nomem(err, "alternatives");
}
