#include "support/place_convert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *array(clv_arena *arena, int n, size_t size)
{
    void *at = clv_arena_take_array(arena, (size_t)n, size);
    if (!at)
        abort();
    return at;
}

static clv_place_kind *kinds_of(const oracle_problem *p, clv_arena *arena)
{
    static const char *const names[ORACLE_KINDS] = { "zero", "one", "two", "three" };
    clv_place_kind *kinds = array(arena, p->n_kinds, sizeof *kinds);
    for (int k = 0; k < p->n_kinds; k++) {
        kinds[k].name = names[k];
        kinds[k].count = p->kind[k].count;
        kinds[k].capacity_bytes =
            p->kind[k].capacity < 0 ? CLV_PLACE_UNLIMITED : p->kind[k].capacity;
        kinds[k].pays = p->kind[k].pays;
    }
    return kinds;
}

static void set_edges(const oracle_problem *p, clv_arena *arena, clv_place_problem *ret)
{
    int32_t *first = array(arena, p->n + 1, sizeof *first), *out = array(arena, p->m, sizeof *out);
    int n = 0;
    for (int v = 0; v < p->n; v++) {
        first[v] = n;
        for (int e = 0; e < p->m; e++)
            if (p->from[e] == v)
                out[n++] = p->to[e];
    }
    first[p->n] = n;
    ret->out_first = first;
    ret->out = out;
}

/* Again and again the first node of which all sources are there. */
static int32_t *order_of(const oracle_problem *p, clv_arena *arena)
{
    int32_t *order = array(arena, p->n, sizeof *order);
    bool there[ORACLE_NODES] = { false };
    for (int n = 0; n < p->n; n++) {
        int v = 0;
        for (bool fine = false; !fine; v += !fine) {
            if (v == p->n)
                abort(); /* a cycle */
            fine = !there[v];
            for (int e = 0; e < p->m && fine; e++)
                fine = p->to[e] != v || there[p->from[e]];
        }
        there[v] = true;
        order[n] = v;
    }
    return order;
}

clv_place_problem *placement_of(const oracle_problem *p, clv_arena *arena)
{
    clv_place_problem *ret = array(arena, 1, sizeof *ret);
    int64_t *id = array(arena, p->n, sizeof *id), *bytes = array(arena, p->n, sizeof *bytes);
    double *time = array(arena, p->n * p->n_kinds, sizeof *time);
    double *cost = array(arena, p->n, sizeof *cost);
    bool *backward = array(arena, p->n, sizeof *backward);
    int32_t *class_of = array(arena, p->n, sizeof *class_of);
    for (int v = 0; v < p->n; v++) {
        id[v] = 10 * v + 7;
        bytes[v] = p->bytes[v];
        cost[v] = p->cost[v];
        backward[v] = p->backward[v];
        class_of[v] = p->class_of[v];
        for (int k = 0; k < p->n_kinds; k++)
            time[k * p->n + v] = p->time[k][v] < 0 ? CLV_PLACE_NEVER : p->time[k][v];
    }
    *ret = (clv_place_problem){ .n_nodes = p->n,
                                .n_edges = p->m,
                                .n_classes = p->n_classes,
                                .n_kinds = p->n_kinds,
                                .kinds = kinds_of(p, arena),
                                .id = id,
                                .time = time,
                                .bytes = bytes,
                                .send_cost = cost,
                                .backward = backward,
                                .class_of = class_of,
                                .order = order_of(p, arena) };
    set_edges(p, arena, ret);
    return ret;
}

clv_place_rules placement_rules(const oracle_rules *rules)
{
    static const clv_place_objective objectives[] = { [ORACLE_THROUGHPUT] = CLV_PLACE_THROUGHPUT,
                                                      [ORACLE_LATENCY] = CLV_PLACE_LATENCY,
                                                      [ORACLE_FEWEST] = CLV_PLACE_DEVICES };
    return (clv_place_rules){ .objective = objectives[rules->objective],
                              .contiguous = rules->contiguous,
                              .max_load = rules->max_load };
}

static bool is_small(const clv_place_problem *p)
{
    int64_t devices = 0;
    for (int32_t k = 0; k < p->n_kinds; k++)
        devices += p->kinds[k].count;
    return p->n_nodes <= ORACLE_NODES && p->n_edges <= ORACLE_EDGES && p->n_kinds <= ORACLE_KINDS &&
           devices <= ORACLE_DEVICES;
}

static void copy_node(const clv_place_problem *p, int32_t v, oracle_problem *ret)
{
    ret->bytes[v] = p->bytes[v];
    ret->cost[v] = p->send_cost[v];
    ret->backward[v] = p->backward[v];
    ret->class_of[v] = p->class_of[v];
    for (int32_t k = 0; k < p->n_kinds; k++)
        ret->time[k][v] = p->time[k * p->n_nodes + v];
    for (int32_t i = p->out_first[v]; i < p->out_first[v + 1]; i++) {
        ret->from[ret->m] = v;
        ret->to[ret->m++] = p->out[i];
    }
}

bool oracle_of(const clv_place_problem *p, oracle_problem *ret)
{
    if (!is_small(p))
        return false;
    memset(ret, 0, sizeof *ret);
    ret->n = p->n_nodes;
    ret->n_classes = p->n_classes;
    ret->n_kinds = p->n_kinds;
    for (int32_t k = 0; k < p->n_kinds; k++)
        ret->kind[k] =
            (oracle_kind){ p->kinds[k].count, p->kinds[k].capacity_bytes, p->kinds[k].pays };
    for (int32_t v = 0; v < p->n_nodes; v++)
        copy_node(p, v, ret);
    return true;
}
