/* map.h - from names to dense ids. Open addressing in an arena; O(1) expected a call.
 *
 * Nothing ever walks a map, so hash order can never decide a result.
 */
#ifndef CLV_BASE_MAP_H
#define CLV_BASE_MAP_H

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    clv_arena *arena;
    struct clv_map_slot *slot;
    struct clv_map_entry *entry; /* in the order in which they came */
    uint32_t n, n_slots;         /* n_slots is a power of two */
    int32_t cap;                 /* of entries */
} clv_map;

/* room: how many names are expected, not negative; it grows as needed. */
clv_status clv_map_init(clv_map *map, clv_arena *arena, int32_t room, clv_error *err);
/* Begins to fetch where a name is, or would be, for a call that follows: a map of a million names
 * waits for memory, and a loop that says what it will ask for CLV_MAP_AHEAD steps later waits less.
 */
#define CLV_MAP_AHEAD 8
void clv_map_prefetch(const clv_map *map, clv_str name);
/* The id of name, or -1. */
int32_t clv_map_get(const clv_map *map, clv_str name);
/* Adds name with id, from 0 to INT32_MAX - 1, unless it is there; *ret_id is the id it has now. The
 * name is not copied. */
clv_status clv_map_put(clv_map *map, clv_str name, int32_t id, int32_t *ret_id, clv_error *err);

/* The same for a key of n bytes, at most INT32_MAX, which is copied into the arena where it is new.
 * The key must have no padding. *ret_id is id where it is new, and no id may be given twice. */
clv_status clv_map_put_key(clv_map *map, const void *key, size_t n, int32_t id, int32_t *ret_id,
                           clv_error *err);

/* 64-bit FNV-1a, for keys and fingerprints; start with CLV_HASH_INIT. */
#define CLV_HASH_INIT UINT64_C(0xcbf29ce484222325)
uint64_t clv_hash(uint64_t seed, const void *bytes, size_t n);

#endif
