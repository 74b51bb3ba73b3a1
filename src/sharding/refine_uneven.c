#include "sharding/refine_uneven.h"

#include "sharding/refine_chain.h"

/* Can an axis cut it into parts, but no equal ones? */
static bool is_uneven(const clv_factor *one, const clv_mesh *mesh)
{
    bool kind = one->kind == CLV_FACTOR_PARALLEL || one->kind == CLV_FACTOR_REDUCED;
    if (!kind || one->by_index || one->even || one->granule > 1)
        return false;
    for (int32_t a = 0; a < mesh->n_axes; a++)
        if (one->size >= mesh->size[a] && (one->size % mesh->size[a] != 0 || mesh->share[a]))
            return true;
    return false;
}

typedef struct {
    const clv_graph *graph;
    const clv_mesh *mesh;
    clv_factors *all;           /* to begin with, those that were given */
    clv_chain_refiner *refiner; /* NULL: none was copied yet */
    clv_arena *arena;
} walk;

static clv_status refine_at(walk *w, clv_dim_place place, clv_error *err)
{
    if (place.outer == 1)
        return CLV_OK;
    if (!w->refiner) {
        clv_factors *copy = CLV_NEW_ARRAY(w->arena, clv_factors, w->graph->n_ops);
        if (!copy)
            return clv_fail_nomem(err, "the sharding rules");
        for (int32_t i = 0; i < w->graph->n_ops; i++)
            copy[i] = w->all[i];
        w->all = copy;
        CLV_TRY(clv_chain_refiner_new(w->graph, copy, w->arena, &w->refiner, err));
    }
    return clv_refine_chain(w->refiner, place, false, err);
}

static clv_status refine_dim(walk *w, const clv_factors *f, const clv_dim_factors *d, clv_tensor t,
                             int32_t dim, clv_error *err)
{
    int64_t before = 1, behind;
    for (int32_t i = 0; i + 1 < d->n; i++, before = behind) { /* the last has nothing behind it */
        const clv_factor *one = &f->factors[d->at[i]];
        if (one->size < 1 || __builtin_mul_overflow(before, one->size, &behind))
            return CLV_OK;
        if (!is_uneven(one, w->mesh))
            continue;
        CLV_TRY(refine_at(w, (clv_dim_place){ t, dim, before }, err));
        CLV_TRY(refine_at(w, (clv_dim_place){ t, dim, behind }, err));
    }
    return CLV_OK;
}

clv_status clv_factors_for_mesh(const clv_types *types, clv_factors *all, const clv_mesh *mesh,
                                clv_arena *arena, clv_factors **ret, clv_error *err)
{
    const clv_graph *g = types->graph;
    walk w = { .graph = g, .mesh = mesh, .all = all, .arena = arena };
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_factors f = all[i]; /* as it was given */
        for (int32_t k = 0; k < f.n_in + f.n_out; k++) {
            bool out = k >= f.n_in;
            const clv_operand_factors *o = out ? &f.out[k - f.n_in] : &f.in[k];
            clv_tensor t =
                out ? clv_op_output(g, &g->ops[i], k - f.n_in) : clv_op_input(g, &g->ops[i], k);
            for (int32_t d = 0; t.i >= 0 && d < o->rank; d++)
                CLV_TRY(refine_dim(&w, &f, &o->dims[d], t, d, err));
        }
    }
    *ret = w.all;
    return CLV_OK;
}
