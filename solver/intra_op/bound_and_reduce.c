/* bound_and_reduce.c - see bound_and_reduce.h. */
#include "solver/intra_op/bound_and_reduce.h"

#include <string.h>

#include "solver/intra_op/bound.h"
#include "solver/intra_op/bound_decode.h"
#include "solver/intra_op/bound_mix.h"
#include "solver/intra_op/branch_and_bound.h"
#include "solver/intra_op/presolve.h"

enum {
    BETWEEN_SOLUTIONS = 2, /* rounds */
    BETWEEN_MIXTURES = 8,  /* rounds: they cost as much as some */
    IDLE_ROUNDS = 128,     /* a stage ends when so many, or as asked, have closed less than */
    IDLE_PART = 256,       /* one part in so many of the gap */
    BETWEEN_LOOKS = 32,    /* rounds, at how many choices are out */
    EXACT_CHOICES = 2000,  /* more are not divided: a part takes too long for its depth */
    SOON = 4,              /* a stage ends early when one choice in so many is out */
    WORTH = 50,            /* and in the end when one in so many is */
    SWEEPS = 3,            /* of entries in a round, counting among them */
};

typedef enum { BOUNDING, BRANCHING, OVER } phase;

struct clv_bound_and_reduce {
    const clv_intra_op_problem *given, *p; /* the whole one; and the one in hand */
    clv_presolved *stage[CLV_BOUND_AND_REDUCE_STAGES];
    int32_t n_stages, most_stages;
    int32_t rounds, n_rounds; /* of a stage */
    int32_t idle_rounds;
    int32_t looked;  /* rounds at the last look */
    int32_t risen;   /* rounds when the bound had last risen by much, */
    clv_int128 mark; /* to this */
    int64_t exact_rounds;
    bool once; /* does not begin again where nothing is out */
    phase phase;
    clv_int128 base;    /* of all stages */
    int32_t *solution;  /* of p */
    int32_t *lifted[2]; /* of the stages in between */
    int32_t *choice;    /* of the given one */
    bool *alive;
    int64_t entries;        /* of all edges in hand */
    int64_t work;           /* all so far */
    clv_int128 cost, bound; /* of the given one */
    bool news;
    clv_arena *arena, *scratch; /* of all stages; of the one in hand */
    clv_intra_op_bound *b;
    clv_branch_and_bound *tree;
};

void clv_bound_and_reduce_lift(const clv_bound_and_reduce *q, int32_t n_stages, const int32_t *from,
                               int32_t *to)
{
    for (int32_t i = n_stages - 1; i >= 0; i--) {
        int32_t *next = i ? q->lifted[i % 2] : to;

        clv_presolve_lift(q->stage[i], from, next);
        from = next;
    }
    if (!n_stages && q->given->n_nodes)
        memcpy(to, from, (size_t)q->given->n_nodes * sizeof *to);
}

/* A solution of the problem given, on its way to the problem left after some stages. */
typedef struct {
    const clv_bound_and_reduce *q;
    const clv_intra_op_problem *p; /* what is left */
    int32_t n_stages;
    int32_t *left;          /* by node left: a choice */
    int32_t *lifted;        /* by node given: what `left` lifts to */
    int32_t *with, *others; /* by node given: the same for two more */
    int32_t *owner;         /* by node given: the node left that its choice follows from, or -1 */
    int32_t *hits, *best; /* by node left: solutions met by the choice in hand; and the most yet */
} projection;

static bool allocate_projection(projection *x, clv_arena *arena)
{
    int32_t n = x->q->given->n_nodes + 1, n_left = x->p->n_nodes + 1;

    x->left = CLV_NEW_ARRAY(arena, int32_t, n_left);
    x->hits = CLV_NEW_ARRAY(arena, int32_t, n_left);
    x->best = CLV_NEW_ARRAY(arena, int32_t, n_left);
    x->lifted = CLV_NEW_ARRAY(arena, int32_t, n);
    x->with = CLV_NEW_ARRAY(arena, int32_t, n);
    x->others = CLV_NEW_ARRAY(arena, int32_t, n);
    x->owner = CLV_NEW_ARRAY(arena, int32_t, n);
    return x->left && x->hits && x->best && x->lifted && x->with && x->others && x->owner;
}

/* owner is found by trying: for each binary digit of their numbers, those nodes left take their
 * second choice that have it, then those that do not; what follows from one node changes in just
 * one of the two. -1 where there is no such node or more than one. O(log nodes left) lifts. */
static void find_owners(projection *x)
{
    int32_t n = x->q->given->n_nodes, n_left = x->p->n_nodes;

    clv_bound_and_reduce_lift(x->q, x->n_stages, x->left, x->lifted);
    for (int64_t digit = 1; digit == 1 || digit < n_left; digit *= 2) {
        for (int32_t turn = 0; turn < 2; turn++) {
            for (int32_t v = 0; v < n_left; v++)
                x->left[v] = !(v & digit) == !turn && clv_intra_op_n_choices(x->p, v) > 1;
            clv_bound_and_reduce_lift(x->q, x->n_stages, x->left, turn ? x->with : x->others);
        }
        for (int32_t i = 0; i < n; i++) {
            bool with = x->with[i] != x->lifted[i], without = x->others[i] != x->lifted[i];

            x->owner[i] =
                with == without || x->owner[i] < 0 ? -1 : x->owner[i] + with * (int32_t)digit;
        }
    }
}

/* Each node left takes the choice at which most of the nodes that follow from it are as in `from`.
 */
static void match_choices(projection *x, const int32_t *from, int32_t *to)
{
    int32_t n = x->q->given->n_nodes, n_left = x->p->n_nodes, most = 0;

    for (int32_t v = 0; v < n_left; v++) {
        most = clv_intra_op_n_choices(x->p, v) > most ? clv_intra_op_n_choices(x->p, v) : most;
        x->best[v] = -1;
        to[v] = 0;
    }
    for (int32_t c = 0; c < most; c++) {
        for (int32_t v = 0; v < n_left; v++) {
            x->left[v] = c < clv_intra_op_n_choices(x->p, v) ? c : 0;
            x->hits[v] = 0;
        }
        clv_bound_and_reduce_lift(x->q, x->n_stages, x->left, x->lifted);
        for (int32_t i = 0; i < n; i++)
            if (x->owner[i] >= 0)
                x->hits[x->owner[i]] += x->lifted[i] == from[i];
        for (int32_t v = 0; v < n_left; v++)
            if (x->left[v] == c && x->hits[v] > x->best[v]) {
                x->best[v] = x->hits[v];
                to[v] = c;
            }
    }
}

clv_status clv_bound_and_reduce_project(const clv_bound_and_reduce *q, int32_t n_stages,
                                        const int32_t *from, int32_t *to, bool *whole,
                                        clv_error *err)
{
    clv_arena *arena = clv_arena_new(clv_arena_alloc(q->arena), 0);
    projection x = { .q = q,
                     .p = clv_presolve_problem(q->stage[n_stages - 1]),
                     .n_stages = n_stages };

    if (!arena || !allocate_projection(&x, arena)) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a solution of a strategy problem");
    }
    find_owners(&x);
    match_choices(&x, from, to);
    clv_bound_and_reduce_lift(q, n_stages, to, x.lifted);
    *whole = memcmp(x.lifted, from, (size_t)q->given->n_nodes * sizeof *from) == 0;
    clv_arena_free(arena);
    return CLV_OK;
}

/* A solution of the problem in hand, which costs so much, becomes the best where it is. */
static void offer(clv_bound_and_reduce *q, const int32_t *solution, clv_int128 cost)
{
    if (cost >= CLV_INTRA_OP_NEVER || (q->cost >= 0 && cost + q->base >= q->cost))
        return;
    q->cost = cost + q->base;
    clv_bound_and_reduce_lift(q, q->n_stages, solution, q->choice);
    q->news = true;
}

/* A bound of what is left holds for all solutions better than the best one. */
static void raise(clv_bound_and_reduce *q, clv_int128 bound)
{
    if (bound < CLV_INTRA_OP_NEVER)
        bound += q->base;
    if (q->cost >= 0 && bound > q->cost)
        bound = q->cost;
    q->bound = bound > q->bound ? bound : q->bound;
}

static bool is_proven(const clv_bound_and_reduce *q)
{
    return q->bound >= CLV_INTRA_OP_NEVER || (q->cost >= 0 && q->bound >= q->cost);
}

/* Prices that solutions are read at, in parts of those of the bound. At more, nodes that choose
 * last find room; at less, little is left over; at any other, solutions are others. */
enum { N_PRICES = 8 };
static const double solution_prices[N_PRICES] = { 1, 1.02, 1, 0.98, 1, 1.1, 1, 1.005 };

static void run_bound(clv_bound_and_reduce *q)
{
    double price = solution_prices[q->n_rounds / BETWEEN_SOLUTIONS % N_PRICES];

    clv_intra_op_bound_run(q->b, BETWEEN_SOLUTIONS, q->cost < 0 ? -1 : q->cost - q->base, NULL,
                           NULL);
    for (int turn = 0; turn < 2; turn++)
        if (clv_intra_op_bound_decode(q->b, turn, price, q->solution))
            offer(q, q->solution, clv_intra_op_cost(q->p, q->solution));
    for (int turn = 0; turn < 2 && q->n_rounds % BETWEEN_MIXTURES == 0; turn++)
        if (clv_intra_op_bound_mix(q->b, turn, q->solution))
            offer(q, q->solution, clv_intra_op_cost(q->p, q->solution));
    raise(q, clv_intra_op_bound_value(q->b));
    q->n_rounds += BETWEEN_SOLUTIONS;
}

/* A bound of the problem in hand, from the start. */
static clv_status begin_stage(clv_bound_and_reduce *q, clv_error *err)
{
    const clv_intra_op_problem *p = q->p;

    clv_arena_free(q->scratch);
    q->tree = NULL;
    q->scratch = clv_arena_new(clv_arena_alloc(q->arena), 0);
    if (!q->scratch)
        return clv_fail_nomem(err, "a bound of a strategy problem");
    q->alive = CLV_NEW_ARRAY(q->scratch, bool, p->first_choice[p->n_nodes]);
    if (!q->alive)
        return clv_fail_nomem(err, "a bound of a strategy problem");
    CLV_TRY(clv_intra_op_bound_new(p, q->scratch, &q->b, err));
    raise(q, clv_intra_op_bound_value(q->b));
    q->n_rounds = q->looked = q->risen = 0;
    q->mark = 0;
    q->phase = BOUNDING;
    q->entries = p->n_nodes;
    for (int32_t e = 0; e < p->n_edges; e++)
        q->entries += p->first_entry[p->matrix_of[e] + 1] - p->first_entry[p->matrix_of[e]];
    return CLV_OK;
}

/* The problem in hand without choices that are not alive; *narrower: a new stage has begun. */
static clv_status reduce(clv_bound_and_reduce *q, bool *narrower, clv_error *err)
{
    clv_presolved *made;
    char why[200];

    *narrower = false;
    CLV_TRY(clv_presolve_alive(q->p, q->alive, q->arena, &made, why, err));
    if (!made) {
        raise(q, q->cost - q->base);
        return CLV_OK;
    }
    if (!clv_presolve_finite(made))
        return CLV_OK;
    *narrower = true;
    q->stage[q->n_stages++] = made;
    q->p = clv_presolve_problem(made);
    q->base += clv_presolve_base(made);
    return begin_stage(q, err);
}

/* The stage has done its rounds, or found enough. */
static clv_status end_stage(clv_bound_and_reduce *q, int32_t n_out, clv_error *err)
{
    int32_t n = q->p->first_choice[q->p->n_nodes];
    bool narrower = false;

    if (n_out > n / WORTH && q->n_stages < q->most_stages)
        CLV_TRY(reduce(q, &narrower, err));
    if (narrower || is_proven(q))
        return CLV_OK;
    q->phase = q->once ? OVER : BOUNDING;
    clv_intra_op_bound_reset_steps(q->b);
    q->n_rounds = q->looked = q->risen = 0;
    if (n <= EXACT_CHOICES && q->exact_rounds > 0) {
        CLV_TRY(clv_branch_and_bound_new(q->p, q->b, q->scratch, &q->tree, err));
        q->phase = q->tree ? BRANCHING : OVER;
    }
    return CLV_OK;
}

/* The bound of this stage has all but come to an end. */
static bool is_idle(clv_bound_and_reduce *q)
{
    clv_int128 bound = clv_intra_op_bound_value(q->b);

    if (q->cost < 0 || bound - q->mark > (q->cost - q->base - bound) / IDLE_PART) {
        q->mark = bound;
        q->risen = q->n_rounds;
    }
    return q->n_rounds - q->risen >= q->idle_rounds;
}

static clv_status bound_more(clv_bound_and_reduce *q, clv_error *err)
{
    bool last = q->n_rounds >= q->rounds || is_idle(q);

    if (!last)
        run_bound(q);
    if (is_proven(q) || (!last && q->n_rounds - q->looked < BETWEEN_LOOKS))
        return CLV_OK;
    q->looked = q->n_rounds;
    /* How many choices no better solution has; alive says which others. */
    int32_t n = q->p->first_choice[q->p->n_nodes], n_out = 0;
    memset(q->alive, 1, (size_t)n);
    if (q->cost >= 0)
        n_out = clv_intra_op_bound_fix_choices(q->b, q->cost - q->base, q->alive);
    if (last || (n_out > n / SOON && q->n_stages < q->most_stages))
        return end_stage(q, n_out, err);
    return CLV_OK;
}

static clv_status branch_more(clv_bound_and_reduce *q, bool (*stop)(void *), void *ctx,
                              clv_error *err)
{
    const int32_t *better;
    clv_int128 cost;

    if (q->cost >= 0)
        clv_branch_and_bound_set_known_cost(q->tree, q->cost - q->base);
    CLV_TRY(clv_branch_and_bound_run(q->tree, 1, stop, ctx, err));
    better = clv_branch_and_bound_poll_solution(q->tree, &cost);
    if (better)
        offer(q, better, cost);
    raise(q, clv_branch_and_bound_value(q->tree));
    if (clv_branch_and_bound_is_over(q->tree))
        q->phase = OVER;
    return CLV_OK;
}

clv_status clv_bound_and_reduce_step(clv_bound_and_reduce *q, int64_t work, bool (*stop)(void *ctx),
                                     void *ctx, clv_error *err)
{
    while (work > 0 && !clv_bound_and_reduce_is_over(q) && !(stop && stop(ctx))) {
        int32_t rounds = BETWEEN_SOLUTIONS;
        int64_t entries = q->entries;

        if (q->phase == BOUNDING) {
            CLV_TRY(bound_more(q, err));
        } else {
            enum { PART = 32 }; /* rounds of a part, about */
            CLV_TRY(branch_more(q, stop, ctx, err));
            rounds = PART;
            q->exact_rounds -= PART;
            if (q->exact_rounds <= 0)
                q->phase = OVER;
        }
        work -= SWEEPS * rounds * entries;
        q->work += SWEEPS * rounds * entries;
    }
    return CLV_OK;
}

void clv_bound_and_reduce_set_known_cost(clv_bound_and_reduce *q, clv_int128 cost)
{
    if (cost < CLV_INTRA_OP_NEVER && (q->cost < 0 || cost < q->cost))
        q->cost = cost;
}

const int32_t *clv_bound_and_reduce_poll_solution(clv_bound_and_reduce *q, clv_int128 *cost)
{
    bool news = q->news;

    *cost = q->cost;
    q->news = false;
    return news ? q->choice : NULL;
}

int64_t clv_bound_and_reduce_work(const clv_bound_and_reduce *q) { return q->work; }
clv_int128 clv_bound_and_reduce_value(const clv_bound_and_reduce *q) { return q->bound; }
bool clv_bound_and_reduce_is_over(const clv_bound_and_reduce *q)
{
    return q->phase == OVER || is_proven(q);
}
const clv_intra_op_problem *clv_bound_and_reduce_problem(const clv_bound_and_reduce *q)
{
    return q->p;
}
clv_int128 clv_bound_and_reduce_base(const clv_bound_and_reduce *q) { return q->base; }
int32_t clv_bound_and_reduce_n_stages(const clv_bound_and_reduce *q) { return q->n_stages; }
const int64_t *clv_bound_and_reduce_min_marginals(const clv_bound_and_reduce *q)
{
    return clv_intra_op_bound_min_marginals(q->b);
}

const double *clv_bound_and_reduce_prices(const clv_bound_and_reduce *q, int32_t *n_rows)
{
    *n_rows = clv_intra_op_bound_n_rows(q->b);
    return clv_intra_op_bound_price(q->b);
}

void clv_bound_and_reduce_free(clv_bound_and_reduce *q)
{
    if (!q)
        return;
    clv_arena_free(q->scratch);
    clv_arena_free(q->arena);
    q->scratch = q->arena = NULL;
}

clv_status clv_bound_and_reduce_new(const clv_intra_op_problem *p,
                                    const clv_bound_and_reduce_options *options, clv_arena *arena,
                                    clv_bound_and_reduce **ret, clv_error *err)
{
    /* What is held whatever is chosen is one node more. */
    int32_t room = p->n_nodes + 1;
    clv_bound_and_reduce *q = CLV_NEW(arena, clv_bound_and_reduce);

    if (!q)
        return clv_fail_nomem(err, "bounds of a strategy problem");
    *q = (clv_bound_and_reduce){
        .given = p,
        .p = p,
        .rounds = options->rounds,
        .idle_rounds = options->idle_rounds > 0 ? options->idle_rounds : IDLE_ROUNDS,
        .most_stages = options->reductions,
        .exact_rounds = options->exact_rounds,
        .once = options->once,
        .solution = CLV_NEW_ARRAY(arena, int32_t, room),
        .lifted = { CLV_NEW_ARRAY(arena, int32_t, room), CLV_NEW_ARRAY(arena, int32_t, room) },
        .choice = CLV_NEW_ARRAY(arena, int32_t, room),
        .cost = -1,
        .arena = clv_arena_new(clv_arena_alloc(arena), 0)
    };
    clv_status status = CLV_OK;
    if (!q->solution || !q->lifted[0] || !q->lifted[1] || !q->choice || !q->arena)
        status = clv_fail_nomem(err, "bounds of a strategy problem");
    if (status == CLV_OK)
        status = begin_stage(q, err);
    if (status == CLV_OK)
        *ret = q;
    else
        clv_bound_and_reduce_free(q);
    return status;
}
