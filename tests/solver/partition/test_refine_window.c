/* test_refine_window.c - windows of several groups: what no single move and no pair of groups sees,
 * and that a plan of them is what its program says.
 */
#include "solver/partition/refine_window.h"

#include "solver/common/ilp/ilp_solve.h"
#include "solver/partition/candidate_verdicts.h"
#include "solver/partition/refine_ilp.h"
#include "solver/partition/synthetic.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* Work enough for any problem here. */
#define WORK INT64_C(4000000)

typedef struct {
    synthetic_judge j;
    clv_partition_judge judge;
    clv_partition_options options;
    clv_candidate_queue queue;
    clv_iterated_search ls;
} bench;

/* A search by throughput whose one plan is this one, judged. */
static void open_bench(bench *b, const clv_partition_problem *p, const int32_t *device_of,
                       clv_arena *arena)
{
    *b = (bench){ .options = { .objective = CLV_THROUGHPUT }, .j.p = p };
    b->judge = synthetic_as_judge(&b->j, 4);
    cr_assert_eq(clv_candidates_open(p, &b->judge, &b->options, arena, &b->queue, NULL), CLV_OK);
    cr_assert_eq(clv_iterated_search_new(&b->queue, arena, &b->ls, NULL), CLV_OK);
    cr_assert_eq(clv_candidates_add(&b->queue, device_of, 0, "given", NULL, NULL), CLV_OK);
    cr_assert_eq(clv_candidates_judge(&b->queue, NULL), CLV_OK);
}

static int64_t best_period(const bench *b)
{
    return b->queue.tried[b->queue.best].verdict.period_ns;
}

static void refine(bench *b, clv_arena *arena)
{
    int64_t work = WORK;
    cr_assert_eq(clv_refine_window(&b->ls, arena, &work, NULL), CLV_OK);
    cr_assert_eq(clv_candidates_judge(&b->queue, NULL), CLV_OK);
}

/* A chain on three devices, 6 4 | 3 6 | 1 2, has the period 10. One unit or two groups at a time
 * make nothing better, nor more even; three groups do: 6 | 4 3 | 6 1 2. */
Test(refine_window, units_pass_through_a_group_that_is_full)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 6, 3, 0);
    memcpy(s.time, (int64_t[]){ 6, 4, 3, 6, 1, 2 }, 6 * sizeof *s.time);
    bench b;
    open_bench(&b, synthetic_done(&s), (int32_t[]){ 0, 0, 1, 1, 2, 2 }, arena);
    cr_assert_eq(clv_refine_ilp(&b.ls, arena, NULL), CLV_OK);
    cr_assert_eq(b.queue.n, 1, "pairs of groups gain something: a harder case is needed");
    refine(&b, arena);
    cr_assert_eq(synthetic_least_period(&s), 9);
    if (clv_ilp_solver()) {
        cr_assert_eq(best_period(&b), 9);
        cr_assert_str_eq(b.queue.tried[1].move, "exact windows");
    }
    clv_arena_free(arena);
}

/* How many windows gain, and end at the best of all plans. */
typedef struct {
    int32_t asked, gained, optimal;
} tally;

/* From units in order, cut into runs of equal number: proposals are legal, fit, are no worse and
 * what sums say; the best of all plans is never missed by a lower period. */
static void check_random(uint64_t seed, clv_arena *arena, tally *t)
{
    int32_t given[9];
    synthetic s = synthetic_any(arena, seed, 9, 3, 160);
    uint64_t random = seed + 1;
    if (seed % 3 == 1)
        synthetic_ports(&s);
    if (seed % 3 == 2)
        synthetic_any_ports(&s, &random);
    const clv_partition_problem *p = synthetic_done(&s);
    for (int32_t u = 0; u < 9; u++)
        given[u] = u / 3;
    bench b;
    open_bench(&b, p, given, arena);
    int64_t before = best_period(&b);
    refine(&b, arena);
    if (b.queue.tried[0].verdict.outcome != CLV_FITS)
        return;
    for (int32_t i = 1; i < b.queue.n; i++) {
        clv_estimate e;
        const int32_t *device_of = b.queue.tried[i].device_of;
        cr_assert(synthetic_legal(p, device_of), "seed %d: groups wait in a circle", (int)seed);
        cr_assert_eq(clv_partition_estimate(p, device_of, arena, &e, NULL), CLV_OK);
        cr_assert_lt(e.period_ns, before, "seed %d: the program promised less", (int)seed);
        cr_assert_eq(b.queue.tried[i].verdict.outcome, CLV_FITS, "seed %d: memory", (int)seed);
    }
    int64_t least = synthetic_least_period(&s);
    cr_assert_geq(best_period(&b), least);
    t->asked++;
    t->gained += best_period(&b) < before;
    t->optimal += best_period(&b) == least;
}

Test(refine_window, random_plans_are_legal_and_what_their_program_says)
{
    tally t = { 0 };
    for (uint64_t seed = 0; seed < 60; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        check_random(seed, arena, &t);
        clv_arena_free(arena);
    }
    printf("windows: %d of %d plans gain, %d are then the best there are\n", t.gained, t.asked,
           t.optimal);
    if (clv_ilp_solver())
        cr_assert(t.asked >= 20 && t.gained * 2 >= t.asked && t.optimal * 4 >= t.asked);
}

/* Work is all that ends the search, and none is done without any. */
Test(refine_window, takes_no_more_work_than_it_is_given)
{
    for (int64_t given = 0; given <= 200000; given += 20000) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s = synthetic_any(arena, 7, 60, 4, 400);
        int32_t device_of[60];
        for (int32_t u = 0; u < 60; u++)
            device_of[u] = u / 15;
        bench b;
        open_bench(&b, synthetic_done(&s), device_of, arena);
        int64_t work = given;
        cr_assert_eq(clv_refine_window(&b.ls, arena, &work, NULL), CLV_OK);
        cr_assert_leq(work, given);
        cr_assert(given > 0 || b.queue.n == 1);
        cr_assert_geq(work, -30000, "one window took %d more", (int)-work);
        clv_arena_free(arena);
    }
}
