#include "compile/memory_plan.h"

#include <assert.h>
#include <string.h>

#include "compile/offset_allocator.h"
#include "cost/op_time.h"

/* Two passes over the group's operators. The first finds the buffers and when each is used last: a
 * view joins the buffer of its input, a tensor from elsewhere is a buffer from its first local
 * reader on. The second gives offsets at the first use, takes them back after the last, and keeps
 * how much is alive meanwhile.
 */
#define NO_MEMORY 0 /* buffer number of what lies with the weights */

typedef struct {
    int64_t bytes;
    int32_t slot, first, last;
    bool forward, backward; /* made or first read by a forward operator; read by a backward one */
    int32_t block;          /* while alive, -1 before and for empty tensors */
    int32_t next_dead;      /* list by last use */
} buffer;

typedef struct {
    const clv_program *p;
    const clv_group *group;
    clv_memory_planner *planner;
    clv_arena *arena;
    buffer *buffers;
    int32_t n_buffers, n_ops;
    int32_t *dead_after; /* n_ops: first buffer of the list, -1 */
    clv_offset_allocator space;
    int64_t live_bytes; /* activations now, aligned */
    bool backward;      /* is the operator that is visited? */
    clv_group_result result;
    clv_placed_buffers *placed; /* NULL: not wanted */
} plan;

clv_status clv_memory_planner_init(clv_memory_planner *planner, const clv_program *p,
                                   clv_arena *arena, clv_error *err)
{
    clv_memory_planner made = { p, CLV_NEW_ARRAY(arena, int64_t, p->n_slots),
                                CLV_NEW_ARRAY(arena, int32_t, p->n_weights), 0 };
    if (!made.buffer_of || !made.weight_seen)
        return clv_fail_nomem(err, "a worker's marks");
    *planner = made;
    return CLV_OK;
}

/* The buffer + 1 of a slot, NO_MEMORY, or -1 when not met yet. */
static int32_t buffer_of(const plan *m, int32_t slot)
{
    int64_t mark = m->planner->buffer_of[slot];
    return (int32_t)(mark >> 32) == m->planner->epoch ? (int32_t)(mark & INT32_MAX) : -1;
}

static void set_buffer(plan *m, int32_t slot, int32_t number)
{
    m->planner->buffer_of[slot] = ((int64_t)m->planner->epoch << 32) | number;
}

static int32_t new_buffer(plan *m, int32_t slot, int32_t first)
{
    m->buffers[m->n_buffers] = (buffer){ .bytes = m->p->bytes[slot],
                                         .slot = slot,
                                         .first = first,
                                         .last = first,
                                         .forward = !m->backward,
                                         .block = -1 };
    set_buffer(m, slot, ++m->n_buffers);
    return m->n_buffers;
}

static void extend_lifetime(plan *m, int32_t number, int32_t i)
{
    if (number == NO_MEMORY)
        return;
    if (m->buffers[number - 1].last < i)
        m->buffers[number - 1].last = i;
    m->buffers[number - 1].backward |= m->backward;
}

static void read_slot(plan *m, int32_t slot, int32_t i)
{
    int32_t number = buffer_of(m, slot);
    if (number < 0 && (m->p->flags[slot] & (CLV_SLOT_CONSTANT | CLV_SLOT_FOLDED))) {
        m->result.weight_bytes += m->p->bytes[slot];
        set_buffer(m, slot, NO_MEMORY);
    } else if (number < 0) {
        bool is_input = m->p->flags[slot] & CLV_SLOT_INPUT;
        extend_lifetime(m, new_buffer(m, slot, is_input ? 0 : i), i);
        if (is_input && !clv_slot_is_state(m->p, slot))
            m->result.io_bytes += clv_align_bytes(m->p->bytes[slot]);
    } else {
        extend_lifetime(m, number, i);
    }
}

/* Does another device read it? O(readers). */
static bool is_sent(const plan *m, int32_t slot)
{
    const clv_program *p = m->p;
    int32_t net = p->net_of[slot];
    if (net < 0)
        return false;
    for (int32_t k = p->net_edge[net]; k < p->net_edge[net + 1]; k++) {
        int32_t unit = p->segment_unit[p->edge_segment[p->net_edges[k]]];
        if (m->group->device_of[unit] != m->group->device)
            return true;
    }
    return false;
}

static void write_slot(plan *m, int32_t slot, int32_t i)
{
    const clv_program *p = m->p;
    unsigned flags = p->flags[slot];
    if (flags & CLV_SLOT_CONSTANT) {
        m->result.weight_bytes += p->bytes[slot];
        set_buffer(m, slot, NO_MEMORY);
        return;
    }
    if (p->view_of[slot] == CLV_VIEW_NONE) {
        extend_lifetime(m, new_buffer(m, slot, flags & CLV_SLOT_KEPT ? 0 : i), i);
    } else {
        int32_t number = p->view_of[slot] >= 0 ? buffer_of(m, p->view_of[slot]) : NO_MEMORY;
        assert(number >= 0);
        set_buffer(m, slot, number);
        extend_lifetime(m, number, i);
        if (number != NO_MEMORY && m->buffers[number - 1].bytes < p->bytes[slot])
            m->buffers[number - 1].bytes = p->bytes[slot];
    }
    if (is_sent(m, slot) && i + 1 < m->n_ops)
        extend_lifetime(m, buffer_of(m, slot), i + 1);
    if (flags & CLV_SLOT_OUTPUT) {
        extend_lifetime(m, buffer_of(m, slot), m->n_ops - 1);
        if (clv_slot_is_state(p, slot))
            m->result.state_bytes += clv_align_bytes(p->bytes[slot]);
        else
            m->result.io_bytes += clv_align_bytes(p->bytes[slot]);
    }
}

/* The group's i-th operator: what it reads, until its kernel is done, then what it writes, then its
 * weights. */
static void visit_operator(plan *m, int32_t position, int32_t i)
{
    const clv_program *p = m->p;
    const clv_subgraphs *units = p->workload.units;
    m->backward = p->backward && p->backward[units->of[units->order[position].i]];
    int32_t done = i + p->kernel_end[position] - position; /* units are whole, so in a row */
    for (int32_t k = p->first_read[position]; k < p->first_read[position + 1]; k++) {
        read_slot(m, p->reads[k], i);
        extend_lifetime(m, buffer_of(m, p->reads[k]), done);
    }
    for (int32_t s = p->first_write[position]; s < p->first_write[position + 1]; s++)
        write_slot(m, s, i);
    for (int32_t k = p->first_weight[position]; k < p->first_weight[position + 1]; k++) {
        int32_t w = p->weight_reads[k];
        if (m->planner->weight_seen[w] == m->planner->epoch)
            continue;
        m->planner->weight_seen[w] = m->planner->epoch;
        m->result.weight_bytes += p->weight_bytes[w];
    }
}

static int32_t range_start(const plan *m, int32_t r)
{
    return clv_program_start(m->p, m->group->ranges[r].first);
}

static int32_t range_end(const plan *m, int32_t r)
{
    return clv_program_start(m->p, m->group->ranges[r].end);
}

static void find_lifetimes(plan *m)
{
    int32_t i = 0;
    for (int32_t r = 0; r < m->group->n_ranges; r++) {
        int32_t end = range_end(m, r);
        for (int32_t position = range_start(m, r); position < end; position++)
            visit_operator(m, position, i++);
    }
    for (int32_t k = 0; k < m->n_ops; k++)
        m->dead_after[k] = -1;
    for (int32_t b = m->n_buffers - 1; b >= 0; b--) {
        if (m->buffers[b].forward && m->buffers[b].backward)
            m->result.stash_bytes += clv_align_bytes(m->buffers[b].bytes);
        m->buffers[b].next_dead = m->dead_after[m->buffers[b].last];
        m->dead_after[m->buffers[b].last] = b;
    }
}

static clv_status record_placed(plan *m, clv_placed_buffer made, clv_error *err)
{
    clv_placed_buffers *to = m->placed;
    if (!to)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(m->arena, to->at, to->n, to->cap))
        return clv_fail_nomem(err, "a device's memory");
    to->at[to->n++] = made;
    return CLV_OK;
}

static clv_status place_buffer(plan *m, int32_t b, clv_error *err)
{
    buffer *it = &m->buffers[b];
    if (it->bytes == 0)
        return CLV_OK;
    it->block = clv_offset_alloc(&m->space, it->bytes);
    if (it->block < 0)
        return clv_fail_nomem(err, "a device's memory");
    m->live_bytes += clv_align_bytes(it->bytes);
    clv_placed_buffer made = { it->slot, it->first, it->last, m->space.at[it->block].offset,
                               it->bytes };
    return record_placed(m, made, err);
}

/* The workspace that is held at an operator, allocated and freed; then the most is alive that is
 * alive with it, so this is where the fullest moment is seen. */
static clv_status place_workspace(plan *m, int32_t position, int32_t i, clv_error *err)
{
    const clv_device_kind *kind = &m->p->workload.cluster->kinds[m->group->kind];
    int64_t bytes = clv_op_workspace(m->p->workspace[position], kind, m->group->proportion);
    int64_t live_bytes = m->live_bytes + clv_align_bytes(bytes);
    clv_group_result *r = &m->result;
    if (live_bytes > r->live_bytes || r->peak_position < 0) {
        r->activation_bytes = m->live_bytes;
        r->workspace_bytes = bytes;
        r->live_bytes = live_bytes;
        r->peak_position = position;
    }
    if (bytes <= 0)
        return CLV_OK;
    int32_t block = clv_offset_alloc(&m->space, bytes);
    if (block < 0)
        return clv_fail_nomem(err, "a device's memory");
    clv_placed_buffer made = { CLV_SLOT_WORKSPACE, i, i, m->space.at[block].offset, bytes };
    clv_status status = record_placed(m, made, err);
    clv_offset_free(&m->space, block);
    return status;
}

/* An input of the model, or a state that stays in place. */
static bool is_there_first(const plan *m, int32_t b)
{
    return m->p->flags[m->buffers[b].slot] & (CLV_SLOT_INPUT | CLV_SLOT_KEPT);
}

static clv_status assign_offsets(plan *m, clv_error *err)
{
    int32_t i = 0, next = 0;
    for (int32_t b = 0; b < m->n_buffers; b++)
        if (is_there_first(m, b))
            CLV_TRY(place_buffer(m, b, err));
    for (int32_t r = 0; r < m->group->n_ranges; r++) {
        int32_t end = range_end(m, r);
        for (int32_t position = range_start(m, r); position < end; position++, i++) {
            for (; next < m->n_buffers && (is_there_first(m, next) || m->buffers[next].first == i);
                 next++)
                if (!is_there_first(m, next))
                    CLV_TRY(place_buffer(m, next, err));
            CLV_TRY(place_workspace(m, position, i, err));
            for (int32_t b = m->dead_after[i]; b >= 0; b = m->buffers[b].next_dead) {
                if (m->buffers[b].block < 0)
                    continue;
                clv_offset_free(&m->space, m->buffers[b].block);
                m->live_bytes -= clv_align_bytes(m->buffers[b].bytes);
            }
        }
    }
    return CLV_OK;
}

static void new_epoch(clv_memory_planner *m)
{
    if (m->epoch == INT32_MAX) {
        memset(m->buffer_of, 0, (size_t)m->program->n_slots * sizeof *m->buffer_of);
        memset(m->weight_seen, 0, (size_t)m->program->n_weights * sizeof *m->weight_seen);
        m->epoch = 0;
    }
    m->epoch++;
}

static clv_status plan_group(plan *m, clv_error *err)
{
    int64_t most_buffers = 0; /* one a slot, and no more than the group's operators read or write */
    for (int32_t r = 0; r < m->group->n_ranges; r++) {
        int32_t start = range_start(m, r), end = range_end(m, r);
        m->n_ops += end - start;
        m->result.busy_ns += m->group->prefix_ns[end] - m->group->prefix_ns[start];
        most_buffers += m->p->first_read[end] - m->p->first_read[start];
        most_buffers += m->p->first_write[end] - m->p->first_write[start];
    }
    if (most_buffers > m->p->n_slots)
        most_buffers = m->p->n_slots;
    m->buffers = CLV_NEW_ROOM(m->arena, buffer, most_buffers);
    m->dead_after = CLV_NEW_ARRAY(m->arena, int32_t, m->n_ops);
    if (!m->buffers || !m->dead_after)
        return clv_fail_nomem(err, "a device's memory");
    new_epoch(m->planner);
    clv_offset_allocator_init(&m->space, m->arena);
    find_lifetimes(m);
    CLV_TRY(assign_offsets(m, err));
    m->result.n_ops = m->n_ops;
    m->result.arena_bytes = m->space.peak;
    m->result.is_packed = m->group->is_packed;
    if (!m->group->is_packed)
        return CLV_OK;
    return clv_pack_by_size(m->placed->at, m->placed->n, m->arena, &m->result.arena_bytes, err);
}

int64_t clv_group_peak(const clv_group_result *r)
{
    return clv_align_bytes(r->weight_bytes) + r->arena_bytes;
}

clv_status clv_plan_memory(clv_memory_planner *planner, const clv_group *group, clv_arena *arena,
                           clv_group_result *ret, clv_placed_buffers *buffers, clv_error *err)
{
    clv_placed_buffers made = { 0 };
    plan m = { .p = planner->program,
               .group = group,
               .planner = planner,
               .arena = arena,
               .result = { .peak_position = -1 },
               .placed = buffers || !group->is_packed ? buffers : &made };
    clv_mark mark = clv_arena_mark(arena);
    clv_status status = plan_group(&m, err);
    if (status == CLV_OK)
        *ret = m.result;
    if (!buffers)
        clv_arena_rewind(arena, mark);
    return status;
}
