/* emit_collective.c - collectives as nodes of a dialect. */
#include "lower/emit.h"

#define WHAT "writing a collective"

static clv_status no_memory(const clv_emit *e) { return clv_fail_nomem(e->err, WHAT); }

/* -- what dialects have -- */

static const struct {
    const char *ort, *tensorrt; /* type of the node; collective_operation. NULL: there is none */
    bool reduces;
} words[CLV_N_STEPS] = {
    [CLV_STEP_ALL_REDUCE] = { "AllReduce", "all_reduce", true },
    [CLV_STEP_ALL_GATHER] = { "AllGather", "all_gather", false },
    [CLV_STEP_ALL_TO_ALL] = { "AllToAll", "all_to_all", false },
    [CLV_STEP_REDUCE_SCATTER] = { NULL, "reduce_scatter", true },
};

static const char *tensorrt_reduce(clv_reduce reduce)
{
    switch (reduce) {
    case CLV_REDUCE_SUM:
        return "sum";
    case CLV_REDUCE_MEAN:
        return "avg";
    case CLV_REDUCE_MAX:
        return "max";
    case CLV_REDUCE_MIN:
        return "min";
    case CLV_REDUCE_PROD:
        return "prod";
    case CLV_REDUCE_NONE:
    case CLV_REDUCE_L2:
    case CLV_REDUCE_LOG_SUM:
    case CLV_N_REDUCES:
        break;
    }
    return NULL;
}

bool clv_emit_has_collective(const clv_emit *e, clv_step_kind kind, clv_dtype dtype,
                             clv_reduce reduce)
{
    bool ort = e->dialect == CLV_DIALECT_ORT;
    bool number = clv_dtype_is_float(dtype) || dtype == CLV_DT_INT32 || dtype == CLV_DT_INT64;
    bool known = ort ? reduce == CLV_REDUCE_SUM : tensorrt_reduce(reduce) != NULL;
    return (ort ? words[kind].ort : words[kind].tensorrt) &&
           (!words[kind].reduces || (number && known));
}

/* -- groups -- */

int32_t clv_emit_member(const clv_mesh *mesh, const clv_emit_collective *c, int32_t position,
                        int32_t k)
{
    int32_t coord[CLV_MESH_AXES_MAX] = { 0 }, member = 0;
    for (int32_t a = 0; a < mesh->n_axes; a++)
        coord[a] = clv_mesh_coord(mesh, position, a);
    for (int32_t i = c->n_order - 1; i >= 0; i--) {
        coord[c->order[i]] = k % mesh->size[c->order[i]];
        k /= mesh->size[c->order[i]];
    }
    for (int32_t a = 0; a < mesh->n_axes; a++)
        member = member * mesh->size[a] + coord[a];
    return member;
}

/* The ranks of the group of the device: those of earlier phases come before. */
static clv_status ranks_of(clv_emit *e, const clv_emit_collective *c, int64_t **ret, int32_t *ret_n)
{
    const clv_mesh *mesh = &e->s->mesh;
    int32_t n = clv_mesh_count(mesh, c->mesh_axes);
    int64_t *rank = CLV_NEW_ARRAY(e->arena, int64_t, n);
    if (!rank)
        return no_memory(e);
    for (int32_t k = 0; k < n; k++)
        rank[k] = (int64_t)e->phase * mesh->n_devices + clv_emit_member(mesh, c, e->only, k);
    *ret = rank;
    *ret_n = n;
    return CLV_OK;
}

/* -- nodes -- */

static clv_status note_collective(clv_emit *e, const clv_emit_collective *c)
{
    if (!CLV_PUSH_ROOM(e->arena, e->collectives, e->n_collectives, e->cap_collectives))
        return no_memory(e);
    e->collectives[e->n_collectives] = *c;
    e->collectives[e->n_collectives++].phase = e->phase;
    return CLV_OK;
}

#define ATTRS_MAX 5

/* Their number; none of an AllReduce, which is over all ranks. */
static int32_t ort_attrs(const clv_emit *e, const clv_emit_collective *c, clv_new_attr *attrs)
{
    int32_t n = 0;
    if (c->kind == CLV_STEP_ALL_GATHER)
        attrs[n++] =
            (clv_new_attr){ .name = clv_str_of("axis"), .kind = CLV_NEW_INT, .i = c->axis };
    if (c->kind != CLV_STEP_ALL_REDUCE)
        attrs[n++] = (clv_new_attr){ .name = clv_str_of("group_size"),
                                     .kind = CLV_NEW_INT,
                                     .i = clv_mesh_count(&e->s->mesh, c->mesh_axes) };
    return n;
}

static clv_status tensorrt_attrs(clv_emit *e, const clv_emit_collective *c, clv_new_attr *attrs)
{
    const char *reduce = words[c->kind].reduces ? tensorrt_reduce(c->reduce) : "none";
    int64_t *ranks = NULL;
    int32_t n = 0;
    CLV_TRY(ranks_of(e, c, &ranks, &n));
    attrs[0] = (clv_new_attr){ .name = clv_str_of("collective_operation"),
                               .kind = CLV_NEW_STRING,
                               .s = clv_str_of(words[c->kind].tensorrt) };
    attrs[1] = (clv_new_attr){ .name = clv_str_of("reduce_op"),
                               .kind = CLV_NEW_STRING,
                               .s = clv_str_of(reduce) };
    attrs[2] = (clv_new_attr){ .name = clv_str_of("root"), .kind = CLV_NEW_INT, .i = -1 };
    attrs[3] = (clv_new_attr){ .name = clv_str_of("group_size"), .kind = CLV_NEW_INT, .i = n };
    attrs[4] =
        (clv_new_attr){ .name = clv_str_of("groups"), .kind = CLV_NEW_INTS, .ints = ranks, .n = n };
    return CLV_OK;
}

/* A runtime that infers what is around it from less may come to a wrong end. */
static clv_status note_type(clv_emit *e, clv_str name, clv_dtype dtype, int32_t rank,
                            const int64_t *dims)
{
    int64_t *kept = CLV_NEW_ARRAY(e->arena, int64_t, rank);
    clv_type *type = CLV_NEW(e->arena, clv_type);
    if (!kept || !type || !CLV_PUSH_ROOM(e->arena, e->values, e->n_values, e->cap_values))
        return no_memory(e);
    memcpy(kept, dims, (size_t)rank * sizeof *dims);
    *type = (clv_type){ CLV_TYPE_TENSOR, dtype, rank, kept, NULL };
    e->values[e->n_values++] = (clv_new_value){ name, type };
    return CLV_OK;
}

clv_status clv_emit_collective_node(clv_emit *e, clv_emit_collective *c, clv_str in,
                                    clv_dtype dtype, int32_t rank, const int64_t *dims,
                                    clv_str want, clv_str *ret)
{
    bool ort = e->dialect == CLV_DIALECT_ORT;
    clv_new_attr attrs[ATTRS_MAX];
    int32_t n_attrs = ort ? ort_attrs(e, c, attrs) : ATTRS_MAX;
    const char *type = ort ? words[c->kind].ort : "DistCollective";
    if (!ort)
        CLV_TRY(tensorrt_attrs(e, c, attrs));
    if (e->s->phases[e->phase].idles && e->collected.n > 0)
        CLV_TRY(clv_emit_after(e, in, rank, e->collected, want, &in));
    CLV_TRY(clv_emit_node(e, type, &in, 1, attrs, n_attrs, want, e->only, ret));
    clv_new_node *node = &e->nodes[e->n_nodes - 1];
    if (ort)
        node->domain = clv_str_of("com.microsoft");
    e->uses_microsoft |= ort;
    /* all members of a group have as many before it, so they call it the same */
    char *name = clv_arena_printf(e->arena, "%s.%d of %.*s", clv_step_name(c->kind),
                                  (int)e->n_collectives, CLV_STR_ARG(want));
    if (!name)
        return no_memory(e);
    c->node = node->name = clv_str_of(name);
    e->collected = *ret;
    CLV_TRY(note_type(e, *ret, dtype, rank, dims));
    return note_collective(e, c);
}

/* Gathering concatenates along the first dimension in TensorRT, along any in ONNX Runtime. */
clv_status clv_emit_gather_node(clv_emit *e, clv_emit_collective *c, clv_str in, clv_dtype dtype,
                                int32_t rank, const int64_t *dims, int32_t axis, clv_str want,
                                clv_str *ret)
{
    int64_t view[CLV_VIEW_MAX], perm[CLV_VIEW_MAX];
    int32_t n = clv_mesh_count(&e->s->mesh, c->mesh_axes);
    c->kind = CLV_STEP_ALL_GATHER;
    c->reduce = CLV_REDUCE_NONE;
    c->axis = e->dialect == CLV_DIALECT_ORT ? axis : 0;
    if (c->axis == axis) {
        memcpy(view, dims, (size_t)rank * sizeof *dims);
        view[axis] *= n;
        return clv_emit_collective_node(e, c, in, dtype, rank, view, want, ret);
    }
    /* one block a member in front, and moved to where it belongs */
    view[0] = 1;
    memcpy(view + 1, dims, (size_t)rank * sizeof *dims);
    CLV_TRY(clv_emit_reshape(e, in, dtype, rank + 1, view, want, e->only, ret));
    view[0] = n;
    CLV_TRY(clv_emit_collective_node(e, c, *ret, dtype, rank + 1, view, want, ret));
    for (int32_t i = 0; i <= rank; i++)
        perm[i] = i < axis ? i + 1 : i == axis ? 0 : i;
    CLV_TRY(clv_emit_transpose(e, *ret, rank + 1, perm, want, e->only, ret));
    memcpy(view, dims, (size_t)rank * sizeof *dims);
    view[axis] *= n;
    return clv_emit_reshape(e, *ret, dtype, rank, view, want, e->only, ret);
}
