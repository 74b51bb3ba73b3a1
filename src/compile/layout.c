#include "compile/layout.h"

#include <assert.h>
#include <string.h>

#include "compile/addresses.h"
#include "compile/pack.h"

/* Two passes over the group's operators. The first finds the buffers and when each is used last: a
 * view joins the buffer of its input, a tensor from elsewhere is a buffer from its first local
 * reader on. The second gives addresses at the first use, takes them back after the last, and notes
 * how much is alive meanwhile.
 */
#define NO_MEMORY 0 /* buffer number of what lies with the weights */

typedef struct {
    int64_t bytes;
    int32_t slot, first, last;
    bool forward, backward; /* made or first read by a forward operator; read by a backward one */
    int32_t block;     /* while alive, -1 before and for empty tensors */
    int32_t next_dead; /* list by last use */
} buffer;

typedef struct {
    const clv_program *p;
    const clv_group *group;
    clv_layout_marks *marks;
    clv_arena *arena;
    buffer *buffers;
    int32_t n_buffers, n_ops;
    int32_t *dead_after; /* n_ops: first buffer of the list, -1 */
    clv_addresses space;
    int64_t live;  /* activations now, aligned */
    bool backward; /* is the operator that is visited? */
    clv_group_result result;
    clv_placements *placements;
} layout;

clv_status clv_layout_marks_init(clv_layout_marks *m, const clv_program *p, clv_arena *arena,
                                 clv_error *err)
{
    clv_layout_marks made = { CLV_NEW_ARRAY(arena, int64_t, p->n_slots),
                              CLV_NEW_ARRAY(arena, int32_t, p->n_weights), 0 };
    if (!made.buffer_of || !made.weight_seen)
        return clv_fail_nomem(err, "a worker's marks");
    *m = made;
    return CLV_OK;
}

static void new_epoch(clv_layout_marks *m, const clv_program *p)
{
    if (m->epoch == INT32_MAX) {
        memset(m->buffer_of, 0, (size_t)p->n_slots * sizeof *m->buffer_of);
        memset(m->weight_seen, 0, (size_t)p->n_weights * sizeof *m->weight_seen);
        m->epoch = 0;
    }
    m->epoch++;
}

/* The buffer + 1 of a slot, NO_MEMORY, or -1 when not met yet. */
static int32_t buffer_of(const layout *l, int32_t slot)
{
    int64_t mark = l->marks->buffer_of[slot];
    return (int32_t)(mark >> 32) == l->marks->epoch ? (int32_t)(mark & INT32_MAX) : -1;
}

static void set_buffer(layout *l, int32_t slot, int32_t number)
{
    l->marks->buffer_of[slot] = ((int64_t)l->marks->epoch << 32) | number;
}

static int32_t new_buffer(layout *l, int32_t slot, int32_t first)
{
    l->buffers[l->n_buffers] = (buffer){
        .bytes = l->p->bytes[slot],
        .slot = slot,
        .first = first,
        .last = first,
        .forward = !l->backward,
        .block = -1
    };
    set_buffer(l, slot, ++l->n_buffers);
    return l->n_buffers;
}

static void use(layout *l, int32_t number, int32_t i)
{
    if (number == NO_MEMORY)
        return;
    if (l->buffers[number - 1].last < i)
        l->buffers[number - 1].last = i;
    l->buffers[number - 1].backward |= l->backward;
}

static void read_slot(layout *l, int32_t slot, int32_t i)
{
    int32_t number = buffer_of(l, slot);
    if (number < 0 && (l->p->flags[slot] & (CLV_SLOT_CONSTANT | CLV_SLOT_FOLDED))) {
        l->result.weight_bytes += l->p->bytes[slot];
        set_buffer(l, slot, NO_MEMORY);
    } else if (number < 0) {
        bool is_input = l->p->flags[slot] & CLV_SLOT_INPUT;
        use(l, new_buffer(l, slot, is_input ? 0 : i), i);
        l->result.io_bytes += is_input ? clv_align_bytes(l->p->bytes[slot]) : 0;
    } else {
        use(l, number, i);
    }
}

/* Does another device read it? O(readers). */
static bool is_sent(const layout *l, int32_t slot)
{
    const clv_program *p = l->p;
    int32_t net = p->net_of[slot];
    if (net < 0)
        return false;
    for (int32_t k = p->net_edge[net]; k < p->net_edge[net + 1]; k++) {
        int32_t unit = p->segment_unit[p->edge_segment[p->net_edges[k]]];
        if (l->group->device_of[unit] != l->group->device)
            return true;
    }
    return false;
}

static void join_view(layout *l, int32_t slot, int32_t i)
{
    int32_t number = NO_MEMORY;
    if (l->p->view_of[slot] >= 0)
        number = buffer_of(l, l->p->view_of[slot]);
    assert(number >= 0);
    set_buffer(l, slot, number);
    use(l, number, i);
    if (number != NO_MEMORY && l->buffers[number - 1].bytes < l->p->bytes[slot])
        l->buffers[number - 1].bytes = l->p->bytes[slot];
}

static void write_slot(layout *l, int32_t slot, int32_t i)
{
    unsigned flags = l->p->flags[slot];
    if (flags & CLV_SLOT_CONSTANT) {
        l->result.weight_bytes += l->p->bytes[slot];
        set_buffer(l, slot, NO_MEMORY);
        return;
    }
    if (l->p->view_of[slot] == CLV_VIEW_NONE)
        new_buffer(l, slot, i);
    else
        join_view(l, slot, i);
    if (is_sent(l, slot) && i + 1 < l->n_ops)
        use(l, buffer_of(l, slot), i + 1);
    if (flags & CLV_SLOT_OUTPUT) {
        use(l, buffer_of(l, slot), l->n_ops - 1);
        l->result.io_bytes += clv_align_bytes(l->p->bytes[slot]);
    }
}

static void visit_weights(layout *l, int32_t position)
{
    const clv_program *p = l->p;
    for (int32_t k = p->first_weight[position]; k < p->first_weight[position + 1]; k++) {
        int32_t w = p->weight_reads[k];
        if (l->marks->weight_seen[w] == l->marks->epoch)
            continue;
        l->marks->weight_seen[w] = l->marks->epoch;
        l->result.weight_bytes += p->weight_bytes[w];
    }
}

static void visit_operator(layout *l, int32_t position, int32_t i)
{
    const clv_program *p = l->p;
    const clv_subgraphs *units = p->workload.units;
    l->backward = p->backward && p->backward[units->of[units->order[position].i]];
    for (int32_t k = p->first_read[position]; k < p->first_read[position + 1]; k++)
        read_slot(l, p->reads[k], i);
    for (int32_t s = p->first_write[position]; s < p->first_write[position + 1]; s++)
        write_slot(l, s, i);
    visit_weights(l, position);
    l->result.flops = clv_add_saturated(l->result.flops, clv_program_cost(p, position)->flops);
}

static int32_t range_start(const layout *l, int32_t r)
{
    return l->p->segment_first[l->p->unit_segment[l->group->ranges[r].first]];
}

static int32_t range_end(const layout *l, int32_t r)
{
    return l->p->segment_first[l->p->unit_segment[l->group->ranges[r].end]];
}

static void find_lifetimes(layout *l)
{
    int32_t i = 0;
    for (int32_t r = 0; r < l->group->n_ranges; r++) {
        int32_t end = range_end(l, r);
        for (int32_t position = range_start(l, r); position < end; position++)
            visit_operator(l, position, i++);
    }
    for (int32_t k = 0; k < l->n_ops; k++)
        l->dead_after[k] = -1;
    for (int32_t b = l->n_buffers - 1; b >= 0; b--) {
        if (l->buffers[b].forward && l->buffers[b].backward)
            l->result.stash_bytes += clv_align_bytes(l->buffers[b].bytes);
        l->buffers[b].next_dead = l->dead_after[l->buffers[b].last];
        l->dead_after[l->buffers[b].last] = b;
    }
}

static clv_status record(layout *l, clv_place_problem made, clv_error *err)
{
    clv_placements *to = l->placements;
    if (!to)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(l->arena, to->at, to->n, to->cap))
        return clv_fail_nomem(err, "a device's memory");
    to->at[to->n++] = made;
    return CLV_OK;
}

static clv_status place(layout *l, int32_t b, clv_error *err)
{
    buffer *it = &l->buffers[b];
    if (it->bytes == 0)
        return CLV_OK;
    it->block = clv_addresses_take(&l->space, it->bytes);
    if (it->block < 0)
        return clv_fail_nomem(err, "a device's memory");
    l->live += clv_align_bytes(it->bytes);
    return record(
        l,
        (clv_place_problem){ it->slot, it->first, it->last, l->space.at[it->block].offset, it->bytes },
        err);
}

static void free_dead(layout *l, int32_t i)
{
    for (int32_t b = l->dead_after[i]; b >= 0; b = l->buffers[b].next_dead) {
        if (l->buffers[b].block < 0)
            continue;
        clv_addresses_give(&l->space, l->buffers[b].block);
        l->live -= clv_align_bytes(l->buffers[b].bytes);
    }
}

static void note_fullest(layout *l, int32_t position, int64_t workspace)
{
    clv_group_result *r = &l->result;
    int64_t live = l->live + clv_align_bytes(workspace);
    if (live <= r->live_bytes && r->peak_position >= 0)
        return;
    r->activation_bytes = l->live;
    r->workspace_bytes = workspace;
    r->live_bytes = live;
    r->peak_position = position;
}

/* The workspace of one operator, taken and given back. */
static clv_status work(layout *l, int32_t position, int32_t i, clv_error *err)
{
    const clv_device_kind *kind = &l->p->workload.cluster->kinds[l->group->kind];
    int64_t bytes = clv_op_workspace(clv_program_cost(l->p, position), kind, l->group->proportion);
    note_fullest(l, position, bytes);
    if (bytes <= 0)
        return CLV_OK;
    int32_t block = clv_addresses_take(&l->space, bytes);
    if (block < 0)
        return clv_fail_nomem(err, "a device's memory");
    clv_status status = record(
        l, (clv_place_problem){ CLV_SLOT_WORKSPACE, i, i, l->space.at[block].offset, bytes }, err);
    clv_addresses_give(&l->space, block);
    return status;
}

static bool is_input(const layout *l, int32_t b)
{
    return l->p->flags[l->buffers[b].slot] & CLV_SLOT_INPUT;
}

static clv_status give_addresses(layout *l, clv_error *err)
{
    int32_t i = 0, next = 0;
    for (int32_t b = 0; b < l->n_buffers; b++)
        if (is_input(l, b))
            CLV_TRY(place(l, b, err));
    for (int32_t r = 0; r < l->group->n_ranges; r++) {
        int32_t end = range_end(l, r);
        for (int32_t position = range_start(l, r); position < end; position++, i++) {
            for (; next < l->n_buffers && (is_input(l, next) || l->buffers[next].first == i);
                 next++)
                if (!is_input(l, next))
                    CLV_TRY(place(l, next, err));
            CLV_TRY(work(l, position, i, err));
            free_dead(l, i);
        }
    }
    return CLV_OK;
}

/* No more than one buffer a slot, and no more than the group's operators read or write. */
static int64_t most_buffers(const layout *l)
{
    int64_t n = 0;
    for (int32_t r = 0; r < l->group->n_ranges; r++) {
        int32_t start = range_start(l, r), end = range_end(l, r);
        n += l->p->first_read[end] - l->p->first_read[start];
        n += l->p->first_write[end] - l->p->first_write[start];
    }
    return n < l->p->n_slots ? n : l->p->n_slots;
}

static clv_status run(layout *l, clv_error *err)
{
    for (int32_t r = 0; r < l->group->n_ranges; r++) {
        int32_t start = range_start(l, r), end = range_end(l, r);
        l->n_ops += end - start;
        l->result.busy_ns += l->group->ticks[end] - l->group->ticks[start];
    }
    l->buffers = CLV_NEW_ARRAY(l->arena, buffer, most_buffers(l));
    l->dead_after = CLV_NEW_ARRAY(l->arena, int32_t, l->n_ops);
    if (!l->buffers || !l->dead_after)
        return clv_fail_nomem(err, "a device's memory");
    new_epoch(l->marks, l->p);
    clv_addresses_init(&l->space, l->arena);
    find_lifetimes(l);
    CLV_TRY(give_addresses(l, err));
    l->result.n_ops = l->n_ops;
    l->result.arena_bytes = l->space.peak;
    l->result.is_packed = l->group->is_packed;
    if (!l->group->is_packed)
        return CLV_OK;
    return clv_pack(l->placements->at, l->placements->n, l->arena, &l->result.arena_bytes, err);
}

int64_t clv_group_peak(const clv_group_result *r)
{
    return clv_align_bytes(r->weight_bytes) + r->arena_bytes;
}

clv_status clv_layout(const clv_program *p, const clv_group *group, clv_layout_marks *marks,
                      clv_arena *arena, clv_group_result *ret, clv_placements *placements,
                      clv_error *err)
{
    clv_placements made = { 0 };
    layout l = { .p = p,
                 .group = group,
                 .marks = marks,
                 .arena = arena,
                 .result = { .peak_position = -1 },
                 .placements = placements         ? placements
                               : group->is_packed ? &made
                                                  : NULL };
    clv_mark mark = clv_arena_mark(arena);
    clv_status status = run(&l, err);
    if (status == CLV_OK)
        *ret = l.result;
    if (!placements)
        clv_arena_rewind(arena, mark);
    return status;
}
