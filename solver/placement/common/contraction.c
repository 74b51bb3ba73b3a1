/* contraction.c - classes, cycles and idle neighbours are joined, then everything is numbered anew.
 */
#include "solver/placement/common/contraction.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "solver/placement/common/idle_groups.h"

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "the blocks of a placement"); }

/* -- ticks -- */

/* So that all times and costs together stay below CLV_TICKS_MAX. */
static double choose_tick(const clv_place_problem *p)
{
    int exponent;
    double sum = 0;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        double most = 0;
        for (int32_t k = 0; k < p->n_kinds; k++)
            most = fmax(most, p->time[(size_t)k * (size_t)p->n_nodes + (size_t)v]);
        sum += most + p->send_cost[v];
    }
    if (sum <= 0)
        return 1;
    frexp(sum, &exponent); /* sum < 2^exponent */
    return ldexp(1, exponent - 55);
}

double clv_contraction_from_ticks(const clv_contraction *b, int64_t ticks)
{
    double x = (double)ticks;
    if (ticks > INT64_C(1) << 53) /* may have been rounded up */
        x = nextafter(x, 0);
    return x * b->tick;
}

int64_t clv_contraction_to_ticks(const clv_contraction *b, double x)
{
    double ticks = ceil(x / b->tick);
    return ticks >= (double)CLV_TICKS_MAX ? CLV_TICKS_MAX : (int64_t)ticks;
}

void clv_contraction_project(const clv_contraction *b, const int32_t *of_block, int32_t *of_node)
{
    for (int32_t v = 0; v < b->p->n_nodes; v++)
        of_node[v] = of_block[b->block_of[v]];
}

void clv_contraction_loads(const clv_contraction *b, const int32_t *kind_of,
                           const int32_t *device_of, int32_t *stamp, int64_t *load)
{
    size_t n_devices = (size_t)clv_place_devices(b->p);
    memset(load, 0, n_devices * sizeof *load);
    memset(stamp, 0, n_devices * sizeof *stamp);
    for (int32_t u = 0; u < b->n; u++)
        load[device_of[u]] += clv_block_time(b, kind_of[device_of[u]], u);
    for (int32_t e = 0; e < b->n_nets; e++) {
        int32_t first = device_of[b->pins[b->net_first[e]]];
        bool cut = false;
        stamp[first] = e + 1;
        for (int32_t i = b->net_first[e] + 1; i < b->net_first[e + 1]; i++) {
            int32_t d = device_of[b->pins[i]];
            cut |= d != first;
            if (stamp[d] != e + 1 && b->p->kinds[kind_of[d]].pays)
                load[d] += b->net_cost[e];
            stamp[d] = e + 1;
        }
        if (cut && b->p->kinds[kind_of[first]].pays)
            load[first] += b->net_cost[e];
    }
}

/* -- the blocks -- */

/* Order of the blocks: along the arcs, and else as the nodes come. */
static clv_status number_blocks(clv_block_groups *j, clv_error *err)
{
    const clv_place_problem *p = j->p;
    int32_t n_heap = 0, n = 0, *first, *waits = CLV_NEW_ARRAY(j->arena, int32_t, j->n),
            *place = CLV_NEW_ARRAY(j->arena, int32_t, j->n),
            *heap = CLV_NEW_ARRAY(j->arena, int32_t, j->n),
            *number = CLV_NEW_ARRAY(j->arena, int32_t, j->n);
    if (!waits || !place || !heap || !number)
        return nomem(err);
    CLV_TRY(clv_block_groups_index_arcs(j, &first, err));
    for (int32_t i = p->n_nodes - 1; i >= 0; i--)
        place[j->group_of[p->order[i]]] = i;
    for (int32_t i = 0; i < j->n_arcs; i++)
        waits[j->arcs[i].to]++;
    /* groups by place are met in turn; one that has to wait is met again by who frees it */
    int32_t *group_at = CLV_NEW_ARRAY(j->arena, int32_t, p->n_nodes + 1);
    if (!group_at)
        return nomem(err);
    for (int32_t i = 0; i < p->n_nodes; i++)
        group_at[i] = -1;
    for (int32_t g = 0; g < j->n; g++)
        group_at[place[g]] = g;
    for (int32_t i = 0; i < p->n_nodes; i++) {
        if (group_at[i] < 0 || waits[group_at[i]] != 0)
            continue;
        heap[n_heap++] = group_at[i];
        while (n_heap > 0) {
            int32_t g = heap[--n_heap];
            number[g] = n++;
            for (int32_t e = first[g]; e < first[g + 1]; e++)
                if (--waits[j->arcs[e].to] == 0 && place[j->arcs[e].to] <= i)
                    heap[n_heap++] = j->arcs[e].to;
        }
    }
    assert(n == j->n);
    for (int32_t v = 0; v < p->n_nodes; v++)
        j->group_of[v] = number[j->group_of[v]];
    for (int32_t i = 0; i < j->n_arcs; i++)
        j->arcs[i] = (clv_block_arc){ number[j->arcs[i].from], number[j->arcs[i].to] };
    clv_block_groups_sort_arcs(j);
    return CLV_OK;
}

static clv_status copy_arcs(const clv_block_groups *j, clv_contraction *b, clv_arena *arena,
                            clv_error *err)
{
    int32_t *after_first = CLV_NEW_ARRAY(arena, int32_t, j->n + 1),
            *before_first = CLV_NEW_ARRAY(arena, int32_t, j->n + 1),
            *after = CLV_NEW_ARRAY(arena, int32_t, j->n_arcs),
            *before = CLV_NEW_ARRAY(arena, int32_t, j->n_arcs),
            *fill = CLV_NEW_ARRAY(j->arena, int32_t, j->n);
    if (!after_first || !before_first || !after || !before || !fill)
        return nomem(err);
    for (int32_t i = 0; i < j->n_arcs; i++) {
        after_first[j->arcs[i].from + 1]++;
        before_first[j->arcs[i].to + 1]++;
        after[i] = j->arcs[i].to;
    }
    for (int32_t g = 0; g < j->n; g++) {
        after_first[g + 1] += after_first[g];
        before_first[g + 1] += before_first[g];
    }
    for (int32_t i = 0; i < j->n_arcs; i++)
        before[before_first[j->arcs[i].to] + fill[j->arcs[i].to]++] = j->arcs[i].from;
    b->after_first = after_first;
    b->before_first = before_first;
    b->after = after;
    b->before = before;
    return CLV_OK;
}

static const void *copy_array(clv_arena *arena, const void *bytes, size_t n, size_t size)
{
    void *copy = clv_arena_take_array(arena, n, size);
    if (copy && n > 0)
        memcpy(copy, bytes, n * size);
    return copy;
}

static clv_status copy_blocks(const clv_block_groups *j, clv_contraction *b, clv_arena *arena,
                              clv_error *err)
{
    size_t n = (size_t)j->n, n_pins = (size_t)j->net_first[j->n_nets];
    b->p = j->p;
    b->n = j->n;
    b->roomy = j->roomy;
    b->n_kinds = j->p->n_kinds;
    b->n_nets = j->n_nets;
    b->block_of = copy_array(arena, j->group_of, (size_t)j->p->n_nodes, sizeof *b->block_of);
    b->bytes = copy_array(arena, j->bytes, n, sizeof *b->bytes);
    b->net_first = copy_array(arena, j->net_first, (size_t)j->n_nets + 1, sizeof *b->net_first);
    b->pins = copy_array(arena, j->pins, n_pins, sizeof *b->pins);
    b->net_cost = copy_array(arena, j->net_cost, (size_t)j->n_nets, sizeof *b->net_cost);
    b->at_first = copy_array(arena, j->at_first, n + 1, sizeof *b->at_first);
    b->at = copy_array(arena, j->at, n_pins, sizeof *b->at);
    int64_t *time = CLV_NEW_ARRAY(arena, int64_t, n * (size_t)b->n_kinds);
    if (!b->block_of || !b->bytes || !b->net_first || !b->pins || !b->net_cost || !b->at_first ||
        !b->at || !time)
        return nomem(err);
    for (int32_t k = 0; k < b->n_kinds && n > 0; k++)
        memcpy(time + (size_t)k * n, j->time + (size_t)k * (size_t)j->p->n_classes,
               n * sizeof *time);
    b->time = time;
    return copy_arcs(j, b, arena, err);
}

static clv_status build(clv_block_groups *j, clv_contraction *b, clv_arena *arena, clv_error *err)
{
    bool joined = true;
    const clv_place_problem *p = j->p;
    clv_int128 bytes = clv_place_bytes(p);
    j->n = p->n_classes;
    j->roomy = true;
    for (int32_t k = 0; k < p->n_kinds; k++)
        j->roomy &= p->kinds[k].capacity_bytes < 0 || p->kinds[k].capacity_bytes >= bytes;
    j->group_of = CLV_NEW_ARRAY(j->arena, int32_t, p->n_nodes);
    j->time = CLV_NEW_ARRAY(j->arena, int64_t, (size_t)p->n_kinds * (size_t)p->n_classes);
    j->bytes = CLV_NEW_ARRAY(j->arena, int64_t, p->n_classes);
    if (!j->group_of || !j->time || !j->bytes)
        return nomem(err);
    memcpy(j->group_of, p->class_of, (size_t)p->n_nodes * sizeof *j->group_of);
    b->tick = choose_tick(p);
    CLV_TRY(clv_block_groups_list_arcs(j, err));
    CLV_TRY(clv_block_groups_join_cycles(j, err));
    while (joined) {
        clv_mark mark = clv_arena_mark(j->arena);
        clv_block_groups_sum(j, b->tick);
        CLV_TRY(clv_block_groups_list_nets(j, b->tick, err));
        CLV_TRY(clv_block_groups_join_idle(j, &joined, err));
        clv_arena_rewind(j->arena, mark);
    }
    CLV_TRY(number_blocks(j, err));
    clv_block_groups_sum(j, b->tick);
    CLV_TRY(clv_block_groups_list_nets(j, b->tick, err));
    return copy_blocks(j, b, arena, err);
}

clv_status clv_contraction_new(const clv_place_problem *p, const clv_place_rules *rules,
                               clv_arena *arena, clv_contraction **ret, clv_error *err)
{
    assert(p && rules && arena && ret);
    clv_contraction *b = CLV_NEW(arena, clv_contraction);
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_status status = CLV_ENOMEM;
    if (b && scratch) {
        clv_block_groups j = { .p = p, .arena = scratch, .contiguous = rules->contiguous };
        status = build(&j, b, arena, err);
    } else {
        status = nomem(err);
    }
    clv_arena_free(scratch);
    if (status == CLV_OK)
        *ret = b;
    return status;
}
