#include "solver/placement/contiguous/order_dp.h"

#include "base/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/placement/contiguous/ideal_search.h"

/* Lines without a better solution after which the search ends. */
#define PATIENCE 400

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "lines of blocks"); }

/* -- blocks in another order -- */

/* Room for the blocks of b in any order; made once, filled for each line. */
typedef struct {
    clv_contraction blocks;
    int32_t *at; /* by block of b: its place in the order */
    int32_t *block_of, *pins, *at_first, *at_net;
    int64_t *time, *bytes;
} reordered;

static clv_status new_reordered(const clv_contraction *b, clv_arena *arena, reordered *r,
                                clv_error *err)
{
    size_t n = (size_t)b->n, pins = (size_t)b->net_first[b->n_nets];
    *r = (reordered){ .blocks = *b,
                      .at = CLV_NEW_ARRAY(arena, int32_t, n),
                      .block_of = CLV_NEW_ARRAY(arena, int32_t, b->p->n_nodes),
                      .pins = CLV_NEW_ARRAY(arena, int32_t, pins),
                      .at_first = CLV_NEW_ARRAY(arena, int32_t, n + 1),
                      .at_net = CLV_NEW_ARRAY(arena, int32_t, pins),
                      .time = CLV_NEW_ARRAY(arena, int64_t, n * (size_t)b->n_kinds),
                      .bytes = CLV_NEW_ARRAY(arena, int64_t, n) };
    if (!r->at || !r->block_of || !r->pins || !r->at_first || !r->at_net || !r->time || !r->bytes)
        return nomem(err);
    r->blocks.block_of = r->block_of;
    r->blocks.pins = r->pins;
    r->blocks.at_first = r->at_first;
    r->blocks.at = r->at_net;
    r->blocks.time = r->time;
    r->blocks.bytes = r->bytes;
    return CLV_OK;
}

static void reorder(const clv_contraction *b, const int32_t *order, reordered *r)
{
    int32_t n = b->n, fill = 0;
    for (int32_t i = 0; i < n; i++)
        r->at[order[i]] = i;
    for (int32_t v = 0; v < b->p->n_nodes; v++)
        r->block_of[v] = r->at[b->block_of[v]];
    for (int32_t e = 0; e < b->n_nets; e++) {
        for (int32_t i = b->net_first[e]; i < b->net_first[e + 1]; i++)
            r->pins[i] = r->at[b->pins[i]];
        qsort(r->pins + b->net_first[e], (size_t)(b->net_first[e + 1] - b->net_first[e]),
              sizeof *r->pins, clv_compare_int32);
    }
    for (int32_t i = 0; i < n; i++) {
        int32_t u = order[i];
        r->bytes[i] = b->bytes[u];
        for (int32_t k = 0; k < b->n_kinds; k++)
            r->time[(size_t)k * (size_t)n + (size_t)i] = clv_block_time(b, k, u);
        r->at_first[i] = fill;
        for (int32_t e = b->at_first[u]; e < b->at_first[u + 1]; e++)
            r->at_net[fill++] = b->at[e];
    }
    r->at_first[n] = fill;
}

/* -- a line through the stages of a solution -- */

typedef struct {
    const clv_contraction *b;
    uint64_t random;
    int32_t *device_of; /* by block */
    int32_t *rank;      /* by device: its place in the line */
    int32_t *waits, *ready, *order;
    int32_t n_ready;
    bool *before; /* [a * n_devices + b] */
    int32_t n_devices;
} line;

static uint32_t next_random(line *l, uint32_t below)
{
    l->random = l->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((l->random >> 33) * below >> 31); /* Knuth's MMIX generator, upper bits */
}

/* Devices in the order in which they wait for each other; those that do not, by their numbers. */
static void rank_devices(line *l)
{
    const clv_contraction *b = l->b;
    size_t n = (size_t)l->n_devices;
    memset(l->before, 0, n * n);
    for (int32_t u = 0; u < b->n; u++)
        for (int32_t i = b->after_first[u]; i < b->after_first[u + 1]; i++)
            if (l->device_of[u] != l->device_of[b->after[i]])
                l->before[(size_t)l->device_of[u] * n + (size_t)l->device_of[b->after[i]]] = true;
    for (size_t d = 0; d < n; d++)
        l->rank[d] = -1;
    for (int32_t done = 0; done < l->n_devices; done++) {
        for (int32_t d = 0; d < l->n_devices; d++) {
            bool waits = l->rank[d] >= 0;
            for (int32_t c = 0; c < l->n_devices && !waits; c++)
                waits = l->rank[c] < 0 && l->before[(size_t)c * n + (size_t)d];
            if (waits)
                continue;
            l->rank[d] = done;
            break;
        }
    }
}

/* The next block of the line: of those that may come next, one of the first stage; the one that
 * came last to be ready, or any. */
static int32_t next_block(line *l, bool deep)
{
    int32_t best = INT32_MAX, n = 0, pick = 0;
    for (int32_t i = 0; i < l->n_ready; i++) {
        int32_t rank = l->rank[l->device_of[l->ready[i]]];
        n = rank < best ? 1 : rank == best ? n + 1 : n;
        best = rank < best ? rank : best;
    }
    uint32_t wanted = deep ? (uint32_t)n - 1 : next_random(l, (uint32_t)n);
    for (int32_t i = 0; i < l->n_ready; i++)
        if (l->rank[l->device_of[l->ready[i]]] == best && wanted-- == 0)
            pick = i;
    int32_t u = l->ready[pick];
    memmove(l->ready + pick, l->ready + pick + 1, (size_t)(--l->n_ready - pick) * sizeof *l->ready);
    return u;
}

/* O(n * ready blocks + arcs). */
static void draw_line(line *l)
{
    const clv_contraction *b = l->b;
    l->n_ready = 0;
    for (int32_t u = 0; u < b->n; u++) {
        l->waits[u] = b->before_first[u + 1] - b->before_first[u];
        if (l->waits[u] == 0)
            l->ready[l->n_ready++] = u;
    }
    uint32_t depth = next_random(l, 11); /* of ten steps, how many go on from the last block */
    for (int32_t i = 0; i < b->n; i++) {
        int32_t u = l->order[i] = next_block(l, next_random(l, 10) < depth);
        for (int32_t e = b->after_first[u]; e < b->after_first[u + 1]; e++)
            if (--l->waits[b->after[e]] == 0)
                l->ready[l->n_ready++] = b->after[e];
    }
}

static clv_status new_line(const clv_place_search *search, const clv_contraction *b,
                           clv_arena *arena, line *l, clv_error *err)
{
    size_t n = (size_t)b->n;
    *l = (line){ .b = b,
                 .random = search->options->solve.seed + 1,
                 .n_devices = clv_place_devices(b->p),
                 .device_of = CLV_NEW_ARRAY(arena, int32_t, n),
                 .waits = CLV_NEW_ARRAY(arena, int32_t, n),
                 .ready = CLV_NEW_ARRAY(arena, int32_t, n),
                 .order = CLV_NEW_ARRAY(arena, int32_t, n) };
    size_t d = (size_t)l->n_devices;
    l->rank = CLV_NEW_ARRAY(arena, int32_t, d);
    l->before = clv_arena_take_array(arena, d * d, sizeof *l->before);
    if (!l->device_of || !l->waits || !l->ready || !l->order || !l->rank || !l->before)
        return nomem(err);
    return CLV_OK;
}

/* Cuts the line in the best way, if that is better than the best solution. */
static clv_status cut_line(clv_place_search *search, const reordered *r, int64_t low,
                           int64_t *steps, clv_arena *arena, clv_error *err)
{
    clv_ideal_search s;
    clv_ideal_search_outcome o;
    int64_t load;
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(clv_ideal_search_new(
        search, &r->blocks, &(clv_ideal_search_options){ "lines", true, *steps }, arena, &s, err));
    s.stage.low = low;
    CLV_TRY(clv_ideal_search_run(
        &s, clv_contraction_to_ticks(&r->blocks, clv_place_best(search)) - 1, &o, &load, err));
    /* the work of making the line counts too */
    *steps = s.steps - (int64_t)s.stage.words * r->blocks.n;
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}

clv_status clv_order_dp_improve(clv_place_search *search, const clv_contraction *b, int64_t low,
                                int64_t steps, clv_arena *arena, clv_error *err)
{
    line l;
    reordered r;
    double best = INFINITY;
    if (!clv_place_best_solution(search))
        return CLV_OK;
    CLV_TRY(new_line(search, b, arena, &l, err));
    CLV_TRY(new_reordered(b, arena, &r, err));
    for (int32_t stale = 0; stale < PATIENCE && steps > 0 && !clv_place_over(search); stale++) {
        if (clv_place_best(search) < best) {
            best = clv_place_best(search);
            stale = 0;
            for (int32_t v = 0; v < b->p->n_nodes; v++)
                l.device_of[b->block_of[v]] = clv_place_best_solution(search)[v];
            rank_devices(&l);
        }
        draw_line(&l);
        reorder(b, l.order, &r);
        CLV_TRY(cut_line(search, &r, low, &steps, arena, err));
    }
    return CLV_OK;
}

/* -- filling -- */

/* Nets of a stage that ends at a position are those with pins on both sides of one of its ends. */
typedef struct {
    const clv_contraction *b;
    const int32_t *devices; /* in the order of filling */
    int32_t n_devices;
    const int32_t *kind_of;
    int32_t *in;     /* by net: pins in the stage */
    int32_t *before; /* and in stages before */
    int32_t *device_of;
} filling;

/* The longest stage from first on whose load is within the limit; returns its end. */
static int32_t fill_device(filling *f, int32_t first, int32_t device, int64_t limit)
{
    const clv_contraction *b = f->b;
    const clv_place_kind *kind = &b->p->kinds[f->kind_of[device]];
    int64_t time = 0, bytes = 0, nets = 0, received = 0;
    int32_t end = first, u = first;
    for (; u < b->n; u++) {
        int64_t t = clv_block_time(b, f->kind_of[device], u);
        if (t < 0 || time + t + received > limit ||
            (kind->capacity_bytes >= 0 && bytes + b->bytes[u] > kind->capacity_bytes))
            break;
        time += t;
        bytes += b->bytes[u];
        for (int32_t i = b->at_first[u]; kind->pays && i < b->at_first[u + 1]; i++) {
            int32_t e = b->at[i], size = b->net_first[e + 1] - b->net_first[e];
            f->in[e]++;
            if (f->in[e] == 1)
                nets += b->net_cost[e];
            if (f->in[e] == 1 && f->before[e] > 0)
                received += b->net_cost[e];
            if (f->in[e] == size)
                nets -= b->net_cost[e];
        }
        if (time + nets <= limit)
            end = u + 1;
    }
    for (int32_t w = first; w < u; w++)
        for (int32_t i = b->at_first[w]; i < b->at_first[w + 1]; i++) {
            f->in[b->at[i]] = 0;
            f->before[b->at[i]] += w < end;
        }
    for (int32_t w = first; w < end; w++)
        f->device_of[w] = device;
    return end;
}

static bool fill_devices(filling *f, int64_t limit)
{
    int32_t end = 0;
    memset(f->before, 0, (size_t)f->b->n_nets * sizeof *f->before);
    for (int32_t i = 0; i < f->n_devices && end < f->b->n; i++)
        end = fill_device(f, end, f->devices[i], limit);
    return end == f->b->n;
}

/* Time of all blocks on a kind; those that cannot run there make it slow. */
static double time_on(const clv_contraction *b, int32_t kind)
{
    double sum = 0;
    for (int32_t u = 0; u < b->n; u++) {
        int64_t t = clv_block_time(b, kind, u);
        sum += t < 0 ? (double)CLV_TICKS_MAX : (double)t;
    }
    return sum;
}

/* Devices as they come, or those of the quickest kinds first. O(kinds * (kinds + n) + devices). */
static clv_status order_devices(const filling *f, int32_t *devices, bool fastest, clv_arena *arena,
                                clv_error *err)
{
    const clv_place_problem *p = f->b->p;
    double *time = CLV_NEW_ARRAY(arena, double, p->n_kinds);
    bool *done = CLV_NEW_ARRAY(arena, bool, p->n_kinds);
    int32_t n = 0;
    if (!time || !done)
        return nomem(err);
    for (int32_t k = 0; k < p->n_kinds; k++)
        time[k] = fastest ? time_on(f->b, k) : k;
    for (int32_t i = 0; i < p->n_kinds; i++) {
        int32_t next = -1, first = 0;
        for (int32_t k = 0; k < p->n_kinds; k++)
            if (!done[k] && (next < 0 || time[k] < time[next]))
                next = k;
        done[next] = true;
        for (int32_t k = 0; k < next; k++)
            first += p->kinds[k].count;
        for (int32_t d = first; d < first + p->kinds[next].count; d++)
            devices[n++] = d;
    }
    return CLV_OK;
}

clv_status clv_greedy_fill(clv_place_search *search, const clv_contraction *b, clv_arena *arena,
                           clv_error *err)
{
    clv_fluid_bound share;
    int32_t n_devices = clv_place_devices(b->p);
    int32_t *kind_of = CLV_NEW_ARRAY(arena, int32_t, n_devices),
            *devices = CLV_NEW_ARRAY(arena, int32_t, n_devices);
    filling f = { .b = b,
                  .devices = devices,
                  .n_devices = n_devices,
                  .kind_of = kind_of,
                  .in = CLV_NEW_ARRAY(arena, int32_t, b->n_nets),
                  .before = CLV_NEW_ARRAY(arena, int32_t, b->n_nets),
                  .device_of = CLV_NEW_ARRAY(arena, int32_t, b->n) };
    if (!kind_of || !devices || !f.in || !f.before || !f.device_of)
        return nomem(err);
    clv_place_kinds(b->p, kind_of);
    CLV_TRY(clv_fluid_bound_new(b, arena, &share, err));
    int64_t least = clv_fluid_bound_least_limit(&share);
    if (search->options->rules.objective == CLV_PLACE_THROUGHPUT)
        clv_place_raise(search, "share of work", clv_contraction_from_ticks(b, least));
    for (int fastest = 0; fastest < 2; fastest++) {
        CLV_TRY(order_devices(&f, devices, fastest != 0, arena, err));
        int64_t low = least, high = CLV_TICKS_MAX;
        while (low < high && !clv_place_over(search)) {
            int64_t middle = low + (high - low) / 2;
            if (fill_devices(&f, middle))
                high = middle;
            else
                low = middle + 1;
        }
        if (fill_devices(&f, high))
            CLV_TRY(clv_place_offer_groups(search, "fill", b->block_of, f.device_of, err));
    }
    return CLV_OK;
}
