#include "lower/emit_collective.h"

#include "sharding/moved_as.h"

#define WHAT "writing a collective"

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

/* -- nodes -- */

#define ATTRS_MAX 5

static clv_new_attr int_attr(const char *name, int64_t i)
{
    return (clv_new_attr){ .name = clv_str_of(name), .kind = CLV_NEW_INT, .i = i };
}

static clv_new_attr string_attr(const char *name, const char *s)
{
    return (clv_new_attr){ .name = clv_str_of(name), .kind = CLV_NEW_STRING, .s = clv_str_of(s) };
}

/* Ranks count through the devices of one phase after another. */
static clv_status tensorrt_attrs(const clv_emit *e, const clv_emit_collective *c,
                                 clv_new_attr *attrs, clv_error *err)
{
    const clv_mesh *mesh = &e->s->mesh;
    int32_t n = clv_mesh_count(mesh, c->mesh_axes);
    int64_t *ranks = CLV_NEW_ARRAY(e->arena, int64_t, n);
    if (!ranks)
        return clv_fail_nomem(err, WHAT);
    for (int32_t k = 0; k < n; k++)
        ranks[k] = (int64_t)e->phase * mesh->n_devices + clv_emit_member(mesh, c, e->only, k);
    attrs[0] = string_attr("collective_operation", words[c->kind].tensorrt);
    attrs[1] =
        string_attr("reduce_op", words[c->kind].reduces ? tensorrt_reduce(c->reduce) : "none");
    attrs[2] = int_attr("root", -1);
    attrs[3] = int_attr("group_size", n);
    attrs[4] =
        (clv_new_attr){ .name = clv_str_of("groups"), .kind = CLV_NEW_INTS, .ints = ranks, .n = n };
    return CLV_OK;
}

/* In e->values, the type of what a collective gives: a runtime that infers what is around it from
 * less may come to a wrong end. And in e->collectives, the collective. */
static clv_status list_collective(clv_emit *e, const clv_emit_collective *c, clv_str name,
                                  const clv_emit_type *type, clv_error *err)
{
    int64_t *dims = CLV_NEW_ARRAY(e->arena, int64_t, type->rank);
    clv_type *own = CLV_NEW(e->arena, clv_type);
    if (!dims || !own || !CLV_PUSH_ROOM(e->arena, e->values, e->n_values, e->cap_values) ||
        !CLV_PUSH_ROOM(e->arena, e->collectives, e->n_collectives, e->cap_collectives))
        return clv_fail_nomem(err, WHAT);
    memcpy(dims, type->dims, (size_t)type->rank * sizeof *dims);
    *own = (clv_type){ CLV_TYPE_TENSOR, type->dtype, type->rank, dims, NULL };
    e->values[e->n_values++] = (clv_new_value){ name, own };
    e->collectives[e->n_collectives] = *c;
    e->collectives[e->n_collectives++].phase = e->phase;
    return CLV_OK;
}

static clv_status collective_node(const clv_emit_scope *scope, clv_emit_collective *c, clv_str in,
                                  const clv_emit_type *type, clv_str *ret, clv_error *err)
{
    clv_emit *e = scope->e;
    bool ort = e->dialect == CLV_DIALECT_ORT;
    clv_new_attr attrs[ATTRS_MAX];
    int32_t n = 0;
    if (!ort) {
        n = ATTRS_MAX;
        CLV_TRY(tensorrt_attrs(e, c, attrs, err));
    } else if (c->kind != CLV_STEP_ALL_REDUCE) { /* that is over all ranks */
        if (c->kind == CLV_STEP_ALL_GATHER)
            attrs[n++] = int_attr("axis", c->axis);
        attrs[n++] = int_attr("group_size", clv_mesh_count(&e->s->mesh, c->mesh_axes));
    }
    if (e->s->phases[e->phase].nodes_differ && e->collected.name.n > 0)
        CLV_TRY(clv_emit_after(scope, in, type, e->collected, &in, err));
    CLV_TRY(clv_emit_node_with(scope, ort ? words[c->kind].ort : "DistCollective", CLV_NAMES(in),
                               (clv_new_attrs){ attrs, n }, ret, err));
    clv_new_node *node = &e->nodes[e->n_nodes - 1];
    if (ort)
        node->domain = clv_str_of("com.microsoft");
    e->uses_microsoft |= ort;
    /* all members of a group have as many before it, so they call it the same */
    char *name = clv_arena_printf(e->arena, "%s.%d of %.*s", clv_step_name(c->kind),
                                  (int)e->n_collectives, CLV_STR_ARG(scope->name));
    if (!name)
        return clv_fail_nomem(err, WHAT);
    c->node = node->name = clv_str_of(name);
    e->collected = (clv_typed_name){ *ret, type->dtype };
    (void)clv_dtype_bytes(type->dtype, c->elems, &c->bytes);
    return list_collective(e, c, *ret, type, err);
}

/* Types up to operator set 23 are sent packed. An operator that is not of the standard, as these
 * are, may have no later ones in ONNX Runtime 1.30: they are sent in the type that they are cut in.
 */
static clv_dtype sent_as(clv_dtype dtype, int32_t opset)
{
    enum { OPSET_OF_SENT_TYPES = 23 };
    return clv_dtype_cast_opset(dtype) > OPSET_OF_SENT_TYPES ? clv_dtype_moved_as(dtype, opset)
                                                             : dtype;
}

clv_status clv_emit_collective_node(const clv_emit_scope *scope, clv_emit_collective *c, clv_str in,
                                    const clv_emit_type *type, clv_str *ret, clv_error *err)
{
    const clv_emit_type sent = { sent_as(type->dtype, scope->e->opset), type->rank, type->dims };
    CLV_TRY(clv_emit_widen(scope, type->dtype, sent.dtype, &in, err));
    CLV_TRY(collective_node(scope, c, in, &sent, ret, err));
    return clv_emit_narrow(scope, sent.dtype, type->dtype, ret, err);
}

/* Gathering concatenates along the first dimension in TensorRT, along any in ONNX Runtime. */
clv_status clv_emit_gather_node(const clv_emit_scope *scope, clv_emit_collective *c, clv_str in,
                                const clv_emit_type *type, clv_str *ret, clv_error *err)
{
    clv_emit *e = scope->e;
    int32_t rank = type->rank, axis = c->axis, n = clv_mesh_count(&e->s->mesh, c->mesh_axes);
    int64_t dims[CLV_VIEW_MAX], blocks[CLV_VIEW_MAX], perm[CLV_VIEW_MAX];
    const clv_emit_type gathered = { type->dtype, rank, dims };
    const clv_emit_type by_block = { type->dtype, rank + 1, blocks };
    memcpy(dims, type->dims, (size_t)rank * sizeof *dims);
    dims[axis] *= n;
    c->kind = CLV_STEP_ALL_GATHER;
    c->reduce = CLV_REDUCE_NONE;
    if (e->dialect == CLV_DIALECT_ORT || axis == 0)
        return clv_emit_collective_node(scope, c, in, &gathered, ret, err);
    /* one block a member in front, and moved to where it belongs */
    c->axis = 0;
    blocks[0] = 1;
    memcpy(blocks + 1, type->dims, (size_t)rank * sizeof *dims);
    CLV_TRY(clv_emit_reshape(scope, in, &by_block, ret, err));
    blocks[0] = n;
    CLV_TRY(clv_emit_collective_node(scope, c, *ret, &by_block, ret, err));
    for (int32_t i = 0; i <= rank; i++)
        perm[i] = i < axis ? i + 1 : i == axis ? 0 : i;
    CLV_TRY(clv_emit_transpose(scope, *ret, &by_block, perm, ret, err));
    return clv_emit_reshape(scope, *ret, &gathered, ret, err);
}
