/* test_bound_links.c - no legal plan is better than what is proven of the latency, where links join
 * kinds of devices and parts of a cluster at different speeds.
 */
#include "solver/partition/bound_latency.h"

#include "problem/estimate.h"
#include "solver/partition/synthetic.h"
#include "support/effort.h"

#define UNITS_MAX   16
#define DEVICES_MAX 6

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(bound_links, .init = set_up, .fini = tear_down);

/* -- problems -- */

typedef struct {
    synthetic s;
    int64_t live[UNITS_MAX], held[UNITS_MAX];
    uint64_t random;
    int32_t part_of[DEVICES_MAX];
} problem;

static int64_t below(problem *m, int64_t n) { return synthetic_below(&m->random, n); }

static bool one_in(problem *m, int64_t n) { return below(m, n) == 0; }

/* Operators within units: reads needed after the start and nets there before the end, at any times,
 * other ones on each kind. */
static void add_operators(problem *m)
{
    clv_partition_problem *p = &m->s.p;
    size_t kinds = (size_t)p->n_kinds, nets = (size_t)p->n_nets, units = (size_t)p->n_units;
    size_t reads = (size_t)p->reads_first[p->n_units];
    int32_t *net_reads = synthetic_take(arena, nets, sizeof *net_reads);
    int64_t *ready = synthetic_take(arena, nets * kinds, sizeof *ready);
    int64_t *after = synthetic_take(arena, reads * kinds, sizeof *after);
    bool all_read_first = one_in(m, 2);
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t read = p->reads_first[u], end = p->reads_first[u + 1];
        int64_t at[3] = { 0 };
        for (int32_t net = p->unit_first_net[u]; net <= p->unit_first_net[u + 1]; net++) {
            bool is_net = net < p->unit_first_net[u + 1];
            int32_t more =
                is_net && !all_read_first ? (int32_t)below(m, end - read + 1) : end - read;
            for (int32_t i = 0; i <= more; i++)
                for (size_t k = 0; k < kinds; k++) {
                    int64_t left = m->s.time[k * units + (size_t)u] - at[k];
                    at[k] += one_in(m, 2) ? 0 : below(m, left + 1);
                    if (i < more)
                        after[k * reads + (size_t)(read + i)] = at[k];
                    else if (is_net)
                        ready[k * nets + (size_t)net] = at[k];
                }
            read += more;
            if (is_net)
                net_reads[net] = read - p->reads_first[u];
        }
    }
    p->net_reads = net_reads;
    p->net_ready_ns = ready;
    p->read_after_ns = after;
}

/* In parts and kinds, each pair with speeds of its own; sometimes each link for itself. */
static void add_links(problem *m)
{
    synthetic *s = &m->s;
    int32_t n = s->p.n_devices, parts = 1 + (int32_t)below(m, 3);
    bool by_kind = one_in(m, 2), any = one_in(m, 6), lopsided = one_in(m, 4);
    int64_t far = 1 + below(m, 30), slow = 1 + below(m, 30);
    double speed[3][3];
    int64_t latency[3][3];
    for (int32_t a = 0; a < 3; a++)
        for (int32_t b = 0; b < 3; b++) {
            speed[a][b] = by_kind ? (double)(1 + below(m, 20)) / 4 : 0.5;
            latency[a][b] = by_kind ? below(m, 40) : 10;
        }
    for (int32_t d = 0; d < n; d++)
        m->part_of[d] = one_in(m, 3)   ? s->kind_of[d] % parts
                        : one_in(m, 2) ? (int32_t)below(m, parts)
                                       : d % parts;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            bool swap = !lopsided && s->kind_of[a] > s->kind_of[b];
            int32_t x = s->kind_of[swap ? b : a], y = s->kind_of[swap ? a : b];
            bool across = m->part_of[a] != m->part_of[b];
            double ns = speed[x][y] * (across ? (double)far : 1);
            if (any)
                ns *= 1 + (double)below(m, 4);
            s->link_bandwidth[a * n + b] = 1e9 / ns;
            s->link_latency[a * n + b] =
                latency[x][y] * (across ? slow : 1) + (any ? below(m, 50) : 0);
        }
}

/* Nearly a line: a step of one, or two side by side; sometimes a unit is read far behind. */
static void add_nets(problem *m, int32_t units, int32_t width)
{
    int32_t branches = (int32_t)below(m, 4), from = 0;
    bool far = one_in(m, 2);
    int32_t join[UNITS_MAX] = { 0 }; /* by unit: who all of its level lead to */
    for (int32_t u = 1; u < units;) {
        int32_t wide = branches && one_in(m, 2) ? 1 + (int32_t)below(m, width) : 1;
        wide = wide < units - u ? wide : units - u;
        for (int32_t i = from; i < u; i++)
            join[i] = u * UNITS_MAX + wide;
        from = u;
        u += wide;
    }
    for (int32_t u = 0; u + 1 < units; u++) {
        int32_t first = join[u] / UNITS_MAX, wide = join[u] % UNITS_MAX, to[UNITS_MAX], n = 0;
        for (int32_t i = 0; i < wide; i++)
            if (i == 0 || !one_in(m, 4))
                to[n++] = first + i;
        if (wide == 0 || one_in(m, 12))
            n = 0;
        int32_t behind = n > 0 ? to[n - 1] + 1 : units;
        if (far && behind < units && one_in(m, 3))
            to[n++] = behind + (int32_t)below(m, units - behind);
        if (n > 0)
            synthetic_net(&m->s, u, n, to, one_in(m, 8) ? 0 : below(m, 60));
        if (n > 1 && one_in(m, 2))
            synthetic_net(&m->s, u, 1, to + 1, below(m, 60));
        if (one_in(m, 5)) {
            to[0] = u + 1 + (int32_t)below(m, units - u - 1);
            synthetic_net(&m->s, u, 1, to, below(m, 60));
        }
    }
}

static problem make(uint64_t seed, int32_t units, int32_t devices, int32_t width)
{
    problem m = { .random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1 };
    for (int i = 0; i < 8; i++)
        synthetic_random(&m.random);
    int32_t kinds = 1 + (int32_t)below(&m, 3);
    m.s = synthetic_new(arena, units, devices, kinds, units * 3, units * (UNITS_MAX + 3));
    int64_t all = 0, most = one_in(&m, 2) ? 300 : 60, percent = 90 + below(&m, 250);
    bool has_zeros = one_in(&m, 4), lives = one_in(&m, 2);
    for (int32_t u = 0; u < units; u++) {
        m.s.weight[u] = below(&m, 30);
        m.live[u] = lives ? below(&m, 20) : 0;
        m.held[u] = below(&m, m.live[u] + 1);
        all += m.s.weight[u] + m.held[u];
        for (int32_t k = 0; k < kinds; k++)
            m.s.time[k * units + u] = has_zeros && one_in(&m, 3) ? 0 : below(&m, most);
    }
    for (int32_t k = 1; k < kinds && one_in(&m, 2); k++)
        for (int32_t u = 0; u < units; u++)
            m.s.time[k * units + u] = m.s.time[u] * (k + 1);
    bool equal = one_in(&m, 2);
    int64_t capacity[3];
    for (int32_t k = 0; k < 3; k++)
        capacity[k] = all * percent / 100 / devices + (equal ? 10 : below(&m, 40));
    for (int32_t d = 0; d < devices; d++) {
        m.s.kind_of[d] = (int32_t)below(&m, kinds);
        m.s.capacity[d] = one_in(&m, 6) ? all : capacity[m.s.kind_of[d]];
    }
    add_nets(&m, units, width);
    add_links(&m);
    synthetic_done(&m.s);
    if (one_in(&m, 2))
        add_operators(&m);
    return m;
}

/* -- the best of all -- */

typedef struct {
    const problem *m;
    int64_t best, best_of_all; /* INT64_MAX: none fits */
    int32_t device_of[UNITS_MAX];
    int64_t ready[UNITS_MAX][DEVICES_MAX]; /* by unit: of devices before it runs */
    int64_t done[UNITS_MAX * 4];           /* by net */
    uint32_t leads[UNITS_MAX][DEVICES_MAX];
} walk;

static int64_t longer(int64_t a, int64_t b) { return a > b ? a : b; }

static bool fits(const problem *m, const int32_t *device_of, int32_t units, int32_t d)
{
    const clv_partition_problem *p = &m->s.p;
    int64_t sum = 0, most = 0;
    for (int32_t u = 0; u < units; u++)
        if (device_of[u] == d) {
            sum += p->weight_bytes[u] + m->held[u];
            most = longer(most, m->live[u] - m->held[u]);
        }
    return sum + most <= p->capacity_bytes[d];
}

static int64_t start_for(const walk *w, int32_t d, int32_t read)
{
    const clv_partition_problem *p = &w->m->s.p;
    int32_t net = p->reads[read], from = w->device_of[p->net_from[net]];
    int64_t wire =
        from == d || p->net_bytes[net] == 0 ? 0 : synthetic_wire(p, from, d, p->net_bytes[net]);
    int64_t after =
        p->read_after_ns ? p->read_after_ns[p->kind_of[d] * p->reads_first[p->n_units] + read] : 0;
    return w->done[net] + wire - after;
}

static void run(walk *w, int32_t u, int32_t d)
{
    const clv_partition_problem *p = &w->m->s.p;
    int32_t read = p->reads_first[u], end = p->reads_first[u + 1], kind = p->kind_of[d];
    int64_t start = w->ready[u][d], ns = p->time_ns[kind * p->n_units + u];
    for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++) {
        int32_t before = p->net_reads ? p->reads_first[u] + p->net_reads[net] : end;
        for (; read < before; read++)
            start = longer(start, start_for(w, d, read));
        w->done[net] = start + (p->net_ready_ns ? p->net_ready_ns[kind * p->n_nets + net] : ns);
    }
    for (; read < end; read++)
        start = longer(start, start_for(w, d, read));
    memcpy(w->ready[u + 1], w->ready[u], sizeof w->ready[u]);
    w->ready[u + 1][d] = start + ns;
}

/* Closes who leads to whom by what the unit reads; false: a circle. */
static bool lead(walk *w, int32_t u, int32_t d)
{
    const clv_partition_problem *p = &w->m->s.p;
    uint32_t *leads = w->leads[u + 1];
    memcpy(leads, w->leads[u], sizeof w->leads[u]);
    for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++) {
        int32_t from = w->device_of[p->net_from[p->reads[i]]];
        if (from == d || leads[from] >> d & 1)
            continue;
        if (leads[d] >> from & 1)
            return false;
        uint32_t more = leads[d] | UINT32_C(1) << d;
        for (int32_t a = 0; a < p->n_devices; a++)
            if (a == from || leads[a] >> from & 1)
                leads[a] |= more;
    }
    return true;
}

static int32_t n_used(const walk *w, int32_t units)
{
    uint32_t used = 0;
    for (int32_t u = 0; u < units; u++)
        used |= UINT32_C(1) << w->device_of[u];
    return __builtin_popcount(used);
}

/* All ways for units from u on, but those that are too late already. */
static void try_all(walk *w, int32_t u)
{
    const clv_partition_problem *p = &w->m->s.p;
    int64_t end = 0;
    for (int32_t d = 0; d < p->n_devices; d++)
        end = longer(end, w->ready[u][d]);
    int32_t lacks = p->n_devices - n_used(w, u);
    if (end >= w->best && (end >= w->best_of_all || lacks > p->n_units - u))
        return;
    if (u == p->n_units) {
        clv_estimate e;
        cr_assert_eq(clv_partition_estimate(p, w->device_of, arena, &e, NULL), CLV_OK);
        cr_assert_eq(e.latency_bound_ns, end);
        cr_assert(synthetic_legal(p, w->device_of));
        w->best = end < w->best ? end : w->best;
        w->best_of_all = lacks == 0 && end < w->best_of_all ? end : w->best_of_all;
        return;
    }
    for (int32_t d = 0; d < p->n_devices; d++) {
        w->device_of[u] = d;
        if (!fits(w->m, w->device_of, u + 1, d) || !lead(w, u, d))
            continue;
        run(w, u, d);
        try_all(w, u + 1);
    }
}

static walk best_of_all(const problem *m)
{
    walk w = { .m = m, .best = INT64_MAX, .best_of_all = INT64_MAX };
    try_all(&w, 0);
    return w;
}

/* -- the check -- */

typedef struct {
    int32_t n, n_exact, n_of_all, n_of_all_exact;
    double part, part_of_all;
} tally;

static clv_bound bound_of(const problem *m, bool use_all, int32_t near, uint64_t seed)
{
    const clv_partition_problem *p = &m->s.p;
    clv_bound_options o = {
        .live_bytes = m->live, .held_bytes = m->held, .use_all = use_all, .near = near
    };
    int32_t orders[CLV_BOUND_ORDERS * DEVICES_MAX], device_of[UNITS_MAX];
    clv_bound b = { .device_of = device_of, .orders = orders };
    cr_assert_eq(clv_bound_latency(p, &o, arena, &b, NULL), CLV_OK);
    for (int32_t u = 0; u < p->n_units && b.found; u++)
        cr_assert(device_of[u] >= 0 && device_of[u] < p->n_devices, "seed %llu",
                  (unsigned long long)seed);
    cr_assert_leq(b.n_orders, CLV_BOUND_ORDERS);
    for (int32_t i = 0; i < b.n_orders; i++) {
        uint32_t seen = 0;
        for (int32_t d = 0; d < p->n_devices; d++)
            seen |= UINT32_C(1) << orders[i * p->n_devices + d];
        cr_assert_eq(seen, (UINT32_C(1) << p->n_devices) - 1, "seed %llu",
                     (unsigned long long)seed);
    }
    return b;
}

static void check(const problem *m, int32_t near, uint64_t seed, tally *t)
{
    walk w = best_of_all(m);
    if (w.best == INT64_MAX)
        return;
    int64_t any = bound_of(m, false, near, seed).ns, all = bound_of(m, true, near, seed).ns;
    cr_expect_leq(any, w.best, "seed %llu near %d: %lld of %lld", (unsigned long long)seed, near,
                  (long long)any, (long long)w.best);
    cr_expect_leq(all, w.best_of_all, "seed %llu near %d, all devices: %lld of %lld",
                  (unsigned long long)seed, near, (long long)all, (long long)w.best_of_all);
    cr_expect(any >= 0 && all >= 0, "seed %llu %lld %lld, %lld %lld", (unsigned long long)seed,
              (long long)any, (long long)all, (long long)w.best, (long long)w.best_of_all);
    t->n++;
    t->n_exact += any == w.best;
    t->part += w.best ? (double)any / (double)w.best : 1;
    t->n_of_all += w.best_of_all < INT64_MAX;
    t->n_of_all_exact += all == w.best_of_all;
    if (w.best_of_all < INT64_MAX)
        t->part_of_all += w.best_of_all ? (double)all / (double)w.best_of_all : 1;
}

/* Of low to high devices. */
static tally many(uint64_t first, int32_t n, int32_t low, int32_t high)
{
    tally t = { 0 };
    for (uint64_t seed = first; seed < first + (uint64_t)n; seed++) {
        clv_mark mark = clv_arena_mark(arena);
        uint64_t random = seed * UINT64_C(0xD1B54A32D192ED03) + 5;
        int32_t devices = low + (int32_t)synthetic_below(&random, high - low + 1);
        int32_t units = 3 + (int32_t)synthetic_below(&random, low > 2 ? 6 : devices < 4 ? 7 : 5);
        int32_t near = synthetic_below(&random, 4) ? 0 : 1 + (int32_t)synthetic_below(&random, 3);
        problem m = make(seed, units, devices, 1 + (int32_t)synthetic_below(&random, 4));
        check(&m, near, seed, &t);
        clv_arena_rewind(arena, mark);
    }
    return t;
}

#define MANY   test_effort(8000)
#define WIDE   200
#define LAYERS 600

/* The last ones once were above the best: a path that fast links carry beside the first device,
 * and a tensor of few bytes, or none, from there over a slow link. */
Test(bound_links, no_legal_plan_is_better)
{
    tally t = many(1, (int)MANY, 2, 5);
    cr_expect_gt(t.n, (int)MANY / 2);
    cr_expect_gt(t.part / t.n, 0.75, "%g", t.part / t.n);
    t = many(1045643, 1, 2, 5);
    cr_expect_eq(t.n, 1);
}

Test(bound_links, no_legal_plan_of_many_devices_is_better)
{
    tally t = many(3000000, (int)MANY / 4, 4, 6);
    cr_expect_gt(t.n, (int)MANY / 8);
    t = many(3037509, 1, 4, 6);
    cr_expect_eq(t.n, 1);
}

/* Links between kinds are late, those between parts are narrow, few are both; and much is waited
 * for that sends nothing. */
static void part_slowness(problem *m)
{
    synthetic *s = &m->s;
    int32_t n = s->p.n_devices;
    int64_t late = 20 + below(m, 60);
    double narrow = 1e9 / (double)(2 + below(m, 6));
    for (int32_t net = 0; net < s->p.n_nets; net++)
        s->net_bytes[net] = one_in(m, 2) ? 0 : s->net_bytes[net];
    for (int32_t d = 0; d < n; d++)
        m->part_of[d] = (int32_t)below(m, 2);
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            bool other = s->kind_of[a] != s->kind_of[b];
            s->link_latency[a * n + b] = other ? late : 1;
            s->link_bandwidth[a * n + b] = m->part_of[a] != m->part_of[b] ? narrow : 1e10;
        }
}

Test(bound_links, nor_where_one_link_is_late_and_another_narrow)
{
    tally t = { 0 };
    for (uint64_t seed = 1; seed <= MANY; seed++) {
        clv_mark mark = clv_arena_mark(arena);
        problem m = make(seed + 7000000, 3 + (int32_t)(seed % 5), 3 + (int32_t)(seed % 2), 3);
        part_slowness(&m);
        check(&m, 0, seed, &t);
        clv_arena_rewind(arena, mark);
    }
    cr_expect_gt(t.n, (int)MANY / 2);
}

/* Each unit is fast on one kind, so the way leads from kind to kind; links of a pair of kinds are
 * late, or narrow, or both or none. */
static void part_kinds(problem *m)
{
    synthetic *s = &m->s;
    int32_t n = s->p.n_devices, kinds = s->p.n_kinds, units = s->p.n_units;
    bool late[9], narrow[9];
    for (int32_t i = 0; i < 9; i++) {
        late[i] = one_in(m, 2);
        narrow[i] = one_in(m, 2);
    }
    for (int32_t net = 0; net < s->p.n_nets; net++)
        s->net_bytes[net] = 1 + below(m, one_in(m, 3) ? 1000 : 60);
    for (int32_t u = 0; u < units; u++) {
        int64_t fast = below(m, kinds);
        for (int32_t k = 0; k < kinds; k++)
            s->time[k * units + u] = k == fast ? below(m, 40) : 300 + below(m, 400);
    }
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            int32_t pair = s->kind_of[a] * 3 + s->kind_of[b];
            s->link_latency[a * n + b] = late[pair] ? 100 : 0;
            s->link_bandwidth[a * n + b] = narrow[pair] ? 1e9 : 1e10;
        }
}

/* A late link to another kind, then a narrow one from there: the first one's latency counts once.
 */
Test(bound_links, nor_where_links_of_kinds_are_late_or_narrow)
{
    tally t = { 0 };
    for (uint64_t seed = 1; seed <= MANY / 2; seed++) {
        clv_mark mark = clv_arena_mark(arena);
        problem m = make(seed + 9000000, 4 + (int32_t)(seed % 3), 3 + (int32_t)(seed % 2), 3);
        m.s.p.net_reads = NULL;
        m.s.p.net_ready_ns = m.s.p.read_after_ns = NULL;
        part_kinds(&m);
        check(&m, 0, seed, &t);
        clv_arena_rewind(arena, mark);
    }
    cr_expect_gt(t.n, (int)MANY / 4);
}

/* Between 0 and 3 are 1, which is fast on the second kind, and 2. Much is sent to 1 over a late
 * link, little from there to the third kind over a narrow one. */
Test(bound_links, a_late_link_before_a_narrow_one_counts_once)
{
    problem m = { .s = synthetic_new(arena, 5, 3, 3, 5, 5) };
    static const int32_t fast[] = { 0, 1, -1, 2, 2 };
    static const int64_t late[] = { 0, 100, 100, 100, 0, 0, 100, 0, 0 };
    synthetic_net(&m.s, 0, 1, (int32_t[]){ 1 }, 1000);
    synthetic_net(&m.s, 0, 1, (int32_t[]){ 2 }, 1);
    synthetic_net(&m.s, 1, 1, (int32_t[]){ 3 }, 10);
    synthetic_net(&m.s, 2, 1, (int32_t[]){ 3 }, 1);
    synthetic_net(&m.s, 3, 1, (int32_t[]){ 4 }, 1);
    for (int32_t i = 0; i < 15; i++)
        m.s.time[i] = fast[i % 5] < 0 ? 1 : fast[i % 5] == i / 5 ? 10 : 5000;
    for (int32_t i = 0; i < 9; i++) {
        m.s.kind_of[i % 3] = i % 3;
        m.s.link_latency[i] = late[i];
        m.s.link_bandwidth[i] = i == 1 || i == 3 ? 1e10 : 1e9;
    }
    synthetic_done(&m.s);
    cr_expect_eq(best_of_all(&m).best, 250);
    int64_t any = bound_of(&m, false, 0, 0).ns, all = bound_of(&m, true, 0, 0).ns;
    cr_expect(any <= 250 && all <= 250, "%lld %lld", (long long)any, (long long)all);
    cr_expect(any > 240 && all > 240, "%lld %lld", (long long)any, (long long)all);
}

/* Layers of three, the second beside a tensor from the first to the third, where also what sends
 * nothing is: on servers of two, each with devices of one kind. */
static problem make_layers(uint64_t seed, int32_t units, int32_t devices)
{
    problem m = { .random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1 };
    for (int i = 0; i < 8; i++)
        synthetic_random(&m.random);
    int32_t kinds = 1 + (int32_t)below(&m, 2);
    m.s = synthetic_new(arena, units, devices, kinds, units * 3, units * 4);
    for (int32_t u = 0; u < units; u++) {
        m.s.time[u] = 20 + below(&m, 80);
        for (int32_t k = 1; k < kinds; k++)
            m.s.time[k * units + u] = m.s.time[u] * (2 + below(&m, 3));
        bool beside = u % 3 == 0 && u + 2 < units;
        if (u + 1 < units)
            synthetic_net(&m.s, u, 1 + beside, (int32_t[]){ u + 1, u + 2 }, 20 + below(&m, 80));
        if (u % 3 == 1 && u + 1 < units)
            synthetic_net(&m.s, u, 1, (int32_t[]){ u + 1 }, 0);
    }
    for (int32_t a = 0; a < devices; a++) {
        m.s.kind_of[a] = a / 2 % kinds;
        for (int32_t b = 0; b < devices; b++) {
            m.s.link_latency[a * devices + b] = a / 2 == b / 2 ? 2 : 6;
            m.s.link_bandwidth[a * devices + b] = a / 2 == b / 2 ? 2e9 : 2.5e8;
        }
    }
    synthetic_done(&m.s);
    return m;
}

/* Where a part of a cluster is left one link has what it takes, and a unit of another kind between
 * two runs is sent to and sends. */
Test(bound_links, layers_on_servers_are_nearly_exact)
{
    tally t = { 0 };
    for (uint64_t seed = 1; seed <= LAYERS; seed++) {
        clv_mark mark = clv_arena_mark(arena);
        problem m = make_layers(seed, 6 + (int32_t)(seed % 3), 4 + (int32_t)(seed % 2));
        check(&m, 0, seed, &t);
        clv_arena_rewind(arena, mark);
    }
    cr_expect_eq(t.n, LAYERS);
    cr_expect_gt(t.part / t.n, 0.99, "%g", t.part / t.n);
    cr_expect_gt(t.part_of_all / t.n_of_all, 0.92, "%g, %d of %d exact", t.part_of_all / t.n_of_all,
                 t.n_of_all_exact, t.n_of_all);
}

/* More units between two others than ways to place them are kept apart. */
Test(bound_links, nor_with_many_units_side_by_side)
{
    tally t = { 0 };
    for (uint64_t seed = 1; seed <= WIDE; seed++) {
        clv_mark mark = clv_arena_mark(arena);
        problem m = make(seed, 11 + (int32_t)(seed % 3), 2 + (int32_t)(seed % 2), 14);
        check(&m, 0, seed, &t);
        clv_arena_rewind(arena, mark);
    }
    cr_expect_gt(t.n, WIDE / 2);
}
