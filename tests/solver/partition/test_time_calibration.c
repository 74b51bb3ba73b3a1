/* test_time_calibration.c - a judge whose times are not the model's, and reports them: the search
 * finds what is best by that judge, and the same as ever where it reports nothing new.
 */
#include "solver/partition/solve.h"
#include "solver/partition/time_calibration.h"

#include "problem/estimate.h"
#include "solver/partition/synthetic.h"
#include "support/effort.h"

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(time_calibration, .init = set_up, .fini = tear_down);

/* -- a judge that measures -- */

typedef struct {
    const clv_partition_problem *real; /* the same units, with the times that it measures */
    bool is_reporting;
    int32_t n_asked, n_reported;
} measurer;

static int64_t busy_ns(const clv_partition_problem *p, const int32_t *device_of, int32_t device)
{
    int64_t sum = 0;
    for (int32_t u = 0; u < p->n_units; u++)
        if (device_of[u] == device)
            sum += p->time_ns[p->kind_of[device] * p->n_units + u];
    return sum;
}

static clv_status measure(void *ctx, const clv_assignment *a, int32_t n, clv_verdict *v,
                          clv_error *err)
{
    measurer *m = ctx;
    for (int32_t i = 0; i < n; i++) {
        clv_estimate e = { 0 };
        CLV_TRY(clv_partition_estimate(m->real, a[i].device_of, arena, &e, err));
        v[i] = (clv_verdict){ .latency_ns = e.latency_bound_ns, .period_ns = e.period_ns };
        m->n_asked++;
        for (int32_t d = 0; m->is_reporting && a[i].busy_ns && d < m->real->n_devices; d++) {
            a[i].busy_ns[d] = busy_ns(m->real, a[i].device_of, d);
            m->n_reported++;
        }
    }
    return CLV_OK;
}

static clv_partition_result search(const clv_partition_problem *p, measurer *m,
                                   clv_partition_options o)
{
    clv_partition_judge judge = { .judge = measure, .ctx = m, .batch = 8 };
    clv_partition_result r;
    m->n_asked = m->n_reported = 0;
    cr_assert_eq(clv_partition_solve(p, &judge, &o, arena, &r, NULL), CLV_OK);
    cr_assert(r.solve.found);
    return r;
}

/* A chain of layers of four units, the second of which is a kind of operator of its own in the
 * first half of the layers; and the same where that kind takes so many times as long as the model
 * says. Transfers are cheap. */
typedef struct {
    synthetic model, real;
} chain;

static chain layers(int32_t n, int32_t devices, int64_t times)
{
    static const int64_t ns[4] = { 300, 200, 500, 100 };
    chain c = { synthetic_chain(arena, 4 * n, devices, 10),
                synthetic_chain(arena, 4 * n, devices, 10) };
    for (int32_t u = 0; u < 4 * n; u++) {
        c.model.time[u] = ns[u % 4] + 7 * (u % 5);
        c.real.time[u] = c.model.time[u] * (u % 4 == 1 && u < 2 * n ? times : 1);
    }
    synthetic_done(&c.model);
    synthetic_done(&c.real);
    return c;
}

/* The least period of all cuts of the list into runs, by a walk over the places of the cuts. */
static int64_t best_cut(const clv_partition_problem *p, int32_t first, int32_t device)
{
    int64_t best = INT64_MAX, run = 0;
    if (device == p->n_devices - 1) {
        for (int32_t u = first; u < p->n_units; u++)
            run += p->time_ns[p->kind_of[device] * p->n_units + u];
        return run;
    }
    for (int32_t end = first; end <= p->n_units; end++) {
        int64_t rest = run < best ? best_cut(p, end, device + 1) : INT64_MAX;
        rest = rest > run ? rest : run;
        best = rest < best ? rest : best;
        if (end < p->n_units)
            run += p->time_ns[p->kind_of[device] * p->n_units + end];
    }
    return best;
}

Test(time_calibration, one_kind_of_operator_that_is_five_times_as_slow)
{
    chain c = layers(7, 5, 5);
    measurer silent = { &c.real.p, false, 0, 0 }, reporting = { &c.real.p, true, 0, 0 };
    clv_partition_options o = { .objective = CLV_THROUGHPUT };
    clv_partition_result without = search(&c.model.p, &silent, o),
                         with = search(&c.model.p, &reporting, o);
    int64_t best = best_cut(&c.real.p, 0, 0);
    cr_assert_lt(with.best.verdict.period_ns, without.best.verdict.period_ns);
    cr_assert_leq(with.best.verdict.period_ns * 100, best * 102, "%lld, best %lld",
                  (long long)with.best.verdict.period_ns, (long long)best);
    cr_assert_eq(with.solve.bound.whole, 0, "nothing is known of what is best");
    o.max_judged = 6; /* within the limit, and better at once */
    with = search(&c.model.p, &reporting, o);
    without = search(&c.model.p, &silent, o);
    cr_assert_leq(reporting.n_asked, 6);
    cr_assert_lt(with.best.verdict.period_ns, without.best.verdict.period_ns);
}

/* Half of the devices are slow at one kind of operator, of which the model knows nothing. */
Test(time_calibration, times_are_learned_for_each_kind_of_device)
{
    synthetic s[2];
    for (int i = 0; i < 2; i++) {
        s[i] = synthetic_new(arena, 24, 4, 2, 24, 24);
        for (int32_t u = 0; u + 1 < 24; u++)
            synthetic_net(&s[i], u, 1, (int32_t[]){ u + 1 }, 10);
        for (int32_t u = 0; u < 24; u++) {
            s[i].time[u] = 100 + 7 * (u % 3);
            s[i].time[24 + u] = s[i].time[u] * (i == 1 && u % 2 ? 6 : 1);
        }
        s[i].kind_of[1] = s[i].kind_of[3] = 1;
        synthetic_done(&s[i]);
    }
    measurer silent = { &s[1].p, false, 0, 0 }, reporting = { &s[1].p, true, 0, 0 };
    clv_partition_options o = { .objective = CLV_THROUGHPUT };
    clv_partition_result without = search(&s[0].p, &silent, o),
                         with = search(&s[0].p, &reporting, o);
    int64_t best = best_cut(&s[1].p, 0, 0);
    cr_assert_lt(with.best.verdict.period_ns, without.best.verdict.period_ns);
    cr_assert_leq(with.best.verdict.period_ns * 100, best * 105);
}

Test(time_calibration, times_that_are_the_model_s_change_nothing)
{
    for (int objective = CLV_LATENCY; objective <= CLV_THROUGHPUT; objective++) {
        for (uint64_t seed = 1; seed < 1 + test_effort(4); seed++) {
            synthetic s = synthetic_any(arena, seed, 30, 4, 1000);
            synthetic_done(&s);
            measurer silent = { &s.p, false, 0, 0 }, reporting = { &s.p, true, 0, 0 };
            clv_partition_options o = { .objective = (clv_objective)objective };
            clv_partition_result a = search(&s.p, &silent, o), b = search(&s.p, &reporting, o);
            cr_assert_gt(reporting.n_reported, 0);
            cr_assert_eq(a.n_judged, b.n_judged);
            for (int32_t i = 0; i < a.n_judged; i++)
                cr_assert_eq(
                    memcmp(a.tried[i].device_of, b.tried[i].device_of, 30 * sizeof(int32_t)), 0);
        }
    }
}

/* A fifth of the units five or six times as slow, the others as modelled or twice as slow. */
Test(time_calibration, what_is_measured_helps_on_the_whole)
{
    int32_t better = 0, worse = 0;
    for (uint64_t seed = 1; seed < 1 + test_effort(13); seed++) {
        uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15);
        synthetic s = synthetic_any(arena, seed, 24, 4, 1000),
                  real = synthetic_any(arena, seed, 24, 4, 1000);
        for (int32_t u = 0; u < 48; u++)
            real.time[u] *= 1 + (u % 24 % 5 == 0 ? 4 : 0) + synthetic_below(&random, 2);
        synthetic_done(&s);
        synthetic_done(&real);
        measurer silent = { &real.p, false, 0, 0 }, reporting = { &real.p, true, 0, 0 };
        clv_partition_options o = { .objective = CLV_THROUGHPUT, .max_judged = 60 };
        int64_t a = search(&s.p, &silent, o).best.verdict.period_ns;
        int64_t b = search(&s.p, &reporting, o).best.verdict.period_ns;
        better += b < a;
        worse += b > a;
    }
    int32_t n = (int32_t)test_effort(13);
    cr_assert(better * 39 >= 30 * n && worse * 39 <= 39 + n, "%d better, %d worse", (int)better,
              (int)worse);
}

Test(time_calibration, the_documented_search_asks_for_no_times)
{
    chain c = layers(5, 3, 5);
    measurer reporting = { &c.real.p, true, 0, 0 };
    search(&c.model.p, &reporting,
           (clv_partition_options){ .kind = CLV_SEARCH_DOCUMENTED, .objective = CLV_THROUGHPUT });
    cr_assert_eq(reporting.n_reported, 0);
}

/* -- the fit -- */

static void add_judged(clv_candidate_queue *queue, const int32_t *device_of,
                       const int64_t *reporting)
{
    int32_t i = queue->n_judged++;
    queue->tried[i] = (clv_candidate){ .device_of = device_of, .verdict = { .outcome = CLV_FITS } };
    queue->busy_ns[i] = (int64_t *)reporting;
}

/* Units of 10, 10, 10, 10 ns. 0 1 | 2 3 takes 60 and 20: the first two are three times as slow.
 * Then 0 | 1 2 3 takes 50 and 30: the first five times, the second as the model says. */
Test(time_calibration, a_smaller_group_refines_what_a_larger_one_measured)
{
    synthetic s = synthetic_chain(arena, 4, 2, 1);
    for (int32_t u = 0; u < 4; u++)
        s.time[u] = 10;
    synthetic_done(&s);
    clv_candidate tried[4] = { 0 };
    int64_t *busy[4] = { 0 };
    clv_candidate_queue queue = { .p = &s.p, .tried = tried, .busy_ns = busy };
    clv_time_calibration *l;
    cr_assert_eq(clv_time_calibration_new(&s.p, arena, &l, NULL), CLV_OK);
    add_judged(&queue, (int32_t[]){ 0, 0, 0, 1 }, (int64_t[]){ 30, -1 });
    cr_assert_not(clv_time_calibration_update(l, &queue), "as the model says");
    cr_assert_not(l->differs);
    add_judged(&queue, (int32_t[]){ 0, 0, 1, 1 }, (int64_t[]){ 60, 20 });
    queue.n_judged = 2;
    tried[0].verdict.outcome = CLV_OOM; /* reports nothing any more */
    queue.best = 1;
    cr_assert(clv_time_calibration_update(l, &queue));
    cr_assert_eq(memcmp(l->time_ns, (int64_t[]){ 30, 30, 10, 10 }, 4 * sizeof(int64_t)), 0);
    add_judged(&queue, (int32_t[]){ 0, 1, 1, 1 }, (int64_t[]){ 50, 30 });
    queue.best = 2;
    cr_assert(clv_time_calibration_update(l, &queue));
    cr_assert_eq(memcmp(l->time_ns, (int64_t[]){ 50, 10, 10, 10 }, 4 * sizeof(int64_t)), 0);
    cr_assert_eq(l->model->time_ns[0], 10, "the model's own stay");
}

/* The last unit takes less and less by the plans before the last one, turn after turn down to the
 * smallest numbers that there are; then it is alone on a device. */
Test(time_calibration, absurd_times_leave_numbers)
{
    enum { PLANS = 2 * 22 + 1 };
    static const int32_t together[] = { 0, 0, 0 }, apart[] = { 0, 1, 2 }, alone[] = { 0, 0, 1 };
    static const int64_t least[] = { 1, -1, -1 }, most[] = { INT64_MAX, INT64_MAX, -1 },
                         five[] = { -1, 5, -1 };
    synthetic s = synthetic_chain(arena, 3, 3, 1);
    for (int32_t u = 0; u < 3; u++)
        s.time[u] = 10;
    synthetic_done(&s);
    clv_candidate tried[PLANS] = { 0 };
    int64_t *busy[PLANS] = { 0 };
    clv_candidate_queue queue = { .p = &s.p, .tried = tried, .busy_ns = busy };
    clv_time_calibration *l;
    cr_assert_eq(clv_time_calibration_new(&s.p, arena, &l, NULL), CLV_OK);
    for (int i = 0; i < PLANS / 2; i++) {
        add_judged(&queue, together, least);
        add_judged(&queue, apart, most);
    }
    add_judged(&queue, alone, five);
    queue.best = queue.best_judged = PLANS - 1;
    cr_assert(clv_time_calibration_update(l, &queue));
    cr_assert_eq(l->time_ns[2], 5, "%lld", (long long)l->time_ns[2]);
}

/* Reports any number for any device, the same for the same plan. */
static clv_status report_anything(void *ctx, const clv_assignment *a, int32_t n, clv_verdict *v,
                                  clv_error *err)
{
    static const int64_t absurd[] = { INT64_MIN, -1, 0, 1, 1000, INT64_C(1) << 50, INT64_MAX };
    measurer *m = ctx;
    (void)err;
    for (int32_t i = 0; i < n; i++) {
        uint64_t random = 7;
        for (int32_t u = 0; u < m->real->n_units; u++)
            random = random * 31 + (uint64_t)a[i].device_of[u];
        random |= 1;
        v[i] = (clv_verdict){ .latency_ns = 1 + synthetic_below(&random, 1000) };
        v[i].period_ns = v[i].latency_ns;
        v[i].outcome = synthetic_below(&random, 3) ? CLV_FITS : CLV_FAILED;
        for (int32_t d = 0; a[i].busy_ns && d < m->real->n_devices; d++)
            if (synthetic_below(&random, 3))
                a[i].busy_ns[d] = absurd[synthetic_below(&random, 7)];
        m->n_asked++;
    }
    return CLV_OK;
}

Test(time_calibration, whatever_is_measured_the_search_ends_the_same_way)
{
    for (uint64_t seed = 1; seed < 1 + test_effort(13); seed++) {
        synthetic s =
            synthetic_any(arena, seed, 3 + (int32_t)(seed % 20), 2 + (int32_t)(seed % 4), 1000);
        for (int32_t u = 0; seed % 3 == 0 && u < s.p.n_units; u++)
            s.time[u] = 0;
        synthetic_done(&s);
        measurer m = { &s.p, true, 0, 0 };
        clv_partition_judge judge = { .judge = report_anything, .ctx = &m, .batch = 8 };
        clv_partition_options o = { .objective = seed % 2 ? CLV_LATENCY : CLV_THROUGHPUT,
                                    .max_judged = 80 };
        clv_partition_result r[2];
        for (int i = 0; i < 2; i++)
            cr_assert_eq(clv_partition_solve(&s.p, &judge, &o, arena, &r[i], NULL), CLV_OK);
        cr_assert_eq(r[0].n_judged, r[1].n_judged);
        for (int32_t i = 0; i < r[0].n_judged; i++) {
            const int32_t *plan = r[0].tried[i].device_of;
            cr_assert(synthetic_legal(&s.p, plan), "seed %d", (int)seed);
            cr_assert_eq(memcmp(plan, r[1].tried[i].device_of, (size_t)s.p.n_units * sizeof *plan),
                         0);
        }
    }
}
