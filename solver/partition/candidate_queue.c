#include "solver/partition/candidate_queue.h"

#include "base/map.h"
#include "solver/partition/verdict_order.h"

#include <string.h>

/* A judgement takes time in proportion to the units. So many units are judged in all: some tens of
 * seconds with the built-in compiler. */
#define BUDGET_UNITS 1200000
#define BUDGET_MAX   200 /* for small problems: what is found later is rarely better */
#define BUDGET_MIN   8   /* for huge ones: the first plans, and a few improvements */

clv_status clv_candidates_open(const clv_partition_problem *p, const clv_partition_judge *judge,
                               const clv_partition_options *options, clv_arena *arena,
                               clv_candidate_queue *ret, clv_error *err)
{
    *ret = (clv_candidate_queue){
        .p = p, .judge = judge, .options = options, .arena = arena, .best = -1, .best_judged = -1
    };
    CLV_TRY(
        clv_incumbent_open(&ret->incumbent, &options->solve, p->n_units, arena, &ret->result, err));
    if (options->enough_ns > 0)
        ret->incumbent.enough_bound = clv_objval_whole(options->enough_ns);
    if (options->rival_ns > 0)
        ret->incumbent.rival = clv_objval_whole(options->rival_ns);
    ret->incumbent.rival_gap = options->rival_gap;
    int32_t budget = BUDGET_UNITS / (p->n_units > 0 ? p->n_units : 1);
    budget = budget > BUDGET_MAX ? BUDGET_MAX : budget < BUDGET_MIN ? BUDGET_MIN : budget;
    ret->max_judged = options->max_judged > 0 ? options->max_judged : budget;
    ret->n_slots = 64;
    ret->slot = CLV_NEW_ARRAY(arena, int32_t, ret->n_slots);
    if (!ret->slot)
        return clv_fail_nomem(err, "the plans of a search");
    return p->rules ? clv_rule_repair_new(p, arena, &ret->repair, err) : CLV_OK;
}

/* -- the visited set -- */

static uint64_t hash_of(const clv_candidate_queue *queue, const int32_t *device_of,
                        double proportion)
{
    uint64_t h = clv_hash(CLV_HASH_INIT, &proportion, sizeof proportion);
    size_t bytes = (size_t)queue->p->n_units * sizeof *device_of;
    return bytes > 0 ? clv_hash(h, device_of, bytes) : h;
}

static bool is_same(const clv_candidate_queue *queue, int32_t i, const int32_t *device_of,
                    double proportion)
{
    const clv_candidate *t = &queue->tried[i];
    size_t bytes = (size_t)queue->p->n_units * sizeof *device_of;
    return !(t->proportion < proportion) && !(t->proportion > proportion) &&
           (bytes == 0 || memcmp(t->device_of, device_of, bytes) == 0);
}

/* Where it is, or where it would go. */
static int32_t find_slot(const clv_candidate_queue *queue, const int32_t *device_of,
                         double proportion, uint64_t hash)
{
    int32_t at = (int32_t)(hash & (uint64_t)(queue->n_slots - 1));
    for (;; at = (at + 1) & (queue->n_slots - 1)) {
        int32_t i = queue->slot[at] - 1;
        if (i < 0 || (queue->hash[i] == hash && is_same(queue, i, device_of, proportion)))
            return at;
    }
}

int32_t clv_candidates_find(const clv_candidate_queue *queue, const int32_t *device_of,
                            double proportion)
{
    uint64_t hash = hash_of(queue, device_of, proportion);
    return queue->slot[find_slot(queue, device_of, proportion, hash)] - 1;
}

/* The slots are empty. */
static void fill_slots(clv_candidate_queue *queue)
{
    for (int32_t i = 0; i < queue->n; i++) {
        int32_t at = (int32_t)(queue->hash[i] & (uint64_t)(queue->n_slots - 1));
        while (queue->slot[at])
            at = (at + 1) & (queue->n_slots - 1);
        queue->slot[at] = i + 1;
    }
}

static clv_status grow_slots(clv_candidate_queue *queue, clv_error *err)
{
    int32_t n = queue->n_slots * 2, *slot = CLV_NEW_ARRAY(queue->arena, int32_t, n);
    if (!slot)
        return clv_fail_nomem(err, "the plans of a search");
    queue->slot = slot;
    queue->n_slots = n;
    fill_slots(queue);
    return CLV_OK;
}

/* How many plans may be in the queue. While nothing fits, the last judgements are kept for lower
 * proportions. */
static int32_t budget(const clv_candidate_queue *queue, double proportion)
{
    bool keep_back =
        proportion <= 0 && !clv_candidates_has_fit(queue) && queue->max_judged > CLV_RETRIES;
    return queue->max_judged - (keep_back ? CLV_RETRIES : 0);
}

clv_status clv_candidates_leave_out(const clv_candidate_queue *queue, const int32_t *device_of,
                                    bool *ret, clv_error *err)
{
    const clv_partition_problem *p = queue->p;
    int32_t n_used = 0;
    *ret = false;
    if (!queue->options->use_all_devices)
        return CLV_OK;
    clv_mark mark = clv_arena_mark(queue->arena);
    bool *used = CLV_NEW_ARRAY(queue->arena, bool, p->n_devices);
    if (!used)
        return clv_fail_nomem(err, "the devices of a plan");
    for (int32_t u = 0; u < p->n_units; u++) {
        n_used += !used[device_of[u]];
        used[device_of[u]] = true;
    }
    clv_arena_rewind(queue->arena, mark);
    *ret = n_used < p->n_devices && n_used < p->n_units;
    return CLV_OK;
}

clv_status clv_candidates_add(clv_candidate_queue *queue, const int32_t *device_of,
                              double proportion, const char *move, bool *ret_added, clv_error *err)
{
    uint64_t hash = hash_of(queue, device_of, proportion);
    int32_t at = find_slot(queue, device_of, proportion, hash), n_units = queue->p->n_units;
    if (ret_added)
        *ret_added = false;
    if (queue->slot[at] || !clv_partition_satisfies_rules(queue->p, device_of, queue->arena))
        return CLV_OK;
    if (queue->n >= budget(queue, proportion)) {
        queue->is_full = true;
        return CLV_OK;
    }
    bool leaves_out;
    CLV_TRY(clv_candidates_leave_out(queue, device_of, &leaves_out, err));
    int32_t *copy = CLV_NEW_ARRAY(queue->arena, int32_t, n_units);
    if (!copy)
        return clv_fail_nomem(err, "a plan");
    if (n_units > 0)
        memcpy(copy, device_of, (size_t)n_units * sizeof *copy);
    if (!CLV_PUSH_ROOM(queue->arena, queue->tried, queue->n, queue->cap) ||
        !CLV_PUSH_ROOM(queue->arena, queue->hash, queue->n, queue->cap_hash))
        return clv_fail_nomem(err, "the plans of a search");
    queue->tried[queue->n] = (clv_candidate){
        .device_of = copy, .proportion = proportion, .move = move, .leaves_out = leaves_out
    };
    queue->hash[queue->n] = hash;
    queue->slot[at] = ++queue->n;
    if (ret_added)
        *ret_added = true;
    return queue->n * 2 > queue->n_slots ? grow_slots(queue, err) : CLV_OK;
}

bool clv_candidates_better(const clv_candidate_queue *queue, int32_t a, int32_t b)
{
    const clv_candidate *x = &queue->tried[a], *y = &queue->tried[b];
    if (x->verdict.outcome == CLV_FITS && y->verdict.outcome == CLV_FITS &&
        x->leaves_out != y->leaves_out)
        return y->leaves_out;
    return clv_verdict_better(&x->verdict, &y->verdict, queue->options->objective);
}

void clv_candidates_forget(clv_candidate_queue *queue, int32_t first)
{
    if (first >= queue->n)
        return;
    queue->n = first;
    queue->is_full = queue->is_over;
    memset(queue->slot, 0, (size_t)queue->n_slots * sizeof *queue->slot);
    fill_slots(queue);
}

void clv_candidates_check_limits(clv_candidate_queue *queue)
{
    if (queue->n_judged > 0 && !queue->is_done && clv_limits_over(&queue->incumbent.limits))
        queue->is_over = queue->is_full = true;
}

bool clv_candidates_is_over(clv_candidate_queue *queue)
{
    clv_candidates_check_limits(queue);
    return queue->is_done || queue->is_over || queue->n >= budget(queue, 0);
}

bool clv_candidates_has_fit(const clv_candidate_queue *queue)
{
    return queue->best >= 0 && queue->tried[queue->best].verdict.outcome == CLV_FITS;
}

bool clv_candidates_has_judged_fit(const clv_candidate_queue *queue)
{
    return queue->best_judged >= 0 && queue->tried[queue->best_judged].verdict.outcome == CLV_FITS;
}
