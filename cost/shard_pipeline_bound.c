#include "cost/shard_pipeline_bound.h"

#include "base/key.h"
#include "base/map.h"
#include "cost/shard_places.h"
#include "problem/intra_op_between.h"

#define WHAT     "what a pipeline takes"
#define NONE     (-1)
#define NO_END   CLV_INTRA_OP_NO_END
#define CUTS_MAX 16 /* an edge that passes by more of them is left out, or it would bar them all   \
                     */
/* Entries looked at: some tenths of a second. Where that is not enough, nothing is known. */
#define WORK_MAX INT64_C(200000000)

/* How far apart the stages of its two ends are. */
enum { TOGETHER, NEXT, APART, N_STEPS };

/* What a stretch takes, by choice of its first end and then of its second. */
typedef struct {
    int64_t *ns[N_STEPS];
} stretch;

typedef struct {
    const clv_shard_problem *s;
    const clv_intra_op_problem *p;
    const clv_shard_path *path;
    int32_t stages;
    clv_shard_places at;
    int32_t *before_cut; /* by cut: how many before it are ends of stretches */
    bool *is_end;        /* by cut */
    int32_t n_cuts;
    int32_t *end;                /* by end of stretches: its node */
    int32_t n_ends;              /* there is a stretch more */
    int32_t *home;               /* by node: its stretch; NONE, as of ends */
    int32_t *nodes, *edges;      /* by stretch */
    int32_t *first, *first_edge; /* n_ends + 2 */
    int32_t *number;             /* scratch, by node */
    clv_map known;               /* of stretches that are alike */
    stretch *of;                 /* as many */
    int32_t n_known, cap_known;
    clv_key key;
    int64_t work_left;
    clv_arena *arena;
} bounder;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, WHAT); }

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t capped(int64_t ns) { return least(ns, CLV_INTRA_OP_NEVER); }

static int32_t n_choices(const bounder *b, int32_t node)
{
    return node == NO_END ? 1 : clv_intra_op_n_choices(b->p, node);
}

/* -- stretches -- */

/* The cuts that lie between two places: first to before *ret_end. */
static int32_t cuts_between(int32_t a, int32_t b, int32_t *ret_end)
{
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    *ret_end = high / 2;
    return (low + 1) / 2;
}

static void find_ends(bounder *b)
{
    int32_t *change = b->before_cut; /* in its place: how many edges pass by from there on, more */
    for (int32_t e = 0; e < b->p->n_edges; e++) {
        const int32_t *node = b->p->end + b->p->first_end[e];
        int32_t x = b->at.place[node[0]], y = b->at.place[node[1]], end;
        if (x == CLV_PLACE_OUTSIDE || y == CLV_PLACE_OUTSIDE)
            continue;
        int32_t first = cuts_between(x, y, &end);
        if (first >= end || end - first > CUTS_MAX)
            continue;
        change[first]++;
        change[end]--;
    }
    for (int32_t c = 0, n = 0; c < b->n_cuts; c++) {
        int32_t node = b->s->node_of_op[b->path->window[c].end];
        n += change[c];
        b->is_end[c] = node != NONE && n == 0;
        b->before_cut[c] = b->n_ends;
        if (b->is_end[c])
            b->end[b->n_ends++] = node;
    }
    b->before_cut[b->n_cuts] = b->n_ends;
}

/* Of all nodes but ends. What an end makes is behind it. */
static void find_homes(bounder *b)
{
    for (int32_t n = 0; n < b->p->n_nodes; n++) {
        int32_t place = b->at.place[n];
        b->home[n] = NONE;
        if (place == CLV_PLACE_OUTSIDE)
            continue;
        int32_t cut = place / 2, home = b->before_cut[cut];
        bool at_end = place == clv_place_of_cut(cut) && b->is_end[cut];
        if (!at_end || b->end[home] != n)
            b->home[n] = home + at_end;
    }
}

/* The end that a node is; NONE. */
static int32_t end_at(const bounder *b, int32_t node)
{
    int32_t place = b->at.place[node];
    return place != CLV_PLACE_OUTSIDE && b->home[node] == NONE ? b->before_cut[place / 2] : NONE;
}

/* The stretch in which an edge lies; NONE: it is left out. */
static int32_t home_of_edge(const bounder *b, int32_t edge)
{
    const int32_t *node = b->p->end + b->p->first_end[edge];
    int32_t home[2] = { b->home[node[0]], b->home[node[1]] };
    int32_t end[2] = { end_at(b, node[0]), end_at(b, node[1]) };
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
static clv_status sort_by(bounder *b, const int32_t *of, int32_t n, int32_t **ret_first,
                          int32_t **ret, clv_error *err)
{
    int32_t *first = CLV_NEW_ARRAY(b->arena, int32_t, b->n_ends + 3);
    int32_t *all = CLV_NEW_ARRAY(b->arena, int32_t, n);
    if (!first || !all)
        return no_memory(err);
    for (int32_t i = 0; i < n; i++)
        if (of[i] != NONE)
            first[of[i] + 2]++;
    for (int32_t k = 2; k <= b->n_ends + 2; k++)
        first[k] += first[k - 1];
    for (int32_t i = 0; i < n; i++)
        if (of[i] != NONE)
            all[first[of[i] + 1]++] = i;
    *ret_first = first;
    *ret = all;
    return CLV_OK;
}

static clv_status find_stretches(bounder *b, clv_error *err)
{
    int32_t *home = CLV_NEW_ARRAY(b->arena, int32_t, b->p->n_edges);
    if (!home)
        return no_memory(err);
    find_ends(b);
    find_homes(b);
    for (int32_t e = 0; e < b->p->n_edges; e++)
        home[e] = home_of_edge(b, e);
    CLV_TRY(sort_by(b, b->home, b->p->n_nodes, &b->first, &b->nodes, err));
    return sort_by(b, home, b->p->n_edges, &b->first_edge, &b->edges, err);
}

static clv_intra_op_part part_of(const bounder *b, int32_t i)
{
    return (clv_intra_op_part){ .node = b->nodes + b->first[i],
                                .n_nodes = b->first[i + 1] - b->first[i],
                                .edge = b->edges + b->first_edge[i],
                                .n_edges = b->first_edge[i + 1] - b->first_edge[i],
                                .begin = i > 0 ? b->end[i - 1] : NO_END,
                                .end = i < b->n_ends ? b->end[i] : NO_END };
}

/* -- the way -- */

/* The last node of the way through the last stretch; NONE: it does not go through. */
static int32_t last_on_way(const bounder *b, const clv_intra_op_part *part)
{
    const clv_graph *g = b->s->types->graph;
    int32_t last = NONE;
    for (int32_t i = 0; i < g->n_ops; i++)
        if (b->path->in[i] != CLV_PATH_OFF && b->s->node_of_op[i] >= 0)
            last = b->s->node_of_op[i];
    return last == part->begin ? NONE : last;
}

/* What it takes from the choices of a node on to those of the end, with its own cost. */
static void add_cost(const bounder *b, int32_t node, int32_t m, int64_t *ns)
{
    const int64_t *cost = b->p->cost + b->p->first_choice[node];
    for (int32_t x = 0; x < n_choices(b, node); x++)
        for (int32_t j = 0; j < m; j++)
            ns[(int64_t)x * m + j] = capped(ns[(int64_t)x * m + j] + capped(cost[x]));
}

/* The same from the node before it, over the edge between them. from NULL: the node is the end. */
static clv_status step_back(bounder *b, int32_t node, int32_t m, const int64_t *from, int64_t **ret,
                            clv_error *err)
{
    int32_t edge = b->at.edge[node], before = b->at.before[node];
    int32_t n = n_choices(b, before), n_node = n_choices(b, node);
    const int64_t *entry = b->p->entry + b->p->first_entry[b->p->matrix_of[edge]];
    bool turned = b->p->end[b->p->first_end[edge]] != before;
    int64_t *ns = *ret = CLV_NEW_ARRAY(b->arena, int64_t, (int64_t)n * m);
    if (!ns)
        return no_memory(err);
    b->work_left -= (int64_t)n * n_node * (from ? m : 1);
    for (int32_t i = 0; i < n; i++) {
        int64_t *row = ns + (int64_t)i * m;
        for (int32_t j = 0; j < m; j++)
            row[j] = CLV_INTRA_OP_NEVER;
        for (int32_t x = 0; x < n_node; x++) {
            int64_t over =
                capped(turned ? entry[(int64_t)x * n + i] : entry[(int64_t)i * n_node + x]);
            for (int32_t j = 0; from && j < m; j++)
                row[j] = least(row[j], over + from[(int64_t)x * m + j]);
            if (!from)
                row[x] = over;
        }
    }
    return CLV_OK;
}

/* The least over the choices of a node, whatever there is before it. */
static clv_status begin_anywhere(bounder *b, int32_t n_begin, int32_t n_node, int32_t m,
                                 const int64_t *from, int64_t **ret, clv_error *err)
{
    int64_t *ns = *ret = CLV_NEW_ARRAY(b->arena, int64_t, (int64_t)n_begin * m);
    if (!ns)
        return no_memory(err);
    for (int32_t i = 0; i < n_begin; i++)
        for (int32_t j = 0; from && j < m; j++) {
            int64_t all = CLV_INTRA_OP_NEVER;
            for (int32_t x = 0; x < n_node; x++)
                all = least(all, from[(int64_t)x * m + j]);
            ns[(int64_t)i * m + j] = all;
        }
    return CLV_OK;
}

/* The way through a stretch, from its end back. */
static clv_status find_way(bounder *b, const clv_intra_op_part *part, int64_t **ret, clv_error *err)
{
    int32_t node = part->end, m = n_choices(b, part->end);
    int64_t *ns = NULL;
    if (node == NO_END) {
        node = last_on_way(b, part);
        ns = node == NONE ? NULL : CLV_NEW_ARRAY(b->arena, int64_t, n_choices(b, node));
        if (node != NONE && !ns)
            return no_memory(err);
        if (node != NONE)
            add_cost(b, node, m, ns);
    }
    while (node != NONE && node != part->begin && b->at.before[node] != NONE &&
           b->at.edge[node] != NONE) {
        CLV_TRY(step_back(b, node, m, ns, &ns, err));
        node = b->at.before[node];
        if (node != part->begin)
            add_cost(b, node, m, ns);
    }
    *ret = ns;
    if (node != NONE && node == part->begin && ns)
        return CLV_OK;
    return begin_anywhere(b, n_choices(b, part->begin), node == NONE ? 0 : n_choices(b, node), m,
                          ns, ret, err);
}

/* -- what a stretch takes -- */

static clv_status find_ns(bounder *b, const clv_intra_op_part *part, stretch *ret, clv_error *err)
{
    int64_t n = (int64_t)n_choices(b, part->begin) * n_choices(b, part->end), *way;
    CLV_TRY(clv_intra_op_between(b->p, part, b->number, &b->work_left, b->arena, &ret->ns[TOGETHER],
                                 err));
    if (!ret->ns[TOGETHER])
        return CLV_OK;
    CLV_TRY(find_way(b, part, &way, err));
    for (int32_t k = NEXT; k < N_STEPS; k++) {
        int64_t parts = k == NEXT ? 2 : b->stages;
        ret->ns[k] = CLV_NEW_ARRAY(b->arena, int64_t, n);
        if (!ret->ns[k])
            return no_memory(err);
        for (int64_t i = 0; i < n; i++)
            ret->ns[k][i] = most(way[i], (ret->ns[TOGETHER][i] + parts - 1) / parts);
    }
    return CLV_OK;
}

/* All that counts of a stretch: its ends, nodes and edges. Nodes that mean the same cost the same.
 */
static clv_status make_key(bounder *b, const clv_intra_op_part *part, clv_error *err)
{
    const int32_t ends[] = { part->begin, part->end };
    b->key.n = 0;
    for (int32_t k = 0; k < 2; k++) {
        clv_key_add(&b->key, n_choices(b, ends[k]));
        if (ends[k] != NO_END)
            b->number[ends[k]] = k;
    }
    for (int32_t i = 0; i < part->n_nodes; i++)
        b->number[part->node[i]] = i + 2;
    for (int32_t i = 0; i < part->n_nodes; i++) {
        int32_t node = part->node[i];
        const clv_op_choice *choice = b->s->op_choice[node];
        clv_key_add(&b->key, choice ? (int64_t)(intptr_t)choice : NONE);
        clv_key_add(&b->key, n_choices(b, node));
        clv_key_add(&b->key, b->at.kept[node]);
    }
    for (int32_t i = 0; i < part->n_edges; i++) {
        const int32_t *node = b->p->end + b->p->first_end[part->edge[i]];
        clv_key_add(&b->key, b->number[node[0]]);
        clv_key_add(&b->key, b->number[node[1]]);
        clv_key_add(&b->key, b->p->matrix_of[part->edge[i]]);
        clv_key_add(&b->key,
                    b->at.edge[node[0]] == part->edge[i] || b->at.edge[node[1]] == part->edge[i]);
    }
    return b->key.failed ? no_memory(err) : CLV_OK;
}

static clv_status find_stretch(bounder *b, const clv_intra_op_part *part, const stretch **ret,
                               clv_error *err)
{
    int32_t id;
    CLV_TRY(make_key(b, part, err));
    CLV_TRY(clv_map_put_key(&b->known, b->key.at, (size_t)b->key.n * sizeof *b->key.at, b->n_known,
                            &id, err));
    if (id == b->n_known) {
        if (!CLV_PUSH_ROOM(b->arena, b->of, b->n_known, b->cap_known))
            return no_memory(err);
        b->of[b->n_known] = (stretch){ { NULL } };
        CLV_TRY(find_ns(b, part, &b->of[b->n_known++], err));
    }
    *ret = &b->of[id];
    return CLV_OK;
}

/* -- from end to end -- */

/* By stage and by choice of an end: the least time until it is done. */
static void go_on(bounder *b, const clv_intra_op_part *part, const stretch *over,
                  const int64_t *until, int64_t *next)
{
    int32_t n = n_choices(b, part->begin), m = n_choices(b, part->end);
    const int64_t *cost = part->end == NO_END ? NULL : b->p->cost + b->p->first_choice[part->end];
    for (int32_t s = 0; s < b->stages; s++) {
        int64_t *now = next + (int64_t)s * m;
        for (int32_t j = 0; j < m; j++)
            now[j] = CLV_INTRA_OP_NEVER;
        for (int32_t k = 0; k < N_STEPS && k <= s; k++)
            for (int32_t i = 0; i < n; i++) {
                int64_t before = until[(int64_t)(s - k) * n + i];
                for (int32_t j = 0; j < m; j++)
                    now[j] = least(now[j], before + over->ns[k][(int64_t)i * m + j]);
            }
        for (int32_t j = 0; cost && j < m; j++)
            now[j] = capped(now[j] + capped(cost[j]));
        b->work_left -= (int64_t)N_STEPS * n * m;
    }
}

static clv_status walk(bounder *b, clv_int128 *ret, clv_error *err)
{
    int32_t widest = 1;
    for (int32_t i = 0; i < b->n_ends; i++)
        widest = n_choices(b, b->end[i]) > widest ? n_choices(b, b->end[i]) : widest;
    int64_t *until = CLV_NEW_ARRAY(b->arena, int64_t, (int64_t)b->stages * widest);
    int64_t *next = CLV_NEW_ARRAY(b->arena, int64_t, (int64_t)b->stages * widest);
    if (!until || !next)
        return no_memory(err);
    for (int32_t i = 0; i <= b->n_ends; i++) {
        const clv_intra_op_part part = part_of(b, i);
        const stretch *over = NULL;
        CLV_TRY(find_stretch(b, &part, &over, err));
        if (!over->ns[TOGETHER] || b->work_left <= 0)
            return CLV_OK;
        go_on(b, &part, over, until, next);
        int64_t *now = next;
        next = until;
        until = now;
    }
    *ret = until[0];
    for (int32_t s = 1; s < b->stages; s++)
        *ret = until[s] < *ret ? until[s] : *ret;
    return CLV_OK;
}

/* -- all -- */

static clv_status bound(bounder *b, clv_int128 *ret, clv_error *err)
{
    int32_t n = b->p->n_nodes;
    b->n_cuts = b->path->n_windows - 1;
    b->before_cut = CLV_NEW_ARRAY(b->arena, int32_t, b->n_cuts + 1);
    b->is_end = CLV_NEW_ARRAY(b->arena, bool, b->n_cuts + 1);
    b->end = CLV_NEW_ARRAY(b->arena, int32_t, b->n_cuts);
    b->home = CLV_NEW_ARRAY(b->arena, int32_t, n);
    b->number = CLV_NEW_ARRAY(b->arena, int32_t, n);
    b->key.arena = b->arena;
    if (!b->before_cut || !b->is_end || !b->end || !b->home || !b->number)
        return no_memory(err);
    CLV_TRY(clv_map_init(&b->known, b->arena, 0, err));
    CLV_TRY(clv_shard_places_find(b->s, b->path, b->arena, &b->at, err));
    CLV_TRY(find_stretches(b, err));
    return walk(b, ret, err);
}

clv_status clv_shard_pipeline_bound_ns(const clv_shard_problem *s, const clv_shard_path *path,
                                       int32_t stages, clv_arena *arena, clv_int128 *ret,
                                       clv_error *err)
{
    bounder b = { .s = s,
                  .p = s->problem,
                  .path = path,
                  .stages = stages,
                  .work_left = WORK_MAX,
                  .arena = clv_arena_new(clv_arena_alloc(arena), 0) };
    *ret = 0;
    if (path->n_windows == 0)
        return clv_arena_free(b.arena), CLV_OK;
    if (!b.arena)
        return no_memory(err);
    clv_status status = bound(&b, ret, err);
    clv_arena_free(b.arena);
    return status;
}
