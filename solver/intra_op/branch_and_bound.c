/* branch_and_bound.c - see branch_and_bound.h. */
#include "solver/intra_op/branch_and_bound.h"

#include <math.h>
#include <string.h>

#include "solver/intra_op/bound_count.h"
#include "solver/intra_op/bound_decode.h"

enum {
    ROUNDS = 16,    /* of a part, between looks at how the bound rises */
    MOST_TURNS = 8, /* such looks */
    GAIN = 16,      /* a part goes on while it closes one part in so many of the gap */
    MOST_DEPTH = 4000,
};

typedef struct {
    double *message, *price;
    int32_t node, choice; /* branched on: first the choice, then the others */
    int32_t trail;        /* its length before */
    int turn;
    clv_int128 bound;
} level;

typedef struct {
    int32_t choice;
    int64_t own;
    double cost;
} closed;

struct clv_branch_and_bound {
    const clv_intra_op_problem *p;
    clv_intra_op_bound *b;
    clv_arena *arena;
    int64_t n_messages, rounds;
    level *levels;
    int32_t depth;
    closed *trail;
    int32_t n_trail;
    int32_t *solution, *best;
    double *often;    /* by choice: how often it was the cheapest of its node in this part */
    clv_int128 cost;  /* -1: none */
    clv_int128 floor; /* a bound of all solutions, from before */
    bool more;        /* parts are left */
    bool news;        /* best is better than any solution reported */
};

typedef struct clv_branch_and_bound tree;

static bool is_open(const tree *t, int32_t c) { return t->b->own[c] < CLV_INTRA_OP_NEVER; }

static void close_choice(tree *t, int32_t c)
{
    t->trail[t->n_trail++] = (closed){ c, t->b->own[c], t->b->cost[c] };
    t->b->own[c] = CLV_INTRA_OP_NEVER;
    t->b->cost[c] = t->b->enough;
}

static void read_solutions(tree *t)
{
    for (int turn = 0; turn < 2; turn++) {
        clv_int128 cost;

        if (!clv_intra_op_bound_decode(t->b, turn, 1, t->solution))
            continue;
        cost = clv_intra_op_cost(t->p, t->solution);
        if (cost < CLV_INTRA_OP_NEVER && (t->cost < 0 || cost < t->cost)) {
            t->cost = cost;
            t->news = true;
            memcpy(t->best, t->solution, (size_t)t->p->n_nodes * sizeof *t->best);
        }
    }
}

/* Shuts choices that no better solution has. False: some node has none left, or the bound meets the
 * best solution. */
static bool close_choices(tree *t)
{
    const clv_intra_op_problem *p = t->p;

    if (t->b->bound >= CLV_INTRA_OP_NEVER || (t->cost >= 0 && t->b->bound >= t->cost))
        return false;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t left = 0;

        for (int32_t c = p->first_choice[v]; c < p->first_choice[v + 1]; c++) {
            clv_int128 most = t->cost >= 0 ? t->cost : CLV_INTRA_OP_NEVER;

            if (is_open(t, c) && t->b->least[c] >= most)
                close_choice(t, c);
            left += is_open(t, c);
        }
        if (!left)
            return false;
    }
    return true;
}

/* Bounds the part in hand. False: nothing better is in it. */
static bool bound_part(tree *t)
{
    clv_intra_op_bound *b = t->b;
    const clv_intra_op_problem *p = t->p;
    int32_t n = p->first_choice[p->n_nodes];

    clv_bound_restart(b);
    memset(t->often, 0, (size_t)n * sizeof *t->often);
    for (int turn = 0; turn < MOST_TURNS; turn++) {
        clv_int128 before = b->bound;

        for (int32_t i = 0; i < ROUNDS; i++) {
            clv_intra_op_bound_run(b, 1, t->cost, NULL, NULL);
            for (int32_t v = 0; v < p->n_nodes; v++)
                t->often[p->first_choice[v] + b->taken[v]]++;
        }
        clv_bound_count(b);
        t->rounds += ROUNDS;
        read_solutions(t);
        if (!close_choices(t))
            return false;
        if (turn && t->cost >= 0 && (b->bound - before) * GAIN < t->cost - b->bound)
            break;
    }
    return true;
}

/* The choice to branch on: of the node whose two most frequent choices pull the prices apart the
 * most; where none does, the likeliest choice of the node with most open ones. -1: nothing is
 * left to choose. */
static int32_t choose_branch(const tree *t, int32_t *node)
{
    const clv_intra_op_problem *p = t->p;
    double best_score = -1;
    int32_t best = -1;

    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t first = -1, second = -1, open = 0;
        double score;

        for (int32_t c = p->first_choice[v]; c < p->first_choice[v + 1]; c++) {
            if (!is_open(t, c))
                continue;
            open++;
            if (first < 0 || t->often[c] > t->often[first]) {
                second = first;
                first = c;
            } else if (second < 0 || t->often[c] > t->often[second]) {
                second = c;
            }
        }
        if (open < 2)
            continue;
        score = t->often[second] * (1 + fabs(t->b->paid[first] - t->b->paid[second])) + 1e-6 * open;
        if (score > best_score) {
            best_score = score;
            best = first;
            *node = v;
        }
    }
    return best;
}

static bool push(tree *t, int32_t node, int32_t choice)
{
    level *l = &t->levels[t->depth];

    if (!l->message) {
        l->message = CLV_NEW_ARRAY(t->arena, double, t->n_messages);
        l->price = CLV_NEW_ARRAY(t->arena, double, t->b->n_rows);
        if (!l->message || !l->price)
            return false;
    }
    memcpy(l->message, t->b->message, (size_t)t->n_messages * sizeof *l->message);
    memcpy(l->price, t->b->best_price, (size_t)t->b->n_rows * sizeof *l->price);
    l->node = node;
    l->choice = choice;
    l->trail = t->n_trail;
    l->turn = 0;
    /* What is proven of a part holds for its parts. */
    l->bound = t->depth ? t->levels[t->depth - 1].bound : t->floor;
    l->bound = t->b->bound > l->bound ? t->b->bound : l->bound;
    t->depth++;
    return true;
}

/* The next part not yet bounded; false: there is none. */
static bool next_part(tree *t)
{
    while (t->depth > 0) {
        level *l = &t->levels[t->depth - 1];
        int32_t end = t->p->first_choice[l->node + 1];

        while (t->n_trail > l->trail) { /* opens what was closed below */
            const closed *x = &t->trail[--t->n_trail];

            t->b->own[x->choice] = x->own;
            t->b->cost[x->choice] = x->cost;
        }
        if (l->turn == 2 || (t->cost >= 0 && l->bound >= t->cost)) {
            t->depth--;
            continue;
        }
        memcpy(t->b->message, l->message, (size_t)t->n_messages * sizeof *l->message);
        memcpy(t->b->price, l->price, (size_t)t->b->n_rows * sizeof *l->price);
        for (int32_t c = t->p->first_choice[l->node]; c < end; c++)
            if (is_open(t, c) && (c == l->choice) == (l->turn == 1))
                close_choice(t, c);
        l->turn++;
        return true;
    }
    return false;
}

clv_status clv_branch_and_bound_run(tree *t, int64_t rounds, bool (*stop)(void *ctx), void *ctx,
                                    clv_error *err)
{
    int64_t until = t->rounds + rounds;

    while (t->more) {
        int32_t node = -1, choice;

        if (t->depth == MOST_DEPTH || t->rounds >= until || (stop && stop(ctx)))
            break;
        if (bound_part(t)) {
            choice = choose_branch(t, &node);
            if (choice >= 0 && !push(t, node, choice))
                return clv_fail_nomem(err, "an exact search of a strategy problem");
            /* One solution is left; where reading it off fails, it does not fit or has a never. */
            if (choice < 0)
                read_solutions(t);
        }
        t->more = next_part(t);
    }
    return CLV_OK;
}

/* A part begun and not bounded counts with the bound of the level it came from, which is still
 * there; before the first part nothing is known but what was known before. */
clv_int128 clv_branch_and_bound_value(const tree *t)
{
    clv_int128 least = t->cost >= 0 ? t->cost : CLV_INTRA_OP_NEVER;

    if (t->more && !t->depth)
        return t->floor;
    for (int32_t i = 0; i < t->depth; i++)
        if (t->levels[i].bound < least)
            least = t->levels[i].bound;
    return least;
}

bool clv_branch_and_bound_is_over(const tree *t) { return !t->more || t->depth == MOST_DEPTH; }

void clv_branch_and_bound_set_known_cost(tree *t, clv_int128 cost)
{
    if (t->cost < 0 || cost < t->cost)
        t->cost = cost;
}

const int32_t *clv_branch_and_bound_poll_solution(tree *t, clv_int128 *cost)
{
    bool news = t->news;

    *cost = t->cost;
    t->news = false;
    return news ? t->best : NULL;
}

static bool allocate_arrays(tree *t)
{
    const clv_intra_op_problem *p = t->p;
    int32_t n = p->first_choice[p->n_nodes];

    t->levels = CLV_NEW_ARRAY(t->arena, level, MOST_DEPTH);
    t->trail = CLV_NEW_ARRAY(t->arena, closed, n);
    t->solution = CLV_NEW_ARRAY(t->arena, int32_t, p->n_nodes);
    t->best = CLV_NEW_ARRAY(t->arena, int32_t, p->n_nodes);
    t->often = CLV_NEW_ARRAY(t->arena, double, n);
    for (int32_t e = 0; e < p->n_edges; e++)
        for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++)
            t->n_messages += clv_intra_op_n_choices(p, p->end[i]);
    return t->levels && t->trail && t->solution && t->best && t->often;
}

clv_status clv_branch_and_bound_new(const clv_intra_op_problem *p, const clv_intra_op_bound *start,
                                    clv_arena *arena, tree **ret, clv_error *err)
{
    tree *t = CLV_NEW(arena, tree);

    if (!t)
        return clv_fail_nomem(err, "an exact search of a strategy problem");
    *t = (tree){ .p = p, .arena = arena, .cost = -1, .more = true };
    for (int32_t e = 0; e < p->n_edges; e++)
        if (p->first_end[e + 1] - p->first_end[e] > 2) {
            *ret = NULL;
            return CLV_OK;
        }
    CLV_TRY(clv_intra_op_bound_new(p, arena, &t->b, err));
    if (!allocate_arrays(t))
        return clv_fail_nomem(err, "an exact search of a strategy problem");
    if (start) {
        t->floor = start->bound;
        memcpy(t->b->message, start->message, (size_t)t->n_messages * sizeof(double));
        memcpy(t->b->price, start->best_price, (size_t)t->b->n_rows * sizeof(double));
    }
    *ret = t;
    return CLV_OK;
}
