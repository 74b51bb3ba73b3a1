/* test_micro.c - the formulas of micro.h against pipelines that are run step by step. */
#include "problem/micro.h"

#include <criterion/criterion.h>
#include <string.h>

#define STAGES_MAX 8
#define NODES_MAX  (4 * STAGES_MAX)
#define RUNS_MAX   40
#define CASES      3000

static uint64_t state;

static int32_t below(int32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int32_t)((state >> 33) % (uint64_t)n);
}

/* -- an oracle: things that are done in an order, each waiting for others -- */

/* One machine does each node for micro-batch 0, 1, ... in a given order of (node, micro-batch)
 * pairs; a pair starts when all it waits for has ended and its machine is free. Nothing of micro.h
 * is used. */
typedef struct {
    int32_t node, run; /* ends[node][run] is waited for; run < 0: nothing */
} wait;

typedef struct {
    int64_t time;
    int32_t machine;
    wait waits[2 * STAGES_MAX];
    int32_t n_waits;
} job;

static job jobs[NODES_MAX][RUNS_MAX];
static int64_t starts[NODES_MAX][RUNS_MAX], ends[NODES_MAX][RUNS_MAX];
static int32_t todo[NODES_MAX][RUNS_MAX * NODES_MAX][2], n_todo[NODES_MAX];

static void clear(void)
{
    memset(jobs, 0, sizeof jobs);
    memset(n_todo, 0, sizeof n_todo);
    memset(ends, -1, sizeof ends);
}

static void give(int32_t machine, int32_t node, int32_t run, int64_t time)
{
    jobs[node][run].time = time;
    jobs[node][run].machine = machine;
    todo[machine][n_todo[machine]][0] = node;
    todo[machine][n_todo[machine]++][1] = run;
}

static void wait_for(int32_t node, int32_t run, int32_t other, int32_t other_run)
{
    if (other_run >= 0)
        jobs[node][run].waits[jobs[node][run].n_waits++] = (wait){ other, other_run };
}

/* Runs all machines; the end of the last job. Fails on a deadlock. */
static int64_t play(int32_t n_machines)
{
    int32_t next[NODES_MAX] = { 0 };
    int64_t free_at[NODES_MAX] = { 0 }, last = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int32_t m = 0; m < n_machines; m++) {
            for (; next[m] < n_todo[m]; next[m]++) {
                int32_t node = todo[m][next[m]][0], run = todo[m][next[m]][1];
                int64_t start = free_at[m];
                bool ready = true;
                for (int32_t k = 0; k < jobs[node][run].n_waits; k++) {
                    wait w = jobs[node][run].waits[k];
                    int64_t end = ends[w.node][w.run];
                    ready &= end >= 0;
                    start = end > start ? end : start;
                }
                if (!ready)
                    break;
                starts[node][run] = start;
                ends[node][run] = free_at[m] = start + jobs[node][run].time;
                last = free_at[m] > last ? free_at[m] : last;
                moved = true;
            }
        }
    }
    for (int32_t m = 0; m < n_machines; m++)
        cr_assert_eq(next[m], n_todo[m], "machine %d waits for ever", (int)m);
    return last;
}

/* -- stages one behind the other; node 2 s is stage s, node 2 s + 1 what sends to the next -- */

typedef struct {
    int32_t n_stages, n_runs;
    int64_t time[2 * STAGES_MAX];
    int64_t latency, period;
} chain;

static chain random_chain(bool sends)
{
    chain c = { .n_stages = 1 + below(STAGES_MAX), .n_runs = 1 + below(RUNS_MAX) };
    for (int32_t k = 0; k < 2 * c.n_stages - 1; k++) {
        c.time[k] = k % 2 == 0 ? 1 + below(50) : sends ? below(50) : 0;
        c.latency += c.time[k];
        c.period = c.time[k] > c.period ? c.time[k] : c.period;
    }
    return c;
}

/* received: copies that a stage has for what it receives; made: for what it sends. 0: any number.
 */
static int64_t play_chain(const chain *c, int32_t received, int32_t made)
{
    clear();
    for (int32_t run = 0; run < c->n_runs; run++)
        for (int32_t k = 0; k < 2 * c->n_stages - 1; k++) {
            give(k, k, run, c->time[k]);
            if (k > 0)
                wait_for(k, run, k - 1, run);
            if (k % 2 == 1 && received) /* the reader is done with an older one */
                wait_for(k, run, k + 1, run - received);
            if (k % 2 == 0 && k + 1 < 2 * c->n_stages - 1 && made)
                wait_for(k, run, k + 1, run - made);
        }
    return play(2 * c->n_stages - 1);
}

Test(micro, total_of_a_chain_is_exact)
{
    state = 1;
    for (int32_t i = 0; i < CASES; i++) {
        chain c = random_chain(true);
        cr_assert_eq(clv_micro_total_ns(c.latency, c.period, c.n_runs), play_chain(&c, 0, 0));
    }
}

/* With the copies that are counted the pace is that of any number of copies; with one less it is
 * not. */
Test(micro, copies_between_neighbours_are_enough_and_needed)
{
    int32_t slower = 0;
    state = 2;
    for (int32_t i = 0; i < CASES; i++) {
        chain c = random_chain(true);
        int32_t copies = clv_micro_copies(c.n_runs, 1);
        cr_assert_eq(play_chain(&c, copies, copies), play_chain(&c, 0, 0));
        slower += play_chain(&c, 1, 2) > play_chain(&c, 0, 0);
    }
    cr_assert_gt(slower, CASES / 2);
}

/* What skips stages: stage a writes it, stage t reads it, transfers take no time. */
Test(micro, copies_of_what_skips_stages_are_enough_and_needed)
{
    int32_t slower = 0, tried = 0;
    state = 3;
    for (int32_t i = 0; i < CASES; i++) {
        chain c = random_chain(false);
        if (c.n_stages < 2)
            continue;
        int32_t a = below(c.n_stages - 1), t = a + 1 + below(c.n_stages - 1 - a);
        int32_t copies = clv_micro_copies(c.n_runs, t - a);
        int64_t total[3];
        for (int32_t less = 0; less < 3; less++) {
            clear();
            for (int32_t run = 0; run < c.n_runs; run++)
                for (int32_t s = 0; s < c.n_stages; s++) {
                    give(s, s, run, c.time[2 * s]);
                    if (s > 0)
                        wait_for(s, run, s - 1, run);
                    if (s == a && less < 2 && copies - less > 0)
                        wait_for(s, run, t, run - (copies - less));
                }
            total[less] = play(c.n_stages);
        }
        cr_assert_eq(total[0], total[2]);
        slower += copies > 1 && total[1] > total[2];
        tried++;
    }
    cr_assert_gt(slower, tried / 10);
}

/* Stages side by side: between the work of the slowest, and the formula, which it may stay below.
 */
Test(micro, total_of_branches_is_bounded)
{
    int32_t below_formula = 0;
    state = 4;
    for (int32_t i = 0; i < CASES; i++) {
        int32_t n = 1 + below(STAGES_MAX), runs = 1 + below(RUNS_MAX);
        int64_t time[STAGES_MAX], path[STAGES_MAX], latency = 0, period = 0;
        bool edge[STAGES_MAX][STAGES_MAX] = { { false } };
        for (int32_t s = 0; s < n; s++) {
            int64_t before = 0;
            time[s] = 1 + below(50);
            for (int32_t from = 0; from < s; from++) {
                edge[from][s] = below(3) == 0;
                if (edge[from][s] && path[from] > before)
                    before = path[from];
            }
            path[s] = before + time[s];
            latency = path[s] > latency ? path[s] : latency;
            period = time[s] > period ? time[s] : period;
        }
        clear();
        for (int32_t run = 0; run < runs; run++)
            for (int32_t s = 0; s < n; s++) {
                give(s, s, run, time[s]);
                for (int32_t from = 0; from < s; from++)
                    if (edge[from][s])
                        wait_for(s, run, from, run);
            }
        int64_t total = play(n), formula = clv_micro_total_ns(latency, period, runs);
        cr_assert_leq(total, formula);
        cr_assert_geq(total, period * runs);
        cr_assert_geq(total, latency);
        below_formula += total < formula;
    }
    cr_assert_gt(below_formula, 0);
}

/* -- 1F1B: node 2 s is the forward part of stage s, node 2 s + 1 its backward part -- */

typedef struct {
    int64_t total;
    int32_t most[STAGES_MAX]; /* between forward and backward at once */
} one_f_one_b;

static int32_t count_stashed(int32_t stage, int32_t runs)
{
    int32_t most = 0;
    for (int32_t i = 0; i < runs; i++) { /* right after a forward part starts */
        int32_t n = 0;
        for (int32_t k = 0; k < runs; k++)
            n += starts[2 * stage][k] <= starts[2 * stage][i] &&
                 ends[2 * stage + 1][k] > starts[2 * stage][i];
        most = n > most ? n : most;
    }
    return most;
}

static one_f_one_b play_1f1b(int32_t n, int32_t runs, const int64_t *forward,
                             const int64_t *backward)
{
    one_f_one_b made;
    clear();
    for (int32_t s = 0; s < n; s++) {
        int32_t warm = n - s - 1 < runs ? n - s - 1 : runs, f = 0, b = 0;
        while (f < warm)
            give(s, 2 * s, f++, forward[s]);
        while (b < runs) {
            if (f < runs)
                give(s, 2 * s, f++, forward[s]);
            give(s, 2 * s + 1, b++, backward[s]);
        }
    }
    for (int32_t s = 0; s < n; s++)
        for (int32_t run = 0; run < runs; run++) {
            if (s > 0)
                wait_for(2 * s, run, 2 * s - 2, run);
            wait_for(2 * s + 1, run, s + 1 < n ? 2 * s + 3 : 2 * s, run);
        }
    made.total = play(n);
    for (int32_t s = 0; s < n; s++)
        made.most[s] = count_stashed(s, runs);
    return made;
}

static int64_t largest(const int64_t *at, int32_t n)
{
    int64_t most = 0;
    for (int32_t i = 0; i < n; i++)
        most = at[i] > most ? at[i] : most;
    return most;
}

static void check_1f1b(bool alike)
{
    for (int32_t i = 0; i < CASES; i++) {
        int32_t n = 1 + below(STAGES_MAX), runs = 1 + below(RUNS_MAX);
        int64_t forward[STAGES_MAX], backward[STAGES_MAX], latency = 0, period = 0;
        for (int32_t s = 0; s < n; s++) {
            forward[s] = s > 0 && alike ? forward[0] : 1 + below(50);
            backward[s] = s > 0 && alike ? backward[0] : 1 + below(100);
            latency += forward[s] + backward[s];
            period = forward[s] + backward[s] > period ? forward[s] + backward[s] : period;
        }
        one_f_one_b r = play_1f1b(n, runs, forward, backward);
        int64_t formula = clv_micro_total_ns(latency, period, runs);
        if (alike)
            cr_assert_eq(r.total, formula);
        else /* slower parts alone cannot make it faster */
            cr_assert_leq(r.total, (largest(forward, n) + largest(backward, n)) * (runs + n - 1));
        cr_assert_geq(r.total, latency);
        cr_assert_geq(r.total, period * runs);
        for (int32_t s = 0; s < n; s++) {
            int32_t stashed = clv_micro_stashed(runs, n, s);
            cr_assert(alike ? r.most[s] == stashed : r.most[s] <= stashed);
        }
    }
}

Test(micro, total_and_stash_of_1f1b_are_exact_for_equal_stages)
{
    state = 5;
    check_1f1b(true);
}

Test(micro, total_and_stash_of_1f1b_are_bounds_for_unequal_stages)
{
    state = 6;
    check_1f1b(false);
}

/* -- the number -- */

Test(micro, enough_is_the_smallest_number_with_little_bubble)
{
    state = 7;
    for (int32_t i = 0; i < CASES; i++) {
        int32_t stages = 1 + below(32);
        int64_t period = 1 + below(1000), latency = 1 + below(20000);
        int32_t n = clv_micro_enough(latency, period, stages);
        cr_assert_geq(n, stages);
        cr_assert_leq(clv_micro_bubble(latency, period, n), CLV_MICRO_LOSS);
        if (n > stages)
            cr_assert_gt(clv_micro_bubble(latency, period, n - 1), CLV_MICRO_LOSS);
    }
}

Test(micro, bubble_is_what_the_total_loses)
{
    state = 8;
    for (int32_t i = 0; i < CASES; i++) {
        int32_t n = 1 + below(100);
        int64_t period = 1 + below(1000), latency = period + below(20000);
        int64_t total = clv_micro_total_ns(latency, period, n);
        double lost = 1 - (double)(period * n) / (double)total;
        cr_assert_float_eq(clv_micro_bubble(latency, period, n), lost, 1e-12);
        cr_assert_eq(clv_micro_share_ns(latency, period, n), (total + n - 1) / n);
    }
}

Test(micro, extremes_neither_wrap_nor_divide_by_zero)
{
    cr_assert_eq(clv_micro_total_ns(INT64_MAX, 1, 2), INT64_MAX);
    cr_assert_eq(clv_micro_total_ns(5, INT64_MAX, 3), INT64_MAX);
    cr_assert_eq(clv_micro_total_ns(5, 7, 1), 5);
    cr_assert_eq(clv_micro_enough(5, 0, 4), 1);
    cr_assert_eq(clv_micro_enough(INT64_MAX, 1, 4), CLV_MICRO_MAX);
    cr_assert_eq(clv_micro_enough(3, 5, 4), 4);
    cr_assert_eq(clv_micro_copies(CLV_MICRO_FULL, 3), 4);
    cr_assert_eq(clv_micro_copies(1, 3), 1);
    cr_assert_float_eq(clv_micro_bubble(0, 0, 1), 0, 0);
    cr_assert_float_eq(clv_micro_bubble(5, 7, 3), 0, 0);
}
