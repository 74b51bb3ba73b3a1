/* test_layer_names.c - which number in a name is that of a layer. */
#include "explain/layer_names.h"

#include <criterion/criterion.h>

static clv_arena *arena;
static clv_layer_names names;

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    cr_assert_eq(clv_layer_names_init(&names, arena, NULL), CLV_OK);
}

static void tear_down(void) { clv_arena_free(arena); }

TestSuite(layer_names, .init = set_up, .fini = tear_down);

static void add(const char *name)
{
    cr_assert_eq(clv_layer_names_add(&names, clv_str_of(name), NULL), CLV_OK);
}

static void expect(const char *name, const char *layer, const char *pattern, const char *rest)
{
    clv_layer_name of;
    clv_text text = { .arena = arena };
    cr_assert_eq(clv_layer_of(&names, clv_str_of(name), arena, &of, NULL), CLV_OK);
    cr_expect_str_eq(of.name, layer);
    cr_expect_str_eq(of.pattern, pattern);
    clv_layer_add_rest(&text, clv_str_of(name), of.rest);
    cr_expect_str_eq(clv_text_end(&text), rest);
}

Test(layer_names, the_first_number_that_differs_is_the_layers)
{
    add("/resnet50/layers.0/mlp.3/MatMul_7");
    add("/resnet50/layers.11/mlp.3/MatMul_7");
    expect("/resnet50/layers.11/mlp.3/MatMul_7", "/resnet50/layers.11", "/resnet50/layers.*",
           "/mlp.*/MatMul_*");
    expect("/resnet50/embed/Gather", "/resnet50/embed/*", "/resnet50/embed/*", "Gather");
}

Test(layer_names, a_number_may_be_within_a_word)
{
    add("/encoder_layer_0_norm/Add");
    add("/encoder_layer_1_norm/Add");
    expect("/encoder_layer_1_norm/Add", "/encoder_layer_1_norm", "/encoder_layer_*_norm", "/Add");
    add("model.h.0.attn");
    add("model.h.1.attn");
    expect("model.h.0.attn", "model.h.0", "model.h.*", ".attn");
}

/* 1 and 10 have one digit in common, and are two numbers. */
Test(layer_names, a_number_is_all_of_its_digits)
{
    add("/l1/A");
    add("/l10/A");
    expect("/l10/A", "/l10", "/l*", "/A");
}

Test(layer_names, a_number_at_the_end_counts_nodes_and_no_layers)
{
    add("/model/Constant_1");
    add("/model/Constant_2");
    add("Add_938");
    add("Add_939");
    add("");
    expect("/model/Constant_2", "/model/*", "/model/*", "Constant_*");
    expect("Add_938", "Add_*", "Add_*", "");
    expect("/Add", "/*", "/*", "Add");
    expect("", "", "", "");
}
