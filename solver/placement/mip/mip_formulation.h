/* mip_formulation.h - a whole placement as one mixed 0/1 program: its best value is the least
 * largest load of the placement.
 *
 *   x[i][q] = 1   block i is at place q; one place for each block
 *   T             no load is above: what is minimised
 *   h, l          of a net at a paying place: the largest and the least x of its blocks; h - l is 1
 *                 where it pays. y of a net of two blocks: at least the difference of their x
 *
 * A solver by branch and bound (Land, Doig 1960) takes it; it wins on small problems, and its
 * relaxation gives a bound. Ours: the h, l form of nets, and the order of devices of one kind.
 *
 * Free: places are devices. Devices of one kind are alike, so the longest blocks are put on them in
 * one order only.
 *
 * Contiguous: the devices form a line, so a place is a seat in the line and the kind of device that
 * sits there. With more than one kind, g[s][k] = 1 says that a device of kind k has seat s, and
 * blocks follow it. p[i][s] = 1 when block i sits at s or before, and no arc leads back:
 * p[i][s] >= p[j][s] where j comes after i.
 */
#ifndef CLV_SOLVER_PLACEMENT_MIP_MIP_FORMULATION_H
#define CLV_SOLVER_PLACEMENT_MIP_MIP_FORMULATION_H

#include "solver/common/ilp/ilp.h"
#include "solver/placement/common/contraction.h"

/* Terms of the largest program that is made: 1 GB or so of text. */
#define CLV_MIP_TERMS_MAX (INT64_C(1) << 25)

typedef struct {
    double unit; /* what one tick counts as; the contraction's tick gives the problem's unit */
    double most; /* no load above, in that unit; INFINITY: any */
} clv_mip_scale;

/* Throughput. CLV_ELIMIT when it would be too large, CLV_EUSAGE for
 * another objective. The program lives in the arena. O(places * (pins + arcs)). */
clv_status clv_mip_formulate(const clv_contraction *b, const clv_place_rules *rules,
                             clv_mip_scale scale, clv_arena *arena, clv_ilp *ret, clv_error *err);

/* The same as free MPS text, in *ret with *ret_n characters, in the problem's unit. */
clv_status clv_mip_write_mps(const clv_contraction *b, const clv_place_rules *rules,
                             clv_arena *arena, const char **ret, size_t *ret_n, clv_error *err);

/* How many terms it would have, at most. O(nets). */
int64_t clv_mip_count_terms(const clv_contraction *b, const clv_place_rules *rules);

/* What a solution of the program says: the device of each block. O(blocks * places). */
clv_status clv_mip_read_solution(const clv_contraction *b, const clv_place_rules *rules,
                                 const double *values, int32_t *device_of, clv_arena *arena,
                                 clv_error *err);

#endif
