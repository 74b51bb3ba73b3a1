/* Latency of graphs that fall into parts: brute force says that no bound is above the optimum, and
 * tables over chains what the best division of the devices gives. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solver/placement/latency/components.h"
#include "solver/placement/portfolio.h"
#include "support/effort.h"
#include "support/place_convert.h"

/* -- small problems against all assignments -- */

#define ASSIGNMENTS 4000.0
#define SUM_PART    1e-12 /* what sums may be off by */

#define PROBLEMS    test_effort(2400)

static void append(oracle_problem *to, const oracle_problem *from)
{
    for (int v = 0; v < from->n; v++) {
        int at = to->n + v;
        for (int k = 0; k < to->n_kinds; k++)
            to->time[k][at] = from->time[k % from->n_kinds][v];
        to->bytes[at] = from->bytes[v];
        to->cost[at] = from->cost[v];
        to->backward[at] = from->backward[v];
        to->class_of[at] = to->n_classes + from->class_of[v];
    }
    for (int e = 0; e < from->m; e++) {
        to->from[to->m] = to->n + from->from[e];
        to->to[to->m++] = to->n + from->to[e];
    }
    to->n += from->n;
    to->n_classes += from->n_classes;
}

/* Half of the bytes have room on devices that pay; the others are slow. */
static void make_scarce(oracle_problem *p)
{
    long long bytes = 0, n_pays = 0;
    for (int v = 0; v < p->n; v++)
        bytes += p->bytes[v] += 1;
    for (int k = 0; k < p->n_kinds; k++)
        n_pays += p->kind[k].pays ? p->kind[k].count : 0;
    for (int k = 0; k < p->n_kinds; k++) {
        p->kind[k].capacity = p->kind[k].pays ? 2 + bytes * (1 + bytes % 4) / (5 * n_pays + 1) : -1;
        for (int v = 0; v < p->n; v++) {
            double time = 1 + (double)(p->bytes[v] % 5);
            p->time[k][v] = p->kind[k].pays ? time : 6 * time;
        }
    }
}

/* Two to five parts, some of them equal, with devices of the first; more of them at times. */
static bool make_parts(unsigned long long seed, oracle_problem *p, oracle_rules *rules)
{
    static oracle_problem part[2];
    uint64_t random = seed;
    double assignments = 1;
    oracle_make(seed, 2 + oracle_below(&random, 4), 300, false, &part[0], rules);
    oracle_make(seed + 500000, 1 + oracle_below(&random, 3), 30, false, &part[1], rules);
    if (part[0].n_kinds == 0 || part[1].n_kinds == 0)
        return false;
    *p = part[0];
    for (int i = 1 + oracle_below(&random, 4); i > 0; i--)
        append(p, &part[oracle_below(&random, 2)]);
    for (int k = 0; k < p->n_kinds; k++)
        if (oracle_below(&random, 2) && p->kind[k].pays)
            p->kind[k].count += oracle_below(&random, 3);
    if (seed % 3 == 0)
        make_scarce(p);
    for (int c = 0; c < p->n_classes; c++)
        assignments *= oracle_devices(p);
    *rules = (oracle_rules){ ORACLE_LATENCY, seed % 2 == 0, 0 };
    return p->n > 1 && assignments <= ASSIGNMENTS * 50 && oracle_devices(p) > 0;
}

typedef struct {
    int solved, optimal, proven, infeasible;
    int by_parts, by_room; /* times that a bound or a solution came from there */
    unsigned long long seed;
    double most; /* the optimum of the problem at hand, and what sums may be off by */
} tally;

static void note(void *ctx, const clv_solve_progress *p)
{
    tally *t = ctx;
    cr_assert(p->bound.real <= t->most, "%llu: %s's bound %.17g, optimum %.17g", t->seed, p->method,
              p->bound.real, t->most);
    t->by_parts += strcmp(p->method, "parts") == 0;
    t->by_room += strcmp(p->method, "parts, memory priced") == 0;
}

static void check(unsigned long long seed, tally *t)
{
    static oracle_problem of;
    oracle_rules rules;
    double optimum = (double)INFINITY;
    int best[ORACLE_NODES];
    if (!make_parts(seed, &of, &rules))
        return;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_options options = { .late_enumeration = true,
                                  .rules = placement_rules(&rules),
                                  .solve.seed = seed,
                                  .solve.progress = note,
                                  .solve.progress_ctx = t };
    clv_place_result r;
    if (!oracle_best(&of, &rules, false, &optimum, best))
        optimum = (double)INFINITY;
    double slack = SUM_PART * (isinf(optimum) || optimum < 1 ? 1 : optimum);
    t->seed = seed;
    t->most = optimum + slack;
    cr_assert_eq(clv_place_solve(placement_of(&of, arena), &options, arena, &r, NULL), CLV_OK);
    cr_assert(r.solve.bound.real <= t->most, "%llu", seed);
    cr_assert(r.solve.end != CLV_END_INFEASIBLE || isinf(optimum), "%llu", seed);
    if (r.solve.found) {
        oracle_value value = oracle_judge(&of, &rules, r.solve.solution);
        cr_assert(value.legal, "%llu: %s", seed, value.why);
        cr_assert_float_eq(value.objective, r.value.objective, slack, "%llu", seed);
        cr_assert(value.objective >= optimum - slack, "%llu", seed);
        t->optimal += value.objective <= optimum * (1 + 1e-9) + slack;
    }
    t->solved++;
    t->infeasible += isinf(optimum);
    t->proven += r.solve.end == CLV_END_OPTIMAL || r.solve.end == CLV_END_INFEASIBLE;
    clv_arena_free(arena);
}

Test(latency_parts, no_bound_is_above_the_optimum)
{
    tally t = { 0 };
    for (unsigned long long seed = 1; seed <= PROBLEMS; seed++)
        check(seed, &t);
    printf("%d problems: %d optimal, %d infeasible, %d proven; %d by parts, %d by memory\n",
           t.solved, t.optimal, t.infeasible, t.proven, t.by_parts, t.by_room);
    cr_expect_eq(t.optimal + t.infeasible, t.solved);
    cr_expect_eq(t.proven, t.solved);
    cr_expect_gt(t.solved, (int)PROBLEMS / 4);
    cr_expect_gt(t.by_parts, t.solved / 10); /* else nothing of it is tested */
    cr_expect_gt(t.by_room, (int)PROBLEMS / 100);
}

/* -- chains: a table has the optimum of each for any number of devices -- */

#define LENGTH     14
#define MOST_PARTS 8
#define MOST_GIVEN 16
#define NODES      (LENGTH * MOST_PARTS)

typedef struct {
    int length;
    double pays[LENGTH], alone[LENGTH], send[LENGTH];
    int64_t bytes[LENGTH];
    double best[MOST_GIVEN + 1]; /* by paying devices */
} chain;

static chain make_chain(uint64_t *random, int length)
{
    chain c = { .length = length };
    for (int i = 0; i < length; i++) {
        c.pays[i] = (1 + oracle_below(random, 40)) / 4.0;
        c.alone[i] = c.pays[i] * (1 + oracle_below(random, 6));
        c.send[i] = i + 1 < length ? oracle_below(random, 40) / 16.0 : 0;
        c.bytes[i] = oracle_below(random, 10);
    }
    return c;
}

/* Contiguous: pieces and runs of other nodes take turns, of which there are n_alone at most. */
static double best_with(const chain *c, int64_t room, int n_pieces, int n_alone)
{
    /* [pieces][runs][nodes done][the last is of a run] */
    static double best[MOST_GIVEN + 1][4][LENGTH + 1][2];
    double least = (double)INFINITY;
    for (int a = 0; a <= n_pieces; a++)
        for (int r = 0; r <= n_alone; r++)
            for (int j = 0; j <= c->length; j++) {
                double *at = best[a][r][j], time = 0;
                int64_t bytes = 0;
                at[0] = j == 0 ? 0 : (double)INFINITY;
                at[1] = (double)INFINITY;
                if (j > 0)
                    at[1] =
                        c->alone[j - 1] + fmin(best[a][r][j - 1][1],
                                               r > 0 ? best[a][r - 1][j - 1][0] : (double)INFINITY);
                for (int i = j - 1; i >= 0 && a > 0; i--) {
                    time += c->pays[i];
                    bytes += c->bytes[i];
                    double cost = time + (i > 0 ? c->send[i - 1] : 0) + c->send[j - 1];
                    if (bytes <= room)
                        at[0] =
                            fmin(at[0], cost + fmin(best[a - 1][r][i][0], best[a - 1][r][i][1]));
                }
                if (j == c->length)
                    least = fmin(least, fmin(at[0], at[1]));
            }
    return least;
}

/* Chains side by side, their nodes in turn, so that no part is a run of numbers. */
typedef struct {
    int n_chains;
    const chain *of[MOST_PARTS];
    int64_t id[NODES], bytes[NODES];
    double time[2 * NODES], send[NODES];
    bool backward[NODES];
    int32_t class_of[NODES], out_first[NODES + 1], out[NODES], order[NODES];
    clv_place_kind kinds[2];
    clv_place_problem p;
} bundle;

static void fill(bundle *b, int n_pays, int64_t room, int n_alone)
{
    int32_t n = 0, edges = 0, node[MOST_PARTS][LENGTH], chain_of[NODES], place[NODES];
    for (int i = 0; i < LENGTH; i++)
        for (int c = 0; c < b->n_chains; c++)
            if (i < b->of[c]->length) {
                chain_of[n] = c;
                place[n] = i;
                node[c][i] = n++;
            }
    for (int32_t v = 0; v < n; v++) {
        const chain *c = b->of[chain_of[v]];
        b->id[v] = b->class_of[v] = b->order[v] = v;
        b->time[v] = c->pays[place[v]];
        b->time[n + v] = c->alone[place[v]];
        b->bytes[v] = c->bytes[place[v]];
        b->send[v] = c->send[place[v]];
        b->out_first[v] = edges;
        if (place[v] + 1 < c->length)
            b->out[edges++] = node[chain_of[v]][place[v] + 1];
    }
    b->out_first[n] = edges;
    b->kinds[0] = (clv_place_kind){ "pays", n_pays, room, true };
    b->kinds[1] = (clv_place_kind){ "alone", n_alone, CLV_PLACE_UNLIMITED, false };
    b->p = (clv_place_problem){ n,           edges,        n,        2,       b->kinds,
                                b->id,       b->time,      b->bytes, b->send, b->backward,
                                b->class_of, b->out_first, b->out,   b->order };
}

/* The least latency, over all ways to divide n devices among the chains from one on. */
static double divide(const bundle *b, int from, int n)
{
    double best = (double)INFINITY;
    if (from == b->n_chains)
        return 0;
    for (int i = 0; i <= n; i++)
        best = fmin(best, fmax(b->of[from]->best[i], divide(b, from + 1, n - i)));
    return best;
}

typedef struct {
    double wanted, objective;
} target;

static void look(void *ctx, const clv_solve_progress *p)
{
    ((target *)ctx)->objective = p->value.real;
}

static bool is_reached(void *ctx)
{
    target *t = ctx;
    return t->objective <= t->wanted;
}

/* Ends as soon as the solution is as good as the best division, for where nothing proves it. */
static clv_place_result solve(const bundle *b, double wanted, clv_arena *arena)
{
    target t = { wanted * (1 + 1e-9), (double)INFINITY };
    clv_place_options options = { .late_enumeration = true,
                                  .rules = { CLV_PLACE_LATENCY, true, 0 },
                                  .solve.stop = is_reached,
                                  .solve.stop_ctx = &t,
                                  .solve.progress = look,
                                  .solve.progress_ctx = &t };
    clv_place_result r;
    cr_assert_eq(clv_place_solve(&b->p, &options, arena, &r, NULL), CLV_OK);
    return r;
}

static void check_chains(uint64_t seed, bool ample, int *n_by_parts)
{
    static bundle b;
    static chain chains[3];
    uint64_t random = seed;
    int n_alone = 1 + oracle_below(&random, 3), n_pays = ample ? 16 : 3 + oracle_below(&random, 4);
    int64_t room = 15 + oracle_below(&random, 30);
    double alone = 0;
    for (int i = 0; i < 3; i++) {
        chains[i] = make_chain(&random, 6 + oracle_below(&random, LENGTH - 5));
        for (int a = 0; a <= n_pays; a++)
            chains[i].best[a] = best_with(&chains[i], room, a, n_alone);
    }
    b.n_chains = 2 + oracle_below(&random, 3);
    for (int i = 0; i < b.n_chains; i++) {
        b.of[i] = &chains[oracle_below(&random, 3)];
        alone = fmax(alone, b.of[i]->best[n_pays]);
    }
    fill(&b, n_pays, room, n_alone);
    double divided = divide(&b, 0, n_pays);
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_result r = solve(&b, divided, arena);
    cr_assert(r.solve.found && r.value.objective <= divided * (1 + 1e-9),
              "seed %d: %.17g, a division has %.17g", (int)seed, r.value.objective, divided);
    cr_assert(r.solve.bound.real <= r.value.objective && r.value.objective >= alone * (1 - 1e-9));
    if (divided <= alone)
        cr_assert_eq(r.solve.end, CLV_END_OPTIMAL, "seed %d: %.17g of %.17g", (int)seed,
                     r.solve.bound.real, alone);
    *n_by_parts += strcmp(r.solve.found_by, "parts") == 0;
    clv_arena_free(arena);
}

Test(latency_parts, many_devices_prove_the_longest_part)
{
    int by_parts = 0;
    for (uint64_t seed = 1; seed <= 60; seed++)
        check_chains(seed, true, &by_parts);
    cr_expect_gt(by_parts, 30, "%d", by_parts);
}

Test(latency_parts, few_devices_are_divided_in_the_best_way)
{
    int by_parts = 0;
    for (uint64_t seed = 1001; seed <= 1060; seed++)
        check_chains(seed, false, &by_parts);
    cr_expect_gt(by_parts, 30, "%d", by_parts);
}

/* A long chain is solved and proven whatever specks are beside it: some on the other kind, some on
 * one device together. */
Test(latency_parts, specks_spoil_no_proof)
{
    static bundle b;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t random = seed;
        chain main = make_chain(&random, LENGTH), speck[2] = { 0 };
        main.best[3] = best_with(&main, 30, 3, 1);
        for (int i = 0; i < 2; i++) {
            speck[i] = make_chain(&random, 1 + oracle_below(&random, 2));
            for (int j = 0; j < speck[i].length; j++) {
                speck[i].pays[j] = main.best[3] / 100;
                speck[i].alone[j] = i ? 2 * main.best[3] : main.best[3] / 10;
                speck[i].bytes[j] = 1;
            }
        }
        b.n_chains = MOST_PARTS;
        for (int i = 0; i < b.n_chains; i++)
            b.of[i] = i == 2 ? &main : &speck[i % 2];
        fill(&b, 4, 30, 1);
        double wanted = fmin(best_with(&main, 30, 4, 1), main.best[3]);
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_place_options options = { .late_enumeration = true,
                                      .rules = { CLV_PLACE_LATENCY, true, 0 } };
        clv_place_result r;
        if (wanted == main.best[3]) { /* else the fourth device helps the chain, too */
            cr_assert_eq(clv_place_solve(&b.p, &options, arena, &r, NULL), CLV_OK);
            cr_assert_eq(r.solve.end, CLV_END_OPTIMAL, "seed %d", (int)seed);
            cr_assert_float_eq(r.value.objective, wanted, 1e-9 * wanted);
        }
        clv_arena_free(arena);
    }
}

/* -- which nodes are a part, which parts are equal -- */

Test(latency_parts, equal_parts_are_a_group)
{
    static bundle b;
    uint64_t random = 5;
    chain x = make_chain(&random, 5), y = x, z = make_chain(&random, 3);
    y.send[2] += 1;
    b = (bundle){ .n_chains = 6, .of = { &x, &z, &y, &x, &z, &x } };
    fill(&b, 2, 10, 1);
    clv_components parts;
    clv_arena *arena = clv_arena_new(NULL, 0);
    cr_assert_eq(clv_components_new(&b.p, arena, &parts, NULL), CLV_OK);
    cr_assert_eq(parts.n, 6);
    cr_assert_eq(parts.n_groups, 3);
    int n_copies[4] = { 0 };
    for (int g = 0; g < 3; g++)
        n_copies[parts.copies.first[g + 1] - parts.copies.first[g]]++;
    cr_assert(n_copies[1] == 1 && n_copies[2] == 1 && n_copies[3] == 1);
    for (int part = 0; part < 6; part++)
        for (int i = parts.nodes.first[part]; i < parts.nodes.first[part + 1]; i++)
            cr_assert_eq(b.time[parts.nodes.at[i]], b.of[part]->pays[i - parts.nodes.first[part]]);
    b.class_of[1] = b.class_of[0]; /* x and z are now one part */
    cr_assert_eq(clv_components_new(&b.p, arena, &parts, NULL), CLV_OK);
    cr_assert_eq(parts.n, 5);
    clv_arena_free(arena);
}
