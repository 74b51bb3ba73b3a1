#include "solver/partition/moves.h"

#include <stdlib.h>
#include <string.h>

const char *clv_move_name(clv_move_kind kind)
{
    switch (kind) {
    case CLV_TO_PARENT:
        return "parent";
    case CLV_TO_CHILD:
        return "child";
    case CLV_TO_PARALLEL:
        return "parallel";
    case CLV_TO_OTHER:
        return "other";
    }
    return "";
}

clv_status clv_moves_new(clv_groups *g, bool keep_groups, clv_arena *arena, clv_moves *ret,
                         clv_error *err)
{
    uint64_t *rows = CLV_NEW_ARRAY(arena, uint64_t, 4 * g->words);
    if (!rows)
        return clv_fail_nomem(err, "the moves of a search");
    *ret = (clv_moves){ .g = g,
                        .arena = arena,
                        .keep_groups = keep_groups,
                        .ancestors = rows,
                        .descendants = rows + g->words,
                        .linked = rows + 2 * g->words,
                        .barred = rows + 3 * g->words };
    return CLV_OK;
}

/* Is the move legal, and does it meet the rules? Groups end as they were. */
static bool is_legal(clv_moves *m, int32_t unit, int32_t to)
{
    clv_groups *g = m->g;
    int32_t from = g->device_of[unit];
    if (from == to || (m->keep_groups && g->n_units[from] == clv_groups_n_shifted(g, unit)))
        return false;
    if (g->p->rules && !clv_rules_allow(g->p->rules, unit, to))
        return false;
    clv_groups_shift(g, unit, to);
    bool legal = clv_groups_is_legal_at(g, to) && clv_groups_meet_rules_at(g, unit);
    clv_groups_shift(g, unit, from);
    return legal;
}

/* Devices that the unit reads from, or that read what it writes, as bits of m->linked. */
static void find_linked(clv_moves *m, int32_t unit, clv_move_kind kind)
{
    const clv_groups *g = m->g;
    const clv_partition_problem *p = g->p;
    memset(m->linked, 0, g->words * sizeof *m->linked);
    if (kind == CLV_TO_PARENT) {
        for (int32_t i = p->reads_first[unit]; i < p->reads_first[unit + 1]; i++)
            clv_bit_set(m->linked, g->device_of[p->net_from[p->reads[i]]]);
        return;
    }
    for (int32_t net = p->unit_first_net[unit]; net < p->unit_first_net[unit + 1]; net++)
        for (int32_t i = 0; i < g->n_pins[net]; i++)
            clv_bit_set(m->linked, g->pins[g->pin_first[net] + i].device);
}

static bool is_target(const clv_moves *m, int32_t from, int32_t to, clv_move_kind kind)
{
    if (to == from)
        return false;
    if (kind == CLV_TO_PARALLEL)
        return !clv_bit(m->ancestors, to) && !clv_bit(m->descendants, to);
    return clv_bit(m->linked, to);
}

static clv_status push(clv_moves *m, clv_move move, clv_error *err)
{
    if (!CLV_PUSH_ROOM(m->arena, m->at, m->n, m->cap))
        return clv_fail_nomem(err, "the moves of a search");
    m->at[m->n++] = move;
    return CLV_OK;
}

/* The best target of one kind for one unit, if any. */
static clv_status push_best(clv_moves *m, int32_t unit, clv_move_kind kind, clv_move_goal goal,
                            clv_error *err)
{
    clv_groups *g = m->g;
    int32_t from = g->device_of[unit], best = -1;
    const int64_t *load = goal == CLV_BY_BYTES ? g->weight_bytes : g->flops;
    find_linked(m, unit, kind);
    for (int32_t to = 0; to < g->p->n_devices; to++)
        if (is_target(m, from, to, kind) && (best < 0 || load[to] < load[best]) &&
            is_legal(m, unit, to))
            best = to;
    if (best < 0)
        return CLV_OK;
    /* balance: the target has less, and the two come closer; sums of all units fit in 64 bits */
    int64_t gap = g->flops[from] - g->flops[best], after = gap - 2 * g->p->flops[unit];
    if (goal == CLV_BY_FLOPS && (gap <= 0 || (after < 0 ? -after : after) >= gap))
        return CLV_OK;
    return push(m, (clv_move){ unit, from, best, kind }, err);
}

static int by_unit(const void *a, const void *b)
{
    const clv_move *x = a, *y = b;
    if (x->unit != y->unit)
        return x->unit < y->unit ? -1 : 1;
    return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

static void find_relatives(clv_moves *m, int32_t device)
{
    m->n = 0;
    clv_groups_reach(m->g, m->g->in, device, m->ancestors);
    clv_groups_reach(m->g, m->g->out, device, m->descendants);
}

/* Into m->units: trying a move takes a unit out of its list and puts it back in front, so the list
 * is copied before it is walked along. */
static clv_status copy_edge(clv_moves *m, int32_t device, clv_edge_kind edge, int32_t max,
                            int32_t *ret_n, clv_error *err)
{
    const clv_unit_lists *list = &m->g->edge[edge];
    int32_t n = 0;
    for (int32_t u = list->head[device]; u >= 0 && n < max; u = list->next[u]) {
        if (!CLV_PUSH_ROOM(m->arena, m->units, n, m->cap_units))
            return clv_fail_nomem(err, "the moves of a search");
        m->units[n++] = u;
    }
    *ret_n = n;
    return CLV_OK;
}

clv_status clv_moves_poprt(clv_moves *m, int32_t device, clv_move_goal goal, clv_error *err)
{
    static const clv_move_kind along[] = { CLV_TO_PARENT, CLV_TO_CHILD };
    find_relatives(m, device);
    for (int edge = CLV_STARTING; edge <= CLV_ENDING; edge++) {
        int32_t n = 0;
        CLV_TRY(copy_edge(m, device, (clv_edge_kind)edge, INT32_MAX, &n, err));
        for (int32_t i = 0; i < n; i++) {
            CLV_TRY(push_best(m, m->units[i], along[edge], goal, err));
            /* the parallel targets of a unit that starts and ends its group are listed already */
            if (edge == CLV_STARTING || m->g->inner_reads[m->units[i]] > 0)
                CLV_TRY(push_best(m, m->units[i], CLV_TO_PARALLEL, goal, err));
        }
    }
    if (m->n > 0)
        qsort(m->at, (size_t)m->n, sizeof *m->at, by_unit);
    return CLV_OK;
}

static clv_move_kind kind_of_move(clv_moves *m, int32_t unit, int32_t from, int32_t to)
{
    if (is_target(m, from, to, CLV_TO_PARALLEL))
        return CLV_TO_PARALLEL;
    find_linked(m, unit, CLV_TO_PARENT);
    if (clv_bit(m->linked, to))
        return CLV_TO_PARENT;
    find_linked(m, unit, CLV_TO_CHILD);
    return clv_bit(m->linked, to) ? CLV_TO_CHILD : CLV_TO_OTHER;
}

/* The legal moves of one unit: without rules all targets at once, else each is tried. */
static clv_status push_legal(clv_moves *m, int32_t unit, clv_error *err)
{
    clv_groups *g = m->g;
    int32_t from = g->device_of[unit];
    bool has_rules = g->p->rules != NULL;
    if (!has_rules && m->keep_groups && g->n_units[from] == 1)
        return CLV_OK;
    if (!has_rules)
        clv_groups_barred(g, unit, m->barred);
    for (int32_t to = 0; to < g->p->n_devices; to++) {
        if (has_rules ? !is_legal(m, unit, to) : to == from || clv_bit(m->barred, to))
            continue;
        clv_move_kind kind = kind_of_move(m, unit, from, to);
        CLV_TRY(push(m, (clv_move){ unit, from, to, kind }, err));
    }
    return CLV_OK;
}

clv_status clv_moves_all(clv_moves *m, int32_t device, int32_t max, clv_error *err)
{
    find_relatives(m, device);
    int32_t share = max / 2 / m->g->p->n_devices + 1;
    for (int edge = CLV_STARTING; edge <= CLV_ENDING; edge++) {
        int32_t n = 0;
        CLV_TRY(copy_edge(m, device, (clv_edge_kind)edge, share, &n, err));
        for (int32_t i = 0; i < n; i++) {
            if (edge == CLV_ENDING && m->g->inner_reads[m->units[i]] == 0)
                continue; /* both: seen as a starting one */
            CLV_TRY(push_legal(m, m->units[i], err));
        }
    }
    if (m->n > 0)
        qsort(m->at, (size_t)m->n, sizeof *m->at, by_unit);
    return CLV_OK;
}
