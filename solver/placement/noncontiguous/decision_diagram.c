/* decision_diagram.c - states layer by layer; an op is what placing a block means to one of its
 * nets. */
#include "solver/placement/noncontiguous/decision_diagram.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Two bits each in a 64-bit code of a state: touched by side 0, by side 1. */
#define SLOTS 32
/* Nets are forgotten above so many hundredths of a bit of states, about 2,000. All nets of two
 * blocks that one block has opened are in two states together: they say where that block went.
 * Others have three each. */
#define STATE_BITS_MAX 1100
#define BITS_OF_TWO    100
#define BITS_OF_MORE   159

typedef struct {
    int64_t cost;
    uint8_t slot;
    bool first, last; /* of the blocks in the list */
    bool frees;       /* no other net needs the slot from here on */
    bool outside;     /* the net has other blocks too: every side that touches it pays */
} op;

typedef struct {
    uint64_t code;
    int32_t step; /* 2 * state + side */
} arrival;

struct clv_diagram_builder {
    const clv_contraction *b;
    clv_arena *arena;
    clv_diagram diagram;
    const int32_t *blocks;
    int32_t n;
    bool nets;
    int32_t *count,
        *seen; /* by net: blocks in the list, and of them those met; zero between uses */
    bool *forgotten;
    uint8_t *slot;    /* by net; those of two blocks have that of the block that opened them */
    int32_t *opener;  /* by net of two blocks: that block */
    int32_t *open;    /* nets, while those to forget are chosen */
    int32_t *pending; /* by block: such nets that are open; zero between uses */
    uint8_t *slot_of; /* by block with such nets */
    op *ops;          /* of one block */
    int32_t n_ops, cap_ops;
    uint32_t used; /* slots */
    int32_t *layer, cap_layer;
    uint64_t *code; /* by state */
    int32_t cap_code, n_states;
    clv_diagram_arc *step;
    int32_t cap_step;
    arrival *arrivals;
    int32_t n_arrivals, cap_arrivals;
    int32_t *in_first, *in, cap_in_first, cap_in;
};

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "a line of blocks"); }

clv_status clv_diagram_builder_new(const clv_contraction *b, clv_arena *arena,
                                   clv_diagram_builder **ret, clv_error *err)
{
    clv_diagram_builder *m = CLV_NEW(arena, clv_diagram_builder);
    if (!m)
        return nomem(err);
    m->b = b;
    m->arena = arena;
    m->count = CLV_NEW_ARRAY(arena, int32_t, b->n_nets);
    m->seen = CLV_NEW_ARRAY(arena, int32_t, b->n_nets);
    m->forgotten = CLV_NEW_ARRAY(arena, bool, b->n_nets);
    m->slot = CLV_NEW_ARRAY(arena, uint8_t, b->n_nets);
    m->opener = CLV_NEW_ARRAY(arena, int32_t, b->n_nets);
    m->open = CLV_NEW_ARRAY(arena, int32_t, b->n_nets);
    m->pending = CLV_NEW_ARRAY(arena, int32_t, b->n);
    m->slot_of = CLV_NEW_ARRAY(arena, uint8_t, b->n);
    if (!m->count || !m->seen || !m->forgotten || !m->slot || !m->opener || !m->open ||
        !m->pending || !m->slot_of)
        return nomem(err);
    *ret = m;
    return CLV_OK;
}

/* Room for so many elements, what is there lost. */
#define ROOM(m, ptr, cap, want)                                                                    \
    ((want) <= (cap) ||                                                                            \
     ((cap) = (want) + (want) / 2,                                                                 \
      (ptr) = clv_arena_take_array((m)->arena, (size_t)(cap), sizeof *(ptr))) != NULL)

/* -- nets to forget -- */

typedef struct {
    int32_t *net; /* room for all of the problem */
    int32_t n, slots, bits;
} open_nets;

/* A net of two blocks costs nothing beside others that the same block has opened. */
static void count_open(const clv_diagram_builder *m, open_nets *open, int32_t net, int32_t sign)
{
    bool two = m->count[net] == 2;
    int32_t *pending = two ? &m->pending[m->opener[net]] : NULL;
    bool counts = !two || *pending == (sign > 0 ? 0 : 1);
    if (two)
        *pending += sign;
    if (!counts)
        return;
    open->slots += sign;
    open->bits += sign * (two ? BITS_OF_TWO : BITS_OF_MORE);
}

static void close_net(const clv_diagram_builder *m, open_nets *open, int32_t net)
{
    for (int32_t i = 0; i < open->n; i++) {
        if (open->net[i] != net)
            continue;
        open->net[i] = open->net[--open->n];
        count_open(m, open, net, -1);
        return;
    }
}

/* The net has joined those open; the cheapest go while there are too many. */
static void open_net(clv_diagram_builder *m, open_nets *open, int32_t net)
{
    const int64_t *cost = m->b->net_cost;
    open->net[open->n++] = net;
    count_open(m, open, net, 1);
    while (open->slots > SLOTS || open->bits > STATE_BITS_MAX) {
        int32_t least = net;
        for (int32_t i = 0; i < open->n; i++)
            if (cost[open->net[i]] < cost[least])
                least = open->net[i];
        m->forgotten[least] = true;
        m->diagram.exact = false;
        close_net(m, open, least);
        if (least == net)
            net = open->net[0];
    }
}

/* Of the nets open at once the cheapest, while there are too many. O(pins * open nets). */
static void forget_nets(clv_diagram_builder *m)
{
    const clv_contraction *b = m->b;
    open_nets open = { .net = m->open };
    for (int32_t i = 0; i < m->n; i++) {
        for (int32_t a = b->at_first[m->blocks[i]]; a < b->at_first[m->blocks[i] + 1]; a++) {
            int32_t net = b->at[a];
            if (m->count[net] < 2)
                continue;
            if (m->seen[net]++ == 0) {
                m->opener[net] = m->blocks[i];
                open_net(m, &open, net);
            } else if (m->seen[net] == m->count[net]) {
                close_net(m, &open, net);
            }
        }
    }
}

/* Every net of the list again as if not met; all: nor known. */
static void reset_nets(clv_diagram_builder *m, bool all)
{
    const clv_contraction *b = m->b;
    for (int32_t i = 0; i < m->n; i++) {
        for (int32_t a = b->at_first[m->blocks[i]]; a < b->at_first[m->blocks[i] + 1]; a++) {
            m->seen[b->at[a]] = 0;
            if (!all)
                continue;
            m->count[b->at[a]] = 0;
            m->forgotten[b->at[a]] = false;
        }
    }
}

/* -- ops -- */

static uint8_t alloc_slot(clv_diagram_builder *m)
{
    uint8_t slot = 0;
    while (m->used >> slot & 1)
        slot++;
    assert(slot < SLOTS);
    m->used |= UINT32_C(1) << slot;
    return slot;
}

/* A net with one block in the list needs no slot: nothing about it is to be remembered. */
static uint8_t assign_slot(clv_diagram_builder *m, int32_t net, int32_t block)
{
    if (m->count[net] < 2)
        return SLOTS;
    if (m->seen[net] > 0)
        return m->slot[net];
    if (m->count[net] > 2)
        return m->slot[net] = alloc_slot(m);
    if (m->pending[block]++ == 0)
        m->slot_of[block] = alloc_slot(m);
    m->opener[net] = block;
    return m->slot[net] = m->slot_of[block];
}

static clv_status build_ops(clv_diagram_builder *m, int32_t block, clv_error *err)
{
    const clv_contraction *b = m->b;
    m->n_ops = 0;
    if (!ROOM(m, m->ops, m->cap_ops, b->at_first[block + 1] - b->at_first[block]))
        return nomem(err);
    for (int32_t a = b->at_first[block]; m->nets && a < b->at_first[block + 1]; a++) {
        int32_t net = b->at[a];
        if (m->forgotten[net])
            continue;
        op *o = &m->ops[m->n_ops++];
        o->cost = b->net_cost[net];
        o->outside = m->count[net] < b->net_first[net + 1] - b->net_first[net];
        o->slot = assign_slot(m, net, block);
        o->first = m->seen[net] == 0;
        o->last = ++m->seen[net] == m->count[net];
        o->frees =
            o->last && o->slot < SLOTS && (m->count[net] > 2 || --m->pending[m->opener[net]] == 0);
    }
    for (int32_t i = 0; i < m->n_ops; i++)
        if (m->ops[i].frees)
            m->used &= ~(UINT32_C(1) << m->ops[i].slot);
    return CLV_OK;
}

/* The block of the ops goes to a side: the code behind it, and what is paid. */
static uint64_t transition(const clv_diagram_builder *m, uint64_t code, int32_t side,
                           int64_t pay[2])
{
    const uint64_t bit = UINT64_C(1) << side, both = 3;
    pay[0] = pay[1] = 0;
    for (int32_t i = 0; i < m->n_ops; i++) {
        const op *o = &m->ops[i];
        uint64_t touched = o->first ? 0 : code >> (2 * o->slot) & both;
        if (touched & bit)
            continue;
        if (o->outside || touched)
            pay[side] += o->cost;
        if (!o->outside && touched)
            pay[1 - side] += o->cost;
        if (o->slot < SLOTS && !o->last) /* others may share the slot */
            code |= bit << (2 * o->slot);
    }
    for (int32_t i = 0; i < m->n_ops; i++)
        if (m->ops[i].frees)
            code &= ~(both << (2 * m->ops[i].slot));
    return code;
}

/* -- layers -- */

static int compare_arrivals(const void *a, const void *b)
{
    const arrival *x = a, *y = b;
    if (x->code != y->code)
        return x->code < y->code ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

/* States behind the block at a place, from those before it. */
static clv_status make_layer(clv_diagram_builder *m, int32_t place, clv_error *err)
{
    int32_t first = m->layer[place], end = m->layer[place + 1];
    CLV_TRY(build_ops(m, m->blocks[place], err));
    if (!ROOM(m, m->arrivals, m->cap_arrivals, 2 * (end - first)))
        return nomem(err);
    m->n_arrivals = 0;
    for (int32_t s = first; s < end; s++) {
        for (int32_t side = 0; side < 2; side++) {
            if (!CLV_PUSH_ROOM(m->arena, m->step, 2 * s + side, m->cap_step))
                return nomem(err);
            arrival *a = &m->arrivals[m->n_arrivals++];
            a->step = 2 * s + side;
            a->code = transition(m, m->code[s], side, m->step[a->step].pay);
        }
    }
    qsort(m->arrivals, (size_t)m->n_arrivals, sizeof *m->arrivals, compare_arrivals);
    for (int32_t i = 0; i < m->n_arrivals; i++) {
        const arrival *a = &m->arrivals[i];
        if (i == 0 || a->code != a[-1].code) {
            if (!CLV_PUSH_ROOM(m->arena, m->code, m->n_states, m->cap_code))
                return nomem(err);
            m->code[m->n_states++] = a->code;
        }
        m->step[a->step].to = m->n_states - 1;
    }
    m->layer[place + 2] = m->n_states;
    return CLV_OK;
}

static clv_status index_in_arcs(clv_diagram_builder *m, clv_error *err)
{
    int32_t n_steps = 2 * m->layer[m->n];
    if (!ROOM(m, m->in_first, m->cap_in_first, m->n_states + 2) ||
        !ROOM(m, m->in, m->cap_in, n_steps))
        return nomem(err);
    memset(m->in_first, 0, ((size_t)m->n_states + 2) * sizeof *m->in_first);
    for (int32_t i = 0; i < n_steps; i++)
        m->in_first[m->step[i].to + 2]++;
    for (int32_t s = 0; s < m->n_states; s++)
        m->in_first[s + 2] += m->in_first[s + 1];
    for (int32_t i = 0; i < n_steps; i++)
        m->in[m->in_first[m->step[i].to + 1]++] = i;
    return CLV_OK;
}

clv_status clv_diagram_build(clv_diagram_builder *m, const int32_t *blocks, int32_t n, bool nets,
                             const clv_diagram **ret, clv_error *err)
{
    m->blocks = blocks;
    m->n = n;
    m->nets = nets;
    m->used = 0;
    m->diagram.exact = true;
    if (!ROOM(m, m->layer, m->cap_layer, n + 2) ||
        !CLV_PUSH_ROOM(m->arena, m->code, 0, m->cap_code))
        return nomem(err);
    for (int32_t i = 0; i < n; i++)
        for (int32_t a = m->b->at_first[blocks[i]]; a < m->b->at_first[blocks[i] + 1]; a++)
            m->count[m->b->at[a]]++;
    forget_nets(m);
    reset_nets(m, false);
    m->n_states = 1;
    m->code[0] = 0;
    m->layer[0] = 0;
    m->layer[1] = 1;
    for (int32_t i = 0; i < n; i++)
        CLV_TRY(make_layer(m, i, err));
    reset_nets(m, true);
    CLV_TRY(index_in_arcs(m, err));
    m->diagram = (clv_diagram){ .n = n,
                                .blocks = blocks,
                                .exact = m->diagram.exact,
                                .n_states = m->n_states,
                                .layer = m->layer,
                                .step = m->step,
                                .in_first = m->in_first,
                                .in = m->in };
    *ret = &m->diagram;
    return CLV_OK;
}
