/* exact_elimination.c - see exact_elimination.h. */
#include "solver/intra_op/exact_elimination.h"

#include <math.h>

#include "solver/intra_op/neighbourhood.h"

/* Tables of up to 2^18 entries, 2^23 together: a tenth of a second a price. */
#define CLV_EXACT_ELIMINATION_CAP     18
#define CLV_EXACT_ELIMINATION_ENTRIES (INT64_C(1) << 23)
#define CLV_EXACT_ELIMINATION_TRIES   40
/* Choices tried by branching: a second or less; briefly: a tenth of that. */
#define CLV_EXACT_ELIMINATION_BRANCHES       300000
#define CLV_EXACT_ELIMINATION_BRIEF_BRANCHES 30000
/* All tables, briefly: 2^19. */
#define CLV_EXACT_ELIMINATION_BRIEF_ENTRIES (INT64_C(1) << 19)
/* Sums of whole costs up to here are exact: 2^53. */
#define CLV_EXACT_ELIMINATION_SUM 9007199254740992.0
/* Sums of products with prices round: a bound is lower by this share of what was added up. */
#define CLV_EXACT_ELIMINATION_ROUNDING 1e-9

clv_status clv_exact_elimination(clv_workspace *b, clv_search_state *s, bool brief, bool *none,
                                 double *bound, clv_error *err)
{
    const clv_pairwise *f = b->f;
    clv_arena *arena = clv_arena_new(clv_arena_alloc(b->subproblem->arena), 0);
    if (!arena)
        return clv_fail_nomem(err, "a search");
    clv_neighbourhood all;
    double *price = CLV_NEW_ARRAY(arena, double, f->n_rows);
    clv_status status =
        price ? clv_neighbourhood_new(f, arena, &all, err) : clv_fail_nomem(err, "a search");
    clv_reoptimize_options o = { .caps = { CLV_EXACT_ELIMINATION_CAP,
                                           brief ? CLV_EXACT_ELIMINATION_BRIEF_ENTRIES
                                                 : CLV_EXACT_ELIMINATION_ENTRIES },
                                 .n_tries = f->n_rows > 0 ? CLV_EXACT_ELIMINATION_TRIES : 1,
                                 .n_branches = f->n_rows == 0 ? 0
                                               : brief        ? CLV_EXACT_ELIMINATION_BRIEF_BRANCHES
                                                              : CLV_EXACT_ELIMINATION_BRANCHES,
                                 .whole_only = true,
                                 .penalty = f->total };
    *none = false;
    *bound = -1;
    if (status == CLV_OK) {
        clv_neighbourhood_all(&all);
        o.node = all.node;
        o.n = all.n;
        status = clv_reoptimize(b, s, &o, &(clv_search_progress){ .price = price }, err);
    }
    clv_arena_free(arena);
    CLV_TRY(status);
    if (!b->whole || b->bound <= -INFINITY)
        return CLV_OK;
    bool legal = (f->n == 0 || s->choice[0] >= 0) && s->over <= 0;
    if (b->bound >= INFINITY && !legal) {
        *none = f->shift == 0;
        return CLV_OK;
    }
    double size = f->total + fabs(b->bound);
    if (b->bound >= f->never || size > CLV_EXACT_ELIMINATION_SUM)
        return CLV_OK; /* what costs never, or too much, is not counted exactly */
    *bound =
        ceil(b->bound - CLV_EXACT_ELIMINATION_ROUNDING * size - CLV_EXACT_ELIMINATION_ROUNDING);
    if (f->n_rows == 0)
        *bound = b->bound;
    *bound = *bound < 0 ? 0 : *bound;
    return CLV_OK;
}
