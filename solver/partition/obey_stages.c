/* obey_stages.c - rules on stages that no assignment can meet, seen without trying any.
 *
 * A blob's stage is at most that of those that read it, and less where the two are bound to
 * different devices, however many free blobs lie between them. What is bound to one device is at
 * one stage. So from the end backwards each blob has a highest stage; where none is left, nothing
 * obeys.
 */
#include "solver/partition/obey_blobs.h"

/* Boundaries and devices make the sweep start again; what moves longer than this is left open. */
#define ROUNDS_MAX 64

#define ANY_DEVICE (-1)
#define NO_LIMIT   INT32_MAX

/* What blobs bound to devices ask of all that comes before them: a stage of at most high, and below
 * it unless on the same device; the lowest, and the lowest of other devices. */
typedef struct {
    int32_t high, device, other_high;
} limit;

typedef struct {
    clv_obey *o;
    limit *limits;        /* by blob */
    int32_t *bound_to;    /* by blob: the one device it may be on, or ANY_DEVICE */
    int32_t *device_high; /* by device */
    int32_t n_stages;
} sweep;

static void add_limit(limit *l, int32_t high, int32_t device)
{
    if (device == l->device) {
        l->high = high < l->high ? high : l->high;
    } else if (high < l->high) {
        l->other_high = l->high;
        l->high = high;
        l->device = device;
    } else if (high < l->other_high) {
        l->other_high = high;
    }
}

static limit merge_limits(const sweep *s, int32_t b)
{
    const clv_obey *o = s->o;
    limit l = { NO_LIMIT, ANY_DEVICE, NO_LIMIT };
    for (int32_t i = o->sent_first[b]; i < o->sent_first[b + 1]; i++) {
        const limit *from = &s->limits[o->sent[i]];
        if (from->high < NO_LIMIT)
            add_limit(&l, from->high, from->device);
        if (from->other_high < NO_LIMIT) /* of some other device: only safe as the second */
            l.other_high = from->other_high < l.other_high && from->device == l.device
                               ? from->other_high
                               : l.other_high;
    }
    return l;
}

/* The highest stage below or at high that the rules allow the blob; below 0: none. */
static int32_t allowed_below(const clv_obey *o, int32_t b, int32_t high)
{
    while (high >= 0 && o->stages && !clv_bit(o->stages + (size_t)b * o->words, high))
        high--;
    return high;
}

static int32_t lower_by_boundaries(const clv_obey *o, int32_t b, int32_t high)
{
    for (int32_t i = o->tag_first ? o->tag_first[b] : 0; o->tag_first && i < o->tag_first[b + 1];
         i++) {
        int32_t tag = o->tags[i], f = o->rules->family_of[tag];
        bool first = tag == 0 || o->rules->family_of[tag - 1] != f;
        if (o->rules->in_order[f] && first && o->ceiling[f] - 1 < high)
            high = o->ceiling[f] - 1;
    }
    return high;
}

/* Boundaries, and the device, learn of the blob's stage; true if that is new to them. */
static bool pass_on(sweep *s, int32_t b, int32_t high)
{
    clv_obey *o = s->o;
    bool moved = false;
    for (int32_t i = o->tag_first ? o->tag_first[b] : 0; o->tag_first && i < o->tag_first[b + 1];
         i++) {
        int32_t tag = o->tags[i], f = o->rules->family_of[tag];
        bool first = tag == 0 || o->rules->family_of[tag - 1] != f;
        if (o->rules->in_order[f] && !first && high < o->ceiling[f]) {
            o->ceiling[f] = high;
            moved = true;
        }
    }
    int32_t d = s->bound_to[b];
    if (d != ANY_DEVICE && high < s->device_high[d]) {
        s->device_high[d] = high;
        moved = true;
    }
    return moved;
}

static bool sweep_back(sweep *s, bool *ret_moved)
{
    clv_obey *o = s->o;
    *ret_moved = false;
    for (int32_t b = o->n - 1; b >= 0; b--) {
        int32_t high = s->n_stages - 1, d = s->bound_to[b];
        limit l = merge_limits(s, b);
        for (int32_t i = o->sent_first[b]; i < o->sent_first[b + 1]; i++)
            high = o->high[o->sent[i]] < high ? o->high[o->sent[i]] : high;
        if (d != ANY_DEVICE) {
            int32_t other = l.device == d ? l.other_high : l.high;
            high = other < NO_LIMIT && other - 1 < high ? other - 1 : high;
            high = s->device_high[d] < high ? s->device_high[d] : high;
        }
        high = allowed_below(o, b, lower_by_boundaries(o, b, high));
        if (high < 0)
            return false;
        o->high[b] = high;
        s->limits[b] = d != ANY_DEVICE ? (limit){ high, d, NO_LIMIT } : l;
        if (pass_on(s, b, high))
            *ret_moved = true;
    }
    return true;
}

static void find_bound(sweep *s)
{
    const clv_obey *o = s->o;
    for (int32_t b = 0; b < o->n; b++) {
        int32_t n = 0;
        s->bound_to[b] = ANY_DEVICE;
        for (int32_t d = 0; d < o->p->n_devices && n < 2; d++)
            if (clv_blob_allows(o, b, d)) {
                s->bound_to[b] = n++ == 0 ? d : ANY_DEVICE;
            }
    }
}

bool clv_blobs_stages_fit(clv_obey *o)
{
    clv_mark mark = clv_arena_mark(o->arena);
    int32_t n = o->p->n_devices, most = o->rules->max_stages;
    sweep s = { .o = o,
                .limits = CLV_NEW_ARRAY(o->arena, limit, o->n),
                .bound_to = CLV_NEW_ARRAY(o->arena, int32_t, o->n),
                .device_high = CLV_NEW_ARRAY(o->arena, int32_t, n),
                .n_stages = most > 0 && most < n ? most : n };
    bool moved = clv_rules_order_stages(o->rules) && s.limits && s.bound_to && s.device_high;
    bool fit = true;
    for (int32_t d = 0; d < n && moved; d++)
        s.device_high[d] = s.n_stages - 1;
    for (int32_t f = 0; f < o->rules->n_families; f++)
        o->ceiling[f] = s.n_stages;
    if (moved)
        find_bound(&s);
    for (int32_t i = 0; moved && fit && i < ROUNDS_MAX; i++)
        fit = sweep_back(&s, &moved);
    clv_arena_rewind(o->arena, mark);
    return fit;
}
