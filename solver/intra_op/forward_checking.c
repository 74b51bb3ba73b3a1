#include "solver/intra_op/forward_checking.h"

#include <string.h>

enum { MOST_NODES = 64, MOST_CHOICES = 4096 };
/* Problems of fewer solutions are searched to the end, whatever the work. */
#define FEW_SOLUTIONS (1 << 24)
/* Nodes of the search tree between looks at the clock. */
#define NODES_A_CHECK 1024

typedef struct {
    const clv_intra_op_problem *p;
    const clv_limits *limits;
    const int32_t *first_edge, *edge; /* by node */
    const int64_t *least_entry;       /* by matrix */
    const int64_t *least_usage;       /* by span */
    clv_int128 *cost;    /* by choice: its own, and of edges whose other ends are set */
    clv_int128 *room;    /* by row: what is left when all others hold the least */
    clv_int128 paid;     /* by nodes that are set */
    clv_int128 open;     /* the least entries of edges with several ends not set */
    int32_t *n_unset;    /* by edge */
    int32_t *now, *best; /* by node; now: -1 is not set */
    int32_t n_left;
    clv_int128 below; /* the cost of the best, or the ceiling */
    int64_t work, most_work;
    int64_t n_tree;
    bool found, ended;
} checking;

/* ---- setting and unsetting ---- */

/* The one end that is not set, the entry of its first choice and the step to the next. */
typedef struct {
    int32_t node;
    int64_t at, step;
} open_end;

static open_end find_open_end(const checking *s, int32_t e)
{
    const clv_intra_op_problem *p = s->p;
    open_end r = { .node = -1, .at = 0, .step = 1 };
    for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++) {
        int32_t v = p->end[i], n = clv_intra_op_n_choices(p, v);
        r.at = r.at * n + (s->now[v] < 0 ? 0 : s->now[v]);
        r.step = s->now[v] < 0 ? 1 : r.step * n;
        r.node = s->now[v] < 0 ? v : r.node;
    }
    r.at += p->first_entry[p->matrix_of[e]];
    return r;
}

/* An edge with one end not set is a cost of that end's choices; sign -1 takes it back. */
static void charge_edge(checking *s, int32_t e, int sign)
{
    const clv_intra_op_problem *p = s->p;
    open_end w = find_open_end(s, e);
    int32_t n = clv_intra_op_n_choices(p, w.node);
    clv_int128 *cost = s->cost + p->first_choice[w.node];
    for (int32_t c = 0; c < n; c++)
        cost[c] += sign * (clv_int128)p->entry[w.at + c * w.step];
    s->open -= sign * (clv_int128)s->least_entry[p->matrix_of[e]];
    s->work += n;
}

/* What a node holds above its least, from the room or back to it. */
static void hold(checking *s, int32_t v, int sign)
{
    const clv_intra_op_problem *p = s->p;
    for (int32_t i = p->first_span[v]; s->room && i < p->first_span[v + 1]; i++) {
        clv_int128 more = (clv_int128)p->usage[p->span_usage[i] + s->now[v]] - s->least_usage[i];
        for (int64_t r = p->span_lo[i]; r < p->span_hi[i]; r++)
            s->room[r] -= sign * more;
    }
}

static void set(checking *s, int32_t v, int32_t c)
{
    s->now[v] = c;
    s->n_left--;
    s->paid += s->cost[s->p->first_choice[v] + c];
    hold(s, v, 1);
    for (int32_t i = s->first_edge[v]; i < s->first_edge[v + 1]; i++)
        if (--s->n_unset[s->edge[i]] == 1)
            charge_edge(s, s->edge[i], 1);
}

static void unset(checking *s, int32_t v)
{
    for (int32_t i = s->first_edge[v + 1] - 1; i >= s->first_edge[v]; i--)
        if (s->n_unset[s->edge[i]]++ == 1)
            charge_edge(s, s->edge[i], -1);
    hold(s, v, -1);
    s->paid -= s->cost[s->p->first_choice[v] + s->now[v]];
    s->n_left++;
    s->now[v] = -1;
}

/* ---- the search ---- */

static bool has_room(checking *s, int32_t v, int32_t c)
{
    const clv_intra_op_problem *p = s->p;
    for (int32_t i = p->first_span[v]; s->room && i < p->first_span[v + 1]; i++) {
        clv_int128 more = (clv_int128)p->usage[p->span_usage[i] + c] - s->least_usage[i];
        s->work += p->span_hi[i] - p->span_lo[i];
        for (int64_t r = p->span_lo[i]; r < p->span_hi[i]; r++)
            if (more > s->room[r])
                return false;
    }
    return true;
}

/* The cheapest choice of v that has room; -1: none has. */
static int32_t cheapest(checking *s, int32_t v)
{
    const clv_int128 *cost = s->cost + s->p->first_choice[v];
    int32_t best = -1;
    for (int32_t c = 0, n = clv_intra_op_n_choices(s->p, v); c < n; c++)
        if ((best < 0 || cost[c] < cost[best]) && has_room(s, v, c))
            best = c;
    return best;
}

/* How many choices of v may be part of a better solution, by cost: others are at least so much. */
static int32_t count_open(checking *s, int32_t v, clv_int128 others)
{
    const clv_int128 *cost = s->cost + s->p->first_choice[v];
    int32_t n = clv_intra_op_n_choices(s->p, v), open = 0;
    for (int32_t c = 0; c < n; c++)
        open += others + cost[c] < s->below;
    s->work += n;
    return open;
}

/* The node to set next, and what all is at least without it; -1: no better solution is left. */
static int32_t next_node(checking *s, clv_int128 *others)
{
    const clv_intra_op_problem *p = s->p;
    clv_int128 bound = s->paid + s->open, least[MOST_NODES];
    int32_t node[MOST_NODES], n = 0, next = -1, fewest = INT32_MAX;
    for (int32_t v = 0; v < p->n_nodes && n < s->n_left; v++) {
        if (s->now[v] >= 0)
            continue;
        int32_t c = cheapest(s, v);
        if (c < 0)
            return -1;
        node[n] = v;
        bound += least[n++] = s->cost[p->first_choice[v] + c];
    }
    for (int32_t i = 0; i < n && bound < s->below && fewest > 1; i++) {
        int32_t open = count_open(s, node[i], bound - least[i]);
        if (open >= fewest)
            continue;
        fewest = open;
        next = node[i];
        *others = bound - least[i];
    }
    return next;
}

/* The next choice of v in the order of costs, then numbers, after this one; -1: none is left. */
static int32_t next_choice(const checking *s, int32_t v, int32_t last)
{
    const clv_int128 *cost = s->cost + s->p->first_choice[v];
    int32_t next = -1;
    for (int32_t c = 0, n = clv_intra_op_n_choices(s->p, v); c < n; c++) {
        bool after = last < 0 || cost[c] > cost[last] || (cost[c] == cost[last] && c > last);
        if (after && (next < 0 || cost[c] < cost[next]))
            next = c;
    }
    return next;
}

static bool is_over(checking *s)
{
    s->ended |=
        s->work > s->most_work || (++s->n_tree % NODES_A_CHECK == 0 && clv_limits_over(s->limits));
    return s->ended;
}

/* All solutions of what is not set. At most MOST_NODES deep. */
static void search(checking *s)
{
    clv_int128 others = 0;
    if (is_over(s))
        return;
    if (s->n_left == 0) {
        if (s->paid < s->below) {
            s->below = s->paid;
            s->found = true;
            memcpy(s->best, s->now, (size_t)s->p->n_nodes * sizeof *s->now);
        }
        return;
    }
    int32_t v = next_node(s, &others), c = -1;
    while (v >= 0 && !s->ended && (c = next_choice(s, v, c)) >= 0 &&
           others + s->cost[s->p->first_choice[v] + c] < s->below) {
        s->work += clv_intra_op_n_choices(s->p, v);
        if (!has_room(s, v, c))
            continue;
        set(s, v, c);
        search(s);
        unset(s, v);
    }
}

/* ---- the start ---- */

/* Small enough to be begun; *few: to be ended, too. */
static bool is_small(const clv_intra_op_problem *p, bool *few)
{
    int64_t solutions = 1;
    int32_t open = 0;
    if (p->first_choice[p->n_nodes] > MOST_CHOICES)
        return false;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        open += clv_intra_op_n_choices(p, v) > 1;
        if (solutions <= FEW_SOLUTIONS)
            solutions *= clv_intra_op_n_choices(p, v);
    }
    *few = solutions <= FEW_SOLUTIONS;
    return open <= MOST_NODES;
}

static int64_t least_of(const int64_t *x, int64_t n)
{
    int64_t least = n > 0 ? x[0] : 0;
    for (int64_t i = 1; i < n; i++)
        least = x[i] < least ? x[i] : least;
    return least;
}

/* Room over what is held at least; *fits: there is no row without. No limit: no rooms. */
static clv_status find_room(checking *s, clv_arena *arena, bool *fits, clv_error *err)
{
    const clv_intra_op_problem *p = s->p;
    int32_t n_spans = p->first_span[p->n_nodes];
    int64_t n_rows = 0;
    int64_t *least = CLV_NEW_ARRAY(arena, int64_t, n_spans);
    for (int32_t i = 0; i < n_spans; i++)
        n_rows = p->span_hi[i] > n_rows ? p->span_hi[i] : n_rows;
    if (p->usage_limit == CLV_INTRA_OP_UNLIMITED)
        return CLV_OK;
    s->room = CLV_NEW_ARRAY(arena, clv_int128, n_rows);
    if (!s->room || !least)
        return clv_fail_nomem(err, "a small search");
    for (int64_t r = 0; r < n_rows; r++)
        s->room[r] = p->usage_limit;
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++) {
            least[i] = least_of(p->usage + p->span_usage[i], clv_intra_op_n_choices(p, v));
            for (int64_t r = p->span_lo[i]; r < p->span_hi[i]; r++)
                s->room[r] -= least[i];
        }
    for (int64_t r = 0; r < n_rows; r++)
        *fits = *fits && s->room[r] >= 0;
    s->least_usage = least;
    return CLV_OK;
}

/* Edges by node. */
static clv_status find_edges(checking *s, clv_arena *arena, clv_error *err)
{
    const clv_intra_op_problem *p = s->p;
    int32_t n_ends = p->first_end[p->n_edges];
    int32_t *first = CLV_NEW_ARRAY(arena, int32_t, (size_t)p->n_nodes + 2);
    int32_t *edge = CLV_NEW_ARRAY(arena, int32_t, n_ends);
    if (!first || !edge)
        return clv_fail_nomem(err, "a small search");
    for (int32_t i = 0; i < n_ends; i++)
        first[p->end[i] + 2]++;
    for (int32_t v = 0; v < p->n_nodes; v++)
        first[v + 2] += first[v + 1];
    for (int32_t e = 0; e < p->n_edges; e++)
        for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++)
            edge[first[p->end[i] + 1]++] = e;
    s->first_edge = first;
    s->edge = edge;
    return CLV_OK;
}

/* Nothing is set; edges of one node are paid by its choices. */
static clv_status find_costs(checking *s, clv_arena *arena, clv_error *err)
{
    const clv_intra_op_problem *p = s->p;
    int32_t n_choices = p->first_choice[p->n_nodes];
    int64_t *least = CLV_NEW_ARRAY(arena, int64_t, p->n_matrices);
    s->cost = CLV_NEW_ARRAY(arena, clv_int128, n_choices);
    s->n_unset = CLV_NEW_ARRAY(arena, int32_t, p->n_edges);
    s->now = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    if (!least || !s->cost || !s->n_unset || !s->now)
        return clv_fail_nomem(err, "a small search");
    for (int32_t m = 0; m < p->n_matrices; m++)
        least[m] =
            least_of(p->entry + p->first_entry[m], p->first_entry[m + 1] - p->first_entry[m]);
    s->least_entry = least;
    for (int32_t c = 0; c < n_choices; c++)
        s->cost[c] = p->cost[c];
    for (int32_t v = 0; v < p->n_nodes; v++)
        s->now[v] = -1;
    s->n_left = p->n_nodes;
    for (int32_t e = 0; e < p->n_edges; e++) {
        s->n_unset[e] = p->first_end[e + 1] - p->first_end[e];
        s->open += least[p->matrix_of[e]];
        if (s->n_unset[e] == 1)
            charge_edge(s, e, 1);
    }
    return CLV_OK;
}

/* What has one choice is not searched. */
static void set_forced(checking *s)
{
    for (int32_t v = 0; v < s->p->n_nodes; v++)
        if (clv_intra_op_n_choices(s->p, v) == 1)
            set(s, v, 0);
}

clv_status clv_forward_checking(const clv_intra_op_problem *p,
                                const clv_forward_checking_options *options, clv_arena *arena,
                                int32_t *choice, clv_forward_checking_result *ret, clv_error *err)
{
    checking s = { .p = p, .limits = options->limits, .best = choice, .below = options->ceiling };
    bool few = false, fits = true;
    *ret = (clv_forward_checking_result){ .complete = false };
    if (!is_small(p, &few))
        return CLV_OK;
    s.most_work = few ? INT64_MAX : options->most_work;
    clv_mark mark = clv_arena_mark(arena);
    clv_status status = find_room(&s, arena, &fits, err);
    if (status == CLV_OK)
        status = find_edges(&s, arena, err);
    if (status == CLV_OK)
        status = find_costs(&s, arena, err);
    if (status == CLV_OK && fits) {
        set_forced(&s);
        search(&s);
    }
    clv_arena_rewind(arena, mark);
    CLV_TRY(status);
    *ret = (clv_forward_checking_result){ !s.ended, s.found, s.below };
    return CLV_OK;
}
