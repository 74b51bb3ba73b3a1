#include "solver/placement/contiguous/stage_dominance.h"

#include <string.h>

#include "base/bits.h"

/* Dominating ideals of a chain that are looked at: the first beyond the stage are those with most
 * room.
 */
#define LOOKS 3

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "stages that end too early"); }

/* May the stage up to a dominating ideal hold these blocks too, all of them? Takes word after word
 * of them. Ends at the first that is too much. */
typedef struct {
    const clv_stage_dominance *s;
    int64_t load, bytes;
} filling;

static bool add_word(filling *f, size_t w, uint64_t bits)
{
    const clv_contraction *b = f->s->g->b;
    const clv_place_kind *kind = &b->p->kinds[f->s->kind];
    for (; bits; bits &= bits - 1) {
        int32_t u = (int32_t)(w * 64) + __builtin_ctzll(bits);
        int64_t t = clv_block_time(b, f->s->kind, u);
        if (t == CLV_BLOCK_NEVER)
            continue; /* in no stage of this kind */
        f->load += t + (kind->pays ? f->s->weight[u] : 0);
        f->bytes += b->bytes[u];
        if (f->load > f->s->limit || (kind->capacity_bytes >= 0 && f->bytes > kind->capacity_bytes))
            return false;
    }
    return true;
}

/* Could whoever holds no more than `most` (NULL: all but `gone`) reach this dominating ideal as
 * well? */
static bool is_in_reach(const clv_stage_dominance *s, int32_t chain, int32_t size,
                        const uint64_t *most, const uint64_t *gone)
{
    size_t at = clv_dominating_ideals_at(s->dominating, chain, size), words = s->g->words;
    int32_t n = s->g->b->n;
    filling f = { s, s->load[at], s->bytes[at] };
    for (size_t w = 0; w < words; w++) {
        uint64_t bits = most ? most[w] : ~gone[w];
        bits &= ~s->start[w] & ~clv_dominating_ideals_word(s->dominating, chain, size, w);
        if (w + 1 == words && n % 64 != 0)
            bits &= (UINT64_C(1) << (n % 64)) - 1;
        if (!add_word(&f, w, bits))
            return false;
    }
    return true;
}

/* The same for the first dominating ideals of a chain from a size on. */
static bool is_any_in_reach(const clv_stage_dominance *s, int32_t chain, int32_t size,
                            const uint64_t *most, const uint64_t *gone)
{
    for (int32_t looks = 0; size <= s->furthest[chain] && looks < LOOKS; size++) {
        if (s->load[clv_dominating_ideals_at(s->dominating, chain, size)] < 0)
            continue;
        if (clv_ideal_dominates(s->dominating, chain, size, s->g->row) &&
            is_in_reach(s, chain, size, most, gone))
            return true;
        looks++;
    }
    return false;
}

bool clv_stage_is_dominated_without(const clv_stage_dominance *s, int32_t u, const uint64_t *gone)
{
    for (int32_t c = 0; c < s->dominating->n_chains; c++)
        if (!clv_bit(s->dominating->without + (size_t)c * s->dominating->words, u) &&
            is_any_in_reach(s, c, u + 1, NULL, gone))
            return true;
    return false;
}

/* The first block of a chain that the stage and its ideal lack. */
static int32_t first_lacking(const clv_stage_dominance *s, int32_t chain)
{
    const uint64_t *without = s->dominating->without + (size_t)chain * s->dominating->words;
    for (size_t w = 0; w < s->dominating->words; w++) {
        uint64_t lacks = ~s->g->row[w] & ~without[w];
        if (lacks)
            return (int32_t)(w * 64) + __builtin_ctzll(lacks);
    }
    return s->dominating->n;
}

bool clv_stage_is_dominated(const clv_stage_dominance *s)
{
    for (int32_t c = 0; c < s->dominating->n_chains; c++)
        if (is_any_in_reach(s, c, first_lacking(s, c) + 1, s->g->row, NULL))
            return true;
    return false;
}

/* Blocks of a chain join one after the other, as long as they can. Returns how many. */
static int32_t measure_chain(clv_stage_dominance *s, int32_t chain)
{
    clv_partial_stage *g = s->g;
    const uint64_t *without = s->dominating->without + (size_t)chain * s->dominating->words;
    s->furthest[chain] = 0;
    for (int32_t u = 0; u < g->b->n; u++) {
        size_t at = clv_dominating_ideals_at(s->dominating, chain, u + 1);
        s->load[at] = -1;
        if (clv_bit(g->row, u) || clv_bit(without, u))
            continue;
        if (!clv_partial_stage_can_add(g, s->kind, u))
            break;
        clv_partial_stage_change(g, s->kind, u, 1);
        s->base[s->n_base++] = u;
        if (g->b->p->kinds[s->kind].pays && g->time + g->in > g->limit)
            break; /* what it has taken and receives only grows */
        int64_t load = clv_partial_stage_load(g, s->kind);
        if (load > s->limit || s->dominating->n_needs[at] < 0)
            continue;
        s->load[at] = load;
        s->bytes[at] = g->bytes;
        s->furthest[chain] = u + 1;
    }
    return s->n_base;
}

/* Keeps in the base what every stage has that is not dominated: blocks without which it would be,
 * and what must come before them. */
static void keep_forced(clv_stage_dominance *s, int32_t n)
{
    size_t words = s->g->words;
    int32_t kept = 0;
    memset(s->forced, 0, words * sizeof *s->forced);
    for (int32_t i = n - 1; i >= 0; i--) {
        int32_t u = s->base[i];
        bool forced = false;
        const uint64_t *behind = s->g->behind + (size_t)u * words;
        for (size_t w = (size_t)u / 64; w < words && !forced; w++)
            forced = (behind[w] & s->forced[w]) != 0;
        if (forced || clv_stage_is_dominated_without(s, u, behind))
            clv_bit_set(s->forced, u);
    }
    for (int32_t i = 0; i < n; i++)
        if (clv_bit(s->forced, s->base[i]))
            s->base[kept++] = s->base[i];
    s->n_base = kept;
}

int64_t clv_stage_dominance_find_base(clv_stage_dominance *s, int32_t kind, int64_t limit)
{
    int64_t steps = 0;
    int32_t n = 0;
    s->kind = kind;
    s->limit = limit;
    s->n_base = 0;
    memcpy(s->start, s->g->row, s->g->words * sizeof *s->start);
    for (int32_t c = s->dominating->n_chains - 1; c >= 0; c--) { /* base: the first chain's */
        n = measure_chain(s, c);
        steps += n;
        while (s->n_base > 0)
            clv_partial_stage_change(s->g, s->kind, s->base[--s->n_base], -1);
    }
    keep_forced(s, n);
    return steps;
}

clv_status clv_stage_dominance_new(const clv_dominating_ideals *dominating, clv_partial_stage *g,
                                   clv_arena *arena, clv_stage_dominance *ret, clv_error *err)
{
    const clv_contraction *b = g->b;
    size_t all = clv_dominating_ideals_at(dominating, dominating->n_chains, 0);
    *ret = (clv_stage_dominance){ .dominating = dominating,
                                  .g = g,
                                  .start = CLV_NEW_ARRAY(arena, uint64_t, g->words),
                                  .forced = CLV_NEW_ARRAY(arena, uint64_t, g->words),
                                  .weight = CLV_NEW_ARRAY(arena, int64_t, b->n),
                                  .load = CLV_NEW_ARRAY(arena, int64_t, all),
                                  .bytes = CLV_NEW_ARRAY(arena, int64_t, all),
                                  .furthest = CLV_NEW_ARRAY(arena, int32_t, dominating->n_chains),
                                  .base = CLV_NEW_ARRAY(arena, int32_t, b->n) };
    if (!ret->start || !ret->forced || !ret->weight || !ret->load || !ret->bytes ||
        !ret->furthest || !ret->base)
        return nomem(err);
    for (int32_t u = 0; u < b->n; u++)
        for (int32_t i = b->at_first[u]; i < b->at_first[u + 1]; i++)
            ret->weight[u] += b->net_cost[b->at[i]];
    return CLV_OK;
}
