#include "base/key.h"

#include <string.h>

bool clv_key_grow(clv_key *key)
{
    key->failed = key->failed || !CLV_PUSH_ROOM(key->arena, key->at, key->n, key->cap);
    return !key->failed;
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
