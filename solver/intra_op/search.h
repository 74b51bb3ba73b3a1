/* search.h - a searcher: one line of answers, its own prices, its own throws.
 *
 * A searcher lives in lives. The first begins with an ascent; later ones begin with the best answer
 * known, kicked at random in a region, or with an ascent from other prices. Each is polished region
 * by region, crossed with the best answer known, and dropped if it is no better.
 *
 * Searchers do not see each other while they run; a round ends after an amount of work. So what
 * they find does not depend on how many threads run them.
 */
#ifndef CLV_SOLVER_INTRA_OP_SEARCH_H
#define CLV_SOLVER_INTRA_OP_SEARCH_H

#include "solver/intra_op/ascent.h"
#include "solver/intra_op/improve.h"
#include "solver/intra_op/region.h"

typedef enum { CLV_SEARCH_ASCEND, CLV_SEARCH_POLISH, CLV_SEARCH_CROSS, CLV_SEARCH_KICK } clv_stage;

typedef struct {
    const clv_flat *f;
    int32_t number;
    uint64_t random;
    clv_ascent ascent;
    clv_state now, best;
    double *price;
    clv_region region;
    int32_t *kicked; /* nodes around which a life is polished; none: everywhere */
    int32_t n_kicked;
    clv_stage stage;
    int32_t n_ascent; /* sweeps of this ascent */
    int32_t n_stale;  /* moves since the last that helped */
    int32_t n_lives;
    double penalty;
    const bool *alive;    /* by choice: the others cannot be better than the best answer; or NULL */
    const double *likely; /* by choice: what an answer with it costs at least; or NULL */
    int32_t *guest;       /* n: an answer to begin a life with, while there is one */
    bool has_guest;
    int64_t work; /* all so far */
    const char *found_by;
} clv_searcher;

clv_status clv_searcher_new(const clv_flat *f, int32_t number, uint64_t seed, clv_arena *arena,
                            clv_searcher *ret, clv_error *err);
/* Begins with an answer instead of an ascent. price: by row, or NULL; likely: by choice. */
void clv_searcher_start(clv_searcher *s, const clv_state *from, const double *price,
                        const double *likely);
/* Searches until its work has grown by `work`, or the bench's halt says stop. shared: the best
 * answer of all searchers as it was before the round; it is read only. */
clv_status clv_searcher_round(clv_searcher *s, clv_bench *b, const clv_state *shared, int64_t work,
                              clv_error *err);

#endif
