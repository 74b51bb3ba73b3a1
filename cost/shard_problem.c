/* shard_problem.c - three passes in operator order: choices of operators, layouts of tensors,
 * edges. What is alike is worked out once, and stands in the problem once.
 */
#include "cost/shard_problem.h"

#include "base/map.h"
#include "graph/ops.h"
#include "problem/intra_op_draft.h"

#define NONE (-1)
#define FEW  64 /* kinds of nodes that there is room for at once */

/* Moments of memory: a device begins, then it is done. */
enum { BEGIN, DONE, END };

/* Nodes of tensors that may lie alike. */
typedef struct {
    int32_t n, list;
    int64_t usages; /* of the draft */
} tensor_kind;

typedef struct {
    const clv_types *types;
    const clv_graph *g;
    const clv_mesh *mesh;
    const clv_choice_filter *filter;
    bool captured; /* a graph starts kernels */
    clv_shard_tables *tables;
    clv_arena *arena, *scratch;
    clv_intra_op_draft *draft;
    clv_layout *row;       /* CLV_CHOICES_MAX */
    int64_t *usage, *zero; /* likewise */
    clv_map usages_of;     /* of an operator's class and the inputs that count */
    int64_t *usages;       /* of the draft */
    int32_t n_usages, cap_usages;
    clv_map kinds_of; /* of the lists at a tensor */
    tensor_kind *kinds;
    int32_t n_kinds, cap_kinds;
    int32_t *key; /* at hand; n_key numbers */
    int32_t n_key, cap_key;
    int32_t *matrix; /* by number of costs, twice, for what is stored and for what stays inside a
                        kernel: that of the draft; -1 */
    int32_t n_matrices, cap_matrix;
    int32_t *node_of_op, *node_of_tensor;
    const clv_op_table **table_of; /* by operator that is a node */
    int32_t *n_edges_of;           /* by tensor: operators' inputs that read it */
    bool *weight_counted;
    bool *stays;          /* by tensor: an output with memory of its own */
    int32_t *tensor_list; /* by tensor that is a node */
    int32_t n_nodes, cap_op_choice, cap_op_cost, cap_layout;
    const clv_op_choice **op_choice; /* by node */
    const clv_op_cost **op_cost;     /* by node */
    const clv_layout **layout;       /* by node */
} builder;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "layouts"); }

/* -- what takes part -- */

static bool flows(const builder *b, clv_tensor t)
{
    return t.i >= 0 && clv_tensor_at(b->g, t)->role != CLV_TENSOR_WEIGHT &&
           !clv_shard_is_known(b->types, t);
}

static void count_edges(builder *b)
{
    for (int32_t i = 0; i < b->g->n_ops; i++) {
        const clv_op_info *op = &b->g->ops[i];
        if (!clv_shard_takes_part(b->types, (clv_op){ i }))
            continue;
        for (int32_t k = 0; k < op->n_in; k++) {
            clv_tensor t = clv_op_input(b->g, op, k);
            if (flows(b, t))
                b->n_edges_of[t.i]++;
        }
    }
}

/* Outputs that the last operator finds in memory: one of those that share it, and no weights. */
static clv_status find_outputs(builder *b, clv_error *err)
{
    bool *taken = CLV_NEW_ARRAY(b->scratch, bool, b->g->n_tensors);
    if (!taken)
        return no_memory(err);
    for (int32_t i = 0; i < b->g->n_outputs; i++) {
        clv_tensor t = b->g->outputs[i], of = t.i < 0 ? t : clv_tensor_root(b->g, t);
        if (t.i < 0 || clv_tensor_at(b->g, t)->role != CLV_TENSOR_RESULT || taken[of.i])
            continue;
        taken[of.i] = true;
        b->stays[t.i] = clv_tensor_at(b->g, of)->role != CLV_TENSOR_WEIGHT;
    }
    return CLV_OK;
}

/* A way in which a tensor of which a rule says how it lies may lie; NULL: in any. */
static const clv_layout *bound_layout(const builder *b, clv_tensor t)
{
    return b->filter && b->filter->like ? b->filter->like(b->filter->ctx, t) : NULL;
}

static bool tensor_is_node(const builder *b, clv_tensor t)
{
    return flows(b, t) &&
           (clv_tensor_at(b->g, t)->is_output || b->n_edges_of[t.i] > 1 || bound_layout(b, t));
}

/* -- keys -- */

static clv_status add_key(builder *b, int32_t number, clv_error *err)
{
    if (!CLV_PUSH_ROOM(b->scratch, b->key, b->n_key, b->cap_key))
        return no_memory(err);
    b->key[b->n_key++] = number;
    return CLV_OK;
}

/* -- nodes -- */

/* A node of the draft: its choices, their memory in the draft at the two moments (NONE: nothing),
 * and what they mean. */
typedef struct {
    int32_t n;
    const int64_t *ns;
    int64_t usages[END];
    const clv_op_table *table; /* of an operator */
    const clv_layout *layout;  /* of a tensor */
} new_node;

static clv_status add_node(builder *b, const new_node *of, clv_error *err)
{
    CLV_TRY(clv_intra_op_draft_node(b->draft, of->n, of->ns, err));
    bool same = of->usages[BEGIN] == of->usages[DONE]; /* one span does */
    for (int32_t at = BEGIN, end; at < END; at = end) {
        end = same ? END : at + 1;
        if (of->usages[at] != NONE)
            CLV_TRY(clv_intra_op_draft_hold(b->draft, b->n_nodes, at, end, of->usages[at], err));
    }
    if (!CLV_PUSH_ROOM(b->arena, b->op_choice, b->n_nodes, b->cap_op_choice) ||
        !CLV_PUSH_ROOM(b->arena, b->op_cost, b->n_nodes, b->cap_op_cost) ||
        !CLV_PUSH_ROOM(b->arena, b->layout, b->n_nodes, b->cap_layout))
        return no_memory(err);
    b->op_choice[b->n_nodes] = of->table ? of->table->choice : NULL;
    b->op_cost[b->n_nodes] = of->table ? of->table->cost : NULL;
    b->layout[b->n_nodes++] = of->layout;
    return CLV_OK;
}

/* An input of the model that nothing else reads lies as the operator needs it, and so does a weight
 * here: the first time that it is asked for. */
static bool lies_as_read(builder *b, clv_tensor t, clv_tensor_role role)
{
    const clv_tensor_info *info = clv_tensor_at(b->g, t);
    if (info->role != role || clv_shard_is_known(b->types, t))
        return false;
    if (role == CLV_TENSOR_INPUT)
        return !tensor_is_node(b, t);
    bool counted = b->weight_counted[info->weight];
    b->weight_counted[info->weight] = true;
    return !counted;
}

/* Adds the bytes of a tensor that may lie in these n ways. */
static clv_status add_usage(builder *b, clv_tensor t, const clv_layout *at, int32_t n,
                            clv_error *err)
{
    for (int32_t c = 0; c < n; c++) {
        int64_t bytes = clv_part_bytes(b->mesh, &at[c], &b->types->of[t.i], b->types->bytes[t.i]);
        if (__builtin_add_overflow(b->usage[c], bytes, &b->usage[c]))
            return clv_fail(err, CLV_ELIMIT, "the tensors of the model do not fit 64 bits");
    }
    return CLV_OK;
}

/* Memory of what lies as an operator reads it, by choice. key: which table, and which inputs. */
static clv_status op_usages(builder *b, clv_op op, const clv_op_table *table, int64_t *ret,
                            clv_error *err)
{
    const clv_op_info *info = clv_op_at(b->g, op);
    int32_t id;
    CLV_TRY(clv_map_put_key(&b->usages_of, b->key, (size_t)b->n_key * sizeof *b->key, b->n_usages,
                            &id, err));
    if (id == b->n_usages) {
        if (!CLV_PUSH_ROOM(b->scratch, b->usages, b->n_usages, b->cap_usages))
            return no_memory(err);
        memset(b->usage, 0, (size_t)table->n * sizeof *b->usage);
        for (int32_t i = 1; i < b->n_key; i++) {
            int32_t k = b->key[i];
            CLV_TRY(add_usage(b, clv_op_input(b->g, info, k),
                              b->tables->lists.list[table->in_list[k]]->at, table->n, err));
        }
        CLV_TRY(clv_intra_op_draft_usages(b->draft, table->n, b->usage, &b->usages[id], err));
        b->n_usages++;
    }
    *ret = b->usages[id];
    return CLV_OK;
}

/* Inputs of that role which lie as the operator reads them, behind the key. */
static clv_status add_read(builder *b, const clv_op_info *op, clv_tensor_role role, clv_error *err)
{
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(b->g, op, k);
        if (t.i >= 0 && lies_as_read(b, t, role))
            CLV_TRY(add_key(b, k, err));
    }
    return CLV_OK;
}

static clv_status add_op_node(builder *b, clv_op op, clv_error *err)
{
    const clv_op_info *info = clv_op_at(b->g, op);
    const clv_op_table *table;
    CLV_TRY(clv_shard_table_of(b->tables, op, &table, err));
    new_node node = { table->n, table->ns, { NONE, NONE }, table, NULL };
    b->n_key = 0;
    CLV_TRY(add_key(b, table->id, err));
    CLV_TRY(add_read(b, info, CLV_TENSOR_WEIGHT, err));
    if (b->n_key > 1)
        CLV_TRY(op_usages(b, op, table, &node.usages[DONE], err));
    CLV_TRY(add_read(b, info, CLV_TENSOR_INPUT, err));
    if (b->n_key > 1)
        CLV_TRY(op_usages(b, op, table, &node.usages[BEGIN], err));
    b->table_of[op.i] = table;
    b->node_of_op[op.i] = b->n_nodes;
    return add_node(b, &node, err);
}

/* The layouts of a list in which t may lie, added to the n that row has. */
static int32_t add_layouts(builder *b, clv_tensor t, int32_t list, int32_t n)
{
    bool bound = bound_layout(b, t) != NULL;
    const clv_layout_list *l = b->tables->lists.list[list];
    for (int32_t d = 0; d < l->n_distinct && n < CLV_CHOICES_MAX; d++) {
        const clv_layout *layout = &l->at[l->first[d]];
        bool known = clv_layout_partial_axes(layout) != 0 ||
                     (bound && !b->filter->lies(b->filter->ctx, t, layout));
        for (int32_t k = 0; k < n && !known; k++)
            known = clv_layout_equal(&b->row[k], layout);
        if (!known)
            b->row[n++] = *layout;
    }
    return n;
}

/* Input k of operators that read a tensor, in their order. */
typedef struct {
    const builder *b;
    clv_tensor t;
    int32_t reader, k;
} reading;

static bool next_reading(reading *r, int32_t *ret_op, int32_t *ret_k)
{
    const clv_tensor_info *info = clv_tensor_at(r->b->g, r->t);
    for (; r->reader < info->n_readers; r->reader++, r->k = 0) {
        int32_t i = r->b->g->readers_of[info->first_reader + r->reader].i;
        const clv_op_info *op = &r->b->g->ops[i];
        for (; r->b->node_of_op[i] >= 0 && r->k < op->n_in; r->k++)
            if (clv_op_input(r->b->g, op, r->k).i == r->t.i) {
                *ret_op = i;
                *ret_k = r->k++;
                return true;
            }
    }
    return false;
}

static int32_t made_list(const builder *b, clv_tensor t)
{
    const clv_tensor_info *info = clv_tensor_at(b->g, t);
    if (info->role != CLV_TENSOR_RESULT || b->node_of_op[info->producer.i] < 0)
        return NONE;
    const clv_op_info *op = &b->g->ops[info->producer.i];
    for (int32_t k = 0; k < op->n_out; k++)
        if (clv_op_output(b->g, op, k).i == t.i)
            return b->table_of[info->producer.i]->out_list[k];
    return NONE;
}

/* key: kind of tensor and whether it holds memory; then its lists: as it is made, and as it is
 * read. */
enum { KEY_SHAPE, KEY_COUNTS, KEY_BOUND, KEY_LISTS };

static clv_status make_kind(builder *b, clv_tensor t, tensor_kind *ret, clv_error *err)
{
    const clv_layout *like = bound_layout(b, t);
    int32_t n = 1;
    b->row[0] = like ? *like : CLV_LAYOUT_COPIES;
    for (int32_t i = KEY_LISTS; i < b->n_key; i++)
        if (b->key[i] != NONE)
            n = add_layouts(b, t, b->key[i], n);
    memset(b->usage, 0, (size_t)n * sizeof *b->usage);
    if (b->key[KEY_COUNTS])
        CLV_TRY(add_usage(b, t, b->row, n, err));
    ret->n = n;
    CLV_TRY(clv_intra_op_draft_usages(b->draft, n, b->usage, &ret->usages, err));
    return clv_layout_lists_put(&b->tables->lists, n, b->row, &ret->list, err);
}

static clv_status add_tensor_node(builder *b, clv_tensor t, clv_error *err)
{
    bool begins = clv_tensor_at(b->g, t)->role == CLV_TENSOR_INPUT && b->n_edges_of[t.i] > 0;
    int32_t shape, id, op, k;
    CLV_TRY(clv_layout_lists_shape(&b->tables->lists, &b->types->of[t.i], &shape, err));
    b->n_key = 0;
    CLV_TRY(add_key(b, shape, err));
    CLV_TRY(add_key(b, begins || b->stays[t.i], err));
    CLV_TRY(
        add_key(b, bound_layout(b, t) ? t.i : NONE, err)); /* one that is bound is like no other */
    CLV_TRY(add_key(b, made_list(b, t), err));
    for (reading r = { .b = b, .t = t }; next_reading(&r, &op, &k);) {
        int32_t list = b->table_of[op]->in_list[k];
        if (list != b->key[b->n_key - 1])
            CLV_TRY(add_key(b, list, err));
    }
    CLV_TRY(clv_map_put_key(&b->kinds_of, b->key, (size_t)b->n_key * sizeof *b->key, b->n_kinds,
                            &id, err));
    if (id == b->n_kinds) {
        if (!CLV_PUSH_ROOM(b->scratch, b->kinds, b->n_kinds, b->cap_kinds))
            return no_memory(err);
        CLV_TRY(make_kind(b, t, &b->kinds[b->n_kinds], err));
        b->n_kinds++;
    }
    const tensor_kind *kind = &b->kinds[id];
    b->tensor_list[t.i] = kind->list;
    b->node_of_tensor[t.i] = b->n_nodes;
    const clv_layout *layout = b->tables->lists.list[kind->list]->at;
    const new_node node = { kind->n,
                            b->zero,
                            { begins ? kind->usages : NONE, b->stays[t.i] ? kind->usages : NONE },
                            NULL,
                            layout };
    return add_node(b, &node, err);
}

/* -- edges -- */

/* Of t in each distinct layout of a list. */
static int64_t *inside_bytes(builder *b, clv_tensor t, const clv_layout_list *list)
{
    int64_t *bytes = CLV_NEW_ARRAY(b->scratch, int64_t, list->n_distinct);
    for (int32_t i = 0; bytes && i < list->n_distinct; i++)
        bytes[i] = clv_inside_bytes(b->types, t, b->mesh, &list->at[list->first[i]]);
    return bytes;
}

/* What it takes to part a kernel at t, from each distinct layout to each: stored and read, and the
 * second half started. Where nothing is sent it stays one. */
static const int64_t *parted_ns(builder *b, clv_tensor t, const clv_layout_costs *costs)
{
    const clv_layout_list *from = costs->from, *to = costs->to;
    const int64_t *stored = inside_bytes(b, t, from), *read = inside_bytes(b, t, to);
    int64_t *ns =
        CLV_NEW_ARRAY(b->scratch, int64_t, (size_t)from->n_distinct * (size_t)to->n_distinct);
    for (int32_t i = 0, at = 0; ns && stored && read && i < from->n_distinct; i++)
        for (int32_t j = 0; j < to->n_distinct; j++, at++) {
            const clv_kernel_break parted = { b->types->of[t.i].dtype, stored[i], read[j],
                                              b->captured };
            if (costs->ns[at] == 0)
                continue;
            const clv_op_cost cost = clv_kernel_break_cost(&parted, costs->ns[at]);
            ns[at] = clv_slowest_ns(&cost, b->mesh, b->tables->of.cluster);
        }
    return stored && read ? ns : NULL;
}

/* Costs between distinct layouts, spread out to the choices. */
static clv_status make_matrix(builder *b, clv_tensor t, const clv_layout_costs *costs, int32_t *ret,
                              clv_error *err)
{
    const clv_layout_list *from = costs->from, *to = costs->to;
    size_t n = (size_t)from->n * (size_t)to->n;
    clv_mark mark = clv_arena_mark(b->scratch);
    int64_t *entry = CLV_NEW_ARRAY(b->scratch, int64_t, n);
    const int64_t *all = clv_stays_inside(b->types, t) ? parted_ns(b, t, costs) : costs->ns;
    if (!entry || !all)
        return no_memory(err);
    for (int32_t i = 0; i < from->n; i++) {
        const int64_t *ns = all + (size_t)from->distinct[i] * (size_t)to->n_distinct;
        for (int32_t j = 0; j < to->n; j++)
            entry[(size_t)i * (size_t)to->n + (size_t)j] = ns[to->distinct[j]];
    }
    CLV_TRY(clv_intra_op_draft_matrix(b->draft, (int64_t)n, entry, ret, err));
    clv_arena_rewind(b->scratch, mark);
    return CLV_OK;
}

/* A node, and the list of layouts of a tensor by its choices. */
typedef struct {
    int32_t node, list;
} end;

static clv_status add_edge(builder *b, clv_tensor t, end from, end to, clv_error *err)
{
    const clv_layout_costs *costs;
    CLV_TRY(clv_layout_lists_costs(&b->tables->lists, &b->types->of[t.i], from.list, to.list,
                                   &costs, err));
    int32_t number = 2 * costs->id + clv_stays_inside(b->types, t);
    for (; b->n_matrices <= number; b->n_matrices++) {
        if (!CLV_PUSH_ROOM(b->scratch, b->matrix, b->n_matrices, b->cap_matrix))
            return no_memory(err);
        b->matrix[b->n_matrices] = NONE;
    }
    int32_t *matrix = &b->matrix[number];
    if (*matrix == NONE)
        CLV_TRY(make_matrix(b, t, costs, matrix, err));
    return clv_intra_op_draft_edge(b->draft, 2, (int32_t[]){ from.node, to.node }, *matrix, err);
}

static clv_status add_edges_of(builder *b, clv_tensor t, clv_error *err)
{
    reading r = { .b = b, .t = t };
    end from = { NONE, made_list(b, t) }, home = { b->node_of_tensor[t.i], b->tensor_list[t.i] };
    int32_t op, k;
    if (from.list != NONE)
        from.node = b->node_of_op[clv_tensor_at(b->g, t)->producer.i];
    if (home.node >= 0 && from.node >= 0)
        CLV_TRY(add_edge(b, t, from, home, err));
    if (home.node >= 0)
        from = home;
    while (from.node >= 0 && next_reading(&r, &op, &k))
        CLV_TRY(add_edge(b, t, from, (end){ b->node_of_op[op], b->table_of[op]->in_list[k] }, err));
    return CLV_OK;
}

/* -- all -- */

static bool allocate(builder *b)
{
    int32_t n_ops = b->g->n_ops, n_tensors = b->g->n_tensors;
    b->row = CLV_NEW_ARRAY(b->scratch, clv_layout, CLV_CHOICES_MAX);
    b->usage = CLV_NEW_ARRAY(b->scratch, int64_t, CLV_CHOICES_MAX);
    b->zero = CLV_NEW_ARRAY(b->scratch, int64_t, CLV_CHOICES_MAX);
    b->node_of_op = CLV_NEW_ARRAY(b->arena, int32_t, n_ops);
    b->node_of_tensor = CLV_NEW_ARRAY(b->arena, int32_t, n_tensors);
    b->table_of = clv_arena_take_array(b->scratch, (size_t)n_ops, sizeof *b->table_of);
    b->n_edges_of = CLV_NEW_ARRAY(b->scratch, int32_t, n_tensors);
    b->weight_counted = CLV_NEW_ARRAY(b->scratch, bool, b->g->n_weights);
    b->stays = CLV_NEW_ARRAY(b->scratch, bool, n_tensors);
    b->tensor_list = CLV_NEW_ARRAY(b->scratch, int32_t, n_tensors);
    if (!b->row || !b->usage || !b->zero || !b->node_of_op || !b->node_of_tensor || !b->table_of ||
        !b->n_edges_of || !b->weight_counted || !b->stays || !b->tensor_list)
        return false;
    for (int32_t i = 0; i < n_ops; i++)
        b->node_of_op[i] = NONE;
    for (int32_t t = 0; t < n_tensors; t++)
        b->node_of_tensor[t] = NONE;
    return true;
}

static clv_status build(builder *b, int64_t limit_bytes, clv_shard_problem *made, clv_error *err)
{
    if (!allocate(b))
        return no_memory(err);
    CLV_TRY(clv_intra_op_draft_new(b->arena, &b->draft, err));
    CLV_TRY(clv_map_init(&b->usages_of, b->scratch, FEW, err));
    CLV_TRY(clv_map_init(&b->kinds_of, b->scratch, FEW, err));
    count_edges(b);
    CLV_TRY(find_outputs(b, err));
    for (int32_t i = 0; i < b->g->n_ops; i++)
        if (clv_shard_takes_part(b->types, (clv_op){ i }))
            CLV_TRY(add_op_node(b, (clv_op){ i }, err));
    for (int32_t t = 0; t < b->g->n_tensors; t++)
        if (tensor_is_node(b, (clv_tensor){ t }))
            CLV_TRY(add_tensor_node(b, (clv_tensor){ t }, err));
    for (int32_t t = 0; t < b->g->n_tensors; t++)
        if (flows(b, (clv_tensor){ t }))
            CLV_TRY(add_edges_of(b, (clv_tensor){ t }, err));
    *made = (clv_shard_problem){ .types = b->types,
                                 .mesh = b->mesh,
                                 .factors = b->tables->of.factors,
                                 .node_of_op = b->node_of_op,
                                 .node_of_tensor = b->node_of_tensor,
                                 .op_choice = b->op_choice,
                                 .op_cost = b->op_cost,
                                 .layout = b->layout };
    return clv_intra_op_draft_freeze(b->draft, "shards", limit_bytes, &made->problem, err);
}

clv_status clv_shard_problem_build(clv_shard_tables *tables, int64_t limit_bytes, clv_arena *arena,
                                   clv_shard_problem **ret, clv_error *err)
{
    builder b = { .types = tables->of.types,
                  .g = tables->of.types->graph,
                  .mesh = tables->of.mesh,
                  .filter = tables->of.filter,
                  .captured = clv_costs_captured(tables->of.costs),
                  .tables = tables,
                  .arena = arena,
                  .scratch = clv_arena_new(clv_arena_alloc(arena), 0) };
    *ret = CLV_NEW(arena, clv_shard_problem);
    clv_status status = *ret && b.scratch ? build(&b, limit_bytes, *ret, err) : no_memory(err);
    clv_arena_free(b.scratch);
    return status;
}

clv_status clv_shard_problem_limit(const clv_shard_problem *s, int64_t limit_bytes,
                                   clv_arena *arena, clv_shard_problem **ret, clv_error *err)
{
    clv_intra_op_problem *problem = CLV_NEW(arena, clv_intra_op_problem);
    *ret = CLV_NEW(arena, clv_shard_problem);
    if (!*ret || !problem)
        return clv_fail_nomem(err, "layouts");
    *problem = *s->problem;
    problem->usage_limit = limit_bytes;
    **ret = *s;
    (*ret)->problem = problem;
    return CLV_OK;
}

/* -- what a solution means -- */

const clv_op_choice *clv_shard_choice(const clv_shard_problem *s, const int32_t *solution,
                                      clv_op op)
{
    int32_t node = s->node_of_op[op.i];
    return node < 0 ? NULL : &s->op_choice[node][solution[node]];
}

clv_layout clv_shard_need(const clv_shard_problem *s, const int32_t *solution, clv_op op, int32_t k)
{
    const clv_op_choice *choice = clv_shard_choice(s, solution, op);
    return choice ? clv_choice_in(&s->factors[op.i], s->mesh, choice, k) : CLV_LAYOUT_COPIES;
}

/* What the only reader of a tensor that is no node needs; false: nobody reads it. */
static bool need_of_reader(const clv_shard_problem *s, const int32_t *solution, clv_tensor t,
                           clv_layout *ret)
{
    const clv_graph *g = s->types->graph;
    const clv_tensor_info *info = clv_tensor_at(g, t);
    for (int32_t r = 0; r < info->n_readers; r++) {
        clv_op op = g->readers_of[info->first_reader + r];
        for (int32_t k = 0; s->node_of_op[op.i] >= 0 && k < g->ops[op.i].n_in; k++)
            if (clv_op_input(g, &g->ops[op.i], k).i == t.i) {
                *ret = clv_shard_need(s, solution, op, k);
                return true;
            }
    }
    return false;
}

/* Of a result, as its operator leaves it. */
static clv_layout made_by(const clv_shard_problem *s, const int32_t *solution, clv_tensor t)
{
    const clv_graph *g = s->types->graph;
    int32_t op = clv_tensor_at(g, t)->producer.i;
    const clv_op_choice *choice = clv_shard_choice(s, solution, (clv_op){ op });
    for (int32_t k = 0; choice && k < s->factors[op].n_out; k++)
        if (clv_op_output(g, &g->ops[op], k).i == t.i)
            return clv_choice_out(&s->factors[op], s->mesh, choice, k);
    return CLV_LAYOUT_COPIES;
}

clv_layout clv_shard_made(const clv_shard_problem *s, const int32_t *solution, clv_tensor t)
{
    if (clv_tensor_at(s->types->graph, t)->role == CLV_TENSOR_RESULT)
        return made_by(s, solution, t);
    return clv_shard_home(s, solution, t);
}

clv_layout clv_shard_home(const clv_shard_problem *s, const int32_t *solution, clv_tensor t)
{
    int32_t node = s->node_of_tensor[t.i];
    clv_layout layout = CLV_LAYOUT_COPIES;
    if (node >= 0)
        return s->layout[node][solution[node]];
    if (need_of_reader(s, solution, t, &layout) ||
        clv_tensor_at(s->types->graph, t)->role != CLV_TENSOR_RESULT)
        return layout;
    return made_by(s, solution, t); /* nobody reads it: it stays as it is */
}
