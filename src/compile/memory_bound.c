#include "compile/memory_bound.h"

#include "compile/offset_allocator.h"

/* As memory_plan.c finds lifetimes, for a unit whose neighbours may be here or elsewhere; of two
 * cases always the one that holds less:
 *
 * - made elsewhere: from its first reader in the unit to its last;
 * - made here and read by other units: through the operator after its own, as if it were sent;
 * - of several views of one tensor that was made elsewhere only the first that is read counts, as
 *   they may lie in one buffer.
 */
#define UNCOUNTED (-1)

typedef struct {
    int64_t bytes;
    int32_t first, last; /* operators of the unit */
} buffer;

typedef struct {
    const clv_program *p;
    int32_t *root;      /* by slot: whose memory it is in the end; CLV_VIEW_OF_WEIGHT: it may lie
                         * with the weights */
    int32_t *buffer_of; /* by slot: in buffers, or UNCOUNTED; read only if unit_of is the unit's */
    int32_t *unit_of;   /* by slot: unit + 1 that met it */
    int32_t *taken_by;  /* by root: unit + 1 that counts one of its slots */
    buffer *buffers;    /* of the unit */
    int64_t *change;    /* by operator of the unit: bytes that come alive, less those that died */
    int32_t n_buffers, first_op, n_ops, unit;
} walk;

/* Of views of views, too, every one in between counts: on the device that reads it, it is where its
 * memory begins. */
static int32_t root_of(const walk *w, int32_t slot)
{
    int32_t of = w->p->view_of[slot];
    if (w->p->flags[slot] & (CLV_SLOT_CONSTANT | CLV_SLOT_FOLDED))
        return CLV_VIEW_OF_WEIGHT;
    return of == CLV_VIEW_NONE ? slot : of == CLV_VIEW_OF_WEIGHT ? of : w->root[of];
}

static bool lies_with_weights(const walk *w, int32_t slot)
{
    return w->root[slot] == CLV_VIEW_OF_WEIGHT;
}

static void set_buffer(walk *w, int32_t slot, int32_t number)
{
    w->unit_of[slot] = w->unit + 1;
    w->buffer_of[slot] = number;
}

/* The slot's bytes count from operator i on, unless they may not or its root's count already. */
static void begin_lifetime(walk *w, int32_t slot, int32_t i)
{
    if (lies_with_weights(w, slot) || w->taken_by[w->root[slot]] == w->unit + 1) {
        set_buffer(w, slot, UNCOUNTED);
        return;
    }
    w->taken_by[w->root[slot]] = w->unit + 1;
    w->buffers[w->n_buffers] = (buffer){ w->p->bytes[slot], i, i };
    set_buffer(w, slot, w->n_buffers++);
}

static void extend_lifetime(walk *w, int32_t slot, int32_t i)
{
    int32_t number = w->buffer_of[slot];
    if (number != UNCOUNTED && w->buffers[number].last < i)
        w->buffers[number].last = i;
}

static void write_slot(walk *w, int32_t slot, int32_t i)
{
    const clv_program *p = w->p;
    int32_t of = p->view_of[slot];
    if (of < 0 || lies_with_weights(w, slot)) {
        begin_lifetime(w, slot, i);
    } else {
        int32_t number = w->buffer_of[of]; /* the operator has read it */
        set_buffer(w, slot, number);
        if (number != UNCOUNTED && w->buffers[number].bytes < p->bytes[slot])
            w->buffers[number].bytes = p->bytes[slot];
        extend_lifetime(w, slot, i);
    }
    if (p->net_of[slot] >= 0 && i + 1 < w->n_ops)
        extend_lifetime(w, slot, i + 1);
    if (p->flags[slot] & CLV_SLOT_OUTPUT)
        extend_lifetime(w, slot, w->n_ops - 1);
}

static int64_t most_alive_bytes(walk *w)
{
    int64_t now_bytes = 0, most_bytes = 0;
    for (int32_t i = 0; i <= w->n_ops; i++)
        w->change[i] = 0;
    for (int32_t b = 0; b < w->n_buffers; b++) {
        w->change[w->buffers[b].first] += clv_align_bytes(w->buffers[b].bytes);
        w->change[w->buffers[b].last + 1] -= clv_align_bytes(w->buffers[b].bytes);
    }
    for (int32_t i = 0; i < w->n_ops; i++) {
        now_bytes += w->change[i];
        most_bytes = now_bytes > most_bytes ? now_bytes : most_bytes;
    }
    return most_bytes;
}

static int64_t bound_unit(walk *w)
{
    const clv_program *p = w->p;
    w->first_op = clv_program_start(p, w->unit);
    w->n_ops = clv_program_start(p, w->unit + 1) - w->first_op;
    w->n_buffers = 0;
    for (int32_t i = 0; i < w->n_ops; i++) {
        int32_t at = w->first_op + i;
        for (int32_t k = p->first_read[at]; k < p->first_read[at + 1]; k++)
            if (w->unit_of[p->reads[k]] == w->unit + 1)
                extend_lifetime(w, p->reads[k], i);
            else
                begin_lifetime(w, p->reads[k], i);
        for (int32_t s = p->first_write[at]; s < p->first_write[at + 1]; s++)
            write_slot(w, s, i);
    }
    return most_alive_bytes(w);
}

clv_status clv_unit_live_bytes(const clv_program *p, clv_arena *arena, int64_t *live_bytes,
                               clv_error *err)
{
    clv_mark mark = clv_arena_mark(arena);
    walk w = { .p = p,
               .root = CLV_NEW_ARRAY(arena, int32_t, p->n_slots),
               .buffer_of = CLV_NEW_ARRAY(arena, int32_t, p->n_slots),
               .unit_of = CLV_NEW_ARRAY(arena, int32_t, p->n_slots),
               .taken_by = CLV_NEW_ARRAY(arena, int32_t, p->n_slots),
               .buffers = CLV_NEW_ARRAY(arena, buffer, p->n_slots),
               .change = CLV_NEW_ARRAY(arena, int64_t, p->n_ops + 1) };
    bool enough = w.root && w.buffer_of && w.unit_of && w.taken_by && w.buffers && w.change;
    for (int32_t s = 0; enough && s < p->n_slots; s++)
        w.root[s] = root_of(&w, s);
    for (; enough && w.unit < p->n_units; w.unit++)
        live_bytes[w.unit] = bound_unit(&w);
    clv_arena_rewind(arena, mark);
    return enough ? CLV_OK : clv_fail_nomem(err, "the bytes alive in units");
}

/* -- what waits and what stays -- */

#define NO_UNIT    (-1)
#define MANY_UNITS (-2)

/* The unit that alone touches the memory of each slot that is its own root; MANY_UNITS where others
 * may.
 */
static void find_owners(const walk *w, int32_t *owner)
{
    const clv_program *p = w->p;
    for (int32_t s = 0; s < p->n_slots; s++)
        owner[s] = NO_UNIT;
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t first = clv_program_start(p, u);
        int32_t end = clv_program_start(p, u + 1);
        for (int32_t k = p->first_read[first]; k < p->first_read[end]; k++) {
            int32_t root = w->root[p->reads[k]];
            if (root >= 0)
                owner[root] = owner[root] == NO_UNIT || owner[root] == u ? u : MANY_UNITS;
        }
        for (int32_t s = p->first_write[first]; s < p->first_write[end]; s++) {
            int32_t root = w->root[s];
            if (root >= 0)
                owner[root] = owner[root] == NO_UNIT || owner[root] == u ? u : MANY_UNITS;
        }
    }
}

/* The root of each slot into w, and the owner of each root. False without memory. */
static bool find_roots(walk *w, const clv_program *p, clv_arena *arena, int32_t **ret_owner)
{
    *w = (walk){ .p = p, .root = CLV_NEW_ARRAY(arena, int32_t, p->n_slots) };
    *ret_owner = CLV_NEW_ARRAY(arena, int32_t, p->n_slots);
    if (!w->root || !*ret_owner)
        return false;
    for (int32_t s = 0; s < p->n_slots; s++)
        w->root[s] = root_of(w, s);
    find_owners(w, *ret_owner);
    return true;
}

clv_status clv_unit_held_bytes(const clv_program *p, clv_arena *arena, int64_t *held_bytes,
                               clv_error *err)
{
    walk w;
    int32_t *owner;
    clv_mark mark = clv_arena_mark(arena);
    int64_t *outputs = CLV_NEW_ARRAY(arena, int64_t, p->n_units);
    bool enough = outputs && find_roots(&w, p, arena, &owner);
    for (int32_t u = 0; enough && u < p->n_units; u++)
        held_bytes[u] = 0;
    for (int32_t s = 0; enough && s < p->n_slots; s++) {
        if (w.root[s] != s || owner[s] < 0)
            continue;
        if (p->flags[s] & CLV_SLOT_INPUT)
            held_bytes[owner[s]] += clv_align_bytes(p->bytes[s]);
        else if (p->flags[s] & CLV_SLOT_OUTPUT)
            outputs[owner[s]] += clv_align_bytes(p->bytes[s]);
    }
    for (int32_t u = 0; enough && u < p->n_units; u++)
        held_bytes[u] = outputs[u] < held_bytes[u] ? outputs[u] : held_bytes[u];
    clv_arena_rewind(arena, mark);
    return enough ? CLV_OK : clv_fail_nomem(err, "the bytes that units keep");
}

clv_status clv_unit_copied_bytes(const clv_program *p, clv_arena *arena, int64_t *copied_bytes,
                                 clv_error *err)
{
    walk w;
    int32_t *owner;
    clv_mark mark = clv_arena_mark(arena);
    bool enough = find_roots(&w, p, arena, &owner);
    for (int32_t u = 0; enough && u < p->n_units; u++)
        copied_bytes[u] = 0;
    for (int32_t s = 0; enough && s < p->n_slots; s++)
        if (w.root[s] == s && owner[s] >= 0 && p->flags[s] & (CLV_SLOT_INPUT | CLV_SLOT_OUTPUT) &&
            !clv_slot_is_state(p, s))
            copied_bytes[owner[s]] += clv_align_bytes(p->bytes[s]);
    clv_arena_rewind(arena, mark);
    return enough ? CLV_OK : clv_fail_nomem(err, "the bytes that units keep");
}
