#include "sharding/factors_layout.h"

#include <assert.h>

/* A choice of an operator on a mesh. */
typedef struct {
    const clv_factors *f;
    const clv_mesh *mesh;
    const int16_t *factor_of_axis;
} choice;

/* Into how many parts the axes cut a factor. */
static int64_t parts_of(const choice *c, int32_t factor)
{
    int64_t parts = 1;
    for (int32_t a = 0; a < c->mesh->n_axes; a++)
        if (c->factor_of_axis[a] == factor)
            parts *= c->mesh->size[a];
    return parts;
}

/* Where factor stands in a dimension, -1: not. */
static int32_t place_in(const clv_dim_factors *d, int32_t factor)
{
    for (int32_t i = 0; i < d->n; i++)
        if (d->at[i] == factor)
            return i;
    return -1;
}

/* Product of the sizes of factors from..to of a dimension; -1: not known, or beyond 31 bits, which
 * a layout cannot say. */
static int64_t product_of(const clv_factors *f, const clv_dim_factors *d, int32_t from, int32_t to)
{
    int64_t product = 1;
    for (int32_t i = from; i < to; i++) {
        int64_t size = f->factors[d->at[i]].size;
        if (size < 0 || __builtin_mul_overflow(product, size, &product) || product > INT32_MAX)
            return -1;
    }
    return product;
}

/* Are all parts of a factor of one size? */
static bool is_even(const choice *c, int32_t factor)
{
    const clv_factor *one = &c->f->factors[factor];
    for (int32_t a = 0; a < c->mesh->n_axes; a++)
        if (c->factor_of_axis[a] == factor && c->mesh->share[a])
            return false;
    return one->size % one->granule == 0 && one->size / one->granule % parts_of(c, factor) == 0;
}

/* Elements that stay together where a factor is cut unevenly: of the factors behind it in the
 * dimension, the width of a head, and of a block of weights. -1: a layout cannot say it. */
static int64_t unit_of(const clv_factors *f, const clv_dim_factors *d, int32_t at)
{
    const clv_factor *one = &f->factors[d->at[at]];
    int64_t unit = product_of(f, d, at + 1, d->n);
    bool ok = unit > 0 && one->size % one->granule == 0 &&
              !__builtin_mul_overflow(unit, one->granule, &unit) && unit <= INT32_MAX;
    return ok ? unit : -1;
}

/* -- is it allowed? -- */

/* What a layout cannot say: a size beyond 31 bits, and uneven parts, which keep units of elements
 * together, within which others are split. A halo comes from the next part alone. */
static bool allow_in_dim(const choice *c, const clv_dim_factors *d, int32_t factor, int64_t parts)
{
    const clv_factor *one = &c->f->factors[factor];
    int32_t at = place_in(d, factor);
    if (at < 0)
        return true;
    int64_t outer = product_of(c->f, d, 0, at), inner = product_of(c->f, d, at + 1, d->n);
    int64_t smallest = one->size / one->granule / parts * one->granule;
    bool halo = one->kind == CLV_FACTOR_HALO;
    if (outer < 1 || inner < 1)
        return false;
    if (inner * one->granule > 1 && !is_even(c, factor)) {
        if (halo || unit_of(c->f, d, at) < 0)
            return false;
        for (int32_t i = at + 1; i < d->n; i++)
            if (parts_of(c, d->at[i]) > 1)
                return false;
    }
    return !halo || (one->before <= smallest * inner && one->after <= smallest * inner);
}

/* Does any device get none of so many units, cut by the axes of a factor from axis a on? Each cuts
 * what the one before it left. */
static bool leaves_one_empty(const choice *c, int32_t factor, int32_t a, int64_t units)
{
    const clv_mesh *mesh = c->mesh;
    int64_t offset, part, last = -1;
    while (a < mesh->n_axes && (c->factor_of_axis[a] != factor || mesh->size[a] == 1))
        a++;
    if (a == mesh->n_axes || units == 0)
        return units == 0;
    for (int32_t k = 0; k < mesh->size[a]; k++) {
        if (mesh->share[a])
            clv_cut_shares(units, mesh->size[a], k, mesh->share[a], &offset, &part);
        else
            clv_cut(units, mesh->size[a], k, CLV_UNEVEN_CEIL, &offset, &part);
        if (part != last && leaves_one_empty(c, factor, a + 1, part))
            return true; /* at most three deep */
        last = part;
    }
    return false;
}

/* An output without the factor is a copy on every device, which one that has none of the factor
 * cannot compute: query heads of a group, and the caches of its keys. */
static bool allow_empty(const choice *c, int32_t factor)
{
    const clv_factor *one = &c->f->factors[factor];
    bool copies = false;
    for (int32_t k = 0; k < c->f->n_out && !copies; k++) {
        const clv_operand_factors *o = &c->f->out[k];
        int32_t i = 0;
        while (i < o->rank && place_in(&o->dims[i], factor) < 0)
            i++;
        copies = i == o->rank;
    }
    return one->kind == CLV_FACTOR_REDUCED || !copies || is_even(c, factor) ||
           !leaves_one_empty(c, factor, 0, one->size / one->granule);
}

static bool allow_factor(const choice *c, int32_t factor)
{
    const clv_factors *f = c->f;
    const clv_factor *one = &f->factors[factor];
    int64_t parts = parts_of(c, factor);
    if (one->kind == CLV_FACTOR_SUMMANDS)
        return true;
    if (one->kind == CLV_FACTOR_WHOLE || one->size < 0 || one->size / one->granule < parts)
        return false;
    if ((one->even && !is_even(c, factor)) || !allow_empty(c, factor))
        return false;
    for (int32_t k = 0; k < f->n_in + f->n_out; k++) {
        const clv_operand_factors *o = k < f->n_in ? &f->in[k] : &f->out[k - f->n_in];
        for (int32_t i = 0; i < o->rank; i++)
            if (!allow_in_dim(c, &o->dims[i], factor, parts))
                return false;
    }
    return true;
}

bool clv_factors_allow(const clv_factors *f, const clv_mesh *mesh, const int16_t *factor_of_axis)
{
    const choice c = { f, mesh, factor_of_axis };
    for (int32_t a = 0; a < mesh->n_axes; a++) {
        int32_t factor = factor_of_axis[a];
        if (factor < 0)
            continue;
        assert(factor < f->n_factors);
        bool halo = f->factors[factor].kind == CLV_FACTOR_HALO;
        if (!allow_factor(&c, factor))
            return false;
        for (int32_t b = 0; halo && b < a; b++) /* a neighbour along one axis only */
            if (factor_of_axis[b] == factor && mesh->size[a] > 1 && mesh->size[b] > 1)
                return false;
    }
    return true;
}

/* -- layouts -- */

/* The unit of the axes that split the factor at `at`: 1 where parts are even. Factors behind it are
 * cut in one with it where those before them are split into single elements. */
static int32_t unit_for(const choice *c, const clv_dim_factors *d, int32_t at)
{
    int32_t last = at;
    for (int32_t i = at; i + 1 < d->n; i++) {
        if (parts_of(c, d->at[i]) != c->f->factors[d->at[i]].size)
            break;
        if (parts_of(c, d->at[i + 1]) > 1)
            last = i + 1;
    }
    return is_even(c, d->at[last]) ? 1 : (int32_t)unit_of(c->f, d, last);
}

/* What axis a does to dimension i, d, of which it splits the factor at `at`. Where the factors
 * before it are split into single elements, it is an ordinary split within them. */
static void split_dim(const choice *c, const clv_dim_factors *d, int32_t i, int32_t at, int32_t a,
                      clv_layout *ret)
{
    const clv_factor *factors = c->f->factors;
    int32_t from = at;
    ret->dim[a] = (int8_t)i;
    for (int32_t b = 0; b < c->mesh->n_axes;
         b++) { /* those that come before it on this dimension */
        int32_t factor = c->factor_of_axis[b];
        int32_t place = factor < 0 || c->mesh->size[b] == 1 ? -1 : place_in(d, factor);
        if (place >= 0 && (place < at || (place == at && b < a)))
            ret->nest[a]++;
    }
    while (from > 0 && parts_of(c, d->at[from - 1]) == factors[d->at[from - 1]].size)
        from--;
    ret->outer[a] = (int32_t)product_of(c->f, d, 0, from);
    if (at + 1 < d->n || factors[d->at[at]].granule > 1)
        ret->unit[a] = unit_for(c, d, at);
}

/* The axes that split a dimension of the operand; the others keep what ret has. */
static void lay_out(const choice *c, const clv_operand_factors *o, clv_layout *ret)
{
    for (int32_t a = 0; a < c->mesh->n_axes; a++) {
        int32_t factor = c->factor_of_axis[a], at = -1;
        if (factor < 0 || c->mesh->size[a] == 1)
            continue;
        for (int32_t i = 0; i < o->rank && at < 0; i++) {
            at = place_in(&o->dims[i], factor);
            if (at >= 0)
                split_dim(c, &o->dims[i], i, at, a, ret);
        }
    }
}

/* The axis has parts of a sum. */
static void lay_summands(clv_layout *ret, int32_t axis, clv_reduce reduce)
{
    ret->dim[axis] = CLV_AXIS_PARTIAL;
    ret->reduce[axis] = (int8_t)reduce;
}

void clv_factors_in(const clv_factors *f, const clv_mesh *mesh, const int16_t *factor_of_axis,
                    int32_t k, clv_layout *ret)
{
    *ret = CLV_LAYOUT_COPIES;
    for (int32_t a = 0; f->in[k].sums && a < mesh->n_axes && a < CLV_MESH_AXES_MAX; a++)
        if (factor_of_axis[a] >= 0 && mesh->size[a] > 1 &&
            clv_takes_summands(&f->in[k], &f->factors[factor_of_axis[a]]))
            lay_summands(ret, a, CLV_REDUCE_SUM);
    lay_out(&(choice){ f, mesh, factor_of_axis }, &f->in[k], ret);
}

void clv_factors_out(const clv_factors *f, const clv_mesh *mesh, const int16_t *factor_of_axis,
                     int32_t k, clv_layout *ret)
{
    *ret = CLV_LAYOUT_COPIES;
    for (int32_t a = 0; a < mesh->n_axes && a < CLV_MESH_AXES_MAX; a++) {
        if (factor_of_axis[a] < 0 || mesh->size[a] == 1)
            continue;
        const clv_factor *one = &f->factors[factor_of_axis[a]];
        if (clv_factor_leaves_parts(one))
            lay_summands(ret, a, one->reduce);
    }
    lay_out(&(choice){ f, mesh, factor_of_axis }, &f->out[k], ret);
}
