#include "lower/emit_operator.h"

#include "graph/ops.h"
#include "lower/emit_lookup.h"
#include "lower/emit_part.h"
#include "lower/emit_quantize.h"
#include "sharding/moved_as.h"

#define WHAT "writing an operator"

/* An operator at one position. */
typedef struct {
    clv_emit *e;
    const clv_spmd_instr *instr;
    const clv_op_info *op;
    const clv_factors *f;
    int32_t position;
    clv_str *in, *out; /* explicit ones */
    int32_t n_in;
    clv_new_attr *attrs;
    int32_t n_attrs;
} local_op;

static bool is_split(const local_op *l, int32_t factor)
{
    return clv_spmd_splits(l->e->s, l->instr, factor);
}

static bool is_part(const local_op *l)
{
    for (int32_t f = 0; f < l->f->n_factors; f++)
        if (is_split(l, f))
            return true;
    return false;
}

static clv_tensor input_of(const local_op *l, int32_t k)
{
    return clv_op_input(l->e->s->model->main, l->op, k);
}

/* -- numbers that change on a shard -- */

static bool changes(const local_op *l, const clv_local *one)
{
    for (int32_t i = 0; i < one->of.n; i++)
        if (is_split(l, one->of.at[i]))
            return true;
    return false;
}

static int64_t changed_number(const local_op *l, const clv_local *one)
{
    int64_t product = 1;
    for (int32_t i = 0; i < one->of.n; i++)
        product *= l->e->high[one->of.at[i]] - l->e->low[one->of.at[i]];
    return one->zero ? 0 : product;
}

/* A 0 in the shape of a Reshape stands for a dimension of its input, of which the device may have
 * less than of its output's: it is written out. */
static void write_zeros_out(const local_op *l, int64_t *number, int32_t n)
{
    clv_tensor out = clv_op_output(l->e->s->model->main, l->op, 0);
    const clv_type *made = &l->e->s->types->of[out.i];
    for (int32_t i = 0; clv_str_is(l->op->type, "Reshape") && i < n && i < made->rank; i++)
        if (number[i] == 0 && clv_dim_is_number(made->dims[i]))
            number[i] = made->dims[i];
}

/* An attribute that is a number or a list of them, with that of the shard. */
static clv_status change_attr(local_op *l, const clv_local *one, clv_error *err)
{
    const clv_attr *from = clv_op_attr(l->e->s->model->main, l->op, one->attr);
    int32_t i = 0;
    while (i < l->n_attrs && !clv_str_is(l->attrs[i].name, one->attr))
        i++;
    clv_new_attr *attr = &l->attrs[i];
    if (i == l->n_attrs) { /* the first number of it that changes */
        *attr = (clv_new_attr){ .name = clv_str_of(one->attr), .kind = CLV_NEW_INT };
        l->n_attrs++;
        if (from && from->kind == CLV_ATTR_INTS) {
            attr->kind = CLV_NEW_INTS;
            attr->n = from->n;
            attr->ints = CLV_NEW_ARRAY(l->e->arena, int64_t, from->n);
            if (!attr->ints)
                return clv_fail_nomem(err, WHAT);
            if (from->n)
                memcpy((int64_t *)attr->ints, from->ints, (size_t)from->n * sizeof *from->ints);
        }
    }
    if (attr->kind == CLV_NEW_INT) {
        attr->i = changed_number(l, one);
        return CLV_OK;
    }
    write_zeros_out(l, (int64_t *)attr->ints, attr->n);
    if (one->at >= 0 && one->at < attr->n)
        ((int64_t *)attr->ints)[one->at] = changed_number(l, one);
    return CLV_OK;
}

/* Input k becomes a constant of these numbers. */
static clv_status set_numbers(local_op *l, int32_t k, const int64_t *number, int32_t n,
                              clv_error *err)
{
    const clv_type *type = &l->e->s->types->of[input_of(l, k).i];
    const clv_emit_type list = { type->dtype, type->rank, (int64_t[]){ n } };
    if (type->dtype == CLV_DT_INT64)
        return clv_emit_constant(l->e, &list, number, (int64_t)n * (int64_t)sizeof *number,
                                 &l->in[k], err);
    int32_t *narrow = CLV_NEW_ARRAY(l->e->arena, int32_t, n);
    if (!narrow)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < n; i++)
        narrow[i] = (int32_t)number[i];
    return clv_emit_constant(l->e, &list, narrow, (int64_t)n * (int64_t)sizeof *narrow, &l->in[k],
                             err);
}

/* The numbers of an input that is a list of them: as they are known, or where they come at run
 * time, the shape of the output that they are for. NULL: neither. */
static int64_t *numbers_of(const local_op *l, int32_t k, int32_t *ret_n)
{
    const clv_types *types = l->e->s->types;
    const clv_type *type = &types->of[input_of(l, k).i];
    const clv_value *value = types->value[input_of(l, k).i];
    clv_tensor out = clv_op_output(l->e->s->model->main, l->op, 0);
    const clv_type *made = &types->of[out.i];
    bool known = value && value->i;
    bool is_shape = type->rank == 1 && clv_type_is_static(made) && type->dims[0] >= 0 &&
                    type->dims[0] <= made->rank;
    if (!known && !is_shape)
        return NULL;
    *ret_n = known ? value->n : (int32_t)type->dims[0];
    int64_t *ret = CLV_NEW_ARRAY(l->e->arena, int64_t, *ret_n);
    if (ret && *ret_n) /* a shorter one is of the last dimensions */
        memcpy(ret, known ? value->i : made->dims + made->rank - *ret_n,
               (size_t)*ret_n * sizeof *ret);
    return ret;
}

/* An input that is a list of numbers, a shape most often, with those of the shard. */
static clv_status change_input(local_op *l, int32_t k, clv_error *err)
{
    bool any = false;
    int32_t n = 0;
    for (int32_t i = 0; i < l->f->n_local; i++)
        any =
            any || (!l->f->local[i].attr && l->f->local[i].in == k && changes(l, &l->f->local[i]));
    if (!any || input_of(l, k).i < 0)
        return CLV_OK;
    int64_t *number = numbers_of(l, k, &n);
    if (!number)
        return clv_fail(err, CLV_EUNSUPP,
                        "operator '%.*s' is split, and input %d of it, which is known at run time "
                        "only, would have to change",
                        CLV_STR_ARG(l->op->label), (int)k);
    write_zeros_out(l, number, n);
    for (int32_t i = 0; i < l->f->n_local; i++) {
        const clv_local *one = &l->f->local[i];
        if (!one->attr && one->in == k && changes(l, one) && one->at < n)
            number[one->at < 0 ? 0 : one->at] = changed_number(l, one);
    }
    return set_numbers(l, k, number, n, err);
}

/* -- inputs -- */

/* What the device has of input k. */
static clv_emit_type type_of_input(const local_op *l, int32_t k, int64_t *dims)
{
    clv_tensor t = input_of(l, k);
    const clv_type *type = &l->e->s->types->of[t.i];
    const clv_spmd_value *v = &l->e->s->values[l->e->s->operands[l->instr->first_in + k]];
    clv_spmd_dims(l->e->s, t, &v->layout, l->position, dims);
    return (clv_emit_type){ type->dtype, type->rank, dims };
}

static clv_emit_scope scope_of_input(const local_op *l, int32_t k)
{
    clv_str name = clv_tensor_at(l->e->s->model->main, input_of(l, k))->name;
    return (clv_emit_scope){ l->e, name, l->position };
}

/* A bias is added once: by the first of those whose sums are added up. */
static clv_status zero_bias(local_op *l, int32_t k, clv_error *err)
{
    const clv_operand_factors *o = &l->f->in[k];
    int64_t dims[CLV_RANK_MAX];
    bool zero = false;
    for (int32_t f = 0; o->once && f < l->f->n_factors; f++) {
        const clv_factor *one = &l->f->factors[f];
        bool own = clv_takes_summands(o, one);
        for (int32_t d = 0; d < o->rank; d++)
            for (int32_t i = 0; i < o->dims[d].n; i++)
                own = own || o->dims[d].at[i] == f;
        zero = zero || (clv_factor_leaves_parts(one) && !l->e->first[f] && !own);
    }
    if (!zero || l->in[k].n == 0)
        return CLV_OK;
    const clv_emit_type type = type_of_input(l, k, dims);
    const clv_emit_scope scope = scope_of_input(l, k);
    const clv_typed_name own = { l->in[k], type.dtype };
    return clv_emit_filled_after(&scope, (clv_typed_names){ &own, 1 }, &type, CLV_FILL_ZERO,
                                 &l->in[k], err);
}

/* The dimension of an input whose elements are chosen by number, and of which the device has some;
 * -1: none. */
static int32_t chosen_dim(const local_op *l, int32_t k, int32_t *ret_factor)
{
    const clv_operand_factors *o = &l->f->in[k];
    for (int32_t d = 0; d < o->rank; d++)
        for (int32_t i = 0; i < o->dims[d].n; i++) {
            *ret_factor = o->dims[d].at[i];
            if (l->f->factors[*ret_factor].by_index && is_split(l, *ret_factor))
                return d;
        }
    return -1;
}

/* Numbers count through all experts, so those of other devices stand there as zeros: what they
 * give is zero. */
static clv_status pad_chosen(local_op *l, int32_t k, clv_error *err)
{
    int32_t factor, d = chosen_dim(l, k, &factor);
    clv_str before, behind;
    int64_t dims[CLV_RANK_MAX];
    if (d < 0 || input_of(l, k).i < 0)
        return CLV_OK;
    const clv_emit_type type = type_of_input(l, k, dims);
    const clv_emit_scope scope = scope_of_input(l, k);
    dims[d] = l->e->low[factor];
    CLV_TRY(clv_emit_filled(l->e, &type, CLV_FILL_ZERO, &before, err));
    dims[d] = l->e->s->types->of[input_of(l, k).i].dims[d] - l->e->high[factor];
    CLV_TRY(clv_emit_filled(l->e, &type, CLV_FILL_ZERO, &behind, err));
    return clv_emit_concat(&scope, CLV_NAMES(before, l->in[k], behind), type.dtype, d, &l->in[k],
                           err);
}

/* ONNX Runtime 1.30 moves a QuantizeLinear of one scale in front of a Slice, Reshape or Transpose
 * that it reads from, which then has elements of a type that it cannot have, and the model is not
 * loaded. It does not move it in front of a Concat, which one input leaves as it is. */
static clv_status keep_behind(local_op *l, clv_error *err)
{
    clv_emit *e = l->e;
    const clv_types *types = e->s->types;
    clv_tensor out = clv_op_output(e->s->model->main, l->op, 0);
    const clv_new_attr axis = { .name = clv_str_of("axis"), .kind = CLV_NEW_INT };
    if (!clv_str_is(l->op->type, "QuantizeLinear") || l->n_in == 0 || out.i < 0)
        return CLV_OK;
    int32_t made_by = clv_map_get(&e->taken, l->in[0]) - 1;
    bool moved = made_by >= 0 && e->nodes[made_by].source.i < 0;
    if (!moved || types->of[input_of(l, 0).i].rank <= 0 ||
        clv_dtype_cast_opset(types->of[out.i].dtype) == 0)
        return CLV_OK;
    const clv_emit_scope scope = scope_of_input(l, 0);
    return clv_emit_node_with(&scope, "Concat", CLV_NAMES(l->in[0]), (clv_new_attrs){ &axis, 1 },
                              &l->in[0], err);
}

/* A type of 4 or 2 bits has elements of a byte for ONNX Runtime 1.30, so a Cast from it to a type
 * of 8 bits, or from 2 bits to 4, writes over its input where that is no longer needed: over
 * elements that it has yet to read. It is given the same numbers in a wider type, behind a Concat
 * of one input without which the runtime would leave that out. What nobody may write over stays:
 * inputs of a model, weights, and where there is one element. */
static clv_status widen_cast(local_op *l, clv_error *err)
{
    clv_emit *e = l->e;
    const clv_type *of = e->s->types->of;
    clv_tensor out = clv_op_output(e->s->model->main, l->op, 0);
    const clv_new_attr axis = { .name = clv_str_of("axis"), .kind = CLV_NEW_INT };
    bool casts = clv_str_is(l->op->type, "Cast") || clv_str_is(l->op->type, "CastLike");
    if (!casts || l->n_in == 0 || out.i < 0 || clv_map_get(&e->taken, l->in[0]) <= 0)
        return CLV_OK;
    const clv_type *from = &of[input_of(l, 0).i];
    int bits = clv_dtype_bits(from->dtype), to = clv_dtype_bits(of[out.i].dtype);
    clv_dtype wider = clv_dtype_moved_as(from->dtype, e->opset);
    if (bits == 0 || bits >= 8 || to <= bits || to > 8 || from->rank <= 0 ||
        wider == CLV_DT_UNDEFINED)
        return CLV_OK;
    const clv_emit_scope scope = scope_of_input(l, 0);
    CLV_TRY(clv_emit_widen(&scope, from->dtype, wider, &l->in[0], err));
    return clv_emit_node_with(&scope, "Concat", CLV_NAMES(l->in[0]), (clv_new_attrs){ &axis, 1 },
                              &l->in[0], err);
}

/* -- halos -- */

/* An input of an operator that is split along a dimension of which it reads the borders too. */
typedef struct {
    clv_emit *e;
    const clv_spmd_instr *instr;
    int32_t k;
    clv_layout layout; /* so far: dimensions with a halo are gathered */
} halo_input;

/* The split factor with a halo of a dimension; *ret_inner: elements of the dimension for each of
 * its own. -1: none. */
static int32_t halo_of(const halo_input *h, int32_t d, int64_t *ret_inner)
{
    const clv_factors *f = &h->e->s->factors[h->instr->op.i];
    const clv_dim_factors *dim = &f->in[h->k].dims[d];
    for (int32_t i = 0; i < dim->n; i++) {
        *ret_inner = 1;
        for (int32_t j = i + 1; j < dim->n; j++)
            *ret_inner *= f->factors[dim->at[j]].size;
        if (f->factors[dim->at[i]].kind == CLV_FACTOR_HALO &&
            clv_spmd_splits(h->e->s, h->instr, dim->at[i]))
            return dim->at[i];
    }
    return -1;
}

/* Elements of dimension d from first to last - 1, beyond its ends too, where they are filled. */
typedef struct {
    int32_t d;
    int64_t first, last;
    clv_fill fill;
} window;

/* *io: a tensor of this type, which has all of the dimension; then the window of it. */
static clv_status take_window(const clv_emit_scope *scope, const clv_emit_type *type,
                              const window *w, clv_str *io, clv_error *err)
{
    int64_t dims[CLV_RANK_MAX], size = type->dims[w->d];
    const clv_emit_type border = { type->dtype, type->rank, dims };
    clv_span one = { w->first < 0 ? 0 : w->first, 0 };
    clv_spans places = { &one, 1, 0 };
    const clv_spans *along[CLV_RANK_MAX] = { NULL };
    clv_str before, inside, behind;
    memcpy(dims, type->dims, (size_t)type->rank * sizeof *dims);
    places.elems = one.n = (w->last > size ? size : w->last) - one.at;
    along[w->d] = &places;
    dims[w->d] = w->first < 0 ? -w->first : 0;
    CLV_TRY(clv_emit_filled(scope->e, &border, w->fill, &before, err));
    CLV_TRY(clv_emit_take(scope, *io, type, along, &inside, err));
    dims[w->d] = w->last > size ? w->last - size : 0;
    CLV_TRY(clv_emit_filled(scope->e, &border, w->fill, &behind, err));
    return clv_emit_concat(scope, CLV_NAMES(before, inside, behind), type->dtype, w->d, io, err);
}

/* All borders of the input at one position, where each dimension with a halo is whole. */
static clv_status add_borders(const halo_input *h, int32_t position, clv_str *io, clv_error *err)
{
    clv_emit *e = h->e;
    const clv_graph *g = e->s->model->main;
    const clv_op_info *op = clv_op_at(g, h->instr->op);
    const clv_factors *f = &e->s->factors[h->instr->op.i];
    clv_tensor t = clv_op_input(g, op, h->k);
    bool largest = clv_str_is(op->type, "MaxPool") || clv_str_is(op->type, "MaxpoolWithMask");
    int64_t dims[CLV_RANK_MAX], inner;
    const clv_emit_scope scope = { e, clv_tensor_at(g, t)->name, position };
    const clv_emit_type type = { e->s->types->of[t.i].dtype, e->s->types->of[t.i].rank, dims };
    clv_spmd_ranges(e->s, h->instr, position, e->low, e->high, e->first);
    clv_spmd_dims(e->s, t, &h->layout, position, dims);
    for (int32_t d = 0; d < f->in[h->k].rank; d++) {
        int32_t factor = halo_of(h, d, &inner);
        if (factor < 0 || e->low[factor] == e->high[factor])
            continue; /* none, or the device has nothing to do */
        const window w = { d, e->low[factor] * inner - f->factors[factor].before,
                           e->high[factor] * inner + f->factors[factor].after,
                           largest ? CLV_FILL_LOWEST : CLV_FILL_ZERO };
        CLV_TRY(take_window(&scope, &type, &w, io, err));
        dims[d] = w.last - w.first;
    }
    return CLV_OK;
}

/* Input k of the operator on every device, with the borders of its neighbours. */
static clv_status add_halo(clv_emit *e, const clv_spmd_instr *instr, int32_t k, clv_str *io,
                           clv_error *err)
{
    const clv_spmd_value *v = &e->s->values[e->s->operands[instr->first_in + k]];
    halo_input h = { e, instr, k, v->layout };
    bool any = false;
    int64_t inner;
    for (int32_t d = 0; d < e->s->factors[instr->op.i].in[k].rank; d++) {
        int32_t factor = halo_of(&h, d, &inner);
        for (int32_t a = 0; factor >= 0 && a < e->s->mesh.n_axes; a++)
            if (instr->factor[a] == factor && e->s->mesh.size[a] > 1) {
                CLV_TRY(clv_emit_gather(e, v->tensor, &h.layout, a, io, err));
                any = true;
            }
    }
    for (int32_t p = 0; any && p < e->s->mesh.n_devices; p++)
        if (clv_emit_active(e, p))
            CLV_TRY(add_borders(&h, p, &io[p], err));
    return CLV_OK;
}

/* -- outputs -- */

/* A device without a share of a factor has nothing to compute: its parts of the outputs are empty,
 * and its parts of sums change nothing. */
static clv_status stay_idle(const local_op *l, clv_error *err)
{
    const clv_spmd *s = l->e->s;
    clv_typed_name *in = CLV_NEW_ARRAY(l->e->arena, clv_typed_name, l->n_in);
    if (!in)
        return clv_fail_nomem(err, WHAT);
    for (int32_t k = 0; k < l->n_in; k++)
        if (input_of(l, k).i >= 0)
            in[k] = (clv_typed_name){ l->in[k], s->types->of[input_of(l, k).i].dtype };
    for (int32_t k = 0; k < l->instr->n_out; k++) {
        int32_t v = s->operands[l->instr->first_out + k];
        clv_reduce reduce = CLV_REDUCE_NONE;
        int64_t dims[CLV_RANK_MAX];
        if (v < 0)
            continue;
        const clv_spmd_value *value = &s->values[v];
        const clv_type *whole = &s->types->of[value->tensor.i];
        const clv_emit_type type = { whole->dtype, whole->rank, dims };
        const clv_emit_scope scope = { l->e, value->name, l->position };
        for (int32_t a = 0; a < s->mesh.n_axes; a++)
            if (value->layout.dim[a] == CLV_AXIS_PARTIAL)
                reduce = (clv_reduce)value->layout.reduce[a];
        clv_spmd_dims(s, value->tensor, &value->layout, l->position, dims);
        CLV_TRY(clv_emit_filled_after(&scope, (clv_typed_names){ in, l->n_in }, &type,
                                      clv_fill_neutral(reduce), clv_emit_name(l->e, v, l->position),
                                      err));
    }
    return CLV_OK;
}

static clv_status name_outputs(local_op *l, clv_error *err)
{
    const clv_spmd *s = l->e->s;
    for (int32_t k = 0; k < l->instr->n_out; k++) {
        int32_t v = s->operands[l->instr->first_out + k];
        l->out[k] = (clv_str){ 0 };
        if (v < 0)
            continue;
        const clv_spmd_value *value = &s->values[v];
        /* a sequence that the model returns: older operator sets have no Identity for it, so the
         * first of all devices gives it its name at once */
        bool keeps_name = l->e->only < 0 && value->returned && l->position == 0 &&
                          s->types->of[value->tensor.i].kind != CLV_TYPE_TENSOR;
        CLV_TRY(clv_emit_fresh(l->e, value->name, keeps_name ? -1 : l->position, true, &l->out[k],
                               err));
        *clv_emit_name(l->e, v, l->position) = l->out[k];
    }
    return CLV_OK;
}

/* -- the operator -- */

static clv_status make_node(local_op *l, clv_new_node *node, clv_error *err)
{
    const clv_spmd *s = l->e->s;
    int32_t n = l->op->n_implicit, first = l->op->n_in - n;
    clv_rename *captured = CLV_NEW_ARRAY(l->e->arena, clv_rename, n);
    if (!captured)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < n; i++) {
        int32_t v = s->operands[l->instr->first_in + first + i];
        captured[i].from = clv_tensor_at(s->model->main, input_of(l, first + i))->name;
        captured[i].to = *clv_emit_name(l->e, v, l->position);
    }
    *node = (clv_new_node){ .source = l->instr->op,
                            .name = l->op->name.n ? l->op->name : l->op->label,
                            .in = l->in,
                            .out = l->out,
                            .n_in = l->n_in,
                            .n_out = l->instr->n_out,
                            .attrs = l->attrs,
                            .n_attrs = l->n_attrs,
                            .captured = captured,
                            .n_captured = n };
    if (l->e->only < 0 && s->mesh.n_devices > 1) {
        const char *device = s->plan->devices[s->phases[l->e->phase].device[l->position]].name;
        char *text = clv_arena_printf(l->e->arena, "%.*s@%s", CLV_STR_ARG(node->name), device);
        if (!text)
            return clv_fail_nomem(err, WHAT);
        node->name = clv_str_of(text);
    }
    return CLV_OK;
}

/* Where it is trained, runtimes write its new mean and variance over the old ones, whoever else
 * reads these. */
static clv_status check_in_place(const local_op *l, clv_error *err)
{
    const clv_attr *mode = clv_op_attr(l->e->s->model->main, l->op, "training_mode");
    bool trains = mode && mode->i != 0 && clv_str_is(l->op->type, "BatchNormalization");
    if (!trains || l->e->only >= 0 || l->e->s->mesh.n_devices == 1)
        return CLV_OK;
    return clv_fail(err, CLV_EUNSUPP,
                    "operator '%.*s' (BatchNormalization) is trained and writes its statistics in "
                    "place, so devices cannot stand side by side; lower it to a model a device",
                    CLV_STR_ARG(l->op->label));
}

static clv_status run_here(local_op *l, clv_error *err)
{
    clv_emit *e = l->e;
    clv_new_node node;
    int32_t factor = -1, table = -1;
    for (int32_t i = 0; i < l->f->n_local; i++)
        if (l->f->local[i].attr && changes(l, &l->f->local[i]))
            CLV_TRY(change_attr(l, &l->f->local[i], err));
    for (int32_t k = 0; k < l->n_in && k < l->f->n_in; k++)
        CLV_TRY(change_input(l, k, err));
    CLV_TRY(check_in_place(l, err));
    for (int32_t k = 0; k < l->n_in && k < l->f->n_in; k++) {
        CLV_TRY(zero_bias(l, k, err));
        if (k == 0 && clv_emit_is_lookup(l->op))
            table = chosen_dim(l, k, &factor);
        if (table < 0)
            CLV_TRY(pad_chosen(l, k, err));
    }
    CLV_TRY(keep_behind(l, err));
    CLV_TRY(widen_cast(l, err));
    CLV_TRY(name_outputs(l, err));
    CLV_TRY(make_node(l, &node, err));
    if (clv_emit_is_quantize_to_2_bits(e, l->op) && l->out[0].n && is_part(l))
        return clv_emit_quantize_to_2_bits(e, l->instr, l->position, &node, err);
    if (table < 0)
        return clv_emit_push(e, &node, err);
    const clv_table_rows rows = { table, e->low[factor], e->high[factor],
                                  e->s->types->of[input_of(l, 0).i].dims[table] };
    return clv_emit_lookup(e, l->instr, l->position, &node, &rows, err);
}

static clv_status emit_at(clv_emit *e, const clv_spmd_instr *instr, int32_t position,
                          const clv_str *in, clv_error *err)
{
    local_op l = { .e = e,
                   .instr = instr,
                   .op = clv_op_at(e->s->model->main, instr->op),
                   .f = &e->s->factors[instr->op.i],
                   .position = position };
    bool idle = false;
    l.n_in = clv_op_n_explicit(l.op);
    l.in = CLV_NEW_ARRAY(e->arena, clv_str, l.n_in);
    l.out = CLV_NEW_ARRAY(e->arena, clv_str, instr->n_out);
    l.attrs = CLV_NEW_ARRAY(e->arena, clv_new_attr, l.f->n_local);
    if (!l.in || !l.out || !l.attrs)
        return clv_fail_nomem(err, WHAT);
    for (int32_t k = 0; k < l.n_in; k++)
        l.in[k] = in[k * e->s->mesh.n_devices + position];
    clv_spmd_ranges(e->s, instr, position, e->low, e->high, e->first);
    for (int32_t f = 0; f < l.f->n_factors; f++)
        idle = idle || (is_split(&l, f) && e->low[f] == e->high[f]);
    return idle ? stay_idle(&l, err) : run_here(&l, err);
}

clv_status clv_emit_operator(clv_emit *e, const clv_spmd_instr *instr, clv_error *err)
{
    const clv_op_info *op = clv_op_at(e->s->model->main, instr->op);
    const clv_factors *f = &e->s->factors[instr->op.i];
    int32_t n_in = clv_op_n_explicit(op), n = e->s->mesh.n_devices;
    if (n_in * n > e->cap_in) {
        e->cap_in = 2 * n_in * n;
        e->in = CLV_NEW_ARRAY(e->arena, clv_str, e->cap_in);
    }
    if (f->n_factors > e->cap_factors) {
        e->cap_factors = 2 * f->n_factors;
        e->low = CLV_NEW_ARRAY(e->arena, int64_t, e->cap_factors);
        e->high = CLV_NEW_ARRAY(e->arena, int64_t, e->cap_factors);
        e->first = CLV_NEW_ARRAY(e->arena, bool, e->cap_factors);
    }
    if ((e->cap_in && !e->in) || (e->cap_factors && (!e->low || !e->high || !e->first)))
        return clv_fail_nomem(err, WHAT);
    for (int32_t k = 0; k < n_in; k++) {
        int32_t v = e->s->operands[instr->first_in + k];
        clv_str *in = e->in + (int64_t)k * n;
        for (int32_t p = 0; p < n; p++)
            if (clv_emit_active(e, p))
                in[p] = v < 0 ? (clv_str){ 0 } : *clv_emit_name(e, v, p);
        if (v >= 0 && k < f->n_in)
            CLV_TRY(add_halo(e, instr, k, in, err));
    }
    for (int32_t p = 0; p < n; p++)
        if (clv_emit_active(e, p))
            CLV_TRY(emit_at(e, instr, p, e->in, err));
    return CLV_OK;
}
