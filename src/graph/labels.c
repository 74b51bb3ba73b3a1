#include "graph/labels.h"

#include "base/map.h"

/* The file's own names come before ours. */
static clv_status take_names(clv_graph *g, clv_map *used, int32_t *first, int32_t *n,
                             clv_error *err)
{
    for (int32_t i = 0; i < g->n_ops; i++) {
        int32_t id;
        if (i + CLV_MAP_AHEAD < g->n_ops)
            clv_map_prefetch(used, g->ops[i + CLV_MAP_AHEAD].name);
        if (g->ops[i].name.n == 0)
            continue;
        CLV_TRY(clv_map_put(used, g->ops[i].name, i, &id, err));
        if (id == i)
            g->ops[i].label = g->ops[i].name;
        else if ((*n)++ == 0)
            *first = i;
    }
    return CLV_OK;
}

/* Each name of the file can refuse one label at most, so all tries together are linear. */
static clv_status make_labels(clv_graph *g, clv_map *used, clv_arena *arena, clv_error *err)
{
    for (int32_t i = 0; i < g->n_ops; i++) {
        clv_str label = g->ops[i].label, name = g->ops[i].name;
        for (int64_t k = i; label.n == 0; k += g->n_ops) {
            int32_t id;
            const char *text =
                clv_arena_printf(arena, "%.*s%s%lld", CLV_STR_ARG(name.n ? name : g->ops[i].type),
                                 name.n ? "#" : "_", (long long)k);
            if (!text)
                return clv_fail_nomem(err, "names of operators");
            label = clv_str_of(text);
            CLV_TRY(clv_map_put(used, label, i, &id, err));
            if (id != i)
                label.n = 0;
        }
        g->ops[i].label = label;
    }
    return CLV_OK;
}

clv_status clv_label_ops(clv_graph *g, clv_arena *arena, int32_t *ret_first, int32_t *ret_n,
                         clv_error *err)
{
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0); /* the map may be large */
    clv_map used;
    int32_t first = -1, n = 0;
    if (!scratch)
        return clv_fail_nomem(err, "names of operators");
    clv_status status = clv_map_init(&used, scratch, g->n_ops, err);
    if (status == CLV_OK)
        status = take_names(g, &used, &first, &n, err);
    if (status == CLV_OK)
        status = make_labels(g, &used, arena, err);
    clv_arena_free(scratch);
    CLV_TRY(status);
    *ret_first = first;
    *ret_n = n;
    return CLV_OK;
}
