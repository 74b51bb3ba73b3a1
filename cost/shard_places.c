#include "cost/shard_places.h"

#define NONE (-1)

static void set_place(clv_shard_places *l, int32_t node, int32_t place, bool kept)
{
    if (node < 0)
        return;
    l->place[node] = place;
    l->kept[node] = kept;
}

static void set_op(clv_shard_places *l, const clv_shard_problem *s, const clv_shard_path *path,
                   int32_t op, int32_t place)
{
    const clv_graph *g = s->types->graph;
    bool kept = path->in[op] != CLV_PATH_OFF;
    set_place(l, s->node_of_op[op], place, kept);
    for (int32_t k = 0; k < g->ops[op].n_out; k++) {
        clv_tensor t = clv_op_output(g, &g->ops[op], k);
        if (t.i >= 0)
            set_place(l, s->node_of_tensor[t.i], place, kept);
    }
}

static void find_places(clv_shard_places *l, const clv_shard_problem *s, const clv_shard_path *path)
{
    for (int32_t n = 0; n < s->problem->n_nodes; n++) {
        l->place[n] = CLV_PLACE_OUTSIDE;
        l->before[n] = NONE;
        l->edge[n] = NONE;
    }
    for (int32_t w = 0; w < path->n_windows; w++) {
        for (int32_t i = 0; i < path->window[w].n; i++)
            set_op(l, s, path, path->window[w].op[i], clv_place_of_window(w));
        if (path->window[w].end >= 0)
            set_op(l, s, path, path->window[w].end, clv_place_of_cut(w));
    }
}

/* The way from operator to operator, by tensors that are nodes. */
static void find_way(clv_shard_places *l, const clv_shard_problem *s, const clv_shard_path *path)
{
    const clv_graph *g = s->types->graph;
    for (int32_t i = 0; i < g->n_ops; i++) {
        int32_t node = s->node_of_op[i], k = path->in[i];
        if (node < 0 || k < 0)
            continue;
        clv_tensor t = clv_op_input(g, &g->ops[i], k);
        int32_t maker = clv_tensor_at(g, t)->producer.i, home = s->node_of_tensor[t.i];
        int32_t from = maker < 0 ? NONE : s->node_of_op[maker];
        l->before[node] = home >= 0 ? home : from;
        if (home >= 0)
            l->before[home] = from;
    }
}

/* Only one of the edges between two nodes is part of the way. */
static void find_edges(clv_shard_places *l, const clv_intra_op_problem *p)
{
    for (int32_t e = 0; e < p->n_edges; e++) {
        int32_t a = p->end[p->first_end[e]], b = p->end[p->first_end[e] + 1];
        int32_t node = l->before[b] == a ? b : l->before[a] == b ? a : NONE;
        if (node != NONE && l->edge[node] == NONE)
            l->edge[node] = e;
    }
}

clv_status clv_shard_places_find(const clv_shard_problem *s, const clv_shard_path *path,
                                 clv_arena *arena, clv_shard_places *ret, clv_error *err)
{
    int32_t n = s->problem->n_nodes;
    *ret = (clv_shard_places){ .place = CLV_NEW_ARRAY(arena, int32_t, n),
                               .kept = CLV_NEW_ARRAY(arena, bool, n),
                               .before = CLV_NEW_ARRAY(arena, int32_t, n),
                               .edge = CLV_NEW_ARRAY(arena, int32_t, n) };
    if (!ret->place || !ret->kept || !ret->before || !ret->edge)
        return clv_fail_nomem(err, "the longest way");
    find_places(ret, s, path);
    find_way(ret, s, path);
    find_edges(ret, s->problem);
    return CLV_OK;
}
