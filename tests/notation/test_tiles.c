/* test_tiles.c - tensor dictionaries; the examples are those of the slides on multi-device
 * ONNX. */
#include "notation/spec_shards.h"
#include "notation/tile_dictionary.h"

#include <criterion/criterion.h>
#include <inttypes.h>

static clv_arena *arena;
static clv_error err;

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    err = (clv_error){ .message = "" };
}
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(tiles, .init = set_up, .fini = tear_down);

static clv_tiles tiles_of(const char *text)
{
    clv_tiles t = { 0 };
    cr_assert_eq(clv_tiles_parse(text, arena, &t, &err), CLV_OK, "%s: %s", text, err.message);
    return t;
}

static clv_tiles tiles_in(clv_tile_order order, const char *text)
{
    clv_tiles t = tiles_of(text);
    t.order = order;
    return t;
}

static const char *print(const clv_tiles *t) { return clv_tiles_print(t, arena); }

/* covers: E.047 */
Test(tiles, examples_of_the_slides)
{
    static const char *const good[] = { "{1:0}",           "{1:0,1}",
                                        "{2,1:0,1}",       "{3,2,1:5,4,3,2,1,0}",
                                        "{1,4}",           "{1:-1}",
                                        "{5,1:3,2,-1,1,1}" };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        clv_tiles t = tiles_of(good[i]);
        cr_expect_str_eq(print(&t), good[i]);
    }
    clv_tiles t = tiles_of(" { 3,2 , 1 : 5,4,3,\t2,1,0 } ");
    cr_expect_str_eq(print(&t), "{3,2,1:5,4,3,2,1,0}");
    cr_expect_eq(t.n_pattern, 3);
    cr_expect_eq(t.pattern[1], 2);
    cr_expect_eq(t.instance[0], 5);
    t = tiles_of("{2,2}");
    cr_expect(t.by_default);
    cr_expect_eq(t.n_instance, 4);
    cr_expect_eq(t.instance[3], 3);
}

/* covers: E.028 E.033 E.047 */
Test(tiles, bad_text_is_reported)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "", "the tiles '' end early, expected '{'" },
        { "1:0", "column 1 of the tiles '1:0' is '1', expected '{'" },
        { "{", "end early, expected a number" },
        { "{}", "column 2 of the tiles '{}' is '}', expected a number" },
        { "{:0}", "column 2 of the tiles '{:0}' is ':', expected a number" },
        { "{1:}", "column 4 of the tiles '{1:}' is '}', expected a number" },
        { "{1,:0}", "column 4 of the tiles '{1,:0}' is ':', expected a number" },
        { "{1:0", "end early, expected ',' or '}'" },
        { "{1 1:0}", "column 4 of the tiles '{1 1:0}' is '1', expected ',', ':' or '}'" },
        { "{1:0:0}", "column 5 of the tiles '{1:0:0}' is ':', expected ',' or '}'" },
        { "{1:0}x", "column 6 of the tiles '{1:0}x' is 'x', expected nothing behind '}'" },
        { "{1:x}", "column 4" },
        { "{1:-}", "column 5" },
        { "{1:99999999999999999999}", "column 4 of the tiles '{1:99999999999999999999}' is '9', "
                                      "expected a number below 2^63" },
        { "{0:0}", "entry 0 of the tile pattern is 0, expected at least 1" },
        { "{2,-1:0,1}", "entry 1 of the tile pattern is -1, expected at least 1" },
        { "{2,1:0}", "the tile assignment has 1 entries, expected one for each of 2 tiles" },
        { "{2,1:0,1,2}", "the tile assignment has 3 entries, expected one for each of 2 tiles" },
        { "{1:0,1,0}", "the tile assignment has instance 0 twice, expected one copy on each" },
        { "{2:0,-2}", "entry 1 of the tile assignment is -2, expected an instance, or -1" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        clv_tiles t = { 0 };
        cr_expect_eq(clv_tiles_parse(bad[i].text, arena, &t, &err), CLV_EFORMAT, "%s", bad[i].text);
        cr_expect(strstr(err.message, bad[i].says), "%s gives: %s", bad[i].text, err.message);
        cr_expect_null(t.pattern);
    }
    clv_tiles t = { 0 };
    cr_expect_eq(clv_tiles_parse("{1048577}", arena, &t, &err), CLV_ELIMIT);
    cr_expect_eq(clv_tiles_parse("{4294967296,4294967296,4294967296}", arena, &t, &err),
                 CLV_ELIMIT);
    t = tiles_of("{2,1:0,4}");
    cr_expect_eq(clv_tiles_check(&t, 5, arena, &err), CLV_OK);
    cr_expect_eq(clv_tiles_check(&t, 4, arena, &err), CLV_EFORMAT);
    cr_expect_str_eq(err.message, "entry 1 of the tile assignment is instance 4, but there are 4");
}

#define DIMS(...)                                                                                  \
    (int32_t)(sizeof((int64_t[]){ __VA_ARGS__ }) / 8), (int64_t[]) { __VA_ARGS__ }

/* "0:{5,0}+{2,4} ...", by tile. */
static const char *show(const clv_tile_parts *parts)
{
    enum { SIZE = 1024 };
    char *text = clv_arena_take(arena, SIZE);
    size_t n = 0;
    for (int32_t i = 0; i < parts->n; i++) {
        n = clv_add_words(text, SIZE, n, "%s%" PRId64 ":{", i ? " " : "", parts->at[i].instance);
        for (int32_t d = 0; d < parts->rank; d++)
            n = clv_add_words(text, SIZE, n, "%s%" PRId64, d ? "," : "", parts->at[i].start[d]);
        n = clv_add_words(text, SIZE, n, "}+{");
        for (int32_t d = 0; d < parts->rank; d++)
            n = clv_add_words(text, SIZE, n, "%s%" PRId64, d ? "," : "", parts->at[i].size[d]);
        n = clv_add_words(text, SIZE, n, "}");
    }
    return text;
}

static void expect_parts(const char *text, clv_tile_order order, int32_t rank, const int64_t *dims,
                         const char *want)
{
    clv_tiles t = tiles_in(order, text);
    clv_tile_parts parts = { 0 };
    cr_assert_eq(clv_tiles_extract(&t, rank, dims, arena, &parts, &err), CLV_OK, "%s: %s", text,
                 err.message);
    cr_expect_str_eq(show(&parts), want, "%s: %s", text, show(&parts));
}

/* The table of the slides, which both orders give.
 * covers: E.029 E.030 E.042 E.043 E.044 E.045 E.046 E.048 */
Test(tiles, parts_of_the_slides)
{
    static const clv_tile_order orders[] = { CLV_TILES_ROW_MAJOR, CLV_TILES_PRINTED };
    for (int i = 0; i < 2; i++) {
        expect_parts("{1,4:0,1,2,3}", orders[i], DIMS(1, 4),
                     "0:{0,0}+{1,1} 1:{0,1}+{1,1} 2:{0,2}+{1,1} 3:{0,3}+{1,1}");
        expect_parts("{1,4}", orders[i], DIMS(1, 4),
                     "0:{0,0}+{1,1} 1:{0,1}+{1,1} 2:{0,2}+{1,1} 3:{0,3}+{1,1}");
        expect_parts("{5,1:3,2,4,1,0}", orders[i], DIMS(7, 4),
                     "3:{0,0}+{1,4} 2:{1,0}+{1,4} 4:{2,0}+{2,4} 1:{4,0}+{1,4} 0:{5,0}+{2,4}");
        expect_parts("{1,3,1,1:2,0,3}", orders[i], DIMS(4, 4, 2, 2),
                     "2:{0,0,0,0}+{4,1,2,2} 0:{0,1,0,0}+{4,1,2,2} 3:{0,2,0,0}+{4,2,2,2}");
        expect_parts("{1:3,2}", orders[i], DIMS(2, 4, 8), "3:{0,0,0}+{2,4,8} 2:{0,0,0}+{2,4,8}");
    }
}

/* covers: E.048 */
Test(tiles, the_two_orders)
{
    expect_parts("{3,2:5,4,3,2,1,0}", CLV_TILES_ROW_MAJOR, DIMS(3, 2),
                 "5:{0,0}+{1,1} 4:{0,1}+{1,1} 3:{1,0}+{1,1} 2:{1,1}+{1,1} 1:{2,0}+{1,1} "
                 "0:{2,1}+{1,1}");
    /* tile j at (j % 3, j % 2), as the slides print it */
    expect_parts("{3,2:5,4,3,2,1,0}", CLV_TILES_PRINTED, DIMS(3, 2),
                 "5:{0,0}+{1,1} 4:{1,1}+{1,1} 3:{2,0}+{1,1} 2:{0,1}+{1,1} 1:{1,0}+{1,1} "
                 "0:{2,1}+{1,1}");
    clv_tiles t = tiles_of("{2,2:0,1,2,3}");
    clv_tile_parts parts = { 0 };
    cr_expect_eq(clv_tiles_extract(&t, DIMS(4, 4), arena, &parts, &err), CLV_OK);
    t.order = CLV_TILES_PRINTED;
    cr_expect_eq(clv_tiles_extract(&t, DIMS(4, 4), arena, &parts, &err), CLV_EFORMAT);
    cr_expect(strstr(err.message, "entries 2 and 2"), "%s", err.message);
}

/* covers: E.023 E.025 E.031 E.038 E.041 */
Test(tiles, pattern_and_tensor)
{
    /* leading 1s are left out: the pattern is of the last dimensions */
    expect_parts("{2:7,8}", CLV_TILES_PRINTED, DIMS(3, 4), "7:{0,0}+{3,2} 8:{0,2}+{3,2}");
    /* nobody has the second tile */
    expect_parts("{3:0,-1,1}", CLV_TILES_ROW_MAJOR, DIMS(6), "0:{0}+{2} 1:{4}+{2}");
    /* more tiles than elements */
    expect_parts("{4:0,1,2,3}", CLV_TILES_ROW_MAJOR, DIMS(2),
                 "0:{0}+{0} 1:{0}+{1} 2:{1}+{0} "
                 "3:{1}+{1}");
    expect_parts("{1:4}", CLV_TILES_ROW_MAJOR, 0, NULL, "4:{}+{}");
    expect_parts("{2:0,1}", CLV_TILES_ROW_MAJOR, DIMS(INT64_MAX),
                 "0:{0}+{4611686018427387903} 1:{4611686018427387903}+{4611686018427387904}");
    clv_tiles t = tiles_of("{2,1:0,1}");
    clv_tile_parts parts = { 0 };
    cr_expect_eq(clv_tiles_extract(&t, DIMS(4), arena, &parts, &err), CLV_EFORMAT);
    cr_expect_str_eq(err.message, "the tile pattern has 2 entries, expected at most 1, one for "
                                  "each dimension of the tensor");
}

/* covers: E.027 E.048 */
Test(tiles, dictionaries_without_tiles_and_of_copies)
{
    const int64_t on[] = { 3, 0 };
    clv_tiles whole, more = tiles_of("{1:2}"), tiled = tiles_of("{2:0,1}"), all;

    cr_assert_eq(clv_tiles_whole(on, 2, arena, &whole, &err), CLV_OK);
    cr_expect_str_eq(print(&whole), "{1:3,0}");
    cr_expect_eq(clv_tiles_whole(on, 0, arena, &all, &err), CLV_EFORMAT);
    const clv_tiles *both[] = { &whole, &more };
    cr_assert_eq(clv_tiles_copies(both, 2, arena, &all, &err), CLV_OK);
    cr_expect_str_eq(print(&all), "{1:3,0,2}");
    both[1] = &whole;
    cr_expect_eq(clv_tiles_copies(both, 2, arena, &all, &err), CLV_EFORMAT);
    both[1] = &tiled;
    cr_expect_eq(clv_tiles_copies(both, 2, arena, &all, &err), CLV_EUNSUPP);
    cr_expect_str_eq(print(&all), "{1:3,0,2}");
}

static void expect_join(const char *a, const char *b, int32_t axis, int32_t rank,
                        clv_tile_order order, const char *want)
{
    clv_tiles x = tiles_in(order, a), y = tiles_in(order, b), joined = { 0 };
    const clv_tiles *both[] = { &x, &y };
    cr_assert_eq(clv_tiles_join(both, 2, (clv_tile_axis){ axis, rank }, arena, &joined, &err),
                 CLV_OK, "%s", err.message);
    cr_expect_str_eq(print(&joined), want, "%s", print(&joined));
}

/* covers: E.048 */
Test(tiles, dictionaries_with_tiles_are_joined)
{
    expect_join("{1:0}", "{1:1}", 0, 2, CLV_TILES_ROW_MAJOR, "{2,1:0,1}");
    expect_join("{1:0}", "{1:1}", 1, 2, CLV_TILES_ROW_MAJOR, "{1,2:0,1}");
    expect_join("{2,1:0,1}", "{2,1:2,3}", 1, 2, CLV_TILES_ROW_MAJOR, "{2,2:0,2,1,3}");
    expect_join("{2,1:0,1}", "{2,1:2,3}", 0, 2, CLV_TILES_ROW_MAJOR, "{4,1:0,1,2,3}");
    expect_join("{1,3:0,1,2}", "{1,3:3,4,5}", 0, 2, CLV_TILES_ROW_MAJOR, "{2,3:0,1,2,3,4,5}");
    /* tile j at (j % 2, j % 3) */
    expect_join("{1,3:0,1,2}", "{1,3:3,4,5}", 0, 2, CLV_TILES_PRINTED, "{2,3:0,4,2,3,1,5}");
}

Test(tiles, what_cannot_be_joined_is_reported)
{
    static const struct {
        const char *a, *b;
        int32_t axis;
        clv_tile_order order;
        clv_status status;
        const char *says;
    } bad[] = {
        { "{1:0}", "{1:1,2}", 0, CLV_TILES_ROW_MAJOR, CLV_EUNSUPP, "dictionary 1 has 2 copies" },
        { "{2,1:0,1}", "{1,2:2,3}", 0, CLV_TILES_ROW_MAJOR, CLV_EFORMAT,
          "dictionary 1 has 1 tiles along axis 0, expected 2 as in the first" },
        { "{2,1:0,1}", "{2,1:2,3}", 1, CLV_TILES_PRINTED, CLV_EUNSUPP, "common divisor" },
        { "{1:0}", "{1:1}", 2, CLV_TILES_ROW_MAJOR, CLV_EFORMAT, "axis 2" },
        { "{1:0}", "{1,1,1:1}", 0, CLV_TILES_ROW_MAJOR, CLV_EFORMAT, "expected at most 2" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        clv_tiles x = tiles_in(bad[i].order, bad[i].a), y = tiles_in(bad[i].order, bad[i].b);
        clv_tiles joined = { 0 };
        const clv_tiles *both[] = { &x, &y };
        cr_expect_eq(
            clv_tiles_join(both, 2, (clv_tile_axis){ bad[i].axis, 2 }, arena, &joined, &err),
            bad[i].status, "%s %s", bad[i].a, bad[i].b);
        cr_expect(strstr(err.message, bad[i].says), "%s", err.message);
    }
}

/* Numbers: a 6 x 4 tensor taken apart, each element looked up by its place, and put together again.
 * covers: E.032 E.048 */
Test(tiles, parts_are_found_by_instance_and_by_element)
{
    clv_tiles t = tiles_in(CLV_TILES_PRINTED, "{3,2:5,4,3,2,1,5}");
    clv_tile_parts parts = { 0 };
    int64_t whole[6][4] = { { 0 } };

    cr_assert_eq(clv_tiles_extract(&t, DIMS(6, 4), arena, &parts, &err), CLV_OK);
    for (int64_t r = 0; r < 6; r++)
        for (int64_t c = 0; c < 4; c++) {
            const int64_t element[] = { r, c };
            int32_t i = clv_tile_parts_with(&parts, element, 0);
            cr_assert_geq(i, 0);
            whole[r][c] = parts.at[i].instance;
            cr_expect_eq(clv_tile_parts_with(&parts, element, i + 1), -1); /* nobody else */
        }
    /* instance 5 has two tiles: rows 0-1, columns 0-1, and the last one */
    int32_t first = clv_tile_parts_of(&parts, 5, 0);
    int32_t second = clv_tile_parts_of(&parts, 5, first + 1);
    cr_expect_eq(parts.at[first].tile, 0);
    cr_expect_eq(parts.at[second].tile, 5);
    cr_expect_eq(clv_tile_parts_of(&parts, 5, second + 1), -1);
    cr_expect_eq(clv_tile_parts_of(&parts, 9, 0), -1);
    static const int64_t want[6][4] = { { 5, 5, 2, 2 }, { 5, 5, 2, 2 }, { 1, 1, 4, 4 },
                                        { 1, 1, 4, 4 }, { 3, 3, 5, 5 }, { 3, 3, 5, 5 } };
    cr_expect_arr_eq(whole, want, sizeof want);
}

/* -- IR 11 -- */

/* Every even tensor has the same parts on the same devices by the dictionary and by the spec; and
 * the spec becomes the dictionary again. */
static void expect_same(const char *text, clv_tile_order order, int32_t rank, const int64_t *dims,
                        const char *back)
{
    clv_tiles t = tiles_in(order, text), again;
    clv_tile_parts parts = { 0 };
    clv_sharding_spec spec;
    clv_shards shards = { 0 };

    cr_assert_eq(clv_tiles_to_spec(&t, rank, "x", arena, &spec, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_tiles_extract(&t, rank, dims, arena, &parts, &err), CLV_OK);
    cr_assert_eq(clv_spec_shards(&spec,
                                 &(clv_tensor_split){ .rank = rank,
                                                      .dims = dims,
                                                      .dtype = CLV_DT_FLOAT,
                                                      .policy = CLV_UNEVEN_REFUSE },
                                 arena, &shards, &err),
                 CLV_OK, "%s: %s", text, err.message);
    cr_assert_eq(shards.n, parts.n);
    for (int32_t i = 0; i < shards.n; i++) {
        bool found = false;
        for (int32_t k = 0; k < parts.n; k++)
            found =
                found || (parts.at[k].instance == shards.at[i].device &&
                          memcmp(parts.at[k].start, shards.at[i].offset, (size_t)rank * 8) == 0 &&
                          memcmp(parts.at[k].size, shards.at[i].size, (size_t)rank * 8) == 0);
        cr_expect(found, "%s: shard %d", text, (int)i);
    }
    cr_assert_eq(clv_tiles_from_spec(&spec, order, rank, arena, &again, &err), CLV_OK, "%s",
                 err.message);
    cr_expect_str_eq(print(&again), back);
}

/* covers: E.049 */
Test(tiles, to_a_spec_and_back)
{
    static const clv_tile_order orders[] = { CLV_TILES_ROW_MAJOR, CLV_TILES_PRINTED };
    for (int i = 0; i < 2; i++) {
        expect_same("{1:0}", orders[i], DIMS(4), "{1:0}");
        expect_same("{1:0,1}", orders[i], DIMS(4, 2), "{1:0,1}");
        expect_same("{2,1:0,1}", orders[i], DIMS(4, 2), "{2,1:0,1}");
        expect_same("{3,2,1:5,4,3,2,1,0}", orders[i], DIMS(6, 4, 5), "{3,2,1:5,4,3,2,1,0}");
        expect_same("{2}", orders[i], DIMS(3, 4), "{1,2:0,1}");
    }
    expect_same("{2,2:3,1,0,2}", CLV_TILES_ROW_MAJOR, DIMS(4, 2), "{2,2:3,1,0,2}");
    clv_tiles t = tiles_of("{2:0,-1}");
    clv_sharding_spec spec;
    cr_expect_eq(clv_tiles_to_spec(&t, 1, "x", arena, &spec, &err), CLV_EUNSUPP);
    cr_expect(strstr(err.message, "entry 1 of the tile assignment is -1"), "%s", err.message);
}

/* covers: E.049 */
Test(tiles, specs_of_every_form)
{
    static const clv_simple_sharding by2 = { CLV_DIM_UNKNOWN, NULL, 2 };
    static const clv_simple_sharding by3 = { CLV_DIM_UNKNOWN, NULL, 3 };
    static const clv_simple_sharding inner[] = { { 2, NULL, 1 }, { 6, NULL, 2 } };
    static const clv_simple_sharding outer[] = { { 2, NULL, 2 }, { 6, NULL, 1 } };
    static const int64_t six[] = { 0, 1, 2, 3, 4, 5 }, groups_of[] = { -1, -2 };
    static const int64_t a[] = { 0, 1 }, b[] = { 2 }, c[] = { 3, 4 };
    clv_tiles t = { 0 };

    /* the last axis is listed first, so that it is the outer loop; it is counted from behind */
    clv_sharded_dim two[] = { { -1, &by3, 1 }, { 0, &by2, 1 } };
    clv_sharding_spec spec = { "x", six, 6, NULL, 0, two, 2 };
    cr_assert_eq(clv_tiles_from_spec(&spec, CLV_TILES_ROW_MAJOR, 2, arena, &t, &err), CLV_OK);
    cr_expect_str_eq(print(&t), "{2,3:0,2,4,1,3,5}");
    /* copies in groups */
    clv_device_group groups[] = { { -1, a, 2 }, { -2, b, 1 } };
    spec = (clv_sharding_spec){ "x", groups_of, 2, groups, 2, NULL, 0 };
    cr_assert_eq(clv_tiles_from_spec(&spec, CLV_TILES_ROW_MAJOR, 2, arena, &t, &err), CLV_OK);
    cr_expect_str_eq(print(&t), "{1:0,1,2}");
    /* parts in groups: of one device each, or not */
    clv_sharded_dim rows = { 0, &by2, 1 };
    spec = (clv_sharding_spec){ "x", groups_of, 2, groups, 2, &rows, 1 };
    cr_expect_eq(clv_tiles_from_spec(&spec, CLV_TILES_ROW_MAJOR, 2, arena, &t, &err), CLV_EUNSUPP);
    cr_expect_str_eq(err.message, "sharding of 'x': part 0 is on 2 devices, and tiles with copies "
                                  "have no notation");
    groups[0] = (clv_device_group){ -1, c, 1 };
    cr_assert_eq(clv_tiles_from_spec(&spec, CLV_TILES_ROW_MAJOR, 2, arena, &t, &err), CLV_OK);
    cr_expect_str_eq(print(&t), "{2,1:3,2}");
    /* a fused axis, by its outer factor or an inner one */
    clv_sharded_dim fused = { 0, outer, 2 };
    spec = (clv_sharding_spec){ "x", six, 2, NULL, 0, &fused, 1 };
    cr_assert_eq(clv_tiles_from_spec(&spec, CLV_TILES_ROW_MAJOR, 1, arena, &t, &err), CLV_OK);
    cr_expect_str_eq(print(&t), "{2:0,1}");
    fused.simple = inner;
    cr_expect_eq(clv_tiles_from_spec(&spec, CLV_TILES_ROW_MAJOR, 1, arena, &t, &err), CLV_EUNSUPP);
    /* the printed order does not reach all tiles of {2,2} */
    clv_sharded_dim square[] = { { 0, &by2, 1 }, { 1, &by2, 1 } };
    spec = (clv_sharding_spec){ "x", six, 4, NULL, 0, square, 2 };
    cr_expect_eq(clv_tiles_from_spec(&spec, CLV_TILES_PRINTED, 2, arena, &t, &err), CLV_EUNSUPP);
    cr_expect_eq(clv_tiles_from_spec(&spec, CLV_TILES_ROW_MAJOR, 2, arena, &t, &err), CLV_OK);
    /* a spec that is wrong by itself */
    spec.n_device = 3;
    cr_expect_eq(clv_tiles_from_spec(&spec, CLV_TILES_ROW_MAJOR, 2, arena, &t, &err), CLV_EFORMAT);
}

/* -- the formulas as they are printed -- */

enum { AXES = 3 };

static int64_t volume(const int64_t *pattern) { return pattern[0] * pattern[1] * pattern[2]; }

/* V_start[j][i] and V_stop[j][i], word for word. */
static int64_t printed_start(const int64_t *pattern, const int64_t *dims, int64_t j, int i)
{
    return (volume(pattern) != 1 ? j : 0) % pattern[i % AXES] * dims[i] / pattern[i % AXES];
}

static int64_t printed_stop(const int64_t *pattern, const int64_t *dims, int64_t j, int i)
{
    int64_t stop =
        ((volume(pattern) != 1 ? j : 0) % pattern[i % AXES] + 1) * dims[i] / pattern[i % AXES];
    return stop < dims[i] ? stop : dims[i];
}

/* Do the tiles of the formula cover the tensor? dims have an element for each tile. */
static bool formula_covers(const int64_t *pattern)
{
    bool seen[6 * 6 * 6] = { false };
    int64_t n = 0;
    for (int64_t j = 0; j < volume(pattern); j++) {
        int64_t tile = 0;
        for (int i = 0; i < AXES; i++)
            tile = tile * pattern[i] + printed_start(pattern, pattern, j, i);
        n += !seen[tile];
        seen[tile] = true;
    }
    return n == volume(pattern);
}

static clv_tiles by_default(const int64_t *pattern)
{
    return tiles_of(clv_arena_printf(arena, "{%" PRId64 ",%" PRId64 ",%" PRId64 "}", pattern[0],
                                     pattern[1], pattern[2]));
}

/* Every pattern up to 6 x 6 x 6: where the formula covers the tensor, our tiles are its tiles, for
 * dims that divide and that do not; where it does not, it is refused, and the other order covers.
 * covers: E.034 E.035 E.036 E.037 E.038 E.039 E.040 E.048 */
Test(tiles, the_printed_formula_is_the_oracle)
{
    static const int64_t dims[][AXES] = { { 6, 6, 6 }, { 7, 4, 5 }, { 1, 13, 2 }, { 0, 3, 60 } };
    for (int64_t k = 0; k < 6 * 6 * 6 * 4; k++) {
        const int64_t pattern[] = { k % 6 + 1, k / 6 % 6 + 1, k / 36 % 6 + 1 };
        const int64_t *of = dims[k / 216];
        clv_mark mark = clv_arena_mark(arena);
        clv_tiles t = by_default(pattern);
        clv_tile_parts parts = { 0 };
        t.order = CLV_TILES_PRINTED;
        clv_status s = clv_tiles_extract(&t, AXES, of, arena, &parts, &err);
        cr_assert_eq(s, formula_covers(pattern) ? CLV_OK : CLV_EFORMAT, "%s", print(&t));
        for (int32_t j = 0; s == CLV_OK && j < parts.n; j++)
            for (int i = 0; i < AXES; i++) {
                int64_t start = printed_start(pattern, of, j, i);
                cr_assert_eq(parts.at[j].instance, j);
                cr_assert_eq(parts.at[j].start[i], start);
                cr_assert_eq(parts.at[j].size[i], printed_stop(pattern, of, j, i) - start);
            }
        t.order = CLV_TILES_ROW_MAJOR;
        cr_assert_eq(clv_tiles_extract(&t, AXES, of, arena, &parts, &err), CLV_OK);
        for (int64_t e = 0; e < of[0] * of[1] * of[2]; e++) {
            const int64_t at[] = { e / of[2] / of[1], e / of[2] % of[1], e % of[2] };
            int32_t first = clv_tile_parts_with(&parts, at, 0);
            cr_assert(first >= 0 && clv_tile_parts_with(&parts, at, first + 1) < 0, "%s",
                      print(&t));
        }
        clv_arena_rewind(arena, mark);
    }
}
