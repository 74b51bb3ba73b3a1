#include <criterion/criterion.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "compile/builtin.h"
#include "compile/pool.h"
#include "compile/toy.h"
#include "support/effort.h"

enum { N_CANDIDATES = 60 };

typedef struct {
    toy t;
    clv_arena *arena;
    clv_assignment candidates[N_CANDIDATES];
} batch;

static batch *new_batch(void)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    batch *b = CLV_NEW(arena, batch);
    b->arena = arena;
    toy_init(&b->t, arena, 400, 1300, 1700);
    toy_cluster(&b->t, 5, 60000, 100, 1e9);
    toy_grow_random(&b->t, 400, 11);
    uint32_t random = 5;
    for (int32_t k = 0; k < N_CANDIDATES; k++) {
        int32_t *device_of = CLV_NEW_ARRAY(arena, int32_t, b->t.units.n);
        for (int32_t u = 0; u < b->t.units.n; u++)
            device_of[u] =
                (u + k % 7) * 5 / (b->t.units.n + 7) + (int32_t)toy_random(&random, 40) / 39;
        for (int32_t u = 0; u < b->t.units.n; u++)
            device_of[u] = device_of[u] > 4 ? 4 : device_of[u];
        b->candidates[k] = (clv_assignment){ device_of, k % 4 == 3 ? 0.1 : 0, NULL };
    }
    return b;
}

static void judge_all(batch *b, int32_t jobs, clv_verdict *verdicts)
{
    clv_compiler *compiler = NULL;
    clv_pool *pool = NULL;
    cr_assert_eq(clv_builtin_open(&b->t.workload, jobs, NULL, &compiler, NULL), CLV_OK);
    cr_assert_eq(
        clv_pool_open(compiler, &(clv_pool_options){ .jobs = jobs, .batch = 8 }, NULL, &pool, NULL),
        CLV_OK);
    clv_partition_judge judge = clv_pool_judge(pool);
    cr_assert_eq(judge.batch, 8);
    for (int32_t k = 0; k < N_CANDIDATES; k += 20)
        cr_assert_eq(judge.judge(judge.ctx, b->candidates + k, 20, verdicts + k, NULL), CLV_OK);
    clv_pool_close(pool);
    clv_compiler_close(compiler);
}

Test(pool, gives_the_same_verdicts_with_one_two_and_eight_workers, .timeout = 120)
{
    batch *b = new_batch();
    static clv_verdict one[N_CANDIDATES], many[N_CANDIDATES];
    static const int32_t jobs[] = { 2, 8 };
    judge_all(b, 1, one);
    for (int k = 0; k < 2; k++) {
        judge_all(b, jobs[k], many);
        cr_assert_arr_eq(one, many, sizeof one, "%d workers", jobs[k]);
    }
    clv_arena_free(b->arena);
}

/* -- a compiler for tests: judges by the proportion, and knows who called it -- */

typedef struct {
    clv_compiler base;
    atomic_int calls, inside, most_inside;
    int wait_for;   /* so many calls have to be inside at once before any returns */
    int slow_after; /* candidates above it take a tenth of a second; 0: none does */
} probe;

static clv_status probe_compile(clv_compiler *self, const clv_compile_worker *worker,
                                const clv_assignment *candidate, clv_verdict *verdict,
                                clv_compile_report *report, clv_error *err)
{
    probe *p = (probe *)self;
    (void)report;
    cr_assert(worker->index >= 0 && worker->index < 8);
    cr_assert_not_null(clv_arena_take(worker->arena, 10000));
    atomic_fetch_add(&p->calls, 1);
    int inside = atomic_fetch_add(&p->inside, 1) + 1;
    for (int tries = 0; tries < 5000 && atomic_load(&p->inside) < p->wait_for &&
                        atomic_load(&p->most_inside) < p->wait_for;
         tries++)
        usleep(1000);
    int most = atomic_load(&p->most_inside);
    while (inside > most && !atomic_compare_exchange_weak(&p->most_inside, &most, inside))
        continue;
    if (p->slow_after > 0 && candidate->proportion > p->slow_after)
        usleep(100000);
    atomic_fetch_sub(&p->inside, 1);
    if (candidate->proportion < 0)
        return clv_fail(err, CLV_EIO, "candidate %.0f cannot be judged", -candidate->proportion);
    verdict->latency_ns = (int64_t)candidate->proportion;
    return CLV_OK;
}

static clv_status open_pool(probe *p, int32_t jobs, int32_t lookahead, clv_pool **ret)
{
    return clv_pool_open(&p->base, &(clv_pool_options){ jobs, 4, lookahead, NULL }, NULL, ret,
                         NULL);
}

/* covers: B.029 */
Test(pool, runs_as_many_at_once_as_it_has_workers, .timeout = 60)
{
    probe p = { .base = { .name = "probe", .compile = probe_compile }, .wait_for = 4 };
    clv_assignment candidates[4] = {
        { NULL, 1, NULL }, { NULL, 2, NULL }, { NULL, 3, NULL }, { NULL, 4, NULL }
    };
    clv_verdict verdicts[4];
    clv_pool *pool = NULL;
    cr_assert_eq(open_pool(&p, 4, 0, &pool), CLV_OK);
    clv_partition_judge judge = clv_pool_judge(pool);

    cr_assert_eq(judge.judge(judge.ctx, candidates, 4, verdicts, NULL), CLV_OK);

    cr_assert_eq(atomic_load(&p.most_inside), 4);
    for (int k = 0; k < 4; k++)
        cr_assert_eq(verdicts[k].latency_ns, k + 1);
    clv_pool_close(pool);
}

/* 12 and 40 fail; with any number of workers it is 12 that is reported, and nothing is written.
 * After it the pool works as before. What comes after 13 is slow, so that the failure is known
 * before there is time to begin all the rest, however late its thread is let go on. */
Test(pool, reports_the_first_failure_by_number, .timeout = 60)
{
    static const int32_t jobs[] = { 1, 3, 8 };
    for (int j = 0; j < 3; j++) {
        probe p = { .base = { .name = "probe", .compile = probe_compile }, .slow_after = 13 };
        clv_assignment candidates[60];
        clv_verdict verdicts[60] = { { 0 } };
        clv_error err = { 0 };
        clv_pool *pool = NULL;
        for (int k = 0; k < 60; k++)
            candidates[k] = (clv_assignment){ NULL, k == 12 || k == 40 || k == 13 ? -k : k, NULL };
        cr_assert_eq(open_pool(&p, jobs[j], 0, &pool), CLV_OK);
        clv_partition_judge judge = clv_pool_judge(pool);

        cr_assert_eq(judge.judge(judge.ctx, candidates, 60, verdicts, &err), CLV_EIO);
        cr_assert_str_eq(err.message, "candidate 12 cannot be judged");
        cr_assert_eq(verdicts[5].latency_ns, 0, "a failed batch leaves the verdicts alone");
        cr_assert_lt(atomic_load(&p.calls), 40, "the rest was not begun");
        cr_assert_eq(judge.judge(judge.ctx, candidates, 12, verdicts, &err), CLV_OK);
        cr_assert_eq(verdicts[11].latency_ns, 11);
        clv_pool_close(pool);
    }
}

Test(pool, of_an_empty_batch_and_no_batch_at_all, .timeout = 60)
{
    probe p = { .base = { .name = "probe", .compile = probe_compile } };
    clv_pool *pool = NULL;
    cr_assert_eq(open_pool(&p, 2, 0, &pool), CLV_OK);
    clv_partition_judge judge = clv_pool_judge(pool);
    cr_assert_eq(judge.judge(judge.ctx, NULL, 0, NULL, NULL), CLV_OK);
    clv_pool_close(pool);
    clv_pool_close(NULL);
}

#if !TEST_IS_SANITIZED
/* Room for no thread's stack: the calling thread does the work. */
static void work_without_threads(int32_t lookahead)
{
    probe p = { .base = { .name = "probe", .compile = probe_compile } };
    clv_assignment candidates[3] = { { NULL, 1, NULL }, { NULL, 2, NULL }, { NULL, 3, NULL } };
    clv_verdict verdicts[3];
    clv_pool *pool = NULL;
    struct rlimit none = { 0, RLIM_INFINITY }, before;
    cr_assert_eq(getrlimit(RLIMIT_AS, &before), 0);
    none.rlim_max = before.rlim_max;
    free(malloc(100000)); /* what the pool itself needs is in the heap already */
    cr_assert_eq(setrlimit(RLIMIT_AS, &none), 0);

    clv_status s = open_pool(&p, 2, lookahead, &pool);
    clv_partition_judge judge = clv_pool_judge(pool);
    if (s == CLV_OK)
        s = judge.judge(judge.ctx, candidates, 3, verdicts, NULL);
    for (int k = 0; lookahead > 0 && k < 3 && s == CLV_OK; k++)
        s = judge.start(judge.ctx, &candidates[k], NULL);
    for (int k = 0; lookahead > 0 && k < 3 && s == CLV_OK; k++)
        s = judge.take(judge.ctx, &verdicts[k], NULL);

    cr_assert_eq(setrlimit(RLIMIT_AS, &before), 0);
    cr_assert_eq(s, CLV_OK);
    cr_assert_eq(verdicts[2].latency_ns, 3);
    clv_pool_close(pool);
}

Test(pool, works_without_threads, .timeout = 60)
{
    work_without_threads(0);
    work_without_threads(3);
}
#endif

static void *counted(void *ctx, void *p, size_t size)
{
    atomic_int *left = ctx;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return atomic_fetch_sub(left, 1) <= 0 ? NULL : realloc(p, size);
}

Test(pool, survives_running_out_of_memory_anywhere, .timeout = 60)
{
    clv_status s = CLV_ENOMEM;
    clv_assignment candidates[40];
    clv_verdict verdicts[40];
    for (int k = 0; k < 40; k++)
        candidates[k] = (clv_assignment){ NULL, k, NULL };
    for (int limit = 0; s != CLV_OK; limit++) {
        atomic_int left = limit;
        clv_alloc alloc = { counted, &left };
        probe p = { .base = { .name = "probe", .compile = probe_compile } };
        clv_pool *pool = NULL;
        s = clv_pool_open(&p.base, &(clv_pool_options){ .jobs = 3, .batch = 4 }, &alloc, &pool,
                          NULL);
        cr_assert(s == CLV_OK ? pool != NULL : s == CLV_ENOMEM && !pool);
        if (s == CLV_OK && atomic_load(&left) > 0) {
            atomic_store(&left, 1000000);
            clv_partition_judge judge = clv_pool_judge(pool);
            s = judge.judge(judge.ctx, candidates, 40, verdicts, NULL);
        } else {
            s = CLV_ENOMEM;
        }
        clv_pool_close(pool);
    }
}

/* -- one queue -- */

/* A compiler for the queue: numbered candidates, as proportions. */
typedef struct {
    clv_compiler base;
    atomic_int begun, inside;
    int waits, for_begun; /* this candidate ends when so many have begun */
    int fails[2];         /* these fail; 0: none does */
    atomic_int endless;   /* from this one on they end when they are dropped; 0: none does */
    unsigned delays;      /* seed of their lengths; 0: none has any */
} line;

static bool is_endless(line *l, int k)
{
    int from = atomic_load(&l->endless);
    return from > 0 && k >= from;
}

static clv_status line_compile(clv_compiler *self, const clv_compile_worker *worker,
                               const clv_assignment *candidate, clv_verdict *verdict,
                               clv_compile_report *report, clv_error *err)
{
    line *l = (line *)self;
    int k = (int)candidate->proportion;
    (void)report;
    atomic_fetch_add(&l->begun, 1);
    atomic_fetch_add(&l->inside, 1);
    for (int tries = 0; k == l->waits && tries < 20000 && atomic_load(&l->begun) < l->for_begun;
         tries++)
        usleep(1000);
    while (is_endless(l, k) && !atomic_load(worker->is_dropped))
        usleep(1000);
    if (l->delays > 0)
        usleep((unsigned)k * 2654435761u * l->delays % 4000u);
    verdict->latency_ns = atomic_load(worker->is_dropped) ? -1 : k;
    atomic_fetch_sub(&l->inside, 1);
    return k == l->fails[0] || k == l->fails[1]
               ? clv_fail(err, CLV_EIO, "candidate %d cannot be judged", k)
               : CLV_OK;
}

static clv_pool *open_line(line *l, int32_t jobs, clv_partition_judge *judge)
{
    clv_pool *pool = NULL;
    l->base = (clv_compiler){ .name = "line", .compile = line_compile };
    cr_assert_eq(
        clv_pool_open(&l->base, &(clv_pool_options){ jobs, 4, 8, NULL }, NULL, &pool, NULL),
        CLV_OK);
    *judge = clv_pool_judge(pool);
    cr_assert_eq(judge->lookahead, 8);
    return pool;
}

static void start(const clv_partition_judge *judge, int from, int to)
{
    for (int k = from; k <= to; k++)
        cr_assert_eq(judge->start(judge->ctx, &(clv_assignment){ NULL, k, NULL }, NULL), CLV_OK);
}

/* Candidate 1 ends when 2 to 8 have begun: there is no point at which workers wait for it. */
Test(pool, begins_candidates_while_earlier_ones_are_still_judged, .timeout = 60)
{
    line l = { .waits = 1, .for_begun = 8 };
    clv_partition_judge judge;
    clv_pool *pool = open_line(&l, 4, &judge);
    clv_verdict v;
    start(&judge, 1, 8);
    cr_assert_eq(judge.take(judge.ctx, &v, NULL), CLV_OK);
    cr_assert_eq(v.latency_ns, 1);
    cr_assert_eq(atomic_load(&l.begun), 8, "by then all the others had begun");
    for (int k = 2; k <= 8; k++) {
        cr_assert_eq(judge.take(judge.ctx, &v, NULL), CLV_OK);
        cr_assert_eq(v.latency_ns, k);
    }
    clv_pool_close(pool);
}

/* The caller is none of the workers: it goes on while all of them compile. */
Test(pool, leaves_the_caller_free, .timeout = 60)
{
    line l = { .waits = 1, .for_begun = 2 };
    clv_partition_judge judge;
    clv_pool *pool = open_line(&l, 2, &judge);
    clv_verdict v;
    start(&judge, 1, 1);
    while (atomic_load(&l.inside) == 0)
        usleep(1000);
    start(&judge, 2, 2);
    cr_assert_eq(judge.take(judge.ctx, &v, NULL), CLV_OK);
    cr_assert_eq(v.latency_ns, 1);
    clv_pool_close(pool);
}

Test(pool, gives_verdicts_in_the_order_of_candidates, .timeout = 60)
{
    static const int32_t jobs[] = { 1, 2, 4, 16 };
    for (int j = 0; j < 4; j++) {
        line l = { .delays = 7 + (unsigned)j };
        clv_partition_judge judge;
        clv_pool *pool = open_line(&l, jobs[j], &judge);
        clv_verdict v;
        start(&judge, 1, 8);
        for (int k = 1; k <= 100; k++) {
            cr_assert_eq(judge.take(judge.ctx, &v, NULL), CLV_OK);
            cr_assert_eq(v.latency_ns, k, "%d workers", jobs[j]);
            start(&judge, k + 8, k + 8);
        }
        clv_pool_close(pool);
        cr_assert_eq(atomic_load(&l.inside), 0, "closing waits for what runs");
    }
}

/* 3 and 6 fail, in any order of time: what comes before 3 has verdicts, then there is its failure,
 * until all is dropped. */
Test(pool, takes_the_first_failure_by_number, .timeout = 60)
{
    static const int32_t jobs[] = { 1, 2, 4, 16 };
    for (int j = 0; j < 4; j++) {
        line l = { .fails = { 3, 6 }, .waits = 3, .for_begun = jobs[j] > 6 ? 6 : jobs[j] };
        clv_partition_judge judge;
        clv_pool *pool = open_line(&l, jobs[j], &judge);
        clv_error err = { 0 };
        clv_verdict v;
        start(&judge, 1, 8);
        for (int k = 1; k <= 2; k++) {
            cr_assert_eq(judge.take(judge.ctx, &v, &err), CLV_OK);
            cr_assert_eq(v.latency_ns, k);
        }
        for (int again = 0; again < 2; again++) {
            cr_assert_eq(judge.take(judge.ctx, &v, &err), CLV_EIO);
            cr_assert_str_eq(err.message, "candidate 3 cannot be judged");
            cr_assert_eq(v.latency_ns, 2, "untouched");
        }
        judge.drop(judge.ctx, 0);
        start(&judge, 9, 9);
        cr_assert_eq(judge.take(judge.ctx, &v, &err), CLV_OK);
        cr_assert_eq(v.latency_ns, 9, "and it goes on");
        clv_pool_close(pool);
    }
}

Test(pool, ends_what_is_dropped_and_keeps_the_oldest, .timeout = 60)
{
    static const int32_t jobs[] = { 1, 2, 4, 16 };
    for (int j = 0; j < 4; j++) {
        line l = { .endless = 3 };
        clv_partition_judge judge;
        clv_pool *pool = open_line(&l, jobs[j], &judge);
        clv_verdict v;
        start(&judge, 1, 8);
        judge.drop(judge.ctx, 2);
        cr_assert_leq(atomic_load(&l.inside), 2, "3 to 8 have ended");
        atomic_store(&l.endless, 0);
        start(&judge, 20, 25);
        static const int order[] = { 1, 2, 20, 21, 22, 23, 24, 25 };
        for (int k = 0; k < 8; k++) {
            cr_assert_eq(judge.take(judge.ctx, &v, NULL), CLV_OK);
            cr_assert_eq(v.latency_ns, order[k], "not %d", (int)v.latency_ns);
        }
        judge.drop(judge.ctx, 0);
        atomic_store(&l.endless, 30);
        start(&judge, 30, 32);
        clv_pool_close(pool);
        cr_assert_eq(atomic_load(&l.inside), 0, "closing drops");
    }
}

/* -- candidates of another compiler before those of the judge -- */

static clv_pool *open_line_after(line *l, line *before, const clv_pool_first *first, int32_t jobs,
                                 int32_t lookahead, clv_partition_judge *judge)
{
    clv_pool *pool = NULL;
    l->base = before->base = (clv_compiler){ .name = "line", .compile = line_compile };
    const clv_pool_options options = { jobs, 4, lookahead, first };
    cr_assert_eq(clv_pool_open(&l->base, &options, NULL, &pool, NULL), CLV_OK);
    *judge = clv_pool_judge(pool);
    cr_assert_eq(judge->n_before, 3);
    return pool;
}

static const clv_assignment three[3] = { { NULL, 101, NULL },
                                         { NULL, 102, NULL },
                                         { NULL, 103, NULL } };

/* The judge's 1 ends when all seven have begun: nothing waits for the last of the first ones. */
Test(pool, judges_what_comes_first_beside_what_is_asked, .timeout = 60)
{
    static const int32_t jobs[] = { 1, 2, 4, 16 };
    for (int j = 0; j < 4; j++) {
        line l = { .waits = 1, .for_begun = jobs[j] >= 4 ? 4 : 1 }, before = { .delays = 3 };
        clv_verdict firsts[3] = { { 0 } }, v;
        const clv_pool_first first = { &before.base, three, 3, firsts };
        clv_partition_judge judge;
        clv_pool *pool = open_line_after(&l, &before, &first, jobs[j], 8, &judge);
        start(&judge, 1, 8); /* as many as the lookahead says, besides the first ones */
        judge.drop(judge.ctx, 4);
        for (int k = 1; k <= 4; k++) {
            cr_assert_eq(judge.take(judge.ctx, &v, NULL), CLV_OK);
            cr_assert_eq(v.latency_ns, k, "%d workers", jobs[j]);
        }
        cr_assert_eq(clv_pool_finish_first(pool, NULL), CLV_OK);
        for (int k = 0; k < 3; k++)
            cr_assert_eq(firsts[k].latency_ns, 101 + k);
        cr_assert_eq(atomic_load(&before.begun), 3, "by their own compiler, once");
        clv_pool_close(pool);
    }
}

Test(pool, judges_what_comes_first_before_a_batch_and_alone, .timeout = 60)
{
    static const int32_t jobs[] = { 1, 3 };
    for (int j = 0; j < 4; j++) {
        line l = { .delays = 5 }, before = { .delays = 3 };
        clv_verdict firsts[3] = { { 0 } }, v[10];
        const clv_pool_first first = { &before.base, three, 3, firsts };
        clv_assignment asked[10];
        clv_partition_judge judge;
        clv_pool *pool = open_line_after(&l, &before, &first, jobs[j % 2], 0, &judge);
        for (int k = 0; k < 10; k++)
            asked[k] = (clv_assignment){ NULL, k + 1, NULL };
        if (j < 2) {
            cr_assert_eq(judge.judge(judge.ctx, asked, 10, v, NULL), CLV_OK);
            cr_assert_eq(v[9].latency_ns, 10);
        } else {
            cr_assert_eq(clv_pool_finish_first(pool, NULL), CLV_OK);
        }
        cr_assert_eq(firsts[2].latency_ns, 103);
        clv_pool_close(pool);
    }
}

Test(pool, reports_what_failed_of_the_first_ones_whoever_asks, .timeout = 60)
{
    static const int32_t jobs[] = { 1, 2, 4, 16 };
    for (int j = 0; j < 4; j++) {
        line l = { .fails = { 1, 2 } }, before = { .fails = { 102, 103 }, .delays = 3 };
        clv_verdict firsts[3] = { { 0 } }, v;
        const clv_pool_first first = { &before.base, three, 3, firsts };
        clv_partition_judge judge;
        clv_error err = { 0 };
        clv_pool *pool = open_line_after(&l, &before, &first, jobs[j], 8, &judge);
        start(&judge, 1, 2);
        cr_assert_eq(judge.take(judge.ctx, &v, &err), CLV_EIO);
        cr_assert_str_eq(err.message, "candidate 102 cannot be judged");
        judge.drop(judge.ctx, 0);
        cr_assert_eq(clv_pool_finish_first(pool, &err), CLV_EIO);
        cr_assert_str_eq(err.message, "candidate 102 cannot be judged");
        clv_pool_close(pool);
    }
}
