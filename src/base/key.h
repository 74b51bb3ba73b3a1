/* key.h - a list of numbers that says all that counts of a thing, for clv_map_put_key(). */
#ifndef CLV_BASE_KEY_H
#define CLV_BASE_KEY_H

#include <stdbool.h>

#include "base/arena.h"

/* Zeroed but for the arena, in which it grows. n = 0 begins the next one in the same room. */
typedef struct {
    clv_arena *arena;
    int64_t *at;
    int32_t n, cap;
    bool failed; /* there was no memory for it: it is not whole */
} clv_key;

/* Room for one number more; false, and the key has failed: there is none. */
bool clv_key_grow(clv_key *key);

/* One number more. O(1). */
static inline void clv_key_add(clv_key *key, int64_t number)
{
    if (key->n < key->cap || clv_key_grow(key))
        key->at[key->n++] = number;
}

/* How many bytes, and the bytes; O(n). */
void clv_key_add_bytes(clv_key *key, const void *bytes, size_t n);

#endif
