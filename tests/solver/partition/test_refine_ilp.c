/* test_refine_ilp.c - boundaries placed anew are the best of all two-sided plans; GLPK is behind
 * its fence.
 */
#include "solver/partition/refine_ilp.h"

#include "solver/common/ilp/glpk_fence.h"
#include "solver/common/ilp/ilp_solve.h"
#include "solver/partition/candidate_verdicts.h"
#include "solver/partition/synthetic.h"

#include <criterion/criterion.h>
#include <stdio.h>

#if defined(CLEAVE_GLPK)
#include <glpk.h>
#endif

typedef struct {
    synthetic_judge j;
    clv_partition_judge judge;
    clv_partition_options options;
    clv_candidate_queue queue;
    clv_iterated_search ls;
} bench;

static void open_bench(bench *b, const clv_partition_problem *p, const int32_t *device_of,
                       clv_arena *arena)
{
    b->j.p = p;
    b->judge = synthetic_as_judge(&b->j, 4);
    cr_assert_eq(clv_candidates_open(p, &b->judge, &b->options, arena, &b->queue, NULL), CLV_OK);
    cr_assert_eq(clv_iterated_search_new(&b->queue, arena, &b->ls, NULL), CLV_OK);
    cr_assert_eq(clv_candidates_add(&b->queue, device_of, 0, "given", NULL, NULL), CLV_OK);
    cr_assert_eq(clv_candidates_judge(&b->queue, NULL), CLV_OK);
}

static clv_status refuse(void *arg, clv_error *err)
{
    (void)arg;
    return clv_fail(err, CLV_ELIMIT, "no");
}

Test(refine_ilp, the_fence_returns_what_the_body_returns)
{
    clv_error err = { 0 };
    clv_status status = clv_glpk_run(refuse, NULL, &err);
#if defined(CLEAVE_GLPK)
    cr_assert_eq(status, CLV_ELIMIT);
#else
    cr_assert_eq(status, CLV_EUNSUPP);
    cr_assert(strstr(err.message, "without GLPK"), "said: %s", err.message);
#endif
}

#if defined(CLEAVE_GLPK)
static clv_status misuse(void *arg, clv_error *err)
{
    (void)arg;
    (void)err;
    glp_prob *lp = glp_create_prob();
    glp_set_col_bnds(lp, 99, GLP_LO, 0, 0); /* there is no column 99: GLPK aborts */
    return CLV_OK;
}

Test(refine_ilp, misuse_of_glpk_is_a_status_and_the_next_call_works)
{
    for (int i = 0; i < 3; i++) {
        clv_error err = { 0 };
        cr_assert_eq(clv_glpk_run(misuse, NULL, &err), CLV_ESOLVER);
        cr_assert(strstr(err.message, "GLPK gave up"), "said: %s", err.message);
        cr_assert_eq(clv_glpk_run(refuse, NULL, &err), CLV_ELIMIT);
    }
}
#endif

/* 5 units | 1: times 3 1 4 1 5 | 2. Period 14; of all cuts of the chain 8 | 8 is the best. */
Test(refine_ilp, finds_the_best_boundary_of_a_chain)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 6, 2, 0);
    memcpy(s.time, (int64_t[]){ 3, 1, 4, 1, 5, 2 }, 6 * sizeof *s.time);
    bench b = { .options = { .objective = CLV_THROUGHPUT } };
    open_bench(&b, synthetic_done(&s), (int32_t[]){ 0, 0, 0, 0, 0, 1 }, arena);
    cr_assert_eq(clv_refine_ilp(&b.ls, arena, NULL), CLV_OK);
    cr_assert_eq(clv_candidates_judge(&b.queue, NULL), CLV_OK);
    cr_assert_eq(b.queue.n_judged, clv_ilp_solver() ? 2 : 1);
    if (clv_ilp_solver()) {
        cr_assert_eq(b.queue.best, 1);
        cr_assert_eq(b.queue.tried[1].verdict.period_ns, 8);
        cr_assert(strstr(b.queue.tried[1].move, "exact boundary"));
    }
    clv_arena_free(arena);
}

/* Against all ways to put 10 units on two devices with nothing leading back. */
Test(refine_ilp, agrees_with_all_two_sided_plans_of_ten_units)
{
    int32_t hits = 0, asked = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        synthetic s = synthetic_any(arena, seed, 10, 2, 160);
        const clv_partition_problem *p = synthetic_done(&s);
        bench b = { .options = { .objective = CLV_THROUGHPUT } };
        int32_t given[10], device_of[10];
        for (int32_t u = 0; u < 10; u++)
            given[u] = u >= 5;
        open_bench(&b, p, given, arena);
        if (b.queue.tried[0].verdict.outcome == CLV_FITS && b.ls.g->p->n_nets > 0) {
            clv_groups_load(b.ls.g, given);
            bool linked = b.ls.g->link_nets[1] > 0;
            int64_t best = b.queue.tried[0].verdict.period_ns;
            for (int32_t bits = 1; bits < 1023; bits++) {
                bool forward = true;
                for (int32_t u = 0; u < 10; u++)
                    device_of[u] = bits >> u & 1;
                for (int32_t n = 0; n < p->n_nets; n++)
                    for (int32_t i = p->net_first[n]; i < p->net_first[n + 1]; i++)
                        forward &= device_of[p->net_from[n]] <= device_of[p->net_to[i]];
                clv_verdict v = synthetic_verdict(&b.j, &(clv_assignment){ device_of, 0, NULL });
                if (forward && v.outcome == CLV_FITS && v.period_ns < best)
                    best = v.period_ns;
            }
            cr_assert_eq(clv_refine_ilp(&b.ls, arena, NULL), CLV_OK);
            cr_assert_eq(clv_candidates_judge(&b.queue, NULL), CLV_OK);
            for (int32_t i = 0; i < b.queue.n; i++)
                cr_assert(synthetic_legal(p, b.queue.tried[i].device_of));
            asked += linked;
            hits += linked && b.queue.tried[b.queue.best].verdict.period_ns == best;
        }
        clv_arena_free(arena);
    }
    printf("exact boundary: best of all two-sided plans in %d of %d\n", hits, asked);
    if (clv_ilp_solver()) /* weights are all that a window knows of memory */
        cr_assert(asked > 5 && hits * 10 >= asked * 8);
}

Test(refine_ilp, works_for_latency_too)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 6, 2, 50);
    s.net_bytes[1] = 10; /* the cheapest cut */
    bench b = { .options = { .objective = CLV_LATENCY, .use_all_devices = true } };
    open_bench(&b, synthetic_done(&s), (int32_t[]){ 0, 0, 0, 1, 1, 1 }, arena);
    cr_assert_eq(clv_refine_ilp(&b.ls, arena, NULL), CLV_OK);
    cr_assert_eq(clv_candidates_judge(&b.queue, NULL), CLV_OK);
    if (clv_ilp_solver())
        cr_assert_eq(b.queue.tried[b.queue.best].device_of[2], 1);
    clv_arena_free(arena);
}
