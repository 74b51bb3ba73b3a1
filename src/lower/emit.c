#include "lower/emit.h"

#include "lower/opset.h"

#define WHAT "writing a lowered model"

clv_status clv_emit_init(clv_emit *e, const clv_spmd *s, clv_dialect dialect, int32_t only,
                         clv_arena *arena, clv_error *err)
{
    *e = (clv_emit){
        .s = s, .dialect = dialect, .only = only, .opset = clv_opset_for(s->model), .arena = arena
    };
    e->name =
        CLV_NEW_ARRAY(arena, clv_str, (int64_t)s->n_values * (only < 0 ? s->mesh.n_devices : 1));
    e->io = CLV_NEW_ARRAY(arena, clv_str, s->mesh.n_devices);
    if (!e->name || !e->io)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_map_init(&e->taken, arena, s->n_values, err));
    CLV_TRY(clv_map_init(&e->constants, arena, 64, err));
    return clv_map_init(&e->parts, arena, 64, err);
}

/* -- names -- */

/* n: a number behind it; 0: none. */
static char *numbered_name(clv_emit *e, clv_str base, int32_t position, int32_t n)
{
    const clv_spmd_phase *phase = &e->s->phases[e->phase];
    const char *device = e->s->plan->devices[phase->device[position < 0 ? 0 : position]].name;
    if (e->only >= 0 || position < 0)
        return n ? clv_arena_printf(e->arena, "%.*s//%d", CLV_STR_ARG(base), (int)n)
                 : clv_arena_str(e->arena, base);
    return n ? clv_arena_printf(e->arena, "%.*s@%s//%d", CLV_STR_ARG(base), device, (int)n)
             : clv_arena_printf(e->arena, "%.*s@%s", CLV_STR_ARG(base), device);
}

clv_status clv_emit_fresh(clv_emit *e, clv_str base, int32_t position, bool made, clv_str *ret,
                          clv_error *err)
{
    for (int32_t n = 0;; n++) {
        uint32_t before = e->taken.n;
        int32_t id;
        const char *text = numbered_name(e, base, position, n ? (int32_t)before : 0);
        if (!text)
            return clv_fail_nomem(err, WHAT);
        *ret = clv_str_of(text);
        CLV_TRY(clv_map_put(&e->taken, *ret, made ? e->n_nodes + 1 : 0, &id, err));
        if (e->taken.n > before)
            return CLV_OK;
    }
}

clv_status clv_emit_node_name(clv_emit *e, const char *type, clv_str out, clv_str *ret,
                              clv_error *err)
{
    char *text = clv_arena_printf(e->arena, "%s of %.*s", type, CLV_STR_ARG(out));
    if (!text)
        return clv_fail_nomem(err, WHAT);
    *ret = clv_str_of(text);
    return CLV_OK;
}

/* -- nodes -- */

clv_status clv_emit_push(clv_emit *e, const clv_new_node *node, clv_error *err)
{
    if (!CLV_PUSH_ROOM(e->arena, e->nodes, e->n_nodes, e->cap_nodes))
        return clv_fail_nomem(err, WHAT);
    e->nodes[e->n_nodes++] = *node;
    return CLV_OK;
}

clv_status clv_emit_node(const clv_emit_scope *scope, const char *type, clv_names in, clv_str *ret,
                         clv_error *err)
{
    return clv_emit_node_with(scope, type, in, (clv_new_attrs){ NULL, 0 }, ret, err);
}

clv_status clv_emit_node_with(const clv_emit_scope *scope, const char *type, clv_names in,
                              clv_new_attrs attrs, clv_str *ret, clv_error *err)
{
    clv_emit *e = scope->e;
    clv_new_attr *own_attrs = CLV_NEW_ARRAY(e->arena, clv_new_attr, attrs.n);
    clv_str *own_in = CLV_NEW_ARRAY(e->arena, clv_str, in.n), *out = CLV_NEW(e->arena, clv_str);
    clv_new_node node = { .source = CLV_NO_OP,
                          .type = clv_str_of(type),
                          .in = own_in,
                          .out = out,
                          .n_in = in.n,
                          .n_out = 1,
                          .attrs = own_attrs,
                          .n_attrs = attrs.n };
    if (!own_attrs || !own_in || !out)
        return clv_fail_nomem(err, WHAT);
    if (in.n)
        memcpy(own_in, in.at, (size_t)in.n * sizeof *in.at);
    if (attrs.n)
        memcpy(own_attrs, attrs.at, (size_t)attrs.n * sizeof *attrs.at);
    CLV_TRY(clv_emit_fresh(e, scope->name, scope->position, true, out, err));
    CLV_TRY(clv_emit_node_name(e, type, *out, &node.name, err));
    *ret = *out;
    return clv_emit_push(e, &node, err);
}

/* -- constants -- */

int64_t clv_emit_elems(const clv_emit_type *type)
{
    int64_t elems = 1;
    for (int32_t i = 0; i < type->rank; i++)
        elems *= type->dims[i];
    return elems;
}

clv_status clv_emit_constant(clv_emit *e, const clv_emit_type *type, const void *bytes,
                             int64_t n_bytes, clv_str *ret, clv_error *err)
{
    size_t n_dims = (size_t)type->rank * sizeof *type->dims;
    size_t n = sizeof(int64_t) + n_dims + (size_t)n_bytes;
    clv_mark mark = clv_arena_mark(e->arena);
    char *key = clv_arena_take(e->arena, n);
    int64_t kind = (int64_t)type->dtype * (CLV_RANK_MAX + 1) + type->rank;
    int32_t id;
    if (!key)
        return clv_fail_nomem(err, WHAT);
    memcpy(key, &kind, sizeof kind);
    if (type->rank)
        memcpy(key + sizeof kind, type->dims, n_dims);
    if (n_bytes)
        memcpy(key + sizeof kind + n_dims, bytes, (size_t)n_bytes);
    id = clv_map_get(&e->constants, (clv_str){ key, (int32_t)n });
    if (id >= 0) {
        clv_arena_rewind(e->arena, mark);
        *ret = e->tensors[id].name;
        return CLV_OK;
    }
    CLV_TRY(clv_map_put(&e->constants, (clv_str){ key, (int32_t)n }, e->n_tensors, &id, err));
    if (!CLV_PUSH_ROOM(e->arena, e->tensors, e->n_tensors, e->cap_tensors))
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_emit_fresh(e, clv_str_of("cleave//constant"), -1, false, ret, err));
    e->tensors[e->n_tensors++] =
        (clv_new_tensor){ .name = *ret,
                          .dtype = type->dtype,
                          .rank = type->rank,
                          .dims = (const int64_t *)(const void *)(key + sizeof kind),
                          .bytes = key + sizeof kind + n_dims,
                          .n_bytes = n_bytes,
                          .weight = -1 };
    return CLV_OK;
}

clv_status clv_emit_ints(clv_emit *e, const int64_t *at, int32_t n, clv_str *ret, clv_error *err)
{
    const clv_emit_type type = { CLV_DT_INT64, 1, (int64_t[]){ n } };
    return clv_emit_constant(e, &type, at, (int64_t)n * (int64_t)sizeof *at, ret, err);
}
