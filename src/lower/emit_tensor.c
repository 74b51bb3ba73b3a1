#include "lower/emit_tensor.h"

#include <inttypes.h>

#include "sharding/moved_as.h"

#define WHAT "writing a lowered model"

/* Operator sets from which on an operator is as it is used here. */
#define OPSET_RESHAPE_INPUT     5
#define OPSET_CAST_NUMBER       6
#define OPSET_CONSTANT_OF_SHAPE 9
#define OPSET_SLICE_INPUTS      10

/* -- in a wider type -- */

clv_status clv_emit_cast(const clv_emit_scope *scope, clv_str in, clv_dtype to, clv_str *ret,
                         clv_error *err)
{
    const clv_new_attr attrs[2] = {
        { .name = clv_str_of("to"), .kind = CLV_NEW_INT, .i = (int64_t)to },
        { .name = clv_str_of("saturate"), .kind = CLV_NEW_INT } /* an infinity stays one */
    };
    bool float8 = clv_dtype_is_float(to) && clv_dtype_bits(to) == 8;
    return clv_emit_node_with(scope, "Cast", CLV_NAMES(in), (clv_new_attrs){ attrs, 1 + float8 },
                              ret, err);
}

clv_status clv_emit_widen(const clv_emit_scope *scope, clv_dtype dtype, clv_dtype wider,
                          clv_str *io, clv_error *err)
{
    if (wider != dtype && wider == CLV_DT_UNDEFINED)
        return clv_fail(err, CLV_EUNSUPP,
                        "tensor '%.*s' is of %s and would have to be cut or joined, which takes a "
                        "Cast of that type: the model has operator set %d, expected %d or later",
                        CLV_STR_ARG(scope->name), clv_dtype_name(dtype), (int)scope->e->opset,
                        (int)clv_dtype_cast_opset(dtype));
    return wider == dtype ? CLV_OK : clv_emit_cast(scope, *io, wider, io, err);
}

clv_status clv_emit_narrow(const clv_emit_scope *scope, clv_dtype wider, clv_dtype dtype,
                           clv_str *io, clv_error *err)
{
    return wider == dtype ? CLV_OK : clv_emit_cast(scope, *io, dtype, io, err);
}

/* -- cut out -- */

/* Places from start to end - 1 of a dimension. */
typedef struct {
    int64_t axis, start, end;
} cut;

static clv_status slice(const clv_emit_scope *scope, clv_str in, const cut *cuts, int32_t n,
                        clv_str *ret, clv_error *err)
{
    static const char *const names[3] = { "starts", "ends", "axes" };
    clv_emit *e = scope->e;
    int64_t *list = CLV_NEW_ARRAY(e->arena, int64_t, 3 * n);
    clv_new_attr attrs[3];
    clv_str inputs[4] = { in };
    if (!list)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < n; i++) {
        list[i] = cuts[i].start;
        list[n + i] = cuts[i].end;
        list[2 * n + i] = cuts[i].axis;
    }
    for (int32_t i = 0; i < 3; i++)
        attrs[i] = (clv_new_attr){
            .name = clv_str_of(names[i]), .kind = CLV_NEW_INTS, .ints = list + i * n, .n = n
        };
    if (e->opset < OPSET_SLICE_INPUTS)
        return clv_emit_node_with(scope, "Slice", (clv_names){ inputs, 1 },
                                  (clv_new_attrs){ attrs, 3 }, ret, err);
    for (int32_t i = 0; i < 3; i++)
        CLV_TRY(clv_emit_ints(e, list + i * n, n, &inputs[1 + i], err));
    return clv_emit_node(scope, "Slice", (clv_names){ inputs, 4 }, ret, err);
}

/* -- filled -- */

/* Constants up to so many bytes stand in the file; larger ones are made when it runs. */
#define FILL_INLINE 1024

static clv_status lacks_number(clv_dtype dtype, clv_error *err)
{
    return clv_fail(err, CLV_EUNSUPP,
                    "a part of a tensor of type %s would have to be filled with a number that the "
                    "type does not have",
                    clv_dtype_name(dtype));
}

/* FLOAT8E8M0 has no zero. Nothing is added up in it, so what is filled in is cut out again. */
static clv_fill filled_with(clv_dtype dtype, clv_fill fill)
{
    return dtype == CLV_DT_FLOAT8E8M0 && fill == CLV_FILL_ZERO ? CLV_FILL_ONE : fill;
}

/* A node that makes a tensor of a shape that is known when it runs. */
static clv_status fill_shape(const clv_emit_scope *scope, clv_str shape, clv_dtype dtype,
                             clv_fill fill, clv_str *ret, clv_error *err)
{
    static const int64_t single = 1;
    clv_emit *e = scope->e;
    clv_dtype wider = clv_dtype_moved_as(dtype, e->opset);
    if (dtype == CLV_DT_STRING) /* it is empty, so no texts are needed */
        wider = CLV_DT_FLOAT;
    if (wider != dtype && wider != CLV_DT_UNDEFINED) {
        CLV_TRY(fill_shape(scope, shape, wider, filled_with(dtype, fill), ret, err));
        return clv_emit_cast(scope, *ret, dtype, ret, err);
    }
    clv_new_tensor *value = CLV_NEW(e->arena, clv_new_tensor);
    uint8_t *number = clv_arena_take(e->arena, CLV_FILL_BYTES);
    if (!value || !number)
        return clv_fail_nomem(err, WHAT);
    int32_t size = clv_fill_bytes(dtype, fill, number);
    if (size == 0)
        return lacks_number(dtype, err);
    *value = (clv_new_tensor){
        .dtype = dtype, .rank = 1, .dims = &single, .bytes = number, .n_bytes = size, .weight = -1
    };
    clv_new_attr attr = { .name = clv_str_of("value"), .kind = CLV_NEW_TENSOR, .tensor = value };
    return clv_emit_node_with(scope, "ConstantOfShape", CLV_NAMES(shape),
                              (clv_new_attrs){ &attr, 1 }, ret, err);
}

clv_status clv_emit_filled(clv_emit *e, const clv_emit_type *type, clv_fill fill, clv_str *ret,
                           clv_error *err)
{
    uint8_t one[CLV_FILL_BYTES];
    int32_t size = clv_fill_bytes(type->dtype, fill, one);
    int64_t elems = clv_emit_elems(type), bytes;
    clv_emit_scope scope = { e, clv_str_of("cleave//filled"), -1 };
    clv_str shape;
    if (type->dtype == CLV_DT_FLOAT8E8M0 && fill == CLV_FILL_ZERO) {
        const clv_emit_type wide = { clv_dtype_moved_as(type->dtype, e->opset), type->rank,
                                     type->dims };
        CLV_TRY(clv_emit_filled(e, &wide, filled_with(type->dtype, fill), ret, err));
        return clv_emit_narrow(&scope, wide.dtype, type->dtype, ret, err);
    }
    if (size == 0 && elems == 0 && type->dtype == CLV_DT_STRING) {
        const clv_emit_type empty = { CLV_DT_FLOAT, type->rank, type->dims };
        scope.name = clv_str_of("cleave//empty");
        CLV_TRY(clv_emit_filled(e, &empty, fill, ret, err));
        return clv_emit_cast(&scope, *ret, type->dtype, ret, err);
    }
    bool packed = size == 0 && clv_dtype_bits(type->dtype) > 0 && fill == CLV_FILL_ZERO;
    if ((size == 0 && !packed) || !clv_dtype_bytes(type->dtype, elems, &bytes))
        return lacks_number(type->dtype, err);
    if (bytes > FILL_INLINE && e->opset >= OPSET_CONSTANT_OF_SHAPE) {
        CLV_TRY(clv_emit_ints(e, type->dims, type->rank, &shape, err));
        return fill_shape(&scope, shape, type->dtype, fill, ret, err);
    }
    clv_mark mark = clv_arena_mark(e->arena);
    uint8_t *all = clv_arena_take(e->arena, (size_t)bytes + 1);
    uint32_t before = e->constants.n;
    if (!all)
        return clv_fail_nomem(err, WHAT);
    memset(all, 0, (size_t)bytes);
    for (int64_t i = 0; !packed && i + size <= bytes; i += size)
        memcpy(all + i, one, (size_t)size);
    CLV_TRY(clv_emit_constant(e, type, all, bytes, ret, err));
    if (e->constants.n == before)
        clv_arena_rewind(e->arena, mark);
    return CLV_OK;
}

/* -- made after something -- */

/* No element of a tensor, as a list of whole numbers: its place in the order is all it is for. */
static clv_status nothing_of(const clv_emit_scope *scope, clv_typed_name in, clv_str *ret,
                             clv_error *err)
{
    static const int64_t all = -1;
    static const cut none = { 0, 0, 0 };
    clv_dtype wider = clv_dtype_moved_as(in.dtype, scope->e->opset);
    clv_str shape;
    CLV_TRY(clv_emit_ints(scope->e, &all, 1, &shape, err));
    CLV_TRY(clv_emit_widen(scope, in.dtype, wider, &in.name, err));
    CLV_TRY(clv_emit_node(scope, "Reshape", CLV_NAMES(in.name, shape), ret, err));
    CLV_TRY(slice(scope, *ret, &none, 1, ret, err));
    return clv_emit_cast(scope, *ret, CLV_DT_INT64, ret, err);
}

/* What nodes have made among these, each once, in the order of the nodes; how many. Runtimes go
 * back from a node to those before it in that order, so that of two devices has to be the same. */
static int32_t list_made(const clv_emit *e, clv_typed_names in, clv_typed_name *ret)
{
    int32_t n = 0;
    for (int32_t i = 0; i < in.n; i++) {
        int32_t id = clv_map_get(&e->taken, in.at[i].name), at = n;
        bool listed = id <= 0;
        for (int32_t k = 0; k < n && !listed; k++)
            listed = clv_str_eq(ret[k].name, in.at[i].name);
        if (listed)
            continue;
        for (; at > 0 && clv_map_get(&e->taken, ret[at - 1].name) > id; at--)
            ret[at] = ret[at - 1];
        ret[at] = in.at[i];
        n++;
    }
    return n;
}

clv_status clv_emit_filled_after(const clv_emit_scope *scope, clv_typed_names after,
                                 const clv_emit_type *type, clv_fill fill, clv_str *ret,
                                 clv_error *err)
{
    clv_emit *e = scope->e;
    clv_typed_name *made = CLV_NEW_ARRAY(e->arena, clv_typed_name, after.n);
    clv_str *part = CLV_NEW_ARRAY(e->arena, clv_str, after.n + 1), shape;
    if (!made || !part)
        return clv_fail_nomem(err, WHAT);
    bool matters = e->only >= 0 && e->opset >= OPSET_CONSTANT_OF_SHAPE;
    int32_t n_made = matters ? list_made(e, after, made) : 0;
    if (n_made == 0)
        return clv_emit_filled(e, type, fill, ret, err);
    for (int32_t i = 0; i < n_made; i++)
        CLV_TRY(nothing_of(scope, made[i], &part[i + 1], err));
    CLV_TRY(clv_emit_ints(e, type->dims, type->rank, &part[0], err));
    CLV_TRY(clv_emit_concat(scope, (clv_names){ part, n_made + 1 }, CLV_DT_INT64, 0, &shape, err));
    return fill_shape(scope, shape, type->dtype, fill, ret, err);
}

clv_status clv_emit_after(const clv_emit_scope *scope, clv_str in, const clv_emit_type *type,
                          clv_typed_name before, clv_str *ret, clv_error *err)
{
    clv_emit *e = scope->e;
    clv_dtype wider = clv_dtype_viewed_as(type->dtype, e->opset);
    int64_t *as_it_is = CLV_NEW_ARRAY(e->arena, int64_t, type->rank); /* a 0 means so */
    clv_str own, nothing, shape;
    *ret = in;
    if (!as_it_is)
        return clv_fail_nomem(err, WHAT);
    if (e->opset < OPSET_CAST_NUMBER)
        return CLV_OK;
    CLV_TRY(clv_emit_ints(e, as_it_is, type->rank, &own, err));
    CLV_TRY(nothing_of(scope, before, &nothing, err));
    CLV_TRY(clv_emit_concat(scope, CLV_NAMES(own, nothing), CLV_DT_INT64, 0, &shape, err));
    CLV_TRY(clv_emit_widen(scope, type->dtype, wider, &in, err));
    CLV_TRY(clv_emit_node(scope, "Reshape", CLV_NAMES(in, shape), ret, err));
    return clv_emit_narrow(scope, wider, type->dtype, ret, err);
}

/* -- shapes -- */

static clv_status reshape(const clv_emit_scope *scope, clv_str in, const clv_emit_type *to,
                          clv_str *ret, clv_error *err)
{
    clv_emit *e = scope->e;
    clv_new_attr attr = { .name = clv_str_of("shape"), .kind = CLV_NEW_INTS, .n = to->rank };
    clv_str shape;
    if (e->opset >= OPSET_RESHAPE_INPUT) {
        CLV_TRY(clv_emit_ints(e, to->dims, to->rank, &shape, err));
        return clv_emit_node(scope, "Reshape", CLV_NAMES(in, shape), ret, err);
    }
    int64_t *copy = CLV_NEW_ARRAY(e->arena, int64_t, to->rank);
    if (!copy)
        return clv_fail_nomem(err, WHAT);
    memcpy(copy, to->dims, (size_t)to->rank * sizeof *copy);
    attr.ints = copy;
    return clv_emit_node_with(scope, "Reshape", CLV_NAMES(in), (clv_new_attrs){ &attr, 1 }, ret,
                              err);
}

clv_status clv_emit_reshape(const clv_emit_scope *scope, clv_str in, const clv_emit_type *to,
                            clv_str *ret, clv_error *err)
{
    clv_dtype wider = clv_dtype_viewed_as(to->dtype, scope->e->opset);
    const clv_typed_name from = { in, to->dtype };
    for (int32_t i = 0; i < to->rank; i++)
        if (to->dims[i] == 0) /* a 0 in a shape means another thing */
            return clv_emit_filled_after(scope, (clv_typed_names){ &from, 1 }, to, CLV_FILL_ZERO,
                                         ret, err);
    CLV_TRY(clv_emit_widen(scope, to->dtype, wider, &in, err));
    CLV_TRY(reshape(scope, in, to, ret, err));
    return clv_emit_narrow(scope, wider, to->dtype, ret, err);
}

clv_status clv_emit_identity(const clv_emit_scope *scope, clv_str in, clv_dtype dtype, clv_str *ret,
                             clv_error *err)
{
    clv_dtype wider = clv_dtype_viewed_as(dtype, scope->e->opset);
    CLV_TRY(clv_emit_widen(scope, dtype, wider, &in, err));
    *ret = in;
    return wider == dtype ? clv_emit_node(scope, "Identity", CLV_NAMES(in), ret, err)
                          : clv_emit_narrow(scope, wider, dtype, ret, err);
}

clv_status clv_emit_transpose(const clv_emit_scope *scope, clv_str in, const clv_emit_type *type,
                              const int64_t *perm, clv_str *ret, clv_error *err)
{
    clv_dtype wider = clv_dtype_viewed_as(type->dtype, scope->e->opset);
    int64_t *copy = CLV_NEW_ARRAY(scope->e->arena, int64_t, type->rank);
    clv_new_attr attr = {
        .name = clv_str_of("perm"), .kind = CLV_NEW_INTS, .ints = copy, .n = type->rank
    };
    bool moves = false;
    if (!copy)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < type->rank; i++) {
        copy[i] = perm[i];
        moves = moves || perm[i] != i;
    }
    *ret = in;
    if (!moves)
        return CLV_OK;
    CLV_TRY(clv_emit_widen(scope, type->dtype, wider, &in, err));
    CLV_TRY(clv_emit_node_with(scope, "Transpose", CLV_NAMES(in), (clv_new_attrs){ &attr, 1 }, ret,
                               err));
    return clv_emit_narrow(scope, wider, type->dtype, ret, err);
}

clv_status clv_emit_concat(const clv_emit_scope *scope, clv_names in, clv_dtype dtype, int32_t axis,
                           clv_str *ret, clv_error *err)
{
    clv_dtype wider = clv_dtype_moved_as(dtype, scope->e->opset);
    clv_new_attr attr = { .name = clv_str_of("axis"), .kind = CLV_NEW_INT, .i = axis };
    clv_str *wide = CLV_NEW_ARRAY(scope->e->arena, clv_str, in.n);
    if (in.n == 1) {
        *ret = in.at[0];
        return CLV_OK;
    }
    if (!wide)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < in.n; i++) {
        wide[i] = in.at[i];
        CLV_TRY(clv_emit_widen(scope, dtype, wider, &wide[i], err));
    }
    CLV_TRY(clv_emit_node_with(scope, "Concat", (clv_names){ wide, in.n },
                               (clv_new_attrs){ &attr, 1 }, ret, err));
    return clv_emit_narrow(scope, wider, dtype, ret, err);
}

/* -- parts -- */

/* Runs of one length, one in each piece of the dimension? Then that long is a piece; else 0. */
static int64_t length_of_piece(const clv_spans *places, int64_t dim)
{
    int64_t piece = places->n > 1 ? places->span[1].at - places->span[0].at : 0;
    if (piece <= 0 || piece * places->n != dim || places->span[0].at + places->span[0].n > piece)
        return 0;
    for (int32_t i = 1; i < places->n; i++)
        if (places->span[i].at != places->span[0].at + i * piece ||
            places->span[i].n != places->span[0].n)
            return 0;
    return piece;
}

/* The same part of each piece of dimension d. */
static clv_status take_pieces(const clv_emit_scope *scope, const clv_emit_type *type, int32_t d,
                              const clv_spans *places, clv_str *io, clv_error *err)
{
    int64_t dims[CLV_VIEW_MAX + 1], piece = length_of_piece(places, type->dims[d]);
    const clv_emit_type view = { type->dtype, type->rank + 1, dims };
    const clv_emit_type taken = { type->dtype, type->rank, dims };
    const cut one = { d + 1, places->span[0].at, places->span[0].at + places->span[0].n };
    for (int32_t i = 0; i < type->rank; i++)
        dims[i + (i > d)] = type->dims[i];
    dims[d] = type->dims[d] / piece;
    dims[d + 1] = piece;
    CLV_TRY(clv_emit_reshape(scope, *io, &view, io, err));
    CLV_TRY(slice(scope, *io, &one, 1, io, err));
    memcpy(dims, type->dims, (size_t)type->rank * sizeof *dims);
    dims[d] = places->elems;
    return clv_emit_reshape(scope, *io, &taken, io, err);
}

static clv_status take_numbered(const clv_emit_scope *scope, int32_t d, const clv_spans *places,
                                clv_str *io, clv_error *err)
{
    int64_t *at = CLV_NEW_ARRAY(scope->e->arena, int64_t, places->elems), n = 0;
    clv_new_attr axis = { .name = clv_str_of("axis"), .kind = CLV_NEW_INT, .i = d };
    clv_str numbers;
    if (!at)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < places->n; i++)
        for (int64_t k = 0; k < places->span[i].n; k++)
            at[n++] = places->span[i].at + k;
    if (n > INT32_MAX)
        return clv_fail(err, CLV_ELIMIT, "a part of a tensor has %" PRId64 " places to list", n);
    CLV_TRY(clv_emit_ints(scope->e, at, (int32_t)n, &numbers, err));
    return clv_emit_node_with(scope, "Gather", CLV_NAMES(*io, numbers), (clv_new_attrs){ &axis, 1 },
                              io, err);
}

/* Some, of a type that operators which cut take. */
static clv_status take_places(const clv_emit_scope *scope, const clv_emit_type *type,
                              const clv_spans *const *places, clv_str *io, clv_error *err)
{
    int64_t dims[CLV_VIEW_MAX]; /* so far */
    const clv_emit_type now = { type->dtype, type->rank, dims };
    cut cuts[CLV_VIEW_MAX];
    int32_t n = 0;
    for (int32_t d = 0; d < type->rank; d++) {
        dims[d] = type->dims[d];
        if (!places[d] || places[d]->n != 1)
            continue;
        const clv_span *span = &places[d]->span[0];
        cuts[n++] = (cut){ d, span->at, span->at + span->n };
        dims[d] = places[d]->elems;
    }
    if (n > 0)
        CLV_TRY(slice(scope, *io, cuts, n, io, err));
    for (int32_t d = 0; d < type->rank; d++) {
        if (!places[d] || places[d]->n == 1)
            continue;
        CLV_TRY(length_of_piece(places[d], type->dims[d])
                    ? take_pieces(scope, &now, d, places[d], io, err)
                    : take_numbered(scope, d, places[d], io, err));
        dims[d] = places[d]->elems;
    }
    return CLV_OK;
}

clv_status clv_emit_take(const clv_emit_scope *scope, clv_str in, const clv_emit_type *type,
                         const clv_spans *const *places, clv_str *ret, clv_error *err)
{
    clv_dtype wider = clv_dtype_moved_as(type->dtype, scope->e->opset);
    int64_t dims[CLV_VIEW_MAX];
    const clv_emit_type taken = { type->dtype, type->rank, dims };
    const clv_emit_type wide = { wider, type->rank, type->dims };
    const clv_typed_name from = { in, type->dtype };
    bool empty = false, any = false;
    *ret = in;
    for (int32_t d = 0; d < type->rank; d++) {
        dims[d] = places[d] ? places[d]->elems : type->dims[d];
        empty = empty || dims[d] == 0;
        any = any || places[d];
    }
    if (empty)
        return clv_emit_filled_after(scope, (clv_typed_names){ &from, 1 }, &taken, CLV_FILL_ZERO,
                                     ret, err);
    if (!any)
        return CLV_OK;
    CLV_TRY(clv_emit_widen(scope, type->dtype, wider, ret, err));
    CLV_TRY(take_places(scope, &wide, places, ret, err));
    return clv_emit_narrow(scope, wider, type->dtype, ret, err);
}
