/* emit_op.c - an operator on the part that each device has of its factors. */
#include "graph/ops.h"
#include "lower/emit.h"

#define WHAT "writing an operator"

static clv_status no_memory(const clv_emit *e) { return clv_fail_nomem(e->err, WHAT); }

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

static clv_new_attr *attr_named(local_op *l, const char *name)
{
    const clv_attr *from = clv_op_attr(l->e->s->model->main, l->op, name);
    for (int32_t i = 0; i < l->n_attrs; i++)
        if (clv_str_is(l->attrs[i].name, name))
            return &l->attrs[i];
    clv_new_attr *made = &l->attrs[l->n_attrs++];
    *made = (clv_new_attr){ .name = clv_str_of(name), .kind = CLV_NEW_INT };
    if (from && from->kind == CLV_ATTR_INTS) {
        int64_t *copy = CLV_NEW_ARRAY(l->e->arena, int64_t, from->n);
        made->kind = CLV_NEW_INTS;
        made->ints = copy;
        made->n = from->n;
        if (copy && from->n)
            memcpy(copy, from->ints, (size_t)from->n * sizeof *copy);
    }
    return made;
}

/* A 0 in the shape that a Reshape is told stands for a dimension of its input, of which the device
 * may have less than of its output's: it is written out. */
static void write_zeros_out(const local_op *l, int64_t *number, int32_t n)
{
    clv_tensor out = clv_op_output(l->e->s->model->main, l->op, 0);
    const clv_type *made = &l->e->s->types->of[out.i];
    for (int32_t i = 0; clv_str_is(l->op->type, "Reshape") && i < n && i < made->rank; i++)
        if (number[i] == 0 && clv_dim_is_number(made->dims[i]))
            number[i] = made->dims[i];
}

static clv_status change_attr(local_op *l, const clv_local *one)
{
    clv_new_attr *attr = attr_named(l, one->attr);
    if (attr->kind == CLV_NEW_INT) {
        attr->i = changed_number(l, one);
        return CLV_OK;
    }
    if (!attr->ints)
        return no_memory(l->e);
    write_zeros_out(l, (int64_t *)attr->ints, attr->n);
    if (one->at >= 0 && one->at < attr->n)
        ((int64_t *)attr->ints)[one->at] = changed_number(l, one);
    return CLV_OK;
}

static clv_status put_numbers(local_op *l, int32_t k, const int64_t *number, int32_t n)
{
    const clv_type *type = &l->e->s->types->of[input_of(l, k).i];
    int64_t dim = n;
    if (type->dtype == CLV_DT_INT64)
        return clv_emit_constant(l->e, type->dtype, type->rank, &dim, number,
                                 (int64_t)n * (int64_t)sizeof *number, &l->in[k]);
    int32_t *narrow = CLV_NEW_ARRAY(l->e->arena, int32_t, n);
    if (!narrow)
        return no_memory(l->e);
    for (int32_t i = 0; i < n; i++)
        narrow[i] = (int32_t)number[i];
    return clv_emit_constant(l->e, type->dtype, type->rank, &dim, narrow,
                             (int64_t)n * (int64_t)sizeof *narrow, &l->in[k]);
}

/* The numbers of an input that is a list of them: as they are known, or where they are told at run
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
static clv_status change_input(local_op *l, int32_t k)
{
    bool any = false;
    int32_t n = 0;
    for (int32_t i = 0; i < l->f->n_local; i++)
        any =
            any || (!l->f->local[i].attr && l->f->local[i].in == k && changes(l, &l->f->local[i]));
    if (!any)
        return CLV_OK;
    int64_t *number = numbers_of(l, k, &n);
    if (!number)
        return clv_fail(l->e->err, CLV_EUNSUPP,
                        "operator '%.*s' is split, and input %d of it, which is known at run time "
                        "only, would have to change",
                        CLV_STR_ARG(l->op->label), (int)k);
    write_zeros_out(l, number, n);
    for (int32_t i = 0; i < l->f->n_local; i++) {
        const clv_local *one = &l->f->local[i];
        if (!one->attr && one->in == k && changes(l, one) && one->at < n)
            number[one->at < 0 ? 0 : one->at] = changed_number(l, one);
    }
    return put_numbers(l, k, number, n);
}

static clv_status change_numbers(local_op *l)
{
    for (int32_t i = 0; i < l->f->n_local; i++)
        if (l->f->local[i].attr && changes(l, &l->f->local[i]))
            CLV_TRY(change_attr(l, &l->f->local[i]));
    for (int32_t k = 0; k < l->n_in && k < l->f->n_in; k++)
        if (input_of(l, k).i >= 0)
            CLV_TRY(change_input(l, k));
    return CLV_OK;
}

/* -- inputs -- */

/* A bias is added once: by the first of those whose sums are added up. */
static clv_status zero_bias(local_op *l, int32_t k)
{
    const clv_operand_factors *o = &l->f->in[k];
    bool zero = false;
    for (int32_t f = 0; o->once && f < l->f->n_factors; f++) {
        bool own = false;
        for (int32_t d = 0; d < o->rank; d++)
            for (int32_t i = 0; i < o->dims[d].n; i++)
                own = own || o->dims[d].at[i] == f;
        zero = zero || (l->f->factors[f].kind == CLV_FACTOR_REDUCED && !l->e->first[f] && !own);
    }
    if (!zero || l->in[k].n == 0)
        return CLV_OK;
    clv_tensor t = input_of(l, k);
    int64_t dims[CLV_RANK_MAX];
    const clv_spmd_value *v = &l->e->s->values[l->e->s->operands[l->instr->first_in + k]];
    clv_spmd_dims(l->e->s, t, &v->layout, l->position, dims);
    return clv_emit_filled_after(
        l->e, &l->in[k], 1, l->e->s->types->of[t.i].dtype, l->e->s->types->of[t.i].rank, dims,
        CLV_FILL_ZERO, clv_tensor_at(l->e->s->model->main, t)->name, l->position, &l->in[k]);
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
static clv_status pad_chosen(local_op *l, int32_t k)
{
    int32_t factor, d = chosen_dim(l, k, &factor), n = 0;
    clv_tensor t = input_of(l, k);
    clv_str part[3];
    int64_t dims[CLV_RANK_MAX];
    if (d < 0 || t.i < 0)
        return CLV_OK;
    const clv_type *type = &l->e->s->types->of[t.i];
    const clv_spmd_value *v = &l->e->s->values[l->e->s->operands[l->instr->first_in + k]];
    clv_spmd_dims(l->e->s, t, &v->layout, l->position, dims);
    int64_t before = l->e->low[factor], behind = type->dims[d] - l->e->high[factor];
    dims[d] = before;
    CLV_TRY(clv_emit_filled(l->e, type->dtype, type->rank, dims, CLV_FILL_ZERO, &part[n++]));
    part[n++] = l->in[k];
    dims[d] = behind;
    CLV_TRY(clv_emit_filled(l->e, type->dtype, type->rank, dims, CLV_FILL_ZERO, &part[n++]));
    return clv_emit_concat(l->e, part, n, d, clv_tensor_at(l->e->s->model->main, t)->name,
                           l->position, &l->in[k]);
}

/* -- halos -- */

/* The split factor with a halo of one dimension; *ret_inner: elements of the dimension for each of
 * its own. -1: none. */
static int32_t halo_of(const clv_emit *e, const clv_spmd_instr *instr, const clv_dim_factors *dim,
                       int64_t *ret_inner)
{
    const clv_factors *f = &e->s->factors[instr->op.i];
    for (int32_t i = 0; i < dim->n; i++) {
        *ret_inner = 1;
        for (int32_t j = i + 1; j < dim->n; j++)
            *ret_inner *= f->factors[dim->at[j]].size;
        if (f->factors[dim->at[i]].kind == CLV_FACTOR_HALO &&
            clv_spmd_splits(e->s, instr, dim->at[i]))
            return dim->at[i];
    }
    return -1;
}

/* Elements from first to last of a dimension, filled beyond its ends, out of a tensor that has all
 * of it. */
static clv_status with_borders(clv_emit *e, const clv_type *type, int64_t *dims, int32_t d,
                               int64_t first, int64_t last, clv_fill fill, clv_str want,
                               int32_t position, clv_str *io)
{
    int64_t size = dims[d];
    clv_span one = { first < 0 ? 0 : first, 0 };
    clv_spans places = { &one, 1, 0 };
    const clv_spans *along[CLV_RANK_MAX] = { NULL };
    clv_str part[3];
    int32_t n = 0;
    one.n = (last > size ? size : last) - one.at;
    places.elems = one.n;
    along[d] = &places;
    dims[d] = first < 0 ? -first : 0;
    CLV_TRY(clv_emit_filled(e, type->dtype, type->rank, dims, fill, &part[n++]));
    dims[d] = size;
    CLV_TRY(
        clv_emit_take(e, *io, type->dtype, type->rank, dims, along, want, position, &part[n++]));
    dims[d] = last > size ? last - size : 0;
    CLV_TRY(clv_emit_filled(e, type->dtype, type->rank, dims, fill, &part[n++]));
    return clv_emit_concat(e, part, n, d, want, position, io);
}

/* All borders of the input at one position, where each dimension with a halo is whole. */
static clv_status add_borders(clv_emit *e, const clv_spmd_instr *instr, int32_t k,
                              const clv_layout *layout, int32_t position, clv_str *io)
{
    const clv_graph *g = e->s->model->main;
    const clv_op_info *op = clv_op_at(g, instr->op);
    const clv_factors *f = &e->s->factors[instr->op.i];
    clv_tensor t = clv_op_input(g, op, k);
    bool largest = clv_str_is(op->type, "MaxPool") || clv_str_is(op->type, "MaxpoolWithMask");
    int64_t dims[CLV_RANK_MAX], inner;
    clv_spmd_ranges(e->s, instr, position, e->low, e->high, e->first);
    clv_spmd_dims(e->s, t, layout, position, dims);
    for (int32_t d = 0; d < f->in[k].rank; d++) {
        int32_t factor = halo_of(e, instr, &f->in[k].dims[d], &inner);
        if (factor < 0 || e->low[factor] == e->high[factor])
            continue; /* none, or the device has nothing to do */
        int64_t first = e->low[factor] * inner - f->factors[factor].before;
        int64_t last = e->high[factor] * inner + f->factors[factor].after;
        CLV_TRY(with_borders(e, &e->s->types->of[t.i], dims, d, first, last,
                             largest ? CLV_FILL_LOWEST : CLV_FILL_ZERO, clv_tensor_at(g, t)->name,
                             position, io));
        dims[d] = last - first;
    }
    return CLV_OK;
}

/* Input k of the operator on every device, with the borders of its neighbours. */
static clv_status add_halo(clv_emit *e, const clv_spmd_instr *instr, int32_t k, clv_str *io)
{
    const clv_operand_factors *o = &e->s->factors[instr->op.i].in[k];
    const clv_spmd_value *v = &e->s->values[e->s->operands[instr->first_in + k]];
    clv_layout layout = v->layout;
    bool any = false;
    int64_t inner;
    for (int32_t d = 0; d < o->rank; d++) {
        int32_t factor = halo_of(e, instr, &o->dims[d], &inner);
        for (int32_t a = 0; factor >= 0 && a < e->s->mesh.n_axes; a++)
            if (instr->factor[a] == factor && e->s->mesh.size[a] > 1) {
                CLV_TRY(clv_emit_gather(e, v->tensor, &layout, a, io));
                any = true;
            }
    }
    for (int32_t p = 0; any && p < e->s->mesh.n_devices; p++)
        if (clv_emit_active(e, p))
            CLV_TRY(add_borders(e, instr, k, &layout, p, &io[p]));
    return CLV_OK;
}

/* -- outputs -- */

static clv_fill neutral(clv_reduce reduce)
{
    switch (reduce) {
    case CLV_REDUCE_MAX:
    case CLV_REDUCE_LOG_SUM:
        return CLV_FILL_LOWEST;
    case CLV_REDUCE_MIN:
        return CLV_FILL_HIGHEST;
    case CLV_REDUCE_PROD:
        return CLV_FILL_ONE;
    case CLV_REDUCE_NONE:
    case CLV_REDUCE_SUM:
    case CLV_REDUCE_MEAN:
    case CLV_REDUCE_L2:
    case CLV_N_REDUCES:
        break;
    }
    return CLV_FILL_ZERO;
}

/* A device without a share of a factor has nothing to compute: its parts of the outputs are empty,
 * and its parts of sums change nothing. */
static clv_status stay_idle(const local_op *l)
{
    for (int32_t k = 0; k < l->instr->n_out; k++) {
        int32_t v = l->e->s->operands[l->instr->first_out + k];
        clv_reduce reduce = CLV_REDUCE_NONE;
        int64_t dims[CLV_RANK_MAX];
        if (v < 0)
            continue;
        const clv_spmd_value *value = &l->e->s->values[v];
        const clv_type *type = &l->e->s->types->of[value->tensor.i];
        for (int32_t a = 0; a < l->e->s->mesh.n_axes; a++)
            if (value->layout.dim[a] == CLV_AXIS_PARTIAL)
                reduce = (clv_reduce)value->layout.reduce[a];
        clv_spmd_dims(l->e->s, value->tensor, &value->layout, l->position, dims);
        CLV_TRY(clv_emit_filled_after(l->e, l->in, l->n_in, type->dtype, type->rank, dims,
                                      neutral(reduce), value->name, l->position,
                                      clv_emit_name(l->e, v, l->position)));
    }
    return CLV_OK;
}

static bool is_idle(const local_op *l)
{
    for (int32_t f = 0; f < l->f->n_factors; f++)
        if (is_split(l, f) && l->e->low[f] == l->e->high[f])
            return true;
    return false;
}

/* A sequence that the model returns: older operator sets have no Identity for it, so the first of
 * all devices gives it its name at once. */
static bool keeps_name(const local_op *l, const clv_spmd_value *v)
{
    return l->e->only < 0 && v->returned && l->position == 0 &&
           l->e->s->types->of[v->tensor.i].kind != CLV_TYPE_TENSOR;
}

static clv_status name_outputs(local_op *l)
{
    for (int32_t k = 0; k < l->instr->n_out; k++) {
        int32_t v = l->e->s->operands[l->instr->first_out + k];
        l->out[k] = (clv_str){ 0 };
        if (v < 0)
            continue;
        const clv_spmd_value *value = &l->e->s->values[v];
        CLV_TRY(clv_emit_fresh(l->e, value->name, keeps_name(l, value) ? -1 : l->position, true,
                               &l->out[k]));
        *clv_emit_name(l->e, v, l->position) = l->out[k];
    }
    return CLV_OK;
}

/* -- the operator -- */

static clv_status list_captured(const local_op *l, clv_new_node *node)
{
    int32_t n = l->op->n_implicit, first = l->op->n_in - n;
    clv_rename *captured = CLV_NEW_ARRAY(l->e->arena, clv_rename, n);
    if (!captured)
        return no_memory(l->e);
    for (int32_t i = 0; i < n; i++) {
        int32_t v = l->e->s->operands[l->instr->first_in + first + i];
        captured[i].from = clv_tensor_at(l->e->s->model->main, input_of(l, first + i))->name;
        captured[i].to = *clv_emit_name(l->e, v, l->position);
    }
    node->captured = captured;
    node->n_captured = n;
    return CLV_OK;
}

static clv_status make_node(local_op *l, clv_new_node *node)
{
    clv_str base = l->op->name.n ? l->op->name : l->op->label;
    *node = (clv_new_node){ .source = l->instr->op,
                            .in = l->in,
                            .out = l->out,
                            .n_in = l->n_in,
                            .n_out = l->instr->n_out,
                            .attrs = l->attrs,
                            .n_attrs = l->n_attrs };
    node->name = base;
    if (l->e->only < 0 && l->e->s->mesh.n_devices > 1) {
        const clv_spmd_phase *phase = &l->e->s->phases[l->e->phase];
        const char *device = l->e->s->plan->devices[phase->device[l->position]].name;
        char *text = clv_arena_printf(l->e->arena, "%.*s@%s", CLV_STR_ARG(base), device);
        if (!text)
            return no_memory(l->e);
        node->name = clv_str_of(text);
    }
    return list_captured(l, node);
}

/* Where it is trained, runtimes write its new mean and variance over the old ones, whoever else
 * reads these. */
static clv_status check_in_place(const local_op *l)
{
    const clv_attr *mode = clv_op_attr(l->e->s->model->main, l->op, "training_mode");
    bool trains = mode && mode->i != 0 && clv_str_is(l->op->type, "BatchNormalization");
    if (!trains || l->e->only >= 0 || l->e->s->mesh.n_devices == 1)
        return CLV_OK;
    return clv_fail(l->e->err, CLV_EUNSUPP,
                    "operator '%.*s' (BatchNormalization) is trained and writes its statistics in "
                    "place, so devices cannot stand side by side; lower it to a model a device",
                    CLV_STR_ARG(l->op->label));
}

static clv_status run_here(local_op *l)
{
    clv_new_node node;
    int32_t factor = -1, table = -1;
    CLV_TRY(change_numbers(l));
    CLV_TRY(check_in_place(l));
    for (int32_t k = 0; k < l->n_in && k < l->f->n_in; k++) {
        CLV_TRY(zero_bias(l, k));
        if (k == 0 && clv_emit_is_lookup(l->op))
            table = chosen_dim(l, k, &factor);
        if (table < 0)
            CLV_TRY(pad_chosen(l, k));
    }
    CLV_TRY(name_outputs(l));
    CLV_TRY(make_node(l, &node));
    if (table < 0)
        return clv_emit_push(l->e, &node);
    return clv_emit_lookup(l->e, l->instr, l->position, &node, table, l->e->low[factor],
                           l->e->high[factor], l->e->s->types->of[input_of(l, 0).i].dims[table]);
}

static clv_status emit_at(clv_emit *e, const clv_spmd_instr *instr, int32_t position,
                          const clv_str *in)
{
    const clv_graph *g = e->s->model->main;
    local_op l = { .e = e,
                   .instr = instr,
                   .op = clv_op_at(g, instr->op),
                   .f = &e->s->factors[instr->op.i],
                   .position = position };
    l.n_in = clv_op_n_explicit(l.op);
    l.in = CLV_NEW_ARRAY(e->arena, clv_str, l.n_in);
    l.out = CLV_NEW_ARRAY(e->arena, clv_str, instr->n_out);
    l.attrs = CLV_NEW_ARRAY(e->arena, clv_new_attr, l.f->n_local);
    if (!l.in || !l.out || !l.attrs)
        return no_memory(e);
    for (int32_t k = 0; k < l.n_in; k++)
        l.in[k] = in[k * e->s->mesh.n_devices + position];
    clv_spmd_ranges(e->s, instr, position, e->low, e->high, e->first);
    return is_idle(&l) ? stay_idle(&l) : run_here(&l);
}

static clv_status take_factor_room(clv_emit *e, int32_t n)
{
    if (n <= e->cap_factors)
        return CLV_OK;
    e->low = CLV_NEW_ARRAY(e->arena, int64_t, 2 * n);
    e->high = CLV_NEW_ARRAY(e->arena, int64_t, 2 * n);
    e->first = CLV_NEW_ARRAY(e->arena, bool, 2 * n);
    e->cap_factors = 2 * n;
    return e->low && e->high && e->first ? CLV_OK : no_memory(e);
}

static clv_status take_input_room(clv_emit *e, int32_t n)
{
    if (n <= e->cap_in)
        return CLV_OK;
    e->in = CLV_NEW_ARRAY(e->arena, clv_str, 2 * (int64_t)n);
    e->cap_in = 2 * n;
    return e->in ? CLV_OK : no_memory(e);
}

clv_status clv_emit_operator(clv_emit *e, const clv_spmd_instr *instr)
{
    const clv_op_info *op = clv_op_at(e->s->model->main, instr->op);
    const clv_factors *f = &e->s->factors[instr->op.i];
    int32_t n_in = clv_op_n_explicit(op), n = e->s->mesh.n_devices;
    CLV_TRY(take_input_room(e, n_in * n));
    CLV_TRY(take_factor_room(e, f->n_factors));
    for (int32_t k = 0; k < n_in; k++) {
        int32_t v = e->s->operands[instr->first_in + k];
        clv_str *in = e->in + (int64_t)k * n;
        for (int32_t p = 0; p < n; p++)
            if (clv_emit_active(e, p))
                in[p] = v < 0 ? (clv_str){ 0 } : *clv_emit_name(e, v, p);
        if (v >= 0 && k < f->n_in)
            CLV_TRY(add_halo(e, instr, k, in));
    }
    for (int32_t p = 0; p < n; p++)
        if (clv_emit_active(e, p))
            CLV_TRY(emit_at(e, instr, p, e->in));
    return CLV_OK;
}
