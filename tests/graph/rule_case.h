/* rule_case.h - a small graph written as text, and the types that inference gives its outputs.
 *
 * Statements end with ';':
 *
 *   in x float[n,3]             an input; n is a symbol, ? an open dimension, [...] an open rank
 *   in s seq float[2]           seq and opt wrap a type; "any" is a type of which nothing is known
 *   w axes int64{0,-1}          a constant of one dimension; int64(3) has none
 *   y, z = Split(x, , s) axis=1 num=[1,2] scale=0.5 mode='linear' body=@step
 *   graph step; ... end         a body for @step, before the graph that uses it
 *   out y z:float[n]            outputs, with the type that the file declares or without;
 *                               without any those of the last operator
 *
 * An operator of another domain is written ms:Gelu, ml:Scaler, train:Adam. The answer lists the
 * outputs' types with " | " between, or is "error: " and the sentence.
 */
#ifndef CLV_TESTS_GRAPH_RULE_CASE_H
#define CLV_TESTS_GRAPH_RULE_CASE_H

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph_build.h"
#include "graph/infer.h"

#define CASE_MAX 64

typedef struct {
    clv_arena *arena;
    const char *at;
    clv_str symbols[CASE_MAX];
    int32_t n_symbols;
    struct {
        clv_str name;
        clv_draft *draft;
    } bodies[CASE_MAX];
    int32_t n_bodies;
    int64_t opset;
} case_reader;

static inline void case_spaces(case_reader *c)
{
    while (isspace((unsigned char)*c->at))
        c->at++;
}

static inline bool case_skip(case_reader *c, const char *text)
{
    case_spaces(c);
    size_t n = strlen(text);
    if (strncmp(c->at, text, n) != 0)
        return false;
    c->at += n;
    return true;
}

static inline void case_expect(case_reader *c, const char *text)
{
    cr_assert(case_skip(c, text), "expected '%s' before '%.30s'", text, c->at);
}

static inline clv_str case_name(case_reader *c)
{
    case_spaces(c);
    clv_str s = { c->at, 0 };
    while (isalnum((unsigned char)*c->at) || *c->at == '_' || *c->at == '.')
        c->at++;
    s.n = (int32_t)(c->at - s.at);
    return s;
}

static inline bool case_keyword(case_reader *c, const char *word)
{
    const char *before = c->at;
    if (clv_str_is(case_name(c), word))
        return true;
    c->at = before;
    return false;
}

static inline clv_dtype case_dtype(clv_str name)
{
    for (int i = 1; i < CLV_N_DTYPES; i++)
        if (strncasecmp(clv_dtype_name((clv_dtype)i), name.at, (size_t)name.n) == 0 &&
            strlen(clv_dtype_name((clv_dtype)i)) == (size_t)name.n)
            return (clv_dtype)i;
    cr_assert_fail("no element type '%.*s'", CLV_STR_ARG(name));
    return CLV_DT_UNDEFINED;
}

static inline clv_dim case_dim(case_reader *c)
{
    case_spaces(c);
    if (*c->at == '?')
        return c->at++, CLV_DIM_UNKNOWN;
    if (isdigit((unsigned char)*c->at) || *c->at == '-')
        return strtoll(c->at, (char **)&c->at, 10);
    clv_str name = case_name(c);
    cr_assert(name.n > 0, "expected a dimension before '%.30s'", c->at);
    for (int32_t i = 0; i < c->n_symbols; i++)
        if (clv_str_eq(c->symbols[i], name))
            return clv_dim_symbol(i);
    c->symbols[c->n_symbols] = name;
    return clv_dim_symbol(c->n_symbols++);
}

static inline clv_type *case_type(case_reader *c)
{
    clv_type *t = CLV_NEW(c->arena, clv_type);
    clv_dim dims[CASE_MAX];
    t->rank = CLV_RANK_UNKNOWN;
    if (case_keyword(c, "any"))
        return t;
    bool seq = case_keyword(c, "seq");
    if (seq || case_keyword(c, "opt")) {
        t->kind = seq ? CLV_TYPE_SEQUENCE : CLV_TYPE_OPTIONAL;
        t->elem = case_type(c);
        return t;
    }
    t->kind = CLV_TYPE_TENSOR;
    t->dtype = case_dtype(case_name(c));
    case_expect(c, "[");
    if (case_skip(c, "...")) {
        case_expect(c, "]");
        return t;
    }
    t->rank = 0;
    while (!case_skip(c, "]")) {
        dims[t->rank++] = case_dim(c);
        case_skip(c, ",");
    }
    clv_dim *copy = CLV_NEW_ARRAY(c->arena, clv_dim, t->rank);
    memcpy(copy, dims, sizeof *copy * (size_t)t->rank);
    t->dims = copy;
    return t;
}

static inline clv_const *case_const(case_reader *c, clv_str name)
{
    clv_const *w = CLV_NEW(c->arena, clv_const);
    clv_value *v = CLV_NEW(c->arena, clv_value);
    int64_t *dims = CLV_NEW_ARRAY(c->arena, int64_t, 1);
    int64_t *ints = CLV_NEW_ARRAY(c->arena, int64_t, CASE_MAX);
    double *floats = CLV_NEW_ARRAY(c->arena, double, CASE_MAX);
    w->name = name;
    w->dtype = case_dtype(case_name(c));
    bool scalar = case_skip(c, "(");
    if (!scalar)
        case_expect(c, "{");
    while (!case_skip(c, scalar ? ")" : "}")) {
        if (clv_dtype_is_float(w->dtype))
            floats[v->n] = strtod(c->at, (char **)&c->at);
        else
            ints[v->n] = strtoll(c->at, (char **)&c->at, 10);
        v->n++;
        case_skip(c, ",");
    }
    v->i = clv_dtype_is_float(w->dtype) ? NULL : ints;
    v->f = clv_dtype_is_float(w->dtype) ? floats : NULL;
    dims[0] = v->n;
    w->rank = !scalar;
    w->dims = dims;
    w->elems = v->n;
    w->value = v;
    cr_assert(clv_dtype_bytes(w->dtype, w->elems, &w->bytes));
    return w;
}

static inline void case_attr_list(case_reader *c, clv_attr *a)
{
    int64_t *ints = CLV_NEW_ARRAY(c->arena, int64_t, CASE_MAX);
    float *floats = CLV_NEW_ARRAY(c->arena, float, CASE_MAX);
    clv_str *strings = CLV_NEW_ARRAY(c->arena, clv_str, CASE_MAX);
    bool real = memchr(c->at, '.', strcspn(c->at, "]")) != NULL;
    a->n = 0;
    a->kind = real ? CLV_ATTR_FLOATS : CLV_ATTR_INTS;
    while (!case_skip(c, "]")) {
        if (case_skip(c, "'")) {
            a->kind = CLV_ATTR_STRINGS;
            strings[a->n++] = case_name(c);
            case_expect(c, "'");
        } else {
            floats[a->n] = strtof(c->at, (char **)&c->at);
            ints[a->n] = (int64_t)floats[a->n];
            a->n++;
        }
        case_skip(c, ",");
    }
    if (a->kind == CLV_ATTR_STRINGS)
        a->strings = strings;
    else if (real)
        a->floats = floats;
    else
        a->ints = ints;
}

static inline void case_attr(case_reader *c, clv_draft_op *op, clv_attr *a)
{
    a->name = case_name(c);
    a->n = 1;
    case_expect(c, "=");
    if (case_skip(c, "[")) {
        case_attr_list(c, a);
    } else if (case_skip(c, "'")) {
        a->kind = CLV_ATTR_STRING;
        a->s = case_name(c);
        case_expect(c, "'");
    } else if (case_skip(c, "@")) {
        clv_str name = case_name(c);
        a->kind = CLV_ATTR_GRAPH;
        for (int32_t i = 0; i < c->n_bodies; i++)
            if (clv_str_eq(c->bodies[i].name, name))
                op->bodies[op->n_bodies++] = c->bodies[i].draft;
    } else if (case_skip(c, "tensor ")) {
        a->kind = CLV_ATTR_TENSOR;
        a->tensor = case_const(c, (clv_str){ 0 });
    } else if (case_skip(c, "type ")) {
        a->kind = CLV_ATTR_TYPE;
        a->type = case_type(c);
    } else if (c->at[strspn(c->at, "-0123456789")] == '.') {
        a->kind = CLV_ATTR_FLOAT;
        a->f = strtof(c->at, (char **)&c->at);
    } else {
        a->kind = CLV_ATTR_INT;
        a->i = strtoll(c->at, (char **)&c->at, 10);
    }
}

static inline void case_names(case_reader *c, const char *end, clv_str *names, int32_t *ret_n)
{
    *ret_n = 0;
    if (case_skip(c, end))
        return;
    do
        names[(*ret_n)++] = case_name(c);
    while (case_skip(c, ","));
    case_expect(c, end);
}

static inline void case_op(case_reader *c, clv_draft_op *op)
{
    static const struct {
        const char *prefix, *domain;
    } domains[] = { { "ms:", "com.microsoft" },
                    { "ml:", "ai.onnx.ml" },
                    { "train:", "ai.onnx.preview.training" } };
    clv_str *names = CLV_NEW_ARRAY(c->arena, clv_str, 2 * CASE_MAX);
    op->outputs = names;
    case_names(c, "=", names, &op->n_outputs);
    for (size_t i = 0; i < 3; i++)
        if (case_skip(c, domains[i].prefix))
            op->domain = clv_str_of(domains[i].domain);
    op->type = case_name(c);
    case_expect(c, "(");
    op->inputs = names + CASE_MAX;
    case_names(c, ")", names + CASE_MAX, &op->n_inputs);
    op->attrs = CLV_NEW_ARRAY(c->arena, clv_attr, CASE_MAX);
    op->bodies = CLV_NEW_ARRAY(c->arena, clv_draft *, CASE_MAX);
    while (case_spaces(c), *c->at != ';' && *c->at)
        case_attr(c, op, &op->attrs[op->n_attrs++]);
}

static inline clv_draft *case_graph(case_reader *c);

static inline void case_statement(case_reader *c, clv_draft *d)
{
    if (case_keyword(c, "in")) {
        clv_draft_value *v = &d->inputs[d->n_inputs++];
        v->name = case_name(c);
        v->type = case_type(c);
        v->type = v->type->kind == CLV_TYPE_UNKNOWN ? NULL : v->type;
    } else if (case_keyword(c, "w")) {
        clv_str name = case_name(c);
        d->weights[d->n_weights++] = *case_const(c, name);
    } else if (case_keyword(c, "out")) {
        d->n_outputs = 0;
        while (case_spaces(c), *c->at != ';' && *c->at) {
            clv_draft_value *v = &d->outputs[d->n_outputs++];
            v->name = case_name(c);
            v->type = case_skip(c, ":") ? case_type(c) : NULL;
        }
    } else if (case_keyword(c, "opset")) {
        c->opset = strtoll(c->at, (char **)&c->at, 10);
    } else if (case_keyword(c, "graph")) {
        clv_str name = case_name(c);
        case_expect(c, ";");
        c->bodies[c->n_bodies].draft = case_graph(c);
        c->bodies[c->n_bodies++].name = name;
    } else {
        case_op(c, &d->ops[d->n_ops]);
        d->n_outputs = 0;
        for (int32_t i = 0; i < d->ops[d->n_ops].n_outputs; i++)
            if (d->ops[d->n_ops].outputs[i].n > 0)
                d->outputs[d->n_outputs++].name = d->ops[d->n_ops].outputs[i];
        d->n_ops++;
    }
}

/* Up to "end" or the end of the text. */
static inline clv_draft *case_graph(case_reader *c)
{
    clv_draft *d = CLV_NEW(c->arena, clv_draft);
    d->ops = CLV_NEW_ARRAY(c->arena, clv_draft_op, CASE_MAX);
    d->inputs = CLV_NEW_ARRAY(c->arena, clv_draft_value, CASE_MAX);
    d->outputs = CLV_NEW_ARRAY(c->arena, clv_draft_value, CASE_MAX);
    d->weights = CLV_NEW_ARRAY(c->arena, clv_const, CASE_MAX);
    while (case_spaces(c), *c->at && !case_keyword(c, "end")) {
        case_statement(c, d);
        case_skip(c, ";");
    }
    return d;
}

static inline void case_show(const clv_model *model, const clv_inference *found, char *buf,
                             size_t size)
{
    const clv_graph *g = model->main;
    buf[0] = '\0';
    for (int32_t i = 0; i < g->n_outputs; i++) {
        char one[512];
        clv_type_show(model, &found->main->of[g->outputs[i].i], one, sizeof one);
        size_t n = strlen(buf);
        snprintf(buf + n, size - n, "%s%s", i ? " | " : "", one);
    }
}

/* What is written goes into an arena of its own, which has to live as long as the model. */
static inline clv_status case_model(const char *text, clv_arena *written, clv_arena *arena,
                                    clv_model **ret, clv_error *err)
{
    case_reader *c = CLV_NEW(written, case_reader);
    clv_opset *opset = CLV_NEW(written, clv_opset);
    *c = (case_reader){ .arena = written, .at = text, .opset = 18 };
    clv_draft *d = case_graph(c);
    *opset = (clv_opset){ clv_str_of(""), c->opset };
    d->opsets = opset;
    d->n_opsets = 1;
    clv_draft_model draft = {
        .ir_version = 8, .main = d, .symbols = c->symbols, .n_symbols = c->n_symbols
    };
    return clv_model_build(&draft, arena, ret, err);
}

/* Reads and infers with no more than `limit` bytes (0: any), from an arena of its own. */
static inline clv_status case_run(const char *text, size_t limit, char *buf, size_t size)
{
    clv_arena *written = clv_arena_new(NULL, 0), *arena = clv_arena_new(NULL, limit);
    clv_error err = { 0 };
    clv_model *model = NULL;
    clv_inference *found = NULL;
    clv_status status = CLV_ENOMEM;
    if (arena)
        status = case_model(text, written, arena, &model, &err);
    if (status == CLV_OK)
        status = clv_infer(model, NULL, 0, arena, &found, &err);
    if (status == CLV_OK)
        case_show(model, found, buf, size);
    else
        snprintf(buf, size, "error: %s", err.message);
    if (arena)
        clv_arena_free(arena);
    clv_arena_free(written);
    return status;
}

/* The outputs of the graph are `want`; where want starts with "error" the sentence has the rest. */
static inline void case_check(const char *text, const char *want)
{
    char got[2048];
    case_run(text, 0, got, sizeof got);
    if (strncmp(want, "error: ", 7) == 0)
        cr_expect(strncmp(got, "error", 5) == 0 && strstr(got, want + 7),
                  "%s\n  gives %s\n  not  %s", text, got, want);
    else
        cr_expect_str_eq(got, want, "%s\n  gives %s\n  not   %s", text, got, want);
}

typedef struct {
    const char *text, *want;
} rule_case;

#define CASES_CHECK(cases)                                                                         \
    for (size_t i_ = 0; i_ < sizeof(cases) / sizeof(cases)[0]; i_++)                               \
    case_check((cases)[i_].text, (cases)[i_].want)

#endif
