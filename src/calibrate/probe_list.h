/* probe_list.h - what is measured: small models of one operator each, over and over.
 *
 * A probe is a graph of equal nodes side by side: each reads the same input, and nobody reads what
 * it writes, so the runtime can neither join them nor keep them apart in memory. The time of one is
 * that of the model, less that of an empty model, over their number.
 */
#ifndef CLV_CALIBRATE_PROBE_LIST_H
#define CLV_CALIBRATE_PROBE_LIST_H

#include <stdbool.h>

#include "base/arena.h"

#define CLV_PROBE_RANK 4
#define CLV_PROBE_INS  5

typedef struct {
    enum {
        CLV_PROBE_NONE,
        CLV_PROBE_X,       /* the model's input, FLOAT */
        CLV_PROBE_WEIGHT,  /* FLOAT, each node has its own */
        CLV_PROBE_TWOS,    /* FLOAT, all 2: exponents as models have them */
        CLV_PROBE_BOOLS,   /* BOOL, all false but each third */
        CLV_PROBE_INDICES, /* INT64, all 0 */
        CLV_PROBE_INTS     /* INT64 of one dimension: these values */
    } kind;
    int32_t n;
    int64_t at[CLV_PROBE_RANK]; /* dimensions, or values */
} clv_probe_in;

typedef struct {
    const char *name;
    int32_t n; /* 0: one number, not a list */
    int64_t at[CLV_PROBE_RANK];
} clv_probe_attr;

typedef struct {
    const char *type; /* "MatMul", "com.microsoft.Gelu" */
    clv_probe_in in[CLV_PROBE_INS];
    clv_probe_attr attrs[CLV_PROBE_INS];
    int32_t n_out; /* 0: one */
} clv_probe_op;

/* How large: the first dimension of what is CLV_PROBE_X, CLV_PROBE_BOOLS or CLV_PROBE_INDICES. */
typedef struct {
    const clv_probe_op *op;
    int64_t rows;  /* instead of the op's first dimension; 0: as it stands */
    int32_t nodes; /* how many side by side */
    /* Is it measured with the runtime's optimisations? They give convolutions another layout; equal
     * nodes without weights of their own they would join. */
    bool optimized;
} clv_probe;

/* The probes: the first is the empty model (one node that does next to nothing), then, for each
 * operator that is mostly called rather than computed, three sizes; then products and convolutions.
 * The array lives in the arena. */
clv_status clv_probes_list(clv_arena *arena, const clv_probe **ret, int32_t *ret_n, clv_error *err);

#endif
