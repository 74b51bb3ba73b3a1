#include "sharding/rule_writer.h"

#include <stdarg.h>
#include <stdio.h>

void clv_rule_write(clv_rule_writing *t, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = t->failed ? 0 : vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    int64_t need = (int64_t)t->n + n + 1;
    if (!t->failed && need > t->cap) {
        int32_t cap = need < INT32_MAX / 2 ? (int32_t)need * 2 : INT32_MAX;
        char *grown = need < INT32_MAX
                          ? clv_arena_grow(t->arena, t->at, (size_t)t->cap, (size_t)cap, 1)
                          : NULL;
        t->failed = !grown;
        t->at = grown ? grown : t->at;
        t->cap = grown ? cap : t->cap;
    }
    if (!t->failed)
        t->n += vsnprintf(t->at + t->n, (size_t)(t->cap - t->n), fmt, args);
    va_end(args);
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

void clv_writer_other_inputs(clv_rule_writing *t, const clv_rule_context *w)
{
    for (int32_t k = 1; k < clv_rule_n_in(w->r); k++)
        clv_rule_write(t, ",-");
}

clv_status clv_writer_done(const clv_rule_writing *t, const char **ret, clv_error *err)
{
    if (t->failed)
        return clv_fail_nomem(err, "a sharding rule");
    *ret = t->at;
    return CLV_OK;
}

clv_status clv_writer_open(clv_rule_context *w, clv_error *err)
{
    return clv_rule_keep_whole(w, "has an input of open shape: it is not split", err);
}

clv_status clv_writer_bad_axis(clv_rule_context *w, clv_error *err)
{
    return clv_rule_keep_whole(w, "has an axis that its input has not: it is not split", err);
}

bool clv_writer_axis(int64_t axis, int32_t rank, int32_t *ret)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return false;
    *ret = (int32_t)(axis < 0 ? axis + rank : axis);
    return true;
}
