#include "graph/order.h"

#include <assert.h>

/* Kahn's algorithm (1962) with a binary min-heap as the ready set. The heap makes the order a
 * function of the graph alone; a plain queue would make it one of the order in which edges are
 * stored.
 */

typedef struct {
    int32_t *at;
    int32_t n;
} ready_set;

static void ready_push(ready_set *r, int32_t op)
{
    int32_t k = r->n++;
    while (k > 0 && r->at[(k - 1) / 2] > op) {
        r->at[k] = r->at[(k - 1) / 2];
        k = (k - 1) / 2;
    }
    r->at[k] = op;
}

static int32_t ready_pop(ready_set *r)
{
    int32_t top = r->at[0], last = r->at[--r->n], k = 0;
    for (;;) {
        int32_t child = 2 * k + 1;
        if (child >= r->n)
            break;
        if (child + 1 < r->n && r->at[child + 1] < r->at[child])
            child++;
        if (last <= r->at[child])
            break;
        r->at[k] = r->at[child];
        k = child;
    }
    r->at[k] = last;
    return top;
}

/* "v waits for u" turned into "u is waited for by v", by counting. */
static void reverse_edges(const clv_order_in *in, int32_t *start, int32_t *to)
{
    for (int32_t e = 0; e < in->start[in->n_ops]; e++)
        start[in->from[e] + 1]++;
    for (int32_t u = 0; u < in->n_ops; u++)
        start[u + 1] += start[u];
    for (int32_t v = in->n_ops - 1; v >= 0; v--)
        for (int32_t e = in->start[v]; e < in->start[v + 1]; e++)
            to[--start[in->from[e] + 1]] = v;
    /* start[u + 1] is now where u's list begins: shift it back by one. */
    for (int32_t u = 0; u < in->n_ops; u++)
        start[u] = start[u + 1];
    start[in->n_ops] = in->start[in->n_ops];
}

/* A stuck operator waits for a stuck one, so n steps back from any end on a cycle. */
static int32_t find_on_cycle(const clv_order_in *in, const int32_t *waits)
{
    int32_t at = 0;
    while (waits[at] == 0)
        at++;
    for (int32_t step = 0; step < in->n_ops; step++)
        for (int32_t e = in->start[at]; e < in->start[at + 1]; e++)
            if (waits[in->from[e]] > 0) {
                at = in->from[e];
                break;
            }
    return at;
}

static int32_t sort(const clv_order_in *in, const int32_t *start, const int32_t *to, int32_t *waits,
                    ready_set *ready, int32_t *order)
{
    int32_t n = 0;
    for (int32_t v = 0; v < in->n_ops; v++) {
        waits[v] = in->start[v + 1] - in->start[v];
        if (waits[v] == 0)
            ready_push(ready, v);
    }
    while (ready->n > 0) {
        int32_t u = order[n++] = ready_pop(ready);
        for (int32_t e = start[u]; e < start[u + 1]; e++)
            if (--waits[to[e]] == 0)
                ready_push(ready, to[e]);
    }
    return n;
}

clv_status clv_order(const clv_order_in *in, clv_arena *arena, int32_t **ret_order,
                     int32_t *ret_cycle, clv_error *err)
{
    assert(in->n_ops >= 0);
    int32_t n = in->n_ops;
    int32_t *order = CLV_NEW_ARRAY(arena, int32_t, n);
    if (!order)
        return clv_fail_nomem(err, "the order of the operators");
    *ret_cycle = -1;
    clv_mark scratch = clv_arena_mark(arena);
    int32_t *start = CLV_NEW_ARRAY(arena, int32_t, n + 1);
    int32_t *to = CLV_NEW_ARRAY(arena, int32_t, in->start[n]);
    int32_t *waits = CLV_NEW_ARRAY(arena, int32_t, n);
    ready_set ready = { CLV_NEW_ARRAY(arena, int32_t, n), 0 };
    clv_status status = CLV_OK;
    if (!start || !to || !waits || !ready.at) {
        status = clv_fail_nomem(err, "ordering the operators");
    } else {
        reverse_edges(in, start, to);
        if (sort(in, start, to, waits, &ready, order) < n)
            *ret_cycle = find_on_cycle(in, waits);
        else
            *ret_order = order;
    }
    clv_arena_rewind(arena, scratch);
    return status;
}
