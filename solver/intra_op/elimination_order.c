/* elimination_order.c - see elimination_order.h. */
#include "solver/intra_op/elimination_order.h"

#include <math.h>
#include <string.h>

#include "solver/common/random.h"

/* Neighbours of a node; n_gone of them are eliminated or held and taken out later, all at once. */
typedef struct {
    int32_t *at;
    int32_t n, cap, n_gone;
} near;

typedef struct {
    clv_subproblem *x;
    near *near;     /* by local node */
    double *log2;   /* of a node's values */
    double *weight; /* log2 of the table with the node in it */
    int32_t *heap;  /* local nodes, least weight first */
    int32_t *place; /* by local node: in heap; -1: out */
    int32_t n_heap;
} ordering;

static bool lighter(const ordering *o, int32_t a, int32_t b)
{
    if (o->weight[a] < o->weight[b])
        return true;
    return o->weight[a] <= o->weight[b] && a < b;
}

static void place_at(ordering *o, int32_t at, int32_t v)
{
    o->heap[at] = v;
    o->place[v] = at;
}

static void sift(ordering *o, int32_t v)
{
    int32_t at = o->place[v];
    while (at > 0 && lighter(o, v, o->heap[(at - 1) / 2])) {
        place_at(o, at, o->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (int32_t child; (child = 2 * at + 1) < o->n_heap; at = child) {
        if (child + 1 < o->n_heap && lighter(o, o->heap[child + 1], o->heap[child]))
            child++;
        if (!lighter(o, o->heap[child], v))
            break;
        place_at(o, at, o->heap[child]);
    }
    place_at(o, at, v);
}

static bool are_neighbours(const ordering *o, int32_t a, int32_t b)
{
    if (o->near[a].n > o->near[b].n) {
        int32_t t = a;
        a = b;
        b = t;
    }
    for (int32_t i = 0; i < o->near[a].n; i++)
        if (o->near[a].at[i] == b)
            return true;
    return false;
}

static bool add_neighbour(ordering *o, int32_t a, int32_t b)
{
    near *n = &o->near[a];
    if (!CLV_PUSH_ROOM(o->x->arena, n->at, n->n, n->cap))
        return false;
    n->at[n->n++] = b;
    o->weight[a] += o->log2[b];
    return true;
}

/* Takes out the neighbours that are gone: those out of the heap. */
static void drop_gone_neighbours(ordering *o, int32_t v)
{
    near *n = &o->near[v];
    int32_t kept = 0;
    for (int32_t i = 0; i < n->n; i++)
        if (o->place[n->at[i]] >= 0)
            n->at[kept++] = n->at[i];
    n->n = kept;
    n->n_gone = 0;
}

/* v goes: its neighbours know. Each list is tidied when half of it is gone, so hubs cost no more
 * than others. */
static void remove_node(ordering *o, int32_t v)
{
    int32_t at = o->place[v], last = o->heap[--o->n_heap];
    o->place[v] = -1;
    if (last != v) {
        place_at(o, at, last);
        sift(o, last);
    }
    drop_gone_neighbours(o, v);
    for (int32_t i = 0; i < o->near[v].n; i++) {
        int32_t w = o->near[v].at[i];
        o->weight[w] -= o->log2[v];
        if (2 * ++o->near[w].n_gone > o->near[w].n)
            drop_gone_neighbours(o, w);
    }
}

static clv_status make_graph(ordering *o, clv_error *err)
{
    clv_subproblem *x = o->x;
    o->near = CLV_NEW_ARRAY(x->arena, near, x->n);
    o->log2 = CLV_NEW_ARRAY(x->arena, double, x->n);
    o->weight = CLV_NEW_ARRAY(x->arena, double, x->n);
    o->heap = CLV_NEW_ARRAY(x->arena, int32_t, x->n);
    o->place = CLV_NEW_ARRAY(x->arena, int32_t, x->n);
    if (!o->near || !o->log2 || !o->weight || !o->heap || !o->place)
        return clv_fail_nomem(err, "an elimination");
    for (int32_t i = 0; i < x->n; i++)
        o->log2[i] = o->weight[i] = log2(clv_subproblem_n_values(x, i));
    for (int32_t i = 0; i < x->n; i++)
        for (int32_t a = x->f->first_arc[x->node[i]]; a < x->f->first_arc[x->node[i] + 1]; a++) {
            int32_t other = x->local[x->f->arc[a].to];
            if (other >= 0 && !add_neighbour(o, i, other))
                return clv_fail_nomem(err, "an elimination");
        }
    for (int32_t i = 0; i < x->n; i++) {
        o->n_heap = i + 1;
        place_at(o, i, i);
        sift(o, i);
    }
    return CLV_OK;
}

/* Which node to hold so that v gets lighter: of two drawn from v and those near it, the heavier.
 * Always the heaviest would always be the same hubs. */
static int32_t choose_held(const ordering *o, int32_t v, uint64_t *random)
{
    int32_t best = -1;
    for (int32_t draw = 0; draw < 2; draw++) {
        int32_t i = clv_random_below(random, o->near[v].n + 1);
        int32_t w = i == o->near[v].n ? v : o->near[v].at[i];
        if (best < 0 || o->weight[w] > o->weight[best])
            best = w;
    }
    return best;
}

/* The node goes; those near it become near each other. Its scope is written down. */
static clv_status eliminate(ordering *o, int32_t v, int32_t *cap_scope, clv_error *err)
{
    clv_subproblem *x = o->x;
    near *n = &o->near[v];
    remove_node(o, v);
    for (int32_t i = 0; i < n->n; i++)
        for (int32_t j = 0; j < i; j++)
            if (!are_neighbours(o, n->at[i], n->at[j]) &&
                (!add_neighbour(o, n->at[i], n->at[j]) || !add_neighbour(o, n->at[j], n->at[i])))
                return clv_fail_nomem(err, "an elimination");
    for (int32_t i = 0; i < n->n; i++)
        sift(o, n->at[i]);
    int32_t at = x->scope_first[x->n_order];
    while (*cap_scope < at + n->n) {
        int32_t more = *cap_scope * 2 + n->n;
        x->scope =
            clv_arena_grow(x->arena, x->scope, (size_t)*cap_scope, (size_t)more, sizeof *x->scope);
        if (!x->scope)
            return clv_fail_nomem(err, "an elimination");
        *cap_scope = more;
    }
    if (n->n > 0)
        memcpy(x->scope + at, n->at, (size_t)n->n * sizeof *n->at);
    x->position[v] = x->n_order;
    x->order[x->n_order++] = v;
    x->scope_first[x->n_order] = at + n->n;
    return CLV_OK;
}

/* Held nodes leave the scopes, which come in the order of elimination. */
static void sort_scopes(clv_subproblem *x)
{
    int32_t n = 0;
    for (int32_t p = 0; p < x->n_order; p++) {
        int32_t from = x->scope_first[p], to = x->scope_first[p + 1], first = n;
        x->scope_first[p] = first;
        for (int32_t i = from; i < to; i++) {
            int32_t v = x->scope[i], at = n;
            if (x->position[v] < 0)
                continue;
            while (at > first && x->position[x->scope[at - 1]] > x->position[v]) {
                x->scope[at] = x->scope[at - 1];
                at--;
            }
            x->scope[at] = v;
            n++;
        }
    }
    x->scope_first[x->n_order] = n;
}

clv_status clv_elimination_order(clv_subproblem *x, const clv_elimination_caps *caps,
                                 uint64_t *random, clv_error *err)
{
    ordering o = { .x = x };
    CLV_TRY(make_graph(&o, err));
    int32_t cap_scope = 0;
    double entries = 0;
    x->scope = NULL;
    while (o.n_heap > 0) {
        int32_t v = o.heap[0];
        drop_gone_neighbours(&o, v);
        /* Two nodes at most, whatever the cap: one node alone is always solved. */
        bool fits = o.weight[v] <= caps->cap_log2 || o.near[v].n == 0;
        double table = exp2(o.weight[v] - o.log2[v]);
        if (fits && entries + table <= (double)caps->max_entries) {
            entries += table;
            CLV_TRY(eliminate(&o, v, &cap_scope, err));
        } else {
            v = choose_held(&o, v, random);
            remove_node(&o, v);
            for (int32_t i = 0; i < o.near[v].n; i++)
                sift(&o, o.near[v].at[i]);
            x->position[v] = -1;
            x->n_held++;
        }
    }
    sort_scopes(x);
    return CLV_OK;
}
