#include "cost/shard_path.h"

#include "cost/op_time.h"

#define NONE (-1)

typedef struct {
    const clv_types *types;
    const clv_graph *g;
    int32_t n;
    int64_t *ns;    /* by operator, whole */
    int32_t *input; /* by operator: which one ends last */
    bool *on;       /* by operator: on the path */
    int32_t first, last;
    int32_t *inner, n_inner; /* behind the first and before the last, in order, with both */
    int32_t *place;          /* by operator: in inner; NONE */
    bool *cut;               /* by place */
    clv_path_window *window;
    int32_t n_windows;
    clv_arena *arena;
} finder;

static int64_t sum(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

/* The operator that an input waits for; NONE: it waits for nothing. */
static int32_t producer_of(const clv_types *types, int32_t op, int32_t k)
{
    const clv_graph *g = types->graph;
    clv_tensor t = clv_op_input(g, &g->ops[op], k);
    if (t.i < 0 || clv_tensor_at(g, t)->role != CLV_TENSOR_RESULT ||
        (types->value && types->value[t.i]))
        return NONE;
    return clv_tensor_at(g, t)->producer.i;
}

/* -- the path -- */

static void find_path(finder *f, int64_t *end)
{
    f->last = 0;
    for (int32_t i = 0; i < f->n; i++) {
        int64_t latest = NONE;
        int32_t from = NONE;
        f->input[i] = NONE;
        for (int32_t k = 0; k < clv_op_n_explicit(&f->g->ops[i]); k++) {
            int32_t p = producer_of(f->types, i, k);
            if (p == NONE || end[p] < latest || (end[p] == latest && p < from))
                continue; /* of equal ends the later operator: so the path goes by the cuts */
            latest = end[p];
            from = p;
            f->input[i] = k;
        }
        end[i] = sum(latest > 0 ? latest : 0, f->ns[i]);
        f->last = end[i] > end[f->last] ? i : f->last;
    }
    for (int32_t i = f->last; i != NONE;) {
        f->on[i] = true;
        f->first = i;
        i = f->input[i] == NONE ? NONE : producer_of(f->types, i, f->input[i]);
    }
}

/* -- cuts -- */

/* Marks what waits for an operator, in one pass: operators are in order. */
static void mark_behind(const finder *f, int32_t start, bool *mark)
{
    mark[start] = true;
    for (int32_t i = start + 1; i < f->n; i++)
        for (int32_t k = 0; k < f->g->ops[i].n_in && !mark[i]; k++) {
            int32_t p = producer_of(f->types, i, k);
            mark[i] = p != NONE && mark[p];
        }
}

/* The other way. */
static void mark_before(const finder *f, int32_t start, bool *mark)
{
    mark[start] = true;
    for (int32_t i = start; i >= 0; i--)
        for (int32_t k = 0; mark[i] && k < f->g->ops[i].n_in; k++) {
            int32_t p = producer_of(f->types, i, k);
            if (p != NONE)
                mark[p] = true;
        }
}

/* Of what lies between first and last, an operator is a cut if all before it in order is waited
 * for by it, so has a reader no later, and all behind it waits for it, so reads nothing but what
 * comes from it or later, at least by one input. */
static void find_cuts(finder *f, int32_t *latest_read, int32_t *first_reader)
{
    int32_t n = f->n_inner;
    for (int32_t v = 0; v < n; v++) {
        latest_read[v] = NONE;
        first_reader[v] = n;
    }
    for (int32_t v = 0; v < n; v++)
        for (int32_t k = 0; k < f->g->ops[f->inner[v]].n_in; k++) {
            int32_t p = producer_of(f->types, f->inner[v], k);
            int32_t u = p == NONE ? NONE : f->place[p];
            if (u == NONE)
                continue;
            latest_read[v] = u > latest_read[v] ? u : latest_read[v];
            first_reader[u] = v < first_reader[u] ? v : first_reader[u];
        }
    for (int32_t v = n - 1, least = n; v >= 0; v--) {
        f->cut[v] = least >= v;
        least = latest_read[v] < least ? latest_read[v] : least;
    }
    for (int32_t v = 0, most = NONE; v < n; v++) {
        f->cut[v] = f->cut[v] && most <= v;
        most = first_reader[v] > most ? first_reader[v] : most;
    }
}

static clv_status list_inner(finder *f, clv_error *err)
{
    bool *behind = CLV_NEW_ARRAY(f->arena, bool, f->n);
    bool *before = CLV_NEW_ARRAY(f->arena, bool, f->n);
    int32_t *latest_read = CLV_NEW_ARRAY(f->arena, int32_t, f->n);
    int32_t *first_reader = CLV_NEW_ARRAY(f->arena, int32_t, f->n);
    f->inner = CLV_NEW_ARRAY(f->arena, int32_t, f->n);
    f->place = CLV_NEW_ARRAY(f->arena, int32_t, f->n);
    f->cut = CLV_NEW_ARRAY(f->arena, bool, f->n);
    if (!behind || !before || !latest_read || !first_reader || !f->inner || !f->place || !f->cut)
        return clv_fail_nomem(err, "the longest way");
    mark_behind(f, f->first, behind);
    mark_before(f, f->last, before);
    for (int32_t i = 0; i < f->n; i++) {
        bool is_inner = behind[i] && before[i];
        f->place[i] = is_inner ? f->n_inner : NONE;
        if (is_inner)
            f->inner[f->n_inner++] = i;
    }
    find_cuts(f, latest_read, first_reader);
    return CLV_OK;
}

/* -- windows -- */

static void add_window(finder *f, int32_t begin, int32_t end, const int32_t *op, int32_t n)
{
    f->window[f->n_windows++] = (clv_path_window){ begin, end, op, n };
}

/* Before the first cut, and behind the last, with all that it waits for or that waits for it. */
static clv_status add_end(finder *f, int32_t cut, bool is_last, clv_error *err)
{
    bool *mark = CLV_NEW_ARRAY(f->arena, bool, f->n);
    int32_t *op = CLV_NEW_ARRAY(f->arena, int32_t, f->n), n = 0;
    if (!mark || !op)
        return clv_fail_nomem(err, "the longest way");
    if (is_last)
        mark_behind(f, cut, mark);
    else
        mark_before(f, cut, mark);
    for (int32_t i = 0; i < f->n; i++)
        if (mark[i] && i != cut)
            op[n++] = i;
    add_window(f, is_last ? cut : NONE, is_last ? NONE : cut, op, n);
    return CLV_OK;
}

/* The path's own first operator is no cut, as others may run beside it; nor is its last. Without a
 * cut all of the model is one window. */
static clv_status find_windows(finder *f, clv_error *err)
{
    int32_t before = NONE;
    f->window = CLV_NEW_ARRAY(f->arena, clv_path_window, f->n_inner + 1);
    if (!f->window)
        return clv_fail_nomem(err, "the longest way");
    for (int32_t v = 1; v + 1 < f->n_inner; v++) {
        if (!f->cut[v] || !f->on[f->inner[v]])
            continue;
        if (before == NONE)
            CLV_TRY(add_end(f, f->inner[v], false, err));
        else
            add_window(f, f->inner[before], f->inner[v], f->inner + before + 1, v - before - 1);
        before = v;
    }
    if (before != NONE)
        return add_end(f, f->inner[before], true, err);
    int32_t *op = CLV_NEW_ARRAY(f->arena, int32_t, f->n);
    if (!op)
        return clv_fail_nomem(err, "the longest way");
    for (int32_t i = 0; i < f->n; i++)
        op[i] = i;
    add_window(f, NONE, NONE, op, f->n);
    return CLV_OK;
}

/* -- all -- */

clv_status clv_shard_path_find(const clv_costs *costs, const clv_device_kind *kind,
                               clv_arena *arena, const clv_shard_path **ret, clv_error *err)
{
    int32_t n = costs->graph->n_ops;
    finder f = { .types = costs->types,
                 .g = costs->graph,
                 .n = n,
                 .arena = arena,
                 .ns = CLV_NEW_ARRAY(arena, int64_t, n),
                 .input = CLV_NEW_ARRAY(arena, int32_t, n),
                 .on = CLV_NEW_ARRAY(arena, bool, n) };
    clv_shard_path *path = CLV_NEW(arena, clv_shard_path);
    int64_t *end = CLV_NEW_ARRAY(arena, int64_t, n);
    if (!f.ns || !f.input || !f.on || !path || !end)
        return clv_fail_nomem(err, "the longest way");
    *ret = path;
    if (n == 0)
        return CLV_OK;
    for (int32_t i = 0; i < f.n; i++) {
        const clv_op_cost *c = &costs->of[i];
        f.ns[i] = clv_op_time_ns(c, kind, clv_op_workspace(c, kind, kind->workspace_proportion));
    }
    find_path(&f, end);
    CLV_TRY(list_inner(&f, err));
    CLV_TRY(find_windows(&f, err));
    for (int32_t i = 0; i < f.n; i++)
        if (!f.on[i])
            f.input[i] = CLV_PATH_OFF;
    *path = (clv_shard_path){ f.input, f.window, f.n_windows };
    return CLV_OK;
}
