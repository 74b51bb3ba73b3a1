/* grow.h - one kernel at a time: from an operator outwards, as a pattern says (runtime.h). */
#ifndef CLV_KERNELS_GROW_H
#define CLV_KERNELS_GROW_H

#include "kernels/kernels.h"

/* A kernel as it is found. */
typedef struct {
    const clv_pattern *pattern;
    clv_op anchor;
    int32_t first, n, lowest, highest; /* members; least and greatest id */
} clv_found;

/* One thread. */
typedef struct {
    const clv_types *types;
    const clv_graph *g;
    clv_arena *scratch;
    bool *is_free;   /* n_ops */
    int32_t *of;     /* n_ops: into found; -1 */
    int32_t *stage;  /* n_ops: where it stands in its kernel (grow.c) */
    clv_op *members; /* n_ops */
    int32_t n_members;
    clv_found *found; /* n_ops */
    int32_t n_found;
    int32_t *seen, *stack, stamp; /* of searches for paths; n_ops */
    /* of the kernel at hand */
    int32_t n_before[CLV_STAGES_MAX], n_after[CLV_STAGES_MAX];
    int64_t elems, row; /* of what it works on; of a row, 0: none yet */
} clv_forming;

clv_status clv_forming_init(clv_forming *f, const clv_types *types, clv_arena *scratch,
                            clv_error *err);
/* The kernel that begins at an operator without one; false, and nothing changed, where the pattern
 * does not hold. O(its operators and their edges), and a bounded search for each that joins. */
bool clv_form_from(clv_forming *f, const clv_pattern *pattern, clv_op start);
/* Takes the last kernel apart again. */
void clv_form_undo(clv_forming *f);

/* Does it look at nothing when the model runs: is it folded away, as the shape of a tensor is? */
bool clv_is_idle(const clv_forming *f, clv_op op);
/* Do all that read what an operator writes belong to this kernel, but for those that are idle? That
 * the model returns it does not count. */
bool clv_stays_in_kernel(const clv_forming *f, clv_op op, int32_t kernel);

#endif
