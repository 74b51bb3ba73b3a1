/* contiguous_state.h - a contiguous placement that changes block by block, with all its sums: gains
 * by pins counted for each net and device (Fiduccia, Mattheyses 1982), and an acyclic quotient
 * graph (Herrmann, Ozkaya, Ucar, Kaya, Catalyurek 2019, "Multilevel algorithms for acyclic
 * partitioning of directed acyclic graphs", SIAM J. Scientific Computing).
 *
 * Ours: no order of the devices is kept, for it would forbid moves that a new order allows. Devices
 * can be put in a line just when the arcs between them lead around in no circle, so arcs are
 * counted for each pair of devices; after a move only circles through the device that got something
 * are new.
 */
#ifndef CLV_SOLVER_PLACEMENT_CONTIGUOUS_CONTIGUOUS_STATE_H
#define CLV_SOLVER_PLACEMENT_CONTIGUOUS_CONTIGUOUS_STATE_H

#include "solver/placement/common/contraction.h"

typedef struct {
    const clv_contraction *b;
    int32_t n_devices;
    size_t words;           /* of a row of bits, one a device */
    const int32_t *kind_of; /* by device */
    int32_t *device_of;     /* by block */
    int64_t *load, *bytes;  /* by device */
    int32_t *pins;          /* [net * n_devices + device]: pins there */
    int32_t *arcs;          /* [device * n_devices + device]: that lead there */
    uint64_t *next;         /* [device * words]: those that some arc leads to */
    uint64_t *seen, *fresh; /* rows: scratch */
    double over;            /* parts of capacity overdrawn, of all devices together */
    int32_t n_over;         /* devices that are */
    int64_t work;           /* nets and arcs looked at, some 5 ns each */
} clv_contiguous_state;

/* More memory than that is not worth it: *ret_fits false, and nothing is made. O(nets * devices +
 * devices^2) memory. */
clv_status clv_contiguous_state_new(const clv_contraction *b, clv_arena *arena,
                                    clv_contiguous_state *ret, bool *ret_fits, clv_error *err);

/* Takes over an assignment by block, legal or not but for blocks on kinds that cannot run them.
 * O(n + pins + arcs + nets * devices). */
void clv_contiguous_state_assign(clv_contiguous_state *s, const int32_t *device_of);

/* Every sum follows. O(nets of the block + its arcs). */
void clv_contiguous_state_move(clv_contiguous_state *s, int32_t block, int32_t to);

/* Do arcs lead from the device around to itself? O(devices * words). */
bool clv_contiguous_state_has_cycle(clv_contiguous_state *s, int32_t device);

static inline bool clv_contiguous_state_can_run(const clv_contiguous_state *s, int32_t block,
                                                int32_t device)
{
    return clv_block_time(s->b, s->kind_of[device], block) != CLV_BLOCK_NEVER;
}

/* The largest load. O(devices). */
int64_t clv_contiguous_state_max_load(const clv_contiguous_state *s);

#endif
