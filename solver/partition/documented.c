/* documented.c - a queue of plans; each verdict says which neighbours join it.
 *
 * OOM: one plan for each movable unit of the failing group, to the linked group with least bytes
 * (B.018, B.045), unless the plan is farther from fitting than the best so far (B.049).
 * Fits, and the best is wanted (B.028): if it is among the five most balanced, its three most
 * balanced neighbours, of which the first is judged, and the next one only if that fails to compile
 * (B.047, B.051). The search ends when the queue is empty.
 *
 * Plans with the same sharding nodes are the same plan (B.048): the key of a plan is the set of
 * ending units of each group but the last.
 *
 * In the queue a plan is its parent and one move, so a long queue costs little.
 */
#include "solver/partition/documented.h"

#include "base/map.h"
#include "solver/partition/balance.h"
#include "solver/partition/moves.h"

#include <stdlib.h>
#include <string.h>

#define BALANCE_NEIGHBOURS 3 /* B.047 */
#define MOST_BALANCED      5 /* B.047 */
/* B.049: a tile of 638,976 bytes, and the 641,000 bytes that count as nearly fitting: a shortage of
 * up to this part of the capacity. */
#define NEARLY ((641000.0 - 638976.0) / 638976.0)

typedef struct {
    int32_t parent; /* index in desk->tried; -1: the first plan */
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
    clv_desk *desk;
    clv_arena *arena;
    clv_groups *g;
    clv_moves moves;
    clv_map keys;
    int32_t n_keys;
    int32_t *key; /* scratch: n_units */
    int32_t *scratch;
    int32_t *batch; /* plans that are judged together */
    entry *queue;   /* [head .. n) waits */
    int32_t head, n, cap;
    chain *chains;
    int32_t n_chains, cap_chains;
    int32_t *chain_of; /* by plan */
    int32_t n_chain_of, cap_chain_of;
    valid valids[MOST_BALANCED + 1]; /* most balanced first */
    int32_t n_valids;
    int64_t smallest_oom; /* -1: none yet */
    int32_t best;         /* of the plans followed; -1: none yet */
} documented;

static bool wants_best(const documented *s) { return !s->desk->options->first_fit; }

/* -- keys -- */

/* The sharding nodes of the groups as they are. */
static void make_key(documented *s)
{
    const clv_groups *g = s->g;
    int32_t last = g->p->n_devices - 1;
    while (last > 0 && g->n_units[last] == 0)
        last--;
    for (int32_t u = 0; u < g->p->n_units; u++) {
        int32_t d = g->device_of[u];
        s->key[u] = g->inner_sends[u] == 0 && d != last ? d : -1;
    }
}

/* Notes the groups as they are; *ret says whether they are new. */
static clv_status note_key(documented *s, bool *ret_new, clv_error *err)
{
    size_t bytes = (size_t)s->g->p->n_units * sizeof *s->key;
    make_key(s);
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

static clv_status is_new(documented *s, const clv_move *move, bool *ret_new, clv_error *err)
{
    clv_groups_shift(s->g, move->unit, move->to);
    clv_status status = note_key(s, ret_new, err);
    clv_groups_shift(s->g, move->unit, move->from);
    return status;
}

/* -- the queue -- */

static clv_status enqueue(documented *s, entry e, clv_error *err)
{
    if (!CLV_PUSH_ROOM(s->arena, s->queue, s->n, s->cap))
        return clv_fail_nomem(err, "the plans of a search");
    s->queue[s->n++] = e;
    return CLV_OK;
}

/* What waits behind more plans than may be judged is never reached. */
static bool queue_is_full(const documented *s)
{
    return s->n - s->head >= s->desk->max_judged - s->desk->n;
}

static clv_status set_chain(documented *s, int32_t plan, int32_t of, clv_error *err)
{
    while (s->n_chain_of <= plan) {
        if (!CLV_PUSH_ROOM(s->arena, s->chain_of, s->n_chain_of, s->cap_chain_of))
            return clv_fail_nomem(err, "the plans of a search");
        s->chain_of[s->n_chain_of++] = -1;
    }
    s->chain_of[plan] = of;
    return CLV_OK;
}

static const char *label_of(documented *s, const clv_move *m)
{
    return clv_arena_printf(s->desk->arena, "unit %d: device %d to %d (%s)", m->unit, m->from,
                            m->to, clv_move_name(m->kind));
}

/* The unit, and what the rules want on one device with it. */
static void move_bound(const clv_rules *r, const clv_move *m, int32_t *device_of)
{
    int32_t group = r && r->group_of ? r->group_of[m->unit] : -1;
    device_of[m->unit] = m->to;
    for (int32_t i = group < 0 ? 0 : r->group_first[group];
         group >= 0 && i < r->group_first[group + 1]; i++)
        device_of[r->group_units[i]] = m->to;
}

/* *ret_plan: where it is on the desk, where another search may have put it; -1: there is no budget.
 */
static clv_status submit(documented *s, const entry *e, int32_t *ret_plan, clv_error *err)
{
    int32_t n = s->g->p->n_units;
    if (e->parent >= 0) {
        if (n > 0)
            memcpy(s->scratch, s->desk->tried[e->parent].device_of, (size_t)n * sizeof *s->scratch);
        move_bound(s->g->p->rules, &e->move, s->scratch);
    }
    const char *label = e->parent >= 0 ? label_of(s, &e->move) : "memory balance";
    if (!label)
        return clv_fail_nomem(err, "a plan");
    CLV_TRY(clv_desk_add(s->desk, s->scratch, 0, label, NULL, err));
    *ret_plan = clv_desk_find(s->desk, s->scratch, 0);
    return *ret_plan >= 0 ? set_chain(s, *ret_plan, e->chain, err) : CLV_OK;
}

/* -- out of memory -- */

static clv_status explore_oom(documented *s, int32_t plan, clv_error *err)
{
    const clv_tried tried = s->desk->tried[plan];
    int32_t device = tried.verdict.device;
    int64_t lacks = tried.verdict.short_bytes;
    bool nearly = device >= 0 && device < s->g->p->n_devices &&
                  (double)lacks < NEARLY * (double)s->g->p->capacity_bytes[device];
    bool explore = nearly || s->smallest_oom < 0 || lacks <= s->smallest_oom;
    if (s->smallest_oom < 0 || lacks < s->smallest_oom)
        s->smallest_oom = lacks;
    if (!explore || device < 0 || device >= s->g->p->n_devices || queue_is_full(s))
        return CLV_OK;
    clv_groups_load(s->g, tried.device_of);
    CLV_TRY(clv_moves_documented(&s->moves, device, CLV_BY_BYTES, err));
    for (int32_t i = 0; i < s->moves.n && !queue_is_full(s); i++) {
        bool fresh;
        CLV_TRY(is_new(s, &s->moves.at[i], &fresh, err));
        if (fresh)
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
static bool keep_if_balanced(documented *s, int32_t plan, double spread)
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

/* Of the three: those not tried, and no less balanced than the most balanced valid plan. */
static clv_status drop_tried(documented *s, chain *c, clv_error *err)
{
    int32_t n = 0;
    for (int32_t i = 0; i < c->n; i++) {
        bool fresh;
        CLV_TRY(is_new(s, &c->at[i].move, &fresh, err));
        if (fresh && c->spread[i] <= s->valids[0].spread)
            c->at[n++] = c->at[i];
    }
    c->n = n;
    return CLV_OK;
}

static clv_status next_in_chain(documented *s, int32_t of, clv_error *err)
{
    chain *c = &s->chains[of];
    return c->next < c->n ? enqueue(s, c->at[c->next++], err) : CLV_OK;
}

static clv_status explore_balance(documented *s, int32_t plan, clv_error *err)
{
    clv_groups *g = s->g;
    clv_groups_load(g, s->desk->tried[plan].device_of);
    if (!keep_if_balanced(s, plan, spread_of(g)))
        return CLV_OK;
    int32_t most = 0;
    for (int32_t d = 1; d < g->p->n_devices; d++)
        most = g->flops[d] > g->flops[most] ? d : most;
    CLV_TRY(clv_moves_documented(&s->moves, most, CLV_BY_FLOPS, err));
    chain c = { .n = 0 };
    for (int32_t i = 0; i < s->moves.n; i++) {
        const clv_move *m = &s->moves.at[i];
        clv_groups_shift(g, m->unit, m->to);
        chain_insert(&c, (entry){ plan, *m, s->n_chains }, spread_of(g));
        clv_groups_shift(g, m->unit, m->from);
    }
    CLV_TRY(drop_tried(s, &c, err));
    if (c.n == 0)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(s->arena, s->chains, s->n_chains, s->cap_chains))
        return clv_fail_nomem(err, "the plans of a search");
    s->chains[s->n_chains++] = c;
    return next_in_chain(s, s->n_chains - 1, err);
}

/* -- the loop -- */

static clv_status follow(documented *s, int32_t plan, clv_error *err)
{
    const clv_verdict *v = &s->desk->tried[plan].verdict;
    if (s->best < 0 ||
        clv_verdict_better(v, &s->desk->tried[s->best].verdict, s->desk->options->objective))
        s->best = plan;
    clv_outcome outcome = v->outcome;
    int32_t of = s->chain_of[plan];
    if (outcome == CLV_FITS)
        return wants_best(s) ? explore_balance(s, plan, err) : CLV_OK;
    if (of >= 0 && s->chains[of].next < s->chains[of].n)
        return next_in_chain(s, of, err);
    return outcome == CLV_OOM ? explore_oom(s, plan, err) : CLV_OK;
}

static int32_t batch_of(const documented *s)
{
    return s->desk->judge->batch > 0 ? s->desk->judge->batch : 1;
}

static clv_status run_queue(documented *s, clv_error *err)
{
    clv_desk *desk = s->desk;
    int32_t batch = batch_of(s);
    while (s->head < s->n && !desk->done && !desk->is_full) {
        int32_t n = 0;
        for (; n < batch && s->head < s->n; n++)
            CLV_TRY(submit(s, &s->queue[s->head++], &s->batch[n], err));
        CLV_TRY(clv_desk_judge(desk, err));
        for (int32_t i = 0; i < n && !desk->done; i++)
            if (s->batch[i] >= 0 && s->batch[i] < desk->n_judged)
                CLV_TRY(follow(s, s->batch[i], err));
    }
    return CLV_OK;
}

/* The first plan has to obey the rules; clv_search has seen that some plan does. */
static clv_status mend(documented *s, clv_error *err)
{
    if (!s->desk->obey)
        return CLV_OK;
    int32_t n = s->g->p->n_devices, *order = CLV_NEW_ARRAY(s->arena, int32_t, n);
    if (!order)
        return clv_fail_nomem(err, "the plans of a search");
    for (int32_t d = 0; d < n; d++)
        order[d] = d;
    if (!clv_obey_mend(s->desk->obey, order, s->scratch))
        clv_obey_find(s->desk->obey, s->scratch);
    return CLV_OK;
}

static clv_status open_queue(documented *s, clv_error *err)
{
    const clv_partition_problem *p = s->desk->p;
    clv_line *line;
    CLV_TRY(clv_groups_new(p, s->arena, &s->g, err));
    CLV_TRY(clv_moves_new(s->g, s->desk->options->use_all_devices, s->arena, &s->moves, err));
    CLV_TRY(clv_map_init(&s->keys, s->arena, 64, err));
    CLV_TRY(clv_line_new(p, NULL, s->arena, &line, err));
    s->key = CLV_NEW_ARRAY(s->arena, int32_t, p->n_units);
    s->scratch = CLV_NEW_ARRAY(s->arena, int32_t, p->n_units);
    s->batch = CLV_NEW_ARRAY(s->arena, int32_t, batch_of(s));
    if (!s->key || !s->scratch || !s->batch)
        return clv_fail_nomem(err, "the plans of a search");
    clv_cut_by_weight(line, s->desk->options->use_all_devices, s->scratch);
    CLV_TRY(mend(s, err));
    clv_groups_load(s->g, s->scratch);
    bool fresh;
    CLV_TRY(note_key(s, &fresh, err));
    return enqueue(s, (entry){ .parent = -1, .chain = -1 }, err);
}

/* B.053: of the valid plans kept, the one that the objective likes best. */
static void choose(documented *s)
{
    clv_desk *desk = s->desk;
    if (desk->options->first_fit || s->n_valids == 0)
        return;
    int32_t best = s->valids[0].plan;
    for (int32_t i = 1; i < s->n_valids; i++)
        if (clv_verdict_better(&desk->tried[s->valids[i].plan].verdict, &desk->tried[best].verdict,
                               desk->options->objective))
            best = s->valids[i].plan;
    desk->best = best;
}

clv_status clv_documented_moves(clv_desk *desk, clv_arena *arena, int32_t *ret_best, clv_error *err)
{
    documented s = { .desk = desk, .arena = arena, .smallest_oom = -1, .best = -1 };
    CLV_TRY(open_queue(&s, err));
    CLV_TRY(run_queue(&s, err));
    *ret_best = s.best;
    return CLV_OK;
}

clv_status clv_search_documented(clv_desk *desk, clv_arena *arena, clv_error *err)
{
    documented s = { .desk = desk, .arena = arena, .smallest_oom = -1, .best = -1 };
    CLV_TRY(open_queue(&s, err));
    CLV_TRY(run_queue(&s, err));
    choose(&s);
    return clv_desk_retry(desk, 0, -1, err);
}
