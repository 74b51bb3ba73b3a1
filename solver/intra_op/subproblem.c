/* subproblem.c - a piece begun, and made ready: costs of its own, tables to fill. */
#include "solver/intra_op/subproblem.h"

#include <string.h>

#include "solver/intra_op/elimination_order.h"

clv_status clv_subproblem_new(const clv_pairwise *f, clv_arena *arena, clv_subproblem **ret,
                              clv_error *err)
{
    clv_subproblem *x = CLV_NEW(arena, clv_subproblem);
    if (!x)
        return clv_fail_nomem(err, "an elimination");
    x->f = f;
    x->arena = clv_arena_new(clv_arena_alloc(arena), 0);
    x->local = CLV_NEW_ARRAY(arena, int32_t, f->n);
    x->row = CLV_NEW_ARRAY(arena, double, f->max_choices);
    if (!x->arena || !x->local || !x->row) {
        clv_arena_free(x->arena);
        return clv_fail_nomem(err, "an elimination");
    }
    for (int32_t v = 0; v < f->n; v++)
        x->local[v] = -1;
    x->mark = clv_arena_mark(x->arena);
    *ret = x;
    return CLV_OK;
}

void clv_subproblem_free(clv_subproblem *x)
{
    if (x)
        clv_arena_free(x->arena);
}

clv_status clv_subproblem_begin(clv_subproblem *x, const int32_t *node, int32_t n,
                                const int32_t *choice, clv_error *err)
{
    const clv_pairwise *f = x->f;
    int64_t n_values = 0;
    for (int32_t i = 0; i < x->n; i++)
        x->local[x->node[i]] = -1;
    x->n = 0;
    clv_arena_rewind(x->arena, x->mark);
    for (int32_t i = 0; i < n; i++)
        n_values += clv_pairwise_n_choices(f, node[i]);
    x->node = CLV_NEW_ARRAY(x->arena, int32_t, n);
    x->first_value = CLV_NEW_ARRAY(x->arena, int32_t, n + 1);
    x->value = CLV_NEW_ARRAY(x->arena, int32_t, n_values);
    x->present = CLV_NEW_ARRAY(x->arena, int32_t, n);
    x->base = CLV_NEW_ARRAY(x->arena, double, n_values);
    x->unary = CLV_NEW_ARRAY(x->arena, double, n_values);
    x->order = CLV_NEW_ARRAY(x->arena, int32_t, n);
    x->position = CLV_NEW_ARRAY(x->arena, int32_t, n);
    x->chosen = CLV_NEW_ARRAY(x->arena, int32_t, n);
    x->scope_first = CLV_NEW_ARRAY(x->arena, int32_t, n + 1);
    x->factor_first = CLV_NEW_ARRAY(x->arena, int32_t, n + 1);
    if (!x->node || !x->first_value || !x->value || !x->present || !x->base || !x->unary ||
        !x->order || !x->position || !x->chosen || !x->scope_first || !x->factor_first)
        return clv_fail_nomem(err, "an elimination");
    for (int32_t i = 0; i < n; i++) {
        x->node[i] = node[i];
        x->local[node[i]] = i;
        x->present[i] = choice[node[i]];
        x->first_value[i + 1] = x->first_value[i] + clv_pairwise_n_choices(f, node[i]);
        for (int32_t c = 0; c < clv_pairwise_n_choices(f, node[i]); c++)
            x->value[x->first_value[i] + c] = c;
    }
    x->n = n;
    x->n_order = x->n_held = 0;
    return CLV_OK;
}

void clv_subproblem_restrict(clv_subproblem *x, int32_t local, const bool *keep)
{
    /* Values move to the front; what is left over is taken out when the piece is prepared. */
    int32_t n = 0, first = x->first_value[local], last = x->first_value[local + 1];
    int32_t present = x->present[local];
    x->present[local] = -1;
    for (int32_t i = first; i < last && x->value[i] >= 0; i++)
        if (keep[x->value[i]]) {
            if (x->value[i] == present)
                x->present[local] = n;
            x->value[first + n++] = x->value[i];
        }
    for (int32_t i = first + n; i < last; i++)
        x->value[i] = -1;
}

/* Takes out the values that are not kept. */
static void pack_values(clv_subproblem *x)
{
    int32_t n = 0;
    for (int32_t i = 0; i < x->n; i++) {
        int32_t from = x->first_value[i], to = x->first_value[i + 1];
        x->first_value[i] = n;
        for (int32_t j = from; j < to && x->value[j] >= 0; j++)
            x->value[n++] = x->value[j];
    }
    x->first_value[x->n] = n;
}

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
    pack_values(x);
    CLV_TRY(clv_elimination_order(x, caps, random, err));
    choose_held(x, choice);
    for (int32_t i = 0; i < x->n; i++)
        if (x->position[i] >= 0)
            add_base(x, i, choice);
    return make_factors(x, err);
}
