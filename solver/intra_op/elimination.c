/* elimination.c - tables filled one after the other, and read from the last to the first. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "solver/intra_op/subproblem.h"

/* A table has no more dimensions: each has two values at least and all together fit memory. */
#define CLV_ELIMINATION_MAX_DIMS 62

/* Entries between two questions whether to halt: some milliseconds. */
#define CLV_ELIMINATION_HALT_CHECK 1000000

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

/* Least over the node's values of all factors, along one row. */
static void fill_row(const walk *k, const double *own, int32_t n_own, double *restrict sum,
                     double *restrict out, int32_t width)
{
    for (int32_t j = 0; j < width; j++)
        out[j] = INFINITY;
    for (int32_t v = 0; v < n_own; v++) {
        double c = own[v];
        for (int32_t i = 0; i < k->n_scalar; i++)
            c += k->scalar[i]->at[v * k->scalar[i]->of_node];
        if (k->n_row == 1) {
            const double *a = k->row[0]->at + v * k->row[0]->of_node;
            for (int32_t j = 0; j < width; j++) {
                double s = c + a[j];
                out[j] = s < out[j] ? s : out[j];
            }
            continue;
        }
        const double *a = k->row[0]->at + v * k->row[0]->of_node;
        const double *b = k->row[1]->at + v * k->row[1]->of_node;
        if (k->n_row == 2) {
            for (int32_t j = 0; j < width; j++) {
                double s = c + a[j] + b[j];
                out[j] = s < out[j] ? s : out[j];
            }
            continue;
        }
        for (int32_t j = 0; j < width; j++)
            sum[j] = c + a[j] + b[j];
        for (int32_t i = 2; i < k->n_row; i++) {
            const double *more = k->row[i]->at + v * k->row[i]->of_node;
            for (int32_t j = 0; j < width; j++)
                sum[j] += more[j];
        }
        for (int32_t j = 0; j < width; j++)
            out[j] = sum[j] < out[j] ? sum[j] : out[j];
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
static int64_t fill_table(clv_subproblem *x, int32_t p, walker *walkers, walker **lists)
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
        fill_row(&k, own, clv_subproblem_n_values(x, node), x->row, out, k.size[n - 1]);
        out += k.size[n - 1];
    } while (step_row(&k));
    return (out - x->table[p]) * clv_subproblem_n_values(x, node);
}

static double least(const double *cost, int32_t n)
{
    double r = cost[0];
    for (int32_t i = 1; i < n; i++)
        r = cost[i] < r ? cost[i] : r;
    return r;
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
            constant += least(x->unary + x->first_value[node], clv_subproblem_n_values(x, node));
            continue;
        }
        filled += fill_table(x, p, walkers, lists);
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

void clv_elimination_read_answer(clv_subproblem *x)
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
