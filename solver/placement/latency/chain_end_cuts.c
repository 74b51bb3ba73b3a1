#include "solver/placement/latency/chain_end_cuts.h"

/* The ends of a chain. */
typedef struct {
    clv_chain_division *c;
    int64_t *middle;    /* by place: up to the last separator before it, or itself */
    int32_t *crossings; /* by place: units and nets over it */
    int64_t *left;      /* by place: what an interval costs more that begins there */
    int64_t *right;     /* by place: and that ends there */
} ends;

/* Is a unit behind a place that is not its own? One that nothing of the chain leads to is where it
 * leads to; others are where they come from. */
static bool is_behind(const clv_chain_division *c, int32_t unit, int32_t place)
{
    return c->from_place[unit] >= place || (c->from_place[unit] < 0 && c->to_place[unit] > place);
}

/* Sums up what is over each place; 0: it is a separator. O(n + units + pins). */
static void count_crossings(ends *s)
{
    const clv_chain_division *c = s->c;
    const clv_latency_units *u = c->units;
    for (int32_t i = 0; i < u->n; i++) {
        int32_t from = c->from_place[i], to = c->to_place[i];
        if (from < 0 || to == c->n || from == to)
            continue;
        s->crossings[from + 1]++;
        s->crossings[to]--;
    }
    for (int32_t e = 0; e < u->n_nets; e++) {
        int32_t first = c->n, last = -1;
        for (int32_t k = u->pins.first[e]; k < u->pins.first[e + 1]; k++) {
            int32_t from = c->from_place[u->pins.at[k]], to = c->to_place[u->pins.at[k]];
            int32_t before = from < 0 ? to : from + 1;               /* the first it is before */
            int32_t behind = from < 0 || from == to ? to - 1 : from; /* the last it is behind */
            first = before < first ? before : first;
            last = behind > last ? behind : last;
        }
        if (first > last)
            continue;
        s->crossings[first]++;
        s->crossings[last + 1]--;
    }
    for (int32_t i = 0; i < c->n; i++)
        s->crossings[i + 1] += s->crossings[i];
}

/* What a smallest cut adds to the nets that are cut for certain and the times of who is in. */
static int64_t cut_excess(const ends *s)
{
    const clv_chain_division *c = s->c;
    const clv_latency_units *u = c->units;
    int64_t sum = 0;
    bool any = false;
    for (int32_t i = 0; i < u->n; i++) {
        sum += c->side[i] == CLV_SIDE_IN ? c->weight[i] : 0;
        any |= c->side[i] == CLV_SIDE_ANY;
    }
    if (!any)
        return 0;
    for (int32_t e = 0; e < u->n_nets; e++) {
        bool in = false, out = false;
        for (int32_t k = u->pins.first[e]; k < u->pins.first[e + 1]; k++) {
            in |= c->side[u->pins.at[k]] == CLV_SIDE_IN;
            out |= c->side[u->pins.at[k]] == CLV_SIDE_OUT;
        }
        sum += in && out ? u->net_cost[e] : 0;
    }
    return clv_piece_cut_min(c->cut, c->side, c->weight, NULL) - sum;
}

/* What a smallest cut adds to an interval from first to last, within what two separators bound:
 * -1 where there is none. What is beyond a separator is fixed, in any way: it counts for nothing.
 * Between two of them, all is in but units that only lead there, or come from there. */
static int64_t stretch_excess(const ends *s, int32_t first, int32_t last, int32_t separator_before,
                              int32_t separator_behind)
{
    const clv_chain_division *c = s->c;
    const clv_latency_units *u = c->units;
    for (int32_t v = 0; v < u->n; v++) {
        bool out = u->paying_time[v] == CLV_UNIT_NEVER || c->to_place[v] < first ||
                   c->from_place[v] > last ||
                   (separator_before >= 0 && !is_behind(c, v, separator_before)) ||
                   (separator_behind >= 0 && is_behind(c, v, separator_behind));
        bool in = c->from_place[v] >= first && c->to_place[v] <= last;
        c->side[v] = out ? CLV_SIDE_OUT : in ? CLV_SIDE_IN : CLV_SIDE_ANY;
    }
    if (separator_before >= 0)
        c->side[c->unit[separator_before]] = CLV_SIDE_IN;
    if (separator_behind >= 0)
        c->side[c->unit[separator_behind]] = CLV_SIDE_IN;
    return cut_excess(s);
}

static bool is_separator(const ends *s, int32_t i)
{
    const clv_chain_division *c = s->c;
    return s->crossings[i] == 0 && c->units->paying_time[c->unit[i]] != CLV_UNIT_NEVER;
}

/* Adds both ends to every interval with a separator in it. */
static void add_ends(const ends *s)
{
    clv_chain_division *c = s->c;
    int32_t separator = c->n;
    for (int32_t i = c->n - 1; i >= 0; i--) {
        separator = is_separator(s, i) ? i : separator;
        for (int32_t j = separator; j < c->n; j++) {
            size_t k = (size_t)i * (size_t)c->n + (size_t)j;
            if (c->value[k] == CLV_UNIT_NEVER)
                break;
            if (c->exact[k])
                continue;
            c->value[k] += s->left[i] + s->right[j] + s->middle[j] - s->middle[separator];
            c->exact[k] = true;
        }
    }
}

clv_status clv_chain_end_cuts(clv_chain_division *c, bool (*stop)(void *ctx), void *ctx,
                              clv_arena *arena, clv_error *err)
{
    size_t n = (size_t)c->n;
    clv_mark mark = clv_arena_mark(arena);
    ends s = { .c = c,
               .crossings = CLV_NEW_ARRAY(arena, int32_t, n + 2),
               .middle = CLV_NEW_ARRAY(arena, int64_t, n),
               .left = CLV_NEW_ARRAY(arena, int64_t, n),
               .right = CLV_NEW_ARRAY(arena, int64_t, n) };
    if (!s.crossings || !s.middle || !s.left || !s.right)
        return clv_fail_nomem(err, "a chain");
    count_crossings(&s);
    for (int32_t i = c->n - 1, separator = -1; i >= 0 && !stop(ctx); i--) {
        separator = is_separator(&s, i) ? i : separator;
        s.left[i] = separator >= 0 ? stretch_excess(&s, i, c->n - 1, -1, separator) : 0;
    }
    for (int32_t j = 0, separator = -1; j < c->n && !stop(ctx); j++) {
        s.middle[j] = j > 0 ? s.middle[j - 1] : 0;
        if (is_separator(&s, j)) {
            s.middle[j] += separator >= 0 ? stretch_excess(&s, 0, c->n - 1, separator, j) : 0;
            separator = j;
        }
        s.right[j] = separator >= 0 ? stretch_excess(&s, 0, j, separator, -1) : 0;
    }
    if (!stop(ctx))
        add_ends(&s);
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
