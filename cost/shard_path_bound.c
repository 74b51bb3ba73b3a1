#include "cost/shard_path_bound.h"

#include <stdlib.h>

#include "base/compare.h"

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

/* What operators of a window take at least: all, or those that are not on the path. */
static clv_status sum_of(walk *w, const clv_shard_path *path, int32_t window, bool all,
                         clv_int128 *ret, clv_error *err)
{
    const clv_path_window *at = &path->window[window];
    const clv_op_table *table;
    *ret = 0;
    for (int32_t i = 0; i < at->n; i++) {
        clv_op op = { at->op[i] };
        if ((!all && path->in[op.i] != CLV_PATH_OFF) || !clv_shard_takes_part(w->t->of.types, op))
            continue;
        CLV_TRY(clv_shard_table_of(w->t, op, &table, err));
        *ret += table->least_ns;
    }
    return CLV_OK;
}

/* When all is done, with what else lasts until then. */
static clv_int128 end_of(const walk *w, clv_int128 until)
{
    clv_int128 least = w->table ? least_of(w->best, w->table->n) : 0;
    return least > until ? least : until;
}

/* Each window lasts as long as the way through it, and as its operators dealt out to the stages:
 * the cut that ends it starts no sooner. stages 0: the way alone. */
static clv_status walk_path(walk *w, const clv_shard_path *path, int32_t stages, clv_int128 *ret,
                            clv_error *err)
{
    const clv_types *types = w->t->of.types;
    clv_int128 base = 0, share = 0; /* when the window begins; what its operators take */
    int32_t window = 0, n_windows = stages > 0 ? path->n_windows : 0;
    w->table = NULL;
    for (int32_t i = 0; i < types->graph->n_ops; i++) {
        if (path->in[i] == CLV_PATH_OFF || !clv_shard_takes_part(types, (clv_op){ i }))
            continue;
        CLV_TRY(extend_to(w, (clv_op){ i }, path->in[i], err));
        if (window == n_windows || path->window[window].end != i)
            continue;
        CLV_TRY(sum_of(w, path, window++, true, &share, err));
        base += (share + stages - 1) / stages;
        for (int32_t c = 0; c < w->table->n; c++) {
            clv_int128 done = base + w->table->ns[c];
            w->best[c] = w->best[c] < done ? done : w->best[c];
        }
        base = end_of(w, base);
    }
    share = 0;
    if (window < n_windows)
        CLV_TRY(sum_of(w, path, window, true, &share, err));
    *ret = end_of(w, stages > 0 ? base + (share + stages - 1) / stages : 0);
    return CLV_OK;
}

/* By window, what is beside the way; *ret_any: something is. */
static clv_status find_beside(walk *w, const clv_shard_path *path, clv_int128 *beside,
                              bool *ret_any, clv_error *err)
{
    *ret_any = false;
    for (int32_t i = 0; i < path->n_windows; i++) {
        CLV_TRY(sum_of(w, path, i, false, &beside[i], err));
        *ret_any = *ret_any || beside[i] > 0;
    }
    return CLV_OK;
}

/* The way alone, and in each window that is not parted what is beside the way: one stage runs
 * it all. The least is where as many windows are parted as may be, those with the most beside.
 * Where nothing is beside it, the way is no shorter than what it is dealt out to stages. */
static clv_status walk_both(walk *w, const clv_shard_path *path, int32_t stages, clv_arena *scratch,
                            clv_int128 *ret, clv_error *err)
{
    clv_int128 *beside = CLV_NEW_ARRAY(scratch, clv_int128, path->n_windows), dealt = 0;
    bool any;
    w->best = CLV_NEW_ARRAY(scratch, clv_int128, CLV_CHOICES_MAX);
    w->next = CLV_NEW_ARRAY(scratch, clv_int128, CLV_CHOICES_MAX);
    w->left = CLV_NEW_ARRAY(scratch, clv_int128, CLV_CHOICES_MAX);
    w->into = CLV_NEW_ARRAY(scratch, clv_int128, CLV_CHOICES_MAX);
    if (!beside || !w->best || !w->next || !w->left || !w->into)
        return clv_fail_nomem(err, "the longest way");
    CLV_TRY(find_beside(w, path, beside, &any, err));
    if (any)
        CLV_TRY(walk_path(w, path, stages, &dealt, err));
    CLV_TRY(walk_path(w, path, 0, ret, err));
    qsort(beside, (size_t)path->n_windows, sizeof *beside, clv_compare_int128_down);
    for (int32_t i = stages - 1; i < path->n_windows; i++)
        *ret += beside[i];
    *ret = dealt > *ret ? dealt : *ret;
    return CLV_OK;
}

clv_status clv_shard_path_bound_ns(clv_shard_tables *t, const clv_shard_path *path, int32_t stages,
                                   clv_int128 *ret, clv_error *err)
{
    walk w = { .t = t };
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(t->arena), 0);
    if (!scratch)
        return clv_fail_nomem(err, "the longest way");
    clv_status status = walk_both(&w, path, stages, scratch, ret, err);
    clv_arena_free(scratch);
    return status;
}
