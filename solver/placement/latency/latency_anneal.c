#include "solver/placement/latency/latency_anneal.h"

#include <math.h>
#include <string.h>

#include "solver/common/annealing.h"
#include "solver/common/random.h"
#include "solver/placement/latency/evaluate_latency.h"

/* Steps of a round: (nodes + edges) * steps is held near the first of these. */
#define WORK_A_ROUND 60e6
#define LEAST_STEPS  200
/* More than this, for each pair of a class and a device, small problems do not need. */
#define STEPS_A_PAIR 150.0
/* Temperatures, as shares of the objective, at the begin of rounds, in turn, and at their end. */
static const double HOT[] = { 3e-3, 3e-2, 3e-1 };
#define N_HOT ((int32_t)(sizeof HOT / sizeof *HOT))
#define COLD  2e-6
/* What work is worth beside latency: it breaks ties, and rewards what may help later. */
#define WORK_SHARE 1e-5
/* Price of memory overdrawn by the whole of a device, in objectives; and of overdrawing at all. */
#define OVER_PRICE 3.0
#define OVER_FEE   0.02
/* The evaluator's rows of levels may take this many numbers; they are padded by up to ROW_SPARE
 * each.
 */
#define MOST_LEVELS (1 << 26)
#define ROW_SPARE   8
/* Between tests whether the run is over: steps * (nodes + edges). */
#define WORK_A_LOOK 8192

typedef struct {
    clv_place_search *search;
    const clv_latency_tables *tables;
    clv_latency_evaluator *evaluator;
    uint64_t random;
    int32_t *device_of; /* by class */
    int64_t *bytes;     /* by device */
    int32_t *count;     /* by device: classes */
    double over;        /* shares of capacity overdrawn, summed over the devices */
    double scale;       /* objective at the start: makes shares to prices */
    double score;
    int32_t *moved, *back; /* classes that the move at hand took, and where they were */
    int32_t n_moved;
    int32_t *start; /* scratch: where a round starts */
    int32_t *kept;  /* best assignment of the round that fits */
    double kept_score;
} annealer;

static int32_t pick(annealer *s, int32_t n)
{
    return (int32_t)(clv_random(&s->random) % (uint64_t)n);
}

static double overdrawn(const annealer *s, int32_t d)
{
    int64_t room = s->tables->p->kinds[s->tables->kind_of[d]].capacity_bytes;
    if (room == CLV_PLACE_UNLIMITED || s->bytes[d] <= room)
        return 0;
    return (double)(s->bytes[d] - room) / (double)(room > 0 ? room : 1) + OVER_FEE;
}

static void move_class(annealer *s, int32_t class, int32_t to)
{
    int32_t from = s->device_of[class];
    s->over -= overdrawn(s, from) + overdrawn(s, to);
    s->bytes[from] -= s->tables->class_bytes[class];
    s->bytes[to] += s->tables->class_bytes[class];
    s->count[from]--;
    s->count[to]++;
    s->over += overdrawn(s, from) + overdrawn(s, to);
    s->device_of[class] = to;
}

static void start_from(annealer *s, const int32_t *device_of)
{
    int32_t n = s->tables->n_devices;
    memset(s->bytes, 0, (size_t)n * sizeof *s->bytes);
    memset(s->count, 0, (size_t)n * sizeof *s->count);
    for (int32_t c = 0; c < s->tables->p->n_classes; c++) {
        s->device_of[c] = device_of[c];
        s->bytes[device_of[c]] += s->tables->class_bytes[c];
        s->count[device_of[c]]++;
    }
    s->over = 0;
    for (int32_t d = 0; d < n; d++)
        s->over += overdrawn(s, d);
}

/* INFINITY where the assignment is not legal for other reasons than memory. */
static double score_of_assignment(annealer *s)
{
    if (s->tables->contiguous && !clv_latency_devices_acyclic(s->evaluator, s->device_of))
        return INFINITY;
    clv_latency_time time = clv_latency_evaluate(s->evaluator, s->device_of);
    double over = s->over > OVER_FEE / 2 ? s->over : 0; /* else only rounding is left */
    return time.latency + WORK_SHARE * time.work + OVER_PRICE * s->scale * over;
}

static bool may_run_on(const annealer *s, int32_t class, int32_t device)
{
    const clv_latency_tables *f = s->tables;
    return f->class_fits[(size_t)f->kind_of[device] * (size_t)f->p->n_classes + (size_t) class];
}

static void move_and_record(annealer *s, int32_t class, int32_t to)
{
    s->moved[s->n_moved] = class;
    s->back[s->n_moved++] = s->device_of[class];
    move_class(s, class, to);
}

/* Takes class, and all on its device that lists lead to from it without leaving the device. */
static void move_side(annealer *s, int32_t class, const clv_csr *side, int32_t to)
{
    int32_t from = s->device_of[class];
    int32_t done = 0;
    move_and_record(s, class, to);
    while (done < s->n_moved) {
        int32_t c = s->moved[done++];
        for (int32_t e = side->first[c]; e < side->first[c + 1]; e++) {
            int32_t other = side->at[e];
            if (s->device_of[other] == from && may_run_on(s, other, to))
                move_and_record(s, other, to);
        }
    }
}

/* A device for class: mostly that of a neighbour. */
static int32_t pick_device(annealer *s, int32_t class)
{
    const clv_latency_tables *f = s->tables;
    int32_t dice = pick(s, 16);
    if (dice < 12) {
        const clv_csr *side = dice % 2 ? &f->up : &f->down;
        int32_t n = side->first[class + 1] - side->first[class];
        if (n > 0)
            return s->device_of[side->at[side->first[class] + pick(s, n)]];
    }
    int32_t n = f->n_devices, d = pick(s, n);
    if (dice >= 14)
        return d;
    for (int32_t i = 0; i < n; i++, d = d + 1 < n ? d + 1 : 0) /* an empty one */
        if (!s->count[d])
            return d;
    return pick(s, n);
}

/* Applies a random move. False: there was none. */
static bool move_at_random(annealer *s)
{
    const clv_latency_tables *f = s->tables;
    int32_t class = pick(s, f->p->n_classes), dice = pick(s, 16);
    s->n_moved = 0;
    int32_t to = pick_device(s, class), from = s->device_of[class];
    if (to == from || !may_run_on(s, class, to))
        return false;
    if (dice < 7)
        move_and_record(s, class, to);
    else if (dice < 11)
        move_side(s, class, &f->up, to);
    else if (dice < 15)
        move_side(s, class, &f->down, to);
    else {
        int32_t other = pick(s, f->p->n_classes);
        if (s->device_of[other] != to || !may_run_on(s, other, from))
            return false;
        move_and_record(s, class, to);
        move_and_record(s, other, from);
    }
    return true;
}

/* One round of annealing from the assignment at hand; the best is in kept. O(steps * evaluation).
 */
static clv_status anneal(annealer *s, int32_t steps, double hot, clv_error *err)
{
    size_t n = (size_t)s->tables->p->n_classes;
    s->score = score_of_assignment(s);
    s->kept_score = s->over > OVER_FEE / 2 ? INFINITY : s->score;
    memcpy(s->kept, s->device_of, n * sizeof *s->kept);
    int32_t look = 1 + WORK_A_LOOK / (1 + s->tables->p->n_nodes + s->tables->p->n_edges);
    double temperature = hot * s->scale, cooling = clv_annealing_cooling(COLD / hot, steps);
    for (int32_t i = 0; i < steps; i++, temperature *= cooling) {
        if (i % look == 0 && clv_place_over(s->search))
            break;
        if (!move_at_random(s))
            continue;
        double score = score_of_assignment(s);
        double draw = 1.0 - clv_random_unit(&s->random);
        if (!clv_annealing_takes(score - s->score, temperature, draw)) {
            while (s->n_moved > 0) { /* back, the last one first */
                s->n_moved--;
                move_class(s, s->moved[s->n_moved], s->back[s->n_moved]);
            }
            continue;
        }
        s->score = score;
        if (score < s->kept_score && s->over <= OVER_FEE / 2) {
            s->kept_score = score;
            memcpy(s->kept, s->device_of, n * sizeof *s->kept);
        }
    }
    if (isinf(s->kept_score))
        return CLV_OK;
    return clv_place_offer_groups(s->search, "local search", s->tables->p->class_of, s->kept, err);
}

static clv_status annealer_new(clv_place_search *search, const clv_latency_tables *tables,
                               clv_arena *arena, annealer *s, clv_error *err)
{
    const clv_place_problem *p = tables->p;
    *s = (annealer){ .search = search, .tables = tables };
    CLV_TRY(clv_latency_evaluator_new(tables, arena, &s->evaluator, err));
    s->device_of = CLV_NEW_ARRAY(arena, int32_t, p->n_classes);
    s->bytes = CLV_NEW_ARRAY(arena, int64_t, tables->n_devices);
    s->count = CLV_NEW_ARRAY(arena, int32_t, tables->n_devices);
    s->moved = CLV_NEW_ARRAY(arena, int32_t, p->n_classes);
    s->back = CLV_NEW_ARRAY(arena, int32_t, p->n_classes);
    s->start = CLV_NEW_ARRAY(arena, int32_t, p->n_classes);
    s->kept = CLV_NEW_ARRAY(arena, int32_t, p->n_classes);
    if (!s->device_of || !s->bytes || !s->count || !s->moved || !s->back || !s->start || !s->kept)
        return clv_fail_nomem(err, "a local search");
    return CLV_OK;
}

clv_status clv_latency_anneal(clv_place_search *search, const clv_latency_tables *tables,
                              const clv_anneal_rounds *rounds, clv_arena *arena, clv_error *err)
{
    const clv_place_problem *p = tables->p;
    const int32_t *start = rounds->start;
    if (p->n_classes == 0 || tables->n_devices == 0 ||
        (!start && !clv_place_best_solution(search)) ||
        (int64_t)p->n_nodes * (tables->n_columns + ROW_SPARE) > MOST_LEVELS ||
        clv_place_over(search))
        return CLV_OK;
    annealer s;
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(annealer_new(search, tables, arena, &s, err));
    double steps = WORK_A_ROUND / (p->n_nodes + p->n_edges) * rounds->share;
    steps = fmin(steps, STEPS_A_PAIR * p->n_classes * tables->n_devices);
    steps = fmax(steps, LEAST_STEPS);
    for (int32_t round = 0; round < rounds->rounds && !clv_place_over(search); round++) {
        for (int32_t i = 0; !start && i < p->n_nodes; i++)
            s.start[p->class_of[i]] = clv_place_best_solution(search)[i];
        start_from(&s, start ? start : s.start);
        clv_latency_time time = clv_latency_evaluate(s.evaluator, s.device_of);
        s.scale = fmin(clv_place_best(search), time.latency);
        s.random = search->options->solve.seed + (uint64_t)round + (start ? UINT64_C(1) << 32 : 0);
        if (isinf(s.scale))
            break;
        CLV_TRY(anneal(&s, (int32_t)steps, HOT[round % N_HOT], err));
    }
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
