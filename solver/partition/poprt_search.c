#include "solver/partition/poprt_search.h"

#include "base/map.h"
#include "solver/partition/candidate_verdicts.h"
#include "solver/partition/moves.h"
#include "solver/partition/unit_chain.h"

#include <string.h>

/* Numbers of the document: neighbours of a plan that fits, and plans that count as balanced. */
#define BALANCE_NEIGHBOURS 3
#define MOST_BALANCED      5
/* A tile of 638,976 bytes, and the 641,000 bytes that count as nearly fitting there: a shortage of
 * up to this part of the capacity. */
#define NEARLY ((641000.0 - 638976.0) / 638976.0)

typedef struct {
    int32_t parent; /* index in queue->tried; -1: the first plan */
    clv_move move;
    int32_t chain; /* -1: none */
} entry;

/* Balance neighbours of one plan, most balanced first. */
typedef struct {
    entry at[BALANCE_NEIGHBOURS];
    double spread[BALANCE_NEIGHBOURS];
    int32_t n, next;
} chain;

typedef struct {
    int32_t plan;
    double spread;
} valid;

typedef struct {
    clv_candidate_queue *queue;
    clv_arena *arena;
    clv_groups *g;
    clv_moves moves;
    clv_map keys;
    int32_t n_keys;
    int32_t *key;               /* scratch: n_units */
    int32_t *device_of;         /* scratch */
    int32_t batch_size, *batch; /* plans that are judged together */
    entry *waiting;             /* [head .. n) waits */
    int32_t head, n, cap;
    chain *chains;
    int32_t n_chains, cap_chains;
    int32_t *chain_of; /* by plan */
    int32_t n_chain_of, cap_chain_of;
    valid valids[MOST_BALANCED + 1]; /* most balanced first */
    int32_t n_valids;
    int64_t smallest_oom_bytes; /* -1: none yet */
    int32_t best;               /* of the plans expanded; -1: none yet */
} search;

/* -- keys -- */

/* Adds the key of the groups as they are: their sharding nodes. *ret_new: it was not there. */
static clv_status add_key(search *s, bool *ret_new, clv_error *err)
{
    const clv_groups *g = s->g;
    size_t bytes = (size_t)g->p->n_units * sizeof *s->key;
    int32_t last = g->p->n_devices - 1;
    while (last > 0 && g->n_units[last] == 0)
        last--;
    for (int32_t u = 0; u < g->p->n_units; u++) {
        int32_t d = g->device_of[u];
        s->key[u] = g->inner_sends[u] == 0 && d != last ? d : -1;
    }
    clv_str key = { (const char *)s->key, (int32_t)bytes };
    *ret_new = clv_map_get(&s->keys, key) < 0;
    if (!*ret_new)
        return CLV_OK;
    char *copy = CLV_NEW_ARRAY(s->arena, char, bytes);
    if (!copy)
        return clv_fail_nomem(err, "the plans of a search");
    if (bytes > 0)
        memcpy(copy, s->key, bytes);
    key.at = copy;
    return clv_map_put(&s->keys, key, s->n_keys++, NULL, err);
}

/* The same for the groups after a move. */
static clv_status add_key_after(search *s, const clv_move *move, bool *ret_new, clv_error *err)
{
    clv_groups_shift(s->g, move->unit, move->to);
    clv_status status = add_key(s, ret_new, err);
    clv_groups_shift(s->g, move->unit, move->from);
    return status;
}

/* -- the queue -- */

static clv_status enqueue(search *s, entry e, clv_error *err)
{
    if (!CLV_PUSH_ROOM(s->arena, s->waiting, s->n, s->cap))
        return clv_fail_nomem(err, "the plans of a search");
    s->waiting[s->n++] = e;
    return CLV_OK;
}

/* More plans wait than may be judged: those behind are never reached. */
static bool is_full(const search *s)
{
    return s->n - s->head >= s->queue->max_judged - s->queue->n;
}

/* The parent's plan with the move made, into s->device_of: the unit, and what the rules want on one
 * device with it. */
static void apply_move(const search *s, const entry *e)
{
    const clv_rules *r = s->g->p->rules;
    const clv_move *m = &e->move;
    int32_t n = s->g->p->n_units, group = r && r->group_of ? r->group_of[m->unit] : -1;
    if (n > 0)
        memcpy(s->device_of, s->queue->tried[e->parent].device_of,
               (size_t)n * sizeof *s->device_of);
    s->device_of[m->unit] = m->to;
    for (int32_t i = group < 0 ? 0 : r->group_first[group];
         group >= 0 && i < r->group_first[group + 1]; i++)
        s->device_of[r->group_units[i]] = m->to;
}

/* *ret_plan: where it is in the queue of candidates, where another search may have put it; -1:
 * there is no budget. */
static clv_status submit(search *s, const entry *e, int32_t *ret_plan, clv_error *err)
{
    const clv_move *m = &e->move;
    const char *label = "memory balance";
    if (e->parent >= 0) {
        apply_move(s, e);
        label = clv_arena_printf(s->arena, "unit %d: device %d to %d (%s)", m->unit, m->from, m->to,
                                 clv_move_name(m->kind));
    }
    if (!label)
        return clv_fail_nomem(err, "a plan");
    CLV_TRY(clv_candidates_add(s->queue, s->device_of, 0, label, NULL, err));
    *ret_plan = clv_candidates_find(s->queue, s->device_of, 0);
    if (*ret_plan < 0)
        return CLV_OK;
    while (s->n_chain_of <= *ret_plan) {
        if (!CLV_PUSH_ROOM(s->arena, s->chain_of, s->n_chain_of, s->cap_chain_of))
            return clv_fail_nomem(err, "the plans of a search");
        s->chain_of[s->n_chain_of++] = -1;
    }
    s->chain_of[*ret_plan] = e->chain;
    return CLV_OK;
}

/* -- out of memory -- */

static clv_status expand_oom(search *s, int32_t plan, clv_error *err)
{
    const clv_candidate tried = s->queue->tried[plan];
    int32_t device = tried.verdict.device;
    int64_t short_bytes = tried.verdict.short_bytes;
    bool is_device = device >= 0 && device < s->g->p->n_devices;
    bool nearly =
        is_device && (double)short_bytes < NEARLY * (double)s->g->p->capacity_bytes[device];
    bool expand = nearly || s->smallest_oom_bytes < 0 || short_bytes <= s->smallest_oom_bytes;
    if (s->smallest_oom_bytes < 0 || short_bytes < s->smallest_oom_bytes)
        s->smallest_oom_bytes = short_bytes;
    if (!expand || !is_device || is_full(s))
        return CLV_OK;
    clv_groups_load(s->g, tried.device_of);
    CLV_TRY(clv_moves_poprt(&s->moves, device, CLV_BY_BYTES, err));
    for (int32_t i = 0; i < s->moves.n && !is_full(s); i++) {
        bool is_new;
        CLV_TRY(add_key_after(s, &s->moves.at[i], &is_new, err));
        if (is_new)
            CLV_TRY(enqueue(s, (entry){ plan, s->moves.at[i], -1 }, err));
    }
    return CLV_OK;
}

/* -- balance -- */

/* Sum of squares: with the same total on the same devices, the order of standard deviations. */
static double spread_of(const clv_groups *g)
{
    double sum = 0;
    for (int32_t d = 0; d < g->p->n_devices; d++)
        sum += (double)g->flops[d] * (double)g->flops[d];
    return sum;
}

/* Keeps the five most balanced; false when this is not one of them. Equal ones: earlier first. */
static bool keep_if_balanced(search *s, int32_t plan, double spread)
{
    int32_t at = s->n_valids;
    while (at > 0 && spread < s->valids[at - 1].spread)
        at--;
    if (at == MOST_BALANCED)
        return false;
    memmove(s->valids + at + 1, s->valids + at, (size_t)(s->n_valids - at) * sizeof *s->valids);
    s->valids[at] = (valid){ plan, spread };
    if (s->n_valids < MOST_BALANCED)
        s->n_valids++;
    return true;
}

/* Sorts one neighbour in; the fourth falls off. */
static void chain_insert(chain *c, entry e, double spread)
{
    int32_t at = c->n;
    while (at > 0 && spread < c->spread[at - 1])
        at--;
    if (at == BALANCE_NEIGHBOURS)
        return;
    if (c->n < BALANCE_NEIGHBOURS)
        c->n++;
    for (int32_t i = c->n - 1; i > at; i--) {
        c->at[i] = c->at[i - 1];
        c->spread[i] = c->spread[i - 1];
    }
    c->at[at] = e;
    c->spread[at] = spread;
}

static clv_status enqueue_next_of(search *s, int32_t of, clv_error *err)
{
    chain *c = &s->chains[of];
    return c->next < c->n ? enqueue(s, c->at[c->next++], err) : CLV_OK;
}

static clv_status expand_balance(search *s, int32_t plan, clv_error *err)
{
    clv_groups *g = s->g;
    clv_groups_load(g, s->queue->tried[plan].device_of);
    if (!keep_if_balanced(s, plan, spread_of(g)))
        return CLV_OK;
    int32_t most = 0;
    for (int32_t d = 1; d < g->p->n_devices; d++)
        most = g->flops[d] > g->flops[most] ? d : most;
    CLV_TRY(clv_moves_poprt(&s->moves, most, CLV_BY_FLOPS, err));
    chain c = { .n = 0 };
    for (int32_t i = 0; i < s->moves.n; i++) {
        const clv_move *m = &s->moves.at[i];
        clv_groups_shift(g, m->unit, m->to);
        chain_insert(&c, (entry){ plan, *m, s->n_chains }, spread_of(g));
        clv_groups_shift(g, m->unit, m->from);
    }
    int32_t n_found = c.n;
    c.n = 0; /* kept: those not tried, and no less balanced than the most balanced valid plan */
    for (int32_t i = 0; i < n_found; i++) {
        bool is_new;
        CLV_TRY(add_key_after(s, &c.at[i].move, &is_new, err));
        if (is_new && c.spread[i] <= s->valids[0].spread)
            c.at[c.n++] = c.at[i];
    }
    if (c.n == 0)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(s->arena, s->chains, s->n_chains, s->cap_chains))
        return clv_fail_nomem(err, "the plans of a search");
    s->chains[s->n_chains++] = c;
    return enqueue_next_of(s, s->n_chains - 1, err);
}

/* -- the loop -- */

static clv_status expand(search *s, int32_t plan, clv_error *err)
{
    clv_outcome outcome = s->queue->tried[plan].verdict.outcome;
    int32_t of = s->chain_of[plan];
    if (s->best < 0 || clv_candidates_better(s->queue, plan, s->best))
        s->best = plan;
    if (outcome == CLV_FITS)
        return s->queue->options->first_fit ? CLV_OK : expand_balance(s, plan, err);
    if (of >= 0 && s->chains[of].next < s->chains[of].n)
        return enqueue_next_of(s, of, err);
    return outcome == CLV_OOM ? expand_oom(s, plan, err) : CLV_OK;
}

/* The cut by weight, made to meet the rules; clv_partition_solve() has seen that some plan does. */
static clv_status make_first_plan(search *s, clv_error *err)
{
    int32_t n = s->g->p->n_devices, *order = CLV_NEW_ARRAY(s->arena, int32_t, n);
    clv_unit_chain *units;
    CLV_TRY(clv_unit_chain_new(s->g->p, NULL, s->arena, &units, err));
    if (!order)
        return clv_fail_nomem(err, "the plans of a search");
    clv_cut_by_weight(units, s->queue->options->use_all_devices, s->device_of);
    for (int32_t d = 0; d < n; d++)
        order[d] = d;
    if (s->queue->repair && !clv_rule_repair_plan(s->queue->repair, order, s->device_of))
        clv_rule_repair_find(s->queue->repair, s->device_of);
    return CLV_OK;
}

static clv_status open_search(search *s, clv_error *err)
{
    const clv_partition_problem *p = s->queue->p;
    bool is_new;
    CLV_TRY(clv_groups_new(p, s->arena, &s->g, err));
    CLV_TRY(clv_moves_new(s->g, s->queue->options->use_all_devices, s->arena, &s->moves, err));
    CLV_TRY(clv_map_init(&s->keys, s->arena, 64, err));
    const clv_partition_judge *judge = s->queue->judge;
    int32_t at_once = judge->lookahead > 0 ? judge->lookahead : judge->batch;
    s->batch_size = at_once > 0 ? at_once : 1;
    s->key = CLV_NEW_ARRAY(s->arena, int32_t, p->n_units);
    s->device_of = CLV_NEW_ARRAY(s->arena, int32_t, p->n_units);
    s->batch = CLV_NEW_ARRAY(s->arena, int32_t, s->batch_size);
    if (!s->key || !s->device_of || !s->batch)
        return clv_fail_nomem(err, "the plans of a search");
    CLV_TRY(make_first_plan(s, err));
    clv_groups_load(s->g, s->device_of);
    CLV_TRY(add_key(s, &is_new, err));
    return enqueue(s, (entry){ .parent = -1, .chain = -1 }, err);
}

static clv_status run(search *s, clv_error *err)
{
    clv_candidate_queue *queue = s->queue;
    int32_t n = 0; /* in the batch */
    CLV_TRY(open_search(s, err));
    while (!queue->is_done && !queue->is_over && (n > 0 || (s->head < s->n && !queue->is_full))) {
        bool is_full = queue->is_full;
        for (; !is_full && n < s->batch_size && s->head < s->n; n++)
            CLV_TRY(submit(s, &s->waiting[s->head++], &s->batch[n], err));
        /* looking ahead, the first makes room for others while the rest is judged */
        int32_t n_next = clv_candidates_looks_ahead(queue) ? 1 : n;
        CLV_TRY(clv_candidates_settle(queue, s->batch[n_next - 1] + 1, err));
        for (int32_t i = 0; i < n_next && !queue->is_done; i++)
            if (s->batch[i] >= 0 && s->batch[i] < queue->n_judged)
                CLV_TRY(expand(s, s->batch[i], err));
        n -= n_next;
        memmove(s->batch, s->batch + n_next, (size_t)n * sizeof *s->batch);
    }
    return clv_candidates_settle(queue, queue->n, err);
}

clv_status clv_poprt_moves(clv_candidate_queue *queue, int32_t *ret_best, clv_error *err)
{
    search s = { .queue = queue, .arena = queue->arena, .smallest_oom_bytes = -1, .best = -1 };
    CLV_TRY(run(&s, err));
    *ret_best = s.best;
    return CLV_OK;
}

clv_status clv_poprt_search(clv_candidate_queue *queue, clv_error *err)
{
    search s = { .queue = queue, .arena = queue->arena, .smallest_oom_bytes = -1, .best = -1 };
    CLV_TRY(run(&s, err));
    if (!queue->options->first_fit && s.n_valids > 0) {
        int32_t best = s.valids[0].plan; /* of those kept, the one that the objective likes best */
        for (int32_t i = 1; i < s.n_valids; i++)
            if (clv_candidates_better(queue, s.valids[i].plan, best))
                best = s.valids[i].plan;
        queue->best = queue->best_judged = best;
    }
    return clv_candidates_retry(queue, 0, -1, err);
}
