/* improve.c - neighbours and walks, cheapest judgement first. */
#include "solver/partition/improve.h"

#include <stdlib.h>
#include <string.h>

#include "problem/estimate.h"

/* Steps (3 to 6 ns each) for all scoring of a search: some tenths of a second at most. */
#define WORK_TOTAL INT64_C(10000000)
/* All walks from one plan may use this part of it. */
#define WORK_OF_PLAN (WORK_TOTAL / 4)
/* Moves looked at in one plan; more than that only on very wide graphs. */
#define MOVES_MAX 2048
/* Scored a second time with the exact estimate, which costs O(units). */
#define EXACT_MAX 64
/* So many devices can all be looked at for the sake of one port. */
#define FEW_DEVICES 16
/* Units and pins up to which each step of a walk uses the exact estimate. */
#define EXACT_WALK 1000
/* Walks from a plan that has no better neighbour. */
#define KICKS 24
/* Then walks that begin with several moves at once. */
#define JUMPS 32

static int compare(double a, double b) { return (a > b) - (a < b); }

static int compare_scores(const clv_score *a, const clv_score *b)
{
    int d = compare(a->over_bytes, b->over_bytes);
    d = d ? d : compare(a->first, b->first);
    d = d ? d : compare(a->second, b->second);
    return d ? d : compare(a->third, b->third);
}

bool clv_score_less(const clv_score *a, const clv_score *b) { return compare_scores(a, b) < 0; }

static int by_score(const void *a, const void *b)
{
    const clv_scored *x = a, *y = b;
    int d = compare_scores(&x->score, &y->score);
    if (d)
        return d;
    if (x->move.unit != y->move.unit)
        return x->move.unit < y->move.unit ? -1 : 1;
    return (x->move.to > y->move.to) - (x->move.to < y->move.to);
}

clv_status clv_improver_new(clv_desk *desk, clv_arena *arena, clv_improver *ret, clv_error *err)
{
    const clv_partition_problem *p = desk->p;
    *ret = (clv_improver){ .desk = desk, .work = WORK_TOTAL, .goal_plan = -1 };
    ret->n_pins = p->n_nets > 0 ? p->net_first[p->n_nets] : 0;
    ret->reserve_bytes = CLV_NEW_ARRAY(arena, int64_t, p->n_devices);
    ret->base = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    if (!ret->reserve_bytes || !ret->base)
        return clv_fail_nomem(err, "the groups of a search");
    CLV_TRY(clv_groups_new(p, arena, &ret->g, err));
    return clv_moves_new(ret->g, desk->options->use_all_devices, arena, &ret->moves, err);
}

void clv_improver_learn(clv_improver *im, const clv_tried *plan)
{
    const clv_partition_problem *p = im->desk->p;
    int32_t d = plan->verdict.device;
    if (plan->verdict.outcome != CLV_OOM || d < 0 || d >= p->n_devices)
        return;
    int64_t weights = 0;
    for (int32_t u = 0; u < p->n_units; u++)
        weights += plan->device_of[u] == d ? p->weight_bytes[u] : 0;
    int64_t short_bytes =
        plan->verdict.short_bytes > CLV_SUM_MAX ? CLV_SUM_MAX : plan->verdict.short_bytes;
    im->reserve_bytes[d] = p->capacity_bytes[d] - weights + short_bytes;
}

/* -- scores -- */

static double over_bytes(const clv_improver *im, int32_t d)
{
    const clv_groups *g = im->g;
    if (g->n_units[d] == 0)
        return 0;
    double over = (double)g->weight_bytes[d] - (double)g->p->capacity_bytes[d];
    if (!im->daring)
        over += (double)im->reserve_bytes[d];
    return over > 0 ? over : 0;
}

/* Busy times squared: falls when a load moves from a busier device to a less busy one, also where
 * another one remains the busiest. */
static double unevenness(const clv_groups *g)
{
    double sum = 0;
    for (int32_t d = 0; d < g->p->n_devices; d++)
        sum += (double)g->time_ns[d] * (double)g->time_ns[d];
    return sum;
}

/* Walks among few devices are long enough with a step for each pair of them, which leaves work for
 * walks from more plans; among many, that would end them after some moves. */
static int64_t steps_of_score(const clv_partition_problem *p)
{
    int64_t d = p->n_devices;
    return (d <= FEW_DEVICES ? d * d : d + clv_n_ports(p)) + 16;
}

/* Of the groups as they are. With exact, the latency is the estimate's, else that of a chain. */
static clv_status score_now(clv_improver *im, bool exact, clv_score *ret, clv_error *err)
{
    const clv_groups *g = im->g;
    double period = (double)clv_groups_period_ns(g), latency = 0, over = 0;
    im->work -= steps_of_score(g->p);
    if (exact) {
        clv_estimate e;
        CLV_TRY(clv_partition_estimate(g->p, g->device_of, im->moves.arena, &e, err));
        latency = (double)e.latency_bound_ns;
        im->work -= g->p->n_units + im->n_pins;
    } else {
        latency = (double)clv_groups_serial_ns(g);
    }
    for (int32_t d = 0; d < g->p->n_devices; d++)
        over += over_bytes(im, d);
    if (im->desk->options->objective == CLV_LATENCY)
        *ret = (clv_score){ over, latency, period, unevenness(g) };
    else
        *ret = (clv_score){ over, period, unevenness(g), latency };
    return CLV_OK;
}

clv_status clv_improver_score(clv_improver *im, const int32_t *device_of, clv_score *ret,
                              clv_error *err)
{
    clv_groups_load(im->g, device_of);
    return score_now(im, true, ret, err);
}

static clv_status score_move(clv_improver *im, const clv_move *move, bool exact, clv_score *ret,
                             clv_error *err)
{
    clv_groups_shift(im->g, move->unit, move->to);
    clv_status status = score_now(im, exact, ret, err);
    clv_groups_shift(im->g, move->unit, move->from);
    return status;
}

static clv_status push_scored(clv_improver *im, bool exact, clv_error *err)
{
    for (int32_t i = 0; i < im->moves.n && im->work > 0; i++) {
        clv_scored s = { .move = im->moves.at[i] };
        CLV_TRY(score_move(im, &s.move, exact, &s.score, err));
        if (!CLV_PUSH_ROOM(im->moves.arena, im->scored, im->n_scored, im->cap_scored))
            return clv_fail_nomem(err, "the moves of a search");
        im->scored[im->n_scored++] = s;
    }
    return CLV_OK;
}

/* -- which groups to take units from -- */

static int32_t fullest(const clv_improver *im)
{
    int32_t worst = -1;
    double most = 0;
    for (int32_t d = 0; d < im->g->p->n_devices; d++) {
        if (over_bytes(im, d) > most) {
            most = over_bytes(im, d);
            worst = d;
        }
    }
    return worst;
}

static int32_t busiest(const clv_groups *g)
{
    int32_t worst = 0;
    for (int32_t d = 1; d < g->p->n_devices; d++)
        if (g->time_ns[d] > g->time_ns[worst])
            worst = d;
    return worst;
}

/* Moves of the group that is worst off; of all groups where a latency, or a port, is to be
 * improved, for which no single group is to blame. Among many devices, a port is first looked at
 * where most of its time comes from. */
static clv_status gather(clv_improver *im, bool all, bool exact, clv_error *err)
{
    const clv_groups *g = im->g;
    int32_t focus = fullest(im);
    im->n_scored = 0;
    if (focus < 0 && im->desk->options->objective == CLV_THROUGHPUT)
        focus = g->time_ns[busiest(g)] == clv_groups_period_ns(g) ? busiest(g)
                : g->p->n_devices > FEW_DEVICES                   ? clv_groups_busiest_sender(g)
                                                                  : -1;
    int32_t share = all || focus < 0 ? MOVES_MAX / g->p->n_devices + 1 : MOVES_MAX;
    for (int32_t d = 0; d < g->p->n_devices; d++) {
        if (focus >= 0 && d != focus && !all)
            continue;
        CLV_TRY(clv_moves_all(&im->moves, d, share, err));
        im->work -= im->moves.n * (int64_t)16;
        CLV_TRY(push_scored(im, exact, err));
    }
    if (im->n_scored > 0)
        qsort(im->scored, (size_t)im->n_scored, sizeof *im->scored, by_score);
    return CLV_OK;
}

/* -- walks -- */

static const char *move_label(clv_improver *im, const clv_move *move, int32_t n)
{
    clv_arena *arena = im->desk->arena;
    if (n > 1)
        return clv_arena_printf(arena, "unit %d: device %d to %d (%s), and %d more moves",
                                move->unit, move->from, move->to, clv_move_name(move->kind), n - 1);
    return clv_arena_printf(arena, "unit %d: device %d to %d (%s)", move->unit, move->from,
                            move->to, clv_move_name(move->kind));
}

static clv_status submit(clv_improver *im, const clv_move *move, int32_t n, int32_t *added,
                         clv_error *err)
{
    if (clv_desk_find(im->desk, im->g->device_of, 0) >= 0)
        return CLV_OK;
    const char *label = move_label(im, move, n);
    if (!label)
        return clv_fail_nomem(err, "a plan");
    bool is_new;
    CLV_TRY(clv_desk_add(im->desk, im->g->device_of, 0, label, &is_new, err));
    *added += is_new;
    return CLV_OK;
}

/* The exact estimate for the most promising, and order by it. */
static clv_status score_exactly(clv_improver *im, clv_error *err)
{
    int32_t n = im->n_scored < EXACT_MAX ? im->n_scored : EXACT_MAX;
    for (int32_t i = 0; i < n && im->work > 0; i++)
        CLV_TRY(score_move(im, &im->scored[i].move, true, &im->scored[i].score, err));
    if (n > 0)
        qsort(im->scored, (size_t)n, sizeof *im->scored, by_score);
    im->n_scored = n;
    return CLV_OK;
}

/* Lower by what a verdict will say: evenness only guides walks. */
static bool is_lower(const clv_improver *im, const clv_score *a, const clv_score *b)
{
    bool latency = im->desk->options->objective == CLV_LATENCY;
    int d = compare(a->over_bytes, b->over_bytes);
    d = d ? d : compare(a->first, b->first);
    return (d ? d : latency ? compare(a->second, b->second) : compare(a->third, b->third)) < 0;
}

/* The moves made since a plan. */
typedef struct {
    clv_move first;
    int32_t n;
} trail;

static void take(clv_improver *im, const clv_move *move, trail *t)
{
    if (t->n++ == 0)
        t->first = *move;
    clv_groups_shift(im->g, move->unit, move->to);
}

static void remember(clv_improver *im)
{
    if (im->g->p->n_units > 0)
        memcpy(im->base, im->g->device_of, (size_t)im->g->p->n_units * sizeof *im->base);
}

/* What a proposal made from plan has to beat: the best plan that fits, else plan itself. */
static clv_status set_goal(clv_improver *im, int32_t plan, bool daring, clv_error *err)
{
    if (im->daring != daring)
        im->goal_plan = -1;
    im->daring = daring;
    int32_t goal = clv_desk_fits(im->desk) ? im->desk->best : plan;
    if (goal != im->goal_plan)
        CLV_TRY(clv_improver_score(im, im->desk->tried[goal].device_of, &im->goal, err));
    im->goal_plan = clv_desk_fits(im->desk) ? goal : -1;
    return CLV_OK;
}

/* A walk on the groups as they are: downhill until no move is better or the work is used up. */
static clv_status descend(clv_improver *im, int64_t stop_at, trail *t, clv_error *err)
{
    bool exact = im->g->p->n_units + im->n_pins <= EXACT_WALK;
    clv_score here;
    CLV_TRY(score_now(im, exact, &here, err));
    while (im->work > 0 && im->work > stop_at) {
        CLV_TRY(gather(im, false, exact, err));
        if (im->n_scored == 0 || !clv_score_less(&im->scored[0].score, &here))
            return CLV_OK;
        here = im->scored[0].score;
        take(im, &im->scored[0].move, t);
    }
    return CLV_OK;
}

/* Single moves, best first. */
static clv_status add_moves(clv_improver *im, int32_t room, int32_t *added, clv_error *err)
{
    for (int32_t i = 0; i < im->n_scored && *added < room && !clv_desk_over(im->desk); i++) {
        const clv_move *move = &im->scored[i].move;
        if (!is_lower(im, &im->scored[i].score, &im->goal))
            continue;
        clv_groups_shift(im->g, move->unit, move->to);
        clv_status status = submit(im, move, 1, added, err);
        clv_groups_shift(im->g, move->unit, move->from);
        CLV_TRY(status);
    }
    return CLV_OK;
}

/* Walks on from where the trip is now. If it ends lower, that is kept, and *ret_lower set;
 * otherwise the groups are as remembered. */
static clv_status finish_trip(clv_improver *im, int64_t stop_at, trail trip, clv_score *here,
                              trail *t, bool *ret_lower, clv_error *err)
{
    clv_score there;
    CLV_TRY(descend(im, stop_at, &trip, err));
    CLV_TRY(score_now(im, true, &there, err));
    *ret_lower = is_lower(im, &there, here);
    if (*ret_lower) {
        *here = there;
        *t = trip;
        return CLV_OK;
    }
    clv_groups_load(im->g, im->base);
    im->work -= im->g->p->n_units + im->n_pins;
    return CLV_OK;
}

/* From a local optimum: one move uphill, then a walk. */
static clv_status kick(clv_improver *im, int64_t stop_at, clv_score *here, trail *t,
                       bool *ret_lower, clv_error *err)
{
    clv_move first[KICKS];
    CLV_TRY(gather(im, true, false, err));
    CLV_TRY(score_exactly(im, err));
    int32_t n = im->n_scored < KICKS ? im->n_scored : KICKS;
    for (int32_t i = 0; i < n; i++)
        first[i] = im->scored[i].move;
    for (int32_t i = 0; i < n && im->work > stop_at && !*ret_lower; i++) {
        trail trip = *t;
        take(im, &first[i], &trip);
        CLV_TRY(finish_trip(im, stop_at, trip, here, t, ret_lower, err));
    }
    return CLV_OK;
}

/* The same with a few moves at once, drawn by a generator with a fixed seed. */
static clv_status jump(clv_improver *im, int64_t stop_at, clv_score *here, trail *t,
                       bool *ret_lower, clv_error *err)
{
    uint64_t draw = 1;
    for (int32_t i = 0; i < JUMPS && im->work > stop_at && !*ret_lower; i++) {
        trail trip = *t;
        for (int32_t m = 0; m < 2 + i % 3; m++) {
            CLV_TRY(gather(im, true, false, err));
            if (im->n_scored == 0)
                break;
            draw = draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            take(im, &im->scored[(draw >> 33) % (uint64_t)im->n_scored].move, &trip);
        }
        CLV_TRY(finish_trip(im, stop_at, trip, here, t, ret_lower, err));
    }
    return CLV_OK;
}

/* The lowest point that walks and kicks reach from the groups as they are goes to the desk. */
static clv_status add_walk(clv_improver *im, int32_t *added, clv_error *err)
{
    int64_t stop_at = im->work > WORK_OF_PLAN ? im->work - WORK_OF_PLAN : 0;
    trail t = { 0 };
    clv_score here;
    CLV_TRY(descend(im, stop_at, &t, err));
    CLV_TRY(score_now(im, true, &here, err));
    for (bool lower = true; lower && im->work > stop_at;) {
        lower = false;
        remember(im);
        CLV_TRY(kick(im, stop_at, &here, &t, &lower, err));
        if (!lower)
            CLV_TRY(jump(im, stop_at, &here, &t, &lower, err));
    }
    return t.n > 0 && is_lower(im, &here, &im->goal) ? submit(im, &t.first, t.n, added, err)
                                                     : CLV_OK;
}

clv_status clv_improver_expand(clv_improver *im, int32_t plan, int32_t room, int32_t *ret_added,
                               clv_error *err)
{
    const clv_tried from = im->desk->tried[plan];
    *ret_added = 0;
    if (im->work <= 0)
        return CLV_OK;
    im->work -= im->g->p->n_units + im->n_pins;
    clv_improver_learn(im, &from);
    CLV_TRY(set_goal(im, plan, false, err));
    clv_groups_load(im->g, from.device_of);
    CLV_TRY(add_walk(im, ret_added, err));
    if (*ret_added > 0)
        return CLV_OK;
    CLV_TRY(set_goal(im, plan, from.verdict.outcome == CLV_FITS, err));
    clv_groups_load(im->g, from.device_of);
    CLV_TRY(gather(im, from.verdict.outcome == CLV_FITS, false, err));
    CLV_TRY(score_exactly(im, err));
    return add_moves(im, room, ret_added, err);
}

clv_status clv_improver_start(clv_improver *im, const int32_t *device_of, clv_error *err)
{
    int32_t added = 0;
    if (im->work <= 0 || im->desk->best < 0)
        return CLV_OK;
    CLV_TRY(set_goal(im, im->desk->best, false, err));
    clv_groups_load(im->g, device_of);
    return add_walk(im, &added, err);
}
