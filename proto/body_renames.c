#include "proto/body_renames.h"

#include "proto/onnx.pb-c.h"

enum { G_NODE = 1, G_WEIGHT = 5, G_INPUT = 11, G_SPARSE = 15 };
enum { N_OUTPUT = 2, V_NAME = 1, T_NAME = 8, S_VALUES = 1 };

#define WHAT "the names in a body"

/* -- around the bodies -- */

static clv_status add_name(clv_map *map, clv_str name, clv_error *err)
{
    return name.n ? clv_map_put(map, name, 0, NULL, err) : CLV_OK;
}

clv_status clv_new_model_names(const clv_new_model *m, clv_arena *arena, clv_map *ret,
                               clv_error *err)
{
    CLV_TRY(clv_map_init(ret, arena, m->n_nodes + m->n_tensors + m->n_inputs, err));
    for (int32_t i = 0; i < m->n_inputs; i++)
        CLV_TRY(add_name(ret, m->inputs[i].name, err));
    for (int32_t i = 0; i < m->n_tensors; i++)
        CLV_TRY(add_name(ret, m->tensors[i].name, err));
    for (int32_t i = 0; i < m->n_nodes; i++)
        for (int32_t k = 0; k < m->nodes[i].n_out; k++)
            CLV_TRY(add_name(ret, m->nodes[i].out[k], err));
    return CLV_OK;
}

/* -- what bodies make -- */

typedef struct {
    clv_body_renames *names;
    const clv_map *around;
    clv_map is_made;
    clv_str *made; /* each name once */
    int32_t n_made, cap_made;
    clv_arena *arena;
} collecting;

static clv_status add_made(collecting *s, clv_str name, clv_error *err)
{
    int32_t id = 0;
    if (!name.n)
        return CLV_OK;
    CLV_TRY(clv_map_put(&s->is_made, name, s->n_made, &id, err));
    if (id < s->n_made)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(s->arena, s->made, s->n_made, s->cap_made))
        return clv_fail_nomem(err, WHAT);
    s->made[s->n_made++] = name;
    return CLV_OK;
}

/* Of bodies in bodies too, which are at most 64 deep. */
static clv_status find_made(collecting *s, const clv_graph *g, const clv_op_info *op,
                            clv_error *err)
{
    for (int32_t i = 0; i < op->n_attr; i++) {
        const clv_attr *a = &g->attrs[op->first_attr + i];
        bool bodies = a->kind == CLV_ATTR_GRAPH || a->kind == CLV_ATTR_GRAPHS;
        for (int32_t b = 0; bodies && b < a->n; b++) {
            const clv_graph *body = a->graph[b];
            for (int32_t t = 0; t < body->n_tensors; t++)
                if (body->tensors[t].role != CLV_TENSOR_OUTER)
                    CLV_TRY(add_made(s, body->tensors[t].name, err));
            for (int32_t k = 0; k < body->n_ops; k++)
                CLV_TRY(find_made(s, body, &body->ops[k], err));
        }
    }
    return CLV_OK;
}

/* -- what names become -- */

static clv_status add_rename(collecting *s, clv_str name, clv_str outside, clv_body_rename **ret,
                             clv_error *err)
{
    clv_body_renames *names = s->names;
    int32_t i;
    CLV_TRY(clv_map_put(&names->by_name, name, names->n, &i, err));
    if (i == names->n) {
        if (!CLV_PUSH_ROOM(s->arena, names->list, names->n, names->cap))
            return clv_fail_nomem(err, WHAT);
        names->list[names->n++] = (clv_body_rename){ .outside = outside, .inside = name };
    }
    *ret = &names->list[i];
    return CLV_OK;
}

/* A name that neither the new graph nor a body of the node has. */
static clv_status make_unused(collecting *s, clv_str name, clv_str *ret, clv_error *err)
{
    for (int32_t n = s->n_made;; n++) {
        char *text = clv_arena_printf(s->arena, "%.*s//%d", CLV_STR_ARG(name), (int)n);
        if (!text)
            return clv_fail_nomem(err, WHAT);
        *ret = clv_str_of(text);
        if (clv_map_get(s->around, *ret) < 0 && clv_map_get(&s->is_made, *ret) < 0)
            return add_made(s, *ret, err);
    }
}

clv_status clv_body_renames_init(clv_body_renames *names, const clv_new_node *node,
                                 const clv_graph *g, const clv_map *around, clv_arena *arena,
                                 clv_error *err)
{
    collecting s = { .names = names, .around = around, .arena = arena };
    clv_body_rename *name;
    *names = (clv_body_renames){ .n = 0 };
    CLV_TRY(clv_map_init(&names->by_name, arena, node->n_captured, err));
    CLV_TRY(clv_map_init(&s.is_made, arena, 0, err));
    for (int32_t i = 0; i < node->n_captured; i++)
        CLV_TRY(add_rename(&s, node->captured[i].from, node->captured[i].to, &name, err));
    CLV_TRY(find_made(&s, g, clv_op_at(g, node->source), err));
    for (int32_t i = 0, n = s.n_made; i < n; i++) {
        if (clv_map_get(around, s.made[i]) < 0)
            continue;
        CLV_TRY(add_rename(&s, s.made[i], s.made[i], &name, err));
        CLV_TRY(make_unused(&s, s.made[i], &name->inside, err));
    }
    return CLV_OK;
}

clv_str clv_body_renames_get(const clv_body_renames *names, clv_str name)
{
    int32_t i = names->n && name.n ? clv_map_get(&names->by_name, name) : -1;
    if (i < 0)
        return name;
    return names->list[i].n_makers ? names->list[i].inside : names->list[i].outside;
}

/* -- where the copying is -- */

/* The names in one field of a message. */
static clv_status count_field(clv_body_renames *names, clv_message m, uint32_t field, int32_t by,
                              clv_error *err)
{
    clv_field f;
    for (;;) {
        clv_str name;
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number != field || !f.n)
            continue;
        CLV_TRY(clv_message_str(&m, &f, &name, err));
        int32_t i = clv_map_get(&names->by_name, name);
        if (i >= 0)
            names->list[i].n_makers += by;
    }
}

static clv_status count_sparse(clv_body_renames *names, clv_message sparse, int32_t by,
                               clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&sparse, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number == S_VALUES)
            CLV_TRY(count_field(names,
                                clv_message_sub(&sparse, &f, &onnx__tensor_proto__descriptor),
                                T_NAME, by, err));
    }
}

clv_status clv_body_renames_move(clv_body_renames *names, clv_message body, int32_t by,
                                 clv_error *err)
{
    static const struct {
        uint32_t field, name;
        const ProtobufCMessageDescriptor *type;
    } makers[] = { { G_NODE, N_OUTPUT, &onnx__node_proto__descriptor },
                   { G_INPUT, V_NAME, &onnx__value_info_proto__descriptor },
                   { G_WEIGHT, T_NAME, &onnx__tensor_proto__descriptor } };
    clv_field f;
    while (names->n) {
        CLV_TRY(clv_message_next(&body, &f, err));
        if (!f.number)
            break;
        for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
            if (f.number == makers[i].field)
                CLV_TRY(count_field(names, clv_message_sub(&body, &f, makers[i].type),
                                    makers[i].name, by, err));
        if (f.number == G_SPARSE)
            CLV_TRY(count_sparse(names,
                                 clv_message_sub(&body, &f, &onnx__sparse_tensor_proto__descriptor),
                                 by, err));
    }
    return CLV_OK;
}
