#include "solver/partition/rule_nearest.h"

/* Boundaries make the sweeps start again until nothing moves; mostly twice. */
#define ROUNDS_MAX 64

clv_status clv_rule_nearest_new(const clv_supernodes *g, clv_rule_nearest *ret, clv_error *err)
{
    size_t n_families = (size_t)g->rules->n_families;
    *ret = (clv_rule_nearest){ .g = g,
                               .wish = CLV_NEW_ARRAY(g->arena, int32_t, g->n),
                               .at = CLV_NEW_ARRAY(g->arena, int32_t, g->n),
                               .high = CLV_NEW_ARRAY(g->arena, int32_t, g->n),
                               .owner = CLV_NEW_ARRAY(g->arena, int32_t,
                                                      n_families * (size_t)g->p->n_devices),
                               .floor = CLV_NEW_ARRAY(g->arena, int32_t, n_families),
                               .ceiling = CLV_NEW_ARRAY(g->arena, int32_t, n_families) };
    if (!ret->wish || !ret->at || !ret->high || !ret->owner || !ret->floor || !ret->ceiling)
        return clv_fail_nomem(err, "the rules of a search");
    return CLV_OK;
}

static int32_t n_positions(const clv_supernodes *g)
{
    int32_t n = g->p->n_devices, most = g->rules->max_stages;
    return most > 0 && most < n ? most : n;
}

static bool may_be_at(const clv_supernodes *g, int32_t b, const int32_t *order, int32_t position)
{
    return clv_supernode_allows(g, b, order[position]) &&
           (!g->stages || clv_bit(g->stages + (size_t)b * g->words, position));
}

/* The highest position that its readers, and the ceilings of boundaries, allow. */
static int32_t find_high(const clv_rule_nearest *s, int32_t b)
{
    const clv_supernodes *g = s->g;
    int32_t high = n_positions(g) - 1;
    for (int32_t i = g->sent_first[b]; i < g->sent_first[b + 1]; i++)
        if (s->high[g->sent[i]] < high)
            high = s->high[g->sent[i]];
    for (int32_t i = g->tag_first[b]; i < g->tag_first[b + 1]; i++) {
        int32_t tag = g->tags[i], f = g->rules->family_of[tag];
        if (clv_tag_is_in_order(g, tag) && clv_tag_is_first(g, tag) && s->ceiling[f] - 1 < high)
            high = s->ceiling[f] - 1;
    }
    return high;
}

static bool sweep_back(clv_rule_nearest *s, const int32_t *order, bool *ret_moved)
{
    const clv_supernodes *g = s->g;
    *ret_moved = false;
    for (int32_t b = g->n - 1; b >= 0; b--) {
        int32_t high = find_high(s, b);
        while (high >= 0 && !may_be_at(g, b, order, high))
            high--;
        if (high < 0)
            return false;
        s->high[b] = high;
        for (int32_t i = g->tag_first[b]; i < g->tag_first[b + 1]; i++) {
            int32_t tag = g->tags[i], f = g->rules->family_of[tag];
            if (clv_tag_is_in_order(g, tag) && !clv_tag_is_first(g, tag) && high < s->ceiling[f]) {
                s->ceiling[f] = high;
                *ret_moved = true;
            }
        }
    }
    return true;
}

/* The lowest position that what it reads, and the floors of boundaries, allow. */
static int32_t find_low(const clv_rule_nearest *s, int32_t b)
{
    const clv_supernodes *g = s->g;
    int32_t low = s->at[b];
    for (int32_t i = g->read_first[b]; i < g->read_first[b + 1]; i++)
        if (s->at[g->reads[i]] > low)
            low = s->at[g->reads[i]];
    for (int32_t i = g->tag_first[b]; i < g->tag_first[b + 1]; i++) {
        int32_t tag = g->tags[i], f = g->rules->family_of[tag];
        if (clv_tag_is_in_order(g, tag) && !clv_tag_is_first(g, tag) && s->floor[f] + 1 > low)
            low = s->floor[f] + 1;
    }
    return low;
}

/* Is the device free of units that the supernode must be apart from? */
static bool is_free(const clv_rule_nearest *s, int32_t b, int32_t device)
{
    const clv_supernodes *g = s->g;
    for (int32_t i = g->tag_first[b]; i < g->tag_first[b + 1]; i++) {
        size_t row = (size_t)g->rules->family_of[g->tags[i]] * (size_t)g->p->n_devices;
        int32_t owner = s->owner[row + (size_t)device];
        if (owner >= 0 && owner != g->tags[i])
            return false;
    }
    return true;
}

/* Gives the device to the supernode's tags. True: a boundary moved. */
static bool claim_device(clv_rule_nearest *s, int32_t b, int32_t device)
{
    const clv_supernodes *g = s->g;
    bool moved = false;
    for (int32_t i = g->tag_first[b]; i < g->tag_first[b + 1]; i++) {
        int32_t tag = g->tags[i], f = g->rules->family_of[tag];
        s->owner[(size_t)f * (size_t)g->p->n_devices + (size_t)device] = tag;
        if (clv_tag_is_in_order(g, tag) && clv_tag_is_first(g, tag) && s->at[b] > s->floor[f]) {
            s->floor[f] = s->at[b];
            moved = true;
        }
    }
    return moved;
}

static bool sweep_forth(clv_rule_nearest *s, const int32_t *order, bool *ret_moved)
{
    const clv_supernodes *g = s->g;
    size_t n_owners = (size_t)g->rules->n_families * (size_t)g->p->n_devices;
    *ret_moved = false;
    for (size_t i = 0; i < n_owners; i++)
        s->owner[i] = -1;
    for (int32_t b = 0; b < g->n; b++) {
        int32_t low = find_low(s, b);
        while (low <= s->high[b] && (!may_be_at(g, b, order, low) || !is_free(s, b, order[low])))
            low++;
        if (low > s->high[b])
            return false;
        s->at[b] = low;
        if (claim_device(s, b, order[low]))
            *ret_moved = true;
    }
    return true;
}

bool clv_rule_nearest_find(clv_rule_nearest *s, const int32_t *order)
{
    const clv_supernodes *g = s->g;
    bool moved = true;
    for (int32_t f = 0; f < g->rules->n_families; f++) {
        s->ceiling[f] = n_positions(g);
        s->floor[f] = -1;
    }
    for (int32_t i = 0; moved; i++)
        if (i == ROUNDS_MAX || !sweep_back(s, order, &moved))
            return false;
    for (int32_t b = 0; b < g->n; b++)
        s->at[b] = s->wish[b] < s->high[b] ? s->wish[b] : s->high[b];
    moved = true;
    for (int32_t i = 0; moved; i++)
        if (i == ROUNDS_MAX || !sweep_forth(s, order, &moved))
            return false;
    for (int32_t b = 0; b < g->n; b++) /* positions to devices */
        s->at[b] = order[s->at[b]];
    return true;
}
