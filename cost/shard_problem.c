/* shard_problem.c - three passes in operator order: choices of operators, layouts of tensors,
 * edges.
 */
#include "cost/shard_problem.h"

#include "cost/layout_lists.h"
#include "cost/shard_choices.h"
#include "cost/shard_path.h"
#include "graph/ops.h"

#define NONE (-1)

typedef struct {
    const clv_types *types;
    const clv_graph *g;
    const clv_costs *costs;
    const clv_cluster *cluster;
    const clv_mesh *mesh;
    clv_resharder *resharder;
    const clv_choice_filter *filter;
    const int32_t *path; /* NULL: all operators */
    clv_arena *arena;
    clv_error *err;
    clv_strategy_draft *draft;
    clv_layout_lists lists;
    clv_shard_choices *choices; /* of the operator at hand */
    clv_layout *row;            /* CLV_CHOICES_MAX */
    int64_t *usage, *zero;      /* likewise */
    const clv_factors *factors; /* n_ops */
    int32_t *node_of_op, *node_of_tensor;
    int32_t *n_edges_of; /* by tensor: operators' inputs that read it */
    bool *weight_counted;
    int32_t *in_list, *out_list; /* by place in inputs_of, outputs_of: of the operator's layouts */
    int32_t *tensor_list;        /* by tensor that is a node */
    int32_t n_nodes;
    clv_op_choice *op_choice;
    clv_layout *layout;
    int32_t n_choices, cap_op_choice, cap_layout;
} builder;

static clv_status no_memory(const builder *b) { return clv_fail_nomem(b->err, "layouts"); }

/* -- what takes part -- */

bool clv_shard_is_known(const clv_types *types, clv_tensor t)
{
    const clv_tensor_info *info = clv_tensor_at(types->graph, t);
    if (types->value && types->value[t.i])
        return true;
    if (info->role != CLV_TENSOR_RESULT)
        return false;
    int32_t kind = types->graph->ops[info->producer.i].kind;
    return kind >= 0 && clv_op_def_at(kind)->bytes == CLV_BYTES_CONST;
}

static bool is_known(const builder *b, clv_tensor t) { return clv_shard_is_known(b->types, t); }

/* Something to choose: it writes a tensor that is not known before the run. */
static bool op_takes_part(const builder *b, const clv_op_info *op)
{
    if (b->path && b->path[op - b->g->ops] == CLV_PATH_OFF)
        return false;
    for (int32_t k = 0; k < op->n_out; k++) {
        clv_tensor t = clv_op_output(b->g, op, k);
        if (t.i >= 0 && !is_known(b, t))
            return true;
    }
    return op->n_out == 0;
}

static bool flows(const builder *b, clv_tensor t)
{
    return t.i >= 0 && clv_tensor_at(b->g, t)->role != CLV_TENSOR_WEIGHT && !is_known(b, t);
}

/* Does input k of an operator count as an edge? */
static bool input_counts(const builder *b, int32_t op, int32_t k)
{
    clv_tensor t = clv_op_input(b->g, &b->g->ops[op], k);
    return flows(b, t) && (!b->path || b->path[op] == k);
}

static void count_edges(builder *b)
{
    for (int32_t i = 0; i < b->g->n_ops; i++) {
        const clv_op_info *op = &b->g->ops[i];
        if (!op_takes_part(b, op))
            continue;
        for (int32_t k = 0; k < op->n_in; k++) {
            if (input_counts(b, i, k))
                b->n_edges_of[clv_op_input(b->g, op, k).i]++;
        }
    }
}

/* A way in which a tensor of which a rule says how it lies may lie; NULL: in any. A path leaves
 * such rules out, which makes its bound no higher. */
static const clv_layout *bound_layout(const builder *b, clv_tensor t)
{
    return b->filter && !b->path ? b->filter->like(b->filter->ctx, t) : NULL;
}

static bool tensor_is_node(const builder *b, clv_tensor t)
{
    bool is_output = clv_tensor_at(b->g, t)->is_output && !b->path;
    return flows(b, t) && (is_output || b->n_edges_of[t.i] > 1 || bound_layout(b, t));
}

/* -- nodes -- */

/* The choices of a node that was just drafted, in the legend. */
static clv_status note_choices(builder *b, int32_t n, const clv_op_choice *choice,
                               const clv_layout *layout)
{
    for (int32_t c = 0; c < n; c++, b->n_choices++) {
        if (!CLV_PUSH_ROOM(b->arena, b->op_choice, b->n_choices, b->cap_op_choice) ||
            !CLV_PUSH_ROOM(b->arena, b->layout, b->n_choices, b->cap_layout))
            return no_memory(b);
        b->op_choice[b->n_choices] = choice ? choice[c] : (clv_op_choice){ { -1, -1, -1 } };
        b->layout[b->n_choices] = layout ? layout[c] : CLV_LAYOUT_COPIES;
    }
    return CLV_OK;
}

/* A weight here, or an input of the model that nothing else reads, lies as the operator needs it.
 */
static bool lies_as_read(builder *b, clv_tensor t)
{
    const clv_tensor_info *info = clv_tensor_at(b->g, t);
    if (info->role == CLV_TENSOR_INPUT)
        return !tensor_is_node(b, t);
    if (info->role != CLV_TENSOR_WEIGHT || b->weight_counted[info->weight])
        return false;
    b->weight_counted[info->weight] = true;
    return true;
}

static int64_t part_bytes(const builder *b, clv_tensor t, const clv_layout *layout)
{
    return clv_part_bytes(b->mesh, layout, &b->types->of[t.i], b->types->bytes[t.i]);
}

static clv_status add_usage(builder *b, int64_t bytes, int32_t choice)
{
    if (__builtin_add_overflow(b->usage[choice], bytes, &b->usage[choice]))
        return clv_fail(b->err, CLV_ELIMIT, "the tensors of the model do not fit 64 bits");
    return CLV_OK;
}

/* Layouts of each operand by choice, as lists; memory of what lies as it is read. */
static clv_status list_operands(builder *b, int32_t i)
{
    const clv_op_info *op = &b->g->ops[i];
    const clv_shard_choices *c = b->choices;
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(b->g, op, k);
        bool counts = t.i >= 0 && !is_known(b, t) && lies_as_read(b, t);
        if (t.i < 0 || (!flows(b, t) && !counts))
            continue;
        for (int32_t n = 0; n < c->n; n++) {
            b->row[n] = clv_choice_in(&b->factors[i], b->mesh, &c->at[n], k);
            if (counts)
                CLV_TRY(add_usage(b, part_bytes(b, t, &b->row[n]), n));
        }
        CLV_TRY(
            clv_layout_lists_put(&b->lists, c->n, b->row, &b->in_list[op->first_in + k], b->err));
    }
    for (int32_t k = 0; k < op->n_out; k++) {
        for (int32_t n = 0; n < c->n; n++)
            b->row[n] = clv_choice_out(&b->factors[i], b->mesh, &c->at[n], k);
        CLV_TRY(
            clv_layout_lists_put(&b->lists, c->n, b->row, &b->out_list[op->first_out + k], b->err));
    }
    return CLV_OK;
}

static clv_status add_op_node(builder *b, int32_t i)
{
    clv_shard_choices *c = b->choices;
    clv_op op = { i };
    CLV_TRY(clv_shard_choices_find(b->types, op, &b->costs->of[i], &b->factors[i], b->mesh,
                                   b->cluster, b->filter, b->arena, c, b->err));
    memset(b->usage, 0, (size_t)c->n * sizeof *b->usage);
    CLV_TRY(list_operands(b, i));
    CLV_TRY(clv_strategy_draft_node(b->draft, c->n, c->ns, b->err));
    CLV_TRY(clv_strategy_draft_span(b->draft, 0, 1, b->usage, b->err));
    b->node_of_op[i] = b->n_nodes++;
    return note_choices(b, c->n, c->at, NULL);
}

static bool is_partial(const builder *b, const clv_layout *layout)
{
    for (int32_t a = 0; a < b->mesh->n_axes; a++)
        if (layout->dim[a] == CLV_AXIS_PARTIAL)
            return true;
    return false;
}

/* The layouts of a list in which t may lie, added to the n that row has. */
static int32_t add_layouts(builder *b, clv_tensor t, int32_t list, int32_t n)
{
    bool bound = bound_layout(b, t) != NULL;
    const clv_layout_list *l = &b->lists.list[list];
    for (int32_t d = 0; d < l->n_distinct && n < CLV_CHOICES_MAX; d++) {
        const clv_layout *layout = &l->at[l->first[d]];
        bool known =
            is_partial(b, layout) || (bound && !b->filter->lies(b->filter->ctx, t, layout));
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
            if (clv_op_input(r->b->g, op, r->k).i == r->t.i && input_counts(r->b, i, r->k)) {
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
            return b->out_list[op->first_out + k];
    return NONE;
}

static clv_status add_tensor_node(builder *b, clv_tensor t)
{
    const clv_tensor_info *info = clv_tensor_at(b->g, t);
    reading r = { .b = b, .t = t };
    int32_t n = 1, op, k, made = made_list(b, t);
    const clv_layout *like = bound_layout(b, t);
    b->row[0] = like ? *like : CLV_LAYOUT_COPIES;
    if (made != NONE)
        n = add_layouts(b, t, made, n);
    while (next_reading(&r, &op, &k))
        n = add_layouts(b, t, b->in_list[b->g->ops[op].first_in + k], n);
    memset(b->usage, 0, (size_t)n * sizeof *b->usage);
    for (int32_t c = 0; c < n; c++)
        if (info->is_output || info->role == CLV_TENSOR_INPUT)
            CLV_TRY(add_usage(b, part_bytes(b, t, &b->row[c]), c));
    CLV_TRY(clv_strategy_draft_node(b->draft, n, b->zero, b->err));
    CLV_TRY(clv_strategy_draft_span(b->draft, 0, 1, b->usage, b->err));
    CLV_TRY(clv_layout_lists_put(&b->lists, n, b->row, &b->tensor_list[t.i], b->err));
    b->node_of_tensor[t.i] = b->n_nodes++;
    return note_choices(b, n, NULL, b->row);
}

static clv_status add_nodes(builder *b)
{
    for (int32_t i = 0; i < b->g->n_ops; i++)
        if (op_takes_part(b, &b->g->ops[i]))
            CLV_TRY(add_op_node(b, i));
    for (int32_t t = 0; t < b->g->n_tensors; t++)
        if (tensor_is_node(b, (clv_tensor){ t }))
            CLV_TRY(add_tensor_node(b, (clv_tensor){ t }));
    return CLV_OK;
}

/* -- edges -- */

static clv_status add_edge(builder *b, clv_tensor t, int32_t from, int32_t from_list, int32_t to,
                           int32_t to_list)
{
    int32_t matrix;
    CLV_TRY(clv_layout_lists_matrix(&b->lists, b->resharder, &b->types->of[t.i], from_list, to_list,
                                    b->draft, &matrix, b->err));
    return clv_strategy_draft_edge(b->draft, 2, (int32_t[]){ from, to }, matrix, b->err);
}

static clv_status add_edges_of(builder *b, clv_tensor t)
{
    int32_t node = b->node_of_tensor[t.i], made = made_list(b, t), op, k;
    int32_t from = made == NONE ? NONE : b->node_of_op[clv_tensor_at(b->g, t)->producer.i];
    reading r = { .b = b, .t = t };
    if (node >= 0 && from >= 0)
        CLV_TRY(add_edge(b, t, from, made, node, b->tensor_list[t.i]));
    if (node >= 0) {
        from = node;
        made = b->tensor_list[t.i];
    }
    while (from >= 0 && next_reading(&r, &op, &k))
        CLV_TRY(
            add_edge(b, t, from, made, b->node_of_op[op], b->in_list[b->g->ops[op].first_in + k]));
    return CLV_OK;
}

/* -- all -- */

static bool take_room(builder *b)
{
    int32_t n_ops = b->g->n_ops, n_tensors = b->g->n_tensors, n_in = 0, n_out = 0;
    for (int32_t i = 0; i < n_ops; i++) {
        n_in = n_in > b->g->ops[i].first_in + b->g->ops[i].n_in
                   ? n_in
                   : b->g->ops[i].first_in + b->g->ops[i].n_in;
        n_out = n_out > b->g->ops[i].first_out + b->g->ops[i].n_out
                    ? n_out
                    : b->g->ops[i].first_out + b->g->ops[i].n_out;
    }
    b->choices = CLV_NEW(b->arena, clv_shard_choices);
    b->row = CLV_NEW_ARRAY(b->arena, clv_layout, CLV_CHOICES_MAX);
    b->usage = CLV_NEW_ARRAY(b->arena, int64_t, CLV_CHOICES_MAX);
    b->zero = CLV_NEW_ARRAY(b->arena, int64_t, CLV_CHOICES_MAX);
    b->node_of_op = CLV_NEW_ARRAY(b->arena, int32_t, n_ops);
    b->node_of_tensor = CLV_NEW_ARRAY(b->arena, int32_t, n_tensors);
    b->n_edges_of = CLV_NEW_ARRAY(b->arena, int32_t, n_tensors);
    b->weight_counted = CLV_NEW_ARRAY(b->arena, bool, b->g->n_weights);
    b->in_list = CLV_NEW_ARRAY(b->arena, int32_t, n_in);
    b->out_list = CLV_NEW_ARRAY(b->arena, int32_t, n_out);
    b->tensor_list = CLV_NEW_ARRAY(b->arena, int32_t, n_tensors);
    if (!b->choices || !b->row || !b->usage || !b->zero || !b->node_of_op || !b->node_of_tensor ||
        !b->n_edges_of || !b->weight_counted || !b->in_list || !b->out_list || !b->tensor_list)
        return false;
    for (int32_t i = 0; i < n_ops; i++)
        b->node_of_op[i] = NONE;
    for (int32_t t = 0; t < n_tensors; t++)
        b->node_of_tensor[t] = NONE;
    return true;
}

clv_status clv_shard_problem_build(const clv_types *types, const clv_factors *factors,
                                   const clv_costs *costs, const clv_cluster *cluster,
                                   const clv_mesh *mesh, clv_resharder *resharder,
                                   const clv_choice_filter *filter, const int32_t *path,
                                   int64_t limit_bytes, clv_arena *arena, clv_shard_problem **ret,
                                   clv_error *err)
{
    builder b = { .types = types,
                  .g = types->graph,
                  .factors = factors,
                  .costs = costs,
                  .cluster = cluster,
                  .mesh = mesh,
                  .resharder = resharder,
                  .filter = filter,
                  .path = path,
                  .arena = arena,
                  .err = err };
    clv_shard_problem *made = CLV_NEW(arena, clv_shard_problem);
    if (!made || !take_room(&b))
        return no_memory(&b);
    CLV_TRY(clv_strategy_draft_new(arena, &b.draft, err));
    CLV_TRY(clv_layout_lists_init(&b.lists, arena, err));
    count_edges(&b);
    CLV_TRY(add_nodes(&b));
    for (int32_t t = 0; t < b.g->n_tensors; t++)
        if (flows(&b, (clv_tensor){ t }))
            CLV_TRY(add_edges_of(&b, (clv_tensor){ t }));
    *made = (clv_shard_problem){ .types = types,
                                 .mesh = mesh,
                                 .factors = b.factors,
                                 .node_of_op = b.node_of_op,
                                 .node_of_tensor = b.node_of_tensor,
                                 .op_choice = b.op_choice,
                                 .layout = b.layout };
    CLV_TRY(clv_strategy_draft_freeze(b.draft, "shards", limit_bytes, &made->problem, err));
    *ret = made;
    return CLV_OK;
}

/* -- answers -- */

const clv_op_choice *clv_shard_choice(const clv_shard_problem *s, const int32_t *answer, clv_op op)
{
    int32_t node = s->node_of_op[op.i];
    return node < 0 ? NULL : &s->op_choice[s->problem->first_choice[node] + answer[node]];
}

clv_layout clv_shard_need(const clv_shard_problem *s, const int32_t *answer, clv_op op, int32_t k)
{
    const clv_op_choice *choice = clv_shard_choice(s, answer, op);
    return choice ? clv_choice_in(&s->factors[op.i], s->mesh, choice, k) : CLV_LAYOUT_COPIES;
}

/* What the only reader of a tensor that is no node needs; false: nobody reads it. */
static bool need_of_reader(const clv_shard_problem *s, const int32_t *answer, clv_tensor t,
                           clv_layout *ret)
{
    const clv_graph *g = s->types->graph;
    const clv_tensor_info *info = clv_tensor_at(g, t);
    for (int32_t r = 0; r < info->n_readers; r++) {
        clv_op op = g->readers_of[info->first_reader + r];
        for (int32_t k = 0; s->node_of_op[op.i] >= 0 && k < g->ops[op.i].n_in; k++)
            if (clv_op_input(g, &g->ops[op.i], k).i == t.i) {
                *ret = clv_shard_need(s, answer, op, k);
                return true;
            }
    }
    return false;
}

/* Of a result, as its operator leaves it. */
static clv_layout made_by(const clv_shard_problem *s, const int32_t *answer, clv_tensor t)
{
    const clv_graph *g = s->types->graph;
    int32_t op = clv_tensor_at(g, t)->producer.i;
    const clv_op_choice *choice = clv_shard_choice(s, answer, (clv_op){ op });
    for (int32_t k = 0; choice && k < s->factors[op].n_out; k++)
        if (clv_op_output(g, &g->ops[op], k).i == t.i)
            return clv_choice_out(&s->factors[op], s->mesh, choice, k);
    return CLV_LAYOUT_COPIES;
}

clv_layout clv_shard_made(const clv_shard_problem *s, const int32_t *answer, clv_tensor t)
{
    if (clv_tensor_at(s->types->graph, t)->role == CLV_TENSOR_RESULT)
        return made_by(s, answer, t);
    return clv_shard_home(s, answer, t);
}

clv_layout clv_shard_home(const clv_shard_problem *s, const int32_t *answer, clv_tensor t)
{
    int32_t node = s->node_of_tensor[t.i];
    clv_layout layout = CLV_LAYOUT_COPIES;
    if (node >= 0)
        return s->layout[s->problem->first_choice[node] + answer[node]];
    if (need_of_reader(s, answer, t, &layout) ||
        clv_tensor_at(s->types->graph, t)->role != CLV_TENSOR_RESULT)
        return layout;
    return made_by(s, answer, t); /* nobody reads it: it stays as it is */
}
