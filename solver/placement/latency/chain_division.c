#include "solver/placement/latency/chain_division.h"

#include <string.h>

#include "base/bits.h"

/* No way leads here. Sums of two stay in range. */
#define NO_WAY (INT64_MAX / 4)
/* Numbers in a table by pieces left and two places; larger ones are not made. */
#define MOST_COUNTED 8e6

static bool leads_to(const clv_latency_units *u, int32_t from, int32_t to)
{
    return clv_bit(u->above + (size_t)to * (size_t)u->words, from);
}

static size_t at(const clv_chain_division *c, int32_t from, int32_t to)
{
    return (size_t)from * (size_t)c->n + (size_t)to;
}

/* The last place that leads to each unit, or is it, and the first that it leads to, or is: with
 * these, who is in a piece takes no look at rows. Places lead on, so both are found by bisection.
 * O(units * log n). */
static void find_reaches(clv_chain_division *c)
{
    const clv_latency_units *u = c->units;
    for (int32_t i = 0; i < u->n; i++) {
        int32_t low = -1, high = c->n - 1; /* low leads to it */
        while (low < high) {
            int32_t mid = low + (high - low + 1) / 2;
            bool before = c->unit[mid] == i || leads_to(u, c->unit[mid], i);
            low = before ? mid : low;
            high = before ? high : mid - 1;
        }
        c->from_place[i] = low;
        low = low < 0 ? 0 : low;
        high = c->n; /* it leads to high */
        while (low < high) {
            int32_t mid = low + (high - low) / 2;
            bool behind = c->unit[mid] == i || leads_to(u, i, c->unit[mid]);
            high = behind ? mid : high;
            low = behind ? low : mid + 1;
        }
        c->to_place[i] = high;
    }
}

/* Who must be in a piece of this interval, and who cannot. */
static void find_sides(clv_chain_division *c, int32_t from, int32_t to)
{
    const clv_latency_units *u = c->units;
    for (int32_t i = 0; i < u->n; i++) {
        bool in = c->from_place[i] >= from && c->to_place[i] <= to;
        bool out =
            u->paying_time[i] == CLV_UNIT_NEVER || c->to_place[i] < from || c->from_place[i] > to;
        c->side[i] = in ? CLV_SIDE_IN : out ? CLV_SIDE_OUT : CLV_SIDE_ANY;
    }
}

/* -- first values -- */

/* Intervals that begin at one place after the other, from the last on. A unit that begins there or
 * later is in from the interval on that ends where the unit does. */
typedef struct {
    int64_t *weight, *bytes; /* by place: of units that end there */
    int32_t *never;          /* by place: how many of these run on nothing that pays */
    int64_t *nets;           /* n + 1, by place: what comes to be cut there, less what is no more */
    int32_t *begins, *next;  /* units by from_place, lists: -1 ends */
    int32_t *of_first, *of;  /* nets of each unit */
    int32_t *in_from;        /* by net: the least end of an interval that has a pin in; n: none */
    int32_t *least_to;  /* by net: the first place that a pin leads to; -1: one is always out */
    int32_t *last_from; /* by net: the last place that leads to a pin */
} sweep;

static bool allocate_sweep(const clv_chain_division *c, clv_arena *arena, sweep *s)
{
    const clv_latency_units *u = c->units;
    size_t n = (size_t)c->n + 1, nets = (size_t)u->n_nets;
    *s = (sweep){ .weight = CLV_NEW_ARRAY(arena, int64_t, n),
                  .bytes = CLV_NEW_ARRAY(arena, int64_t, n),
                  .never = CLV_NEW_ARRAY(arena, int32_t, n),
                  .nets = CLV_NEW_ARRAY(arena, int64_t, n),
                  .begins = CLV_NEW_ARRAY(arena, int32_t, n),
                  .next = CLV_NEW_ARRAY(arena, int32_t, u->n),
                  .of_first = CLV_NEW_ARRAY(arena, int32_t, u->n + 2),
                  .of = CLV_NEW_ARRAY(arena, int32_t, u->pins.first[u->n_nets]),
                  .in_from = CLV_NEW_ARRAY(arena, int32_t, nets),
                  .least_to = CLV_NEW_ARRAY(arena, int32_t, nets),
                  .last_from = CLV_NEW_ARRAY(arena, int32_t, nets) };
    return s->weight && s->bytes && s->never && s->nets && s->begins && s->next && s->of_first &&
           s->of && s->in_from && s->least_to && s->last_from;
}

static void sort_units_and_nets(const clv_chain_division *c, sweep *s)
{
    const clv_latency_units *u = c->units;
    for (int32_t i = 0; i < c->n; i++)
        s->begins[i] = -1;
    for (int32_t i = 0; i < u->n; i++) {
        int32_t from = c->from_place[i];
        if (from < 0)
            continue;
        s->next[i] = s->begins[from];
        s->begins[from] = i;
    }
    for (int32_t e = 0; e < u->pins.first[u->n_nets]; e++)
        s->of_first[u->pins.at[e] + 2]++;
    for (int32_t i = 0; i < u->n; i++)
        s->of_first[i + 2] += s->of_first[i + 1];
    for (int32_t e = 0; e < u->n_nets; e++) {
        s->in_from[e] = s->least_to[e] = c->n;
        s->last_from[e] = -1;
        for (int32_t k = u->pins.first[e]; k < u->pins.first[e + 1]; k++) {
            int32_t i = u->pins.at[k];
            int32_t to = u->paying_time[i] == CLV_UNIT_NEVER ? -1 : c->to_place[i];
            s->least_to[e] = to < s->least_to[e] ? to : s->least_to[e];
            s->last_from[e] =
                c->from_place[i] > s->last_from[e] ? c->from_place[i] : s->last_from[e];
            s->of[s->of_first[i + 1]++] = e;
        }
    }
}

/* Units that begin at this place can be in from now on. */
static void add_units_beginning_at(const clv_chain_division *c, int32_t place, sweep *s)
{
    const clv_latency_units *u = c->units;
    for (int32_t i = s->begins[place]; i >= 0; i = s->next[i]) {
        int32_t to = c->to_place[i];
        if (to == c->n)
            continue; /* in no interval */
        s->never[to] += u->paying_time[i] == CLV_UNIT_NEVER;
        s->weight[to] += u->paying_time[i] == CLV_UNIT_NEVER ? 0 : c->weight[i];
        s->bytes[to] += u->bytes[i];
        for (int32_t e = s->of_first[i]; e < s->of_first[i + 1]; e++)
            if (to < s->in_from[s->of[e]])
                s->in_from[s->of[e]] = to;
    }
}

/* A first value for all intervals: times of who is in, nets that are cut for certain.
 * CLV_UNIT_NEVER: no piece can be so. O(n * (n + nets) + pins). */
static clv_status first_values(clv_chain_division *c, clv_arena *arena, clv_error *err)
{
    const clv_latency_units *u = c->units;
    clv_mark mark = clv_arena_mark(arena);
    sweep s;
    if (!allocate_sweep(c, arena, &s))
        return clv_fail_nomem(err, "a chain");
    sort_units_and_nets(c, &s);
    for (int32_t i = c->n - 1; i >= 0; i--) {
        int64_t value = 0, cut = 0, bytes = 0;
        bool possible = true;
        add_units_beginning_at(c, i, &s);
        memset(s.nets, 0, ((size_t)c->n + 1) * sizeof *s.nets);
        for (int32_t e = 0; e < u->n_nets; e++) { /* a pin is in, and one is before or behind */
            int32_t first = s.in_from[e], end = s.least_to[e] < i ? c->n : s.last_from[e];
            if (first >= end)
                continue;
            s.nets[first] += u->net_cost[e];
            s.nets[end] -= u->net_cost[e];
        }
        for (int32_t j = i; j < c->n; j++) {
            value += s.weight[j];
            cut += s.nets[j];
            bytes += s.bytes[j];
            possible = possible && s.never[j] == 0 && /* longer ones hold more */
                       (u->capacity == CLV_PLACE_UNLIMITED || bytes <= u->capacity);
            c->value[at(c, i, j)] = possible ? value + cut : CLV_UNIT_NEVER;
        }
    }
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}

/* Units of the path, and the time of their nodes on it. */
static void find_places(clv_chain_division *c, const int32_t *path, int32_t n_path)
{
    for (int32_t i = 0; i < n_path; i++) {
        int32_t unit = c->units->unit_of[path[i]];
        c->exit[c->n - (c->n > 0 && c->unit[c->n - 1] == unit)] = path[i];
        int64_t time = c->units->node_free[path[i]];
        if (c->n == 0 || c->unit[c->n - 1] != unit) {
            c->unit[c->n] = unit;
            c->free_time[c->n++] = time;
        } else if (time == CLV_UNIT_NEVER || c->free_time[c->n - 1] == CLV_UNIT_NEVER) {
            c->free_time[c->n - 1] = CLV_UNIT_NEVER;
        } else {
            c->free_time[c->n - 1] += time;
        }
    }
}

clv_status clv_chain_division_new(const clv_chain *chain, clv_arena *arena,
                                  clv_chain_division **ret, clv_error *err)
{
    const clv_latency_units *units = chain->units;
    int32_t n_path = chain->n_path;
    clv_chain_division *c = CLV_NEW(arena, clv_chain_division);
    size_t rows = (size_t)chain->most_pieces + 1;
    if (!c)
        return clv_fail_nomem(err, "a chain");
    *c = (clv_chain_division){ .units = units,
                               .cut = chain->cut,
                               .weight = chain->weight,
                               .most_pieces = chain->most_pieces };
    c->unit = CLV_NEW_ARRAY(arena, int32_t, n_path);
    c->free_time = CLV_NEW_ARRAY(arena, int64_t, n_path);
    c->exit = CLV_NEW_ARRAY(arena, int32_t, n_path);
    if (!c->exit || !c->unit || !c->free_time)
        return clv_fail_nomem(err, "a chain");
    find_places(c, chain->path, n_path);
    size_t n = (size_t)c->n;
    c->value = CLV_NEW_ARRAY(arena, int64_t, n * n);
    c->exact = CLV_NEW_ARRAY(arena, bool, n *n);
    c->best = CLV_NEW_ARRAY(arena, int64_t, rows * (n + 1));
    c->last = CLV_NEW_ARRAY(arena, int32_t, rows * (n + 1));
    c->spans = CLV_NEW_ARRAY(arena, clv_chain_span, n);
    c->side = CLV_NEW_ARRAY(arena, clv_cut_side, units->n);
    c->scratch = CLV_NEW_ARRAY(arena, int64_t, 2 * (n + 1));
    c->from_place = CLV_NEW_ARRAY(arena, int32_t, units->n);
    c->to_place = CLV_NEW_ARRAY(arena, int32_t, units->n);
    if (!c->from_place || !c->to_place || !c->value || !c->exact || !c->best || !c->last ||
        !c->spans || !c->side || !c->scratch)
        return clv_fail_nomem(err, "a chain");
    find_reaches(c);
    CLV_TRY(first_values(c, arena, err));
    *ret = c;
    return CLV_OK;
}

/* Best way that has done the first j places with a pieces, a less by one before a piece; without a
 * limit there is one row only. */
static void extend_shortest(clv_chain_division *c, int32_t a, int32_t j)
{
    size_t n = (size_t)c->n + 1, here = (size_t)a * n + (size_t)j;
    int64_t alone = c->free_time[j - 1];
    int64_t best = alone == CLV_UNIT_NEVER ? NO_WAY : c->best[here - 1] + alone;
    int32_t last = -1;
    const int64_t *before = c->best + (c->counted && a > 0 ? (size_t)(a - 1) * n : 0);
    for (int32_t i = j - 1; i >= 0 && (a > 0 || !c->counted); i--) {
        int64_t value = c->value[at(c, i, j - 1)];
        if (value == CLV_UNIT_NEVER)
            break; /* longer ones hold more */
        if (before[i] + value < best) {
            best = before[i] + value;
            last = i;
        }
    }
    c->best[here] = best < NO_WAY ? best : NO_WAY;
    c->last[here] = last;
}

/* The best way; counts pieces if c->counted. */
static bool find_shortest(clv_chain_division *c)
{
    size_t n = (size_t)c->n + 1;
    for (int32_t a = 0; a <= c->counted; a++) {
        c->best[(size_t)a * n] = 0;
        for (int32_t j = 1; j <= c->n; j++)
            extend_shortest(c, a, j);
    }
    int32_t a = c->counted, j = c->n; /* rows may use fewer pieces than they are allowed */
    c->bound = c->best[(size_t)a * n + (size_t)j];
    c->n_spans = 0;
    if (c->bound >= NO_WAY)
        return false;
    while (j > 0) {
        int32_t last = c->last[(size_t)a * n + (size_t)j];
        c->spans[c->n_spans++] = (clv_chain_span){ last < 0 ? j - 1 : last, j - 1, last >= 0 };
        a -= last >= 0 && c->counted;
        j = last < 0 ? j - 1 : last;
    }
    for (int32_t i = 0; i < c->n_spans / 2; i++) {
        clv_chain_span span = c->spans[i];
        c->spans[i] = c->spans[c->n_spans - 1 - i];
        c->spans[c->n_spans - 1 - i] = span;
    }
    return true;
}

bool clv_chain_division_shortest(clv_chain_division *c)
{
    if (!find_shortest(c) || c->counted == c->most_pieces)
        return c->bound < NO_WAY;
    int32_t pieces = 0;
    for (int32_t i = 0; i < c->n_spans; i++)
        pieces += c->spans[i].pays;
    if (pieces <= c->most_pieces)
        return true;
    c->counted = c->most_pieces; /* values only rise, so mostly it stays a limit */
    return find_shortest(c);
}

static void refine(clv_chain_division *c, int32_t from, int32_t to)
{
    find_sides(c, from, to);
    c->value[at(c, from, to)] = clv_piece_cut_min(c->cut, c->side, c->weight, NULL);
    c->exact[at(c, from, to)] = true;
}

bool clv_chain_division_refine(clv_chain_division *c)
{
    bool sharpened = false;
    for (int32_t i = 0; i < c->n_spans; i++) {
        size_t k = at(c, c->spans[i].from, c->spans[i].to);
        if (!c->spans[i].pays || c->exact[k])
            continue;
        refine(c, c->spans[i].from, c->spans[i].to);
        sharpened = true;
    }
    return sharpened;
}

void clv_chain_division_piece(clv_chain_division *c, const clv_chain_span *span, bool *chosen)
{
    find_sides(c, span->from, span->to);
    clv_piece_cut_min(c->cut, c->side, c->weight, chosen);
}

/* Shortest ways from each place to the end, with pieces that the ways of behind come after: behind
 * is rest without a limit of pieces, the row of one piece less with it, and NULL for none. */
static void find_rest(const clv_chain_division *c, const int64_t *behind, int64_t *rest)
{
    rest[c->n] = 0;
    for (int32_t i = c->n - 1; i >= 0; i--) {
        rest[i] = c->free_time[i] == CLV_UNIT_NEVER ? NO_WAY : rest[i + 1] + c->free_time[i];
        for (int32_t j = i; behind && j < c->n && c->value[at(c, i, j)] != CLV_UNIT_NEVER; j++)
            if (behind[j + 1] + c->value[at(c, i, j)] < rest[i])
                rest[i] = behind[j + 1] + c->value[at(c, i, j)];
        rest[i] = rest[i] < NO_WAY ? rest[i] : NO_WAY;
    }
}

/* Shortest ways from both ends without a limit of pieces: done by places done, rest by the next. */
static void both_ways(const clv_chain_division *c, int64_t *done, int64_t *rest)
{
    done[0] = 0;
    for (int32_t j = 1; j <= c->n; j++) {
        done[j] =
            c->free_time[j - 1] == CLV_UNIT_NEVER ? NO_WAY : done[j - 1] + c->free_time[j - 1];
        for (int32_t i = j - 1; i >= 0 && c->value[at(c, i, j - 1)] != CLV_UNIT_NEVER; i--)
            if (done[i] + c->value[at(c, i, j - 1)] < done[j])
                done[j] = done[i] + c->value[at(c, i, j - 1)];
        done[j] = done[j] < NO_WAY ? done[j] : NO_WAY;
    }
    find_rest(c, rest, rest);
}

void clv_chain_division_refine_below(clv_chain_division *c, int64_t limit, bool (*stop)(void *ctx),
                                     void *ctx)
{
    int64_t *done = c->scratch, *rest = c->scratch + c->n + 1;
    for (bool more = true; more;) {
        more = false;
        both_ways(c, done, rest);
        for (int32_t i = 0; i < c->n; i++)
            for (int32_t j = i; j < c->n && c->value[at(c, i, j)] != CLV_UNIT_NEVER; j++) {
                if (c->exact[at(c, i, j)] || done[i] + c->value[at(c, i, j)] + rest[j + 1] >= limit)
                    continue;
                if (stop(ctx))
                    return;
                refine(c, i, j);
                more = true;
            }
    }
}

/* Suffix minima of a piece and the rest behind it, into reach. */
static void find_reach(const clv_chain_division *c, const int64_t *rest, int64_t *reach)
{
    for (int32_t i = 0; i < c->n; i++) {
        int64_t least = NO_WAY;
        for (int32_t j = c->n - 1; j >= i; j--) {
            int64_t value = c->value[at(c, i, j)];
            if (value != CLV_UNIT_NEVER && value + rest[j + 1] < least)
                least = value + rest[j + 1];
            reach[at(c, i, j)] = least;
        }
    }
}

/* The same for every limit of pieces up to most_pieces. */
static clv_status find_counted(const clv_chain_division *c, clv_arena *arena, clv_chain_rest *rest,
                               clv_error *err)
{
    size_t rows = (size_t)c->most_pieces + 1, n = (size_t)c->n;
    rest->counted_rest = CLV_NEW_ARRAY(arena, int64_t, rows * (n + 1));
    rest->counted_reach = CLV_NEW_ARRAY(arena, int64_t, rows * n * n);
    if (!rest->counted_rest || !rest->counted_reach)
        return clv_fail_nomem(err, "a chain");
    for (size_t a = 0; a < rows; a++) {
        int64_t *row = rest->counted_rest + a * (n + 1);
        find_rest(c, a > 0 ? row - (n + 1) : NULL, row);
        find_reach(c, row, rest->counted_reach + a * n * n);
    }
    return CLV_OK;
}

clv_status clv_chain_division_rest(const clv_chain_division *c, clv_arena *arena,
                                   clv_chain_rest *ret, clv_error *err)
{
    size_t n = (size_t)c->n;
    *ret = (clv_chain_rest){ .rest = CLV_NEW_ARRAY(arena, int64_t, n + 1),
                             .begin = CLV_NEW_ARRAY(arena, int64_t, n + 1),
                             .reach = CLV_NEW_ARRAY(arena, int64_t, n * n) };
    if (!ret->rest || !ret->begin || !ret->reach)
        return clv_fail_nomem(err, "a chain");
    if (c->most_pieces && (double)n * (double)n * c->most_pieces <= MOST_COUNTED)
        CLV_TRY(find_counted(c, arena, ret, err));
    both_ways(c, c->scratch, ret->rest);
    find_reach(c, ret->rest, ret->reach);
    for (int32_t j = 0; j < c->n; j++)
        ret->begin[j] = c->free_time[j] == CLV_UNIT_NEVER
                            ? NO_WAY
                            : ret->rest[j + 1] + c->units->node_free[c->exit[j]];
    for (int32_t i = 0; i < c->n; i++)
        for (int32_t j = c->n - 1; j >= i; j--)
            if (ret->reach[at(c, i, j)] < ret->begin[j])
                ret->begin[j] = ret->reach[at(c, i, j)];
    for (int32_t j = c->n - 1; j >= 0; j--)
        if (ret->begin[j] < ret->begin[j + 1])
            ret->begin[j] = ret->begin[j + 1];
    return CLV_OK;
}
