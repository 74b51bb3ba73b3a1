/* test_layout_text.c - what clv_layout_show() writes is read back as the same layout, and nothing
 * else is read.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "notation/layout_text.h"
#include "sharding/steps.h"
#include "support/layout_sim.h"

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(layout_text, .init = open_arena, .fini = close_arena);

static void comes_back(const clv_layout *l, const clv_mesh *mesh, int32_t rank)
{
    char text[CLV_LAYOUT_TEXT], again[CLV_LAYOUT_TEXT];
    clv_layout read;
    clv_error err;
    clv_layout_show(text, l, mesh, rank);
    cr_assert_eq(clv_layout_parse(text, mesh, rank, &read, &err), CLV_OK, "%s", err.message);
    cr_assert_str_eq(clv_layout_show(again, &read, mesh, rank), text);
    clv_layout a = clv_layout_plain(l, mesh), b = clv_layout_plain(&read, mesh);
    cr_assert(clv_layout_equal(&a, &b), "%s", text);
}

Test(layout_text, every_layout_comes_back)
{
    static const char *const forms[] = { "2", "2x2", "2x3x2", "a=2xab=2xabc=2", "x=2xxx=3" };
    const int64_t sizes[] = { 12, 24, 6 };
    const clv_slot inner[] = { { 1, 4, 1 }, { 1, 1, 3 }, { 1, 2, 3 }, { 0, 6, 1 } };
    int n = 0;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        const clv_mesh *mesh = sim_mesh(arena, forms[f]);
        clv_tensor_split t = {
            .rank = 3, .dims = sizes, .dtype = CLV_DT_FLOAT, .policy = CLV_UNEVEN_CEIL
        };
        const clv_layouts *all;
        cr_assert_eq(clv_layouts_make(mesh, &t, (clv_slots){ inner, 4 }, arena, &all, NULL),
                     CLV_OK);
        for (int32_t i = 0; i < all->n; i++, n++)
            comes_back(&all->at[i], mesh, 3);
    }
    cr_assert_gt(n, 400);
}

Test(layout_text, every_reduction_comes_back)
{
    const clv_mesh *mesh = sim_mesh(arena, "2x2x2");
    for (int8_t reduce = CLV_REDUCE_SUM; reduce < CLV_N_REDUCES; reduce++)
        for (uint32_t axes = 1; axes < 8; axes++) {
            clv_layout l = CLV_LAYOUT_COPIES;
            for (int32_t a = 0; a < 3; a++) {
                if (!(axes >> a & 1))
                    continue;
                l.dim[a] = CLV_AXIS_PARTIAL;
                l.reduce[a] = reduce;
            }
            for (int32_t rank = 0; rank < 4; rank++)
                comes_back(&l, mesh, rank);
        }
}

#define NAME_39 "0123456789_123456789_123456789_12345678"

/* As many dimensions as a tensor may have, and the longest names: nothing is cut off. */
Test(layout_text, the_longest_comes_back)
{
    const clv_mesh *mesh = sim_mesh(arena, "a" NAME_39 "=2xb" NAME_39 "=2xc" NAME_39 "=2");
    clv_layout l = CLV_LAYOUT_COPIES;
    clv_layout_split_units(&l, 0, CLV_RANK_MAX - 1, INT32_MAX, 1);
    clv_layout_split_units(&l, 1, 0, INT32_MAX, 1);
    clv_layout_split_units(&l, 2, 1, 1, INT32_MAX);
    comes_back(&l, mesh, CLV_RANK_MAX);
}

static void refused(const char *text, int32_t rank, const char *words)
{
    const clv_mesh *mesh = sim_mesh(arena, "dp=2xtp=2");
    clv_layout read = CLV_LAYOUT_COPIES;
    clv_error err = { .message = "" };
    cr_expect_eq(clv_layout_parse(text, mesh, rank, &read, &err), CLV_EFORMAT, "'%s' is read",
                 text);
    cr_expect(strstr(err.message, words), "'%s': %s", text, err.message);
}

Test(layout_text, what_is_no_layout_is_reported)
{
    refused("", 1, "expected {");
    refused("-", 1, "expected {");
    refused("{", 1, "an axis of the mesh");
    refused("{-", 1, "expected }");
    refused("{-}", 2, "a dimension more");
    refused("{-, -}", 1, "expected }");
    refused("{dp, -}x", 2, "its end");
    refused("{dp, dp}", 2, "each axis once");
    refused("{dp.dp}", 1, "each axis once");
    refused("{sp}", 1, "has 'sp}', expected an axis of the mesh");
    refused("{dp@}", 1, "a number");
    refused("{dp@0}", 1, "a number");
    refused("{dp@-1}", 1, "a number");
    refused("{dp@2147483648}", 1, "a number");
    refused("{dp@99999999999999999999}", 1, "a number");
    refused("{dp*}", 1, "a number");
    refused("{dp.}", 1, "an axis of the mesh");
    refused("{-} ", 1, "a reduction");
    refused("{-} sum", 1, "a reduction");
    refused("{-} none(tp)", 1, "a reduction");
    refused("{-} sum()", 1, "an axis of the mesh");
    refused("{-} sum(tp", 1, "expected )");
    refused("{tp} sum(tp)", 1, "each axis once");
    refused("{-} sum(tp) max(dp)", 1, "its end");
}
