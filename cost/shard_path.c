#include "cost/shard_path.h"

#include "cost/op_time.h"

#define NONE (-1)

typedef struct {
    const clv_types *types;
    const clv_graph *g;
    int32_t n;
    int64_t *ns;    /* by operator, whole */
    int32_t *input; /* by operator: which one ends last */
    int32_t last;   /* operator of the path */
    int32_t *place; /* by operator: along the path; NONE */
    int32_t n_path;
    int32_t *after, *before; /* by operator: the last place that it waits for, NONE; the first that
                                waits for it, n_path: none does */
    int32_t *cuts;           /* by place: cuts before it; n_path + 1 */
    clv_path_window *window;
    int32_t n_windows;
    bool *beside; /* by operator */
    int32_t n_beside;
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

static int32_t before_on_path(const finder *f, int32_t op)
{
    return f->input[op] == NONE ? NONE : producer_of(f->types, op, f->input[op]);
}

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
    for (int32_t i = f->last; i != NONE; f->n_path++)
        i = before_on_path(f, i);
    for (int32_t i = f->last, place = f->n_path; i != NONE; i = before_on_path(f, i))
        f->place[i] = --place;
}

/* -- beside the path -- */

/* Between which places an operator runs, in a pass each way: operators are in order. */
static void find_places(finder *f)
{
    for (int32_t i = 0; i < f->n; i++) {
        f->after[i] = NONE;
        f->before[i] = f->n_path;
        for (int32_t k = 0; k < f->g->ops[i].n_in; k++) {
            int32_t p = producer_of(f->types, i, k);
            int32_t after = p == NONE ? NONE : f->place[p] == NONE ? f->after[p] : f->place[p];
            f->after[i] = after > f->after[i] ? after : f->after[i];
        }
    }
    for (int32_t i = f->n - 1; i >= 0; i--)
        for (int32_t k = 0; k < f->g->ops[i].n_in; k++) {
            int32_t p = producer_of(f->types, i, k);
            int32_t before = f->place[i] == NONE ? f->before[i] : f->place[i];
            if (p != NONE && before < f->before[p])
                f->before[p] = before;
        }
}

/* -- cuts -- */

/* Does it run between two operators of the path, no more than so many places apart? */
static bool is_beside(const finder *f, int32_t i, int32_t most)
{
    return f->place[i] == NONE && f->after[i] != NONE && f->before[i] < f->n_path &&
           f->before[i] - f->after[i] <= most;
}

/* Operators of the path beside which none of those runs; not its first, as others may run beside
 * it, nor its last. */
static void find_cuts(finder *f, int32_t most)
{
    int32_t *beside = f->cuts, n = 0; /* in its place: changes of how many run beside */
    for (int32_t place = 0; place <= f->n_path; place++)
        beside[place] = 0;
    for (int32_t i = 0; i < f->n; i++)
        if (is_beside(f, i, most)) {
            beside[f->after[i] + 1]++;
            beside[f->before[i]]--;
        }
    for (int32_t place = 0, now = 0; place <= f->n_path; place++) {
        now += beside[place];
        f->cuts[place] = n;
        n += now == 0 && place > 0 && place + 1 < f->n_path;
    }
}

static bool is_cut(const finder *f, int32_t place)
{
    return place < f->n_path && f->cuts[place + 1] > f->cuts[place];
}

/* The window between two cuts that an operator is in whatever it waits for; NONE: it may be in
 * several, or is a cut. */
static int32_t window_of(const finder *f, int32_t i)
{
    int32_t place = f->place[i], n = f->cuts[f->n_path];
    if (place != NONE)
        return is_cut(f, place) ? NONE : f->cuts[place];
    int32_t first = f->after[i] == NONE ? 0 : f->cuts[f->after[i] + 1];
    int32_t last = f->before[i] == f->n_path ? n : f->cuts[f->before[i]];
    bool waits = f->after[i] != NONE || last == 0, is_read = f->before[i] < f->n_path || first == n;
    return first == last && waits && is_read ? first : NONE;
}

/* -- windows -- */

/* What lies beside the path in windows, but for the one with most: as two stages are bound. */
static int64_t weigh_windows(const finder *f, int64_t *ns)
{
    int64_t all = 0, most = 0;
    for (int32_t w = 0; w <= f->cuts[f->n_path]; w++)
        ns[w] = 0;
    for (int32_t i = 0; i < f->n; i++) {
        int32_t w = f->place[i] == NONE ? window_of(f, i) : NONE;
        if (w == NONE)
            continue;
        ns[w] = sum(ns[w], f->ns[i]);
        all = sum(all, f->ns[i]);
        most = ns[w] > most ? ns[w] : most;
    }
    return all - most;
}

/* Operators that run beside a long stretch of the path, as what a decoder makes of the encoder's
 * result, would leave no cut there: for several lengths up to which they count. */
static clv_status choose_cuts(finder *f, clv_error *err)
{
    static const int32_t lengths[] = { INT32_MAX, 256, 64, 16 };
    int64_t *ns = CLV_NEW_ARRAY(f->arena, int64_t, f->n_path + 1), best = NONE;
    int32_t best_length = INT32_MAX;
    if (!ns)
        return clv_fail_nomem(err, "the longest way");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        find_cuts(f, lengths[i]);
        int64_t weight = weigh_windows(f, ns);
        if (weight <= best)
            continue;
        best = weight;
        best_length = lengths[i];
    }
    find_cuts(f, best_length);
    return CLV_OK;
}

/* Without a cut all of the model is one window. */
static clv_status list_windows(finder *f, clv_error *err)
{
    int32_t n = f->cuts[f->n_path], *next = CLV_NEW_ARRAY(f->arena, int32_t, n + 2);
    int32_t *op = CLV_NEW_ARRAY(f->arena, int32_t, f->n);
    f->window = CLV_NEW_ARRAY(f->arena, clv_path_window, n + 1);
    if (!next || !op || !f->window)
        return clv_fail_nomem(err, "the longest way");
    f->n_windows = n + 1;
    for (int32_t w = 0; w <= n; w++)
        f->window[w] = (clv_path_window){ .begin = NONE, .end = NONE };
    for (int32_t i = 0; i < f->n; i++) {
        int32_t w = n == 0 ? 0 : window_of(f, i);
        if (w != NONE) {
            f->window[w].n++;
        } else if (f->place[i] != NONE) {
            f->window[f->cuts[f->place[i]]].end = i;
            f->window[f->cuts[f->place[i]] + 1].begin = i;
        }
    }
    for (int32_t w = 0; w <= n; w++) {
        f->window[w].op = op + next[w];
        next[w + 1] = next[w] + f->window[w].n;
    }
    for (int32_t i = 0; i < f->n; i++) {
        int32_t w = n == 0 ? 0 : window_of(f, i);
        if (w != NONE)
            op[next[w]++] = i;
        f->beside[i] = w == NONE && is_beside(f, i, INT32_MAX);
        f->n_beside += f->beside[i];
    }
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
                 .place = CLV_NEW_ARRAY(arena, int32_t, n),
                 .after = CLV_NEW_ARRAY(arena, int32_t, n),
                 .before = CLV_NEW_ARRAY(arena, int32_t, n),
                 .cuts = CLV_NEW_ARRAY(arena, int32_t, n + 1),
                 .beside = CLV_NEW_ARRAY(arena, bool, n) };
    clv_shard_path *path = CLV_NEW(arena, clv_shard_path);
    int64_t *end = CLV_NEW_ARRAY(arena, int64_t, n);
    if (!f.ns || !f.input || !f.place || !f.after || !f.before || !f.cuts || !f.beside || !path ||
        !end)
        return clv_fail_nomem(err, "the longest way");
    *ret = path;
    if (n == 0)
        return CLV_OK;
    for (int32_t i = 0; i < f.n; i++) {
        const clv_op_cost *c = &costs->of[i];
        f.ns[i] = clv_op_time_ns(c, kind, clv_op_workspace(c->workspace_bytes, kind, 0));
        f.place[i] = NONE;
    }
    find_path(&f, end);
    find_places(&f);
    CLV_TRY(choose_cuts(&f, err));
    CLV_TRY(list_windows(&f, err));
    for (int32_t i = 0; i < f.n; i++)
        if (f.place[i] == NONE)
            f.input[i] = CLV_PATH_OFF;
    *path = (clv_shard_path){ f.input, f.window, f.n_windows, f.beside, f.n_beside };
    return CLV_OK;
}
