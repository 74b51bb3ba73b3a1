#include "solver/placement/latency/iterative_deepening.h"

#include <math.h>
#include <string.h>

#include "solver/placement/latency/latency_ideals.h"

/* Limits begin this part above the bound and go up in steps that grow: low ones are cheap, and what
 * is found below one is best. */
#define FIRST_RISE 0x1p-9
#define GROWTH     2
#define LEAST_RISE 0x1p-6 /* of the objective, where the bound is next to nothing */
/* What a bound may lose to rounding when the judge adds up the same times in another order. */
#define ROUNDING 0x1p-50
/* Ticks a node by which a solution may be better than its limit and yet be the same: times are
 * rounded down to ticks. */
#define TICKS_A_NODE 4

typedef struct {
    clv_place_search *search;
    const clv_latency_units *units;
    const clv_ideal_result *found;
    int64_t *need;     /* by step: bytes */
    int64_t *used;     /* by device: bytes of what pays */
    int32_t *device;   /* by step */
    int32_t *by_bytes; /* steps, the largest first */
    int32_t *class_of; /* by class: device */
} packer;

/* What the searches below rising limits share. */
typedef struct {
    clv_place_search *search;
    clv_chain_division *chain;
    clv_arena *arena;
    bool strict;    /* numbers of devices and bytes count */
    int64_t work;   /* steps left */
    int32_t *start; /* by class: the last find as an assignment */
    bool placed;    /* all pieces of a find had a device: start is one */
} deepening;

/* A device for a piece: empty for contiguous rules; else the fullest, or the emptiest, with room.
 */
static int32_t find_device(const packer *s, int64_t bytes, bool fullest)
{
    const clv_latency_tables *f = s->units->tables;
    int32_t best = -1;
    for (int32_t d = 0; d < f->n_devices; d++) {
        int64_t room = f->p->kinds[f->kind_of[d]].capacity_bytes;
        bool fits = room == CLV_PLACE_UNLIMITED || bytes <= room - s->used[d];
        if (f->column_of[d] < 0 || !fits || (f->contiguous && s->used[d] > 0))
            continue;
        if (best < 0 || (fullest ? s->used[d] > s->used[best] : s->used[d] < s->used[best]))
            best = d;
    }
    return best;
}

/* Devices for the steps that pay. False: not all found one. */
static bool place_pieces(packer *s, bool fullest)
{
    const clv_latency_tables *f = s->units->tables;
    memset(s->used, 0, (size_t)f->n_devices * sizeof *s->used);
    for (int32_t i = 0; i < s->found->n_steps; i++) {
        int32_t step = s->by_bytes[i];
        if (!s->found->step_pays[step])
            continue;
        s->device[step] = find_device(s, s->need[step], fullest);
        if (s->device[step] < 0)
            return false;
        s->used[s->device[step]] += s->need[step] > 0 ? s->need[step] : 1;
    }
    return true;
}

/* Devices for the steps that do not pay. Free rules: one for all. Contiguous: one for each run of
 * them; steps that ride join a run that comes after them or, at the end, before. */
static bool place_units(packer *s)
{
    const clv_latency_tables *f = s->units->tables;
    const clv_ideal_result *r = s->found;
    int32_t next = 0, last = -1;
    bool open = false;
    for (int32_t i = 0; i < r->n_steps; i++) {
        open = open && !r->step_pays[i];
        if (r->step_pays[i] || (r->step_rides[i] && i > 0 && !open && f->contiguous))
            continue;
        if (!open && (f->contiguous || last < 0)) {
            while (next < f->n_devices && f->column_of[next] >= 0)
                next++;
            if (next == f->n_devices)
                return false;
            last = next++;
        }
        s->device[i] = last;
        open = true;
    }
    int32_t after = -1;
    for (int32_t i = r->n_steps - 1; i >= 0; i--)
        if (!r->step_pays[i] && s->device[i] >= 0)
            after = s->device[i];
        else if (s->device[i] < 0)
            s->device[i] = after >= 0 ? after : last;
    return true;
}

static clv_status offer_steps(packer *s, bool fullest, bool *ret_placed, clv_error *err)
{
    const clv_place_problem *p = s->units->tables->p;
    for (int32_t i = 0; i < s->found->n_steps; i++)
        s->device[i] = -1;
    *ret_placed = place_pieces(s, fullest) && place_units(s);
    for (int32_t i = 0; i < s->found->n_steps; i++)
        *ret_placed &= s->device[i] >= 0;
    if (!*ret_placed)
        return CLV_OK;
    /* a class that is several units goes where the first of them is */
    for (int32_t i = p->n_nodes - 1; i >= 0; i--) {
        int32_t v = p->order[i];
        s->class_of[p->class_of[v]] = s->device[s->found->step_of[s->units->unit_of[v]]];
    }
    return clv_place_offer_groups(s->search, "latency ideals", p->class_of, s->class_of, err);
}

/* Offers what a search found in the ways that devices can share. O(steps^2 + steps * devices). */
static clv_status offer_found(deepening *d, const clv_ideal_result *found, clv_error *err)
{
    const clv_latency_units *units = d->chain->units;
    const clv_latency_tables *f = units->tables;
    clv_arena *arena = d->arena;
    packer s = { .search = d->search, .units = units, .found = found, .class_of = d->start };
    bool fullest, emptiest;
    s.need = CLV_NEW_ARRAY(arena, int64_t, found->n_steps);
    s.used = CLV_NEW_ARRAY(arena, int64_t, f->n_devices);
    s.device = CLV_NEW_ARRAY(arena, int32_t, found->n_steps);
    s.by_bytes = CLV_NEW_ARRAY(arena, int32_t, found->n_steps);
    if (!s.need || !s.used || !s.device || !s.by_bytes)
        return clv_fail_nomem(err, "a solution");
    for (int32_t i = 0; i < units->n; i++)
        s.need[found->step_of[i]] += units->bytes[i];
    for (int32_t i = 0; i < found->n_steps; i++) {
        int32_t j = i;
        for (; j > 0 && s.need[s.by_bytes[j - 1]] < s.need[i]; j--)
            s.by_bytes[j] = s.by_bytes[j - 1];
        s.by_bytes[j] = i;
    }
    CLV_TRY(offer_steps(&s, true, &fullest, err));
    CLV_TRY(offer_steps(&s, false, &emptiest, err));
    d->placed |= fullest || emptiest;
    return CLV_OK;
}

/* One search below a limit, in the problem's unit; at most the objective. */
static clv_status search_below(deepening *d, double limit, clv_ideal_end *ret, clv_error *err)
{
    clv_place_search *search = d->search;
    clv_chain_division *chain = d->chain;
    const clv_latency_units *u = chain->units;
    int64_t ticks = clv_latency_ticks(u, limit);
    int64_t best = clv_latency_ticks(u, clv_place_best(search)) -
                   TICKS_A_NODE * (int64_t)u->tables->p->n_nodes;
    clv_ideal_result found;
    ticks = ticks < best ? ticks : best;
    clv_chain_division_refine_below(chain, ticks, clv_place_over_ctx, search);
    if (d->strict && chain->priced) {
        double worth = chain->price * (double)clv_latency_most_held(u);
        clv_chain_division_refine_below(chain->priced, ticks + (int64_t)worth, clv_place_over_ctx,
                                        search);
    }
    clv_ideal_limits limits = { ticks, d->strict, d->work };
    CLV_TRY(clv_latency_ideals(search, chain, &limits, d->arena, &found, err));
    d->work -= found.work;
    if (found.end == CLV_IDEAL_NONE && isinf(limit) && isinf(clv_place_best(search)))
        clv_place_raise(search, "latency ideals", INFINITY);
    else if (found.end != CLV_IDEAL_ENDED)
        clv_place_raise(search, "latency ideals", (double)found.value * u->tick * (1 - ROUNDING));
    if (found.step_of)
        CLV_TRY(offer_found(d, &found, err));
    *ret = found.end;
    return CLV_OK;
}

clv_status clv_iterative_deepening(clv_place_search *search, clv_chain_division *chain,
                                   int64_t work, clv_arena *arena, int32_t **ret_start,
                                   clv_error *err)
{
    deepening d = { .search = search, .chain = chain, .arena = arena, .work = work };
    double rise = FIRST_RISE * clv_place_bound(search);
    *ret_start = NULL;
    d.strict = chain->units->whole;
    d.start = CLV_NEW_ARRAY(arena, int32_t, chain->units->tables->p->n_classes);
    if (!d.start)
        return clv_fail_nomem(err, "a solution");
    if (isinf(clv_place_best(search)))
        rise = INFINITY; /* any solution is welcome, or the proof that there is none */
    else
        rise = fmax(rise, LEAST_RISE * FIRST_RISE * clv_place_best(search));
    for (double limit = clv_place_bound(search) + rise; rise > 0 && !clv_place_over(search);) {
        clv_mark mark = clv_arena_mark(arena);
        clv_ideal_end end;
        CLV_TRY(search_below(&d, limit, &end, err));
        clv_arena_rewind(arena, mark);
        if (end == CLV_IDEAL_NONE) {
            if (limit >= clv_place_best(search) || isinf(limit))
                break;
            rise *= GROWTH;
            limit = clv_place_bound(search) + rise;
        } else if (end == CLV_IDEAL_ENDED || d.strict) {
            break;
        } else {
            d.strict = true; /* the least is known without counting devices: count them */
        }
    }
    if (d.placed)
        *ret_start = d.start;
    return CLV_OK;
}
