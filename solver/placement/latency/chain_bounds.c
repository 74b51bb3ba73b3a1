#include "solver/placement/latency/chain_bounds.h"

#include <math.h>
#include <string.h>

#include "base/map.h"
#include "solver/placement/latency/chain_end_cuts.h"

/* What a bound may lose to rounding when the judge adds up the same times in another order. */
#define ROUNDING 0x1p-50
/* The same for a path, whose sum is of rounded numbers itself. */
#define PATH_ROUNDING 0x1p-34
/* Rows of bits, and tables of a chain, grow with the square: beyond this many nodes they are not
 * made. */
#define MOST_NODES  20000
#define MOST_PLACES 4096
/* From so many places on, both ends of all long intervals are found first. */
#define MANY_PLACES 1000
/* Prices of memory that are tried; and ticks that all bytes together may cost, so that sums of sums
 * stay in range. */
#define MOST_PRICES 24
#define MOST_PRICED 0x1p57

typedef struct {
    clv_place_search *search;
    const clv_latency_tables *tables;
    const clv_latency_units *units; /* NULL where only paths are sought */
    clv_piece_cut *cut;
    double *heavy;   /* by node: weight of the heaviest path that ends there */
    int32_t *before; /* by node: the one before it on that path, or -1 */
    int32_t *path;
    int32_t n_path;
    clv_memory_lines *lines; /* where lines are kept instead of raising the bound; or NULL */
} chain_bounder;

/* What a node weighs: ways to choose a path. */
typedef enum { BY_PAYING_TIME, BY_TIME_AND_SENDING, BY_LEAST, BY_FREE_TIME, N_WEIGHTS } weight_kind;

static double weigh(const chain_bounder *b, int32_t v, weight_kind kind)
{
    const clv_place_problem *p = b->tables->p;
    double pays = INFINITY, free = INFINITY, send = p->send_cost[v];
    for (int32_t k = 0; k < p->n_kinds; k++) {
        double time = p->time[(size_t)k * (size_t)p->n_nodes + (size_t)v];
        double *least = p->kinds[k].pays ? &pays : &free;
        if (time >= 0 && time < *least && p->kinds[k].count > 0)
            *least = time;
    }
    switch (kind) {
    case BY_PAYING_TIME:
        return fmin(pays, INFINITY) < INFINITY ? pays : fmin(free, 1e300);
    case BY_TIME_AND_SENDING:
        return fmin(fmin(pays + 2 * send, free), 1e300);
    case BY_LEAST:
        return fmin(fmin(pays, free), 1e300);
    case BY_FREE_TIME:
    case N_WEIGHTS:
        return free < INFINITY ? free : fmin(pays, 1e300);
    }
    return 0;
}

static void find_path(chain_bounder *b, weight_kind kind)
{
    const clv_latency_tables *f = b->tables;
    const clv_place_problem *p = f->p;
    int32_t end = -1;
    for (int32_t i = 0; i < p->n_nodes; i++) {
        int32_t v = p->order[i];
        b->before[v] = -1;
        for (int32_t e = f->in.first[v]; e < f->in.first[v + 1]; e++)
            if (b->before[v] < 0 || b->heavy[f->in.at[e]] > b->heavy[b->before[v]])
                b->before[v] = f->in.at[e];
        b->heavy[v] = weigh(b, v, kind) + (b->before[v] < 0 ? 0 : b->heavy[b->before[v]]);
        if (end < 0 || b->heavy[v] >= b->heavy[end])
            end = v;
    }
    b->n_path = 0;
    for (int32_t v = end; v >= 0; v = b->before[v])
        b->path[b->n_path++] = v;
    for (int32_t i = 0; i < b->n_path / 2; i++) {
        int32_t v = b->path[i];
        b->path[i] = b->path[b->n_path - 1 - i];
        b->path[b->n_path - 1 - i] = v;
    }
}

/* Divides the path in the best way, with exact values, if the run lets it. */
static clv_status divide(chain_bounder *b, const int64_t *weight, clv_arena *arena,
                         clv_chain_division **ret, clv_error *err)
{
    clv_chain_division *chain;
    clv_chain path = { .units = b->units,
                       .cut = b->cut,
                       .weight = weight,
                       .path = b->path,
                       .n_path = b->n_path,
                       .most_pieces = b->units->whole ? b->tables->n_columns : 0 };
    CLV_TRY(clv_chain_division_new(&path, arena, &chain, err));
    if (chain->n >= MANY_PLACES)
        CLV_TRY(clv_chain_end_cuts(chain, clv_place_over_ctx, b->search, arena, err));
    bool any = clv_chain_division_shortest(chain);
    if (!any) /* some unit of the path runs nowhere */
        clv_place_raise(b->search, "chain", INFINITY);
    while (any && !clv_place_over(b->search) && clv_chain_division_refine(chain))
        any = clv_chain_division_shortest(chain);
    *ret = chain;
    return CLV_OK;
}

/* One price of memory: paying devices hold room bytes at most, so what the best way costs with its
 * bytes at a price, less the price of room, is a bound. */
typedef struct {
    double price; /* ticks a byte */
    double cost;  /* ticks of the best way without the price */
    double bytes; /* of its pieces */
    double bound; /* ticks */
} priced;

static clv_status divide_priced(chain_bounder *b, double price, clv_arena *arena,
                                clv_chain_division **ret, clv_error *err)
{
    const clv_latency_units *u = b->units;
    int64_t *weight = CLV_NEW_ARRAY(arena, int64_t, u->n);
    if (!weight)
        return clv_fail_nomem(err, "a bound");
    for (int32_t i = 0; i < u->n; i++)
        weight[i] = u->paying_time[i] == CLV_UNIT_NEVER
                        ? CLV_UNIT_NEVER
                        : u->paying_time[i] + (int64_t)floor(price * (double)u->bytes[i]);
    return divide(b, weight, arena, ret, err);
}

static clv_status bound_priced(chain_bounder *b, int64_t room, priced *at, clv_arena *arena,
                               clv_error *err)
{
    const clv_latency_units *u = b->units;
    clv_mark mark = clv_arena_mark(arena);
    clv_chain_division *chain;
    bool *chosen = CLV_NEW_ARRAY(arena, bool, u->n);
    if (!chosen)
        return clv_fail_nomem(err, "a bound");
    CLV_TRY(divide_priced(b, at->price, arena, &chain, err));
    at->bound = (double)chain->bound * (1 - ROUNDING) - at->price * (double)room * (1 + ROUNDING);
    if (!b->lines)
        clv_place_raise(b->search, "chain, memory priced", at->bound * u->tick);
    else if (b->lines->n < CLV_MEMORY_LINES_MAX)
        b->lines->at[b->lines->n++] =
            (clv_memory_line){ (double)chain->bound * (1 - ROUNDING) * u->tick,
                               at->price * (1 + ROUNDING) * u->tick };
    at->bytes = 0;
    for (int32_t i = 0; i < chain->n_spans; i++) {
        if (!chain->spans[i].pays)
            continue;
        clv_chain_division_piece(chain, &chain->spans[i], chosen);
        for (int32_t j = 0; j < u->n; j++)
            at->bytes += chosen[j] ? (double)u->bytes[j] : 0;
    }
    at->cost = (double)chain->bound - at->price * at->bytes;
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}

/* The best price of memory, by where the lines of a price too low and of one too high meet. */
static clv_status find_price(chain_bounder *b, int64_t room, priced *best, clv_arena *arena,
                             clv_error *err)
{
    const clv_latency_units *u = b->units;
    priced low = { 0 }, high = { .price = best->bound / (double)room };
    double all = 0;
    for (int32_t i = 0; i < u->n; i++)
        all += (double)u->bytes[i];
    CLV_TRY(bound_priced(b, room, &low, arena, err));
    for (int32_t i = 0; i < MOST_PRICES && !clv_place_over(b->search); i++) {
        bool climbs = high.bytes == 0 && high.cost == 0;
        priced mid = high;
        if (!climbs) {
            if (low.bytes <= (double)room || low.bytes <= high.bytes)
                break;
            mid.price = (high.cost - low.cost) / (low.bytes - high.bytes);
            if (mid.price <= low.price || mid.price >= high.price)
                break;
        }
        if (mid.price * all > MOST_PRICED)
            break;
        CLV_TRY(bound_priced(b, room, &mid, arena, err));
        if (mid.bound > best->bound)
            *best = mid;
        if (mid.bytes <= (double)room)
            high = mid;
        else
            low = mid;
        if (climbs && mid.bytes > (double)room)
            high = (priced){ .price = 2 * mid.price };
    }
    return CLV_OK;
}

/* Where not all units have room on paying devices: the bound with a price of memory, and the chain
 * with it beside the other one. */
static clv_status bound_memory(chain_bounder *b, clv_chain_division *chain, clv_arena *arena,
                               clv_error *err)
{
    int64_t room = clv_latency_most_held(b->units);
    priced best = { .bound = (double)chain->bound };
    if (b->units->whole || room <= 0 || chain->bound <= 0)
        return CLV_OK;
    CLV_TRY(find_price(b, room, &best, arena, err));
    if (best.price <= 0 || clv_place_over(b->search))
        return CLV_OK;
    chain->price = best.price;
    return divide_priced(b, best.price, arena, &chain->priced, err);
}

/* One chain a way to weigh, as long as they differ; the best one stays, its path too. */
static clv_status bound_chains(chain_bounder *b, clv_arena *arena, clv_chain_division **ret,
                               clv_error *err)
{
    int64_t bound = -1;
    uint64_t seen[N_WEIGHTS];
    int32_t best = 0;
    for (int32_t kind = 0; kind < N_WEIGHTS && !clv_place_over(b->search); kind++) {
        clv_chain_division *chain;
        bool again = false;
        find_path(b, (weight_kind)kind);
        /* two paths of one hash are taken for one: that costs a bound, nothing else */
        seen[kind] = clv_hash(CLV_HASH_INIT, b->path, (size_t)b->n_path * sizeof *b->path);
        for (int32_t i = 0; i < kind; i++)
            again |= seen[i] == seen[kind];
        if (again || b->n_path > MOST_PLACES)
            continue;
        clv_mark mark = clv_arena_mark(arena);
        CLV_TRY(divide(b, b->units->paying_time, arena, &chain, err));
        clv_place_raise(b->search, "chain", (double)chain->bound * b->units->tick * (1 - ROUNDING));
        if (chain->bound > bound) {
            bound = chain->bound;
            best = kind;
            *ret = chain;
        } else {
            clv_arena_rewind(arena, mark);
        }
    }
    find_path(b, (weight_kind)best);
    return CLV_OK;
}

/* Units, cuts, and the best chain; NULL where the problem is too large for chains. */
static clv_status find_best_chain(chain_bounder *b, clv_arena *arena, clv_chain_division **ret,
                                  clv_error *err)
{
    const clv_place_problem *p = b->tables->p;
    clv_latency_units *units;
    *ret = NULL;
    b->heavy = CLV_NEW_ARRAY(arena, double, p->n_nodes);
    b->before = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    b->path = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    if (!b->heavy || !b->before || !b->path)
        return clv_fail_nomem(err, "a bound");
    if (p->n_nodes == 0)
        return CLV_OK;
    find_path(b, BY_LEAST);
    clv_place_raise(b->search, "longest path",
                    b->heavy[b->path[b->n_path - 1]] * (1 - PATH_ROUNDING));
    if (p->n_nodes > MOST_NODES || clv_place_over(b->search))
        return CLV_OK;
    CLV_TRY(clv_latency_units_new(b->tables, arena, &units, err));
    CLV_TRY(clv_piece_cut_new(units, arena, &b->cut, err));
    b->units = units;
    return bound_chains(b, arena, ret, err);
}

clv_status clv_chain_bounds(clv_place_search *search, const clv_latency_tables *tables,
                            clv_arena *arena, clv_chain_division **ret, clv_error *err)
{
    chain_bounder b = { .search = search, .tables = tables };
    CLV_TRY(find_best_chain(&b, arena, ret, err));
    return *ret ? bound_memory(&b, *ret, arena, err) : CLV_OK;
}

clv_status clv_chain_memory_lines(clv_place_search *search, const clv_latency_tables *tables,
                                  int64_t room, clv_arena *arena, clv_memory_lines *lines,
                                  clv_error *err)
{
    chain_bounder b = { .search = search, .tables = tables, .lines = lines };
    clv_mark mark = clv_arena_mark(arena);
    clv_chain_division *chain;
    CLV_TRY(find_best_chain(&b, arena, &chain, err));
    if (chain && chain->bound > 0 && !clv_place_over(search)) {
        priced best = { .bound = (double)chain->bound };
        CLV_TRY(find_price(&b, room > 0 ? room : 1, &best, arena, err));
    }
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
