#include "cost/shard_parted_problem.h"

#include <string.h>

#define NONE (-1)

typedef struct {
    clv_intra_op_problem *p; /* with the arrays below */
    int64_t *cost, *first_entry, *entry;
    int32_t *matrix_of;
    int32_t *share_of; /* by matrix: that of its share in the stretch at hand; NONE */
} maker;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "shares of stages"); }

/* As much room as if each edge of the stretches had a matrix of its own. */
static clv_status copy(maker *k, const clv_intra_op_problem *p, const clv_parted_stretches *parted,
                       clv_arena *arena, clv_error *err)
{
    int64_t n_entries = p->first_entry[p->n_matrices];
    int32_t n_choices = p->first_choice[p->n_nodes], n_edges = 0;
    for (int32_t i = 0; i < parted->n; i++)
        for (int32_t e = 0; e < parted->at[i].part.n_edges; e++, n_edges++) {
            int32_t m = p->matrix_of[parted->at[i].part.edge[e]];
            n_entries += p->first_entry[m + 1] - p->first_entry[m];
        }
    k->p = CLV_NEW(arena, clv_intra_op_problem);
    k->cost = CLV_NEW_ARRAY(arena, int64_t, n_choices);
    k->first_entry = CLV_NEW_ARRAY(arena, int64_t, p->n_matrices + n_edges + 1);
    k->entry = CLV_NEW_ARRAY(arena, int64_t, n_entries);
    k->matrix_of = CLV_NEW_ARRAY(arena, int32_t, p->n_edges);
    k->share_of = CLV_NEW_ARRAY(arena, int32_t, p->n_matrices);
    if (!k->p || !k->cost || !k->first_entry || !k->entry || !k->matrix_of || !k->share_of)
        return no_memory(err);
    memcpy(k->cost, p->cost, (size_t)n_choices * sizeof *k->cost);
    memcpy(k->first_entry, p->first_entry, (size_t)(p->n_matrices + 1) * sizeof *k->first_entry);
    memcpy(k->entry, p->entry, (size_t)p->first_entry[p->n_matrices] * sizeof *k->entry);
    memcpy(k->matrix_of, p->matrix_of, (size_t)p->n_edges * sizeof *k->matrix_of);
    *k->p = *p;
    k->p->cost = k->cost;
    k->p->first_entry = k->first_entry;
    k->p->entry = k->entry;
    k->p->matrix_of = k->matrix_of;
    return CLV_OK;
}

/* Never stays never. */
static int64_t share(int64_t ns, int32_t parts)
{
    return ns < CLV_INTRA_OP_NEVER ? ns / parts : ns;
}

static void share_edge(maker *k, int32_t edge, int32_t parts)
{
    int32_t m = k->matrix_of[edge];
    if (k->share_of[m] == NONE) {
        int64_t first = k->first_entry[m], n = k->first_entry[m + 1] - first;
        int64_t to = k->first_entry[k->p->n_matrices];
        for (int64_t i = 0; i < n; i++)
            k->entry[to + i] = share(k->entry[first + i], parts);
        k->share_of[m] = k->p->n_matrices++;
        k->first_entry[k->p->n_matrices] = to + n;
    }
    k->matrix_of[edge] = k->share_of[m];
}

static void share_stretch(maker *k, const clv_parted_stretch *at, int32_t n_matrices)
{
    const int32_t *first_choice = k->p->first_choice;
    for (int32_t m = 0; m < n_matrices; m++)
        k->share_of[m] = NONE;
    for (int32_t i = 0; i < at->part.n_edges; i++)
        share_edge(k, at->part.edge[i], at->parts);
    for (int32_t i = 0; i < at->part.n_nodes; i++)
        for (int32_t c = first_choice[at->part.node[i]]; c < first_choice[at->part.node[i] + 1];
             c++)
            k->cost[c] = share(k->cost[c], at->parts);
    if (!at->sent_ns)
        return;
    int32_t first = first_choice[at->part.begin], end = first_choice[at->part.begin + 1];
    for (int32_t c = first; c < end; c++)
        k->cost[c] += at->sent_ns[c - first] / at->parts * (at->parts - 1);
}

clv_status clv_shard_parted_problem(const clv_shard_problem *s, const clv_parted_stretches *parted,
                                    clv_arena *arena, clv_shard_problem **ret, clv_error *err)
{
    maker k;
    clv_shard_problem *made = *ret = CLV_NEW(arena, clv_shard_problem);
    if (!made)
        return no_memory(err);
    CLV_TRY(copy(&k, s->problem, parted, arena, err));
    for (int32_t i = 0; i < parted->n; i++)
        share_stretch(&k, &parted->at[i], s->problem->n_matrices);
    *made = *s;
    made->problem = k.p;
    return CLV_OK;
}
