#include "support/onnx_builder.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/onnx.pb-c.h"

/* Messages are the generated structs of protobuf-c. All memory is taken from the model and given
 * back with it: each piece carries a link to the one before.
 */
typedef struct piece {
    struct piece *next;
    max_align_t data[];
} piece;

struct test_graph {
    test_onnx *m;
    Onnx__GraphProto *graph; /* or */
    Onnx__FunctionProto *function;
};

struct test_onnx {
    piece *pieces;
    Onnx__ModelProto model;
    Onnx__GraphProto graph;
    test_graph main;
};

static void *take(test_onnx *m, size_t n)
{
    piece *p = calloc(1, sizeof *p + n);
    if (!p)
        abort();
    p->next = m->pieces;
    m->pieces = p;
    return p->data;
}

static char *copy_n(test_onnx *m, const char *s, size_t n)
{
    char *copy = take(m, n + 1);
    memcpy(copy, s, n);
    return copy;
}

static char *copy(test_onnx *m, const char *s) { return s ? copy_n(m, s, strlen(s)) : NULL; }

/* A zeroed message of its type. */
static void *make(test_onnx *m, const ProtobufCMessageDescriptor *type)
{
    void *message = take(m, type->sizeof_message);
    type->message_init(message);
    return message;
}

/* Appends to a repeated field, whose room is the power of two at or above its length. */
static void *room_for_one(test_onnx *m, void *array, size_t n, size_t size)
{
    if (n & (n - 1))
        return array;
    void *bigger = take(m, (n ? 2 * n : 1) * size);
    if (n)
        memcpy(bigger, array, n * size);
    return bigger;
}

#define APPEND(m, message, field, value)                                                           \
    do {                                                                                           \
        (message)->field =                                                                         \
            room_for_one((m), (message)->field, (message)->n_##field, sizeof *(message)->field);   \
        (message)->field[(message)->n_##field++] = (value);                                        \
    } while (0)

/* Calls each(ctx, piece) for the pieces between commas; none for "". */
static void split(test_onnx *m, const char *list, void (*each)(test_onnx *, void *, char *),
                  void *ctx)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        each(m, ctx, copy_n(m, list, n));
        list += n;
        if (*list == ',' && !*++list)
            each(m, ctx, copy(m, ""));
    }
}

test_onnx *onnx_new(int ir_version, int opset)
{
    test_onnx *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    onnx__model_proto__init(&m->model);
    onnx__graph_proto__init(&m->graph);
    m->model.graph = &m->graph;
    m->model.has_ir_version = ir_version != 0;
    m->model.ir_version = ir_version;
    m->main = (test_graph){ m, &m->graph, NULL };
    m->graph.name = copy(m, "main");
    if (opset)
        onnx_opset(m, NULL, opset);
    return m;
}

void onnx_free(test_onnx *m)
{
    while (m && m->pieces) {
        piece *p = m->pieces;
        m->pieces = p->next;
        free(p);
    }
    free(m);
}

test_graph *onnx_main(test_onnx *m) { return &m->main; }
Onnx__ModelProto *onnx_message(test_onnx *m) { return &m->model; }

test_graph *onnx_body(test_onnx *m, const char *name)
{
    test_graph *g = take(m, sizeof *g);
    *g = (test_graph){ m, make(m, &onnx__graph_proto__descriptor), NULL };
    g->graph->name = copy(m, name);
    return g;
}

test_graph *onnx_function(test_onnx *m, const char *domain, const char *name, const char *overload)
{
    test_graph *g = take(m, sizeof *g);
    *g = (test_graph){ m, NULL, make(m, &onnx__function_proto__descriptor) };
    g->function->name = copy(m, name);
    g->function->domain = copy(m, domain);
    g->function->overload = copy(m, overload);
    for (size_t i = 0; i < m->model.n_opset_import; i++)
        APPEND(m, g->function, opset_import, m->model.opset_import[i]);
    APPEND(m, &m->model, functions, g->function);
    return g;
}

void onnx_opset(test_onnx *m, const char *domain, int version)
{
    Onnx__OperatorSetIdProto *set = make(m, &onnx__operator_set_id_proto__descriptor);
    set->domain = copy(m, domain);
    set->has_version = true;
    set->version = version;
    APPEND(m, &m->model, opset_import, set);
}

static Onnx__StringStringEntryProto *entry(test_onnx *m, const char *key, const char *value)
{
    Onnx__StringStringEntryProto *e = make(m, &onnx__string_string_entry_proto__descriptor);
    e->key = copy(m, key);
    e->value = copy(m, value);
    return e;
}

void onnx_metadata(test_onnx *m, const char *key, const char *value)
{
    APPEND(m, &m->model, metadata_props, entry(m, key, value));
}

static void add_device(test_onnx *m, void *configuration, char *name)
{
    Onnx__DeviceConfigurationProto *c = configuration;
    APPEND(m, c, device, name);
}

void onnx_configuration(test_onnx *m, const char *name, int num_devices, const char *devices)
{
    Onnx__DeviceConfigurationProto *c = make(m, &onnx__device_configuration_proto__descriptor);
    c->name = copy(m, name);
    c->has_num_devices = true;
    c->num_devices = num_devices;
    split(m, devices, add_device, c);
    APPEND(m, &m->model, configuration, c);
}

/* -- types -- */

static void add_dim(test_onnx *m, void *shape, char *text)
{
    Onnx__TensorShapeProto *s = shape;
    Onnx__TensorShapeProto__Dimension *d =
        make(m, &onnx__tensor_shape_proto__dimension__descriptor);
    char *end = text;
    long long number = strtoll(text, &end, 10);
    if (*text && !*end) {
        d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        d->dim_value = number;
    } else if (strcmp(text, "?") != 0) {
        d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
        d->dim_param = text;
    }
    APPEND(m, s, dim, d);
}

static Onnx__TypeProto *tensor_type(test_onnx *m, int dtype, const char *dims)
{
    Onnx__TypeProto *type = make(m, &onnx__type_proto__descriptor);
    Onnx__TypeProto__Tensor *tensor = make(m, &onnx__type_proto__tensor__descriptor);
    tensor->has_elem_type = true;
    tensor->elem_type = dtype;
    if (dims) {
        tensor->shape = make(m, &onnx__tensor_shape_proto__descriptor);
        split(m, dims, add_dim, tensor->shape);
    }
    type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type->tensor_type = tensor;
    return type;
}

static Onnx__ValueInfoProto *value(test_onnx *m, const char *name, int dtype, const char *dims)
{
    Onnx__ValueInfoProto *v = make(m, &onnx__value_info_proto__descriptor);
    v->name = copy(m, name);
    v->type = dtype ? tensor_type(m, dtype, dims) : NULL;
    return v;
}

void onnx_input(test_graph *g, const char *name, int dtype, const char *dims)
{
    if (g->function)
        APPEND(g->m, g->function, input, copy(g->m, name));
    else
        APPEND(g->m, g->graph, input, value(g->m, name, dtype, dims));
}

void onnx_output(test_graph *g, const char *name, int dtype, const char *dims)
{
    if (g->function)
        APPEND(g->m, g->function, output, copy(g->m, name));
    else
        APPEND(g->m, g->graph, output, value(g->m, name, dtype, dims));
}

void onnx_value(test_graph *g, const char *name, int dtype, const char *dims)
{
    if (g->function)
        APPEND(g->m, g->function, value_info, value(g->m, name, dtype, dims));
    else
        APPEND(g->m, g->graph, value_info, value(g->m, name, dtype, dims));
}

void onnx_quantization(test_graph *g, const char *tensor, const char *parameter, const char *name)
{
    Onnx__TensorAnnotation *a = make(g->m, &onnx__tensor_annotation__descriptor);
    a->tensor_name = copy(g->m, tensor);
    APPEND(g->m, a, quant_parameter_tensor_names, entry(g->m, parameter, name));
    APPEND(g->m, g->graph, quantization_annotation, a);
}

/* -- tensors -- */

static void add_tensor_dim(test_onnx *m, void *tensor, char *text)
{
    Onnx__TensorProto *t = tensor;
    APPEND(m, t, dims, strtoll(text, NULL, 10));
}

static test_tensor *bare_tensor(test_onnx *m, const char *name, int dtype, const char *dims)
{
    Onnx__TensorProto *t = make(m, &onnx__tensor_proto__descriptor);
    t->name = copy(m, name);
    t->has_data_type = true;
    t->data_type = dtype;
    split(m, dims, add_tensor_dim, t);
    return t;
}

static size_t n_elements(const test_tensor *t)
{
    size_t n = 1;
    for (size_t i = 0; i < t->n_dims; i++)
        n *= (size_t)t->dims[i];
    return n;
}

static size_t bits_of(int dtype)
{
    static const uint8_t bits[] = { 0,  32,  8,  8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64,
                                    64, 128, 16, 8, 8,  8,  8,  4,  4, 4, 8,  2,  2 };
    return bits[dtype];
}

test_tensor *onnx_tensor(test_onnx *m, const char *name, int dtype, const char *dims)
{
    test_tensor *t = bare_tensor(m, name, dtype, dims);
    t->has_raw_data = true;
    t->raw_data.len = (n_elements(t) * bits_of(dtype) + 7) / 8;
    t->raw_data.data = take(m, t->raw_data.len);
    return t;
}

test_tensor *onnx_weight(test_graph *g, const char *name, int dtype, const char *dims)
{
    test_tensor *t = onnx_tensor(g->m, name, dtype, dims);
    APPEND(g->m, g->graph, initializer, t);
    return t;
}

test_tensor *onnx_weight_ints(test_graph *g, const char *name, const char *dims,
                              const int64_t *values)
{
    test_tensor *t = bare_tensor(g->m, name, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, dims);
    for (size_t i = 0, n = n_elements(t); i < n; i++)
        APPEND(g->m, t, int64_data, values[i]);
    APPEND(g->m, g->graph, initializer, t);
    return t;
}

test_tensor *onnx_weight_floats(test_graph *g, const char *name, const char *dims,
                                const float *values)
{
    test_tensor *t = bare_tensor(g->m, name, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, dims);
    for (size_t i = 0, n = n_elements(t); i < n; i++)
        APPEND(g->m, t, float_data, values[i]);
    APPEND(g->m, g->graph, initializer, t);
    return t;
}

test_tensor *onnx_weight_external(test_graph *g, const char *name, int dtype, const char *dims,
                                  const char *location, int64_t offset, int64_t length)
{
    test_tensor *t = bare_tensor(g->m, name, dtype, dims);
    char text[32];
    t->has_data_location = true;
    t->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    APPEND(g->m, t, external_data, entry(g->m, "location", location));
    snprintf(text, sizeof text, "%lld", (long long)offset);
    if (offset >= 0)
        APPEND(g->m, t, external_data, entry(g->m, "offset", text));
    snprintf(text, sizeof text, "%lld", (long long)length);
    if (length >= 0)
        APPEND(g->m, t, external_data, entry(g->m, "length", text));
    APPEND(g->m, g->graph, initializer, t);
    return t;
}

void onnx_sparse_weight(test_graph *g, const char *name, const char *dims, int nnz)
{
    Onnx__SparseTensorProto *s = make(g->m, &onnx__sparse_tensor_proto__descriptor);
    char n[32];
    snprintf(n, sizeof n, "%d", nnz);
    s->values = onnx_tensor(g->m, name, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, n);
    s->indices = onnx_tensor(g->m, NULL, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, n);
    test_tensor *dense = bare_tensor(g->m, NULL, 1, dims);
    s->dims = dense->dims;
    s->n_dims = dense->n_dims;
    APPEND(g->m, g->graph, sparse_initializer, s);
}

/* -- nodes -- */

static void add_node_input(test_onnx *m, void *node, char *name)
{
    test_node *n = node;
    APPEND(m, n, input, name);
}

static void add_node_output(test_onnx *m, void *node, char *name)
{
    test_node *n = node;
    APPEND(m, n, output, name);
}

test_node *onnx_node(test_graph *g, const char *type, const char *name, const char *inputs,
                     const char *outputs)
{
    test_node *node = make(g->m, &onnx__node_proto__descriptor);
    node->op_type = copy(g->m, type);
    node->name = copy(g->m, name);
    split(g->m, inputs, add_node_input, node);
    split(g->m, outputs, add_node_output, node);
    if (g->function)
        APPEND(g->m, g->function, node, node);
    else
        APPEND(g->m, g->graph, node, node);
    return node;
}

void onnx_node_domain(test_graph *g, test_node *node, const char *domain, const char *overload)
{
    node->domain = copy(g->m, domain);
    node->overload = copy(g->m, overload);
}

void onnx_node_device(test_graph *g, test_node *node, const char *configuration, int stage,
                      const char *tensor, int device)
{
    test_onnx *m = g->m;
    Onnx__NodeDeviceConfigurationProto *c =
        make(m, &onnx__node_device_configuration_proto__descriptor);
    c->configuration_id = copy(m, configuration);
    c->has_pipeline_stage = stage != -1;
    c->pipeline_stage = stage;
    if (tensor) {
        Onnx__ShardingSpecProto *spec = make(m, &onnx__sharding_spec_proto__descriptor);
        spec->tensor_name = copy(m, tensor);
        APPEND(m, spec, device, device);
        APPEND(m, c, sharding_spec, spec);
    }
    APPEND(m, node, device_configurations, c);
}

static void put_dim(test_onnx *m, Onnx__ShardingSpecProto *to, const clv_sharded_dim *from)
{
    Onnx__ShardedDimProto *dim = make(m, &onnx__sharded_dim_proto__descriptor);

    dim->has_axis = true;
    dim->axis = from->axis;
    for (int i = 0; i < from->n_simple; i++) {
        Onnx__SimpleShardedDimProto *one = make(m, &onnx__simple_sharded_dim_proto__descriptor);
        one->has_num_shards = true;
        one->num_shards = from->simple[i].num_shards;
        if (from->simple[i].dim >= 0) {
            one->dim_case = ONNX__SIMPLE_SHARDED_DIM_PROTO__DIM_DIM_VALUE;
            one->dim_value = from->simple[i].dim;
        }
        APPEND(m, dim, simple_sharding, one);
    }
    APPEND(m, to, sharded_dim, dim);
}

void onnx_node_spec(test_graph *g, test_node *node, const char *configuration,
                    const clv_sharding_spec *from)
{
    test_onnx *m = g->m;
    size_t n = node->n_device_configurations;
    Onnx__ShardingSpecProto *spec = make(m, &onnx__sharding_spec_proto__descriptor);

    if (n == 0 || strcmp(node->device_configurations[n - 1]->configuration_id, configuration) != 0)
        onnx_node_device(g, node, configuration, -1, NULL, 0);
    spec->tensor_name = copy(m, from->tensor);
    for (int i = 0; i < from->n_device; i++)
        APPEND(m, spec, device, from->device[i]);
    for (int i = 0; i < from->n_groups; i++) {
        Onnx__IntIntListEntryProto *group = make(m, &onnx__int_int_list_entry_proto__descriptor);
        group->has_key = true;
        group->key = from->groups[i].key;
        for (int k = 0; k < from->groups[i].n_devices; k++)
            APPEND(m, group, value, from->groups[i].devices[k]);
        APPEND(m, spec, index_to_device_group_map, group);
    }
    for (int i = 0; i < from->n_dims; i++)
        put_dim(m, spec, &from->dims[i]);
    APPEND(m, node->device_configurations[node->n_device_configurations - 1], sharding_spec, spec);
}

/* -- attributes -- */

static Onnx__AttributeProto *attribute(test_graph *g, test_node *node, const char *name,
                                       Onnx__AttributeProto__AttributeType type)
{
    Onnx__AttributeProto *a = make(g->m, &onnx__attribute_proto__descriptor);
    a->name = copy(g->m, name);
    a->has_type = true;
    a->type = type;
    if (node)
        APPEND(g->m, node, attribute, a);
    else
        APPEND(g->m, g->function, attribute_proto, a);
    return a;
}

#define ATTRIBUTE(type) attribute(g, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__##type)

void onnx_attr_int(test_graph *g, test_node *node, const char *name, int64_t v)
{
    Onnx__AttributeProto *a = ATTRIBUTE(INT);
    a->has_i = true;
    a->i = v;
}

void onnx_attr_float(test_graph *g, test_node *node, const char *name, float v)
{
    Onnx__AttributeProto *a = ATTRIBUTE(FLOAT);
    a->has_f = true;
    a->f = v;
}

void onnx_default_int(test_graph *g, const char *name, int64_t v)
{
    onnx_attr_int(g, NULL, name, v);
}

void onnx_default_float(test_graph *g, const char *name, float v)
{
    onnx_attr_float(g, NULL, name, v);
}

void onnx_attr_string(test_graph *g, test_node *node, const char *name, const char *v)
{
    Onnx__AttributeProto *a = ATTRIBUTE(STRING);
    a->has_s = true;
    a->s.len = strlen(v);
    a->s.data = (uint8_t *)copy(g->m, v);
}

void onnx_attr_ints(test_graph *g, test_node *node, const char *name, int n, const int64_t *values)
{
    Onnx__AttributeProto *a = ATTRIBUTE(INTS);
    for (int i = 0; i < n; i++)
        APPEND(g->m, a, ints, values[i]);
}

void onnx_attr_floats(test_graph *g, test_node *node, const char *name, int n, const float *values)
{
    Onnx__AttributeProto *a = ATTRIBUTE(FLOATS);
    for (int i = 0; i < n; i++)
        APPEND(g->m, a, floats, values[i]);
}

static void add_string(test_onnx *m, void *attr, char *text)
{
    Onnx__AttributeProto *a = attr;
    ProtobufCBinaryData data = { strlen(text), (uint8_t *)text };
    APPEND(m, a, strings, data);
}

void onnx_attr_strings(test_graph *g, test_node *node, const char *name, const char *values)
{
    split(g->m, values, add_string, ATTRIBUTE(STRINGS));
}

void onnx_attr_tensor(test_graph *g, test_node *node, const char *name, test_tensor *v)
{
    ATTRIBUTE(TENSOR)->t = v;
}

void onnx_attr_graph(test_graph *g, test_node *node, const char *name, test_graph *body)
{
    ATTRIBUTE(GRAPH)->g = body->graph;
}

void onnx_attr_graphs(test_graph *g, test_node *node, const char *name, int n,
                      test_graph *const *bodies)
{
    Onnx__AttributeProto *a = ATTRIBUTE(GRAPHS);
    for (int i = 0; i < n; i++)
        APPEND(g->m, a, graphs, bodies[i]->graph);
}

void onnx_attr_type(test_graph *g, test_node *node, const char *name, int dtype, const char *dims)
{
    ATTRIBUTE(TYPE_PROTO)->tp = tensor_type(g->m, dtype, dims);
}

void onnx_attr_ref(test_graph *g, test_node *node, const char *name, const char *ref, int type)
{
    Onnx__AttributeProto *a = attribute(g, node, name, (Onnx__AttributeProto__AttributeType)type);
    a->ref_attr_name = copy(g->m, ref);
}

/* -- bytes -- */

void onnx_unknown(test_onnx *m, test_message *message)
{
    static const uint8_t data[] = { 1, 'u' }; /* length and bytes */
    ProtobufCMessageUnknownField *f = take(m, sizeof *f);
    f->tag = 100;
    f->wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
    f->len = sizeof data;
    f->data = take(m, sizeof data);
    memcpy(f->data, data, sizeof data);
    message->n_unknown_fields = 1;
    message->unknown_fields = f;
}

uint8_t *onnx_pack(test_onnx *m, size_t *ret_n)
{
    size_t n = onnx__model_proto__get_packed_size(&m->model);
    uint8_t *bytes = malloc(n ? n : 1);
    if (!bytes)
        abort();
    *ret_n = onnx__model_proto__pack(&m->model, bytes);
    return bytes;
}

void onnx_write(test_onnx *m, const char *path)
{
    size_t n;
    uint8_t *bytes = onnx_pack(m, &n);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) {
        perror(path);
        abort();
    }
    free(bytes);
}
