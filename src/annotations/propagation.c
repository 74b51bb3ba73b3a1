#include "annotations/propagation.h"

#include "annotations/node_propagation.h"
#include "annotations/spec_reshard.h"
#include "sharding/factors.h"
#include "sharding/graph_factors.h"

/* How a tensor lies where it was made. Zero: unsharded, whole on whatever device wants it. */
typedef struct {
    const clv_sharding_spec *spec;
    const clv_shards *shards;
    bool open; /* spec is there, but no size */
} placed;

typedef struct {
    const clv_types *types;
    const clv_graph *g;
    clv_shard_list *list;
    clv_arena *arena, *scratch, *layouts; /* the last: of movers, which keep what they find */
    clv_error *err;
    clv_spec_resharder *movers;
    bool kept;                      /* of the node at hand something in the arena is still needed */
    clv_factors *rules;             /* by operator */
    placed *at;                     /* by tensor */
    int32_t *first_node, *end_node; /* by operator: its entries in the list; none: equal */
    const clv_shard_row **own;      /* by tensor: its row at the node at hand */
    int32_t configuration;
} flow;

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

static clv_status fail_nomem(const flow *f) { return clv_fail_nomem(f->err, "shards"); }

static clv_shard_site place_of(const flow *f, const step *s, const char *tensor)
{
    return (clv_shard_site){ f->configuration, s->info->label, tensor };
}

/* -- what is told -- */

static clv_status tell(flow *f, clv_shard_remark **at, int32_t *n, int32_t *cap,
                       clv_shard_site place, const char *text)
{
    f->kept = true;
    if (!text || !CLV_PUSH_ROOM(f->arena, *at, *n, *cap))
        return fail_nomem(f);
    (*at)[(*n)++] = (clv_shard_remark){ place, text };
    return CLV_OK;
}

static clv_status tell_unchecked(flow *f, const step *s, const char *text)
{
    clv_shard_list *list = f->list;
    return tell(f, &list->unchecked, &list->n_unchecked, &list->cap_unchecked, place_of(f, s, NULL),
                text);
}

/* An input of the model is whole where it enters, whatever the first node does with it. */
static clv_status tell_entry(flow *f, const step *s, const clv_spec_operand *x)
{
    clv_shard_list *list = f->list;
    return tell(f, &list->entries, &list->n_entries, &list->cap_entries, place_of(f, s, x->name),
                clv_spec_show(x->spec, f->arena));
}

static clv_status tell_inferred(flow *f, const step *s, const char *tensor, clv_shard_why why,
                                const clv_sharding_spec *spec, const clv_output_spec *result)
{
    clv_shard_list *list = f->list;
    clv_shard_inferred one = { .at = place_of(f, s, tensor),
                               .why = why,
                               .spec = spec,
                               .text = spec ? clv_spec_show(spec, f->arena) : "unsharded",
                               .n_summands = result ? result->n_summands : 1 };

    f->kept = true;
    if (one.n_summands > 1)
        one.reduce = clv_reduce_name(result->reduce);
    if (!one.text || !CLV_PUSH_ROOM(f->arena, list->inferred, list->n_inferred, list->cap_inferred))
        return fail_nomem(f);
    list->inferred[list->n_inferred++] = one;
    return CLV_OK;
}

/* one: without its `to` and steps. */
static clv_status tell_move(flow *f, clv_shard_move one, const clv_spec_reshard_request *req)
{
    clv_shard_list *list = f->list;

    one.to = clv_spec_show(req->to, f->arena);
    if (!one.from || !one.to)
        return fail_nomem(f);
    CLV_TRY(clv_spec_reshard(f->movers, req, f->arena, &one.steps, &one.n_steps, f->err));
    if (one.n_steps == 0) /* said otherwise, it is the same */
        return CLV_OK;
    f->kept = true;
    if (!CLV_PUSH_ROOM(f->arena, list->moves, list->n_moves, list->cap_moves))
        return fail_nomem(f);
    list->moves[list->n_moves++] = one;
    return CLV_OK;
}

/* -- the operands of a node -- */

static const char *name_of(const flow *f, clv_tensor t)
{
    return clv_arena_printf(f->arena, "%.*s", CLV_STR_ARG(clv_tensor_at(f->g, t)->name));
}

static bool is_split(const clv_sharding_spec *spec) { return spec && clv_spec_parts(spec) > 1; }

/* A tensor without a known shape has specs that nobody can check. */
static clv_status look_at_type(flow *f, step *s, const clv_spec_operand *x)
{
    if (s->why_not ||
        (x->type->kind == CLV_TYPE_TENSOR && x->type->rank >= 0 && clv_type_is_static(x->type)))
        return CLV_OK;
    s->why_not =
        clv_arena_printf(f->arena, "not checked: the size of '%.80s' is not known", x->name);
    return s->why_not ? CLV_OK : fail_nomem(f);
}

static clv_status take_input(flow *f, step *s, clv_tensor t, clv_spec_operand *x)
{
    const clv_shard_row *own = f->own[t.i];
    const placed *made = &f->at[t.i];

    *x = (clv_spec_operand){ .name = name_of(f, t), .type = &f->types->of[t.i] };
    if (!x->name)
        return fail_nomem(f);
    CLV_TRY(look_at_type(f, s, x));
    x->spec = own ? &own->spec : made->spec;
    x->shards = own ? &own->shards : made->shards;
    return CLV_OK;
}

static clv_status take_output(flow *f, step *s, clv_tensor t, clv_spec_operand *x)
{
    const clv_shard_row *own = f->own[t.i];

    *x = (clv_spec_operand){ .name = name_of(f, t), .type = &f->types->of[t.i] };
    if (!x->name)
        return fail_nomem(f);
    CLV_TRY(look_at_type(f, s, x));
    if (own) {
        x->spec = &own->spec;
        x->shards = &own->shards;
    }
    return CLV_OK;
}

static clv_status take_operands(flow *f, step *s)
{
    int32_t n_in = clv_op_n_explicit(s->info), n_out = s->info->n_out;

    s->in = CLV_NEW_ARRAY(f->arena, clv_spec_operand, n_in);
    s->out = CLV_NEW_ARRAY(f->arena, clv_spec_operand, n_out);
    if (!s->in || !s->out)
        return fail_nomem(f);
    for (int32_t k = 0; k < n_in; k++)
        if (clv_op_input(f->g, s->info, k).i >= 0)
            CLV_TRY(take_input(f, s, clv_op_input(f->g, s->info, k), &s->in[k]));
    for (int32_t k = 0; k < n_out; k++)
        if (clv_op_output(f->g, s->info, k).i >= 0)
            CLV_TRY(take_output(f, s, clv_op_output(f->g, s->info, k), &s->out[k]));
    return CLV_OK;
}

/* -- inputs: where they come from -- */

static clv_status move_input(flow *f, const step *s, clv_tensor t, const clv_spec_operand *x)
{
    const placed *made = &f->at[t.i];
    clv_spec_reshard_request req = {
        .type = x->type, .from = made->spec, .n_summands = 1, .to = x->spec, .to_shards = x->shards
    };

    if (!made->spec || made->open || s->why_not || s->factors->by_shape) /* reads no element */
        return CLV_OK;
    clv_shard_move one = { .at = place_of(f, s, x->name),
                           .from = clv_spec_show(made->spec, f->arena) };
    return tell_move(f, one, &req);
}

static clv_status trace_inputs(flow *f, const step *s)
{
    for (int32_t k = 0; k < clv_op_n_explicit(s->info); k++) {
        clv_tensor t = clv_op_input(f->g, s->info, k);
        const clv_spec_operand *x = &s->in[k];
        bool again = false;
        for (int32_t j = 0; j < k && !again; j++)
            again = t.i >= 0 && clv_op_input(f->g, s->info, j).i == t.i;
        if (t.i < 0 || again)
            continue;
        clv_tensor_role role = clv_tensor_at(f->g, t)->role;
        if (f->own[t.i])
            CLV_TRY(move_input(f, s, t, x));
        else if (s->has_specs || is_split(x->spec))
            CLV_TRY(tell_inferred(f, s, x->name,
                                  role == CLV_TENSOR_RESULT ? CLV_SHARD_OF_PRODUCER
                                                            : CLV_SHARD_OF_INPUT,
                                  x->spec, NULL));
        if (f->own[t.i] && role == CLV_TENSOR_INPUT && is_split(x->spec))
            CLV_TRY(tell_entry(f, s, x));
    }
    return CLV_OK;
}

/* -- outputs: where they go -- */

static clv_status move_output(flow *f, const step *s, const clv_spec_operand *x,
                              const clv_output_spec *r, const clv_sharding_spec *to,
                              const clv_shards *to_shards)
{
    clv_shard_move one = { .at = place_of(f, s, x->name),
                           .is_output = true,
                           .own_differs = r->own_differs,
                           .from = "unsharded" };
    clv_spec_reshard_request req = { .type = x->type,
                                     .from = r->summands ? r->summands : r->spec,
                                     .summands = r->summands != NULL,
                                     .n_summands = r->n_summands,
                                     .reduce = r->reduce,
                                     .to = to,
                                     .to_shards = to_shards };

    if (r->spec)
        one.from = clv_spec_show(r->spec, f->arena);
    if (one.from && r->n_summands > 1)
        one.from = clv_arena_printf(f->arena, "%lld partial results (%s), %s",
                                    (long long)r->n_summands, clv_reduce_name(r->reduce), one.from);
    return tell_move(f, one, &req);
}

static clv_status shards_of(flow *f, const clv_spec_operand *x, const clv_sharding_spec *spec,
                            const clv_shards **ret)
{
    clv_shards *shards = CLV_NEW(f->arena, clv_shards);

    if (!shards)
        return fail_nomem(f);
    *ret = shards;
    const clv_tensor_split tensor = { .rank = x->type->rank,
                                      .dims = x->type->dims,
                                      .dtype = x->type->dtype,
                                      .policy = f->list->policy };
    return clv_spec_shards(spec, &tensor, f->arena, shards, f->err);
}

static clv_status give_output(flow *f, const step *s, const clv_spec_operand *x,
                              const clv_output_spec *r, placed *to)
{
    bool sums = r->n_summands > 1;

    if (x->spec) { /* its own */
        *to = (placed){ x->spec, x->shards, false };
        bool cut =
            is_split(x->spec) && clv_op_n_explicit(s->info) > 0; /* a constant is just there */
        if ((r->own_differs && (r->spec || cut)) || sums)
            return move_output(f, s, x, r, x->spec, x->shards);
        return CLV_OK;
    }
    if (r->unsaid)
        return tell_unchecked(f, s,
                              clv_arena_printf(f->arena,
                                               "'%.80s' has no spec, and none follows: %s", x->name,
                                               r->unsaid));
    if (s->has_specs || is_split(r->spec) || sums)
        CLV_TRY(tell_inferred(f, s, x->name, CLV_SHARD_BY_RULE, r->spec, r));
    if (!r->spec)
        return CLV_OK;
    f->kept = true;
    to->spec = r->spec;
    CLV_TRY(shards_of(f, x, r->spec, &to->shards));
    return sums ? move_output(f, s, x, r, to->spec, to->shards) : CLV_OK;
}

/* Where nothing follows, an output lies as its own spec says, or is taken to be unsharded. */
static void own_outputs(flow *f, const step *s)
{
    for (int32_t k = 0; k < s->info->n_out; k++) {
        clv_tensor t = clv_op_output(f->g, s->info, k);
        if (t.i >= 0 && f->own[t.i])
            f->at[t.i] = (placed){ &f->own[t.i]->spec, &f->own[t.i]->shards, f->own[t.i]->open };
    }
}

/* -- one node -- */

static clv_status check_by_rule(flow *f, step *s)
{
    clv_node_outcome found = { 0 };
    clv_spec_node node = { .op_type = s->info->type,
                           .factors = s->factors,
                           .in = s->in,
                           .out = s->out,
                           .policy = f->list->policy };

    clv_status status = clv_propagate_node(&node, f->scratch, f->arena, &found, f->err);
    if (status == CLV_ELIMIT) {
        own_outputs(f, s);
        return tell_unchecked(f, s, clv_arena_printf(f->arena, "not checked: %s", f->err->message));
    }
    CLV_TRY(status);
    if (found.wrong) {
        own_outputs(f, s);
        if (!s->has_specs)
            return tell_unchecked(f, s,
                                  clv_arena_printf(f->arena,
                                                   "has no specs, and what follows for "
                                                   "its inputs does not go together: %s",
                                                   found.wrong));
        s->entry->wrong =
            clv_arena_printf(f->arena, "node '%.*s': %s", CLV_STR_ARG(s->info->label), found.wrong);
        f->list->n_wrong++;
        f->kept = true;
        return s->entry->wrong ? CLV_OK : fail_nomem(f);
    }
    for (int32_t k = 0; k < s->info->n_out; k++) {
        clv_tensor t = clv_op_output(f->g, s->info, k);
        if (t.i >= 0)
            CLV_TRY(give_output(f, s, &s->out[k], &found.out[k], &f->at[t.i]));
    }
    return CLV_OK;
}

/* Nobody knows: what the user says is taken as it is. */
static clv_status leave_unchecked(flow *f, step *s)
{
    bool any = false;

    for (int32_t k = 0; k < clv_op_n_explicit(s->info); k++)
        any |= is_split(s->in[k].spec);
    for (int32_t k = 0; k < s->info->n_out; k++)
        any |= is_split(s->out[k].spec);
    own_outputs(f, s);
    return any ? tell_unchecked(f, s, s->why_not) : CLV_OK;
}

static clv_status check_node(flow *f, step *s)
{
    s->factors = &f->rules[s->op.i];
    CLV_TRY(take_operands(f, s));
    if (!s->why_not && s->factors->no_rule) {
        s->why_not = clv_arena_printf(f->arena, "%s: %s",
                                      s->has_specs ? "not checked, its specs are the user's own"
                                                   : "has no specs, and none follow",
                                      s->factors->why_whole);
        if (!s->why_not)
            return fail_nomem(f);
    }
    CLV_TRY(trace_inputs(f, s));
    return s->why_not ? leave_unchecked(f, s) : check_by_rule(f, s);
}

static clv_status refuse_second(flow *f, const step *s, clv_shard_row *row)
{
    row->wrong = clv_arena_printf(f->arena, "node '%.*s' has two specs for '%.80s', expected one",
                                  CLV_STR_ARG(s->info->label), row->tensor);
    f->list->n_wrong++;
    f->kept = true;
    return row->wrong ? CLV_OK : fail_nomem(f);
}

/* Rows of the node's entries by tensor. *ret_good: none of them is wrong by itself. */
static clv_status set_own(flow *f, const step *s, bool *ret_good)
{
    bool good = true;

    for (int32_t i = f->first_node[s->op.i]; i < f->end_node[s->op.i]; i++) {
        good = good && !f->list->nodes[i].wrong;
        for (int32_t k = 0; k < f->list->nodes[i].n_rows; k++) {
            clv_shard_row *row = &f->list->nodes[i].rows[k];
            if (!row->wrong && f->own[row->id.i] && !f->list->nodes[i].wrong)
                CLV_TRY(refuse_second(f, s, row));
            good = good && !row->wrong;
            if (!row->wrong)
                f->own[row->id.i] = row;
        }
    }
    *ret_good = good;
    return CLV_OK;
}

static void clear_own(flow *f, const step *s)
{
    for (int32_t i = f->first_node[s->op.i]; i < f->end_node[s->op.i]; i++)
        for (int32_t k = 0; k < f->list->nodes[i].n_rows; k++)
            if (f->list->nodes[i].rows[k].id.i >= 0)
                f->own[f->list->nodes[i].rows[k].id.i] = NULL;
}

static bool all_unsharded(const flow *f, const clv_op_info *info)
{
    for (int32_t k = 0; k < clv_op_n_explicit(info); k++) {
        clv_tensor t = clv_op_input(f->g, info, k);
        if (t.i >= 0 && f->at[t.i].spec)
            return false;
    }
    return true;
}

static clv_status visit(flow *f, clv_op op)
{
    step s = { .op = op, .info = clv_op_at(f->g, op) };

    for (int32_t i = f->first_node[op.i]; i < f->end_node[op.i]; i++) {
        s.entry = s.entry ? s.entry : &f->list->nodes[i];
        s.has_specs |= f->list->nodes[i].n_rows > 0;
    }
    if (!s.has_specs && all_unsharded(f, s.info))
        return CLV_OK;
    clv_mark mark = clv_arena_mark(f->arena);
    bool good = true;
    f->kept = false;
    clv_status status = set_own(f, &s, &good);
    if (status == CLV_OK && good)
        status = check_node(f, &s);
    else
        own_outputs(f, &s);
    clear_own(f, &s);
    if (!f->kept)
        clv_arena_rewind(f->arena, mark);
    return status;
}

/* -- all of them -- */

static clv_status run_configuration(flow *f)
{
    clv_shard_list *list = f->list;

    memset(f->at, 0, (size_t)f->g->n_tensors * sizeof *f->at);
    memset(f->first_node, 0, (size_t)f->g->n_ops * sizeof *f->first_node);
    memset(f->end_node, 0, (size_t)f->g->n_ops * sizeof *f->end_node);
    for (int32_t i = 0; i < list->n_nodes; i++) {
        int32_t op = list->nodes[i].op.i;
        if (list->nodes[i].configuration != f->configuration)
            continue;
        if (f->end_node[op] == 0) /* entries of one node follow each other */
            f->first_node[op] = i;
        f->end_node[op] = i + 1;
    }
    for (int32_t i = 0; i < f->g->n_ops; i++)
        CLV_TRY(visit(f, (clv_op){ i }));
    return CLV_OK;
}

static clv_status run_all(flow *f)
{
    f->at = CLV_NEW_ARRAY(f->arena, placed, f->g->n_tensors);
    f->own = CLV_NEW_ARRAY(f->arena, const clv_shard_row *, f->g->n_tensors);
    f->first_node = CLV_NEW_ARRAY(f->arena, int32_t, f->g->n_ops);
    f->end_node = CLV_NEW_ARRAY(f->arena, int32_t, f->g->n_ops);
    if (!f->at || !f->own || !f->first_node || !f->end_node)
        return fail_nomem(f);
    if (f->list->n_nodes == 0)
        return CLV_OK;
    CLV_TRY(clv_factors_all(f->list->model, f->types, f->arena, &f->rules, f->err));
    CLV_TRY(clv_spec_resharder_new(f->layouts, &f->movers, f->err));
    for (f->configuration = 0; f->configuration < f->list->n_configurations; f->configuration++)
        CLV_TRY(run_configuration(f));
    return CLV_OK;
}

clv_status clv_propagate_shardings(const clv_types *types, clv_shard_list *list, clv_arena *arena,
                                   clv_error *err)
{
    flow f = { .types = types, .g = types->graph, .list = list, .arena = arena, .err = err };

    f.scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    f.layouts = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_status status = f.scratch && f.layouts ? run_all(&f) : fail_nomem(&f);
    clv_arena_free(f.scratch);
    clv_arena_free(f.layouts);
    return status;
}
