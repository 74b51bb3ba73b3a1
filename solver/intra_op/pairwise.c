/* pairwise.c - see pairwise.h. */
#include "solver/intra_op/pairwise.h"

#include <stdlib.h>
#include <string.h>

/* Sums of usages stay below 2^62. */
#define CLV_PAIRWISE_USAGE_BITS 62

/* An edge of two nodes, to be sorted: a below b. */
typedef struct {
    int32_t a, b;
    int32_t at_b;          /* its arc at b */
    const double *cost;    /* [a][b] */
    const double *flipped; /* [b][a] */
} edge;

typedef struct {
    const clv_intra_op_problem *p;
    clv_arena *arena;
    clv_pairwise *f;
    double *cost;
    int32_t *first_choice;
    const double **matrix; /* by matrix of p: as doubles, in its own orientation; NULL until used */
    const double **flipped; /* the other one, for the first shape that it was used in */
    int32_t *flipped_rows;
    edge *edge;
    int32_t n_edges, cap_edges;
} maker;

static double as_double(const maker *m, int64_t cost)
{
    return cost >= CLV_INTRA_OP_NEVER ? m->f->never : (double)cost;
}

/* The largest cost below never, 0 without one. */
static double largest(const int64_t *cost, int64_t n)
{
    int64_t max = 0;
    for (int64_t i = 0; i < n; i++)
        if (cost[i] < CLV_INTRA_OP_NEVER && cost[i] > max)
            max = cost[i];
    return (double)max;
}

static clv_status find_never(maker *m, clv_error *err)
{
    const clv_intra_op_problem *p = m->p;
    double *most = CLV_NEW_ARRAY(m->arena, double, p->n_matrices);
    if (!most)
        return clv_fail_nomem(err, "a strategy problem");
    for (int32_t i = 0; i < p->n_matrices; i++)
        most[i] = largest(p->entry + p->first_entry[i], p->first_entry[i + 1] - p->first_entry[i]);
    double total = 1;
    for (int32_t v = 0; v < p->n_nodes; v++)
        total += largest(p->cost + p->first_choice[v], clv_intra_op_n_choices(p, v));
    for (int32_t e = 0; e < p->n_edges; e++)
        total += most[p->matrix_of[e]];
    m->f->total = total;
    m->f->never = 2 * total;
    return CLV_OK;
}

static clv_status make_nodes(maker *m, clv_error *err)
{
    const clv_intra_op_problem *p = m->p;
    int64_t n = p->n_nodes;
    int64_t n_choices = p->first_choice[p->n_nodes];
    for (int32_t e = 0; e < p->n_edges; e++)
        if (p->first_end[e + 1] - p->first_end[e] > 2) {
            int32_t matrix = p->matrix_of[e];
            int64_t finite = 0;
            for (int64_t i = p->first_entry[matrix]; i < p->first_entry[matrix + 1]; i++)
                finite += p->entry[i] < CLV_INTRA_OP_NEVER;
            if (finite > CLV_PAIRWISE_MAX_COMBINATIONS)
                return clv_fail(err, CLV_ELIMIT,
                                "edge %d joins %d nodes in %lld ways; at most %d can be solved", e,
                                p->first_end[e + 1] - p->first_end[e], (long long)finite,
                                CLV_PAIRWISE_MAX_COMBINATIONS);
            n++;
            n_choices += finite > 0 ? finite : 1;
        }
    if (n_choices > INT32_MAX)
        return clv_fail(err, CLV_ELIMIT, "the problem has %lld choices; at most %d can be solved",
                        (long long)n_choices, INT32_MAX);
    m->first_choice = CLV_NEW_ARRAY(m->arena, int32_t, n + 1);
    m->cost = CLV_NEW_ARRAY(m->arena, double, n_choices);
    if (!m->first_choice || !m->cost)
        return clv_fail_nomem(err, "a strategy problem");
    memcpy(m->first_choice, p->first_choice, ((size_t)p->n_nodes + 1) * sizeof *m->first_choice);
    for (int32_t c = 0; c < p->first_choice[p->n_nodes]; c++)
        m->cost[c] = as_double(m, p->cost[c]);
    m->f->n = m->f->n_given = p->n_nodes;
    return CLV_OK;
}

static clv_status add_edge(maker *m, int32_t a, int32_t b, const double *cost,
                           const double *flipped, clv_error *err)
{
    if (!CLV_PUSH_ROOM(m->arena, m->edge, m->n_edges, m->cap_edges))
        return clv_fail_nomem(err, "a strategy problem");
    m->edge[m->n_edges++] =
        a < b ? (edge){ a, b, 0, cost, flipped } : (edge){ b, a, 0, flipped, cost };
    return CLV_OK;
}

/* Both orientations of a matrix of rows x columns, in the arena. */
static double *flip(const double *cost, int32_t rows, int32_t columns, clv_arena *arena)
{
    double *r = CLV_NEW_ARRAY(arena, double, (int64_t)rows *columns);
    for (int32_t i = 0; r && i < rows; i++)
        for (int32_t j = 0; j < columns; j++)
            r[(int64_t)j * rows + i] = cost[(int64_t)i * columns + j];
    return r;
}

/* The matrix as doubles, made once. */
static clv_status use_matrix(maker *m, int32_t matrix, clv_error *err)
{
    const clv_intra_op_problem *p = m->p;
    int64_t n = p->first_entry[matrix + 1] - p->first_entry[matrix];
    if (m->matrix[matrix])
        return CLV_OK;
    double *cost = CLV_NEW_ARRAY(m->arena, double, n);
    if (!cost)
        return clv_fail_nomem(err, "a strategy problem");
    for (int64_t i = 0; i < n; i++)
        cost[i] = as_double(m, p->entry[p->first_entry[matrix] + i]);
    m->matrix[matrix] = cost;
    return CLV_OK;
}

/* An edge over k > 2 nodes: a node of its combinations, tied to each of the k. */
static clv_status add_wide(maker *m, int32_t e, clv_error *err)
{
    const clv_intra_op_problem *p = m->p;
    const int32_t *end = p->end + p->first_end[e];
    int32_t k = p->first_end[e + 1] - p->first_end[e];
    int32_t node = m->f->n++;
    int32_t at = m->first_choice[node];
    const int64_t *entry = p->entry + p->first_entry[p->matrix_of[e]];
    int64_t n = p->first_entry[p->matrix_of[e] + 1] - p->first_entry[p->matrix_of[e]];
    int32_t n_own = 0;
    for (int64_t i = 0; i < n; i++)
        n_own += entry[i] < CLV_INTRA_OP_NEVER;
    bool none = n_own == 0; /* then one combination stands for all, at the price of never */
    n_own = none ? 1 : n_own;
    m->first_choice[node + 1] = at + n_own;
    m->cost[at] = m->f->never;
    int64_t right = 1;
    for (int32_t j = k - 1; j >= 0; j--) {
        int32_t choices = clv_intra_op_n_choices(p, end[j]);
        double *cost = CLV_NEW_ARRAY(m->arena, double, (int64_t)n_own *choices);
        if (!cost)
            return clv_fail_nomem(err, "a strategy problem");
        int32_t own = 0;
        for (int64_t i = 0; i < n && !none; i++) {
            if (entry[i] >= CLV_INTRA_OP_NEVER)
                continue;
            m->cost[at + own] = (double)entry[i];
            for (int32_t c = 0; c < choices; c++)
                cost[(int64_t)own * choices + c] = i / right % choices == c ? 0 : m->f->never;
            own++;
        }
        const double *flipped = flip(cost, n_own, choices, m->arena);
        if (!flipped)
            return clv_fail_nomem(err, "a strategy problem");
        CLV_TRY(add_edge(m, node, end[j], cost, flipped, err));
        right *= choices;
    }
    return CLV_OK;
}

static clv_status add_pair(maker *m, int32_t e, clv_error *err)
{
    const clv_intra_op_problem *p = m->p;
    const int32_t *end = p->end + p->first_end[e];
    int32_t matrix = p->matrix_of[e];
    int32_t rows = clv_intra_op_n_choices(p, end[0]);
    CLV_TRY(use_matrix(m, matrix, err));
    const double *flipped = m->flipped[matrix];
    /* Equal entries may serve an edge of another shape: that has a flip of its own. */
    if (!flipped || m->flipped_rows[matrix] != rows) {
        flipped = flip(m->matrix[matrix], rows, clv_intra_op_n_choices(p, end[1]), m->arena);
        if (!flipped)
            return clv_fail_nomem(err, "a strategy problem");
        if (!m->flipped[matrix]) {
            m->flipped[matrix] = flipped;
            m->flipped_rows[matrix] = rows;
        }
    }
    return add_edge(m, end[0], end[1], m->matrix[matrix], flipped, err);
}

static clv_status add_edges(maker *m, clv_error *err)
{
    const clv_intra_op_problem *p = m->p;
    for (int32_t e = 0; e < p->n_edges; e++) {
        int32_t k = p->first_end[e + 1] - p->first_end[e];
        if (k == 1) {
            const int64_t *entry = p->entry + p->first_entry[p->matrix_of[e]];
            int32_t node = p->end[p->first_end[e]];
            for (int32_t c = 0; c < clv_intra_op_n_choices(p, node); c++)
                m->cost[p->first_choice[node] + c] += as_double(m, entry[c]);
        } else {
            CLV_TRY(k == 2 ? add_pair(m, e, err) : add_wide(m, e, err));
        }
    }
    return CLV_OK;
}

static int by_ends(const void *x, const void *y)
{
    const edge *a = x, *b = y;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

/* Edges over the same two nodes become one; sorted before. */
static clv_status join_parallel(maker *m, clv_error *err)
{
    int32_t n = 0;
    for (int32_t e = 0, next; e < m->n_edges; e = next) {
        edge *x = &m->edge[e];
        for (next = e + 1; next < m->n_edges && by_ends(x, &m->edge[next]) == 0; next++) {
        }
        if (next > e + 1) {
            int32_t rows = clv_pairwise_n_choices(m->f, x->a),
                    columns = clv_pairwise_n_choices(m->f, x->b);
            double *sum = CLV_NEW_ARRAY(m->arena, double, (int64_t)rows *columns);
            if (!sum)
                return clv_fail_nomem(err, "a strategy problem");
            for (int32_t d = e; d < next; d++)
                for (int64_t i = 0; i < (int64_t)rows * columns; i++)
                    sum[i] += m->edge[d].cost[i];
            x->cost = sum;
            x->flipped = flip(sum, rows, columns, m->arena);
            if (!x->flipped)
                return clv_fail_nomem(err, "a strategy problem");
        }
        m->edge[n++] = *x;
    }
    m->n_edges = n;
    return CLV_OK;
}

static clv_status make_arcs(maker *m, clv_error *err)
{
    clv_pairwise *f = m->f;
    if (m->n_edges > 0)
        qsort(m->edge, (size_t)m->n_edges, sizeof *m->edge, by_ends);
    CLV_TRY(join_parallel(m, err));
    int32_t *first = CLV_NEW_ARRAY(m->arena, int32_t, (int64_t)f->n + 2);
    clv_pairwise_arc *arc = CLV_NEW_ARRAY(m->arena, clv_pairwise_arc, 2 * (int64_t)m->n_edges);
    if (!first || !arc)
        return clv_fail_nomem(err, "a strategy problem");
    for (int32_t e = 0; e < m->n_edges; e++) {
        first[m->edge[e].a + 2]++;
        first[m->edge[e].b + 2]++;
    }
    for (int32_t v = 0; v < f->n; v++)
        first[v + 2] += first[v + 1];
    /* Lower neighbours first: edges are in order of a, so each node gets them ascending. */
    for (int32_t e = 0; e < m->n_edges; e++) {
        m->edge[e].at_b = first[m->edge[e].b + 1]++;
        arc[m->edge[e].at_b] = (clv_pairwise_arc){ m->edge[e].a, 0, m->edge[e].flipped };
    }
    for (int32_t e = 0; e < m->n_edges; e++) {
        int32_t at = first[m->edge[e].a + 1]++;
        arc[at] = (clv_pairwise_arc){ m->edge[e].b, m->edge[e].at_b, m->edge[e].cost };
        arc[m->edge[e].at_b].back = at;
    }
    f->first_arc = first;
    f->arc = arc;
    return CLV_OK;
}

/* A usage in units of 2^shift, rounded up; what no solution can hold is one more than the limit. */
static int64_t scaled(int64_t usage, int64_t limit, int32_t shift)
{
    if (usage > limit)
        return (limit >> shift) + 1;
    return (usage >> shift) + ((usage & ((INT64_C(1) << shift) - 1)) != 0);
}

static int by_time(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* Number of times up to and with t, less one: times are ascending and different. */
static int32_t time_at(const int64_t *time, int32_t n, int64_t t)
{
    int32_t lo = 0, hi = n;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (time[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Moments at which spans begin or end, ascending. */
static int32_t sort_times(const clv_intra_op_problem *p, int64_t *time)
{
    int32_t n_spans = p->first_span[p->n_nodes], n = 0;
    for (int32_t s = 0; s < n_spans; s++) {
        time[2 * s] = p->span_lo[s];
        time[2 * s + 1] = p->span_hi[s];
    }
    if (n_spans > 0)
        qsort(time, 2 * (size_t)n_spans, sizeof *time, by_time);
    for (int32_t i = 0; i < 2 * n_spans; i++)
        if (n == 0 || time[n - 1] != time[i])
            time[n++] = time[i];
    return n;
}

/* row[t]: number of rows before the t-th time. A time is a row when it can break the limit and when
 * a span ends at the next time: otherwise the next holds all that it holds. */
static int32_t choose_rows(const maker *m, const int64_t *time, int32_t n_times, int32_t *row,
                           double *most, bool *ends)
{
    const clv_intra_op_problem *p = m->p;
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t s = p->first_span[v]; s < p->first_span[v + 1]; s++) {
            int64_t max = 0;
            for (int32_t c = 0; c < clv_intra_op_n_choices(p, v); c++) {
                int64_t usage = scaled(p->usage[p->span_usage[s] + c], p->usage_limit, 0);
                max = usage > max ? usage : max;
            }
            int32_t lo = time_at(time, n_times, p->span_lo[s]);
            int32_t hi = time_at(time, n_times, p->span_hi[s]);
            most[lo] += (double)max;
            most[hi] -= (double)max;
            ends[hi] = true;
        }
    /* Sums of doubles round: what is as good as the limit counts as above it. */
    const double slack = 1 - 1e-9;
    double held = 0;
    int32_t n = 0;
    for (int32_t t = 0; t < n_times; t++) {
        held += most[t];
        row[t] = n;
        n += t + 1 < n_times && ends[t + 1] && held > slack * (double)p->usage_limit;
    }
    return n;
}

static clv_status make_spans(maker *m, const int64_t *time, int32_t n_times, const int32_t *row,
                             clv_error *err)
{
    const clv_intra_op_problem *p = m->p;
    clv_pairwise *f = m->f;
    int32_t *first = CLV_NEW_ARRAY(m->arena, int32_t, (int64_t)f->n + 1);
    int64_t n_usages = 0;
    for (int32_t v = 0; v < p->n_nodes; v++)
        n_usages +=
            (int64_t)clv_intra_op_n_choices(p, v) * (p->first_span[v + 1] - p->first_span[v]);
    int64_t *usage = CLV_NEW_ARRAY(m->arena, int64_t, n_usages);
    clv_pairwise_span *span = CLV_NEW_ARRAY(m->arena, clv_pairwise_span, p->first_span[p->n_nodes]);
    if (!first || !usage || !span)
        return clv_fail_nomem(err, "a strategy problem");
    int32_t n = 0;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        first[v] = n;
        for (int32_t s = p->first_span[v]; s < p->first_span[v + 1]; s++) {
            int32_t lo = row[time_at(time, n_times, p->span_lo[s])];
            int32_t hi = row[time_at(time, n_times, p->span_hi[s])];
            if (lo == hi)
                continue;
            clv_pairwise_span *made = &span[n++];
            *made = (clv_pairwise_span){ lo, hi, INT64_MAX, usage };
            for (int32_t c = 0; c < clv_intra_op_n_choices(p, v); c++) {
                *usage = scaled(p->usage[p->span_usage[s] + c], p->usage_limit, f->shift);
                if (*usage < made->least)
                    made->least = *usage;
                usage++;
            }
        }
    }
    for (int32_t v = p->n_nodes; v <= f->n; v++)
        first[v] = n;
    f->first_span = first;
    f->span = span;
    return CLV_OK;
}

static clv_status make_rows(maker *m, clv_error *err)
{
    const clv_intra_op_problem *p = m->p;
    clv_pairwise *f = m->f;
    int32_t n_spans = p->first_span[p->n_nodes];
    if (p->usage_limit < 0 || n_spans == 0) {
        f->first_span = CLV_NEW_ARRAY(m->arena, int32_t, (int64_t)f->n + 1);
        return f->first_span ? CLV_OK : clv_fail_nomem(err, "a strategy problem");
    }
    int64_t *time = CLV_NEW_ARRAY(m->arena, int64_t, 2 * (int64_t)n_spans);
    int32_t *row = CLV_NEW_ARRAY(m->arena, int32_t, 2 * (int64_t)n_spans);
    double *most = CLV_NEW_ARRAY(m->arena, double, 2 * (int64_t)n_spans);
    bool *ends = CLV_NEW_ARRAY(m->arena, bool, 2 * (int64_t)n_spans);
    if (!time || !row || !most || !ends)
        return clv_fail_nomem(err, "a strategy problem");
    int32_t n_times = sort_times(p, time);
    f->n_rows = choose_rows(m, time, n_times, row, most, ends);
    while ((double)n_spans * (double)((p->usage_limit >> f->shift) + 1) >
           (double)(INT64_C(1) << CLV_PAIRWISE_USAGE_BITS))
        f->shift++;
    int64_t *limit = CLV_NEW_ARRAY(m->arena, int64_t, f->n_rows);
    if (!limit)
        return clv_fail_nomem(err, "a strategy problem");
    for (int32_t r = 0; r < f->n_rows; r++)
        limit[r] = p->usage_limit >> f->shift;
    f->limit = limit;
    return make_spans(m, time, n_times, row, err);
}

clv_status clv_pairwise_make(const clv_intra_op_problem *p, clv_arena *arena, clv_pairwise **ret,
                             clv_error *err)
{
    maker m = { .p = p, .arena = arena, .f = CLV_NEW(arena, clv_pairwise) };
    m.matrix = CLV_NEW_ARRAY(arena, const double *, p->n_matrices);
    m.flipped = CLV_NEW_ARRAY(arena, const double *, p->n_matrices);
    m.flipped_rows = CLV_NEW_ARRAY(arena, int32_t, p->n_matrices);
    if (!m.f || !m.matrix || !m.flipped || !m.flipped_rows)
        return clv_fail_nomem(err, "a strategy problem");
    CLV_TRY(find_never(&m, err));
    CLV_TRY(make_nodes(&m, err));
    CLV_TRY(add_edges(&m, err));
    m.f->first_choice = m.first_choice;
    m.f->cost = m.cost;
    for (int32_t v = 0; v < m.f->n; v++)
        if (clv_pairwise_n_choices(m.f, v) > m.f->max_choices)
            m.f->max_choices = clv_pairwise_n_choices(m.f, v);
    CLV_TRY(make_arcs(&m, err));
    CLV_TRY(make_rows(&m, err));
    *ret = m.f;
    return CLV_OK;
}
