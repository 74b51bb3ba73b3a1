#include "solver/partition/refine_ilp.h"

#include <math.h>

#include "solver/common/ilp/ilp_solve.h"
#include "solver/partition/window_nets.h"

/* Pairs of groups looked at in one plan. */
#define PAIRS 4
/* Where the branch and bound, and the first relaxation, stop: work, not time, so that the solution
 * is the same on any machine. Programs of this size are done long before. */
#define NODES_MAX  200
#define PIVOTS_MAX 20000
/* A gain below this part is not worth a judgement. */
#define LEAST_GAIN 1e-6
/* Weight of the cut among plans with the same period. */
#define CUT_WEIGHT 1e-4

enum { OUTSIDE_A = -1, OUTSIDE_B = -2, ELSEWHERE = -3 };

typedef struct {
    clv_iterated_search *ls;
    int32_t a, b;
    int32_t unit[CLV_WINDOW]; /* the window */
    bool on_b[CLV_WINDOW];    /* now, and after solving */
    int32_t n;
    int32_t *place;    /* by unit: index in unit[], or -1; kept at -1 between windows */
    clv_net_list nets; /* that touch the window */
    double scale;      /* ns in the incumbent's objective */
    bool is_solved;
    clv_ilp ilp;
} window;

/* -- the window -- */

/* May it be on both sides, as far as rules go? */
static bool may_change_sides(const window *w, int32_t unit)
{
    const clv_rules *r = w->ls->g->p->rules;
    return !r || (clv_groups_n_shifted(w->ls->g, unit) == 1 && clv_rules_allow(r, unit, w->a) &&
                  clv_rules_allow(r, unit, w->b));
}

/* Into the window, from the boundary on: units at an edge of a group, while it has more than one.
 */
static void add_to_window(window *w, clv_edge_kind edge, int32_t from, int32_t to, int32_t most)
{
    clv_groups *g = w->ls->g;
    int32_t first = w->n;
    while (w->n < most && g->n_units[from] > 1) {
        int32_t best = -1;
        for (int32_t u = g->edge[edge].head[from]; u >= 0; u = g->edge[edge].next[u])
            if (w->place[u] < 0 && may_change_sides(w, u) &&
                (best < 0 || (edge == CLV_ENDING ? u > best : u < best)))
                best = u;
        if (best < 0)
            break;
        w->place[best] = w->n;
        w->on_b[w->n] = from == w->b;
        w->unit[w->n++] = best;
        clv_groups_move(g, best, to); /* so that the next ones come to the edge */
    }
    for (int32_t i = w->n - 1; i >= first; i--)
        clv_groups_move(g, w->unit[i], from);
}

/* Index in the window, or where it stays. */
static int32_t place_of(const window *w, int32_t unit)
{
    if (w->place[unit] >= 0)
        return w->place[unit];
    int32_t d = w->ls->g->device_of[unit];
    return d == w->a ? OUTSIDE_A : d == w->b ? OUTSIDE_B : ELSEWHERE;
}

/* -- the program. Columns: x 0..n-1, then y, T last. -- */

static int32_t column_x(int32_t i) { return i; }
static int32_t column_y(const window *w, int32_t i) { return w->n + i; }
static int32_t column_t(const window *w) { return w->n + w->nets.n; }

static void fix_column(window *w, int32_t column, double value)
{
    if (w->ilp.failed)
        return;
    w->ilp.columns[column].lo = value;
    w->ilp.columns[column].hi = value;
}

/* One row of two or three terms: sum >= bound. */
static void add_row(window *w, int n, const int32_t *column, const double *value, double bound)
{
    clv_ilp_add_row(&w->ilp, bound, INFINITY);
    for (int i = 0; i < n; i++)
        clv_ilp_add_term(&w->ilp, column[i], value[i]);
}

/* Reader v of net i, written at place from, which is on a or in the window. */
static void add_reader(window *w, int32_t i, int32_t from, int32_t v)
{
    if (from >= 0 && v >= 0) {
        add_row(w, 2, (int32_t[]){ column_x(v), column_x(from) }, (double[]){ 1, -1 }, 0);
        add_row(w, 3, (int32_t[]){ column_y(w, i), column_x(v), column_x(from) },
                (double[]){ 1, -1, 1 }, 0);
    } else if (from >= 0 && v == OUTSIDE_A) {
        fix_column(w, column_x(from), 0);
    } else if (from >= 0 && v == OUTSIDE_B) {
        add_row(w, 2, (int32_t[]){ column_y(w, i), column_x(from) }, (double[]){ 1, 1 }, 1);
    } else if (from == OUTSIDE_A && v >= 0) {
        add_row(w, 2, (int32_t[]){ column_y(w, i), column_x(v) }, (double[]){ 1, -1 }, 0);
    } else if (from == OUTSIDE_A && v == OUTSIDE_B) {
        fix_column(w, column_y(w, i), 1);
    } else if (from == OUTSIDE_B && v >= 0) {
        fix_column(w, column_x(v), 1);
    }
}

static double x_now(const window *w, int32_t i) { return w->on_b[i] ? 1 : 0; }

/* T - sum of value * x >= what is there without the window: one row for a, one for b. */
static void add_time_rows(window *w)
{
    const clv_groups *g = w->ls->g;
    for (int side = 0; side < 2; side++) {
        int32_t d = side ? w->b : w->a;
        double fixed = (double)g->time_ns[d] / w->scale;
        int32_t row = clv_ilp_add_row(&w->ilp, 0, INFINITY);
        for (int32_t i = 0; i < w->n; i++) {
            double ns = (double)clv_unit_ns(g->p, w->unit[i], d) / w->scale;
            clv_ilp_add_term(&w->ilp, column_x(i), side ? -ns : ns);
            fixed += side ? -ns * x_now(w, i) : ns * x_now(w, i); /* all of a's at x = 0 */
        }
        clv_ilp_add_term(&w->ilp, column_t(w), 1);
        if (!w->ilp.failed)
            w->ilp.rows[row].lo = fixed;
    }
}

static double wire_part(const window *w, int32_t i)
{
    const clv_partition_problem *p = w->ls->g->p;
    return (double)clv_wire_ns(p, w->a, w->b, p->net_bytes[w->nets.at[i]]) / w->scale;
}

static void add_link_row(window *w)
{
    const clv_groups *g = w->ls->g;
    double fixed =
        (double)g->link_ns[(size_t)w->a * (size_t)g->p->n_devices + (size_t)w->b] / w->scale;
    int32_t row = clv_ilp_add_row(&w->ilp, 0, INFINITY);
    for (int32_t i = 0; i < w->nets.n; i++) {
        int32_t net = w->nets.at[i];
        bool crosses = false; /* now */
        if (g->device_of[g->p->net_from[net]] == w->a)
            for (int32_t k = 0; k < g->n_pins[net]; k++)
                crosses |= g->pins[g->pin_first[net] + k].device == w->b;
        clv_ilp_add_term(&w->ilp, column_y(w, i), -wire_part(w, i));
        fixed -= crosses ? wire_part(w, i) : 0;
    }
    clv_ilp_add_term(&w->ilp, column_t(w), 1);
    if (!w->ilp.failed)
        w->ilp.rows[row].lo = fixed;
}

/* Weights of the window on b, in parts of the larger capacity, between what a and b can hold. */
static void add_memory_row(window *w)
{
    const clv_groups *g = w->ls->g;
    const clv_partition_problem *p = g->p;
    double room[2], outside[2], all = 0;
    for (int side = 0; side < 2; side++) {
        int32_t d = side ? w->b : w->a;
        room[side] = (double)p->capacity_bytes[d] - (double)w->ls->reserve_bytes[d];
        outside[side] = (double)g->weight_bytes[d];
    }
    double scale = room[0] > room[1] ? room[0] : room[1];
    if (scale <= 0)
        scale = 1;
    for (int32_t i = 0; i < w->n; i++) {
        double bytes = (double)p->weight_bytes[w->unit[i]];
        all += bytes;
        outside[w->on_b[i]] -= bytes;
    }
    /* on b: at most room[1] - outside[1]; on a: all - on b <= room[0] - outside[0] */
    double most = (room[1] - outside[1]) / scale, least = (all - room[0] + outside[0]) / scale;
    for (int side = 0; side < 2; side++) {
        clv_ilp_add_row(&w->ilp, side ? -INFINITY : least, side ? most : INFINITY);
        for (int32_t i = 0; i < w->n; i++)
            clv_ilp_add_term(&w->ilp, column_x(i), (double)p->weight_bytes[w->unit[i]] / scale);
    }
}

static void add_columns(window *w)
{
    const clv_partition_problem *p = w->ls->g->p;
    bool latency = w->ls->queue->options->objective == CLV_LATENCY;
    for (int32_t i = 0; i < w->n; i++) {
        int64_t ns = clv_unit_ns(p, w->unit[i], w->b) - clv_unit_ns(p, w->unit[i], w->a);
        clv_ilp_add_column(&w->ilp, (clv_ilp_column){ .hi = 1,
                                                      .cost = latency ? (double)ns / w->scale : 0,
                                                      .whole = true,
                                                      .letter = 'x',
                                                      .a = i,
                                                      .b = -1 });
    }
    for (int32_t i = 0; i < w->nets.n; i++)
        clv_ilp_add_column(
            &w->ilp,
            (clv_ilp_column){ .hi = 1,
                              .cost = latency ? wire_part(w, i) : CUT_WEIGHT * wire_part(w, i),
                              .letter = 'y',
                              .a = i,
                              .b = -1 });
    clv_ilp_add_column(&w->ilp, (clv_ilp_column){ .hi = latency ? INFINITY : 1 - LEAST_GAIN,
                                                  .cost = latency ? 0 : 1,
                                                  .letter = 'T',
                                                  .a = -1,
                                                  .b = -1 });
}

static clv_status solve(window *w, clv_arena *arena, clv_error *err)
{
    clv_ilp_limits limits = { .nodes = NODES_MAX, .pivots = PIVOTS_MAX };
    clv_ilp_result result;
    const clv_partition_problem *p = w->ls->g->p;
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(clv_window_nets(p, w->unit, w->n, arena, &w->nets, err));
    w->ilp = clv_ilp_new(arena);
    add_columns(w);
    for (int32_t i = 0; i < w->nets.n; i++) {
        int32_t net = w->nets.at[i], from = place_of(w, p->net_from[net]);
        for (int32_t r = p->net_first[net]; r < p->net_first[net + 1]; r++)
            add_reader(w, i, from, place_of(w, p->net_to[r]));
    }
    add_time_rows(w);
    add_link_row(w);
    add_memory_row(w);
    CLV_TRY(clv_ilp_solve(&w->ilp, &limits, arena, &result, err));
    w->is_solved = result.values != NULL; /* else no better plan within the cut-off, or too hard */
    for (int32_t i = 0; i < w->n && w->is_solved; i++)
        w->on_b[i] = result.values[column_x(i)] > 0.5;
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}

/* -- pairs -- */

typedef struct {
    int32_t a, b;
    int64_t weight;
} pair;

/* The linked pairs that matter most: for throughput with the busiest member, for latency with the
 * dearest link. */
static int32_t choose_pairs(const clv_iterated_search *ls, pair *pairs)
{
    const clv_groups *g = ls->g;
    bool latency = ls->queue->options->objective == CLV_LATENCY;
    int32_t n = 0, n_devices = g->p->n_devices;
    for (int32_t a = 0; a < n_devices; a++) {
        for (int32_t b = 0; b < n_devices; b++) {
            size_t link = (size_t)a * (size_t)n_devices + (size_t)b;
            if (g->link_nets[link] == 0)
                continue;
            int64_t weight = g->link_ns[link];
            if (!latency && g->time_ns[a] > weight)
                weight = g->time_ns[a];
            if (!latency && g->time_ns[b] > weight)
                weight = g->time_ns[b];
            int32_t at = n < PAIRS ? n++ : PAIRS;
            for (; at > 0 && weight > pairs[at - 1].weight; at--)
                if (at < PAIRS)
                    pairs[at] = pairs[at - 1];
            if (at < PAIRS)
                pairs[at] = (pair){ a, b, weight };
        }
    }
    return n;
}

/* Moves the window as solved; a proposal if legal and better by the exact estimate. */
static clv_status propose(window *w, const int32_t *plan, const clv_score *now, clv_error *err)
{
    clv_groups *g = w->ls->g;
    for (int32_t i = 0; i < w->n; i++)
        clv_groups_move(g, w->unit[i], w->on_b[i] ? w->b : w->a);
    bool keeps = !w->ls->moves.keep_groups || (g->n_units[w->a] > 0 && g->n_units[w->b] > 0);
    if (keeps && clv_groups_is_legal_at(g, w->a) && clv_groups_is_legal_at(g, w->b)) {
        clv_score score = clv_iterated_search_score(w->ls, g->device_of);
        const char *label = clv_arena_printf(w->ls->queue->arena,
                                             "exact boundary of devices %d and %d", w->a, w->b);
        if (!label)
            return clv_fail_nomem(err, "a plan");
        if (clv_score_less(&score, now))
            CLV_TRY(clv_candidates_add(w->ls->queue, g->device_of, 0, label, NULL, err));
    }
    clv_groups_load(g, plan);
    return CLV_OK;
}

static clv_status refine_pair(window *w, const int32_t *plan, const clv_score *now,
                              clv_arena *arena, clv_error *err)
{
    w->n = 0;
    w->is_solved = false;
    add_to_window(w, CLV_ENDING, w->a, w->b, CLV_WINDOW / 2);
    add_to_window(w, CLV_STARTING, w->b, w->a, CLV_WINDOW);
    clv_status status = w->n > 0 ? solve(w, arena, err) : CLV_OK;
    for (int32_t i = 0; i < w->n; i++)
        w->place[w->unit[i]] = -1;
    CLV_TRY(status);
    return w->is_solved ? propose(w, plan, now, err) : CLV_OK;
}

clv_status clv_refine_ilp(clv_iterated_search *ls, clv_arena *arena, clv_error *err)
{
    window w = { .ls = ls };
    pair pairs[PAIRS] = { 0 };
    const clv_partition_problem *p = ls->queue->p;
    const int32_t *plan = ls->queue->tried[ls->queue->best].device_of;
    if (!clv_ilp_solver())
        return CLV_OK;
    w.place = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    if (!w.place)
        return clv_fail_nomem(err, "a window of units");
    for (int32_t u = 0; u < p->n_units; u++)
        w.place[u] = -1;
    clv_score now = clv_iterated_search_score(ls, plan);
    w.scale = now.first > 0 ? now.first : 1;
    int32_t n = choose_pairs(ls, pairs);
    for (int32_t i = 0; i < n; i++) {
        w.a = pairs[i].a;
        w.b = pairs[i].b;
        CLV_TRY(refine_pair(&w, plan, &now, arena, err));
    }
    return CLV_OK;
}
