#include "base/map.h"

#include <assert.h>

struct clv_map_slot {
    clv_str name;
    uint32_t hash;
    int32_t id_plus_1; /* 0: free, so that zeroed memory is an empty table */
};

uint64_t clv_hash(uint64_t seed, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++)
        seed = (seed ^ p[i]) * UINT64_C(0x100000001b3);
    return seed;
}

#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio */

/* Eight bytes at a time: keys of numbers are long. */
static uint32_t hash_name(clv_str name)
{
    uint64_t h = (uint64_t)(uint32_t)name.n, word;
    int32_t i = 0;
    for (; i + (int32_t)sizeof word <= name.n; i += (int32_t)sizeof word) {
        memcpy(&word, name.at + i, sizeof word);
        h = (h ^ word) * HASH_FACTOR;
        h ^= h >> 32;
    }
    if (i < name.n) {
        word = 0;
        memcpy(&word, name.at + i, (size_t)(name.n - i));
        h = (h ^ word) * HASH_FACTOR;
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

clv_status clv_map_init(clv_map *map, clv_arena *arena, int32_t room, clv_error *err)
{
    assert(room >= 0);
    uint32_t cap = 16;
    while (cap < (uint32_t)room + (uint32_t)room / 2 && cap < (UINT32_C(1) << 30))
        cap *= 2;
    *map = (clv_map){ .arena = arena, .cap = cap };
    map->slot = CLV_NEW_ARRAY(arena, struct clv_map_slot, cap);
    return map->slot ? CLV_OK : clv_fail_nomem(err, "a table of names");
}

static struct clv_map_slot *find(const clv_map *map, clv_str name, uint32_t hash)
{
    uint32_t at = hash & (map->cap - 1);
    while (map->slot[at].id_plus_1 &&
           (map->slot[at].hash != hash || !clv_str_eq(map->slot[at].name, name)))
        at = (at + 1) & (map->cap - 1);
    return &map->slot[at];
}

int32_t clv_map_get(const clv_map *map, clv_str name)
{
    return find(map, name, hash_name(name))->id_plus_1 - 1;
}

static clv_status rehash(clv_map *map, clv_error *err)
{
    if (map->cap > UINT32_MAX / 2)
        return clv_fail(err, CLV_ELIMIT, "more than %lu names in one table", (unsigned long)map->n);
    clv_map bigger = *map;
    bigger.cap = map->cap * 2;
    bigger.slot = CLV_NEW_ARRAY(map->arena, struct clv_map_slot, bigger.cap);
    if (!bigger.slot)
        return clv_fail_nomem(err, "a table of names");
    for (uint32_t i = 0; i < map->cap; i++)
        if (map->slot[i].id_plus_1)
            *find(&bigger, map->slot[i].name, map->slot[i].hash) = map->slot[i];
    *map = bigger;
    return CLV_OK;
}

clv_status clv_map_put(clv_map *map, clv_str name, int32_t id, int32_t *ret_id, clv_error *err)
{
    assert(id >= 0 && id < INT32_MAX);
    uint32_t hash = hash_name(name);
    struct clv_map_slot *slot = find(map, name, hash);
    if (!slot->id_plus_1) {
        if (map->n + map->n / 2 >= map->cap) {
            CLV_TRY(rehash(map, err));
            slot = find(map, name, hash);
        }
        *slot = (struct clv_map_slot){ name, hash, id + 1 };
        map->n++;
    }
    if (ret_id)
        *ret_id = slot->id_plus_1 - 1;
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
