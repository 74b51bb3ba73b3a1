/* whole.c - the whole problem as one piece. */
#include "solver/intra_op/whole.h"

#include <math.h>

#include "solver/intra_op/region.h"

/* Tables of up to 2^18 entries, 2^23 together: a tenth of a second a price. */
#define CLV_WHOLE_CAP     18
#define CLV_WHOLE_ENTRIES (INT64_C(1) << 23)
#define CLV_WHOLE_TRIES   40
/* Choices tried by branching: a second or less; briefly: a tenth of that. */
#define CLV_WHOLE_BRANCHES       300000
#define CLV_WHOLE_BRIEF_BRANCHES 30000
/* All tables, briefly: 2^19. */
#define CLV_WHOLE_BRIEF_ENTRIES (INT64_C(1) << 19)
/* Sums of whole costs up to here are exact: 2^53. */
#define CLV_WHOLE_SUM 9007199254740992.0
/* Sums of products with prices round: a bound is lower by this share of what was added up. */
#define CLV_WHOLE_ROUNDING 1e-9

clv_status clv_whole_solve(clv_bench *b, clv_state *s, bool brief, clv_whole_end *ret,
                           double *bound, clv_error *err)
{
    const clv_flat *f = b->f;
    clv_arena *arena = clv_arena_new(clv_arena_alloc(b->piece->arena), 0);
    if (!arena)
        return clv_fail_nomem(err, "a search");
    clv_region all;
    double *price = CLV_NEW_ARRAY(arena, double, f->n_rows);
    clv_status status =
        price ? clv_region_new(f, arena, &all, err) : clv_fail_nomem(err, "a search");
    clv_improve_options o = { .caps = { CLV_WHOLE_CAP,
                                        brief ? CLV_WHOLE_BRIEF_ENTRIES : CLV_WHOLE_ENTRIES },
                              .n_tries = f->n_rows > 0 ? CLV_WHOLE_TRIES : 1,
                              .n_branches = f->n_rows == 0 ? 0
                                            : brief        ? CLV_WHOLE_BRIEF_BRANCHES
                                                           : CLV_WHOLE_BRANCHES,
                              .whole_only = true,
                              .penalty = f->total };
    uint64_t random = 0;
    int64_t work = 0;
    *ret = CLV_WHOLE_OPEN;
    *bound = -1;
    if (status == CLV_OK) {
        clv_region_all(&all);
        status = clv_improve(b, s, all.node, all.n, &o, price, &random, &work, err);
    }
    clv_arena_free(arena);
    CLV_TRY(status);
    if (!b->whole || b->bound <= -INFINITY)
        return CLV_OK;
    bool legal = (f->n == 0 || s->choice[0] >= 0) && s->over <= 0;
    if (b->bound >= INFINITY && !legal) {
        *ret = f->shift == 0 ? CLV_WHOLE_NONE : CLV_WHOLE_OPEN;
        return CLV_OK;
    }
    double size = f->total + fabs(b->bound);
    if (b->bound >= f->never || size > CLV_WHOLE_SUM)
        return CLV_OK; /* what costs never, or too much, is not counted exactly */
    *bound = ceil(b->bound - CLV_WHOLE_ROUNDING * size - CLV_WHOLE_ROUNDING);
    if (f->n_rows == 0)
        *bound = b->bound;
    *bound = *bound < 0 ? 0 : *bound;
    if (legal && *bound >= s->cost)
        *ret = CLV_WHOLE_SOLVED;
    return CLV_OK;
}
