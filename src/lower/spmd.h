/* spmd.h - a plan as programs: for each stage what every device of its mesh runs, one after
 * another.
 *
 * All devices of a stage run the same instructions on different parts of the tensors (single
 * program, multiple data). An instruction is an operator of the model, or a step that brings a
 * tensor from one layout to another. The instructions say nothing of how large the part of a device
 * is; the functions below work it out for a position of the mesh. Names in files are left to
 * whoever writes the program down (emit.h). spmd_make.h makes a program of a plan.
 *
 * A stage with a backward pass is two phases: all forward ones come first, then the backward ones
 * from the last stage to the first.
 */
#ifndef CLV_LOWER_SPMD_H
#define CLV_LOWER_SPMD_H

#include "graph/infer.h"
#include "plan/plan.h"
#include "sharding/factors.h"
#include "sharding/steps.h"
#include "weights/box.h"

typedef enum {
    CLV_SPMD_INPUT,    /* of the model, given in this layout */
    CLV_SPMD_WEIGHT,   /* each device has its part */
    CLV_SPMD_KNOWN,    /* known before the run: a constant of the plan */
    CLV_SPMD_RECEIVED, /* from the device at the same position of an earlier phase */
    CLV_SPMD_RESULT    /* of an instruction */
} clv_spmd_role;

/* A tensor of the model in one layout, in one phase. */
typedef struct {
    clv_tensor tensor;
    clv_layout layout;
    int32_t phase;
    clv_spmd_role role;
    int32_t from;  /* RECEIVED: the value in the earlier phase; else -1 */
    bool sent;     /* a later phase receives it */
    bool returned; /* by the model */
    clv_str name;  /* unlike that of all other values of the phase */
} clv_spmd_value;

typedef struct {
    clv_op op; /* of the model; CLV_NO_OP: a step */
    int32_t phase;
    int16_t factor[CLV_MESH_AXES_MAX]; /* of an operator: what each axis splits, or -1 */
    clv_step_kind kind;                /* of a step */
    uint32_t axes;                     /* that a step is over */
    bool is_local; /* of a step: once sums are made, each device has what it needs */
    bool
        is_exchange; /* of a step: one all-to-all or reduce-scatter is all of it, on every device */
    int32_t first_in, n_in, first_out, n_out; /* into operands: values, -1 for what is left out. Of
                                                 an operator all inputs, implicit ones too */
} clv_spmd_instr;

typedef struct {
    int32_t stage;
    bool backward;
    const int32_t *device;         /* of the plan, by position of the mesh */
    int32_t first_instr, n_instrs; /* they stand together */
    int32_t first_value, n_values;
    bool nodes_differ; /* a device has nothing of some tensor, or zeros for what another one adds */
} clv_spmd_phase;

typedef struct {
    const clv_model *model;
    const clv_types *types;
    const clv_plan *plan;
    clv_mesh mesh;              /* of each phase; its device array is not used */
    const clv_factors *factors; /* n_ops */
    clv_spmd_phase *phases;
    clv_spmd_instr *instrs;
    clv_spmd_value *values;
    int32_t *operands;
    int32_t *result; /* by output of the model: the value that is returned */
    int32_t n_phases, n_instrs, n_values, n_operands;
} clv_spmd;

/* The part of a tensor that the device at a position of the mesh has in a layout. */
typedef struct {
    clv_tensor tensor;
    clv_layout layout;
    int32_t position;
} clv_spmd_shard;

/* The numbers of a value that is known before the run, all of them numbers and no symbols among
 * them; NULL: it is not known so, or no result of an operator. O(numbers). */
const clv_value *clv_spmd_known(const clv_types *types, clv_tensor t);

/* The most dimensions of a view: those of a tensor, each of which the axes of a mesh may take
 * apart. */
#define CLV_VIEW_MAX (CLV_RANK_MAX + 4 * CLV_MESH_AXES_MAX)

/* The tensor as layouts split it; false: it can only be copied, as not all of its sizes are known.
 */
bool clv_spmd_split(const clv_spmd *s, clv_tensor t, clv_tensor_split *ret);
/* CLV_EUNSUPP: it can only be copied. */
clv_status clv_spmd_check_sizes(const clv_spmd *s, clv_tensor t, clv_error *err);

/* Where the shard lies in its tensor, which is seen with the dimensions *ret_dims; false: the
 * tensor can only be copied. O(rank + axes), as all below. */
bool clv_spmd_part(const clv_spmd *s, const clv_spmd_shard *shard, clv_split_dims *ret_dims,
                   clv_part *ret);
/* The dims of the part of a tensor that a device has: rank entries. Sizes must be known. */
void clv_spmd_dims(const clv_spmd *s, clv_tensor t, const clv_layout *layout, int32_t position,
                   int64_t *ret);
/* Has the device nothing of a tensor that has something? */
bool clv_spmd_is_empty(const clv_spmd *s, const clv_spmd_value *v, int32_t position);
/* How many pieces of a dimension, as seen by an axis that splits within so many outer ones, a
 * device has. */
int64_t clv_spmd_pieces(const clv_spmd *s, clv_tensor t, const clv_layout *layout, int32_t d,
                        int32_t outer, int32_t position);
/* The shard of a weight of the model as a box of its bytes; a weight that can only be copied is
 * whole. In the arena. */
clv_status clv_spmd_box(const clv_spmd *s, const clv_spmd_shard *shard, clv_arena *arena,
                        clv_box *ret, clv_error *err);

/* Does any axis split the factor of the operator's rule? */
bool clv_spmd_splits(const clv_spmd *s, const clv_spmd_instr *instr, int32_t factor);
/* What a device works on of the factors of an operator: of factor f the elements from low[f] to
 * high[f] - 1. first[f]: it is the first of all that have a share of the factor. Arrays of
 * n_factors. O(factors * axes). */
void clv_spmd_ranges(const clv_spmd *s, const clv_spmd_instr *instr, int32_t position, int64_t *low,
                     int64_t *high, bool *first);

#endif
