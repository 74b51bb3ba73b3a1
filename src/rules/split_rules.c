#include "rules/split_rules.h"

#include "sharding/factors.h"

#define SHOW(at)    clv_json_path((at), (char[256]){ 0 }, 256)

#define FACTOR_SIZE sizeof(((clv_factor *)0)->name)

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "constraints"); }

/* -- axes -- */

static clv_status read_axis(clv_node_reader *r, const clv_json_at *at, clv_split_rule *split,
                            const char **axes, clv_error *err)
{
    const char *name = NULL;
    CLV_TRY(clv_json_copy_string(at, r->arena, &name, err));
    if (!*name)
        return clv_fail(err, CLV_EFORMAT, "%s is empty, expected an axis of the mesh", SHOW(at));
    for (int32_t a = 0; a < split->n_axes; a++)
        if (strcmp(axes[a], name) == 0)
            return clv_fail(err, CLV_EFORMAT, "%s is '%.80s', which is listed before", SHOW(at),
                            name);
    clv_constraint_say(r, "%s%s", split->n_axes ? "." : "", name);
    axes[split->n_axes++] = name;
    return CLV_OK;
}

/* A name, or a list of them. */
static clv_status read_axes(clv_node_reader *r, const clv_json_at *at, clv_split_rule *split,
                            clv_error *err)
{
    const char **axes = CLV_NEW_ARRAY(r->arena, const char *, CLV_MESH_AXES_MAX);
    clv_json_at element = { 0 };
    int32_t n = 0;
    if (!axes)
        return nomem(err);
    split->axes = axes;
    if (!clv_json_is_array(at))
        return read_axis(r, at, split, axes, err);
    CLV_TRY(clv_json_length(at, &n, err));
    if (n < 1 || n > CLV_MESH_AXES_MAX)
        return clv_fail(err, CLV_EFORMAT, "%s has %d names, expected 1 to %d axes of the mesh",
                        SHOW(at), (int)n, CLV_MESH_AXES_MAX);
    for (int32_t i = 0; i < n; i++) {
        element = clv_json_element(at, i, i ? &element : NULL);
        CLV_TRY(read_axis(r, &element, split, axes, err));
    }
    return CLV_OK;
}

static clv_status read_over(clv_node_reader *r, const clv_json_at *object, bool required,
                            clv_split_rule *split, clv_error *err)
{
    clv_json_at at;
    CLV_TRY(clv_json_member(object, "over", required, &at, err));
    if (!at.json)
        return CLV_OK;
    clv_constraint_say(r, " over ");
    return read_axes(r, &at, split, err);
}

/* -- what is split -- */

static clv_status count(int64_t *n_members, int32_t n, clv_error *err)
{
    *n_members += n;
    if (*n_members <= CLV_RULE_MEMBERS_MAX)
        return CLV_OK;
    return clv_fail(err, CLV_ELIMIT, "the rules name more than %d operators", CLV_RULE_MEMBERS_MAX);
}

static clv_status take_ops(clv_node_reader *r, const bool *in, int64_t *n_members,
                           clv_split_rule *split, clv_error *err)
{
    int32_t n = 0;
    for (int32_t i = 0; i < r->g->n_ops; i++)
        n += in[i];
    CLV_TRY(count(n_members, n, err));
    split->ops = CLV_NEW_ARRAY(r->arena, clv_op, n);
    if (!split->ops)
        return nomem(err);
    for (int32_t i = 0; i < r->g->n_ops; i++)
        if (in[i])
            split->ops[split->n_ops++] = (clv_op){ i };
    return CLV_OK;
}

static clv_status add_tensor(clv_node_reader *r, int32_t t, int64_t *n_members,
                             clv_split_rule *split, clv_error *err)
{
    CLV_TRY(count(n_members, 1, err));
    if (!CLV_PUSH_ROOM(r->arena, split->tensors, split->n_tensors, split->cap_tensors))
        return nomem(err);
    split->tensors[split->n_tensors++] = (clv_tensor){ t };
    return CLV_OK;
}

/* Of all tensors, weights and inputs among them; a name is itself, else a pattern. */
static clv_status match_tensors(clv_node_reader *r, const clv_json_at *at, int64_t *n_members,
                                clv_split_rule *split, clv_error *err)
{
    static const char *const keys[] = { "tensor", NULL };
    clv_json_at name;
    const char *text = NULL;
    int32_t before = split->n_tensors;
    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(clv_json_member(at, "tensor", true, &name, err));
    CLV_TRY(clv_json_string(&name, &text, err));
    if (!*text)
        return clv_fail(err, CLV_EFORMAT, "%s is empty, expected a name", SHOW(&name));
    clv_constraint_say(r, "tensor '%s'", text);
    for (int32_t t = 0; t < r->g->n_tensors; t++)
        if (clv_str_is(r->g->tensors[t].name, text))
            CLV_TRY(add_tensor(r, t, n_members, split, err));
    bool pattern = split->n_tensors == before && strpbrk(text, "*?");
    for (int32_t t = 0; pattern && t < r->g->n_tensors; t++)
        if (r->g->tensors[t].name.n > 0 && clv_glob_match(text, r->g->tensors[t].name))
            CLV_TRY(add_tensor(r, t, n_members, split, err));
    if (split->n_tensors > before)
        return CLV_OK;
    return clv_constraint_warn(r,
                               clv_arena_printf(r->arena,
                                                "%s: no tensor of the main graph is named '%.200s'",
                                                r->rule, text),
                               err);
}

typedef struct {
    bool *in; /* by operator */
    int64_t *n_members;
    clv_split_rule *split;
} members;

static clv_status read_one(clv_node_reader *r, const clv_json_at *at, void *ctx, clv_error *err)
{
    members *m = ctx;
    clv_json_at tensor = { 0 };
    if (clv_json_is_object(at))
        CLV_TRY(clv_json_member(at, "tensor", false, &tensor, err));
    if (tensor.json)
        return match_tensors(r, at, m->n_members, m->split, err);
    if (clv_json_is_array(at))
        return clv_fail(err, CLV_EFORMAT, "%s is a list within a list, expected a node", SHOW(at));
    return clv_constraint_nodes(r, at, m->in, err);
}

/* by_op: a tensor stands for the operator that writes it. */
static clv_status read_members(clv_node_reader *r, const clv_json_at *at, bool by_op, bool *in,
                               int64_t *n_members, clv_split_rule *split, clv_error *err)
{
    members m = { in, n_members, split };
    if (r->g->n_ops > 0)
        memset(in, 0, (size_t)r->g->n_ops * sizeof *in);
    CLV_TRY(by_op ? clv_constraint_nodes(r, at, in, err)
                  : clv_constraint_each(r, at, read_one, &m, err));
    return take_ops(r, in, n_members, split, err);
}

/* -- rules -- */

static clv_status read_factor(clv_node_reader *r, const clv_json_at *at, clv_split_rule *split,
                              clv_error *err)
{
    CLV_TRY(clv_json_copy_string(at, r->arena, &split->factor, err));
    if (*split->factor && strlen(split->factor) < FACTOR_SIZE)
        return CLV_OK;
    return clv_fail(err, CLV_EFORMAT,
                    "%s is '%.80s', expected the name of a factor as 'cleave rules' shows it",
                    SHOW(at), split->factor);
}

static clv_status read_split(clv_node_reader *r, const clv_json_at *object, const clv_json_at *at,
                             bool *in, int64_t *n_members, clv_split_rule *split, clv_error *err)
{
    clv_json_at dim, factor;
    int64_t number = 0;
    CLV_TRY(clv_json_member(object, "dim", false, &dim, err));
    CLV_TRY(clv_json_member(object, "factor", false, &factor, err));
    if (!dim.json == !factor.json)
        return clv_fail(err, CLV_EFORMAT,
                        "%s says \"split\" with %s, expected either \"dim\" or "
                        "\"factor\"",
                        SHOW(object), dim.json ? "both" : "neither");
    clv_constraint_say(r, "split ");
    CLV_TRY(read_members(r, at, factor.json != NULL, in, n_members, split, err));
    if (factor.json) {
        CLV_TRY(read_factor(r, &factor, split, err));
        clv_constraint_say(r, " by factor '%s'", split->factor);
    } else {
        CLV_TRY(clv_json_int(&dim, -CLV_RANK_MAX, CLV_RANK_MAX - 1, &number, err));
        split->dim = (int32_t)number;
        clv_constraint_say(r, " on dim %d", (int)number);
    }
    return read_over(r, object, true, split, err);
}

clv_status clv_split_rule_read(clv_node_reader *r, clv_rule_kind kind, const clv_json_at *object,
                               const clv_json_at *at, bool *in, int64_t *n_members, clv_rule *rule,
                               clv_error *err)
{
    clv_split_rule *split = CLV_NEW(r->arena, clv_split_rule);
    if (!split)
        return nomem(err);
    rule->kind = kind;
    rule->split = split;
    if (kind == CLV_RULE_DATA_PARALLEL) {
        clv_constraint_say(r, "data parallel over ");
        return read_axes(r, at, split, err);
    }
    if (kind == CLV_RULE_WHOLE) {
        clv_constraint_say(r, "never split ");
        CLV_TRY(read_members(r, at, false, in, n_members, split, err));
        CLV_TRY(read_over(r, object, false, split, err));
    } else {
        CLV_TRY(read_split(r, object, at, in, n_members, split, err));
    }
    rule->unused = split->n_ops == 0 && split->n_tensors == 0;
    return CLV_OK;
}
