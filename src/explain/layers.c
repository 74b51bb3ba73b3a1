#include "explain/layers.h"

#include "explain/layer_names.h"

typedef struct {
    const clv_graph *g;
    clv_arena *scratch;
    clv_layer_names names;
    clv_map layers, scopes; /* "/model/layers.7", "/model/layers.*" */
    int32_t n_layers, n_scopes;
    int32_t *layer_of, *scope_of; /* by operator */
    int32_t *layers_of, *ops_of;  /* by scope: how many */
    int32_t *place_in;            /* by layer: in its scope */
} finder;

static clv_status allocate(finder *f, clv_error *err)
{
    int32_t n = f->g->n_ops;
    f->layer_of = CLV_NEW_ARRAY(f->scratch, int32_t, n);
    f->scope_of = CLV_NEW_ARRAY(f->scratch, int32_t, n);
    f->layers_of = CLV_NEW_ARRAY(f->scratch, int32_t, n);
    f->ops_of = CLV_NEW_ARRAY(f->scratch, int32_t, n);
    f->place_in = CLV_NEW_ARRAY(f->scratch, int32_t, n);
    if (!f->layer_of || !f->scope_of || !f->layers_of || !f->ops_of || !f->place_in)
        return clv_fail_nomem(err, "layers");
    CLV_TRY(clv_map_init(&f->layers, f->scratch, 0, err));
    CLV_TRY(clv_map_init(&f->scopes, f->scratch, 0, err));
    return clv_layer_names_init(&f->names, f->scratch, err);
}

static clv_status number(finder *f, int32_t op, clv_error *err)
{
    clv_layer_name name;
    int32_t layer, scope;
    CLV_TRY(clv_layer_of(&f->names, f->g->ops[op].label, f->scratch, &name, err));
    CLV_TRY(clv_map_put(&f->scopes, clv_str_of(name.pattern), f->n_scopes, &scope, err));
    f->n_scopes += scope == f->n_scopes;
    CLV_TRY(clv_map_put(&f->layers, clv_str_of(name.name), f->n_layers, &layer, err));
    if (layer == f->n_layers) {
        f->place_in[layer] = f->layers_of[scope]++;
        f->n_layers++;
    }
    f->ops_of[scope]++;
    f->layer_of[op] = layer;
    f->scope_of[op] = scope;
    return CLV_OK;
}

static clv_status find(finder *f, int32_t *of, int32_t *ret_n, clv_error *err)
{
    int32_t most = 0;
    CLV_TRY(allocate(f, err));
    for (int32_t i = 0; i < f->g->n_ops; i++)
        CLV_TRY(clv_layer_names_add(&f->names, f->g->ops[i].label, err));
    for (int32_t i = 0; i < f->g->n_ops; i++)
        CLV_TRY(number(f, i, err));
    for (int32_t s = 0; s < f->n_scopes; s++)
        if (f->layers_of[s] > 1 && (f->layers_of[most] < 2 || f->ops_of[s] > f->ops_of[most]))
            most = s;
    for (int32_t i = 0; i < f->g->n_ops; i++)
        of[i] = f->scope_of[i] == most ? f->place_in[f->layer_of[i]] : -1;
    *ret_n = f->n_scopes > 0 && f->layers_of[most] > 1 ? f->layers_of[most] : 0;
    return CLV_OK;
}

clv_status clv_layers_find(const clv_graph *g, clv_arena *arena, clv_layers *ret, clv_error *err)
{
    int32_t *of = CLV_NEW_ARRAY(arena, int32_t, g->n_ops);
    finder f = { .g = g, .scratch = clv_arena_new(clv_arena_alloc(arena), 0) };
    *ret = (clv_layers){ .of = of };
    clv_status status =
        of && f.scratch ? find(&f, of, &ret->n, err) : clv_fail_nomem(err, "layers");
    clv_arena_free(f.scratch);
    return status;
}
