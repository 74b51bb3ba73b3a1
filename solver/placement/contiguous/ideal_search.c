#include "solver/placement/contiguous/ideal_search.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "solver/common/random.h"
#include "solver/placement/contiguous/pareto_labels.h"
#include "solver/placement/contiguous/stage_dominance.h"

/* Memory of one limit where the search gives up. */
#define BYTES_MAX ((size_t)400 << 20)
/* Steps between two looks at the clock. */
#define STEPS_LOOK 4096
/* More than any load or value, and sums of a few still fit. */
#define ANY_LOAD (INT64_MAX / 4)

/* A level of the search of stages. */
typedef struct {
    int32_t block, cursor; /* block that opened it; where to look for the next one */
    int64_t lost;          /* value of what cannot be in the stage any more */
    bool forced;           /* there is no need to look at stages without the block */
} frame;

/* A label that the stage may follow. */
typedef struct {
    int32_t label;
    int64_t room; /* value that may be left behind the stage */
    int64_t load; /* value and transfers that may be left */
} source;

/* One limit. */
typedef struct {
    clv_ideal_search *of;
    clv_partial_stage *g;
    const clv_fluid_bound *share;
    const clv_place_problem *p;
    clv_arena *arena;
    clv_pareto_labels labels;
    frame *frames;
    source *sources;
    int32_t n_sources, cap_sources;
    clv_stage_dominance dominance;
    uint64_t *gone; /* [depth * words]: what cannot be in the stage any more */
    int32_t
        *dominating_state; /* [clv_dominating_ideals_at]: the state that is this ideal; -1: none */
    int64_t n_steps, next_look;
    bool gave_up;
} limit_search;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "the search over ideals"); }

static bool knows_dominating(const limit_search *s) { return s->of->dominating.n_chains > 0; }

/* -- dominating ideals that are states -- */

/* The shortest prefix of the blocks that holds a row. */
static int32_t prefix_of(const limit_search *s, const uint64_t *row)
{
    for (size_t w = s->g->words; w > 0; w--)
        if (row[w - 1])
            return (int32_t)(w * 64) - __builtin_clzll(row[w - 1]);
    return 0;
}

/* Records a state that is an ideal of a chain. O(chains * n / 64). */
static void record_state(limit_search *s, int32_t state)
{
    const clv_dominating_ideals *dominating = &s->of->dominating;
    const uint64_t *row = clv_pareto_labels_row(&s->labels, state);
    int32_t end = prefix_of(s, row);
    for (int32_t c = 0; c < dominating->n_chains; c++) {
        bool same = true;
        for (size_t w = 0; w < dominating->words && same; w++)
            same = row[w] == clv_dominating_ideals_word(dominating, c, end, w);
        if (same)
            s->dominating_state[clv_dominating_ideals_at(dominating, c, end)] = state;
    }
}

/* Has a state a label that is no worse than this one with one more device of a kind? kind -1: with
 * none. */
static bool has_as_good(const limit_search *s, int32_t state, int32_t label, int32_t kind,
                        int64_t load)
{
    const int32_t *counts = clv_pareto_labels_counts(&s->labels, label);
    for (int32_t l = s->labels.states[state].first; l >= 0; l = s->labels.labels[l].next) {
        const int32_t *own = clv_pareto_labels_counts(&s->labels, l);
        bool good = s->labels.labels[l].load <= load;
        for (int32_t k = 0; k < s->p->n_kinds && good; k++)
            good = own[k] <= counts[k] + (k == kind);
        if (good)
            return true;
    }
    return false;
}

/* Is this ideal within a dominating one that is reached in as good a way? O(chains * n). */
static bool is_left_behind(const limit_search *s, const uint64_t *row, int32_t size, int32_t label,
                           int32_t kind, int64_t load)
{
    const clv_dominating_ideals *dominating = &s->of->dominating;
    int32_t n = s->g->b->n, end = knows_dominating(s) ? prefix_of(s, row) : 0;
    load = load < s->g->low ? s->g->low : load;
    for (int32_t c = 0; c < dominating->n_chains; c++) {
        bool within = true;
        for (size_t w = 0; w < dominating->words && within; w++)
            within = (row[w] & dominating->without[(size_t)c * dominating->words + w]) == 0;
        for (int32_t i = end; i <= n && within; i++) {
            int32_t state = s->dominating_state[clv_dominating_ideals_at(dominating, c, i)];
            if (state >= 0 && s->labels.states[state].size > size &&
                clv_ideal_dominates(dominating, c, i, row) &&
                has_as_good(s, state, label, kind, load))
                return true;
        }
    }
    return false;
}

/* -- a stage -- */

/* Block u, and all behind it, will not be in the stage as grown from this level. Of what is lost,
 * only the largest loss at once is counted: less than the truth, and quick. */
static void leave_out(limit_search *s, int32_t depth, int32_t u)
{
    size_t words = s->g->words;
    uint64_t *gone = s->gone + (size_t)depth * words;
    if (s->of->behind_value[u] > s->frames[depth].lost)
        s->frames[depth].lost = s->of->behind_value[u];
    if (!knows_dominating(s))
        return;
    for (size_t w = (size_t)u / 64; w < words; w++)
        gone[w] |= s->g->behind[(size_t)u * words + w];
    if (clv_stage_is_dominated_without(&s->dominance, u, gone))
        s->frames[depth].cursor = s->g->b->n;
}

/* The stage as it is now ends here: what labels come of it. */
static clv_status end_stage(limit_search *s, int32_t kind, int32_t size, uint64_t hash,
                            int64_t rest, clv_error *err)
{
    int64_t load = clv_partial_stage_load(s->g, kind);
    clv_pareto_state key = { .hash = hash, .size = size, .rest = rest };
    int32_t to = -1;
    if (load > s->g->limit)
        return CLV_OK;
    for (int32_t i = 0; i < s->n_sources; i++) {
        const source *from = &s->sources[i];
        if (rest > from->room || rest + s->g->front > from->load)
            continue;
        int64_t most = s->labels.labels[from->label].load;
        if (load > most && !s->of->any && !s->of->count_only)
            most = load;
        if (is_left_behind(s, s->g->row, size, from->label, kind, most))
            continue;
        if (to < 0) {
            CLV_TRY(clv_pareto_labels_find_state(&s->labels, &key, s->g->row, &to, err));
            record_state(s, to);
        }
        CLV_TRY(clv_pareto_labels_add(&s->labels, to, from->label, kind, most, err));
    }
    return CLV_OK;
}

/* Has the budget ended, or the run? */
static bool is_over(limit_search *s)
{
    if (++s->n_steps < s->next_look)
        return s->gave_up;
    s->next_look = s->n_steps + STEPS_LOOK;
    if (clv_place_over(s->of->search) || s->n_steps > s->of->steps ||
        clv_arena_bytes(s->arena) > BYTES_MAX)
        s->gave_up = true;
    return s->gave_up;
}

/* What to do at a level. */
typedef struct {
    int32_t size; /* of the ideal before the stage */
    int32_t kind;
    int64_t need;  /* value that must be in the stage */
    int64_t rest;  /* value behind the ideal */
    uint64_t hash; /* of the ideal with the stage */
    int32_t base;  /* blocks that every stage has */
    int32_t depth; /* other blocks in the stage */
} stage_enumeration;

/* Looks at the stage as it is. Returns a block that has to join, or -1. */
static clv_status end_stage_if_useful(limit_search *s, stage_enumeration *w, int32_t *ret_forced,
                                      clv_error *err)
{
    frame *f = &s->frames[w->depth];
    clv_stage_relief a = clv_partial_stage_find_relief(s->g, w->kind);
    *ret_forced = a.forced;
    if (a.forced >= 0 && a.forced < f->cursor) {
        f->cursor = s->g->b->n; /* left out before, and should not have been */
        *ret_forced = -1;
    } else if (a.forced < 0 && w->base + w->depth > 0 && s->g->value >= w->need && !a.dominated &&
               !(knows_dominating(s) && clv_stage_is_dominated(&s->dominance))) {
        return end_stage(s, w->kind, w->size + w->base + w->depth, w->hash, w->rest - s->g->value,
                         err);
    }
    return CLV_OK;
}

/* The block joins, and opens a level. Is the stage worth a look? */
static bool push_block(limit_search *s, stage_enumeration *w, int32_t u, bool forced)
{
    const clv_partial_stage *g = s->g;
    const frame *f = &s->frames[w->depth];
    clv_partial_stage_change(s->g, w->kind, u, 1);
    w->hash ^= s->of->key[u];
    s->frames[w->depth + 1] = (frame){ u, f->cursor, f->lost, forced };
    if (knows_dominating(s))
        memcpy(s->gone + ((size_t)w->depth + 1) * g->words, s->gone + (size_t)w->depth * g->words,
               g->words * sizeof *s->gone);
    w->depth++;
    bool too_much = s->p->kinds[w->kind].pays && g->time + g->in > g->limit;
    if (too_much)
        s->frames[w->depth].cursor = g->b->n;
    return !too_much;
}

/* Back to the level before, where the block is left out, or with which that level ends too. */
static void pop_block(limit_search *s, stage_enumeration *w)
{
    const frame *f = &s->frames[w->depth--];
    clv_partial_stage_change(s->g, w->kind, f->block, -1);
    w->hash ^= s->of->key[f->block];
    leave_out(s, w->depth, f->block);
    if (f->forced)
        s->frames[w->depth].cursor = s->g->b->n;
}

/* Grows all stages of a kind from a state. */
static clv_status grow_stages(limit_search *s, stage_enumeration *w, clv_error *err)
{
    int32_t n = s->g->b->n;
    s->frames[0] = (frame){ .block = -1 };
    memset(s->gone, 0, s->g->words * sizeof *s->gone);
    if (knows_dominating(s)) { /* what every stage has joins it */
        s->n_steps += clv_stage_dominance_find_base(&s->dominance, w->kind, s->g->low);
        w->base = s->dominance.n_base;
    }
    for (int32_t i = 0; i < w->base; i++) {
        clv_partial_stage_change(s->g, w->kind, s->dominance.base[i], 1);
        w->hash ^= s->of->key[s->dominance.base[i]];
    }
    for (bool fresh = true; !is_over(s);) {
        int32_t u = -1;
        if (fresh)
            CLV_TRY(end_stage_if_useful(s, w, &u, err));
        frame *f = &s->frames[w->depth];
        bool forced = u >= 0;
        if (!forced)
            u = w->rest - f->lost >= w->need ? clv_partial_stage_next_ready(s->g, f->cursor) : n;
        fresh = false;
        if (u == n && w->depth == 0)
            break;
        if (u == n) {
            pop_block(s, w);
            continue;
        }
        if (!forced)
            f->cursor = u + 1;
        if (clv_partial_stage_can_add(s->g, w->kind, u))
            fresh = push_block(s, w, u, forced);
        else
            leave_out(s, w->depth, u);
    }
    for (int32_t i = w->base; i > 0 && !s->gave_up; i--)
        clv_partial_stage_change(s->g, w->kind, s->dominance.base[i - 1], -1);
    return CLV_OK;
}

/* -- a state -- */

/* Labels that a device of this kind may follow. *ret_most: the most value that may be left behind
 * it; -1: none may be followed. */
static clv_status find_sources(limit_search *s, int32_t from, int32_t size, int32_t kind,
                               int64_t *ret_most, clv_error *err)
{
    const clv_place_problem *p = s->p;
    *ret_most = -1;
    s->n_sources = 0;
    for (int32_t l = s->labels.states[from].first; l >= 0; l = s->labels.labels[l].next) {
        const int32_t *counts = clv_pareto_labels_counts(&s->labels, l);
        source to = { .label = l };
        if (counts[kind] == p->kinds[kind].count ||
            is_left_behind(s, clv_pareto_labels_row(&s->labels, from), size, l, -1,
                           s->labels.labels[l].load))
            continue;
        for (int32_t k = 0; k < p->n_kinds; k++) {
            int32_t left = p->kinds[k].count - counts[k] - (k == kind);
            to.room += s->share->can_do[k][left];
            if (left == 0)
                continue;
            /* whatever leaves the ideal is received by somebody, and paid if all pay */
            bool any = !p->kinds[k].pays || s->g->limit > ANY_LOAD / left;
            to.load = any ? ANY_LOAD : to.load + left * s->g->limit;
            to.load = to.load > ANY_LOAD ? ANY_LOAD : to.load;
        }
        if (!CLV_PUSH_ROOM(s->arena, s->sources, s->n_sources, s->cap_sources))
            return nomem(err);
        s->sources[s->n_sources++] = to;
        *ret_most = to.room > *ret_most ? to.room : *ret_most;
    }
    return CLV_OK;
}

static clv_status expand(limit_search *s, int32_t from, int32_t size, clv_error *err)
{
    if (s->labels.states[from].first < 0)
        return CLV_OK;
    clv_partial_stage_reset(s->g, clv_pareto_labels_row(&s->labels, from));
    for (int32_t k = 0; k < s->p->n_kinds && !s->gave_up; k++) {
        int64_t most, rest = s->labels.states[from].rest;
        CLV_TRY(find_sources(s, from, size, k, &most, err));
        stage_enumeration w = { .size = size,
                                .kind = k,
                                .need = rest - most,
                                .rest = rest,
                                .hash = s->labels.states[from].hash };
        if (most >= 0)
            CLV_TRY(grow_stages(s, &w, err));
    }
    return CLV_OK;
}

/* -- one limit -- */

static clv_status new_search(limit_search *s, clv_error *err)
{
    size_t n = (size_t)s->g->b->n,
           all = clv_dominating_ideals_at(&s->of->dominating, s->of->dominating.n_chains, 0);
    s->frames = CLV_NEW_ARRAY(s->arena, frame, n + 1);
    s->gone = CLV_NEW_ARRAY(s->arena, uint64_t,
                            knows_dominating(s) ? (n + 1) * s->g->words : s->g->words);
    s->dominating_state = CLV_NEW_ARRAY(s->arena, int32_t, all);
    if (!s->frames || !s->gone || !s->dominating_state)
        return nomem(err);
    for (size_t i = 0; i < all; i++)
        s->dominating_state[i] = -1;
    return knows_dominating(s)
               ? clv_stage_dominance_new(&s->of->dominating, s->g, s->arena, &s->dominance, err)
               : CLV_OK;
}

/* Enough is known: any solution will do, and there is one. */
static bool is_done(const limit_search *s)
{
    return s->gave_up || (s->of->any && s->labels.of_size[s->g->b->n] >= 0);
}

static clv_status reach_states(limit_search *s, clv_error *err)
{
    int32_t start, n = s->g->b->n;
    size_t words = s->g->words;
    uint64_t *nothing = CLV_NEW_ARRAY(s->arena, uint64_t, words);
    if (!nothing)
        return nomem(err);
    CLV_TRY(new_search(s, err));
    CLV_TRY(clv_pareto_labels_new(n, s->p->n_kinds, s->arena, &s->labels, err));
    CLV_TRY(clv_pareto_labels_find_state(
        &s->labels, &(clv_pareto_state){ .rest = s->share->all_value }, nothing, &start, err));
    CLV_TRY(clv_pareto_labels_add(&s->labels, start, -1, -1, 0, err));
    for (int32_t size = 0; size < n && !is_done(s); size++)
        for (int32_t i = s->labels.of_size[size]; i >= 0 && !is_done(s);
             i = s->labels.states[i].next)
            CLV_TRY(expand(s, i, size, err));
    return CLV_OK;
}

/* The label of the full ideal that is best; -1: none. */
static int32_t best_label(const limit_search *s)
{
    int32_t full = s->labels.of_size[s->g->b->n], best = -1;
    int64_t best_key = 0;
    for (int32_t l = full < 0 ? -1 : s->labels.states[full].first; l >= 0;
         l = s->labels.labels[l].next) {
        int64_t key = s->labels.labels[l].load;
        for (int32_t k = 0; s->of->count_only && k < s->p->n_kinds; k++)
            key += clv_pareto_labels_counts(&s->labels, l)[k]; /* loads were left at 0 */
        if (best < 0 || key < best_key) {
            best = l;
            best_key = key;
        }
    }
    return best;
}

/* Stages onto devices of their kinds, the first stage on the first device. *ret_load: the largest
 * of a stage. O(stages * (n + arcs + pins)). */
static clv_status offer(limit_search *s, int32_t l, int64_t *ret_load, clv_error *err)
{
    const clv_pareto_label *labels = s->labels.labels;
    int32_t n = s->g->b->n, *of_block = CLV_NEW_ARRAY(s->arena, int32_t, n);
    if (!of_block)
        return nomem(err);
    *ret_load = 0;
    for (; labels[l].from >= 0; l = labels[l].from) {
        const uint64_t *row = clv_pareto_labels_row(&s->labels, labels[l].state);
        const uint64_t *before = clv_pareto_labels_row(&s->labels, labels[labels[l].from].state);
        int32_t kind = labels[l].last, device = clv_pareto_labels_counts(&s->labels, l)[kind] - 1;
        for (int32_t k = 0; k < kind; k++)
            device += s->p->kinds[k].count;
        clv_partial_stage_reset(s->g, before);
        for (int32_t u = 0; u < n; u++)
            if (clv_bit(row, u) && !clv_bit(before, u)) {
                of_block[u] = device;
                clv_partial_stage_change(s->g, kind, u, 1);
            }
        int64_t load = clv_partial_stage_load(s->g, kind);
        *ret_load = load > *ret_load ? load : *ret_load;
    }
    return clv_place_offer_groups(s->of->search, s->of->name, s->g->b->block_of, of_block, err);
}

clv_status clv_ideal_search_run(clv_ideal_search *of, int64_t limit, clv_ideal_search_outcome *ret,
                                int64_t *ret_load, clv_error *err)
{
    limit_search s = { .of = of,
                       .g = &of->stage,
                       .share = &of->share,
                       .p = of->stage.b->p,
                       .next_look = STEPS_LOOK,
                       .arena = clv_arena_new(of->alloc, 0) };
    if (!s.arena)
        return nomem(err);
    int64_t low = of->stage.low;
    of->stage.limit = limit;
    of->stage.low = of->any ? limit : low;
    clv_fluid_bound_set_limit(&of->share, limit);
    clv_status status = reach_states(&s, err);
    int32_t best = status == CLV_OK ? best_label(&s) : -1;
    of->steps -= s.n_steps;
    of->stage.low = low;
    if (best >= 0)
        status = offer(&s, best, ret_load, err);
    if (status == CLV_OK)
        *ret = s.gave_up   ? CLV_IDEALS_UNDECIDED
               : best >= 0 ? CLV_IDEALS_FOUND
                           : CLV_IDEALS_INFEASIBLE;
    clv_arena_free(s.arena);
    return status;
}

clv_status clv_ideal_search_find_dominating(clv_ideal_search *s, clv_arena *arena, clv_error *err)
{
    return clv_dominating_ideals_find(s->stage.b, &s->share, s->stage.behind, arena, &s->dominating,
                                      err);
}

clv_status clv_ideal_search_new(clv_place_search *search, const clv_contraction *b,
                                const clv_ideal_search_options *options, clv_arena *arena,
                                clv_ideal_search *ret, clv_error *err)
{
    bool line = options->line;
    *ret = (clv_ideal_search){ .search = search,
                               .name = options->name,
                               .alloc = clv_arena_alloc(arena),
                               .key = CLV_NEW_ARRAY(arena, uint64_t, b->n),
                               .behind_value = CLV_NEW_ARRAY(arena, int64_t, b->n),
                               .steps = options->steps };
    if (!ret->key || !ret->behind_value)
        return nomem(err);
    CLV_TRY(clv_fluid_bound_new(b, arena, &ret->share, err));
    CLV_TRY(clv_partial_stage_new(b, &ret->share, line, arena, &ret->stage, err));
    for (int32_t u = 0; u < b->n; u++) {
        uint64_t state = (uint64_t)u;
        ret->key[u] = clv_random(&state);
        const uint64_t *behind = ret->stage.behind + (size_t)u * ret->stage.words;
        if (!line)
            for (size_t w = (size_t)u / 64; w < ret->stage.words; w++)
                for (uint64_t bits = behind[w]; bits; bits &= bits - 1)
                    ret->behind_value[u] +=
                        ret->share.value[w * 64 + (size_t)__builtin_ctzll(bits)];
    }
    for (int32_t u = b->n - 1; u >= 0 && line; u--) /* all that comes later */
        ret->behind_value[u] = ret->share.value[u] + (u + 1 < b->n ? ret->behind_value[u + 1] : 0);
    return CLV_OK;
}
