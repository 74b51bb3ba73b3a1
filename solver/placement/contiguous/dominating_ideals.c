#include "solver/placement/contiguous/dominating_ideals.h"

#include <string.h>

/* Nodes met by one flow, some 20 ns each, before it is given up. */
#define STEPS_MAX 20000
/* The same for all flows together: some 0.1 s. */
#define ALL_STEPS_MAX 20000000
/* Chains of ideals at most. */
#define CHAINS_MAX 4
/* Of all blocks: more prefixes than this part need a loose block, and no more come behind it. */
#define LOOSE_PART 8

/* Nodes of the graph that is searched: blocks, and both sides of each net. A net that leaves the
 * ideal has its first side alone, from which its cost flows to any of its pins. A net within takes
 * what pins give it to its second side, up to its cost, and that gives to any pin. */
typedef struct {
    const clv_contraction *b;
    const clv_fluid_bound *share;
    int32_t size;            /* of the prefix */
    const uint64_t *without; /* row: what is not in the ideal all the same */
    int32_t *at_pin;         /* as b->at: where in pins the block is */
    int64_t *sent;           /* by pin: from the block to the net; below 0: the other way */
    int64_t *through;        /* by net: what flows through, or out of it if it leaves */
    int64_t *room;           /* by block: what it still takes */
    bool *leaves;            /* by net */
    int32_t *nets;           /* those that leave */
    int32_t n_nets;
    int32_t *queue, *from, *via; /* by node: where it was met from, and at which pin */
    int32_t *seen, stamp;
    int32_t n_queue, n_steps;
    int64_t all_steps; /* of all flows */
} flow;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "firm ideals"); }

static bool holds(const uint64_t *row, int32_t u) { return row[u / 64] >> (u % 64) & 1; }

static bool is_in(const flow *f, int32_t u) { return u < f->size && !holds(f->without, u); }

static int32_t node_in(const flow *f, int32_t net) { return f->b->n + 2 * net; }
static int32_t node_out(const flow *f, int32_t net) { return f->b->n + 2 * net + 1; }

static void meet(flow *f, int32_t node, int32_t from, int32_t via)
{
    if (f->seen[node] == f->stamp)
        return;
    f->seen[node] = f->stamp;
    f->from[node] = from;
    f->via[node] = via;
    f->queue[f->n_queue++] = node;
}

/* From a block into its nets. */
static void leave_block(flow *f, int32_t u)
{
    const clv_contraction *b = f->b;
    for (int32_t i = b->at_first[u]; i < b->at_first[u + 1]; i++) {
        int32_t e = b->at[i], pin = f->at_pin[i];
        f->n_steps++;
        if (!f->leaves[e])
            meet(f, node_in(f, e), u, pin);
        if (f->sent[pin] < 0)
            meet(f, f->leaves[e] ? node_in(f, e) : node_out(f, e), u, pin);
    }
}

/* From a side of a net to its pins, and to the other side. */
static void leave_net(flow *f, int32_t node)
{
    const clv_contraction *b = f->b;
    int32_t e = (node - b->n) / 2;
    bool out = node == node_out(f, e), any = out || f->leaves[e];
    for (int32_t pin = b->net_first[e]; pin < b->net_first[e + 1]; pin++) {
        f->n_steps++;
        if ((any || f->sent[pin] > 0) && is_in(f, b->pins[pin]))
            meet(f, b->pins[pin], node, pin);
    }
    if (f->leaves[e])
        return;
    if (!out && f->through[e] < b->net_cost[e])
        meet(f, node_out(f, e), node, -1);
    if (out && f->through[e] > 0)
        meet(f, node_in(f, e), node, -1);
}

/* How much more an edge of the path takes. */
static int64_t room_of(const flow *f, int32_t node)
{
    const clv_contraction *b = f->b;
    int32_t from = f->from[node], pin = f->via[node];
    int32_t e = ((node >= b->n ? node : from) - b->n) / 2;
    if (pin < 0)
        return node == node_out(f, e) ? b->net_cost[e] - f->through[e] : f->through[e];
    if (node < b->n) /* to a block: freely, or back what it sent */
        return f->leaves[e] || from == node_out(f, e) ? INT64_MAX : f->sent[pin];
    return !f->leaves[e] && node == node_in(f, e) ? INT64_MAX : -f->sent[pin];
}

static void push(flow *f, int32_t node, int64_t amount)
{
    const clv_contraction *b = f->b;
    int32_t from = f->from[node], pin = f->via[node];
    int32_t e = ((node >= b->n ? node : from) - b->n) / 2;
    if (pin < 0)
        f->through[e] += node == node_out(f, e) ? amount : -amount;
    else
        f->sent[pin] += node < b->n ? -amount : amount;
}

/* One way from a net that leaves and has not sent all to a block that takes more. */
static bool augment(flow *f)
{
    const clv_contraction *b = f->b;
    int32_t last = -1;
    f->stamp++;
    f->n_queue = 0;
    for (int32_t i = 0; i < f->n_nets; i++)
        if (f->through[f->nets[i]] < b->net_cost[f->nets[i]])
            meet(f, node_in(f, f->nets[i]), -1, -1);
    for (int32_t i = 0; i < f->n_queue && last < 0; i++) {
        int32_t node = f->queue[i];
        if (node >= b->n)
            leave_net(f, node);
        else if (f->room[node] > 0)
            last = node;
        else
            leave_block(f, node);
    }
    if (last < 0)
        return false;
    int64_t amount = f->room[last];
    int32_t node = last;
    for (; f->from[node] >= 0; node = f->from[node]) {
        int64_t room = room_of(f, node);
        amount = room < amount ? room : amount;
    }
    int32_t net = (node - b->n) / 2;
    if (b->net_cost[net] - f->through[net] < amount)
        amount = b->net_cost[net] - f->through[net];
    f->through[net] += amount;
    f->room[last] -= amount;
    for (node = last; f->from[node] >= 0; node = f->from[node])
        push(f, node, amount);
    return true;
}

/* Takes up a prefix of the blocks. */
static void start_flow(flow *f, int32_t size)
{
    const clv_contraction *b = f->b;
    f->size = size;
    f->n_nets = f->n_steps = 0;
    memset(f->sent, 0, (size_t)b->net_first[b->n_nets] * sizeof *f->sent);
    memset(f->through, 0, (size_t)b->n_nets * sizeof *f->through);
    for (int32_t u = 0; u < size; u++)
        f->room[u] = f->share->paid_time[u];
    for (int32_t e = 0; e < b->n_nets; e++) {
        int32_t in = 0, n = b->net_first[e + 1] - b->net_first[e];
        for (int32_t i = b->net_first[e]; i < b->net_first[e + 1] && b->pins[i] < size; i++)
            in += is_in(f, b->pins[i]);
        f->leaves[e] = in < n;
        if (in > 0 && in < n)
            f->nets[f->n_nets++] = e;
    }
}

/* What has to be in the ideal that the prefix is joined to, beyond which it is firm: the blocks
 * that nothing more can flow into. Then they take all. Returns how many; more than
 * CLV_IDEAL_NEEDS_MAX: too many. */
static int32_t find_needs(flow *f, int32_t size, int32_t *needs)
{
    int32_t n = 0;
    start_flow(f, size);
    for (;;) {
        while (f->n_steps < STEPS_MAX && augment(f))
            ;
        if (f->n_steps >= STEPS_MAX)
            return CLV_IDEAL_NEEDS_MAX + 1;
        if (f->n_queue == 0)
            return n; /* all has flowed */
        for (int32_t i = 0; i < f->n_queue; i++) {
            if (f->queue[i] >= f->b->n)
                continue;
            if (n == CLV_IDEAL_NEEDS_MAX)
                return CLV_IDEAL_NEEDS_MAX + 1;
            needs[n++] = f->queue[i];
            f->room[f->queue[i]] = CLV_TICKS_MAX;
        }
    }
}

static clv_status new_flow(const clv_contraction *b, const clv_fluid_bound *share, clv_arena *arena,
                           flow *ret, clv_error *err)
{
    size_t n = (size_t)b->n, nets = (size_t)b->n_nets, pins = (size_t)b->net_first[b->n_nets];
    int32_t *fill = CLV_NEW_ARRAY(arena, int32_t, n);
    *ret = (flow){ .b = b,
                   .share = share,
                   .at_pin = CLV_NEW_ARRAY(arena, int32_t, pins),
                   .sent = CLV_NEW_ARRAY(arena, int64_t, pins),
                   .through = CLV_NEW_ARRAY(arena, int64_t, nets),
                   .room = CLV_NEW_ARRAY(arena, int64_t, n),
                   .leaves = CLV_NEW_ARRAY(arena, bool, nets),
                   .nets = CLV_NEW_ARRAY(arena, int32_t, nets),
                   .queue = CLV_NEW_ARRAY(arena, int32_t, n + 2 * nets),
                   .from = CLV_NEW_ARRAY(arena, int32_t, n + 2 * nets),
                   .via = CLV_NEW_ARRAY(arena, int32_t, n + 2 * nets),
                   .seen = CLV_NEW_ARRAY(arena, int32_t, n + 2 * nets) };
    if (!fill || !ret->at_pin || !ret->sent || !ret->through || !ret->room || !ret->leaves ||
        !ret->nets || !ret->queue || !ret->from || !ret->via || !ret->seen)
        return nomem(err);
    for (int32_t e = 0; e < b->n_nets; e++)
        for (int32_t i = b->net_first[e]; i < b->net_first[e + 1]; i++)
            ret->at_pin[b->at_first[b->pins[i]] + fill[b->pins[i]]++] = i;
    return CLV_OK;
}

/* -- chains -- */

bool clv_ideal_dominates(const clv_dominating_ideals *f, int32_t chain, int32_t size,
                         const uint64_t *row)
{
    size_t at = clv_dominating_ideals_at(f, chain, size);
    for (int32_t i = 0; i < f->n_needs[at]; i++)
        if (!holds(row, f->needs[at * CLV_IDEAL_NEEDS_MAX + (size_t)i]))
            return false;
    return f->n_needs[at] >= 0;
}

static void test_chain(flow *f, clv_dominating_ideals *firm, int32_t chain)
{
    f->without = firm->without + (size_t)chain * firm->words;
    firm->n_needs[clv_dominating_ideals_at(firm, chain, 0)] = -1;
    for (int32_t size = 1; size <= firm->n; size++) {
        size_t at = clv_dominating_ideals_at(firm, chain, size);
        int32_t *needs = firm->needs + at * CLV_IDEAL_NEEDS_MAX;
        bool skip = holds(f->without, size - 1) || f->all_steps > ALL_STEPS_MAX;
        int32_t n = skip ? -1 : find_needs(f, size, needs);
        f->all_steps += f->n_steps + f->b->net_first[f->b->n_nets];
        firm->n_needs[at] = n > CLV_IDEAL_NEEDS_MAX ? -1 : n;
    }
}

/* By block: how many ideals of the first chain need it. */
static void count_needs(const clv_dominating_ideals *firm, int32_t *count)
{
    for (int32_t size = 1; size <= firm->n; size++)
        for (int32_t i = 0; i < firm->n_needs[size]; i++)
            count[firm->needs[(size_t)size * CLV_IDEAL_NEEDS_MAX + (size_t)i]]++;
}

/* A block that many ideals need, and that not much has to come behind: ideals without it are worth
 * looking at. Each comes once; -1: none is left. O(n * n / 64). */
static int32_t next_loose(const clv_dominating_ideals *firm, const uint64_t *behind, int32_t *count)
{
    int32_t best = -1, n = firm->n;
    for (int32_t u = 0; u < n; u++) {
        int32_t size = 0;
        if (count[u] <= n / LOOSE_PART || (best >= 0 && count[u] <= count[best]))
            continue;
        for (size_t w = 0; w < firm->words; w++)
            size += __builtin_popcountll(behind[(size_t)u * firm->words + w]);
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
    flow f = { 0 };
    size_t words = ((size_t)b->n + 63) / 64, all = CHAINS_MAX * ((size_t)b->n + 1);
    int32_t *count = CLV_NEW_ARRAY(arena, int32_t, b->n);
    clv_dominating_ideals firm = { .n = b->n,
                                   .words = words,
                                   .without = CLV_NEW_ARRAY(arena, uint64_t, CHAINS_MAX * words),
                                   .n_needs = CLV_NEW_ARRAY(arena, int32_t, all),
                                   .needs =
                                       CLV_NEW_ARRAY(arena, int32_t, all * CLV_IDEAL_NEEDS_MAX) };
    if (!count || !firm.without || !firm.n_needs || !firm.needs)
        return nomem(err);
    CLV_TRY(new_flow(b, share, arena, &f, err));
    test_chain(&f, &firm, firm.n_chains++);
    count_needs(&firm, count);
    while (firm.n_chains < CHAINS_MAX) {
        int32_t u = next_loose(&firm, behind, count);
        if (u < 0)
            break;
        memcpy(firm.without + (size_t)firm.n_chains * words, behind + (size_t)u * words,
               words * sizeof *behind);
        test_chain(&f, &firm, firm.n_chains++);
    }
    *ret = firm;
    return CLV_OK;
}
