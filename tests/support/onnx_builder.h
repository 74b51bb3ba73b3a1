/* onnx_builder.h - ONNX models for tests, in a few lines.
 *
 *     test_onnx *m = onnx_new(8, 17);                  // IR version, operator set
 *     test_graph *g = onnx_main(m);
 *     onnx_input(g, "x", 1, "batch,64");               // 1: FLOAT
 *     onnx_weight(g, "w", 1, "64,10");                 // zeros
 *     test_node *fc = onnx_node(g, "Gemm", "fc", "x,w", "y");
 *     onnx_attr_int(g, fc, "transB", 0);
 *     onnx_output(g, "y", 1, "batch,10");
 *     size_t n;
 *     uint8_t *bytes = onnx_pack(m, &n);               // free(bytes)
 *     onnx_free(m);
 *
 * Lists of names are separated by commas, an empty one is left out: "x,,w". A dimension is a
 * number, a symbol, or "?" for nothing; "" is a scalar and NULL no shape at all. Element types are
 * the numbers of TensorProto.DataType. Strings are copied. Packing is done by protobuf-c, so the
 * bytes do not come from the code under test. Running out of memory ends the test program.
 */
#ifndef CLV_TESTS_ONNX_BUILDER_H
#define CLV_TESTS_ONNX_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "notation/sharding_spec.h"

typedef struct test_onnx test_onnx;
typedef struct test_graph test_graph; /* the main graph, a body or a function */
typedef struct Onnx__NodeProto test_node;
typedef struct Onnx__TensorProto test_tensor;
typedef struct ProtobufCMessage test_message; /* any of them: the base of its struct */

/* ir_version 0 and opset 0: the field is left out. */
test_onnx *onnx_new(int ir_version, int opset);
void onnx_free(test_onnx *m);
test_graph *onnx_main(test_onnx *m);
test_graph *onnx_body(test_onnx *m, const char *name); /* hand it to onnx_attr_graph */
test_graph *onnx_function(test_onnx *m, const char *domain, const char *name, const char *overload);
void onnx_opset(test_onnx *m, const char *domain, int version);
void onnx_metadata(test_onnx *m, const char *key, const char *value);
/* A ModelProto.configuration, e.g. of another tool; devices as a list of names, or "". */
void onnx_configuration(test_onnx *m, const char *name, int num_devices, const char *devices);

void onnx_input(test_graph *g, const char *name, int dtype, const char *dims);
void onnx_output(test_graph *g, const char *name, int dtype, const char *dims);
void onnx_value(test_graph *g, const char *name, int dtype, const char *dims); /* value_info */
/* A quantization_annotation of a main graph or body: the tensor's parameter, "SCALE_TENSOR", is
 * that tensor. */
void onnx_quantization(test_graph *g, const char *tensor, const char *parameter, const char *name);
/* A function's inputs and outputs are names only: onnx_input(g, name, 0, NULL). */

/* Zeros in raw_data. */
test_tensor *onnx_weight(test_graph *g, const char *name, int dtype, const char *dims);
/* INT64 and FLOAT values in their typed fields. */
test_tensor *onnx_weight_ints(test_graph *g, const char *name, const char *dims,
                              const int64_t *values);
test_tensor *onnx_weight_floats(test_graph *g, const char *name, const char *dims,
                                const float *values);
/* Elements in another file; offset and length below 0: not written. */
test_tensor *onnx_weight_external(test_graph *g, const char *name, int dtype, const char *dims,
                                  const char *location, int64_t offset, int64_t length);
/* nnz elements of a dense tensor: values FLOAT [nnz], indices INT64 [nnz]. */
void onnx_sparse_weight(test_graph *g, const char *name, const char *dims, int nnz);
/* A tensor that belongs to no graph yet, zeros, for onnx_attr_tensor. */
test_tensor *onnx_tensor(test_onnx *m, const char *name, int dtype, const char *dims);

test_node *onnx_node(test_graph *g, const char *type, const char *name, const char *inputs,
                     const char *outputs);
void onnx_node_domain(test_graph *g, test_node *node, const char *domain, const char *overload);
/* A spec for the node, in its last entry if that is of this configuration, else in a new one. */
void onnx_node_spec(test_graph *g, test_node *node, const char *configuration,
                    const clv_sharding_spec *spec);
/* A device_configurations entry of another tool: stage -1: none; tensor NULL: no spec. */
void onnx_node_device(test_graph *g, test_node *node, const char *configuration, int stage,
                      const char *tensor, int device);

void onnx_attr_int(test_graph *g, test_node *node, const char *name, int64_t value);
void onnx_attr_float(test_graph *g, test_node *node, const char *name, float value);
void onnx_attr_string(test_graph *g, test_node *node, const char *name, const char *value);
void onnx_attr_ints(test_graph *g, test_node *node, const char *name, int n, const int64_t *values);
void onnx_attr_floats(test_graph *g, test_node *node, const char *name, int n, const float *values);
void onnx_attr_strings(test_graph *g, test_node *node, const char *name, const char *values);
void onnx_attr_tensor(test_graph *g, test_node *node, const char *name, test_tensor *value);
void onnx_attr_graph(test_graph *g, test_node *node, const char *name, test_graph *body);
void onnx_attr_graphs(test_graph *g, test_node *node, const char *name, int n,
                      test_graph *const *bodies);
void onnx_attr_type(test_graph *g, test_node *node, const char *name, int dtype, const char *dims);
/* In a function: take the caller's attribute; type is a number of AttributeProto.AttributeType. */
void onnx_attr_ref(test_graph *g, test_node *node, const char *name, const char *ref, int type);
/* A function's attribute with a default. */
void onnx_default_int(test_graph *function, const char *name, int64_t value);
void onnx_default_float(test_graph *function, const char *name, float value);

/* The message itself (struct Onnx__ModelProto), for what is not above; include proto/onnx.pb-c.h.
 */
struct Onnx__ModelProto *onnx_message(test_onnx *m);
/* A field that no version of the format has, in a message of the model that has none yet. */
void onnx_unknown(test_onnx *m, test_message *message);
/* malloc'd bytes, for the caller to free. */
uint8_t *onnx_pack(test_onnx *m, size_t *ret_n);
/* Writes the bytes to a file; ends the program when that fails. */
void onnx_write(test_onnx *m, const char *path);

#endif
