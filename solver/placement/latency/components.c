/* components.c - see components.h: which nodes make a part, and which parts are equal. */
#include "solver/placement/latency/components.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/union_find.h"

/* Parts are numbered by their first nodes. */
static clv_status find_parts(const clv_place_problem *p, clv_arena *arena, clv_components *parts,
                             clv_error *err)
{
    int32_t *root = CLV_NEW_ARRAY(arena, int32_t, p->n_classes);
    int32_t *part_of = CLV_NEW_ARRAY(arena, int32_t, p->n_classes);
    int32_t *from = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    if (!root || !part_of || !from)
        return clv_fail_nomem(err, "the parts of a placement");
    for (int32_t c = 0; c < p->n_classes; c++) {
        root[c] = c;
        part_of[c] = -1;
    }
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t e = p->out_first[v]; e < p->out_first[v + 1]; e++)
            root[clv_find_root(root, p->class_of[v])] = clv_find_root(root, p->class_of[p->out[e]]);
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t c = clv_find_root(root, p->class_of[v]);
        if (part_of[c] < 0)
            part_of[c] = parts->n++;
        from[v] = part_of[c];
    }
    const clv_csr_items nodes = { .n = p->n_nodes, .group_of = from };
    return clv_csr_group(parts->n, &nodes, arena, &parts->nodes)
               ? CLV_OK
               : clv_fail_nomem(err, "the parts of a placement");
}

/* All parts as problems of their own, one behind the other in arrays of the whole's size. */
typedef struct {
    const clv_place_problem *p;
    const clv_components *parts;
    int32_t *local; /* by node: number in its part */
    int32_t *class_of, *out, *order;
    int32_t *out_first; /* one more for each part */
    int64_t *id, *bytes;
    double *time, *send_cost;
    bool *backward;
    clv_place_problem *each; /* by part */
} splitter;

static clv_status splitter_new(splitter *s, clv_arena *arena, clv_error *err)
{
    size_t n = (size_t)s->p->n_nodes, n_parts = (size_t)s->parts->n;
    s->local = CLV_NEW_ARRAY(arena, int32_t, n);
    s->class_of = CLV_NEW_ARRAY(arena, int32_t, n);
    s->out = CLV_NEW_ARRAY(arena, int32_t, s->p->n_edges);
    s->order = CLV_NEW_ARRAY(arena, int32_t, n);
    s->out_first = CLV_NEW_ARRAY(arena, int32_t, n + n_parts);
    s->id = CLV_NEW_ARRAY(arena, int64_t, n);
    s->bytes = CLV_NEW_ARRAY(arena, int64_t, n);
    s->time = CLV_NEW_ARRAY(arena, double, n *(size_t)s->p->n_kinds);
    s->send_cost = CLV_NEW_ARRAY(arena, double, n);
    s->backward = CLV_NEW_ARRAY(arena, bool, n);
    s->each = CLV_NEW_ARRAY(arena, clv_place_problem, n_parts);
    return s->local && s->class_of && s->out && s->order && s->out_first && s->id && s->bytes &&
                   s->time && s->send_cost && s->backward && s->each
               ? CLV_OK
               : clv_fail_nomem(err, "the parts of a placement");
}

/* Copies what belongs to nodes, from place first on. */
static void split_nodes(const splitter *s, int32_t part, int32_t first)
{
    const clv_place_problem *p = s->p;
    const int32_t *node = s->parts->nodes.at + first;
    size_t n = (size_t)s->each[part].n_nodes;
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)first + i;
        int32_t v = node[i];
        s->local[v] = (int32_t)i;
        s->id[at] = p->id[v];
        s->bytes[at] = p->bytes[v];
        s->send_cost[at] = p->send_cost[v];
        s->backward[at] = p->backward[v];
        for (size_t k = 0; k < (size_t)p->n_kinds; k++)
            s->time[(size_t)p->n_kinds * (size_t)first + k * n + i] =
                p->time[k * (size_t)p->n_nodes + (size_t)v];
    }
}

static void split_edges(const splitter *s, int32_t part, int32_t first, int32_t first_edge)
{
    const clv_place_problem *p = s->p;
    const int32_t *node = s->parts->nodes.at + first;
    int32_t *out_first = s->out_first + first + part, n = s->each[part].n_nodes, n_edges = 0;
    for (int32_t i = 0; i < n; i++) {
        out_first[i] = n_edges;
        for (int32_t e = p->out_first[node[i]]; e < p->out_first[node[i] + 1]; e++)
            s->out[first_edge + n_edges++] = s->local[p->out[e]];
    }
    out_first[n] = n_edges;
    s->each[part].n_edges = n_edges;
}

/* Classes are numbered by their first nodes, so equal parts have equal numbers. */
static void split_classes(const splitter *s, int32_t *number)
{
    for (int32_t c = 0; c < s->p->n_classes; c++)
        number[c] = -1;
    for (int32_t part = 0; part < s->parts->n; part++)
        for (int32_t i = s->parts->nodes.first[part]; i < s->parts->nodes.first[part + 1]; i++) {
            int32_t c = s->p->class_of[s->parts->nodes.at[i]];
            if (number[c] < 0)
                number[c] = s->each[part].n_classes++;
            s->class_of[i] = number[c];
        }
}

static clv_status split(splitter *s, clv_arena *arena, clv_error *err)
{
    const clv_place_problem *p = s->p;
    int32_t *part_of = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    int32_t *done = CLV_NEW_ARRAY(arena, int32_t, s->parts->n);
    int32_t *number = CLV_NEW_ARRAY(arena, int32_t, p->n_classes);
    if (!part_of || !done || !number)
        return clv_fail_nomem(err, "the parts of a placement");
    for (int32_t part = 0, edges = 0; part < s->parts->n; part++) {
        int32_t first = s->parts->nodes.first[part];
        s->each[part] = (clv_place_problem){ .n_nodes = s->parts->nodes.first[part + 1] - first,
                                             .n_kinds = p->n_kinds,
                                             .kinds = p->kinds,
                                             .id = s->id + first,
                                             .time = s->time + (size_t)p->n_kinds * (size_t)first,
                                             .bytes = s->bytes + first,
                                             .send_cost = s->send_cost + first,
                                             .backward = s->backward + first,
                                             .class_of = s->class_of + first,
                                             .out_first = s->out_first + first + part,
                                             .out = s->out + edges,
                                             .order = s->order + first };
        split_nodes(s, part, first);
        split_edges(s, part, first, edges);
        edges += s->each[part].n_edges;
        for (int32_t i = first; i < first + s->each[part].n_nodes; i++)
            part_of[s->parts->nodes.at[i]] = part;
    }
    for (int32_t i = 0; i < p->n_nodes; i++) {
        int32_t v = p->order[i], part = part_of[v];
        s->order[s->parts->nodes.first[part] + done[part]++] = s->local[v];
    }
    split_classes(s, number);
    return CLV_OK;
}

static bool is_same(const void *a, const void *b, size_t n, size_t size)
{
    return n == 0 || memcmp(a, b, n * size) == 0;
}

static bool is_equal(const clv_place_problem *a, const clv_place_problem *b)
{
    size_t n = (size_t)a->n_nodes;
    return a->n_nodes == b->n_nodes && a->n_edges == b->n_edges && a->n_classes == b->n_classes &&
           is_same(a->time, b->time, n * (size_t)a->n_kinds, sizeof *a->time) &&
           is_same(a->bytes, b->bytes, n, sizeof *a->bytes) &&
           is_same(a->send_cost, b->send_cost, n, sizeof *a->send_cost) &&
           is_same(a->backward, b->backward, n, sizeof *a->backward) &&
           is_same(a->class_of, b->class_of, n, sizeof *a->class_of) &&
           is_same(a->out_first, b->out_first, n + 1, sizeof *a->out_first) &&
           is_same(a->out, b->out, (size_t)a->n_edges, sizeof *a->out);
}

typedef struct {
    int32_t n_nodes, part;
    uint64_t hash;
} key;

static int compare_keys(const void *a, const void *b)
{
    const key *x = a, *y = b;
    if (x->n_nodes != y->n_nodes)
        return x->n_nodes > y->n_nodes ? -1 : 1;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->part < y->part ? -1 : x->part > y->part;
}

/* Neighbours in the order of keys are a group while they are equal. Two contents with one hash may
 * alternate: then there are more groups than need be, nothing else. */
static clv_status find_groups(clv_components *parts, const clv_place_problem *each,
                              clv_arena *arena, clv_error *err)
{
    key *keys = CLV_NEW_ARRAY(arena, key, parts->n);
    int32_t *first = CLV_NEW_ARRAY(arena, int32_t, parts->n + 1);
    int32_t *at = CLV_NEW_ARRAY(arena, int32_t, parts->n);
    parts->p = CLV_NEW_ARRAY(arena, clv_place_problem, parts->n);
    if (!keys || !first || !at || !parts->p)
        return clv_fail_nomem(err, "the parts of a placement");
    for (int32_t i = 0; i < parts->n; i++) { /* is_equal() compares what is not hashed */
        const clv_place_problem *p = &each[i];
        size_t n = (size_t)p->n_nodes;
        uint64_t hash = clv_hash(CLV_HASH_INIT, p->time, n * (size_t)p->n_kinds * sizeof *p->time);
        hash = clv_hash(hash, p->send_cost, n * sizeof *p->send_cost);
        hash = clv_hash(hash, p->bytes, n * sizeof *p->bytes);
        hash = clv_hash(hash, p->out, (size_t)p->n_edges * sizeof *p->out);
        keys[i] = (key){ p->n_nodes, i, hash };
    }
    qsort(keys, (size_t)parts->n, sizeof *keys, compare_keys);
    for (int32_t i = 0; i < parts->n; i++) {
        const clv_place_problem *p = &each[keys[i].part];
        if (i == 0 || !is_equal(&parts->p[parts->n_groups - 1], p))
            parts->p[parts->n_groups++] = *p;
        at[i] = keys[i].part;
        first[parts->n_groups] = i + 1;
    }
    parts->copies = (clv_csr){ first, at };
    return CLV_OK;
}

clv_status clv_components_new(const clv_place_problem *p, clv_arena *arena, clv_components *ret,
                              clv_error *err)
{
    *ret = (clv_components){ 0 };
    splitter s = { .p = p, .parts = ret };
    CLV_TRY(find_parts(p, arena, ret, err));
    if (ret->n < 2)
        return CLV_OK;
    CLV_TRY(splitter_new(&s, arena, err));
    CLV_TRY(split(&s, arena, err));
    return find_groups(ret, s.each, arena, err);
}
