#include "verify/prover.h"

#include <inttypes.h>
#include <stdio.h>

#define WHAT "a proof"

clv_status clv_prover_init(clv_prover *p, clv_error *err)
{
    const clv_spmd *s = p->s;
    p->held = CLV_NEW_ARRAY(p->arena, clv_held, s->n_values);
    p->is_there = CLV_NEW_ARRAY(p->arena, bool, s->n_values);
    p->receivers = CLV_NEW_ARRAY(p->arena, int32_t, s->n_values);
    p->has_run = CLV_NEW_ARRAY(p->arena, bool, s->model->main->n_ops);
    p->is_met = CLV_NEW_ARRAY(p->arena, bool, s->model->main->n_tensors);
    if (!p->held || !p->is_there || !p->receivers || !p->has_run || !p->is_met)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_elem_sets_init(&p->elems, p->arena, err));
    CLV_TRY(clv_map_init(&p->by_recipe, p->arena, 64, err));
    CLV_TRY(clv_map_init(&p->by_sets, p->arena, 64, err));
    CLV_TRY(clv_map_init(&p->by_box, p->arena, 64, err));
    CLV_TRY(clv_map_init(&p->by_cover, p->arena, 64, err));
    return clv_map_init(&p->by_step, p->arena, 64, err);
}

/* -- words and small things -- */

clv_status clv_refute(clv_error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    err->status = CLV_EFORMAT;
    clv_words(err->message, sizeof err->message, fmt, args);
    va_end(args);
    return CLV_EFORMAT;
}

clv_str clv_prover_name(const clv_prover *p, int32_t value)
{
    return clv_tensor_at(p->s->model->main, p->s->values[value].tensor)->name;
}

const char *clv_prover_device(const clv_prover *p, int32_t phase, int32_t position)
{
    return p->s->plan->devices[p->s->phases[phase].device[position]].name;
}

const char *clv_prover_describe(const clv_prover *p, const clv_spmd_instr *instr,
                                char buf[static CLV_PROVER_DESCRIBE_TEXT])
{
    enum { NAME_SHOWN = 80 };
    const clv_graph *g = p->s->model->main;
    int32_t in = instr->op.i < 0 && instr->n_in > 0 ? p->s->operands[instr->first_in] : -1;
    if (instr->op.i >= 0) {
        const clv_op_info *op = clv_op_at(g, instr->op);
        snprintf(buf, CLV_PROVER_DESCRIBE_TEXT, "operator '%.*s' (%.*s)",
                 op->label.n < NAME_SHOWN ? (int)op->label.n : NAME_SHOWN, op->label.at,
                 op->type.n < NAME_SHOWN ? (int)op->type.n : NAME_SHOWN, op->type.at);
    } else if (in >= 0 && in < p->s->n_values) {
        clv_str name = clv_prover_name(p, in);
        snprintf(buf, CLV_PROVER_DESCRIBE_TEXT, "the %s of '%.*s' in stage %d",
                 (unsigned)instr->kind < CLV_N_STEPS ? clv_step_name(instr->kind) : "unknown step",
                 name.n < NAME_SHOWN ? (int)name.n : NAME_SHOWN, name.at,
                 (int)p->s->phases[instr->phase].stage);
    } else {
        snprintf(buf, CLV_PROVER_DESCRIBE_TEXT, "instruction %d", (int)(instr - p->s->instrs));
    }
    return buf;
}

int32_t clv_prover_first_of(const clv_prover *p, int32_t position, uint32_t axes)
{
    for (int32_t a = 0; a < p->s->mesh.n_axes; a++)
        if (axes >> a & 1)
            position -= clv_prover_coord(p, position, a) * p->stride[a];
    return position;
}

/* -- sets -- */

/* Of so many units from *low on, those that fall to place k of n: ceil(units / n) each. */
static void cut_range(int64_t n, int64_t k, int64_t *low, int64_t *units)
{
    int64_t each = *units / n + (*units % n != 0), at = 0;
    if (each > 0)
        at = k > *units / each ? *units : k * each;
    *low += at;
    *units = *units - at < each ? *units - at : each;
}

/* The same where the places of an axis have shares: each begins where those before it have had
 * their due, rounded down. */
static void cut_shares(const int64_t *share, int64_t n, int64_t k, int64_t *low, int64_t *units)
{
    clv_int128 before = 0, own = share[k], total = 0;
    for (int64_t i = 0; i < n; i++) {
        before += i < k ? share[i] : 0;
        total += share[i];
    }
    int64_t from = (int64_t)(before * *units / total);
    *low += from;
    *units = (int64_t)((before + own) * *units / total) - from;
}

static clv_digit digit_of(const clv_prover *p, const clv_cut_factor *f, int32_t position)
{
    int64_t low = 0, units = f->size / f->unit;
    if (f->n_axes == 0)
        return (clv_digit){ f->size, 0, f->size };
    for (int32_t i = 0; i < f->n_axes; i++) {
        const int64_t *share = p->s->mesh.share[f->axis[i]];
        int32_t n = p->s->mesh.size[f->axis[i]], k = clv_prover_coord(p, position, f->axis[i]);
        if (share)
            cut_shares(share, n, k, &low, &units);
        else
            cut_range(n, k, &low, &units);
    }
    return (clv_digit){ f->size, low * f->unit, (low + units) * f->unit };
}

static clv_status make_spread(clv_prover *p, const clv_cut_factor *factor, int32_t n,
                              clv_spread *ret, clv_error *err)
{
    clv_digit digit[CLV_RANK_MAX + 1];
    int32_t n_devices = p->s->mesh.n_devices;
    int32_t *set = CLV_NEW_ARRAY(p->arena, int32_t, n_devices);
    if (!set)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < n_devices; i++) {
        for (int32_t k = 0; k < n; k++)
            digit[k] = digit_of(p, &factor[k], i);
        CLV_TRY(clv_elem_sets_of_digits(&p->elems, digit, n, &set[i], err));
    }
    /* the number of what positions have, a new one where no spread was equal */
    CLV_TRY(
        clv_map_put_key(&p->by_sets, set, (size_t)n_devices * sizeof *set, p->n_spreads, ret, err));
    if (*ret < p->n_spreads)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(p->arena, p->spread, p->n_spreads, p->cap_spreads))
        return clv_fail_nomem(err, WHAT);
    p->spread[p->n_spreads++] = set;
    return CLV_OK;
}

clv_status clv_spread_of(clv_prover *p, const clv_cut_factor *factor, int32_t n, clv_spread *ret,
                         clv_error *err)
{
    int64_t key[3 * (CLV_RANK_MAX + 1)];
    int32_t at, n_key = 0;
    if (n > CLV_RANK_MAX)
        return clv_fail(err, CLV_ELIMIT,
                        "a dimension is the product of %d factors, expected at "
                        "most %d",
                        (int)n, CLV_RANK_MAX);
    for (int32_t i = 0; i < n; i++) {
        int64_t axes = factor[i].n_axes;
        for (int32_t a = 0; a < factor[i].n_axes; a++)
            axes = axes * 4 + factor[i].axis[a];
        key[n_key++] = factor[i].size;
        key[n_key++] = factor[i].unit;
        key[n_key++] = axes;
    }
    key[n_key++] = n;
    CLV_TRY(
        clv_map_put_key(&p->by_recipe, key, (size_t)n_key * sizeof *key, p->n_recipes, &at, err));
    if (at == p->n_recipes) {
        if (!CLV_PUSH_ROOM(p->arena, p->of_recipe, p->n_recipes, p->cap_recipes))
            return clv_fail_nomem(err, WHAT);
        p->n_recipes++;
        CLV_TRY(make_spread(p, factor, n, &p->of_recipe[at], err));
    }
    *ret = p->of_recipe[at];
    return CLV_OK;
}

clv_status clv_spread_cover(clv_prover *p, clv_spread spread, int64_t size, uint32_t axes,
                            const char *what, clv_error *err)
{
    const clv_mesh *mesh = &p->s->mesh;
    int64_t key[3] = { spread, size, axes };
    int32_t id, n = 0;
    clv_coverage coverage;
    CLV_TRY(clv_map_put_key(&p->by_cover, key, sizeof key, p->n_covers, &id, err));
    if (id < p->n_covers) /* what was refuted ended the proof */
        return CLV_OK;
    p->n_covers++;
    int32_t *set = CLV_NEW_ARRAY(p->arena, int32_t, mesh->n_devices);
    if (!set)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < mesh->n_devices; i++) {
        int32_t first = clv_prover_first_of(p, i, ~axes);
        if (first == i)
            set[n++] = p->spread[spread][i];
        else if (p->spread[spread][i] != p->spread[spread][first])
            return clv_refute(err,
                              "%s: the devices at places %d and %d have other elements, "
                              "expected copies",
                              what, (int)first, (int)i);
    }
    CLV_TRY(clv_elem_sets_cover(&p->elems, set, n, size, &coverage, err));
    return coverage.holds ? CLV_OK
                          : clv_refute(err, "%s: element %" PRId64 " is on %s device", what,
                                       coverage.at, coverage.is_twice ? "more than one" : "no");
}
