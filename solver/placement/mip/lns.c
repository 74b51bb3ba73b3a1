/* lns.c - which blocks are looked at together, and what is made of the solution.
 */
#include "solver/placement/mip/lns.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "solver/common/ilp/ilp_solve.h"
#include "solver/placement/mip/lns_window.h"

/* Blocks of the first windows: programs of this size take a few milliseconds. */
#define FIRST_SIZE 10
/* Smaller ones see no more than moves and swaps do. */
#define LEAST_SIZE 4
/* Ways to make windows of one size. */
#define TURNS 4
/* A net of more blocks joins what is not near each other. */
#define NEAR_PINS 32

/* -- loads -- */

/* All loads from nothing. */
static void sum_loads(clv_lns_window *w)
{
    clv_contraction_loads(w->b, w->kind_of, w->device_of, w->stamp, w->load);
    memset(w->bytes, 0, (size_t)w->n_devices * sizeof *w->bytes);
    for (int32_t u = 0; u < w->b->n; u++)
        w->bytes[w->device_of[u]] += w->b->bytes[u];
}

static int64_t top_of(const clv_lns_window *w)
{
    int64_t top = 0;
    for (int32_t d = 0; d < w->n_devices; d++)
        top = w->load[d] > top ? w->load[d] : top;
    return top;
}

static int64_t top_of_window(const clv_lns_window *w)
{
    int64_t top = 0;
    for (int32_t s = 0; s < w->n_sides; s++)
        top = w->load[w->device[s]] > top ? w->load[w->device[s]] : top;
    return top;
}

/* -- what is in the window -- */

static void add_to_window(clv_lns_window *w, int32_t block)
{
    if (w->index_of[block] >= 0)
        return;
    w->index_of[block] = w->n;
    w->block[w->n++] = block;
}

/* All blocks in the order of this turn. */
static int32_t turned(const clv_lns_window *w, int32_t i)
{
    return w->turn & 1 ? w->b->n - 1 - i : i;
}

/* Blocks of the window's devices, nearest first, until there are size of them. from: the first one
 * of the window whose neighbours have not been taken; what follows. */
static int32_t add_near(clv_lns_window *w, int32_t from, int32_t size)
{
    const clv_contraction *b = w->b;
    for (; from < w->n && w->n < size; from++) {
        int32_t u = w->block[from];
        for (int32_t a = b->at_first[u]; a < b->at_first[u + 1] && w->n < size; a++) {
            int32_t first = b->net_first[b->at[a]], end = b->net_first[b->at[a] + 1];
            if (end - first > NEAR_PINS)
                continue;
            for (int32_t i = first; i < end && w->n < size; i++)
                if (w->side_of[w->device_of[b->pins[i]]] >= 0)
                    add_to_window(w, b->pins[i]);
        }
    }
    return from;
}

/* The block and what is near; and where that is all, or all on one device, what is on the others,
 * so that something can come back for what goes. */
static void select_blocks(clv_lns_window *w, int32_t seed, int32_t size)
{
    int32_t from = 0, half = w->turn & 2 ? size / 2 : size - size / 3;
    w->n = 0;
    add_to_window(w, seed);
    from = add_near(w, from, half);
    for (int pass = 0; pass < 3; pass++)
        for (int32_t i = 0; i < w->b->n && w->n < size; i++) {
            int32_t u = turned(w, i), device = w->device_of[u];
            if (w->side_of[device] < 0 || w->index_of[u] >= 0)
                continue;
            if ((pass == 0 && w->seen[u]) || (pass < 2 && device == w->device_of[seed]))
                continue; /* first those that were in no window, then all of the others */
            add_to_window(w, u);
            from = add_near(w, from, size);
        }
    for (int32_t i = 0; i < w->n; i++)
        w->seen[w->block[i]] = true;
}

static void list_nets(clv_lns_window *w)
{
    const clv_contraction *b = w->b;
    w->n_nets = 0;
    for (int32_t i = 0; i < w->n; i++) {
        for (int32_t a = b->at_first[w->block[i]]; a < b->at_first[w->block[i] + 1]; a++) {
            if (w->is_in_nets[b->at[a]])
                continue;
            w->is_in_nets[b->at[a]] = true;
            w->nets[w->n_nets++] = b->at[a];
        }
    }
}

/* -- one window -- */

static bool fits(const clv_lns_window *w)
{
    for (int32_t s = 0; s < w->n_sides; s++) {
        int64_t capacity = clv_lns_window_kind(w, w->device[s])->capacity_bytes;
        if (capacity >= 0 && w->bytes[w->device[s]] > capacity)
            return false;
    }
    return true;
}

/* Contiguous: no arc of the window leads back over its devices. */
static bool is_in_line(const clv_lns_window *w)
{
    const clv_contraction *b = w->b;
    for (int32_t i = 0; i < w->n && w->rules->contiguous; i++) {
        int32_t u = w->block[i], side = w->side_of[w->device_of[u]];
        for (int32_t a = b->after_first[u]; a < b->after_first[u + 1]; a++) {
            int32_t other = w->side_of[w->device_of[b->after[a]]];
            if (other >= 0 && other < side)
                return false;
        }
        for (int32_t a = b->before_first[u]; a < b->before_first[u + 1]; a++)
            if (w->side_of[w->device_of[b->before[a]]] > side)
                return false;
    }
    return true;
}

static void swap_places(clv_lns_window *w, int32_t *places)
{
    for (int32_t i = 0; i < w->n; i++) {
        int32_t was = w->device_of[w->block[i]];
        w->device_of[w->block[i]] = places[i];
        places[i] = was;
    }
}

/* Takes the solution if it is what it should be: the solver's sums are not ours. */
static clv_status apply_solution(clv_lns_window *w, const clv_ilp_result *result, bool *ret_better,
                                 clv_error *err)
{
    int64_t all_before = top_of(w), before = top_of_window(w);
    int32_t *places = CLV_NEW_ARRAY(w->arena, int32_t, w->n);
    if (!places)
        return clv_fail_nomem(err, "a window of blocks");
    for (int32_t i = 0; i < w->n; i++)
        for (int32_t s = 0; s < w->n_sides; s++)
            if (s == 0 || result->values[clv_lns_window_x(w, i, s)] > 0.5)
                places[i] = w->device[s];
    swap_places(w, places);
    sum_loads(w);
    bool legal = fits(w) && is_in_line(w);
    /* the program's T is the largest load, but for the solver's tolerance */
    double off = fabs(result->objective * w->scale - (double)top_of_window(w));
    w->work->n_wrong += !legal || (result->end == CLV_ILP_OPTIMAL && off > CLV_LNS_GAIN * w->scale);
    *ret_better = legal && top_of_window(w) < before;
    if (!*ret_better) {
        swap_places(w, places);
        sum_loads(w);
        return CLV_OK;
    }
    w->work->n_better++;
    return w->options->better && top_of(w) < all_before
               ? w->options->better(w->options->ctx, w->device_of, err)
               : CLV_OK;
}

static int64_t pivots_left(const clv_lns_window *w)
{
    int64_t all = w->options->pivots > 0 ? w->options->pivots : CLV_LNS_PIVOTS;
    return all - w->work->pivots;
}

static bool is_over(const clv_lns_window *w)
{
    return pivots_left(w) <= 0 || (w->options->stop && w->options->stop(w->options->ctx));
}

static clv_status solve_window(clv_lns_window *w, bool *ret_better, bool *ret_hard, clv_error *err)
{
    int64_t each =
        w->options->pivots_window > 0 ? w->options->pivots_window : CLV_LNS_WINDOW_PIVOTS;
    clv_ilp_result result;
    clv_ilp_limits limits = { .pivots = each < pivots_left(w) ? each : pivots_left(w),
                              .seconds = w->options->left ? w->options->left(w->options->ctx) : 0,
                              .stop = w->options->stop,
                              .stop_ctx = w->options->ctx };
    w->scale = (double)top_of_window(w);
    list_nets(w);
    clv_lns_window_formulate(w);
    CLV_TRY(clv_ilp_solve(&w->ilp, &limits, w->arena, &result, err));
    w->work->n_windows++;
    w->work->pivots += result.pivots > 0 ? result.pivots : 1;
    *ret_hard = result.end != CLV_ILP_OPTIMAL && result.end != CLV_ILP_INFEASIBLE;
    w->work->n_hard += *ret_hard;
    return result.values ? apply_solution(w, &result, ret_better, err) : CLV_OK;
}

/* -- windows moved -- */

/* Sets of devices to be looked at together: pairs first. */
#define PARTNERS 8 /* beside the busiest, those with the least load */
#define TRIPLES  4 /* two of so many of them */
#define SETS     (PARTNERS + TRIPLES * (TRIPLES - 1) / 2)

typedef struct {
    int32_t device[CLV_LNS_SIDES], n;
} device_set;

typedef struct {
    device_set sets[SETS];
    int32_t n;
} device_sets;

static void add_set(device_sets *sets, int32_t a, int32_t b, int32_t c)
{
    if (a >= 0 && b >= 0)
        sets->sets[sets->n++] = (device_set){ { a, b, c }, c >= 0 ? 3 : 2 };
}

/* The first device of a kind without blocks stands for all of them. */
static bool is_spare_twin(const clv_lns_window *w, const bool *used, int32_t device)
{
    if (used[device])
        return false;
    for (int32_t d = device - 1; d >= 0 && w->kind_of[d] == w->kind_of[device]; d--)
        if (!used[d])
            return true;
    return false;
}

static void free_sets(const clv_lns_window *w, const bool *used, int32_t busy, device_sets *sets)
{
    int32_t partner[PARTNERS], n = 0;
    for (int32_t d = 0; d < w->n_devices; d++) {
        if (d == busy || is_spare_twin(w, used, d))
            continue;
        int32_t at = n < PARTNERS ? n++ : PARTNERS;
        for (; at > 0 && w->load[d] < w->load[partner[at - 1]]; at--)
            if (at < PARTNERS)
                partner[at] = partner[at - 1];
        if (at < PARTNERS)
            partner[at] = d;
    }
    for (int32_t i = 0; i < n; i++)
        add_set(sets, busy, partner[i], -1);
    for (int32_t i = 0; i < n && i < TRIPLES; i++)
        for (int32_t j = i + 1; j < n && j < TRIPLES; j++)
            add_set(sets, busy, partner[i], partner[j]);
}

/* Puts the devices that have blocks in a line; false when arcs lead around. O(devices * (blocks +
 * arcs)). */
static bool order_devices(clv_lns_window *w, const bool *used, int32_t *ret_n)
{
    const clv_contraction *b = w->b;
    int32_t n = 0, n_used = 0;
    memset(w->waits, 0, (size_t)w->n_devices * sizeof *w->waits);
    for (int32_t u = 0; u < b->n; u++)
        for (int32_t a = b->after_first[u]; a < b->after_first[u + 1]; a++)
            if (w->device_of[b->after[a]] != w->device_of[u])
                w->waits[w->device_of[b->after[a]]]++;
    for (int32_t d = 0; d < w->n_devices; d++) {
        w->line_at[d] = -1;
        n_used += used[d];
    }
    while (n < n_used) {
        int32_t next = 0;
        while (next < w->n_devices && (!used[next] || w->line_at[next] >= 0 || w->waits[next] > 0))
            next++;
        if (next == w->n_devices)
            return false;
        w->line[n] = next;
        w->line_at[next] = n++;
        for (int32_t u = 0; u < b->n; u++)
            for (int32_t a = b->after_first[u]; a < b->after_first[u + 1]; a++)
                if (w->device_of[u] == next && w->device_of[b->after[a]] != next)
                    w->waits[w->device_of[b->after[a]]]--;
    }
    *ret_n = n;
    return true;
}

/* Neighbours in the line. A device without blocks can be put anywhere in it. */
static void line_sets(clv_lns_window *w, const bool *used, int32_t busy, device_sets *sets)
{
    int32_t n;
    if (!order_devices(w, used, &n))
        return;
    int32_t at = w->line_at[busy];
    int32_t before = at > 0 ? w->line[at - 1] : -1, after = at + 1 < n ? w->line[at + 1] : -1;
    add_set(sets, busy, after, -1);
    add_set(sets, before, busy, -1);
    for (int32_t d = 0; d < w->n_devices && sets->n + 4 < SETS; d++) {
        if (used[d] || is_spare_twin(w, used, d))
            continue;
        add_set(sets, busy, d, -1);
        add_set(sets, d, busy, -1);
    }
    if (before >= 0)
        add_set(sets, before, busy, after);
}

/* One set: windows from each block of the busiest that none has had yet. *size gets smaller when
 * one is given up. */
static clv_status sweep_set(clv_lns_window *w, int32_t busy, int32_t *size, bool *ret_better,
                            clv_error *err)
{
    for (int32_t i = 0; i < w->b->n && !*ret_better && !is_over(w); i++) {
        bool hard = false;
        int32_t u = turned(w, i);
        if (w->device_of[u] != busy || w->seen[u])
            continue;
        clv_mark mark = clv_arena_mark(w->arena);
        select_blocks(w, u, *size);
        clv_status status = solve_window(w, ret_better, &hard, err);
        for (int32_t k = 0; k < w->n; k++)
            w->index_of[w->block[k]] = -1;
        for (int32_t k = 0; k < w->n_nets; k++)
            w->is_in_nets[w->nets[k]] = false;
        w->n = w->n_nets = 0;
        clv_arena_rewind(w->arena, mark);
        CLV_TRY(status);
        if (hard && *size > LEAST_SIZE)
            *size -= (*size + 3) / 4;
    }
    return CLV_OK;
}

static clv_status sweep(clv_lns_window *w, bool *used, int32_t *size, bool *ret_better,
                        clv_error *err)
{
    device_sets sets = { .n = 0 };
    int32_t busy = 0;
    for (int32_t d = 1; d < w->n_devices; d++)
        busy = w->load[d] > w->load[busy] ? d : busy;
    memset(used, 0, (size_t)w->n_devices * sizeof *used);
    for (int32_t u = 0; u < w->b->n; u++)
        used[w->device_of[u]] = true;
    if (w->rules->contiguous)
        line_sets(w, used, busy, &sets);
    else
        free_sets(w, used, busy, &sets);
    for (int32_t i = 0; i < sets.n && !*ret_better && !is_over(w); i++) {
        w->n_sides = sets.sets[i].n;
        for (int32_t s = 0; s < w->n_sides; s++) {
            w->device[s] = sets.sets[i].device[s];
            w->side_of[w->device[s]] = s;
        }
        memset(w->seen, 0, (size_t)w->b->n * sizeof *w->seen);
        clv_status status = sweep_set(w, busy, size, ret_better, err);
        for (int32_t s = 0; s < w->n_sides; s++)
            w->side_of[w->device[s]] = -1;
        CLV_TRY(status);
    }
    return CLV_OK;
}

/* Until nothing gets better, in any turn, at the largest size that is solved in time. */
static clv_status move_windows(clv_lns_window *w, bool *used, clv_error *err)
{
    int32_t size = FIRST_SIZE, reach = w->b->n, quiet = 0;
    while (!is_over(w) && quiet < TURNS) {
        int32_t was = size;
        bool better = false;
        CLV_TRY(sweep(w, used, &size, &better, err));
        w->work->size = was;
        if (size < was)
            reach = size;
        if (better) {
            quiet = 0;
        } else if (size < reach) {
            size += (size + 1) / 2;
            size = size < reach ? size : reach;
        } else {
            quiet++;
            w->turn = (w->turn + 1) % TURNS;
        }
    }
    return CLV_OK;
}

static bool allocate(clv_lns_window *w, clv_arena *arena, bool **ret_used)
{
    size_t n = (size_t)w->b->n, n_nets = (size_t)w->b->n_nets, d = (size_t)w->n_devices;
    int32_t *kind_of = CLV_NEW_ARRAY(arena, int32_t, d);
    w->load = CLV_NEW_ARRAY(arena, int64_t, d);
    w->bytes = CLV_NEW_ARRAY(arena, int64_t, d);
    w->stamp = CLV_NEW_ARRAY(arena, int32_t, d);
    w->line = CLV_NEW_ARRAY(arena, int32_t, d);
    w->line_at = CLV_NEW_ARRAY(arena, int32_t, d);
    w->waits = CLV_NEW_ARRAY(arena, int32_t, d);
    w->side_of = CLV_NEW_ARRAY(arena, int32_t, d);
    w->block = CLV_NEW_ARRAY(arena, int32_t, n);
    w->index_of = CLV_NEW_ARRAY(arena, int32_t, n);
    w->nets = CLV_NEW_ARRAY(arena, int32_t, n_nets);
    w->is_in_nets = CLV_NEW_ARRAY(arena, bool, n_nets);
    w->seen = CLV_NEW_ARRAY(arena, bool, n);
    w->form = CLV_NEW_ARRAY(arena, clv_charge, n_nets * CLV_LNS_SIDES);
    w->column = CLV_NEW_ARRAY(arena, int32_t, n_nets * CLV_LNS_SIDES);
    *ret_used = CLV_NEW_ARRAY(arena, bool, d);
    if (!kind_of || !w->load || !w->bytes || !w->stamp || !w->line || !w->line_at || !w->waits ||
        !w->side_of || !w->block || !w->index_of || !w->nets || !w->is_in_nets || !w->seen ||
        !w->form || !w->column || !*ret_used)
        return false;
    clv_place_kinds(w->b->p, kind_of);
    w->kind_of = kind_of;
    for (size_t u = 0; u < n; u++)
        w->index_of[u] = -1;
    for (size_t i = 0; i < d; i++)
        w->side_of[i] = -1;
    return true;
}

clv_status clv_lns_improve(const clv_contraction *b, const clv_lns_options *options,
                           int32_t *device_of, clv_arena *arena, clv_lns_work *ret, clv_error *err)
{
    assert(b && options && options->rules && device_of && arena && ret);
    bool *used;
    clv_lns_window w = { .b = b,
                         .rules = options->rules,
                         .options = options,
                         .arena = arena,
                         .work = ret,
                         .n_devices = clv_place_devices(b->p),
                         .device_of = device_of };
    *ret = (clv_lns_work){ 0 };
    if (!clv_ilp_solver() || b->n == 0 || w.n_devices < 2)
        return CLV_OK;
    if (!allocate(&w, arena, &used))
        return clv_fail_nomem(err, "windows of a placement");
    for (int32_t u = 0; u < b->n; u++)
        if (clv_lns_window_time(&w, u, device_of[u]) == CLV_BLOCK_NEVER)
            return CLV_OK; /* not of blocks as they are here: nothing to start from */
    sum_loads(&w);
    return top_of(&w) > 0 ? move_windows(&w, used, err) : CLV_OK;
}
