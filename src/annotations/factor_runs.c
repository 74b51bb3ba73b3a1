#include "annotations/factor_runs.h"

#include <stdlib.h>

/* -- lists -- */

clv_cell *clv_cell_new(int64_t device, int32_t n_factors, clv_arena *arena)
{
    clv_cell *cell = clv_arena_take(arena, sizeof *cell + (size_t)n_factors * sizeof(clv_run_of));
    if (!cell)
        return NULL;
    cell->device = device;
    cell->n_factors = n_factors;
    for (int32_t i = 0; i < n_factors; i++)
        cell->of[i] = (clv_run_of){ 0, -1 };
    return cell;
}

clv_status clv_cells_push(clv_cells *cells, clv_cell *cell, clv_arena *arena, clv_error *err)
{
    if (!cell)
        return clv_fail_nomem(err, "checking specs");
    if (cells->n >= CLV_CELLS_MAX)
        return clv_fail(err, CLV_ELIMIT, "its specs make over %d parts", CLV_CELLS_MAX);
    if (!CLV_PUSH_ROOM(arena, cells->at, cells->n, cells->cap))
        return clv_fail_nomem(err, "checking specs");
    cells->at[cells->n++] = cell;
    return CLV_OK;
}

int clv_cell_by_runs(const void *a, const void *b)
{
    const clv_cell *x = *(clv_cell *const *)a, *y = *(clv_cell *const *)b;

    for (int32_t i = 0; i < x->n_factors; i++) {
        if (x->of[i].first != y->of[i].first)
            return x->of[i].first < y->of[i].first ? -1 : 1;
        if (x->of[i].n != y->of[i].n)
            return x->of[i].n < y->of[i].n ? -1 : 1;
    }
    return (x->device > y->device) - (x->device < y->device);
}

static int by_device(const void *a, const void *b)
{
    const clv_cell *x = *(clv_cell *const *)a, *y = *(clv_cell *const *)b;

    return x->device != y->device ? (x->device > y->device) - (x->device < y->device)
                                  : clv_cell_by_runs(a, b);
}

void clv_cells_sort(clv_cells *cells)
{
    int32_t n = 0;

    if (cells->n > 0)
        qsort(cells->at, (size_t)cells->n, sizeof(clv_cell *), by_device);
    for (int32_t i = 0; i < cells->n; i++)
        if (i == 0 || by_device(&cells->at[i], &cells->at[i - 1]) != 0)
            cells->at[n++] = cells->at[i];
    cells->n = n;
}

bool clv_cells_equal(const clv_cells *a, const clv_cells *b)
{
    if (a->n != b->n)
        return false;
    for (int32_t i = 0; i < a->n; i++)
        if (by_device(&a->at[i], &b->at[i]) != 0)
            return false;
    return true;
}

/* -- runs of one factor -- */

static int by_first(const void *a, const void *b)
{
    const clv_run_of *x = a, *y = b;

    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->n > y->n) - (x->n < y->n);
}

clv_status clv_runs_of(const clv_cells *cells, int32_t factor, clv_arena *arena, clv_runs *ret,
                       clv_error *err)
{
    clv_runs runs = { CLV_NEW_ARRAY(arena, clv_run_of, cells->n), 0 };

    if (!runs.at)
        return clv_fail_nomem(err, "checking specs");
    for (int32_t i = 0; i < cells->n; i++)
        runs.at[i] = cells->at[i]->of[factor];
    if (cells->n > 0)
        qsort(runs.at, (size_t)cells->n, sizeof *runs.at, by_first);
    for (int32_t i = 0; i < cells->n; i++)
        if (i == 0 || !clv_run_is(runs.at[i], runs.at[runs.n - 1]))
            runs.at[runs.n++] = runs.at[i];
    *ret = runs;
    return CLV_OK;
}

int32_t clv_runs_find(const clv_runs *runs, clv_run_of run)
{
    const clv_run_of *at = bsearch(&run, runs->at, (size_t)runs->n, sizeof *runs->at, by_first);
    return at ? (int32_t)(at - runs->at) : -1;
}

int32_t clv_factor_dim(const clv_operand_factors *o, int32_t factor)
{
    for (int32_t i = 0; i < o->rank; i++)
        for (int32_t k = 0; k < o->dims[i].n; k++)
            if (o->dims[i].at[k] == factor)
                return i;
    return -1;
}

/* -- from a box to runs --
 *
 * Both products are read from the innermost on: pieces are put together until a factor divides
 * them, and the factor is taken out of what there is. A run stays one only where all further inside
 * is whole, or all further outside is one element.
 */

typedef struct {
    int64_t size;
    clv_run_of run;
} span;

/* The innermost `size` of it, which divides it. */
static bool take_inner(span *s, int64_t size, clv_run_of *ret)
{
    int64_t first = s->run.first, n = s->run.n;

    if (first % size == 0 && n % size == 0) {
        *ret = (clv_run_of){ 0, size };
        s->run = (clv_run_of){ first / size, n / size };
    } else if (first / size == (first + n - 1) / size) {
        *ret = (clv_run_of){ first % size, n };
        s->run = (clv_run_of){ first / size, 1 };
    } else {
        return false;
    }
    s->size /= size;
    return true;
}

/* A dimension with the same factor twice has one run for both. */
static bool set_run(clv_run_of *to, clv_run_of run)
{
    bool same = to->n < 0 || clv_run_is(*to, run);
    *to = run;
    return same;
}

/* The pieces of a shard that are one dimension, outermost first. */
typedef struct {
    const int64_t *dims, *offset, *size;
    int32_t n;
} pieces;

/* Puts the innermost piece that is left around the span; false: it is no run any more. */
static bool put_around(span *s, pieces *p)
{
    int64_t size, offset, length;

    if (p->n == 0)
        return false;
    p->n--;
    size = p->dims[p->n];
    offset = p->offset[p->n];
    length = p->size[p->n];
    if (s->run.n == s->size)
        s->run = (clv_run_of){ offset * s->size, length * s->size };
    else if (length == 1)
        s->run.first += offset * s->size;
    else
        return false;
    s->size *= size;
    return true;
}

static bool dim_runs(const clv_factors *f, const clv_dim_factors *d, pieces p, clv_run_of *ret)
{
    span s = { 1, { 0, 1 } };
    bool whole = true;

    for (int32_t i = 0; i < p.n; i++)
        whole = whole && p.size[i] == p.dims[i];
    if (whole) {
        for (int32_t k = 0; k < d->n; k++)
            if (!set_run(&ret[d->at[k]], (clv_run_of){ 0, f->factors[d->at[k]].size }))
                return false;
        return true;
    }
    for (int32_t k = d->n - 1; k >= 0; k--) {
        int64_t size = f->factors[d->at[k]].size;
        clv_run_of run;
        if (size < 1)
            return false;
        while (s.size % size != 0)
            if (!put_around(&s, &p))
                return false;
        if (!take_inner(&s, size, &run) || !set_run(&ret[d->at[k]], run))
            return false;
        if (k == 0 && (p.n > 0 || s.size > 1)) /* more than the factors are */
            return false;
    }
    return d->n > 0;
}

/* The first dimension that is cut where it must not be, or -1. */
static int32_t shard_runs(const clv_ruled_operand *operand, const clv_shards *shards,
                          const clv_shard *shard, clv_run_of *ret)
{
    static const clv_dim_factors none = { NULL, 0 };
    const clv_operand_factors *o = operand->o;
    int32_t first = 0;

    for (int32_t dim = 0; dim < operand->rank; dim++) {
        pieces p = { shards->dims + first, shard->offset + first, shard->size + first, 0 };
        while (first + p.n < shards->rank && shards->axis_of[first + p.n] == dim)
            p.n++;
        first += p.n;
        if (!dim_runs(operand->f, dim < o->rank ? &o->dims[dim] : &none, p, ret))
            return dim;
    }
    return -1;
}

clv_status clv_shard_cells(const clv_ruled_operand *operand, const clv_shards *shards,
                           clv_arena *arena, clv_cells *ret, int32_t *ret_dim, clv_error *err)
{
    clv_cells cells = { 0 };

    *ret_dim = -1;
    for (int32_t i = 0; i < shards->n; i++) {
        const clv_shard *shard = &shards->at[i];
        bool empty = false;
        for (int32_t d = 0; d < shards->rank; d++)
            empty |= shard->size[d] == 0;
        if (empty)
            continue;
        clv_cell *cell = clv_cell_new(shard->device, operand->f->n_factors, arena);
        CLV_TRY(clv_cells_push(&cells, cell, arena, err));
        *ret_dim = shard_runs(operand, shards, shard, cell->of);
        if (*ret_dim >= 0)
            return CLV_OK;
    }
    clv_cells_sort(&cells);
    *ret = cells;
    return CLV_OK;
}
