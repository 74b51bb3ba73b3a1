/* presolve_low_degree.c - see presolve_low_degree.h. */
#include "solver/intra_op/presolve_low_degree.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "solver/intra_op/presolve_pack_sums.h"

/* Additions for one node, and entries of the edge it leaves behind over those of the edges it
 * takes with it: what is eliminated should not make the problem larger. */
enum { MOST_WORK = 1 << 22, MOST_GROWTH = 4 };

/* Entries of matrices made, after which no other round begins: packing frees what is not in use. */
enum { MOST_HELD = 1 << 22 };

enum { FIRST_SLOTS = 64 };

/* An edge of a node as it sees it. */
typedef struct {
    int32_t node;      /* the neighbour; -1: there is no edge */
    int32_t matrix;    /* -1 */
    bool turned;       /* the node is the second one of the edge */
    int32_t width;     /* choices of the neighbour; 1 without an edge */
    const int64_t *at; /* [own choice * width + the neighbour's] */
} side;

/* What is best for a node, and for all that are like it. */
typedef struct {
    int32_t node;
    side of[2];
    const int32_t *best;
    const int64_t *cost; /* of each choice of its one neighbour; one alone without */
    int32_t matrix;      /* of the new edge, where it has two */
} solution;

/* An edge of two nodes; the first has the lower number. */
typedef struct {
    int32_t end[2], matrix; /* matrix -1: it is no more */
} pair;

typedef struct {
    const clv_intra_op_problem *p;
    clv_pre_matrices *set;
    clv_arena *arena, *keep;
    pair *pair; /* with room for one more for each node */
    int32_t n_pairs;
    int32_t *first, *next, *before; /* of each node, its ends of pairs; end i of pair e is 2 * e +
                                       i, -1 is none */
    int32_t *degree;                /* pairs of a node */
    bool *hyper, *stays;
    bool big, never; /* a sum of costs reached never; one of the costs made is never */
    clv_int128 base;
    clv_pre_fold *fold;
    clv_pre_eliminated *gone;
    int64_t *cost;
    int32_t *list, n_list;       /* those that may go */
    int32_t *touched, n_touched; /* those that stay, as neighbours of what went */
    pair *made;                  /* by what went */
    int32_t n_made;
    clv_pack_sums sums;
    solution *solution;
    int32_t n_solutions, cap_solutions;
    int32_t *slot, n_slots; /* open addressing: solution or -1 */
} elimination;

/* -- edges -- */

static void link_end(elimination *s, int32_t half)
{
    int32_t v = s->pair[half / 2].end[half % 2];

    s->next[half] = s->first[v];
    s->before[half] = -1;
    if (s->first[v] >= 0)
        s->before[s->first[v]] = half;
    s->first[v] = half;
    s->degree[v]++;
}

static void unlink_end(elimination *s, int32_t half)
{
    int32_t v = s->pair[half / 2].end[half % 2], next = s->next[half], before = s->before[half];

    if (next >= 0)
        s->before[next] = before;
    if (before >= 0)
        s->next[before] = next;
    else
        s->first[v] = next;
    s->degree[v]--;
}

static void add_pair(elimination *s, pair x)
{
    s->pair[s->n_pairs] = x;
    link_end(s, 2 * s->n_pairs);
    link_end(s, 2 * s->n_pairs++ + 1);
}

static void remove_pair(elimination *s, int32_t e)
{
    unlink_end(s, 2 * e);
    unlink_end(s, 2 * e + 1);
    s->pair[e].matrix = -1;
}

/* The pair of two nodes; -1: they have none. O(least degree). */
static int32_t find_pair(const elimination *s, int32_t a, int32_t b)
{
    int32_t v = s->degree[a] < s->degree[b] ? a : b, other = v == a ? b : a;

    for (int32_t half = s->first[v]; half >= 0; half = s->next[half])
        if (s->pair[half / 2].end[1 - half % 2] == other)
            return half / 2;
    return -1;
}

static side side_of(const elimination *s, int32_t half)
{
    if (half < 0)
        return (side){ .node = -1, .matrix = -1, .width = 1 };
    int32_t other = s->pair[half / 2].end[1 - half % 2];
    return (side){ .node = other,
                   .matrix = s->pair[half / 2].matrix,
                   .turned = half % 2 == 1,
                   .width = clv_intra_op_n_choices(s->p, other) };
}

/* Both sides of a node of at most two neighbours, the neighbour with the lower number first. */
static void sides_of(const elimination *s, int32_t v, side ret[static 2])
{
    int32_t half = s->first[v];

    ret[0] = side_of(s, half);
    ret[1] = side_of(s, half < 0 ? -1 : s->next[half]);
    if (ret[1].node >= 0 && ret[1].node < ret[0].node) {
        side x = ret[0];
        ret[0] = ret[1];
        ret[1] = x;
    }
}

static bool can_go(const elimination *s, int32_t v)
{
    const clv_intra_op_problem *p = s->p;
    int64_t n = clv_intra_op_n_choices(p, v), a, b;
    side x[2];

    if (p->first_span[v] != p->first_span[v + 1] || s->hyper[v] || s->degree[v] > 2 || s->stays[v])
        return false;
    sides_of(s, v, x);
    a = x[0].width;
    b = x[1].width;
    return s->degree[v] < 2 || (a * b <= MOST_GROWTH * n * (a + b) && a * b * n <= MOST_WORK);
}

/* -- what is best for a node -- */

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

static bool make_solution(elimination *s, int32_t v, const side of[static 2], solution *ret)
{
    const int64_t *cost = s->cost + s->p->first_choice[v];
    int32_t n = clv_intra_op_n_choices(s->p, v);
    side a = of[0], b = of[1];
    int64_t size = (int64_t)a.width * b.width;
    int32_t *best = CLV_NEW_ARRAY(s->keep, int32_t, size);
    int64_t *least = CLV_NEW_ARRAY(s->arena, int64_t, size);

    if (!best || !least || !read_side(s, &a, n) || !read_side(s, &b, n))
        return false;
    s->big = s->big || too_big(cost, n, &a, &b);
    find_best(cost, n, &a, &b, best, least);
    *ret = (solution){ .node = v, .of = { of[0], of[1] }, .best = best, .cost = least };
    return b.node < 0 || clv_pre_matrices_intern(s->set, size, a.width, least, &ret->matrix);
}

static uint64_t hash_of(const elimination *s, int32_t v, const side of[static 2])
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 over the golden ratio */
    uint64_t h = 0;

    for (int i = 0; i < 2; i++) {
        h = (h ^ (uint64_t)of[i].matrix << 1 ^ of[i].turned) * odd;
        h ^= h >> 32;
    }
    for (int32_t c = s->p->first_choice[v]; c < s->p->first_choice[v + 1]; c++) {
        h = (h ^ (uint64_t)s->cost[c]) * odd;
        h ^= h >> 32;
    }
    return h;
}

/* Costs of a node that is gone stay what they were. */
static bool is_like(const elimination *s, int32_t v, const side of[static 2], const solution *x)
{
    const clv_intra_op_problem *p = s->p;
    int32_t n = clv_intra_op_n_choices(p, v);

    if (clv_intra_op_n_choices(p, x->node) != n)
        return false;
    for (int i = 0; i < 2; i++)
        if (x->of[i].matrix != of[i].matrix || x->of[i].turned != of[i].turned)
            return false;
    return memcmp(s->cost + p->first_choice[v], s->cost + p->first_choice[x->node],
                  (size_t)n * sizeof *s->cost) == 0;
}

static bool more_slots(elimination *s)
{
    s->n_slots = s->n_slots ? 2 * s->n_slots : FIRST_SLOTS;
    s->slot = CLV_NEW_ARRAY(s->arena, int32_t, s->n_slots);
    if (!s->slot)
        return false;
    memset(s->slot, 0xff, (size_t)s->n_slots * sizeof *s->slot);
    for (int32_t i = 0; i < s->n_solutions; i++) {
        const solution *x = &s->solution[i];
        uint64_t at = hash_of(s, x->node, x->of) & (uint64_t)(s->n_slots - 1);

        while (s->slot[at] >= 0)
            at = (at + 1) & (uint64_t)(s->n_slots - 1);
        s->slot[at] = i;
    }
    return true;
}

/* NULL: no memory. */
static const solution *find_solution(elimination *s, int32_t v, const side of[static 2])
{
    uint64_t at;

    if ((2 * s->n_solutions >= s->n_slots && !more_slots(s)) ||
        !CLV_PUSH_ROOM(s->arena, s->solution, s->n_solutions, s->cap_solutions))
        return NULL;
    at = hash_of(s, v, of) & (uint64_t)(s->n_slots - 1);
    for (; s->slot[at] >= 0; at = (at + 1) & (uint64_t)(s->n_slots - 1))
        if (is_like(s, v, of, &s->solution[s->slot[at]]))
            return &s->solution[s->slot[at]];
    if (!make_solution(s, v, of, &s->solution[s->n_solutions]))
        return NULL;
    s->slot[at] = s->n_solutions;
    return &s->solution[s->n_solutions++];
}

/* -- a node goes -- */

static void touch(elimination *s, int32_t v)
{
    if (!s->stays[v])
        s->touched[s->n_touched++] = v;
    s->stays[v] = true;
}

static void add_cost(elimination *s, int32_t v, const int64_t *cost)
{
    int64_t *at = s->cost + s->p->first_choice[v];

    for (int32_t i = 0, n = clv_intra_op_n_choices(s->p, v); i < n; i++) {
        s->never |= cost[i] >= CLV_INTRA_OP_NEVER;
        at[i] = clv_pre_add(at[i], cost[i], &s->big);
    }
}

static bool eliminate(elimination *s, int32_t v)
{
    side of[2];
    sides_of(s, v, of);
    int32_t a = of[0].node, b = of[1].node;
    const solution *x = find_solution(s, v, of);

    if (!x)
        return false;
    s->gone[s->fold->n_gone++] =
        (clv_pre_eliminated){ .node = v, .a = a, .b = b, .n_b = of[1].width, .best = x->best };
    s->fold->n_new[v] = 0;
    while (s->first[v] >= 0)
        remove_pair(s, s->first[v] / 2);
    if (a < 0) {
        s->base += x->cost[0];
        return true;
    }
    touch(s, a);
    if (b < 0) {
        add_cost(s, a, x->cost);
        return true;
    }
    touch(s, b);
    s->made[s->n_made++] = (pair){ { a, b }, x->matrix };
    return true;
}

/* -- after nodes have gone -- */

static int compare_pairs(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    int32_t i = x->end[0] == y->end[0];

    return (x->end[i] > y->end[i]) - (x->end[i] < y->end[i]);
}

/* n edges made between one pair of nodes, and the one that is there, become one or none, as in
 * packing. */
static bool merge(elimination *s, const pair *made, int32_t n)
{
    int32_t a = made->end[0], b = made->end[1], e = find_pair(s, a, b), k = 0;
    clv_pack_part *part;
    const clv_pack_sum *sum;

    if (e < 0 && n == 1 && s->set->of[made->matrix].settled) {
        s->never |= s->set->of[made->matrix].never;
        add_pair(s, *made);
        return true;
    }
    part = CLV_NEW_ARRAY(s->arena, clv_pack_part, n + 1);
    if (!part)
        return false;
    if (e >= 0)
        part[k++] = (clv_pack_part){ .a = a, .b = b, .matrix = s->pair[e].matrix };
    for (int32_t i = 0; i < n; i++)
        part[k++] = (clv_pack_part){ .a = a, .b = b, .matrix = made[i].matrix };
    sum = clv_pack_sum_of(&s->sums, part, k, clv_intra_op_n_choices(s->p, a),
                          clv_intra_op_n_choices(s->p, b));
    if (!sum)
        return false;
    add_cost(s, a, sum->rows);
    add_cost(s, b, sum->columns);
    s->never |= sum->matrix >= 0 && s->set->of[sum->matrix].never;
    if (e >= 0 && sum->matrix < 0)
        remove_pair(s, e);
    else if (e >= 0)
        s->pair[e].matrix = sum->matrix;
    else if (sum->matrix >= 0)
        add_pair(s, (pair){ { a, b }, sum->matrix });
    return true;
}

static bool merge_all(elimination *s)
{
    qsort(s->made, (size_t)s->n_made, sizeof *s->made, compare_pairs);
    for (int32_t i = 0, j; i < s->n_made; i = j) {
        for (j = i + 1; j < s->n_made && compare_pairs(&s->made[i], &s->made[j]) == 0;)
            j++;
        if (!merge(s, s->made + i, j - i))
            return false;
    }
    s->big |= s->sums.big;
    s->n_made = 0;
    return true;
}

/* Those on the list that may go at once do, and those that they touched are the next list. */
static bool run_round(elimination *s, bool *fresh)
{
    int32_t *list = s->list;

    for (int32_t i = 0; i < s->n_list; i++)
        if (can_go(s, list[i]) && !eliminate(s, list[i]))
            return false;
    if (!merge_all(s))
        return false;
    for (int32_t i = 0; i < s->n_touched; i++) {
        int32_t v = s->touched[i];

        s->base +=
            clv_pre_take_least(s->cost + s->p->first_choice[v], clv_intra_op_n_choices(s->p, v));
        s->stays[v] = false;
        fresh[v] = true;
    }
    qsort(s->touched, (size_t)s->n_touched, sizeof *s->touched, clv_compare_int32);
    s->list = s->touched;
    s->n_list = s->n_touched;
    s->touched = list;
    s->n_touched = 0;
    return true;
}

/* -- the problem -- */

static clv_status begin(elimination *s, clv_error *err)
{
    const clv_intra_op_problem *p = s->p;
    size_t n = (size_t)p->n_nodes, most = (size_t)p->n_edges + n;

    s->pair = CLV_NEW_ARRAY(s->arena, pair, most);
    s->next = CLV_NEW_ARRAY(s->arena, int32_t, 2 * most);
    s->before = CLV_NEW_ARRAY(s->arena, int32_t, 2 * most);
    s->first = CLV_NEW_ARRAY(s->arena, int32_t, n);
    s->degree = CLV_NEW_ARRAY(s->arena, int32_t, n);
    s->hyper = CLV_NEW_ARRAY(s->arena, bool, n);
    s->stays = CLV_NEW_ARRAY(s->arena, bool, n);
    s->gone = CLV_NEW_ARRAY(s->arena, clv_pre_eliminated, n);
    s->cost = CLV_NEW_ARRAY(s->arena, int64_t, p->first_choice[n]);
    s->list = CLV_NEW_ARRAY(s->arena, int32_t, n);
    s->touched = CLV_NEW_ARRAY(s->arena, int32_t, n);
    s->made = CLV_NEW_ARRAY(s->arena, pair, n);
    if (!s->pair || !s->next || !s->before || !s->first || !s->degree || !s->hyper || !s->stays ||
        !s->gone || !s->cost || !s->list || !s->touched || !s->made ||
        !clv_pack_sums_new(&s->sums, s->set, s->arena))
        return clv_fail_nomem(err, "the leaves of a strategy problem");
    if (n > 0)
        memcpy(s->cost, p->cost, (size_t)p->first_choice[n] * sizeof *s->cost);
    for (int32_t v = 0; v < p->n_nodes; v++) {
        s->first[v] = -1;
        s->list[s->n_list++] = v;
    }
    return CLV_OK;
}

static int32_t n_ends(const clv_intra_op_problem *p, int32_t e)
{
    return p->first_end[e + 1] - p->first_end[e];
}

static void read_edges(elimination *s)
{
    const clv_intra_op_problem *p = s->p;

    for (int32_t e = 0; e < p->n_edges; e++) {
        const int32_t *end = p->end + p->first_end[e];

        if (n_ends(p, e) == 2)
            add_pair(s, (pair){ { end[0], end[1] }, p->matrix_of[e] });
        for (int32_t i = 0; n_ends(p, e) != 2 && i < n_ends(p, e); i++)
            s->hyper[end[i]] = true;
    }
}

/* Gives the problem the edges that are left. */
static clv_status rewire(const elimination *s, clv_pre_problem *ret, clv_error *err)
{
    const clv_intra_op_problem *p = s->p;
    int32_t most = p->n_edges + s->n_pairs, n = 0;
    int32_t *first = CLV_NEW_ARRAY(s->arena, int32_t, most + 1);
    int32_t *end = CLV_NEW_ARRAY(s->arena, int32_t, p->first_end[p->n_edges] + 2 * s->n_pairs);
    int32_t *matrix_of = CLV_NEW_ARRAY(s->arena, int32_t, most);

    if (!first || !end || !matrix_of)
        return clv_fail_nomem(err, "the leaves of a strategy problem");
    for (int32_t e = 0; e < s->n_pairs; e++) {
        if (s->pair[e].matrix < 0)
            continue;
        memcpy(end + first[n], s->pair[e].end, sizeof s->pair[e].end);
        matrix_of[n] = s->pair[e].matrix;
        first[n + 1] = first[n] + 2;
        n++;
    }
    for (int32_t e = 0; e < p->n_edges; e++) {
        if (n_ends(p, e) == 2)
            continue;
        memcpy(end + first[n], p->end + p->first_end[e], (size_t)n_ends(p, e) * sizeof *end);
        matrix_of[n] = p->matrix_of[e];
        first[n + 1] = first[n] + n_ends(p, e);
        n++;
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
    int64_t held = w->set->n_entries;

    CLV_TRY(clv_pre_fold_new(w, arena, fold, err));
    CLV_TRY(begin(&s, err));
    read_edges(&s);
    while (s.n_list > 0 && !s.big && !s.never && w->set->n_entries - held <= MOST_HELD)
        if (!run_round(&s, w->fresh))
            return clv_fail_nomem(err, "the leaves of a strategy problem");
    fold->gone = s.gone;
    fold->any = fold->n_gone > 0;
    *ret = *w;
    ret->trouble = s.big ? CLV_PRE_BIG : CLV_PRE_FINE;
    return fold->any ? rewire(&s, ret, err) : CLV_OK;
}
