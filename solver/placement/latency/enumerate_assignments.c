#include "solver/placement/latency/enumerate_assignments.h"

#include "solver/placement/latency/evaluate_latency.h"

#include <math.h>
#include <string.h>

#define TRIES_A_CHECK 256
/* An evaluation or a judgement is as much work as so many partial assignments. */
#define LEAF_WORK 8
/* Memory is nearly full where less than one part of so many is free. */
#define FULL_PART 8
/* Sums here and the judge's may round differently. */
#define ROUNDING 0x1p-40
#define NAME     "all assignments"

typedef struct {
    int64_t work;       /* nodes and edges looked at */
    double assignments; /* of more nothing is tried */
} limits;

static const limits limits_of[] = { [CLV_ENUMERATE_SOME] = { INT64_C(10000000), 0x1p24 },
                                    [CLV_ENUMERATE_FEW] = { INT64_C(4000000000), 0x1p20 },
                                    [CLV_ENUMERATE_ALL] = { INT64_C(200000000), 0x1p24 },
                                    [CLV_ENUMERATE_LAST] = { INT64_C(200000000), 0x1p48 } };
static const limits when_full = { INT64_C(800000000), 0x1p48 };

typedef struct {
    clv_place_search *search;
    const clv_latency_tables *tables;
    clv_latency_evaluator *evaluator;
    int32_t *order;         /* classes, as they are placed */
    int32_t *device_of;     /* by class; -1: none yet */
    int64_t *bytes;         /* by device */
    int32_t *count;         /* by device: classes */
    int32_t n_used;         /* devices with classes */
    double *load;           /* by device: scratch */
    double *least;          /* by node: its least time on any device that there is */
    double *end;            /* by node: scratch */
    double left;            /* the least times of what is not placed: scratch */
    int32_t *paid_for;      /* by device: the last node whose send cost it pays: scratch */
    bool is_full;           /* memory, nearly: large classes come first */
    double rounding;        /* the part by which sums here and the judge's may differ */
    clv_int128 spare_bytes; /* that all devices have left when all is placed */
    int64_t work, most_work;
    int32_t n_tries;
    bool ended;
} enumeration;

static int32_t device_of_node(const enumeration *s, int32_t v)
{
    return s->device_of[s->tables->p->class_of[v]];
}

static double time_on(const enumeration *s, int32_t v, int32_t device)
{
    const clv_place_problem *p = s->tables->p;
    return p->time[(size_t)s->tables->kind_of[device] * (size_t)p->n_nodes + (size_t)v];
}

static void pay_once(enumeration *s, int32_t device, int32_t u)
{
    if (s->paid_for[device] == u || s->tables->column_of[device] < 0)
        return;
    s->paid_for[device] = u;
    s->load[device] += s->tables->p->send_cost[u];
}

/* Loads by what is placed so far: none is less once all is. */
static void find_loads(enumeration *s)
{
    const clv_place_problem *p = s->tables->p;
    for (int32_t d = 0; d < s->tables->n_devices; d++) {
        s->load[d] = 0;
        s->paid_for[d] = -1;
    }
    s->left = 0;
    for (int32_t u = 0; u < p->n_nodes; u++) {
        int32_t d = device_of_node(s, u);
        if (d < 0) {
            s->left += s->least[u];
            continue;
        }
        s->load[d] += time_on(s, u, d);
        for (int32_t i = p->out_first[u]; i < p->out_first[u + 1]; i++) {
            int32_t to = device_of_node(s, p->out[i]);
            if (to < 0 || to == d)
                continue;
            pay_once(s, d, u);
            pay_once(s, to, u);
        }
    }
}

/* When the last node ends at the earliest: the longest path, on which each piece pays what crosses
 * from and to it and runs its nodes. */
static double longest_path(enumeration *s)
{
    const clv_place_problem *p = s->tables->p;
    double last = 0;
    memset(s->end, 0, (size_t)p->n_nodes * sizeof *s->end);
    for (int32_t i = 0; i < p->n_nodes; i++) {
        int32_t u = p->order[i], d = device_of_node(s, u);
        s->end[u] += d < 0 ? s->least[u] : time_on(s, u, d);
        last = fmax(last, s->end[u]);
        for (int32_t j = p->out_first[u]; j < p->out_first[u + 1]; j++) {
            int32_t v = p->out[j], to = device_of_node(s, v);
            int32_t pays = d < 0 || to < 0 || to == d
                               ? 0
                               : (s->tables->column_of[d] >= 0) + (s->tables->column_of[to] >= 0);
            s->end[v] = fmax(s->end[v], s->end[u] + pays * p->send_cost[u]);
        }
    }
    return last;
}

/* What the largest load, or the latency, is at least with what is placed so far. */
static double least_objective(enumeration *s)
{
    bool latency = s->search->options->rules.objective == CLV_PLACE_LATENCY;
    double most = latency ? longest_path(s) : 0, all;
    find_loads(s);
    all = s->left;
    for (int32_t d = 0; d < s->tables->n_devices; d++) {
        all += s->load[d];
        if (!latency || s->tables->column_of[d] >= 0)
            most = fmax(most, s->load[d]);
    }
    if (!latency || s->tables->n_columns == s->tables->n_devices)
        most = fmax(most, all / s->tables->n_devices);
    return most * (1 - s->rounding);
}

/* No assignment with what is placed so far is legal and better. */
static bool is_hopeless(enumeration *s)
{
    const clv_place_rules *rules = &s->search->options->rules;
    double best = clv_place_best(s->search);
    if (rules->objective == CLV_PLACE_DEVICES)
        return s->n_used >= best || (rules->max_load > 0 && least_objective(s) > rules->max_load);
    double least = least_objective(s);
    return least > 0 && least >= best * (1 - 2 * s->rounding);
}

/* Room that the smallest class is too large for is lost: more than there is to spare? */
static bool is_wasted(const enumeration *s)
{
    const clv_place_problem *p = s->tables->p;
    int64_t least = s->tables->class_bytes[s->order[p->n_classes - 1]];
    clv_int128 spare = s->spare_bytes;
    for (int32_t d = 0; d < s->tables->n_devices; d++) {
        int64_t left = p->kinds[s->tables->kind_of[d]].capacity_bytes - s->bytes[d];
        spare -= left < least ? left : 0;
    }
    return spare < 0;
}

static bool is_over(enumeration *s)
{
    const clv_place_problem *p = s->tables->p;
    s->work += p->n_nodes + p->out_first[p->n_nodes];
    s->ended |= s->work > s->most_work || (++s->n_tries % TRIES_A_CHECK == 0 &&
                                           clv_limits_over(&s->search->incumbent.limits));
    return s->ended;
}

static clv_status try_assignment(enumeration *s, clv_error *err)
{
    const clv_place_problem *p = s->tables->p;
    s->work += LEAF_WORK * (int64_t)(p->n_nodes + p->out_first[p->n_nodes]);
    if (s->tables->contiguous && !clv_latency_devices_acyclic(s->evaluator, s->device_of))
        return CLV_OK;
    if (s->search->options->rules.objective == CLV_PLACE_LATENCY &&
        clv_latency_evaluate(s->evaluator, s->device_of).latency >= clv_place_best(s->search))
        return CLV_OK;
    return clv_place_offer_groups(s->search, NAME, p->class_of, s->device_of, err);
}

static clv_status place_from(enumeration *s, int32_t n_placed, clv_error *err);

static clv_status place_on(enumeration *s, int32_t n_placed, int32_t d, clv_error *err)
{
    int32_t class = s->order[n_placed];
    s->device_of[class] = d;
    s->bytes[d] += s->tables->class_bytes[class];
    s->n_used += s->count[d]++ == 0;
    if (!is_over(s) && !(s->is_full && is_wasted(s)) && !is_hopeless(s))
        CLV_TRY(place_from(s, n_placed + 1, err));
    s->n_used -= --s->count[d] == 0;
    s->bytes[d] -= s->tables->class_bytes[class];
    s->device_of[class] = -1;
    return CLV_OK;
}

/* All that can be done with the classes that are left. */
static clv_status place_from(enumeration *s, int32_t n_placed, clv_error *err)
{
    const clv_latency_tables *f = s->tables;
    const clv_place_problem *p = f->p;
    int32_t empty_kind = -1;
    if (n_placed == p->n_classes)
        return try_assignment(s, err);
    int32_t class = s->order[n_placed];
    for (int32_t d = 0; d < f->n_devices && !s->ended; d++) {
        int32_t kind = f->kind_of[d];
        int64_t room = p->kinds[kind].capacity_bytes;
        if ((!s->count[d] && empty_kind == kind) ||
            !f->class_fits[(size_t)kind * (size_t)p->n_classes + (size_t) class])
            continue;
        if (!s->count[d])
            empty_kind = kind;
        if (room == CLV_PLACE_UNLIMITED || f->class_bytes[class] <= room - s->bytes[d])
            CLV_TRY(place_on(s, n_placed, d, err));
    }
    return CLV_OK;
}

/* 0 where no device can run it: then its class fits none. */
static void find_least_times(enumeration *s)
{
    const clv_place_problem *p = s->tables->p;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        double least = INFINITY;
        for (int32_t d = 0; d < s->tables->n_devices; d++)
            if (time_on(s, v, d) >= 0)
                least = fmin(least, time_on(s, v, d));
        s->least[v] = isinf(least) ? 0 : least;
    }
}

/* Then few of many assignments are legal. */
static bool is_nearly_full(const clv_place_problem *p)
{
    clv_int128 room = clv_place_room(p);
    return room != CLV_PLACE_UNLIMITED && clv_place_bytes(p) >= room - room / FULL_PART;
}

/* Where memory is nearly full, large ones first, so that what has no room is seen early; else as
 * they come, so that what reads each other is near. O(classes^2). */
static void put_in_order(enumeration *s)
{
    const int64_t *bytes = s->tables->class_bytes;
    for (int32_t c = 0; c < s->tables->p->n_classes; c++) {
        int32_t at = c;
        for (; s->is_full && at > 0 && bytes[s->order[at - 1]] < bytes[c]; at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = c;
    }
}

static clv_status alloc(enumeration *s, clv_arena *arena, clv_error *err)
{
    const clv_latency_tables *f = s->tables;
    CLV_TRY(clv_latency_evaluator_new(f, arena, &s->evaluator, err));
    s->order = CLV_NEW_ARRAY(arena, int32_t, f->p->n_classes);
    s->device_of = CLV_NEW_ARRAY(arena, int32_t, f->p->n_classes);
    s->bytes = CLV_NEW_ARRAY(arena, int64_t, f->n_devices);
    s->count = CLV_NEW_ARRAY(arena, int32_t, f->n_devices);
    s->load = CLV_NEW_ARRAY(arena, double, f->n_devices);
    s->paid_for = CLV_NEW_ARRAY(arena, int32_t, f->n_devices);
    s->least = CLV_NEW_ARRAY(arena, double, f->p->n_nodes);
    s->end = CLV_NEW_ARRAY(arena, double, f->p->n_nodes);
    if (!s->order || !s->device_of || !s->bytes || !s->count || !s->load || !s->paid_for ||
        !s->least || !s->end)
        return clv_fail_nomem(err, "a small search");
    s->rounding = s->search->sums_round ? ROUNDING : 0;
    s->spare_bytes = clv_place_room(f->p) - clv_place_bytes(f->p);
    find_least_times(s);
    put_in_order(s);
    for (int32_t c = 0; c < f->p->n_classes; c++)
        s->device_of[c] = -1;
    return CLV_OK;
}

/* Binary logarithm of all assignments to devices that can hold and run what they get. */
static double log2_of_all(const clv_latency_tables *f)
{
    double all = 0;
    for (int32_t c = 0; c < f->p->n_classes; c++) {
        int32_t n = 0;
        for (int32_t d = 0; d < f->n_devices; d++)
            n += f->class_fits[(size_t)f->kind_of[d] * (size_t)f->p->n_classes + (size_t)c];
        all += log2(fmax(n, 1));
    }
    return all;
}

clv_status clv_enumerate_assignments(clv_place_search *search, const clv_latency_tables *tables,
                                     clv_enumeration_effort effort, clv_arena *arena,
                                     clv_error *err)
{
    bool is_full =
        !tables->contiguous && is_nearly_full(tables->p); /* else there are better ways */
    const limits *l = is_full ? &when_full : &limits_of[effort];
    if (l->work <= search->enumeration_work || log2_of_all(tables) > log2(l->assignments) ||
        clv_place_over(search))
        return CLV_OK;
    enumeration s = {
        .search = search, .tables = tables, .most_work = l->work, .is_full = is_full
    };
    CLV_TRY(alloc(&s, arena, err));
    CLV_TRY(place_from(&s, 0, err));
    if (!s.ended)
        clv_place_raise(search, NAME, clv_place_best(search) * (1 - 4 * s.rounding));
    search->enumeration_work = l->work;
    return CLV_OK;
}
