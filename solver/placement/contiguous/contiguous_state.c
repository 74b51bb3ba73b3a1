#include "solver/placement/contiguous/contiguous_state.h"

#include <string.h>

/* Pins by net and device take 4 bytes each: 64 MiB. Arcs by pairs of devices: 16 MiB. */
#define COUNTS_MAX  ((size_t)1 << 24)
#define DEVICES_MAX 2048

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "a placement that moves"); }

clv_status clv_contiguous_state_new(const clv_contraction *b, clv_arena *arena,
                                    clv_contiguous_state *ret, bool *ret_fits, clv_error *err)
{
    size_t d = (size_t)clv_place_devices(b->p), nets = (size_t)b->n_nets;
    size_t words = (d + 63) / 64;
    *ret_fits = d <= DEVICES_MAX && (nets == 0 || d <= COUNTS_MAX / nets);
    if (!*ret_fits)
        return CLV_OK;
    int32_t *kind_of = CLV_NEW_ARRAY(arena, int32_t, d);
    *ret =
        (clv_contiguous_state){ .b = b,
                                .n_devices = (int32_t)d,
                                .words = words,
                                .kind_of = kind_of,
                                .device_of = CLV_NEW_ARRAY(arena, int32_t, b->n),
                                .load = CLV_NEW_ARRAY(arena, int64_t, d),
                                .bytes = CLV_NEW_ARRAY(arena, int64_t, d),
                                .pins = clv_arena_take_array(arena, nets * d, sizeof *ret->pins),
                                .arcs = clv_arena_take_array(arena, d * d, sizeof *ret->arcs),
                                .next = clv_arena_take_array(arena, d * words, sizeof *ret->next),
                                .seen = CLV_NEW_ARRAY(arena, uint64_t, words),
                                .fresh = CLV_NEW_ARRAY(arena, uint64_t, words) };
    if (!kind_of || !ret->device_of || !ret->load || !ret->bytes || !ret->pins || !ret->arcs ||
        !ret->next || !ret->seen || !ret->fresh)
        return nomem(err);
    clv_place_kinds(b->p, kind_of);
    return CLV_OK;
}

static const clv_place_kind *kind_at(const clv_contiguous_state *s, int32_t device)
{
    return &s->b->p->kinds[s->kind_of[device]];
}

static int32_t *pins_at(const clv_contiguous_state *s, int32_t net)
{
    return s->pins + (size_t)net * (size_t)s->n_devices;
}

static void count_arc(clv_contiguous_state *s, int32_t from, int32_t to, int32_t by)
{
    int32_t *arcs = &s->arcs[(size_t)from * (size_t)s->n_devices + (size_t)to];
    uint64_t bit = UINT64_C(1) << (to % 64), *row = &s->next[(size_t)from * s->words];
    if (from == to)
        return;
    *arcs += by;
    if (*arcs > 0)
        row[to / 64] |= bit;
    else
        row[to / 64] &= ~bit;
}

static double overdrawn(const clv_contiguous_state *s, int32_t device)
{
    int64_t room = kind_at(s, device)->capacity_bytes;
    if (room < 0 || s->bytes[device] <= room)
        return 0;
    return (double)(s->bytes[device] - room) / (double)(room > 0 ? room : 1);
}

/* Blocks of so many bytes come, or go. */
static void add_bytes(clv_contiguous_state *s, int32_t device, int64_t bytes)
{
    double before = overdrawn(s, device);
    s->bytes[device] += bytes;
    double after = overdrawn(s, device);
    s->over += after - before;
    s->n_over += (after > 0) - (before > 0);
    if (s->n_over == 0)
        s->over = 0; /* what rounding left */
}

void clv_contiguous_state_assign(clv_contiguous_state *s, const int32_t *device_of)
{
    const clv_contraction *b = s->b;
    size_t d = (size_t)s->n_devices;
    memcpy(s->device_of, device_of, (size_t)b->n * sizeof *device_of);
    memset(s->load, 0, d * sizeof *s->load);
    memset(s->bytes, 0, d * sizeof *s->bytes);
    memset(s->arcs, 0, d * d * sizeof *s->arcs);
    memset(s->next, 0, d * s->words * sizeof *s->next);
    memset(s->pins, 0, (size_t)b->n_nets * d * sizeof *s->pins);
    s->over = 0;
    s->n_over = 0;
    for (int32_t u = 0; u < b->n; u++) {
        s->load[device_of[u]] += clv_block_time(b, s->kind_of[device_of[u]], u);
        add_bytes(s, device_of[u], b->bytes[u]);
        for (int32_t i = b->after_first[u]; i < b->after_first[u + 1]; i++)
            count_arc(s, device_of[u], device_of[b->after[i]], 1);
    }
    for (int32_t e = 0; e < b->n_nets; e++) {
        int32_t *pins = pins_at(s, e), all = b->net_first[e + 1] - b->net_first[e];
        for (int32_t i = b->net_first[e]; i < b->net_first[e + 1]; i++)
            pins[device_of[b->pins[i]]]++;
        for (int32_t i = 0; i < s->n_devices; i++)
            if (pins[i] > 0 && pins[i] < all && kind_at(s, i)->pays)
                s->load[i] += b->net_cost[e];
    }
}

void clv_contiguous_state_move(clv_contiguous_state *s, int32_t block, int32_t to)
{
    const clv_contraction *b = s->b;
    int32_t from = s->device_of[block];
    int64_t less = 0, more = 0;
    for (int32_t i = b->at_first[block]; i < b->at_first[block + 1]; i++) {
        int32_t e = b->at[i], *pins = pins_at(s, e), all = b->net_first[e + 1] - b->net_first[e];
        int64_t cost = b->net_cost[e];
        less += (--pins[from] == 0) ? cost : pins[from] == all - 1 ? -cost : 0;
        more += (++pins[to] == all) ? -cost : pins[to] == 1 ? cost : 0;
    }
    for (int32_t i = b->after_first[block]; i < b->after_first[block + 1]; i++) {
        count_arc(s, from, s->device_of[b->after[i]], -1);
        count_arc(s, to, s->device_of[b->after[i]], 1);
    }
    for (int32_t i = b->before_first[block]; i < b->before_first[block + 1]; i++) {
        count_arc(s, s->device_of[b->before[i]], from, -1);
        count_arc(s, s->device_of[b->before[i]], to, 1);
    }
    s->load[from] -=
        clv_block_time(b, s->kind_of[from], block) + (kind_at(s, from)->pays ? less : 0);
    s->load[to] += clv_block_time(b, s->kind_of[to], block) + (kind_at(s, to)->pays ? more : 0);
    add_bytes(s, from, -b->bytes[block]);
    add_bytes(s, to, b->bytes[block]);
    s->device_of[block] = to;
    s->work += 1 + b->at_first[block + 1] - b->at_first[block] + b->after_first[block + 1] -
               b->after_first[block] + b->before_first[block + 1] - b->before_first[block];
}

bool clv_contiguous_state_has_cycle(clv_contiguous_state *s, int32_t device)
{
    size_t words = s->words;
    memcpy(s->seen, s->next + (size_t)device * words, words * sizeof *s->seen);
    memcpy(s->fresh, s->seen, words * sizeof *s->fresh);
    for (size_t w = 0; w < words;) {
        if (!s->fresh[w]) {
            w++;
            continue;
        }
        size_t d = w * 64 + (size_t)__builtin_ctzll(s->fresh[w]);
        s->fresh[w] &= s->fresh[w] - 1;
        for (size_t v = 0; v < words; v++) {
            uint64_t more = s->next[d * words + v] & ~s->seen[v];
            s->seen[v] |= more;
            s->fresh[v] |= more;
            if (more && v < w)
                w = v;
        }
    }
    return s->seen[device / 64] >> (device % 64) & 1;
}

int64_t clv_contiguous_state_max_load(const clv_contiguous_state *s)
{
    int64_t top = 0;
    for (int32_t d = 0; d < s->n_devices; d++)
        top = s->load[d] > top ? s->load[d] : top;
    return top;
}
