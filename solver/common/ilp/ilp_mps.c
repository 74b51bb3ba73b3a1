/* ilp_mps.c - programs as free MPS text, for any other solver. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/common/ilp/ilp_backend.h"

#define LINE_MAX_CHARS 160 /* three names and two numbers fit */

typedef struct {
    clv_arena *arena;
    char *at;
    size_t n, cap;
    bool failed;
} text;

static void put(text *t, const char *fmt, ...) CLV_PRINTF(2, 3);
static void put(text *t, const char *fmt, ...)
{
    va_list args;
    if (t->cap - t->n < LINE_MAX_CHARS && !t->failed) {
        size_t cap = 2 * t->cap + LINE_MAX_CHARS;
        char *grown = clv_arena_grow(t->arena, t->at, t->cap, cap, 1);
        t->failed = !grown;
        t->at = grown;
        t->cap = cap;
    }
    if (t->failed)
        return;
    va_start(args, fmt);
    int n = vsnprintf(t->at + t->n, LINE_MAX_CHARS, fmt, args);
    va_end(args);
    t->n += n < LINE_MAX_CHARS ? (size_t)n : LINE_MAX_CHARS - 1;
}

#define NAME_SIZE   28
#define NUMBER_SIZE 32

static const char *name_of(const clv_ilp *ilp, int32_t column, char buf[NAME_SIZE])
{
    const clv_ilp_column *c = &ilp->columns[column];
    if (c->a < 0)
        snprintf(buf, NAME_SIZE, "%c", c->letter);
    else if (c->b < 0)
        snprintf(buf, NAME_SIZE, "%c%d", c->letter, c->a);
    else
        snprintf(buf, NAME_SIZE, "%c%d_%d", c->letter, c->a, c->b);
    return buf;
}

/* The shortest text that reads as the same number. */
static const char *number(double x, char buf[NUMBER_SIZE])
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(buf, NUMBER_SIZE, "%.*g", digits, x);
        if (strtod(buf, NULL) == x)
            break;
    }
    return buf;
}

static void put_rows(text *t, const clv_ilp *ilp)
{
    put(t, "ROWS\n N cost\n");
    for (int32_t i = 0; i < ilp->n_rows; i++) {
        const clv_ilp_row *r = &ilp->rows[i];
        char kind = 'N';
        if (r->lo == r->hi)
            kind = 'E';
        else if (isfinite(r->lo))
            kind = 'G';
        else if (isfinite(r->hi))
            kind = 'L';
        put(t, " %c c%d\n", kind, i + 1);
    }
}

static void put_columns(text *t, const clv_ilp *ilp, const clv_ilp_by_column *by)
{
    char name[NAME_SIZE], value[NUMBER_SIZE];
    bool whole = false;
    int32_t n_markers = 0;
    put(t, "COLUMNS\n");
    for (int32_t j = 0; j < ilp->n_columns; j++) {
        const clv_ilp_column *c = &ilp->columns[j];
        name_of(ilp, j, name);
        if (c->whole != whole)
            put(t, " M%d 'MARKER' '%s'\n", ++n_markers, c->whole ? "INTORG" : "INTEND");
        whole = c->whole;
        if (c->cost != 0 || by->first[j] == by->first[j + 1])
            put(t, " %s cost %s\n", name, number(c->cost, value));
        for (int32_t i = by->first[j]; i < by->first[j + 1]; i++)
            put(t, " %s c%d %s\n", name, by->row[i] + 1, number(by->value[i], value));
    }
    if (whole)
        put(t, " M%d 'MARKER' 'INTEND'\n", ++n_markers);
}

static void put_sides(text *t, const clv_ilp *ilp)
{
    char value[NUMBER_SIZE];
    put(t, "RHS\n");
    for (int32_t i = 0; i < ilp->n_rows; i++) {
        const clv_ilp_row *r = &ilp->rows[i];
        double side = isfinite(r->lo) ? r->lo : r->hi;
        if (isfinite(side) && side != 0)
            put(t, " RHS c%d %s\n", i + 1, number(side, value));
    }
    put(t, "RANGES\n");
    for (int32_t i = 0; i < ilp->n_rows; i++) {
        const clv_ilp_row *r = &ilp->rows[i];
        if (isfinite(r->lo) && isfinite(r->hi) && r->lo != r->hi)
            put(t, " RNG c%d %s\n", i + 1, number(r->hi - r->lo, value));
    }
}

static void put_bounds(text *t, const clv_ilp *ilp)
{
    char name[NAME_SIZE], value[NUMBER_SIZE];
    put(t, "BOUNDS\n");
    for (int32_t j = 0; j < ilp->n_columns; j++) {
        const clv_ilp_column *c = &ilp->columns[j];
        name_of(ilp, j, name);
        if (c->lo == c->hi) {
            put(t, " FX BND %s %s\n", name, number(c->lo, value));
            continue;
        }
        if (isinf(c->lo))
            put(t, " MI BND %s\n", name);
        else if (c->lo != 0)
            put(t, " LO BND %s %s\n", name, number(c->lo, value));
        if (isfinite(c->hi))
            put(t, " UP BND %s %s\n", name, number(c->hi, value));
        else
            put(t, " PL BND %s\n", name);
    }
}

clv_status clv_ilp_mps(const clv_ilp *ilp, const char *name, clv_arena *arena, const char **ret,
                       size_t *ret_n, clv_error *err)
{
    clv_ilp_by_column by;
    if (ilp->failed || !clv_ilp_transpose(ilp, arena, &by))
        return clv_fail_nomem(err, "an integer program as text");
    text t = { .arena = arena };
    put(&t, "NAME %s FREE\n", name); /* some readers take it for fixed columns otherwise */
    put_rows(&t, ilp);
    put_columns(&t, ilp, &by);
    put_sides(&t, ilp);
    put_bounds(&t, ilp);
    put(&t, "ENDATA\n");
    if (t.failed)
        return clv_fail_nomem(err, "an integer program as text");
    *ret = t.at;
    *ret_n = t.n;
    return CLV_OK;
}
