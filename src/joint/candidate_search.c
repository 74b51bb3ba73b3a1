#include "joint/candidate_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel_for.h"
#include "joint/mesh_candidate.h"
#include "joint/strategy_enumeration.h"

/* So many at once, whatever the threads: what they know of each other decides what is left out. The
 * first is searched alone: most often it is the best, and leaves out the others. */
#define BOUNDS_AT_ONCE   4
#define SEARCHES_AT_ONCE 2
#define SHOWN            4 /* shapes without room for weights that are compared in what they lack */

/* Where strategies of a shape may be far from the best, as they mostly are when memory is short,
 * the search goes on: with so much more work, for so many shapes. */
#define DEEPER_TIMES 10
#define DEEPER_FORMS 3
#define DEEPER_PART  100 /* if a plan may be better by more than 1/100 */

/* What looking once more at all strategies may cost, for all shapes together, in words of memory:
 * about two seconds; and where anything that fits will do, which is asked for some twenty times. */
#define EXHAUST_WORK     INT64_C(800000000)
#define EXHAUST_WORK_ANY (EXHAUST_WORK / 32)

/* Takes over what came of a candidate. */
static clv_status merge(clv_joint *j, const clv_mesh_candidate *c, clv_error *err)
{
    if (c->status != CLV_OK) {
        if (err)
            *err = c->error;
        return c->status;
    }
    if (c->on.refused && j->refused.status == CLV_OK)
        j->refused = c->error;
    j->unlike |= c->on.unlike;
    if (c->on.constraints && c->on.constraints->conflict && !j->conflict) {
        j->conflict = clv_arena_printf(j->arena, "%s", c->on.constraints->conflict);
        if (!j->conflict)
            return clv_fail_nomem(err, "rules on tensors");
    }
    if (!c->any)
        return CLV_OK;
    clv_joint_found found = { .form = c->form,
                              .score = c->best,
                              .facts = c->facts,
                              .bound_ns = clv_joint_of_all(j, c->form.groups, c->bound_ns),
                              .is_near = c->is_near,
                              .limit_bytes = c->limit_bytes,
                              .solution = CLV_NEW_ARRAY(j->arena, int32_t, c->n_solution) };
    if (!found.solution)
        return clv_fail_nomem(err, "strategies");
    memcpy(found.solution, c->solution, (size_t)c->n_solution * sizeof *c->solution);
    memcpy(found.roles, c->roles, sizeof found.roles);
    return clv_joint_take(j, &found, err);
}

/* Forms with one mesh stand together in j->forms; c->form is the first of them. */
static void find_bounds(void *ctx, int32_t i)
{
    clv_mesh_candidate *c = (clv_mesh_candidate *)ctx + i;
    c->status = clv_mesh_candidate_bound(c, c->bounded_forms, c->n_bounded, c->floors, &c->error);
}

static void search(void *ctx, int32_t i)
{
    clv_mesh_candidate *c = (clv_mesh_candidate *)ctx + i;
    c->status = clv_mesh_candidate_search(c, &c->error);
    for (; c->next && c->status == CLV_OK; c = c->next) {
        clv_mesh_candidate_follow(c->next, c);
        c->next->status = clv_mesh_candidate_search(c->next, &c->next->error);
    }
}

static void exhaust(void *ctx, int32_t i)
{
    clv_mesh_candidate *c = (clv_mesh_candidate *)ctx + i;
    c->status = clv_mesh_candidate_exhaust(c, &c->error);
}

/* Does that to candidates, at most BOUNDS_AT_ONCE, and takes over what came of it. */
static clv_status try_at_once(clv_joint *j, clv_mesh_candidate *c, int32_t n,
                              void (*work)(void *, int32_t), clv_error *err)
{
    int32_t jobs = clv_request_jobs(j->req);
    clv_status status = CLV_OK;
    for (int32_t k = 0; k < n; k++)
        c[k].jobs = n > 1 ? 1 : jobs;
    clv_parallel_for(n, jobs, work, c);
    for (int32_t k = 0; k < n; k++)
        for (const clv_mesh_candidate *at = &c[k]; at && status == CLV_OK; at = at->next)
            status = merge(j, at, err);
    for (int32_t k = 0; k < n; k++)
        clv_arena_free(c[k].arena);
    return status;
}

typedef struct {
    clv_joint_form form;
    int32_t place;     /* in j->forms */
    clv_int128 floor;  /* of one copy: no plan of the form has less */
    int64_t floor_ns;  /* of all, as are the following */
    bool bounded;      /* it was searched, and */
    int64_t bound_ns;  /* no plan of it has less; 0: nothing is known of it */
    bool wide;         /* its strategies may be far from the best */
    int64_t shared_ns; /* about what a plan takes whose strategies stages share; 0: not known */
} ranked;

static int compare_floors(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    int order = (x->floor_ns > y->floor_ns) - (x->floor_ns < y->floor_ns);
    if (order == 0)
        order = (x->form.groups < y->form.groups) - (x->form.groups > y->form.groups);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* The floors of all forms, mesh by mesh. */
static clv_status find_floors(clv_joint *j, clv_int128 *ret, clv_error *err)
{
    for (int32_t i = 0; i < j->n_forms;) {
        clv_mesh_candidate c[BOUNDS_AT_ONCE];
        int32_t n = 0;
        for (; n < BOUNDS_AT_ONCE && i < j->n_forms; n++) {
            int32_t first = i;
            while (i < j->n_forms && clv_joint_same_mesh(&j->forms[first], &j->forms[i]))
                i++;
            c[n] = (clv_mesh_candidate){ .j = j,
                                         .form = j->forms[first],
                                         .bounded_forms = &j->forms[first],
                                         .n_bounded = i - first,
                                         .floors = &ret[first] };
        }
        CLV_TRY(try_at_once(j, c, n, find_bounds, err));
    }
    return CLV_OK;
}

/* Those that can be searched, the least bound first; of equals those with fewer stages. */
static clv_status rank_forms(clv_joint *j, ranked *ret, int32_t *ret_n, clv_error *err)
{
    clv_int128 *floors = CLV_NEW_ARRAY(j->arena, clv_int128, j->n_forms);
    j->order = CLV_NEW_ARRAY(j->arena, int32_t, j->n_forms);
    j->floor_ns = CLV_NEW_ARRAY(j->arena, int64_t, j->n_forms);
    if (!floors || !j->order || !j->floor_ns)
        return clv_fail_nomem(err, "forms of meshes");
    *ret_n = 0;
    CLV_TRY(find_floors(j, floors, err));
    for (int32_t i = 0; i < j->n_forms; i++)
        if (floors[i] != CLV_EXCLUDED)
            ret[(*ret_n)++] =
                (ranked){ .form = j->forms[i],
                          .place = i,
                          .floor = floors[i],
                          .floor_ns = clv_joint_of_all(j, j->forms[i].groups, floors[i]) };
    qsort(ret, (size_t)*ret_n, sizeof *ret, compare_floors);
    j->n_order = *ret_n;
    for (int32_t i = 0; i < *ret_n; i++) {
        j->order[i] = ret[i].place;
        j->floor_ns[i] = ret[i].floor_ns;
    }
    return CLV_OK;
}

static bool is_enough(const clv_joint *j) { return j->any_will_do && clv_joint_best_fit(j); }

static void keep_bound(ranked *r, const clv_mesh_candidate *c)
{
    r->bounded = c->bounded;
    r->bound_ns = clv_joint_of_all(c->j, r->form.groups, c->bound_ns);
    r->wide = c->wide;
    r->shared_ns = clv_joint_of_all(c->j, r->form.groups, c->shared_ns);
}

/* May there be a plan that takes no more than ns, and enough less than the best to look for it? */
static bool is_promising(const clv_joint *j, int64_t ns)
{
    const clv_joint_found *best = clv_joint_best_fit(j);
    return !best || ns < best->score.ns - best->score.ns / DEEPER_PART;
}

static clv_status search_ranked(clv_joint *j, ranked *r, int32_t n, clv_error *err)
{
    bool none = !clv_joint_best(j); /* no plan to show yet */
    for (int32_t i = 0, now = 1; i < n && !is_enough(j); i += now, now = SEARCHES_AT_ONCE) {
        clv_mesh_candidate c[SEARCHES_AT_ONCE];
        now = n - i < now ? n - i : now;
        for (int32_t k = 0; k < now; k++)
            c[k] = (clv_mesh_candidate){ .j = j,
                                         .form = r[i + k].form,
                                         .floor = r[i + k].floor,
                                         .shows = none && i + k < SHOWN };
        CLV_TRY(try_at_once(j, c, now, search, err));
        for (int32_t k = 0; k < now; k++)
            keep_bound(&r[i + k], &c[k]);
    }
    return CLV_OK;
}

/* The shape that promises most of those that are worth more work; NULL: none is. */
static ranked *most_promising(const clv_joint *j, ranked *r, int32_t n)
{
    ranked *best = NULL;
    for (int32_t i = 0; i < n; i++) {
        if (!r[i].wide || !r[i].bounded || !is_promising(j, r[i].bound_ns))
            continue;
        if (!best || r[i].bound_ns < best->bound_ns)
            best = &r[i];
    }
    return best;
}

/* Strategies were those that are best one after the other: now those that stages share. */
static clv_status search_shared(clv_joint *j, const ranked *r, int32_t n, clv_error *err)
{
    for (int32_t i = 0; i < n && !j->any_will_do && !clv_joint_time_is_up(j); i++) {
        if (r[i].shared_ns == 0 || !clv_joint_best_fit(j) || !is_promising(j, r[i].shared_ns) ||
            !is_promising(j, r[i].bound_ns))
            continue;
        clv_mesh_candidate c = { .j = j, .form = r[i].form, .floor = r[i].floor, .shares = true };
        CLV_TRY(try_at_once(j, &c, 1, search, err));
    }
    return CLV_OK;
}

static clv_status search_deeper(clv_joint *j, ranked *r, int32_t n, clv_error *err)
{
    for (int32_t i = 0; i < DEEPER_FORMS && !j->any_will_do && !clv_joint_time_is_up(j); i++) {
        ranked *next = most_promising(j, r, n);
        if (!next)
            break;
        clv_mesh_candidate c = {
            .j = j, .form = next->form, .floor = next->floor, .times = DEEPER_TIMES
        };
        int64_t bound_ns = next->bound_ns;
        CLV_TRY(try_at_once(j, &c, 1, search, err));
        keep_bound(next, &c);
        next->bound_ns = bound_ns > next->bound_ns ? bound_ns : next->bound_ns;
        next->bounded = true;
        next->wide = false; /* once is enough */
    }
    return CLV_OK;
}

/* Is there more to know of a shape than what was found first? */
static bool is_open(const clv_joint *j, const ranked *r)
{
    const clv_joint_found *best = clv_joint_best_fit(j);
    return r->bounded && (clv_request_leaves_search(j->req) || j->any_will_do) &&
           !(best && r->bound_ns >= best->score.ns) &&
           clv_strategies_may_be_few(j->analysis->types, clv_joint_stages(j, &r->form)) &&
           !is_enough(j) && !clv_joint_time_is_up(j);
}

/* What may still hide a better plan, once the best of all shapes is known; and the bound of all.
 * All strategies are tried in the order of the file; in another one, as that of kernels, a plan may
 * take less memory: then what was tried finds plans, but no bound. */
static clv_status exhaust_ranked(clv_joint *j, ranked *r, int32_t n, clv_error *err)
{
    int64_t work_left = j->any_will_do ? EXHAUST_WORK_ANY : EXHAUST_WORK;
    for (int32_t i = 0; i < n && work_left > 0; i++) {
        int64_t all = i + 1 < n ? work_left / 2 : work_left, left = all; /* some for the others */
        clv_mesh_candidate c = { .j = j,
                                 .form = r[i].form,
                                 .bound_ns = clv_joint_of_one(j, r[i].form.groups, r[i].bound_ns),
                                 .work_left = &left };
        if (!is_open(j, &r[i]))
            continue;
        CLV_TRY(try_at_once(j, &c, 1, exhaust, err));
        work_left -= all - left;
        if (!j->analysis->kernels)
            keep_bound(&r[i], &c);
    }
    for (int32_t i = 0; i < n; i++)
        if (r[i].bounded)
            clv_joint_lower_bound(j, r[i].bound_ns);
    return CLV_OK;
}

/* The only shape there is: nothing to put in order, and all that comes of it may stay. */
static clv_status search_only(clv_joint *j, clv_error *err)
{
    clv_mesh_candidate *c = CLV_NEW(j->arena, clv_mesh_candidate);
    ranked r = { .form = j->forms[0] };
    if (!c)
        return clv_fail_nomem(err, "a form of mesh");
    *c = (clv_mesh_candidate){
        .j = j, .arena = j->arena, .form = j->forms[0], .jobs = clv_request_jobs(j->req)
    };
    search(c, 0);
    CLV_TRY(merge(j, c, err));
    if (c->any)
        j->found[j->n_found - 1].kept = c;
    keep_bound(&r, c);
    CLV_TRY(search_shared(j, &r, 1, err));
    CLV_TRY(search_deeper(j, &r, 1, err));
    return exhaust_ranked(j, &r, 1, err);
}

/* What all shapes have in common. */
static clv_status find_classes(clv_joint *j, clv_error *err)
{
    const clv_analysis *a = j->analysis;
    if (j->classes.of)
        return CLV_OK;
    CLV_TRY(clv_op_classes_make(a->types, j->factors, a->costs, j->arena, &j->classes, err));
    if (clv_costs_captured(a->costs))
        CLV_TRY(clv_measured_groups_make(j->cluster, j->arena, &j->measured, err));
    CLV_TRY(clv_role_ops_find(a->costs, a->types, j->arena, &j->role_ops, err));
    return clv_shard_path_find(a->costs, clv_device_kind_of(j->cluster, 0), j->arena, &j->path,
                               err);
}

clv_status clv_joint_try_forms(clv_joint *j, clv_error *err)
{
    ranked *r = CLV_NEW_ARRAY(j->arena, ranked, j->n_forms);
    int32_t n = 0;
    if (!r)
        return clv_fail_nomem(err, "forms of meshes");
    if (j->n_forms == 0 || is_enough(j))
        return CLV_OK;
    CLV_TRY(find_classes(j, err));
    if (j->n_forms == 1)
        return search_only(j, err);
    CLV_TRY(rank_forms(j, r, &n, err));
    CLV_TRY(search_ranked(j, r, n, err));
    CLV_TRY(search_shared(j, r, n, err));
    CLV_TRY(search_deeper(j, r, n, err));
    return exhaust_ranked(j, r, n, err);
}

clv_status clv_joint_try_thoroughly(clv_joint *j, const clv_joint_form *form, clv_error *err)
{
    clv_mesh_candidate c = { .j = j, .form = *form, .thorough = true };
    return try_at_once(j, &c, 1, search, err);
}

/* -- for comparison -- */

/* More stages have more memory: the strategies that are found first are then the fastest for all.
 */
static bool goes_before(const clv_mesh_candidate *a, const clv_mesh_candidate *b)
{
    return a->form.lean != b->form.lean ? b->form.lean : a->form.groups < b->form.groups;
}

/* Puts c in its place among the candidates with its mesh, of which head is the first and stays
 * where it is. */
static void insert(clv_mesh_candidate *head, clv_mesh_candidate *c)
{
    if (goes_before(c, head)) {
        clv_mesh_candidate other = *head;
        *head = *c;
        *c = other;
        head->next = c;
        return;
    }
    clv_mesh_candidate **at = &head->next;
    while (*at && goes_before(*at, c))
        at = &(*at)->next;
    c->next = *at;
    *at = c;
}

/* A candidate for each mesh, in the order in which meshes come first, with those of the same mesh
 * behind it. room: for n of those. O(n^2). */
static int32_t list_by_mesh(const clv_joint *j, const clv_joint_form *forms, int32_t n,
                            clv_mesh_candidate *room, clv_mesh_candidate *ret)
{
    int32_t n_meshes = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t k = 0;
        room[i] = (clv_mesh_candidate){ .j = j, .form = forms[i], .compares = true };
        while (k < n_meshes && !clv_joint_same_mesh(&ret[k].form, &forms[i]))
            k++;
        if (k < n_meshes)
            insert(&ret[k], &room[i]);
        else
            ret[n_meshes++] = room[i];
    }
    return n_meshes;
}

clv_status clv_joint_try_beside(clv_joint *j, const clv_joint_form *forms, int32_t n,
                                clv_error *err)
{
    clv_mesh_candidate *room = CLV_NEW_ARRAY(j->arena, clv_mesh_candidate, n);
    clv_mesh_candidate *c = CLV_NEW_ARRAY(j->arena, clv_mesh_candidate, n);
    if (!room || !c)
        return clv_fail_nomem(err, "forms for comparison");
    int32_t n_meshes = list_by_mesh(j, forms, n, room, c);
    for (int32_t i = 0; i < n_meshes && !clv_joint_time_is_up(j); i += SEARCHES_AT_ONCE) {
        int32_t now = n_meshes - i < SEARCHES_AT_ONCE ? n_meshes - i : SEARCHES_AT_ONCE;
        CLV_TRY(try_at_once(j, &c[i], now, search, err));
    }
    return CLV_OK;
}
