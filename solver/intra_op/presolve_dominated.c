/* presolve_dominated.c - see presolve_dominated.h. */
#include "solver/intra_op/presolve_dominated.h"

#include <string.h>

/* Steps after which the nodes not yet looked at are left alone; about a second. */
#define MOST_WORK INT64_C(1000000000)

typedef struct {
    const clv_intra_op_problem *p;
    int32_t *first_edge, *edge; /* by node */
    bool *hyper;
    const clv_pre_matrices *set;
    int32_t **suits[2];     /* by side, by matrix: the other side's best choice for each; or NULL */
    int32_t *slot, n_slots; /* open addressing: node judged before, or -1 */
    int64_t work;
    int64_t largest; /* finite entry */
    clv_arena *arena;
} goldstein;

/* An edge as its node in hand sees it. */
typedef struct {
    const int64_t *m;
    int64_t row, column; /* strides of the node's choice and of the neighbour's */
    int32_t width;       /* choices of the neighbour */
    const int32_t *suits;
    const int64_t *suited; /* the entries where the neighbour suits the choice in hand, and the */
    int64_t own;           /* one of that choice itself */
} side;

static int32_t *find_suits(goldstein *g, const side *s, int32_t n)
{
    int32_t *best = CLV_NEW_ARRAY(g->arena, int32_t, n);

    g->work += (int64_t)n * s->width;
    for (int32_t a = 0; best && a < n; a++)
        for (int32_t j = 1; j < s->width; j++)
            if (s->m[s->row * a + s->column * j] < s->m[s->row * a + s->column * best[a]])
                best[a] = j;
    return best;
}

/* The edges of v; false: no memory. */
static bool read_edges(goldstein *g, int32_t v, side *sides)
{
    const clv_intra_op_problem *p = g->p;
    int32_t n = clv_intra_op_n_choices(p, v);

    for (int32_t i = g->first_edge[v]; i < g->first_edge[v + 1]; i++, sides++) {
        const int32_t *end = p->end + p->first_end[g->edge[i]];
        int32_t m = p->matrix_of[g->edge[i]], turned = end[0] != v;
        int32_t **suits = &g->suits[turned][m];

        *sides =
            (side){ .m = g->set->of[m].entry, .width = clv_intra_op_n_choices(p, end[!turned]) };
        sides->row = turned ? 1 : sides->width;
        sides->column = turned ? n : 1;
        if (!*suits)
            *suits = find_suits(g, sides, n);
        if (!*suits)
            return false;
        sides->suits = *suits;
    }
    return true;
}

/* Where the neighbours suit a, b costs less than a by *ahead, which so far is all that a costs.
 * False: that is less than nothing, or b then costs never. */
static bool first_test(const side *s, int32_t n, int32_t b, int64_t *ahead)
{
    for (int32_t i = 0; i < n; i++) {
        int64_t entry = s[i].suited[s[i].row * b];

        if (entry >= CLV_INTRA_OP_NEVER)
            return false;
        *ahead -= entry;
    }
    return *ahead >= 0;
}

/* The least that a costs more than b over one edge; false: it is less than `enough`, or b meets
 * never where a does not. */
static bool least_more(const side *s, int32_t a, int32_t b, int64_t enough, int64_t *ret)
{
    const int64_t *x = s->m + s->row * a, *y = s->m + s->row * b;
    int64_t least = CLV_INTRA_OP_NEVER;

    for (int32_t j = 0; j < s->width; j++, x += s->column, y += s->column) {
        if (*x >= CLV_INTRA_OP_NEVER)
            continue;
        if (*y >= CLV_INTRA_OP_NEVER || *x - *y < enough)
            return false;
        least = *x - *y < least ? *x - *y : least;
    }
    *ret = least < CLV_INTRA_OP_NEVER ? least : 0;
    return true;
}

/* b beats a, which is in hand. The first test sees at each edge no less than the least, so it stays
 * an upper bound when the least takes the place of what it saw, edge by edge. */
static bool beats(goldstein *g, const side *s, int32_t n, int64_t ahead, int32_t b, int32_t a)
{
    g->work += n;
    if (!first_test(s, n, b, &ahead))
        return false;
    for (int32_t i = 0; i < n && ahead >= 0; i++) {
        int64_t seen = s[i].own - s[i].suited[s[i].row * b], more;

        g->work += s[i].width;
        if (!least_more(&s[i], a, b, seen - ahead, &more))
            return false;
        ahead += more - seen;
    }
    return ahead >= 0;
}

static bool no_more_memory(const clv_intra_op_problem *p, int32_t v, int32_t b, int32_t a)
{
    for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++)
        if (p->usage[p->span_usage[i] + b] > p->usage[p->span_usage[i] + a])
            return false;
    return true;
}

static void drop(goldstein *g, int32_t v, side *sides, bool *alive)
{
    const clv_intra_op_problem *p = g->p;
    const int64_t *cost = p->cost + p->first_choice[v];
    int32_t n = clv_intra_op_n_choices(p, v), degree = g->first_edge[v + 1] - g->first_edge[v];

    for (int32_t a = n - 1; a >= 0; a--) {
        int64_t all = cost[a]; /* where every neighbour suits a */

        for (int32_t i = 0; i < degree; i++) {
            sides[i].suited = sides[i].m + sides[i].column * sides[i].suits[a];
            sides[i].own = sides[i].suited[sides[i].row * a];
            all += sides[i].own;
        }

        for (int32_t b = 0; b < n && alive[a]; b++)
            if (b != a && alive[b] && no_more_memory(p, v, b, a) &&
                beats(g, sides, degree, all - cost[b], b, a))
                alive[a] = false;
    }
}

static clv_status new_goldstein(goldstein *g, clv_error *err)
{
    const clv_intra_op_problem *p = g->p;

    g->first_edge = CLV_NEW_ARRAY(g->arena, int32_t, p->n_nodes + 2);
    g->edge = CLV_NEW_ARRAY(g->arena, int32_t, p->first_end[p->n_edges]);
    g->hyper = CLV_NEW_ARRAY(g->arena, bool, p->n_nodes);
    g->suits[0] = CLV_NEW_ARRAY(g->arena, int32_t *, g->set->n);
    g->suits[1] = CLV_NEW_ARRAY(g->arena, int32_t *, g->set->n);
    g->n_slots = 1; /* room for all nodes */
    while (g->n_slots < 2 * (int64_t)p->n_nodes)
        g->n_slots *= 2;
    g->slot = CLV_NEW_ARRAY(g->arena, int32_t, g->n_slots);
    if (!g->first_edge || !g->edge || !g->hyper || !g->suits[0] || !g->suits[1] || !g->slot)
        return clv_fail_nomem(err, "comparing the choices of a strategy problem");
    memset(g->slot, 0xff, (size_t)g->n_slots * sizeof *g->slot);
    for (int32_t i = 0; i < p->first_end[p->n_edges]; i++)
        g->first_edge[p->end[i] + 2]++;
    for (int32_t v = 0; v < p->n_nodes; v++)
        g->first_edge[v + 2] += g->first_edge[v + 1];
    for (int32_t e = 0; e < p->n_edges; e++)
        for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++) {
            g->edge[g->first_edge[p->end[i] + 1]++] = e;
            g->hyper[p->end[i]] |= p->first_end[e + 1] - p->first_end[e] != 2;
        }
    for (int32_t e = 0; e < p->n_edges; e++)
        if (g->set->of[p->matrix_of[e]].largest > g->largest)
            g->largest = g->set->of[p->matrix_of[e]].largest;
    return CLV_OK;
}

/* What a node is judged by, but for its costs and memory: a number for each edge. */
static uint64_t seen_as(const goldstein *g, int32_t v, int32_t i)
{
    int32_t e = g->edge[g->first_edge[v] + i];

    return (uint64_t)g->p->matrix_of[e] << 1 | (g->p->end[g->p->first_end[e]] != v);
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 over the golden ratio */
    return h ^ h >> 32;
}

static uint64_t hash_of(const goldstein *g, int32_t v)
{
    const clv_intra_op_problem *p = g->p;
    int32_t degree = g->first_edge[v + 1] - g->first_edge[v];
    uint64_t h = (uint64_t)degree;

    for (int32_t i = 0; i < degree; i++)
        h = mix(h, seen_as(g, v, i));
    for (int32_t c = p->first_choice[v]; c < p->first_choice[v + 1]; c++)
        h = mix(h, (uint64_t)p->cost[c]);
    return h;
}

static bool alike(const goldstein *g, int32_t v, int32_t u)
{
    const clv_intra_op_problem *p = g->p;
    int32_t n = clv_intra_op_n_choices(p, v), degree = g->first_edge[v + 1] - g->first_edge[v];
    int32_t spans = p->first_span[v + 1] - p->first_span[v];
    bool same = clv_intra_op_n_choices(p, u) == n &&
                g->first_edge[u + 1] - g->first_edge[u] == degree &&
                p->first_span[u + 1] - p->first_span[u] == spans &&
                memcmp(p->cost + p->first_choice[v], p->cost + p->first_choice[u],
                       (size_t)n * sizeof *p->cost) == 0;

    for (int32_t i = 0; same && i < degree; i++)
        same = seen_as(g, v, i) == seen_as(g, u, i);
    for (int32_t i = 0; same && i < spans; i++)
        same = memcmp(p->usage + p->span_usage[p->first_span[v] + i],
                      p->usage + p->span_usage[p->first_span[u] + i],
                      (size_t)n * sizeof *p->usage) == 0;
    return same;
}

static bool find_dominated(goldstein *g, int32_t v, side *sides, bool *alive)
{
    const clv_intra_op_problem *p = g->p;
    uint64_t at = hash_of(g, v) & (uint64_t)(g->n_slots - 1);
    int32_t like;

    while (g->slot[at] >= 0 && !alike(g, v, g->slot[at]))
        at = (at + 1) & (uint64_t)(g->n_slots - 1);
    like = g->slot[at];
    if (like >= 0) {
        memcpy(alive + p->first_choice[v], alive + p->first_choice[like],
               (size_t)clv_intra_op_n_choices(p, v) * sizeof *alive);
        return true;
    }
    g->slot[at] = v;
    if (!read_edges(g, v, sides))
        return false;
    drop(g, v, sides, alive + p->first_choice[v]);
    return true;
}

clv_status clv_pre_dominated(const clv_pre_problem *w, clv_arena *arena, clv_pre_fold *fold,
                             clv_error *err)
{
    const clv_intra_op_problem *p = &w->p;
    goldstein g = { .p = p, .set = w->set, .arena = arena };
    bool *alive = CLV_NEW_ARRAY(arena, bool, p->first_choice[p->n_nodes]);
    side *sides = CLV_NEW_ARRAY(arena, side, p->n_edges);

    if (!alive || !sides)
        return clv_fail_nomem(err, "comparing the choices of a strategy problem");
    CLV_TRY(new_goldstein(&g, err));
    memset(alive, 1, (size_t)p->first_choice[p->n_nodes]);
    for (int32_t v = 0; v < p->n_nodes; v++) {
        /* Sums of differences stay far from 64 bits, and effort is left. */
        int64_t degree = g.first_edge[v + 1] - g.first_edge[v];
        bool can_judge = !g.hyper[v] && g.work < MOST_WORK &&
                         (g.largest == 0 || degree <= CLV_INTRA_OP_NEVER / g.largest);

        if (!w->fresh[v] || !can_judge)
            continue;
        if (!find_dominated(&g, v, sides, alive))
            return clv_fail_nomem(err, "comparing the choices of a strategy problem");
        w->fresh[v] = false;
    }
    return clv_pre_fold_alive(w, alive, arena, fold, err);
}
