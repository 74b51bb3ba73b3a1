#include "cost/shard_path_bound.h"

/* The path up to an operator: by its choice, the least time of all that is before it and itself. */
typedef struct {
    clv_shard_tables *t;
    clv_int128 *best, *next;   /* by choice */
    clv_int128 *into, *left;   /* by distinct layout: the least time in it, before and after */
    const clv_op_table *table; /* of the last operator; NULL: there is none to come from */
} walk;

static clv_int128 least_of(const clv_int128 *at, int32_t n)
{
    clv_int128 least = at[0];
    for (int32_t i = 1; i < n; i++)
        least = at[i] < least ? at[i] : least;
    return least;
}

/* next: what the path so far costs with t, which its last operator makes, brought to where each
 * choice of the table needs it. */
static clv_status extend_by_tensor(walk *w, clv_tensor t, const clv_op_table *table, int32_t k,
                                   clv_error *err)
{
    const clv_graph *g = w->t->of.types->graph;
    const clv_op_info *maker = clv_op_at(g, clv_tensor_at(g, t)->producer);
    const clv_layout_costs *costs;
    int32_t output = 0;
    while (clv_op_output(g, maker, output).i != t.i)
        output++;
    CLV_TRY(clv_layout_lists_costs(&w->t->lists, &w->t->of.types->of[t.i],
                                   w->table->out_list[output], table->in_list[k], &costs, err));
    const clv_layout_list *from = costs->from, *to = costs->to;
    for (int32_t i = 0; i < from->n_distinct; i++)
        w->left[i] = w->best[from->first[i]];
    for (int32_t c = 0; c < from->n; c++)
        if (w->best[c] < w->left[from->distinct[c]])
            w->left[from->distinct[c]] = w->best[c];
    for (int32_t j = 0; j < to->n_distinct; j++) {
        w->into[j] = w->left[0] + costs->ns[j];
        for (int32_t i = 1; i < from->n_distinct; i++) {
            clv_int128 ns = w->left[i] + costs->ns[i * to->n_distinct + j];
            w->into[j] = ns < w->into[j] ? ns : w->into[j];
        }
    }
    for (int32_t c = 0; c < to->n; c++)
        w->next[c] = w->into[to->distinct[c]] + table->ns[c];
    return CLV_OK;
}

/* Input k of the operator is how the path comes to it; below 0: it begins here. */
static clv_status extend_to(walk *w, clv_op op, int32_t k, clv_error *err)
{
    const clv_types *types = w->t->of.types;
    const clv_op_table *table;
    clv_tensor t =
        k < 0 ? CLV_NO_TENSOR : clv_op_input(types->graph, clv_op_at(types->graph, op), k);
    CLV_TRY(clv_shard_table_of(w->t, op, &table, err));
    if (t.i >= 0 && w->table && !clv_shard_is_known(types, t)) {
        CLV_TRY(extend_by_tensor(w, t, table, k, err));
    } else {
        clv_int128 before = w->table ? least_of(w->best, w->table->n) : 0;
        for (int32_t c = 0; c < table->n; c++)
            w->next[c] = before + table->ns[c];
    }
    clv_int128 *now = w->next;
    w->next = w->best;
    w->best = now;
    w->table = table;
    return CLV_OK;
}

/* What the operators of a window take at least, dealt out. */
static clv_status share_of(walk *w, const clv_path_window *window, int32_t stages, clv_int128 *ret,
                           clv_error *err)
{
    const clv_op_table *table;
    clv_int128 sum = 0;
    for (int32_t i = 0; i < window->n; i++) {
        clv_op op = { window->op[i] };
        if (!clv_shard_takes_part(w->t->of.types, op))
            continue;
        CLV_TRY(clv_shard_table_of(w->t, op, &table, err));
        sum += table->least_ns;
    }
    *ret = (sum + stages - 1) / stages;
    return CLV_OK;
}

/* When all is done, with what else lasts until then. */
static clv_int128 end_of(const walk *w, clv_int128 until)
{
    clv_int128 least = w->table ? least_of(w->best, w->table->n) : 0;
    return least > until ? least : until;
}

static clv_status walk_path(walk *w, const clv_shard_path *path, int32_t stages, clv_int128 *ret,
                            clv_error *err)
{
    const clv_types *types = w->t->of.types;
    const clv_path_window *window = path->window, *end = window + path->n_windows;
    clv_int128 base = 0, share = 0; /* when the window begins; what its operators take */
    for (int32_t i = 0; i < types->graph->n_ops; i++) {
        bool is_on = path->in[i] != CLV_PATH_OFF && clv_shard_takes_part(types, (clv_op){ i });
        if (is_on)
            CLV_TRY(extend_to(w, (clv_op){ i }, path->in[i], err));
        if (window == end || window->end != i)
            continue;
        CLV_TRY(share_of(w, window++, stages, &share, err));
        /* the cut that ends a window starts no sooner than the window's share is done */
        for (int32_t c = 0; w->table && c < w->table->n; c++) {
            clv_int128 done = base + share + (is_on ? w->table->ns[c] : 0);
            w->best[c] = w->best[c] < done ? done : w->best[c];
        }
        base = end_of(w, base + share);
    }
    share = 0;
    if (window < end)
        CLV_TRY(share_of(w, window, stages, &share, err));
    *ret = end_of(w, base + share);
    return CLV_OK;
}

clv_status clv_shard_path_bound_ns(clv_shard_tables *t, const clv_shard_path *path, int32_t stages,
                                   clv_int128 *ret, clv_error *err)
{
    walk w = { .t = t };
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(t->arena), 0);
    if (!scratch)
        return clv_fail_nomem(err, "the longest way");
    w.best = CLV_NEW_ARRAY(scratch, clv_int128, CLV_CHOICES_MAX);
    w.next = CLV_NEW_ARRAY(scratch, clv_int128, CLV_CHOICES_MAX);
    w.left = CLV_NEW_ARRAY(scratch, clv_int128, CLV_CHOICES_MAX);
    w.into = CLV_NEW_ARRAY(scratch, clv_int128, CLV_CHOICES_MAX);
    clv_status status = w.best && w.next && w.left && w.into
                            ? walk_path(&w, path, stages, ret, err)
                            : clv_fail_nomem(err, "the longest way");
    clv_arena_free(scratch);
    return status;
}
