#include "cost/shard_pipeline_bound.h"

#include "base/key.h"
#include "base/map.h"
#include "cost/shard_branches.h"
#include "cost/shard_cost.h"
#include "cost/shard_stretches.h"
#include "problem/intra_op_between.h"

#define WHAT   "what a pipeline takes"
#define NONE   (-1)
#define NO_END CLV_INTRA_OP_NO_END
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
    clv_shard_stretches l;
    int32_t *op_of;     /* by node; NONE */
    int64_t latency_ns; /* of the fastest link between two stages */
    double bytes_per_s; /* 0: no time is known */
    int32_t *number;    /* scratch, by node */
    clv_map known;      /* of stretches that are alike */
    stretch *of;        /* as many */
    int32_t n_known, cap_known;
    clv_key key;
    int64_t **sent;  /* by stretch: to send its begin, by choice; NULL: it is no tensor */
    int64_t *behind; /* by node of the stretch at hand: behind_ns() */
    int64_t **until; /* by end: by stage and choice, the least until it is done */
    int32_t *over;   /* by stretch: of those that are alike */
    int32_t last_stage;
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
    int32_t edge = b->l.at.edge[node], before = b->l.at.before[node];
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
static clv_status begin_anywhere(bounder *b, const clv_intra_op_part *part, int32_t node,
                                 const int64_t *from, int64_t **ret, clv_error *err)
{
    int32_t n_begin = n_choices(b, part->begin), m = n_choices(b, part->end);
    int32_t n_node = node == NONE ? 0 : n_choices(b, node);
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
    while (node != NONE && node != part->begin && b->l.at.before[node] != NONE &&
           b->l.at.edge[node] != NONE) {
        CLV_TRY(step_back(b, node, m, ns, &ns, err));
        node = b->l.at.before[node];
        if (node != part->begin)
            add_cost(b, node, m, ns);
    }
    *ret = ns;
    *ret_whole = false;
    if (node != NONE && node == part->begin && ns) {
        *ret_whole = part->end != NO_END;
        return CLV_OK;
    }
    return begin_anywhere(b, part, node, ns, ret, err);
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

/* What is sent of a tensor at least, in bytes of a device; -1: nothing, as no unit takes kernels
 * apart (kernel_costs.h). */
static int64_t bytes_of(const bounder *b, clv_tensor t)
{
    if (clv_stays_inside(b->s->types, t))
        return NONE;
    return b->s->types->bytes[t.i] / b->s->mesh->n_devices;
}

/* Of the tensor by which the way comes to a node. */
static int64_t bytes_on_way(const bounder *b, int32_t node)
{
    const clv_graph *g = b->s->types->graph;
    int32_t op = node == NO_END ? NONE : b->op_of[node];
    if (op == NONE || b->path->in[op] < 0)
        return NONE;
    return bytes_of(b, clv_op_input(g, &g->ops[op], b->path->in[op]));
}

/* What it takes at least to send something that is on the way through a stretch. */
static int64_t crossing_ns(const bounder *b, const clv_intra_op_part *part)
{
    int64_t bytes = bytes_on_way(b, part->end);
    for (int32_t i = 0; i < part->n_nodes; i++) {
        int64_t more = b->l.at.kept[part->node[i]] ? bytes_on_way(b, part->node[i]) : NONE;
        bytes = more != NONE && (bytes == NONE || more < bytes) ? more : bytes;
    }
    return bytes == NONE ? 0 : sent_ns(b, bytes);
}

/* What it takes by choice of the tensor that a stretch begins with to send it; *ret NULL: it begins
 * with none. */
static clv_status sent_by_choice(const bounder *b, int32_t i, int64_t **ret, clv_error *err)
{
    const clv_types *types = b->s->types;
    clv_tensor t = i > 0 ? b->l.tensor[i - 1] : CLV_NO_TENSOR;
    *ret = NULL;
    if (t.i < 0)
        return CLV_OK;
    int32_t node = b->l.end[i - 1];
    int64_t *ns = *ret = CLV_NEW_ARRAY(b->arena, int64_t, n_choices(b, node));
    if (!ns)
        return no_memory(err);
    for (int32_t c = 0; c < n_choices(b, node); c++)
        ns[c] = sent_ns(b, clv_part_bytes(b->s->mesh, &b->s->layout[node][c], &types->of[t.i],
                                          types->bytes[t.i]));
    return CLV_OK;
}

/* By node: what it takes at least to send something on a way from what an operator makes to the end
 * of the stretch; 0 where no way is known. */
static int64_t behind_ns(const bounder *b, const clv_intra_op_part *part, int32_t node)
{
    const clv_graph *g = b->s->types->graph;
    int64_t bytes = NONE;
    int32_t home = b->l.home[node], steps = 0;
    for (; node != part->end && b->l.home[node] == home && steps <= part->n_nodes; steps++) {
        const clv_op_info *op = &g->ops[b->op_of[node]];
        clv_tensor t = op->n_out == 1 ? clv_op_output(g, op, 0) : CLV_NO_TENSOR;
        const clv_tensor_info *made = t.i < 0 ? NULL : clv_tensor_at(g, t);
        if (!made || made->n_readers == 0)
            return 0;
        int64_t more = bytes_of(b, t);
        bytes = more != NONE && (bytes == NONE || more < bytes) ? more : bytes;
        node = b->s->node_of_op[g->readers_of[made->first_reader].i];
        if (node < 0)
            return 0;
    }
    return part->end != NO_END && node == part->end && bytes != NONE ? sent_ns(b, bytes) : 0;
}

/* -- what a stretch takes -- */

/* Where its ends are apart. */
static clv_status find_apart(bounder *b, const clv_intra_op_part *part, const int64_t *sent,
                             stretch *ret, clv_error *err)
{
    int32_t n = n_choices(b, part->begin), m = n_choices(b, part->end);
    int64_t *way = NULL, crossing;
    bool whole;
    clv_shard_branches branches = { .sent_ns = sent };
    if (sent)
        CLV_TRY(clv_shard_branches_find(b->s, part, b->behind, b->arena, &branches, err));
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
    clv_intra_op_whole of = { b->p, b->number, b->work_left };
    CLV_TRY(clv_intra_op_between(&of, part, b->arena, &ret->ns[TOGETHER], err));
    b->work_left = of.work_left;
    return ret->ns[TOGETHER] ? find_apart(b, part, sent, ret, err) : CLV_OK;
}

/* All that counts of a stretch: its ends, nodes and edges, and what is behind them, which stays in
 * b->behind. Nodes that mean the same cost the same. */
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
        clv_key_add(&b->key, b->l.at.kept[node]);
        clv_key_add(&b->key, b->l.at.kept[node] ? bytes_on_way(b, node) : NONE);
        b->behind[node] = sent && b->op_of[node] != NONE ? behind_ns(b, part, node) : NONE;
        clv_key_add(&b->key, b->behind[node]);
    }
    for (int32_t i = 0; i < part->n_edges; i++) {
        const int32_t *node = b->p->end + b->p->first_end[part->edge[i]];
        clv_key_add(&b->key, b->number[node[0]]);
        clv_key_add(&b->key, b->number[node[1]]);
        clv_key_add(&b->key, b->p->matrix_of[part->edge[i]]);
        clv_key_add(&b->key, b->l.at.edge[node[0]] == part->edge[i] ||
                                 b->l.at.edge[node[1]] == part->edge[i]);
    }
    return b->key.failed ? no_memory(err) : CLV_OK;
}

static clv_status find_stretch(bounder *b, int32_t i, const clv_intra_op_part *part, int32_t *ret,
                               clv_error *err)
{
    int32_t id;
    CLV_TRY(sent_by_choice(b, i, &b->sent[i], err));
    const int64_t *sent = b->sent[i];
    CLV_TRY(make_key(b, part, sent, err));
    CLV_TRY(clv_map_put_key(&b->known, b->key.at, (size_t)b->key.n * sizeof *b->key.at, b->n_known,
                            &id, err));
    if (id == b->n_known) {
        if (!CLV_PUSH_ROOM(b->arena, b->of, b->n_known, b->cap_known))
            return no_memory(err);
        b->of[b->n_known] = (stretch){ { NULL } };
        CLV_TRY(find_ns(b, part, sent, &b->of[b->n_known++], err));
    }
    *ret = id;
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
    b->until = CLV_NEW_ARRAY(b->arena, int64_t *, b->l.n_ends + 2);
    b->over = CLV_NEW_ARRAY(b->arena, int32_t, b->l.n_ends + 1);
    if (!b->until || !b->over)
        return no_memory(err);
    b->until[0] = CLV_NEW_ARRAY(b->arena, int64_t, b->stages);
    if (!b->until[0])
        return no_memory(err);
    for (int32_t i = 0; i <= b->l.n_ends; i++) {
        const clv_intra_op_part part = clv_shard_stretch_part(&b->l, i);
        CLV_TRY(find_stretch(b, i, &part, &b->over[i], err));
        const stretch *over = &b->of[b->over[i]];
        if (!over->ns[TOGETHER] || b->work_left <= 0)
            return CLV_OK;
        b->until[i + 1] =
            CLV_NEW_ARRAY(b->arena, int64_t, (int64_t)b->stages * n_choices(b, part.end));
        if (!b->until[i + 1])
            return no_memory(err);
        go_on(b, &part, over, b->until[i], b->until[i + 1]);
    }
    const int64_t *done = b->until[b->l.n_ends + 1];
    for (int32_t s = 1; s < b->stages; s++)
        b->last_stage = done[s] < done[b->last_stage] ? s : b->last_stage;
    *ret = done[b->last_stage];
    return CLV_OK;
}

/* How far apart the ends of a stretch are in what leads to a stage and choice of its second, which
 * become those of its first. */
static int32_t step_to(const bounder *b, int32_t i, int32_t *io_stage, int32_t *io_choice)
{
    const clv_intra_op_part part = clv_shard_stretch_part(&b->l, i);
    const stretch *over = &b->of[b->over[i]];
    int32_t n = n_choices(b, part.begin), m = n_choices(b, part.end), stage = *io_stage, best = 0;
    int64_t least_ns = INT64_MAX;
    for (int32_t k = 0, to = *io_choice; k < N_STEPS && k <= stage; k++)
        for (int32_t x = 0; x < n; x++) {
            int64_t ns =
                b->until[i][(int64_t)(stage - k) * n + x] + over->ns[k][(int64_t)x * m + to];
            if (ns >= least_ns)
                continue;
            least_ns = ns;
            best = k;
            *io_stage = stage - k;
            *io_choice = x;
        }
    return best;
}

static clv_status copy_stretch(const bounder *b, int32_t i, int32_t step, clv_arena *arena,
                               clv_parted_stretch *ret, clv_error *err)
{
    const clv_intra_op_part part = clv_shard_stretch_part(&b->l, i);
    int32_t *node = CLV_NEW_ARRAY(arena, int32_t, part.n_nodes);
    int32_t *edge = CLV_NEW_ARRAY(arena, int32_t, part.n_edges);
    const int64_t *sent = b->sent[i];
    int64_t *sent_copy = sent ? CLV_NEW_ARRAY(arena, int64_t, n_choices(b, part.begin)) : NULL;
    if (!node || !edge || (sent && !sent_copy))
        return no_memory(err);
    for (int32_t k = 0; k < part.n_nodes; k++)
        node[k] = part.node[k];
    for (int32_t k = 0; k < part.n_edges; k++)
        edge[k] = part.edge[k];
    for (int32_t c = 0; sent && c < n_choices(b, part.begin); c++)
        sent_copy[c] = sent[c];
    *ret = (clv_parted_stretch){ step == NEXT ? 2 : b->stages, part, sent_copy };
    ret->part.node = node;
    ret->part.edge = edge;
    return CLV_OK;
}

/* From the end back. */
static clv_status list_parted(const bounder *b, clv_arena *arena, clv_parted_stretches *ret,
                              clv_error *err)
{
    int32_t stage = b->last_stage, choice = 0;
    clv_parted_stretch *at = CLV_NEW_ARRAY(arena, clv_parted_stretch, b->stages);
    if (!at)
        return no_memory(err);
    ret->at = at;
    ret->saved = b->until[b->l.n_ends + 1][0] - b->until[b->l.n_ends + 1][stage];
    for (int32_t i = b->l.n_ends; i >= 0; i--) {
        int32_t step = step_to(b, i, &stage, &choice);
        if (step != TOGETHER)
            CLV_TRY(copy_stretch(b, i, step, arena, &at[ret->n++], err));
    }
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
    CLV_TRY(clv_shard_stretches_find(b->s, b->path, b->arena, &b->l, err));
    CLV_TRY(clv_map_init(&b->known, b->arena, 0, err));
    b->number = CLV_NEW_ARRAY(b->arena, int32_t, n);
    b->op_of = CLV_NEW_ARRAY(b->arena, int32_t, n);
    b->behind = CLV_NEW_ARRAY(b->arena, int64_t, n);
    b->sent = CLV_NEW_ARRAY(b->arena, int64_t *, b->l.n_ends + 1);
    b->key.arena = b->arena;
    if (!b->number || !b->op_of || !b->behind || !b->sent)
        return no_memory(err);
    list_ops(b);
    find_link(b);
    return walk(b, ret, err);
}

clv_status clv_shard_pipeline_bound_ns(const clv_shard_problem *s, const clv_shard_path *path,
                                       const clv_pipeline_stages *stages, clv_arena *arena,
                                       clv_pipeline_bound *ret, clv_error *err)
{
    bounder b = { .s = s,
                  .p = s->problem,
                  .path = path,
                  .stages = stages->n,
                  .meshes = stages->meshes,
                  .work_left = WORK_MAX,
                  .arena = clv_arena_new(clv_arena_alloc(arena), 0) };
    *ret = (clv_pipeline_bound){ .ns = 0 };
    if (path->n_windows == 0)
        return clv_arena_free(b.arena), CLV_OK;
    if (!b.arena)
        return no_memory(err);
    clv_status status = bound(&b, &ret->ns, err);
    if (status == CLV_OK && ret->ns > 0)
        status = list_parted(&b, arena, &ret->parted, err);
    clv_arena_free(b.arena);
    return status;
}
