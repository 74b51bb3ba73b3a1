/* fit_sizes.c - sizes of factors: each dimension says what the product of its factors is.
 *
 * A dimension of one factor gives it at once. In the others one unknown is what is left after the
 * known ones are divided out, until nothing changes. A dimension of 1 is used last: it may be
 * broadcast.
 */
#include "sharding/fit_sizes.h"

#include <inttypes.h>

static bool is_known(const clv_fit_dim *d)
{
    return !d->blank && d->n > 0 && clv_dim_is_number(d->size) && d->size >= 0;
}

/* Product of the factors that are known; *ret_unknown: how many are not, *ret_which the last. */
static int64_t known_product(const clv_fit *f, const clv_fit_dim *d, int32_t *ret_unknown,
                             int32_t *ret_which)
{
    int64_t product = 1;
    *ret_unknown = 0;
    for (int32_t i = 0; i < d->n; i++) {
        int32_t id = f->ids[d->first + i];
        int64_t size = f->factors[id].f.size;
        if (size == CLV_SIZE_UNSOLVED) {
            (*ret_unknown)++;
            *ret_which = id;
        } else if (__builtin_mul_overflow(product, size, &product)) {
            product = INT64_MAX;
        }
    }
    return product;
}

static void solve_all(clv_fit *f, bool ones_too)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 0; i < f->n_dims; i++) {
            const clv_fit_dim *d = &f->dims[i];
            int32_t unknown, which = -1;
            if (!is_known(d) || (d->size == 1 && d->may_be_one && !ones_too))
                continue;
            int64_t product = known_product(f, d, &unknown, &which);
            if (unknown != 1 || product < 1 || d->size % product != 0)
                continue;
            f->factors[which].f.size = d->size / product;
            changed = true;
        }
    }
}

/* A dimension whose size is not known: its factors may be anything. */
static void mark_open(clv_fit *f)
{
    for (int32_t i = 0; i < f->n_dims; i++) {
        const clv_fit_dim *d = &f->dims[i];
        if (d->blank || clv_dim_is_number(d->size))
            continue;
        for (int32_t j = 0; j < d->n; j++)
            f->factors[f->ids[d->first + j]].open = true;
    }
    for (int32_t i = 0; i < f->n_factors; i++) {
        clv_fit_factor *one = &f->factors[i];
        if (one->open || one->f.size == CLV_SIZE_UNSOLVED)
            one->f.size = -1;
    }
}

clv_status clv_fit_solve(clv_fit *f, clv_error *err)
{
    solve_all(f, false);
    solve_all(f, true);
    mark_open(f);
    for (int32_t i = 0; i < f->n_dims; i++) {
        clv_fit_dim *d = &f->dims[i];
        int32_t unknown, which;
        bool open = !is_known(d);
        for (int32_t j = 0; j < d->n; j++)
            open |= f->factors[f->ids[d->first + j]].f.size < 0;
        if (open)
            continue;
        int64_t product = known_product(f, d, &unknown, &which);
        if (product == d->size)
            continue;
        if (d->size != 1 || !d->may_be_one)
            return clv_rule_keep_whole(f->w,
                                       clv_arena_printf(f->w->r->arena,
                                                        "has a dimension of %" PRId64
                                                        ", which does not fit its sharding "
                                                        "rule: %" PRId64 " by its other operands",
                                                        d->size, product),
                                       err);
        d->n = 0; /* broadcast: every part reads it */
    }
    return CLV_OK;
}
