/* free_order.c - one greedy walk, tried from several blocks. */
#include "solver/free_order.h"

#include <math.h>
#include <string.h>

/* Walks together look at about so many blocks: under half a second. */
#define LOOKS_MAX INT64_C(20000000)
/* Waiting blocks looked at for each place: those that have waited longest. */
#define WAITING_MAX 64
/* Open nets that count in the sum of a walk: beyond them every walk is as bad. */
#define OPEN_MAX 60

typedef struct {
    const clv_blocks *b;
    int32_t *left;    /* by net: pins not placed yet */
    int32_t *waiting; /* blocks beside open nets, longest first */
    uint8_t *state;   /* by block */
    int32_t n_waiting;
    int64_t looks;
} walk;

enum { UNSEEN, WAITING, PLACED };

static int32_t pins_of(const clv_blocks *b, int32_t net)
{
    return b->net_first[net + 1] - b->net_first[net];
}

/* How many more nets are open once the block is placed. */
static int32_t opens(const walk *w, int32_t block)
{
    int32_t more = 0;
    for (int32_t i = w->b->at_first[block]; i < w->b->at_first[block + 1]; i++) {
        int32_t net = w->b->at[i];
        more += w->left[net] == pins_of(w->b, net);
        more -= w->left[net] == 1;
    }
    return more;
}

static int32_t take_best(walk *w)
{
    int32_t best = 0, least = INT32_MAX;
    int32_t n = w->n_waiting < WAITING_MAX ? w->n_waiting : WAITING_MAX;
    for (int32_t i = 0; i < n; i++) {
        int32_t more = opens(w, w->waiting[i]);
        if (more < least) {
            least = more;
            best = i;
        }
    }
    w->looks += n;
    int32_t block = w->waiting[best];
    memmove(w->waiting + best, w->waiting + best + 1,
            (size_t)(w->n_waiting - best - 1) * sizeof *w->waiting);
    w->n_waiting--;
    return block;
}

static void place(walk *w, int32_t block)
{
    const clv_blocks *b = w->b;
    w->state[block] = PLACED;
    for (int32_t i = b->at_first[block]; i < b->at_first[block + 1]; i++) {
        int32_t net = b->at[i];
        bool fresh = w->left[net] == pins_of(b, net);
        w->left[net]--;
        for (int32_t p = b->net_first[net]; fresh && p < b->net_first[net + 1]; p++) {
            if (w->state[b->pins[p]] != UNSEEN)
                continue;
            w->state[b->pins[p]] = WAITING;
            w->waiting[w->n_waiting++] = b->pins[p];
        }
    }
}

/* Sum over all places of 3^(open nets); gives up at limit. */
static double try_from(walk *w, int32_t start, double limit, int32_t *order)
{
    const clv_blocks *b = w->b;
    double power[OPEN_MAX + 1] = { 1 }, sum = 0;
    int32_t open = 0, unseen = 0;
    for (int32_t i = 1; i <= OPEN_MAX; i++)
        power[i] = power[i - 1] * 3;
    for (int32_t e = 0; e < b->n_nets; e++)
        w->left[e] = pins_of(b, e);
    memset(w->state, UNSEEN, (size_t)b->n);
    w->n_waiting = 0;
    for (int32_t i = 0; i < b->n; i++) {
        int32_t block = start;
        if (i > 0 && w->n_waiting > 0) {
            block = take_best(w);
        } else if (i > 0) {
            while (w->state[unseen] != UNSEEN)
                unseen++;
            block = unseen;
        }
        open += opens(w, block);
        place(w, block);
        order[i] = block;
        sum += power[open < OPEN_MAX ? open : OPEN_MAX];
        if (sum >= limit)
            break;
    }
    return sum;
}

clv_status clv_free_order(const clv_blocks *b, clv_arena *arena, int32_t *order, clv_error *err)
{
    clv_mark mark = clv_arena_mark(arena);
    walk w = { .b = b };
    w.left = CLV_NEW_ARRAY(arena, int32_t, b->n_nets);
    w.waiting = CLV_NEW_ARRAY(arena, int32_t, b->n);
    w.state = CLV_NEW_ARRAY(arena, uint8_t, b->n);
    int32_t *tried = CLV_NEW_ARRAY(arena, int32_t, b->n);
    if (!w.left || !w.waiting || !w.state || !tried)
        return clv_fail_nomem(err, "an order of blocks");
    double best = (double)INFINITY;
    for (int32_t start = 0; start < b->n && (start == 0 || w.looks < LOOKS_MAX); start++) {
        double sum = try_from(&w, start, best, tried);
        if (sum < best) {
            best = sum;
            memcpy(order, tried, (size_t)b->n * sizeof *order);
        }
    }
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
