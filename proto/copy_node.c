#include "proto/copy_node.h"

#include "proto/onnx.pb-c.h"

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

static clv_status copy_graph(clv_copying *c, const clv_message *m, const clv_field *f,
                             clv_error *err);

/* node: has attributes instead of the source's of the same name; NULL: none. */
static clv_status copy_attr(clv_copying *c, const clv_message *m, const clv_field *f,
                            const clv_new_node *node, clv_error *err)
{
    clv_open_message to = { 0 };
    const clv_message attr = clv_message_sub(m, f, &onnx__attribute_proto__descriptor);
    clv_message walk = attr;
    clv_field inner;
    clv_str name = { NULL, 0 };
    bool has_graph = false;
    for (;;) {
        CLV_TRY(clv_message_next(&walk, &inner, err));
        if (!inner.number)
            break;
        if (inner.number == A_NAME)
            CLV_TRY(clv_message_str(&walk, &inner, &name, err));
        has_graph = has_graph || inner.number == A_GRAPH || inner.number == A_GRAPHS;
    }
    for (int32_t i = 0; node && i < node->n_attrs; i++)
        if (clv_str_eq(node->attrs[i].name, name))
            return CLV_OK;
    if (!has_graph)
        return clv_put_field(c->put, m, f, err);
    CLV_TRY(clv_put_begin(c->put, f->number, &to, err));
    for (walk = attr;;) {
        CLV_TRY(clv_message_next(&walk, &inner, err));
        if (!inner.number)
            return clv_put_end(c->put, &to, err);
        if (inner.number == A_GRAPH || inner.number == A_GRAPHS)
            CLV_TRY(copy_graph(c, &walk, &inner, err));
        else
            CLV_TRY(clv_put_field(c->put, &walk, &inner, err));
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
        switch (inner.number) {
        case N_INPUT:
        case N_OUTPUT:
            CLV_TRY(put_name(c, &node, &inner, err));
            break;
        case N_ATTRIBUTE:
            CLV_TRY(copy_attr(c, &node, &inner, NULL, err));
            break;
        case N_DEVICES:
            break;
        default: /* a number from the file */
            CLV_TRY(clv_put_field(c->put, &node, &inner, err));
        }
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

static clv_status copy_graph(clv_copying *c, const clv_message *m, const clv_field *f,
                             clv_error *err)
{
    clv_open_message to = { 0 };
    const clv_message graph = clv_message_sub(m, f, &onnx__graph_proto__descriptor);
    clv_message walk = graph;
    CLV_TRY(clv_message_enter_graph(&graph, &c->depth, err));
    CLV_TRY(clv_put_begin(c->put, f->number, &to, err));
    CLV_TRY(clv_body_renames_move(&c->names, graph, 1, err));
    for (;;) {
        clv_field inner;
        CLV_TRY(clv_message_next(&walk, &inner, err));
        if (!inner.number)
            break;
        const named *names = c->names.n ? names_in(inner.number) : NULL;
        if (inner.number == G_NODE)
            CLV_TRY(copy_inner_node(c, &walk, &inner, err));
        else if (names)
            CLV_TRY(put_named(c, &walk, &inner, names, err));
        else
            CLV_TRY(clv_put_field(c->put, &walk, &inner, err));
    }
    CLV_TRY(clv_body_renames_move(&c->names, graph, -1, err));
    c->depth--;
    return clv_put_end(c->put, &to, err);
}

/* -- nodes of the main graph -- */

/* Does node say anew what a field of its source says, or leave it out? */
static bool is_replaced(const clv_new_node *node, uint32_t field)
{
    switch (field) {
    case N_INPUT:
    case N_OUTPUT:
    case N_DEVICES:
        return true;
    case N_NAME:
        return node->name.n > 0;
    case N_TYPE:
        return node->type.n > 0;
    case N_DOMAIN:
        return node->domain.n > 0;
    case N_OVERLOAD: /* of the function that it was of */
        return node->type.n > 0 || node->domain.n > 0;
    default: /* a number from the file */
        return false;
    }
}

clv_status clv_copy_node(clv_copying *c, const clv_new_node *node, const clv_graph *g,
                         clv_error *err)
{
    clv_message m;
    clv_field f;
    clv_mark mark = clv_arena_mark(c->scratch);
    CLV_TRY(clv_message_index_node(c->index, clv_op_at(g, node->source)->file_index, &m, err));
    CLV_TRY(clv_body_renames_init(&c->names, node, g, c->around, c->scratch, err));
    c->depth = 1; /* the main graph */
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == N_ATTRIBUTE)
            CLV_TRY(copy_attr(c, &m, &f, node, err));
        else if (!is_replaced(node, f.number))
            CLV_TRY(clv_put_field(c->put, &m, &f, err));
    }
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
