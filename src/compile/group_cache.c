#include "compile/group_cache.h"

#include <string.h>
#include <uv.h>

#include "base/map.h"

#define FIRST_ROOM 256

typedef struct {
    uint64_t hash;
    double proportion;
    bool is_packed;
    int32_t kind, n_ranges;
    clv_group_result result;
    clv_unit_range ranges[];
} entry;

struct clv_group_cache {
    clv_alloc alloc;
    size_t max_bytes;
    uv_mutex_t lock;
    clv_arena *arena; /* entries and slots; NULL: empty */
    entry **slots;    /* open addressing; cap is a power of two */
    uint32_t n, cap;
    int64_t hits;
};

static uint64_t hash_of(const clv_group *key)
{
    uint64_t h = clv_hash(CLV_HASH_INIT, &key->kind, sizeof key->kind);
    h = clv_hash(h, &key->proportion, sizeof key->proportion);
    h = clv_hash(h, &key->is_packed, sizeof key->is_packed);
    return clv_hash(h, key->ranges, (size_t)key->n_ranges * sizeof *key->ranges);
}

static bool same(const entry *e, const clv_group *key, uint64_t hash)
{
    return e->hash == hash && e->kind == key->kind && e->n_ranges == key->n_ranges &&
           e->is_packed == key->is_packed &&
           memcmp(&e->proportion, &key->proportion, sizeof e->proportion) == 0 &&
           memcmp(e->ranges, key->ranges, (size_t)key->n_ranges * sizeof *key->ranges) == 0;
}

/* The place of a key or of its absence. */
static entry **find(const clv_group_cache *c, const clv_group *key, uint64_t hash)
{
    uint32_t i = (uint32_t)(hash ^ (hash >> 32)) & (c->cap - 1);
    while (c->slots[i] && !same(c->slots[i], key, hash))
        i = (i + 1) & (c->cap - 1);
    return &c->slots[i];
}

static void forget(clv_group_cache *c)
{
    clv_arena_free(c->arena);
    c->arena = NULL;
    c->slots = NULL;
    c->n = c->cap = 0;
}

static bool grow(clv_group_cache *c)
{
    if (c->cap && c->n < c->cap / 2)
        return true;
    uint32_t cap = c->cap ? c->cap * 2 : FIRST_ROOM;
    entry **slots = cap ? CLV_NEW_ARRAY(c->arena, entry *, cap) : NULL;
    if (!slots)
        return false;
    for (uint32_t i = 0; i < c->cap; i++) {
        entry *e = c->slots[i];
        if (!e)
            continue;
        uint32_t k = (uint32_t)(e->hash ^ (e->hash >> 32)) & (cap - 1);
        while (slots[k])
            k = (k + 1) & (cap - 1);
        slots[k] = e;
    }
    c->slots = slots;
    c->cap = cap;
    return true;
}

static void put_locked(clv_group_cache *c, const clv_group *key, uint64_t hash,
                       const clv_group_result *result)
{
    size_t size = sizeof(entry) + (size_t)key->n_ranges * sizeof *key->ranges;
    if (size > c->max_bytes)
        return;
    if (c->arena && clv_arena_bytes(c->arena) > c->max_bytes - size)
        forget(c);
    if (!c->arena && !(c->arena = clv_arena_new(&c->alloc, 0)))
        return;
    if (!grow(c))
        return;
    entry **place = find(c, key, hash);
    entry *e = *place ? NULL : clv_arena_take(c->arena, size);
    if (!e)
        return;
    *e = (entry){ hash, key->proportion, key->is_packed, key->kind, key->n_ranges, *result };
    memcpy(e->ranges, key->ranges, (size_t)key->n_ranges * sizeof *key->ranges);
    *place = e;
    c->n++;
}

clv_status clv_group_cache_open(const clv_alloc *alloc, size_t max_bytes, clv_group_cache **ret,
                                clv_error *err)
{
    clv_group_cache *c = alloc->resize(alloc->ctx, NULL, sizeof *c);
    if (!c)
        return clv_fail_nomem(err, "the compiler");
    memset(c, 0, sizeof *c);
    c->alloc = *alloc;
    c->max_bytes = max_bytes;
    if (uv_mutex_init(&c->lock) != 0) {
        alloc->resize(alloc->ctx, c, 0);
        return clv_fail(err, CLV_EINTERNAL, "the system has no mutex left for the compiler");
    }
    *ret = c;
    return CLV_OK;
}

void clv_group_cache_close(clv_group_cache *c)
{
    if (!c)
        return;
    forget(c);
    uv_mutex_destroy(&c->lock);
    clv_alloc alloc = c->alloc;
    alloc.resize(alloc.ctx, c, 0);
}

bool clv_group_cache_get(clv_group_cache *c, const clv_group *key, clv_group_result *ret)
{
    uint64_t hash = hash_of(key);
    uv_mutex_lock(&c->lock);
    entry *e = c->cap ? *find(c, key, hash) : NULL;
    if (e) {
        *ret = e->result;
        c->hits++;
    }
    uv_mutex_unlock(&c->lock);
    return e != NULL;
}

void clv_group_cache_put(clv_group_cache *c, const clv_group *key, const clv_group_result *result)
{
    uint64_t hash = hash_of(key);
    uv_mutex_lock(&c->lock);
    put_locked(c, key, hash, result);
    uv_mutex_unlock(&c->lock);
}

int64_t clv_group_cache_hits(clv_group_cache *c)
{
    uv_mutex_lock(&c->lock);
    int64_t hits = c->hits;
    uv_mutex_unlock(&c->lock);
    return hits;
}
