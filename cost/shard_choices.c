#include "cost/shard_choices.h"

#include "cost/op_time.h"
#include "sharding/factors_layout.h"
#include "sharding/moved_as.h"

/* Of one choice. Scratch is given back. O(operands + factors). */
static clv_status find_cost(const clv_shard_op *o, const clv_mesh *mesh,
                            const clv_op_choice *choice, clv_arena *arena, clv_op_cost *ret,
                            clv_error *err)
{
    clv_mark mark = clv_arena_mark(arena);
    int64_t *n_parts = CLV_NEW_ARRAY(arena, int64_t, o->factors->n_factors);
    if (!n_parts)
        return clv_fail_nomem(err, "the cost of a shard");
    clv_factor_parts(o->factors, mesh, choice->factor, n_parts);
    clv_status status = clv_shard_cost(o, n_parts, arena, ret, err);
    clv_arena_rewind(arena, mark);
    return status;
}

clv_layout clv_choice_in(const clv_factors *f, const clv_mesh *mesh, const clv_op_choice *choice,
                         int32_t k)
{
    clv_layout layout = CLV_LAYOUT_COPIES;
    if (k >= f->n_in)
        return layout;
    clv_factors_in(f, mesh, choice->factor, k, &layout);
    return clv_layout_plain(&layout, mesh);
}

clv_layout clv_choice_out(const clv_factors *f, const clv_mesh *mesh, const clv_op_choice *choice,
                          int32_t k)
{
    clv_layout layout = CLV_LAYOUT_COPIES;
    if (k >= f->n_out)
        return layout;
    clv_factors_out(f, mesh, choice->factor, k, &layout);
    return clv_layout_plain(&layout, mesh);
}

static bool can_lie(const clv_types *types, clv_tensor t, const clv_layout *layout,
                    const clv_mesh *mesh)
{
    clv_tensor_split split;
    if (t.i < 0 || !clv_split_of_type(&types->of[t.i], &split))
        return true;
    if (!clv_layout_equal(layout, &CLV_LAYOUT_COPIES) && !clv_tensor_is_movable(types, t))
        return false;
    return clv_layout_check(layout, mesh, split.rank, &split, NULL) == CLV_OK;
}

/* No part of any operand is cut where it may not be. */
static bool parts_hold(const clv_types *types, clv_op op, const clv_factors *f,
                       const clv_mesh *mesh, const clv_op_choice *choice)
{
    const clv_op_info *info = clv_op_at(types->graph, op);
    bool hold = true;
    for (int32_t k = 0; hold && k < f->n_in; k++) {
        clv_layout layout = clv_choice_in(f, mesh, choice, k);
        hold = can_lie(types, clv_op_input(types->graph, info, k), &layout, mesh);
    }
    for (int32_t k = 0; hold && k < f->n_out; k++) {
        clv_layout layout = clv_choice_out(f, mesh, choice, k);
        hold = can_lie(types, clv_op_output(types->graph, info, k), &layout, mesh);
    }
    return hold;
}

int64_t clv_slowest_ns(const clv_op_cost *cost, const clv_mesh *mesh, const clv_cluster *cluster)
{
    int64_t most = 0;
    int32_t last = -1; /* devices of a kind stand together, so few are looked at */
    for (int32_t i = 0; i < mesh->n_devices; i++) {
        int32_t kind = cluster->devices[mesh->device[i]].kind;
        if (kind == last)
            continue;
        const clv_device_kind *k = &cluster->kinds[kind];
        int64_t ns = clv_op_time_ns(cost, k, clv_op_workspace(cost->workspace_bytes, k, 0));
        most = ns > most ? ns : most;
        last = kind;
    }
    return most;
}

int64_t clv_inside_bytes(const clv_types *types, clv_tensor t, const clv_mesh *mesh,
                         const clv_layout *layout)
{
    if (!clv_stays_inside(types, t))
        return 0;
    return clv_part_bytes(mesh, layout, &types->of[t.i], types->whole_bytes[t.i]);
}

clv_op_cost clv_kernel_break_cost(const clv_kernel_break *of, int64_t ns)
{
    clv_op_cost cost = { .link_ns = ns };
    if (ns == 0 || of->stored_bytes + of->read_bytes == 0)
        return cost;
    cost.math = of->dtype;
    cost.write_bytes = of->stored_bytes;
    cost.read_bytes = of->read_bytes;
    cost.share = cost.starts = 1;
    cost.captured = of->captured;
    return cost;
}

bool clv_choice_may(const clv_types *types, clv_op op, const clv_factors *f, const clv_mesh *mesh,
                    const clv_op_choice *choice)
{
    bool whole = true;
    for (int32_t a = 0; a < mesh->n_axes; a++)
        whole = whole && choice->factor[a] < 0;
    return whole ||
           (clv_factors_allow(f, mesh, choice->factor) && parts_hold(types, op, f, mesh, choice));
}

bool clv_choice_next(const clv_factors *f, const clv_mesh *mesh, bool halos, clv_op_choice *c)
{
    for (int32_t a = mesh->n_axes - 1; a >= 0; a--) {
        for (c->factor[a]++; mesh->size[a] > 1 && c->factor[a] < f->n_factors; c->factor[a]++) {
            const clv_factor *factor = &f->factors[c->factor[a]];
            if (factor->size > 1 &&
                (factor->kind == CLV_FACTOR_PARALLEL || factor->kind == CLV_FACTOR_REDUCED ||
                 factor->kind == CLV_FACTOR_SUMMANDS || (halos && factor->kind == CLV_FACTOR_HALO)))
                return true;
        }
        c->factor[a] = -1;
    }
    return false;
}

clv_status clv_shard_choices_find(const clv_shard_space *of, clv_op op, clv_arena *arena,
                                  clv_shard_choices *ret, clv_error *err)
{
    const clv_factors *f = &of->factors[op.i];
    const clv_choice_filter *filter = of->filter;
    clv_shard_op o = { of->types, op, of->costs, f };
    clv_op_choice c = { { -1, -1, -1 } };
    ret->n = 0;
    do {
        if (!clv_choice_may(of->types, op, f, of->mesh, &c) ||
            (filter && !filter->allow(filter->ctx, op, f, &c)))
            continue;
        clv_op_cost *cost = &ret->cost[ret->n];
        CLV_TRY(find_cost(&o, of->mesh, &c, arena, cost, err));
        ret->at[ret->n] = c;
        ret->ns[ret->n++] = clv_slowest_ns(cost, of->mesh, of->cluster);
    } while (ret->n < CLV_CHOICES_MAX && clv_choice_next(f, of->mesh, false, &c));
    return CLV_OK;
}
