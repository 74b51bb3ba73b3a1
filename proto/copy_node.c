#include "proto/copy_node.h"

#include "proto/onnx.pb-c.h"
#include "proto/read.h"

/* A field without a graph in it is kept as a range of the file. What has a graph is entered, since
 * its nodes may name captured tensors, and carry device_configurations.
 */
enum { M_FUNCTION = 25, F_NODE = 7 };
enum {
    G_NODE = 1,
    G_WEIGHT = 5,
    G_INPUT = 11,
    G_OUTPUT = 12,
    G_VALUE = 13,
    G_QUANTIZATION = 14,
    G_SPARSE = 15
};
enum {
    N_INPUT = 1,
    N_OUTPUT = 2,
    N_NAME = 3,
    N_TYPE = 4,
    N_ATTRIBUTE = 5,
    N_DOMAIN = 7,
    N_OVERLOAD = 8,
    N_DEVICES = 10
};
enum { A_NAME = 1, A_GRAPH = 6, A_GRAPHS = 11 };
enum { V_NAME = 1, T_NAME = 8, S_VALUES = 1 };
enum { Q_NAME = 1, Q_PARAMETER = 2, P_NAME = 2 }; /* TensorAnnotation, and its pairs */

/* -- names -- */

/* A field that is a name. */
static clv_status put_name(clv_copying *c, const clv_message *m, const clv_field *f, clv_error *err)
{
    clv_str name;
    CLV_TRY(clv_message_str(m, f, &name, err));
    clv_str to = clv_body_renames_get(&c->names, name);
    if (to.at == name.at)
        return clv_put_field(c->put, m, f, err);
    return clv_put_str(c->put, f->number, to, err);
}

/* Where a message has a name, and messages that have one more. */
typedef struct named {
    const ProtobufCMessageDescriptor *type;
    uint32_t name, part; /* fields; 0: none */
    const struct named *parts;
} named;

static const named value_names = { &onnx__value_info_proto__descriptor, V_NAME, 0, NULL };
static const named tensor_names = { &onnx__tensor_proto__descriptor, T_NAME, 0, NULL };
static const named sparse_names = { &onnx__sparse_tensor_proto__descriptor, 0, S_VALUES,
                                    &tensor_names };
static const named parameter_names = { &onnx__string_string_entry_proto__descriptor, P_NAME, 0,
                                       NULL };
static const named annotation_names = { &onnx__tensor_annotation__descriptor, Q_NAME, Q_PARAMETER,
                                        &parameter_names };

static clv_status put_named(clv_copying *c, const clv_message *m, const clv_field *f,
                            const named *names, clv_error *err)
{
    clv_open_message to = { 0 };
    clv_message sub = clv_message_sub(m, f, names->type);
    clv_field inner;
    CLV_TRY(clv_put_begin(c->put, f->number, &to, err));
    for (;;) {
        CLV_TRY(clv_message_next(&sub, &inner, err));
        if (!inner.number)
            return clv_put_end(c->put, &to, err);
        if (inner.number == names->name)
            CLV_TRY(put_name(c, &sub, &inner, err));
        else if (inner.number == names->part)
            CLV_TRY(put_named(c, &sub, &inner, names->parts, err));
        else
            CLV_TRY(clv_put_field(c->put, &sub, &inner, err));
    }
}

/* -- bodies -- */

typedef struct {
    clv_str name;
    bool has_graph;
} attr_look;

static clv_status look_at_attr(clv_message m, attr_look *ret, clv_error *err)
{
    clv_field f;
    *ret = (attr_look){ { NULL, 0 }, false };
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number == A_NAME)
            CLV_TRY(clv_message_str(&m, &f, &ret->name, err));
        ret->has_graph = ret->has_graph || f.number == A_GRAPH || f.number == A_GRAPHS;
    }
}

static clv_status copy_graph(clv_copying *c, const clv_message *m, const clv_field *f,
                             clv_error *err);

static clv_status copy_attr(clv_copying *c, const clv_message *m, const clv_field *f,
                            const attr_look *look, clv_error *err)
{
    clv_open_message to = { 0 };
    clv_message attr = clv_message_sub(m, f, &onnx__attribute_proto__descriptor);
    clv_field inner;
    if (!look->has_graph)
        return clv_put_field(c->put, m, f, err);
    CLV_TRY(clv_put_begin(c->put, f->number, &to, err));
    for (;;) {
        CLV_TRY(clv_message_next(&attr, &inner, err));
        if (!inner.number)
            return clv_put_end(c->put, &to, err);
        if (inner.number == A_GRAPH || inner.number == A_GRAPHS)
            CLV_TRY(copy_graph(c, &attr, &inner, err));
        else
            CLV_TRY(clv_put_field(c->put, &attr, &inner, err));
    }
}

static clv_status inner_node_field(clv_copying *c, const clv_message *m, const clv_field *f,
                                   clv_error *err)
{
    attr_look look;
    switch (f->number) {
    case N_INPUT:
    case N_OUTPUT:
        return put_name(c, m, f, err);
    case N_ATTRIBUTE:
        CLV_TRY(
            look_at_attr(clv_message_sub(m, f, &onnx__attribute_proto__descriptor), &look, err));
        return copy_attr(c, m, f, &look, err);
    case N_DEVICES:
        return CLV_OK;
    default: /* a number from the file */
        return clv_put_field(c->put, m, f, err);
    }
}

/* A node in a body or function. */
static clv_status copy_inner_node(clv_copying *c, const clv_message *m, const clv_field *f,
                                  clv_error *err)
{
    clv_open_message to = { 0 };
    clv_message node = clv_message_sub(m, f, &onnx__node_proto__descriptor);
    clv_field inner;
    CLV_TRY(clv_put_begin(c->put, f->number, &to, err));
    for (;;) {
        CLV_TRY(clv_message_next(&node, &inner, err));
        if (!inner.number)
            return clv_put_end(c->put, &to, err);
        CLV_TRY(inner_node_field(c, &node, &inner, err));
    }
}

/* Of a field of a body that names tensors; NULL: it names none, or is a node. */
static const named *names_in(uint32_t number)
{
    switch (number) {
    case G_INPUT:
    case G_OUTPUT:
    case G_VALUE:
        return &value_names;
    case G_WEIGHT:
        return &tensor_names;
    case G_SPARSE:
        return &sparse_names;
    case G_QUANTIZATION:
        return &annotation_names;
    default: /* a number from the file */
        return NULL;
    }
}

static clv_status graph_field(clv_copying *c, const clv_message *m, const clv_field *f,
                              clv_error *err)
{
    const named *names = names_in(f->number);
    if (f->number == G_NODE)
        return copy_inner_node(c, m, f, err);
    return names && c->names.n ? put_named(c, m, f, names, err) : clv_put_field(c->put, m, f, err);
}

static clv_status graph_fields(clv_copying *c, clv_message graph, clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&graph, &f, err));
        if (!f.number)
            return CLV_OK;
        CLV_TRY(graph_field(c, &graph, &f, err));
    }
}

static clv_status copy_graph(clv_copying *c, const clv_message *m, const clv_field *f,
                             clv_error *err)
{
    clv_open_message to = { 0 };
    clv_message graph = clv_message_sub(m, f, &onnx__graph_proto__descriptor);
    CLV_TRY(clv_graph_enter(c->index->file, &graph, &c->depth, err));
    CLV_TRY(clv_put_begin(c->put, f->number, &to, err));
    CLV_TRY(clv_body_renames_move(&c->names, graph, 1, err));
    CLV_TRY(graph_fields(c, graph, err));
    CLV_TRY(clv_body_renames_move(&c->names, graph, -1, err));
    c->depth--;
    return clv_put_end(c->put, &to, err);
}

/* -- nodes of the main graph -- */

static bool is_given(const clv_new_node *node, clv_str attr)
{
    for (int32_t i = 0; i < node->n_attrs; i++)
        if (clv_str_eq(node->attrs[i].name, attr))
            return true;
    return false;
}

static clv_status outer_attr(clv_copying *c, const clv_message *m, const clv_field *f,
                             const clv_new_node *node, clv_error *err)
{
    attr_look look;
    CLV_TRY(look_at_attr(clv_message_sub(m, f, &onnx__attribute_proto__descriptor), &look, err));
    return is_given(node, look.name) ? CLV_OK : copy_attr(c, m, f, &look, err);
}

static clv_status outer_node_field(clv_copying *c, const clv_message *m, const clv_field *f,
                                   const clv_new_node *node, clv_error *err)
{
    bool drop = false;
    switch (f->number) {
    case N_INPUT:
    case N_OUTPUT:
    case N_DEVICES:
        return CLV_OK;
    case N_NAME:
        drop = node->name.n > 0;
        break;
    case N_TYPE:
        drop = node->type.n > 0;
        break;
    case N_DOMAIN:
        drop = node->domain.n > 0;
        break;
    case N_OVERLOAD: /* of the function that it was of */
        drop = node->type.n > 0 || node->domain.n > 0;
        break;
    case N_ATTRIBUTE:
        return outer_attr(c, m, f, node, err);
    default: /* a number from the file */
        break;
    }
    return drop ? CLV_OK : clv_put_field(c->put, m, f, err);
}

static clv_status node_fields(clv_copying *c, clv_message m, const clv_new_node *node,
                              clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        CLV_TRY(outer_node_field(c, &m, &f, node, err));
    }
}

clv_status clv_copy_node(clv_copying *c, const clv_new_node *node, const clv_graph *g,
                         clv_error *err)
{
    clv_message source;
    clv_mark mark = clv_arena_mark(c->scratch);
    CLV_TRY(clv_message_index_node(c->index, clv_op_at(g, node->source)->file_index, &source, err));
    CLV_TRY(clv_body_renames_init(&c->names, node, g, c->around, c->scratch, err));
    c->depth = 1; /* the main graph */
    CLV_TRY(node_fields(c, source, node, err));
    clv_arena_rewind(c->scratch, mark);
    return CLV_OK;
}

/* -- functions -- */

clv_status clv_copy_function(clv_copying *c, int32_t i, clv_error *err)
{
    clv_open_message to = { 0 };
    clv_message m;
    clv_field f;
    CLV_TRY(clv_message_index_function(c->index, i, &m, err));
    c->names = (clv_body_renames){ .n = 0 }; /* it sees nothing around it */
    c->depth = 0;
    CLV_TRY(clv_put_begin(c->put, M_FUNCTION, &to, err));
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return clv_put_end(c->put, &to, err);
        if (f.number == F_NODE)
            CLV_TRY(copy_inner_node(c, &m, &f, err));
        else
            CLV_TRY(clv_put_field(c->put, &m, &f, err));
    }
}
