/* graph.h - a model as operators and tensors, frozen.
 *
 * A graph is built once (graph_build.h) and never changes afterwards, so every later stage may read
 * it from any thread without a lock. It lives in an arena, and its strings stay in the model's
 * bytes: arena and bytes must outlive it.
 *
 * Operators and tensors are dense ids, so a side table is a plain array with n_ops or n_tensors
 * entries. The two ids are distinct types: indexing a table by the wrong one does not compile.
 *
 * Operators are kept in topological order: if b reads what a wrote, a.i < b.i. Ties keep the order
 * of the model file, so the same file always gives the same ids.
 *
 * A body (of If, Loop, Scan, or of a model-local function) is a graph of its own. What a body takes
 * from around it is an OUTER tensor in the body and an implicit input of the operator that owns it.
 */
#ifndef CLV_GRAPH_GRAPH_H
#define CLV_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/open_inside.h"
#include "base/str.h"
#include "graph/dtype.h"

typedef struct clv_graph clv_graph;
typedef struct clv_model clv_model;

typedef struct {
    int32_t i;
} clv_op;
typedef struct {
    int32_t i;
} clv_tensor;

#define CLV_NO_OP     ((clv_op){ -1 })
#define CLV_NO_TENSOR ((clv_tensor){ -1 }) /* an optional input or output that is left out */

/* A dimension, or an element of a folded integer value: a number, a symbol of the model
 * (clv_model.symbols), or unknown. Real values are far from the codes.
 */
typedef int64_t clv_dim;
#define CLV_DIM_UNKNOWN INT64_MIN
#define CLV_DIM_SYMBOL0 (INT64_MIN + 1)

static inline clv_dim clv_dim_symbol(int32_t symbol) { return CLV_DIM_SYMBOL0 + symbol; }
static inline bool clv_dim_is_symbol(clv_dim d)
{
    return d >= CLV_DIM_SYMBOL0 && d < CLV_DIM_SYMBOL0 + INT32_MAX;
}
static inline bool clv_dim_is_number(clv_dim d) { return d >= CLV_DIM_SYMBOL0 + INT32_MAX; }
static inline int32_t clv_dim_symbol_id(clv_dim d) { return (int32_t)(d - CLV_DIM_SYMBOL0); }

typedef enum {
    CLV_TYPE_UNKNOWN, /* nothing is known */
    CLV_TYPE_TENSOR,
    CLV_TYPE_SPARSE,
    CLV_TYPE_SEQUENCE, /* of elem */
    CLV_TYPE_OPTIONAL, /* of elem */
    CLV_TYPE_MAP,      /* to elem */
    CLV_TYPE_OPAQUE
} clv_type_kind;

#define CLV_RANK_UNKNOWN (-1)
#define CLV_RANK_MAX     64 /* far above any model's; a limit for hostile files */

typedef struct clv_type {
    clv_type_kind kind;
    clv_dtype dtype; /* UNDEFINED when unknown */
    int32_t rank;    /* CLV_RANK_UNKNOWN; meaningful for TENSOR and SPARSE */
    const clv_dim *dims;
    const struct clv_type *elem;
} clv_type;

/* The elements of a small tensor, row-major: integers and booleans in i, floating point in f. */
typedef struct {
    int32_t n;
    const clv_dim *i; /* exactly one of i and f */
    const double *f;
} clv_value;

/* Largest tensor whose elements are kept for folding: shapes, axes, ranges, small masks. */
#define CLV_VALUE_MAX 4096

/* A constant of the file: an initialiser or the tensor of an attribute. Its payload is not read,
 * only where it lies.
 */
typedef struct {
    clv_str name;
    clv_dtype dtype;
    int32_t rank;
    const int64_t *dims;  /* not negative */
    int64_t elems, bytes; /* sparse: of the values and indices stored, not of the dense tensor */
    bool sparse;
    bool external;          /* in another file: location, offset, length as written */
    clv_str location;       /* relative to the model's folder */
    int64_t offset, length; /* length -1: to the end of that file, or to bytes */
    const clv_value *value; /* NULL: too big, external, or of a type that is never folded */
} clv_const;

typedef enum {
    CLV_ATTR_NONE,
    CLV_ATTR_FLOAT,
    CLV_ATTR_INT,
    CLV_ATTR_STRING,
    CLV_ATTR_TENSOR, /* sparse ones too */
    CLV_ATTR_GRAPH,
    CLV_ATTR_TYPE,
    CLV_ATTR_FLOATS,
    CLV_ATTR_INTS,
    CLV_ATTR_STRINGS,
    CLV_ATTR_TENSORS,
    CLV_ATTR_GRAPHS,
    CLV_ATTR_TYPES
} clv_attr_kind;

typedef struct {
    clv_str name;
    clv_str ref; /* in a function body: the name of the caller's attribute to use; else empty */
    clv_attr_kind kind;
    int32_t n; /* of the plural kinds; 1 for the others */
    union {
        int64_t i;
        float f;
        clv_str s;
        const clv_const *tensor; /* n of them for TENSORS */
        clv_graph *const *graph; /* n of them; GRAPH has 1 */
        const clv_type *type;
        const float *floats;
        const int64_t *ints;
        const clv_str *strings;
    };
} clv_attr;

#define CLV_OPKIND_UNKNOWN  (-1) /* no line in ops.def */
#define CLV_OPKIND_FUNCTION (-2) /* a call of a model-local function */

typedef struct {
    clv_str name;              /* as in the file; may be empty or repeated */
    clv_str label;             /* for people: the name, or one of ours; unique in its graph */
    clv_str type;              /* "MatMul" */
    clv_str domain;            /* "" is the standard one; "ai.onnx" is read as "" */
    int32_t kind;              /* line of ops.def (ops.h), or one of the two above */
    const clv_graph *function; /* the body, for CLV_OPKIND_FUNCTION */
    int32_t first_in, n_in;    /* into graph.inputs_of; explicit inputs, then implicit ones */
    int32_t n_implicit;        /* the last n_implicit of n_in: what bodies take from this graph */
    int32_t first_out, n_out;  /* into graph.outputs_of */
    int32_t first_attr, n_attr;
    int32_t file_index; /* position among the NodeProtos of its graph in the file */
} clv_op_info;

typedef enum {
    CLV_TENSOR_INPUT,  /* an input of the graph without an initialiser */
    CLV_TENSOR_WEIGHT, /* an initialiser, also where it is listed as an input too */
    CLV_TENSOR_RESULT, /* written by an operator */
    CLV_TENSOR_OUTER   /* in a body: a tensor of the graph around it */
} clv_tensor_role;

typedef struct {
    clv_str name;
    clv_tensor_role role;
    clv_op producer;          /* RESULT; else CLV_NO_OP */
    int32_t weight;           /* WEIGHT: into graph.weights; else -1 */
    clv_tensor outer;         /* OUTER: id in the parent graph; else none */
    bool is_output;           /* of its graph */
    const clv_type *declared; /* input, output or value_info type of the file; NULL if none */
    int32_t first_reader, n_readers; /* into graph.readers_of; each operator once, ascending */
} clv_tensor_info;

typedef struct {
    clv_str domain;
    int64_t version;
} clv_opset;

struct clv_graph {
    clv_str name;
    const clv_model *model;
    const clv_graph *parent; /* NULL: the main graph or a function */
    int32_t n_ops, n_tensors, n_weights, n_inputs, n_outputs;
    clv_op_info *ops;
    clv_tensor_info *tensors;
    clv_const *weights;
    clv_tensor *inputs;  /* in file order; those with an initialiser are left out */
    clv_tensor *outputs; /* in file order; a body may return an OUTER tensor or repeat one */
    clv_tensor *inputs_of, *outputs_of;
    clv_op *readers_of;
    clv_attr *attrs;
    const clv_opset *opsets; /* of the model, or of the function */
    int32_t n_opsets;
    /* functions only */
    clv_str function_domain, function_overload;
    const clv_attr *default_attrs; /* attribute_proto; names without default are not needed */
    int32_t n_default_attrs;
};

/* A model: what reading a file gives. */
struct clv_model {
    clv_str producer;
    int64_t ir_version;
    clv_graph *main;
    clv_graph *const *functions;
    int32_t n_functions;
    const clv_str *symbols; /* dim_param names, and "input[axis]" for dimensions without any */
    int32_t n_symbols;
    clv_str *warnings; /* things that are legal but unwise: repeated node names and the like */
    int32_t n_warnings;
    /* Files of external data as the model names them, relative to its folder, in order of first
     * mention; each ends in a NUL. */
    clv_str *external;
    clv_file_id *external_ids; /* which files they were when the model was read; NULL: not known */
    int32_t n_external;
};

static inline const clv_op_info *clv_op_at(const clv_graph *g, clv_op op) { return &g->ops[op.i]; }
static inline const clv_tensor_info *clv_tensor_at(const clv_graph *g, clv_tensor t)
{
    return &g->tensors[t.i];
}
static inline clv_tensor clv_op_input(const clv_graph *g, const clv_op_info *op, int32_t k)
{
    return k < op->n_in ? g->inputs_of[op->first_in + k] : CLV_NO_TENSOR;
}
static inline clv_tensor clv_op_output(const clv_graph *g, const clv_op_info *op, int32_t k)
{
    return k < op->n_out ? g->outputs_of[op->first_out + k] : CLV_NO_TENSOR;
}
static inline int32_t clv_op_n_explicit(const clv_op_info *op) { return op->n_in - op->n_implicit; }

/* The attribute of that name, or NULL. O(attributes of the operator). */
const clv_attr *clv_op_attr(const clv_graph *g, const clv_op_info *op, const char *name);
/* The version of the operator set that the graph imports for a domain; 0 if it imports none. */
int64_t clv_graph_opset(const clv_graph *g, clv_str domain);

/* Has the operator a time step for each element of dimension 0 of what it reads, and the batch in
 * dimension 1? */
static inline bool clv_op_is_recurrent(const clv_op_info *op)
{
    return clv_str_is(op->type, "LSTM") || clv_str_is(op->type, "GRU") ||
           clv_str_is(op->type, "RNN");
}

#endif
