/* test_rule_repair.c - rules against brute force on small random problems. */
#include "solver/partition/rule_repair.h"

#include "problem/rules_close.h"
#include "solver/partition/solve.h"
#include "solver/partition/synthetic.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define UNITS_MAX    7
#define FAMILIES_MAX 3

/* Rules as a person would state them; the judge below reads these, never clv_rules. */
typedef struct {
    int32_t n, n_devices;
    uint64_t devices[UNITS_MAX], stages[UNITS_MAX];
    int32_t group[UNITS_MAX]; /* -1: none */
    int32_t n_families, label[FAMILIES_MAX][UNITS_MAX];
    bool in_order[FAMILIES_MAX];
    int32_t max_stages;
    bool leads[UNITS_MAX][UNITS_MAX];
} stated;

/* -- making them -- */

static void find_paths(const clv_partition_problem *p, stated *s)
{
    for (int32_t net = 0; net < p->n_nets; net++)
        for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++)
            s->leads[p->net_from[net]][p->net_to[i]] = true;
    for (int32_t k = 0; k < s->n; k++)
        for (int32_t a = 0; a < s->n; a++)
            for (int32_t b = 0; b < s->n; b++)
                s->leads[a][b] |= s->leads[a][k] && s->leads[k][b];
}

static void add_family(stated *s, uint64_t *seed)
{
    int32_t f = s->n_families++, x = (int32_t)synthetic_below(seed, s->n);
    s->in_order[f] = synthetic_below(seed, 3) == 0;
    for (int32_t u = 0; u < s->n; u++) {
        if (s->in_order[f])
            s->label[f][u] = u == x || s->leads[u][x] ? 0 : s->leads[x][u] ? 1 : -1;
        else
            s->label[f][u] = (int32_t)synthetic_below(seed, 6) - 3;
    }
}

static stated some_rules(const clv_partition_problem *p, uint64_t *seed)
{
    stated s = { .n = p->n_units, .n_devices = p->n_devices };
    uint64_t all = (UINT64_C(1) << p->n_devices) - 1;
    bool groups = synthetic_below(seed, 3) == 0, stages = synthetic_below(seed, 4) == 0;
    int64_t pins = synthetic_below(seed, 5);
    find_paths(p, &s);
    for (int32_t u = 0; u < s.n; u++) {
        bool pinned = synthetic_below(seed, 5) < pins;
        s.devices[u] = pinned ? 1 + (uint64_t)synthetic_below(seed, (int64_t)all) : all;
        s.stages[u] = stages && synthetic_below(seed, 4) == 0
                          ? 1 + (uint64_t)synthetic_below(seed, (int64_t)all)
                          : all;
        s.group[u] = groups ? (int32_t)synthetic_below(seed, 6) - 4 : -1;
        s.group[u] = s.group[u] < 0 ? -1 : s.group[u];
    }
    for (int64_t n = synthetic_below(seed, FAMILIES_MAX + 1); n > 0; n--)
        add_family(&s, seed);
    s.max_stages = synthetic_below(seed, 4) ? 0 : 1 + (int32_t)synthetic_below(seed, p->n_devices);
    return s;
}

/* Stated rules as numbers. */
static const clv_rules *as_rules(const clv_partition_problem *p, const stated *s, clv_arena *arena)
{
    size_t n = (size_t)s->n;
    clv_rules *r = CLV_NEW(arena, clv_rules);
    uint64_t *devices = CLV_NEW_ARRAY(arena, uint64_t, n),
             *stages = CLV_NEW_ARRAY(arena, uint64_t, n);
    int32_t *set = CLV_NEW_ARRAY(arena, int32_t, n), *group = CLV_NEW_ARRAY(arena, int32_t, n);
    int32_t *first = CLV_NEW_ARRAY(arena, int32_t, n + 1),
            *tags = CLV_NEW_ARRAY(arena, int32_t, 64);
    int32_t *family = CLV_NEW_ARRAY(arena, int32_t, 64);
    clv_rule_groups closed;
    bool *in_order = CLV_NEW_ARRAY(arena, bool, FAMILIES_MAX);
    r->words = 1;
    r->n_families = s->n_families;
    r->max_stages = s->max_stages;
    r->n_stage_sets = s->n;
    for (int32_t f = 0; f < s->n_families; f++) {
        in_order[f] = s->in_order[f];
        for (int32_t k = 0; k < (s->in_order[f] ? 2 : 3); k++)
            family[r->n_tags++] = f;
    }
    for (int32_t u = 0, at = 0; u < s->n; u++) {
        devices[u] = s->devices[u];
        stages[u] = s->stages[u];
        set[u] = s->stages[u] == (UINT64_C(1) << s->n_devices) - 1 ? -1 : u;
        group[u] = s->group[u];
        for (int32_t f = 0, tag = 0; f < s->n_families; tag += s->in_order[f++] ? 2 : 3)
            if (s->label[f][u] >= 0)
                tags[at++] = tag + s->label[f][u];
        first[u + 1] = at;
    }
    cr_assert_eq(clv_rules_close(p, arena, group, &closed, NULL), CLV_OK);
    r->n_groups = closed.n;
    r->devices = devices;
    r->group_of = group;
    r->group_first = closed.first;
    r->group_units = closed.units;
    r->tag_first = first;
    r->tags = tags;
    r->family_of = family;
    r->in_order = in_order;
    r->stage_sets = stages;
    r->stage_set_of = set;
    return r;
}

/* -- the judge of rules -- */

static void find_stages(const clv_partition_problem *p, const int32_t *device_of, int32_t *stage)
{
    bool moved = true;
    for (int32_t d = 0; d < p->n_devices; d++)
        stage[d] = 0;
    while (moved) {
        moved = false;
        for (int32_t net = 0; net < p->n_nets; net++)
            for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++) {
                int32_t a = device_of[p->net_from[net]], b = device_of[p->net_to[i]];
                if (a != b && stage[b] <= stage[a]) {
                    stage[b] = stage[a] + 1;
                    moved = true;
                }
            }
    }
}

static bool meets_rules(const clv_partition_problem *p, const stated *s, const int32_t *device_of)
{
    int32_t stage[8];
    find_stages(p, device_of, stage);
    for (int32_t u = 0; u < s->n; u++) {
        if (!(s->devices[u] >> device_of[u] & 1) || !(s->stages[u] >> stage[device_of[u]] & 1))
            return false;
        if (s->max_stages && stage[device_of[u]] >= s->max_stages)
            return false;
        for (int32_t v = 0; v < s->n; v++) {
            bool same = device_of[u] == device_of[v];
            if (s->group[u] >= 0 && s->group[u] == s->group[v] && !same)
                return false;
            for (int32_t f = 0; f < s->n_families; f++) {
                int32_t a = s->label[f][u], b = s->label[f][v];
                if (a >= 0 && b >= 0 && a != b && same)
                    return false;
                if (s->in_order[f] && a == 0 && b == 1 &&
                    stage[device_of[u]] >= stage[device_of[v]])
                    return false;
            }
        }
    }
    return true;
}

static int64_t measure(const clv_verdict *v, clv_objective objective)
{
    return objective == CLV_LATENCY ? v->latency_ns : v->period_ns;
}

/* How many assignments are legal and meet the rules; the least latency or period of those that fit,
 * -1 without. Where all devices are asked for, of plans that use all, if one of those fits. */
static int32_t brute_force(const clv_partition_problem *p, const stated *s,
                           const synthetic_judge *judge, const clv_partition_options *o,
                           int64_t *ret_best)
{
    int32_t device_of[UNITS_MAX] = { 0 }, n = 0, all = 1;
    int32_t most = p->n_devices < s->n ? p->n_devices : s->n;
    bool best_uses_all = false;
    *ret_best = -1;
    for (int32_t u = 0; u < s->n; u++)
        all *= p->n_devices;
    for (int32_t k = 0; k < all; k++) {
        uint32_t used = 0;
        for (int32_t u = 0, rest = k; u < s->n; u++, rest /= p->n_devices) {
            device_of[u] = rest % p->n_devices;
            used |= 1U << device_of[u];
        }
        if (!synthetic_legal(p, device_of) || !meets_rules(p, s, device_of))
            continue;
        n++;
        clv_assignment a = { device_of, 0, NULL };
        clv_verdict v = synthetic_verdict(judge, &a);
        bool uses_all = o->use_all_devices && __builtin_popcount(used) == most;
        int64_t got = measure(&v, o->objective);
        if (v.outcome != CLV_FITS || (best_uses_all && !uses_all))
            continue;
        if (*ret_best < 0 || uses_all > best_uses_all || got < *ret_best)
            *ret_best = got;
        best_uses_all = uses_all;
    }
    return n;
}

static const clv_partition_problem *some_problem(synthetic *s, stated *rules, uint64_t seed,
                                                 clv_arena *arena)
{
    uint64_t draw = seed * UINT64_C(0x9E3779B97F4A7C15) + 7;
    int32_t units = 2 + (int32_t)synthetic_below(&draw, UNITS_MAX - 1);
    int32_t devices = 1 + (int32_t)synthetic_below(&draw, 3);
    *s = synthetic_any(arena, seed, units, devices, 1000);
    const clv_partition_problem *p = synthetic_done(s);
    *rules = some_rules(p, &draw);
    s->p.rules = as_rules(p, rules, arena);
    return p;
}

/* "None" is said exactly where there is none, and what is found is legal and meets them. */
Test(rule_repair, finds_one_exactly_where_there_is_one)
{
    int32_t n_none = 0, n_found = 0;
    for (uint64_t seed = 1; seed <= 10000; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s;
        stated rules;
        clv_rule_repair *o;
        int64_t period;
        int32_t device_of[UNITS_MAX];
        const clv_partition_problem *p = some_problem(&s, &rules, seed, arena);
        synthetic_judge judge = { .p = p };
        cr_assert_eq(clv_rule_repair_new(p, arena, &o, NULL), CLV_OK);
        clv_rule_outcome outcome = clv_rule_repair_find(o, device_of);
        clv_partition_options asked = { .objective = CLV_THROUGHPUT };
        int32_t n = brute_force(p, &rules, &judge, &asked, &period);
        cr_assert_eq(outcome, n > 0 ? CLV_RULES_FEASIBLE : CLV_RULES_INFEASIBLE,
                     "seed %d: %d, brute %d", (int)seed, (int)outcome, n);
        if (outcome == CLV_RULES_FEASIBLE)
            cr_assert(synthetic_legal(p, device_of) && meets_rules(p, &rules, device_of), "seed %d",
                      (int)seed);
        n_none += n == 0;
        n_found += n > 0;
        clv_arena_free(arena);
    }
    cr_assert(n_none > 400 && n_found > 400, "%d without, %d with", n_none, n_found);
}

/* The product's judge of rules and the one above agree on every legal assignment. */
Test(rule_repair, agrees_with_the_rules_as_stated)
{
    for (uint64_t seed = 1; seed <= 600; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s;
        stated rules;
        int32_t device_of[UNITS_MAX];
        const clv_partition_problem *p = some_problem(&s, &rules, seed, arena);
        uint64_t draw = seed;
        for (int32_t i = 0; i < 300; i++) {
            for (int32_t u = 0; u < p->n_units; u++)
                device_of[u] = (int32_t)synthetic_below(&draw, p->n_devices);
            if (synthetic_legal(p, device_of))
                cr_assert_eq(clv_partition_satisfies_rules(p, device_of, arena),
                             meets_rules(p, &rules, device_of), "seed %d", (int)seed);
        }
        clv_arena_free(arena);
    }
}

/* Both searches, with rules: every plan that they have judged meets them; nothing is below brute
 * force; "no plan meets them" is said exactly where it is true. */
static void search_with(clv_search_kind kind, int32_t *ret_best, int32_t *ret_found)
{
    for (uint64_t seed = 1; seed <= 600; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s;
        stated rules;
        int64_t least;
        clv_partition_result r = { 0 };
        const clv_partition_problem *p = some_problem(&s, &rules, seed, arena);
        synthetic_judge j = { .p = p };
        clv_partition_judge judge = synthetic_as_judge(&j, 4);
        clv_partition_options o = { .kind = kind,
                                    .objective = seed % 2 ? CLV_THROUGHPUT : CLV_LATENCY,
                                    .use_all_devices = seed % 3 == 0 };
        judge.bounded_at = 1;
        cr_assert_eq(clv_partition_solve(p, &judge, &o, arena, &r, NULL), CLV_OK);
        int32_t n = brute_force(p, &rules, &j, &o, &least);
        cr_assert_eq(r.rules_unmet, n == 0, "seed %d", (int)seed);
        cr_assert_eq(r.proven, n == 0, "seed %d", (int)seed);
        for (int32_t i = 0; i < r.n_judged; i++)
            cr_assert(synthetic_legal(p, r.tried[i].device_of) &&
                          meets_rules(p, &rules, r.tried[i].device_of),
                      "seed %d: plan %d, '%s'", (int)seed, i, r.tried[i].move);
        if (n == 0)
            cr_assert_eq(r.n_judged, 0);
        else
            cr_assert_geq(r.n_judged, 1);
        int64_t got = measure(&r.best.verdict, o.objective);
        if (r.solve.found)
            cr_assert_geq(got, least);
        if (r.solve.found) /* bounds know nothing of rules, so they are below what meets them */
            cr_assert_leq(r.solve.bound.whole, least, "seed %d", (int)seed);
        if (r.solve.found && r.solve.end == CLV_END_OPTIMAL)
            cr_assert_eq(got, least, "seed %d", (int)seed);
        *ret_found += r.solve.found;
        *ret_best += r.solve.found && got == least;
        clv_arena_free(arena);
    }
}

Test(rule_repair, search_tries_nothing_that_breaks_a_rule)
{
    int32_t best = 0, found = 0;
    search_with(CLV_SEARCH_DEFAULT, &best, &found);
    cr_assert(best * 100 >= found * 90, "%d of %d are the best there is", best, found);
}

Test(rule_repair, documented_search_tries_nothing_that_breaks_a_rule)
{
    int32_t best = 0, found = 0;
    search_with(CLV_SEARCH_DOCUMENTED, &best, &found);
    cr_assert_gt(found, 100);
}

/* -- plain cases -- */

static const clv_rules *pin_ends(clv_arena *arena, int32_t units, int32_t first, int32_t last)
{
    clv_rules *r = CLV_NEW(arena, clv_rules);
    uint64_t *devices = CLV_NEW_ARRAY(arena, uint64_t, units);
    for (int32_t u = 0; u < units; u++)
        devices[u] = 0xf;
    devices[0] = UINT64_C(1) << first;
    devices[units - 1] = UINT64_C(1) << last;
    r->words = 1;
    r->devices = devices;
    return r;
}

/* A chain whose first unit is bound to the last device and the other way round still becomes four
 * balanced stages: the devices follow the rules. */
Test(rule_repair, pins_at_the_wrong_ends_cost_nothing)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 80, 4, 1);
    const clv_partition_problem *p = synthetic_done(&s);
    s.p.rules = pin_ends(arena, 80, 3, 0);
    synthetic_judge j = { .p = p };
    clv_partition_judge judge = synthetic_as_judge(&j, 4);
    clv_partition_result r = { 0 };
    clv_partition_options o = { .objective = CLV_THROUGHPUT };
    cr_assert_eq(clv_partition_solve(p, &judge, &o, arena, &r, NULL), CLV_OK);
    cr_assert(r.solve.found);
    cr_assert_eq(r.best.verdict.period_ns, 20);
    cr_assert_eq(r.best.device_of[0], 3);
    cr_assert_eq(r.best.device_of[79], 0);
    clv_arena_free(arena);
}

/* Both ends on one device bind the whole chain to it: closed groups are not needed for that. */
Test(rule_repair, both_ends_on_one_device_bind_the_chain)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 30, 4, 1);
    const clv_partition_problem *p = synthetic_done(&s);
    s.p.rules = pin_ends(arena, 30, 2, 2);
    int32_t device_of[30];
    clv_rule_repair *o;
    cr_assert_eq(clv_rule_repair_new(p, arena, &o, NULL), CLV_OK);
    cr_assert_eq(clv_rule_repair_find(o, device_of), CLV_RULES_FEASIBLE);
    for (int32_t u = 0; u < 30; u++)
        cr_assert_eq(device_of[u], 2);
    clv_arena_free(arena);
}

/* Never a plan that breaks a rule, nor a false "no plan meets them", for want of memory. */
Test(rule_repair, survives_running_out_of_memory_anywhere)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        clv_arena *problem = clv_arena_new(NULL, 0);
        synthetic s;
        stated rules;
        int64_t period;
        const clv_partition_problem *p = some_problem(&s, &rules, seed, problem);
        synthetic_judge j = { .p = p };
        clv_partition_judge judge = synthetic_as_judge(&j, 4);
        clv_partition_options o = { .objective = CLV_THROUGHPUT, .max_judged = 6 };
        bool none = brute_force(p, &rules, &j, &o, &period) == 0;
        clv_status status = CLV_ENOMEM;
        for (size_t limit = 1; status != CLV_OK && limit < 1 << 22; limit += 1024) {
            clv_arena *arena = clv_arena_new(NULL, limit);
            clv_partition_result r = { 0 };
            if (!arena)
                continue;
            status = clv_partition_solve(p, &judge, &o, arena, &r, NULL);
            cr_assert(status == CLV_OK || status == CLV_ENOMEM);
            cr_assert(status != CLV_OK || !r.proven || none, "seed %d, %zu bytes", (int)seed,
                      limit);
            clv_arena_free(arena);
        }
        cr_expect_eq(status, CLV_OK);
        clv_arena_free(problem);
    }
}
