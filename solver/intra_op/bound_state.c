/* bound_state.c - see bound_state.h. */
#include "solver/intra_op/bound_state.h"

#include <string.h>

static double as_double(int64_t x) { return x >= CLV_INTRA_OP_NEVER ? HUGE_COST : (double)x; }

static bool is_pair(const clv_intra_op_problem *p, int32_t e)
{
    return p->first_end[e + 1] - p->first_end[e] == 2;
}

/* The matrix of edge e in floating point, both ways. */
static bool convert(clv_intra_op_bound *b, int32_t e, clv_arena *arena)
{
    const clv_intra_op_problem *p = b->p;
    int32_t m = p->matrix_of[e], n = clv_intra_op_n_choices(p, p->end[p->first_end[e]]);
    int32_t w = clv_intra_op_n_choices(p, p->end[p->first_end[e] + 1]);
    const int64_t *from = p->entry + p->first_entry[m];

    if (b->entry[0][m])
        return true;
    for (int k = 0; k < 2; k++)
        b->entry[k][m] = CLV_NEW_ARRAY(arena, double, (int64_t)n *w);
    if (!b->entry[0][m] || !b->entry[1][m])
        return false;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < w; j++) {
            double x = as_double(from[(int64_t)i * w + j]);

            if (x < HUGE_COST && x > b->largest_entry)
                b->largest_entry = x;
            b->entry[0][m][(int64_t)i * w + j] = x;
            b->entry[1][m][(int64_t)j * n + i] = x;
        }
    return true;
}

/* How many spokes each node has; the number of messages' entries. */
static int64_t count_spokes(clv_intra_op_bound *b)
{
    const clv_intra_op_problem *p = b->p;
    int64_t n_messages = 0;

    for (int32_t e = 0; e < p->n_edges; e++)
        for (int32_t i = 0; is_pair(p, e) && i < 2; i++) {
            const int32_t *end = p->end + p->first_end[e];

            b->first_spoke[end[i] + 1]++;
            b->n_earlier[end[i]] += end[!i] < end[i];
            n_messages += clv_intra_op_n_choices(p, end[i]);
            if (i)
                b->n_entries +=
                    (int64_t)clv_intra_op_n_choices(p, end[0]) * clv_intra_op_n_choices(p, end[1]);
        }
    for (int32_t v = 0; v < p->n_nodes; v++)
        b->first_spoke[v + 1] += b->first_spoke[v];
    return n_messages;
}

/* Side i of edge e, whose messages begin at `at`: first what its first node gets, then the other.
 */
static spoke spoke_of(const clv_intra_op_problem *p, int32_t e, int32_t i, int64_t at)
{
    const int32_t *end = p->end + p->first_end[e];
    int64_t second = at + clv_intra_op_n_choices(p, end[0]);

    return (spoke){ .in = i ? second : at,
                    .out = i ? at : second,
                    .edge = e,
                    .matrix = p->matrix_of[e],
                    .width = clv_intra_op_n_choices(p, end[!i]),
                    .other = end[!i],
                    .first = i == 0 };
}

/* Spokes by node, those to earlier nodes first, and where their messages are. */
static bool make_spokes(clv_intra_op_bound *b, clv_arena *arena)
{
    const clv_intra_op_problem *p = b->p;
    int32_t *earlier = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    int32_t *later = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    int64_t at = 0;

    b->first_spoke = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes + 1);
    b->n_earlier = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    if (!earlier || !later || !b->first_spoke || !b->n_earlier)
        return false;
    b->n_messages = count_spokes(b);
    b->message = CLV_NEW_ARRAY(arena, double, b->n_messages);
    b->last_message = CLV_NEW_ARRAY(arena, double, b->n_messages);
    b->spoke = CLV_NEW_ARRAY(arena, spoke, b->first_spoke[p->n_nodes]);
    if (!b->spoke || !b->message || !b->last_message)
        return false;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        earlier[v] = b->first_spoke[v];
        later[v] = b->first_spoke[v] + b->n_earlier[v];
    }
    for (int32_t e = 0; e < p->n_edges; e++) {
        const int32_t *end = p->end + p->first_end[e];

        for (int32_t i = 0; is_pair(p, e) && i < 2; i++) {
            int32_t *next = end[!i] < end[i] ? earlier : later;

            b->spoke[next[end[i]]++] = spoke_of(p, e, i, at);
        }
        if (is_pair(p, e))
            at += clv_intra_op_n_choices(p, end[0]) + clv_intra_op_n_choices(p, end[1]);
    }
    return true;
}

/* Costs of nodes with those of edges of one node; of larger edges the least entry. */
static void add_costs(clv_intra_op_bound *b)
{
    const clv_intra_op_problem *p = b->p;

    for (int32_t c = 0; c < p->first_choice[p->n_nodes]; c++)
        b->own[c] = p->cost[c];
    for (int32_t e = 0; e < p->n_edges; e++) {
        const int64_t *m = p->entry + p->first_entry[p->matrix_of[e]];
        int64_t n = p->first_entry[p->matrix_of[e] + 1] - p->first_entry[p->matrix_of[e]];
        int32_t k = p->first_end[e + 1] - p->first_end[e];
        int64_t least = CLV_INTRA_OP_NEVER;

        for (int64_t i = 0; k == 1 && i < n; i++) {
            int64_t *own = &b->own[p->first_choice[p->end[p->first_end[e]]] + i];

            *own = *own >= CLV_INTRA_OP_NEVER || m[i] >= CLV_INTRA_OP_NEVER ? CLV_INTRA_OP_NEVER
                                                                            : *own + m[i];
        }
        for (int64_t i = 0; k > 2 && i < n; i++)
            least = m[i] < least ? m[i] : least;
        b->edges_alone += k > 2 ? least : 0;
    }
    b->enough = 1 + p->n_edges * b->largest_entry;
    for (int32_t c = 0; c < p->first_choice[p->n_nodes]; c++)
        b->enough += b->own[c] < CLV_INTRA_OP_NEVER ? (double)b->own[c] : 0;
    b->enough = b->enough < MOST_MESSAGE ? b->enough : MOST_MESSAGE;
    for (int32_t c = 0; c < p->first_choice[p->n_nodes]; c++) {
        b->cost[c] = as_double(b->own[c]);
        b->cost[c] = b->cost[c] < b->enough ? b->cost[c] : b->enough;
    }
}

static bool allocate_rows(clv_intra_op_bound *b, clv_arena *arena)
{
    b->price = CLV_NEW_ARRAY(arena, double, b->n_rows);
    b->best_price = CLV_NEW_ARRAY(arena, double, b->n_rows);
    b->rest = CLV_NEW_ARRAY(arena, double, b->n_rows);
    b->marked = CLV_NEW_ARRAY(arena, bool, b->n_rows);
    b->last_price = CLV_NEW_ARRAY(arena, double, b->n_rows);
    b->before = CLV_NEW_ARRAY(arena, double, b->n_rows + 1);
    b->over = CLV_NEW_ARRAY(arena, double, b->n_rows + 1);
    b->mean = CLV_NEW_ARRAY(arena, double, b->n_rows);
    b->room = CLV_NEW_ARRAY(arena, int64_t, b->n_rows);
    b->whole_before = CLV_NEW_ARRAY(arena, clv_int128, b->n_rows + 1);
    return b->price && b->best_price && b->rest && b->marked && b->last_price && b->before &&
           b->over && b->mean && b->room && b->whole_before;
}

static bool allocate_arrays(clv_intra_op_bound *b, clv_arena *arena)
{
    const clv_intra_op_problem *p = b->p;
    int32_t n = p->first_choice[p->n_nodes], most = 1, most_spans = 0;

    for (int32_t i = 0; i < p->first_span[p->n_nodes]; i++)
        if (p->usage_limit != CLV_INTRA_OP_UNLIMITED && p->span_hi[i] > b->n_rows)
            b->n_rows = (int32_t)p->span_hi[i];
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t n_spans = p->first_span[v + 1] - p->first_span[v];

        most = clv_intra_op_n_choices(p, v) > most ? clv_intra_op_n_choices(p, v) : most;
        most_spans = n_spans > most_spans ? n_spans : most_spans;
    }
    b->entry[0] = CLV_NEW_ARRAY(arena, double *, p->n_matrices);
    b->entry[1] = CLV_NEW_ARRAY(arena, double *, p->n_matrices);
    b->cost = CLV_NEW_ARRAY(arena, double, n);
    b->paid = CLV_NEW_ARRAY(arena, double, n);
    b->sum = CLV_NEW_ARRAY(arena, double, most);
    b->part = CLV_NEW_ARRAY(arena, double, most);
    for (int i = 0; i < 5; i++) {
        b->mix[i] = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
        if (!b->mix[i])
            return false;
    }
    b->taken = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    b->span_room = CLV_NEW_ARRAY(arena, int64_t, most_spans);
    b->least = CLV_NEW_ARRAY(arena, int64_t, n);
    b->own = CLV_NEW_ARRAY(arena, int64_t, n);
    b->now = CLV_NEW_ARRAY(arena, int64_t, n);
    b->given = CLV_NEW_ARRAY(arena, int64_t, n);
    b->worse = CLV_NEW_ARRAY(arena, clv_int128, n);
    b->row_least = CLV_NEW_ARRAY(arena, int64_t, 2 * most);
    b->whole_paid = CLV_NEW_ARRAY(arena, clv_int128, most);
    b->whole_out = CLV_NEW_ARRAY(arena, int64_t, most);
    return b->entry[0] && b->entry[1] && b->cost && b->paid && b->sum && b->part && b->taken && b->least &&
           b->own && b->now && b->given && b->worse && b->row_least && b->whole_out &&
           b->whole_paid && b->span_room && allocate_rows(b, arena);
}

void clv_bound_set_memory_costs(clv_intra_op_bound *b)
{
    const clv_intra_op_problem *p = b->p;
    double *before = b->before; /* sums of the prices of rows before */

    before[0] = 0;
    for (int32_t r = 0; r < b->n_rows; r++)
        before[r + 1] = before[r] + b->price[r];
    memset(b->paid, 0, (size_t)p->first_choice[p->n_nodes] * sizeof *b->paid);
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t i = p->first_span[v]; b->n_rows && i < p->first_span[v + 1]; i++) {
            double price = before[p->span_hi[i]] - before[p->span_lo[i]];
            double *paid = b->paid + p->first_choice[v];
            const int64_t *u = p->usage + p->span_usage[i];

            for (int32_t c = 0, n = clv_intra_op_n_choices(p, v); price > 0 && c < n; c++)
                paid[c] += price * (double)u[c];
        }
}

void clv_intra_op_bound_reset_steps(clv_intra_op_bound *b)
{
    b->since = 0;
    b->step = FIRST_STEP;
    b->longest = LONGEST_STEP;
    b->square = 0;
    b->extrapolation = FIRST_EXTRAPOLATION;
    b->has_last = false;
}

void clv_bound_restart(clv_intra_op_bound *b)
{
    b->bound = 0;
    clv_intra_op_bound_reset_steps(b);
    memset(b->least, 0, (size_t)b->p->first_choice[b->p->n_nodes] * sizeof *b->least);
    clv_bound_set_memory_costs(b);
}

clv_status clv_bound_state_new(const clv_intra_op_problem *p, clv_arena *arena,
                               clv_intra_op_bound **ret, clv_error *err)
{
    clv_intra_op_bound *b = CLV_NEW(arena, clv_intra_op_bound);
    bool ok = b != NULL;

    if (ok) {
        *b = (clv_intra_op_bound){ .p = p,
                                   .step = FIRST_STEP,
                                   .longest = LONGEST_STEP,
                                   .extrapolation = FIRST_EXTRAPOLATION };
        ok = allocate_arrays(b, arena) && make_spokes(b, arena);
    }
    for (int32_t e = 0; ok && e < p->n_edges; e++)
        ok = !is_pair(p, e) || convert(b, e, arena);
    if (!ok)
        return clv_fail_nomem(err, "the bound of a strategy problem");
    add_costs(b);
    *ret = b;
    return CLV_OK;
}
