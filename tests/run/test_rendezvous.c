/* test_rendezvous.c - threads that wait for each other, and those that would for ever. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "run/rendezvous.h"

#define N 3

typedef struct {
    clr_rendezvous *rendezvous;
    int32_t member;
    const char *barriers[2]; /* in the order in which it comes there; NULL: none */
    clv_status status;       /* of which it ends where all goes well */
    int32_t after;           /* waits for this member's end first; -1: none */
    clv_status is;
} actor;

static const char *const names[N] = { "ann", "bob", "eve" };
static const int32_t everyone[N] = { 0, 1, 2 };

static clv_status play(actor *a, clv_error *err)
{
    if (a->after >= 0)
        CLV_TRY(clr_rendezvous_wait_runs(a->rendezvous, a->member, a->after, 1, err));
    for (int i = 0; i < 2 && a->barriers[i]; i++) {
        clr_barrier *barrier = NULL;
        CLV_TRY(clr_rendezvous_barrier(a->rendezvous, a->barriers[i], (clr_group){ everyone, N },
                                       sizeof(int), &barrier, err));
        *(int *)clr_barrier_slot(barrier, a->member) = 10 * a->member;
        CLV_TRY(clr_rendezvous_wait(a->rendezvous, barrier, a->member, err));
        for (int32_t k = 0; k < N; k++)
            if (*(int *)clr_barrier_slot(barrier, k) != 10 * k)
                return clv_fail(err, CLV_EINTERNAL, "%s does not see %s", names[a->member],
                                names[k]);
        CLV_TRY(clr_rendezvous_wait(a->rendezvous, barrier, a->member, err));
    }
    return a->status == CLV_OK ? CLV_OK : clv_fail(err, a->status, "%s gives up", names[a->member]);
}

static void *live(void *ctx)
{
    actor *a = ctx;
    clv_error err = { 0 };

    a->is = play(a, &err);
    if (a->is == CLV_OK)
        clr_rendezvous_end_run(a->rendezvous, a->member);
    clr_rendezvous_leave(a->rendezvous, a->member, a->is, &err);
    return NULL;
}

/* All play at once; why it was stopped. */
static clv_status run(actor *actors, double timeout_s, clv_error *why)
{
    pthread_t threads[N];
    clr_rendezvous *rendezvous = NULL;

    cr_assert_eq(clr_rendezvous_new(names, N, timeout_s, &rendezvous, why), CLV_OK);
    clr_rendezvous_start(rendezvous, NULL, NULL);
    for (int32_t i = 0; i < N; i++) {
        actors[i].rendezvous = rendezvous;
        actors[i].member = i;
        cr_assert_eq(pthread_create(&threads[i], NULL, live, &actors[i]), 0);
    }
    for (int32_t i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    clv_status status = clr_rendezvous_failure(rendezvous, why);
    clr_rendezvous_free(rendezvous);
    return status;
}

Test(rendezvous, all_see_what_all_brought)
{
    for (int round = 0; round < 200; round++) {
        clv_error why = { 0 };
        actor actors[N] = { { .barriers = { "a", "b" }, .after = -1 },
                            { .barriers = { "a", "b" }, .after = -1 },
                            { .barriers = { "a", "b" }, .after = -1 } };
        cr_assert_eq(run(actors, 0, &why), CLV_OK, "%s", why.message);
    }
}

Test(rendezvous, who_waits_crosswise_is_named)
{
    clv_error why = { 0 };
    actor actors[N] = { { .barriers = { "a", "b" }, .after = -1 },
                        { .barriers = { "b", "a" }, .after = -1 },
                        { .barriers = { "a", "b" }, .after = -1 } };

    cr_assert_eq(run(actors, 0, &why), CLV_EFORMAT);
    cr_expect(strstr(why.message, "cannot go on: ann waits for 'a', bob waits for 'b', eve waits "
                                  "for 'a'"),
              "%s", why.message);
    for (int i = 0; i < N; i++)
        cr_expect_eq(actors[i].is, CLV_ECANCELED);
}

Test(rendezvous, nobody_waits_for_who_has_ended)
{
    clv_error why = { 0 };
    actor actors[N] = { { .barriers = { "a" }, .after = -1 },
                        { .barriers = { NULL }, .after = -1 },
                        { .barriers = { "a" }, .after = -1 } };

    cr_assert_eq(run(actors, 0, &why), CLV_EFORMAT);
    cr_expect(strstr(why.message, "bob has ended"), "%s", why.message);
}

Test(rendezvous, a_ring_of_ends_is_found)
{
    clv_error why = { 0 };
    actor actors[N] = { { .after = 1 }, { .after = 2 }, { .after = 0 } };

    cr_assert_eq(run(actors, 0, &why), CLV_EFORMAT);
    cr_expect(strstr(why.message, "ann waits for the end of 'bob'"), "%s", why.message);
}

Test(rendezvous, ends_let_others_go)
{
    clv_error why = { 0 };
    actor actors[N] = { { .after = 1 }, { .after = 2 }, { .after = -1 } };

    cr_assert_eq(run(actors, 0, &why), CLV_OK, "%s", why.message);
}

/* A pipeline of three: each run waits for that of the member before, and is at most two ahead of
 * the member behind. */
typedef struct {
    clr_rendezvous *rendezvous;
    int32_t member;
    int32_t *runs; /* of all members: one's own is written between others' waits only */
} worker;

#define RUNS 500

static void *work(void *ctx)
{
    worker *w = ctx;
    int32_t i = w->member;
    clv_error err = { 0 };
    clv_status status = CLV_OK;

    for (int32_t run = 0; run < RUNS && status == CLV_OK; run++) {
        if (i > 0)
            status = clr_rendezvous_wait_runs(w->rendezvous, i, i - 1, run + 1, &err);
        if (status == CLV_OK && i + 1 < N)
            status = clr_rendezvous_wait_runs(w->rendezvous, i, i + 1, run - 1, &err);
        if (status == CLV_OK && i > 0 && __atomic_load_n(&w->runs[i - 1], __ATOMIC_SEQ_CST) <= run)
            status = clv_fail(&err, CLV_EINTERNAL, "%s is ahead of its inputs", names[i]);
        if (status == CLV_OK && i + 1 < N &&
            __atomic_load_n(&w->runs[i + 1], __ATOMIC_SEQ_CST) < run - 1)
            status = clv_fail(&err, CLV_EINTERNAL, "%s is ahead of its reader", names[i]);
        __atomic_add_fetch(&w->runs[i], 1, __ATOMIC_SEQ_CST);
        clr_rendezvous_end_run(w->rendezvous, i);
    }
    clr_rendezvous_leave(w->rendezvous, i, status, &err);
    return NULL;
}

Test(rendezvous, runs_follow_each_other_as_through_a_pipeline)
{
    clv_error why = { 0 };
    int32_t runs[N] = { 0 };
    worker workers[N];
    pthread_t threads[N];
    clr_rendezvous *rendezvous = NULL;

    cr_assert_eq(clr_rendezvous_new(names, N, 0, &rendezvous, &why), CLV_OK);
    for (int round = 0; round < 2; round++) { /* the second starts anew */
        memset(runs, 0, sizeof runs);
        clr_rendezvous_start(rendezvous, NULL, NULL);
        for (int32_t i = 0; i < N; i++) {
            workers[i] = (worker){ rendezvous, i, runs };
            cr_assert_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
        }
        for (int32_t i = 0; i < N; i++)
            pthread_join(threads[i], NULL);
        cr_expect_eq(clr_rendezvous_failure(rendezvous, &why), CLV_OK, "%s", why.message);
        for (int32_t i = 0; i < N; i++)
            cr_expect_eq(runs[i], RUNS);
    }
    clr_rendezvous_free(rendezvous);
}

Test(rendezvous, a_failure_lets_all_go_and_is_why)
{
    clv_error why = { 0 };
    actor actors[N] = { { .barriers = { "a" }, .after = -1 },
                        { .after = -1, .status = CLV_EUNSUPP },
                        { .barriers = { "a" }, .after = -1 } };

    cr_assert_eq(run(actors, 0, &why), CLV_EUNSUPP);
    cr_expect_str_eq(why.message, "bob gives up");
}

/* One never comes and never ends: only the clock can end it. */
static void *sleep_long(void *ctx)
{
    clr_rendezvous *rendezvous = ctx;
    clv_error err;

    while (clr_rendezvous_failure(rendezvous, &err) == CLV_OK)
        sched_yield();
    clr_rendezvous_leave(rendezvous, 1, CLV_OK, NULL);
    return NULL;
}

Test(rendezvous, a_wait_ends_at_the_timeout)
{
    const int32_t two[] = { 0, 1 };
    clr_rendezvous *rendezvous = NULL;
    clr_barrier *barrier = NULL;
    clv_error err = { 0 };
    pthread_t thread;

    cr_assert_eq(clr_rendezvous_new(names, 2, 0.05, &rendezvous, &err), CLV_OK);
    clr_rendezvous_start(rendezvous, NULL, NULL);
    cr_assert_eq(pthread_create(&thread, NULL, sleep_long, rendezvous), 0);
    cr_assert_eq(clr_rendezvous_barrier(rendezvous, "a", (clr_group){ two, 2 }, 1, &barrier, &err),
                 CLV_OK);
    cr_expect_eq(clr_rendezvous_wait(rendezvous, barrier, 0, &err), CLV_ECANCELED);
    pthread_join(thread, NULL);
    cr_expect_eq(clr_rendezvous_failure(rendezvous, &err), CLV_EFORMAT);
    cr_expect(strstr(err.message, "ann has waited 0.05 s for 'a'"), "%s", err.message);
    clr_rendezvous_free(rendezvous);
}
