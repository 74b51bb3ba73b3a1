/* emit.h - writes the program of a phase down as nodes: for one device, with collectives as nodes
 * of a dialect, or for all devices side by side, with collectives as standard operators.
 *
 * What comes out is data for proto/onnx_write.h: nodes, small constants, and which part of which
 * weight goes under which name. Parts of weights are not read here.
 */
#ifndef CLV_LOWER_EMIT_H
#define CLV_LOWER_EMIT_H

#include "base/map.h"
#include "lower/spmd_steps.h"
#include "proto/onnx_write.h"
#include "sharding/spans.h"

typedef enum {
    CLV_DIALECT_PLAIN,   /* all devices are in one file: standard operators */
    CLV_DIALECT_ORT,     /* com.microsoft AllReduce, AllGather and AllToAll */
    CLV_DIALECT_TENSORRT /* DistCollective */
} clv_dialect;

/* A part of a weight, under a name in the new file. */
typedef struct {
    clv_str name;
    int32_t weight; /* of the source's main graph */
    clv_tensor tensor;
    clv_layout layout; /* with the position: which part */
    int32_t position;
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
    int64_t bytes;                             /* that a device has before */
    int32_t phase;
} clv_emit_collective;

/* The position of member k of the group that the device at a position is in. O(axes). */
int32_t clv_emit_member(const clv_mesh *mesh, const clv_emit_collective *c, int32_t position,
                        int32_t k);

typedef struct {
    const clv_spmd *s;
    clv_dialect dialect;
    int32_t only;  /* the position that is written down; -1: all */
    int32_t opset; /* of the standard operators */
    clv_arena *arena;
    clv_error *err;
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
    clv_str collected;   /* by the last collective of the phase; empty: there is none yet */
    int64_t *low, *high; /* of the factors of the operator at hand */
    bool *first;
    int32_t cap_factors;
    clv_str *io; /* by position: of the step at hand */
    clv_str *in; /* by input, then by position: of the operator at hand */
    int32_t cap_in;
} clv_emit;

/* Ready for the phases of a program. only: as above; dialect plain needs -1. */
clv_status clv_emit_init(clv_emit *e, const clv_spmd *s, clv_dialect dialect, int32_t only,
                         clv_arena *arena, clv_error *err);

/* The phase's inputs and received values must have names . Appends its nodes.
 * CLV_EUNSUPP: an operator cannot be written for parts; the sentence says why. O(instructions *
 * positions). */
clv_status clv_emit_phase(clv_emit *e, int32_t phase);

/* -- for the files of this folder -- */

static inline bool clv_emit_active(const clv_emit *e, int32_t position)
{
    return e->only < 0 || e->only == position;
}
static inline clv_str *clv_emit_name(const clv_emit *e, int32_t value, int32_t position)
{
    return e->only < 0 ? &e->name[(int64_t)value * e->s->mesh.n_devices + position]
                       : &e->name[value];
}

/* A name that nothing else has, made of this one: with the device behind it where several are side
 * by side. made: by a node. */
clv_status clv_emit_fresh(clv_emit *e, clv_str base, int32_t position, bool made, clv_str *ret);
/* Is the name that of a node's output? */
bool clv_emit_is_made(const clv_emit *e, clv_str name);

/* What a node is called that the source does not have. Not as its output: in many models operators
 * are called as what they make, and the operator that made this keeps its name. */
clv_status clv_emit_node_name(clv_emit *e, const char *type, clv_str out, clv_str *ret);
/* A node with one output of the standard domain; in: names, empty ones left out at the end. */
clv_status clv_emit_node(clv_emit *e, const char *type, const clv_str *in, int32_t n_in,
                         const clv_new_attr *attrs, int32_t n_attrs, clv_str want, int32_t position,
                         clv_str *ret);
/* A node as it is; names are copied no further. */
clv_status clv_emit_push(clv_emit *e, const clv_new_node *node);

/* Constants, each content once. */
clv_status clv_emit_constant(clv_emit *e, clv_dtype dtype, int32_t rank, const int64_t *dims,
                             const void *bytes, int64_t n_bytes, clv_str *ret);
clv_status clv_emit_ints(clv_emit *e, const int64_t *at, int32_t n, clv_str *ret); /* rank 1 */

typedef enum { CLV_FILL_ZERO, CLV_FILL_ONE, CLV_FILL_LOWEST, CLV_FILL_HIGHEST } clv_fill;
/* The number in the bytes of the dtype; how many there are, 0: the dtype has no such. */
int32_t clv_fill_bytes(clv_dtype dtype, clv_fill fill, uint8_t ret[static 16]);
/* A tensor of one number all over. */
clv_status clv_emit_filled(clv_emit *e, clv_dtype dtype, int32_t rank, const int64_t *dims,
                           clv_fill fill, clv_str *ret);
/* The same where it takes the place of something made of these tensors. Where a device has a file
 * of its own, it is made after them: a runtime would else be free to run what they are made of, and
 * the collectives in it, in another order than on devices that do read them. */
clv_status clv_emit_filled_after(clv_emit *e, const clv_str *after, int32_t n, clv_dtype dtype,
                                 int32_t rank, const int64_t *dims, clv_fill fill, clv_str want,
                                 int32_t position, clv_str *ret);

/* A tensor as it is, but made after another; operator sets before 6 have no nodes for that. */
clv_status clv_emit_after(clv_emit *e, clv_str in, int32_t rank, clv_str before, clv_str want,
                          clv_str *ret);
clv_status clv_emit_reshape(clv_emit *e, clv_str in, clv_dtype dtype, int32_t rank,
                            const int64_t *dims, clv_str want, int32_t position, clv_str *ret);
clv_status clv_emit_cast(clv_emit *e, clv_str in, clv_dtype to, clv_str want, int32_t position,
                         clv_str *ret);
/* Dimension i becomes what perm[i] was; nothing where all stay. */
clv_status clv_emit_transpose(clv_emit *e, clv_str in, int32_t rank, const int64_t *perm,
                              clv_str want, int32_t position, clv_str *ret);
/* n tensors behind each other; one: itself. */
clv_status clv_emit_concat(clv_emit *e, const clv_str *in, int32_t n, int32_t axis, clv_str want,
                           int32_t position, clv_str *ret);
/* The places in each dimension, of a tensor or view that has dims; places NULL: all of them. Where
 * places are given they are taken, even if they are all: devices of a group shall have the same
 * nodes. */
clv_status clv_emit_take(clv_emit *e, clv_str in, clv_dtype dtype, int32_t rank,
                         const int64_t *dims, const clv_spans *const *places, clv_str want,
                         int32_t position, clv_str *ret);
/* n tensors of one shape, element by element, as partial results become one. */
clv_status clv_emit_reduce(clv_emit *e, const clv_str *in, int32_t n, clv_reduce reduce,
                           clv_dtype dtype, clv_str want, int32_t position, clv_str *ret);

/* The same of blocks, one behind the other in the first dimension; what comes has one. */
clv_status clv_emit_reduce_blocks(clv_emit *e, clv_str in, int32_t rank, const int64_t *dims,
                                  clv_reduce reduce, clv_dtype dtype, clv_str want,
                                  int32_t position, clv_str *ret);

/* What a tensor has in one layout, taken out of what it has in another that includes it. */
clv_status clv_emit_part(clv_emit *e, clv_str in, clv_tensor t, const clv_layout *from,
                         const clv_layout *to, int32_t position, clv_str want, clv_str *ret);
/* Devices that differ in one axis put together what it splits; *io: what all of them have, names by
 * position, *layout how it lies. */
clv_status clv_emit_gather(clv_emit *e, clv_tensor t, clv_layout *layout, int32_t axis,
                           clv_str *io);

/* -- nodes of dialects: of the one device that is written down -- */

/* Has the dialect a node for it? reduce: of an all-reduce or reduce-scatter. */
bool clv_emit_has_collective(const clv_emit *e, clv_step_kind kind, clv_dtype dtype,
                             clv_reduce reduce);
/* The node, which all members of the group call the same; the collective is noted. rank, dims: of
 * what it gives. */
clv_status clv_emit_collective_node(clv_emit *e, clv_emit_collective *c, clv_str in,
                                    clv_dtype dtype, int32_t rank, const int64_t *dims,
                                    clv_str want, clv_str *ret);
/* An all-gather along any dimension, of parts of these dims. */
clv_status clv_emit_gather_node(clv_emit *e, clv_emit_collective *c, clv_str in, clv_dtype dtype,
                                int32_t rank, const int64_t *dims, int32_t axis, clv_str want,
                                clv_str *ret);
/* A whole step as an all-to-all or a reduce-scatter; *ret_done false: it is none, or the dialect
 * has no such node, and nothing is written. */
clv_status clv_emit_exchange(clv_emit *e, const clv_spmd_instr *instr, const clv_spmd_value *from,
                             const clv_spmd_value *to, clv_str *io, bool *ret_done);

clv_status clv_emit_operator(clv_emit *e, const clv_spmd_instr *instr);
clv_status clv_emit_step(clv_emit *e, const clv_spmd_instr *instr);
/* An operator that chooses rows of a table by number, where the device has some of them. */
bool clv_emit_is_lookup(const clv_op_info *op);
clv_status clv_emit_lookup(clv_emit *e, const clv_spmd_instr *instr, int32_t position,
                           const clv_new_node *node, int32_t table_axis, int64_t low, int64_t high,
                           int64_t rows);

#endif
