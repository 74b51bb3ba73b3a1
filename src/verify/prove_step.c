#include "verify/prove_step.h"

typedef struct {
    clv_prover *p;
    const clv_spmd_instr *instr;
    const clv_held *from, *to;
    const clv_layout *a, *b;
    int32_t in, out;
    clv_str name;   /* of the tensor */
    uint32_t group; /* axes in which members of a group differ: a summand stays where it is */
    char who[CLV_PROVER_DESCRIBE_TEXT];
} work;

static const char *device_of(const work *w, int32_t position)
{
    return clv_prover_device(w->p, w->instr->phase, position);
}

/* -- what axes do -- */

static int32_t devices_along(const work *w, uint32_t axes)
{
    int32_t n = 1;
    for (int32_t a = 0; a < w->p->s->mesh.n_axes; a++)
        n *= axes >> a & 1 ? w->p->s->mesh.size[a] : 1;
    return n;
}

typedef enum { COPY = 1, SPLIT = 2, PARTIAL = 4, ANY = 7 } axis_role;

static axis_role role_of(const clv_layout *l, int32_t axis)
{
    return l->dim[axis] >= 0 ? SPLIT : l->dim[axis] == CLV_AXIS_COPY ? COPY : PARTIAL;
}

/* By kind: what each axis of the step does before and afterwards. */
static const struct {
    uint8_t before, after;
} legal[CLV_N_STEPS] = {
    [CLV_STEP_SLICE] = { COPY, SPLIT },
    [CLV_STEP_NEUTRAL] = { COPY, PARTIAL },
    [CLV_STEP_ALL_GATHER] = { SPLIT, COPY },
    [CLV_STEP_REDUCE_SCATTER] = { PARTIAL, SPLIT },
    [CLV_STEP_ALL_REDUCE] = { PARTIAL, COPY },
    [CLV_STEP_ALL_TO_ALL] = { COPY | SPLIT, COPY | SPLIT },
    [CLV_STEP_PERMUTE] = { ANY, ANY },
};

static clv_status check_axes(const work *w, clv_error *err)
{
    const clv_mesh *mesh = &w->p->s->mesh;
    if ((unsigned)w->instr->kind >= CLV_N_STEPS || w->instr->axes == 0 ||
        w->instr->axes >> mesh->n_axes)
        return clv_refute(err, "%s is over axes that the mesh has not", w->who);
    for (int32_t a = 0; a < mesh->n_axes; a++) {
        axis_role before = role_of(w->a, a), after = role_of(w->b, a);
        if (!clv_prover_is_long(w->p, a))
            continue;
        if (!(w->instr->axes >> a & 1)) {
            if (w->a->dim[a] != w->b->dim[a] || w->a->reduce[a] != w->b->reduce[a])
                return clv_refute(err, "%s changes what axis %s does, over which it is not", w->who,
                                  mesh->name[a]);
        } else if (!(legal[w->instr->kind].before & before) ||
                   !(legal[w->instr->kind].after & after)) {
            return clv_refute(err, "%s: such a step cannot do to axis %s what it does", w->who,
                              mesh->name[a]);
        }
    }
    return CLV_OK;
}

/* -- what devices have -- */

static clv_int128 size_at(const work *w, const clv_held *h, int32_t position)
{
    clv_int128 size = 1;
    for (int32_t d = 0; d < h->rank; d++)
        size *= clv_spread_at(w->p, h->dim[d], position)->count;
    return size;
}

static clv_status count_common(const work *w, int32_t of_to, int32_t of_from, clv_int128 *ret,
                               clv_error *err)
{
    *ret = 1;
    for (int32_t d = 0; d < w->to->rank && *ret; d++) {
        int64_t n;
        CLV_TRY(clv_elem_sets_common(&w->p->elems, w->p->spread[w->to->dim[d]][of_to],
                                     w->p->spread[w->from->dim[d]][of_from], &n, err));
        *ret *= n;
    }
    return CLV_OK;
}

/* Of what a device has afterwards, how much the group had; and how much that was in all. */
static clv_status count_in_group(const work *w, int32_t position, clv_int128 *found,
                                 clv_int128 *all, clv_error *err)
{
    int32_t group = clv_prover_first_of(w->p, position, w->group);
    *found = *all = 0;
    for (int32_t i = 0; i < w->p->s->mesh.n_devices; i++) {
        clv_int128 both;
        /* parts are equal or disjoint, as was shown of each value: equal where devices agree on all
         * axes that split; of equal ones the first counts */
        if (clv_prover_first_of(w->p, i, w->group) != group ||
            clv_prover_first_of(w->p, i, w->group & ~w->from->split) != i)
            continue;
        CLV_TRY(count_common(w, position, i, &both, err));
        *found += both;
        *all += size_at(w, w->from, i);
    }
    return CLV_OK;
}

static clv_status refute_group(const work *w, int32_t position, bool surplus, clv_error *err)
{
    return clv_refute(err,
                      surplus ? "%s: the group of %s has more of '%.*s' than it gets"
                              : "%s: %s gets elements of '%.*s' that no member of its group "
                                "has",
                      w->who, device_of(w, position), CLV_STR_ARG(w->name));
}

/* Steps by which devices keep, reduce or take from what they have themselves. */
static clv_status check_own(const work *w, bool same, clv_error *err)
{
    for (int32_t i = 0; i < w->p->s->mesh.n_devices; i++) {
        clv_int128 both;
        CLV_TRY(count_common(w, i, i, &both, err));
        if (both != size_at(w, w->to, i))
            return clv_refute(err, "%s: %s gets elements of '%.*s' that it has not", w->who,
                              device_of(w, i), CLV_STR_ARG(w->name));
        if (same && both != size_at(w, w->from, i))
            return clv_refute(err, "%s: %s loses elements of '%.*s'", w->who, device_of(w, i),
                              CLV_STR_ARG(w->name));
    }
    return CLV_OK;
}

/* Steps that send: each gets what members of its group have; of a gathering all of it. */
static clv_status check_group(const work *w, bool all, clv_error *err)
{
    for (int32_t i = 0; i < w->p->s->mesh.n_devices; i++) {
        clv_int128 found, there;
        CLV_TRY(count_in_group(w, i, &found, &there, err));
        if (found != size_at(w, w->to, i))
            return refute_group(w, i, false, err);
        if (all && there != size_at(w, w->to, i))
            return refute_group(w, i, true, err);
    }
    return CLV_OK;
}

/* The axes in the order in which a permutation counts devices: by what they split, then by nest;
 * then partial ones, then copies. */
static void order_of(const work *w, const clv_layout *l, int32_t *ret)
{
    int32_t n = 0;
    for (int32_t d = 0; d < w->to->rank; d++)
        for (int32_t nest = 0; nest < CLV_MESH_AXES_MAX; nest++)
            for (int32_t a = 0; a < w->p->s->mesh.n_axes; a++)
                if (l->dim[a] == d && l->nest[a] == nest)
                    ret[n++] = a;
    for (int32_t pass = 0; pass < 2; pass++)
        for (int32_t a = 0; a < w->p->s->mesh.n_axes; a++)
            if (l->dim[a] == (pass ? CLV_AXIS_COPY : CLV_AXIS_PARTIAL))
                ret[n++] = a;
}

static int32_t count_of(const work *w, const int32_t *order, int32_t position)
{
    int32_t count = 0;
    for (int32_t i = 0; i < w->p->s->mesh.n_axes; i++)
        count = count * w->p->s->mesh.size[order[i]] + clv_prover_coord(w->p, position, order[i]);
    return count;
}

/* What a device gets is just what the one at the same count had. Summands are as many as before and
 * count behind the parts, so that each comes to one device per replica. */
static clv_status check_permuted(const work *w, clv_error *err)
{
    int32_t n = w->p->s->mesh.n_devices, before[CLV_MESH_AXES_MAX], after[CLV_MESH_AXES_MAX];
    int32_t *sender = CLV_NEW_ARRAY(w->p->arena, int32_t, n);
    if (!sender)
        return clv_fail_nomem(err, "a proof");
    order_of(w, w->a, before);
    order_of(w, w->b, after);
    for (int32_t i = 0; i < n; i++)
        sender[count_of(w, before, i)] = i;
    for (int32_t i = 0; i < n; i++) {
        int32_t from = sender[count_of(w, after, i)];
        bool same = true; /* parts */
        for (int32_t d = 0; d < w->to->rank; d++)
            same = same && w->p->spread[w->to->dim[d]][i] == w->p->spread[w->from->dim[d]][from];
        if (!same || clv_prover_first_of(w->p, i, w->instr->axes) !=
                         clv_prover_first_of(w->p, from, w->instr->axes))
            return refute_group(w, i, false, err);
    }
    return CLV_OK;
}

static clv_status check_sets(const work *w, clv_error *err)
{
    switch (w->instr->kind) {
    case CLV_STEP_SLICE:
    case CLV_STEP_REDUCE_SCATTER:
        return check_own(w, false, err);
    case CLV_STEP_NEUTRAL:
    case CLV_STEP_ALL_REDUCE:
        return check_own(w, true, err);
    case CLV_STEP_ALL_GATHER:
        return check_group(w, true, err);
    case CLV_STEP_PERMUTE:
        return check_permuted(w, err);
    case CLV_STEP_ALL_TO_ALL:
        return check_group(w, false, err);
    case CLV_N_STEPS:
        break;
    }
    return CLV_OK;
}

/* -- the step -- */

static clv_status check_partial(const work *w, clv_error *err)
{
    uint32_t before = w->from->partial, after = w->to->partial;
    if (before && after && w->from->reduce != w->to->reduce)
        return clv_refute(err, "%s: '%.*s' is partial by %s before and by %s afterwards", w->who,
                          CLV_STR_ARG(w->name), clv_reduce_name(w->from->reduce),
                          clv_reduce_name(w->to->reduce));
    if (w->instr->kind == CLV_STEP_PERMUTE && devices_along(w, before) != devices_along(w, after))
        return clv_refute(err, "%s: '%.*s' has another number of summands afterwards", w->who,
                          CLV_STR_ARG(w->name));
    /* of a and nothing the root of squares is |a|, so for it there is no neutral element */
    if (w->instr->kind == CLV_STEP_NEUTRAL && w->to->reduce == CLV_REDUCE_L2)
        return clv_refute(err, "%s: '%.*s' would lose its signs", w->who, CLV_STR_ARG(w->name));
    return CLV_OK;
}

/* Steps between the same parts in the same way are shown once. */
static clv_status find_shown(const work *w, bool *ret, clv_error *err)
{
    clv_prover *p = w->p;
    int32_t key[6 + 2 * CLV_MESH_AXES_MAX] = { w->from->box,
                                               w->to->box,
                                               (int32_t)w->instr->kind,
                                               (int32_t)w->instr->axes,
                                               (int32_t)w->from->split,
                                               (int32_t)w->to->split };
    int32_t id;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        key[6 + 2 * a] = w->a->dim[a] * CLV_MESH_AXES_MAX + w->a->nest[a];
        key[7 + 2 * a] = w->b->dim[a] * CLV_MESH_AXES_MAX + w->b->nest[a];
    }
    CLV_TRY(clv_map_put_key(&p->by_step, key, sizeof key, p->n_shown, &id, err));
    *ret = id < p->n_shown;
    p->n_shown += !*ret;
    return CLV_OK;
}

static clv_status check_operands(const work *w, clv_error *err)
{
    const clv_spmd *s = w->p->s;
    if (w->in < 0 || w->in >= s->n_values || w->out < 0 || w->out >= s->n_values ||
        s->values[w->in].tensor.i != s->values[w->out].tensor.i ||
        s->values[w->in].phase != w->instr->phase || s->values[w->out].phase != w->instr->phase ||
        s->values[w->out].role != CLV_SPMD_RESULT)
        return clv_refute(err, "%s: it does not lead from a tensor of its stage to the same one",
                          w->who);
    if (!w->p->is_there[w->in])
        return clv_refute(err, "%s: the tensor is read before it is there", w->who);
    if (w->p->is_there[w->out])
        return clv_refute(err, "%s: its result is made twice", w->who);
    return CLV_OK;
}

clv_status clv_prove_step(clv_prover *p, const clv_spmd_instr *instr, clv_error *err)
{
    work w = { .p = p, .instr = instr };
    bool shown;
    (void)clv_prover_describe(p, instr, w.who);
    if (instr->n_in != 1 || instr->n_out != 1)
        return clv_refute(err, "%s: it has %d inputs and %d outputs, expected one", w.who,
                          (int)instr->n_in, (int)instr->n_out);
    w.in = p->s->operands[instr->first_in];
    w.out = p->s->operands[instr->first_out];
    CLV_TRY(check_operands(&w, err));
    w.from = &p->held[w.in];
    w.to = &p->held[w.out];
    w.a = &p->s->values[w.in].layout;
    w.b = &p->s->values[w.out].layout;
    w.name = clv_prover_name(p, w.in);
    w.group = instr->axes & ~w.from->partial;
    p->is_there[w.out] = true;
    p->proof->n_steps++;
    if (w.from->rank < 0)
        return clv_refute(err, "%s: what has no known size can only be copied", w.who);
    CLV_TRY(check_axes(&w, err));
    CLV_TRY(check_partial(&w, err));
    CLV_TRY(find_shown(&w, &shown, err));
    return shown ? CLV_OK : check_sets(&w, err);
}
