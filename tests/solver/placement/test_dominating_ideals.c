/* test_dominating_ideals.c - dominating ideals against their definition, and the search that leaves
 * stages out by them against the published dynamic program. */
#include "solver/placement/contiguous/dominating_ideals.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "solver/placement/common/contraction_reverse.h"
#include "solver/placement/contiguous/partial_stage.h"
#include "solver/placement/portfolio.h"
#include "solver/placement/small_placement.h"
#include "support/effort.h"
#include "support/place_convert.h"
#include "support/place_oracle.h"

TestSuite(dominating_ideals, .timeout = 600);

#define PROBLEMS test_effort(1000)
/* All parts of so many blocks are tried. */
#define BLOCKS_MAX 14
/* Of the value: what a proof may lose to rounding (solver/placement/common/contraction.h). */
#define PROOF_PART 1e-9

/* -- made models -- */

/* A model: layers of a few branches in a row, a table that is read at both ends, blocks that may be
 * anywhere, often a backward pass. */
typedef struct {
    oracle_problem *p;
    uint64_t random;
    int n_forward;
} maker;

static int roll(maker *m, int n) { return oracle_below(&m->random, n); }

static int add_node(maker *m, bool backward, int class_of)
{
    oracle_problem *p = m->p;
    int v = p->n++;
    bool heavy = roll(m, 6) == 0;
    p->time[0][v] = (heavy ? 8 + roll(m, 24) : roll(m, 8)) * 0.25;
    p->time[1][v] = p->time[0][v] * (2 + roll(m, 8));
    p->time[2][v] = p->time[0][v] * 0.5 + roll(m, 6) * 0.25;
    if (roll(m, 60) == 0)
        p->time[0][v] = -1;
    p->bytes[v] = roll(m, 4);
    p->cost[v] = roll(m, 4) == 0 ? roll(m, 20) * 0.5 : roll(m, 4) * 0.25;
    p->backward[v] = backward;
    p->class_of[v] = class_of >= 0 ? class_of : p->n_classes++;
    return v;
}

static void add_edge(maker *m, int from, int to)
{
    oracle_problem *p = m->p;
    for (int i = 0; i < p->m; i++)
        if (p->from[i] == from && p->to[i] == to)
            return;
    if (p->m == ORACLE_EDGES)
        return;
    p->from[p->m] = from;
    p->to[p->m++] = to;
}

static void add_forward(maker *m)
{
    int layers = 2 + roll(m, 5), table = add_node(m, false, -1), last = table, loose = -1;
    if (roll(m, 2))
        add_edge(m, table, loose = add_node(m, false, -1));
    for (int i = 0; i < layers; i++) {
        int branches = 1 + roll(m, 3), in = last, ends[3];
        for (int j = 0; j < branches; j++) {
            int length = 1 + roll(m, 2);
            for (ends[j] = in; length > 0; length--) {
                int v = add_node(m, false, -1);
                add_edge(m, ends[j], v);
                ends[j] = v;
            }
        }
        last = add_node(m, false, -1);
        for (int j = 0; j < branches; j++)
            add_edge(m, ends[j], last);
        if (roll(m, 2))
            add_edge(m, in, last);
    }
    if (roll(m, 2))
        add_edge(m, table, last);
    if (loose >= 0)
        add_edge(m, loose, last);
    m->n_forward = m->p->n;
}

/* Some forward nodes have a backward one, mostly of their class; edges the other way round. */
static void add_backward(maker *m)
{
    oracle_problem *p = m->p;
    int mate[ORACLE_NODES], n_edges = p->m;
    for (int v = 0; v < m->n_forward; v++)
        mate[v] =
            p->n < 40 && roll(m, 3) ? add_node(m, true, roll(m, 12) ? p->class_of[v] : -1) : -1;
    for (int i = 0; i < n_edges; i++)
        if (mate[p->from[i]] >= 0 && mate[p->to[i]] >= 0)
            add_edge(m, mate[p->to[i]], mate[p->from[i]]);
    for (int v = 0; v < m->n_forward; v++)
        if (mate[v] >= 0 && roll(m, 2))
            add_edge(m, v, mate[v]);
}

static void make_model(uint64_t seed, oracle_problem *p, oracle_rules *rules)
{
    maker m = { .p = p, .random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1 };
    long long all = 0;
    memset(p, 0, sizeof *p);
    p->n_kinds = 3;
    add_forward(&m);
    if (roll(&m, 2))
        add_backward(&m);
    for (int v = 0; v < p->n; v++)
        all += p->bytes[v];
    p->kind[0] = (oracle_kind){ 1 + roll(&m, 3), -1, true };
    p->kind[1] = (oracle_kind){ roll(&m, 3), -1, roll(&m, 4) == 0 };
    p->kind[2] = (oracle_kind){ roll(&m, 2) ? 0 : roll(&m, 3), -1, true };
    if (roll(&m, 3) == 0)
        p->kind[0].capacity = all / p->kind[0].count + 2 + roll(&m, 8);
    *rules = (oracle_rules){ roll(&m, 5) ? ORACLE_THROUGHPUT : ORACLE_FEWEST, true, 0 };
    if (rules->objective == ORACLE_FEWEST)
        rules->max_load = 4 + roll(&m, 40) * 0.5;
}

/* What breaks ties and limits: equal times, nothing sent or nothing done, memory that is just
 * enough for some blocks, far nodes in one class, backward nodes in none, nodes that only the other
 * kinds run. */
static void make_awkward(uint64_t seed, oracle_problem *p, oracle_rules *rules)
{
    maker m = { .random = seed * UINT64_C(0xD1B54A32D192ED03) + 1 };
    make_model(seed, p, rules);
    int same = roll(&m, 4), free = roll(&m, 4), apart = roll(&m, 4);
    for (int v = 0; v < p->n; v++) {
        for (int k = 0; k < p->n_kinds && same < 3; k++)
            if (p->time[k][v] > 0)
                p->time[k][v] = same == 0 ? 1 : roll(&m, 3) == 0 ? 0 : same == 1 ? 2 : k + 1;
        if (free < 2)
            p->cost[v] = free == 0 ? 0 : 1;
        if (apart == 0 && p->backward[v] && roll(&m, 2))
            p->class_of[v] = p->n_classes++;
        if (apart == 1 && roll(&m, 12) == 0)
            p->class_of[v] = p->class_of[roll(&m, p->n)];
        if (roll(&m, 15) == 0)
            p->time[0][v] = -1;
        if (roll(&m, 15) == 0)
            p->time[1][v] = -1;
    }
    for (int k = 0; k < p->n_kinds; k++) {
        long long some = 0;
        for (int v = 0; v < p->n; v++)
            some += roll(&m, 2) ? p->bytes[v] : 0;
        if (roll(&m, 2))
            p->kind[k].capacity = some;
        if (roll(&m, 3) == 0)
            p->kind[k].count = 1 + roll(&m, 3);
    }
    if (rules->objective == ORACLE_FEWEST && roll(&m, 2)) {
        rules->max_load = 0;
        for (int v = 0; v < p->n; v++)
            rules->max_load += roll(&m, 3) == 0 && p->time[0][v] > 0 ? p->time[0][v] : 0;
    }
}

/* -- the definition -- */

static uint32_t pins_of(const clv_contraction *b, int32_t net)
{
    uint32_t pins = 0;
    for (int32_t i = b->net_first[net]; i < b->net_first[net + 1]; i++)
        pins |= 1u << b->pins[i];
    return pins;
}

/* What a part of an ideal adds to whoever has it beside what is behind the ideal, at least. */
static int64_t added_by(const clv_contraction *b, const clv_fluid_bound *share, uint32_t ideal,
                        uint32_t part)
{
    int64_t added = 0;
    for (int32_t u = 0; u < b->n; u++)
        added += part >> u & 1 ? share->paid_time[u] : 0;
    for (int32_t e = 0; e < b->n_nets; e++) {
        uint32_t pins = pins_of(b, e);
        if ((pins & part) == 0)
            continue;
        if ((pins & ~ideal) == 0 && (pins & ~part) != 0)
            added += b->net_cost[e];
        else if ((pins & ~ideal) != 0 && (pins & ideal & ~part) == 0)
            added -= b->net_cost[e];
    }
    return added;
}

/* Does the ideal dominate for whoever holds these blocks? All parts are tried. */
static bool is_dominating(const clv_contraction *b, const clv_fluid_bound *share, uint32_t ideal,
                          uint32_t held)
{
    uint32_t all = ideal & ~held;
    for (uint32_t part = all; part != 0; part = (part - 1) & all)
        if (added_by(b, share, ideal, part) < 0)
            return false;
    return true;
}

typedef struct {
    int32_t dominating, with_needs, not_dominating, chains;
} tally;

static void check_ideal(const clv_contraction *b, const clv_fluid_bound *share,
                        const clv_dominating_ideals *f, int32_t chain, int32_t size, tally *t)
{
    size_t at = clv_dominating_ideals_at(f, chain, size);
    uint32_t ideal = (uint32_t)clv_dominating_ideals_word(f, chain, size, 0), held = 0;
    int32_t n = f->n_needs[at];
    for (int32_t i = 0; i < n; i++)
        held |= 1u << f->needs[at * CLV_IDEAL_NEEDS_MAX + (size_t)i];
    cr_assert_eq(held & ~ideal, 0);
    uint64_t row = held, one = held & (held - 1);
    cr_assert_eq(clv_ideal_dominates(f, chain, size, &row), n >= 0);
    cr_assert(n <= 0 || !clv_ideal_dominates(f, chain, size, &one));
    bool alone = is_dominating(b, share, ideal, 0);
    cr_assert(n < 0 || is_dominating(b, share, ideal, held), "%d of chain %d is not dominating",
              size, chain);
    cr_assert(n <= 0 || !alone, "%d of chain %d needs nothing", size, chain);
    cr_assert(n != 0 || alone);
    cr_assert(n >= 0 || !alone ||
              ideal == (uint32_t)clv_dominating_ideals_word(f, chain, size - 1, 0));
    t->dominating += n == 0;
    t->with_needs += n > 0;
    t->not_dominating += !alone;
}

/* Every block has to have a kind that can run it; shares are of nothing else. */
static bool can_run(const clv_contraction *b)
{
    bool all = true;
    for (int32_t u = 0; u < b->n; u++) {
        bool any = false;
        for (int32_t k = 0; k < b->n_kinds; k++)
            any = any || (b->p->kinds[k].count > 0 && clv_block_time(b, k, u) != CLV_BLOCK_NEVER);
        all = all && any;
    }
    return all;
}

static void check_blocks(const clv_contraction *b, clv_arena *arena, tally *t)
{
    clv_fluid_bound share;
    clv_partial_stage stage;
    clv_dominating_ideals f;
    cr_assert_eq(clv_fluid_bound_new(b, arena, &share, NULL), CLV_OK);
    cr_assert_eq(clv_partial_stage_new(b, &share, false, arena, &stage, NULL), CLV_OK);
    cr_assert_eq(clv_dominating_ideals_find(b, &share, stage.behind, arena, &f, NULL), CLV_OK);
    for (int32_t c = 0; c < f.n_chains; c++)
        for (int32_t s = 1; s <= b->n; s++)
            check_ideal(b, &share, &f, c, s, t);
    t->chains += f.n_chains > 1;
}

/* Both ways round. */
static void check_problem(const clv_place_problem *p, clv_arena *arena, tally *t)
{
    clv_place_rules rules = { CLV_PLACE_THROUGHPUT, true, 0 };
    clv_contraction *b, reverse;
    cr_assert_eq(clv_contraction_new(p, &rules, arena, &b, NULL), CLV_OK);
    if (b->n > BLOCKS_MAX || !can_run(b))
        return;
    check_blocks(b, arena, t);
    cr_assert_eq(clv_contraction_reverse(b, arena, &reverse, NULL), CLV_OK);
    check_blocks(&reverse, arena, t);
}

Test(dominating_ideals, ideals_dominate_when_no_part_is_worth_having)
{
    const small_size size = { 14, 12, 3, 1 };
    tally t = { 0 };
    for (uint64_t seed = 0; seed < PROBLEMS / 2; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        oracle_problem of;
        oracle_rules rules;
        make_model(seed, &of, &rules);
        check_problem(small_placement(seed, &size, arena), arena, &t);
        check_problem(placement_of(&of, arena), arena, &t);
        clv_arena_free(arena);
    }
    cr_log_info("dominating %d, with needs %d, not dominating %d, problems with more chains %d",
                t.dominating, t.with_needs, t.not_dominating, t.chains);
    cr_assert(t.dominating > (int)PROBLEMS / 10 && t.with_needs > (int)PROBLEMS / 10 &&
              t.chains > 0);
}

/* -- the search -- */

typedef struct {
    int n[2][2]; /* [fewest][feasible] */
} solutions;

/* By the search and by the published program. Nothing where there are too many ideals for that. */
static void compare(const oracle_problem *of, const oracle_rules *rules, int seed, clv_arena *arena,
                    solutions *t)
{
    double optimum = -1;
    clv_place_result r;
    bool feasible = oracle_line(of, rules, &optimum);
    if (optimum < 0)
        return;
    clv_place_options options = { .late_enumeration = true, .rules = placement_rules(rules) };
    cr_assert_eq(clv_place_solve(placement_of(of, arena), &options, arena, &r, NULL), CLV_OK);
    cr_assert_eq(r.solve.end, feasible ? CLV_END_OPTIMAL : CLV_END_INFEASIBLE, "%d: end %d", seed,
                 (int)r.solve.end);
    if (feasible) {
        oracle_value value = oracle_judge(of, rules, r.solve.solution);
        cr_assert(value.legal, "%d: %s", seed, value.why);
        cr_assert_float_eq(value.objective, optimum, PROOF_PART * (1 + optimum),
                           "%d: %.17g, not %.17g", seed, value.objective, optimum);
    }
    t->n[rules->objective == ORACLE_FEWEST][feasible]++;
}

/* So many models of the maker. */
static solutions compare_many(void (*make)(uint64_t seed, oracle_problem *p, oracle_rules *rules),
                              int n)
{
    solutions t = { 0 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (int seed = 1; seed <= n; seed++) {
        oracle_problem of;
        oracle_rules rules;
        clv_mark mark = clv_arena_mark(arena);
        make((uint64_t)seed, &of, &rules);
        compare(&of, &rules, seed, arena, &t);
        clv_arena_rewind(arena, mark);
    }
    clv_arena_free(arena);
    cr_log_info("throughput %d, infeasible %d; fewest %d, infeasible %d", t.n[0][1], t.n[0][0],
                t.n[1][1], t.n[1][0]);
    return t;
}

Test(dominating_ideals, models_have_the_optimum_of_the_published_program)
{
    solutions t = compare_many(make_model, 2 * (int)PROBLEMS);
    cr_assert(t.n[0][1] > (int)PROBLEMS / 4 && t.n[0][0] > 0 && t.n[1][1] > (int)PROBLEMS / 20 &&
              t.n[1][0] > 0);
}

Test(dominating_ideals, awkward_models_have_it_too)
{
    solutions t = compare_many(make_awkward, (int)PROBLEMS / 2);
    cr_assert(t.n[0][1] > (int)PROBLEMS / 8 && t.n[0][0] > 0 && t.n[1][1] > (int)PROBLEMS / 40 &&
              t.n[1][0] > 0);
}
