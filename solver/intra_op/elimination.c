/* elimination.c - see elimination.h. */
#include "solver/intra_op/elimination.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "solver/intra_op/cost_rows.h"

/* A table has no more dimensions: each has two values at least and all together fit memory. */
#define CLV_ELIMINATION_MAX_DIMS 62

/* Entries between two questions whether to halt: some milliseconds. */
#define CLV_ELIMINATION_HALT_CHECK 1000000

/* Own costs and edges to nodes that are fixed. */
static void add_base(clv_subproblem *x, int32_t i, const int32_t *choice)
{
    const clv_pairwise *f = x->f;
    int32_t v = x->node[i], first = x->first_value[i], n = clv_subproblem_n_values(x, i);
    for (int32_t j = 0; j < n; j++)
        x->base[first + j] = f->cost[f->first_choice[v] + x->value[first + j]];
    for (int32_t a = f->first_arc[v]; a < f->first_arc[v + 1]; a++) {
        int32_t w = f->arc[a].to, other = x->local[w];
        if ((other >= 0 && x->position[other] >= 0) || choice[w] < 0)
            continue;
        int32_t width = clv_pairwise_n_choices(f, w);
        const double *column = f->arc[a].cost + choice[w];
        for (int32_t j = 0; j < n; j++)
            x->base[first + j] += column[(int64_t)x->value[first + j] * width];
    }
}

/* A held node without a choice takes its cheapest. */
static void choose_held(clv_subproblem *x, int32_t *choice)
{
    for (int32_t i = 0; i < x->n; i++) {
        if (x->position[i] >= 0 || choice[x->node[i]] >= 0)
            continue;
        add_base(x, i, choice);
        int32_t best = x->first_value[i];
        for (int32_t j = best + 1; j < x->first_value[i + 1]; j++)
            if (x->base[j] < x->base[best])
                best = j;
        choice[x->node[i]] = x->value[best];
        x->present[i] = best - x->first_value[i];
    }
}

/* Costs of the edge over local nodes i (slow) and j, by their values; the problem's own matrix
 * where both have all their choices. */
static const double *pair_table(clv_subproblem *x, int32_t i, int32_t j, const double *cost)
{
    int32_t rows = clv_subproblem_n_values(x, i), columns = clv_subproblem_n_values(x, j);
    int32_t width = clv_pairwise_n_choices(x->f, x->node[j]);
    if (rows == clv_pairwise_n_choices(x->f, x->node[i]) && columns == width)
        return cost;
    double *r = CLV_NEW_ARRAY(x->arena, double, (int64_t)rows *columns);
    const int32_t *a = x->value + x->first_value[i], *b = x->value + x->first_value[j];
    for (int32_t k = 0; r && k < rows; k++)
        for (int32_t l = 0; l < columns; l++)
            r[(int64_t)k * columns + l] = cost[(int64_t)a[k] * width + b[l]];
    return r;
}

/* Factors of each position: edges to later nodes, and tables whose earliest node it is. */
static void count_factors(clv_subproblem *x)
{
    const clv_pairwise *f = x->f;
    int32_t *first = x->factor_first; /* counts, one place on */
    for (int32_t p = 0; p <= x->n_order; p++)
        first[p] = 0;
    for (int32_t p = 0; p < x->n_order; p++) {
        int32_t v = x->node[x->order[p]];
        for (int32_t a = f->first_arc[v]; a < f->first_arc[v + 1]; a++) {
            int32_t other = x->local[f->arc[a].to];
            first[p + 1] += other >= 0 && x->position[other] > p;
        }
        if (x->scope_first[p + 1] - x->scope_first[p] >= 2)
            first[x->position[x->scope[x->scope_first[p]]] + 1]++;
    }
    for (int32_t p = 0; p < x->n_order; p++)
        first[p + 1] += first[p];
}

static clv_status add_pairs(clv_subproblem *x, int32_t p, int32_t *fill, int32_t *ends,
                            int32_t *n_ends, clv_error *err)
{
    const clv_pairwise *f = x->f;
    int32_t i = x->order[p], v = x->node[i];
    for (int32_t a = f->first_arc[v]; a < f->first_arc[v + 1]; a++) {
        int32_t other = x->local[f->arc[a].to];
        if (other < 0 || x->position[other] <= p)
            continue;
        const double *table = pair_table(x, i, other, f->arc[a].cost);
        if (!table)
            return clv_fail_nomem(err, "an elimination");
        ends[*n_ends] = other;
        x->factor[fill[p]++] =
            (clv_subproblem_factor){ table, clv_subproblem_n_values(x, other), -(*n_ends) - 1, 1 };
        ++*n_ends;
    }
    return CLV_OK;
}

/* The table of a position, and its place among the factors of the earliest node in it. */
static clv_status add_table(clv_subproblem *x, int32_t p, int32_t *fill, clv_error *err)
{
    int32_t at = x->scope_first[p], n = x->scope_first[p + 1] - at;
    if (n == 0)
        return CLV_OK;
    int64_t size = 1;
    for (int32_t i = at; i < at + n; i++)
        size *= clv_subproblem_n_values(x, x->scope[i]);
    x->work += size * clv_subproblem_n_values(x, x->order[p]) *
               (x->factor_first[p + 1] - x->factor_first[p] + 1);
    x->table[p] = CLV_NEW_ARRAY(x->arena, double, size);
    if (!x->table[p])
        return clv_fail_nomem(err, "an elimination");
    if (n == 1)
        return CLV_OK; /* goes into the node's own costs */
    int32_t earliest = x->scope[at];
    x->factor[fill[x->position[earliest]]++] =
        (clv_subproblem_factor){ x->table[p], size / clv_subproblem_n_values(x, earliest), at + 1,
                                 n - 1 };
    return CLV_OK;
}

static clv_status make_factors(clv_subproblem *x, clv_error *err)
{
    count_factors(x);
    int32_t n = x->factor_first[x->n_order], n_ends = 0;
    int32_t n_scope = x->scope_first[x->n_order];
    int32_t *fill = CLV_NEW_ARRAY(x->arena, int32_t, x->n_order);
    int32_t *ends = CLV_NEW_ARRAY(x->arena, int32_t, n);
    int32_t *all = CLV_NEW_ARRAY(x->arena, int32_t, (int64_t)n + n_scope);
    x->factor = CLV_NEW_ARRAY(x->arena, clv_subproblem_factor, n);
    x->table = CLV_NEW_ARRAY(x->arena, double *, x->n_order);
    if (!fill || !ends || !all || !x->factor || !x->table)
        return clv_fail_nomem(err, "an elimination");
    for (int32_t p = 0; p < x->n_order; p++)
        fill[p] = x->factor_first[p];
    x->work = 0;
    for (int32_t p = 0; p < x->n_order; p++) {
        CLV_TRY(add_pairs(x, p, fill, ends, &n_ends, err));
        CLV_TRY(add_table(x, p, fill, err));
    }
    /* Ends of pairs go behind the scopes, so that all factors say theirs in one array. */
    if (n_scope > 0)
        memcpy(all, x->scope, (size_t)n_scope * sizeof *all);
    if (n_ends > 0)
        memcpy(all + n_scope, ends, (size_t)n_ends * sizeof *all);
    x->scope = all;
    for (int32_t i = 0; i < n; i++)
        if (x->factor[i].first < 0)
            x->factor[i].first = n_scope - x->factor[i].first - 1;
    return CLV_OK;
}

clv_status clv_elimination_prepare(clv_subproblem *x, const clv_elimination_caps *caps,
                                   int32_t *choice, uint64_t *random, clv_error *err)
{
    int32_t n = 0;
    for (int32_t i = 0; i < x->n; i++) { /* takes out the values that are not kept */
        int32_t from = x->first_value[i], to = x->first_value[i + 1];
        x->first_value[i] = n;
        for (int32_t j = from; j < to && x->value[j] >= 0; j++)
            x->value[n++] = x->value[j];
    }
    x->first_value[x->n] = n;
    CLV_TRY(clv_elimination_order(x, caps, random, err));
    choose_held(x, choice);
    for (int32_t i = 0; i < x->n; i++)
        if (x->position[i] >= 0)
            add_base(x, i, choice);
    return make_factors(x, err);
}

/* A factor while a table is filled: where it is, and its step in each dimension of the table. */
typedef struct {
    const double *at;
    int64_t of_node;
    int64_t step[CLV_ELIMINATION_MAX_DIMS];
} walker;

typedef struct {
    int32_t n_dims;
    int32_t size[CLV_ELIMINATION_MAX_DIMS], index[CLV_ELIMINATION_MAX_DIMS];
    int32_t n_scalar, n_row; /* walkers that do not and that do run along the last dimension */
    walker **scalar, **row;
} walk;

/* step in each of the table's dimensions; both are in the order of elimination. */
static void set_steps(const clv_subproblem *x, const clv_subproblem_factor *g, const int32_t *scope,
                      int32_t n, walker *w)
{
    int64_t step = 1;
    int32_t j = g->n - 1;
    for (int32_t d = n - 1; d >= 0; d--) {
        w->step[d] = 0;
        if (j >= 0 && x->scope[g->first + j] == scope[d]) {
            w->step[d] = step;
            step *= clv_subproblem_n_values(x, scope[d]);
            j--;
        }
    }
    assert(j < 0);
    w->at = g->table;
    w->of_node = g->stride;
}

/* A value's own cost with those of factors that do not run along the row. */
static double own_cost(const walk *k, const double *own, int32_t v)
{
    double c = own[v];
    for (int32_t i = 0; i < k->n_scalar; i++)
        c += k->scalar[i]->at[v * k->scalar[i]->of_node];
    return c;
}

/* Least over the node's values of all factors, along one row. scratch: max_choices. */
static void compute_row(const walk *k, const double *own, int32_t n_own, double *restrict scratch,
                        double *restrict out, int32_t width)
{
    const walker *first = k->row[0];
    if (k->n_row == 1) {
        for (int32_t v = 0; v < n_own; v++)
            scratch[v] = own_cost(k, own, v);
        clv_row_min_plus(scratch, (clv_cost_rows){ first->at, first->of_node, n_own, width },
                         INFINITY, out);
        return;
    }
    const walker *second = k->row[1];
    for (int32_t j = 0; j < width; j++)
        out[j] = INFINITY;
    for (int32_t v = 0; v < n_own; v++) {
        double c = own_cost(k, own, v);
        const double *a = first->at + v * first->of_node, *b = second->at + v * second->of_node;
        if (k->n_row == 2) {
            for (int32_t j = 0; j < width; j++)
                out[j] = clv_lesser(c + a[j] + b[j], out[j]);
            continue;
        }
        for (int32_t j = 0; j < width; j++)
            scratch[j] = c + a[j] + b[j];
        for (int32_t i = 2; i < k->n_row; i++)
            clv_row_add(scratch, k->row[i]->at + v * k->row[i]->of_node, width);
        for (int32_t j = 0; j < width; j++)
            out[j] = clv_lesser(scratch[j], out[j]);
    }
}

/* On to the next row; false after the last. */
static bool step_row(walk *k)
{
    for (int32_t d = k->n_dims - 2; d >= 0; d--) {
        bool wraps = ++k->index[d] == k->size[d];
        int64_t back = wraps ? k->size[d] - 1 : 0;
        for (int32_t i = 0; i < k->n_scalar; i++)
            k->scalar[i]->at += wraps ? -back * k->scalar[i]->step[d] : k->scalar[i]->step[d];
        for (int32_t i = 0; i < k->n_row; i++)
            k->row[i]->at += wraps ? -back * k->row[i]->step[d] : k->row[i]->step[d];
        if (!wraps)
            return true;
        k->index[d] = 0;
    }
    return false;
}

/* Fills the table of a position; the number of entries looked at. */
static int64_t compute_table(clv_subproblem *x, int32_t p, walker *walkers, walker **lists)
{
    int32_t at = x->scope_first[p], n = x->scope_first[p + 1] - at, node = x->order[p];
    const int32_t *scope = x->scope + at;
    int32_t n_factors = x->factor_first[p + 1] - x->factor_first[p];
    walk k = { .n_dims = n, .scalar = lists, .row = lists + n_factors };
    assert(n <= CLV_ELIMINATION_MAX_DIMS);
    for (int32_t d = 0; d < n; d++)
        k.size[d] = clv_subproblem_n_values(x, scope[d]);
    for (int32_t i = 0; i < n_factors; i++) {
        set_steps(x, &x->factor[x->factor_first[p] + i], scope, n, &walkers[i]);
        if (walkers[i].step[n - 1] != 0)
            k.row[k.n_row++] = &walkers[i];
        else
            k.scalar[k.n_scalar++] = &walkers[i];
    }
    double *out = x->table[p];
    const double *own = x->unary + x->first_value[node];
    do {
        compute_row(&k, own, clv_subproblem_n_values(x, node), x->row, out, k.size[n - 1]);
        out += k.size[n - 1];
    } while (step_row(&k));
    return (out - x->table[p]) * clv_subproblem_n_values(x, node);
}

double clv_elimination_solve(clv_subproblem *x, const double *price)
{
    int32_t most = 0;
    for (int32_t p = 0; p < x->n_order; p++) {
        int32_t n = x->factor_first[p + 1] - x->factor_first[p];
        most = n > most ? n : most;
    }
    clv_mark mark = clv_arena_mark(x->arena);
    walker *walkers = CLV_NEW_ARRAY(x->arena, walker, most);
    walker **lists = CLV_NEW_ARRAY(x->arena, walker *, 2 * (int64_t)most);
    if (!walkers || !lists)
        return -INFINITY;
    for (int32_t i = 0; i < x->first_value[x->n]; i++)
        x->unary[i] = x->base[i] + (price ? price[i] : 0);
    double constant = 0;
    int64_t filled = 0;
    for (int32_t p = 0; p < x->n_order; p++) {
        int32_t node = x->order[p], n = x->scope_first[p + 1] - x->scope_first[p];
        if (n == 0) {
            double least = x->unary[x->first_value[node]];
            for (int32_t i = x->first_value[node] + 1; i < x->first_value[node + 1]; i++)
                least = x->unary[i] < least ? x->unary[i] : least;
            constant += least;
            continue;
        }
        filled += compute_table(x, p, walkers, lists);
        if (filled > CLV_ELIMINATION_HALT_CHECK) {
            filled = 0;
            if (x->halt && clv_limits_over(x->halt)) {
                constant = -INFINITY;
                break;
            }
        }
        if (n == 1) {
            int32_t next = x->scope[x->scope_first[p]];
            for (int32_t j = 0; j < clv_subproblem_n_values(x, next); j++)
                x->unary[x->first_value[next] + j] += x->table[p][j];
        }
    }
    clv_arena_rewind(x->arena, mark);
    return constant;
}

void clv_elimination_costs(const clv_subproblem *x, int32_t position, double *cost)
{
    int32_t node = x->order[position], n = clv_subproblem_n_values(x, node);
    memcpy(cost, x->unary + x->first_value[node], (size_t)n * sizeof *cost);
    for (int32_t i = x->factor_first[position]; i < x->factor_first[position + 1]; i++) {
        const clv_subproblem_factor *g = &x->factor[i];
        int64_t step = 1, at = 0;
        for (int32_t j = g->n - 1; j >= 0; j--) {
            int32_t v = x->scope[g->first + j];
            at += step * x->chosen[v];
            step *= clv_subproblem_n_values(x, v);
        }
        for (int32_t v = 0; v < n; v++)
            cost[v] += g->table[at + v * g->stride];
    }
}

void clv_elimination_read_solution(clv_subproblem *x)
{
    for (int32_t p = x->n_order - 1; p >= 0; p--) {
        int32_t node = x->order[p];
        clv_elimination_costs(x, p, x->row);
        int32_t best = 0;
        for (int32_t v = 1; v < clv_subproblem_n_values(x, node); v++)
            if (x->row[v] < x->row[best])
                best = v;
        x->chosen[node] = best;
    }
}
