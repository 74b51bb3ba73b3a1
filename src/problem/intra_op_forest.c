/* intra_op_forest.c - a spanning forest, then messages from its leaves to its roots.
 *
 * Memory has a price (a Lagrangian multiplier): what solutions hold at one moment, beyond the
 * limit, times that. The least of cost and price together is a bound for any price that is not
 * negative; as a function of the price it is concave, and tangents lead to where it is greatest.
 * They are found in floating point; the bound is worked out in whole numbers for the price that
 * they lead to.
 */
#include "problem/intra_op_forest.h"

#include <math.h>
#include <stdlib.h>

#include "base/union_find.h"

#define PRICE_BITS  20 /* of a price behind the point, and of costs where they meet one */
#define PRICE_MAX   ((double)(INT64_C(1) << 20)) /* nanoseconds a byte: far above any */
#define PRICE_STEPS 12
#define PRICE_NEAR  0.002 /* of the bound: as near to the greatest as that is enough */

typedef struct {
    int64_t weight;
    int32_t edge;
} weighted;

typedef struct {
    const clv_intra_op_problem *p;
    int32_t *parent;         /* by node: towards the first of those joined; then the root's side */
    int32_t *up;             /* by node: the edge to its parent; -1: a root */
    int32_t *first, *beside; /* by node: edges of the forest at it, place in beside; n_nodes + 1 */
    int32_t *order;          /* nodes, each behind its parent */
    weighted *edges;
    int32_t n_edges;     /* of the forest, once it is found */
    int64_t *weight;     /* by matrix */
    int64_t *usage;      /* by choice, at that moment */
    double *near, *held; /* by choice: the least of all that is below with its own, and its usage */
    clv_int128 *best;    /* by choice: the least, in parts of PRICE_BITS */
} forest;

static int32_t end_of(const clv_intra_op_problem *p, int32_t edge, int32_t k)
{
    return p->end[p->first_end[edge] + k];
}

static int compare_edges(const void *a, const void *b)
{
    const weighted *x = a, *y = b;
    int by_weight = (x->weight < y->weight) - (x->weight > y->weight);
    return by_weight ? by_weight : (x->edge > y->edge) - (x->edge < y->edge);
}

/* A maximum spanning forest by Kruskal's algorithm (1956). An edge weighs the mean of its matrix:
 * about what leaving it out may lose, and a few dear entries do not make it great. Edges of other
 * than two nodes are left out. */
static void find_forest(forest *t)
{
    const clv_intra_op_problem *p = t->p;
    int32_t n = 0, kept = 0;
    for (int32_t m = 0; m < p->n_matrices; m++) {
        int64_t first = p->first_entry[m], end = p->first_entry[m + 1];
        clv_int128 sum = 0;
        for (int64_t i = first; i < end; i++)
            sum += p->entry[i] < CLV_INTRA_OP_NEVER ? p->entry[i] : CLV_INTRA_OP_NEVER;
        t->weight[m] = end > first ? (int64_t)(sum / (end - first)) : 0;
    }
    for (int32_t e = 0; e < p->n_edges; e++)
        if (p->first_end[e + 1] - p->first_end[e] == 2)
            t->edges[n++] = (weighted){ t->weight[p->matrix_of[e]], e };
    qsort(t->edges, (size_t)n, sizeof *t->edges, compare_edges);
    for (int32_t v = 0; v < p->n_nodes; v++)
        t->parent[v] = v;
    for (int32_t i = 0; i < n; i++) {
        int32_t a = clv_find_root(t->parent, end_of(p, t->edges[i].edge, 0));
        int32_t b = clv_find_root(t->parent, end_of(p, t->edges[i].edge, 1));
        if (a == b)
            continue;
        t->parent[a > b ? a : b] = a > b ? b : a;
        t->edges[kept++] = t->edges[i];
    }
    t->n_edges = kept;
}

static void list_beside(forest *t)
{
    const clv_intra_op_problem *p = t->p;
    for (int32_t i = 0; i < t->n_edges; i++)
        for (int32_t k = 0; k < 2; k++)
            t->first[end_of(p, t->edges[i].edge, k) + 1]++;
    for (int32_t v = 0; v < p->n_nodes; v++)
        t->first[v + 1] += t->first[v];
    for (int32_t i = 0; i < t->n_edges; i++)
        for (int32_t k = 0; k < 2; k++)
            t->beside[t->first[end_of(p, t->edges[i].edge, k)]++] = t->edges[i].edge;
    for (int32_t v = p->n_nodes; v > 0; v--)
        t->first[v] = t->first[v - 1];
    t->first[0] = 0;
}

/* The other node of an edge. */
static int32_t across(const clv_intra_op_problem *p, int32_t edge, int32_t v)
{
    return end_of(p, edge, end_of(p, edge, 0) == v);
}

static void put_in_order(forest *t)
{
    const clv_intra_op_problem *p = t->p;
    int32_t n = 0, done = 0;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        if (t->parent[v] != v)
            continue; /* not the first of those joined */
        t->up[v] = -1;
        t->order[n++] = v;
        for (; done < n; done++)
            for (int32_t i = t->first[t->order[done]]; i < t->first[t->order[done] + 1]; i++) {
                int32_t next = across(p, t->beside[i], t->order[done]);
                if (t->beside[i] == t->up[t->order[done]])
                    continue;
                t->up[next] = t->beside[i];
                t->order[n++] = next;
            }
    }
}

/* -- prices -- */

/* As send_message(), in floating point, with what the least holds. */
static void send_float_message(forest *t, int32_t v)
{
    const clv_intra_op_problem *p = t->p;
    int32_t edge = t->up[v], u = across(p, edge, v);
    int32_t n_v = clv_intra_op_n_choices(p, v), n_u = clv_intra_op_n_choices(p, u);
    bool is_row = end_of(p, edge, 0) == v;
    const int64_t *entry = p->entry + p->first_entry[p->matrix_of[edge]];
    const double *below = t->near + p->first_choice[v];
    for (int32_t i = 0; i < n_u; i++) {
        const int64_t *at = is_row ? entry + i : entry + (int64_t)i * n_v;
        int64_t step = is_row ? n_u : 1;
        double least = below[0] + (double)at[0];
        int32_t taken = 0;
        for (int32_t j = 1; j < n_v; j++) {
            double cost = below[j] + (double)at[j * step];
            taken = cost < least ? j : taken;
            least = cost < least ? cost : least;
        }
        t->near[p->first_choice[u] + i] += least;
        t->held[p->first_choice[u] + i] += t->held[p->first_choice[v] + taken];
    }
}

/* A tangent of the bound as a function of the price. */
typedef struct {
    double price, bound, slope; /* slope: what is held beyond the limit */
} tangent;

static tangent at_price(forest *t, double price)
{
    const clv_intra_op_problem *p = t->p;
    double limit = (double)p->usage_limit;
    tangent ret = { price, -price * limit, -limit };
    for (int32_t c = 0; c < p->first_choice[p->n_nodes]; c++) {
        t->held[c] = (double)t->usage[c];
        t->near[c] = (double)p->cost[c] + price * t->held[c];
    }
    for (int32_t i = p->n_nodes - 1; i >= 0; i--) {
        int32_t v = t->order[i], least = p->first_choice[v];
        if (t->up[v] >= 0) {
            send_float_message(t, v);
            continue;
        }
        for (int32_t c = least + 1; c < p->first_choice[v + 1]; c++)
            least = t->near[c] < t->near[least] ? c : least;
        ret.bound += t->near[least];
        ret.slope += t->held[least];
    }
    return ret;
}

/* A price near the one that makes the bound greatest. */
static double find_price(forest *t)
{
    tangent low = at_price(t, 0), high = low, best = low;
    if (t->p->usage_limit <= 0 || low.slope <= 0)
        return 0;
    for (int32_t i = 0; i < PRICE_STEPS; i++) {
        bool rises = high.slope > 0; /* nothing falls yet */
        double price = fmax(high.price * 8, low.bound / (double)t->p->usage_limit);
        if (!rises) /* where the two tangents meet */
            price = (high.bound - low.bound + low.slope * low.price - high.slope * high.price) /
                    (low.slope - high.slope);
        if (!(price > low.price) || price > PRICE_MAX || (!rises && !(price < high.price)))
            break;
        tangent now = at_price(t, price);
        double hoped = low.bound + low.slope * (price - low.price);
        best = now.bound > best.bound ? now : best;
        if (now.slope > 0)
            low = now;
        if (now.slope <= 0 || rises)
            high = now;
        if (!rises && hoped - best.bound <= PRICE_NEAR * best.bound)
            break;
    }
    return best.price;
}

/* -- the bound -- */

/* The message of v to its parent, by the choices of that: the least of all that is below. */
static void send_message(forest *t, int32_t v)
{
    const clv_intra_op_problem *p = t->p;
    int32_t edge = t->up[v], u = across(p, edge, v);
    int32_t n_v = clv_intra_op_n_choices(p, v), n_u = clv_intra_op_n_choices(p, u);
    bool is_row = end_of(p, edge, 0) == v;
    const int64_t *entry = p->entry + p->first_entry[p->matrix_of[edge]];
    const clv_int128 *below = t->best + p->first_choice[v];
    for (int32_t i = 0; i < n_u; i++) {
        const int64_t *at = is_row ? entry + i : entry + (int64_t)i * n_v;
        int64_t step = is_row ? n_u : 1;
        clv_int128 least = below[0] + ((clv_int128)*at << PRICE_BITS);
        for (int32_t j = 1; j < n_v; j++) {
            clv_int128 cost = below[j] + ((clv_int128)at[j * step] << PRICE_BITS);
            least = cost < least ? cost : least;
        }
        t->best[p->first_choice[u] + i] += least;
    }
}

static clv_int128 bound_at(forest *t, double price)
{
    const clv_intra_op_problem *p = t->p;
    int64_t parts = (int64_t)(price * (double)(INT64_C(1) << PRICE_BITS));
    clv_int128 sum = p->usage_limit > 0 ? -(clv_int128)parts * p->usage_limit : 0;
    for (int32_t c = 0; c < p->first_choice[p->n_nodes]; c++)
        t->best[c] = ((clv_int128)p->cost[c] << PRICE_BITS) + (clv_int128)parts * t->usage[c];
    for (int32_t i = p->n_nodes - 1; i >= 0; i--) {
        int32_t v = t->order[i];
        if (t->up[v] >= 0) {
            send_message(t, v);
            continue;
        }
        clv_int128 least = t->best[p->first_choice[v]];
        for (int32_t c = p->first_choice[v] + 1; c < p->first_choice[v + 1]; c++)
            least = t->best[c] < least ? t->best[c] : least;
        sum += least;
    }
    /* rounded up: costs are whole */
    clv_int128 one = (clv_int128)1 << PRICE_BITS;
    return sum > 0 ? (sum + one - 1) / one : 0;
}

static bool allocate(forest *t, clv_arena *arena)
{
    const clv_intra_op_problem *p = t->p;
    size_t n = (size_t)p->n_nodes, n_choices = (size_t)p->first_choice[n];
    t->parent = CLV_NEW_ARRAY(arena, int32_t, n);
    t->up = CLV_NEW_ARRAY(arena, int32_t, n);
    t->order = CLV_NEW_ARRAY(arena, int32_t, n);
    t->first = CLV_NEW_ARRAY(arena, int32_t, n + 1);
    t->beside = CLV_NEW_ARRAY(arena, int32_t, 2 * (size_t)p->n_edges);
    t->edges = CLV_NEW_ARRAY(arena, weighted, p->n_edges);
    t->weight = CLV_NEW_ARRAY(arena, int64_t, p->n_matrices);
    t->usage = CLV_NEW_ARRAY(arena, int64_t, n_choices);
    t->near = CLV_NEW_ARRAY(arena, double, n_choices);
    t->held = CLV_NEW_ARRAY(arena, double, n_choices);
    t->best = CLV_NEW_ARRAY(arena, clv_int128, n_choices);
    return t->parent && t->up && t->order && t->first && t->beside && t->edges && t->weight &&
           t->usage && t->near && t->held && t->best;
}

clv_status clv_intra_op_forest(const clv_intra_op_problem *p, clv_arena *arena, clv_int128 *ret,
                               clv_error *err)
{
    forest t = { .p = p };
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    bool ok = scratch && allocate(&t, scratch);
    if (ok) {
        find_forest(&t);
        list_beside(&t);
        put_in_order(&t);
        /* what each choice holds at one moment: when the first span of all begins */
        int64_t moment = p->first_span[p->n_nodes] > 0 ? p->span_lo[0] : 0;
        for (int32_t v = 0; v < p->n_nodes && p->usage_limit >= 0; v++)
            for (int32_t s = p->first_span[v]; s < p->first_span[v + 1]; s++)
                for (int32_t c = p->first_choice[v]; c < p->first_choice[v + 1]; c++)
                    if (p->span_lo[s] <= moment && moment < p->span_hi[s])
                        t.usage[c] = p->usage[p->span_usage[s] + c - p->first_choice[v]];
        *ret = bound_at(&t, find_price(&t));
    }
    clv_arena_free(scratch);
    return ok ? CLV_OK : clv_fail_nomem(err, "a bound");
}
