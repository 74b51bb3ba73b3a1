#include "solver/placement/contiguous/partial_stage.h"

#include <string.h>

#include "base/bits.h"

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "the search over ideals"); }

void clv_partial_stage_change(clv_partial_stage *g, int32_t kind, int32_t u, int32_t by)
{
    const clv_contraction *b = g->b;
    g->time += by * clv_block_time(b, kind, u);
    g->bytes += by * b->bytes[u];
    g->value += by * g->share->value[u];
    g->row[u / 64] ^= UINT64_C(1) << (u % 64);
    g->ready[u / 64] ^= UINT64_C(1) << (u % 64);
    for (int32_t i = b->at_first[u]; i < b->at_first[u + 1]; i++) {
        int32_t e = b->at[i], size = b->net_first[e + 1] - b->net_first[e];
        int32_t low = by > 0 ? g->net_in[e] : g->net_in[e] - 1; /* blocks of it without this one */
        int64_t cost = by * b->net_cost[e];
        g->net_in[e] += by;
        if (g->net_before[e] > 0)
            g->in += low == 0 ? cost : 0;
        else
            g->cut += low == 0 ? cost : low + 1 == size ? -cost : 0;
        if (g->net_before[e] + low == 0)
            g->front += cost;
        if (g->net_before[e] + low + 1 == size)
            g->front -= cost;
    }
    for (int32_t i = g->after_first[u]; i < g->after_first[u + 1]; i++) {
        int32_t v = g->after[i];
        g->waits[v] -= by;
        if (g->waits[v] == 0)
            clv_bit_set(g->ready, v);
        else
            clv_bit_clear(g->ready, v);
    }
}

int32_t clv_partial_stage_next_ready(const clv_partial_stage *g, int32_t from)
{
    size_t w = (size_t)from / 64;
    if (w >= g->words)
        return g->b->n;
    uint64_t bits = g->ready[w] & (~UINT64_C(0) << (from % 64));
    while (bits == 0)
        if (++w == g->words)
            return g->b->n;
        else
            bits = g->ready[w];
    return (int32_t)(w * 64) + __builtin_ctzll(bits);
}

bool clv_partial_stage_can_add(const clv_partial_stage *g, int32_t kind, int32_t u)
{
    const clv_place_kind *k = &g->b->p->kinds[kind];
    int64_t t = clv_block_time(g->b, kind, u);
    return t >= 0 && g->time + t <= g->limit &&
           (k->capacity_bytes < 0 || g->bytes + g->b->bytes[u] <= k->capacity_bytes);
}

/* What u would add to the load of the stage. It gets no more when the stage grows. */
static int64_t added_load(const clv_partial_stage *g, int32_t kind, int32_t u)
{
    const clv_contraction *b = g->b;
    int64_t load = clv_block_time(b, kind, u);
    for (int32_t i = b->at_first[u]; b->p->kinds[kind].pays && i < b->at_first[u + 1]; i++) {
        int32_t e = b->at[i];
        if (g->net_in[e] == 0)
            load += b->net_cost[e];
        else if (g->net_before[e] == 0 && g->net_in[e] + 1 == b->net_first[e + 1] - b->net_first[e])
            load -= b->net_cost[e];
    }
    return load;
}

/* Would whoever has u later be no worse off without it? It saves u's time and the nets that end
 * with u, and may have to pay those that begin with u, which it now has for itself. Stays true when
 * the stage grows. */
static bool is_relief(const clv_partial_stage *g, int32_t u)
{
    const clv_contraction *b = g->b;
    int64_t more = -g->share->paid_time[u];
    for (int32_t i = b->at_first[u]; i < b->at_first[u + 1]; i++) {
        int32_t e = b->at[i], held = g->net_before[e] + g->net_in[e];
        if (held == 0)
            more += b->net_cost[e];
        else if (held + 1 == b->net_first[e + 1] - b->net_first[e])
            more -= b->net_cost[e];
    }
    return more <= 0;
}

clv_stage_relief clv_partial_stage_find_relief(const clv_partial_stage *g, int32_t kind)
{
    clv_stage_relief a = { .forced = -1 };
    int64_t load = clv_partial_stage_load(g, kind);
    for (size_t w = 0; w < g->words && a.forced < 0; w++) {
        for (uint64_t bits = g->ready[w] & g->may_relieve[w]; bits; bits &= bits - 1) {
            int32_t u = (int32_t)(w * 64) + __builtin_ctzll(bits);
            if (!clv_partial_stage_can_add(g, kind, u) || !is_relief(g, u))
                continue;
            int64_t added = added_load(g, kind, u);
            a.dominated |= added <= 0 || load + added <= g->low;
            if (added <= 0 && (g->b->roomy || g->b->bytes[u] == 0)) {
                a.forced = u;
                break;
            }
        }
    }
    return a;
}

void clv_partial_stage_reset(clv_partial_stage *g, const uint64_t *row)
{
    const clv_contraction *b = g->b;
    memcpy(g->row, row, g->words * sizeof *g->row);
    memset(g->ready, 0, g->words * sizeof *g->ready);
    g->time = g->in = g->cut = g->bytes = g->value = g->front = 0;
    for (int32_t u = 0; u < b->n; u++) {
        g->waits[u] = 0;
        for (int32_t i = g->before_first[u]; i < g->before_first[u + 1]; i++)
            g->waits[u] += !clv_bit(g->row, g->before[i]);
        if (g->waits[u] == 0 && !clv_bit(g->row, u))
            clv_bit_set(g->ready, u);
    }
    for (int32_t e = 0; e < b->n_nets; e++) {
        g->net_before[e] = g->net_in[e] = 0;
        for (int32_t i = b->net_first[e]; i < b->net_first[e + 1]; i++)
            g->net_before[e] += clv_bit(g->row, b->pins[i]);
        if (g->net_before[e] > 0 && g->net_before[e] < b->net_first[e + 1] - b->net_first[e])
            g->front += b->net_cost[e];
    }
}

/* Nets that all begin with u can only be paid more when it goes; the others less at best. */
static bool may_relieve(const clv_partial_stage *g, int32_t u)
{
    const clv_contraction *b = g->b;
    const uint64_t *behind = g->behind + (size_t)u * g->words;
    int64_t more = -g->share->paid_time[u];
    for (int32_t i = b->at_first[u]; i < b->at_first[u + 1]; i++) {
        bool begins = true;
        for (int32_t n = b->net_first[b->at[i]]; n < b->net_first[b->at[i] + 1]; n++)
            begins = begins && clv_bit(behind, b->pins[n]);
        more += begins ? b->net_cost[b->at[i]] : -b->net_cost[b->at[i]];
    }
    return more <= 0;
}

static bool new_arrays(clv_partial_stage *g, clv_arena *arena)
{
    size_t n = (size_t)g->b->n, nets = (size_t)g->b->n_nets;
    g->behind = clv_arena_take_array(arena, n * g->words, sizeof *g->behind);
    g->may_relieve = CLV_NEW_ARRAY(arena, uint64_t, g->words);
    g->row = CLV_NEW_ARRAY(arena, uint64_t, g->words);
    g->ready = CLV_NEW_ARRAY(arena, uint64_t, g->words);
    g->waits = CLV_NEW_ARRAY(arena, int32_t, n);
    g->net_before = CLV_NEW_ARRAY(arena, int32_t, nets);
    g->net_in = CLV_NEW_ARRAY(arena, int32_t, nets);
    return g->behind && g->may_relieve && g->row && g->ready && g->waits && g->net_before &&
           g->net_in;
}

/* Arcs of one chain in the order of the blocks. */
static clv_status add_chain_arcs(clv_partial_stage *g, clv_arena *arena, clv_error *err)
{
    int32_t n = g->b->n;
    int32_t *after_first = CLV_NEW_ARRAY(arena, int32_t, n + 1),
            *after = CLV_NEW_ARRAY(arena, int32_t, n),
            *before_first = CLV_NEW_ARRAY(arena, int32_t, n + 1),
            *before = CLV_NEW_ARRAY(arena, int32_t, n);
    if (!after_first || !after || !before_first || !before)
        return nomem(err);
    for (int32_t u = 0; u < n; u++) {
        after_first[u + 1] = u + 1 < n ? u + 1 : u;
        before_first[u + 1] = u;
        after[u] = u + 1;
        before[u] = u;
    }
    g->after_first = after_first;
    g->after = after;
    g->before_first = before_first;
    g->before = before;
    return CLV_OK;
}

clv_status clv_partial_stage_new(const clv_contraction *b, const clv_fluid_bound *share, bool line,
                                 clv_arena *arena, clv_partial_stage *ret, clv_error *err)
{
    clv_partial_stage g = { .b = b,
                            .share = share,
                            .after_first = b->after_first,
                            .after = b->after,
                            .before_first = b->before_first,
                            .before = b->before,
                            .words = ((size_t)b->n + 63) / 64 };
    if (!new_arrays(&g, arena))
        return nomem(err);
    if (line)
        CLV_TRY(add_chain_arcs(&g, arena, err));
    for (int32_t u = b->n - 1; u >= 0; u--) {
        uint64_t *row = g.behind + (size_t)u * g.words;
        clv_bit_set(row, u);
        for (int32_t i = g.after_first[u]; i < g.after_first[u + 1]; i++)
            for (size_t w = (size_t)u / 64; w < g.words; w++)
                row[w] |= g.behind[(size_t)g.after[i] * g.words + w];
    }
    for (int32_t u = 0; u < b->n; u++)
        if (may_relieve(&g, u))
            clv_bit_set(g.may_relieve, u);
    *ret = g;
    return CLV_OK;
}
