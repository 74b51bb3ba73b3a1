#include "solver/placement/latency/component_memory_bound.h"

#include "solver/placement/latency/chain_bounds.h"

#include <math.h>

#define NAME "parts, memory priced"

/* Parts are given room by their bytes first, then by what they need under the bound so far. */
#define ROUNDS 3
/* Room that changed by less than this part is not worth new lines. */
#define CHANGE 0.05
/* What sums of bytes and prices may be off by. */
#define ROUNDING 1e-12
/* Halvings until the bound is found. */
#define HALVINGS 60
/* Nodes of all parts that lines are made of: some ten chains each. */
#define MOST_NODES 5000

typedef struct {
    clv_component_shares *s;
    clv_memory_lines *lines; /* by group */
    double *asked;           /* by group: room for which it has lines; 0: none */
    double room;             /* bytes of all paying devices */
} memory_bound;

static double bytes_needed(const clv_memory_lines *lines, double limit)
{
    double most = 0;
    for (int32_t i = 0; i < lines->n; i++)
        if (lines->at[i].price > 0 && lines->at[i].cost > limit)
            most = fmax(most, (lines->at[i].cost - limit) / lines->at[i].price);
    return most;
}

static double bytes_needed_by_all(const memory_bound *r, double limit)
{
    double sum = 0;
    for (int32_t i = 0; i < r->s->parts.n_groups; i++)
        sum += r->s->groups[i].n_copies * bytes_needed(&r->lines[i], limit);
    return sum;
}

/* The largest limit that is refuted, up to rounding; at least low. O(lines). */
static double largest_refuted_limit(const memory_bound *r, double low)
{
    double high = low;
    for (int32_t i = 0; i < r->s->parts.n_groups; i++)
        for (int32_t j = 0; j < r->lines[i].n; j++)
            high = fmax(high, r->lines[i].at[j].cost);
    for (int32_t i = 0; i < HALVINGS; i++) {
        double limit = low + (high - low) / 2;
        if (bytes_needed_by_all(r, limit) * (1 - ROUNDING) > r->room)
            low = limit;
        else
            high = limit;
    }
    return low;
}

static clv_status add_lines(memory_bound *r, int32_t group, double room, clv_error *err)
{
    clv_component_shares *s = r->s;
    clv_mark mark = clv_arena_mark(s->arena);
    clv_latency_tables *tables;
    r->asked[group] = room;
    CLV_TRY(clv_latency_tables_new(s->groups[group].p, s->search->options->rules.contiguous,
                                   s->arena, &tables, err));
    CLV_TRY(
        clv_chain_memory_lines(s->search, tables, (int64_t)room, s->arena, &r->lines[group], err));
    clv_arena_rewind(s->arena, mark);
    return CLV_OK;
}

/* New lines for each part whose room has changed. Its room is in proportion to what it needs under
 * the bound or, first, to its bytes; all is the sum of these. */
static clv_status add_lines_of_parts(memory_bound *r, bool first, double all, bool *more,
                                     clv_error *err)
{
    clv_component_shares *s = r->s;
    for (int32_t i = 0; i < s->parts.n_groups && clv_component_shares_may_solve(s); i++) {
        double own = first ? (double)s->groups[i].bytes : bytes_needed(&r->lines[i], s->bound);
        double room = floor(all > 0 ? r->room * own / all : 0), asked = r->asked[i];
        if (room < 1 || s->groups[i].alone <= s->bound ||
            fabs(room - asked) <= CHANGE * fmax(room, asked))
            continue;
        CLV_TRY(add_lines(r, i, room, err));
        *more = true;
    }
    return CLV_OK;
}

clv_status clv_component_memory_bound(clv_component_shares *s, clv_error *err)
{
    memory_bound r = { .s = s };
    const clv_place_kind *kinds = s->p->kinds;
    int32_t n = s->parts.n_groups;
    double all = 0, nodes = 0;
    bool more = true;
    for (int32_t k = 0; k < s->p->n_kinds; k++)
        if (kinds[k].pays && kinds[k].count > 0)
            r.room += kinds[k].capacity_bytes == CLV_PLACE_UNLIMITED
                          ? INFINITY
                          : (double)kinds[k].capacity_bytes * kinds[k].count;
    for (int32_t i = 0; i < n; i++) {
        all += (double)s->groups[i].bytes * s->groups[i].n_copies;
        nodes += s->groups[i].alone > s->bound ? s->groups[i].p->n_nodes : 0;
    }
    if (all <= r.room || r.room <= 0 || nodes > MOST_NODES)
        return CLV_OK;
    clv_mark mark = clv_arena_mark(s->arena);
    r.lines = CLV_NEW_ARRAY(s->arena, clv_memory_lines, n);
    r.asked = CLV_NEW_ARRAY(s->arena, double, n);
    if (!r.lines || !r.asked)
        return clv_fail_nomem(err, "a bound");
    for (int32_t i = 0; i < ROUNDS && more && !clv_place_over(s->search); i++) {
        more = false;
        CLV_TRY(add_lines_of_parts(&r, i == 0, all, &more, err));
        s->bound = fmax(s->bound, largest_refuted_limit(&r, s->bound));
        clv_place_raise(s->search, NAME, s->bound);
        all = bytes_needed_by_all(&r, s->bound);
    }
    clv_arena_rewind(s->arena, mark);
    return CLV_OK;
}
