/* emit.h - the program of a phase written down as nodes: for one device, with collectives as nodes
 * of a dialect, or for all devices side by side, with collectives as standard operators.
 *
 * What comes out is data for proto/onnx_write.h: nodes, small constants, and which part of which
 * weight goes under which name. Parts of weights are not read here. This header has what is written
 * and how a node, a name or a constant is added; emit_phase.h goes through a program.
 */
#ifndef CLV_LOWER_EMIT_H
#define CLV_LOWER_EMIT_H

#include "base/map.h"
#include "lower/spmd.h"
#include "proto/onnx_write.h"

typedef enum {
    CLV_DIALECT_PLAIN,   /* all devices are in one file: standard operators */
    CLV_DIALECT_ORT,     /* com.microsoft AllReduce, AllGather and AllToAll */
    CLV_DIALECT_TENSORRT /* DistCollective */
} clv_dialect;

/* Tensors by name, with the types of their elements. */
typedef struct {
    clv_str name;
    clv_dtype dtype;
} clv_typed_name;
typedef struct {
    const clv_typed_name *at;
    int32_t n;
} clv_typed_names;

/* A part of a weight, under a name in the new file. */
typedef struct {
    clv_str name;
    int32_t weight; /* of the source's main graph */
    clv_spmd_shard shard;
    int32_t rank; /* of the part itself */
    const int64_t *dims;
    bool whole;
} clv_emit_weight;

/* A node of a dialect, for the manifest. */
typedef struct {
    clv_str node;
    clv_step_kind kind; /* one that sends something; no permute */
    clv_reduce reduce;  /* of an all-reduce or reduce-scatter */
    int32_t axis;       /* of the others: along which parts are put together */
    uint32_t mesh_axes; /* devices that differ in these are a group, */
    int32_t order[CLV_MESH_AXES_MAX], n_order; /* counted with the first of these slowest */
    int64_t elems, bytes;                      /* that a device has before, as they are sent */
    int32_t phase;
} clv_emit_collective;

typedef struct {
    const clv_spmd *s;
    clv_dialect dialect;
    int32_t only;  /* the position that is written down; -1: all */
    int32_t opset; /* of the standard operators */
    clv_arena *arena;
    clv_str *name; /* [value * positions that are written + position]; empty: not made yet */
    clv_new_node *nodes;
    clv_new_tensor *tensors;
    clv_emit_weight *weights;
    clv_emit_collective *collectives;
    clv_new_value *values; /* types of what collectives give, which no runtime can infer */
    int32_t n_nodes, n_tensors, n_weights, n_collectives, n_values;
    int32_t cap_nodes, cap_tensors, cap_weights, cap_collectives, cap_values;
    bool uses_microsoft; /* a node is of com.microsoft */
    /* inside */
    clv_map taken;     /* names; 1 + its number: of a node's output, 0: of anything else */
    clv_map constants; /* by content: into tensors */
    clv_map parts;     /* of weights, by content: into weights */
    int32_t phase;
    clv_typed_name collected; /* by the last collective of the phase; empty: there is none yet */
    int64_t *low, *high;      /* of the factors of the operator at hand */
    bool *first;
    int32_t cap_factors;
    clv_str *io; /* by position: of the step at hand */
    clv_str *in; /* by input, then by position: of the operator at hand */
    int32_t cap_in;
} clv_emit;

/* Ready for the phases of a program. only: as above; dialect plain needs -1. */
clv_status clv_emit_init(clv_emit *e, const clv_spmd *s, clv_dialect dialect, int32_t only,
                         clv_arena *arena, clv_error *err);

/* Is the device at a position written down? */
static inline bool clv_emit_active(const clv_emit *e, int32_t position)
{
    return e->only < 0 || e->only == position;
}
/* Where the name of a value is kept, for a device that is written down. */
static inline clv_str *clv_emit_name(const clv_emit *e, int32_t value, int32_t position)
{
    return e->only < 0 ? &e->name[(int64_t)value * e->s->mesh.n_devices + position]
                       : &e->name[value];
}

/* -- names -- */

/* A name that nothing else has, made of this one: with the device behind it where several are side
 * by side. made: by a node. */
clv_status clv_emit_fresh(clv_emit *e, clv_str base, int32_t position, bool made, clv_str *ret,
                          clv_error *err);
/* What a node is called that the source does not have. Not as its output: in many models operators
 * are called as what they make, and the operator that made this keeps its name. */
clv_status clv_emit_node_name(clv_emit *e, const char *type, clv_str out, clv_str *ret,
                              clv_error *err);

/* Tensors by name: what a node reads. CLV_NAMES(a, b) lives as long as the block around it. */
typedef struct {
    const clv_str *at;
    int32_t n;
} clv_names;
#define CLV_NAMES(...)                                                                             \
    ((clv_names){ (clv_str[]){ __VA_ARGS__ },                                                      \
                  sizeof((clv_str[]){ __VA_ARGS__ }) / sizeof(clv_str) })

/* -- nodes -- */

/* For what nodes are added: names of what they give are made of `name`, for the device at a
 * position; -1: for none of its own. */
typedef struct {
    clv_emit *e;
    clv_str name;
    int32_t position;
} clv_emit_scope;

/* A node as it is; names are copied no further. */
clv_status clv_emit_push(clv_emit *e, const clv_new_node *node, clv_error *err);
/* A new node of the standard domain without attributes; *ret: its one output. */
clv_status clv_emit_node(const clv_emit_scope *scope, const char *type, clv_names in, clv_str *ret,
                         clv_error *err);
/* The same with attributes, which are copied. */
typedef struct {
    const clv_new_attr *at;
    int32_t n;
} clv_new_attrs;
clv_status clv_emit_node_with(const clv_emit_scope *scope, const char *type, clv_names in,
                              clv_new_attrs attrs, clv_str *ret, clv_error *err);

/* -- constants -- */

/* Of a tensor, or of a view of it. */
typedef struct {
    clv_dtype dtype;
    int32_t rank;
    const int64_t *dims;
} clv_emit_type;

int64_t clv_emit_elems(const clv_emit_type *type); /* the product of its dims */

/* A tensor of packed little-endian bytes, one for each content. O(bytes). */
clv_status clv_emit_constant(clv_emit *e, const clv_emit_type *type, const void *bytes,
                             int64_t n_bytes, clv_str *ret, clv_error *err);
/* Whole numbers as a tensor of rank 1. */
clv_status clv_emit_ints(clv_emit *e, const int64_t *at, int32_t n, clv_str *ret, clv_error *err);

#endif
