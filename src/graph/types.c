#include "graph/types.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* -- the tables -- */

static int32_t count_bodies(const clv_graph *graph, const clv_op_info *op)
{
    int32_t n = op->kind == CLV_OPKIND_FUNCTION;
    for (int32_t i = 0; i < op->n_attr; i++) {
        const clv_attr *attr = &graph->attrs[op->first_attr + i];
        if (attr->kind == CLV_ATTR_GRAPH || attr->kind == CLV_ATTR_GRAPHS)
            n += attr->ref.n ? 0 : attr->n;
    }
    return n;
}

static clv_status make_body_tables(const clv_graph *graph, clv_arena *arena, clv_types *types,
                                   clv_error *err)
{
    int64_t n = 0;
    for (int32_t i = 0; i < graph->n_ops; i++)
        n += count_bodies(graph, &graph->ops[i]);
    if (n == 0)
        return CLV_OK;
    if (n > INT32_MAX)
        return clv_fail(err, CLV_ELIMIT, "graph '%.*s' has more than %d bodies",
                        CLV_STR_ARG(graph->name), INT32_MAX);
    types->first_body = CLV_NEW_ARRAY(arena, int32_t, (size_t)graph->n_ops + 1);
    types->body = CLV_NEW_ARRAY(arena, clv_types *, n);
    types->trips = CLV_NEW_ARRAY(arena, int64_t, graph->n_ops);
    if (!types->first_body || !types->body || !types->trips)
        return clv_fail_nomem(err, "the types of bodies");
    for (int32_t i = 0; i < graph->n_ops; i++) {
        types->first_body[i + 1] = types->first_body[i] + count_bodies(graph, &graph->ops[i]);
        types->trips[i] = -1;
    }
    return CLV_OK;
}

clv_status clv_types_new(const clv_graph *graph, clv_arena *arena, clv_types **ret, clv_error *err)
{
    clv_types *types = CLV_NEW(arena, clv_types);
    if (!types)
        return clv_fail_nomem(err, "types");
    types->graph = graph;
    types->of = CLV_NEW_ARRAY(arena, clv_type, graph->n_tensors);
    types->value = CLV_NEW_ARRAY(arena, const clv_value *, graph->n_tensors);
    types->bytes = CLV_NEW_ARRAY(arena, int64_t, graph->n_tensors);
    if (!types->of || !types->value || !types->bytes)
        return clv_fail_nomem(err, "types");
    for (int32_t t = 0; t < graph->n_tensors; t++)
        types->of[t].rank = CLV_RANK_UNKNOWN;
    CLV_TRY(make_body_tables(graph, arena, types, err));
    *ret = types;
    return CLV_OK;
}

/* -- one type -- */

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

int64_t clv_bytes_read(const clv_types *types, const clv_op_info *op, int32_t k)
{
    const clv_tensor t = clv_op_input(types->graph, op, k);
    const clv_type *type = clv_type_read(types, op, k);
    int64_t bytes = types->bytes[t.i];
    if (bytes > 0 && type != &types->of[t.i])
        (void)clv_dtype_bytes(type->dtype, clv_type_elems(type), &bytes);
    return bytes;
}

typedef struct {
    char *at;
    size_t size, n;
} text;

static void append(text *out, const char *fmt, ...) CLV_PRINTF(2, 3);

static void append(text *out, const char *fmt, ...)
{
    if (out->n >= out->size)
        return;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(out->at + out->n, out->size - out->n, fmt, args);
    va_end(args);
    out->n += n > 0 ? (size_t)n : 0;
}

static void append_dtype(text *out, clv_dtype dtype)
{
    char name[32];
    snprintf(name, sizeof name, "%s", dtype == CLV_DT_UNDEFINED ? "?" : clv_dtype_name(dtype));
    for (char *c = name; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    append(out, "%s", name);
}

static void append_tensor(text *out, const clv_model *model, const clv_type *type)
{
    append_dtype(out, type->dtype);
    append(out, type->rank == CLV_RANK_UNKNOWN ? "[..." : "[");
    for (int32_t i = 0; i < type->rank; i++) {
        clv_dim d = type->dims[i];
        append(out, "%s", i ? "," : "");
        if (clv_dim_is_number(d))
            append(out, "%" PRId64, d);
        else if (clv_dim_is_symbol(d) && model && clv_dim_symbol_id(d) < model->n_symbols)
            append(out, "%.*s", CLV_STR_ARG(model->symbols[clv_dim_symbol_id(d)]));
        else
            append(out, "?");
    }
    append(out, "]");
}

static void append_type(text *out, const clv_model *model, const clv_type *type)
{
    switch (type->kind) {
    case CLV_TYPE_UNKNOWN:
        append(out, "?");
        return;
    case CLV_TYPE_OPAQUE:
        append(out, "opaque");
        return;
    case CLV_TYPE_SPARSE:
        append(out, "sparse ");
        append_tensor(out, model, type);
        return;
    case CLV_TYPE_TENSOR:
        append_tensor(out, model, type);
        return;
    case CLV_TYPE_SEQUENCE:
        append(out, "sequence of ");
        break;
    case CLV_TYPE_OPTIONAL:
        append(out, "optional ");
        break;
    case CLV_TYPE_MAP:
        append(out, "map of ");
        append_dtype(out, type->dtype);
        append(out, " to ");
        break;
    }
    if (type->elem)
        append_type(out, model, type->elem);
    else
        append(out, "?");
}

const char *clv_type_show(const clv_model *model, const clv_type *type, char *buf, size_t size)
{
    text out = { buf, size, 0 };
    if (size)
        buf[0] = '\0';
    append_type(&out, model, type);
    return buf;
}

void clv_type_narrow(clv_type *type, int64_t *bytes, clv_dtype dtype)
{
    int64_t narrow, elems = clv_type_elems(type);
    if (!clv_dtype_narrows(type->dtype, dtype))
        return;
    type->dtype = dtype;
    if (*bytes > 0 && elems >= 0 && clv_dtype_bytes(dtype, elems, &narrow))
        *bytes = narrow;
}

clv_status clv_types_narrowed(const clv_types *types, clv_dtype dtype, clv_arena *arena,
                              const clv_types **ret, clv_error *err)
{
    int32_t n = types->graph->n_tensors;
    clv_types *made = CLV_NEW(arena, clv_types);
    clv_type *of = CLV_NEW_ROOM(arena, clv_type, n);
    int64_t *bytes = CLV_NEW_ROOM(arena, int64_t, n);
    if (!made || !of || !bytes)
        return clv_fail_nomem(err, "types");
    for (int32_t t = 0; t < n; t++) {
        of[t] = types->of[t];
        bytes[t] = types->bytes[t];
        if (of[t].dtype == CLV_DT_FLOAT)
            clv_type_narrow(&of[t], &bytes[t], dtype);
    }
    *made = *types;
    made->of = of;
    made->bytes = bytes;
    *ret = made;
    return CLV_OK;
}
