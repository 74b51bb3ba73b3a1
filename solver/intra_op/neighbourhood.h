/* neighbourhood.h - which nodes a large neighbourhood search solves next (Shaw 1998, see lns.h).
 *
 * Grown breadth first along edges from seeds: anywhere, in a nearly full row, at perturbed nodes,
 * or where two solutions differ.
 */
#ifndef CLV_SOLVER_INTRA_OP_NEIGHBOURHOOD_H
#define CLV_SOLVER_INTRA_OP_NEIGHBOURHOOD_H

#include "solver/intra_op/search_state.h"

typedef struct {
    const clv_pairwise *f;
    int32_t n;
    int32_t *node;  /* n of at most f->n */
    uint32_t *seen; /* by node: the last stamp */
    uint32_t stamp;
} clv_neighbourhood;

/* Empty; lives in the arena. O(nodes). */
clv_status clv_neighbourhood_new(const clv_pairwise *f, clv_arena *arena, clv_neighbourhood *ret,
                                 clv_error *err);
/* About `size` nodes grown at random around n_seeds nodes drawn at random. O(edges of the
 * neighbourhood). */
void clv_neighbourhood_grow(clv_neighbourhood *g, int32_t size, int32_t n_seeds, uint64_t *random);
/* The same around nodes that hold memory in a row that is nearly full, if there is one. */
void clv_neighbourhood_grow_tight(clv_neighbourhood *g, const clv_search_state *s, int32_t size,
                                  int32_t n_seeds, uint64_t *random);
/* The same around seeds drawn from a list. */
void clv_neighbourhood_grow_from(clv_neighbourhood *g, const int32_t *from, int32_t n_from,
                                 int32_t size, int32_t n_seeds, uint64_t *random);
/* The nodes at which two solutions differ. */
void clv_neighbourhood_differing(clv_neighbourhood *g, const int32_t *a, const int32_t *b);
void clv_neighbourhood_all(clv_neighbourhood *g); /* all nodes */

#endif
