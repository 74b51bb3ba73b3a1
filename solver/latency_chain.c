/* latency_chain.c - see latency_chain.h. */
#include "solver/latency_chain.h"

#include <string.h>

#include "problem/quotient.h"

/* No way leads here. Sums of two stay in range. */
#define NO_WAY (INT64_MAX / 4)
/* Numbers in a table by pieces left and two places; larger ones are not made. */
#define MOST_COUNTED 8e6

static bool leads_to(const clv_latency_units *u, int32_t from, int32_t to)
{
    return clv_bit(u->above + (size_t)to * (size_t)u->words, from);
}

static size_t at(const clv_latency_chain_form *c, int32_t from, int32_t to)
{
    return (size_t)from * (size_t)c->n + (size_t)to;
}

/* Who must be in a piece of this interval, and who cannot. */
static void find_sides(clv_latency_chain_form *c, int32_t from, int32_t to)
{
    const clv_latency_units *u = c->units;
    int32_t first = c->unit[from], last = c->unit[to];
    int32_t before = from > 0 ? c->unit[from - 1] : -1,
            after = to + 1 < c->n ? c->unit[to + 1] : -1;
    for (int32_t i = 0; i < u->n; i++) {
        bool in = (i == first || leads_to(u, first, i)) && (i == last || leads_to(u, i, last));
        bool out = u->paying_time[i] == CLV_UNIT_NEVER ||
                   (before >= 0 && (i == before || leads_to(u, i, before))) ||
                   (after >= 0 && (i == after || leads_to(u, after, i)));
        c->side[i] = in ? CLV_SIDE_IN : out ? CLV_SIDE_OUT : CLV_SIDE_ANY;
    }
}

/* A first value for the sides found: times of who is in, nets that are cut for certain.
 * CLV_UNIT_NEVER: no piece can be so. */
static int64_t first_value(const clv_latency_chain_form *c)
{
    const clv_latency_units *u = c->units;
    int64_t value = 0, bytes = 0;
    for (int32_t i = 0; i < u->n; i++)
        if (c->side[i] == CLV_SIDE_IN) {
            if (u->paying_time[i] == CLV_UNIT_NEVER)
                return CLV_UNIT_NEVER;
            value += c->weight[i];
            bytes += u->bytes[i];
        }
    if (u->capacity != CLV_PLACE_UNLIMITED && bytes > u->capacity)
        return CLV_UNIT_NEVER;
    for (int32_t i = 0; i < u->n_nets; i++) {
        bool in = false, out = false;
        for (int32_t e = u->pins.first[i]; e < u->pins.first[i + 1]; e++) {
            in |= c->side[u->pins.at[e]] == CLV_SIDE_IN;
            out |= c->side[u->pins.at[e]] == CLV_SIDE_OUT;
        }
        value += in && out ? u->net_cost[i] : 0;
    }
    return value;
}

static void first_values(clv_latency_chain_form *c)
{
    for (int32_t i = 0; i < c->n; i++) {
        bool possible = true;
        for (int32_t j = i; j < c->n; j++) {
            if (possible) {
                find_sides(c, i, j);
                c->value[at(c, i, j)] = first_value(c);
                possible = c->value[at(c, i, j)] != CLV_UNIT_NEVER; /* longer ones hold more */
            } else {
                c->value[at(c, i, j)] = CLV_UNIT_NEVER;
            }
        }
    }
}

/* Units of the path, and the time of their nodes on it. */
static void find_places(clv_latency_chain_form *c, const int32_t *path, int32_t n_path)
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

clv_status clv_latency_chain_new(const clv_latency_units *units, clv_latency_cut *cut,
                                 const int64_t *weight, const int32_t *path, int32_t n_path,
                                 int32_t most_pieces, clv_arena *arena,
                                 clv_latency_chain_form **ret, clv_error *err)
{
    clv_latency_chain_form *c = CLV_NEW(arena, clv_latency_chain_form);
    size_t rows = (size_t)most_pieces + 1;
    if (!c)
        return clv_fail_nomem(err, "a chain");
    *c = (clv_latency_chain_form){
        .units = units, .cut = cut, .weight = weight, .most_pieces = most_pieces
    };
    c->unit = CLV_NEW_ARRAY(arena, int32_t, n_path);
    c->free_time = CLV_NEW_ARRAY(arena, int64_t, n_path);
    c->exit = CLV_NEW_ARRAY(arena, int32_t, n_path);
    if (!c->exit || !c->unit || !c->free_time)
        return clv_fail_nomem(err, "a chain");
    find_places(c, path, n_path);
    size_t n = (size_t)c->n;
    c->value = CLV_NEW_ARRAY(arena, int64_t, n * n);
    c->exact = CLV_NEW_ARRAY(arena, bool, n *n);
    c->best = CLV_NEW_ARRAY(arena, int64_t, rows * (n + 1));
    c->last = CLV_NEW_ARRAY(arena, int32_t, rows * (n + 1));
    c->spans = CLV_NEW_ARRAY(arena, clv_chain_span, n);
    c->side = CLV_NEW_ARRAY(arena, clv_latency_side, units->n);
    c->scratch = CLV_NEW_ARRAY(arena, int64_t, 2 * (n + 1));
    if (!c->value || !c->exact || !c->best || !c->last || !c->spans || !c->side || !c->scratch)
        return clv_fail_nomem(err, "a chain");
    first_values(c);
    *ret = c;
    return CLV_OK;
}

/* Best way that has done the first j places with a pieces, a less by one before a piece; without a
 * limit there is one row only. */
static void step_way(clv_latency_chain_form *c, int32_t a, int32_t j)
{
    size_t n = (size_t)c->n + 1, here = (size_t)a * n + (size_t)j;
    int64_t alone = c->free_time[j - 1];
    int64_t best = alone == CLV_UNIT_NEVER ? NO_WAY : c->best[here - 1] + alone;
    int32_t last = -1;
    const int64_t *before = c->best + (size_t)(c->most_pieces ? a - 1 : 0) * n;
    for (int32_t i = j - 1; i >= 0 && (a > 0 || !c->most_pieces); i--) {
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

bool clv_latency_chain_way(clv_latency_chain_form *c)
{
    size_t n = (size_t)c->n + 1;
    for (int32_t a = 0; a <= c->most_pieces; a++) {
        c->best[(size_t)a * n] = 0;
        for (int32_t j = 1; j <= c->n; j++)
            step_way(c, a, j);
    }
    int32_t a = c->most_pieces, j = c->n; /* rows may use fewer pieces than they are allowed */
    c->bound = c->best[(size_t)a * n + (size_t)j];
    c->n_spans = 0;
    if (c->bound >= NO_WAY)
        return false;
    while (j > 0) {
        int32_t last = c->last[(size_t)a * n + (size_t)j];
        c->spans[c->n_spans++] = (clv_chain_span){ last < 0 ? j - 1 : last, j - 1, last >= 0 };
        a -= last >= 0 && c->most_pieces;
        j = last < 0 ? j - 1 : last;
    }
    for (int32_t i = 0; i < c->n_spans / 2; i++) {
        clv_chain_span span = c->spans[i];
        c->spans[i] = c->spans[c->n_spans - 1 - i];
        c->spans[c->n_spans - 1 - i] = span;
    }
    return true;
}

static void sharpen(clv_latency_chain_form *c, int32_t from, int32_t to)
{
    find_sides(c, from, to);
    c->value[at(c, from, to)] = clv_latency_cut_best(c->cut, c->side, c->weight, NULL);
    c->exact[at(c, from, to)] = true;
}

bool clv_latency_chain_sharpen(clv_latency_chain_form *c)
{
    bool sharpened = false;
    for (int32_t i = 0; i < c->n_spans; i++) {
        size_t k = at(c, c->spans[i].from, c->spans[i].to);
        if (!c->spans[i].pays || c->exact[k])
            continue;
        sharpen(c, c->spans[i].from, c->spans[i].to);
        sharpened = true;
    }
    return sharpened;
}

void clv_latency_chain_piece(clv_latency_chain_form *c, const clv_chain_span *span, bool *chosen)
{
    find_sides(c, span->from, span->to);
    clv_latency_cut_best(c->cut, c->side, c->weight, chosen);
}

/* Shortest ways from both ends without a limit of pieces: done by places done, rest by the next. */
static void both_ways(const clv_latency_chain_form *c, int64_t *done, int64_t *rest)
{
    done[0] = rest[c->n] = 0;
    for (int32_t j = 1; j <= c->n; j++) {
        done[j] =
            c->free_time[j - 1] == CLV_UNIT_NEVER ? NO_WAY : done[j - 1] + c->free_time[j - 1];
        for (int32_t i = j - 1; i >= 0 && c->value[at(c, i, j - 1)] != CLV_UNIT_NEVER; i--)
            if (done[i] + c->value[at(c, i, j - 1)] < done[j])
                done[j] = done[i] + c->value[at(c, i, j - 1)];
        done[j] = done[j] < NO_WAY ? done[j] : NO_WAY;
    }
    for (int32_t i = c->n - 1; i >= 0; i--) {
        rest[i] = c->free_time[i] == CLV_UNIT_NEVER ? NO_WAY : rest[i + 1] + c->free_time[i];
        for (int32_t j = i; j < c->n && c->value[at(c, i, j)] != CLV_UNIT_NEVER; j++)
            if (rest[j + 1] + c->value[at(c, i, j)] < rest[i])
                rest[i] = rest[j + 1] + c->value[at(c, i, j)];
        rest[i] = rest[i] < NO_WAY ? rest[i] : NO_WAY;
    }
}

void clv_latency_chain_sharpen_below(clv_latency_chain_form *c, int64_t limit,
                                     bool (*stop)(void *ctx), void *ctx)
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
                sharpen(c, i, j);
                more = true;
            }
    }
}

/* rest with a limit of pieces, for every limit up to most_pieces. */
static void counted_rest(const clv_latency_chain_form *c, int64_t *rest)
{
    size_t n = (size_t)c->n + 1;
    for (int32_t a = 0; a <= c->most_pieces; a++) {
        int64_t *row = rest + (size_t)a * n;
        row[c->n] = 0;
        for (int32_t i = c->n - 1; i >= 0; i--) {
            row[i] = c->free_time[i] == CLV_UNIT_NEVER ? NO_WAY : row[i + 1] + c->free_time[i];
            for (int32_t j = i; a > 0 && j < c->n && c->value[at(c, i, j)] != CLV_UNIT_NEVER; j++)
                if (rest[(size_t)(a - 1) * n + (size_t)j + 1] + c->value[at(c, i, j)] < row[i])
                    row[i] = rest[(size_t)(a - 1) * n + (size_t)j + 1] + c->value[at(c, i, j)];
            row[i] = row[i] < NO_WAY ? row[i] : NO_WAY;
        }
    }
}

/* Suffix minima of a piece and the rest behind it, into reach. */
static void find_reach(const clv_latency_chain_form *c, const int64_t *rest, int64_t *reach)
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

static clv_status find_counted(const clv_latency_chain_form *c, clv_arena *arena,
                               clv_chain_rest *rest, clv_error *err)
{
    size_t rows = (size_t)c->most_pieces + 1, n = (size_t)c->n;
    rest->counted_rest = CLV_NEW_ARRAY(arena, int64_t, rows * (n + 1));
    rest->counted_reach = CLV_NEW_ARRAY(arena, int64_t, rows * n * n);
    if (!rest->counted_rest || !rest->counted_reach)
        return clv_fail_nomem(err, "a chain");
    counted_rest(c, rest->counted_rest);
    for (size_t a = 0; a < rows; a++)
        find_reach(c, rest->counted_rest + a * (n + 1), rest->counted_reach + a * n * n);
    return CLV_OK;
}

clv_status clv_latency_chain_rest(const clv_latency_chain_form *c, clv_arena *arena,
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
