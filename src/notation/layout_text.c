#include "notation/layout_text.h"

const char *clv_layout_show(char buf[static CLV_LAYOUT_TEXT], const clv_layout *layout,
                            const clv_mesh *mesh, int32_t rank)
{
#define ADD(...) n = clv_add_words(buf, CLV_LAYOUT_TEXT, n, __VA_ARGS__)
    int32_t axes[CLV_MESH_AXES_MAX], n_partial = 0;
    size_t n = 0;

    ADD("{");
    for (int32_t d = 0; d < rank; d++) {
        int32_t n_axes = clv_layout_axes_of(layout, d, axes);
        ADD("%s%s", d ? ", " : "", n_axes ? "" : "-");
        for (int32_t i = 0; i < n_axes; i++) {
            ADD("%s%s", i ? "." : "", mesh->name[axes[i]]);
            if (layout->outer[axes[i]] != 1)
                ADD("@%d", (int)layout->outer[axes[i]]);
            if (layout->unit[axes[i]] != 1)
                ADD("*%d", (int)layout->unit[axes[i]]);
        }
    }
    ADD("}");
    for (int32_t a = 0; a < mesh->n_axes; a++)
        if (layout->dim[a] == CLV_AXIS_PARTIAL) {
            if (n_partial++ == 0)
                ADD(" %s(", clv_reduce_name((clv_reduce)layout->reduce[a]));
            else
                ADD(", ");
            ADD("%s", mesh->name[a]);
        }
    if (n_partial > 0)
        ADD(")");
    return buf;
#undef ADD
}

/* -- from text -- */

typedef struct {
    const char *whole, *at;
    const clv_mesh *mesh;
    int32_t rank;
    clv_layout layout;
} reading;

static clv_status fail(const reading *r, const char *expected, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT, "layout '%.200s' has '%.20s', expected %s", r->whole, r->at,
                    expected);
}

static bool skip(reading *r, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(r->at, text, n) != 0)
        return false;
    r->at += n;
    return true;
}

static clv_status read_axis(reading *r, int32_t *ret, clv_error *err)
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
        return fail(r, "an axis of the mesh", err);
    if (r->layout.dim[*ret] != CLV_AXIS_COPY)
        return fail(r, "each axis once", err);
    r->at += longest;
    return CLV_OK;
}

static clv_status read_number(reading *r, int32_t *ret, clv_error *err)
{
    int64_t value = 0;
    const char *start = r->at;
    for (; *r->at >= '0' && *r->at <= '9' && value <= INT32_MAX; r->at++)
        value = value * 10 + (*r->at - '0');
    if (r->at == start || value < 1 || value > INT32_MAX)
        return fail(r, "a number of elements", err);
    *ret = (int32_t)value;
    return CLV_OK;
}

static clv_status read_dim(reading *r, int32_t d, clv_error *err)
{
    int8_t nest = 0;
    if (skip(r, "-"))
        return CLV_OK;
    do {
        int32_t a = 0;
        CLV_TRY(read_axis(r, &a, err));
        r->layout.dim[a] = (int8_t)d;
        r->layout.nest[a] = nest++;
        if (skip(r, "@"))
            CLV_TRY(read_number(r, &r->layout.outer[a], err));
        if (skip(r, "*"))
            CLV_TRY(read_number(r, &r->layout.unit[a], err));
    } while (skip(r, "."));
    return CLV_OK;
}

static clv_status read_partial(reading *r, clv_error *err)
{
    int8_t reduce = CLV_REDUCE_NONE;
    for (int8_t k = CLV_REDUCE_SUM; k < CLV_N_REDUCES && reduce == CLV_REDUCE_NONE; k++)
        if (skip(r, clv_reduce_name((clv_reduce)k)))
            reduce = k;
    if (reduce == CLV_REDUCE_NONE || !skip(r, "("))
        return fail(r, "a reduction, as in sum(tp)", err);
    do {
        int32_t a = 0;
        CLV_TRY(read_axis(r, &a, err));
        r->layout.dim[a] = CLV_AXIS_PARTIAL;
        r->layout.reduce[a] = reduce;
    } while (skip(r, ", "));
    return skip(r, ")") ? CLV_OK : fail(r, ")", err);
}

clv_status clv_layout_parse(const char *text, const clv_mesh *mesh, int32_t rank, clv_layout *ret,
                            clv_error *err)
{
    reading r = { text, text, mesh, rank, CLV_LAYOUT_COPIES };

    if (!skip(&r, "{"))
        return fail(&r, "{", err);
    for (int32_t d = 0; d < rank; d++) {
        if (d > 0 && !skip(&r, ", "))
            return fail(&r, "a dimension more", err);
        CLV_TRY(read_dim(&r, d, err));
    }
    if (!skip(&r, "}"))
        return fail(&r, "}", err);
    if (skip(&r, " "))
        CLV_TRY(read_partial(&r, err));
    if (*r.at)
        return fail(&r, "its end", err);
    *ret = r.layout;
    return CLV_OK;
}
