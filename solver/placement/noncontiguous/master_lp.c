/* master_lp.c - primal simplex; the basis begins with all blocks uncovered. */
#include "solver/placement/noncontiguous/master_lp.h"

#include <math.h>
#include <string.h>

/* Reduced costs and pivots nearer to 0 than this are rounding. Penalties are about 1. */
#define TINY 1e-9
/* Right sides of blocks are shifted by up to this. */
#define SHIFT 1e-4
/* Pivots between two inversions from scratch, and at most in one solve for each row. */
#define PIVOTS_FRESH   400
#define PIVOTS_PER_ROW 20
/* Columns priced together for one that enters. */
#define CHUNK 64
/* Elements of the inverse changed in the time of one unit of work elsewhere. */
#define FLOPS_OF_WORK 8

/* Variables: too little of row v is 2 * v, too much 2 * v + 1; then what is left of each kind;
 * then the columns. */
struct clv_master_lp {
    int32_t n, n_kinds, rows, cap_rows;
    const int32_t *devices;
    const double *penalty;
    clv_arena *arena;
    double *right;            /* by row */
    int32_t *first, *members; /* of columns: rows, the kind's row last */
    double *part;             /* how much of each row */
    int32_t n_columns, cap_columns, n_members, cap_members, cap_part;
    int32_t *basis;  /* by place in it: variable */
    double *value;   /* by place */
    double *inverse; /* [row * rows + place] */
    double *price;   /* by row */
    double *column;  /* by place: the entering variable */
    double *scratch; /* [row * 2 * rows]: an inversion */
    int32_t pivots;  /* since the last inversion */
    int32_t next;    /* column to price first for one that enters */
    int64_t work;
};

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "a linear program"); }

/* Room for so many rows; what is kept from solve to solve is lost. */
static clv_status reserve_rows(clv_master_lp *c, int32_t n_rows, clv_error *err)
{
    size_t rows = (size_t)n_rows;
    if (n_rows <= c->cap_rows)
        return CLV_OK;
    c->right = CLV_NEW_ARRAY(c->arena, double, rows);
    c->basis = CLV_NEW_ARRAY(c->arena, int32_t, rows);
    c->value = CLV_NEW_ARRAY(c->arena, double, rows);
    c->inverse = CLV_NEW_ARRAY(c->arena, double, rows *rows);
    c->price = CLV_NEW_ARRAY(c->arena, double, rows);
    c->column = CLV_NEW_ARRAY(c->arena, double, rows);
    c->scratch = CLV_NEW_ARRAY(c->arena, double, rows *rows * 2);
    if (!c->right || !c->basis || !c->value || !c->inverse || !c->price || !c->column ||
        !c->scratch)
        return nomem(err);
    c->cap_rows = n_rows;
    return CLV_OK;
}

clv_status clv_master_lp_new(int32_t n_kinds, const int32_t *devices, clv_arena *arena,
                             clv_master_lp **ret, clv_error *err)
{
    clv_master_lp *c = CLV_NEW(arena, clv_master_lp);
    if (!c)
        return nomem(err);
    *c = (clv_master_lp){ .n_kinds = n_kinds, .devices = devices, .arena = arena };
    if (!CLV_PUSH_ROOM(arena, c->first, 0, c->cap_columns))
        return nomem(err);
    *ret = c;
    return CLV_OK;
}

static double cost_of(const clv_master_lp *c, int32_t variable)
{
    return variable < 2 * c->n ? c->penalty[variable / 2] : 0;
}

static int32_t first_column(const clv_master_lp *c) { return 2 * c->n + c->n_kinds; }

/* Back to nothing covered. */
static void reset_basis(clv_master_lp *c)
{
    size_t rows = (size_t)c->rows;
    memset(c->inverse, 0, rows * rows * sizeof *c->inverse);
    for (size_t r = 0; r < rows; r++) {
        bool block = r < (size_t)c->n;
        c->inverse[r * rows + r] = 1;
        c->basis[r] = block ? 2 * (int32_t)r : c->n + (int32_t)r;
        c->value[r] = c->right[r];
        c->price[r] = block ? c->penalty[r] : 0;
    }
    c->pivots = 0;
}

clv_status clv_master_lp_clear(clv_master_lp *c, int32_t n, const double *penalty, clv_error *err)
{
    if (n + c->n_kinds > c->cap_rows) /* twice what was, so that all of it is a small multiple */
        CLV_TRY(reserve_rows(c, n + c->n_kinds > 2 * c->cap_rows ? n + c->n_kinds : 2 * c->cap_rows,
                             err));
    c->n = n;
    c->rows = n + c->n_kinds;
    c->penalty = penalty;
    for (int32_t v = 0; v < n; v++) /* a spread of shifts without a pattern */
        c->right[v] = 1 + SHIFT * fmod((v + 1) * 0.6180339887498949, 1);
    for (int32_t k = 0; k < c->n_kinds; k++)
        c->right[n + k] = c->devices[k];
    c->n_columns = c->n_members = 0;
    c->first[0] = 0;
    reset_basis(c);
    return CLV_OK;
}

clv_status clv_master_lp_add(clv_master_lp *c, int32_t kind, const int32_t *rows,
                             const double *part, int32_t n, clv_error *err)
{
    if (!CLV_PUSH_ROOM(c->arena, c->first, c->n_columns + 1, c->cap_columns))
        return nomem(err);
    for (int32_t i = 0; i <= n; i++) {
        if (!CLV_PUSH_ROOM(c->arena, c->members, c->n_members, c->cap_members) ||
            !CLV_PUSH_ROOM(c->arena, c->part, c->n_members, c->cap_part))
            return nomem(err);
        c->part[c->n_members] = i < n ? part[i] : 1;
        c->members[c->n_members++] = i < n ? rows[i] : c->n + kind;
    }
    c->first[++c->n_columns] = c->n_members;
    return CLV_OK;
}

/* -- columns -- */

/* The rows that a variable is in, and how much. */
typedef struct {
    int32_t n;
    const int32_t *rows;
    const double *part;
    int32_t one; /* of a variable that is not a column */
    double sign;
} entries;

static void column_entries(const clv_master_lp *c, int32_t variable, entries *e)
{
    if (variable >= first_column(c)) {
        int32_t s = variable - first_column(c);
        e->rows = c->members + c->first[s];
        e->part = c->part + c->first[s];
        e->n = c->first[s + 1] - c->first[s];
        return;
    }
    e->one = variable < 2 * c->n ? variable / 2 : variable - c->n;
    e->sign = variable < 2 * c->n && variable % 2 == 1 ? -1 : 1;
    e->rows = &e->one;
    e->part = &e->sign;
    e->n = 1;
}

static double reduced_cost(const clv_master_lp *c, int32_t variable)
{
    entries e;
    double sum = 0;
    column_entries(c, variable, &e);
    for (int32_t i = 0; i < e.n; i++)
        sum += e.part[i] * c->price[e.rows[i]];
    return cost_of(c, variable) - sum;
}

/* Best of the variables from first to end, if it is better than least. */
static int32_t best_in_range(const clv_master_lp *c, int32_t first, int32_t end, double *least)
{
    int32_t best = -1;
    for (int32_t j = first; j < end; j++) {
        double d = reduced_cost(c, j);
        if (d < *least) {
            *least = d;
            best = j;
        }
    }
    return best;
}

/* Columns are priced in chunks, cyclically, until a chunk has one; then slacks. -1: none. */
static int32_t find_entering(clv_master_lp *c)
{
    double least = -TINY;
    for (int32_t seen = 0; seen < c->n_columns;) {
        int32_t first = c->next < c->n_columns ? c->next : 0;
        int32_t end = first + CHUNK < c->n_columns ? first + CHUNK : c->n_columns;
        int32_t best = best_in_range(c, first_column(c) + first, first_column(c) + end, &least);
        seen += end - first;
        if (best >= 0)
            return best;
        c->next = end;
    }
    return best_in_range(c, 0, first_column(c), &least);
}

static void add_column(double *restrict sum, const double *restrict column, double f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += f * column[i];
}

/* The place that gets to 0 first; of equal ones the one with the largest pivot. -1: none does. */
static int32_t find_leaving(const clv_master_lp *c)
{
    int32_t best = -1;
    double least = 0;
    for (int32_t p = 0; p < c->rows; p++) {
        if (c->column[p] <= TINY)
            continue;
        double ratio = (c->value[p] > 0 ? c->value[p] : 0) / c->column[p];
        if (best < 0 || ratio < least - TINY ||
            (ratio <= least + TINY && c->column[p] > c->column[best])) {
            best = p;
            least = ratio;
        }
    }
    return best;
}

static void pivot(clv_master_lp *c, int32_t entering, int32_t leaving)
{
    size_t rows = (size_t)c->rows;
    double at = c->column[leaving], part = reduced_cost(c, entering);
    double step = c->value[leaving] / at;
    add_column(c->value, c->column, -step, rows);
    c->value[leaving] = step;
    for (size_t r = 0; r < rows; r++) {
        double *inverse = c->inverse + r * rows, f = inverse[leaving] / at;
        if (f == 0)
            continue;
        add_column(inverse, c->column, -f, rows);
        inverse[leaving] = f;
        c->price[r] += part * f;
    }
    c->basis[leaving] = entering;
    c->pivots++;
}

/* -- from scratch -- */

/* Gauss-Jordan on [basis | 1]. False where the basis has none. O(rows^3). */
static bool invert(clv_master_lp *c)
{
    size_t rows = (size_t)c->rows, wide = 2 * rows;
    memset(c->scratch, 0, rows * wide * sizeof *c->scratch);
    for (size_t p = 0; p < rows; p++) {
        entries e;
        column_entries(c, c->basis[p], &e);
        for (int32_t i = 0; i < e.n; i++)
            c->scratch[(size_t)e.rows[i] * wide + p] = e.part[i];
        c->scratch[p * wide + rows + p] = 1;
    }
    for (size_t k = 0; k < rows; k++) {
        size_t best = k;
        for (size_t r = k + 1; r < rows; r++)
            if (fabs(c->scratch[r * wide + k]) > fabs(c->scratch[best * wide + k]))
                best = r;
        double *row = c->scratch + k * wide;
        if (fabs(c->scratch[best * wide + k]) < TINY)
            return false;
        for (size_t i = 0; i < wide && best != k; i++) {
            double swapped = row[i];
            row[i] = c->scratch[best * wide + i];
            c->scratch[best * wide + i] = swapped;
        }
        double at = row[k];
        for (size_t i = k; i < wide; i++)
            row[i] /= at;
        for (size_t r = 0; r < rows; r++) {
            double f = c->scratch[r * wide + k];
            if (r == k || f == 0)
                continue;
            for (size_t i = k; i < wide; i++)
                c->scratch[r * wide + i] -= f * row[i];
        }
    }
    for (size_t p = 0; p < rows; p++)
        for (size_t r = 0; r < rows; r++)
            c->inverse[r * rows + p] = c->scratch[p * wide + rows + r];
    return true;
}

static void refactor(clv_master_lp *c)
{
    size_t rows = (size_t)c->rows;
    if (!invert(c)) {
        reset_basis(c);
        return;
    }
    memset(c->value, 0, rows * sizeof *c->value);
    for (size_t r = 0; r < rows; r++) {
        const double *inverse = c->inverse + r * rows;
        double sum = 0;
        add_column(c->value, inverse, c->right[r], rows);
        for (size_t p = 0; p < rows; p++)
            sum += cost_of(c, c->basis[p]) * inverse[p];
        c->price[r] = sum;
    }
    c->pivots = 0;
}

/* -- solving -- */

double clv_master_lp_solve(clv_master_lp *c)
{
    for (int32_t i = 0; i < PIVOTS_PER_ROW * c->rows; i++) {
        if (c->pivots >= PIVOTS_FRESH)
            refactor(c);
        int32_t entering = find_entering(c);
        if (entering < 0)
            break;
        entries e;
        column_entries(c, entering, &e);
        memset(c->column, 0, (size_t)c->rows * sizeof *c->column);
        for (int32_t k = 0; k < e.n; k++)
            add_column(c->column, c->inverse + (size_t)e.rows[k] * (size_t)c->rows, e.part[k],
                       (size_t)c->rows);
        int32_t leaving = find_leaving(c);
        if (leaving < 0)
            break; /* rounding: penalties cannot fall without end */
        pivot(c, entering, leaving);
        c->work += (int64_t)c->rows * c->rows / FLOPS_OF_WORK + c->rows;
    }
    double sum = 0;
    for (int32_t p = 0; p < c->rows; p++)
        sum += cost_of(c, c->basis[p]) * c->value[p];
    return sum;
}

int64_t clv_master_lp_work(const clv_master_lp *c) { return c->work; }

const double *clv_master_lp_duals(const clv_master_lp *c) { return c->price; }

void clv_master_lp_values(const clv_master_lp *c, double *share)
{
    for (int32_t s = 0; s < c->n_columns; s++)
        share[s] = 0;
    for (int32_t p = 0; p < c->rows; p++)
        if (c->basis[p] >= first_column(c))
            share[c->basis[p] - first_column(c)] = c->value[p];
}
