#include "base/key.h"

#include <string.h>

void clv_key_add(clv_key *key, int64_t number)
{
    key->failed = key->failed || !CLV_PUSH_ROOM(key->arena, key->at, key->n, key->cap);
    if (!key->failed)
        key->at[key->n++] = number;
}

void clv_key_add_bytes(clv_key *key, const void *bytes, size_t n)
{
    const char *from = bytes;
    clv_key_add(key, (int64_t)n);
    for (size_t i = 0; i < n; i += sizeof(int64_t)) {
        int64_t word = 0;
        memcpy(&word, from + i, n - i < sizeof word ? n - i : sizeof word);
        clv_key_add(key, word);
    }
}
