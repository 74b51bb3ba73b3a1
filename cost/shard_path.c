#include "cost/shard_path.h"

static int64_t time_of(const clv_costs *costs, const clv_device_kind *kind, int32_t op)
{
    const clv_op_cost *c = &costs->of[op];
    return clv_op_time_ns(c, kind, clv_op_workspace(c, kind, kind->workspace_proportion));
}

/* The input whose producer ends last; CLV_PATH_START where no operator is waited for. */
static int32_t latest_input(const clv_types *types, int32_t op, const int64_t *end)
{
    const clv_graph *g = types->graph;
    int32_t best = CLV_PATH_START;
    int64_t latest = -1;
    for (int32_t k = 0; k < clv_op_n_explicit(&g->ops[op]); k++) {
        clv_tensor t = clv_op_input(g, &g->ops[op], k);
        if (t.i < 0 || clv_tensor_at(g, t)->role != CLV_TENSOR_RESULT || types->value[t.i])
            continue;
        if (end[clv_tensor_at(g, t)->producer.i] > latest) {
            latest = end[clv_tensor_at(g, t)->producer.i];
            best = k;
        }
    }
    return best;
}

clv_status clv_shard_path(const clv_types *types, const clv_costs *costs,
                          const clv_device_kind *kind, clv_arena *arena, int32_t **ret,
                          clv_error *err)
{
    const clv_graph *g = types->graph;
    int64_t *end = CLV_NEW_ARRAY(arena, int64_t, g->n_ops);
    int32_t *in = CLV_NEW_ARRAY(arena, int32_t, g->n_ops);
    int32_t last = 0;
    if (!end || !in)
        return clv_fail_nomem(err, "the longest way");
    for (int32_t i = 0; i < g->n_ops; i++) {
        in[i] = latest_input(types, i, end);
        int64_t start = 0, ns = time_of(costs, kind, i);
        if (in[i] >= 0)
            start = end[clv_tensor_at(g, clv_op_input(g, &g->ops[i], in[i]))->producer.i];
        end[i] = start > INT64_MAX - ns ? INT64_MAX : start + ns;
        last = end[i] > end[last] ? i : last;
    }
    for (int32_t i = g->n_ops - 1, next = last; i >= 0; i--) {
        if (i != next)
            in[i] = CLV_PATH_OFF;
        else if (in[i] >= 0)
            next = clv_tensor_at(g, clv_op_input(g, &g->ops[i], in[i]))->producer.i;
        else
            next = -1;
    }
    *ret = in;
    return CLV_OK;
}

/* -- its cost -- */

/* The way up to an operator: by its choice, the least time of all that is before it and itself. */
typedef struct {
    clv_shard_tables *t;
    clv_wide *best, *next;     /* by choice */
    clv_wide *into, *left;     /* by distinct layout: the least time in it, before and after */
    const clv_op_table *table; /* of the last operator; NULL: there is none to come from */
    clv_error *err;
} walk;

static clv_wide least_of(const clv_wide *at, int32_t n)
{
    clv_wide least = at[0];
    for (int32_t i = 1; i < n; i++)
        least = at[i] < least ? at[i] : least;
    return least;
}

/* The list of layouts in which the operator that makes t leaves it; -1: it makes no such thing. */
static int32_t made_list(const walk *w, clv_tensor t)
{
    const clv_graph *g = w->t->of.types->graph;
    const clv_op_info *info = clv_op_at(g, clv_tensor_at(g, t)->producer);
    for (int32_t k = 0; k < info->n_out; k++)
        if (clv_op_output(g, info, k).i == t.i)
            return w->table->out_list[k];
    return -1;
}

/* next: what the ways so far cost with t brought to where each choice of the table needs it. */
static clv_status step(walk *w, clv_tensor t, const clv_op_table *table, int32_t k)
{
    const clv_layout_costs *costs;
    CLV_TRY(clv_layout_lists_costs(&w->t->lists, &w->t->of.types->of[t.i], made_list(w, t),
                                   table->in_list[k], &costs, w->err));
    const clv_layout_list *from = costs->from, *to = costs->to;
    for (int32_t i = 0; i < from->n_distinct; i++)
        w->left[i] = w->best[from->first[i]];
    for (int32_t c = 0; c < from->n; c++)
        if (w->best[c] < w->left[from->distinct[c]])
            w->left[from->distinct[c]] = w->best[c];
    for (int32_t j = 0; j < to->n_distinct; j++) {
        w->into[j] = w->left[0] + costs->ns[j];
        for (int32_t i = 1; i < from->n_distinct; i++) {
            clv_wide ns = w->left[i] + costs->ns[i * to->n_distinct + j];
            w->into[j] = ns < w->into[j] ? ns : w->into[j];
        }
    }
    for (int32_t c = 0; c < to->n; c++)
        w->next[c] = w->into[to->distinct[c]] + table->ns[c];
    return CLV_OK;
}

/* Input k of the operator is how the path comes to it; below 0: it begins here. */
static clv_status walk_to(walk *w, clv_op op, int32_t k)
{
    const clv_types *types = w->t->of.types;
    const clv_op_table *table;
    clv_tensor t =
        k < 0 ? CLV_NO_TENSOR : clv_op_input(types->graph, clv_op_at(types->graph, op), k);
    CLV_TRY(clv_shard_table_of(w->t, op, &table, w->err));
    if (t.i >= 0 && w->table && !clv_shard_is_known(types, t)) {
        CLV_TRY(step(w, t, table, k));
    } else {
        clv_wide before = w->table ? least_of(w->best, w->table->n) : 0;
        for (int32_t c = 0; c < table->n; c++)
            w->next[c] = before + table->ns[c];
    }
    clv_wide *now = w->next;
    w->next = w->best;
    w->best = now;
    w->table = table;
    return CLV_OK;
}

static clv_status walk_all(walk *w, const int32_t *path, clv_arena *scratch, clv_wide *ret)
{
    const clv_types *types = w->t->of.types;
    w->best = CLV_NEW_ARRAY(scratch, clv_wide, CLV_CHOICES_MAX);
    w->next = CLV_NEW_ARRAY(scratch, clv_wide, CLV_CHOICES_MAX);
    w->left = CLV_NEW_ARRAY(scratch, clv_wide, CLV_CHOICES_MAX);
    w->into = CLV_NEW_ARRAY(scratch, clv_wide, CLV_CHOICES_MAX);
    if (!w->best || !w->next || !w->left || !w->into)
        return clv_fail_nomem(w->err, "the longest way");
    for (int32_t i = 0; i < types->graph->n_ops; i++)
        if (path[i] != CLV_PATH_OFF && clv_shard_takes_part(types, (clv_op){ i }))
            CLV_TRY(walk_to(w, (clv_op){ i }, path[i]));
    *ret = w->table ? least_of(w->best, w->table->n) : 0;
    return CLV_OK;
}

clv_status clv_shard_path_ns(clv_shard_tables *t, const int32_t *path, clv_wide *ret,
                             clv_error *err)
{
    walk w = { .t = t, .err = err };
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(t->arena), 0);
    if (!scratch)
        return clv_fail_nomem(err, "the longest way");
    clv_status status = walk_all(&w, path, scratch, ret);
    clv_arena_free(scratch);
    return status;
}
