#include "annotations/output_spec.h"

#include <stdlib.h>

/* A factor that is split, as a loop over its runs. */
typedef struct {
    int32_t factor, dim; /* dim -1: of no dimension of the output, it is reduced */
    clv_runs runs;
} loop;

typedef struct {
    const clv_spec_node *node;
    const clv_factors *f;
    const clv_operand_factors *o;
    const clv_spec_operand *out;
    const clv_cells *cells;
    clv_arena *scratch, *arena;
    bool is_input; /* what it has not is copied, never summed */
    loop *loops;   /* reduced ones first, then by dimension and place in it */
    int32_t n_loops, n_reduced;
} maker;

static clv_status fail_nomem(clv_error *err) { return clv_fail_nomem(err, "a sharding spec"); }

/* -- the loops -- */

static clv_status add_loop(maker *m, int32_t factor, int32_t dim, clv_error *err)
{
    loop l = { .factor = factor, .dim = dim };

    CLV_TRY(clv_runs_of(m->cells, factor, m->scratch, &l.runs, err));
    if (l.runs.n > 1)
        m->loops[m->n_loops++] = l;
    return CLV_OK;
}

static clv_status find_loops(maker *m, clv_error *err)
{
    m->loops = CLV_NEW_ARRAY(m->scratch, loop, m->f->n_factors);
    if (!m->loops)
        return fail_nomem(err);
    for (int32_t i = 0; i < m->f->n_factors; i++)
        if (!m->is_input && m->f->factors[i].kind == CLV_FACTOR_REDUCED &&
            clv_factor_dim(m->o, i) < 0)
            CLV_TRY(add_loop(m, i, -1, err));
    m->n_reduced = m->n_loops;
    for (int32_t dim = 0; dim < m->o->rank; dim++)
        for (int32_t k = 0; k < m->o->dims[dim].n; k++)
            CLV_TRY(add_loop(m, m->o->dims[dim].at[k], dim, err));
    return CLV_OK;
}

static int64_t count(const maker *m, int32_t first, int32_t last)
{
    int64_t n = 1;
    for (int32_t i = first; i < last; i++)
        if (__builtin_mul_overflow(n, m->loops[i].runs.n, &n))
            return INT64_MAX;
    return n;
}

/* -- the devices of each part -- */

typedef struct {
    int64_t place, device;
} holder;

static int by_place(const void *a, const void *b)
{
    const holder *x = a, *y = b;

    return x->place != y->place ? (x->place > y->place) - (x->place < y->place)
                                : (x->device > y->device) - (x->device < y->device);
}

static clv_status find_holders(const maker *m, int32_t first, holder **ret, int32_t *ret_n,
                               clv_error *err)
{
    holder *at = CLV_NEW_ARRAY(m->scratch, holder, m->cells->n);
    int32_t n = 0;

    if (!at)
        return fail_nomem(err);
    for (int32_t i = 0; i < m->cells->n; i++) {
        const clv_cell *cell = m->cells->at[i];
        at[i] = (holder){ 0, cell->device };
        for (int32_t k = first; k < m->n_loops; k++) {
            const loop *l = &m->loops[k];
            at[i].place = at[i].place * l->runs.n + clv_runs_find(&l->runs, cell->of[l->factor]);
        }
    }
    qsort(at, (size_t)m->cells->n, sizeof *at, by_place);
    for (int32_t i = 0; i < m->cells->n; i++)
        if (i == 0 || by_place(&at[i], &at[i - 1]) != 0)
            at[n++] = at[i];
    *ret = at;
    *ret_n = n;
    return CLV_OK;
}

/* A part on one device is that device, on several a group. Where nothing is split the devices are
 * just listed. */
static clv_status make_devices(const maker *m, int32_t first, clv_sharding_spec *spec,
                               clv_error *err)
{
    int64_t parts = count(m, first, m->n_loops);
    holder *at = NULL;
    int32_t n = 0;

    CLV_TRY(find_holders(m, first, &at, &n, err)); /* each part has one, so parts <= n */
    int64_t *member = CLV_NEW_ARRAY(m->arena, int64_t, n);
    int64_t *device = CLV_NEW_ARRAY(m->arena, int64_t, parts == 1 ? n : parts);
    clv_device_group *groups = CLV_NEW_ARRAY(m->arena, clv_device_group, parts);
    if (!member || !device || !groups)
        return fail_nomem(err);
    spec->device = device;
    spec->groups = groups;
    for (int32_t i = 0, end = 0; i < n; i = end) {
        for (end = i; end < n && at[end].place == at[i].place; end++)
            member[end] = at[end].device;
        bool alone = end == i + 1;
        if (parts == 1) {
            memcpy(device, member, (size_t)n * sizeof *device);
            spec->n_device = n;
            break;
        }
        if (!alone)
            groups[spec->n_groups++] =
                (clv_device_group){ -(at[i].place + 1), member + i, end - i };
        device[spec->n_device++] = alone ? member[i] : -(at[i].place + 1);
    }
    return CLV_OK;
}

/* -- the spec -- */

static clv_status make_dim(const maker *m, int32_t dim, int32_t at, clv_sharded_dim *ret,
                           clv_error *err)
{
    const clv_dim_factors *d = &m->o->dims[dim];
    clv_simple_sharding *simple = CLV_NEW_ARRAY(m->arena, clv_simple_sharding, d->n);

    if (!simple)
        return fail_nomem(err);
    for (int32_t k = 0; k < d->n; k++) {
        int32_t i = m->n_reduced;
        while (i < m->n_loops && m->loops[i].factor != d->at[k])
            i++;
        simple[k] =
            (clv_simple_sharding){ .dim = d->n > 1 ? m->f->factors[d->at[k]].size : CLV_DIM_UNKNOWN,
                                   .num_shards = i < m->n_loops ? m->loops[i].runs.n : 1 };
    }
    *ret = (clv_sharded_dim){ at, simple, d->n };
    return CLV_OK;
}

/* The loops from `first` on: with the reduced ones there is a dimension more in front. */
static clv_status make_spec(const maker *m, int32_t first, const clv_sharding_spec **ret,
                            clv_error *err)
{
    clv_sharding_spec *spec = CLV_NEW(m->arena, clv_sharding_spec);
    clv_sharded_dim *dims = CLV_NEW_ARRAY(m->arena, clv_sharded_dim, m->o->rank + 1);
    clv_simple_sharding *summand = CLV_NEW(m->arena, clv_simple_sharding);
    bool lifted = first < m->n_reduced;

    if (!spec || !dims || !summand)
        return fail_nomem(err);
    *spec = (clv_sharding_spec){ .tensor = m->out->name, .dims = dims };
    *summand = (clv_simple_sharding){ CLV_DIM_UNKNOWN, NULL, count(m, first, m->n_reduced) };
    if (lifted)
        dims[spec->n_dims++] = (clv_sharded_dim){ 0, summand, 1 };
    for (int32_t i = m->n_reduced; i < m->n_loops; i++) {
        int32_t dim = m->loops[i].dim;
        if (i > m->n_reduced && m->loops[i - 1].dim == dim)
            continue;
        CLV_TRY(make_dim(m, dim, dim + lifted, &dims[spec->n_dims++], err));
    }
    CLV_TRY(make_devices(m, first, spec, err));
    *ret = spec;
    return CLV_OK;
}

/* -- does a spec say what there is? -- */

/* What the devices have of the output, without what the other factors add. */
static clv_status output_cells(const maker *m, clv_cells *ret, clv_error *err)
{
    for (int32_t i = 0; i < m->cells->n; i++) {
        const clv_cell *from = m->cells->at[i];
        clv_cell *to = clv_cell_new(from->device, m->f->n_factors, m->scratch);
        if (!to)
            return fail_nomem(err);
        for (int32_t k = 0; k < m->f->n_factors; k++)
            if (clv_factor_dim(m->o, k) >= 0)
                to->of[k] =
                    from->of[k].n >= 0 ? from->of[k] : (clv_run_of){ 0, m->f->factors[k].size };
        CLV_TRY(clv_cells_push(ret, to, m->scratch, err));
    }
    clv_cells_sort(ret);
    return CLV_OK;
}

static clv_status is_said_by(const maker *m, const clv_cells *there, const clv_shards *shards,
                             bool *ret, clv_error *err)
{
    clv_cells cells = { 0 };
    int32_t dim = -1;

    CLV_TRY(clv_shard_cells(&(clv_ruled_operand){ m->f, m->o, m->out->type->rank }, shards,
                            m->scratch, &cells, &dim, err));
    *ret = dim < 0 && clv_cells_equal(&cells, there);
    return CLV_OK;
}

/* A reader of the spec cuts by the policy; that the parts are those has to be looked at. */
static clv_status try_spec(maker *m, const clv_cells *there, clv_output_spec *ret, clv_error *err)
{
    const clv_type *type = m->out->type;
    clv_error inner = { .message = "" };
    clv_shards shards;
    bool good = false;
    const clv_tensor_split tensor = {
        .rank = type->rank, .dims = type->dims, .dtype = type->dtype, .policy = m->node->policy
    };
    clv_status status = clv_spec_shards(ret->spec, &tensor, m->scratch, &shards, &inner);

    if (status == CLV_ENOMEM)
        return fail_nomem(err);
    if (status == CLV_OK)
        CLV_TRY(is_said_by(m, there, &shards, &good, err));
    if (good)
        return CLV_OK;
    ret->spec = NULL;
    ret->why_none = "its parts on the devices are none that a sharding spec could say";
    return CLV_OK;
}

static clv_status infer_one(maker *m, clv_output_spec *ret, clv_error *err)
{
    clv_cells there = { 0 };
    bool same = true, one_reduction = true;

    CLV_TRY(find_loops(m, err));
    CLV_TRY(output_cells(m, &there, err));
    CLV_TRY(make_spec(m, m->n_reduced, &ret->spec, err));
    ret->n_summands = count(m, 0, m->n_reduced);
    if (m->n_reduced > 0)
        ret->reduce = m->f->factors[m->loops[0].factor].reduce;
    for (int32_t i = 1; i < m->n_reduced; i++) /* a sum and a maximum cannot change places */
        one_reduction &= m->f->factors[m->loops[i].factor].reduce == ret->reduce;
    if (m->n_reduced > 0 && one_reduction)
        CLV_TRY(make_spec(m, 0, &ret->summands, err));
    if (m->out->spec)
        CLV_TRY(is_said_by(m, &there, m->out->shards, &same, err));
    ret->own_differs = !same;
    return try_spec(m, &there, ret, err);
}

clv_status clv_output_specs_infer(const clv_spec_node *node, const clv_cells *cells,
                                  clv_arena *scratch, clv_arena *arena, clv_output_spec *ret,
                                  clv_error *err)
{
    for (int32_t k = 0; k < node->factors->n_out; k++) {
        maker m = { .node = node,
                    .f = node->factors,
                    .o = &node->factors->out[k],
                    .out = &node->out[k],
                    .cells = cells,
                    .scratch = scratch,
                    .arena = arena };
        clv_output_spec made = { .n_summands = 1 };
        if (!node->out[k].name)
            continue;
        CLV_TRY(infer_one(&m, &made, err));
        ret[k] = made;
    }
    return CLV_OK;
}

clv_status clv_followers_infer(const clv_spec_node *node, const clv_cells *cells,
                               clv_arena *scratch, clv_arena *arena, clv_followers *io,
                               clv_error *err)
{
    for (int32_t k = 0; k < node->factors->n_in; k++) {
        maker m = { .node = node,
                    .f = node->factors,
                    .o = &node->factors->in[k],
                    .out = &node->in[k],
                    .cells = cells,
                    .scratch = scratch,
                    .arena = arena,
                    .is_input = true };
        clv_output_spec made = { .n_summands = 1 };
        if (!io->follows[k])
            continue;
        CLV_TRY(infer_one(&m, &made, err));
        io->taken_as[k] = made.spec;
    }
    return CLV_OK;
}
