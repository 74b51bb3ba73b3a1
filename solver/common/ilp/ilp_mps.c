#include "solver/common/ilp/ilp_mps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_CHARS 160 /* three names and two numbers fit */

typedef struct {
    clv_arena *arena;
    char *at;
    size_t n, cap;
    bool failed;
} text;

static void write_line(text *t, const char *fmt, ...) CLV_PRINTF(2, 3);
static void write_line(text *t, const char *fmt, ...)
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

static const char *write_name(const clv_ilp *ilp, int32_t column, char buf[NAME_SIZE])
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
static const char *write_number(double x, char buf[NUMBER_SIZE])
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(buf, NUMBER_SIZE, "%.*g", digits, x);
        if (strtod(buf, NULL) == x)
            break;
    }
    return buf;
}

static void write_rows(text *t, const clv_ilp *ilp)
{
    write_line(t, "ROWS\n N cost\n");
    for (int32_t i = 0; i < ilp->n_rows; i++) {
        const clv_ilp_row *r = &ilp->rows[i];
        char kind = 'N';
        if (r->lo == r->hi)
            kind = 'E';
        else if (isfinite(r->lo))
            kind = 'G';
        else if (isfinite(r->hi))
            kind = 'L';
        write_line(t, " %c c%d\n", kind, i + 1);
    }
}

static void write_columns(text *t, const clv_ilp *ilp, const clv_ilp_by_column *by)
{
    char name[NAME_SIZE], value[NUMBER_SIZE];
    bool whole = false;
    int32_t n_markers = 0;
    write_line(t, "COLUMNS\n");
    for (int32_t j = 0; j < ilp->n_columns; j++) {
        const clv_ilp_column *c = &ilp->columns[j];
        write_name(ilp, j, name);
        if (c->whole != whole)
            write_line(t, " M%d 'MARKER' '%s'\n", ++n_markers, c->whole ? "INTORG" : "INTEND");
        whole = c->whole;
        if (c->cost != 0 || by->first[j] == by->first[j + 1])
            write_line(t, " %s cost %s\n", name, write_number(c->cost, value));
        for (int32_t i = by->first[j]; i < by->first[j + 1]; i++)
            write_line(t, " %s c%d %s\n", name, by->row[i] + 1, write_number(by->value[i], value));
    }
    if (whole)
        write_line(t, " M%d 'MARKER' 'INTEND'\n", ++n_markers);
}

static void write_sides(text *t, const clv_ilp *ilp)
{
    char value[NUMBER_SIZE];
    write_line(t, "RHS\n");
    for (int32_t i = 0; i < ilp->n_rows; i++) {
        const clv_ilp_row *r = &ilp->rows[i];
        double side = isfinite(r->lo) ? r->lo : r->hi;
        if (isfinite(side) && side != 0)
            write_line(t, " RHS c%d %s\n", i + 1, write_number(side, value));
    }
    write_line(t, "RANGES\n");
    for (int32_t i = 0; i < ilp->n_rows; i++) {
        const clv_ilp_row *r = &ilp->rows[i];
        if (isfinite(r->lo) && isfinite(r->hi) && r->lo != r->hi)
            write_line(t, " RNG c%d %s\n", i + 1, write_number(r->hi - r->lo, value));
    }
}

static void write_bounds(text *t, const clv_ilp *ilp)
{
    char name[NAME_SIZE], value[NUMBER_SIZE];
    write_line(t, "BOUNDS\n");
    for (int32_t j = 0; j < ilp->n_columns; j++) {
        const clv_ilp_column *c = &ilp->columns[j];
        write_name(ilp, j, name);
        if (c->lo == c->hi) {
            write_line(t, " FX BND %s %s\n", name, write_number(c->lo, value));
            continue;
        }
        if (isinf(c->lo))
            write_line(t, " MI BND %s\n", name);
        else if (c->lo != 0)
            write_line(t, " LO BND %s %s\n", name, write_number(c->lo, value));
        if (isfinite(c->hi))
            write_line(t, " UP BND %s %s\n", name, write_number(c->hi, value));
        else
            write_line(t, " PL BND %s\n", name);
    }
}

clv_status clv_ilp_mps(const clv_ilp *ilp, const char *name, clv_arena *arena, const char **ret,
                       size_t *ret_n, clv_error *err)
{
    clv_ilp_by_column by;
    if (ilp->failed || !clv_ilp_transpose(ilp, arena, &by))
        return clv_fail_nomem(err, "an integer program as text");
    text t = { .arena = arena };
    write_line(&t, "NAME %s FREE\n", name); /* some readers take it for fixed columns otherwise */
    write_rows(&t, ilp);
    write_columns(&t, ilp, &by);
    write_sides(&t, ilp);
    write_bounds(&t, ilp);
    write_line(&t, "ENDATA\n");
    if (t.failed)
        return clv_fail_nomem(err, "an integer program as text");
    *ret = t.at;
    *ret_n = t.n;
    return CLV_OK;
}
