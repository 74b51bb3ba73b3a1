#include "solver/partition/backbone.h"

#include <assert.h>

/* A pass numbers the units that are left and marks those whose neighbours are too far away; passes
 * end when none is marked. Each leaves out fewer than the one before; a problem that needs more
 * passes has no backbone. */
#define PASSES 16

#define NOBODY INT32_MAX

typedef struct {
    const clv_partition_problem *p;
    clv_backbone *t;
    int32_t near;
    bool *out;     /* n_units: left out */
    int32_t *from; /* n_units: the last unit kept that it waits for, as a place; -1 */
    int32_t *to;   /* n places: the first that waits for it, as a place; NOBODY */
    bool *leads;   /* n places: all behind wait for it */
} builder;

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

/* The place of a unit; of one left out, that of the last unit that it waits for. */
static int32_t place_of(const builder *b, int32_t unit)
{
    return b->out[unit] ? b->from[unit] : b->t->at[unit];
}

/* Numbers the kept units, in order, and leaves out those that wait for nothing near: they could run
 * at any time before. True: some were left out now. */
static bool number_units(builder *b)
{
    const clv_partition_problem *p = b->p;
    clv_backbone *t = b->t;
    bool changed = false;
    t->n = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t last = -1;
        uint64_t preds = 0;
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++) {
            int32_t place = place_of(b, p->net_from[p->reads[i]]);
            last = larger(last, place);
            if (place >= 0 && t->n - 1 - place < CLV_BACKBONE_WORD)
                preds |= UINT64_C(1) << (t->n - 1 - place);
        }
        b->from[u] = last;
        t->at[u] = -1;
        if (!b->out[u] && t->n - 1 - last >= b->near)
            changed = b->out[u] = true;
        if (b->out[u])
            continue;
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++) {
            int32_t before = place_of(b, p->net_from[p->reads[i]]);
            if (before >= 0 && b->to[before] == NOBODY)
                b->to[before] = t->n;
        }
        t->at[u] = t->n;
        t->unit[t->n] = u;
        b->to[t->n] = NOBODY;
        t->preds[t->n++] = preds;
    }
    return changed;
}

/* All units behind a place wait for it, directly or not, when each of them waits for one that is
 * not before it. */
static void find_leads(builder *b)
{
    const clv_backbone *t = b->t;
    int32_t least = t->n; /* of the last waits of all behind */
    for (int32_t i = t->n - 1; i >= 0; i--) {
        b->leads[i] = least >= i;
        int32_t last = b->from[t->unit[i]];
        least = last < least ? last : least;
    }
}

/* Does a unit within the window wait for this one, and all behind that unit wait for it? Then all
 * units farther away wait for this one. */
static bool is_awaited_near(const builder *b, int32_t place)
{
    const clv_backbone *t = b->t;
    uint64_t reached = 1;
    for (int32_t k = place + 1; k <= place + b->near && !b->leads[place]; k++) {
        bool waits = (t->preds[k] & reached) != 0;
        if (waits && b->leads[k])
            return true;
        reached = reached << 1 | waits;
    }
    return b->leads[place];
}

/* Leaves out units that nothing near waits for. */
static bool drop_unread(builder *b)
{
    clv_backbone *t = b->t;
    bool changed = false;
    for (int32_t i = 0; i + b->near < t->n; i++)
        if (b->to[i] - i > b->near)
            changed = b->out[t->unit[i]] = true;
    return changed;
}

/* Leaves out units that something far behind need not wait for. */
static bool drop_loose(builder *b)
{
    clv_backbone *t = b->t;
    bool changed = false;
    find_leads(b);
    for (int32_t i = 0; i + b->near < t->n; i++)
        if (!is_awaited_near(b, i))
            changed = b->out[t->unit[i]] = true;
    return changed;
}

clv_status clv_backbone_new(const clv_partition_problem *p, int32_t near, bool with_ideals,
                            clv_arena *arena, clv_backbone *ret, clv_error *err)
{
    assert(near > 0 && (!with_ideals || near <= CLV_BACKBONE_WORD));
    clv_backbone t = { .unit = CLV_NEW_ARRAY(arena, int32_t, p->n_units),
                       .at = CLV_NEW_ARRAY(arena, int32_t, p->n_units),
                       .preds = CLV_NEW_ARRAY(arena, uint64_t, p->n_units),
                       .is_cut = CLV_NEW_ARRAY(arena, bool, p->n_units) };
    builder b = { .p = p,
                  .t = &t,
                  .near = near,
                  .out = CLV_NEW_ARRAY(arena, bool, p->n_units),
                  .from = CLV_NEW_ARRAY(arena, int32_t, p->n_units),
                  .to = CLV_NEW_ARRAY(arena, int32_t, p->n_units),
                  .leads = CLV_NEW_ARRAY(arena, bool, p->n_units) };
    if (!t.unit || !t.at || !t.preds || !t.is_cut || !b.out || !b.from || !b.to || !b.leads)
        return clv_fail_nomem(err, "the order of units");
    int32_t passes = 0;
    while (passes < PASSES &&
           (number_units(&b) || (with_ideals ? drop_loose(&b) : drop_unread(&b))))
        passes++;
    if (passes == PASSES)
        t.n = 0;
    /* All before a place lead to it when each of them is waited for by one that is not behind it.
     */
    int32_t most = -1; /* of the first readers of all before */
    find_leads(&b);
    for (int32_t i = 0; i < t.n; i++) {
        t.is_cut[i] = b.leads[i] && most <= i;
        most = larger(most, b.to[i]);
    }
    *ret = t;
    return CLV_OK;
}
