/* layout_text.c - layouts as people read them, and back. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "sharding/layout.h"

/* -- to text -- */

const char *clv_reduce_name(clv_reduce reduce)
{
    static const char *const names[CLV_N_REDUCES] = { "none", "sum",  "mean", "max",
                                                      "min",  "prod", "l2",   "log-sum" };
    return names[reduce];
}

typedef struct {
    char *buf;
    size_t n;
} writing;

CLV_PRINTF(2, 3) static void add(writing *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(t->buf + t->n, CLV_LAYOUT_TEXT - t->n, fmt, args);
    va_end(args);
    t->n = t->n + (size_t)n < CLV_LAYOUT_TEXT ? t->n + (size_t)n : CLV_LAYOUT_TEXT - 1;
}

const char *clv_layout_show(char buf[static CLV_LAYOUT_TEXT], const clv_layout *layout,
                            const clv_mesh *mesh, int32_t rank)
{
    int32_t axes[CLV_MESH_AXES_MAX], n_partial = 0;
    writing t = { buf, 0 };

    add(&t, "{");
    for (int32_t d = 0; d < rank; d++) {
        int32_t n = clv_layout_axes_of(layout, d, axes);
        add(&t, "%s%s", d ? ", " : "", n ? "" : "-");
        for (int32_t i = 0; i < n; i++) {
            add(&t, "%s%s", i ? "." : "", mesh->name[axes[i]]);
            if (layout->outer[axes[i]] != 1)
                add(&t, "@%d", (int)layout->outer[axes[i]]);
            if (layout->unit[axes[i]] != 1)
                add(&t, "*%d", (int)layout->unit[axes[i]]);
        }
    }
    add(&t, "}");
    for (int32_t a = 0; a < mesh->n_axes; a++)
        if (layout->dim[a] == CLV_AXIS_PARTIAL) {
            if (n_partial++ == 0)
                add(&t, " %s(", clv_reduce_name((clv_reduce)layout->reduce[a]));
            else
                add(&t, ", ");
            add(&t, "%s", mesh->name[a]);
        }
    if (n_partial > 0)
        add(&t, ")");
    return buf;
}

/* -- from text -- */

typedef struct {
    const char *whole, *at;
    const clv_mesh *mesh;
    int32_t rank;
    clv_layout layout;
    clv_error *err;
} reading;

static clv_status bad(const reading *r, const char *expected)
{
    return clv_fail(r->err, CLV_EFORMAT, "layout '%.200s' has '%.20s', expected %s", r->whole,
                    r->at, expected);
}

static bool take(reading *r, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(r->at, text, n) != 0)
        return false;
    r->at += n;
    return true;
}

static clv_status read_axis(reading *r, int32_t *ret)
{
    size_t longest = 0; /* one name may begin with another */
    for (int32_t a = 0; a < r->mesh->n_axes; a++) {
        size_t n = strlen(r->mesh->name[a]);
        if (n > longest && strncmp(r->at, r->mesh->name[a], n) == 0) {
            longest = n;
            *ret = a;
        }
    }
    if (longest == 0)
        return bad(r, "an axis of the mesh");
    if (r->layout.dim[*ret] != CLV_AXIS_COPY)
        return bad(r, "each axis once");
    r->at += longest;
    return CLV_OK;
}

static clv_status read_number(reading *r, int32_t *ret)
{
    int64_t value = 0;
    const char *start = r->at;
    for (; *r->at >= '0' && *r->at <= '9' && value <= INT32_MAX; r->at++)
        value = value * 10 + (*r->at - '0');
    if (r->at == start || value < 1 || value > INT32_MAX)
        return bad(r, "a number of elements");
    *ret = (int32_t)value;
    return CLV_OK;
}

static clv_status read_dim(reading *r, int32_t d)
{
    int8_t nest = 0;
    if (take(r, "-"))
        return CLV_OK;
    do {
        int32_t a = 0;
        CLV_TRY(read_axis(r, &a));
        r->layout.dim[a] = (int8_t)d;
        r->layout.nest[a] = nest++;
        if (take(r, "@"))
            CLV_TRY(read_number(r, &r->layout.outer[a]));
        if (take(r, "*"))
            CLV_TRY(read_number(r, &r->layout.unit[a]));
    } while (take(r, "."));
    return CLV_OK;
}

static clv_status read_partial(reading *r)
{
    int8_t reduce = CLV_REDUCE_NONE;
    for (int8_t k = CLV_REDUCE_SUM; k < CLV_N_REDUCES && reduce == CLV_REDUCE_NONE; k++)
        if (take(r, clv_reduce_name((clv_reduce)k)))
            reduce = k;
    if (reduce == CLV_REDUCE_NONE || !take(r, "("))
        return bad(r, "a reduction, as in sum(tp)");
    do {
        int32_t a = 0;
        CLV_TRY(read_axis(r, &a));
        r->layout.dim[a] = CLV_AXIS_PARTIAL;
        r->layout.reduce[a] = reduce;
    } while (take(r, ", "));
    return take(r, ")") ? CLV_OK : bad(r, ")");
}

clv_status clv_layout_parse(const char *text, const clv_mesh *mesh, int32_t rank, clv_layout *ret,
                            clv_error *err)
{
    reading r = { text, text, mesh, rank, CLV_LAYOUT_COPIES, err };

    if (!take(&r, "{"))
        return bad(&r, "{");
    for (int32_t d = 0; d < rank; d++) {
        if (d > 0 && !take(&r, ", "))
            return bad(&r, "a dimension more");
        CLV_TRY(read_dim(&r, d));
    }
    if (!take(&r, "}"))
        return bad(&r, "}");
    if (take(&r, " "))
        CLV_TRY(read_partial(&r));
    if (*r.at)
        return bad(&r, "its end");
    *ret = r.layout;
    return CLV_OK;
}
