/* presolve_pack_spans.c - see presolve_pack_spans.h. */
#include "solver/intra_op/presolve_pack_spans.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int32_t row;
    int32_t sign;       /* 1: begins, -1: ends */
    int32_t span, node; /* of the old problem */
} event;

typedef struct {
    clv_packing *k;
    const int32_t *row_number; /* by old row, one more at the end: rows kept before it */
    int64_t *held;             /* by new row: first differences, then sums */
    event *events;
    const int32_t *first; /* by new node: its events; the last are those of gone nodes */
    int32_t *alone;       /* by new node: its one member, whose spans are no events; or SEVERAL */
    int32_t *span_first;
    int64_t *lo, *hi, *usage;
    int64_t *span_usage;
    int32_t n_spans, cap_lo, cap_hi, cap_su;
    int64_t n_usage, cap_usage;
    int64_t *now; /* by choice of the node in hand */
} sweep;

enum { SEVERAL = -1, NONE_YET = -2 };

static int by_row(const void *a, const void *b)
{
    const event *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->span > y->span) - (x->span < y->span);
}

static bool room(sweep *s, int32_t n)
{
    clv_arena *arena = s->k->out;

    if (!CLV_PUSH_ROOM(arena, s->lo, s->n_spans, s->cap_lo) ||
        !CLV_PUSH_ROOM(arena, s->hi, s->n_spans, s->cap_hi) ||
        !CLV_PUSH_ROOM(arena, s->span_usage, s->n_spans, s->cap_su))
        return false;
    if (s->n_usage + n > s->cap_usage) {
        int64_t cap = 2 * (s->n_usage + n);

        s->usage =
            clv_arena_grow(arena, s->usage, (size_t)s->cap_usage, (size_t)cap, sizeof *s->usage);
        s->cap_usage = cap;
    }
    return s->usage != NULL;
}

/* The stretch [lo, hi) of a node needs s->now: adds a span, or makes the last one longer. */
static bool stretch(sweep *s, int32_t node, int32_t n, int32_t lo, int32_t hi)
{
    int64_t least = s->now[0], most = s->now[0];
    int64_t *u;
    int32_t last = s->n_spans - 1;

    for (int32_t k = 1; k < n; k++) {
        least = s->now[k] < least ? s->now[k] : least;
        most = s->now[k] > most ? s->now[k] : most;
    }
    s->held[lo] += least;
    s->held[hi] -= least;
    if (least == most)
        return true;
    if (!room(s, n))
        return false;
    u = s->usage + s->n_usage;
    for (int32_t k = 0; k < n; k++)
        u[k] = s->now[k] - least;
    if (last >= s->span_first[node] && s->hi[last] == lo &&
        memcmp(s->usage + s->span_usage[last], u, (size_t)n * sizeof *u) == 0) {
        s->hi[last] = hi;
        return true;
    }
    s->lo[s->n_spans] = lo;
    s->hi[s->n_spans] = hi;
    s->span_usage[s->n_spans++] = s->n_usage;
    s->n_usage += n;
    return true;
}

static bool sweep_node(sweep *s, int32_t node, int32_t n)
{
    const clv_intra_op_problem *p = &s->k->old->p;
    event *e = s->events + s->first[node];
    int32_t n_events = s->first[node + 1] - s->first[node], i = 0;

    qsort(e, (size_t)n_events, sizeof *e, by_row);
    memset(s->now, 0, (size_t)n * sizeof *s->now);
    while (i < n_events) {
        int32_t row = e[i].row;

        for (; i < n_events && e[i].row == row; i++) {
            const int64_t *u = p->usage + p->span_usage[e[i].span];
            const int32_t *map = s->k->fold->map[e[i].node];

            for (int32_t k = 0; k < n; k++)
                s->now[k] += e[i].sign * u[map[k]];
        }
        if (i < n_events && !stretch(s, node, n, row, e[i].row))
            return false;
    }
    return true;
}

/* The same for a node of one member, v. */
static bool carry_over(sweep *s, int32_t node, int32_t v, int32_t n)
{
    const clv_intra_op_problem *p = &s->k->old->p;
    const int32_t *map = s->k->fold->map[v];

    for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++) {
        const int64_t *u = p->usage + p->span_usage[i];
        int32_t lo = s->row_number[p->span_lo[i]], hi = s->row_number[p->span_hi[i]];

        if (lo == hi) {
            clv_packing_mark_fresh(s->k, node);
            continue;
        }
        for (int32_t k = 0; k < n; k++)
            s->now[k] = u[map[k]];
        if (!stretch(s, node, n, lo, hi))
            return false;
    }
    return true;
}

static clv_status number_rows(sweep *s, clv_error *err)
{
    const clv_pre_problem *old = s->k->old;
    clv_pre_problem *w = s->k->w;
    const bool *keep = s->k->fold->row_keep;
    int32_t *number = CLV_NEW_ARRAY(s->k->out, int32_t, old->n_rows + 1), n = 0;
    int64_t *time;

    if (!number)
        return clv_fail_nomem(err, "the rows of a strategy problem");
    for (int32_t r = 0; r < old->n_rows; r++) {
        number[r] = n;
        n += !keep || keep[r];
    }
    number[old->n_rows] = n;
    s->held = CLV_NEW_ARRAY(s->k->out, int64_t, n + 1);
    time = CLV_NEW_ARRAY(s->k->out, int64_t, n);
    if (!s->held || !time)
        return clv_fail_nomem(err, "the rows of a strategy problem");
    for (int32_t r = 0; r < old->n_rows; r++)
        if (number[r + 1] > number[r])
            time[number[r]] = old->row_time[r];
    s->row_number = number;
    w->n_rows = n;
    w->held = s->held;
    w->row_time = time;
    return CLV_OK;
}

static bool in_order(const clv_intra_op_problem *p, int32_t v)
{
    for (int32_t i = p->first_span[v]; i + 1 < p->first_span[v + 1]; i++)
        if (p->span_lo[i] > p->span_lo[i + 1])
            return false;
    return true;
}

/* Which nodes have one member; room for the spans, if they stay about as many as they are. */
static clv_status find_single_members(sweep *s, clv_error *err)
{
    clv_packing *k = s->k;
    const clv_intra_op_problem *p = &k->old->p;
    int32_t n_new = k->w->p.n_nodes;

    s->alone = CLV_NEW_ARRAY(k->out, int32_t, n_new);
    if (!s->alone)
        return clv_fail_nomem(err, "the spans of a strategy problem");
    for (int32_t v = 0; v < n_new; v++)
        s->alone[v] = NONE_YET;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t to = k->number[k->fold->into[v]], spans = p->first_span[v + 1] - p->first_span[v];

        if (to < 0)
            continue;
        s->alone[to] = s->alone[to] == NONE_YET && in_order(p, v) ? v : SEVERAL;
        s->cap_usage += (int64_t)spans * clv_intra_op_n_choices(&k->w->p, to);
    }
    s->cap_lo = s->cap_hi = s->cap_su = p->first_span[p->n_nodes];
    s->lo = CLV_NEW_ARRAY(k->out, int64_t, s->cap_lo);
    s->hi = CLV_NEW_ARRAY(k->out, int64_t, s->cap_hi);
    s->span_usage = CLV_NEW_ARRAY(k->out, int64_t, s->cap_su);
    s->usage = CLV_NEW_ARRAY(k->out, int64_t, s->cap_usage);
    return s->lo && s->hi && s->span_usage && s->usage
               ? CLV_OK
               : clv_fail_nomem(err, "the spans of a strategy problem");
}

/* Events of nodes with several members, by new node, and those of gone nodes last. */
static clv_status sort_events(sweep *s, clv_error *err)
{
    clv_packing *k = s->k;
    const clv_intra_op_problem *p = &k->old->p;
    int32_t n_new = k->w->p.n_nodes;
    int32_t *first = CLV_NEW_ARRAY(k->out, int32_t, n_new + 3);

    for (int pass = 0; first && pass < 2; pass++) {
        for (int32_t v = 0; v < p->n_nodes; v++) {
            int32_t to = k->number[k->fold->into[v]];

            if (to >= 0 && s->alone[to] == v)
                continue;
            to = to < 0 ? n_new : to;
            for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++) {
                int32_t lo = s->row_number[p->span_lo[i]], hi = s->row_number[p->span_hi[i]];

                if (lo == hi)
                    continue;
                if (pass == 0) {
                    first[to + 2] += 2;
                    continue;
                }
                s->events[first[to + 1]++] = (event){ lo, 1, i, v };
                s->events[first[to + 1]++] = (event){ hi, -1, i, v };
            }
        }
        for (int32_t i = 0; pass == 0 && i < n_new + 2; i++)
            first[i + 1] += first[i];
        if (pass == 0)
            s->events = CLV_NEW_ARRAY(k->out, event, first[n_new + 2]);
        if (!s->events)
            break;
    }
    s->first = first;
    return first && s->events ? CLV_OK : clv_fail_nomem(err, "the spans of a strategy problem");
}

clv_status clv_pack_spans(clv_packing *k, clv_error *err)
{
    const clv_intra_op_problem *old = &k->old->p;
    clv_intra_op_problem *p = &k->w->p;
    sweep s = { .k = k };
    int32_t most = 1;

    for (int32_t v = 0; v < p->n_nodes; v++)
        if (clv_intra_op_n_choices(p, v) > most)
            most = clv_intra_op_n_choices(p, v);
    CLV_TRY(number_rows(&s, err));
    CLV_TRY(find_single_members(&s, err));
    CLV_TRY(sort_events(&s, err));
    s.now = CLV_NEW_ARRAY(k->out, int64_t, most);
    s.span_first = CLV_NEW_ARRAY(k->out, int32_t, p->n_nodes + 1);
    if (!s.now || !s.span_first)
        return clv_fail_nomem(err, "the spans of a strategy problem");
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t n = clv_intra_op_n_choices(p, v);

        s.span_first[v] = s.n_spans;
        if (!(s.alone[v] >= 0 ? carry_over(&s, v, s.alone[v], n) : sweep_node(&s, v, n)))
            return clv_fail_nomem(err, "the spans of a strategy problem");
    }
    s.span_first[p->n_nodes] = s.n_spans;
    for (int32_t i = s.first[p->n_nodes]; i < s.first[p->n_nodes + 1]; i++) {
        const event *e = &s.events[i]; /* of a node with one choice, which always holds the same */

        s.held[e->row] += e->sign * old->usage[old->span_usage[e->span] + k->fold->map[e->node][0]];
    }
    for (int32_t r = 0; r + 1 < k->w->n_rows; r++)
        s.held[r + 1] += s.held[r];
    for (int32_t r = 0, at = 0; r < k->old->n_rows; r++)
        if (s.row_number[r + 1] > s.row_number[r])
            s.held[at++] += k->old->held[r];
    p->first_span = s.span_first;
    p->span_lo = s.lo;
    p->span_hi = s.hi;
    p->span_usage = s.span_usage;
    p->usage = s.usage;
    return CLV_OK;
}
