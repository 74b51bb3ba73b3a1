/* op_case.h - one operator, its inputs and the outputs that are expected, each in one line of text.
 *
 *     shape(13, "Concat", "float[2,3] float[batch,3]", "axis=0", "float[?,3]");
 *     value(13, "Add", "int64[2]{1,n} int64[1]{0}", "", "{1,n}");
 *     fails(13, "MatMul", "float[2,3] float[4,5]", "", "the summed dimension");
 *
 * A type is as clv_type_show() writes it, a symbol is a word, "-" is an input or output that is
 * left out, "?" an input of which nothing is known. An attribute is name=number, name=number with a
 * point, name=[whole,numbers], or name=word.
 */
#ifndef CLV_TESTS_GRAPH_OP_CASE_H
#define CLV_TESTS_GRAPH_OP_CASE_H

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
    clv_str symbols[CASE_MAX];
    clv_draft_value inputs[CASE_MAX], outputs[CASE_MAX]; /* of the graph: all that are named */
    clv_const weights[CASE_MAX];
    clv_str names_in[CASE_MAX], names_out[CASE_MAX];
    clv_attr attrs[CASE_MAX];
    int32_t n_symbols, n_inputs, n_outputs, n_weights, n_in, n_out, n_attrs;
} op_case;

static clv_str case_name(op_case *c, char kind, int32_t i)
{
    return clv_str_of(clv_arena_printf(c->arena, "%c%d", kind, i));
}

static clv_dim case_dim(op_case *c, const char *word, size_t n)
{
    if (n == 1 && word[0] == '?')
        return CLV_DIM_UNKNOWN;
    if (isdigit((unsigned char)word[0]) || word[0] == '-')
        return strtoll(word, NULL, 10);
    clv_str name = { word, (int32_t)n };
    for (int32_t i = 0; i < c->n_symbols; i++)
        if (clv_str_eq(c->symbols[i], name))
            return clv_dim_symbol(i);
    c->symbols[c->n_symbols] = name;
    return clv_dim_symbol(c->n_symbols++);
}

/* "2,n,?" up to the closing bracket; returns how many */
static int32_t case_dims(op_case *c, const char *text, char close, clv_dim *ret)
{
    int32_t n = 0;
    while (*text != close) {
        size_t length = strcspn(text, ",]}");
        ret[n++] = case_dim(c, text, length);
        text += length + (text[length] == ',');
    }
    return n;
}

static clv_dtype case_dtype(const char *word, size_t n)
{
    for (int i = 1; i < CLV_N_DTYPES; i++)
        if (strlen(clv_dtype_name((clv_dtype)i)) == n &&
            strncasecmp(word, clv_dtype_name((clv_dtype)i), n) == 0)
            return (clv_dtype)i;
    return CLV_DT_UNDEFINED;
}

static clv_value *case_value(op_case *c, const char *text, clv_dtype dtype)
{
    clv_value *v = CLV_NEW(c->arena, clv_value);
    clv_dim *dims = CLV_NEW_ARRAY(c->arena, clv_dim, CLV_VALUE_MAX);
    double *f = CLV_NEW_ARRAY(c->arena, double, CLV_VALUE_MAX);
    if (!clv_dtype_is_float(dtype)) {
        v->n = case_dims(c, text, '}', dims);
        v->i = dims;
        return v;
    }
    for (char *end = (char *)text; *end != '}'; end += *end == ',')
        f[v->n++] = strtod(end, &end);
    v->f = f;
    return v;
}

/* One input: with a value it is an initialiser. */
static void case_input(op_case *c, const char *word, size_t n)
{
    clv_str name = { NULL, 0 };
    if (!(n == 1 && word[0] == '-'))
        name = case_name(c, 'i', c->n_in);
    c->names_in[c->n_in++] = name;
    if (name.n == 0)
        return;
    const char *open = memchr(word, '[', n), *brace = memchr(word, '{', n);
    clv_type *type = CLV_NEW(c->arena, clv_type);
    clv_dim *dims = CLV_NEW_ARRAY(c->arena, clv_dim, CASE_MAX);
    type->rank = CLV_RANK_UNKNOWN;
    if (open) {
        type->kind = CLV_TYPE_TENSOR;
        type->dtype = case_dtype(word, (size_t)(open - word));
        type->dims = dims;
        if (open[1] != '.')
            type->rank = case_dims(c, open + 1, ']', dims);
    }
    if (!brace) {
        c->inputs[c->n_inputs++] = (clv_draft_value){ name, open ? type : NULL };
        return;
    }
    clv_value *v = case_value(c, brace + 1, type->dtype);
    c->weights[c->n_weights++] = (clv_const){ .name = name,
                                              .dtype = type->dtype,
                                              .rank = type->rank,
                                              .dims = dims,
                                              .elems = v->n,
                                              .value = v };
}

static void case_attr(op_case *c, const char *word, size_t n)
{
    const char *equals = memchr(word, '=', n), *v = equals + 1;
    clv_attr *a = &c->attrs[c->n_attrs++];
    *a = (clv_attr){ .name = { word, (int32_t)(equals - word) }, .n = 1 };
    if (*v == '[') {
        int64_t *ints = CLV_NEW_ARRAY(c->arena, int64_t, CASE_MAX);
        a->kind = CLV_ATTR_INTS;
        a->n = case_dims(c, v + 1, ']', ints);
        a->ints = ints;
    } else if (isdigit((unsigned char)*v) || *v == '-') {
        bool point = memchr(v, '.', n - (size_t)(v - word)) != NULL;
        a->kind = point ? CLV_ATTR_FLOAT : CLV_ATTR_INT;
        if (point)
            a->f = strtof(v, NULL);
        else
            a->i = strtoll(v, NULL, 10);
    } else {
        a->kind = CLV_ATTR_STRING;
        a->s = (clv_str){ v, (int32_t)(n - (size_t)(v - word)) };
    }
}

static void case_words(op_case *c, const char *text, void (*each)(op_case *, const char *, size_t))
{
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t n = strcspn(text, " ");
        each(c, text, n);
        text += n;
    }
}

static void case_output(op_case *c, const char *word, size_t n)
{
    bool left_out = n == 1 && word[0] == '-';
    c->names_out[c->n_out] = left_out ? (clv_str){ NULL, 0 } : case_name(c, 'o', c->n_out);
    if (!left_out)
        c->outputs[c->n_outputs++].name = c->names_out[c->n_out];
    c->n_out++;
}

/* domain "" is the standard one. Builds and infers; the result lives in the arena. */
static clv_status case_run(op_case *c, clv_arena *arena, const char *domain, int opset,
                           const char *type, const char *inputs, const char *attrs,
                           const char *outputs, clv_inference **ret, clv_error *err)
{
    *c = (op_case){ .arena = arena };
    case_words(c, inputs, case_input);
    case_words(c, attrs, case_attr);
    case_words(c, outputs, case_output);
    clv_draft_op *op = CLV_NEW(arena, clv_draft_op);
    *op = (clv_draft_op){ .type = clv_str_of(type), .domain = clv_str_of(domain) };
    op->inputs = c->names_in;
    op->n_inputs = c->n_in;
    op->outputs = c->names_out;
    op->n_outputs = c->n_out;
    op->attrs = c->attrs;
    op->n_attrs = c->n_attrs;
    clv_opset *opsets = CLV_NEW(arena, clv_opset);
    *opsets = (clv_opset){ clv_str_of(domain), opset };
    clv_draft *draft = CLV_NEW(arena, clv_draft);
    *draft = (clv_draft){ .ops = op,
                          .n_ops = 1,
                          .inputs = c->inputs,
                          .n_inputs = c->n_inputs,
                          .outputs = c->outputs,
                          .n_outputs = c->n_outputs,
                          .weights = c->weights,
                          .n_weights = c->n_weights,
                          .opsets = opsets,
                          .n_opsets = 1 };
    clv_draft_model model = {
        .ir_version = 8, .main = draft, .symbols = c->symbols, .n_symbols = c->n_symbols
    };
    clv_model *built = NULL;
    CLV_TRY(clv_model_build(&model, arena, &built, err));
    return clv_infer(built, NULL, 0, arena, ret, err);
}

static void case_show_value(const clv_symbol_sums *sums, const clv_value *v, char *buf, size_t size)
{
    size_t n = (size_t)snprintf(buf, size, v ? "{" : "none");
    for (int32_t i = 0; v && i < v->n && n < size; i++) {
        const char *comma = i ? "," : "";
        clv_dim d = v->i ? v->i[i] : 0;
        if (v->f)
            n += (size_t)snprintf(buf + n, size - n, "%s%g", comma, v->f[i]);
        else if (clv_dim_is_number(d))
            n += (size_t)snprintf(buf + n, size - n, "%s%lld", comma, (long long)d);
        else
            n = clv_add_dim_words(buf, size, clv_add_words(buf, size, n, "%s", comma), sums, d,
                                  NULL);
    }
    for (char *blank; (blank = strstr(buf, " + "));) /* between values of outputs there is one */
        memmove(blank, blank + 1, strlen(blank)), memmove(blank + 1, blank + 2, strlen(blank + 1));
    n = strlen(buf);
    if (v && n < size)
        snprintf(buf + n, size - n, "}");
}

/* Types, or values, of the outputs as one line. */
static void case_show(const clv_inference *found, bool values, char *buf, size_t size)
{
    const clv_graph *g = found->main->graph;
    size_t n = 0;
    buf[0] = '\0';
    for (int32_t k = 0; k < g->ops[0].n_out; k++) {
        char one[1024] = "-";
        clv_tensor t = clv_op_output(g, &g->ops[0], k);
        if (t.i >= 0 && values)
            case_show_value(&found->relations->sums, found->main->value[t.i], one, sizeof one);
        else if (t.i >= 0)
            clv_type_show(g->model, &found->main->of[t.i], one, sizeof one);
        n += (size_t)snprintf(buf + n, size - n, "%s%s", k ? " " : "", one);
    }
}

static void case_expect(bool values, const char *domain, int opset, const char *type,
                        const char *inputs, const char *attrs, const char *expected)
{
    char got[4096];
    op_case c;
    clv_error err = { .status = CLV_OK };
    clv_inference *found = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_status status =
        case_run(&c, arena, domain, opset, type, inputs, attrs, expected, &found, &err);
    cr_assert_eq(status, CLV_OK, "%s(%s) %s: %s", type, inputs, attrs, err.message);
    case_show(found, values, got, sizeof got);
    cr_assert_str_eq(got, expected, "%s(%s) %s: got %s, expected %s", type, inputs, attrs, got,
                     expected);
    clv_arena_free(arena);
}

__attribute__((unused)) static void shape(int opset, const char *type, const char *inputs,
                                          const char *attrs, const char *expected)
{
    case_expect(false, "", opset, type, inputs, attrs, expected);
}

/* One word for each output: {elements}, or none. */
__attribute__((unused)) static void value(int opset, const char *type, const char *inputs,
                                          const char *attrs, const char *expected)
{
    case_expect(true, "", opset, type, inputs, attrs, expected);
}

__attribute__((unused)) static void fails(int opset, const char *type, const char *inputs,
                                          const char *attrs, const char *words)
{
    op_case c;
    clv_error err = { .status = CLV_OK };
    clv_inference *found = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_status status = case_run(&c, arena, "", opset, type, inputs, attrs, "o", &found, &err);
    cr_assert_eq(status, CLV_EFORMAT, "%s(%s) %s did not fail", type, inputs, attrs);
    cr_assert(strstr(err.message, words), "%s(%s) %s: \"%s\" does not say \"%s\"", type, inputs,
              attrs, err.message, words);
    clv_arena_free(arena);
}

#endif
