#include "solver/placement/latency/latency_tables.h"

static clv_status pairs_new(int32_t room, clv_arena *arena, clv_csr_pairs *ret, clv_error *err)
{
    *ret = (clv_csr_pairs){ 0, CLV_NEW_ARRAY(arena, int32_t, room),
                            CLV_NEW_ARRAY(arena, int32_t, room) };
    return ret->from && ret->to ? CLV_OK : clv_fail_nomem(err, "the edges of a placement");
}

static void pair_add(clv_csr_pairs *list, int32_t from, int32_t to)
{
    list->from[list->n] = from;
    list->to[list->n++] = to;
}

/* Edges between nodes, then between classes, in the direction wanted. */
static clv_status edge_lists(clv_latency_tables *f, clv_arena *arena, clv_error *err)
{
    const clv_place_problem *p = f->p;
    clv_csr_pairs list;
    CLV_TRY(pairs_new(p->n_edges, arena, &list, err));
    for (int32_t i = 0; i < p->n_nodes; i++)
        for (int32_t e = p->out_first[i]; e < p->out_first[i + 1]; e++)
            pair_add(&list, p->out[e], i);
    CLV_TRY(clv_csr_from_pairs(p->n_nodes, list, arena, &f->in, err));
    for (int32_t i = 0; i < list.n; i++) {
        list.from[i] = p->class_of[list.from[i]];
        list.to[i] = p->class_of[list.to[i]];
    }
    CLV_TRY(clv_csr_from_pairs(p->n_classes, list, arena, &f->up, err));
    clv_csr_pairs reversed = { list.n, list.to, list.from };
    return clv_csr_from_pairs(p->n_classes, reversed, arena, &f->down, err);
}

/* The edges that contiguous rules bind: see place_problem.h on backward nodes. */
static clv_status line_lists(clv_latency_tables *f, clv_arena *arena, clv_error *err)
{
    const clv_place_problem *p = f->p;
    bool *forward = CLV_NEW_ARRAY(arena, bool, p->n_classes);
    clv_csr_pairs list;
    CLV_TRY(pairs_new(p->n_edges, arena, &list, err));
    if (!forward)
        return clv_fail_nomem(err, "the classes of a placement");
    for (int32_t i = 0; i < p->n_nodes; i++)
        forward[p->class_of[i]] |= !p->backward[i];
    for (int32_t i = 0; i < p->n_nodes; i++)
        for (int32_t e = p->out_first[i]; e < p->out_first[i + 1]; e++) {
            int32_t j = p->out[e], a = p->class_of[i], b = p->class_of[j];
            if (!p->backward[i] && !p->backward[j])
                pair_add(&list, a, b);
            else if (p->backward[i] && p->backward[j] && (!forward[a] || !forward[b]))
                pair_add(&list, b, a);
        }
    return clv_csr_from_pairs(p->n_classes, list, arena, &f->line, err);
}

static clv_status class_lists(clv_latency_tables *f, clv_arena *arena, clv_error *err)
{
    const clv_place_problem *p = f->p;
    size_t n_classes = (size_t)p->n_classes;
    f->class_bytes = CLV_NEW_ARRAY(arena, int64_t, n_classes);
    f->class_fits = CLV_NEW_ARRAY(arena, bool, (size_t)p->n_kinds *n_classes);
    if (!f->class_bytes || !f->class_fits ||
        !clv_csr_group(p->n_classes, &(clv_csr_items){ p->n_nodes, p->class_of, p->order }, arena,
                       &f->members))
        return clv_fail_nomem(err, "the classes of a placement");
    for (int32_t i = 0; i < p->n_nodes; i++)
        f->class_bytes[p->class_of[i]] += p->bytes[i];
    for (int32_t k = 0; k < p->n_kinds; k++) {
        int64_t room = p->kinds[k].capacity_bytes;
        bool *fits = f->class_fits + (size_t)k * n_classes;
        for (int32_t c = 0; c < p->n_classes; c++)
            fits[c] = room == CLV_PLACE_UNLIMITED || f->class_bytes[c] <= room;
        for (int32_t i = 0; i < p->n_nodes; i++)
            fits[p->class_of[i]] &= p->time[(size_t)k * (size_t)p->n_nodes + (size_t)i] >= 0;
    }
    return CLV_OK;
}

clv_status clv_latency_tables_new(const clv_place_problem *p, bool contiguous, clv_arena *arena,
                                  clv_latency_tables **ret, clv_error *err)
{
    clv_latency_tables *f = CLV_NEW(arena, clv_latency_tables);
    int32_t n_devices = clv_place_devices(p);
    if (!f)
        return clv_fail_nomem(err, "the form of a placement");
    f->p = p;
    f->contiguous = contiguous;
    f->n_devices = n_devices;
    f->kind_of = CLV_NEW_ARRAY(arena, int32_t, n_devices);
    f->column_of = CLV_NEW_ARRAY(arena, int32_t, n_devices);
    if (!f->kind_of || !f->column_of)
        return clv_fail_nomem(err, "the devices of a placement");
    clv_place_kinds(p, f->kind_of);
    for (int32_t d = 0; d < n_devices; d++)
        f->column_of[d] = p->kinds[f->kind_of[d]].pays ? f->n_columns++ : -1;
    CLV_TRY(edge_lists(f, arena, err));
    CLV_TRY(line_lists(f, arena, err));
    CLV_TRY(class_lists(f, arena, err));
    *ret = f;
    return CLV_OK;
}
