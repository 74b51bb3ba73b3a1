#include "rules/constraints_read_split.h"

#include "base/glob.h"
#include "sharding/factors.h"

#define FACTOR_SIZE sizeof(((clv_factor *)0)->name)

typedef clv_constraints_reader reader;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "constraints"); }

/* -- axes -- */

static clv_status read_axis(reader *r, const clv_json_at *at, clv_split_constraint *split,
                            const char **axes, clv_error *err)
{
    const char *name = NULL;
    CLV_TRY(clv_json_copy_string(at, r->arena, &name, err));
    if (!*name)
        return clv_fail(err, CLV_EFORMAT, "%s is empty, expected an axis of the mesh",
                        CLV_CONSTRAINTS_PATH(at));
    for (int32_t a = 0; a < split->n_axes; a++)
        if (strcmp(axes[a], name) == 0)
            return clv_fail(err, CLV_EFORMAT, "%s is '%.80s', which is listed before",
                            CLV_CONSTRAINTS_PATH(at), name);
    clv_constraints_describe(r, "%s%s", split->n_axes ? "." : "", name);
    axes[split->n_axes++] = name;
    return CLV_OK;
}

/* A name, or a list of them. */
static clv_status read_axes(reader *r, const clv_json_at *at, clv_split_constraint *split,
                            clv_error *err)
{
    const char **axes = CLV_NEW_ARRAY(r->arena, const char *, CLV_MESH_AXES_MAX);
    clv_json_at element = { 0 };
    int32_t n = 0;
    if (!axes)
        return no_memory(err);
    split->axes = axes;
    if (!clv_json_is_array(at))
        return read_axis(r, at, split, axes, err);
    CLV_TRY(clv_json_length(at, &n, err));
    if (n < 1 || n > CLV_MESH_AXES_MAX)
        return clv_fail(err, CLV_EFORMAT, "%s has %d names, expected 1 to %d axes of the mesh",
                        CLV_CONSTRAINTS_PATH(at), (int)n, CLV_MESH_AXES_MAX);
    for (int32_t i = 0; i < n; i++) {
        element = clv_json_element(at, i, i ? &element : NULL);
        CLV_TRY(read_axis(r, &element, split, axes, err));
    }
    return CLV_OK;
}

static clv_status read_over(reader *r, const clv_json_at *object, bool required,
                            clv_split_constraint *split, clv_error *err)
{
    clv_json_at at;
    CLV_TRY(clv_json_member(object, "over", required, &at, err));
    if (!at.json)
        return CLV_OK;
    clv_constraints_describe(r, " over ");
    return read_axes(r, &at, split, err);
}

/* -- what is split -- */

static clv_status add_tensor(reader *r, int32_t t, clv_split_constraint *split, clv_error *err)
{
    CLV_TRY(clv_constraints_count_members(r, 1, err));
    if (!CLV_PUSH_ROOM(r->arena, split->tensors, split->n_tensors, split->cap_tensors))
        return no_memory(err);
    split->tensors[split->n_tensors++] = (clv_tensor){ t };
    return CLV_OK;
}

/* Of all tensors, weights and inputs among them; a name is itself, else a pattern. */
static clv_status match_tensors(reader *r, const clv_json_at *at, clv_split_constraint *split,
                                clv_error *err)
{
    static const char *const keys[] = { "tensor", NULL };
    clv_json_at name;
    const char *text = NULL;
    int32_t before = split->n_tensors;
    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(clv_json_member(at, "tensor", true, &name, err));
    CLV_TRY(clv_json_string(&name, &text, err));
    if (!*text)
        return clv_fail(err, CLV_EFORMAT, "%s is empty, expected a name",
                        CLV_CONSTRAINTS_PATH(&name));
    clv_constraints_describe(r, "tensor '%s'", text);
    for (int32_t t = 0; t < r->g->n_tensors; t++)
        if (clv_str_is(r->g->tensors[t].name, text))
            CLV_TRY(add_tensor(r, t, split, err));
    bool pattern = split->n_tensors == before && strpbrk(text, "*?");
    for (int32_t t = 0; pattern && t < r->g->n_tensors; t++)
        if (r->g->tensors[t].name.n > 0 && clv_glob_match(text, r->g->tensors[t].name))
            CLV_TRY(add_tensor(r, t, split, err));
    if (split->n_tensors > before)
        return CLV_OK;
    return clv_constraints_warn(
        r,
        clv_arena_printf(r->arena, "%s: no tensor of the main graph is named '%.200s'", r->rule,
                         text),
        err);
}

/* ctx: the clv_split_constraint, which takes tensors; operators are selected. */
static clv_status match_member(clv_constraints_reader *r, const clv_json_at *at, void *ctx,
                               clv_error *err)
{
    clv_json_at tensor = { 0 };
    if (clv_json_is_object(at))
        CLV_TRY(clv_json_member(at, "tensor", false, &tensor, err));
    if (tensor.json)
        return match_tensors(r, at, ctx, err);
    if (clv_json_is_array(at))
        return clv_fail(err, CLV_EFORMAT, "%s is a list within a list, expected a node",
                        CLV_CONSTRAINTS_PATH(at));
    return clv_constraints_select_ops(r, at, err);
}

/* by_op: a tensor stands for the operator that writes it. */
static clv_status read_members(reader *r, const clv_json_at *at, bool by_op,
                               clv_split_constraint *split, clv_error *err)
{
    int32_t n = 0;
    clv_constraints_select_none(r);
    CLV_TRY(by_op ? clv_constraints_select_ops(r, at, err)
                  : clv_constraints_for_each(r, at, match_member, split, err));
    for (int32_t i = 0; i < r->g->n_ops; i++)
        n += r->in[i];
    CLV_TRY(clv_constraints_count_members(r, n, err));
    split->ops = CLV_NEW_ARRAY(r->arena, clv_op, n);
    if (!split->ops)
        return no_memory(err);
    for (int32_t i = 0; i < r->g->n_ops; i++)
        if (r->in[i])
            split->ops[split->n_ops++] = (clv_op){ i };
    return CLV_OK;
}

/* -- rules -- */

static clv_status read_split(reader *r, const clv_json_at *object, const clv_json_at *at,
                             clv_split_constraint *split, clv_error *err)
{
    clv_json_at dim, factor;
    int64_t number = 0;
    CLV_TRY(clv_json_member(object, "dim", false, &dim, err));
    CLV_TRY(clv_json_member(object, "factor", false, &factor, err));
    if (!dim.json == !factor.json)
        return clv_fail(err, CLV_EFORMAT,
                        "%s says \"split\" with %s, expected either \"dim\" or "
                        "\"factor\"",
                        CLV_CONSTRAINTS_PATH(object), dim.json ? "both" : "neither");
    clv_constraints_describe(r, "split ");
    CLV_TRY(read_members(r, at, factor.json != NULL, split, err));
    if (factor.json) {
        CLV_TRY(clv_json_copy_string(&factor, r->arena, &split->factor, err));
        if (!*split->factor || strlen(split->factor) >= FACTOR_SIZE)
            return clv_fail(err, CLV_EFORMAT,
                            "%s is '%.80s', expected the name of a factor as 'cleave rules' "
                            "shows it",
                            CLV_CONSTRAINTS_PATH(&factor), split->factor);
        clv_constraints_describe(r, " by factor '%s'", split->factor);
    } else {
        CLV_TRY(clv_json_int(&dim, -CLV_RANK_MAX, CLV_RANK_MAX - 1, &number, err));
        split->dim = (int32_t)number;
        clv_constraints_describe(r, " on dim %d", (int)number);
    }
    return read_over(r, object, true, split, err);
}

clv_status clv_constraints_read_split(clv_constraints_reader *r, const clv_json_at *object,
                                      const clv_json_at *at, clv_constraint *rule, clv_error *err)
{
    clv_split_constraint *split = CLV_NEW(r->arena, clv_split_constraint);
    if (!split)
        return no_memory(err);
    rule->split = split;
    if (rule->kind == CLV_CONSTRAINT_DATA_PARALLEL) {
        clv_constraints_describe(r, "data parallel over ");
        return read_axes(r, at, split, err);
    }
    if (rule->kind == CLV_CONSTRAINT_WHOLE) {
        clv_constraints_describe(r, "never split ");
        CLV_TRY(read_members(r, at, false, split, err));
        CLV_TRY(read_over(r, object, false, split, err));
    } else {
        CLV_TRY(read_split(r, object, at, split, err));
    }
    rule->unused = split->n_ops == 0 && split->n_tensors == 0;
    return CLV_OK;
}
