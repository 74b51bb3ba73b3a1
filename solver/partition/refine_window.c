#include "solver/partition/refine_window.h"

#include "solver/partition/window_program.h"

/* Windows grow by half up to so many units while none gains, and shrink down to so many. */
#define MOST_UNITS  120
#define LEAST_UNITS 10
/* What a window costs besides its program, as work. */
#define WINDOW_COST 10000
/* Ways to choose the groups of a window: of three, four and five groups two each. */
#define TURNS (2 * (CLV_WINDOW_SIDES - 2))

typedef struct {
    clv_window_program program;
    clv_groups *g;
    int32_t *n_before; /* by device: scratch */
    int32_t *side_to;  /* by unit of the window: where it goes */
    int32_t *was_on;   /* and where it was */
    int32_t turn;
} windows;

/* -- groups -- */

/* Puts the devices in an order in which nothing is read backwards: of those that may come next the
 * first, or the last. O(devices^2). */
static void order_devices(windows *ws, bool last_first)
{
    const clv_groups *g = ws->g;
    int32_t n = g->p->n_devices;
    for (int32_t d = 0; d < n; d++) {
        ws->n_before[d] = 0;
        for (size_t k = 0; k < g->words; k++)
            ws->n_before[d] += __builtin_popcountll(g->in[(size_t)d * g->words + k]);
    }
    for (int32_t at = 0; at < n; at++) {
        int32_t next = -1;
        for (int32_t d = 0; d < n; d++)
            if (ws->n_before[d] == 0 && (next < 0 || last_first))
                next = d;
        ws->program.at[next] = at;
        ws->n_before[next] = -1;
        for (int32_t d = 0; d < n; d++)
            ws->n_before[d] -= clv_bit(g->out + (size_t)next * g->words, d);
    }
}

static void add_side(clv_window_program *w, int32_t device)
{
    int32_t s = w->n_sides++;
    for (; s > 0 && w->at[w->side[s - 1]] > w->at[device]; s--)
        w->side[s] = w->side[s - 1];
    w->side[s] = device;
    for (s = 0; s < w->n_sides; s++)
        w->side_of[w->side[s]] = s;
}

/* The device, linked to the window, that has least to do, or most to send there and back. -1: none.
 */
static int32_t next_side(const windows *ws, bool by_links)
{
    const clv_window_program *w = &ws->program;
    const clv_groups *g = ws->g;
    int32_t n = g->p->n_devices, best = -1;
    int64_t best_ns = 0;
    for (int32_t d = 0; d < n; d++) {
        bool is_linked = false;
        int64_t ns = by_links ? 0 : -g->time_ns[d];
        for (int32_t s = 0; s < w->n_sides && w->side_of[d] < 0; s++) {
            size_t out = (size_t)d * (size_t)n + (size_t)w->side[s];
            size_t in = (size_t)w->side[s] * (size_t)n + (size_t)d;
            is_linked |= g->link_nets[out] > 0 || g->link_nets[in] > 0;
            ns += by_links ? g->link_ns[out] + g->link_ns[in] : 0;
        }
        if (is_linked && (best < 0 || ns > best_ns)) {
            best = d;
            best_ns = ns;
        }
    }
    return best;
}

/* The group with the load that binds, and those that are linked and least busy; in every other turn
 * those with most to send, and devices that do not wait for each other the other way round. */
static void choose_sides(windows *ws)
{
    clv_window_program *w = &ws->program;
    const clv_groups *g = ws->g;
    int32_t n = g->p->n_devices, first = 0, n_sides = 3 + ws->turn / 2;
    order_devices(ws, ws->turn % 2 == 1);
    w->n_sides = 0;
    for (int32_t d = 0; d < n; d++) {
        w->side_of[d] = -1;
        first = g->time_ns[d] > g->time_ns[first] ? d : first;
    }
    add_side(w, g->time_ns[first] >= w->top_ns ? first : clv_groups_busiest_sender(g));
    for (int32_t d = 0; d >= 0 && w->n_sides < n_sides;) {
        d = next_side(ws, ws->turn % 2 == 1);
        if (d >= 0)
            add_side(w, d);
    }
}

/* -- units -- */

/* Into the window, if there is room and it could move as things are. */
static void add_unit(windows *ws, int32_t u, int32_t size)
{
    clv_window_program *w = &ws->program;
    const clv_groups *g = ws->g;
    if (w->n >= size || w->place[u] >= 0 || w->side_of[g->device_of[u]] < 0 ||
        clv_groups_n_shifted(g, u) > 1)
        return;
    w->unit[w->n] = u;
    w->low[w->n] = 0;
    w->high[w->n] = w->n_sides - 1;
    clv_window_narrow_unit(w, w->n);
    if (w->low[w->n] < w->high[w->n])
        w->place[u] = w->n++;
}

/* What can move once those from number first on do, and so on: breadth first. */
static void add_near(windows *ws, int32_t first, int32_t size)
{
    clv_window_program *w = &ws->program;
    const clv_partition_problem *p = ws->g->p;
    for (int32_t i = first; i < w->n && w->n < size; i++) {
        int32_t u = w->unit[i];
        for (int32_t r = p->reads_first[u]; r < p->reads_first[u + 1]; r++)
            add_unit(ws, p->net_from[p->reads[r]], size);
        for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++)
            for (int32_t r = p->net_first[net]; r < p->net_first[net + 1]; r++)
                add_unit(ws, p->net_to[r], size);
    }
}

static bool is_at_boundary(const clv_groups *g, int32_t u)
{
    const clv_partition_problem *p = g->p;
    for (int32_t r = p->reads_first[u]; r < p->reads_first[u + 1]; r++)
        if (g->device_of[p->net_from[p->reads[r]]] != g->device_of[u])
            return true;
    for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++)
        for (int32_t k = 0; k < g->n_pins[net]; k++)
            if (g->pins[g->pin_first[net] + k].device != g->device_of[u])
                return true;
    return false;
}

/* Units at the boundaries of the groups, then what is near them, then any that can move. */
static void choose_units(windows *ws, int32_t size)
{
    clv_window_program *w = &ws->program;
    const clv_partition_problem *p = ws->g->p;
    w->n = 0;
    for (int32_t u = 0; u < p->n_units && w->n < size / 2; u++)
        if (w->side_of[ws->g->device_of[u]] >= 0 && is_at_boundary(ws->g, u))
            add_unit(ws, u, size / 2);
    add_near(ws, 0, size);
    int32_t n = w->n;
    for (int32_t u = 0; u < p->n_units && w->n < size; u++)
        add_unit(ws, u, size);
    add_near(ws, n, size);
    clv_window_narrow(w);
}

/* -- one window -- */

/* Devices and ports with the load that is to be left behind, or more. O(devices + ports). */
static int32_t count_top(const clv_groups *g, int64_t top_ns)
{
    int32_t n = 0;
    for (int32_t d = 0; d < g->p->n_devices; d++)
        n += g->time_ns[d] >= top_ns;
    for (int32_t i = 0; i < clv_n_ports(g->p); i++)
        n += g->port_ns[i] >= top_ns;
    return n;
}

/* After a window moved: is the plan legal, within the user's rules, and with fewer loads at the
 * top? That is what the program says, without the rules on tags and stages, and but for rounding.
 */
static bool is_gain(const windows *ws, int32_t n_top)
{
    const clv_window_program *w = &ws->program;
    clv_groups *g = ws->g;
    bool is_legal = true;
    for (int32_t s = 0; s < w->n_sides; s++)
        is_legal &= clv_groups_is_legal_at(g, w->side[s]);
    for (int32_t i = 0; i < w->n && is_legal; i++)
        is_legal &= clv_groups_meet_rules_at(g, w->unit[i]);
    return is_legal && clv_groups_period_ns(g) <= w->top_ns && count_top(g, w->top_ns) < n_top;
}

/* The window goes to the sides of the solution, and back unless that is a gain. */
static bool move_window(windows *ws)
{
    clv_window_program *w = &ws->program;
    int32_t n_top = count_top(ws->g, w->top_ns);
    for (int32_t i = 0; i < w->n; i++) {
        ws->was_on[i] = ws->g->device_of[w->unit[i]];
        clv_groups_move(ws->g, w->unit[i], w->side[ws->side_to[i]]);
    }
    bool gained = is_gain(ws, n_top);
    for (int32_t i = 0; i < w->n && !gained; i++)
        clv_groups_move(ws->g, w->unit[i], ws->was_on[i]);
    return gained;
}

/* The window of this turn, with so many units. *ret_gained: the groups are a better plan now. */
static clv_status try_window(windows *ws, int32_t size, int64_t *work, bool *ret_gained,
                             bool *ret_limited, clv_error *err)
{
    clv_window_program *w = &ws->program;
    clv_ilp_end end = CLV_ILP_INFEASIBLE;
    clv_status status = CLV_OK;
    choose_sides(ws);
    choose_units(ws, size);
    if (w->n > 0)
        status = clv_window_solve(w, work, ws->side_to, &end, err);
    for (int32_t i = 0; i < w->n; i++)
        w->place[w->unit[i]] = -1;
    *work -= WINDOW_COST;
    *ret_limited = end == CLV_ILP_LIMIT;
    *ret_gained =
        status == CLV_OK && (end == CLV_ILP_OPTIMAL || end == CLV_ILP_FEASIBLE) && move_window(ws);
    return status;
}

/* Fewer than TURNS where there are fewer devices. */
static int32_t n_turns(const windows *ws)
{
    int32_t n = ws->g->p->n_devices;
    return n < 3 ? 1 : n < CLV_WINDOW_SIDES ? 2 * (n - 2) : TURNS;
}

/* Each window in its turn; the one that gains is tried again. */
static clv_status try_turns(windows *ws, int32_t size, int64_t *work, bool *ret_gained,
                            bool *ret_limited, clv_error *err)
{
    *ret_gained = *ret_limited = false;
    ws->program.top_ns = clv_groups_period_ns(ws->g);
    for (int32_t k = 0; k < n_turns(ws) && *work > 0; k++) {
        bool limited;
        CLV_TRY(try_window(ws, size, work, ret_gained, &limited, err));
        *ret_limited |= limited;
        if (*ret_gained)
            return CLV_OK;
        ws->turn = (ws->turn + 1) % n_turns(ws);
    }
    return CLV_OK;
}

/* -- the search -- */

/* Windows of one size until none gains; then larger ones, or smaller where programs were too hard.
 */
static clv_status descend(windows *ws, clv_candidate_queue *queue, int64_t *work, clv_error *err)
{
    int32_t size = CLV_WINDOW_UNITS;
    bool shrinks = false;
    while (*work > 0 && size >= LEAST_UNITS && size <= MOST_UNITS &&
           !clv_candidates_is_over(queue)) {
        bool gained, limited;
        CLV_TRY(try_turns(ws, size, work, &gained, &limited, err));
        shrinks = !gained && (shrinks || limited);
        if (!gained)
            size = shrinks ? size / 2 : size + size / 2;
    }
    return CLV_OK;
}

static clv_status open_windows(windows *ws, clv_iterated_search *ls, clv_arena *arena,
                               clv_error *err)
{
    clv_window_program *w = &ws->program;
    const clv_partition_problem *p = ls->g->p;
    *ws = (windows){ .g = ls->g, .program = { .ls = ls, .arena = arena } };
    w->at = CLV_NEW_ARRAY(arena, int32_t, p->n_devices);
    w->side_of = CLV_NEW_ARRAY(arena, int32_t, p->n_devices);
    w->n_readers = CLV_NEW_ARRAY(arena, int32_t, p->n_devices);
    ws->n_before = CLV_NEW_ARRAY(arena, int32_t, p->n_devices);
    w->low = CLV_NEW_ARRAY(arena, int32_t, MOST_UNITS);
    w->high = CLV_NEW_ARRAY(arena, int32_t, MOST_UNITS);
    w->unit = CLV_NEW_ARRAY(arena, int32_t, MOST_UNITS);
    ws->side_to = CLV_NEW_ARRAY(arena, int32_t, MOST_UNITS);
    ws->was_on = CLV_NEW_ARRAY(arena, int32_t, MOST_UNITS);
    w->place = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    if (!w->at || !w->side_of || !w->n_readers || !ws->n_before || !w->low || !w->high ||
        !w->unit || !ws->side_to || !ws->was_on || !w->place)
        return clv_fail_nomem(err, "a window of units");
    for (int32_t u = 0; u < p->n_units; u++)
        w->place[u] = -1;
    return CLV_OK;
}

clv_status clv_refine_window(clv_iterated_search *ls, clv_arena *arena, int64_t *work,
                             clv_error *err)
{
    windows ws;
    if (!clv_ilp_solver())
        return CLV_OK;
    clv_score now = clv_iterated_search_score(ls, ls->queue->tried[ls->queue->best].device_of);
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(open_windows(&ws, ls, arena, err));
    CLV_TRY(descend(&ws, ls->queue, work, err));
    clv_arena_rewind(arena, mark);
    clv_score then = clv_iterated_search_score(ls, ls->g->device_of);
    if (!clv_score_less(&then, &now))
        return CLV_OK;
    return clv_candidates_add(ls->queue, ls->g->device_of, 0, "exact windows", NULL, err);
}
