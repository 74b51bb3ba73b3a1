#include "problem/intra_op_draft.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunk_list.h"

/* Slots of the first table of matrices; a power of two, as all are. */
#define TABLE_MIN 64

typedef struct {
    const int64_t *entry; /* in the draft's list */
    int64_t n;
    uint64_t hash;
    int32_t edge;  /* the first with this matrix, which says its shape; -1 before freezing */
    int32_t other; /* the next with equal entries and another shape; 0: none */
} matrix_note;

struct clv_intra_op_draft {
    clv_arena *arena;
    clv_intra_op_problem p; /* counts as they are now */
    int32_t n_choices, n_spans, n_ends;
    int32_t last_node; /* of the last span; -1: none */
    int64_t last_hi;
    bool in_order; /* the spans of each node come one behind the other */
    clv_chunk_list first_choice, cost, span_node, span_lo, span_hi, span_usage, usage;
    clv_chunk_list first_end, end, matrix_of, entry;
    matrix_note *matrices; /* p.n_matrices */
    int32_t room;
    int32_t *slot; /* table of matrices, number plus 1; 0: free */
    uint32_t n_slots;
};

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "a strategy problem"); }

clv_status clv_intra_op_draft_new(clv_arena *arena, clv_intra_op_draft **ret, clv_error *err)
{
    clv_intra_op_draft *d = CLV_NEW(arena, clv_intra_op_draft);
    if (!d)
        return nomem(err);
    *d = (clv_intra_op_draft){
        .arena = arena, .last_node = -1, .in_order = true, .n_slots = TABLE_MIN
    };
    d->slot = CLV_NEW_ARRAY(arena, int32_t, TABLE_MIN);
    if (!d->slot)
        return nomem(err);
    clv_chunk_list_init(&d->first_choice, arena, sizeof(int32_t));
    clv_chunk_list_init(&d->cost, arena, sizeof(int64_t));
    clv_chunk_list_init(&d->span_node, arena, sizeof(int32_t));
    clv_chunk_list_init(&d->span_lo, arena, sizeof(int64_t));
    clv_chunk_list_init(&d->span_hi, arena, sizeof(int64_t));
    clv_chunk_list_init(&d->span_usage, arena, sizeof(int64_t));
    clv_chunk_list_init(&d->usage, arena, sizeof(int64_t));
    clv_chunk_list_init(&d->first_end, arena, sizeof(int32_t));
    clv_chunk_list_init(&d->end, arena, sizeof(int32_t));
    clv_chunk_list_init(&d->matrix_of, arena, sizeof(int32_t));
    clv_chunk_list_init(&d->entry, arena, sizeof(int64_t));
    *ret = d;
    return CLV_OK;
}

/* Copies n elements to the list's end. */
static bool append(clv_chunk_list *list, const void *from, size_t n)
{
    void *to = clv_chunk_list_add(list, n);
    if (to && n)
        memcpy(to, from, n * list->size);
    return to != NULL;
}

/* One count of a problem, n more. */
static clv_status count(int32_t *so_far, int32_t n, const char *what, clv_error *err)
{
    if (n > INT32_MAX - 1 - *so_far)
        return clv_fail(err, CLV_ELIMIT, "the problem has more %s than 2^31 - 2", what);
    *so_far += n;
    return CLV_OK;
}

/* -- nodes -- */

static clv_status check_amounts(const int64_t *amount, int32_t n, int32_t node, const char *does,
                                clv_error *err)
{
    for (int32_t i = 0; i < n; i++)
        if (amount[i] < 0)
            return clv_fail(err, CLV_EFORMAT, "node %d: choice %d %s %lld, expected 0 or more",
                            node, i, does, (long long)amount[i]);
    return CLV_OK;
}

clv_status clv_intra_op_draft_node(clv_intra_op_draft *d, int32_t n, const int64_t *cost,
                                   clv_error *err)
{
    int32_t node = d->p.n_nodes, first = d->n_choices;
    if (n < 1)
        return clv_fail(err, CLV_EFORMAT, "node %d has no choices, expected at least one", node);
    CLV_TRY(check_amounts(cost, n, node, "costs", err));
    CLV_TRY(count(&d->p.n_nodes, 1, "nodes", err));
    CLV_TRY(count(&d->n_choices, n, "choices", err));
    if (!append(&d->first_choice, &first, 1) || !append(&d->cost, cost, (size_t)n))
        return nomem(err);
    return CLV_OK;
}

clv_status clv_intra_op_draft_usages(clv_intra_op_draft *d, int32_t n, const int64_t *usage,
                                     int64_t *ret, clv_error *err)
{
    int64_t at = (int64_t)d->usage.n;
    if (!append(&d->usage, usage, (size_t)n))
        return nomem(err);
    *ret = at;
    return CLV_OK;
}

clv_status clv_intra_op_draft_hold(clv_intra_op_draft *d, int32_t node, int64_t lo, int64_t hi,
                                   int64_t usages, clv_error *err)
{
    assert(node >= d->last_node && node < d->p.n_nodes);
    assert(usages >= 0 && (size_t)usages < d->usage.n);
    if (hi < lo)
        return clv_fail(err, CLV_EFORMAT,
                        "node %d holds memory from %lld to %lld, expected an end not before the "
                        "start",
                        node, (long long)lo, (long long)hi);
    if (hi == lo)
        return CLV_OK;
    CLV_TRY(count(&d->n_spans, 1, "spans", err));
    if (!append(&d->span_node, &node, 1) || !append(&d->span_lo, &lo, 1) ||
        !append(&d->span_hi, &hi, 1) || !append(&d->span_usage, &usages, 1))
        return nomem(err);
    d->in_order &= node > d->last_node || lo >= d->last_hi;
    d->last_node = node;
    d->last_hi = hi;
    return CLV_OK;
}

clv_status clv_intra_op_draft_span(clv_intra_op_draft *d, int64_t lo, int64_t hi,
                                   const int64_t *usage, clv_error *err)
{
    assert(d->p.n_nodes > 0);
    int32_t node = d->p.n_nodes - 1;
    int32_t n = d->n_choices - *(const int32_t *)clv_chunk_list_last(&d->first_choice);
    int64_t at = 0;
    if (hi == lo)
        return CLV_OK;
    CLV_TRY(check_amounts(usage, n, node, "uses", err));
    CLV_TRY(clv_intra_op_draft_usages(d, n, usage, &at, err));
    return clv_intra_op_draft_hold(d, node, lo, hi, at, err);
}

/* -- matrices -- */

/* Every bit of every entry reaches every bit of the result. */
static uint64_t hash_entries(const int64_t *entry, int64_t n, int64_t *ret_or)
{
    uint64_t hash = (uint64_t)n;
    int64_t all = 0;
    for (int64_t i = 0; i < n; i++) {
        hash = (hash ^ (uint64_t)entry[i]) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
        hash ^= hash >> 32;
        all |= entry[i];
    }
    *ret_or = all;
    return hash;
}

static uint32_t find_slot(const clv_intra_op_draft *d, uint64_t hash, int64_t n,
                          const int64_t *entry)
{
    uint32_t at = (uint32_t)hash & (d->n_slots - 1);
    for (; d->slot[at]; at = (at + 1) & (d->n_slots - 1)) {
        const matrix_note *m = &d->matrices[d->slot[at] - 1];
        if (entry && m->hash == hash && m->n == n &&
            memcmp(m->entry, entry, (size_t)n * sizeof *entry) == 0)
            break;
    }
    return at;
}

static clv_status widen_table(clv_intra_op_draft *d, clv_error *err)
{
    if ((uint32_t)d->p.n_matrices < d->n_slots / 2)
        return CLV_OK;
    int32_t *slot = CLV_NEW_ARRAY(d->arena, int32_t, (size_t)d->n_slots * 2);
    if (!slot)
        return nomem(err);
    d->slot = slot;
    d->n_slots *= 2;
    for (int32_t m = 0; m < d->p.n_matrices; m++)
        d->slot[find_slot(d, d->matrices[m].hash, 0, NULL)] = m + 1;
    return CLV_OK;
}

static clv_status add_matrix(clv_intra_op_draft *d, const matrix_note *m, clv_error *err)
{
    if (!CLV_PUSH_ROOM(d->arena, d->matrices, d->p.n_matrices, d->room))
        return nomem(err);
    d->matrices[d->p.n_matrices++] = *m;
    return CLV_OK;
}

clv_status clv_intra_op_draft_matrix(clv_intra_op_draft *d, int64_t n, const int64_t *entry,
                                     int32_t *ret, clv_error *err)
{
    int64_t all;
    if (n < 1)
        return clv_fail(err, CLV_EFORMAT, "a matrix has no entries, expected at least one");
    matrix_note m = { .n = n, .hash = hash_entries(entry, n, &all), .edge = -1 };
    for (int64_t i = 0; all < 0 && i < n; i++)
        if (entry[i] < 0)
            return clv_fail(err, CLV_EFORMAT, "entry %lld of a matrix is %lld, expected 0 or more",
                            (long long)i, (long long)entry[i]);
    uint32_t at = find_slot(d, m.hash, n, entry);
    if (d->slot[at]) {
        *ret = d->slot[at] - 1;
        return CLV_OK;
    }
    if (!append(&d->entry, entry, (size_t)n))
        return nomem(err);
    m.entry = (const int64_t *)clv_chunk_list_last(&d->entry) - (n - 1);
    CLV_TRY(add_matrix(d, &m, err));
    d->slot[at] = d->p.n_matrices;
    *ret = d->p.n_matrices - 1;
    return widen_table(d, err);
}

int64_t clv_intra_op_draft_entries(const clv_intra_op_draft *d, int32_t matrix)
{
    return d->matrices[matrix].n;
}

/* -- edges -- */

clv_status clv_intra_op_draft_edge(clv_intra_op_draft *d, int32_t k, const int32_t *node,
                                   int32_t matrix, clv_error *err)
{
    int32_t edge = d->p.n_edges, first = d->n_ends;
    if (k < 1)
        return clv_fail(err, CLV_EFORMAT, "edge %d has no nodes, expected at least one", edge);
    if (matrix < 0 || matrix >= d->p.n_matrices)
        return clv_fail(err, CLV_EFORMAT, "edge %d has matrix %d, expected one of %d", edge, matrix,
                        d->p.n_matrices);
    CLV_TRY(count(&d->p.n_edges, 1, "edges", err));
    CLV_TRY(count(&d->n_ends, k, "ends of edges", err));
    if (!append(&d->first_end, &first, 1) || !append(&d->end, node, (size_t)k) ||
        !append(&d->matrix_of, &matrix, 1))
        return nomem(err);
    return CLV_OK;
}

/* -- freezing -- */

static clv_status join(clv_chunk_list *list, const int32_t *last, void *ret, clv_error *err)
{
    void *all;
    if (last && !append(list, last, 1))
        return nomem(err);
    all = clv_chunk_list_join(list, 0);
    if (!all)
        return nomem(err);
    memcpy(ret, &all, sizeof all);
    return CLV_OK;
}

/* first_span, from the nodes of the spans, which ascend. */
static clv_status list_spans(clv_intra_op_draft *d, clv_error *err)
{
    int32_t *first = CLV_NEW_ARRAY(d->arena, int32_t, d->p.n_nodes + 1);
    const int32_t *node = clv_chunk_list_join(&d->span_node, 0);
    if (!first || !node)
        return nomem(err);
    for (int32_t i = 0; i < d->n_spans; i++)
        first[node[i] + 1]++;
    for (int32_t v = 0; v < d->p.n_nodes; v++)
        first[v + 1] += first[v];
    d->p.first_span = first;
    return CLV_OK;
}

static clv_status join_all(clv_intra_op_draft *d, clv_error *err)
{
    clv_intra_op_problem *p = &d->p;
    CLV_TRY(join(&d->first_choice, &d->n_choices, &p->first_choice, err));
    CLV_TRY(join(&d->cost, NULL, &p->cost, err));
    CLV_TRY(list_spans(d, err));
    CLV_TRY(join(&d->span_lo, NULL, &p->span_lo, err));
    CLV_TRY(join(&d->span_hi, NULL, &p->span_hi, err));
    CLV_TRY(join(&d->span_usage, NULL, &p->span_usage, err));
    CLV_TRY(join(&d->usage, NULL, &p->usage, err));
    CLV_TRY(join(&d->first_end, &d->n_ends, &p->first_end, err));
    CLV_TRY(join(&d->end, NULL, &p->end, err));
    return join(&d->matrix_of, NULL, &p->matrix_of, err);
}

typedef struct {
    int64_t lo, hi;
} span;

static int compare_spans(const void *a, const void *b)
{
    const span *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

static clv_status check_spans(const clv_intra_op_draft *d, clv_error *err)
{
    const clv_intra_op_problem *p = &d->p;
    clv_mark mark = clv_arena_mark(d->arena);
    span *sorted = CLV_NEW_ARRAY(d->arena, span, d->n_spans);
    clv_status status = sorted ? CLV_OK : nomem(err);
    for (int32_t v = 0; v < p->n_nodes && status == CLV_OK; v++) {
        int32_t first = p->first_span[v], n = p->first_span[v + 1] - first;
        for (int32_t i = 0; i < n; i++)
            sorted[i] = (span){ p->span_lo[first + i], p->span_hi[first + i] };
        qsort(sorted, (size_t)n, sizeof *sorted, compare_spans);
        for (int32_t i = 1; i < n && status == CLV_OK; i++)
            if (sorted[i].lo < sorted[i - 1].hi)
                status = clv_fail(err, CLV_EFORMAT,
                                  "node %d holds memory twice at time %lld, expected spans that do "
                                  "not meet",
                                  v, (long long)sorted[i].lo);
    }
    clv_arena_rewind(d->arena, mark);
    return status;
}

/* seen: by node, the last edge that had it, plus 1. */
static clv_status check_edge(const clv_intra_op_draft *d, int32_t edge, int32_t *seen,
                             clv_error *err)
{
    const clv_intra_op_problem *p = &d->p;
    int64_t n = 1, has = d->matrices[p->matrix_of[edge]].n;
    char shape[100];
    for (int32_t i = p->first_end[edge]; i < p->first_end[edge + 1]; i++) {
        int32_t v = p->end[i];
        if (v < 0 || v >= p->n_nodes)
            return clv_fail(err, CLV_EFORMAT, "edge %d is of node %d, expected one of %d", edge, v,
                            p->n_nodes);
        if (seen[v] == edge + 1)
            return clv_fail(err, CLV_EFORMAT, "edge %d has node %d twice, expected it once", edge,
                            v);
        seen[v] = edge + 1;
        if (n <= has) /* beyond, any product is wrong and might be too large */
            n *= clv_intra_op_n_choices(p, v);
    }
    if (n == has)
        return CLV_OK;
    size_t at = 0; /* "2 x 3" */
    for (int32_t i = p->first_end[edge]; i < p->first_end[edge + 1] && at < sizeof shape; i++)
        at += (size_t)snprintf(shape + at, sizeof shape - at, "%s%d", at ? " x " : "",
                               clv_intra_op_n_choices(p, p->end[i]));
    return clv_fail(err, CLV_EFORMAT, "edge %d has a matrix of %lld entries, expected %s", edge,
                    (long long)has, shape);
}

static bool same_shape(const clv_intra_op_problem *p, int32_t a, int32_t b)
{
    int32_t i = p->first_end[a], j = p->first_end[b], k = p->first_end[a + 1] - i;
    bool same = k == p->first_end[b + 1] - j;
    for (; same && k > 0; k--, i++, j++)
        same = clv_intra_op_n_choices(p, p->end[i]) == clv_intra_op_n_choices(p, p->end[j]);
    return same;
}

/* The matrix with the entries of m and the shape of edge: that one, or a copy of it. */
static clv_status shape_matrix(clv_intra_op_draft *d, int32_t edge, int32_t *m, clv_error *err)
{
    int32_t at = *m;
    for (;;) {
        matrix_note *x = &d->matrices[at];
        if (x->edge < 0)
            x->edge = edge;
        if (same_shape(&d->p, x->edge, edge)) {
            *m = at;
            return CLV_OK;
        }
        if (x->other) {
            at = x->other;
            continue;
        }
        matrix_note copy = { .n = x->n, .edge = edge };
        CLV_TRY(add_matrix(d, &copy, err));
        d->matrices[at].other = *m = d->p.n_matrices - 1;
        return CLV_OK;
    }
}

/* Entries of all matrices into one array; copies of other shapes, from first on, behind. */
static clv_status join_entries(clv_intra_op_draft *d, int32_t first, clv_error *err)
{
    int64_t at = 0, *first_entry = CLV_NEW_ARRAY(d->arena, int64_t, d->p.n_matrices + 1);
    size_t extra = 0;
    if (!first_entry)
        return nomem(err);
    for (int32_t m = 0; m < d->p.n_matrices; m++) {
        first_entry[m] = at;
        at += d->matrices[m].n;
        extra += m >= first ? (size_t)d->matrices[m].n : 0;
    }
    first_entry[d->p.n_matrices] = at;
    int64_t *entry = clv_chunk_list_join(&d->entry, extra);
    if (!entry)
        return nomem(err);
    for (int32_t m = 0; m < first; m++)
        for (int32_t i = d->matrices[m].other; i; i = d->matrices[i].other)
            memcpy(entry + first_entry[i], entry + first_entry[m],
                   (size_t)d->matrices[m].n * sizeof *entry);
    d->p.first_entry = first_entry;
    d->p.entry = entry;
    return CLV_OK;
}

clv_status clv_intra_op_draft_freeze(clv_intra_op_draft *d, const char *name, int64_t usage_limit,
                                     const clv_intra_op_problem **ret, clv_error *err)
{
    int32_t *matrix_of, n_before = d->p.n_matrices;
    if (usage_limit < 0 && usage_limit != CLV_INTRA_OP_UNLIMITED)
        return clv_fail(err, CLV_EFORMAT, "the memory limit is %lld, expected 0 or more",
                        (long long)usage_limit);
    d->p.name = clv_arena_printf(d->arena, "%s", name ? name : "");
    if (!d->p.name)
        return nomem(err);
    d->p.usage_limit = usage_limit;
    CLV_TRY(join_all(d, err));
    memcpy(&matrix_of, &d->p.matrix_of, sizeof matrix_of); /* ours until it is given away */
    if (!d->in_order)
        CLV_TRY(check_spans(d, err));
    int32_t *seen = CLV_NEW_ARRAY(d->arena, int32_t, d->p.n_nodes);
    if (!seen)
        return nomem(err);
    for (int32_t e = 0; e < d->p.n_edges; e++) {
        CLV_TRY(check_edge(d, e, seen, err));
        CLV_TRY(shape_matrix(d, e, &matrix_of[e], err));
    }
    CLV_TRY(join_entries(d, n_before, err));
    *ret = &d->p;
    return CLV_OK;
}
