#include "cost/layout_lists.h"

#define FEW 64 /* names that a map has room for at once */

clv_status clv_layout_lists_init(clv_layout_lists *l, clv_resharder *resharder, clv_arena *arena,
                                 clv_error *err)
{
    *l = (clv_layout_lists){ .arena = arena, .resharder = resharder };
    CLV_TRY(clv_map_init(&l->lists, arena, FEW, err));
    CLV_TRY(clv_map_init(&l->shapes, arena, FEW, err));
    return clv_map_init(&l->pairs, arena, FEW, err);
}

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "lists of layouts"); }

/* Numbers each layout by the first place at which an equal one stands. */
static bool find_distinct(clv_arena *arena, clv_layout_list *list)
{
    int32_t *distinct = CLV_NEW_ARRAY(arena, int32_t, list->n);
    int32_t *first = CLV_NEW_ARRAY(arena, int32_t, list->n);
    if (!distinct || !first)
        return false;
    for (int32_t i = 0; i < list->n; i++) {
        int32_t d = 0;
        while (d < list->n_distinct && !clv_layout_equal(&list->at[first[d]], &list->at[i]))
            d++;
        if (d == list->n_distinct)
            first[list->n_distinct++] = i;
        distinct[i] = d;
    }
    list->found = CLV_NEW_ARRAY(arena, clv_found_layout, list->n_distinct);
    if (!list->found)
        return false;
    for (int32_t d = 0; d < list->n_distinct; d++) {
        const clv_layout *layout = &list->at[first[d]];
        list->found[d] =
            (clv_found_layout){ .layout = layout, .is_plain = clv_resharder_is_plain(layout) };
    }
    list->distinct = distinct;
    list->first = first;
    return true;
}

clv_status clv_layout_lists_put(clv_layout_lists *l, int32_t n, const clv_layout *at, int32_t *ret,
                                clv_error *err)
{
    size_t size = (size_t)n * sizeof *at;
    clv_str name = { (const char *)at, (int32_t)size };
    int32_t id = clv_map_get(&l->lists, name);
    if (id < 0) {
        clv_layout *copy = CLV_NEW_ARRAY(l->arena, clv_layout, n);
        clv_layout_list *list = CLV_NEW(l->arena, clv_layout_list);
        if (!copy || !list || !CLV_PUSH_ROOM(l->arena, l->list, l->n_lists, l->cap_lists))
            return no_memory(err);
        name.at = memcpy(copy, at, size);
        *list = (clv_layout_list){ .at = copy, .n = n };
        l->list[l->n_lists] = list;
        if (!find_distinct(l->arena, list))
            return no_memory(err);
        CLV_TRY(clv_map_put(&l->lists, name, l->n_lists, &id, err));
        l->n_lists++;
    }
    *ret = id;
    return CLV_OK;
}

clv_status clv_layout_lists_shape(clv_layout_lists *l, const clv_type *type, int32_t *ret,
                                  clv_error *err)
{
    int64_t key[CLV_RANK_MAX + 2] = { type->dtype,
                                      type->kind == CLV_TYPE_TENSOR ? type->rank : -1 };
    size_t n = 2;
    for (int32_t i = 0; key[1] > 0 && i < type->rank; i++)
        key[n++] = type->dims[i];
    CLV_TRY(clv_map_put_key(&l->shapes, key, n * sizeof *key, l->n_shapes, ret, err));
    l->n_shapes += *ret == l->n_shapes;
    return CLV_OK;
}

static clv_status find_in(const clv_reshard *r, clv_found_layout *f, clv_error *err)
{
    if (f->in == r)
        return CLV_OK;
    CLV_TRY(clv_reshard_find_end(r, f->layout, &f->end, err));
    f->in = r;
    return CLV_OK;
}

/* A tensor's costs while they are found. */
typedef struct {
    clv_resharder *resharder;
    const clv_type *type;
    clv_reshard *plain; /* what knows the ways between plain layouts; NULL: not known yet */
} finder;

static clv_status find_cost(finder *f, clv_found_layout *from, clv_found_layout *to, int64_t *ret,
                            clv_error *err)
{
    const clv_relayout move = { f->type, from->layout, to->layout };
    bool is_plain = from->is_plain && to->is_plain;
    clv_reshard *r = is_plain ? f->plain : NULL;
    *ret = 0;
    if (r && clv_layout_equal(from->layout, to->layout))
        return CLV_OK;
    if (!r)
        CLV_TRY(clv_resharder_find(f->resharder, &move, &r, err));
    if (!r)
        return CLV_OK;
    f->plain = is_plain ? r : f->plain;
    CLV_TRY(find_in(r, from, err));
    CLV_TRY(find_in(r, to, err));
    return clv_reshard_ends_ns(r, from->end, to->end, ret, err);
}

/* ns: by distinct layouts of the two lists. */
static clv_status find_costs(finder *f, const clv_layout_costs *costs, int64_t *ns, clv_error *err)
{
    const clv_layout_list *from = costs->from, *to = costs->to;
    for (int32_t i = 0; i < from->n_distinct; i++)
        for (int32_t j = 0; j < to->n_distinct; j++)
            CLV_TRY(find_cost(f, &from->found[i], &to->found[j], ns++, err));
    return CLV_OK;
}

clv_status clv_layout_lists_costs(clv_layout_lists *l, const clv_type *type, int32_t from,
                                  int32_t to, const clv_layout_costs **ret, clv_error *err)
{
    int32_t key[] = { 0, from, to }, id;
    CLV_TRY(clv_layout_lists_shape(l, type, &key[0], err));
    if (!CLV_PUSH_ROOM(l->arena, l->costs, l->n_costs, l->cap_costs))
        return no_memory(err);
    CLV_TRY(clv_map_put_key(&l->pairs, key, sizeof key, l->n_costs, &id, err));
    if (id == l->n_costs) {
        const clv_layout_list *rows = l->list[from], *columns = l->list[to];
        clv_layout_costs *made = CLV_NEW(l->arena, clv_layout_costs);
        int64_t *ns = CLV_NEW_ARRAY(l->arena, int64_t,
                                    (size_t)rows->n_distinct * (size_t)columns->n_distinct);
        if (!made || !ns)
            return no_memory(err);
        *made = (clv_layout_costs){ id, ns, rows, columns };
        finder f = { .resharder = l->resharder, .type = type };
        CLV_TRY(find_costs(&f, made, ns, err));
        l->costs[l->n_costs++] = made;
    }
    *ret = l->costs[id];
    return CLV_OK;
}
