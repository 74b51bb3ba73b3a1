/* refine_uneven.c - rules for a mesh that does not divide everything.
 *
 * A Reshape of [b, s, 25 * 64] to [b, s, 25, 64] can give one of two devices 13 heads and the other
 * 12. The product before it has one factor n for them all, and could only be cut in the midst of
 * the thirteenth. So where an axis does not divide a factor that others come behind of, the
 * dimension is taken apart behind it, and before it, in all operators that lead there, back to the
 * product (refine_chain.c). Where it does divide it, its parts are plain runs, and nothing is to be
 * done.
 */
#include "sharding/resolve.h"

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
    clv_factors *all;         /* to begin with, those that were given */
    clv_chain_refiner *apart; /* NULL: none was copied yet */
    clv_arena *arena;
    clv_error *err;
} walk;

static clv_status copy_all(walk *w)
{
    clv_factors *copy = CLV_NEW_ARRAY(w->arena, clv_factors, w->graph->n_ops);
    if (!copy)
        return clv_fail_nomem(w->err, "the sharding rules");
    for (int32_t i = 0; i < w->graph->n_ops; i++)
        copy[i] = w->all[i];
    w->all = copy;
    return clv_chain_refiner_new(w->graph, copy, w->arena, &w->apart, w->err);
}

static clv_status take(walk *w, clv_tensor t, int32_t dim, int64_t outer)
{
    if (outer == 1)
        return CLV_OK;
    if (!w->apart)
        CLV_TRY(copy_all(w));
    return clv_refine_chain(w->apart, t, dim, outer, false, w->arena, w->err);
}

static clv_status look_at(walk *w, const clv_factors *f, clv_tensor t, int32_t dim,
                          const clv_dim_factors *d)
{
    int64_t before = 1, behind;
    for (int32_t i = 0; i + 1 < d->n; i++, before = behind) { /* the last has nothing behind it */
        const clv_factor *one = &f->factors[d->at[i]];
        if (one->size < 1 || __builtin_mul_overflow(before, one->size, &behind))
            return CLV_OK;
        if (!is_uneven(one, w->mesh))
            continue;
        CLV_TRY(take(w, t, dim, before));
        CLV_TRY(take(w, t, dim, behind));
    }
    return CLV_OK;
}

clv_status clv_factors_for_mesh(const clv_types *types, clv_factors *all, const clv_mesh *mesh,
                                clv_arena *arena, clv_factors **ret, clv_error *err)
{
    const clv_graph *g = types->graph;
    walk w = { .graph = g, .mesh = mesh, .all = all, .arena = arena, .err = err };
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_factors f = all[i]; /* as it was given */
        for (int32_t k = 0; k < f.n_in + f.n_out; k++) {
            bool out = k >= f.n_in;
            const clv_operand_factors *o = out ? &f.out[k - f.n_in] : &f.in[k];
            clv_tensor t =
                out ? clv_op_output(g, &g->ops[i], k - f.n_in) : clv_op_input(g, &g->ops[i], k);
            for (int32_t d = 0; t.i >= 0 && d < o->rank; d++)
                CLV_TRY(look_at(&w, &f, t, d, &o->dims[d]));
        }
    }
    *ret = w.all;
    return CLV_OK;
}
