#include "annotations/propagation.h"

#include "annotations/node_propagation.h"
#include "annotations/spec_reshard.h"
#include "sharding/graph_factors.h"

/* How a tensor lies where it was made. Zero: unsharded, whole on whatever device wants it. */
typedef struct {
    const clv_sharding_spec *spec;
    const clv_shards *shards;
    bool open; /* spec is there, but no size */
} placed;

/* The pass over the graph, for one configuration after another. */
typedef struct {
    const clv_types *types;
    const clv_graph *g;
    clv_shard_list *list;
    clv_arena *arena, *scratch;
    clv_spec_resharder *resharder;
    bool kept;                      /* of the node at hand something in the arena is still needed */
    clv_factors *rules;             /* by operator */
    placed *at;                     /* by tensor */
    int32_t *first_node, *end_node; /* by operator: its entries in the list; none: equal */
    const clv_shard_row **own;      /* by tensor: its row at the node at hand */
    int32_t configuration;
} pass;

/* The node at hand. */
typedef struct {
    clv_op op;
    const clv_op_info *info;
    const clv_factors *factors;
    clv_shard_node *entry; /* its first; NULL: it is not annotated */
    bool has_specs;
    clv_spec_operand *in, *out;
    const char *why_not; /* it is not checked: a sentence without its name */
} step;

static clv_status fail_nomem(clv_error *err) { return clv_fail_nomem(err, "shards"); }

static clv_shard_site place_of(const pass *p, const step *s, const char *tensor)
{
    return (clv_shard_site){ p->configuration, s->info->label, tensor };
}

/* -- what is listed -- */

static clv_status list_unchecked(pass *p, const step *s, const char *text, clv_error *err)
{
    clv_shard_list *list = p->list;

    p->kept = true;
    if (!text || !CLV_PUSH_ROOM(p->arena, list->unchecked, list->n_unchecked, list->cap_unchecked))
        return fail_nomem(err);
    list->unchecked[list->n_unchecked++] = (clv_shard_remark){ place_of(p, s, NULL), text };
    return CLV_OK;
}

/* result: of an output, for its summands; NULL. */
static clv_status list_inferred(pass *p, const step *s, clv_shard_inferred one,
                                const clv_output_spec *result, clv_error *err)
{
    clv_shard_list *list = p->list;

    one.at = place_of(p, s, one.at.tensor);
    one.text = one.spec ? clv_spec_show(one.spec, p->arena) : "unsharded";
    one.n_summands = result ? result->n_summands : 1;
    if (one.n_summands > 1)
        one.reduce = clv_reduce_name(result->reduce);
    p->kept = true;
    if (!one.text || !CLV_PUSH_ROOM(p->arena, list->inferred, list->n_inferred, list->cap_inferred))
        return fail_nomem(err);
    list->inferred[list->n_inferred++] = one;
    return CLV_OK;
}

/* one: without its `to` and steps. */
static clv_status list_move(pass *p, clv_shard_move one, const clv_spec_reshard_request *req,
                            clv_error *err)
{
    clv_shard_list *list = p->list;

    one.to = clv_spec_show(req->to, p->arena);
    if (!one.from || !one.to)
        return fail_nomem(err);
    CLV_TRY(clv_spec_reshard(p->resharder, req, p->arena, &one.steps, &one.n_steps, err));
    if (one.n_steps == 0) /* written otherwise, it is the same */
        return CLV_OK;
    p->kept = true;
    if (!CLV_PUSH_ROOM(p->arena, list->moves, list->n_moves, list->cap_moves))
        return fail_nomem(err);
    list->moves[list->n_moves++] = one;
    return CLV_OK;
}

/* -- the operands of a node -- */

static bool is_split(const clv_sharding_spec *spec) { return spec && clv_spec_parts(spec) > 1; }

/* An input without a spec is as it was made; an output's is to be inferred. A tensor without a
 * known shape has specs that nobody can check. */
static clv_status find_operand(const pass *p, step *s, clv_tensor t, bool is_input,
                               clv_spec_operand *x, clv_error *err)
{
    const clv_shard_row *own = p->own[t.i];
    const placed *made = &p->at[t.i];
    const clv_type *type = &p->types->of[t.i];

    *x = (clv_spec_operand){ .type = type };
    x->name = clv_arena_str(p->arena, clv_tensor_at(p->g, t)->name);
    if (!x->name)
        return fail_nomem(err);
    if (!s->why_not &&
        (type->kind != CLV_TYPE_TENSOR || type->rank < 0 || !clv_type_is_static(type))) {
        s->why_not =
            clv_arena_printf(p->arena, "not checked: the size of '%.80s' is not known", x->name);
        if (!s->why_not)
            return fail_nomem(err);
    }
    x->spec = own ? &own->spec : is_input ? made->spec : NULL;
    x->shards = own ? &own->shards : is_input ? made->shards : NULL;
    x->is_own = own != NULL;
    return CLV_OK;
}

static clv_status find_operands(const pass *p, step *s, clv_error *err)
{
    int32_t n_in = clv_op_n_explicit(s->info), n_out = s->info->n_out;

    s->in = CLV_NEW_ARRAY(p->arena, clv_spec_operand, n_in);
    s->out = CLV_NEW_ARRAY(p->arena, clv_spec_operand, n_out);
    if (!s->in || !s->out)
        return fail_nomem(err);
    for (int32_t k = 0; k < n_in + n_out; k++) {
        bool is_input = k < n_in;
        clv_tensor t =
            is_input ? clv_op_input(p->g, s->info, k) : clv_op_output(p->g, s->info, k - n_in);
        if (t.i >= 0)
            CLV_TRY(find_operand(p, s, t, is_input, is_input ? &s->in[k] : &s->out[k - n_in], err));
    }
    return CLV_OK;
}

/* -- inputs: where they come from -- */

/* From how it was made to the node's own spec of it. */
static clv_status move_input(pass *p, const step *s, clv_tensor t, const clv_spec_operand *x,
                             clv_error *err)
{
    const placed *made = &p->at[t.i];
    clv_spec_reshard_request req = {
        .type = x->type, .from = made->spec, .n_summands = 1, .to = x->spec, .to_shards = x->shards
    };

    if (!made->spec || made->open || s->why_not || s->factors->by_shape) /* reads no element */
        return CLV_OK;
    clv_shard_move one = { .at = place_of(p, s, x->name),
                           .from = clv_spec_show(made->spec, p->arena) };
    return list_move(p, one, &req, err);
}

/* An input of the model is whole where it enters, whatever the first node does with it. */
static clv_status list_entry(pass *p, const step *s, const clv_spec_operand *x, clv_error *err)
{
    clv_shard_list *list = p->list;
    const char *text = clv_spec_show(x->spec, p->arena);

    p->kept = true;
    if (!text || !CLV_PUSH_ROOM(p->arena, list->entries, list->n_entries, list->cap_entries))
        return fail_nomem(err);
    list->entries[list->n_entries++] = (clv_shard_remark){ place_of(p, s, x->name), text };
    return CLV_OK;
}

/* An input without a spec, which is cut as the node's own specs of other inputs ask. */
static clv_status follow_others(pass *p, const step *s, clv_tensor t, const clv_spec_operand *x,
                                const clv_sharding_spec *taken_as, clv_error *err)
{
    if (!taken_as)
        return list_unchecked(p, s,
                              clv_arena_printf(p->arena,
                                               "'%.80s' has no spec, and none says what the specs "
                                               "of the other inputs ask of it",
                                               x->name),
                              err);
    clv_shards *shards = CLV_NEW(p->arena, clv_shards);
    const clv_tensor_split tensor = { .rank = x->type->rank,
                                      .dims = x->type->dims,
                                      .dtype = x->type->dtype,
                                      .policy = p->list->policy };
    if (!shards)
        return fail_nomem(err);
    CLV_TRY(clv_spec_shards(taken_as, &tensor, p->arena, shards, err));
    clv_spec_operand taken = { x->name, x->type, taken_as, shards, false };
    CLV_TRY(list_inferred(
        p, s,
        (clv_shard_inferred){ .at.tensor = x->name, .why = CLV_SHARD_BY_INPUTS, .spec = taken_as },
        NULL, err));
    return move_input(p, s, t, &taken, err);
}

/* outcome NULL: nothing follows for the node. */
static clv_status trace_inputs(pass *p, const step *s, const clv_node_outcome *outcome,
                               clv_error *err)
{
    for (int32_t k = 0; k < clv_op_n_explicit(s->info); k++) {
        clv_tensor t = clv_op_input(p->g, s->info, k);
        const clv_spec_operand *x = &s->in[k];
        bool again = false;
        for (int32_t j = 0; j < k && !again; j++)
            again = t.i >= 0 && clv_op_input(p->g, s->info, j).i == t.i;
        if (t.i < 0 || again)
            continue;
        clv_tensor_role role = clv_tensor_at(p->g, t)->role;
        clv_shard_inferred one = { .at.tensor = x->name,
                                   .why = role == CLV_TENSOR_RESULT ? CLV_SHARD_OF_PRODUCER
                                                                    : CLV_SHARD_OF_INPUT,
                                   .spec = x->spec };
        if (outcome && outcome->in.follows[k])
            CLV_TRY(follow_others(p, s, t, x, outcome->in.taken_as[k], err));
        else if (p->own[t.i])
            CLV_TRY(move_input(p, s, t, x, err));
        else if (s->has_specs || is_split(x->spec))
            CLV_TRY(list_inferred(p, s, one, NULL, err));
        if (p->own[t.i] && role == CLV_TENSOR_INPUT && is_split(x->spec))
            CLV_TRY(list_entry(p, s, x, err));
    }
    return CLV_OK;
}

/* -- outputs: where they go -- */

/* From what the devices have after the operator to how it is delivered. */
static clv_status move_output(pass *p, const step *s, const clv_spec_operand *x,
                              const clv_output_spec *r, const placed *to, clv_error *err)
{
    clv_shard_move one = { .at = place_of(p, s, x->name),
                           .is_output = true,
                           .own_differs = r->own_differs,
                           .from = "unsharded" };
    clv_spec_reshard_request req = { .type = x->type,
                                     .from = r->summands ? r->summands : r->spec,
                                     .summands = r->summands != NULL,
                                     .n_summands = r->n_summands,
                                     .reduce = r->reduce,
                                     .to = to->spec,
                                     .to_shards = to->shards };

    if (r->spec)
        one.from = clv_spec_show(r->spec, p->arena);
    if (one.from && r->n_summands > 1)
        one.from = clv_arena_printf(p->arena, "%lld partial results (%s), %s",
                                    (long long)r->n_summands, clv_reduce_name(r->reduce), one.from);
    return list_move(p, one, &req, err);
}

static clv_status place_output(pass *p, const step *s, const clv_spec_operand *x,
                               const clv_output_spec *r, placed *to, clv_error *err)
{
    bool sums = r->n_summands > 1;

    if (x->spec) { /* its own */
        *to = (placed){ x->spec, x->shards, false };
        bool cut =
            is_split(x->spec) && clv_op_n_explicit(s->info) > 0; /* a constant is just there */
        if ((r->own_differs && (r->spec || cut)) || sums)
            return move_output(p, s, x, r, to, err);
        return CLV_OK;
    }
    if (r->why_none)
        return list_unchecked(p, s,
                              clv_arena_printf(p->arena,
                                               "'%.80s' has no spec, and none follows: %s", x->name,
                                               r->why_none),
                              err);
    if (s->has_specs || is_split(r->spec) || sums)
        CLV_TRY(list_inferred(
            p, s,
            (clv_shard_inferred){ .at.tensor = x->name, .why = CLV_SHARD_BY_RULE, .spec = r->spec },
            r, err));
    if (!r->spec)
        return CLV_OK;
    const clv_tensor_split tensor = { .rank = x->type->rank,
                                      .dims = x->type->dims,
                                      .dtype = x->type->dtype,
                                      .policy = p->list->policy };
    clv_shards *shards = CLV_NEW(p->arena, clv_shards);
    p->kept = true;
    if (!shards)
        return fail_nomem(err);
    to->spec = r->spec;
    to->shards = shards;
    CLV_TRY(clv_spec_shards(r->spec, &tensor, p->arena, shards, err));
    return sums ? move_output(p, s, x, r, to, err) : CLV_OK;
}

/* Where nothing follows, an output lies as its own spec has it, or is taken to be unsharded. */
static void place_own_outputs(pass *p, const step *s)
{
    for (int32_t k = 0; k < s->info->n_out; k++) {
        clv_tensor t = clv_op_output(p->g, s->info, k);
        if (t.i >= 0 && p->own[t.i])
            p->at[t.i] = (placed){ &p->own[t.i]->spec, &p->own[t.i]->shards, p->own[t.i]->open };
    }
}

/* -- one node -- */

static clv_status refuse_specs(pass *p, step *s, const char *wrong, clv_error *err)
{
    place_own_outputs(p, s);
    if (!s->has_specs)
        return list_unchecked(p, s,
                              clv_arena_printf(p->arena,
                                               "has no specs, and what follows for its inputs does "
                                               "not go together: %s",
                                               wrong),
                              err);
    s->entry->wrong =
        clv_arena_printf(p->arena, "node '%.*s': %s", CLV_STR_ARG(s->info->label), wrong);
    p->list->n_wrong++;
    p->kept = true;
    return s->entry->wrong ? CLV_OK : fail_nomem(err);
}

static clv_status propagate_by_rule(pass *p, step *s, clv_error *err)
{
    clv_node_outcome outcome = { 0 };
    clv_error inner = { .message = "" };
    clv_spec_node node = { .op_type = s->info->type,
                           .factors = s->factors,
                           .in = s->in,
                           .out = s->out,
                           .policy = p->list->policy };

    clv_status status = clv_propagate_node(&node, p->scratch, p->arena, &outcome, &inner);
    if (status == CLV_ELIMIT) {
        CLV_TRY(trace_inputs(p, s, NULL, err));
        place_own_outputs(p, s);
        return list_unchecked(p, s, clv_arena_printf(p->arena, "not checked: %s", inner.message),
                              err);
    }
    if (status != CLV_OK)
        return clv_fail(err, status, "%s", inner.message);
    CLV_TRY(trace_inputs(p, s, outcome.wrong ? NULL : &outcome, err));
    if (outcome.wrong)
        return refuse_specs(p, s, outcome.wrong, err);
    for (int32_t k = 0; k < s->info->n_out; k++) {
        clv_tensor t = clv_op_output(p->g, s->info, k);
        if (t.i >= 0)
            CLV_TRY(place_output(p, s, &s->out[k], &outcome.out[k], &p->at[t.i], err));
    }
    return CLV_OK;
}

static clv_status propagate_node(pass *p, step *s, clv_error *err)
{
    bool any = false;

    s->factors = &p->rules[s->op.i];
    CLV_TRY(find_operands(p, s, err));
    if (!s->why_not && s->factors->no_rule) {
        s->why_not = clv_arena_printf(p->arena, "%s: %s",
                                      s->has_specs ? "not checked, its specs are the user's own"
                                                   : "has no specs, and none follow",
                                      s->factors->why_whole);
        if (!s->why_not)
            return fail_nomem(err);
    }
    if (!s->why_not)
        return propagate_by_rule(p, s, err);
    CLV_TRY(trace_inputs(p, s, NULL, err));
    for (int32_t k = 0; k < clv_op_n_explicit(s->info); k++)
        any |= is_split(s->in[k].spec);
    for (int32_t k = 0; k < s->info->n_out; k++)
        any |= is_split(s->out[k].spec);
    place_own_outputs(p, s); /* nobody knows: what the user has written is taken as it is */
    return any ? list_unchecked(p, s, s->why_not, err) : CLV_OK;
}

/* Rows of the node's entries by tensor. *ret_good: none of them is wrong by itself. */
static clv_status index_own_rows(pass *p, const step *s, bool *ret_good, clv_error *err)
{
    bool good = true;

    for (int32_t i = p->first_node[s->op.i]; i < p->end_node[s->op.i]; i++) {
        clv_shard_node *node = &p->list->nodes[i];
        good = good && !node->wrong;
        for (int32_t k = 0; k < node->n_rows; k++) {
            clv_shard_row *row = &node->rows[k];
            if (!row->wrong && p->own[row->id.i] && !node->wrong) {
                row->wrong = clv_arena_printf(p->arena,
                                              "node '%.*s' has two specs for '%.80s', expected one",
                                              CLV_STR_ARG(s->info->label), row->tensor);
                p->list->n_wrong++;
                p->kept = true;
                if (!row->wrong)
                    return fail_nomem(err);
            }
            good = good && !row->wrong;
            if (!row->wrong)
                p->own[row->id.i] = row;
        }
    }
    *ret_good = good;
    return CLV_OK;
}

static clv_status visit(pass *p, clv_op op, clv_error *err)
{
    step s = { .op = op, .info = clv_op_at(p->g, op) };
    bool sharded = false, good = true;

    for (int32_t i = p->first_node[op.i]; i < p->end_node[op.i]; i++) {
        s.entry = s.entry ? s.entry : &p->list->nodes[i];
        s.has_specs |= p->list->nodes[i].n_rows > 0;
    }
    for (int32_t k = 0; k < clv_op_n_explicit(s.info) && !sharded; k++) {
        clv_tensor t = clv_op_input(p->g, s.info, k);
        sharded = t.i >= 0 && p->at[t.i].spec;
    }
    if (!s.has_specs && !sharded)
        return CLV_OK;
    clv_mark mark = clv_arena_mark(p->arena);
    p->kept = false;
    clv_status status = index_own_rows(p, &s, &good, err);
    if (status == CLV_OK && good)
        status = propagate_node(p, &s, err);
    else
        place_own_outputs(p, &s);
    for (int32_t i = p->first_node[op.i]; i < p->end_node[op.i]; i++)
        for (int32_t k = 0; k < p->list->nodes[i].n_rows; k++)
            if (p->list->nodes[i].rows[k].id.i >= 0)
                p->own[p->list->nodes[i].rows[k].id.i] = NULL;
    if (!p->kept)
        clv_arena_rewind(p->arena, mark);
    return status;
}

/* -- all of them -- */

static clv_status run_configuration(pass *p, clv_error *err)
{
    clv_shard_list *list = p->list;

    memset(p->at, 0, (size_t)p->g->n_tensors * sizeof *p->at);
    memset(p->first_node, 0, (size_t)p->g->n_ops * sizeof *p->first_node);
    memset(p->end_node, 0, (size_t)p->g->n_ops * sizeof *p->end_node);
    for (int32_t i = 0; i < list->n_nodes; i++) {
        int32_t op = list->nodes[i].op.i;
        if (list->nodes[i].configuration != p->configuration)
            continue;
        if (p->end_node[op] == 0) /* entries of one node follow each other */
            p->first_node[op] = i;
        p->end_node[op] = i + 1;
    }
    for (int32_t i = 0; i < p->g->n_ops; i++)
        CLV_TRY(visit(p, (clv_op){ i }, err));
    return CLV_OK;
}

/* layouts: for the resharder, which keeps what it finds. */
static clv_status run_all(pass *p, clv_arena *layouts, clv_error *err)
{
    p->at = CLV_NEW_ARRAY(p->arena, placed, p->g->n_tensors);
    p->own = CLV_NEW_ARRAY(p->arena, const clv_shard_row *, p->g->n_tensors);
    p->first_node = CLV_NEW_ARRAY(p->arena, int32_t, p->g->n_ops);
    p->end_node = CLV_NEW_ARRAY(p->arena, int32_t, p->g->n_ops);
    if (!p->at || !p->own || !p->first_node || !p->end_node)
        return fail_nomem(err);
    if (p->list->n_nodes == 0)
        return CLV_OK;
    CLV_TRY(clv_factors_all(p->list->model, p->types, p->arena, &p->rules, err));
    CLV_TRY(clv_spec_resharder_new(layouts, &p->resharder, err));
    for (p->configuration = 0; p->configuration < p->list->n_configurations; p->configuration++)
        CLV_TRY(run_configuration(p, err));
    return CLV_OK;
}

clv_status clv_propagate_shardings(const clv_types *types, clv_shard_list *list, clv_arena *arena,
                                   clv_error *err)
{
    pass p = { .types = types, .g = types->graph, .list = list, .arena = arena };
    clv_arena *layouts = clv_arena_new(clv_arena_alloc(arena), 0);

    p.scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_status status = p.scratch && layouts ? run_all(&p, layouts, err) : fail_nomem(err);
    clv_arena_free(p.scratch);
    clv_arena_free(layouts);
    return status;
}
