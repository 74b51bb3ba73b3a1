#include "base/map.h"

#include <criterion/criterion.h>
#include <stdio.h>

Test(map, gives_the_id_of_a_name_that_was_put)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_map map;
    int32_t id = -7;
    cr_assert_eq(clv_map_init(&map, arena, 2, NULL), CLV_OK);
    cr_assert_eq(clv_map_put(&map, clv_str_of("x"), 5, &id, NULL), CLV_OK);
    cr_assert_eq(id, 5);
    cr_assert_eq(clv_map_get(&map, clv_str_of("x")), 5);
    cr_assert_eq(clv_map_get(&map, clv_str_of("y")), -1);
    clv_arena_free(arena);
}

Test(map, the_first_id_of_a_name_stays)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_map map;
    int32_t id = -7;
    cr_assert_eq(clv_map_init(&map, arena, 0, NULL), CLV_OK);
    cr_assert_eq(clv_map_put(&map, clv_str_of("x"), 0, NULL, NULL), CLV_OK);
    cr_assert_eq(clv_map_put(&map, clv_str_of("x"), 9, &id, NULL), CLV_OK);
    cr_assert_eq(id, 0);
    cr_assert_eq(map.n, 1);
    clv_arena_free(arena);
}

Test(map, names_may_be_empty_or_hold_any_byte)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_map map;
    clv_str with_nul = { "a\0b", 3 }, shorter = { "a\0c", 2 }, none = { NULL, 0 };
    cr_assert_eq(clv_map_init(&map, arena, 0, NULL), CLV_OK);
    cr_assert_eq(clv_map_put(&map, with_nul, 1, NULL, NULL), CLV_OK);
    cr_assert_eq(clv_map_put(&map, shorter, 2, NULL, NULL), CLV_OK);
    cr_assert_eq(clv_map_put(&map, none, 3, NULL, NULL), CLV_OK);
    cr_assert_eq(clv_map_get(&map, with_nul), 1);
    cr_assert_eq(clv_map_get(&map, shorter), 2);
    cr_assert_eq(clv_map_get(&map, clv_str_of("")), 3);
    cr_assert_eq(clv_map_get(&map, clv_str_of("a")), -1);
    clv_arena_free(arena);
}

/* Each length up to a few words, and each of its bytes different once. */
Test(map, every_byte_of_a_name_counts)
{
    enum { LONGEST = 40 };
    static char names[LONGEST + 1][LONGEST + 1][LONGEST];
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_map map;
    int32_t n = 0;
    cr_assert_eq(clv_map_init(&map, arena, 0, NULL), CLV_OK);
    for (int32_t pass = 0, id = 0; pass < 2; pass++, n = id, id = 0)
        for (int32_t length = 0; length <= LONGEST; length++)
            for (int32_t at = 0; at <= length; at++, id++) {
                char *text = memset(names[length][at], 'a', LONGEST);
                if (at < length)
                    text[at] = 'b';
                clv_str name = { text, length };
                clv_map_prefetch(&map, name);
                if (pass == 0)
                    cr_assert_eq(clv_map_put(&map, name, id, NULL, NULL), CLV_OK);
                cr_assert_eq(clv_map_get(&map, name), id);
            }
    cr_assert_eq(map.n, n);
    clv_arena_free(arena);
}

Test(map, a_hundred_thousand_names_are_all_found_again)
{
    enum { N = 100000 };
    static char names[N][24];
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_map map;
    cr_assert_eq(clv_map_init(&map, arena, 0, NULL), CLV_OK);
    for (int32_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "node_%d", i);
        cr_assert_eq(clv_map_put(&map, clv_str_of(names[i]), i, NULL, NULL), CLV_OK);
    }
    for (int32_t i = 0; i < N; i++)
        cr_assert_eq(clv_map_get(&map, clv_str_of(names[i])), i);
    cr_assert_eq(clv_map_get(&map, clv_str_of("node_100000")), -1);
    clv_arena_free(arena);
}

/* Give it a little more memory each time: it fails cleanly until it succeeds. */
Test(map, survives_running_out_of_memory_anywhere)
{
    static char names[200][16];
    clv_status s = CLV_ENOMEM;
    for (int i = 0; i < 200; i++)
        snprintf(names[i], sizeof names[i], "n%d", i);
    for (size_t limit = 1; s != CLV_OK; limit += 64) {
        clv_arena *arena = clv_arena_new(NULL, limit);
        clv_error err = { 0 };
        clv_map map = { 0 };
        int32_t put = 0;
        s = clv_map_init(&map, arena, 0, &err);
        while (s == CLV_OK && put < 200) {
            s = clv_map_put(&map, clv_str_of(names[put]), put, NULL, &err);
            put += s == CLV_OK;
        }
        cr_assert(s == CLV_OK || (s == CLV_ENOMEM && err.status == CLV_ENOMEM));
        for (int32_t i = 0; i < put; i++)
            cr_assert_eq(clv_map_get(&map, clv_str_of(names[i])), i, "what is in stays in");
        clv_arena_free(arena);
    }
}

/* Published test vectors of FNV-1a, 64 bits. */
Test(map, hash_is_fnv_1a)
{
    cr_assert_eq(clv_hash(CLV_HASH_INIT, "", 0), UINT64_C(0xcbf29ce484222325));
    cr_assert_eq(clv_hash(CLV_HASH_INIT, "a", 1), UINT64_C(0xaf63dc4c8601ec8c));
    cr_assert_eq(clv_hash(CLV_HASH_INIT, "foobar", 6), UINT64_C(0x85944171f73967e8));
}
