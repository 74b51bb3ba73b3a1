#include "cost/shard_pipeline_bound.h"

#include "base/key.h"
#include "base/map.h"
#include "cost/shard_branches.h"
#include "cost/shard_cost.h"
#include "cost/shard_places.h"
#include "problem/intra_op_between.h"

#define WHAT   "what a pipeline takes"
#define NONE   (-1)
#define NO_END CLV_INTRA_OP_NO_END
/* An edge that passes by more cuts is left out, or it would bar them all. */
#define CUTS_MAX 16
/* Entries looked at: some tenths of a second. Where that is not enough, nothing is known. */
#define WORK_MAX INT64_C(200000000)

#define NS_PER_S 1e9

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
    const clv_cluster *meshes;
    clv_shard_places at;
    int32_t *before_cut; /* by cut: how many before it are ends of stretches */
    int32_t *ends_at;    /* by cut: 1 if it is one, 2 if what it makes is one too */
    int32_t n_cuts;
    int32_t *end;                /* by end of stretches: its node */
    clv_tensor *tensor;          /* likewise: that it is; CLV_NO_TENSOR: it is an operator */
    int32_t *op_of;              /* by node; NONE */
    int64_t latency_ns;          /* of the fastest link between two stages */
    double bytes_per_s;          /* 0: no time is known */
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

/* A cut, and what it makes if that is one tensor with layouts of its own. */
static void add_ends(bounder *b, int32_t cut, int32_t node)
{
    const clv_graph *g = b->s->types->graph;
    const clv_op_info *op = &g->ops[b->path->window[cut].end];
    clv_tensor made = op->n_out == 1 ? clv_op_output(g, op, 0) : CLV_NO_TENSOR;
    int32_t home = made.i < 0 ? NONE : b->s->node_of_tensor[made.i];
    b->ends_at[cut] = 1 + (home != NONE);
    b->end[b->n_ends] = node;
    b->tensor[b->n_ends++] = CLV_NO_TENSOR;
    if (home == NONE)
        return;
    b->end[b->n_ends] = home;
    b->tensor[b->n_ends++] = made;
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
        b->before_cut[c] = b->n_ends;
        if (node != NONE && n == 0)
            add_ends(b, c, node);
    }
    b->before_cut[b->n_cuts] = b->n_ends;
}

/* The end that a node is; NONE. */
static int32_t end_at(const bounder *b, int32_t node)
{
    int32_t place = b->at.place[node], cut = place / 2;
    if (place == CLV_PLACE_OUTSIDE || place != clv_place_of_cut(cut))
        return NONE;
    for (int32_t i = b->before_cut[cut]; i < b->before_cut[cut] + b->ends_at[cut]; i++)
        if (b->end[i] == node)
            return i;
    return NONE;
}

/* Of all nodes but ends. What an end makes is behind it. */
static void find_homes(bounder *b)
{
    for (int32_t n = 0; n < b->p->n_nodes; n++) {
        int32_t place = b->at.place[n], cut = place / 2;
        b->home[n] = NONE;
        if (place == CLV_PLACE_OUTSIDE || end_at(b, n) != NONE)
            continue;
        b->home[n] = b->before_cut[cut] + (place == clv_place_of_cut(cut) ? b->ends_at[cut] : 0);
    }
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

/* The way through a stretch, from its end back. *ret_whole: it leads from one end to the other. */
static clv_status find_way(bounder *b, const clv_intra_op_part *part, int64_t **ret,
                           bool *ret_whole, clv_error *err)
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
    *ret_whole = false;
    if (node != NONE && node == part->begin && ns) {
        *ret_whole = part->end != NO_END;
        return CLV_OK;
    }
    return begin_anywhere(b, n_choices(b, part->begin), node == NONE ? 0 : n_choices(b, node), m,
                          ns, ret, err);
}

/* -- what is sent -- */

/* The least latency and the greatest rate between any two stages. */
static void find_link(bounder *b)
{
    const clv_cluster *c = b->meshes;
    b->latency_ns = INT64_MAX;
    for (int32_t i = 0; c && i < c->n_devices; i++)
        for (int32_t j = 0; j < c->n_devices; j++) {
            const clv_route *route = clv_route_between(c, i, j);
            if (i == j)
                continue;
            b->latency_ns = least(b->latency_ns, route->latency_ns);
            b->bytes_per_s =
                route->bytes_per_s > b->bytes_per_s ? route->bytes_per_s : b->bytes_per_s;
        }
}

static int64_t sent_ns(const bounder *b, int64_t bytes)
{
    double ns = b->bytes_per_s > 0 ? (double)bytes / b->bytes_per_s * NS_PER_S : 0;
    if (b->bytes_per_s <= 0 || bytes == 0)
        return 0;
    return ns < (double)CLV_INTRA_OP_NEVER ? capped(b->latency_ns + (int64_t)ns)
                                           : CLV_INTRA_OP_NEVER;
}

/* The tensor by which the way comes to a node, in bytes of a device at least; -1: by none. */
static int64_t bytes_on_way(const bounder *b, int32_t node)
{
    const clv_graph *g = b->s->types->graph;
    int32_t op = node == NO_END ? NONE : b->op_of[node];
    if (op == NONE || b->path->in[op] < 0)
        return NONE;
    clv_tensor t = clv_op_input(g, &g->ops[op], b->path->in[op]);
    return b->s->types->bytes[t.i] / b->s->mesh->n_devices;
}

/* What it takes at least to send something that is on the way through a stretch. */
static int64_t crossing_ns(const bounder *b, const clv_intra_op_part *part)
{
    int64_t bytes = bytes_on_way(b, part->end);
    for (int32_t i = 0; i < part->n_nodes; i++) {
        int64_t more = b->at.kept[part->node[i]] ? bytes_on_way(b, part->node[i]) : NONE;
        bytes = more != NONE && (bytes == NONE || more < bytes) ? more : bytes;
    }
    return bytes == NONE ? 0 : sent_ns(b, bytes);
}

/* What it takes by choice of the tensor that a stretch begins with to send it; *ret NULL: it begins
 * with none. */
static clv_status sent_by_choice(const bounder *b, int32_t i, int64_t **ret, clv_error *err)
{
    const clv_types *types = b->s->types;
    clv_tensor t = i > 0 ? b->tensor[i - 1] : CLV_NO_TENSOR;
    *ret = NULL;
    if (t.i < 0)
        return CLV_OK;
    int32_t node = b->end[i - 1];
    int64_t *ns = *ret = CLV_NEW_ARRAY(b->arena, int64_t, n_choices(b, node));
    if (!ns)
        return no_memory(err);
    for (int32_t c = 0; c < n_choices(b, node); c++)
        ns[c] = sent_ns(b, clv_part_bytes(b->s->mesh, &b->s->layout[node][c], &types->of[t.i],
                                          types->bytes[t.i]));
    return CLV_OK;
}

/* -- what a stretch takes -- */

/* Where its ends are apart. */
static clv_status find_apart(bounder *b, const clv_intra_op_part *part, const int64_t *sent,
                             stretch *ret, clv_error *err)
{
    int32_t n = n_choices(b, part->begin), m = n_choices(b, part->end);
    int64_t *way = NULL, crossing;
    bool whole;
    clv_shard_branches branches;
    if (sent)
        CLV_TRY(clv_shard_branches_find(b->s, part, sent, b->arena, &branches, err));
    CLV_TRY(find_way(b, part, &way, &whole, err));
    crossing = whole ? crossing_ns(b, part) : 0;
    for (int32_t k = NEXT; k < N_STEPS; k++) {
        int32_t parts = k == NEXT ? 2 : b->stages;
        ret->ns[k] = CLV_NEW_ARRAY(b->arena, int64_t, (int64_t)n * m);
        if (!ret->ns[k])
            return no_memory(err);
        for (int32_t x = 0; x < n; x++) {
            int64_t dealt = sent ? clv_shard_branches_ns(&branches, x, parts - 1) : 0;
            for (int64_t at = (int64_t)x * m; at < (int64_t)(x + 1) * m; at++) {
                int64_t share = (ret->ns[TOGETHER][at] + parts - 1) / parts;
                ret->ns[k][at] = most(most(capped(way[at] + crossing), share), dealt);
            }
        }
    }
    return CLV_OK;
}

static clv_status find_ns(bounder *b, const clv_intra_op_part *part, const int64_t *sent,
                          stretch *ret, clv_error *err)
{
    CLV_TRY(clv_intra_op_between(b->p, part, b->number, &b->work_left, b->arena, &ret->ns[TOGETHER],
                                 err));
    return ret->ns[TOGETHER] ? find_apart(b, part, sent, ret, err) : CLV_OK;
}

/* All that counts of a stretch: its ends, nodes and edges. Nodes that mean the same cost the same.
 */
static clv_status make_key(bounder *b, const clv_intra_op_part *part, const int64_t *sent,
                           clv_error *err)
{
    const int32_t ends[] = { part->begin, part->end };
    b->key.n = 0;
    clv_key_add(&b->key, bytes_on_way(b, part->end));
    clv_key_add(&b->key, sent != NULL);
    for (int32_t c = 0; sent && c < n_choices(b, part->begin); c++)
        clv_key_add(&b->key, sent[c]);
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
        clv_key_add(&b->key, b->at.kept[node] ? bytes_on_way(b, node) : NONE);
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

static clv_status find_stretch(bounder *b, int32_t i, const clv_intra_op_part *part,
                               const stretch **ret, clv_error *err)
{
    int32_t id;
    int64_t *sent;
    CLV_TRY(sent_by_choice(b, i, &sent, err));
    CLV_TRY(make_key(b, part, sent, err));
    CLV_TRY(clv_map_put_key(&b->known, b->key.at, (size_t)b->key.n * sizeof *b->key.at, b->n_known,
                            &id, err));
    if (id == b->n_known) {
        if (!CLV_PUSH_ROOM(b->arena, b->of, b->n_known, b->cap_known))
            return no_memory(err);
        b->of[b->n_known] = (stretch){ { NULL } };
        CLV_TRY(find_ns(b, part, sent, &b->of[b->n_known++], err));
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
        CLV_TRY(find_stretch(b, i, &part, &over, err));
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

static void list_ops(bounder *b)
{
    for (int32_t n = 0; n < b->p->n_nodes; n++)
        b->op_of[n] = NONE;
    for (int32_t i = 0; i < b->s->types->graph->n_ops; i++)
        if (b->s->node_of_op[i] != NONE)
            b->op_of[b->s->node_of_op[i]] = i;
}

static clv_status bound(bounder *b, clv_int128 *ret, clv_error *err)
{
    int32_t n = b->p->n_nodes;
    b->n_cuts = b->path->n_windows - 1;
    b->before_cut = CLV_NEW_ARRAY(b->arena, int32_t, b->n_cuts + 1);
    b->ends_at = CLV_NEW_ARRAY(b->arena, int32_t, b->n_cuts + 1);
    b->end = CLV_NEW_ARRAY(b->arena, int32_t, 2 * b->n_cuts);
    b->tensor = CLV_NEW_ARRAY(b->arena, clv_tensor, 2 * b->n_cuts);
    b->op_of = CLV_NEW_ARRAY(b->arena, int32_t, n);
    b->home = CLV_NEW_ARRAY(b->arena, int32_t, n);
    b->number = CLV_NEW_ARRAY(b->arena, int32_t, n);
    b->key.arena = b->arena;
    if (!b->before_cut || !b->ends_at || !b->end || !b->tensor || !b->op_of || !b->home ||
        !b->number)
        return no_memory(err);
    CLV_TRY(clv_map_init(&b->known, b->arena, 0, err));
    CLV_TRY(clv_shard_places_find(b->s, b->path, b->arena, &b->at, err));
    list_ops(b);
    find_link(b);
    CLV_TRY(find_stretches(b, err));
    return walk(b, ret, err);
}

clv_status clv_shard_pipeline_bound_ns(const clv_shard_problem *s, const clv_shard_path *path,
                                       const clv_pipeline_stages *stages, clv_arena *arena,
                                       clv_int128 *ret, clv_error *err)
{
    bounder b = { .s = s,
                  .p = s->problem,
                  .path = path,
                  .stages = stages->n,
                  .meshes = stages->meshes,
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
