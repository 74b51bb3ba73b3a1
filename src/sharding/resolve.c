/* resolve.c - from an operator to the case of its rule that holds. */
#include "sharding/resolve.h"

#include <stdio.h>

#include "graph/ops.h"
#include "graph/shape_tools.h"
#include "sharding/fit.h"
#include "sharding/rule_text.h"
#include "sharding/writers.h"

/* An operator set that the graph does not import is read as newer than any. */
#define NEWEST INT32_MAX

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

static clv_status fail_rule(const clv_rule_context *w, const char *text, clv_error *err)
{
    return clv_fail(err, CLV_EINTERNAL, "the sharding rule of %.*s, '%s', is not one",
                    CLV_STR_ARG(w->r->op->type), text);
}

/* The body of the first case that holds; empty: none does. */
static clv_status choose_case(const clv_rule_context *w, const char *text, clv_str *ret,
                              clv_error *err)
{
    clv_str rest = clv_str_of(text), conditions, body;
    *ret = (clv_str){ NULL, 0 };
    while (clv_case_next(&rest, &conditions, &body)) {
        clv_when when;
        bool holds = true, ok = true;
        while (ok && clv_when_next(&conditions, &when, &ok))
            holds = holds && when_holds(w, &when) != when.negated;
        if (!ok)
            return fail_rule(w, text, err);
        if (holds) {
            *ret = body;
            return CLV_OK;
        }
    }
    return rest.n > 0 ? fail_rule(w, text, err) : CLV_OK;
}

/* -- texts -- */

/* A writer's text may again have cases; it names no further writer. */
static clv_status resolve_text(clv_rule_context *w, const char *text, bool may_write,
                               clv_factors *ret, clv_error *err)
{
    clv_str body, name, param = { NULL, 0 };
    const char *written = NULL;
    CLV_TRY(choose_case(w, text, &body, err));
    if (body.n == 0)
        return clv_rule_keep_whole(w, "has no sharding rule for these inputs and attributes", err);
    w->must = clv_case_is_whole(&body);
    if (w->must)
        return clv_rule_keep_whole(w, clv_arena_str(w->r->arena, body), err);
    if (!clv_case_is_written(body, &name, &param))
        return clv_rule_fit(w, body, ret, err);
    clv_rule_writer write = may_write ? clv_rule_writer_find(name) : NULL;
    if (!write)
        return fail_rule(w, text, err);
    CLV_TRY(write(w, param, &written, err));
    return w->why || !written ? CLV_OK : resolve_text(w, written, false, ret, err);
}

/* -- an operator -- */

/* Nobody can cut a tensor whose size only a run knows, join its parts or add them up: its factors
 * are whole, and where it is an output those that are summed over too. */
static clv_status keep_open_whole(const clv_rule_context *w, clv_factors *f, clv_error *err)
{
    const clv_rule *r = w->r;
    clv_factor *factors = CLV_NEW_ARRAY(w->arena, clv_factor, f->n_factors);
    if (!factors)
        return clv_fail_nomem(err, "a sharding rule");
    for (int32_t i = 0; i < f->n_factors; i++)
        factors[i] = f->factors[i];
    for (int32_t k = 0; k < f->n_in + f->n_out; k++) {
        bool is_out = k >= f->n_in;
        const clv_operand_factors *o = is_out ? &f->out[k - f->n_in] : &f->in[k];
        clv_tensor t =
            is_out ? clv_op_output(r->graph, r->op, k - f->n_in) : clv_op_input(r->graph, r->op, k);
        clv_tensor_split split;
        if (t.i < 0 || clv_split_of_type(&r->types->of[t.i], &split))
            continue;
        for (int32_t d = 0; d < o->rank; d++)
            for (int32_t i = 0; i < o->dims[d].n; i++)
                factors[o->dims[d].at[i]].kind = CLV_FACTOR_WHOLE;
        for (int32_t i = 0; is_out && i < f->n_factors; i++)
            if (factors[i].kind == CLV_FACTOR_REDUCED)
                factors[i].kind = CLV_FACTOR_WHOLE;
    }
    f->factors = factors;
    return CLV_OK;
}

static clv_status resolve_rule(clv_rule_context *w, clv_factors *ret, clv_error *err)
{
    const clv_op_info *op = w->r->op;
    bool refers = false, any = false;
    for (int32_t i = 0; i < op->n_attr; i++)
        refers |= w->r->graph->attrs[op->first_attr + i].ref.n > 0;
    if (op->kind == CLV_OPKIND_FUNCTION)
        return clv_rule_keep_whole(w, "is a call of a function of the model: it is not split", err);
    if (op->kind < 0)
        return clv_rule_keep_whole(w, "is not known: it has no sharding rule", err);
    if (op->n_implicit > 0)
        return clv_rule_keep_whole(w, "has a body that takes tensors from around it: not split",
                                   err);
    if (refers) /* in the body of a function, to attributes of a caller that nobody knows here */
        return clv_rule_keep_whole(w, "has attributes of its function's caller: it is not split",
                                   err);
    CLV_TRY(resolve_text(w, clv_op_def_at(op->kind)->rule, true, ret, err));
    if (!w->why)
        CLV_TRY(keep_open_whole(w, ret, err));
    for (int32_t i = 0; i < ret->n_factors; i++)
        any |= ret->factors[i].kind != CLV_FACTOR_WHOLE && ret->factors[i].size > 1;
    if (w->why || any)
        return CLV_OK;
    w->must = true;
    return clv_rule_keep_whole(w,
                               "has nothing to split: each of its dimensions is 1, must be whole, "
                               "or is not known",
                               err);
}

/* Nothing split: every operand has its rank, and no factors. */
static clv_status make_whole(const clv_rule_context *w, clv_factors *ret, clv_error *err)
{
    const clv_rule *r = w->r;
    int32_t n_in = clv_rule_n_in(r), n_out = r->op->n_out;
    clv_operand_factors *operands = CLV_NEW_ARRAY(w->arena, clv_operand_factors, n_in + n_out);
    if (!operands)
        return clv_fail_nomem(err, "a sharding rule");
    for (int32_t k = 0; k < n_in + n_out; k++) {
        clv_tensor t =
            k < n_in ? clv_op_input(r->graph, r->op, k) : clv_op_output(r->graph, r->op, k - n_in);
        int32_t rank = t.i >= 0 ? clv_type_rank(&r->types->of[t.i]) : 0;
        clv_dim_factors *dims = CLV_NEW_ARRAY(w->arena, clv_dim_factors, rank > 0 ? rank : 0);
        if (!dims)
            return clv_fail_nomem(err, "a sharding rule");
        operands[k] = (clv_operand_factors){ .rank = rank > 0 ? rank : 0, .dims = dims };
    }
    *ret = (clv_factors){ .n_in = n_in,
                          .n_out = n_out,
                          .in = operands,
                          .out = operands + n_in,
                          .by_shape = ret->by_shape,
                          .why_whole = w->why,
                          .no_rule = !w->must };
    return CLV_OK;
}

clv_status clv_resolve_op(const clv_resolver *resolver, clv_op op, clv_factors *ret, clv_error *err)
{
    const clv_graph *graph = resolver->types->graph;
    clv_types seen = *resolver->types; /* rules may set outputs of theirs; this one only looks */
    clv_mark mark = clv_arena_mark(resolver->scratch);
    int64_t version = clv_graph_opset(graph, graph->ops[op.i].domain);
    clv_rule r = { .model = resolver->model,
                   .graph = graph,
                   .op = &graph->ops[op.i],
                   .version = version > 0 ? version : NEWEST,
                   .types = &seen,
                   .arena = resolver->scratch };
    clv_rule_context w = { .r = &r, .arena = resolver->arena };
    clv_factors found = { 0 };
    clv_status status = resolve_rule(&w, &found, err);
    if (status == CLV_OK && w.why)
        status = make_whole(&w, &found, err);
    if (status == CLV_OK)
        *ret = found;
    clv_arena_rewind(resolver->scratch, mark);
    return status;
}
