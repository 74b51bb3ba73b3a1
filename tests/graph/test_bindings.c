#include "graph/bindings.h"

#include <criterion/criterion.h>

/* The size that `symbol` gets when past is 7 and heads is 4, or -1 when it stays open. */
static int64_t size_of(const char *symbol)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_str symbols[] = { clv_str_of("past"), clv_str_of("heads"), clv_str_of(symbol) };
    clv_model model = { .symbols = symbols, .n_symbols = 3 };
    clv_binding given[] = { { symbols[0], 7 }, { symbols[1], 4 } };
    clv_bindings all = { .at = given, .n_given = 2 };
    cr_assert_eq(clv_bindings_complete(&model, NULL, arena, &all, NULL), CLV_OK);
    int64_t size = all.n == 3 ? all.at[2].value : -1;
    clv_arena_free(arena);
    return size;
}

Test(bindings, an_expression_of_bound_names_has_their_value)
{
    cr_assert_eq(size_of("past + 1"), 8);
    cr_assert_eq(size_of("past+heads*2"), 15);
    cr_assert_eq(size_of("(past + 1) * heads"), 32);
    cr_assert_eq(size_of("past // 2"), 3);
    cr_assert_eq(size_of("(past+1)/heads"), 2);
    cr_assert_eq(size_of("past - heads"), 3);
}

Test(bindings, nothing_is_guessed_of_what_is_not_whole_or_not_known)
{
    cr_assert_eq(size_of("past / heads"), -1);
    cr_assert_eq(size_of("batch + 1"), -1);
    cr_assert_eq(size_of("heads - past"), -1, "a size is at least 1");
    cr_assert_eq(size_of("past +"), -1);
    cr_assert_eq(size_of("(past"), -1);
    cr_assert_eq(size_of("past heads"), -1);
    cr_assert_eq(size_of("past // 0"), -1);
    cr_assert_eq(size_of("x[0]"), -1);
    cr_assert_eq(size_of(""), -1);
    cr_assert_eq(size_of("7 + 1"), -1, "no name of the model in it");
    cr_assert_eq(size_of("past * 9223372036854775807"), -1);
    cr_assert_eq(size_of("99999999999999999999 + past"), -1);
}

Test(bindings, deep_parentheses_do_not_overflow_the_stack)
{
    enum { N = 100000 };
    static char deep[N + 1];
    for (int i = 0; i < N; i++)
        deep[i] = '(';
    cr_assert_eq(size_of(deep), -1);
}
