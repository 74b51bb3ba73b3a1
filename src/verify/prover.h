/* prover.h - the state of a proof, and its sets: which elements each device has. */
#ifndef CLV_VERIFY_PROVER_H
#define CLV_VERIFY_PROVER_H

#include "lower/spmd.h"
#include "verify/elem_sets.h"
#include "verify/proof.h"

/* What each device has of one dimension: by position a set. Equal ones have equal numbers. */
typedef int32_t clv_spread;

/* A value as sets. */
typedef struct {
    const clv_spread *dim;   /* rank */
    int32_t rank;            /* -1: it can only be copied */
    int32_t box;             /* equal for values with equal dims, parts and partial axes */
    uint32_t split, partial; /* axes longer than 1 */
    clv_reduce reduce;
} clv_held;

typedef struct {
    const clv_spmd *s;
    clv_arena *arena;
    clv_elem_sets elems;
    clv_map by_recipe;         /* into of_recipe: how a spread was asked for */
    clv_map by_sets;           /* into spread */
    clv_map by_box;            /* into box */
    clv_map by_cover, by_step; /* what was shown already */
    clv_spread *of_recipe;
    int32_t **spread; /* [spread][position] */
    clv_int128 *box;  /* elements on all devices */
    int32_t n_recipes, n_spreads, n_boxes, n_covers, n_shown;
    int32_t cap_recipes, cap_spreads, cap_boxes;
    int32_t stride[CLV_MESH_AXES_MAX]; /* stride of an axis in positions */
    clv_held *held;                    /* by value */
    bool *is_there;                    /* by value: made, given or received */
    bool *has_run;                     /* by operator */
    bool *is_met;                      /* by tensor */
    int32_t *receivers;                /* by value */
    clv_proof *proof;
} clv_prover;

/* Sets the arrays and maps of a prover that has its program, proof and arena. */
clv_status clv_prover_init(clv_prover *p, clv_error *err);

/* -- words and small things -- */

/* The program is wrong: CLV_EFORMAT, which clv_prove() takes for the answer. */
clv_status clv_refute(clv_error *err, const char *fmt, ...) CLV_PRINTF(2, 3);
#define CLV_PROVER_DESCRIBE_TEXT 200
/* "operator 'x' (MatMul)"; "all-reduce of 'y' in stage 0". */
const char *clv_prover_describe(const clv_prover *p, const clv_spmd_instr *instr,
                                char buf[static CLV_PROVER_DESCRIBE_TEXT]);
/* The name of the device at a position in a phase. */
const char *clv_prover_device(const clv_prover *p, int32_t phase, int32_t position);
clv_str clv_prover_name(const clv_prover *p, int32_t value); /* of the tensor of a value */

/* The coordinate of a position along an axis. */
static inline int32_t clv_prover_coord(const clv_prover *p, int32_t position, int32_t axis)
{
    return position / p->stride[axis] % p->s->mesh.size[axis];
}
/* Does the axis have more than one device? */
static inline bool clv_prover_is_long(const clv_prover *p, int32_t axis)
{
    return axis < p->s->mesh.n_axes && p->s->mesh.size[axis] > 1;
}
/* The first of the devices that differ from this one in these axes alone. */
int32_t clv_prover_first_of(const clv_prover *p, int32_t position, uint32_t axes);

/* -- sets -- */

/* One factor of a dimension, and the axes that cut it one within the other, in pieces of `unit`. */
typedef struct {
    int64_t size, unit;
    int32_t axis[CLV_MESH_AXES_MAX], n_axes;
} clv_cut_factor;

/* What devices have of a dimension that is the product of these factors, outermost first. Each axis
 * cuts what the one before it left: so many whole units each, rounded up, and the last ones less,
 * or by the shares of its places. */
clv_status clv_spread_of(clv_prover *p, const clv_cut_factor *factor, int32_t n, clv_spread *ret,
                         clv_error *err);
/* Do the parts along these axes make up the dimension, each element once? Are they the same along
 * all other axes? Refutes with `what` before the words. */
clv_status clv_spread_cover(clv_prover *p, clv_spread spread, int64_t size, uint32_t axes,
                            const char *what, clv_error *err);
/* What the device at a position has. */
static inline const clv_elem_set *clv_spread_at(const clv_prover *p, clv_spread spread,
                                                int32_t position)
{
    return &p->elems.at[p->spread[spread][position]];
}

#endif
