/* quotient.c - the graph of groups: one node a device, an edge where a net leads across.
 *
 * It has as many nodes as there are devices, however many units there are, so it is kept as a
 * matrix of bits and sorted with Kahn's algorithm.
 */
#include "problem/quotient.h"

#include <assert.h>

void clv_quotient_rows(const clv_partition_problem *p, const int32_t *device_of, uint64_t *rows)
{
    size_t words = clv_bits_words(p->n_devices);
    for (int32_t n = 0; n < p->n_nets; n++) {
        int32_t from = device_of[p->net_from[n]];
        for (int32_t i = p->net_first[n]; i < p->net_first[n + 1]; i++) {
            int32_t to = device_of[p->net_to[i]];
            if (to != from)
                clv_bit_set(rows + (size_t)from * words, to);
        }
    }
}

bool clv_quotient_levels(const uint64_t *rows, int32_t n, int32_t *level, int32_t *scratch)
{
    size_t words = clv_bits_words(n);
    int32_t *waits_for = scratch, *ready = scratch + n, n_ready = 0;
    for (int32_t b = 0; b < n; b++) {
        level[b] = waits_for[b] = 0;
        for (int32_t a = 0; a < n; a++)
            waits_for[b] += clv_bit(rows + (size_t)a * words, b);
        if (waits_for[b] == 0)
            ready[n_ready++] = b;
    }
    for (int32_t i = 0; i < n_ready; i++) {
        int32_t a = ready[i];
        for (int32_t b = 0; b < n; b++) {
            if (!clv_bit(rows + (size_t)a * words, b))
                continue;
            if (level[b] < level[a] + 1)
                level[b] = level[a] + 1;
            if (--waits_for[b] == 0)
                ready[n_ready++] = b;
        }
    }
    return n_ready == n;
}

typedef struct {
    int32_t *level;
    bool known, acyclic; /* not known: no memory */
} levels;

/* What it takes from the arena is for the caller to give back. */
static levels find_levels(const clv_partition_problem *p, const int32_t *device_of,
                          clv_arena *arena)
{
    size_t n = (size_t)p->n_devices;
    uint64_t *rows = CLV_NEW_ARRAY(arena, uint64_t, n * clv_bits_words(p->n_devices));
    int32_t *level = CLV_NEW_ARRAY(arena, int32_t, 3 * n);
    if (!rows || !level)
        return (levels){ .known = false };
    clv_quotient_rows(p, device_of, rows);
    bool acyclic = clv_quotient_levels(rows, p->n_devices, level, level + n);
    return (levels){ level, true, acyclic };
}

bool clv_partition_is_acyclic(const clv_partition_problem *p, const int32_t *device_of,
                              clv_arena *arena)
{
    assert(p && p->n_devices >= 0 && (device_of || p->n_units == 0));
    clv_mark mark = clv_arena_mark(arena);
    levels found = find_levels(p, device_of, arena);
    clv_arena_rewind(arena, mark);
    return found.known && found.acyclic;
}

int32_t clv_partition_stages(const clv_partition_problem *p, const int32_t *device_of,
                             clv_arena *arena, int32_t *stage_of_device)
{
    clv_mark mark = clv_arena_mark(arena);
    levels found = find_levels(p, device_of, arena);
    int32_t n_stages = found.known ? 0 : -1;
    for (int32_t d = 0; found.known && d < p->n_devices; d++)
        stage_of_device[d] = -1;
    for (int32_t u = 0; found.known && u < p->n_units; u++) {
        int32_t d = device_of[u];
        stage_of_device[d] = found.level[d];
        if (n_stages < found.level[d] + 1)
            n_stages = found.level[d] + 1;
    }
    clv_arena_rewind(arena, mark);
    return n_stages;
}
