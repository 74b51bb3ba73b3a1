#include "base/map.h"

#include <assert.h>

/* Slots are looked at in no order, so they are small: more of them are near. */
struct clv_map_slot {
    uint32_t hash;
    int32_t entry_plus_1; /* 0: free, so that zeroed memory is an empty table */
};

struct clv_map_entry {
    clv_str name;
    int32_t id;
};

uint64_t clv_hash(uint64_t seed, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++)
        seed = (seed ^ p[i]) * UINT64_C(0x100000001b3);
    return seed;
}

#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio */

static uint64_t add_word(uint64_t h, const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    h = (h ^ word) * HASH_FACTOR;
    return h ^ h >> 32;
}

/* Eight bytes at a time, as keys of numbers are long; the last eight may have some once more. */
static uint32_t hash_name(clv_str name)
{
    uint64_t h = (uint64_t)(uint32_t)name.n;
    char few[sizeof h] = { 0 };
    int32_t i = 0, word = (int32_t)sizeof h;
    if (name.n < word) {
        for (; i < name.n; i++)
            few[i] = name.at[i];
        return (uint32_t)add_word(h, few);
    }
    for (; i + word < name.n; i += word)
        h = add_word(h, name.at + i);
    return (uint32_t)add_word(h, name.at + name.n - word);
}

clv_status clv_map_init(clv_map *map, clv_arena *arena, int32_t room, clv_error *err)
{
    assert(room >= 0);
    uint32_t n_slots = 16;
    while (n_slots < (uint32_t)room + (uint32_t)room / 2 && n_slots < (UINT32_C(1) << 30))
        n_slots *= 2;
    *map = (clv_map){ .arena = arena,
                      .slot = CLV_NEW_ARRAY(arena, struct clv_map_slot, n_slots),
                      .entry = CLV_NEW_ROOM(arena, struct clv_map_entry, room),
                      .cap = room,
                      .n_slots = n_slots };
    return map->slot && map->entry ? CLV_OK : clv_fail_nomem(err, "a table of names");
}

static struct clv_map_slot *find(const clv_map *map, clv_str name, uint32_t hash)
{
    uint32_t at = hash & (map->n_slots - 1);
    while (map->slot[at].entry_plus_1 &&
           (map->slot[at].hash != hash ||
            !clv_str_eq(map->entry[map->slot[at].entry_plus_1 - 1].name, name)))
        at = (at + 1) & (map->n_slots - 1);
    return &map->slot[at];
}

void clv_map_prefetch(const clv_map *map, clv_str name)
{
    __builtin_prefetch(&map->slot[hash_name(name) & (map->n_slots - 1)]);
}

int32_t clv_map_get(const clv_map *map, clv_str name)
{
    int32_t entry = find(map, name, hash_name(name))->entry_plus_1 - 1;
    return entry < 0 ? -1 : map->entry[entry].id;
}

static clv_status rehash(clv_map *map, clv_error *err)
{
    uint32_t n = map->n_slots * 2;
    if (n == 0)
        return clv_fail(err, CLV_ELIMIT, "more than %lu names in one table", (unsigned long)map->n);
    struct clv_map_slot *slot = CLV_NEW_ARRAY(map->arena, struct clv_map_slot, n);
    if (!slot)
        return clv_fail_nomem(err, "a table of names");
    for (uint32_t i = 0; i < map->n_slots; i++) {
        uint32_t at = map->slot[i].hash & (n - 1);
        while (map->slot[i].entry_plus_1 && slot[at].entry_plus_1)
            at = (at + 1) & (n - 1);
        if (map->slot[i].entry_plus_1)
            slot[at] = map->slot[i];
    }
    map->slot = slot;
    map->n_slots = n;
    return CLV_OK;
}

clv_status clv_map_put(clv_map *map, clv_str name, int32_t id, int32_t *ret_id, clv_error *err)
{
    assert(id >= 0 && id < INT32_MAX);
    uint32_t hash = hash_name(name);
    struct clv_map_slot *slot = find(map, name, hash);
    if (!slot->entry_plus_1) {
        if (map->n + map->n / 2 >= map->n_slots) {
            CLV_TRY(rehash(map, err));
            slot = find(map, name, hash);
        }
        if (!CLV_PUSH_ROOM(map->arena, map->entry, map->n, map->cap))
            return clv_fail_nomem(err, "a table of names");
        map->entry[map->n++] = (struct clv_map_entry){ name, id };
        *slot = (struct clv_map_slot){ hash, (int32_t)map->n };
    }
    if (ret_id)
        *ret_id = map->entry[slot->entry_plus_1 - 1].id;
    return CLV_OK;
}

clv_status clv_map_put_key(clv_map *map, const void *key, size_t n, int32_t id, int32_t *ret_id,
                           clv_error *err)
{
    assert(n <= INT32_MAX);
    clv_str name = { key, (int32_t)n };
    *ret_id = clv_map_get(map, name);
    if (*ret_id >= 0)
        return CLV_OK;
    char *copy = clv_arena_take(map->arena, n);
    if (!copy)
        return clv_fail_nomem(err, "a table of keys");
    name.at = memcpy(copy, key, n);
    return clv_map_put(map, name, id, ret_id, err);
}
