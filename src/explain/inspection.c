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
                               : clv_arena_str(arena, op->type);
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

/* -- states -- */

/* The symbol of the dimension along which a state has its positions, as the file has it. */
static clv_str symbol_along(const clv_inspection *in, const clv_state *state)
{
    const clv_model *m = in->model;
    clv_tensor t = state->in.i >= 0 ? state->in : state->out;
    const clv_type *declared = clv_tensor_at(m->main, t)->declared;
    const clv_type *type = &in->inference->main->of[t.i];
    const clv_type *of = declared && declared->rank == type->rank ? declared : type;
    clv_dim dim = of->dims[state->positions];
    bool known = clv_dim_is_symbol(dim) && clv_dim_symbol_id(dim) < m->n_symbols;
    return known ? m->symbols[clv_dim_symbol_id(dim)] : (clv_str){ "", 0 };
}

static int64_t sum_known(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}

clv_status clv_inspection_growths(const clv_inspection *in, clv_arena *arena,
                                  clv_state_growth **ret, int32_t *ret_n, clv_error *err)
{
    const clv_types *types = in->inference->main;
    clv_dim sequences = clv_sequences(types);
    clv_state_growth *at = CLV_NEW_ARRAY(arena, clv_state_growth, in->states.n);
    int32_t n = 0;
    if (!at)
        return clv_fail_nomem(err, "states");
    for (int32_t i = 0; i < in->states.n; i++) {
        const clv_state *state = &in->states.at[i];
        int32_t k = 0;
        if (state->positions < 0)
            continue;
        clv_str along = symbol_along(in, state);
        while (k < n && !clv_str_eq(at[k].along, along))
            k++;
        if (k == n)
            at[n++] = (clv_state_growth){ .along = along };
        at[k].n++;
        at[k].token_bytes =
            sum_known(at[k].token_bytes, clv_state_token_bytes(types, state, sequences));
    }
    *ret = at;
    *ret_n = n;
    return CLV_OK;
}

int32_t clv_inspection_n_begun(const clv_inspection *in)
{
    int32_t n = 0;
    for (int32_t i = 0; i < in->states.n; i++)
        n += in->states.at[i].in.i < 0;
    return n;
}

int64_t clv_inspection_state_bytes(const clv_inspection *in)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < in->states.n; i++)
        bytes = sum_known(bytes, clv_state_bytes(in->inference->main, &in->states.at[i]));
    return bytes;
}

clv_state_room clv_inspection_room(const clv_inspection *in, const clv_state_growth *growths,
                                   int32_t n)
{
    clv_state_room room = { .tokens = -1 };
    for (int32_t d = 0; d < in->cluster->n_devices; d++)
        room.capacity_bytes += clv_device_capacity(clv_device_kind_of(in->cluster, d));
    for (int32_t k = 0; k < n; k++)
        room.token_bytes = sum_known(room.token_bytes, growths[k].token_bytes);
    int64_t left = room.capacity_bytes - in->costs->total.weight_bytes;
    for (int32_t i = 0; i < in->states.n; i++) {
        int64_t bytes = clv_state_bytes(in->inference->main, &in->states.at[i]);
        if (in->states.at[i].positions < 0 && bytes > 0)
            left -= bytes;
    }
    if (room.token_bytes > 0)
        room.tokens = left > 0 ? left / room.token_bytes : 0;
    return room;
}

static bool *find_open_symbols(const clv_inspection *in, clv_arena *arena)
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

clv_status clv_inspection_symbols(const clv_inspection *in, clv_arena *arena,
                                  clv_symbol_state **ret, clv_error *err)
{
    const clv_inference *inference = in->inference;
    const clv_bindings *bound = &inference->bound;
    const bool *open = find_open_symbols(in, arena);
    int32_t n = in->model->n_symbols, next = bound->n_given; /* the rest is by symbol */
    clv_symbol_state *at = CLV_NEW_ARRAY(arena, clv_symbol_state, n);
    clv_symbol_need *needs = CLV_NEW_ARRAY(arena, clv_symbol_need, n);
    if (!open || !at || !needs)
        return clv_fail_nomem(err, "symbols");
    for (int32_t i = 0; i < n; i++)
        needs[i].asked = open[i];
    CLV_TRY(clv_bindings_asked(in->model, inference->relations, bound, arena, needs, err));
    for (int32_t i = 0; i < n; i++) {
        at[i] = (clv_symbol_state){ open[i], needs[i].asked, 0, needs[i].follows_from };
        if (next == bound->n || !clv_str_eq(bound->at[next].symbol, in->model->symbols[i]))
            continue;
        at[i].size = bound->at[next].value;
        at[i].follows_from = bound->follows_from[next++];
    }
    *ret = at;
    return CLV_OK;
}
