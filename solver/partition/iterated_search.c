#include "solver/partition/iterated_search.h"

#include <stdlib.h>
#include <string.h>

/* Steps (3 to 6 ns each) for all scoring of a search: some tenths of a second at most. */
#define WORK_TOTAL INT64_C(10000000)
/* All descents from one plan may use this part of it. */
#define WORK_OF_PLAN (WORK_TOTAL / 4)
/* Moves looked at in one plan; more than that only on very wide graphs. */
#define MOVES_MAX 2048
/* Scored a second time with the exact estimate, which costs O(units). */
#define EXACT_MAX 64
/* Up to so many devices, the moves of all are listed when a port is the busiest. */
#define FEW_DEVICES 16
/* Units and pins up to which each step of a descent uses the exact estimate. */
#define EXACT_DESCENT 1000
/* Perturbations of a local optimum by one move. */
#define KICKS 24
/* Then by several moves at once. */
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

clv_status clv_iterated_search_new(clv_candidate_queue *queue, clv_arena *arena,
                                   clv_iterated_search *ret, clv_error *err)
{
    const clv_partition_problem *p = queue->p;
    *ret = (clv_iterated_search){ .queue = queue, .work = WORK_TOTAL, .goal_plan = -1 };
    ret->n_pins = p->n_nets > 0 ? p->net_first[p->n_nets] : 0;
    ret->reserve_bytes = CLV_NEW_ARRAY(arena, int64_t, p->n_devices);
    ret->base = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    if (!ret->reserve_bytes || !ret->base)
        return clv_fail_nomem(err, "the groups of a search");
    CLV_TRY(clv_groups_new(p, arena, &ret->g, err));
    CLV_TRY(clv_latency_estimate_new(p, arena, &ret->latency, err));
    return clv_moves_new(ret->g, queue->options->use_all_devices, arena, &ret->moves, err);
}

void clv_iterated_search_learn_reserve(clv_iterated_search *ls, const clv_candidate *plan)
{
    const clv_partition_problem *p = ls->queue->p;
    int32_t d = plan->verdict.device;
    if (plan->verdict.outcome != CLV_OOM || d < 0 || d >= p->n_devices)
        return;
    int64_t weights = 0;
    for (int32_t u = 0; u < p->n_units; u++)
        weights += plan->device_of[u] == d ? p->weight_bytes[u] : 0;
    int64_t short_bytes =
        plan->verdict.short_bytes > CLV_SUM_MAX ? CLV_SUM_MAX : plan->verdict.short_bytes;
    ls->reserve_bytes[d] = p->capacity_bytes[d] - weights + short_bytes;
}

/* -- scores -- */

static double over_bytes(const clv_iterated_search *ls, int32_t d)
{
    const clv_groups *g = ls->g;
    if (g->n_units[d] == 0)
        return 0;
    double over = (double)g->weight_bytes[d] - (double)g->p->capacity_bytes[d];
    if (!ls->weights_only)
        over += (double)ls->reserve_bytes[d];
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

/* Of the groups as they are, with their latency. */
static clv_score score_with(clv_iterated_search *ls, int64_t latency_ns)
{
    const clv_groups *g = ls->g;
    double period = (double)clv_groups_period_ns(g), latency = (double)latency_ns, over = 0;
    /* Descents among few devices are long enough with a step for each pair of them, which leaves
     * work for descents from more plans; among many, that would end them after some moves. */
    int64_t n = g->p->n_devices;
    ls->work -= (n <= FEW_DEVICES ? n * n : n + clv_n_ports(g->p)) + 16;
    for (int32_t d = 0; d < g->p->n_devices; d++)
        over += over_bytes(ls, d);
    if (ls->queue->options->objective == CLV_LATENCY)
        return (clv_score){ over, latency, period, unevenness(g) };
    return (clv_score){ over, period, unevenness(g), latency };
}

/* Of the groups as they are. With exact, the latency is the estimate's, else that of a chain. */
static clv_score score_now(clv_iterated_search *ls, bool exact)
{
    if (!exact)
        return score_with(ls, clv_groups_serial_ns(ls->g));
    ls->work -= ls->g->p->n_units + ls->n_pins;
    return score_with(ls, clv_latency_estimate_whole(&ls->latency, ls->g->device_of));
}

clv_score clv_iterated_search_score(clv_iterated_search *ls, const int32_t *device_of)
{
    clv_groups_load(ls->g, device_of);
    return score_now(ls, true);
}

/* Before moves from the groups as they are get their exact scores. */
static void estimate_whole(clv_iterated_search *ls)
{
    clv_latency_estimate_whole(&ls->latency, ls->g->device_of);
}

static clv_score score_move_exactly(clv_iterated_search *ls, const clv_move *move)
{
    int32_t first = clv_groups_first_shifted(ls->g, move->unit);
    ls->work -= ls->g->p->n_units + ls->n_pins;
    return score_with(ls, clv_latency_estimate_changed(&ls->latency, ls->g->device_of, first));
}

static clv_score score_move(clv_iterated_search *ls, const clv_move *move, bool exact)
{
    clv_groups_shift(ls->g, move->unit, move->to);
    clv_score score = exact ? score_move_exactly(ls, move) : score_now(ls, false);
    clv_groups_shift(ls->g, move->unit, move->from);
    return score;
}

/* -- which groups to take units from -- */

static int32_t device_most_over(const clv_iterated_search *ls)
{
    int32_t worst = -1;
    double most = 0;
    for (int32_t d = 0; d < ls->g->p->n_devices; d++) {
        if (over_bytes(ls, d) > most) {
            most = over_bytes(ls, d);
            worst = d;
        }
    }
    return worst;
}

static int32_t busiest_device(const clv_groups *g)
{
    int32_t worst = 0;
    for (int32_t d = 1; d < g->p->n_devices; d++)
        if (g->time_ns[d] > g->time_ns[worst])
            worst = d;
    return worst;
}

/* Lists and scores the moves of the group that is worst off. Where a latency or a port is to be
 * improved no single group is, so those of all groups; among many devices, those of the one that
 * sends most through the port. */
static clv_status list_moves(clv_iterated_search *ls, bool all, bool exact, clv_error *err)
{
    const clv_groups *g = ls->g;
    int32_t focus = device_most_over(ls);
    ls->n_scored = 0;
    if (focus < 0 && ls->queue->options->objective == CLV_THROUGHPUT)
        focus = g->time_ns[busiest_device(g)] == clv_groups_period_ns(g) ? busiest_device(g)
                : g->p->n_devices > FEW_DEVICES ? clv_groups_busiest_sender(g)
                                                : -1;
    if (exact)
        estimate_whole(ls);
    int32_t share = all || focus < 0 ? MOVES_MAX / g->p->n_devices + 1 : MOVES_MAX;
    for (int32_t d = 0; d < g->p->n_devices; d++) {
        if (focus >= 0 && d != focus && !all)
            continue;
        CLV_TRY(clv_moves_all(&ls->moves, d, share, err));
        ls->work -= ls->moves.n * (int64_t)16;
        for (int32_t i = 0; i < ls->moves.n && ls->work > 0; i++) {
            clv_scored s = { .move = ls->moves.at[i],
                             .score = score_move(ls, &ls->moves.at[i], exact) };
            if (!CLV_PUSH_ROOM(ls->moves.arena, ls->scored, ls->n_scored, ls->cap_scored))
                return clv_fail_nomem(err, "the moves of a search");
            ls->scored[ls->n_scored++] = s;
        }
    }
    if (ls->n_scored > 0)
        qsort(ls->scored, (size_t)ls->n_scored, sizeof *ls->scored, by_score);
    return CLV_OK;
}

/* -- iterated local search -- */

/* The groups as they are go to the queue, n moves from a plan that was there. */
static clv_status enqueue(clv_iterated_search *ls, const clv_move *move, int32_t n, int32_t *added,
                          clv_error *err)
{
    clv_arena *arena = ls->queue->arena;
    if (clv_candidates_find(ls->queue, ls->g->device_of, 0) >= 0)
        return CLV_OK;
    const char *label =
        n > 1 ? clv_arena_printf(arena, "unit %d: device %d to %d (%s), and %d more moves",
                                 move->unit, move->from, move->to, clv_move_name(move->kind), n - 1)
              : clv_arena_printf(arena, "unit %d: device %d to %d (%s)", move->unit, move->from,
                                 move->to, clv_move_name(move->kind));
    if (!label)
        return clv_fail_nomem(err, "a plan");
    bool is_new;
    CLV_TRY(clv_candidates_add(ls->queue, ls->g->device_of, 0, label, &is_new, err));
    *added += is_new;
    return CLV_OK;
}

/* The exact estimate for the most promising, and order by it. */
static void score_exactly(clv_iterated_search *ls)
{
    int32_t n = ls->n_scored < EXACT_MAX ? ls->n_scored : EXACT_MAX;
    if (n > 0)
        estimate_whole(ls);
    for (int32_t i = 0; i < n && ls->work > 0; i++)
        ls->scored[i].score = score_move(ls, &ls->scored[i].move, true);
    if (n > 0)
        qsort(ls->scored, (size_t)n, sizeof *ls->scored, by_score);
    ls->n_scored = n;
}

/* Lower by what a verdict will say: evenness only guides descents. */
static bool is_lower(const clv_iterated_search *ls, const clv_score *a, const clv_score *b)
{
    bool latency = ls->queue->options->objective == CLV_LATENCY;
    int d = compare(a->over_bytes, b->over_bytes);
    d = d ? d : compare(a->first, b->first);
    return (d ? d : latency ? compare(a->second, b->second) : compare(a->third, b->third)) < 0;
}

/* The moves made since a plan. */
typedef struct {
    clv_move first;
    int32_t n;
} trail;

/* A local optimum, and how far the search may go from it. */
typedef struct {
    trail trail; /* to it */
    clv_score score;
    int64_t stop_at; /* work left at which the search ends */
} optimum;

static void make_move(clv_iterated_search *ls, const clv_move *move, trail *t)
{
    if (t->n++ == 0)
        t->first = *move;
    clv_groups_shift(ls->g, move->unit, move->to);
}

/* What a proposal made from plan has to beat: the best plan that fits, else plan itself. */
static void set_goal(clv_iterated_search *ls, int32_t plan, bool weights_only)
{
    if (ls->weights_only != weights_only)
        ls->goal_plan = -1;
    ls->weights_only = weights_only;
    int32_t goal = clv_candidates_has_fit(ls->queue) ? ls->queue->best : plan;
    if (goal != ls->goal_plan)
        ls->goal = clv_iterated_search_score(ls, ls->queue->tried[goal].device_of);
    ls->goal_plan = clv_candidates_has_fit(ls->queue) ? goal : -1;
}

/* Steepest descent of the groups as they are, until no move is better or the work is used up. */
static clv_status descend(clv_iterated_search *ls, int64_t stop_at, trail *t, clv_error *err)
{
    bool exact = ls->g->p->n_units + ls->n_pins <= EXACT_DESCENT;
    clv_score here = score_now(ls, exact);
    while (ls->work > 0 && ls->work > stop_at) {
        CLV_TRY(list_moves(ls, false, exact, err));
        if (ls->n_scored == 0 || !clv_score_less(&ls->scored[0].score, &here))
            return CLV_OK;
        here = ls->scored[0].score;
        make_move(ls, &ls->scored[0].move, t);
    }
    return CLV_OK;
}

/* Single moves, best first; only those that are better than the goal, or all. */
static clv_status add_moves(clv_iterated_search *ls, bool all, int32_t room, int32_t *added,
                            clv_error *err)
{
    for (int32_t i = 0; i < ls->n_scored && *added < room && !clv_candidates_is_over(ls->queue);
         i++) {
        const clv_move *move = &ls->scored[i].move;
        if (!all && !is_lower(ls, &ls->scored[i].score, &ls->goal))
            continue;
        clv_groups_shift(ls->g, move->unit, move->to);
        clv_status status = enqueue(ls, move, 1, added, err);
        clv_groups_shift(ls->g, move->unit, move->from);
        CLV_TRY(status);
    }
    return CLV_OK;
}

/* Descends from where the perturbed groups are now. If that ends lower, it is the optimum, and
 * *ret_lower set; otherwise the groups are those of the optimum again. */
static clv_status descend_or_return(clv_iterated_search *ls, trail perturbed, optimum *o,
                                    bool *ret_lower, clv_error *err)
{
    CLV_TRY(descend(ls, o->stop_at, &perturbed, err));
    clv_score score = score_now(ls, true);
    *ret_lower = is_lower(ls, &score, &o->score);
    if (*ret_lower) {
        o->score = score;
        o->trail = perturbed;
        return CLV_OK;
    }
    clv_groups_load(ls->g, ls->base);
    ls->work -= ls->g->p->n_units + ls->n_pins;
    return CLV_OK;
}

/* Perturbation by one move uphill, the least first, then a descent. */
static clv_status kick(clv_iterated_search *ls, optimum *o, bool *ret_lower, clv_error *err)
{
    clv_move first[KICKS];
    CLV_TRY(list_moves(ls, true, false, err));
    score_exactly(ls);
    int32_t n = ls->n_scored < KICKS ? ls->n_scored : KICKS;
    for (int32_t i = 0; i < n; i++)
        first[i] = ls->scored[i].move;
    for (int32_t i = 0; i < n && ls->work > o->stop_at && !*ret_lower; i++) {
        trail perturbed = o->trail;
        make_move(ls, &first[i], &perturbed);
        CLV_TRY(descend_or_return(ls, perturbed, o, ret_lower, err));
    }
    return CLV_OK;
}

/* The same with a few moves at once, drawn by a generator with a fixed seed. */
static clv_status jump(clv_iterated_search *ls, optimum *o, bool *ret_lower, clv_error *err)
{
    uint64_t draw = 1;
    for (int32_t i = 0; i < JUMPS && ls->work > o->stop_at && !*ret_lower; i++) {
        trail perturbed = o->trail;
        for (int32_t m = 0; m < 2 + i % 3; m++) {
            CLV_TRY(list_moves(ls, true, false, err));
            if (ls->n_scored == 0)
                break;
            draw = draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            make_move(ls, &ls->scored[(draw >> 33) % (uint64_t)ls->n_scored].move, &perturbed);
        }
        CLV_TRY(descend_or_return(ls, perturbed, o, ret_lower, err));
    }
    return CLV_OK;
}

/* The lowest optimum that iterated local search reaches from the groups as they are goes to the
 * queue. */
static clv_status add_optimum(clv_iterated_search *ls, int32_t *added, clv_error *err)
{
    size_t bytes = (size_t)ls->g->p->n_units * sizeof *ls->base;
    optimum o = { .stop_at = ls->work > WORK_OF_PLAN ? ls->work - WORK_OF_PLAN : 0 };
    CLV_TRY(descend(ls, o.stop_at, &o.trail, err));
    o.score = score_now(ls, true);
    for (bool lower = true; lower && ls->work > o.stop_at;) {
        lower = false;
        if (bytes > 0)
            memcpy(ls->base, ls->g->device_of, bytes);
        CLV_TRY(kick(ls, &o, &lower, err));
        if (!lower)
            CLV_TRY(jump(ls, &o, &lower, err));
    }
    if (o.trail.n == 0 || !is_lower(ls, &o.score, &ls->goal))
        return CLV_OK;
    return enqueue(ls, &o.trail.first, o.trail.n, added, err);
}

clv_status clv_iterated_search_expand(clv_iterated_search *ls, int32_t plan, int32_t room,
                                      int32_t *ret_added, clv_error *err)
{
    const clv_candidate from = ls->queue->tried[plan];
    *ret_added = 0;
    if (ls->work <= 0)
        return CLV_OK;
    ls->work -= ls->g->p->n_units + ls->n_pins;
    clv_iterated_search_learn_reserve(ls, &from);
    set_goal(ls, plan, false);
    clv_groups_load(ls->g, from.device_of);
    CLV_TRY(add_optimum(ls, ret_added, err));
    if (*ret_added > 0)
        return CLV_OK;
    set_goal(ls, plan, from.verdict.outcome == CLV_FITS);
    clv_groups_load(ls->g, from.device_of);
    CLV_TRY(list_moves(ls, from.verdict.outcome == CLV_FITS, false, err));
    score_exactly(ls);
    return add_moves(ls, false, room, ret_added, err);
}

clv_status clv_iterated_search_neighbours(clv_iterated_search *ls, int32_t plan, int32_t room,
                                          int32_t *ret_added, clv_error *err)
{
    int64_t work = ls->work; /* limited by the plans that may be judged */
    *ret_added = 0;
    ls->work = WORK_OF_PLAN;
    clv_groups_load(ls->g, ls->queue->tried[plan].device_of);
    clv_status status = list_moves(ls, true, false, err);
    if (status == CLV_OK) {
        score_exactly(ls);
        status = add_moves(ls, true, room, ret_added, err);
    }
    ls->work = work;
    return status;
}

clv_status clv_iterated_search_from(clv_iterated_search *ls, const int32_t *device_of,
                                    clv_error *err)
{
    int32_t added = 0;
    if (ls->work <= 0 || ls->queue->best < 0)
        return CLV_OK;
    set_goal(ls, ls->queue->best, false);
    clv_groups_load(ls->g, device_of);
    return add_optimum(ls, &added, err);
}
