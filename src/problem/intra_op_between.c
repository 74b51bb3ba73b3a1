#include "problem/intra_op_between.h"

#include <string.h>

#define WHAT "what lies between two operators"
#define NONE (-1)
#define FEW  2 /* neighbours of a node that can go */

/* Numbers of nodes are those of the part: begin and end first. */
enum { BEGIN, END, INSIDE };

typedef struct {
    int32_t end[2];
    int64_t
        *ns; /* by choice of the first, then of the second; it may be the problem's, if shared */
    bool shared, gone;
} pair;

typedef struct {
    int32_t n;   /* choices */
    int64_t *ns; /* by choice */
    int32_t *at; /* pairs; some may be gone */
    int32_t n_at, cap_at;
    bool gone, waits; /* it is in the stack */
} spot;

typedef struct {
    const clv_intra_op_problem *p;
    spot *spot;
    pair *pair;
    int32_t *stack; /* of spots that may have few neighbours */
    int32_t n_spots, n_pairs, cap_pairs, n_stack, n_left;
    int64_t all; /* of nodes without neighbours */
    int64_t *io_work;
    clv_arena *arena, *scratch;
} reducer;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, WHAT); }

/* Both at most CLV_INTRA_OP_NEVER, as all that is kept here. */
static int64_t sum(int64_t a, int64_t b)
{
    return a + b < CLV_INTRA_OP_NEVER ? a + b : CLV_INTRA_OP_NEVER;
}

static int64_t capped(int64_t ns) { return ns < CLV_INTRA_OP_NEVER ? ns : CLV_INTRA_OP_NEVER; }

/* -- the graph -- */

static int32_t other_end(const pair *e, int32_t a)
{
    return e->end[0] == a ? e->end[1] : e->end[0];
}

/* Drops pairs that are gone. How many neighbours are left, as no two pairs join the same. */
static int32_t count_neighbours(reducer *r, int32_t a)
{
    spot *s = &r->spot[a];
    int32_t n = 0;
    for (int32_t i = 0; i < s->n_at; i++)
        if (!r->pair[s->at[i]].gone)
            s->at[n++] = s->at[i];
    return s->n_at = n;
}

static void push(reducer *r, int32_t a)
{
    if (a < INSIDE || r->spot[a].gone || r->spot[a].waits)
        return;
    r->spot[a].waits = true;
    r->stack[r->n_stack++] = a;
}

static pair *pair_between(reducer *r, int32_t a, int32_t b)
{
    int32_t few = r->spot[a].n_at <= r->spot[b].n_at ? a : b;
    for (int32_t i = 0; i < r->spot[few].n_at; i++) {
        pair *e = &r->pair[r->spot[few].at[i]];
        if (!e->gone && other_end(e, few) == a + b - few)
            return e;
    }
    return NULL;
}

static clv_status own_entries(reducer *r, pair *e, clv_error *err)
{
    int64_t n = (int64_t)r->spot[e->end[0]].n * r->spot[e->end[1]].n, *ns;
    if (!e->shared)
        return CLV_OK;
    ns = CLV_NEW_ARRAY(r->scratch, int64_t, n);
    if (!ns)
        return no_memory(err);
    for (int64_t i = 0; i < n; i++)
        ns[i] = capped(e->ns[i]);
    e->ns = ns;
    e->shared = false;
    return CLV_OK;
}

/* Adds to a pair what the same two cost; turned: the second node comes first in it. */
static clv_status merge(reducer *r, pair *e, const int64_t *ns, bool turned, clv_error *err)
{
    int32_t n = r->spot[e->end[0]].n, m = r->spot[e->end[1]].n;
    CLV_TRY(own_entries(r, e, err));
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < m; j++) {
            int64_t more = turned ? ns[(int64_t)j * n + i] : ns[(int64_t)i * m + j];
            e->ns[(int64_t)i * m + j] = sum(e->ns[(int64_t)i * m + j], capped(more));
        }
    *r->io_work -= (int64_t)n * m;
    return CLV_OK;
}

static clv_status add_pair(reducer *r, int32_t a, int32_t b, int64_t *ns, bool shared,
                           clv_error *err)
{
    pair *e = pair_between(r, a, b);
    if (e)
        return merge(r, e, ns, e->end[0] != a, err);
    if (!CLV_PUSH_ROOM(r->scratch, r->pair, r->n_pairs, r->cap_pairs))
        return no_memory(err);
    for (int32_t k = 0; k < 2; k++) {
        spot *s = &r->spot[k == 0 ? a : b];
        if (!CLV_PUSH_ROOM(r->scratch, s->at, s->n_at, s->cap_at))
            return no_memory(err);
        s->at[s->n_at++] = r->n_pairs;
    }
    r->pair[r->n_pairs++] = (pair){ { a, b }, ns, shared, false };
    return CLV_OK;
}

/* -- nodes that go -- */

/* What a pair costs, by choice of a and then of its other end, in memory of its own. */
static int64_t *entries_from(reducer *r, const pair *e, int32_t a)
{
    int32_t n = r->spot[a].n, m = r->spot[other_end(e, a)].n;
    int64_t *ns = CLV_NEW_ARRAY(r->scratch, int64_t, (int64_t)n * m);
    for (int32_t i = 0; ns && i < n; i++)
        for (int32_t j = 0; j < m; j++) {
            int64_t at = e->end[0] == a ? (int64_t)i * m + j : (int64_t)j * n + i;
            ns[(int64_t)i * m + j] = capped(e->ns[at]);
        }
    *r->io_work -= (int64_t)n * m;
    return ns;
}

/* To the costs of b: the least of a pair over the choices of a, with those of a. */
static clv_status fold_into(reducer *r, const pair *e, int32_t a, clv_error *err)
{
    const spot *from = &r->spot[a];
    spot *to = &r->spot[other_end(e, a)];
    int64_t *ns = entries_from(r, e, a);
    if (!ns)
        return no_memory(err);
    for (int32_t j = 0; j < to->n; j++) {
        int64_t least = CLV_INTRA_OP_NEVER;
        for (int32_t i = 0; i < from->n; i++) {
            int64_t all = from->ns[i] + ns[(int64_t)i * to->n + j];
            least = all < least ? all : least;
        }
        to->ns[j] = sum(to->ns[j], least);
    }
    return CLV_OK;
}

/* A pair of its two neighbours in place of a node. */
static clv_status join_neighbours(reducer *r, const spot *s, int32_t a, clv_error *err)
{
    const pair *one = &r->pair[s->at[0]], *two = &r->pair[s->at[1]];
    int32_t b = other_end(one, a), c = other_end(two, a), n = r->spot[b].n, m = r->spot[c].n;
    int64_t *to_b = entries_from(r, one, a), *to_c = entries_from(r, two, a);
    int64_t *ns = CLV_NEW_ARRAY(r->scratch, int64_t, (int64_t)n * m);
    if (!to_b || !to_c || !ns)
        return no_memory(err);
    for (int64_t i = 0; i < (int64_t)n * m; i++)
        ns[i] = CLV_INTRA_OP_NEVER;
    for (int32_t x = 0; x < s->n; x++)
        for (int32_t i = 0; i < n; i++) {
            int64_t before = sum(s->ns[x], to_b[(int64_t)x * n + i]);
            const int64_t *after = to_c + (int64_t)x * m;
            int64_t *least = ns + (int64_t)i * m;
            for (int32_t j = 0; j < m; j++)
                least[j] = before + after[j] < least[j] ? before + after[j] : least[j];
        }
    *r->io_work -= (int64_t)s->n * n * m;
    return add_pair(r, b, c, ns, false, err);
}

static clv_status remove_spot(reducer *r, int32_t a, clv_error *err)
{
    spot *s = &r->spot[a];
    int32_t n = count_neighbours(r, a);
    int64_t least = CLV_INTRA_OP_NEVER;
    for (int32_t i = 0; n == 0 && i < s->n; i++)
        least = s->ns[i] < least ? s->ns[i] : least;
    if (n == 0)
        r->all = sum(r->all, least);
    else if (n == 1)
        CLV_TRY(fold_into(r, &r->pair[s->at[0]], a, err));
    else
        CLV_TRY(join_neighbours(r, s, a, err));
    s->gone = true;
    r->n_left--;
    for (int32_t i = 0; i < n; i++) {
        pair *e = &r->pair[s->at[i]];
        e->gone = true;
        push(r, other_end(e, a));
    }
    return CLV_OK;
}

/* -- pairs that are cut off -- */

/* Takes what a pair costs at least for each choice of its first node off it, then for each of its
 * second, and gives it to them. The sum of what is left, which is lost. */
static clv_int128 level(reducer *r, const pair *e, int64_t *ns, int64_t *first, int64_t *second)
{
    int32_t n = r->spot[e->end[0]].n, m = r->spot[e->end[1]].n;
    clv_int128 left = 0;
    for (int32_t j = 0; j < m; j++)
        second[j] = CLV_INTRA_OP_NEVER;
    for (int32_t i = 0; i < n; i++) {
        int64_t *row = ns + (int64_t)i * m;
        first[i] = CLV_INTRA_OP_NEVER;
        for (int32_t j = 0; j < m; j++)
            first[i] = row[j] < first[i] ? row[j] : first[i];
        for (int32_t j = 0; j < m; j++) {
            row[j] -= first[i];
            left += row[j];
            second[j] = row[j] < second[j] ? row[j] : second[j];
        }
    }
    for (int32_t j = 0; j < m; j++)
        left -= (clv_int128)second[j] * n;
    return left;
}

/* Cuts off the pair that loses least in the mean. */
static clv_status cut_off(reducer *r, int32_t a, clv_error *err)
{
    const spot *s = &r->spot[a];
    clv_int128 best = 0;
    int64_t *of[2] = { NULL, NULL };
    int32_t best_pair = NONE;
    for (int32_t k = 0; k < s->n_at; k++) {
        const pair *e = &r->pair[s->at[k]];
        int32_t n = r->spot[e->end[0]].n, m = r->spot[e->end[1]].n;
        int64_t *ns = entries_from(r, e, e->end[0]);
        int64_t *first = CLV_NEW_ARRAY(r->scratch, int64_t, n);
        int64_t *second = CLV_NEW_ARRAY(r->scratch, int64_t, m);
        if (!ns || !first || !second)
            return no_memory(err);
        clv_int128 mean = level(r, e, ns, first, second) / ((clv_int128)n * m);
        if (best_pair != NONE && mean >= best)
            continue;
        best = mean;
        best_pair = s->at[k];
        of[0] = first;
        of[1] = second;
    }
    pair *cut = &r->pair[best_pair];
    cut->gone = true;
    for (int32_t k = 0; k < 2; k++) {
        spot *end = &r->spot[cut->end[k]];
        for (int32_t i = 0; i < end->n; i++)
            end->ns[i] = sum(end->ns[i], of[k][i]);
        push(r, cut->end[k]);
    }
    return CLV_OK;
}

/* Of the nodes that are left one with the fewest neighbours. */
static int32_t fewest_neighbours(reducer *r)
{
    int32_t best = NONE, least = INT32_MAX;
    for (int32_t a = INSIDE; a < r->n_spots; a++) {
        if (r->spot[a].gone)
            continue;
        int32_t n = count_neighbours(r, a);
        *r->io_work -= n;
        best = n < least ? a : best;
        least = n < least ? n : least;
    }
    return best;
}

static clv_status reduce(reducer *r, clv_error *err)
{
    for (int32_t a = INSIDE; a < r->n_spots; a++)
        push(r, a);
    while (r->n_left > 0 && *r->io_work > 0) {
        if (r->n_stack == 0) {
            CLV_TRY(cut_off(r, fewest_neighbours(r), err));
            continue;
        }
        int32_t a = r->stack[--r->n_stack];
        r->spot[a].waits = false;
        if (!r->spot[a].gone && count_neighbours(r, a) <= FEW)
            CLV_TRY(remove_spot(r, a, err));
    }
    return CLV_OK;
}

/* -- all -- */

/* NULL node: an end that there is not. */
static clv_status add_spot(reducer *r, int32_t node, int32_t *number, bool inside, clv_error *err)
{
    spot *s = &r->spot[r->n_spots];
    s->n = node < 0 ? 1 : clv_intra_op_n_choices(r->p, node);
    s->ns = CLV_NEW_ARRAY(r->scratch, int64_t, s->n);
    if (!s->ns)
        return no_memory(err);
    for (int32_t i = 0; inside && i < s->n; i++)
        s->ns[i] = capped(r->p->cost[r->p->first_choice[node] + i]);
    if (node >= 0)
        number[node] = r->n_spots;
    r->n_spots++;
    return CLV_OK;
}

static clv_status fill(reducer *r, const clv_intra_op_part *part, int32_t *number, clv_error *err)
{
    const clv_intra_op_problem *p = r->p;
    CLV_TRY(add_spot(r, part->begin, number, false, err));
    CLV_TRY(add_spot(r, part->end, number, false, err));
    for (int32_t i = 0; i < part->n_nodes; i++)
        CLV_TRY(add_spot(r, part->node[i], number, true, err));
    for (int32_t i = 0; i < part->n_edges; i++) {
        int32_t e = part->edge[i], at = p->first_end[e];
        if (p->first_end[e + 1] - at != 2)
            continue; /* of others nothing is known here */
        /* not written to while it is shared */
        int64_t *ns = (int64_t *)(uintptr_t)(p->entry + p->first_entry[p->matrix_of[e]]);
        CLV_TRY(add_pair(r, number[p->end[at]], number[p->end[at + 1]], ns, true, err));
    }
    return CLV_OK;
}

static clv_status sum_up(reducer *r, int64_t **ret, clv_error *err)
{
    const spot *begin = &r->spot[BEGIN], *end = &r->spot[END];
    const pair *e = pair_between(r, BEGIN, END);
    const int64_t *between = e ? entries_from(r, e, BEGIN) : NULL;
    *ret = CLV_NEW_ARRAY(r->arena, int64_t, (int64_t)begin->n * end->n);
    if (!*ret || (e && !between))
        return no_memory(err);
    for (int32_t i = 0; i < begin->n; i++)
        for (int32_t j = 0; j < end->n; j++) {
            int64_t at = (int64_t)i * end->n + j;
            (*ret)[at] = sum(sum(r->all, begin->ns[i]), sum(end->ns[j], between ? between[at] : 0));
        }
    return CLV_OK;
}

static clv_status reduce_part(reducer *r, const clv_intra_op_part *part, int32_t *number,
                              int64_t **ret, clv_error *err)
{
    int32_t n = part->n_nodes + INSIDE;
    r->spot = CLV_NEW_ARRAY(r->scratch, spot, n);
    r->stack = CLV_NEW_ARRAY(r->scratch, int32_t, n);
    if (!r->spot || !r->stack)
        return no_memory(err);
    r->n_left = part->n_nodes;
    CLV_TRY(fill(r, part, number, err));
    CLV_TRY(reduce(r, err));
    *ret = NULL;
    return r->n_left == 0 ? sum_up(r, ret, err) : CLV_OK;
}

clv_status clv_intra_op_between(clv_intra_op_whole *of, const clv_intra_op_part *part,
                                clv_arena *arena, int64_t **ret, clv_error *err)
{
    reducer r = { .p = of->p,
                  .io_work = &of->work_left,
                  .arena = arena,
                  .scratch = clv_arena_new(clv_arena_alloc(arena), 0) };
    if (!r.scratch)
        return no_memory(err);
    clv_status status = reduce_part(&r, part, of->number, ret, err);
    clv_arena_free(r.scratch);
    return status;
}
