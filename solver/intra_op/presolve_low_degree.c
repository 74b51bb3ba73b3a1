/* presolve_low_degree.c - see presolve_low_degree.h. */
#include "solver/intra_op/presolve_low_degree.h"

#include <string.h>

/* Additions for one node, and entries of the edge it leaves behind over those of the edges it
 * takes with it: what is eliminated should not make the problem larger. */
enum { MOST_WORK = 1 << 22, MOST_GROWTH = 4 };

enum { FIRST_SLOTS = 64 };

/* What is best for a node, and for all that are like it. */
typedef struct {
    int32_t node;
    const int32_t *best;
    const int64_t *cost; /* of each choice of its one neighbour; one alone without */
    int32_t matrix;      /* of the new edge, where it has two */
} solution;

typedef struct {
    const clv_intra_op_problem *p;
    clv_pre_matrices *set;
    clv_arena *arena, *keep;
    int32_t *degree, *edge; /* by node; its first two edges at [2 * v] */
    bool *hyper, *gone, *stays;
    bool big;
    clv_int128 base;
    clv_pre_fold *fold;
    clv_pre_eliminated *leaf;
    int64_t *cost;
    int32_t n_new, *new_end; /* new edges: two nodes each, a matrix each */
    int32_t *new_matrix;
    solution *solution;
    int32_t n_solutions, cap_solutions;
    int32_t *slot, n_slots; /* open addressing: solution or -1 */
} elimination;

static int32_t other_end(const elimination *s, int32_t e, int32_t v)
{
    const int32_t *end = s->p->end + s->p->first_end[e];

    return end[0] == v ? end[1] : end[0];
}

static bool can_go(const elimination *s, int32_t v)
{
    const clv_intra_op_problem *p = s->p;
    int64_t n = clv_intra_op_n_choices(p, v), a, b;

    if (p->first_span[v] != p->first_span[v + 1] || s->hyper[v] || s->degree[v] > 2 || s->stays[v])
        return false;
    for (int32_t i = 0; i < s->degree[v]; i++)
        if (s->gone[other_end(s, s->edge[2 * v + i], v)])
            return false;
    if (s->degree[v] < 2)
        return true;
    a = clv_intra_op_n_choices(p, other_end(s, s->edge[2 * v], v));
    b = clv_intra_op_n_choices(p, other_end(s, s->edge[2 * v + 1], v));
    return a * b <= MOST_GROWTH * n * (a + b) && a * b * n <= MOST_WORK;
}

/* An edge of v as it sees it. */
typedef struct {
    int32_t matrix;
    bool turned;       /* v is the second of its nodes */
    int32_t width;     /* choices of the neighbour; 1 without an edge */
    const int64_t *at; /* [own choice * width + the neighbour's] */
} side;

static side side_of(const elimination *s, int32_t v, int32_t i)
{
    side x = { .matrix = -1, .width = 1 };

    if (i < s->degree[v]) {
        int32_t e = s->edge[2 * v + i];

        x.matrix = s->p->matrix_of[e];
        x.turned = s->p->end[s->p->first_end[e]] != v;
        x.width = clv_intra_op_n_choices(s->p, other_end(s, e, v));
    }
    return x;
}

/* Its entries, the neighbour's choices side by side. */
static bool read_side(elimination *s, side *x, int32_t n)
{
    const int64_t *m = x->matrix < 0 ? NULL : s->set->of[x->matrix].entry;
    int64_t *at;

    x->at = m;
    if (m && !x->turned)
        return true;
    x->at = at = CLV_NEW_ARRAY(s->arena, int64_t, (int64_t)n * x->width);
    for (int32_t j = 0; m && at && j < x->width; j++)
        for (int32_t i = 0; i < n; i++)
            at[(int64_t)i * x->width + j] = m[(int64_t)j * n + i];
    return at != NULL;
}

static int64_t largest(const int64_t *at, int64_t n)
{
    int64_t most = 0;

    for (int64_t i = 0; i < n; i++)
        most = at[i] > most && at[i] < CLV_INTRA_OP_NEVER ? at[i] : most;
    return most;
}

/* Some sum of three costs reaches never without one. */
static bool too_big(const int64_t *cost, int32_t n, const side *a, const side *b)
{
    bool big = false;

    if (largest(cost, n) + largest(a->at, (int64_t)n * a->width) +
            largest(b->at, (int64_t)n * b->width) <
        CLV_INTRA_OP_NEVER)
        return false;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < a->width; j++) {
            int64_t own = clv_pre_add(cost[i], a->at[(int64_t)i * a->width + j], &big);

            for (int32_t k = 0; k < b->width; k++)
                clv_pre_add(own, b->at[(int64_t)i * b->width + k], &big);
        }
    return big;
}

/* best[ja * b->width + jb]: the first best choice where the neighbours take ja and jb; its cost. */
static void find_best(const int64_t *cost, int32_t n, const side *a, const side *b, int32_t *best,
                      int64_t *least)
{
    for (int32_t j = 0; j < a->width; j++, best += b->width, least += b->width) {
        for (int32_t k = 0; k < b->width; k++)
            least[k] = CLV_INTRA_OP_NEVER;
        for (int32_t i = 0; i < n; i++) {
            const int64_t *row = b->at + (int64_t)i * b->width;
            int64_t own = a->at[(int64_t)i * a->width + j];

            if (own >= CLV_INTRA_OP_NEVER || cost[i] >= CLV_INTRA_OP_NEVER)
                continue;
            own += cost[i];
            for (int32_t k = 0; k < b->width; k++) {
                best[k] = own + row[k] < least[k] ? i : best[k];
                least[k] = own + row[k] < least[k] ? own + row[k] : least[k];
            }
        }
    }
}

static bool make_solution(elimination *s, int32_t v, solution *ret)
{
    const int64_t *cost = s->p->cost + s->p->first_choice[v];
    int32_t n = clv_intra_op_n_choices(s->p, v);
    side a = side_of(s, v, 0), b = side_of(s, v, 1);
    int64_t size = (int64_t)a.width * b.width;
    int32_t *best = CLV_NEW_ARRAY(s->keep, int32_t, size);
    int64_t *least = CLV_NEW_ARRAY(s->arena, int64_t, size);

    if (!best || !least || !read_side(s, &a, n) || !read_side(s, &b, n))
        return false;
    s->big = s->big || too_big(cost, n, &a, &b);
    find_best(cost, n, &a, &b, best, least);
    *ret = (solution){ .node = v, .best = best, .cost = least };
    return s->degree[v] < 2 || clv_pre_matrices_intern(s->set, size, a.width, least, &ret->matrix);
}

static uint64_t hash_of(const elimination *s, int32_t v)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 over the golden ratio */
    uint64_t h = (uint64_t)s->degree[v];

    for (int32_t i = 0; i < s->degree[v]; i++) {
        side x = side_of(s, v, i);

        h = (h ^ (uint64_t)x.matrix << 1 ^ x.turned) * odd;
        h ^= h >> 32;
    }
    for (int32_t c = s->p->first_choice[v]; c < s->p->first_choice[v + 1]; c++) {
        h = (h ^ (uint64_t)s->p->cost[c]) * odd;
        h ^= h >> 32;
    }
    return h;
}

static bool alike(const elimination *s, int32_t v, int32_t u)
{
    const clv_intra_op_problem *p = s->p;
    int32_t n = clv_intra_op_n_choices(p, v);

    if (s->degree[u] != s->degree[v] || clv_intra_op_n_choices(p, u) != n)
        return false;
    for (int32_t i = 0; i < s->degree[v]; i++) {
        side x = side_of(s, v, i), y = side_of(s, u, i);

        if (x.matrix != y.matrix || x.turned != y.turned)
            return false;
    }
    return memcmp(p->cost + p->first_choice[v], p->cost + p->first_choice[u],
                  (size_t)n * sizeof *p->cost) == 0;
}

static bool more_slots(elimination *s)
{
    s->n_slots = s->n_slots ? 2 * s->n_slots : FIRST_SLOTS;
    s->slot = CLV_NEW_ARRAY(s->arena, int32_t, s->n_slots);
    if (!s->slot)
        return false;
    memset(s->slot, 0xff, (size_t)s->n_slots * sizeof *s->slot);
    for (int32_t i = 0; i < s->n_solutions; i++) {
        uint64_t at = hash_of(s, s->solution[i].node) & (uint64_t)(s->n_slots - 1);

        while (s->slot[at] >= 0)
            at = (at + 1) & (uint64_t)(s->n_slots - 1);
        s->slot[at] = i;
    }
    return true;
}

/* NULL: no memory. */
static const solution *find_solution(elimination *s, int32_t v)
{
    uint64_t at;

    if ((2 * s->n_solutions >= s->n_slots && !more_slots(s)) ||
        !CLV_PUSH_ROOM(s->arena, s->solution, s->n_solutions, s->cap_solutions))
        return NULL;
    at = hash_of(s, v) & (uint64_t)(s->n_slots - 1);
    for (; s->slot[at] >= 0; at = (at + 1) & (uint64_t)(s->n_slots - 1))
        if (alike(s, v, s->solution[s->slot[at]].node))
            return &s->solution[s->slot[at]];
    if (!make_solution(s, v, &s->solution[s->n_solutions]))
        return NULL;
    s->slot[at] = s->n_solutions;
    return &s->solution[s->n_solutions++];
}

static bool eliminate(elimination *s, int32_t v, bool *fresh)
{
    const clv_intra_op_problem *p = s->p;
    int32_t d = s->degree[v], a = d > 0 ? other_end(s, s->edge[2 * v], v) : -1;
    int32_t b = d > 1 ? other_end(s, s->edge[2 * v + 1], v) : -1;
    const solution *x = find_solution(s, v);

    if (!x)
        return false;
    s->leaf[s->fold->n_gone++] = (clv_pre_eliminated){
        .node = v, .a = a, .b = b, .n_b = b < 0 ? 1 : clv_intra_op_n_choices(p, b), .best = x->best
    };
    s->gone[v] = true;
    if (d == 0)
        s->base += x->cost[0];
    for (int32_t i = 0; d == 1 && i < clv_intra_op_n_choices(p, a); i++) {
        int64_t *at = &s->cost[p->first_choice[a] + i];

        *at = clv_pre_add(*at, x->cost[i], &s->big);
    }
    if (a >= 0)
        s->stays[a] = fresh[a] = true;
    if (b < 0)
        return true;
    s->stays[b] = fresh[b] = true;
    s->new_end[2 * s->n_new] = a;
    s->new_end[2 * s->n_new + 1] = b;
    s->new_matrix[s->n_new++] = x->matrix;
    return true;
}

static clv_status find_edges(elimination *s, const clv_pre_problem *w, clv_error *err)
{
    const clv_intra_op_problem *p = &w->p;
    int32_t n = p->n_nodes;

    s->degree = CLV_NEW_ARRAY(s->arena, int32_t, n);
    s->edge = CLV_NEW_ARRAY(s->arena, int32_t, 2 * (size_t)n);
    s->hyper = CLV_NEW_ARRAY(s->arena, bool, n);
    s->gone = CLV_NEW_ARRAY(s->arena, bool, n);
    s->stays = CLV_NEW_ARRAY(s->arena, bool, n);
    s->leaf = CLV_NEW_ARRAY(s->arena, clv_pre_eliminated, n);
    s->cost = CLV_NEW_ARRAY(s->arena, int64_t, p->first_choice[n]);
    s->new_end = CLV_NEW_ARRAY(s->arena, int32_t, 2 * (size_t)n);
    s->new_matrix = CLV_NEW_ARRAY(s->arena, int32_t, n);
    if (!s->degree || !s->edge || !s->hyper || !s->gone || !s->stays || !s->leaf || !s->cost ||
        !s->new_end || !s->new_matrix)
        return clv_fail_nomem(err, "the leaves of a strategy problem");
    memcpy(s->cost, p->cost, (size_t)p->first_choice[n] * sizeof *s->cost);
    for (int32_t e = 0; e < p->n_edges; e++)
        for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++) {
            int32_t v = p->end[i];

            s->hyper[v] |= p->first_end[e + 1] - p->first_end[e] != 2;
            if (s->degree[v] < 2)
                s->edge[2 * v + s->degree[v]] = e;
            s->degree[v]++;
        }
    return CLV_OK;
}

/* Gives the problem the new edges in place of those of nodes that are gone. */
static clv_status rewire(elimination *s, clv_pre_problem *ret, clv_error *err)
{
    const clv_intra_op_problem *p = s->p;
    int32_t *first = CLV_NEW_ARRAY(s->arena, int32_t, p->n_edges + s->n_new + 1);
    int32_t *end = CLV_NEW_ARRAY(s->arena, int32_t, p->first_end[p->n_edges] + 2 * s->n_new);
    int32_t *matrix_of = CLV_NEW_ARRAY(s->arena, int32_t, p->n_edges + s->n_new), n = 0;

    if (!first || !end || !matrix_of)
        return clv_fail_nomem(err, "the leaves of a strategy problem");
    for (int32_t e = 0; e < p->n_edges; e++) {
        int32_t k = p->first_end[e + 1] - p->first_end[e];

        bool loses_end = false;

        for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++)
            loses_end |= s->gone[p->end[i]];
        if (loses_end)
            continue;
        memcpy(end + first[n], p->end + p->first_end[e], (size_t)k * sizeof *end);
        matrix_of[n] = p->matrix_of[e];
        first[n + 1] = first[n] + k;
        n++;
    }
    for (int32_t i = 0; i < s->n_new; i++, n++) {
        memcpy(end + first[n], s->new_end + 2 * i, 2 * sizeof *end);
        matrix_of[n] = s->new_matrix[i];
        first[n + 1] = first[n] + 2;
    }
    ret->base += s->base;
    ret->p.cost = s->cost;
    ret->p.n_edges = n;
    ret->p.first_end = first;
    ret->p.end = end;
    ret->p.matrix_of = matrix_of;
    return CLV_OK;
}

clv_status clv_pre_low_degree(const clv_pre_problem *w, clv_arena *arena, clv_arena *keep,
                              clv_pre_problem *ret, clv_pre_fold *fold, clv_error *err)
{
    elimination s = { .p = &w->p, .set = w->set, .arena = arena, .keep = keep, .fold = fold };

    CLV_TRY(clv_pre_fold_new(w, arena, fold, err));
    CLV_TRY(find_edges(&s, w, err));
    for (int32_t v = 0; v < w->p.n_nodes; v++)
        if (can_go(&s, v)) {
            if (!eliminate(&s, v, w->fresh))
                return clv_fail_nomem(err, "the leaves of a strategy problem");
            fold->n_new[v] = 0;
        }
    fold->gone = s.leaf;
    fold->any = fold->n_gone > 0;
    *ret = *w;
    ret->trouble = s.big ? CLV_PRE_BIG : CLV_PRE_FINE;
    return fold->any ? rewire(&s, ret, err) : CLV_OK;
}
