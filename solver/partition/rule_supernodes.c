#include "solver/partition/rule_supernodes.h"

#include "base/compare.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* -- supernodes and their order -- */

/* Edges between supernodes, by their number, in both directions. */
static clv_status list_edges(clv_supernodes *g, clv_error *err)
{
    const clv_partition_problem *p = g->p;
    int32_t n_pins = p->n_nets > 0 ? p->net_first[p->n_nets] : 0;
    size_t n = (size_t)g->n + 2;
    g->read_first = CLV_NEW_ARRAY(g->arena, int32_t, n);
    g->sent_first = CLV_NEW_ARRAY(g->arena, int32_t, n);
    g->reads = CLV_NEW_ARRAY(g->arena, int32_t, n_pins);
    g->sent = CLV_NEW_ARRAY(g->arena, int32_t, n_pins);
    if (!g->read_first || !g->sent_first || !g->reads || !g->sent)
        return clv_fail_nomem(err, "the rules of a search");
    for (int pass = 0; pass < 2; pass++) { /* count, then fill; +2 leaves room for a cursor */
        for (int32_t net = 0; net < p->n_nets; net++) {
            int32_t from = g->supernode_of[p->net_from[net]];
            for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++) {
                int32_t to = g->supernode_of[p->net_to[i]];
                if (from == to)
                    continue;
                int32_t *read = &g->read_first[to + 2 - pass];
                int32_t *sent = &g->sent_first[from + 2 - pass];
                if (pass) {
                    g->reads[*read] = from;
                    g->sent[*sent] = to;
                }
                ++*read;
                ++*sent;
            }
        }
        for (int32_t b = 0; b < g->n && !pass; b++) {
            g->read_first[b + 2] += g->read_first[b + 1];
            g->sent_first[b + 2] += g->sent_first[b + 1];
        }
    }
    return CLV_OK;
}

/* Topological order (Kahn 1962): supernodes are numbered anew so that they read from lower ones
 * only; what is ready first comes first. CLV_EINTERNAL where they form a cycle, which closed groups
 * never do. */
static clv_status sort_supernodes(clv_supernodes *g, clv_error *err)
{
    int32_t *waits = CLV_NEW_ARRAY(g->arena, int32_t, g->n);
    int32_t *order = CLV_NEW_ARRAY(g->arena, int32_t, g->n);
    int32_t *rank = CLV_NEW_ARRAY(g->arena, int32_t, g->n), n = 0;
    if (!waits || !order || !rank)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t b = 0; b < g->n; b++) {
        waits[b] = g->read_first[b + 1] - g->read_first[b];
        if (waits[b] == 0)
            order[n++] = b;
    }
    for (int32_t i = 0; i < n; i++) {
        rank[order[i]] = i;
        for (int32_t k = g->sent_first[order[i]]; k < g->sent_first[order[i] + 1]; k++)
            if (--waits[g->sent[k]] == 0)
                order[n++] = g->sent[k];
    }
    if (n < g->n)
        return clv_fail(err, CLV_EINTERNAL, "the groups of the rules are not closed");
    for (int32_t u = 0; u < g->p->n_units; u++)
        g->supernode_of[u] = rank[g->supernode_of[u]];
    return list_edges(g, err);
}

static clv_status list_units(clv_supernodes *g, clv_error *err)
{
    g->unit_first = CLV_NEW_ARRAY(g->arena, int32_t, (size_t)g->n + 2);
    g->units = CLV_NEW_ARRAY(g->arena, int32_t, g->p->n_units);
    if (!g->unit_first || !g->units)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t u = 0; u < g->p->n_units; u++)
        g->unit_first[g->supernode_of[u] + 2]++;
    for (int32_t b = 0; b < g->n; b++)
        g->unit_first[b + 2] += g->unit_first[b + 1];
    for (int32_t u = 0; u < g->p->n_units; u++)
        g->units[g->unit_first[g->supernode_of[u] + 1]++] = u;
    return CLV_OK;
}

/* -- what the rules say of a supernode -- */

static bool is_empty(const uint64_t *row, size_t words)
{
    uint64_t any = 0;
    for (size_t w = 0; w < words; w++)
        any |= row[w];
    return any == 0;
}

static clv_status set_devices(clv_supernodes *g, clv_error *err)
{
    const clv_rules *r = g->rules;
    size_t words = g->words;
    g->devices = clv_arena_take_array(g->arena, (size_t)g->n * words, sizeof(uint64_t));
    if (!g->devices)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t b = 0; b < g->n; b++) {
        uint64_t *row = g->devices + (size_t)b * words;
        for (int32_t d = 0; d < g->p->n_devices; d++)
            clv_bit_set(row, d);
        for (int32_t i = g->unit_first[b]; r->devices && i < g->unit_first[b + 1]; i++)
            for (size_t w = 0; w < words; w++)
                row[w] &= r->devices[(size_t)g->units[i] * words + w];
        g->is_impossible |= is_empty(row, words);
    }
    return CLV_OK;
}

static clv_status set_stages(clv_supernodes *g, clv_error *err)
{
    const clv_rules *r = g->rules;
    size_t words = g->words;
    if (!r->stage_set_of)
        return CLV_OK;
    g->stages = clv_arena_take_array(g->arena, (size_t)g->n * words, sizeof(uint64_t));
    if (!g->stages)
        return clv_fail_nomem(err, "the rules of a search");
    memset(g->stages, 0xff, (size_t)g->n * words * sizeof(uint64_t));
    for (int32_t u = 0; u < g->p->n_units; u++) {
        uint64_t *row = g->stages + (size_t)g->supernode_of[u] * words;
        for (size_t w = 0; w < words && r->stage_set_of[u] >= 0; w++)
            row[w] &= r->stage_sets[(size_t)r->stage_set_of[u] * words + w];
        g->is_impossible |= is_empty(row, words);
    }
    return CLV_OK;
}

/* Each tag of a supernode once. */
static clv_status set_tags(clv_supernodes *g, clv_error *err)
{
    const clv_rules *r = g->rules;
    int32_t n = 0;
    g->tag_first = CLV_NEW_ARRAY(g->arena, int32_t, (size_t)g->n + 1);
    g->tags = CLV_NEW_ARRAY(g->arena, int32_t, r->tag_first ? r->tag_first[g->p->n_units] : 0);
    if (!g->tag_first || !g->tags)
        return clv_fail_nomem(err, "the rules of a search");
    if (!r->tag_first)
        return CLV_OK;
    for (int32_t b = 0; b < g->n; b++) {
        int32_t first = g->tag_first[b] = n, end = n;
        for (int32_t i = g->unit_first[b]; i < g->unit_first[b + 1]; i++)
            for (int32_t k = r->tag_first[g->units[i]]; k < r->tag_first[g->units[i] + 1]; k++)
                g->tags[end++] = r->tags[k];
        if (end > first)
            qsort(g->tags + first, (size_t)(end - first), sizeof *g->tags, clv_compare_int32);
        for (int32_t k = first; k < end; k++) {
            if (n > first && g->tags[n - 1] == g->tags[k])
                continue;
            g->is_impossible |=
                n > first && r->family_of[g->tags[n - 1]] == r->family_of[g->tags[k]];
            g->tags[n++] = g->tags[k];
        }
    }
    g->tag_first[g->n] = n;
    return CLV_OK;
}

/* -- devices that are alike to the rules -- */

static bool same_column(const clv_supernodes *g, int32_t a, int32_t b)
{
    for (int32_t i = 0; i < g->n; i++)
        if (clv_supernode_allows(g, i, a) != clv_supernode_allows(g, i, b))
            return false;
    return true;
}

static clv_status set_classes(clv_supernodes *g, clv_error *err)
{
    int32_t n = g->p->n_devices;
    g->class_of = CLV_NEW_ARRAY(g->arena, int32_t, n);
    uint64_t *hash = CLV_NEW_ARRAY(g->arena, uint64_t, n);
    if (!g->class_of || !hash)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t d = 0; d < n && g->rules->devices; d++) {
        hash[d] = CLV_HASH_INIT;
        for (int32_t b = 0; b < g->n; b++)
            if (clv_supernode_allows(g, b, d))
                hash[d] = (hash[d] ^ (uint64_t)b) * UINT64_C(0x100000001b3);
    }
    for (int32_t d = 0; d < n; d++) {
        int32_t c = 0;
        while (c < d && (g->class_of[c] != c || hash[c] != hash[d] ||
                         (g->rules->devices && !same_column(g, c, d))))
            c++;
        g->class_of[d] = c;
    }
    return CLV_OK;
}

/* -- tags and devices -- */

/* Augmenting path from a tag to a device (bipartite matching, Kuhn 1955); more tags than devices
 * that may take them cannot be apart. */
static bool find_device(const clv_supernodes *g, const uint64_t *may, int32_t tag, int32_t *tag_of,
                        bool *tried)
{
    for (int32_t d = 0; d < g->p->n_devices; d++) {
        if (tried[d] || !clv_bit(may + (size_t)tag * g->words, d))
            continue;
        tried[d] = true;
        if (tag_of[d] < 0 || find_device(g, may, tag_of[d], tag_of, tried)) {
            tag_of[d] = tag;
            return true;
        }
    }
    return false;
}

/* Has every tag of each family a device of its own? Devices that some supernode of it may be on. */
static bool tags_fit(clv_supernodes *g)
{
    const clv_rules *r = g->rules;
    size_t n = (size_t)g->p->n_devices;
    clv_mark mark = clv_arena_mark(g->arena);
    uint64_t *may = clv_arena_take_array(g->arena, (size_t)r->n_tags * g->words, sizeof *may);
    int32_t *tag_of = CLV_NEW_ARRAY(g->arena, int32_t, n);
    bool *tried = CLV_NEW_ARRAY(g->arena, bool, n), all = true;
    bool *tagged = CLV_NEW_ARRAY(g->arena, bool, r->n_tags);
    if (!may || !tag_of || !tried || !tagged)
        return true; /* no memory: not to be taken for a proof */
    for (int32_t b = 0; b < g->n; b++)
        for (int32_t i = g->tag_first[b]; i < g->tag_first[b + 1]; i++) {
            tagged[g->tags[i]] = true;
            for (size_t w = 0; w < g->words; w++)
                may[(size_t)g->tags[i] * g->words + w] |= g->devices[(size_t)b * g->words + w];
        }
    for (int32_t tag = 0; tag < r->n_tags && all; tag++) {
        if (tag == 0 || r->family_of[tag - 1] != r->family_of[tag])
            memset(tag_of, 0xff, n * sizeof *tag_of);
        memset(tried, 0, n * sizeof *tried);
        all = !tagged[tag] || find_device(g, may, tag, tag_of, tried);
    }
    clv_arena_rewind(g->arena, mark);
    return all;
}

clv_status clv_supernodes_new(const clv_partition_problem *p, clv_arena *arena, clv_supernodes *ret,
                              clv_error *err)
{
    clv_supernodes *g = ret;
    *g = (clv_supernodes){ .p = p, .rules = p->rules, .arena = arena, .words = p->rules->words };
    g->supernode_of = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    if (!g->supernode_of)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t u = 0; u < p->n_units;
         u++) { /* numbers of units and groups, by their first unit */
        int32_t group = p->rules->group_of ? p->rules->group_of[u] : -1;
        int32_t first = group < 0 ? u : p->rules->group_units[p->rules->group_first[group]];
        g->supernode_of[u] = first == u ? g->n++ : g->supernode_of[first];
    }
    CLV_TRY(list_edges(g, err));
    if (p->rules->n_groups > 0)
        CLV_TRY(sort_supernodes(g, err));
    CLV_TRY(list_units(g, err));
    CLV_TRY(set_devices(g, err));
    CLV_TRY(set_stages(g, err));
    CLV_TRY(set_tags(g, err));
    if (!g->is_impossible)
        g->is_impossible = !tags_fit(g);
    return set_classes(g, err);
}
