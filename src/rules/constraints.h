/* constraints.h - a user's constraints on plans, as sets of operators, devices and stages
 * (docs/formats/constraints.md).
 *
 * A constraints file is a list of rules (constraints_read.h). A rule speaks of operators of the
 * main graph, by name, type or the tensor they write, of devices as a plan file numbers or names
 * them, of stages as it numbers them, and of the axes of a mesh.
 */
#ifndef CLV_RULES_CONSTRAINTS_H
#define CLV_RULES_CONSTRAINTS_H

#include "base/arena.h"
#include "graph/graph.h"

typedef enum {
    CLV_CONSTRAINT_PLACE,      /* one set: on some devices, at some stages */
    CLV_CONSTRAINT_TOGETHER,   /* one set: all on one device */
    CLV_CONSTRAINT_APART,      /* two sets or more: no device has operators of two of them */
    CLV_CONSTRAINT_BOUNDARY,   /* two sets: all stages with the first come before all with the
                                  second */
    CLV_CONSTRAINT_MAX_STAGES, /* no set */
    /* On tensors, for plans with a mesh; no set. */
    CLV_CONSTRAINT_SPLIT,
    CLV_CONSTRAINT_WHOLE,
    CLV_CONSTRAINT_DATA_PARALLEL
} clv_constraint_kind;

/* What a rule says of tensors and operators on the axes of a mesh. SPLIT with a factor: operators
 * split it. SPLIT without: tensors, and what operators write, are split on a dimension. WHOLE:
 * tensors and operators are split on none. DATA_PARALLEL: nothing but the batch is. */
typedef struct {
    const char *const *axes; /* their names, outermost first */
    int32_t n_axes;          /* 0: all (WHOLE) */
    int32_t dim;             /* negative: counted from behind */
    const char *factor;      /* NULL: by dimension */
    clv_op *ops;             /* ascending */
    clv_tensor *tensors;     /* in the order of the file; may be listed twice */
    int32_t n_ops, n_tensors, cap_tensors;
} clv_split_constraint;

/* A rule of the file. */
typedef struct {
    clv_constraint_kind kind;
    const char *name, *why; /* as the user gave them; NULL: not given */
    const char *says;       /* "place '/embed*' on device 0" */
    int32_t n_sets;
    int32_t *set_first; /* n_sets + 1, into ops */
    clv_op *ops;        /* ascending in each set */
    uint64_t *devices;  /* PLACE: one bit each, clv_constraints.words; NULL: any */
    uint64_t *stages;   /* PLACE: those that n_devices can have; NULL: any */
    int32_t max_stages;
    clv_split_constraint *split; /* NULL but for the last three kinds */
    bool unused;                 /* it binds nothing; a warning says why */
} clv_constraint;

typedef struct {
    int32_t n, n_devices;
    size_t words; /* of a set of devices or stages */
    clv_constraint *at;
    const char **warnings; /* sentences: rules and names that match nothing */
    int32_t n_warnings, cap_warnings;
} clv_constraints;

/* "rules[2] 'embeddings'", into buf. Returns buf. */
const char *clv_constraint_label(const clv_constraints *c, int32_t rule, char *buf, size_t size);

/* What rules are held against. */
typedef struct {
    const int32_t *device_of; /* by operator id */
    const int32_t *stage_of;  /* by device */
    int32_t n_stages;
    int32_t *set_on; /* scratch: an entry a device */
} clv_rule_placement;

/* The first rule that a placement breaks; -1: none. skip: by rule, those that do not count; may be
 * NULL. O(operators in rules + sets * devices). */
int32_t clv_constraints_first_broken(const clv_constraints *c, const clv_rule_placement *p,
                                     const bool *skip);

#endif
