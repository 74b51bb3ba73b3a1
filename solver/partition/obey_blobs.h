/* obey_blobs.h - what the files of clv_obey share. */
#ifndef CLV_SOLVER_PARTITION_OBEY_BLOBS_H
#define CLV_SOLVER_PARTITION_OBEY_BLOBS_H

#include "solver/partition/obey.h"

struct clv_obey {
    const clv_partition_problem *p;
    const clv_rules *rules;
    clv_arena *arena;
    int32_t n; /* blobs, in topological order */
    size_t words;
    int32_t *blob_of;            /* by unit */
    int32_t *unit_first, *units; /* n + 1; units of a blob */
    uint64_t *devices;           /* [blob * words] */
    uint64_t *stages;            /* [blob * words]; NULL: any */
    int32_t *tag_first, *tags;   /* n + 1; NULL: none */
    int32_t *read_first, *reads; /* n + 1: blobs that it reads from */
    int32_t *sent_first, *sent;  /* n + 1: blobs that read it */
    int32_t *class_of;           /* by device: the first one that all rules treat alike */
    bool impossible;             /* seen while joining */
    bool searched;
    clv_obey_outcome outcome;
    int32_t *found;             /* by unit */
    int32_t *pin_order, *given; /* by position; given: as they are numbered */
    /* scratch */
    int32_t *trial, *other;    /* by unit */
    int32_t *at, *high, *wish; /* by blob: positions */
    int32_t *owner;            /* [family * n_devices + device]: tag, or -1 */
    int32_t *floor, *ceiling;  /* by family in order: positions */
    int32_t *position;         /* by device */
};

static inline bool clv_blob_allows(const clv_obey *o, int32_t blob, int32_t device)
{
    return clv_bit(o->devices + (size_t)blob * o->words, device);
}

/* The assignment of units by the blobs' devices. */
static inline void clv_blobs_spread(const clv_obey *o, const int32_t *device_of_blob,
                                    int32_t *device_of)
{
    for (int32_t u = 0; u < o->p->n_units; u++)
        device_of[u] = device_of_blob[o->blob_of[u]];
}

/* obey_blobs.c */
clv_status clv_blobs_join(clv_obey *o, clv_error *err);

/* obey_near.c: blobs near the positions o->wish in this order of devices, into o->at; false if that
 * does not work. Rules on stages are only respected as far as positions are stages. */
bool clv_blobs_near(clv_obey *o, const int32_t *order);

/* obey_stages.c: false when rules on stages cannot be met, whatever the assignment. O(blobs +
 * edges) times a few rounds. */
bool clv_blobs_stages_fit(clv_obey *o);

/* obey_exact.c: all orders, then all assignments, within a fixed amount of work. */
clv_obey_outcome clv_blobs_search(clv_obey *o, int32_t *device_of);

#endif
