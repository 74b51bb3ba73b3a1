/* types.h - the types of a graph's tensors as a side table, and questions about one type.
 *
 * The table is filled by inference (infer.h) and read by everything after it. A chain of a million
 * operators that keep their shape shares one array of dims, so types are never changed once set.
 */
#ifndef CLV_GRAPH_TYPES_H
#define CLV_GRAPH_TYPES_H

#include "base/arena.h"
#include "graph/graph.h"

typedef struct clv_types clv_types;

struct clv_types {
    const clv_graph *graph;
    clv_type *of;            /* n_tensors; kind UNKNOWN where nothing is known */
    const clv_value **value; /* n_tensors; NULL where not known */
    int64_t *bytes;          /* n_tensors; of the whole tensor, -1 where a dimension is open */
    /* The same where bytes has 0 for what is not stored unless a kernel is parted there; 0 for what
     * never is. NULL: bytes are all. */
    int64_t *whole_bytes;
    /* n_ops: the type of what an operator reads of input 0, where that is some of its rows only
     * (last_token.h); NULL: all of it. NULL: all operators read all. */
    const clv_type **read;
    const clv_types
        *of_file; /* where some have fewer rows than in the file; NULL: they are these */
    /* Bodies and calls: those of operator i are body[first_body[i] .. first_body[i + 1]), in the
     * order of its graph attributes (or the one function body); NULL where not inferred. NULL
     * arrays when no operator has any. */
    int32_t *first_body; /* n_ops + 1 */
    clv_types **body;
    const struct clv_states *states; /* of a model's main graph (states.h); NULL: not looked for */
    int64_t *trips; /* n_ops; times a Loop or Scan body runs, -1 when not known; NULL likewise */
};

/* Bytes of a tensor that leaves its kernel; -1 where a dimension is open. O(1). */
static inline int64_t clv_bytes_outside(const clv_types *types, clv_tensor t)
{
    return types->whole_bytes ? types->whole_bytes[t.i] : types->bytes[t.i];
}

/* Is a tensor not stored, though it has elements: does it stay inside a kernel? O(1). */
static inline bool clv_stays_inside(const clv_types *types, clv_tensor t)
{
    return types->whole_bytes && types->bytes[t.i] == 0 && types->whole_bytes[t.i] > 0;
}

/* The type of what an operator of the graph reads of its input k, which is there. O(1). */
static inline const clv_type *clv_type_read(const clv_types *types, const clv_op_info *op,
                                            int32_t k)
{
    const clv_type *rows = types->read && k == 0 ? types->read[op - types->graph->ops] : NULL;
    return rows ? rows : &types->of[clv_op_input(types->graph, op, k).i];
}

/* Bytes of that. O(dimensions). */
int64_t clv_bytes_read(const clv_types *types, const clv_op_info *op, int32_t k);

/* The table of a graph with nothing known in it. O(operators + tensors + attributes). */
clv_status clv_types_new(const clv_graph *graph, clv_arena *arena, clv_types **ret, clv_error *err);

/* As if a tensor of that type and so many bytes were stored in another one, if that is narrower
 * (clv_dtype_narrows()). O(dimensions). */
void clv_type_narrow(clv_type *type, int64_t *bytes, clv_dtype dtype);

/* The same types where every FLOAT tensor is of another floating-point type, if that is narrower,
 * as if the model had been stored so. Shares all else. O(tensors). */
clv_status clv_types_narrowed(const clv_types *types, clv_dtype dtype, clv_arena *arena,
                              const clv_types **ret, clv_error *err);

/* All dims known numbers? */
bool clv_type_is_static(const clv_type *type);
/* Number of elements, -1 if not known or more than 64 bits hold. */
int64_t clv_type_elems(const clv_type *type);
/* "float16[8,2048,?]" into buf. Returns buf. */
const char *clv_type_show(const clv_model *model, const clv_type *type, char *buf, size_t size);

#endif
