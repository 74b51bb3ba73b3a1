/* writers.c - rules that depend on a node more than the notation can say: they are written out for
 * its shapes and attributes, in the same notation. The writers of one family stand in a file;
 * ops.def names them, "=reshape".
 */
#include "sharding/writers.h"

#include "graph/shape_tools.h"

static const struct {
    const char *name, *about;
    clv_rule_writer write;
} writers[] = {
#define CLV_WRITER(name, about) { #name, about, clv_write_##name },
    CLV_WRITERS
#undef CLV_WRITER
};

#define N_WRITERS (sizeof writers / sizeof writers[0])

clv_rule_writer clv_rule_writer_find(clv_str name)
{
    for (size_t i = 0; i < N_WRITERS; i++)
        if (clv_str_is(name, writers[i].name))
            return writers[i].write;
    return NULL;
}

const char *clv_rule_writer_about(clv_str name)
{
    for (size_t i = 0; i < N_WRITERS; i++)
        if (clv_str_is(name, writers[i].name))
            return writers[i].about;
    return NULL;
}

/* -- what many of them use -- */

clv_status clv_writer_done(clv_rule_context *w, const clv_rule_writing *t, const char **ret)
{
    if (t->failed)
        return clv_fail_nomem(w->err, "a sharding rule");
    *ret = t->at;
    return CLV_OK;
}

clv_status clv_writer_open(clv_rule_context *w)
{
    return clv_rule_keep_whole(w, "has an input of open shape: it is not split");
}

clv_status clv_writer_bad_axis(clv_rule_context *w)
{
    return clv_rule_keep_whole(w, "has an axis that its input has not: it is not split");
}

bool clv_writer_axis(int64_t axis, int32_t rank, int32_t *ret)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return false;
    *ret = (int32_t)(axis < 0 ? axis + rank : axis);
    return true;
}

void clv_writer_axes(clv_rule_writing *t, int32_t rank, const bool *special, const char *other)
{
    clv_rule_write(t, "(");
    for (int32_t i = 0; i < rank; i++) {
        const char *comma = i ? "," : "";
        if (special[i])
            clv_rule_write(t, "%s%s", comma, other);
        else
            clv_rule_write(t, "%sa%d", comma, i);
    }
    clv_rule_write(t, ")");
}
