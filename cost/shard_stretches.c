#include "cost/shard_stretches.h"

#define NONE   (-1)
#define NO_END CLV_INTRA_OP_NO_END
/* An edge that passes by more cuts is left out, or it would bar them all. */
#define CUTS_MAX 16

typedef struct {
    const clv_shard_problem *s;
    const clv_intra_op_problem *p;
    const clv_shard_path *path;
    int32_t n_cuts;
    int32_t *before_cut; /* by cut: how many before it are ends of stretches */
    int32_t *ends_at;    /* by cut: 1 if it is one, 2 if what it makes is one too */
    clv_shard_stretches *ret;
    clv_arena *arena;
} finder;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "the longest way"); }

/* The cuts that lie between two places: first to before *ret_end. */
static int32_t cuts_between(int32_t a, int32_t b, int32_t *ret_end)
{
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    *ret_end = high / 2;
    return (low + 1) / 2;
}

/* A cut, and what it makes if that is one tensor with layouts of its own. */
static void add_ends(finder *f, int32_t cut, int32_t node)
{
    const clv_graph *g = f->s->types->graph;
    const clv_op_info *op = &g->ops[f->path->window[cut].end];
    clv_tensor made = op->n_out == 1 ? clv_op_output(g, op, 0) : CLV_NO_TENSOR;
    int32_t home = made.i < 0 ? NONE : f->s->node_of_tensor[made.i];
    f->ends_at[cut] = 1 + (home != NONE);
    f->ret->end[f->ret->n_ends] = node;
    f->ret->tensor[f->ret->n_ends++] = CLV_NO_TENSOR;
    if (home == NONE)
        return;
    f->ret->end[f->ret->n_ends] = home;
    f->ret->tensor[f->ret->n_ends++] = made;
}

static void find_ends(finder *f)
{
    int32_t *change = f->before_cut; /* in its place: how many edges pass by from there on, more */
    for (int32_t e = 0; e < f->p->n_edges; e++) {
        const int32_t *node = f->p->end + f->p->first_end[e];
        int32_t x = f->ret->at.place[node[0]], y = f->ret->at.place[node[1]], end;
        if (x == CLV_PLACE_OUTSIDE || y == CLV_PLACE_OUTSIDE)
            continue;
        int32_t first = cuts_between(x, y, &end);
        if (first >= end || end - first > CUTS_MAX)
            continue;
        change[first]++;
        change[end]--;
    }
    for (int32_t c = 0, n = 0; c < f->n_cuts; c++) {
        int32_t node = f->s->node_of_op[f->path->window[c].end];
        n += change[c];
        f->before_cut[c] = f->ret->n_ends;
        if (node != NONE && n == 0)
            add_ends(f, c, node);
    }
    f->before_cut[f->n_cuts] = f->ret->n_ends;
}

/* The end that a node is; NONE. */
static int32_t end_at(const finder *f, int32_t node)
{
    int32_t place = f->ret->at.place[node], cut = place / 2;
    if (place == CLV_PLACE_OUTSIDE || place != clv_place_of_cut(cut))
        return NONE;
    for (int32_t i = f->before_cut[cut]; i < f->before_cut[cut] + f->ends_at[cut]; i++)
        if (f->ret->end[i] == node)
            return i;
    return NONE;
}

/* Of all nodes but ends. What an end makes is behind it. */
static void find_homes(finder *f)
{
    for (int32_t n = 0; n < f->p->n_nodes; n++) {
        int32_t place = f->ret->at.place[n], cut = place / 2;
        f->ret->home[n] = NONE;
        if (place == CLV_PLACE_OUTSIDE || end_at(f, n) != NONE)
            continue;
        f->ret->home[n] =
            f->before_cut[cut] + (place == clv_place_of_cut(cut) ? f->ends_at[cut] : 0);
    }
}

/* The stretch in which an edge lies; NONE: it is left out. */
static int32_t home_of_edge(const finder *f, int32_t edge)
{
    const int32_t *node = f->p->end + f->p->first_end[edge];
    int32_t home[2] = { f->ret->home[node[0]], f->ret->home[node[1]] };
    int32_t end[2] = { end_at(f, node[0]), end_at(f, node[1]) };
    for (int32_t k = 0; k < 2; k++)
        if (home[k] == NONE && end[k] == NONE)
            return NONE;
    if (end[0] != NONE && end[1] != NONE)
        return end[0] == end[1] + 1 ? end[0] : end[1] == end[0] + 1 ? end[1] : NONE;
    if (end[0] == NONE && end[1] == NONE)
        return home[0] == home[1] ? home[0] : NONE;
    int32_t inside = end[0] == NONE ? home[0] : home[1], at = end[0] == NONE ? end[1] : end[0];
    return inside == at || inside == at + 1 ? inside : NONE;
}

/* Numbers put in order of what they belong to, as by counting sort. of: NONE, it goes. */
static clv_status sort_by(finder *f, const int32_t *of, int32_t n, int32_t **ret_first,
                          int32_t **ret, clv_error *err)
{
    int32_t *first = CLV_NEW_ARRAY(f->arena, int32_t, f->ret->n_ends + 3);
    int32_t *all = CLV_NEW_ARRAY(f->arena, int32_t, n);
    if (!first || !all)
        return no_memory(err);
    for (int32_t i = 0; i < n; i++)
        if (of[i] != NONE)
            first[of[i] + 2]++;
    for (int32_t k = 2; k <= f->ret->n_ends + 2; k++)
        first[k] += first[k - 1];
    for (int32_t i = 0; i < n; i++)
        if (of[i] != NONE)
            all[first[of[i] + 1]++] = i;
    *ret_first = first;
    *ret = all;
    return CLV_OK;
}

clv_status clv_shard_stretches_find(const clv_shard_problem *s, const clv_shard_path *path,
                                    clv_arena *arena, clv_shard_stretches *ret, clv_error *err)
{
    int32_t n_cuts = path->n_windows - 1, n_edges = s->problem->n_edges;
    finder f = { .s = s,
                 .p = s->problem,
                 .path = path,
                 .n_cuts = n_cuts,
                 .before_cut = CLV_NEW_ARRAY(arena, int32_t, n_cuts + 1),
                 .ends_at = CLV_NEW_ARRAY(arena, int32_t, n_cuts + 1),
                 .ret = ret,
                 .arena = arena };
    int32_t *home = CLV_NEW_ARRAY(arena, int32_t, n_edges); /* by edge */
    *ret = (clv_shard_stretches){ .end = CLV_NEW_ARRAY(arena, int32_t, 2 * n_cuts),
                                  .tensor = CLV_NEW_ARRAY(arena, clv_tensor, 2 * n_cuts),
                                  .home = CLV_NEW_ARRAY(arena, int32_t, s->problem->n_nodes) };
    if (!f.before_cut || !f.ends_at || !home || !ret->end || !ret->tensor || !ret->home)
        return no_memory(err);
    CLV_TRY(clv_shard_places_find(s, path, arena, &ret->at, err));
    find_ends(&f);
    find_homes(&f);
    for (int32_t e = 0; e < n_edges; e++)
        home[e] = home_of_edge(&f, e);
    CLV_TRY(sort_by(&f, ret->home, s->problem->n_nodes, &ret->first, &ret->nodes, err));
    return sort_by(&f, home, n_edges, &ret->first_edge, &ret->edges, err);
}

clv_intra_op_part clv_shard_stretch_part(const clv_shard_stretches *l, int32_t i)
{
    return (clv_intra_op_part){ .node = l->nodes + l->first[i],
                                .n_nodes = l->first[i + 1] - l->first[i],
                                .edge = l->edges + l->first_edge[i],
                                .n_edges = l->first_edge[i + 1] - l->first_edge[i],
                                .begin = i > 0 ? l->end[i - 1] : NO_END,
                                .end = i < l->n_ends ? l->end[i] : NO_END };
}
