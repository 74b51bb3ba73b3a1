/* obey_near.c - positions near those wished for, in a given order of devices.
 *
 * "Not before what it reads", "only there" and "all before the boundary, then the rest" are rules
 * of which two answers have a lowest common answer that is one too. So there is a highest answer,
 * found from the end backwards, and from any wish below it a lowest answer above the wish, found
 * forwards; both without going back. Units that must be apart take the next free position; that may
 * fail.
 */
#include "solver/partition/obey_blobs.h"

/* Boundaries make the sweeps start again until nothing moves; mostly twice. */
#define ROUNDS_MAX 64

static int32_t n_positions(const clv_obey *o)
{
    int32_t n = o->p->n_devices, most = o->rules->max_stages;
    return most > 0 && most < n ? most : n;
}

static bool may_be_at(const clv_obey *o, int32_t blob, const int32_t *order, int32_t position)
{
    return clv_blob_allows(o, blob, order[position]) &&
           (!o->stages || clv_bit(o->stages + (size_t)blob * o->words, position));
}

static bool is_in_order(const clv_obey *o, int32_t tag)
{
    return o->rules->in_order[o->rules->family_of[tag]];
}

/* The first of the two tags of its family? */
static bool is_before(const clv_obey *o, int32_t tag)
{
    return tag == 0 || o->rules->family_of[tag - 1] != o->rules->family_of[tag];
}

static int32_t n_tags(const clv_obey *o, int32_t blob)
{
    return o->tag_first ? o->tag_first[blob + 1] - o->tag_first[blob] : 0;
}

/* The highest position that what comes behind leaves it; ceilings of boundaries included. */
static int32_t leave_high(const clv_obey *o, int32_t b)
{
    int32_t high = n_positions(o) - 1;
    for (int32_t i = o->sent_first[b]; i < o->sent_first[b + 1]; i++)
        if (o->high[o->sent[i]] < high)
            high = o->high[o->sent[i]];
    for (int32_t i = 0; i < n_tags(o, b); i++) {
        int32_t tag = o->tags[o->tag_first[b] + i], f = o->rules->family_of[tag];
        if (is_in_order(o, tag) && is_before(o, tag) && o->ceiling[f] - 1 < high)
            high = o->ceiling[f] - 1;
    }
    return high;
}

static bool sweep_back(clv_obey *o, const int32_t *order, bool *ret_moved)
{
    *ret_moved = false;
    for (int32_t b = o->n - 1; b >= 0; b--) {
        int32_t high = leave_high(o, b);
        while (high >= 0 && !may_be_at(o, b, order, high))
            high--;
        if (high < 0)
            return false;
        o->high[b] = high;
        for (int32_t i = 0; i < n_tags(o, b); i++) {
            int32_t tag = o->tags[o->tag_first[b] + i], f = o->rules->family_of[tag];
            if (is_in_order(o, tag) && !is_before(o, tag) && high < o->ceiling[f]) {
                o->ceiling[f] = high;
                *ret_moved = true;
            }
        }
    }
    return true;
}

static bool is_free(const clv_obey *o, int32_t b, int32_t device)
{
    for (int32_t i = 0; i < n_tags(o, b); i++) {
        int32_t tag = o->tags[o->tag_first[b] + i];
        size_t row = (size_t)o->rules->family_of[tag] * (size_t)o->p->n_devices;
        int32_t owner = o->owner[row + (size_t)device];
        if (owner >= 0 && owner != tag)
            return false;
    }
    return true;
}

static int32_t leave_low(const clv_obey *o, int32_t b)
{
    int32_t low = o->at[b];
    for (int32_t i = o->read_first[b]; i < o->read_first[b + 1]; i++)
        if (o->at[o->reads[i]] > low)
            low = o->at[o->reads[i]];
    for (int32_t i = 0; i < n_tags(o, b); i++) {
        int32_t tag = o->tags[o->tag_first[b] + i], f = o->rules->family_of[tag];
        if (is_in_order(o, tag) && !is_before(o, tag) && o->floor[f] + 1 > low)
            low = o->floor[f] + 1;
    }
    return low;
}

/* Takes the place for the blob's tags; true when a boundary moved by it. */
static bool take_place(clv_obey *o, int32_t b, int32_t device)
{
    bool moved = false;
    for (int32_t i = 0; i < n_tags(o, b); i++) {
        int32_t tag = o->tags[o->tag_first[b] + i], f = o->rules->family_of[tag];
        o->owner[(size_t)f * (size_t)o->p->n_devices + (size_t)device] = tag;
        if (is_in_order(o, tag) && is_before(o, tag) && o->at[b] > o->floor[f]) {
            o->floor[f] = o->at[b];
            moved = true;
        }
    }
    return moved;
}

static bool sweep_forth(clv_obey *o, const int32_t *order, bool *ret_moved)
{
    size_t n_owners = (size_t)o->rules->n_families * (size_t)o->p->n_devices;
    *ret_moved = false;
    for (size_t i = 0; i < n_owners; i++)
        o->owner[i] = -1;
    for (int32_t b = 0; b < o->n; b++) {
        int32_t low = leave_low(o, b);
        while (low <= o->high[b] && (!may_be_at(o, b, order, low) || !is_free(o, b, order[low])))
            low++;
        if (low > o->high[b])
            return false;
        o->at[b] = low;
        if (take_place(o, b, order[low]))
            *ret_moved = true;
    }
    return true;
}

bool clv_blobs_near(clv_obey *o, const int32_t *order)
{
    bool moved = true;
    for (int32_t f = 0; f < o->rules->n_families; f++) {
        o->ceiling[f] = n_positions(o);
        o->floor[f] = -1;
    }
    for (int32_t i = 0; moved; i++)
        if (i == ROUNDS_MAX || !sweep_back(o, order, &moved))
            return false;
    for (int32_t b = 0; b < o->n; b++)
        o->at[b] = o->wish[b] < o->high[b] ? o->wish[b] : o->high[b];
    moved = true;
    for (int32_t i = 0; moved; i++)
        if (i == ROUNDS_MAX || !sweep_forth(o, order, &moved))
            return false;
    for (int32_t b = 0; b < o->n; b++) /* positions to devices */
        o->at[b] = order[o->at[b]];
    return true;
}
