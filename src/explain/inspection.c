#include "explain/inspection.h"

#include <stdlib.h>

#include "base/map.h"

static int by_flops(const void *a, const void *b)
{
    const clv_type_count *x = a, *y = b;

    if (x->flops < y->flops || x->flops > y->flops)
        return x->flops < y->flops ? 1 : -1;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->type, y->type);
}

clv_status clv_inspection_count_types(const clv_inspection *in, clv_arena *arena,
                                      clv_type_count **ret, int32_t *ret_n, clv_error *err)
{
    const clv_graph *g = in->model->main;
    clv_type_count *at = CLV_NEW_ARRAY(arena, clv_type_count, g->n_ops);
    clv_map map;
    int32_t n = 0;

    if (!at)
        return clv_fail_nomem(err, "counting operators");
    CLV_TRY(clv_map_init(&map, arena, g->n_ops, err));
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        clv_mark mark = clv_arena_mark(arena);
        const char *type = op->domain.n
                               ? clv_arena_printf(arena, "%.*s.%.*s", CLV_STR_ARG(op->domain),
                                                  CLV_STR_ARG(op->type))
                               : clv_arena_printf(arena, "%.*s", CLV_STR_ARG(op->type));
        if (!type)
            return clv_fail_nomem(err, "counting operators");
        int32_t id = clv_map_get(&map, clv_str_of(type));
        if (id >= 0) {
            clv_arena_rewind(arena, mark); /* so that memory follows the number of types */
        } else {
            CLV_TRY(clv_map_put(&map, clv_str_of(type), n, &id, err));
            at[n++].type = type;
        }
        at[id].count++;
        at[id].flops += (double)in->costs->of[i].flops;
    }
    if (n > 0)
        qsort(at, (size_t)n, sizeof *at, by_flops);
    *ret = at;
    *ret_n = n;
    return CLV_OK;
}

bool *clv_inspection_open_symbols(const clv_inspection *in, clv_arena *arena)
{
    const clv_types *types = in->inference->main;
    int32_t n = in->model->n_symbols;
    bool *open = CLV_NEW_ARRAY(arena, bool, n);

    for (int32_t t = 0; open && t < types->graph->n_tensors; t++)
        for (const clv_type *type = &types->of[t]; type; type = type->elem)
            for (int32_t k = 0; k < type->rank && type->dims; k++)
                if (clv_dim_is_symbol(type->dims[k]) && clv_dim_symbol_id(type->dims[k]) < n)
                    open[clv_dim_symbol_id(type->dims[k])] = true;
    return open;
}
