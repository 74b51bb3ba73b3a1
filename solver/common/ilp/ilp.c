#include "solver/common/ilp/ilp.h"

#include <assert.h>
#include <float.h>
#include <math.h>

/* -- building -- */

clv_ilp clv_ilp_new(clv_arena *arena) { return (clv_ilp){ .arena = arena }; }

int32_t clv_ilp_add_column(clv_ilp *ilp, clv_ilp_column column)
{
    assert(column.lo <= column.hi);
    if (ilp->failed || !CLV_PUSH_ROOM(ilp->arena, ilp->columns, ilp->n_columns, ilp->cap_columns)) {
        ilp->failed = true;
        return 0;
    }
    ilp->columns[ilp->n_columns] = column;
    return ilp->n_columns++;
}

int32_t clv_ilp_add_row(clv_ilp *ilp, double lo, double hi)
{
    assert(lo <= hi);
    if (ilp->failed || !CLV_PUSH_ROOM(ilp->arena, ilp->rows, ilp->n_rows, ilp->cap_rows)) {
        ilp->failed = true;
        return 0;
    }
    ilp->rows[ilp->n_rows] = (clv_ilp_row){ lo, hi, ilp->n_terms };
    return ilp->n_rows++;
}

void clv_ilp_add_term(clv_ilp *ilp, int32_t column, double value)
{
    assert(ilp->failed || (ilp->n_rows > 0 && column >= 0 && column < ilp->n_columns));
    if (ilp->failed || !CLV_PUSH_ROOM(ilp->arena, ilp->terms, ilp->n_terms, ilp->cap_terms)) {
        ilp->failed = true;
        return;
    }
    ilp->terms[ilp->n_terms++] = (clv_ilp_term){ column, value };
}

int32_t clv_ilp_terms_of(const clv_ilp *ilp, int32_t row, const clv_ilp_term **ret)
{
    int32_t first = ilp->rows[row].first;
    *ret = ilp->terms ? ilp->terms + first : NULL;
    return (row + 1 < ilp->n_rows ? ilp->rows[row + 1].first : ilp->n_terms) - first;
}

bool clv_ilp_transpose(const clv_ilp *ilp, clv_arena *arena, clv_ilp_by_column *ret)
{
    ret->first = CLV_NEW_ARRAY(arena, int32_t, ilp->n_columns + 2);
    ret->row = CLV_NEW_ARRAY(arena, int32_t, ilp->n_terms);
    ret->value = CLV_NEW_ARRAY(arena, double, ilp->n_terms);
    if (!ret->first || !ret->row || !ret->value)
        return false;
    for (int32_t t = 0; t < ilp->n_terms; t++)
        ret->first[ilp->terms[t].column + 2]++;
    for (int32_t j = 1; j < ilp->n_columns + 1; j++)
        ret->first[j + 1] += ret->first[j];
    for (int32_t i = 0; i < ilp->n_rows; i++) {
        const clv_ilp_term *terms;
        int32_t n = clv_ilp_terms_of(ilp, i, &terms);
        for (int32_t t = 0; t < n; t++) {
            int32_t at = ret->first[terms[t].column + 1]++;
            ret->row[at] = i;
            ret->value[at] = terms[t].value;
        }
    }
    return true;
}

/* -- bounds -- */

/* A sum, and what bounds its rounding error. */
typedef struct {
    double value, size; /* size: the sum of the absolute values added */
    double n;           /* values added */
} rounded_sum;

static void add_rounded(rounded_sum *s, double x)
{
    s->value += x;
    s->size += fabs(x);
    s->n += 1;
}

/* How far the value is off at most: n roundings, one for each sum and one for each product in it,
 * and as much again for the sum of sizes (Higham 2002). */
static double error_of(const rounded_sum *s) { return 2 * DBL_EPSILON * (s->n + 2) * s->size; }

/* Least of d * x for x between the bounds of a column, where d may be off by so much. */
static double least_of(const clv_ilp_column *c, double d, double off)
{
    double least = INFINITY;
    for (int side = 0; side < 2; side++) {
        double slope = side ? d + off : d - off;
        double at = slope > 0 ? c->lo : c->hi;
        double value = slope == 0 ? 0 : slope * at;
        least = value < least ? value : least;
    }
    return least;
}

double clv_ilp_dual_bound(const clv_ilp *ilp, const double *multiplier, clv_arena *arena)
{
    clv_mark mark = clv_arena_mark(arena);
    rounded_sum *reduced = CLV_NEW_ARRAY(arena, rounded_sum, ilp->n_columns), bound = { 0 };
    if (!reduced)
        return -INFINITY;
    for (int32_t j = 0; j < ilp->n_columns; j++)
        add_rounded(&reduced[j], ilp->columns[j].cost);
    for (int32_t i = 0; i < ilp->n_rows; i++) {
        const clv_ilp_term *terms;
        double m = multiplier[i], side = m > 0 ? ilp->rows[i].lo : ilp->rows[i].hi;
        int32_t n = clv_ilp_terms_of(ilp, i, &terms);
        if (!isfinite(m) || m == 0 || isinf(side))
            continue; /* of the wrong sign: as if it were 0 */
        add_rounded(&bound, m * side);
        for (int32_t t = 0; t < n; t++)
            add_rounded(&reduced[terms[t].column], -m * terms[t].value);
    }
    for (int32_t j = 0; j < ilp->n_columns; j++)
        add_rounded(&bound, least_of(&ilp->columns[j], reduced[j].value, error_of(&reduced[j])));
    clv_arena_rewind(arena, mark);
    double sure = bound.value - error_of(&bound);
    return isnan(sure) ? -INFINITY : sure;
}
