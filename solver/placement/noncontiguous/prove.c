/* prove.c - gaps from large to small, each refuted or not. */
#include "solver/placement/noncontiguous/prove.h"

#include "solver/placement/noncontiguous/simple_bounds.h"

/* Blocks up to which proofs are tried. */
#define PROOF_BLOCKS 16384

/* Parts of the objective that a bound may be below it: each is tried when the one before has been
 * proven. The last is what ticks and sums in floating point may lose. */
static const double GAPS[] = { 0.01, 0.005, 0.002, 0.001, 0.0003, 0.0001, 5e-10 };
enum { N_GAPS = (int)(sizeof GAPS / sizeof *GAPS) };

clv_status clv_noncontiguous_prove(clv_column_gen *bound, const clv_contraction *b,
                                   clv_place_search *search, int64_t work, bool *ret_all,
                                   clv_error *err)
{
    double asked = search->options->solve.gap;
    *ret_all = true;
    for (int32_t i = -1; i < N_GAPS && !clv_place_over(search); i++) {
        double gap = i < 0 ? asked : GAPS[i];
        double want = clv_place_best(search) * (1 - gap);
        clv_refutation r;
        if (want <= clv_place_bound(search) || (i < 0 && asked <= 0))
            continue;
        CLV_TRY(clv_column_gen_refute(bound, clv_contraction_to_ticks(b, want), work, &r, err));
        *ret_all = r == CLV_REFUTED;
        if (!*ret_all)
            return CLV_OK;
    }
    return CLV_OK;
}

clv_status clv_noncontiguous_prove_new(clv_place_search *search, const clv_contraction *b,
                                       const int32_t *order, clv_arena *arena, clv_column_gen **ret,
                                       clv_error *err)
{
    double largest;
    *ret = NULL;
    if (b->n > PROOF_BLOCKS)
        return CLV_OK;
    CLV_TRY(clv_column_gen_new(search, b, order, arena, ret, err));
    clv_work_bound_raise(*ret);
    CLV_TRY(clv_block_bound(*ret, &largest, err));
    clv_place_raise(search, "largest block", largest);
    return CLV_OK;
}
