/* factors.c - from an operator to the case of its rule that holds. */
#include "sharding/factors.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "graph/ops.h"
#include "graph/shape_tools.h"
#include "sharding/resolve.h"

/* An operator set that the graph does not import is read as newer than any. */
#define NEWEST INT32_MAX

clv_status clv_rule_keep_whole(clv_rule_context *w, const char *fmt, ...)
{
    char words[CLV_MESSAGE_SIZE];
    va_list args;
    va_start(args, fmt);
    clv_words(words, sizeof words, fmt, args);
    va_end(args);
    w->why = clv_arena_printf(w->arena, "%.*s %s", CLV_STR_ARG(w->r->op->type), words);
    return w->why ? CLV_OK : clv_fail_nomem(w->err, "a sharding rule");
}

const clv_type *clv_rule_out_type(const clv_rule_context *w, int32_t k)
{
    static const clv_type unknown = { .rank = CLV_RANK_UNKNOWN };
    clv_tensor t = k >= 0 ? clv_op_output(w->r->graph, w->r->op, k) : CLV_NO_TENSOR;
    return t.i >= 0 ? &w->r->types->of[t.i] : &unknown;
}

void clv_rule_write(clv_rule_writing *t, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = t->failed ? 0 : vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    int64_t need = (int64_t)t->n + n + 1;
    if (!t->failed && need > t->cap) {
        int32_t cap = need < INT32_MAX / 2 ? (int32_t)need * 2 : INT32_MAX;
        char *grown = need < INT32_MAX
                          ? clv_arena_grow(t->arena, t->at, (size_t)t->cap, (size_t)cap, 1)
                          : NULL;
        t->failed = !grown;
        t->at = grown ? grown : t->at;
        t->cap = grown ? cap : t->cap;
    }
    if (!t->failed)
        t->n += vsnprintf(t->at + t->n, (size_t)(t->cap - t->n), fmt, args);
    va_end(args);
}

/* -- conditions -- */

static bool attr_holds(const clv_rule_context *w, const clv_when *when)
{
    char name[64];
    if (when->attr.n >= (int32_t)sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", CLV_STR_ARG(when->attr));
    const clv_attr *attr = clv_rule_attr(w->r, name);
    if (!when->compares)
        return attr != NULL;
    if (!when->is_number)
        return attr && attr->kind == CLV_ATTR_STRING && clv_str_eq(attr->s, when->word);
    bool number = attr && attr->kind == CLV_ATTR_INT;
    if (!number && !when->has_otherwise)
        return false;
    int64_t n = number ? attr->i : when->otherwise;
    return when->below ? n < when->number : n == when->number;
}

static bool when_holds(const clv_rule_context *w, const clv_when *when)
{
    switch (when->kind) {
    case CLV_WHEN_VERSION:
        return w->r->version < when->number;
    case CLV_WHEN_IN:
        return clv_rule_has_in(w->r, when->in);
    case CLV_WHEN_OUT:
        return clv_rule_has_out(w->r, when->in);
    case CLV_WHEN_RANK:
        return clv_type_rank(clv_rule_in(w->r, when->in)) == when->number;
    case CLV_WHEN_ATTR:
    default:
        return attr_holds(w, when);
    }
}

static clv_status fail_rule(clv_rule_context *w, const char *text)
{
    return clv_fail(w->err, CLV_EINTERNAL, "the sharding rule of %.*s, '%s', is not one",
                    CLV_STR_ARG(w->r->op->type), text);
}

/* The body of the first case that holds; empty: none does. */
static clv_status choose_case(clv_rule_context *w, const char *text, clv_str *ret)
{
    clv_str rest = clv_str_of(text), conditions, body;
    *ret = (clv_str){ NULL, 0 };
    while (clv_case_next(&rest, &conditions, &body)) {
        clv_when when;
        bool holds = true, ok = true;
        while (ok && clv_when_next(&conditions, &when, &ok))
            holds = holds && when_holds(w, &when) != when.negated;
        if (!ok)
            return fail_rule(w, text);
        if (holds) {
            *ret = body;
            return CLV_OK;
        }
    }
    return rest.n > 0 ? fail_rule(w, text) : CLV_OK;
}

/* -- texts -- */

#define WHOLE "whole: "

static bool skip_word(clv_str *s, const char *word)
{
    int32_t n = (int32_t)strlen(word);
    if (s->n < n || memcmp(s->at, word, (size_t)n) != 0)
        return false;
    *s = (clv_str){ s->at + n, s->n - n };
    return true;
}

/* "name" or "name:param" */
static clv_rule_writer read_writer(clv_str s, clv_str *ret_param)
{
    int32_t n = 0;
    while (n < s.n && s.at[n] != ':')
        n++;
    *ret_param = n < s.n ? (clv_str){ s.at + n + 1, s.n - n - 1 } : (clv_str){ NULL, 0 };
    return clv_rule_writer_find((clv_str){ s.at, n });
}

/* A writer's text may again have cases; it names no further writer. */
static clv_status resolve_text(clv_rule_context *w, const char *text, bool may_write,
                               clv_factors *ret)
{
    clv_str body, param;
    CLV_TRY(choose_case(w, text, &body));
    if (body.n == 0)
        return clv_rule_keep_whole(w, "has no sharding rule for these inputs and attributes");
    w->must = skip_word(&body, WHOLE);
    if (w->must)
        return clv_rule_keep_whole(w, "%.*s", CLV_STR_ARG(body));
    if (!skip_word(&body, "="))
        return clv_rule_fit(w, body, ret);
    clv_rule_writer write = may_write ? read_writer(body, &param) : NULL;
    const char *written = NULL;
    if (!write)
        return fail_rule(w, text);
    CLV_TRY(write(w, param, &written));
    return w->why || !written ? CLV_OK : resolve_text(w, written, false, ret);
}

/* -- an operator -- */

/* In the body of a function an attribute may be the caller's, whom nobody knows here. */
static bool has_references(const clv_rule *r)
{
    for (int32_t i = 0; i < r->op->n_attr; i++)
        if (r->graph->attrs[r->op->first_attr + i].ref.n > 0)
            return true;
    return false;
}

static clv_status resolve_op(clv_rule_context *w, clv_factors *ret)
{
    const clv_op_info *op = w->r->op;
    if (op->kind == CLV_OPKIND_FUNCTION)
        return clv_rule_keep_whole(w, "is a call of a function of the model: it is not split");
    if (op->kind < 0)
        return clv_rule_keep_whole(w, "is not known: it has no sharding rule");
    if (op->n_implicit > 0)
        return clv_rule_keep_whole(w, "has a body that takes tensors from around it: not split");
    if (has_references(w->r))
        return clv_rule_keep_whole(w, "has attributes of its function's caller: it is not split");
    return resolve_text(w, clv_op_def_at(op->kind)->rule, true, ret);
}

/* Nothing split: every operand has its rank, and no factors. */
static clv_status all_whole(const clv_rule *r, clv_arena *arena, clv_factors *ret, clv_error *err)
{
    int32_t n_in = clv_rule_n_in(r), n_out = r->op->n_out;
    clv_operand_factors *operands = CLV_NEW_ARRAY(arena, clv_operand_factors, n_in + n_out);
    if (!operands)
        return clv_fail_nomem(err, "a sharding rule");
    for (int32_t k = 0; k < n_in + n_out; k++) {
        clv_tensor t =
            k < n_in ? clv_op_input(r->graph, r->op, k) : clv_op_output(r->graph, r->op, k - n_in);
        int32_t rank = t.i >= 0 ? clv_type_rank(&r->types->of[t.i]) : 0;
        clv_dim_factors *dims = CLV_NEW_ARRAY(arena, clv_dim_factors, rank > 0 ? rank : 0);
        if (!dims)
            return clv_fail_nomem(err, "a sharding rule");
        operands[k] = (clv_operand_factors){ .rank = rank > 0 ? rank : 0, .dims = dims };
    }
    *ret = (clv_factors){ .n_in = n_in, .n_out = n_out, .in = operands, .out = operands + n_in };
    return CLV_OK;
}

static bool any_to_split(const clv_factors *f)
{
    for (int32_t i = 0; i < f->n_factors; i++)
        if (f->factors[i].kind != CLV_FACTOR_WHOLE && f->factors[i].size > 1)
            return true;
    return false;
}

static clv_status resolve(clv_rule_context *w, clv_factors *ret)
{
    clv_factors found = { 0 };
    CLV_TRY(resolve_op(w, &found));
    if (!w->why && !any_to_split(&found)) {
        w->must = true;
        CLV_TRY(clv_rule_keep_whole(w, "has nothing to split: each of its dimensions is 1, must be "
                                       "whole, or is not known"));
    }
    if (w->why) {
        bool by_shape = found.by_shape;
        CLV_TRY(all_whole(w->r, w->arena, &found, w->err));
        found.by_shape = by_shape;
        found.why_whole = w->why;
        found.no_rule = !w->must;
    }
    *ret = found;
    return CLV_OK;
}

clv_status clv_factors_resolve_in(const clv_model *model, const clv_types *types, clv_op op,
                                  clv_arena *scratch, clv_arena *arena, clv_factors *ret,
                                  clv_error *err)
{
    const clv_graph *graph = types->graph;
    clv_types seen = *types; /* rules may set outputs of theirs; this one only looks */
    clv_mark mark = clv_arena_mark(scratch);
    int64_t version = clv_graph_opset(graph, graph->ops[op.i].domain);
    clv_rule r = { .model = model,
                   .graph = graph,
                   .op = &graph->ops[op.i],
                   .version = version > 0 ? version : NEWEST,
                   .types = &seen,
                   .arena = scratch };
    clv_rule_context w = { .r = &r, .arena = arena, .err = err };
    clv_status status = resolve(&w, ret);
    clv_arena_rewind(scratch, mark);
    return status;
}

clv_status clv_factors_resolve(const clv_model *model, const clv_types *types, clv_op op,
                               clv_arena *arena, clv_factors *ret, clv_error *err)
{
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    if (!scratch)
        return clv_fail_nomem(err, "a sharding rule");
    clv_status status = clv_factors_resolve_in(model, types, op, scratch, arena, ret, err);
    clv_arena_free(scratch);
    return status;
}

/* -- checking a text -- */

static bool check_case(clv_str conditions, clv_str body, clv_arena *arena, clv_error *err)
{
    clv_when when;
    clv_rule_text text;
    clv_str param;
    bool ok = true;
    while (ok && clv_when_next(&conditions, &when, &ok))
        continue;
    if (!ok)
        return clv_fail(err, CLV_EINTERNAL, "a condition of a sharding rule cannot be read"), false;
    if (skip_word(&body, WHOLE))
        return body.n > 0 ||
               (clv_fail(err, CLV_EINTERNAL, "a sharding rule gives no reason"), false);
    if (skip_word(&body, "="))
        return read_writer(body, &param) ||
               (clv_fail(err, CLV_EINTERNAL, "a sharding rule names '%.*s', which there is not",
                         CLV_STR_ARG(body)),
                false);
    return clv_rule_text_read(body, arena, &text, err) == CLV_OK;
}

bool clv_rule_text_check(const char *text, clv_error *err)
{
    clv_str rest = clv_str_of(text), conditions, body;
    clv_arena *arena = clv_arena_new(NULL, 0);
    bool ok = arena && rest.n > 0;
    while (ok && clv_case_next(&rest, &conditions, &body))
        ok = check_case(conditions, body, arena, err);
    if (ok && rest.n > 0)
        ok = clv_fail(err, CLV_EINTERNAL, "sharding rule '%s' has an open bracket", text) == CLV_OK;
    if (arena)
        clv_arena_free(arena);
    return ok;
}
