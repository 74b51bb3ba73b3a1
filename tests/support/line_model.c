#include "support/line_model.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/graph_build.h"

typedef struct {
    clv_arena *arena;
    clv_draft_op ops[LINE_MODEL_ITEMS];
    clv_const weights[LINE_MODEL_ITEMS];
    clv_draft_value in[LINE_MODEL_ITEMS], out[LINE_MODEL_ITEMS];
    clv_str symbols[LINE_MODEL_ITEMS];
    clv_draft main;
    int32_t n_symbols;
} lines_draft;

static void must(bool yes, const char *what)
{
    if (yes)
        return;
    fprintf(stderr, "line_model: %s\n", what);
    abort();
}

static clv_dim dim_of(lines_draft *d, const char *word)
{
    int32_t id = 0;
    if (isdigit((unsigned char)*word))
        return atol(word);
    while (id < d->n_symbols && !clv_str_is(d->symbols[id], word))
        id++;
    if (id == d->n_symbols)
        d->symbols[d->n_symbols++] = clv_str_of(word);
    return clv_dim_symbol(id);
}

/* words: dimensions, and the element type if it is not float. */
static clv_type type_of(lines_draft *d, char **words, int32_t n)
{
    clv_dim *dims = CLV_NEW_ARRAY(d->arena, clv_dim, n);
    bool is_int = n > 0 && strcmp(words[n - 1], "int") == 0;
    n -= is_int;
    for (int32_t i = 0; i < n; i++)
        dims[i] = dim_of(d, words[i]);
    return (clv_type){ .kind = CLV_TYPE_TENSOR,
                       .dtype = is_int ? CLV_DT_INT64 : CLV_DT_FLOAT,
                       .rank = n,
                       .dims = dims };
}

static void add_value(lines_draft *d, clv_draft_value *at, char **words, int32_t n)
{
    clv_type *type = n > 1 ? CLV_NEW(d->arena, clv_type) : NULL;
    if (type)
        *type = type_of(d, words + 1, n - 1);
    *at = (clv_draft_value){ clv_str_of(words[0]), type };
}

static void add_weight(lines_draft *d, char **words, int32_t n)
{
    clv_type type = type_of(d, words + 1, n - 1);
    clv_const *w = &d->weights[d->main.n_weights++];
    *w = (clv_const){ .name = clv_str_of(words[0]),
                      .dtype = type.dtype,
                      .rank = type.rank,
                      .dims = type.dims,
                      .elems = 1 };
    for (int32_t i = 0; i < w->rank; i++)
        w->elems *= w->dims[i];
    w->bytes = 4 * w->elems;
}

static void add_op(lines_draft *d, char **words, int32_t n)
{
    clv_str *names = CLV_NEW_ARRAY(d->arena, clv_str, n);
    char *named = strchr(words[0], '='), *type = named ? named + 1 : words[0];
    char *dot = strrchr(type, '.');
    for (int32_t i = 0; i < n; i++)
        names[i] = clv_str_of(strcmp(words[i], "-") == 0 ? "" : words[i]);
    d->main.n_opsets += dot && d->main.n_opsets == 1;
    d->ops[d->main.n_ops++] =
        (clv_draft_op){ .name = named ? (clv_str){ words[0], (int32_t)(named - words[0]) }
                                      : names[n - 1],
                        .domain = dot ? (clv_str){ type, (int32_t)(dot - type) } : clv_str_of(""),
                        .type = clv_str_of(dot ? dot + 1 : type),
                        .inputs = names + 1,
                        .outputs = names + n - 1,
                        .n_inputs = n - 2,
                        .n_outputs = 1 };
}

clv_model *line_model(clv_arena *arena, const char *const *lines)
{
    static const clv_opset sets[] = { { { "", 0 }, 17 }, { { "com.microsoft", 13 }, 1 } };
    lines_draft *d = CLV_NEW(arena, lines_draft); /* what the model points to stays there */
    clv_model *model = NULL;
    clv_error err = { .message = "" };

    must(d != NULL, "no memory");
    d->arena = arena;
    d->main.n_opsets = 1;
    for (; *lines; lines++) {
        char *words[LINE_MODEL_ITEMS], *text = clv_arena_printf(arena, "%s", *lines), *rest = NULL;
        int32_t n = 0;
        for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
            must(n < LINE_MODEL_ITEMS, *lines);
            words[n++] = w;
        }
        must(n > 1 && d->main.n_ops < LINE_MODEL_ITEMS && d->main.n_weights < LINE_MODEL_ITEMS &&
                 d->main.n_inputs < LINE_MODEL_ITEMS && d->main.n_outputs < LINE_MODEL_ITEMS,
             *lines);
        if (strcmp(words[0], "in") == 0)
            add_value(d, &d->in[d->main.n_inputs++], words + 1, n - 1);
        else if (strcmp(words[0], "out") == 0)
            add_value(d, &d->out[d->main.n_outputs++], words + 1, n - 1);
        else if (strcmp(words[0], "w") == 0)
            add_weight(d, words + 1, n - 1);
        else
            add_op(d, words, n);
    }
    d->main.ops = d->ops;
    d->main.weights = d->weights;
    d->main.inputs = d->in;
    d->main.outputs = d->out;
    d->main.opsets = sets;
    clv_draft_model draft = {
        .ir_version = 8, .main = &d->main, .symbols = d->symbols, .n_symbols = d->n_symbols
    };
    must(clv_model_build(&draft, arena, &model, &err) == CLV_OK, err.message);
    return model;
}
