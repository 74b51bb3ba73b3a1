#include "solver/placement/latency/evaluate_latency.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"

/* Three passes. The first finds the pieces: the level of a node, seen from a paying device, says
 * how often a path to it has come back to that device. A node's levels for all devices are one
 * short row, and the row of a node is the largest of the rows it reads, so the row pass is a few
 * vector operations an edge. The second adds up what each piece pays. The third runs the pieces and
 * the other nodes in the order in which what they wait for ends.
 */

/* Rows of levels are padded to whole vectors. */
#define ROW_PAD 8

struct clv_latency_evaluator {
    const clv_latency_tables *tables;
    int32_t row;      /* columns of a row of levels */
    int32_t *level;   /* [node * row + column] */
    int32_t *deepest; /* by column: largest level of a node on it; then its first item */
    int32_t *item_of; /* by node: piece, or the node by itself */
    int32_t n_items;
    int32_t *head, *next; /* by item: its first node; by node: the next of its item, or -1 */
    int32_t *waits;       /* by item: edges from other items not yet done */
    int32_t *queue;       /* items whose edges are all done */
    int32_t *stamp;       /* by item: last node that it was seen to read, + 1 */
    bool *pays;           /* by item */
    double *cost, *ready; /* by item */
    uint64_t *rows;       /* [device * words]: quotient graph as rows of bits */
    int32_t words;
    int32_t *before; /* by device: edges of the quotient graph into it */
};

clv_status clv_latency_evaluator_new(const clv_latency_tables *tables, clv_arena *arena,
                                     clv_latency_evaluator **ret, clv_error *err)
{
    clv_latency_evaluator *c = CLV_NEW(arena, clv_latency_evaluator);
    if (!c)
        return clv_fail_nomem(err, "a clock");
    size_t n = (size_t)tables->p->n_nodes, d = (size_t)tables->n_devices;
    c->tables = tables;
    c->row = (tables->n_columns + ROW_PAD - 1) / ROW_PAD * ROW_PAD;
    c->words = (tables->n_devices + 63) / 64;
    c->level = CLV_NEW_ARRAY(arena, int32_t, n * (size_t)c->row);
    c->deepest = CLV_NEW_ARRAY(arena, int32_t, c->row);
    c->item_of = CLV_NEW_ARRAY(arena, int32_t, n);
    c->head = CLV_NEW_ARRAY(arena, int32_t, n);
    c->next = CLV_NEW_ARRAY(arena, int32_t, n);
    c->waits = CLV_NEW_ARRAY(arena, int32_t, n);
    c->queue = CLV_NEW_ARRAY(arena, int32_t, n > d ? n : d);
    c->stamp = CLV_NEW_ARRAY(arena, int32_t, n);
    c->pays = CLV_NEW_ARRAY(arena, bool, n);
    c->cost = CLV_NEW_ARRAY(arena, double, n);
    c->ready = CLV_NEW_ARRAY(arena, double, n);
    c->rows = CLV_NEW_ARRAY(arena, uint64_t, d * (size_t)c->words);
    c->before = CLV_NEW_ARRAY(arena, int32_t, d);
    if (!c->level || !c->deepest || !c->item_of || !c->head || !c->next || !c->waits || !c->queue ||
        !c->stamp || !c->pays || !c->cost || !c->ready || !c->rows || !c->before)
        return clv_fail_nomem(err, "a clock");
    *ret = c;
    return CLV_OK;
}

/* Levels of one node in all columns. */
static void find_level(clv_latency_evaluator *c, const int32_t *device_of_class, int32_t node)
{
    const clv_latency_tables *f = c->tables;
    int32_t row = c->row, device = device_of_class[f->p->class_of[node]];
    int32_t column = f->column_of[device], own = 1;
    int32_t *level = c->level + (size_t)node * (size_t)row;
    memset(level, 0, (size_t)row * sizeof *level);
    for (int32_t e = f->in.first[node]; e < f->in.first[node + 1]; e++) {
        int32_t from = f->in.at[e];
        const int32_t *other = c->level + (size_t)from * (size_t)row;
        for (int32_t i = 0; i < row; i++)
            level[i] = level[i] > other[i] ? level[i] : other[i];
        if (column >= 0) {
            int32_t back = other[column] + (device_of_class[f->p->class_of[from]] != device);
            own = own > back ? own : back;
        }
    }
    if (column < 0)
        return;
    level[column] = own;
    if (c->deepest[column] < own)
        c->deepest[column] = own;
}

/* Numbers pieces and lone nodes, and lists the nodes of each. */
static void find_items(clv_latency_evaluator *c, const int32_t *device_of_class)
{
    const clv_latency_tables *f = c->tables;
    const clv_place_problem *p = f->p;
    memset(c->deepest, 0, (size_t)c->row * sizeof *c->deepest);
    for (int32_t i = 0; i < p->n_nodes; i++)
        find_level(c, device_of_class, p->order[i]);
    int32_t n_items = 0;
    for (int32_t i = 0; i < f->n_columns; i++) {
        int32_t levels = c->deepest[i];
        c->deepest[i] = n_items - 1; /* levels begin at 1 */
        n_items += levels;
    }
    for (int32_t i = 0; i < n_items; i++)
        c->pays[i] = true;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t column = f->column_of[device_of_class[p->class_of[v]]];
        if (column < 0)
            c->pays[n_items] = false;
        c->item_of[v] =
            column < 0 ? n_items++
                       : c->deepest[column] + c->level[(size_t)v * (size_t)c->row + (size_t)column];
    }
    c->n_items = n_items;
    for (int32_t i = 0; i < n_items; i++) {
        c->head[i] = -1;
        c->waits[i] = c->stamp[i] = 0;
        c->cost[i] = c->ready[i] = 0;
    }
    for (int32_t v = 0; v < p->n_nodes; v++) {
        c->next[v] = c->head[c->item_of[v]];
        c->head[c->item_of[v]] = v;
    }
}

static void add_costs(clv_latency_evaluator *c, const int32_t *device_of_class)
{
    const clv_latency_tables *f = c->tables;
    const clv_place_problem *p = f->p;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t item = c->item_of[v], kind = f->kind_of[device_of_class[p->class_of[v]]];
        bool sends = false;
        c->cost[item] += p->time[(size_t)kind * (size_t)p->n_nodes + (size_t)v];
        for (int32_t e = p->out_first[v]; e < p->out_first[v + 1]; e++) {
            int32_t to = c->item_of[p->out[e]];
            if (to == item)
                continue;
            sends = true;
            c->waits[to]++;
            if (c->pays[to] && c->stamp[to] != v + 1) {
                c->stamp[to] = v + 1;
                c->cost[to] += p->send_cost[v];
            }
        }
        if (sends && c->pays[item])
            c->cost[item] += p->send_cost[v];
    }
}

clv_latency_time clv_latency_evaluate(clv_latency_evaluator *c, const int32_t *device_of_class)
{
    const clv_place_problem *p = c->tables->p;
    clv_latency_time time = { 0, 0 };
    int32_t n_done = 0, n_queued = 0;
    find_items(c, device_of_class);
    add_costs(c, device_of_class);
    for (int32_t i = 0; i < c->n_items; i++)
        if (!c->waits[i])
            c->queue[n_queued++] = i;
    while (n_done < n_queued) {
        int32_t item = c->queue[n_done++];
        double end = c->ready[item] + c->cost[item];
        time.latency = end > time.latency ? end : time.latency;
        time.work += c->cost[item];
        for (int32_t v = c->head[item]; v >= 0; v = c->next[v])
            for (int32_t e = p->out_first[v]; e < p->out_first[v + 1]; e++) {
                int32_t to = c->item_of[p->out[e]];
                if (to == item)
                    continue;
                c->ready[to] = c->ready[to] > end ? c->ready[to] : end;
                if (!--c->waits[to])
                    c->queue[n_queued++] = to;
            }
    }
    if (n_done < c->n_items)
        time.latency = INFINITY;
    return time;
}

bool clv_latency_devices_acyclic(clv_latency_evaluator *c, const int32_t *device_of_class)
{
    const clv_latency_tables *f = c->tables;
    int32_t n = f->n_devices, n_done = 0, n_queued = 0;
    memset(c->rows, 0, (size_t)n * (size_t)c->words * sizeof *c->rows);
    memset(c->before, 0, (size_t)n * sizeof *c->before);
    for (int32_t a = 0; a < f->p->n_classes; a++) {
        int32_t from = device_of_class[a];
        uint64_t *row = c->rows + (size_t)from * (size_t)c->words;
        for (int32_t e = f->line.first[a]; e < f->line.first[a + 1]; e++) {
            int32_t to = device_of_class[f->line.at[e]];
            if (to != from && !clv_bit(row, to)) {
                clv_bit_set(row, to);
                c->before[to]++;
            }
        }
    }
    for (int32_t d = 0; d < n; d++)
        if (!c->before[d])
            c->queue[n_queued++] = d;
    while (n_done < n_queued) {
        const uint64_t *row = c->rows + (size_t)c->queue[n_done++] * (size_t)c->words;
        for (int32_t d = 0; d < n; d++)
            if (clv_bit(row, d) && !--c->before[d])
                c->queue[n_queued++] = d;
    }
    return n_done == n;
}
