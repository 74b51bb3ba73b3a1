#include "solver/partition/rule_stages.h"

/* Sweeps are repeated until no boundary or device moves, at most so often; then the answer is open.
 */
#define ROUNDS_MAX 64

#define ANY_DEVICE (-1)
#define NO_LIMIT   INT32_MAX

/* What the readers that are bound to devices demand of the units before them: a stage of at most
 * high, and below high unless on the same device. high is the lowest of all, other_high that of
 * other devices. */
typedef struct {
    int32_t high, device, other_high;
} limit;

typedef struct {
    const clv_supernodes *g;
    limit *limits;        /* by supernode */
    int32_t *bound_to;    /* by supernode: the one device it may be on, or ANY_DEVICE */
    int32_t *device_high; /* by device */
    int32_t *high;        /* by supernode: the highest stage */
    int32_t *ceiling;     /* by family in order: the highest stage behind the boundary */
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
    const clv_supernodes *g = s->g;
    limit l = { NO_LIMIT, ANY_DEVICE, NO_LIMIT };
    for (int32_t i = g->sent_first[b]; i < g->sent_first[b + 1]; i++) {
        const limit *from = &s->limits[g->sent[i]];
        if (from->high < NO_LIMIT)
            add_limit(&l, from->high, from->device);
        if (from->other_high < NO_LIMIT) /* of some other device: only safe as the second */
            l.other_high = from->other_high < l.other_high && from->device == l.device
                               ? from->other_high
                               : l.other_high;
    }
    return l;
}

/* The highest stage that boundaries leave it, high at most. */
static int32_t lower_by_boundaries(const sweep *s, int32_t b, int32_t high)
{
    const clv_supernodes *g = s->g;
    for (int32_t i = g->tag_first[b]; i < g->tag_first[b + 1]; i++) {
        int32_t tag = g->tags[i], f = g->rules->family_of[tag];
        if (clv_tag_is_in_order(g, tag) && clv_tag_is_first(g, tag) && s->ceiling[f] - 1 < high)
            high = s->ceiling[f] - 1;
    }
    return high;
}

/* Lowers boundaries, and the device, by the supernode's stage; true if that is new to them. */
static bool propagate(sweep *s, int32_t b, int32_t high)
{
    const clv_supernodes *g = s->g;
    bool moved = false;
    for (int32_t i = g->tag_first[b]; i < g->tag_first[b + 1]; i++) {
        int32_t tag = g->tags[i], f = g->rules->family_of[tag];
        if (clv_tag_is_in_order(g, tag) && !clv_tag_is_first(g, tag) && high < s->ceiling[f]) {
            s->ceiling[f] = high;
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
    const clv_supernodes *g = s->g;
    *ret_moved = false;
    for (int32_t b = g->n - 1; b >= 0; b--) {
        int32_t high = s->n_stages - 1, d = s->bound_to[b];
        limit l = merge_limits(s, b);
        for (int32_t i = g->sent_first[b]; i < g->sent_first[b + 1]; i++)
            high = s->high[g->sent[i]] < high ? s->high[g->sent[i]] : high;
        if (d != ANY_DEVICE) {
            int32_t other = l.device == d ? l.other_high : l.high;
            high = other < NO_LIMIT && other - 1 < high ? other - 1 : high;
            high = s->device_high[d] < high ? s->device_high[d] : high;
        }
        high = lower_by_boundaries(s, b, high);
        while (high >= 0 && g->stages && !clv_bit(g->stages + (size_t)b * g->words, high))
            high--;
        if (high < 0)
            return false;
        s->high[b] = high;
        s->limits[b] = d != ANY_DEVICE ? (limit){ high, d, NO_LIMIT } : l;
        if (propagate(s, b, high))
            *ret_moved = true;
    }
    return true;
}

bool clv_rule_stages_fit(const clv_supernodes *g)
{
    clv_mark mark = clv_arena_mark(g->arena);
    int32_t n = g->p->n_devices, most = g->rules->max_stages;
    sweep s = { .g = g,
                .limits = CLV_NEW_ARRAY(g->arena, limit, g->n),
                .bound_to = CLV_NEW_ARRAY(g->arena, int32_t, g->n),
                .device_high = CLV_NEW_ARRAY(g->arena, int32_t, n),
                .high = CLV_NEW_ARRAY(g->arena, int32_t, g->n),
                .ceiling = CLV_NEW_ARRAY(g->arena, int32_t, g->rules->n_families),
                .n_stages = most > 0 && most < n ? most : n };
    bool moved = clv_rules_order_stages(g->rules) && s.limits && s.bound_to && s.device_high &&
                 s.high && s.ceiling;
    bool fit = true;
    for (int32_t d = 0; d < n && moved; d++)
        s.device_high[d] = s.n_stages - 1;
    for (int32_t f = 0; f < g->rules->n_families && moved; f++)
        s.ceiling[f] = s.n_stages;
    for (int32_t b = 0; b < g->n && moved; b++) {
        int32_t n_allowed = 0;
        s.bound_to[b] = ANY_DEVICE;
        for (int32_t d = 0; d < n && n_allowed < 2; d++)
            if (clv_supernode_allows(g, b, d))
                s.bound_to[b] = n_allowed++ == 0 ? d : ANY_DEVICE;
    }
    for (int32_t i = 0; moved && fit && i < ROUNDS_MAX; i++)
        fit = sweep_back(&s, &moved);
    clv_arena_rewind(g->arena, mark);
    return fit;
}
