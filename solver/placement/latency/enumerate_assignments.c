#include "solver/placement/latency/enumerate_assignments.h"

#include "solver/placement/latency/evaluate_latency.h"

#include <math.h>
#include <string.h>

/* Assignments, counted without regard to equal devices, up to which all are tried; and
 * evaluations. */
#define MOST_ASSIGNMENTS    0x1p24
#define MOST_EVALUATIONS    200000
#define EVALUATIONS_A_CHECK 256
/* The evaluator and the judge may round sums differently. */
#define ROUNDING 0x1p-40

typedef struct {
    clv_place_search *search;
    const clv_latency_tables *tables;
    clv_latency_evaluator *evaluator;
    int32_t *device_of, *best_of; /* by class */
    int64_t *bytes;               /* by device */
    int32_t *count;
    double best; /* latency of the best of those evaluated */
    int32_t evaluations;
    bool ended;
} enumeration;

static void evaluate_assignment(enumeration *s)
{
    s->ended |= ++s->evaluations > MOST_EVALUATIONS ||
                (s->evaluations % EVALUATIONS_A_CHECK == 0 && clv_place_over(s->search));
    if (s->ended ||
        (s->tables->contiguous && !clv_latency_devices_acyclic(s->evaluator, s->device_of)))
        return;
    double latency = clv_latency_evaluate(s->evaluator, s->device_of).latency;
    if (latency >= s->best)
        return;
    s->best = latency;
    memcpy(s->best_of, s->device_of, (size_t)s->tables->p->n_classes * sizeof *s->best_of);
}

/* All that can be done with classes from this one on. */
static void place_from(enumeration *s, int32_t class)
{
    const clv_latency_tables *f = s->tables;
    const clv_place_problem *p = f->p;
    int32_t empty_kind = -1;
    if (class == p->n_classes) {
        evaluate_assignment(s);
        return;
    }
    for (int32_t d = 0; d < f->n_devices && !s->ended; d++) {
        int32_t kind = f->kind_of[d];
        int64_t room = p->kinds[kind].capacity_bytes;
        if ((!s->count[d] && empty_kind == kind) ||
            !f->class_fits[(size_t)kind * (size_t)p->n_classes + (size_t) class])
            continue;
        if (!s->count[d])
            empty_kind = kind;
        if (room != CLV_PLACE_UNLIMITED && f->class_bytes[class] > room - s->bytes[d])
            continue;
        s->device_of[class] = d;
        s->bytes[d] += f->class_bytes[class];
        s->count[d]++;
        place_from(s, class + 1);
        s->count[d]--;
        s->bytes[d] -= f->class_bytes[class];
    }
}

clv_status clv_enumerate_assignments(clv_place_search *search, const clv_latency_tables *tables,
                                     clv_arena *arena, clv_error *err)
{
    const clv_place_problem *p = tables->p;
    if (p->n_classes * log2(fmax(tables->n_devices, 1)) > log2(MOST_ASSIGNMENTS) ||
        clv_place_over(search))
        return CLV_OK;
    enumeration s = { .search = search, .tables = tables, .best = INFINITY };
    CLV_TRY(clv_latency_evaluator_new(tables, arena, &s.evaluator, err));
    s.device_of = CLV_NEW_ARRAY(arena, int32_t, p->n_classes);
    s.best_of = CLV_NEW_ARRAY(arena, int32_t, p->n_classes);
    s.bytes = CLV_NEW_ARRAY(arena, int64_t, tables->n_devices);
    s.count = CLV_NEW_ARRAY(arena, int32_t, tables->n_devices);
    if (!s.device_of || !s.best_of || !s.bytes || !s.count)
        return clv_fail_nomem(err, "a small search");
    place_from(&s, 0);
    if (!isinf(s.best))
        CLV_TRY(clv_place_offer_groups(search, "all assignments", p->class_of, s.best_of, err));
    if (!s.ended)
        clv_place_raise(search, "all assignments", s.best * (1 - ROUNDING));
    return CLV_OK;
}
