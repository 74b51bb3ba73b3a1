/* obey_blobs.c - units joined to blobs, and what the rules say of each blob. */
#include "solver/partition/obey_blobs.h"

#include "base/compare.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* -- nodes and their order -- */

/* Every unit or group a number, by its first unit. */
static void number_units(clv_obey *o)
{
    const clv_rules *r = o->rules;
    for (int32_t u = 0; u < o->p->n_units; u++) {
        int32_t g = r->group_of ? r->group_of[u] : -1, first = g < 0 ? u : 0;
        if (g >= 0)
            first = r->group_units[r->group_first[g]];
        o->blob_of[u] = first == u ? o->n++ : o->blob_of[first];
    }
}

/* Edges between blobs, by their number, in both directions. */
static clv_status list_edges(clv_obey *o, clv_error *err)
{
    const clv_partition_problem *p = o->p;
    int32_t n_pins = p->n_nets > 0 ? p->net_first[p->n_nets] : 0;
    size_t n = (size_t)o->n + 2;
    o->read_first = CLV_NEW_ARRAY(o->arena, int32_t, n);
    o->sent_first = CLV_NEW_ARRAY(o->arena, int32_t, n);
    o->reads = CLV_NEW_ARRAY(o->arena, int32_t, n_pins);
    o->sent = CLV_NEW_ARRAY(o->arena, int32_t, n_pins);
    if (!o->read_first || !o->sent_first || !o->reads || !o->sent)
        return clv_fail_nomem(err, "the rules of a search");
    for (int pass = 0; pass < 2; pass++) { /* count, then fill; +2 leaves room for a cursor */
        for (int32_t net = 0; net < p->n_nets; net++) {
            int32_t from = o->blob_of[p->net_from[net]];
            for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++) {
                int32_t to = o->blob_of[p->net_to[i]];
                if (from == to)
                    continue;
                int32_t *read = &o->read_first[to + 2 - pass];
                int32_t *sent = &o->sent_first[from + 2 - pass];
                if (pass) {
                    o->reads[*read] = from;
                    o->sent[*sent] = to;
                }
                ++*read;
                ++*sent;
            }
        }
        for (int32_t b = 0; b < o->n && !pass; b++) {
            o->read_first[b + 2] += o->read_first[b + 1];
            o->sent_first[b + 2] += o->sent_first[b + 1];
        }
    }
    return CLV_OK;
}

/* Blobs are numbered anew so that they read from lower ones only; what is ready first comes first.
 * False where they form a cycle, which closed groups never do. */
static clv_status sort_blobs(clv_obey *o, clv_error *err)
{
    int32_t *waits = CLV_NEW_ARRAY(o->arena, int32_t, o->n);
    int32_t *order = CLV_NEW_ARRAY(o->arena, int32_t, o->n);
    int32_t *rank = CLV_NEW_ARRAY(o->arena, int32_t, o->n), n = 0;
    if (!waits || !order || !rank)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t b = 0; b < o->n; b++) {
        waits[b] = o->read_first[b + 1] - o->read_first[b];
        if (waits[b] == 0)
            order[n++] = b;
    }
    for (int32_t i = 0; i < n; i++) {
        rank[order[i]] = i;
        for (int32_t k = o->sent_first[order[i]]; k < o->sent_first[order[i] + 1]; k++)
            if (--waits[o->sent[k]] == 0)
                order[n++] = o->sent[k];
    }
    if (n < o->n)
        return clv_fail(err, CLV_EINTERNAL, "the groups of the rules are not closed");
    for (int32_t u = 0; u < o->p->n_units; u++)
        o->blob_of[u] = rank[o->blob_of[u]];
    return list_edges(o, err);
}

static clv_status list_units(clv_obey *o, clv_error *err)
{
    o->unit_first = CLV_NEW_ARRAY(o->arena, int32_t, (size_t)o->n + 2);
    o->units = CLV_NEW_ARRAY(o->arena, int32_t, o->p->n_units);
    if (!o->unit_first || !o->units)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t u = 0; u < o->p->n_units; u++)
        o->unit_first[o->blob_of[u] + 2]++;
    for (int32_t b = 0; b < o->n; b++)
        o->unit_first[b + 2] += o->unit_first[b + 1];
    for (int32_t u = 0; u < o->p->n_units; u++)
        o->units[o->unit_first[o->blob_of[u] + 1]++] = u;
    return CLV_OK;
}

/* -- what the rules say of a blob -- */

static bool is_empty(const uint64_t *row, size_t words)
{
    uint64_t any = 0;
    for (size_t w = 0; w < words; w++)
        any |= row[w];
    return any == 0;
}

static clv_status set_devices(clv_obey *o, clv_error *err)
{
    const clv_rules *r = o->rules;
    size_t words = o->words;
    o->devices = clv_arena_take_array(o->arena, (size_t)o->n * words, sizeof(uint64_t));
    if (!o->devices)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t b = 0; b < o->n; b++) {
        uint64_t *row = o->devices + (size_t)b * words;
        for (int32_t d = 0; d < o->p->n_devices; d++)
            clv_bit_set(row, d);
        for (int32_t i = o->unit_first[b]; r->devices && i < o->unit_first[b + 1]; i++)
            for (size_t w = 0; w < words; w++)
                row[w] &= r->devices[(size_t)o->units[i] * words + w];
        o->impossible |= is_empty(row, words);
    }
    return CLV_OK;
}

static clv_status set_stages(clv_obey *o, clv_error *err)
{
    const clv_rules *r = o->rules;
    size_t words = o->words;
    if (!r->stage_set_of)
        return CLV_OK;
    o->stages = clv_arena_take_array(o->arena, (size_t)o->n * words, sizeof(uint64_t));
    if (!o->stages)
        return clv_fail_nomem(err, "the rules of a search");
    memset(o->stages, 0xff, (size_t)o->n * words * sizeof(uint64_t));
    for (int32_t u = 0; u < o->p->n_units; u++) {
        uint64_t *row = o->stages + (size_t)o->blob_of[u] * words;
        for (size_t w = 0; w < words && r->stage_set_of[u] >= 0; w++)
            row[w] &= r->stage_sets[(size_t)r->stage_set_of[u] * words + w];
        o->impossible |= is_empty(row, words);
    }
    return CLV_OK;
}

/* Each tag of a blob once. */
static clv_status set_tags(clv_obey *o, clv_error *err)
{
    const clv_rules *r = o->rules;
    int32_t n = 0;
    if (!r->tag_first)
        return CLV_OK;
    o->tag_first = CLV_NEW_ARRAY(o->arena, int32_t, (size_t)o->n + 1);
    o->tags = CLV_NEW_ARRAY(o->arena, int32_t, r->tag_first[o->p->n_units]);
    if (!o->tag_first || !o->tags)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t b = 0; b < o->n; b++) {
        int32_t first = o->tag_first[b] = n, end = n;
        for (int32_t i = o->unit_first[b]; i < o->unit_first[b + 1]; i++)
            for (int32_t k = r->tag_first[o->units[i]]; k < r->tag_first[o->units[i] + 1]; k++)
                o->tags[end++] = r->tags[k];
        if (end > first)
            qsort(o->tags + first, (size_t)(end - first), sizeof *o->tags, clv_compare_int32);
        for (int32_t k = first; k < end; k++) {
            if (n > first && o->tags[n - 1] == o->tags[k])
                continue;
            o->impossible |= n > first && r->family_of[o->tags[n - 1]] == r->family_of[o->tags[k]];
            o->tags[n++] = o->tags[k];
        }
    }
    o->tag_first[o->n] = n;
    return CLV_OK;
}

/* -- devices that are alike to the rules -- */

static bool same_column(const clv_obey *o, int32_t a, int32_t b)
{
    for (int32_t i = 0; i < o->n; i++)
        if (clv_blob_allows(o, i, a) != clv_blob_allows(o, i, b))
            return false;
    return true;
}

static clv_status set_classes(clv_obey *o, clv_error *err)
{
    int32_t n = o->p->n_devices;
    o->class_of = CLV_NEW_ARRAY(o->arena, int32_t, n);
    uint64_t *hash = CLV_NEW_ARRAY(o->arena, uint64_t, n);
    if (!o->class_of || !hash)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t d = 0; d < n && o->rules->devices; d++) {
        hash[d] = CLV_HASH_INIT;
        for (int32_t b = 0; b < o->n; b++)
            if (clv_blob_allows(o, b, d))
                hash[d] = (hash[d] ^ (uint64_t)b) * UINT64_C(0x100000001b3);
    }
    for (int32_t d = 0; d < n; d++) {
        int32_t c = 0;
        while (c < d && (o->class_of[c] != c || hash[c] != hash[d] ||
                         (o->rules->devices && !same_column(o, c, d))))
            c++;
        o->class_of[d] = c;
    }
    return CLV_OK;
}

/* -- tags and devices -- */

/* Kuhn's way of a tag to a device; more tags than devices that may take them cannot be apart. */
static bool find_device(const clv_obey *o, const uint64_t *may, int32_t tag, int32_t *tag_of,
                        bool *tried)
{
    for (int32_t d = 0; d < o->p->n_devices; d++) {
        if (tried[d] || !clv_bit(may + (size_t)tag * o->words, d))
            continue;
        tried[d] = true;
        if (tag_of[d] < 0 || find_device(o, may, tag_of[d], tag_of, tried)) {
            tag_of[d] = tag;
            return true;
        }
    }
    return false;
}

/* Has every tag of each family a device of its own? Devices that some blob of it may be on. */
static bool tags_fit(clv_obey *o)
{
    const clv_rules *r = o->rules;
    size_t n = (size_t)o->p->n_devices;
    clv_mark mark = clv_arena_mark(o->arena);
    uint64_t *may = clv_arena_take_array(o->arena, (size_t)r->n_tags * o->words, sizeof *may);
    int32_t *tag_of = CLV_NEW_ARRAY(o->arena, int32_t, n);
    bool *tried = CLV_NEW_ARRAY(o->arena, bool, n), all = true;
    bool *tagged = CLV_NEW_ARRAY(o->arena, bool, r->n_tags);
    if (!may || !tag_of || !tried || !tagged)
        return true; /* no memory: not to be taken for a proof */
    for (int32_t b = 0; b < o->n && o->tag_first; b++)
        for (int32_t i = o->tag_first[b]; i < o->tag_first[b + 1]; i++) {
            tagged[o->tags[i]] = true;
            for (size_t w = 0; w < o->words; w++)
                may[(size_t)o->tags[i] * o->words + w] |= o->devices[(size_t)b * o->words + w];
        }
    for (int32_t tag = 0; tag < r->n_tags && all; tag++) {
        if (tag == 0 || r->family_of[tag - 1] != r->family_of[tag])
            memset(tag_of, 0xff, n * sizeof *tag_of);
        memset(tried, 0, n * sizeof *tried);
        all = !tagged[tag] || find_device(o, may, tag, tag_of, tried);
    }
    clv_arena_rewind(o->arena, mark);
    return all;
}

clv_status clv_blobs_join(clv_obey *o, clv_error *err)
{
    o->blob_of = CLV_NEW_ARRAY(o->arena, int32_t, o->p->n_units);
    if (!o->blob_of)
        return clv_fail_nomem(err, "the rules of a search");
    number_units(o);
    CLV_TRY(list_edges(o, err));
    if (o->rules->n_groups > 0)
        CLV_TRY(sort_blobs(o, err));
    CLV_TRY(list_units(o, err));
    CLV_TRY(set_devices(o, err));
    CLV_TRY(set_stages(o, err));
    CLV_TRY(set_tags(o, err));
    if (!o->impossible)
        o->impossible = !tags_fit(o);
    return set_classes(o, err);
}
