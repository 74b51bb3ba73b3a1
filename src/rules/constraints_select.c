#include "rules/constraints_select.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/glob.h"

void clv_constraints_describe(clv_constraints_reader *r, const char *fmt, ...)
{
    va_list args;
    if (r->n_says >= sizeof r->says)
        return;
    va_start(args, fmt);
    int n = vsnprintf(r->says + r->n_says, sizeof r->says - r->n_says, fmt, args);
    va_end(args);
    r->n_says += n > 0 ? (size_t)n : 0;
    if (r->n_says >= sizeof r->says)
        memcpy(r->says + sizeof r->says - 4, "...", 4);
}

clv_status clv_constraints_warn(clv_constraints_reader *r, const char *text, clv_error *err)
{
    clv_constraints *c = r->out;
    if (!text || !CLV_PUSH_ROOM(r->arena, c->warnings, c->n_warnings, c->cap_warnings))
        return clv_fail_nomem(err, "constraints");
    c->warnings[c->n_warnings++] = text;
    return CLV_OK;
}

clv_status clv_constraints_count_members(clv_constraints_reader *r, int32_t n, clv_error *err)
{
    r->n_members += n;
    if (r->n_members <= CLV_CONSTRAINT_MEMBERS_MAX)
        return CLV_OK;
    return clv_fail(err, CLV_ELIMIT, "the rules name more than %d operators",
                    CLV_CONSTRAINT_MEMBERS_MAX);
}

/* -- operators -- */

static clv_status warn_no_match(clv_constraints_reader *r, const char *what, const char *text,
                                clv_error *err)
{
    return clv_constraints_warn(
        r, clv_arena_printf(r->arena, "%s: no %s '%.200s'", r->rule, what, text), err);
}

static clv_status read_name(const clv_json_at *at, const char **ret, clv_error *err)
{
    CLV_TRY(clv_json_string(at, ret, err));
    return **ret ? CLV_OK
                 : clv_fail(err, CLV_EFORMAT, "%s is empty, expected a name",
                            CLV_CONSTRAINTS_PATH(at));
}

/* A name is itself, even with a '*' in it; else a pattern over all names. */
static clv_status match_name(clv_constraints_reader *r, const clv_json_at *at, clv_error *err)
{
    const char *text = NULL;
    CLV_TRY(read_name(at, &text, err));
    clv_constraints_describe(r, "'%s'", text);
    int32_t id = clv_map_get(&r->labels, clv_str_of(text));
    bool any = id >= 0;
    if (any)
        r->in[id] = true;
    bool pattern = id < 0 && strpbrk(text, "*?");
    for (int32_t i = 0; pattern && i < r->g->n_ops; i++)
        if (clv_glob_match(text, r->g->ops[i].label))
            any = r->in[i] = true;
    return any ? CLV_OK : warn_no_match(r, "operator of the main graph is named", text, err);
}

static clv_status match_type(clv_constraints_reader *r, const clv_json_at *at, clv_error *err)
{
    const char *text = NULL;
    bool any = false;
    CLV_TRY(read_name(at, &text, err));
    clv_constraints_describe(r, "operators of type '%s'", text);
    for (int32_t i = 0; i < r->g->n_ops; i++)
        if (clv_glob_match(text, r->g->ops[i].type))
            any = r->in[i] = true;
    return any ? CLV_OK : warn_no_match(r, "operator of the main graph has the type", text, err);
}

static clv_status match_tensor(clv_constraints_reader *r, const clv_json_at *at, clv_error *err)
{
    const char *text = NULL;
    bool any = false;
    CLV_TRY(read_name(at, &text, err));
    clv_constraints_describe(r, "the operator that writes '%s'", text);
    for (int32_t t = 0; t < r->g->n_tensors; t++) {
        const clv_tensor_info *info = &r->g->tensors[t];
        if (info->producer.i >= 0 && clv_str_is(info->name, text))
            any = r->in[info->producer.i] = true;
    }
    return any ? CLV_OK : warn_no_match(r, "operator of the main graph writes a tensor", text, err);
}

static clv_status match_one(clv_constraints_reader *r, const clv_json_at *at, void *ctx,
                            clv_error *err)
{
    static const char *const keys[] = { "op_type", "tensor", NULL };
    clv_json_at type, tensor;
    (void)ctx;
    if (clv_json_is_string(at))
        return match_name(r, at, err);
    if (!clv_json_is_object(at))
        return clv_fail(
            err, CLV_EFORMAT,
            "%s is no name of nodes, expected text, {\"op_type\": ...}, {\"tensor\": ...} or a "
            "list of them",
            CLV_CONSTRAINTS_PATH(at));
    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(clv_json_member(at, "op_type", false, &type, err));
    CLV_TRY(clv_json_member(at, "tensor", false, &tensor, err));
    if (!type.json == !tensor.json)
        return clv_fail(err, CLV_EFORMAT, "%s has %s, expected either \"op_type\" or \"tensor\"",
                        CLV_CONSTRAINTS_PATH(at), type.json ? "both" : "no member");
    return type.json ? match_type(r, &type, err) : match_tensor(r, &tensor, err);
}

clv_status clv_constraints_for_each(clv_constraints_reader *r, const clv_json_at *at,
                                    clv_constraints_match *match, void *ctx, clv_error *err)
{
    int32_t n = 0;
    clv_json_at element = { 0 };
    if (!clv_json_is_array(at))
        return match(r, at, ctx, err);
    CLV_TRY(clv_json_length(at, &n, err));
    if (n == 0)
        return clv_fail(err, CLV_EFORMAT, "%s is empty, expected at least one node",
                        CLV_CONSTRAINTS_PATH(at));
    for (int32_t i = 0; i < n; i++) {
        element = clv_json_element(at, i, i ? &element : NULL);
        if (i > 0)
            clv_constraints_describe(r, ", ");
        CLV_TRY(match(r, &element, ctx, err));
    }
    return CLV_OK;
}

void clv_constraints_select_none(clv_constraints_reader *r)
{
    if (r->g->n_ops > 0)
        memset(r->in, 0, (size_t)r->g->n_ops * sizeof *r->in);
}

clv_status clv_constraints_select_ops(clv_constraints_reader *r, const clv_json_at *at,
                                      clv_error *err)
{
    return clv_constraints_for_each(r, at, match_one, NULL, err);
}
