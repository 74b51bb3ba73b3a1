/* program.h - the workload as flat arrays, made once for all candidates.
 *
 * Operators are known by their position in units->order. Tensors that need memory are slots: the
 * model's inputs first, then results in the order they are written, so what a run of positions
 * writes is a run of slots. Initialisers are a table of their own. A net is a slot that leaves its
 * unit; only nets can be transferred. A segment is a run of positions of one unit in which only the
 * first operator reads nets, so it runs without a pause once it starts.
 */
#ifndef CLV_COMPILE_PROGRAM_H
#define CLV_COMPILE_PROGRAM_H

#include "compile/compiler.h"

enum {
    CLV_SLOT_INPUT = 1,    /* of the model: each device that reads it has it from the start */
    CLV_SLOT_CONSTANT = 2, /* of a Constant node: lies with the weights */
    CLV_SLOT_FOLDED = 4,   /* value known before the run: copied, never sent */
    CLV_SLOT_OUTPUT = 8,   /* of the model: stays to the end */
    CLV_SLOT_STATE = 16,   /* an input that comes back as an output, or that output (states.h) */
    CLV_SLOT_KEPT = 32     /* such an output whose input is the same memory: there from the start */
};

#define CLV_VIEW_NONE      (-1)
#define CLV_VIEW_OF_WEIGHT (-2)

typedef struct {
    clv_workload workload;
    int32_t n_ops, n_units, n_slots, n_weights, n_nets, n_segments, n_edges;
    /* slots */
    clv_tensor *tensor_of;
    int64_t *bytes;    /* 0 where the shape is open */
    int32_t *position; /* of the writer; -1 for inputs */
    int32_t *view_of;  /* the slot whose buffer it shares, or one of the two above */
    int32_t *net_of;   /* -1: never leaves its unit */
    uint8_t *flags;
    /* operators, by position */
    int32_t *first_write; /* n_ops + 1: slots */
    int32_t *first_read;  /* n_ops + 1, into reads */
    int32_t *reads;       /* slots */
    int32_t *kernel_end;  /* n_ops: the last operator of its kernel in its unit, itself if it is by
                             itself: what a kernel reads is there until it is done */
    int64_t *workspace; /* n_ops: what is wanted at an operator, with all that its kernel reads and
                           writes: at the last of a kernel the most that one of them wants */
    int32_t *first_weight; /* n_ops + 1, into weight_reads */
    int32_t *weight_reads;
    int64_t *weight_bytes; /* n_weights: initialisers, then what bodies own, one for each owner */
    int64_t **prefix_ns;   /* [kind][n_ops + 1]: time of all operators before, default workspace */
    const bool *
        backward; /* n_units: of the backward pass of a training graph (overlay.h); NULL: none is */
    /* segments, nets and edges (a segment reads a net) */
    int32_t *unit_segment;  /* n_units + 1: first segment of a unit */
    int32_t *segment_first; /* n_segments + 1: positions */
    int32_t *segment_unit;
    int32_t *segment_edge; /* n_segments + 1: edges in */
    int32_t *segment_net;  /* n_segments + 1: nets it writes */
    int32_t *edge_segment, *edge_net;
    int32_t *net_slot;
    int32_t *net_edge;  /* n_nets + 1, into net_edges */
    int32_t *net_edges; /* ascending in each net */
} clv_program;

/* CLV_ELIMIT when all bytes or all times together do not fit. O(ops * kinds + edges). */
clv_status clv_program_build(const clv_workload *workload, clv_arena *arena, clv_program **ret,
                             clv_error *err);

/* prefix_ns of one kind at another proportion; n_ops + 1. CLV_ELIMIT when all do not fit. O(ops).
 */
clv_status clv_program_prefix_ns(const clv_program *p, int32_t kind, double proportion,
                                 clv_arena *arena, int64_t **ret, clv_error *err);

/* Is it a state of a batch, which stays for its next run? Those of training are of the model: there
 * is one of each. */
static inline bool clv_slot_is_state(const clv_program *p, int32_t slot)
{
    return !p->backward && (p->flags[slot] & CLV_SLOT_STATE);
}

static inline const clv_op_cost *clv_program_cost(const clv_program *p, int32_t position)
{
    return &p->workload.costs->of[p->workload.units->order[position].i];
}

/* Where the operators of a unit begin; of n_units, behind all. */
static inline int32_t clv_program_start(const clv_program *p, int32_t unit)
{
    return p->segment_first[p->unit_segment[unit]];
}

static inline int64_t clv_add_saturated(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

#endif
