/* test_chain_partition.c - cuts by weight, period and latency against brute force over all cuts. */
#include "solver/partition/chain_partition.h"

#include "solver/partition/synthetic.h"

#include <criterion/criterion.h>

static const int32_t in_order[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

static clv_unit_chain *line_of(synthetic *s)
{
    clv_unit_chain *line = NULL;
    cr_assert_eq(clv_unit_chain_new(synthetic_done(s), NULL, s->arena, &line, NULL), CLV_OK);
    return line;
}

static void expect(const int32_t *got, const int32_t *want, int32_t n)
{
    for (int32_t u = 0; u < n; u++)
        cr_assert_eq(got[u], want[u], "unit %d is on device %d, not %d", u, got[u], want[u]);
}

/* Weights 4 1 1 1 1 1 1 2 on 3 devices: 12 in all, average 4. The first unit alone makes 4, then 1
 * 1 1 1 makes 4, the rest is last. */
/* covers: B.016 B.042 */
Test(chain_partition, cuts_when_the_sum_reaches_the_average)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 8, 3, 1);
    s.weight[0] = 4;
    s.weight[7] = 2;
    int32_t got[8];
    clv_cut_by_weight(line_of(&s), false, got);
    expect(got, (int32_t[]){ 0, 1, 1, 1, 1, 2, 2, 2 }, 8);
    clv_arena_free(arena);
}

/* The unit that brings it over the average stays in: 3 3 3 3 on 2 devices, average 6: 2 and 2; with
 * weights 5 2 5, average 6: 5 + 2 = 7 >= 6, so the cut is after the second. */
/* covers: B.042 */
Test(chain_partition, includes_the_unit_that_goes_over_the_average)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 3, 2, 1);
    s.weight[0] = s.weight[2] = 5;
    s.weight[1] = 2;
    int32_t got[3];
    clv_cut_by_weight(line_of(&s), false, got);
    expect(got, (int32_t[]){ 0, 0, 1 }, 3);
    clv_arena_free(arena);
}

/* 5 5 0 0 on 2 devices reaches the average of 5 twice; the second device gets all that is left. */
/* covers: B.042 */
Test(chain_partition, makes_no_more_cuts_than_devices_need)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 2, 1);
    s.weight[0] = s.weight[1] = 5;
    s.weight[2] = s.weight[3] = 0;
    int32_t got[4];
    clv_cut_by_weight(line_of(&s), false, got);
    expect(got, (int32_t[]){ 0, 1, 1, 1 }, 4);
    clv_arena_free(arena);
}

/* All weight in the last unit: no cut at all comes out (the documented tool crashes there); asked
 * to use all devices, runs are halved: 0 0 0 9 -> the only run has its half at the last unit. */
/* covers: B.042 B.057 */
Test(chain_partition, may_give_fewer_groups_and_splits_them_when_asked_to_use_all)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 3, 1);
    for (int32_t u = 0; u < 4; u++)
        s.weight[u] = u == 3 ? 9 : 0;
    clv_unit_chain *line = line_of(&s);
    int32_t got[4];
    clv_cut_by_weight(line, false, got);
    expect(got, (int32_t[]){ 0, 0, 0, 0 }, 4);
    clv_cut_by_weight(line, true, got);
    expect(got, (int32_t[]){ 0, 1, 1, 2 }, 4);
    clv_arena_free(arena);
}

Test(chain_partition, gives_each_unit_a_device_when_there_are_more_devices_than_units)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 3, 5, 1);
    clv_unit_chain *line = line_of(&s);
    clv_cut_options o = { .order = in_order, .use_all = true };
    int32_t got[3];
    clv_cut_by_weight(line, true, got);
    expect(got, (int32_t[]){ 0, 1, 2 }, 3);
    cr_assert(clv_cut_by_period(line, &o, got));
    expect(got, (int32_t[]){ 0, 1, 2 }, 3);
    cr_assert(clv_cut_by_latency(line, &o, got));
    expect(got, (int32_t[]){ 0, 1, 2 }, 3);
    clv_arena_free(arena);
}

/* Times 1 1 1 9 1 1 1 on two devices: 1 1 1 | 9 1 1 1 is 12, 1 1 1 9 | 1 1 1 as well; 12 is best.
 */
Test(chain_partition, cuts_for_the_smallest_period)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 6, 3, 1);
    int64_t times[] = { 2, 2, 2, 3, 3, 6 };
    memcpy(s.time, times, sizeof times);
    clv_cut_options o = { .order = in_order, .use_all = true };
    int32_t got[6];
    cr_assert(clv_cut_by_period(line_of(&s), &o, got));
    expect(got, (int32_t[]){ 0, 0, 0, 1, 1, 2 }, 6); /* 6 6 6 */
    clv_arena_free(arena);
}

/* A boundary that takes longer than the work is avoided: 4 units of 1, the net in the middle takes
 * 10, so 1 | 3 with period 3 beats 2 | 2 with period 10. */
Test(chain_partition, counts_transfers_in_the_period)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 2, 1);
    s.net_bytes[1] = 10;
    clv_cut_options o = { .order = in_order, .use_all = true };
    int32_t got[4];
    cr_assert(clv_cut_by_period(line_of(&s), &o, got));
    cr_assert(got[1] == got[2], "the dear net is not cut");
    clv_arena_free(arena);
}

Test(chain_partition, says_when_nothing_is_within_the_capacities)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 4, 2, 1);
    clv_unit_chain *line = line_of(&s);
    int64_t capacity[] = { 1, 2 };
    clv_cut_options o = { .order = in_order, .capacity_bytes = capacity };
    int32_t got[4];
    cr_assert(!clv_cut_by_period(line, &o, got));
    cr_assert(!clv_cut_by_latency(line, &o, got));
    capacity[0] = 2;
    cr_assert(clv_cut_by_period(line, &o, got));
    cr_assert(clv_cut_by_latency(line, &o, got));
    expect(got, (int32_t[]){ 0, 0, 1, 1 }, 4);
    clv_arena_free(arena);
}

Test(chain_partition, has_nothing_to_do_for_no_units)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_chain(arena, 0, 2, 1);
    clv_unit_chain *line = line_of(&s);
    clv_cut_options o = { .order = in_order, .use_all = true };
    clv_cut_by_weight(line, true, NULL);
    cr_assert(clv_cut_by_period(line, &o, NULL));
    cr_assert(clv_cut_by_latency(line, &o, NULL));
    clv_arena_free(arena);
}

/* -- all cuts -- */

typedef struct {
    int64_t period, latency;
    bool fits, all_used;
} sums;

/* How much later the run on device k, from unit first on, ends because it waits for the run on
 * device j, which wrote units [before, first): nets one after another, as they are written. */
static int64_t delay_of(const clv_partition_problem *p, int32_t j, int32_t k, int32_t first)
{
    int64_t now = 0, link_free = 0, late = 0, run = 0;
    int64_t arrives[64] = { 0 };
    for (int32_t u = 0; u < first; u++) {
        now += p->time_ns[p->kind_of[j] * p->n_units + u];
        for (int32_t n = p->unit_first_net[u]; n < p->unit_first_net[u + 1]; n++) {
            if (p->net_to[p->net_first[n + 1] - 1] < first)
                continue;
            int32_t link = j * p->n_devices + k;
            link_free = (link_free > now ? link_free : now) + p->link_latency_ns[link] +
                        (int64_t)ceil((double)p->net_bytes[n] / p->link_bytes_per_s[link] * 1e9);
            arrives[n] = link_free;
        }
    }
    for (int32_t u = first; u < p->n_units; u++) {
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++)
            if (arrives[p->reads[i]] - run > late)
                late = arrives[p->reads[i]] - run;
        run += p->time_ns[p->kind_of[k] * p->n_units + u];
    }
    return late - now;
}

/* Of runs that end at end[0..d): period with every crossing net on every boundary, latency of the
 * runs one after another with a delay between each and the next device's. */
static sums add_up(const clv_partition_problem *p, const int32_t *end)
{
    sums r = { .fits = true, .all_used = true };
    for (int32_t k = 0, first = 0; k < p->n_devices; first = end[k++]) {
        int64_t busy = 0, weight = 0, wire = 0;
        for (int32_t u = first; u < end[k]; u++) {
            busy += p->time_ns[p->kind_of[k] * p->n_units + u];
            weight += p->weight_bytes[u];
        }
        for (int32_t n = 0; n < p->n_nets; n++) {
            bool crosses = p->net_from[n] < first && p->net_to[p->net_first[n + 1] - 1] >= first;
            wire += crosses ? p->link_latency_ns[1] + p->net_bytes[n] : 0;
        }
        r.all_used &= end[k] > first;
        if (end[k] == first)
            continue;
        r.fits &= weight <= p->capacity_bytes[k];
        r.period = busy > r.period ? busy : r.period;
        r.period = wire > r.period ? wire : r.period;
        r.latency += busy + (first > 0 ? delay_of(p, k - 1, k, first) : 0);
    }
    return r;
}

/* Runs by rules: allowed on the device, at the stage that is their number, nothing in one run that
 * must be apart, no cut inside a group. */
static bool runs_meet_rules(const clv_partition_problem *p, const int32_t *end)
{
    const clv_rules *r = p->rules;
    for (int32_t k = 0, first = 0; k < p->n_devices; first = end[k++])
        for (int32_t u = first; u < end[k]; u++) {
            if (!clv_rules_allow(r, u, k) ||
                (r->stage_set_of[u] >= 0 && !clv_bit(r->stage_sets + r->stage_set_of[u], k)))
                return false;
            for (int32_t v = first; v < end[k]; v++)
                for (int32_t i = r->tag_first[u]; i < r->tag_first[u + 1]; i++)
                    for (int32_t j = r->tag_first[v]; j < r->tag_first[v + 1]; j++)
                        if (r->tags[i] != r->tags[j] &&
                            r->family_of[r->tags[i]] == r->family_of[r->tags[j]])
                            return false;
            if (u == first && first > 0)
                for (int32_t g = 0; g < r->n_groups; g++)
                    if (first > r->group_units[r->group_first[g]] &&
                        first <= r->group_units[r->group_first[g + 1] - 1])
                        return false;
        }
    return true;
}

static void best_of_all(const clv_partition_problem *p, int32_t k, int32_t *end, bool use_all,
                        sums *best)
{
    if (k == p->n_devices - 1) {
        end[k] = p->n_units;
        sums r = add_up(p, end);
        if (!r.fits || (use_all && !r.all_used) || (p->rules && !runs_meet_rules(p, end)))
            return;
        best->fits = true;
        best->period = r.period < best->period ? r.period : best->period;
        best->latency = r.latency < best->latency ? r.latency : best->latency;
        return;
    }
    for (end[k] = k > 0 ? end[k - 1] : 0; end[k] <= p->n_units; end[k]++)
        best_of_all(p, k + 1, end, use_all, best);
}

static sums sums_of(const clv_partition_problem *p, const int32_t *device_of)
{
    int32_t end[8] = { 0 };
    for (int32_t k = 0, u = 0; k < p->n_devices; k++) {
        while (u < p->n_units && device_of[u] == k)
            u++;
        end[k] = u;
    }
    cr_assert_eq(end[p->n_devices - 1], p->n_units, "runs in the order of the devices");
    return add_up(p, end);
}

Test(chain_partition, finds_the_best_of_all_cuts)
{
    for (uint64_t seed = 0; seed < 400; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        int32_t units = 1 + (int32_t)(seed % 13), devices = 1 + (int32_t)(seed / 13 % 4);
        bool use_all = seed % 2 && units >= devices;
        synthetic s = synthetic_any(arena, seed, units, devices, 100 + (int64_t)(seed % 9) * 20);
        clv_unit_chain *line = line_of(&s);
        sums best = { .period = INT64_MAX, .latency = INT64_MAX };
        int32_t end[8], got[16];
        best_of_all(&s.p, 0, end, use_all, &best);
        clv_cut_options o = { .order = in_order, .capacity_bytes = s.capacity, .use_all = use_all };
        cr_assert_eq(clv_cut_by_period(line, &o, got), best.fits, "seed %d", (int)seed);
        if (best.fits) {
            sums r = sums_of(&s.p, got);
            cr_assert_eq(r.period, best.period, "seed %d: %ld, best %ld", (int)seed, (long)r.period,
                         (long)best.period);
            cr_assert(r.fits && (r.all_used || !use_all));
        }
        cr_assert_eq(clv_cut_by_latency(line, &o, got), best.fits, "seed %d", (int)seed);
        if (best.fits) {
            sums r = sums_of(&s.p, got);
            cr_assert_eq(r.latency, best.latency, "seed %d: %ld, best %ld", (int)seed,
                         (long)r.latency, (long)best.latency);
            cr_assert(r.fits && (r.all_used || !use_all));
        }
        clv_arena_free(arena);
    }
}

/* Some units bound to devices or stages, two families of tags, one group of two units. */
static const clv_rules *some_rules(const clv_partition_problem *p, uint64_t seed, clv_arena *arena)
{
    int32_t n = p->n_units, at = 0;
    uint64_t draw = seed * 77 + 5, all = (UINT64_C(1) << p->n_devices) - 1;
    clv_rules *r = CLV_NEW(arena, clv_rules);
    uint64_t *devices = CLV_NEW_ARRAY(arena, uint64_t, n),
             *sets = CLV_NEW_ARRAY(arena, uint64_t, 2);
    int32_t *set_of = CLV_NEW_ARRAY(arena, int32_t, n), *units = CLV_NEW_ARRAY(arena, int32_t, 2);
    int32_t *first = CLV_NEW_ARRAY(arena, int32_t, n + 1), *tags = CLV_NEW_ARRAY(arena, int32_t, n);
    int32_t *family = CLV_NEW_ARRAY(arena, int32_t, 4), *group = CLV_NEW_ARRAY(arena, int32_t, 2);
    for (int32_t u = 0; u < n; u++) {
        bool pinned = synthetic_below(&draw, 4) == 0;
        devices[u] = pinned ? 1 + (uint64_t)synthetic_below(&draw, (int64_t)all) : all;
        set_of[u] = (int32_t)synthetic_below(&draw, 16) - 14;
        set_of[u] = set_of[u] < 0 ? -1 : set_of[u];
        if (synthetic_below(&draw, 6) == 0)
            tags[at++] = (int32_t)synthetic_below(&draw, 4);
        first[u + 1] = at;
    }
    sets[0] = 1 + (uint64_t)synthetic_below(&draw, (int64_t)all);
    sets[1] = all ^ 1;
    family[2] = family[3] = 1;
    units[0] = n > 4 ? 2 : 0;
    units[1] = n > 4 ? 4 : 0;
    group[1] = 2;
    *r = (clv_rules){ .words = 1,
                      .devices = devices,
                      .n_groups = n > 4,
                      .group_first = group,
                      .group_units = units,
                      .n_tags = 4,
                      .n_families = 2,
                      .tag_first = first,
                      .tags = tags,
                      .family_of = family,
                      .in_order = CLV_NEW_ARRAY(arena, bool, 2),
                      .n_stage_sets = 2,
                      .stage_sets = sets,
                      .stage_set_of = set_of };
    return r;
}

Test(chain_partition, finds_the_best_of_all_cuts_that_meet_the_rules)
{
    int32_t n_fit = 0;
    for (uint64_t seed = 0; seed < 600; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        int32_t units = 2 + (int32_t)(seed % 12), devices = 2 + (int32_t)(seed / 13 % 3);
        synthetic s = synthetic_any(arena, seed, units, devices, 300);
        s.p.rules = some_rules(&s.p, seed, arena);
        clv_unit_chain *line = line_of(&s);
        sums best = { .period = INT64_MAX, .latency = INT64_MAX };
        int32_t end[8], got[16];
        best_of_all(&s.p, 0, end, false, &best);
        clv_cut_options o = { .order = in_order, .capacity_bytes = s.capacity };
        cr_assert_eq(clv_cut_by_period(line, &o, got), best.fits, "seed %d", (int)seed);
        if (best.fits)
            cr_assert_eq(sums_of(&s.p, got).period, best.period, "seed %d", (int)seed);
        cr_assert_eq(clv_cut_by_latency(line, &o, got), best.fits, "seed %d", (int)seed);
        if (best.fits)
            cr_assert_eq(sums_of(&s.p, got).latency, best.latency, "seed %d", (int)seed);
        n_fit += best.fits;
        clv_arena_free(arena);
    }
    cr_assert(n_fit > 60 && n_fit < 540, "%d fit", n_fit);
}

Test(chain_partition, survives_running_out_of_memory_anywhere)
{
    clv_arena *problem = clv_arena_new(NULL, 0);
    synthetic s = synthetic_any(problem, 1, 10, 3, 150);
    const clv_partition_problem *p = synthetic_done(&s);
    clv_status status = CLV_ENOMEM;
    for (size_t limit = 1; status != CLV_OK; limit += 13) {
        clv_arena *arena = clv_arena_new(NULL, limit);
        clv_unit_chain *line = NULL;
        status = clv_unit_chain_new(p, NULL, arena, &line, NULL);
        cr_assert(status == CLV_OK || (status == CLV_ENOMEM && !line));
        clv_arena_free(arena);
    }
    clv_arena_free(problem);
}

/* A mask and a table, each read by four layers on devices of their own: 4 x 100 ns through one port
 * if one device writes both. What was learned of that cut parts them. */
Test(chain_partition, what_many_read_is_written_on_several_devices)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    synthetic s = synthetic_new(arena, 6, 6, 1, 5, 11);
    synthetic_net(&s, 0, 4, (int32_t[]){ 2, 3, 4, 5 }, 100);
    synthetic_net(&s, 1, 4, (int32_t[]){ 2, 3, 4, 5 }, 100);
    for (int32_t u = 2; u < 5; u++)
        synthetic_net(&s, u, 1, (int32_t[]){ u + 1 }, 10);
    for (int32_t u = 2; u < 6; u++)
        s.time[u] = 250;
    synthetic_ports(&s);
    clv_unit_chain *line = line_of(&s);
    clv_cut_options o = { .order = in_order, .capacity_bytes = s.capacity };
    int32_t got[6], together[6] = { 0, 0, 1, 2, 3, 4 };
    cr_assert(clv_cut_by_period(line, &o, got));
    expect(got, (int32_t[]){ 0, 0, 1, 2, 3, 4 }, 2);
    cr_assert_eq(clv_unit_chain_measure_fanout(line, together, arena, NULL), CLV_OK);
    cr_assert_eq(line->fanout_ns[1], 300, "the first of four is left out");
    cr_assert_eq(line->fanout_ns[2], 600);
    cr_assert(clv_cut_by_period(line, &o, got));
    cr_assert_neq(got[0], got[1]);
    clv_arena_free(arena);
}

typedef struct {
    int64_t fanout, run; /* the largest sum of fan-out of a run; the longest run or boundary */
} interval;

static interval interval_of(const clv_unit_chain *l, const int32_t *device_of)
{
    const clv_partition_problem *p = l->p;
    int64_t fanout[3] = { 0 }, run[3] = { 0 };
    interval most = { 0, 0 };
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t d = device_of[u];
        fanout[d] += l->fanout_ns[u + 1] - l->fanout_ns[u];
        run[d] += p->time_ns[u];
        most.fanout = fanout[d] > most.fanout ? fanout[d] : most.fanout;
        most.run = run[d] > most.run ? run[d] : most.run;
        if (u > 0 && device_of[u - 1] != d && p->net_bytes[u - 1] > most.run)
            most.run = p->net_bytes[u - 1];
    }
    return most;
}

/* Least of what both limit, or, with a limit for fan-out, of the runs alone. */
static int64_t least_of_all(const clv_unit_chain *l, int64_t fan_limit)
{
    int32_t n = l->p->n_units, at[12];
    int64_t best = INT64_MAX;
    for (int32_t a = 0; a <= n; a++)
        for (int32_t b = a; b <= n; b++) {
            for (int32_t u = 0; u < n; u++)
                at[u] = (u >= a) + (u >= b);
            if (a == b && b < n)
                continue; /* an empty device between two is another boundary */
            interval s = interval_of(l, at);
            int64_t ns = fan_limit >= 0 || s.run > s.fanout ? s.run : s.fanout;
            if ((fan_limit < 0 || s.fanout <= fan_limit) && ns < best)
                best = ns;
        }
    return best;
}

/* Where what one unit sends makes the period long, runs may be as long as that, or short. */
Test(chain_partition, runs_are_as_short_as_what_is_sent_allows)
{
    int32_t n_shorter = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        uint64_t draw = seed * UINT64_C(0x9E3779B97F4A7C15);
        synthetic s = synthetic_chain(arena, 12, 3, 1);
        int32_t plain[12], tight[12];
        for (int32_t u = 0; u < 12; u++) {
            s.time[u] = 1 + synthetic_below(&draw, 30);
            if (u < 11)
                s.net_bytes[u] = 1 + synthetic_below(&draw, 40);
        }
        clv_unit_chain *line = line_of(&s);
        for (int32_t u = 0; u < 12; u++)
            line->fanout_ns[u + 1] =
                line->fanout_ns[u] + (synthetic_below(&draw, 4) ? 0 : synthetic_below(&draw, 150));
        clv_cut_options o = { .order = in_order };
        cr_assert(clv_cut_by_period(line, &o, plain));
        o.short_runs = true;
        cr_assert(clv_cut_by_period(line, &o, tight));
        interval was = interval_of(line, plain), is = interval_of(line, tight);
        int64_t period = least_of_all(line, -1);
        cr_assert_eq(was.run > was.fanout ? was.run : was.fanout, period, "seed %d", (int)seed);
        cr_assert_leq(is.fanout, period);
        cr_assert_eq(is.run, least_of_all(line, period), "seed %d", (int)seed);
        n_shorter += is.run < was.run;
        clv_arena_free(arena);
    }
    cr_assert_gt(n_shorter, 20, "%d", n_shorter);
}
