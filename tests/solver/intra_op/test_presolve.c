/* Presolve against every solution of small problems. */
#include "solver/intra_op/presolve.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "solver/intra_op/small_strategies.h"
#include "support/effort.h"

typedef struct {
    small_strategies s;
    const clv_intra_op_problem *p; /* s.p, but for problems made of it */
    clv_arena *arena;
    clv_presolved *made;
    bool infeasible;
    char why[200];
    uint64_t seed;
} trial;

static void begin(trial *t, uint64_t seed, small_kind kind)
{
    clv_error err;

    small_strategies_make(&t->s, seed, kind);
    t->p = &t->s.p;
    t->seed = seed;
    t->arena = clv_arena_new(NULL, 0);
    cr_assert_eq(clv_presolve(t->p, t->arena, &t->made, t->why, &err), CLV_OK, "seed %llu: %s",
                 (unsigned long long)seed, err.message);
    t->infeasible = !t->made;
}

/* Every legal solution of the reduced problem lifts to one that costs as much; the best of them is
 * returned, -1: none is legal. */
static clv_int128 lift_all(const trial *t, int32_t *ret_nevers)
{
    const clv_intra_op_problem *q = clv_presolve_problem(t->made);
    int32_t choice[SMALL_NODES + 1] = { 0 }, whole[SMALL_NODES], nevers, more;
    clv_int128 best = -1;

    do {
        clv_int128 cost = small_cost(q, choice, &nevers) + clv_presolve_base(t->made);

        if (!small_fits(q, choice) || (nevers && clv_presolve_finite(t->made)))
            continue;
        clv_presolve_lift(t->made, choice, whole);
        for (int32_t v = 0; v < t->p->n_nodes; v++)
            cr_assert(whole[v] >= 0 && whole[v] < clv_intra_op_n_choices(t->p, v));
        cr_assert(small_fits(t->p, whole), "seed %llu", (unsigned long long)t->seed);
        cr_assert(cost == small_cost(t->p, whole, &more) && more == nevers, "seed %llu",
                  (unsigned long long)t->seed);
        if (best < 0 || cost < best) {
            best = cost;
            *ret_nevers = nevers;
        }
    } while (small_next(q, choice));
    return best;
}

/* The best solution is still there. How many nodes went. */
static int32_t check_trial(const trial *t)
{
    int32_t nevers = 0, left_nevers = 0;
    clv_int128 best = small_best(t->p, &nevers), left;

    if (t->infeasible) {
        cr_assert(best < 0, "seed %llu: %s", (unsigned long long)t->seed, t->why);
        return 0;
    }
    left = lift_all(t, &left_nevers);
    if (clv_presolve_finite(t->made) && (best < 0 || nevers))
        cr_assert(left < 0, "seed %llu", (unsigned long long)t->seed);
    else
        cr_assert(left == best && left_nevers == nevers, "seed %llu: %lld, not %lld",
                  (unsigned long long)t->seed, (long long)left, (long long)best);
    return t->p->n_nodes - clv_presolve_problem(t->made)->n_nodes;
}

static int32_t check(uint64_t seed, small_kind kind)
{
    trial t;
    int32_t gone;

    begin(&t, seed, kind);
    gone = check_trial(&t);
    clv_arena_free(t.arena);
    return gone;
}

Test(presolve, keeps_the_best_solution)
{
    int64_t gone = 0;

    for (uint64_t seed = 0; seed < 8000; seed++)
        gone += check(seed, (small_kind){ .tree = seed % 16 == 1,
                                          .memory = seed % 3 > 0,
                                          .odd = seed % 5 == 0,
                                          .never = seed % 2 == 0 });
    cr_assert_gt(gone, 8000); /* it does something */
}

Test(presolve, rows_alone_keep_the_best_solution_too)
{
    for (uint64_t seed = 0; seed < 1000; seed++) {
        trial t = { .p = &t.s.p, .seed = seed };
        int32_t nevers = 0, left_nevers = 0;
        clv_error err;
        clv_int128 best;

        small_strategies_make(&t.s, seed, (small_kind){ .memory = true, .never = true });
        t.arena = clv_arena_new(NULL, 0);
        cr_assert_eq(clv_presolve_rows(&t.s.p, t.arena, &t.made, t.why, &err), CLV_OK);
        t.infeasible = !t.made;
        best = small_best(&t.s.p, &nevers);
        cr_assert(t.infeasible || !clv_presolve_finite(t.made));
        cr_assert(t.infeasible ? best < 0 : lift_all(&t, &left_nevers) == best, "seed %llu",
                  (unsigned long long)seed);
        clv_arena_free(t.arena);
    }
}

/* Choices that are not to be used go with whatever follows from that. */
Test(presolve, leaves_out_what_it_is_asked_to)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        trial t = { .p = &t.s.p, .seed = seed };
        int32_t choice[SMALL_NODES] = { 0 }, nevers = 0, left = 0;
        bool alive[SMALL_NODES * SMALL_CHOICES];
        uint64_t rng = seed;
        clv_int128 best = -1;
        clv_error err;

        small_strategies_make(&t.s, seed, (small_kind){ .memory = seed % 2, .odd = seed % 5 == 0 });
        for (int32_t c = 0; c < t.s.first_choice[t.s.p.n_nodes]; c++)
            alive[c] = clv_random_below(&rng, 3) > 0;
        do {
            bool open = small_fits(&t.s.p, choice);
            clv_int128 cost = small_cost(&t.s.p, choice, &nevers);

            for (int32_t v = 0; v < t.s.p.n_nodes; v++)
                open = open && alive[t.s.first_choice[v] + choice[v]];
            best = open && (best < 0 || cost < best) ? cost : best;
        } while (small_next(&t.s.p, choice));
        t.arena = clv_arena_new(NULL, 0);
        cr_assert_eq(clv_presolve_alive(&t.s.p, alive, t.arena, &t.made, t.why, &err), CLV_OK);
        t.infeasible = !t.made;
        cr_assert(t.infeasible ? best < 0 : lift_all(&t, &left) == best, "seed %llu",
                  (unsigned long long)seed);
        clv_arena_free(t.arena);
    }
}

/* Equal blocks that share their matrices, one behind the other, as layers of a model do. */
enum { BLOCKS = 3, BLOCK_NODES = SMALL_NODES / BLOCKS };

typedef struct {
    small_strategies of[1];
    clv_intra_op_problem p;
    int32_t first_choice[SMALL_NODES + 1], first_span[SMALL_NODES + 1];
    int64_t cost[SMALL_NODES * SMALL_CHOICES];
    int64_t span_lo[SMALL_SPANS], span_hi[SMALL_SPANS], span_usage[SMALL_SPANS];
    int32_t first_end[BLOCKS * SMALL_EDGES + 1], end[BLOCKS * SMALL_EDGES * 3];
    int32_t matrix_of[BLOCKS * SMALL_EDGES];
} repeated;

static void put_edge(repeated *x, int32_t k, const int32_t *end, int32_t shift, int32_t matrix)
{
    int32_t at = x->first_end[x->p.n_edges];

    for (int32_t i = 0; i < k; i++)
        x->end[at + i] = end[i] + shift;
    x->matrix_of[x->p.n_edges] = matrix;
    x->first_end[++x->p.n_edges] = at + k;
}

/* An edge from each block to the next, where a matrix of the block fits; every other one turned. */
static void put_links(repeated *x)
{
    const clv_intra_op_problem *b = &x->of->p;

    for (int32_t e = 0; e < b->n_edges && e < 1; e++)
        for (int32_t k = 1; b->first_end[e + 1] - b->first_end[e] == 2 && k < BLOCKS; k++) {
            int32_t u = b->end[b->first_end[e]], v = b->end[b->first_end[e] + 1];
            int32_t ends[2] = { k % 2 ? u : u + b->n_nodes, k % 2 ? v + b->n_nodes : v };

            put_edge(x, 2, ends, (k - 1) * b->n_nodes, b->matrix_of[e]);
        }
}

static void put_block(repeated *x, int32_t k)
{
    const clv_intra_op_problem *b = &x->of->p;
    int32_t n = b->n_nodes, choices = b->first_choice[n], spans = b->first_span[n];

    for (int32_t v = 0; v <= n; v++) {
        x->first_choice[k * n + v] = k * choices + b->first_choice[v];
        x->first_span[k * n + v] = k * spans + b->first_span[v];
    }
    for (int32_t c = 0; c < choices; c++)
        x->cost[k * choices + c] = b->cost[c];
    for (int32_t i = 0; i < spans; i++) {
        x->span_lo[k * spans + i] = b->span_lo[i] + k; /* the blocks overlap in time */
        x->span_hi[k * spans + i] = b->span_hi[i] + k;
        x->span_usage[k * spans + i] = b->span_usage[i];
    }
    for (int32_t e = 0; e < b->n_edges; e++)
        put_edge(x, b->first_end[e + 1] - b->first_end[e], b->end + b->first_end[e], k * n,
                 b->matrix_of[e]);
}

/* False: the seed's problem is too large for a block. */
static bool repeat(repeated *x, uint64_t seed, small_kind kind)
{
    memset(x, 0, sizeof *x);
    small_strategies_make(x->of, seed, kind);
    if (x->of->p.n_nodes > BLOCK_NODES)
        return false;
    x->p = x->of->p;
    x->p.n_nodes *= BLOCKS;
    x->p.n_edges = 0;
    for (int32_t k = 0; k < BLOCKS; k++)
        put_block(x, k);
    put_links(x);
    if (x->p.usage_limit >= 0)
        x->p.usage_limit *= 2;
    x->p.first_choice = x->first_choice;
    x->p.cost = x->cost;
    x->p.first_span = x->first_span;
    x->p.span_lo = x->span_lo;
    x->p.span_hi = x->span_hi;
    x->p.span_usage = x->span_usage;
    x->p.first_end = x->first_end;
    x->p.end = x->end;
    x->p.matrix_of = x->matrix_of;
    return true;
}

/* The same solution for blocks with matrices of their own: nothing hangs on which are shared. */
static void check_against_own_matrices(const trial *t)
{
    const clv_intra_op_problem *q = clv_presolve_problem(t->made), *r;
    int64_t entry[BLOCKS * SMALL_ENTRIES], first[BLOCKS * SMALL_EDGES + 1] = { 0 };
    int32_t matrix_of[BLOCKS * SMALL_EDGES];
    clv_intra_op_problem own = *t->p;
    clv_presolved *made;
    char why[200];
    clv_error err;

    for (int32_t e = 0; e < own.n_edges; e++) {
        int32_t m = own.matrix_of[e];
        int64_t n = own.first_entry[m + 1] - own.first_entry[m];

        memcpy(entry + first[e], own.entry + own.first_entry[m], (size_t)n * sizeof *entry);
        first[e + 1] = first[e] + n;
        matrix_of[e] = e;
    }
    own.n_matrices = own.n_edges;
    own.matrix_of = matrix_of;
    own.first_entry = first;
    own.entry = entry;
    cr_assert_eq(clv_presolve(&own, t->arena, &made, why, &err), CLV_OK);
    r = clv_presolve_problem(made);
    cr_assert(r->n_nodes == q->n_nodes && r->n_edges == q->n_edges);
    cr_assert(clv_presolve_base(made) == clv_presolve_base(t->made));
    cr_assert_arr_eq(r->first_choice, q->first_choice, (size_t)(q->n_nodes + 1) * sizeof(int32_t));
    cr_assert_arr_eq(r->cost, q->cost, (size_t)q->first_choice[q->n_nodes] * sizeof(int64_t));
    cr_assert_arr_eq(r->end, q->end, (size_t)q->first_end[q->n_edges] * sizeof(int32_t));
    if (!clv_presolve_finite(made))
        return; /* as given: matrices too */
    cr_assert_eq(r->n_matrices, q->n_matrices);
    cr_assert_arr_eq(r->matrix_of, q->matrix_of, (size_t)q->n_edges * sizeof(int32_t));
    cr_assert_arr_eq(r->entry, q->entry, (size_t)q->first_entry[q->n_matrices] * sizeof(int64_t));
}

Test(presolve, keeps_the_best_solution_of_equal_blocks)
{
    int32_t n = 0, gone = 0;

    for (uint64_t seed = 0; seed < test_effort(20000); seed++) {
        trial t = { .seed = seed };
        repeated x;
        clv_error err;

        if (!repeat(&x, seed,
                    (small_kind){
                        .memory = seed % 3 > 0, .odd = seed % 5 == 0, .never = seed % 2 == 0 }))
            continue;
        t.p = &x.p;
        t.arena = clv_arena_new(NULL, 0);
        cr_assert_eq(clv_presolve(t.p, t.arena, &t.made, t.why, &err), CLV_OK);
        t.infeasible = !t.made;
        gone += check_trial(&t);
        if (!t.infeasible)
            check_against_own_matrices(&t);
        clv_arena_free(t.arena);
        n++;
    }
    cr_assert_gt(n, (int)test_effort(4000));
    cr_assert_gt(gone, n);
}

/* More nodes than can be tried, of which something is left: a circle with chords. */
enum { WIDE_NODES = 20, WIDE_CHOICES = 5, WIDE_EDGES = 2 * WIDE_NODES };

typedef struct {
    clv_intra_op_problem p;
    int32_t first_choice[WIDE_NODES + 1], first_span[WIDE_NODES + 1];
    int64_t cost[WIDE_NODES * WIDE_CHOICES], usage[WIDE_NODES * WIDE_CHOICES];
    int64_t lo[WIDE_NODES], hi[WIDE_NODES], at[WIDE_NODES];
    int32_t first_end[WIDE_EDGES + 1], end[2 * WIDE_EDGES], matrix_of[WIDE_EDGES];
    int64_t first_entry[WIDE_EDGES + 1], entry[WIDE_EDGES * WIDE_CHOICES * WIDE_CHOICES];
} wide;

static void make_wide(wide *x, uint64_t seed)
{
    uint64_t rng = seed;
    int32_t entries = WIDE_CHOICES * WIDE_CHOICES;

    memset(x, 0, sizeof *x);
    for (int32_t v = 0; v < WIDE_NODES; v++) {
        x->first_choice[v + 1] = (v + 1) * WIDE_CHOICES;
        x->first_span[v + 1] = v + 1;
        x->at[v] = v * WIDE_CHOICES;
        x->lo[v] = clv_random_below(&rng, 8);
        x->hi[v] = x->lo[v] + 1 + clv_random_below(&rng, 4);
        for (int32_t c = 0; c < WIDE_CHOICES; c++) {
            x->cost[v * WIDE_CHOICES + c] = clv_random_below(&rng, 40);
            x->usage[v * WIDE_CHOICES + c] = clv_random_below(&rng, 3);
        }
    }
    for (int32_t e = 0; e < WIDE_EDGES; e++) {
        int32_t far = e < WIDE_NODES ? 1 : 2 + clv_random_below(&rng, WIDE_NODES - 3);

        x->end[2 * e] = e % WIDE_NODES;
        x->end[2 * e + 1] = (e + far) % WIDE_NODES;
        x->first_end[e + 1] = 2 * (e + 1);
        x->matrix_of[e] = e;
        x->first_entry[e + 1] = (e + 1) * entries;
        for (int32_t i = 0; i < entries; i++)
            x->entry[e * entries + i] = clv_random_below(&rng, 20);
    }
    x->p = (clv_intra_op_problem){ .name = "wide",
                                   .n_nodes = WIDE_NODES,
                                   .n_edges = WIDE_EDGES,
                                   .n_matrices = WIDE_EDGES,
                                   .usage_limit = 8 + clv_random_below(&rng, 8),
                                   .first_choice = x->first_choice,
                                   .cost = x->cost,
                                   .first_span = x->first_span,
                                   .span_lo = x->lo,
                                   .span_hi = x->hi,
                                   .span_usage = x->at,
                                   .usage = x->usage,
                                   .first_end = x->first_end,
                                   .end = x->end,
                                   .matrix_of = x->matrix_of,
                                   .first_entry = x->first_entry,
                                   .entry = x->entry };
}

/* A node is looked at again only where something changed: nothing may be missed by that. */
Test(presolve, finds_no_more_in_what_it_left)
{
    int32_t left = 0, gone = 0;

    for (uint64_t seed = 0; seed < 2000; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_presolved *made, *again;
        const clv_intra_op_problem *q, *r;
        bool infeasible;
        char why[200];
        clv_error err;
        wide x;

        make_wide(&x, seed);
        cr_assert_eq(clv_presolve(&x.p, arena, &made, why, &err), CLV_OK);
        infeasible = !made;
        if (!infeasible && clv_presolve_finite(made)) {
            q = clv_presolve_problem(made);
            cr_assert_eq(clv_presolve(q, arena, &again, why, &err), CLV_OK);
            infeasible = !again;
            r = clv_presolve_problem(again);
            cr_assert(!infeasible);
            cr_assert_eq(r->first_choice[r->n_nodes], q->first_choice[q->n_nodes], "seed %llu",
                         (unsigned long long)seed);
            left += q->first_choice[q->n_nodes];
            gone += WIDE_NODES * WIDE_CHOICES - q->first_choice[q->n_nodes];
        }
        clv_arena_free(arena);
    }
    cr_assert(left > 20000 && gone > 20000, "%d left, %d gone", left, gone);
}

/* Gives out so many blocks and no more. */
static void *scarce(void *ctx, void *p, size_t size)
{
    int *left = ctx;

    if (size == 0) {
        free(p);
        return NULL;
    }
    return (*left)-- > 0 ? realloc(p, size) : NULL;
}

Test(presolve, says_so_where_memory_ends)
{
    clv_status status = CLV_ENOMEM;
    wide x;

    make_wide(&x, 3);
    for (int n = 1; status != CLV_OK; n++) {
        int left = n;
        clv_arena *arena = clv_arena_new(&(clv_alloc){ scarce, &left }, 0);
        clv_presolved *made;
        char why[200];
        clv_error err;

        cr_assert(arena);
        status = clv_presolve(&x.p, arena, &made, why, &err);
        cr_assert(status == CLV_OK || status == CLV_ENOMEM);
        cr_assert_lt(n, 1000);
        clv_arena_free(arena);
    }
}

/* A ladder, as layers of a model with two streams: it goes from its ends, two nodes at a time, and
 * is longer than there are rounds of all passes. */
enum { RUNGS = 700, LADDER_CHOICES = 3, LADDER_EDGES = 3 * RUNGS - 2 };

typedef struct {
    clv_intra_op_problem p;
    int32_t first_choice[2 * RUNGS + 1], first_span[2 * RUNGS + 1];
    int64_t cost[2 * RUNGS * LADDER_CHOICES];
    int32_t first_end[LADDER_EDGES + 1], end[2 * LADDER_EDGES], matrix_of[LADDER_EDGES];
    int64_t first_entry[LADDER_EDGES + 1];
    int64_t entry[LADDER_EDGES * LADDER_CHOICES * LADDER_CHOICES];
} ladder;

/* Edge 3 * i joins rung i, the next two lead from it to the next rung. */
static void make_ladder(ladder *x)
{
    uint64_t rng = 3;

    for (int32_t v = 0; v < 2 * RUNGS; v++)
        x->first_choice[v + 1] = (v + 1) * LADDER_CHOICES;
    for (int32_t c = 0; c < 2 * RUNGS * LADDER_CHOICES; c++)
        x->cost[c] = clv_random_below(&rng, 1000);
    for (int32_t e = 0; e < LADDER_EDGES; e++) {
        int32_t v = e / 3 * 2 + (e % 3 == 2);

        x->end[2 * e] = v;
        x->end[2 * e + 1] = v + (e % 3 ? 2 : 1);
        x->first_end[e + 1] = 2 * (e + 1);
        x->matrix_of[e] = e;
        x->first_entry[e + 1] = (e + 1) * LADDER_CHOICES * LADDER_CHOICES;
    }
    for (int32_t i = 0; i < LADDER_EDGES * LADDER_CHOICES * LADDER_CHOICES; i++)
        x->entry[i] = clv_random_below(&rng, 1000);
    x->p = (clv_intra_op_problem){ .name = "ladder",
                                   .n_nodes = 2 * RUNGS,
                                   .n_edges = LADDER_EDGES,
                                   .n_matrices = LADDER_EDGES,
                                   .usage_limit = CLV_INTRA_OP_UNLIMITED,
                                   .first_choice = x->first_choice,
                                   .cost = x->cost,
                                   .first_span = x->first_span,
                                   .first_end = x->first_end,
                                   .end = x->end,
                                   .matrix_of = x->matrix_of,
                                   .first_entry = x->first_entry,
                                   .entry = x->entry };
}

static int64_t edge_cost(const ladder *x, int32_t e, int32_t a, int32_t b)
{
    return x->entry[(e * LADDER_CHOICES + a) * LADDER_CHOICES + b];
}

/* The least cost of all up to each rung, by the choices at it. */
static int64_t best_of_ladder(const ladder *x)
{
    int64_t before[LADDER_CHOICES][LADDER_CHOICES] = { { 0 } }, best = INT64_MAX;

    for (int32_t i = 0; i < RUNGS; i++) {
        int64_t at[LADDER_CHOICES][LADDER_CHOICES];

        for (int32_t k = 0; k < LADDER_CHOICES * LADDER_CHOICES; k++) {
            int32_t a = k / LADDER_CHOICES, b = k % LADDER_CHOICES;
            int64_t least = i ? INT64_MAX : 0;

            for (int32_t j = 0; i && j < LADDER_CHOICES * LADDER_CHOICES; j++) {
                int32_t c = j / LADDER_CHOICES, d = j % LADDER_CHOICES;
                int64_t sum =
                    before[c][d] + edge_cost(x, 3 * i - 2, c, a) + edge_cost(x, 3 * i - 1, d, b);

                least = sum < least ? sum : least;
            }
            at[a][b] = least + x->cost[2 * i * LADDER_CHOICES + a] +
                       x->cost[(2 * i + 1) * LADDER_CHOICES + b] + edge_cost(x, 3 * i, a, b);
            best = i + 1 == RUNGS && at[a][b] < best ? at[a][b] : best;
        }
        memcpy(before, at, sizeof before);
    }
    return best;
}

Test(presolve, takes_a_long_ladder_apart)
{
    static ladder x;
    static int32_t choice[1], whole[2 * RUNGS];
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_presolved *made;
    char why[200];
    clv_error err;

    make_ladder(&x);
    cr_assert_eq(clv_presolve(&x.p, arena, &made, why, &err), CLV_OK);
    cr_assert_eq(clv_presolve_problem(made)->n_nodes, 0, "nothing is left");
    clv_presolve_lift(made, choice, whole);
    cr_assert(clv_presolve_base(made) == best_of_ladder(&x));
    cr_assert(clv_intra_op_cost(&x.p, whole) == best_of_ladder(&x));
    clv_arena_free(arena);
}
