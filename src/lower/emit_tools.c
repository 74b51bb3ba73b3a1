/* emit_tools.c - nodes, names and constants, and the few operators that parts are moved with. */
#include <inttypes.h>

#include "lower/emit.h"

#define WHAT "writing a lowered model"

static clv_status no_memory(const clv_emit *e) { return clv_fail_nomem(e->err, WHAT); }

/* -- names -- */

static clv_status with_device(clv_emit *e, clv_str base, int32_t position, int32_t n, clv_str *ret)
{
    const clv_spmd_phase *phase = &e->s->phases[e->phase];
    const char *device = e->s->plan->devices[phase->device[position < 0 ? 0 : position]].name;
    char *text = NULL;
    if (e->only >= 0 || position < 0)
        text = n ? clv_arena_printf(e->arena, "%.*s//%d", CLV_STR_ARG(base), (int)n)
                 : clv_arena_printf(e->arena, "%.*s", CLV_STR_ARG(base));
    else
        text = n ? clv_arena_printf(e->arena, "%.*s@%s//%d", CLV_STR_ARG(base), device, (int)n)
                 : clv_arena_printf(e->arena, "%.*s@%s", CLV_STR_ARG(base), device);
    if (!text)
        return no_memory(e);
    *ret = clv_str_of(text);
    return CLV_OK;
}

clv_status clv_emit_fresh(clv_emit *e, clv_str base, int32_t position, bool made, clv_str *ret)
{
    for (int32_t n = 0;; n++) {
        uint32_t before = e->taken.n;
        int32_t id;
        CLV_TRY(with_device(e, base, position, n ? (int32_t)e->taken.n : 0, ret));
        CLV_TRY(clv_map_put(&e->taken, *ret, made ? e->n_nodes + 1 : 0, &id, e->err));
        if (e->taken.n > before)
            return CLV_OK;
    }
}

bool clv_emit_is_made(const clv_emit *e, clv_str name) { return clv_map_get(&e->taken, name) > 0; }

/* -- nodes -- */

clv_status clv_emit_push(clv_emit *e, const clv_new_node *node)
{
    if (!CLV_PUSH_ROOM(e->arena, e->nodes, e->n_nodes, e->cap_nodes))
        return no_memory(e);
    e->nodes[e->n_nodes++] = *node;
    return CLV_OK;
}

static clv_str *copy_names(clv_emit *e, const clv_str *at, int32_t n)
{
    clv_str *copy = CLV_NEW_ARRAY(e->arena, clv_str, n);
    if (copy && n)
        memcpy(copy, at, (size_t)n * sizeof *at);
    return copy;
}

clv_status clv_emit_node_name(clv_emit *e, const char *type, clv_str out, clv_str *ret)
{
    char *text = clv_arena_printf(e->arena, "%s of %.*s", type, CLV_STR_ARG(out));
    if (!text)
        return no_memory(e);
    *ret = clv_str_of(text);
    return CLV_OK;
}

clv_status clv_emit_node(clv_emit *e, const char *type, const clv_str *in, int32_t n_in,
                         const clv_new_attr *attrs, int32_t n_attrs, clv_str want, int32_t position,
                         clv_str *ret)
{
    clv_new_attr *kept = CLV_NEW_ARRAY(e->arena, clv_new_attr, n_attrs);
    clv_str out, name;
    CLV_TRY(clv_emit_fresh(e, want, position, true, &out));
    CLV_TRY(clv_emit_node_name(e, type, out, &name));
    clv_new_node node = { .source = CLV_NO_OP,
                          .name = name,
                          .type = clv_str_of(type),
                          .in = copy_names(e, in, n_in),
                          .out = copy_names(e, &out, 1),
                          .n_in = n_in,
                          .n_out = 1,
                          .attrs = kept,
                          .n_attrs = n_attrs };
    if (!kept || !node.in || !node.out)
        return no_memory(e);
    if (n_attrs)
        memcpy(kept, attrs, (size_t)n_attrs * sizeof *attrs);
    *ret = out;
    return clv_emit_push(e, &node);
}

/* -- constants -- */

static clv_status slice(clv_emit *e, clv_str in, int32_t n, const int64_t *axes,
                        const int64_t *starts, const int64_t *ends, clv_str want, int32_t position,
                        clv_str *ret);

#define CONSTANT_NAME "cleave//constant"

clv_status clv_emit_constant(clv_emit *e, clv_dtype dtype, int32_t rank, const int64_t *dims,
                             const void *bytes, int64_t n_bytes, clv_str *ret)
{
    size_t n_dims = (size_t)rank * sizeof *dims, n = sizeof(int64_t) + n_dims + (size_t)n_bytes;
    clv_mark mark = clv_arena_mark(e->arena);
    char *key = clv_arena_take(e->arena, n);
    int64_t kind = (int64_t)dtype * (CLV_RANK_MAX + 1) + rank;
    int32_t id;
    if (!key)
        return no_memory(e);
    memcpy(key, &kind, sizeof kind);
    if (rank)
        memcpy(key + sizeof kind, dims, n_dims);
    if (n_bytes)
        memcpy(key + sizeof kind + n_dims, bytes, (size_t)n_bytes);
    id = clv_map_get(&e->constants, (clv_str){ key, (int32_t)n });
    if (id >= 0) {
        clv_arena_rewind(e->arena, mark);
        *ret = e->tensors[id].name;
        return CLV_OK;
    }
    CLV_TRY(clv_map_put(&e->constants, (clv_str){ key, (int32_t)n }, e->n_tensors, &id, e->err));
    if (!CLV_PUSH_ROOM(e->arena, e->tensors, e->n_tensors, e->cap_tensors))
        return no_memory(e);
    CLV_TRY(clv_emit_fresh(e, clv_str_of(CONSTANT_NAME), -1, false, ret));
    e->tensors[e->n_tensors++] =
        (clv_new_tensor){ .name = *ret,
                          .dtype = dtype,
                          .rank = rank,
                          .dims = (const int64_t *)(const void *)(key + sizeof kind),
                          .bytes = key + sizeof kind + n_dims,
                          .n_bytes = n_bytes,
                          .weight = -1 };
    return CLV_OK;
}

clv_status clv_emit_ints(clv_emit *e, const int64_t *at, int32_t n, clv_str *ret)
{
    int64_t dim = n;
    return clv_emit_constant(e, CLV_DT_INT64, 1, &dim, at, (int64_t)n * (int64_t)sizeof *at, ret);
}

/* Lowest and highest as bits: of floating-point types minus and plus infinity, so that they are
 * neutral for what a maximum or minimum is taken of. */
static bool float_bits(clv_dtype dtype, clv_fill fill, uint64_t *ret)
{
    uint64_t one, infinity, sign;
    if (dtype == CLV_DT_FLOAT)
        one = 0x3f800000, infinity = 0x7f800000, sign = 0x80000000;
    else if (dtype == CLV_DT_DOUBLE)
        one = 0x3ff0000000000000, infinity = 0x7ff0000000000000, sign = 0x8000000000000000;
    else if (dtype == CLV_DT_FLOAT16)
        one = 0x3c00, infinity = 0x7c00, sign = 0x8000;
    else if (dtype == CLV_DT_BFLOAT16)
        one = 0x3f80, infinity = 0x7f80, sign = 0x8000;
    else
        return false;
    *ret = fill == CLV_FILL_ONE       ? one
           : fill == CLV_FILL_HIGHEST ? infinity
           : fill == CLV_FILL_LOWEST  ? (infinity | sign)
                                      : 0;
    return true;
}

static bool is_signed(clv_dtype dtype)
{
    return dtype == CLV_DT_INT8 || dtype == CLV_DT_INT16 || dtype == CLV_DT_INT32 ||
           dtype == CLV_DT_INT64;
}

int32_t clv_fill_bytes(clv_dtype dtype, clv_fill fill, uint8_t ret[static 16])
{
    int bits = clv_dtype_bits(dtype);
    uint64_t value = 0;
    memset(ret, 0, 16);
    if (bits < 8)
        return 0;
    if (fill == CLV_FILL_ZERO)
        return bits / 8;
    if (clv_dtype_is_float(dtype)) {
        if (!float_bits(dtype, fill, &value))
            return 0;
    } else if (bits > 64)
        return 0; /* complex */
    else if (fill == CLV_FILL_ONE || dtype == CLV_DT_BOOL)
        value = fill != CLV_FILL_LOWEST;
    else {
        uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        if (is_signed(dtype))
            value = fill == CLV_FILL_HIGHEST ? all >> 1 : (all >> 1) + 1;
        else
            value = fill == CLV_FILL_HIGHEST ? all : 0;
    }
    memcpy(ret, &value, sizeof value); /* little-endian, as all of it */
    return bits / 8;
}

/* Constants up to so many bytes stand in the file; larger ones are made when it runs. */
#define FILL_INLINE             1024
#define OPSET_CONSTANT_OF_SHAPE 9

static clv_status fill_inline(clv_emit *e, clv_dtype dtype, int32_t rank, const int64_t *dims,
                              const uint8_t *one, int32_t size, int64_t bytes, clv_str *ret)
{
    clv_mark mark = clv_arena_mark(e->arena);
    uint8_t *all = clv_arena_take(e->arena, (size_t)bytes + 1);
    if (!all)
        return no_memory(e);
    for (int64_t i = 0; i + size <= bytes; i += size)
        memcpy(all + i, one, (size_t)size);
    uint32_t before = e->constants.n;
    CLV_TRY(clv_emit_constant(e, dtype, rank, dims, all, bytes, ret));
    if (e->constants.n == before)
        clv_arena_rewind(e->arena, mark);
    return CLV_OK;
}

static clv_status no_such_number(const clv_emit *e, clv_dtype dtype)
{
    return clv_fail(e->err, CLV_EUNSUPP,
                    "a part of a tensor of type %s would have to be filled with a number that the "
                    "type does not have",
                    clv_dtype_name(dtype));
}

/* A node that makes a tensor of a shape that is known when it runs. */
static clv_status fill_shape(clv_emit *e, clv_str shape, clv_dtype dtype, clv_fill fill,
                             clv_str want, int32_t position, clv_str *ret)
{
    uint8_t one[16];
    int32_t size = clv_fill_bytes(dtype, fill, one);
    if (dtype == CLV_DT_STRING) { /* as above: it is empty */
        CLV_TRY(fill_shape(e, shape, CLV_DT_FLOAT, fill, want, position, ret));
        return clv_emit_cast(e, *ret, dtype, want, position, ret);
    }
    if (size == 0)
        return no_such_number(e, dtype);
    clv_new_tensor *value = CLV_NEW(e->arena, clv_new_tensor);
    uint8_t *number = clv_arena_take(e->arena, sizeof one);
    static const int64_t single = 1;
    if (!value || !number)
        return no_memory(e);
    memcpy(number, one, sizeof one);
    *value = (clv_new_tensor){
        .dtype = dtype, .rank = 1, .dims = &single, .bytes = number, .n_bytes = size, .weight = -1
    };
    clv_new_attr attr = { .name = clv_str_of("value"), .kind = CLV_NEW_TENSOR, .tensor = value };
    return clv_emit_node(e, "ConstantOfShape", &shape, 1, &attr, 1, want, position, ret);
}

clv_status clv_emit_filled(clv_emit *e, clv_dtype dtype, int32_t rank, const int64_t *dims,
                           clv_fill fill, clv_str *ret)
{
    uint8_t one[16];
    int32_t size = clv_fill_bytes(dtype, fill, one);
    int64_t elems = 1, bytes;
    clv_str shape;
    for (int32_t i = 0; i < rank; i++)
        elems *= dims[i];
    if (size == 0 && elems == 0 && dtype == CLV_DT_STRING) { /* no texts are needed */
        CLV_TRY(clv_emit_filled(e, CLV_DT_FLOAT, rank, dims, fill, ret));
        return clv_emit_cast(e, *ret, dtype, clv_str_of("cleave//empty"), -1, ret);
    }
    if (size == 0 || !clv_dtype_bytes(dtype, elems, &bytes))
        return no_such_number(e, dtype);
    if (bytes <= FILL_INLINE || e->opset < OPSET_CONSTANT_OF_SHAPE)
        return fill_inline(e, dtype, rank, dims, one, size, bytes, ret);
    CLV_TRY(clv_emit_ints(e, dims, rank, &shape));
    return fill_shape(e, shape, dtype, fill, clv_str_of("cleave//filled"), -1, ret);
}

#define OPSET_RESHAPE_INPUT 5
#define OPSET_CAST_NUMBER   6
#define OPSET_SLICE_INPUTS  10

/* No element of a tensor, as a list of whole numbers: its place in the order is all it is for. */
static clv_status nothing_of(clv_emit *e, clv_str in, clv_str want, int32_t position, clv_str *ret)
{
    static const int64_t all = -1, zero = 0;
    clv_str inputs[2] = { in };
    CLV_TRY(clv_emit_ints(e, &all, 1, &inputs[1]));
    CLV_TRY(clv_emit_node(e, "Reshape", inputs, 2, NULL, 0, want, position, ret));
    CLV_TRY(slice(e, *ret, 1, &zero, &zero, &zero, want, position, ret));
    return clv_emit_cast(e, *ret, CLV_DT_INT64, want, position, ret);
}

/* What nodes have made among these, each once, in the order of the nodes; how many. Runtimes go
 * back from a node to those before it in that order, so that of two devices has to be the same. */
static int32_t made_ones(const clv_emit *e, const clv_str *in, int32_t n, clv_str *ret)
{
    int32_t n_made = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t id = clv_map_get(&e->taken, in[i]), at = n_made;
        bool known = id <= 0;
        for (int32_t k = 0; k < n_made && !known; k++)
            known = clv_str_eq(ret[k], in[i]);
        if (known)
            continue;
        for (; at > 0 && clv_map_get(&e->taken, ret[at - 1]) > id; at--)
            ret[at] = ret[at - 1];
        ret[at] = in[i];
        n_made++;
    }
    return n_made;
}

clv_status clv_emit_filled_after(clv_emit *e, const clv_str *after, int32_t n, clv_dtype dtype,
                                 int32_t rank, const int64_t *dims, clv_fill fill, clv_str want,
                                 int32_t position, clv_str *ret)
{
    clv_str *part = CLV_NEW_ARRAY(e->arena, clv_str, n + 1), shape;
    if (!part)
        return no_memory(e);
    bool matters = e->only >= 0 && e->opset >= OPSET_CONSTANT_OF_SHAPE;
    int32_t n_made = matters ? made_ones(e, after, n, part + 1) : 0;
    if (n_made == 0)
        return clv_emit_filled(e, dtype, rank, dims, fill, ret);
    for (int32_t i = 1; i <= n_made; i++)
        CLV_TRY(nothing_of(e, part[i], want, position, &part[i]));
    CLV_TRY(clv_emit_ints(e, dims, rank, &part[0]));
    CLV_TRY(clv_emit_concat(e, part, n_made + 1, 0, want, position, &shape));
    return fill_shape(e, shape, dtype, fill, want, position, ret);
}

clv_status clv_emit_after(clv_emit *e, clv_str in, int32_t rank, clv_str before, clv_str want,
                          clv_str *ret)
{
    int64_t *as_it_is = CLV_NEW_ARRAY(e->arena, int64_t, rank); /* a 0 means so */
    clv_str shape[2], inputs[2] = { in };
    *ret = in;
    if (!as_it_is)
        return no_memory(e);
    if (e->opset < OPSET_CAST_NUMBER)
        return CLV_OK;
    CLV_TRY(clv_emit_ints(e, as_it_is, rank, &shape[0]));
    CLV_TRY(nothing_of(e, before, want, e->only, &shape[1]));
    CLV_TRY(clv_emit_concat(e, shape, 2, 0, want, e->only, &inputs[1]));
    return clv_emit_node(e, "Reshape", inputs, 2, NULL, 0, want, e->only, ret);
}

/* -- shapes -- */

clv_status clv_emit_reshape(clv_emit *e, clv_str in, clv_dtype dtype, int32_t rank,
                            const int64_t *dims, clv_str want, int32_t position, clv_str *ret)
{
    clv_new_attr shape = { .name = clv_str_of("shape"), .kind = CLV_NEW_INTS, .n = rank };
    clv_str inputs[2] = { in };
    for (int32_t i = 0; i < rank; i++)
        if (dims[i] == 0) /* a 0 in a shape means another thing */
            return clv_emit_filled_after(e, &in, 1, dtype, rank, dims, CLV_FILL_ZERO, want,
                                         position, ret);
    if (e->opset >= OPSET_RESHAPE_INPUT) {
        CLV_TRY(clv_emit_ints(e, dims, rank, &inputs[1]));
        return clv_emit_node(e, "Reshape", inputs, 2, NULL, 0, want, position, ret);
    }
    int64_t *copy = CLV_NEW_ARRAY(e->arena, int64_t, rank);
    if (!copy)
        return no_memory(e);
    memcpy(copy, dims, (size_t)rank * sizeof *dims);
    shape.ints = copy;
    return clv_emit_node(e, "Reshape", inputs, 1, &shape, 1, want, position, ret);
}

clv_status clv_emit_cast(clv_emit *e, clv_str in, clv_dtype to, clv_str want, int32_t position,
                         clv_str *ret)
{
    clv_new_attr attr = { .name = clv_str_of("to"), .kind = CLV_NEW_INT, .i = (int64_t)to };
    return clv_emit_node(e, "Cast", &in, 1, &attr, 1, want, position, ret);
}

clv_status clv_emit_transpose(clv_emit *e, clv_str in, int32_t rank, const int64_t *perm,
                              clv_str want, int32_t position, clv_str *ret)
{
    int64_t *copy = CLV_NEW_ARRAY(e->arena, int64_t, rank);
    clv_new_attr attr = {
        .name = clv_str_of("perm"), .kind = CLV_NEW_INTS, .ints = copy, .n = rank
    };
    bool moves = false;
    if (!copy)
        return no_memory(e);
    for (int32_t i = 0; i < rank; i++) {
        copy[i] = perm[i];
        moves = moves || perm[i] != i;
    }
    *ret = in;
    return moves ? clv_emit_node(e, "Transpose", &in, 1, &attr, 1, want, position, ret) : CLV_OK;
}

clv_status clv_emit_concat(clv_emit *e, const clv_str *in, int32_t n, int32_t axis, clv_str want,
                           int32_t position, clv_str *ret)
{
    clv_new_attr attr = { .name = clv_str_of("axis"), .kind = CLV_NEW_INT, .i = axis };
    if (n == 1) {
        *ret = in[0];
        return CLV_OK;
    }
    return clv_emit_node(e, "Concat", in, n, &attr, 1, want, position, ret);
}

/* -- parts -- */

/* starts and ends along axes. */
static clv_status slice(clv_emit *e, clv_str in, int32_t n, const int64_t *axes,
                        const int64_t *starts, const int64_t *ends, clv_str want, int32_t position,
                        clv_str *ret)
{
    const int64_t *lists[3] = { starts, ends, axes };
    static const char *const names[3] = { "starts", "ends", "axes" };
    clv_new_attr attrs[3];
    clv_str inputs[4] = { in };
    for (int32_t i = 0; i < 3; i++) {
        int64_t *copy = CLV_NEW_ARRAY(e->arena, int64_t, n);
        if (!copy)
            return no_memory(e);
        memcpy(copy, lists[i], (size_t)n * sizeof *copy);
        attrs[i] = (clv_new_attr){
            .name = clv_str_of(names[i]), .kind = CLV_NEW_INTS, .ints = copy, .n = n
        };
    }
    if (e->opset < OPSET_SLICE_INPUTS)
        return clv_emit_node(e, "Slice", inputs, 1, attrs, 3, want, position, ret);
    for (int32_t i = 0; i < 3; i++)
        CLV_TRY(clv_emit_ints(e, lists[i], n, &inputs[1 + i]));
    return clv_emit_node(e, "Slice", inputs, 4, NULL, 0, want, position, ret);
}

/* Runs of one length, one in each piece of the dimension? Then that long is a piece; else 0. */
static int64_t piece_of(const clv_spans *places, int64_t dim)
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

/* The same part of each piece of a dimension. */
static clv_status take_pieces(clv_emit *e, clv_str in, clv_dtype dtype, int32_t rank, int64_t *dims,
                              int32_t d, const clv_spans *places, int64_t piece, clv_str want,
                              int32_t position, clv_str *ret)
{
    int64_t view[CLV_VIEW_MAX + 1], axis = d + 1;
    int64_t start = places->span[0].at, end = start + places->span[0].n;
    for (int32_t i = 0; i < rank; i++)
        view[i + (i > d)] = dims[i];
    view[d] = dims[d] / piece;
    view[d + 1] = piece;
    CLV_TRY(clv_emit_reshape(e, in, dtype, rank + 1, view, want, position, ret));
    CLV_TRY(slice(e, *ret, 1, &axis, &start, &end, want, position, ret));
    dims[d] = places->elems;
    return clv_emit_reshape(e, *ret, dtype, rank, dims, want, position, ret);
}

static clv_status take_numbered(clv_emit *e, clv_str in, int32_t d, const clv_spans *places,
                                clv_str want, int32_t position, clv_str *ret)
{
    int64_t *at = CLV_NEW_ARRAY(e->arena, int64_t, places->elems), n = 0;
    clv_new_attr axis = { .name = clv_str_of("axis"), .kind = CLV_NEW_INT, .i = d };
    clv_str inputs[2] = { in };
    if (!at)
        return no_memory(e);
    for (int32_t i = 0; i < places->n; i++)
        for (int64_t k = 0; k < places->span[i].n; k++)
            at[n++] = places->span[i].at + k;
    if (n > INT32_MAX)
        return clv_fail(e->err, CLV_ELIMIT, "a part of a tensor has %" PRId64 " places to list", n);
    CLV_TRY(clv_emit_ints(e, at, (int32_t)n, &inputs[1]));
    return clv_emit_node(e, "Gather", inputs, 2, &axis, 1, want, position, ret);
}

clv_status clv_emit_take(clv_emit *e, clv_str in, clv_dtype dtype, int32_t rank,
                         const int64_t *dims, const clv_spans *const *places, clv_str want,
                         int32_t position, clv_str *ret)
{
    int64_t now[CLV_VIEW_MAX], axes[CLV_VIEW_MAX], starts[CLV_VIEW_MAX], ends[CLV_VIEW_MAX];
    int32_t n = 0;
    bool empty = false;
    *ret = in;
    for (int32_t d = 0; d < rank; d++) {
        now[d] = places[d] ? places[d]->elems : dims[d];
        empty = empty || now[d] == 0;
    }
    if (empty)
        return clv_emit_filled_after(e, &in, 1, dtype, rank, now, CLV_FILL_ZERO, want, position,
                                     ret);
    for (int32_t d = 0; d < rank; d++) {
        now[d] = dims[d];
        if (!places[d] || places[d]->n != 1)
            continue;
        axes[n] = d;
        starts[n] = places[d]->span[0].at;
        ends[n++] = places[d]->span[0].at + places[d]->span[0].n;
        now[d] = places[d]->elems;
    }
    if (n > 0)
        CLV_TRY(slice(e, *ret, n, axes, starts, ends, want, position, ret));
    for (int32_t d = 0; d < rank; d++) {
        if (!places[d] || places[d]->n == 1)
            continue;
        int64_t piece = piece_of(places[d], dims[d]);
        if (piece)
            CLV_TRY(
                take_pieces(e, *ret, dtype, rank, now, d, places[d], piece, want, position, ret));
        else
            CLV_TRY(take_numbered(e, *ret, d, places[d], want, position, ret));
        now[d] = places[d]->elems;
    }
    return CLV_OK;
}
