/* type.c - questions about one type: is it known, how big is it, how is it written. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "graph/infer.h"

bool clv_type_is_static(const clv_type *type)
{
    if (type->kind == CLV_TYPE_OPTIONAL)
        return type->elem && clv_type_is_static(type->elem);
    if (type->kind != CLV_TYPE_TENSOR && type->kind != CLV_TYPE_SPARSE)
        return false;
    if (type->rank == CLV_RANK_UNKNOWN || type->dtype == CLV_DT_UNDEFINED)
        return false;
    for (int32_t i = 0; i < type->rank; i++)
        if (!clv_dim_is_number(type->dims[i]))
            return false;
    return true;
}

int64_t clv_type_elems(const clv_type *type)
{
    if (type->kind != CLV_TYPE_TENSOR && type->kind != CLV_TYPE_SPARSE)
        return -1;
    int64_t elems = 1;
    bool overflow = false, empty = false;
    for (int32_t i = 0; i < type->rank; i++) {
        if (!clv_dim_is_number(type->dims[i]) || type->dims[i] < 0)
            return -1;
        empty |= type->dims[i] == 0;
        overflow |= __builtin_mul_overflow(elems, type->dims[i], &elems);
    }
    if (type->rank == CLV_RANK_UNKNOWN)
        return -1;
    return empty ? 0 : overflow ? -1 : elems;
}

typedef struct {
    char *at;
    size_t size, n;
} text;

static void put(text *out, const char *fmt, ...) CLV_PRINTF(2, 3);

static void put(text *out, const char *fmt, ...)
{
    if (out->n >= out->size)
        return;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(out->at + out->n, out->size - out->n, fmt, args);
    va_end(args);
    out->n += n > 0 ? (size_t)n : 0;
}

static void put_dim(text *out, const clv_model *model, clv_dim d)
{
    if (clv_dim_is_number(d))
        put(out, "%" PRId64, d);
    else if (clv_dim_is_symbol(d) && model && clv_dim_symbol_id(d) < model->n_symbols)
        put(out, "%.*s", CLV_STR_ARG(model->symbols[clv_dim_symbol_id(d)]));
    else
        put(out, "?");
}

static void put_dtype(text *out, clv_dtype dtype)
{
    char name[32];
    snprintf(name, sizeof name, "%s", dtype == CLV_DT_UNDEFINED ? "?" : clv_dtype_name(dtype));
    for (char *c = name; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    put(out, "%s", name);
}

static void put_tensor(text *out, const clv_model *model, const clv_type *type)
{
    put_dtype(out, type->dtype);
    if (type->rank == CLV_RANK_UNKNOWN) {
        put(out, "[...]");
        return;
    }
    put(out, "[");
    for (int32_t i = 0; i < type->rank; i++) {
        put(out, "%s", i ? "," : "");
        put_dim(out, model, type->dims[i]);
    }
    put(out, "]");
}

static void put_type(text *out, const clv_model *model, const clv_type *type)
{
    switch (type->kind) {
    case CLV_TYPE_UNKNOWN:
        put(out, "?");
        return;
    case CLV_TYPE_OPAQUE:
        put(out, "opaque");
        return;
    case CLV_TYPE_SPARSE:
        put(out, "sparse ");
        put_tensor(out, model, type);
        return;
    case CLV_TYPE_TENSOR:
        put_tensor(out, model, type);
        return;
    case CLV_TYPE_SEQUENCE:
        put(out, "sequence of ");
        break;
    case CLV_TYPE_OPTIONAL:
        put(out, "optional ");
        break;
    case CLV_TYPE_MAP:
        put(out, "map of ");
        put_dtype(out, type->dtype);
        put(out, " to ");
        break;
    }
    if (type->elem)
        put_type(out, model, type->elem);
    else
        put(out, "?");
}

const char *clv_type_show(const clv_model *model, const clv_type *type, char *buf, size_t size)
{
    text out = { buf, size, 0 };
    if (size)
        buf[0] = '\0';
    put_type(&out, model, type);
    return buf;
}
