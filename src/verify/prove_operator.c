#include "verify/prove_operator.h"

#include <inttypes.h>

#include "graph/linear.h"
#include "verify/random_ops.h"

typedef struct {
    clv_prover *p;
    const clv_spmd_instr *instr;
    const clv_op_info *op;
    const clv_factors *f;
    char who[CLV_PROVER_DESCRIBE_TEXT];
} work;

static const char *device_of(const work *w, int32_t position)
{
    return clv_prover_device(w->p, w->instr->phase, position);
}

/* -- factors -- */

static clv_cut_factor cut_of(const work *w, int32_t factor)
{
    const clv_factor *one = &w->f->factors[factor];
    clv_cut_factor cut = { .size = one->size, .unit = one->granule };
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (w->instr->factor[a] == factor && clv_prover_is_long(w->p, a))
            cut.axis[cut.n_axes++] = a;
    if (cut.n_axes == 0)
        cut.unit = 1;
    return cut;
}

static uint32_t axes_of(const work *w, int32_t factor)
{
    uint32_t axes = 0;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (w->instr->factor[a] == factor && clv_prover_is_long(w->p, a))
            axes |= 1u << a;
    return axes;
}

static clv_status check_even(const work *w, const clv_factor *one, clv_spread spread,
                             clv_error *err)
{
    for (int32_t i = 1; i < w->p->s->mesh.n_devices; i++)
        if (clv_spread_at(w->p, spread, i)->count != clv_spread_at(w->p, spread, 0)->count)
            return clv_refute(err,
                              "%s: factor %s has to be cut evenly, but %s has %" PRId64
                              " and %s %" PRId64 " of it",
                              w->who, one->name, device_of(w, 0),
                              clv_spread_at(w->p, spread, 0)->count, device_of(w, i),
                              clv_spread_at(w->p, spread, i)->count);
    return CLV_OK;
}

/* f(a + b) = f(a) + f(b): by what is known of the operator, not by the rule, it is linear in just
 * the inputs that are parts, and what is added to them stands there once. */
static clv_status check_summands(const work *w, const clv_factor *one, clv_error *err)
{
    const clv_types *types = w->p->s->types;
    clv_linearity is = clv_op_linearity(types, w->instr->op);
    int32_t n = 0;
    if (one->reduce != CLV_REDUCE_SUM)
        return clv_refute(err, "%s: parts by %s do not go through it, only those of a sum", w->who,
                          clv_reduce_name(one->reduce));
    if (is == CLV_NOT_LINEAR)
        return clv_refute(err, "%s: it is not linear, but makes parts of a result from parts",
                          w->who);
    for (int32_t k = 0; k < w->f->n_in; k++) {
        bool takes = clv_takes_summands(&w->f->in[k], one);
        bool linear = clv_is_linear_in(types, w->instr->op, is, k);
        n += takes;
        if ((takes && !linear) || (is == CLV_ADDITIVE && linear && !takes && !w->f->in[k].once))
            return clv_refute(err,
                              "%s: input %d %s parts of a sum by its rule, which is wrong of %.*s",
                              w->who, (int)k, takes ? "may be" : "is no", CLV_STR_ARG(w->op->type));
    }
    if (n == 0 || (is != CLV_ADDITIVE && n > 1))
        return clv_refute(err, "%s: %d inputs are parts of a sum, which is wrong of %.*s", w->who,
                          (int)n, CLV_STR_ARG(w->op->type));
    return CLV_OK;
}

/* All devices together do each element of the factor once per replica. */
static clv_status check_factor(const work *w, int32_t factor, clv_error *err)
{
    const clv_factor *one = &w->f->factors[factor];
    clv_cut_factor cut = cut_of(w, factor);
    clv_spread spread;
    if (one->kind == CLV_FACTOR_SUMMANDS)
        return check_summands(w, one, err);
    if (one->kind == CLV_FACTOR_WHOLE || one->size < 0 || one->granule < 1 ||
        one->size % one->granule != 0)
        return clv_refute(err, "%s: factor %s must be whole, but is split", w->who, one->name);
    if (one->kind == CLV_FACTOR_REDUCED && one->reduce == CLV_REDUCE_NONE)
        return clv_refute(err, "%s: parts of factor %s cannot be put together", w->who, one->name);
    CLV_TRY(clv_spread_of(w->p, &cut, 1, &spread, err));
    CLV_TRY(clv_spread_cover(w->p, spread, one->size, axes_of(w, factor), w->who, err));
    if (one->even || (one->kind == CLV_FACTOR_REDUCED && one->reduce == CLV_REDUCE_MEAN))
        return check_even(w, one, spread, err);
    return CLV_OK;
}

static clv_status check_factors(const work *w, clv_error *err)
{
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        int32_t factor = w->instr->factor[a];
        if (factor < -1 || factor >= w->f->n_factors)
            return clv_refute(err, "%s: axis %d splits factor %d, but its rule has %d", w->who,
                              (int)a, (int)factor, (int)w->f->n_factors);
        if (factor >= 0 && !clv_prover_is_long(w->p, a) && a >= w->p->s->mesh.n_axes)
            return clv_refute(err, "%s: axis %d, which the mesh has not, splits factor %s", w->who,
                              (int)a, w->f->factors[factor].name);
        if (factor >= 0 && clv_prover_is_long(w->p, a))
            CLV_TRY(check_factor(w, factor, err));
    }
    return CLV_OK;
}

/* -- what a dimension has to be -- */

/* By the rule, of a dimension with these factors. */
static clv_status wanted_spread(const work *w, const clv_dim_factors *d, int64_t size,
                                clv_spread *ret, clv_error *err)
{
    clv_cut_factor factor[CLV_RANK_MAX];
    clv_cut_factor all = { .size = size, .unit = 1 };
    int64_t product = 1;
    bool split = false;
    if (d->n > CLV_RANK_MAX)
        return clv_fail(err, CLV_ELIMIT, "%s: a dimension has %d factors, expected at most %d",
                        w->who, (int)d->n, CLV_RANK_MAX);
    for (int32_t i = 0; i < d->n; i++) {
        if (d->at[i] < 0 || d->at[i] >= w->f->n_factors)
            return clv_refute(err, "%s: its rule names factor %d of %d", w->who, (int)d->at[i],
                              (int)w->f->n_factors);
        factor[i] = cut_of(w, d->at[i]);
        split = split || factor[i].n_axes > 0;
    }
    if (!split)
        return clv_spread_of(w->p, &all, 1, ret, err);
    for (int32_t i = 0; i < d->n; i++)
        if (factor[i].size < 0 || __builtin_mul_overflow(product, factor[i].size, &product))
            product = -1;
    if (product != size)
        return clv_refute(err, "%s: the factors of a dimension of %" PRId64 " make %" PRId64,
                          w->who, size, product);
    return clv_spread_of(w->p, factor, d->n, ret, err);
}

/* The first device that has other elements of dimension d of a value than are wanted. */
static clv_status refute_dim(const work *w, int32_t value, int32_t d, clv_spread want,
                             const char *verb, clv_error *err)
{
    char a[CLV_ELEM_SET_TEXT], b[CLV_ELEM_SET_TEXT];
    clv_spread has = w->p->held[value].dim[d];
    int32_t i = 0;
    while (w->p->spread[has][i] == w->p->spread[want][i])
        i++;
    return clv_refute(err, "%s: of dimension %d of '%.*s' %s has elements %s, but %s %s", w->who,
                      (int)d, CLV_STR_ARG(clv_prover_name(w->p, value)), device_of(w, i),
                      clv_elem_set_show(a, clv_spread_at(w->p, has, i)), verb,
                      clv_elem_set_show(b, clv_spread_at(w->p, want, i)));
}

/* Has every device just what the rule wants? o NULL: all of it. */
static clv_status check_dims(const work *w, const clv_operand_factors *o, int32_t value,
                             const char *verb, clv_error *err)
{
    const clv_held *h = &w->p->held[value];
    const clv_type *type = &w->p->s->types->of[w->p->s->values[value].tensor.i];
    const clv_dim_factors whole = { NULL, 0 };
    clv_spread want;
    if (h->rank < 0) /* copies: then no factor of it may be split */
        for (int32_t d = 0; o && d < o->rank; d++)
            for (int32_t i = 0; i < o->dims[d].n; i++)
                if (axes_of(w, o->dims[d].at[i]))
                    return clv_refute(err, "%s: '%.*s' has no known size, but is split", w->who,
                                      CLV_STR_ARG(clv_prover_name(w->p, value)));
    if (h->rank >= 0 && o && o->rank > 0 && o->rank != h->rank)
        return clv_refute(err, "%s: '%.*s' has %d dimensions, its rule %d", w->who,
                          CLV_STR_ARG(clv_prover_name(w->p, value)), (int)h->rank, (int)o->rank);
    for (int32_t d = 0; d < h->rank; d++) {
        CLV_TRY(
            wanted_spread(w, o && o->rank > 0 ? &o->dims[d] : &whole, type->dims[d], &want, err));
        if (want != h->dim[d])
            return refute_dim(w, value, d, want, verb, err);
    }
    return CLV_OK;
}

static bool has_factor(const clv_operand_factors *o, int32_t factor)
{
    for (int32_t d = 0; d < o->rank; d++)
        for (int32_t i = 0; i < o->dims[d].n; i++)
            if (o->dims[d].at[i] == factor)
                return true;
    return false;
}

/* -- inputs -- */

/* What is added once stands as zeros everywhere but at the first place of the axes that split a
 * sum: only a sum does not mind. */
static clv_status check_once(const work *w, const clv_operand_factors *o, int32_t value,
                             clv_error *err)
{
    for (int32_t f = 0; o->once && f < w->f->n_factors; f++) {
        const clv_factor *one = &w->f->factors[f];
        if (one->kind == CLV_FACTOR_REDUCED && axes_of(w, f) && !has_factor(o, f) &&
            one->reduce != CLV_REDUCE_SUM)
            return clv_refute(err,
                              "%s: '%.*s' would be counted by each device that has a part of "
                              "factor %s",
                              w->who, CLV_STR_ARG(clv_prover_name(w->p, value)), one->name);
    }
    return CLV_OK;
}

/* Borders: the elements before and behind a part, within the tensor, are on devices that differ in
 * the axes of the factor alone. */
static clv_status check_border(const work *w, int32_t value, int32_t d, int32_t factor,
                               int64_t inner, clv_error *err)
{
    clv_prover *p = w->p;
    const clv_factor *one = &w->f->factors[factor];
    const clv_held *h = &p->held[value];
    clv_cut_factor cut = cut_of(w, factor);
    int64_t size = one->size * inner;
    clv_spread own;
    CLV_TRY(clv_spread_of(p, &cut, 1, &own, err));
    for (int32_t i = 0; i < p->s->mesh.n_devices; i++) {
        const clv_elem_set *range = clv_spread_at(p, own, i);
        int64_t found = 0;
        int32_t need;
        if (range->count == 0)
            continue;
        clv_digit digit = { size, range->run[0].from * inner - one->before,
                            range->run[range->n - 1].to * inner + one->after };
        digit.low = digit.low < 0 ? 0 : digit.low;
        digit.high = digit.high > size ? size : digit.high;
        CLV_TRY(clv_elem_sets_of_digits(&p->elems, &digit, 1, &need, err));
        for (int32_t k = 0; k < p->s->mesh.n_devices; k++) {
            int64_t both = 0;
            if (clv_prover_first_of(p, k, axes_of(w, factor)) ==
                clv_prover_first_of(p, i, axes_of(w, factor)))
                CLV_TRY(clv_elem_sets_common(&p->elems, need, p->spread[h->dim[d]][k], &both, err));
            found += both;
        }
        if (found != digit.high - digit.low)
            return clv_refute(err, "%s: %s lacks the border of dimension %d of '%.*s'", w->who,
                              device_of(w, i), (int)d, CLV_STR_ARG(clv_prover_name(p, value)));
    }
    return CLV_OK;
}

static clv_status check_borders(const work *w, const clv_operand_factors *o, int32_t value,
                                clv_error *err)
{
    for (int32_t d = 0; d < o->rank && w->p->held[value].rank >= 0; d++)
        for (int32_t i = 0; i < o->dims[d].n; i++) {
            int32_t factor = o->dims[d].at[i];
            int64_t inner = 1, before = 1;
            if (w->f->factors[factor].kind != CLV_FACTOR_HALO || !axes_of(w, factor))
                continue;
            for (int32_t j = 0; j < o->dims[d].n; j++)
                *(j < i ? &before : &inner) *= j == i ? 1 : w->f->factors[o->dims[d].at[j]].size;
            if (before != 1)
                return clv_refute(err, "%s: parts of factor %s do not lie in one run", w->who,
                                  w->f->factors[factor].name);
            CLV_TRY(check_border(w, value, d, factor, inner, err));
        }
    return CLV_OK;
}

/* Just those axes have parts of a sum of the input that split a factor of summands. */
static clv_status check_parts(const work *w, const clv_operand_factors *o, int32_t value,
                              clv_error *err)
{
    const clv_held *h = &w->p->held[value];
    uint32_t want = 0;
    for (int32_t f = 0; o && o->sums && f < w->f->n_factors; f++)
        if (clv_takes_summands(o, &w->f->factors[f]))
            want |= axes_of(w, f);
    if (h->partial & ~want)
        return clv_refute(err, "%s: it reads '%.*s' while that is partial by %s", w->who,
                          CLV_STR_ARG(clv_prover_name(w->p, value)), clv_reduce_name(h->reduce));
    if (want & ~h->partial)
        return clv_refute(err, "%s: it reads '%.*s' as parts of a sum, but that is whole", w->who,
                          CLV_STR_ARG(clv_prover_name(w->p, value)));
    if (want && h->reduce != CLV_REDUCE_SUM)
        return clv_refute(err, "%s: it reads '%.*s' as parts of a sum, but it is partial by %s",
                          w->who, CLV_STR_ARG(clv_prover_name(w->p, value)),
                          clv_reduce_name(h->reduce));
    return CLV_OK;
}

static clv_status check_input(const work *w, int32_t k, clv_error *err)
{
    clv_prover *p = w->p;
    int32_t v = p->s->operands[w->instr->first_in + k];
    clv_tensor t = clv_op_input(p->s->model->main, w->op, k);
    const clv_operand_factors *o = k < w->f->n_in ? &w->f->in[k] : NULL;
    if (v < 0 || t.i < 0)
        return v < 0 && t.i < 0 ? CLV_OK
                                : clv_refute(err, "%s: input %d is %s", w->who, (int)k,
                                             v < 0 ? "missing" : "there, but the model has none");
    if (v >= p->s->n_values || p->s->values[v].tensor.i != t.i)
        return clv_refute(err, "%s: input %d is not '%.*s'", w->who, (int)k,
                          CLV_STR_ARG(clv_tensor_at(p->s->model->main, t)->name));
    if (p->s->values[v].phase != w->instr->phase || !p->is_there[v])
        return clv_refute(err, "%s: '%.*s' is read before it is there", w->who,
                          CLV_STR_ARG(clv_prover_name(p, v)));
    CLV_TRY(check_parts(w, o, v, err));
    CLV_TRY(check_dims(w, o, v, "works on", err));
    if (!o)
        return CLV_OK;
    CLV_TRY(check_once(w, o, v, err));
    return check_borders(w, o, v, err);
}

/* -- outputs -- */

static clv_status check_output(const work *w, int32_t k, clv_error *err)
{
    clv_prover *p = w->p;
    int32_t v = p->s->operands[w->instr->first_out + k];
    clv_tensor t = clv_op_output(p->s->model->main, w->op, k);
    const clv_operand_factors *o = k < w->f->n_out ? &w->f->out[k] : NULL;
    uint32_t partial = 0;
    if (v < 0 || t.i < 0)
        return v < 0 && t.i < 0 ? CLV_OK
                                : clv_refute(err, "%s: output %d is %s", w->who, (int)k,
                                             v < 0 ? "missing" : "there, but the model has none");
    if (v >= p->s->n_values || p->s->values[v].tensor.i != t.i ||
        p->s->values[v].phase != w->instr->phase || p->s->values[v].role != CLV_SPMD_RESULT)
        return clv_refute(err, "%s: output %d is not '%.*s' of its stage", w->who, (int)k,
                          CLV_STR_ARG(clv_tensor_at(p->s->model->main, t)->name));
    if (p->is_there[v])
        return clv_refute(err, "%s: '%.*s' is made twice", w->who,
                          CLV_STR_ARG(clv_prover_name(p, v)));
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        int32_t f = w->instr->factor[a];
        bool is = f >= 0 && clv_prover_is_long(p, a) &&
                  clv_factor_leaves_parts(&w->f->factors[f]) && (!o || !has_factor(o, f));
        partial |= (uint32_t)is << a;
        if (is && p->held[v].partial && w->f->factors[f].reduce != p->held[v].reduce)
            return clv_refute(err, "%s: '%.*s' is said to be partial by %s, but it is by %s",
                              w->who, CLV_STR_ARG(clv_prover_name(p, v)),
                              clv_reduce_name(p->held[v].reduce),
                              clv_reduce_name(w->f->factors[f].reduce));
    }
    if (partial != p->held[v].partial)
        return clv_refute(err,
                          "%s: '%.*s' is partial over other axes than those that split its "
                          "reduced factors",
                          w->who, CLV_STR_ARG(clv_prover_name(p, v)));
    p->is_there[v] = true;
    return check_dims(w, o, v, "makes", err);
}

/* -- the operator -- */

/* One with a seed draws the same numbers on each device, so that it may be copied but not split. */
static bool draws_apart(const work *w)
{
    const clv_graph *g = w->p->s->model->main;
    bool split = false;
    for (int32_t a = 0; a < w->p->s->mesh.n_axes; a++)
        split = split || (w->instr->factor[a] >= 0 && clv_prover_is_long(w->p, a));
    if (w->p->s->mesh.n_devices > 1 && clv_op_draws(g, w->op))
        return true;
    return w->p->s->mesh.n_devices > 1 && clv_op_drops(w->p->s->types, w->op) &&
           (split || !clv_op_attr(g, w->op, "seed"));
}

clv_status clv_prove_operator(clv_prover *p, const clv_spmd_instr *instr, clv_error *err)
{
    const clv_graph *g = p->s->model->main;
    work w = {
        .p = p, .instr = instr, .op = clv_op_at(g, instr->op), .f = &p->s->factors[instr->op.i]
    };
    (void)clv_prover_describe(p, instr, w.who);
    if (p->has_run[instr->op.i])
        return clv_refute(err, "%s runs twice", w.who);
    p->has_run[instr->op.i] = true;
    if (instr->n_in != w.op->n_in || instr->n_out != w.op->n_out)
        return clv_refute(err, "%s: it has %d inputs and %d outputs, the program %d and %d", w.who,
                          (int)w.op->n_in, (int)w.op->n_out, (int)instr->n_in, (int)instr->n_out);
    if (draws_apart(&w))
        return clv_refute(err, "%s: it draws other random numbers on each device", w.who);
    CLV_TRY(check_factors(&w, err));
    for (int32_t k = 0; k < instr->n_in; k++)
        CLV_TRY(check_input(&w, k, err));
    for (int32_t k = 0; k < instr->n_out; k++)
        CLV_TRY(check_output(&w, k, err));
    p->proof->n_operators++;
    return CLV_OK;
}
