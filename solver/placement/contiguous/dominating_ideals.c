#include "solver/placement/contiguous/dominating_ideals.h"

#include <string.h>

#include "base/bits.h"
#include "solver/common/max_flow.h"

/* Steps of one flow, some 20 ns each, before it is given up. */
#define STEPS_MAX 20000
/* The same for all flows together: some 0.1 s. */
#define ALL_STEPS_MAX 20000000
/* Chains of ideals at most. */
#define CHAINS_MAX 4
/* Of all blocks: more prefixes than this part need a loose block, and no more come behind it. */
#define LOOSE_PART 8

/* The flow network of an ideal that grows block by block. A net that leaves the ideal is a source
 * of its cost, which flows to any of its blocks in the ideal; a net within carries as much as its
 * cost; a block takes as much as its time. What is not in the ideal has capacity 0. */
typedef struct {
    const clv_contraction *b;
    const clv_fluid_bound *share;
    clv_max_flow flow;    /* nodes: blocks, two for each net of more than two, source, sink */
    int32_t *to_sink;     /* by block: its arc */
    int32_t *from_source; /* by block: of its leaving nets of two; then by net: of one of more */
    int32_t *net_arc;     /* by net: the first of its arcs (clv_max_flow_add_net()) */
    int32_t *n_held;      /* by net: blocks of it in the ideal */
    int64_t all_steps;    /* of all flows */
} network;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "dominating ideals"); }

static clv_status new_network(const clv_contraction *b, const clv_fluid_bound *share,
                              clv_arena *arena, network *w, clv_error *err)
{
    size_t n = (size_t)b->n, nets = (size_t)b->n_nets, pins = (size_t)b->net_first[b->n_nets];
    int32_t inner = b->n, n_nodes = b->n + 2;
    *w = (network){ .b = b,
                    .share = share,
                    .to_sink = CLV_NEW_ARRAY(arena, int32_t, n),
                    .from_source = CLV_NEW_ARRAY(arena, int32_t, n + nets),
                    .net_arc = CLV_NEW_ARRAY(arena, int32_t, nets),
                    .n_held = CLV_NEW_ARRAY(arena, int32_t, nets) };
    if (!w->to_sink || !w->from_source || !w->net_arc || !w->n_held)
        return nomem(err);
    for (int32_t e = 0; e < b->n_nets; e++)
        n_nodes += b->net_first[e + 1] - b->net_first[e] == 2 ? 0 : 2;
    CLV_TRY(clv_max_flow_new(n_nodes, 2 * (n + nets + pins), arena, &w->flow, err));
    for (int32_t u = 0; u < b->n; u++) {
        w->to_sink[u] = clv_max_flow_add_arc(&w->flow, u, w->flow.sink, 0, 0);
        w->from_source[u] = clv_max_flow_add_arc(&w->flow, w->flow.source, u, 0, 0);
    }
    for (int32_t e = 0; e < b->n_nets; e++) {
        int32_t size = b->net_first[e + 1] - b->net_first[e];
        w->net_arc[e] =
            clv_max_flow_add_net(&w->flow, b->pins + b->net_first[e], size, b->net_cost[e], inner);
        if (size == 2)
            continue;
        w->from_source[b->n + e] = clv_max_flow_add_arc(&w->flow, w->flow.source, inner, 0, 0);
        inner += 2;
    }
    clv_max_flow_finish(&w->flow);
    return CLV_OK;
}

/* A net of more than two got block u. */
static void change_net(network *w, int32_t net, int32_t u, bool within)
{
    const clv_contraction *b = w->b;
    int32_t a = w->net_arc[net];
    clv_max_flow_set(&w->flow, w->from_source[b->n + net], within ? 0 : b->net_cost[net]);
    clv_max_flow_set(&w->flow, a, within ? b->net_cost[net] : 0);
    a += 2;
    for (int32_t i = b->net_first[net]; i < b->net_first[net + 1]; i++, a += 4) {
        if (!within && b->pins[i] != u)
            continue;
        clv_max_flow_set(&w->flow, a, within ? CLV_FLOW_UNLIMITED : 0);
        clv_max_flow_set(&w->flow, a + 2, within ? CLV_FLOW_UNLIMITED : 0);
        clv_max_flow_set(&w->flow, a + 1, within ? 0 : CLV_FLOW_UNLIMITED); /* from the source */
    }
}

/* Block u joins the ideal. O(pins of its nets). */
static void add_block(network *w, int32_t u)
{
    const clv_contraction *b = w->b;
    clv_max_flow_set(&w->flow, w->to_sink[u], w->share->paid_time[u]);
    for (int32_t i = b->at_first[u]; i < b->at_first[u + 1]; i++) {
        int32_t e = b->at[i], size = b->net_first[e + 1] - b->net_first[e];
        const int32_t *pins = b->pins + b->net_first[e];
        bool within = ++w->n_held[e] == size;
        int32_t sender = w->from_source[within ? pins[pins[0] == u] : u];
        if (size > 2) {
            change_net(w, e, u, within);
            continue;
        }
        clv_max_flow_set(&w->flow, sender,
                         w->flow.capacity[sender] + (within ? -b->net_cost[e] : b->net_cost[e]));
        clv_max_flow_set(&w->flow, w->net_arc[e], within ? b->net_cost[e] : 0);
        clv_max_flow_set(&w->flow, w->net_arc[e] + 1, within ? b->net_cost[e] : 0);
    }
}

/* What has to be in the ideal that this one, within a prefix of the blocks, is joined to, so that
 * it dominates: the blocks into which nothing more can flow. Returns how many; more than
 * CLV_IDEAL_NEEDS_MAX: too many. */
static int32_t find_needs(network *w, int32_t size, int32_t *needs)
{
    int64_t amount;
    int32_t n = 0;
    if (!clv_max_flow_run(&w->flow, STEPS_MAX, &amount))
        return CLV_IDEAL_NEEDS_MAX + 1;
    for (int32_t u = 0; u < size && n <= CLV_IDEAL_NEEDS_MAX; u++) {
        if (!clv_max_flow_reaches(&w->flow, u))
            continue;
        if (n < CLV_IDEAL_NEEDS_MAX)
            needs[n] = u;
        n++;
    }
    return n;
}

/* -- chains -- */

bool clv_ideal_dominates(const clv_dominating_ideals *f, int32_t chain, int32_t size,
                         const uint64_t *row)
{
    size_t at = clv_dominating_ideals_at(f, chain, size);
    for (int32_t i = 0; i < f->n_needs[at]; i++)
        if (!clv_bit(row, f->needs[at * CLV_IDEAL_NEEDS_MAX + (size_t)i]))
            return false;
    return f->n_needs[at] >= 0;
}

static void test_chain(network *w, clv_dominating_ideals *dominating, int32_t chain)
{
    const uint64_t *without = dominating->without + (size_t)chain * dominating->words;
    dominating->n_needs[clv_dominating_ideals_at(dominating, chain, 0)] = -1;
    clv_max_flow_clear(&w->flow);
    memset(w->n_held, 0, (size_t)w->b->n_nets * sizeof *w->n_held);
    for (int32_t size = 1; size <= dominating->n; size++) {
        size_t at = clv_dominating_ideals_at(dominating, chain, size);
        int32_t *needs = dominating->needs + at * CLV_IDEAL_NEEDS_MAX;
        bool skip = clv_bit(without, size - 1);
        if (!skip)
            add_block(w, size - 1);
        int32_t n = skip || w->all_steps > ALL_STEPS_MAX ? -1 : find_needs(w, size, needs);
        w->all_steps += w->flow.n_steps + w->b->net_first[w->b->n_nets];
        dominating->n_needs[at] = n > CLV_IDEAL_NEEDS_MAX ? -1 : n;
    }
}

/* A block that many ideals need, and that not much has to come behind: ideals without it are worth
 * looking at. Each comes once; -1: none is left. O(n * n / 64). */
static int32_t next_loose(const clv_dominating_ideals *dominating, const uint64_t *behind,
                          int32_t *count)
{
    int32_t best = -1, n = dominating->n;
    for (int32_t u = 0; u < n; u++) {
        int32_t size = 0;
        if (count[u] <= n / LOOSE_PART || (best >= 0 && count[u] <= count[best]))
            continue;
        for (size_t w = 0; w < dominating->words; w++)
            size += __builtin_popcountll(behind[(size_t)u * dominating->words + w]);
        if (size <= n / LOOSE_PART)
            best = u;
    }
    if (best >= 0)
        count[best] = 0;
    return best;
}

clv_status clv_dominating_ideals_find(const clv_contraction *b, const clv_fluid_bound *share,
                                      const uint64_t *behind, clv_arena *arena,
                                      clv_dominating_ideals *ret, clv_error *err)
{
    network w;
    size_t words = ((size_t)b->n + 63) / 64, all = CHAINS_MAX * ((size_t)b->n + 1);
    int32_t *count = CLV_NEW_ARRAY(arena, int32_t, b->n); /* by block */
    clv_dominating_ideals dominating = {
        .n = b->n,
        .words = words,
        .without = CLV_NEW_ARRAY(arena, uint64_t, CHAINS_MAX * words),
        .n_needs = CLV_NEW_ARRAY(arena, int32_t, all),
        .needs = CLV_NEW_ARRAY(arena, int32_t, all * CLV_IDEAL_NEEDS_MAX)
    };
    if (!count || !dominating.without || !dominating.n_needs || !dominating.needs)
        return nomem(err);
    CLV_TRY(new_network(b, share, arena, &w, err));
    test_chain(&w, &dominating, dominating.n_chains++);
    for (int32_t size = 1; size <= dominating.n; size++) /* how many of the first chain need it */
        for (int32_t i = 0; i < dominating.n_needs[size]; i++)
            count[dominating.needs[(size_t)size * CLV_IDEAL_NEEDS_MAX + (size_t)i]]++;
    while (dominating.n_chains < CHAINS_MAX) {
        int32_t u = next_loose(&dominating, behind, count);
        if (u < 0)
            break;
        memcpy(dominating.without + (size_t)dominating.n_chains * words, behind + (size_t)u * words,
               words * sizeof *behind);
        test_chain(&w, &dominating, dominating.n_chains++);
    }
    *ret = dominating;
    return CLV_OK;
}
