/* region.h - which nodes are solved together next. */
#ifndef CLV_SOLVER_INTRA_OP_REGION_H
#define CLV_SOLVER_INTRA_OP_REGION_H

#include "solver/intra_op/state.h"

typedef struct {
    const clv_flat *f;
    int32_t n;
    int32_t *node;  /* n of at most f->n */
    uint32_t *seen; /* by node: the last stamp */
    uint32_t stamp;
} clv_region;

clv_status clv_region_new(const clv_flat *f, clv_arena *arena, clv_region *ret, clv_error *err);
/* About `size` nodes grown at random around n_seeds thrown nodes. O(edges of the region). */
void clv_region_grow(clv_region *g, int32_t size, int32_t n_seeds, uint64_t *random);
/* The same around nodes that hold memory in a row that is nearly full, if there is one. */
void clv_region_grow_tight(clv_region *g, const clv_state *s, int32_t size, int32_t n_seeds,
                           uint64_t *random);
/* The same around seeds thrown from a list. */
void clv_region_grow_from(clv_region *g, const int32_t *from, int32_t n_from, int32_t size,
                          int32_t n_seeds, uint64_t *random);
/* The nodes at which two answers differ. */
void clv_region_differing(clv_region *g, const int32_t *a, const int32_t *b);
void clv_region_all(clv_region *g);

#endif
