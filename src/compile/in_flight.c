#include "compile/in_flight.h"

#include "compile/offset_allocator.h"
#include "problem/micro.h"
#include "problem/quotient.h"

typedef struct {
    const clv_program *p;
    const int32_t *device_of;
    int32_t n_devices, microbatches;
    int32_t *level; /* n_devices: the stage, by what is sent in the forward pass */
    int32_t n_levels;
    int32_t *last_net; /* n_devices: counted there last, plus 1 */
    uint64_t *rows;    /* as in quotient.h */
    int32_t last_sent; /* net counted at its writer last */
    int64_t *bytes;
} flight;

/* A net on its way to a device; reader is the first unit that reads it there. */
typedef struct {
    int32_t net, writer, reader;
} delivery;

static bool is_backward(const flight *f, int32_t unit)
{
    return f->p->backward && f->p->backward[unit];
}

/* Visits each net once for each device that it is sent to. */
static void for_each_delivery(flight *f, void (*visit)(flight *f, delivery c))
{
    const clv_program *p = f->p;
    for (int32_t d = 0; d < f->n_devices; d++)
        f->last_net[d] = 0;
    for (int32_t segment = 0; segment < p->n_segments; segment++) {
        int32_t writer = p->segment_unit[segment];
        for (int32_t net = p->segment_net[segment]; net < p->segment_net[segment + 1]; net++)
            for (int32_t k = p->net_edge[net]; k < p->net_edge[net + 1]; k++) {
                int32_t reader = p->segment_unit[p->edge_segment[p->net_edges[k]]];
                int32_t to = f->device_of[reader];
                if (to == f->device_of[writer] || f->last_net[to] == net + 1)
                    continue;
                f->last_net[to] = net + 1;
                visit(f, (delivery){ net, writer, reader });
            }
    }
}

/* An edge of the graph of devices. The backward pass goes through the stages the other way. */
static void add_edge(flight *f, delivery c)
{
    int32_t from = f->device_of[c.writer], to = f->device_of[c.reader];
    size_t words = clv_bits_words(f->n_devices);
    if (!is_backward(f, c.reader))
        clv_bit_set(f->rows + (size_t)from * words, to);
    else if (is_backward(f, c.writer))
        clv_bit_set(f->rows + (size_t)to * words, from);
}

static void add_copies(int64_t *sum_bytes, int64_t bytes, int32_t copies)
{
    int64_t more;
    if (__builtin_mul_overflow(clv_align_bytes(bytes), (int64_t)copies, &more))
        more = INT64_MAX;
    *sum_bytes = clv_add_saturated(*sum_bytes, more);
}

/* The reader's copies beyond the one that is in its arena; and one at the writer, which makes the
 * next while this one is still being sent. Of a net from the forward to the backward pass there are
 * as many between writer and reader as the earlier of the two stages has between its own passes. */
static void count_copies(flight *f, delivery c)
{
    int32_t slot = f->p->net_slot[c.net], copies;
    int32_t from = f->level[f->device_of[c.writer]], to = f->level[f->device_of[c.reader]];
    if (is_backward(f, c.reader) && !is_backward(f, c.writer)) {
        copies = clv_micro_stashed(f->microbatches, f->n_levels, from < to ? from : to);
    } else {
        int32_t ahead = is_backward(f, c.reader) ? from - to : to - from;
        copies = clv_micro_copies(f->microbatches, ahead > 0 ? ahead : 1);
    }
    add_copies(&f->bytes[f->device_of[c.reader]], f->p->bytes[slot], copies - 1);
    if (f->last_sent == c.net || (f->p->flags[slot] & CLV_SLOT_OUTPUT))
        return;
    f->last_sent = c.net;
    add_copies(&f->bytes[f->device_of[c.writer]], f->p->bytes[slot], 1);
}

clv_status clv_in_flight_bytes(const clv_candidate *candidate, const clv_group_result *results,
                               int32_t microbatches, clv_arena *arena, int64_t *ret, clv_error *err)
{
    int32_t n = candidate->program->workload.cluster->n_devices;
    flight f = { .p = candidate->program,
                 .device_of = candidate->device_of,
                 .n_devices = n,
                 .microbatches = microbatches,
                 .last_sent = -1,
                 .bytes = ret };
    for (int32_t d = 0; d < n; d++)
        ret[d] = microbatches > 1 ? results[d].io_bytes : 0;
    if (microbatches <= 1)
        return CLV_OK;
    clv_mark mark = clv_arena_mark(arena);
    f.rows = CLV_NEW_ARRAY(arena, uint64_t, (size_t)n * clv_bits_words(n));
    f.level = CLV_NEW_ARRAY(arena, int32_t, 3 * (size_t)n);
    f.last_net = CLV_NEW_ARRAY(arena, int32_t, n);
    if (!f.rows || !f.level || !f.last_net)
        return clv_fail_nomem(err, "what is in flight");
    for_each_delivery(&f, add_edge);
    clv_quotient_levels(f.rows, n, f.level, f.level + n);
    for (int32_t d = 0; d < n; d++)
        f.n_levels = f.level[d] + 1 > f.n_levels ? f.level[d] + 1 : f.n_levels;
    for_each_delivery(&f, count_copies);
    for (int32_t d = 0; d < n; d++) {
        add_copies(&ret[d], results[d].stash_bytes,
                   clv_micro_stashed(microbatches, f.n_levels, f.level[d]) - 1);
        add_copies(&ret[d], results[d].state_bytes, clv_micro_states(microbatches, f.n_levels) - 1);
    }
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
