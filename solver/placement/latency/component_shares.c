/* component_shares.c - see component_shares.h: parts alone, on one device, and on shares of
 * devices. */
#include "solver/placement/latency/component_shares.h"

#include <math.h>
#include <string.h>

/* What a sum of rounded numbers may be off by. */
#define ROUNDING 0x1p-34
/* The solver takes a solution and a bound this near to each other for the same. */
#define SAME 1e-9
/* Solves are paid by the nodes of the part, up to so many each; and all there is to pay with. */
#define MOST_PRICE 64
#define BUDGET     (64 * MOST_PRICE)
/* Of the time that is left, parts may take this share; and a solve this share of that. */
#define TIME_SHARE  0.7
#define SOLVE_SHARE 0.7
/* A deadline of 0 would be none. */
#define LEAST_TIME 1e-6

/* -- what is known without a search -- */

static double longest_path(const clv_place_problem *p, const double *time, double *ends)
{
    double last = 0;
    memset(ends, 0, (size_t)p->n_nodes * sizeof *ends);
    for (int32_t i = 0; i < p->n_nodes; i++) {
        int32_t v = p->order[i];
        ends[v] += time[v];
        last = fmax(last, ends[v]);
        for (int32_t e = p->out_first[v]; e < p->out_first[v + 1]; e++)
            ends[p->out[e]] = fmax(ends[p->out[e]], ends[v]);
    }
    return last;
}

/* One device of a kind can have all nodes. */
static bool can_hold(const clv_component_group *g, int32_t k)
{
    const clv_place_kind *kind = &g->p->kinds[k];
    bool can = kind->count > 0 &&
               (kind->capacity_bytes == CLV_PLACE_UNLIMITED || g->bytes <= kind->capacity_bytes);
    for (int32_t v = 0; v < g->p->n_nodes && can; v++)
        can = g->p->time[(size_t)k * (size_t)g->p->n_nodes + (size_t)v] >= 0;
    return can;
}

/* scratch: two numbers a node. */
static void bound_group(const clv_component_shares *s, clv_component_group *g, double *scratch)
{
    const clv_place_problem *p = g->p;
    double *least = scratch, *ends = scratch + p->n_nodes;
    g->alone = g->whole = INFINITY;
    g->alone_is_best = s->n_free == 0;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        g->bytes += p->bytes[v];
        least[v] = INFINITY;
        for (int32_t k = 0; k < p->n_kinds; k++) {
            double time = p->time[(size_t)k * (size_t)p->n_nodes + (size_t)v];
            if (p->kinds[k].count > 0 && time >= 0)
                least[v] = fmin(least[v], time);
        }
    }
    g->least = longest_path(p, least, ends) * (1 - ROUNDING);
    for (int32_t k = 0; k < p->n_kinds; k++) {
        const double *time = p->time + (size_t)k * (size_t)p->n_nodes;
        if (!can_hold(g, k) || (p->kinds[k].pays && k != s->packing))
            continue;
        if (p->kinds[k].pays) {
            g->whole = 0;
            for (int32_t v = 0; v < p->n_nodes; v++)
                g->whole += time[v];
            continue;
        }
        double alone = longest_path(p, time, ends);
        g->alone_is_best = s->n_free == 1;
        if (alone < g->alone) {
            g->alone = alone;
            g->alone_on = s->first[k];
        }
    }
}

static void count_devices(clv_component_shares *s)
{
    int32_t n_devices = 0, n_paying = 0;
    for (int32_t k = 0; k < s->p->n_kinds; k++) {
        const clv_place_kind *kind = &s->p->kinds[k];
        s->first[k] = n_devices;
        n_devices += kind->count;
        s->n_free += !kind->pays && kind->count > 0;
        if (!kind->pays || kind->count == 0)
            continue;
        s->n_shares += kind->count;
        s->packing = n_paying++ ? -1 : k;
    }
}

/* Shares of which no device stays empty but for want of classes: as good as all. */
static int32_t most_shares(const clv_component_shares *s, const clv_place_problem *p)
{
    int32_t shares = 0;
    for (int32_t k = 0; k < p->n_kinds; k++) {
        const clv_place_kind *kind = &p->kinds[k];
        int32_t most = kind->count < p->n_classes ? kind->count : p->n_classes;
        while (kind->pays && clv_component_shares_devices(s, k, shares) < most)
            shares++;
    }
    return shares;
}

clv_status clv_component_shares_new(clv_place_search *search, clv_arena *arena,
                                    clv_component_shares *ret, clv_error *err)
{
    const clv_place_problem *p = search->p;
    double deadline = clv_place_time_s(search);
    clv_component_shares s = {
        .search = search, .p = p, .arena = arena, .packing = -1, .budget = BUDGET
    };
    CLV_TRY(clv_components_new(p, arena, &s.parts, err));
    s.groups = CLV_NEW_ARRAY(arena, clv_component_group, s.parts.n_groups);
    s.first = CLV_NEW_ARRAY(arena, int32_t, p->n_kinds);
    s.kinds = CLV_NEW_ARRAY(arena, clv_place_kind, p->n_kinds);
    double *scratch = CLV_NEW_ARRAY(arena, double, 2 * (size_t)p->n_nodes);
    if (!s.groups || !s.first || !s.kinds || !scratch)
        return clv_fail_nomem(err, "the parts of a placement");
    s.end_s = clv_place_seconds(search);
    s.end_s = deadline > 0 ? s.end_s + TIME_SHARE * (deadline - s.end_s) : INFINITY;
    count_devices(&s);
    for (int32_t i = 0; i < s.parts.n_groups; i++) {
        clv_component_group *g = &s.groups[i];
        g->p = &s.parts.p[i];
        g->n_copies = s.parts.copies.first[i + 1] - s.parts.copies.first[i];
        g->most = most_shares(&s, g->p);
        bound_group(&s, g, scratch);
    }
    *ret = s;
    return CLV_OK;
}

/* -- a part on a share -- */

int32_t clv_component_shares_devices(const clv_component_shares *s, int32_t kind, int32_t shares)
{
    int64_t count = s->p->kinds[kind].count;
    return s->n_shares > 0 ? (int32_t)(count * shares / s->n_shares) : 0;
}

bool clv_component_shares_may_solve(const clv_component_shares *s)
{
    return s->budget > 0 && clv_place_seconds(s->search) < s->end_s && !clv_place_over(s->search);
}

clv_component_share *clv_component_shares_solved(const clv_component_group *g, int32_t shares)
{
    clv_component_share *at = g->solved;
    while (at && at->given != shares)
        at = at->next;
    return at;
}

/* Contiguous rules want the devices of all parts in one line. Those that do not pay are in several
 * parts: within a kind, each part takes them in the order of its line. O(devices * edges). */
static clv_status rank_in_line(const clv_place_problem *p, const int32_t *device_of, int32_t *rank,
                               clv_arena *arena, clv_error *err)
{
    clv_latency_tables *f;
    int32_t n = clv_place_devices(p);
    CLV_TRY(clv_latency_tables_new(p, true, arena, &f, err));
    int32_t *of_class = CLV_NEW_ARRAY(arena, int32_t, p->n_classes);
    if (!of_class)
        return clv_fail_nomem(err, "the line of a part");
    for (int32_t v = 0; v < p->n_nodes; v++)
        of_class[p->class_of[v]] = device_of[v];
    bool moves = true;
    for (int32_t i = 0; i < n && moves; i++) { /* a path has fewer edges than there are devices */
        moves = false;
        for (int32_t a = 0; a < p->n_classes; a++)
            for (int32_t e = f->line.first[a]; e < f->line.first[a + 1]; e++) {
                int32_t from = of_class[a], to = of_class[f->line.at[e]];
                if (from == to || rank[to] > rank[from])
                    continue;
                rank[to] = rank[from] + 1;
                moves = true;
            }
    }
    return CLV_OK;
}

/* By device of a component: how its solution uses it. */
typedef struct {
    bool *is_used;
    int32_t *rank;   /* along the line that contiguous rules want */
    int32_t *number; /* in the whole */
    int32_t *used;   /* scratch: those of one kind */
} device_use;

/* Numbers the devices of a component as in the whole: of each kind that pays the first ones,
 * without gaps; others in the order of rank. Returns the shares that are enough. */
static int32_t renumber(const clv_component_shares *s, const clv_place_problem *p,
                        const device_use *use, int32_t *device_of)
{
    const int32_t *rank = use->rank;
    int32_t *used = use->used;
    int32_t begin = 0, shares = 0;
    for (int32_t k = 0; k < p->n_kinds; k++) {
        int32_t end = begin + p->kinds[k].count, n_used = 0;
        for (int32_t d = begin; d < end; d++)
            if (use->is_used[d])
                used[n_used++] = d;
        for (int32_t i = 0; i < n_used; i++) {
            int32_t before = 0;
            for (int32_t j = 0; j < n_used; j++)
                before +=
                    rank[used[j]] < rank[used[i]] || (rank[used[j]] == rank[used[i]] && j < i);
            use->number[used[i]] = s->first[k] + before;
        }
        while (p->kinds[k].pays && clv_component_shares_devices(s, k, shares) < n_used)
            shares++;
        begin = end;
    }
    for (int32_t v = 0; v < p->n_nodes; v++)
        device_of[v] = use->number[device_of[v]];
    return shares;
}

/* The solution of a solve, in the whole's numbers. O(nodes + devices * edges + used^2). */
static clv_status renumber_solution(clv_component_shares *s, const clv_place_problem *p,
                                    const int32_t *device_of, clv_component_share *share,
                                    clv_arena *scratch, clv_error *err)
{
    int32_t n = clv_place_devices(p);
    device_use use = { .is_used = CLV_NEW_ARRAY(scratch, bool, n),
                       .rank = CLV_NEW_ARRAY(scratch, int32_t, n),
                       .number = CLV_NEW_ARRAY(scratch, int32_t, n),
                       .used = CLV_NEW_ARRAY(scratch, int32_t, n) };
    if (!share->device_of)
        share->device_of = CLV_NEW_ARRAY(s->arena, int32_t, p->n_nodes);
    if (!use.is_used || !use.rank || !use.number || !use.used || !share->device_of)
        return clv_fail_nomem(err, "the solution of a part");
    for (int32_t v = 0; v < p->n_nodes; v++) {
        share->device_of[v] = device_of[v];
        use.is_used[device_of[v]] = true;
    }
    if (s->search->options->rules.contiguous)
        CLV_TRY(rank_in_line(p, device_of, use.rank, scratch, err));
    share->used = renumber(s, p, &use, share->device_of);
    return CLV_OK;
}

static void on_progress(void *ctx, const clv_solve_progress *p)
{
    clv_component_shares *s = ctx;
    s->enough = p->value.real <= s->bound * (1 + SAME);
}

static bool is_over(void *ctx)
{
    clv_component_shares *s = ctx;
    return s->enough || clv_place_over(s->search);
}

/* The former solve with so many shares, or a new one. */
static clv_status find_or_add_share(const clv_component_shares *s, clv_component_group *g,
                                    int32_t shares, clv_component_share **ret, clv_error *err)
{
    *ret = clv_component_shares_solved(g, shares);
    if (*ret)
        return CLV_OK;
    *ret = CLV_NEW(s->arena, clv_component_share);
    if (!*ret)
        return clv_fail_nomem(err, "the solution of a part");
    **ret = (clv_component_share){ g->solved, shares, shares, INFINITY, 0, true, NULL };
    g->solved = *ret;
    return CLV_OK;
}

static clv_status keep_result(clv_component_shares *s, const clv_place_problem *p,
                              const clv_place_result *r, clv_component_share *share,
                              clv_arena *scratch, clv_error *err)
{
    share->bound = fmax(share->bound, r->solve.bound.real);
    if (!r->solve.found || r->value.objective >= share->value)
        return CLV_OK;
    share->value = r->value.objective;
    return renumber_solution(s, p, r->solve.solution, share, scratch, err);
}

clv_status clv_component_shares_solve(clv_component_shares *s, clv_component_group *g,
                                      int32_t shares, bool brief, clv_error *err)
{
    const clv_place_options *whole = s->search->options;
    clv_place_problem part = *g->p;
    clv_place_result r;
    memcpy(s->kinds, s->p->kinds, (size_t)s->p->n_kinds * sizeof *s->kinds);
    for (int32_t k = 0; k < s->p->n_kinds; k++) {
        if (s->kinds[k].pays)
            s->kinds[k].count = clv_component_shares_devices(s, k, shares);
        if (s->kinds[k].count > part.n_classes)
            s->kinds[k].count = part.n_classes; /* more cannot have nodes */
    }
    part.kinds = s->kinds;
    clv_place_options options = {
        .solve = { .gap = whole->solve.gap,
                   .seed = whole->solve.seed,
                   .stop = is_over,
                   .stop_ctx = s,
                   .progress = on_progress,
                   .progress_ctx = s },
        .rules = whole->rules,
        .late_enumeration = s->search->options->late_enumeration,
        .brief = brief,
    };
    if (!isinf(s->end_s))
        options.solve.deadline_ns = clv_deadline_in(
            fmax(SOLVE_SHARE * (s->end_s - clv_place_seconds(s->search)), LEAST_TIME));
    s->budget -= part.n_nodes < MOST_PRICE ? part.n_nodes : MOST_PRICE;
    s->enough = false;
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(s->arena), 0);
    if (!scratch)
        return clv_fail_nomem(err, "a part of a placement");
    clv_component_share *share;
    clv_status status = s->search->solve_part(&part, &options, scratch, &r, err);
    if (status == CLV_OK)
        status = find_or_add_share(s, g, shares, &share, err);
    if (status == CLV_OK) {
        share->brief = brief;
        status = keep_result(s, &part, &r, share, scratch, err);
    }
    clv_arena_free(scratch);
    return status;
}
