#include "solver/partition/chain_partition.h"

#include <string.h>

/* The search for equal latencies with a smaller period stops after this many steps of its inner
 * loop: about a hundredth of a second. */
#define BALANCE_WORK INT64_C(1500000)
/* Units to each side of a boundary that its delay depends on, and steps in all for a row of delays:
 * some tens of milliseconds. */
#define DELAY_UNITS 32
#define DELAY_WORK  INT64_C(4000000)

typedef struct {
    const clv_unit_chain *chain;
    const clv_cut_options *o;
    int32_t n, n_runs; /* positions - 1; devices in order */
    bool use_all;
    int64_t period_ns, fanout_period_ns; /* of time and boundaries; of fan-out */
} cutter;

static cutter make_cutter(const clv_unit_chain *chain, const clv_cut_options *o)
{
    int32_t n = chain->p->n_units, d = chain->p->n_devices;
    bool use_all = o->use_all || d == 1;
    int32_t most = chain->rules ? chain->rules->max_stages : 0;
    d = most > 0 && most < d ? most : d;
    return (cutter){ chain, o, n, use_all && n < d ? n : d, use_all, INT64_MAX, INT64_MAX };
}

static const int64_t *time_row(const cutter *c, int32_t k)
{
    int32_t kind = c->chain->p->kind_of[c->o->order[k]];
    return c->chain->time_ns + (size_t)kind * ((size_t)c->n + 1);
}

static const int64_t *weight_row(const cutter *c)
{
    return c->o->with_held ? c->chain->held_bytes : c->chain->weight_bytes;
}

static int64_t room_bytes(const cutter *c, int32_t k)
{
    return c->o->capacity_bytes ? c->o->capacity_bytes[c->o->order[k]] : INT64_MAX;
}

static int64_t *wire_row(const cutter *c, int32_t k)
{
    return c->chain->wire_ns + (size_t)k * ((size_t)c->n + 1);
}

/* A link; into the first run it takes no time. */
typedef struct {
    double latency_ns, byte_ns;
} run_link;

static run_link link_into(const cutter *c, int32_t k)
{
    const clv_partition_problem *p = c->chain->p;
    if (k == 0)
        return (run_link){ 0, 0 };
    size_t link = (size_t)c->o->order[k - 1] * (size_t)p->n_devices + (size_t)c->o->order[k];
    return (run_link){ (double)p->link_latency_ns[link], 1e9 / p->link_bytes_per_s[link] };
}

/* Time on a link for a boundary at position i; 0 where there is nothing before it. */
static double wire_ns(const cutter *c, run_link w, int32_t i)
{
    const clv_unit_chain *chain = c->chain;
    return i == 0 ? 0 : w.latency_ns * chain->cut_nets[i] + (double)chain->cut_bytes[i] * w.byte_ns;
}

/* The same into run k, in whole ns. */
static int64_t wire_ns_at(const cutter *c, int32_t k, int32_t i)
{
    double ns = wire_ns(c, link_into(c, k), i);
    return ns < (double)CLV_SUM_MAX ? (int64_t)ns : CLV_SUM_MAX;
}

/* The earliest start of run k when it ends at position i. */
static int32_t earliest_start(const cutter *c, int32_t k, int32_t i)
{
    return c->chain->rules ? c->chain->start[(size_t)k * ((size_t)c->n + 1) + (size_t)i] : 0;
}

static bool may_cut(const cutter *c, int32_t i)
{
    return !c->chain->rules || !c->chain->is_inside[i];
}

/* row[i]: the earliest start of a run that ends at i and holds nothing that must be apart. */
static void find_apart_starts(const cutter *c, int32_t *row)
{
    const clv_rules *r = c->chain->rules;
    clv_last_tag *seen = c->chain->seen;
    for (int32_t f = 0; f < r->n_families; f++)
        seen[f] = (clv_last_tag){ -1, 0, 0 };
    row[0] = 0;
    for (int32_t u = 0; u < c->n; u++) {
        row[u + 1] = row[u];
        for (int32_t i = r->tag_first ? r->tag_first[u] : 0;
             r->tag_first && i < r->tag_first[u + 1]; i++) {
            clv_last_tag *s = &seen[r->family_of[r->tags[i]]];
            if (s->tag != r->tags[i])
                *s = (clv_last_tag){ r->tags[i], u + 1, s->behind };
            s->behind = u + 1;
            if (s->behind_other > row[u + 1])
                row[u + 1] = s->behind_other;
        }
    }
}

/* Rows of earliest starts; O(units * devices + tags). */
static void find_earliest_starts(const cutter *c)
{
    const clv_rules *r = c->chain->rules;
    int32_t *start = c->chain->start;
    if (!r)
        return;
    find_apart_starts(c, c->chain->apart);
    for (int32_t k = 0; k < c->n_runs; k++, start += c->n + 1) {
        memcpy(start, c->chain->apart, ((size_t)c->n + 1) * sizeof *start);
        for (int32_t u = 0, barred = 0; u < c->n; u++) {
            int32_t set = r->stage_set_of ? r->stage_set_of[u] : -1;
            if (!clv_rules_allow(r, u, c->o->order[k]) ||
                (set >= 0 && !clv_bit(r->stage_sets + (size_t)set * r->words, k)))
                barred = u + 1;
            start[u + 1] = start[u + 1] > barred ? start[u + 1] : barred;
        }
    }
}

static bool *reach_row(const cutter *c, int32_t k)
{
    return c->chain->reach + (size_t)k * ((size_t)c->n + 1);
}
static int32_t *from_row(const cutter *c, int32_t k)
{
    return c->chain->from + (size_t)k * ((size_t)c->n + 1);
}

/* Is the run [first, end) within the limits of device k? */
static bool run_fits(const cutter *c, int32_t k, int32_t first, int32_t end)
{
    const int64_t *time = time_row(c, k), *weight = weight_row(c);
    return time[end] - time[first] <= c->period_ns &&
           c->chain->fanout_ns[end] - c->chain->fanout_ns[first] <= c->fanout_period_ns &&
           weight[end] - weight[first] <= room_bytes(c, k) &&
           (first == end || first >= earliest_start(c, k, end));
}

/* low[k] .. high[k]: where the first k runs can end at all, boundaries aside: as far as k longest
 * runs reach from the start, and as early as the longest runs of the rest reach back from the end.
 * Near the best period these are narrow, and nothing outside them is looked at. O(devices * log
 * units). */
static bool find_windows(const cutter *c)
{
    int32_t *low = c->chain->low, *high = c->chain->high;
    high[0] = 0;
    for (int32_t k = 0; k < c->n_runs; k++) {
        int32_t a = high[k], b = c->n;
        while (a < b) {
            int32_t middle = b - (b - a) / 2;
            if (run_fits(c, k, high[k], middle))
                a = middle;
            else
                b = middle - 1;
        }
        high[k + 1] = a;
    }
    low[c->n_runs] = c->n;
    for (int32_t k = c->n_runs - 1; k >= 0; k--) {
        int32_t a = 0, b = low[k + 1];
        while (a < b) {
            int32_t middle = a + (b - a) / 2;
            if (run_fits(c, k, middle, low[k + 1]))
                b = middle;
            else
                a = middle + 1;
        }
        low[k] = a;
    }
    return high[c->n_runs] == c->n && low[0] == 0;
}

/* Where can run k end, given where run k - 1 can? */
static void extend_reach(const cutter *c, int32_t k)
{
    const bool *before = reach_row(c, k);
    bool *reach = reach_row(c, k + 1);
    const int32_t *first = c->chain->low, *last = c->chain->high;
    int32_t *from = from_row(c, k + 1), latest = -1, low = first[k];
    const int64_t *time = time_row(c, k), *weight = weight_row(c), *wire = wire_row(c, k);
    const int64_t *fanout = c->chain->fanout_ns;
    int64_t capacity = room_bytes(c, k);
    for (int32_t i = first[k]; i <= last[k + 1]; i++) {
        bool was = i <= last[k] && before[i];
        if (i >= first[k + 1]) {
            while (low < i && (time[i] - time[low] > c->period_ns ||
                               fanout[i] - fanout[low] > c->fanout_period_ns ||
                               weight[i] - weight[low] > capacity))
                low++;
            int32_t start = earliest_start(c, k, i);
            low = start > low ? start : low;
            bool empty = was && !c->use_all; /* run k may be empty */
            reach[i] = may_cut(c, i) && (empty || (latest >= low && latest >= 0));
            from[i] = empty ? i : latest;
        }
        if (was && wire[i] <= c->period_ns)
            latest = i;
    }
}

/* Is there a cut within these periods? Fills from[] for it. */
static bool is_feasible(cutter *c, int64_t period_ns, int64_t fanout_period_ns)
{
    c->period_ns = period_ns;
    c->fanout_period_ns = fanout_period_ns;
    if (!find_windows(c))
        return false;
    memset(reach_row(c, 0), 0, ((size_t)c->n + 1) * sizeof(bool));
    reach_row(c, 0)[0] = true;
    for (int32_t k = 0; k < c->n_runs; k++)
        extend_reach(c, k);
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

static int64_t longest_period_ns(const cutter *c)
{
    int64_t longest = c->chain->fanout_ns[c->n];
    for (int32_t k = 0; k < c->n_runs; k++) {
        longest = time_row(c, k)[c->n] > longest ? time_row(c, k)[c->n] : longest;
        for (int32_t i = 0; i <= c->n; i++) {
            int64_t ns = wire_ns_at(c, k, i);
            longest = ns > longest ? ns : longest;
        }
    }
    return longest;
}

/* No period can be shorter: all work shared evenly, each unit where it is fastest. */
static int64_t shortest_period_ns(const cutter *c)
{
    const clv_partition_problem *p = c->chain->p;
    int64_t sum = 0, longest = 0;
    for (int32_t u = 0; u < c->n; u++) {
        int64_t ns = INT64_MAX;
        for (int32_t k = 0; k < c->n_runs; k++) {
            int64_t here = clv_unit_ns(p, u, c->o->order[k]);
            ns = here < ns ? here : ns;
        }
        sum += ns;
        longest = ns > longest ? ns : longest;
    }
    return sum / c->n_runs > longest ? sum / c->n_runs : longest;
}

/* The least feasible period in [low, high], where high is feasible. The fan-out limit is that
 * period too, or else stays high.
 */
static int64_t least_period_ns(cutter *c, int64_t low, int64_t high, bool with_fanout)
{
    int64_t fanout_period = high;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (is_feasible(c, middle, with_fanout ? middle : fanout_period))
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

bool clv_cut_by_period(const clv_unit_chain *chain, const clv_cut_options *o, int32_t *device_of)
{
    cutter c = make_cutter(chain, o);
    if (c.n == 0)
        return true;
    for (int32_t k = 0; k < c.n_runs; k++)
        for (int32_t i = 0; i <= c.n; i++)
            wire_row(&c, k)[i] = wire_ns_at(&c, k, i);
    find_earliest_starts(&c);
    int64_t shortest = shortest_period_ns(&c), low = shortest, most = longest_period_ns(&c);
    /* galloping: the answer is rarely far above the shortest */
    int64_t step = low / 1024 + 1, high = low;
    while (!is_feasible(&c, high, high)) {
        if (high >= most)
            return false;
        low = high + 1;
        high = step < most - high ? high + step : most;
        step = step > most / 2 ? most : step * 2;
    }
    int64_t period = least_period_ns(&c, low, high, true), fanout_period = period;
    if (o->short_runs)
        period = least_period_ns(&c, shortest, period, false);
    is_feasible(&c, period, fanout_period); /* fills from[] for the answer */
    read_runs(&c, device_of);
    return true;
}

/* -- least latency -- */

#define NEVER CLV_SUM_MAX

/* Arrival times, counted from the end of the run before boundary i, of nets that it writes and that
 * are read behind the boundary, sent one after another. Nets written more than a window before are
 * there by then. */
static void compute_arrivals(const clv_unit_chain *chain, int32_t from, int32_t to, int32_t i,
                             int32_t window)
{
    const clv_partition_problem *p = chain->p;
    int32_t kind = p->kind_of[from];
    const int64_t *time = chain->time_ns + (size_t)kind * ((size_t)p->n_units + 1);
    int32_t first = i > window ? i - window : 0;
    int64_t link_free = -CLV_SUM_MAX;
    for (int32_t net = p->unit_first_net[first]; net < p->unit_first_net[i]; net++) {
        if (p->net_first[net] == p->net_first[net + 1] || p->net_to[p->net_first[net + 1] - 1] < i)
            continue;
        int64_t done = time[p->net_from[net]] - time[i] + clv_net_ready_ns(p, net, kind);
        int64_t start = done > link_free ? done : link_free;
        link_free = start + clv_wire_ns(p, from, to, p->net_bytes[net]);
        chain->arrival_ns[net] = link_free;
    }
}

/* How much later the run behind boundary i ends than if it began when the run before it ends;
 * negative where it can begin earlier. */
static int64_t delay_ns_at(const clv_unit_chain *chain, int32_t from_device, int32_t to, int32_t i,
                           int32_t window)
{
    const clv_partition_problem *p = chain->p;
    int32_t kind = p->kind_of[to], n = p->n_units;
    int32_t first = i > window ? i - window : 0, end = n - i > window ? i + window : n;
    const int64_t *time = chain->time_ns + (size_t)kind * ((size_t)n + 1);
    const int64_t *before = chain->time_ns + (size_t)p->kind_of[from_device] * ((size_t)n + 1);
    int64_t delay = before[first] - before[i];
    compute_arrivals(chain, from_device, to, i, window);
    for (int32_t u = i; u < end; u++) {
        for (int32_t read = p->reads_first[u]; read < p->reads_first[u + 1]; read++) {
            int32_t net = p->reads[read], from = p->net_from[net];
            if (from < first || from >= i)
                continue;
            int64_t needed = time[u] - time[i] + clv_read_after_ns(p, read, kind);
            if (chain->arrival_ns[net] - needed > delay)
                delay = chain->arrival_ns[net] - needed;
        }
    }
    return delay;
}

bool clv_boundary_is_same(const clv_unit_chain *chain, int32_t from, int32_t to, int32_t other_from,
                          int32_t other_to)
{
    const clv_partition_problem *p = chain->p;
    size_t a = (size_t)from * (size_t)p->n_devices + (size_t)to;
    size_t b = (size_t)other_from * (size_t)p->n_devices + (size_t)other_to;
    return p->kind_of[from] == p->kind_of[other_from] && p->kind_of[to] == p->kind_of[other_to] &&
           p->link_latency_ns[a] == p->link_latency_ns[b] &&
           !(p->link_bytes_per_s[a] < p->link_bytes_per_s[b]) &&
           !(p->link_bytes_per_s[a] > p->link_bytes_per_s[b]);
}

void clv_boundary_delays(const clv_unit_chain *chain, int32_t from, int32_t to, int64_t *row)
{
    int32_t n = chain->p->n_units;
    int64_t window = DELAY_WORK / (n + 1);
    window = window > DELAY_UNITS ? DELAY_UNITS : window < 1 ? 1 : window;
    row[0] = row[n] = 0;
    for (int32_t i = 1; i < n; i++)
        row[i] = delay_ns_at(chain, from, to, i, (int32_t)window);
}

/* Delays of boundaries, in the rows that clv_cut_by_period() uses for wire times. Most boundaries
 * are alike and share one computation. */
static void compute_delays(const cutter *c)
{
    const int32_t *d = c->o->order;
    memset(wire_row(c, 0), 0, ((size_t)c->n + 1) * sizeof(int64_t));
    for (int32_t k = 1; k < c->n_runs; k++) {
        int32_t j = 1;
        while (j < k && !clv_boundary_is_same(c->chain, d[k - 1], d[k], d[j - 1], d[j]))
            j++;
        if (j < k)
            memcpy(wire_row(c, k), wire_row(c, j), ((size_t)c->n + 1) * sizeof(int64_t));
        else
            clv_boundary_delays(c->chain, d[k - 1], d[k], wire_row(c, k));
    }
}

/* Cost of ending run k at each position: the minimum over a sliding window of starts that the
 * limits allow, by a monotone queue. start_ns: by place in the queue, the begin of the run less the
 * time of all units before it. */
static void extend_cheapest(const cutter *c, int32_t k, const int64_t *before, int64_t *cost)
{
    const int32_t *first = c->chain->low, *last = c->chain->high;
    int32_t *queue = c->chain->window, *from = from_row(c, k + 1), head = 0, tail = 0,
            low = first[k];
    const int64_t *time = time_row(c, k), *weight = weight_row(c), *wire = wire_row(c, k);
    const int64_t *fanout = c->chain->fanout_ns;
    int64_t capacity = room_bytes(c, k), *start_ns = c->chain->start_ns;
    run_link into = link_into(c, k);
    double wire_end = (double)c->period_ns + 1; /* whole ns of a transfer are below it */
    for (int32_t i = first[k]; i <= last[k + 1]; i++) {
        int64_t was = i <= last[k] ? before[i] : NEVER;
        if (i >= first[k + 1]) {
            while (low < i && (time[i] - time[low] > c->period_ns ||
                               fanout[i] - fanout[low] > c->fanout_period_ns ||
                               weight[i] - weight[low] > capacity))
                low++;
            int32_t start = earliest_start(c, k, i);
            low = start > low ? start : low;
            while (head < tail && queue[head] < low)
                head++;
            cost[i] = c->use_all ? NEVER : was;
            from[i] = i;
            if (head < tail && start_ns[head] + time[i] < cost[i]) {
                cost[i] = start_ns[head] + time[i];
                from[i] = queue[head];
            }
            cost[i] = may_cut(c, i) ? cost[i] : NEVER;
        }
        if (was < NEVER && wire_ns(c, into, i) < wire_end) {
            int64_t begin = was + wire[i] - time[i];
            while (head < tail && start_ns[tail - 1] >= begin)
                tail--;
            queue[tail] = i;
            start_ns[tail++] = begin;
        }
    }
}

/* The least latency within a period; NEVER: none. Fills from[]. */
static int64_t least_latency_ns(cutter *c, int64_t period_ns)
{
    c->period_ns = c->fanout_period_ns = period_ns;
    if (!find_windows(c))
        return NEVER;
    int64_t *before = c->chain->cost_ns, *cost = before + c->n + 1;
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

/* How many positions the last search looked at. */
static int64_t window_sizes(const cutter *c)
{
    int64_t sum = 1;
    for (int32_t k = 0; k < c->n_runs; k++)
        if (c->chain->high[k + 1] >= c->chain->low[k])
            sum += c->chain->high[k + 1] - c->chain->low[k] + 1;
    return sum;
}

bool clv_cut_by_latency(const clv_unit_chain *chain, const clv_cut_options *o, int32_t *device_of)
{
    cutter c = make_cutter(chain, o);
    if (c.n == 0)
        return true;
    compute_delays(&c);
    find_earliest_starts(&c);
    int64_t high = longest_period_ns(&c), low = shortest_period_ns(&c);
    int64_t best = least_latency_ns(&c, high);
    if (best >= NEVER)
        return false;
    for (int64_t work = window_sizes(&c); low < high && work < BALANCE_WORK;
         work += window_sizes(&c)) {
        int64_t middle = low + (high - low) / 2;
        if (least_latency_ns(&c, middle) == best)
            high = middle;
        else
            low = middle + 1;
    }
    least_latency_ns(&c, high);
    read_runs(&c, device_of);
    return true;
}
