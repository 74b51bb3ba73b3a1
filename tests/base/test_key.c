/* Keys of numbers and bytes for tables. */
#include "base/key.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/map.h"

static int32_t number_of(clv_map *map, const clv_key *key, int32_t n)
{
    clv_error err;
    int32_t id;
    cr_assert_eq(clv_map_put_key(map, key->at, (size_t)key->n * sizeof *key->at, n, &id, &err),
                 CLV_OK);
    return id;
}

Test(key, equal_things_have_equal_keys_and_others_not)
{
    static const char *const texts[] = { "",         "a",         "b",    "ab",      "12345678",
                                         "12345679", "123456789", "\1\1", "\1\1\1\1" };
    enum { N = sizeof texts / sizeof *texts };
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_key key = { .arena = arena };
    clv_map map;
    clv_error err;
    int32_t n = 0;
    cr_assert_eq(clv_map_init(&map, arena, 0, &err), CLV_OK);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < N * N; i++) {
            key.n = 0;
            clv_key_add_bytes(&key, texts[i / N], strlen(texts[i / N]));
            clv_key_add_bytes(&key, texts[i % N], strlen(texts[i % N]));
            clv_key_add(&key, i % N - 3);
            cr_assert(!key.failed);
            cr_assert_eq(number_of(&map, &key, n), i, "%s %s", texts[i / N], texts[i % N]);
            n += round == 0;
        }
    cr_assert_eq(n, N * N);
    clv_arena_free(arena);
}

Test(key, says_that_memory_ran_out)
{
    clv_arena *arena = clv_arena_new(NULL, 4096);
    clv_key key = { .arena = arena };
    for (int i = 0; i < 4096 && !key.failed; i++)
        clv_key_add(&key, i);
    cr_assert(key.failed);
    clv_key_add_bytes(&key, "more", 4);
    cr_assert(key.failed);
    clv_arena_free(arena);
}
