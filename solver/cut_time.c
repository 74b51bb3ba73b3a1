/* cut_time.c - runs for the smallest period, and runs for the least latency.
 *
 * For a given period it is easy to say which positions a first device can end at, then a second, and
 * so on: a run is too long or not, and a boundary carries too much or not. The longest run that may
 * end at a position starts at some position; any later start is fine as well, so the latest start
 * that the device before can end at is the only one to try. Binary search does the rest.
 */
#include "solver/balance.h"

/* The search for equal latencies with a smaller period stops after this many steps of its inner
 * loop: about a tenth of a second. */
#define BALANCE_WORK INT64_C(20000000)

typedef struct {
    const clv_line *l;
    const clv_cut_options *o;
    int32_t n, n_runs; /* positions - 1; devices in order */
    bool use_all;
    int64_t period;
} cutter;

static cutter make_cutter(const clv_line *l, const clv_cut_options *o)
{
    int32_t n = l->p->n_units, d = l->p->n_devices;
    bool use_all = o->use_all || d == 1;
    return (cutter){ l, o, n, use_all && n < d ? n : d, use_all, INT64_MAX };
}

static const int64_t *times(const cutter *c, int32_t k)
{
    int32_t kind = c->l->p->kind_of[c->o->order[k]];
    return c->l->time + (size_t)kind * ((size_t)c->n + 1);
}

static int64_t room(const cutter *c, int32_t k)
{
    return c->o->capacity_bytes ? c->o->capacity_bytes[c->o->order[k]] : INT64_MAX;
}

/* Time on the link from run k - 1 to run k when the boundary is at position i. */
static int64_t boundary_ns(const cutter *c, int32_t k, int32_t i)
{
    const clv_partition *p = c->l->p;
    if (k == 0 || i == 0)
        return 0;
    size_t link = (size_t)c->o->order[k - 1] * (size_t)p->n_devices + (size_t)c->o->order[k];
    double ns = (double)p->link_latency_ns[link] * c->l->cut_nets[i] +
                (double)c->l->cut_bytes[i] / p->link_bytes_per_s[link] * 1e9;
    return ns < (double)CLV_SUM_MAX ? (int64_t)ns : CLV_SUM_MAX;
}

static bool *reach_row(const cutter *c, int32_t k)
{
    return c->l->reach + (size_t)k * ((size_t)c->n + 1);
}
static int32_t *from_row(const cutter *c, int32_t k)
{
    return c->l->from + (size_t)k * ((size_t)c->n + 1);
}

/* Where can run k end, given where run k - 1 can? */
static void extend(const cutter *c, int32_t k)
{
    const bool *before = reach_row(c, k);
    bool *reach = reach_row(c, k + 1);
    int32_t *from = from_row(c, k + 1), latest = -1, low = 0;
    const int64_t *time = times(c, k), *weight = c->l->weight;
    int64_t capacity = room(c, k);
    for (int32_t i = 0; i <= c->n; i++) {
        while (low < i && (time[i] - time[low] > c->period || weight[i] - weight[low] > capacity))
            low++;
        reach[i] = latest >= low && i > 0;
        from[i] = latest;
        if (!c->use_all && before[i]) { /* run k may be empty */
            reach[i] = true;
            from[i] = i;
        }
        if (before[i] && boundary_ns(c, k, i) <= c->period)
            latest = i;
    }
}

static bool feasible(const cutter *c)
{
    bool *start = reach_row(c, 0);
    memset(start, 0, ((size_t)c->n + 1) * sizeof *start);
    start[0] = true;
    for (int32_t k = 0; k < c->n_runs; k++)
        extend(c, k);
    return reach_row(c, c->n_runs)[c->n];
}

/* Walks back from the end through from[]. */
static void read_runs(const cutter *c, int32_t *device_of)
{
    int32_t end = c->n;
    for (int32_t k = c->n_runs - 1; k >= 0; k--) {
        int32_t start = from_row(c, k + 1)[end];
        for (int32_t u = start; u < end; u++)
            device_of[u] = c->o->order[k];
        end = start;
    }
}

static int64_t longest_period(const cutter *c)
{
    int64_t longest = 0;
    for (int32_t k = 0; k < c->n_runs; k++) {
        longest = times(c, k)[c->n] > longest ? times(c, k)[c->n] : longest;
        for (int32_t i = 0; i <= c->n; i++) {
            int64_t ns = boundary_ns(c, k, i);
            longest = ns > longest ? ns : longest;
        }
    }
    return longest;
}

bool clv_cut_by_time(const clv_line *l, const clv_cut_options *o, int32_t *device_of)
{
    cutter c = make_cutter(l, o);
    if (c.n == 0)
        return true;
    int64_t low = 0, high = longest_period(&c);
    c.period = high;
    if (!feasible(&c))
        return false;
    while (low < high) {
        c.period = low + (high - low) / 2;
        if (feasible(&c))
            high = c.period;
        else
            low = c.period + 1;
    }
    c.period = high;
    feasible(&c); /* fills from[] for the answer */
    read_runs(&c, device_of);
    return true;
}

/* -- least latency -- */

#define NEVER CLV_SUM_MAX

/* Cost of ending run k at each position: the cheapest start within the window of starts that the
 * limits allow, kept as a queue of ever dearer starts. */
static void extend_cheapest(const cutter *c, int32_t k, const int64_t *before, int64_t *cost)
{
    int32_t *from = from_row(c, k + 1), *queue = c->l->window, head = 0, tail = 0, low = 0;
    const int64_t *time = times(c, k), *weight = c->l->weight;
    int64_t capacity = room(c, k);
    for (int32_t i = 0; i <= c->n; i++) {
        while (low < i && (time[i] - time[low] > c->period || weight[i] - weight[low] > capacity))
            low++;
        while (head < tail && queue[head] < low)
            head++;
        cost[i] = !c->use_all ? before[i] : NEVER;
        from[i] = i;
        if (head < tail) {
            int32_t j = queue[head];
            int64_t here = before[j] + boundary_ns(c, k, j) - time[j] + time[i];
            if (here < cost[i]) {
                cost[i] = here;
                from[i] = j;
            }
        }
        int64_t wire = boundary_ns(c, k, i);
        if (before[i] >= NEVER || wire > c->period)
            continue;
        int64_t start = before[i] + wire - time[i];
        while (head < tail &&
               before[queue[tail - 1]] + boundary_ns(c, k, queue[tail - 1]) - time[queue[tail - 1]] >=
                   start)
            tail--;
        queue[tail++] = i;
    }
}

static int64_t cheapest(const cutter *c)
{
    int64_t *before = c->l->cost, *cost = before + c->n + 1;
    for (int32_t i = 0; i <= c->n; i++)
        before[i] = i == 0 ? 0 : NEVER;
    for (int32_t k = 0; k < c->n_runs; k++) {
        extend_cheapest(c, k, before, cost);
        int64_t *swap = before;
        before = cost;
        cost = swap;
    }
    return before[c->n];
}

bool clv_cut_by_latency(const clv_line *l, const clv_cut_options *o, int32_t *device_of)
{
    cutter c = make_cutter(l, o);
    if (c.n == 0)
        return true;
    int64_t high = longest_period(&c), low = 0;
    c.period = high;
    int64_t best = cheapest(&c);
    if (best >= NEVER)
        return false;
    int64_t step = (int64_t)c.n * c.n_runs, work = 0;
    for (; low < high && work < BALANCE_WORK; work += step) {
        c.period = low + (high - low) / 2;
        if (cheapest(&c) == best)
            high = c.period;
        else
            low = c.period + 1;
    }
    c.period = high;
    cheapest(&c);
    read_runs(&c, device_of);
    return true;
}
