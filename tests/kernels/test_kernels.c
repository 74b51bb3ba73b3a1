/* test_kernels.c - which operators become one kernel: small graphs by hand, random ones, and what
 * exporters write. */
#include "base/file.h"
#include "graph/infer_bound.h"
#include "graph/ops.h"
#include "kernels/conditions.h"
#include "kernels/form.h"
#include "kernels/host.h"
#include "kernels/runtime_json.h"
#include "proto/onnx_read.h"
#include "support/effort.h"
#include "support/line_model.h"

#include <criterion/criterion.h>
#include <stdio.h>

typedef struct {
    clv_arena *arena;
    const clv_model *model;
    const clv_types *types;
    clv_kernels *kernels;
} formed;

static clv_runtime *load(clv_arena *arena, const char *name)
{
    clv_error err = { 0 };
    const char *text,
        *path = clv_arena_printf(arena, "%s/configs/runtimes/%s.json", TEST_SOURCE_DIR, name);
    size_t n;
    clv_runtime *runtime = NULL;
    cr_assert_eq(clv_read_file(path, 1 << 20, arena, &text, &n, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_runtime_parse(text, n, path, arena, &runtime, &err), CLV_OK, "%s",
                 err.message);
    return runtime;
}

static void form(formed *f, const char *runtime)
{
    clv_error err = { 0 };
    cr_assert_eq(clv_kernels_form(f->types, load(f->arena, runtime), f->arena, &f->kernels, &err),
                 CLV_OK, "%s", err.message);
}

static formed of_lines(const char *runtime, const char *const *lines)
{
    formed f = { .arena = clv_arena_new(NULL, 0) };
    clv_inference *found;
    clv_error err = { 0 };
    f.model = line_model(f.arena, lines);
    cr_assert_eq(clv_infer(f.model, NULL, 0, f.arena, &found, &err), CLV_OK, "%s", err.message);
    f.types = found->main;
    form(&f, runtime);
    return f;
}

/* "MatMul Add Relu" of the kernel that an operator is in. */
static const char *kernel_with(const formed *f, const char *label)
{
    const clv_graph *g = f->model->main;
    const char *text = "";
    for (int32_t i = 0; i < g->n_ops; i++) {
        if (!clv_str_is(g->ops[i].label, label))
            continue;
        if (f->kernels->of[i] < 0)
            return "none";
        const clv_kernel *k = &f->kernels->at[f->kernels->of[i]];
        for (int32_t m = 0; m < k->n; m++)
            text = clv_arena_printf(
                f->arena, "%s%s%.*s", text, m ? " " : "",
                CLV_STR_ARG(clv_op_at(g, f->kernels->members[k->first + m])->type));
        return text;
    }
    return "no such operator";
}

static const clv_kernel *kernel_at(const formed *f, const char *label)
{
    const clv_graph *g = f->model->main;
    for (int32_t i = 0; i < g->n_ops; i++)
        if (clv_str_is(g->ops[i].label, label) && f->kernels->of[i] >= 0)
            return &f->kernels->at[f->kernels->of[i]];
    return NULL;
}

static bool inside(const formed *f, const char *name)
{
    const clv_graph *g = f->model->main;
    for (int32_t t = 0; t < g->n_tensors; t++)
        if (clv_str_is(g->tensors[t].name, name))
            return f->kernels->inside[t];
    cr_assert_fail("no tensor %s", name);
    return false;
}

static double share(const formed *f, const char *label)
{
    return f->kernels->share[kernel_at(f, label)->anchor.i];
}

/* -- by hand -- */

Test(kernels, none_leaves_every_operator_alone)
{
    const char *const lines[] = { "in x 8 64", "w a 64 64",    "MatMul x a m",
                                  "Relu m r",  "Identity r v", "out v",
                                  NULL };
    formed f = of_lines("none", lines);
    cr_expect_eq(f.kernels->n, 2, "what is a view is none");
    cr_expect_str_eq(kernel_with(&f, "m"), "MatMul");
    cr_expect_str_eq(kernel_with(&f, "v"), "none");
    cr_expect(!inside(&f, "m"));
    clv_arena_free(f.arena);
}

Test(kernels, bias_and_activation_go_into_the_product)
{
    const char *const lines[] = { "in x 8 64", "w a 64 128", "w b 128", "MatMul x a m",
                                  "Add m b c", "Relu c r",   "out r",   NULL };
    formed f = of_lines("engine", lines);
    cr_expect_str_eq(kernel_with(&f, "r"), "MatMul Add Relu");
    cr_expect_eq(kernel_at(&f, "m")->kind, CLV_KERNEL_PRODUCT);
    cr_expect(inside(&f, "m") && inside(&f, "c") && !inside(&f, "r") && !inside(&f, "x"));
    clv_arena_free(f.arena);
}

Test(kernels, what_others_read_of_it_is_stored)
{
    const char *const lines[] = { "in x 8 64", "w a 64 128", "w b 128 64",   "MatMul x a m",
                                  "Relu m r",  "Neg m n",    "MatMul r b y", "out y",
                                  "out n",     NULL };
    formed f = of_lines("engine", lines);
    cr_expect_str_eq(kernel_with(&f, "m"), "MatMul Relu Neg");
    cr_expect(inside(&f, "m"), "both are in it");
    cr_expect(!inside(&f, "r"), "the next product reads it");
    clv_arena_free(f.arena);
}

Test(kernels, gate_and_up_are_one_product)
{
    const char *const lines[] = { "in x 8 64",     "w a 64 96", "w b 64 32", "MatMul x a gate",
                                  "MatMul x b up", "out gate",  "out up",    NULL };
    formed f = of_lines("engine", lines);
    cr_expect_float_eq(share(&f, "gate"), 0.75, 1e-12);
    cr_expect_float_eq(share(&f, "up"), 0.25, 1e-12);
    clv_arena_free(f.arena);
}

Test(kernels, a_gated_activation_goes_into_one_of_its_products)
{
    const char *const lines[] = {
        "in x 8 64",      "w a 64 96",       "w b 64 96",     "MatMul x a gate", "MatMul x b up",
        "Sigmoid gate s", "Mul gate s silu", "Mul silu up y", "out y",           NULL
    };
    formed f = of_lines("engine", lines);
    cr_expect_str_eq(kernel_with(&f, "y"), "MatMul Sigmoid Mul Mul");
    cr_expect_str_eq(kernel_with(&f, "up"), "MatMul");
    cr_expect(!inside(&f, "up"));
    clv_arena_free(f.arena);
}

Test(kernels, no_kernel_waits_for_itself)
{
    const char *const lines[] = { "in x 8 64",    "w a 64 64", "w b 64 64", "MatMul x a m",
                                  "MatMul m b n", "Add m n y", "out y",     NULL };
    formed f = of_lines("engine", lines);
    cr_expect_str_eq(kernel_with(&f, "m"), "MatMul", "the sum waits for the second product");
    cr_expect_str_eq(kernel_with(&f, "y"), "MatMul Add");
    clv_arena_free(f.arena);
}

Test(kernels, a_norm_takes_the_residual_with_it_which_is_stored)
{
    const char *const lines[] = { "in x 8 64",    "in z 8 64",
                                  "w s 64",       "w a 64 64",
                                  "Add x z sum",  "LayerNormalization sum s n",
                                  "MatMul n a m", "Add sum m y",
                                  "out y",        NULL };
    formed f = of_lines("engine", lines);
    cr_expect_str_eq(kernel_with(&f, "n"), "Add LayerNormalization");
    cr_expect_str_eq(kernel_with(&f, "m"), "MatMul Add");
    cr_expect(!inside(&f, "sum") && !inside(&f, "n"));
    clv_arena_free(f.arena);
}

#define ATTENTION                                                                                  \
    "in q 2 4 8 16", "in k 2 4 16 8", "in v 2 4 8 16", "w scale", "MatMul q k s", "Div s scale d", \
        "Softmax d p", "MatMul p v y", "out y"

Test(kernels, attention_is_one_kernel)
{
    const char *const lines[] = { ATTENTION, NULL };
    formed f = of_lines("engine", lines);
    const clv_kernel *k = kernel_at(&f, "y");
    cr_assert_not_null(k);
    cr_expect_str_eq(kernel_with(&f, "y"), "MatMul Div Softmax MatMul");
    cr_assert_not_null(k->attention);
    cr_expect(k->attention->group == 1 && !k->attention->causal);
    cr_expect(inside(&f, "s") && inside(&f, "d") && inside(&f, "p") && !inside(&f, "y"));
    clv_arena_free(f.arena);
}

Test(kernels, scores_that_others_read_are_no_attention)
{
    const char *const probabilities[] = { ATTENTION, "out p", NULL };
    const char *const scores[] = { ATTENTION, "Neg s n", "out n", NULL };
    formed f = of_lines("engine", probabilities);
    cr_expect_str_eq(kernel_with(&f, "p"), "Softmax");
    cr_expect_str_eq(kernel_with(&f, "s"), "MatMul Div", "no more than a product");
    clv_arena_free(f.arena);
    f = of_lines("engine", scores);
    cr_expect_str_eq(kernel_with(&f, "p"), "Softmax");
    clv_arena_free(f.arena);
}

Test(kernels, a_softmax_without_products_is_a_row_kernel)
{
    const char *const lines[] = {
        "in x 8 64", "Relu x r", "Softmax r s", "Neg s y", "out y", NULL
    };
    formed f = of_lines("engine", lines);
    cr_expect_str_eq(kernel_with(&f, "s"), "Softmax Neg");
    cr_expect_eq(kernel_at(&f, "s")->kind, CLV_KERNEL_MEMORY);
    clv_arena_free(f.arena);
}

/* -- conditions of stages, as configs/runtimes/onnxruntime.json has them -- */

Test(kernels, a_bias_is_a_row_of_constants)
{
    const char *const lines[] = { "in x 4 8 64", "in z 4 8 64",  "w a 64 64", "w b 64",
                                  "w c 4 8 64",  "MatMul x a m", "Add b m y", "MatMul x a n",
                                  "Add n z s",   "MatMul x a o", "Add o c t", "out y",
                                  "out s",       "out t",        NULL };
    formed f = of_lines("onnxruntime", lines);
    cr_expect_str_eq(kernel_with(&f, "m"), "MatMul Add");
    cr_expect_str_eq(kernel_with(&f, "n"), "MatMul", "a residual is none");
    cr_expect_str_eq(kernel_with(&f, "o"), "MatMul", "nor is a constant of more rows");
    clv_arena_free(f.arena);
}

Test(kernels, a_residual_is_as_large_as_the_result)
{
    const char *const lines[] = { "in x 2 8 6 6",
                                  "in z 2 8 6 6",
                                  "in e 2 8 1 1",
                                  "w a 8 8 1 1",
                                  "Conv x a c",
                                  "Add c z d",
                                  "Relu d r",
                                  "Conv x a h",
                                  "Add h e i",
                                  "Relu i s",
                                  "out r",
                                  "out s",
                                  NULL };
    formed f = of_lines("onnxruntime", lines);
    cr_expect_str_eq(kernel_with(&f, "c"), "Conv Add Relu");
    cr_expect_str_eq(kernel_with(&f, "h"), "Conv");
    clv_arena_free(f.arena);
}

Test(kernels, an_activation_multiplies_what_it_reads)
{
    const char *const lines[] = { "in x 8 64", "in z 8 64",   "Neg x a",     "Sigmoid a s",
                                  "Mul a s y", "Sigmoid a t", "Mul t z w_z", "out y",
                                  "out w_z",   NULL };
    formed f = of_lines("onnxruntime", lines);
    cr_expect_str_eq(kernel_with(&f, "s"), "Sigmoid Mul");
    cr_expect_str_eq(kernel_with(&f, "t"), "Sigmoid");
    clv_arena_free(f.arena);
}

Test(kernels, products_take_transposes_of_matrices)
{
    const char *const lines[] = { "in x 8 64",
                                  "in z 8 64",
                                  "Transpose z t",
                                  "MatMul x t y",
                                  "in u 4 8 64",
                                  "Transpose u v",
                                  "in q 64 4 8",
                                  "MatMul v q w_q",
                                  "out y",
                                  "out w_q",
                                  NULL };
    formed f = of_lines("onnxruntime", lines);
    cr_expect_str_eq(kernel_with(&f, "y"), "Transpose MatMul");
    cr_expect_str_eq(kernel_with(&f, "w_q"), "MatMul", "three dimensions the other way round");
    clv_arena_free(f.arena);
}

Test(kernels, what_gives_its_input_back_is_no_kernel)
{
    const char *const lines[] = {
        "in x 8 64", "Relu x r", "Transpose r t", "Neg t y", "out y", NULL
    };
    formed f = of_lines("onnxruntime", lines);
    cr_expect_str_eq(kernel_with(&f, "t"), "Transpose", "64 before 8");
    clv_arena_free(f.arena);
    const char *const one[] = {
        "in x 1 64", "Relu x r", "Transpose r t", "Neg t y", "out y", NULL
    };
    f = of_lines("onnxruntime", one);
    cr_expect_str_eq(kernel_with(&f, "t"), "none", "a dimension of 1 is all that moves");
    cr_expect(!inside(&f, "r"), "the next kernel reads it");
    clv_arena_free(f.arena);
    f = of_lines("none", one);
    cr_expect_str_eq(kernel_with(&f, "t"), "Transpose", "each operator is a kernel");
    clv_arena_free(f.arena);
}

Test(kernels, there_may_be_nothing_to_form)
{
    const char *const lines[] = { "in x 8", "out x", NULL };
    formed f = of_lines("engine", lines);
    cr_expect_eq(f.kernels->n, 0);
    clv_arena_free(f.arena);
}

/* -- any graph -- */

/* Can a kernel be reached from itself? By depth first search over operators and their kernels. */
typedef struct {
    const formed *f;
    uint8_t *state; /* by kernel: 0 new, 1 open, 2 done */
} walk;

static bool circles(walk *w, int32_t kernel)
{
    const clv_graph *g = w->f->model->main;
    const clv_kernel *k = &w->f->kernels->at[kernel];
    if (w->state[kernel])
        return w->state[kernel] == 1;
    w->state[kernel] = 1;
    for (int32_t m = 0; m < k->n; m++) {
        int32_t stack[64], n = 0;
        stack[n++] = w->f->kernels->members[k->first + m].i;
        while (n > 0) { /* through views that are in no kernel */
            const clv_op_info *op = &g->ops[stack[--n]];
            for (int32_t i = 0; i < op->n_in; i++) {
                clv_tensor t = clv_op_input(g, op, i);
                int32_t writer = t.i < 0 ? -1 : clv_tensor_at(g, t)->producer.i;
                if (writer < 0 || w->f->kernels->of[writer] == kernel)
                    continue;
                if (w->f->kernels->of[writer] < 0)
                    stack[n++] = writer;
                else if (circles(w, w->f->kernels->of[writer]))
                    return true;
                cr_assert_lt(n, 60);
            }
        }
    }
    w->state[kernel] = 2;
    return false;
}

static void check(const formed *f, const char *what)
{
    const clv_graph *g = f->model->main;
    const clv_kernels *k = f->kernels;
    walk w = { f, calloc((size_t)k->n + 1, 1) };
    int32_t *seen = calloc((size_t)g->n_ops + 1, sizeof *seen);
    for (int32_t i = 0; i < k->n; i++) {
        cr_assert(!circles(&w, i), "%s: kernel %d waits for itself", what, (int)i);
        for (int32_t m = 0; m < k->at[i].n; m++) {
            int32_t op = k->members[k->at[i].first + m].i;
            cr_assert(k->of[op] == i && seen[op]++ == 0, "%s: operator %d", what, (int)op);
        }
    }
    for (int32_t i = 0; i < g->n_ops; i++)
        cr_assert_eq(seen[i], k->of[i] >= 0, "%s: operator %d is in %d kernels", what, (int)i,
                     (int)seen[i]);
    for (int32_t t = 0; t < g->n_tensors; t++) {
        const clv_tensor_info *at = &g->tensors[t];
        if (!k->inside[t] || at->producer.i < 0 || k->of[at->producer.i] < 0)
            continue; /* a state, or a mask */
        cr_assert(!at->is_output, "%s", what);
        for (int32_t r = 0; r < at->n_readers; r++) {
            clv_op reader = g->readers_of[at->first_reader + r];
            cr_assert(
                k->of[reader.i] == k->of[at->producer.i] ||
                    (k->of[reader.i] < 0 && clv_op_passed(f->types, clv_op_at(g, reader)).i < 0),
                "%s: %.*s is read elsewhere", what, CLV_STR_ARG(at->name));
        }
    }
    free(seen);
    free(w.state);
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

/* Squares all, so that anything may read anything. */
static void random_graph(uint64_t *state, char line[24][40], const char **lines)
{
    static const char *const ops[] = { "Add", "MatMul", "Mul",    "Relu",      "Softmax",
                                       "Neg", "Sub",    "MatMul", "Transpose", "Identity",
                                       "Add", "Exp",    "Sigmoid" };
    int n_ops = 3 + (int)draw(state, 18);
    snprintf(line[0], sizeof line[0], "in t0 8 8");
    for (int i = 1; i <= n_ops; i++) {
        const char *op = ops[draw(state, sizeof ops / sizeof *ops)];
        uint32_t near = i > 4 && draw(state, 3) ? (uint32_t)i - 4 : 0;
        uint32_t a = near + draw(state, (uint32_t)i - near),
                 b = near + draw(state, (uint32_t)i - near);
        if (strcmp(op, "Add") == 0 || strcmp(op, "MatMul") == 0 || strcmp(op, "Mul") == 0 ||
            strcmp(op, "Sub") == 0)
            snprintf(line[i], sizeof line[i], "%s t%u t%u t%d", op, a, b, i);
        else
            snprintf(line[i], sizeof line[i], "%s t%u t%d", op, a, i);
    }
    for (int i = 0; i <= n_ops; i++)
        lines[i] = line[i];
    snprintf(line[n_ops + 1], sizeof line[0], "out t%d", n_ops);
    lines[n_ops + 1] = line[n_ops + 1];
    lines[n_ops + 2] = NULL;
}

Test(kernels, of_any_graph_are_whole_and_in_order)
{
    char line[24][40];
    const char *lines[26];
    uint64_t state = 7;
    for (uint64_t round = 0; round < test_effort(500); round++) {
        random_graph(&state, line, lines);
        for (int k = 0; k < 2; k++) {
            formed f = of_lines(k ? "onnxruntime" : "engine", lines);
            check(&f, clv_arena_printf(f.arena, "graph %d", (int)round));
            clv_arena_free(f.arena);
        }
    }
}

/* -- what exporters write -- */

static const clv_binding bindings[] = {
    { { "batch_size", 10 }, 2 },
    { { "sequence_length", 15 }, 1 },
    { { "past_sequence_length", 20 }, 7 },
    { { "total_sequence_length", 21 }, 8 },
};

static formed of_file(const char *name, clv_onnx_file **file)
{
    formed f = { .arena = clv_arena_new(NULL, 0) };
    clv_error err = { 0 };
    clv_model *model;
    clv_inference *found;
    clv_binding given[4];
    int32_t n = 0;
    const char *path = clv_arena_printf(f.arena, "%s/tests/data/%s", TEST_SOURCE_DIR, name);
    cr_assert_eq(clv_onnx_open(path, NULL, file, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_onnx_read(*file, f.arena, &model, &err), CLV_OK, "%s", err.message);
    for (int32_t s = 0; s < model->n_symbols; s++)
        for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++)
            if (clv_str_eq(model->symbols[s], bindings[i].symbol))
                given[n++] = bindings[i];
    cr_assert_eq(clv_infer_bound(model, given, n, f.arena, &found, &err), CLV_OK, "%s",
                 err.message);
    f.model = model;
    f.types = found->main;
    form(&f, "engine");
    return f;
}

static int count(const formed *f, const char *pattern)
{
    int n = 0;
    for (int32_t i = 0; i < f->kernels->n; i++)
        n += f->kernels->at[i].pattern && strcmp(f->kernels->at[i].pattern->name, pattern) == 0;
    return n;
}

typedef struct {
    const char *file;
    int products, norms, attention, group, states; /* attention in either form */
    bool causal;
} export;

Test(kernels, of_real_exports)
{
    static const export all[] = {
        { "models/bert.dyn.onnx", 19, 7, 3, 1, 0, false },
        { "runnable/bert.opset11.onnx", 19, 7, 3, 1, 0, false },
        { "models/llama_gqa_decode.dyn.onnx", 23, 7, 3, 4, 6, false },
        { "runnable/opset23_decode.dyn.onnx", 15, 5, 2, 0, 4, false },
        { "runnable/genai_q4_decode.dyn.onnx", 15, 6, 2, 0, 4, false },
        { "runnable/mixtral_prefill.static.onnx", 12, 5, 2, 4, 0, true },
        { "models/resnet.static.onnx", 20, 1, 0, 0, 0, false },
        { "models/vit_l_16.b16.onnx", 98, 49, 24, 1, 0, false },
        { "runnable/efficientnet.static.onnx", 22, 5, 0, 0, 0, false },
        { "runnable/dlrm.static.onnx", 0, 0, 0, 0, 0, false },
        { "runnable/densenet.static.onnx", 0, 0, 0, 0, 0, false },
        { "runnable/convnext.static.onnx", 0, 0, 0, 0, 0, false },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const export *e = &all[i];
        clv_onnx_file *file;
        formed f = of_file(e->file, &file);
        int attention = 0, states = 0;
        check(&f, e->file);
        for (int32_t k = 0; k < f.kernels->n; k++) {
            const clv_kernel *at = &f.kernels->at[k];
            attention += at->kind == CLV_KERNEL_ATTENTION;
            if (at->attention)
                cr_expect(at->attention->group == e->group && at->attention->causal == e->causal,
                          "%s: heads in groups of %d", e->file, (int)at->attention->group);
        }
        for (int32_t t = 0; t < f.model->main->n_inputs; t++)
            states += f.kernels->state[f.model->main->inputs[t].i].i >= 0;
        cr_expect_eq(attention, e->attention, "%s: %d attention", e->file, attention);
        cr_expect_eq(states, e->states, "%s: %d states", e->file, states);
        if (e->products > 0) {
            cr_expect_eq(count(&f, "product"), e->products, "%s: %d products", e->file,
                         count(&f, "product"));
            cr_expect_eq(count(&f, "norm"), e->norms, "%s: %d norms", e->file, count(&f, "norm"));
        }
        clv_arena_free(f.arena);
        clv_onnx_close(file);
    }
}

Test(kernels, the_host_works_for_each_sequence)
{
    const char *const lines[] = { "in x 7 5", "Relu x y", "out y", NULL };
    formed f = of_lines("engine", lines);
    clv_host_work host = { .run_ns = 1000, .sequence_ns = 10 };
    cr_expect_eq(clv_host_ns(&host, f.types), 1070);
    host.sequence_ns = INT64_MAX / 2;
    cr_expect_eq(clv_host_ns(&host, f.types), INT64_MAX / 4);
    clv_arena_free(f.arena);
}

/* Of the longest prompt; a step of decoding has no front end before it. */
Test(kernels, the_front_end_works_for_each_token_of_a_prompt)
{
    clv_host_work host = { .request_ns = 1000, .prompt_token_ns = 10 };
    clv_token_ids ids[] = { { 3, 1 }, { 3, 7 } };
    clv_prompt prompt = { .n = 2, .at = ids };
    cr_expect_eq(clv_front_end_ns(&host, &prompt), 1070);
    host.prompt_token_ns = INT64_MAX / 2;
    cr_expect_eq(clv_front_end_ns(&host, &prompt), INT64_MAX / 4);
    prompt.n = 1;
    cr_expect_eq(clv_front_end_ns(&host, &prompt), 0);
    prompt.n = 0;
    cr_expect_eq(clv_front_end_ns(&host, &prompt), 0);
}

/* Of both layers all 4 experts, whatever of the shapes is known: 2 for each of 8 * 2 tokens. */
Test(kernels, experts_written_out_are_one_each_layer)
{
    clv_onnx_file *file;
    formed f = of_file("runnable/mixtral_prefill.static.onnx", &file);
    int n = 0;
    for (int32_t i = 0; i < f.kernels->n; i++) {
        const clv_experts_parts *p = f.kernels->at[i].experts;
        if (!p)
            continue;
        n++;
        cr_expect(p->tokens == 16 && p->hidden == 64 && p->intermediate == 112 && p->experts == 4 &&
                  p->top_k == 2 && p->gated);
        cr_expect(p->n_up == 8 && p->n_down == 4);
        for (int32_t d = 0; d < p->n_down; d++)
            cr_expect(f.kernels->of[p->down[d].i] == i && f.kernels->of[p->up[2 * d].i] == i);
    }
    cr_expect_eq(n, 2);
    cr_expect_eq(count(&f, "experts written out"), 2);
    clv_arena_free(f.arena);
    clv_onnx_close(file);
}

Test(kernels, embeddings_that_are_joined_are_one_lookup)
{
    clv_onnx_file *file;
    formed f = of_file("runnable/dlrm.static.onnx", &file);
    cr_expect_eq(count(&f, "lookup"), 1);
    clv_arena_free(f.arena);
    clv_onnx_close(file);
}

/* DLRM with its tables in one: the lookup beside what the dense inputs gave. */
Test(kernels, a_lookup_beside_other_rows_is_one_lookup)
{
    const char *const lines[] = { "in ids 8 int",
                                  "in dense 8 16",
                                  "w table 100 16",
                                  "Gather table ids e",
                                  "Concat e dense y",
                                  "out y",
                                  NULL };
    formed f = of_lines("engine", lines);
    cr_expect_str_eq(kernel_with(&f, "y"), "Gather Concat");
    cr_expect(inside(&f, "e"));
    clv_arena_free(f.arena);
}

Test(kernels, out_of_memory_is_said)
{
    const char *const lines[] = { ATTENTION, NULL };
    formed f = of_lines("engine", lines);
    for (size_t limit = 0; limit < 40000; limit += 512) {
        clv_arena *small = clv_arena_new(NULL, limit + 1);
        clv_kernels *made = NULL;
        clv_error err = { 0 };
        clv_status s =
            small ? clv_kernels_form(f.types, f.kernels->runtime, small, &made, &err) : CLV_ENOMEM;
        cr_expect(s == CLV_ENOMEM ? made == NULL : s == CLV_OK && made->n == f.kernels->n);
        clv_arena_free(small);
    }
    clv_arena_free(f.arena);
}
