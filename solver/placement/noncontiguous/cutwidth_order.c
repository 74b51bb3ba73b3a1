/* cutwidth_order.c - one greedy walk, tried from several blocks. */
#include "solver/placement/noncontiguous/cutwidth_order.h"

#include <math.h>
#include <string.h>

/* Walks together look at about so many blocks: under half a second. */
#define LOOKS_MAX INT64_C(20000000)
/* Waiting blocks looked at for each place: those that have waited longest. */
#define WAITING_MAX 64
/* Bits of states, in hundredths, of an open net of three blocks or more, and of a block that has
 * opened nets of two; and how many count in the sum of a walk: beyond them every walk is as bad. */
#define NET_WEIGHT   159
#define BLOCK_WEIGHT 100
#define BITS_MAX     1600

typedef struct {
    const clv_contraction *b;
    int32_t *left;    /* by net: pins not placed yet */
    int32_t *opener;  /* by net: the block that opened it */
    int32_t *pending; /* by block: open nets of two blocks that it opened */
    int32_t *waiting; /* blocks beside open nets, longest first */
    uint8_t *state;   /* by block */
    int32_t n_waiting;
    int64_t looks;
} walk;

enum { UNSEEN, WAITING, PLACED };

static int32_t pins_of(const clv_contraction *b, int32_t net)
{
    return b->net_first[net + 1] - b->net_first[net];
}

/* How many more there are once the block is placed of what states depend on: open nets of three
 * blocks and more, and blocks that have opened nets of two. */
typedef struct {
    int32_t nets, blocks;
    int32_t all; /* open nets, whatever their blocks */
} change;

static change frontier_change(const walk *w, int32_t block)
{
    change more = { 0, 0, 0 };
    bool pending = false;
    for (int32_t i = w->b->at_first[block]; i < w->b->at_first[block + 1]; i++) {
        int32_t net = w->b->at[i], pins = pins_of(w->b, net);
        more.all += (w->left[net] == pins) - (w->left[net] == 1);
        if (w->left[net] == pins && pins == 2)
            pending = true;
        else if (pins == 2) /* of several that end here with one opener only the first counts */
            more.blocks -= w->pending[w->opener[net]] == 1;
        else
            more.nets += (w->left[net] == pins) - (w->left[net] == 1);
    }
    more.blocks += pending;
    return more;
}

/* What a walk goes by. Where one block opens many nets, as one that all layers lead to, counting
 * nets leaves it for the end, and counting blocks takes it early: either may be better. */
typedef struct {
    bool counts_blocks; /* not nets */
    bool newest;        /* of equal blocks the one that has waited least */
} policy;

#define POLICIES 4

static int32_t pop_best(walk *w, policy t)
{
    int32_t best = 0, least = INT32_MAX;
    int32_t first = t.newest && w->n_waiting > WAITING_MAX ? w->n_waiting - WAITING_MAX : 0;
    int32_t end = first + WAITING_MAX < w->n_waiting ? first + WAITING_MAX : w->n_waiting;
    for (int32_t i = first; i < end; i++) {
        change c = frontier_change(w, w->waiting[i]);
        int32_t more = t.counts_blocks ? NET_WEIGHT * c.nets + BLOCK_WEIGHT * c.blocks : c.all;
        if (more < least || (more == least && t.newest)) {
            least = more;
            best = i;
        }
    }
    w->looks += end - first;
    int32_t block = w->waiting[best];
    memmove(w->waiting + best, w->waiting + best + 1,
            (size_t)(w->n_waiting - best - 1) * sizeof *w->waiting);
    w->n_waiting--;
    return block;
}

static void append_block(walk *w, int32_t block)
{
    const clv_contraction *b = w->b;
    w->state[block] = PLACED;
    for (int32_t i = b->at_first[block]; i < b->at_first[block + 1]; i++) {
        int32_t net = b->at[i];
        bool fresh = w->left[net] == pins_of(b, net);
        w->left[net]--;
        if (pins_of(b, net) == 2) {
            w->opener[net] = fresh ? block : w->opener[net];
            w->pending[w->opener[net]] += fresh ? 1 : -1;
        }
        for (int32_t p = b->net_first[net]; fresh && p < b->net_first[net + 1]; p++) {
            if (w->state[b->pins[p]] != UNSEEN)
                continue;
            w->state[b->pins[p]] = WAITING;
            w->waiting[w->n_waiting++] = b->pins[p];
        }
    }
}

/* Sum of the states at all places, about; gives up at limit. */
static double walk_from(walk *w, policy t, int32_t start, double limit, int32_t *order)
{
    const clv_contraction *b = w->b;
    double sum = 0;
    int32_t open = 0, unseen = 0;
    for (int32_t e = 0; e < b->n_nets; e++)
        w->left[e] = pins_of(b, e);
    memset(w->state, UNSEEN, (size_t)b->n);
    memset(w->pending, 0, (size_t)b->n * sizeof *w->pending);
    w->n_waiting = 0;
    for (int32_t i = 0; i < b->n; i++) {
        int32_t block = start;
        if (i > 0 && w->n_waiting > 0) {
            block = pop_best(w, t);
        } else if (i > 0) {
            while (w->state[unseen] != UNSEEN)
                unseen++;
            block = unseen;
        }
        change c = frontier_change(w, block);
        open += NET_WEIGHT * c.nets + BLOCK_WEIGHT * c.blocks;
        append_block(w, block);
        order[i] = block;
        sum += exp2((double)(open < BITS_MAX ? open : BITS_MAX) / BLOCK_WEIGHT);
        if (sum >= limit)
            break;
    }
    return sum;
}

clv_status clv_cutwidth_order(const clv_contraction *b, clv_arena *arena, int32_t *order,
                              clv_error *err)
{
    clv_mark mark = clv_arena_mark(arena);
    walk w = { .b = b };
    w.left = CLV_NEW_ARRAY(arena, int32_t, b->n_nets);
    w.opener = CLV_NEW_ARRAY(arena, int32_t, b->n_nets);
    w.pending = CLV_NEW_ARRAY(arena, int32_t, b->n);
    w.waiting = CLV_NEW_ARRAY(arena, int32_t, b->n);
    w.state = CLV_NEW_ARRAY(arena, uint8_t, b->n);
    int32_t *tried = CLV_NEW_ARRAY(arena, int32_t, b->n);
    if (!w.left || !w.opener || !w.pending || !w.waiting || !w.state || !tried)
        return clv_fail_nomem(err, "an order of blocks");
    double best = (double)INFINITY;
    for (int32_t start = 0; start < b->n && (start == 0 || w.looks < LOOKS_MAX); start++) {
        for (int32_t i = 0; i < POLICIES && (i == 0 || w.looks < LOOKS_MAX); i++) {
            double sum = walk_from(&w, (policy){ i % 2 == 1, i / 2 % 2 == 1 }, start, best, tried);
            if (sum < best) {
                best = sum;
                memcpy(order, tried, (size_t)b->n * sizeof *order);
            }
        }
    }
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
