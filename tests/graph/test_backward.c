/* test_backward.c - which operators are of the backward pass. */
#include "graph/backward.h"

#include <criterion/criterion.h>

#define OPS 4

/* A chain of OPS operators: each reads what the one before makes. */
typedef struct {
    clv_graph graph;
    clv_op_info ops[OPS];
    clv_tensor_info tensors[OPS];
    clv_tensor in[OPS], out[OPS];
} chain;

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(backward, .init = set_up, .fini = tear_down);

static void fill(chain *c, const char *type, const char *name, const char *output)
{
    static const char *const names[OPS] = { "a", "b", "c", "d" };
    *c = (chain){ .graph = { .n_ops = OPS, .n_tensors = OPS } };
    for (int32_t i = 0; i < OPS; i++) {
        bool special = i == 2;
        c->in[i] = (clv_tensor){ i - 1 };
        c->out[i] = (clv_tensor){ i };
        c->tensors[i] = (clv_tensor_info){ .name = clv_str_of(special && output ? output : "t"),
                                           .producer = { i } };
        c->ops[i] = (clv_op_info){ .type = clv_str_of(special && type ? type : "Relu"),
                                   .name = clv_str_of(special && name ? name : ""),
                                   .label = clv_str_of(names[i]),
                                   .first_in = i,
                                   .n_in = 1,
                                   .first_out = i,
                                   .n_out = 1 };
    }
    c->graph.ops = c->ops;
    c->graph.tensors = c->tensors;
    c->graph.inputs_of = c->in;
    c->graph.outputs_of = c->out;
}

/* The first backward operator; all behind it must be backward too. OPS: none. */
static int32_t first_of(const chain *c, const char *first)
{
    bool *mark = NULL;
    int32_t n = 0;
    cr_assert_eq(clv_backward_ops(&c->graph, first, arena, &mark, NULL), CLV_OK);
    while (n < OPS && !(mark && mark[n]))
        n++;
    cr_assert(mark || n == OPS);
    for (int32_t i = n; i < OPS; i++)
        cr_assert(mark[i]);
    return n;
}

static int32_t with(const char *type, const char *name, const char *output)
{
    chain c;
    fill(&c, type, name, output);
    return first_of(&c, NULL);
}

Test(backward, begins_with_types_of_gradients)
{
    cr_assert_eq(with("ReluGrad", NULL, NULL), 2);
    cr_assert_eq(with("SoftmaxGrad_13", NULL, NULL), 2);
    cr_assert_eq(with("InvertibleLayerNormalizationGradV2", NULL, NULL), 2);
    cr_assert_eq(with("Gradient", NULL, NULL), 2);
    cr_assert_eq(with("Gradual", NULL, NULL), OPS);
    cr_assert_eq(with("GradScaler", NULL, NULL), OPS);
}

Test(backward, begins_with_names_that_have_the_word)
{
    cr_assert_eq(with(NULL, "fc1/Gemm_Grad/Gemm_1", NULL), 2);
    cr_assert_eq(with(NULL, "loss.backward", NULL), 2);
    cr_assert_eq(with(NULL, NULL, "fc1.weight_grad"), 2);
    cr_assert_eq(with(NULL, NULL, "grad"), 2);
    cr_assert_eq(with(NULL, "graduate", "x_gradx"), OPS);
    cr_assert_eq(with(NULL, "encoder/no_grad/Add", NULL), OPS);
    cr_assert_eq(with(NULL, NULL, NULL), OPS);
}

Test(backward, begins_where_the_user_says)
{
    chain c;
    fill(&c, "ReluGrad", NULL, NULL);
    cr_assert_eq(first_of(&c, "b"), 1, "instead of the rule");
    cr_assert_eq(first_of(&c, "d,b"), 1);
    cr_assert_eq(first_of(&c, "none"), OPS);
}

Test(backward, an_unknown_name_is_refused)
{
    chain c;
    bool *mark;
    clv_error err;
    fill(&c, NULL, NULL, NULL);
    cr_assert_eq(clv_backward_ops(&c.graph, "b,nobody", arena, &mark, &err), CLV_EUSAGE);
    cr_assert(strstr(err.message, "'nobody'"), "%s", err.message);
}
