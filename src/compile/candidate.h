/* candidate.h - an assignment laid over the program: the units of each device, and how long
 * operators take at its proportion.
 */
#ifndef CLV_COMPILE_CANDIDATE_H
#define CLV_COMPILE_CANDIDATE_H

#include "compile/program.h"

/* Units first .. end - 1. */
typedef struct {
    int32_t first, end;
} clv_unit_range;

typedef struct {
    const clv_program *program;
    const int32_t *device_of;  /* n_units */
    double proportion;         /* 0: the default of each kind of device */
    clv_unit_range *ranges;    /* of device d: first_range[d] .. first_range[d + 1] */
    int32_t *first_range;      /* n_devices + 1 */
    const int64_t **prefix_ns; /* [device]: as in clv_program; may be NULL without units */
} clv_candidate;

/* The units that a candidate gives to one device. */
typedef struct {
    int32_t device, kind;
    double proportion;            /* effective: never 0 */
    bool is_packed;               /* by offset_packing.h, if that makes the arena smaller */
    const clv_unit_range *ranges; /* ascending, not touching */
    int32_t n_ranges;
    const int32_t *device_of; /* n_units, of the candidate */
    const int64_t *prefix_ns; /* of the kind, at this proportion */
} clv_group;

/* All but the assignment's device_of lives in the arena. CLV_ENOMEM; CLV_ELIMIT, as
 * clv_program_prefix_ns(). O(units + devices), and O(ops) for each kind at another proportion. */
clv_status clv_candidate_init(clv_candidate *ret, const clv_program *p,
                              const clv_assignment *assignment, clv_arena *arena, clv_error *err);

static inline bool clv_candidate_uses(const clv_candidate *c, int32_t device)
{
    return c->first_range[device] < c->first_range[device + 1];
}

clv_group clv_candidate_group(const clv_candidate *c, int32_t device, bool is_packed);

#endif
