#include "cost/shard_branches.h"

#include <stdlib.h>

#include "base/compare.h"

#define WHAT      "branches of a tensor"
#define NONE      (-1)
#define LARGE_MAX 16 /* so many of the largest are dealt out one by one */

typedef struct {
    const clv_shard_problem *s;
    const clv_intra_op_problem *p;
    const clv_intra_op_part *part;
    const int64_t *behind_ns;
    int32_t *branch; /* by node of the part, as place in it: number of the branch; NONE */
    int32_t *in;     /* by branch: the edge to it from the tensor */
    int64_t **cost;  /* by branch: by choice, with what is behind it */
    int32_t n;
    clv_arena *scratch;
} finder;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, WHAT); }

static int64_t capped(int64_t ns) { return ns < CLV_INTRA_OP_NEVER ? ns : CLV_INTRA_OP_NEVER; }

static const int64_t *entries(const finder *f, int32_t edge)
{
    return f->p->entry + f->p->first_entry[f->p->matrix_of[edge]];
}

/* The place of a node in the part, whose nodes ascend; NONE. */
static int32_t place_of(const finder *f, int32_t node)
{
    const int32_t *at =
        bsearch(&node, f->part->node, (size_t)f->part->n_nodes, sizeof node, clv_compare_int32);
    return at ? (int32_t)(at - f->part->node) : NONE;
}

/* Operators that read the tensor, each once, by their own costs. */
static clv_status list_branches(finder *f, clv_error *err)
{
    for (int32_t i = 0; i < f->part->n_nodes; i++)
        f->branch[i] = NONE;
    for (int32_t i = 0; i < f->part->n_edges; i++) {
        int32_t e = f->part->edge[i], from = f->p->end[f->p->first_end[e]];
        int32_t to = f->p->end[f->p->first_end[e] + 1], n = clv_intra_op_n_choices(f->p, to);
        int32_t place = from == f->part->begin ? place_of(f, to) : NONE;
        if (place == NONE || f->branch[place] != NONE || !f->s->op_choice[to])
            continue;
        f->branch[place] = f->n;
        f->in[f->n] = e;
        f->cost[f->n] = CLV_NEW_ARRAY(f->scratch, int64_t, n);
        if (!f->cost[f->n])
            return no_memory(err);
        for (int32_t c = 0; c < n; c++)
            f->cost[f->n][c] = capped(f->p->cost[f->p->first_choice[to] + c]);
        f->n++;
    }
    return CLV_OK;
}

/* What a branch's operator brings to its only reader or to where its result lies goes with it. */
static void add_behind(finder *f)
{
    for (int32_t i = 0; i < f->part->n_edges; i++) {
        int32_t e = f->part->edge[i], from = f->p->end[f->p->first_end[e]];
        int32_t n = clv_intra_op_n_choices(f->p, from);
        int32_t m = clv_intra_op_n_choices(f->p, f->p->end[f->p->first_end[e] + 1]);
        int32_t place = place_of(f, from), branch = place == NONE ? NONE : f->branch[place];
        for (int32_t c = 0; branch != NONE && c < n; c++) {
            int64_t least = CLV_INTRA_OP_NEVER;
            for (int32_t k = 0; k < m; k++) {
                int64_t ns = entries(f, e)[(int64_t)c * m + k];
                least = ns < least ? ns : least;
            }
            f->cost[branch][c] = capped(f->cost[branch][c] + least);
        }
    }
}

static int compare_branches(const void *a, const void *b)
{
    const clv_shard_branch *x = a, *y = b;
    int by_ns = clv_compare_int64_down(&x->ns, &y->ns);
    return by_ns ? by_ns : clv_compare_int64_down(&x->behind_ns, &y->behind_ns);
}

/* Of each choice of the tensor. */
static void find_least(const finder *f, clv_shard_branches *ret)
{
    for (int32_t b = 0; b < f->n; b++) {
        int32_t op = f->p->end[f->p->first_end[f->in[b]] + 1];
        int32_t m = clv_intra_op_n_choices(f->p, op);
        for (int32_t x = 0; x < ret->n_choices; x++) {
            clv_shard_branch *at = &ret->at[(int64_t)x * f->n + b];
            int64_t least = CLV_INTRA_OP_NEVER;
            for (int32_t c = 0; c < m; c++) {
                int64_t ns = capped(entries(f, f->in[b])[(int64_t)x * m + c]) + f->cost[b][c];
                least = ns < least ? ns : least;
            }
            *at = (clv_shard_branch){ least, f->behind_ns[op] };
        }
    }
    for (int32_t x = 0; x < ret->n_choices; x++)
        qsort(ret->at + (int64_t)x * f->n, (size_t)f->n, sizeof *ret->at, compare_branches);
}

static clv_status find(finder *f, clv_arena *arena, clv_shard_branches *ret, clv_error *err)
{
    f->branch = CLV_NEW_ARRAY(f->scratch, int32_t, f->part->n_nodes);
    f->in = CLV_NEW_ARRAY(f->scratch, int32_t, f->part->n_nodes);
    f->cost = CLV_NEW_ARRAY(f->scratch, int64_t *, f->part->n_nodes);
    if (!f->branch || !f->in || !f->cost)
        return no_memory(err);
    CLV_TRY(list_branches(f, err));
    add_behind(f);
    ret->n = f->n;
    ret->n_choices = clv_intra_op_n_choices(f->p, f->part->begin);
    ret->at = CLV_NEW_ARRAY(arena, clv_shard_branch, (int64_t)ret->n_choices * f->n);
    if (!ret->at)
        return no_memory(err);
    find_least(f, ret);
    return CLV_OK;
}

clv_status clv_shard_branches_find(const clv_shard_problem *s, const clv_intra_op_part *part,
                                   const int64_t *behind_ns, clv_arena *arena,
                                   clv_shard_branches *ret, clv_error *err)
{
    finder f = { .s = s,
                 .p = s->problem,
                 .part = part,
                 .behind_ns = behind_ns,
                 .scratch = clv_arena_new(clv_arena_alloc(arena), 0) };
    if (!f.scratch)
        return no_memory(err);
    clv_status status = find(&f, arena, ret, err);
    clv_arena_free(f.scratch);
    return status;
}

/* n operators of no less than that each: at home as many as are best, the others dealt out. */
static clv_int128 deal_out(int32_t n, clv_shard_branch least_of, int64_t sent_ns, int32_t others)
{
    clv_int128 least = (clv_int128)n * least_of.ns + least_of.behind_ns; /* all at home */
    for (int32_t home = 0; home < n && others > 0; home++) {
        int32_t each = (n - home + others - 1) / others;
        clv_int128 here = home > 0 ? (clv_int128)home * least_of.ns + least_of.behind_ns : 0;
        clv_int128 there = sent_ns + (clv_int128)each * least_of.ns;
        clv_int128 longest = here > there ? here : there;
        least = longest < least ? longest : least;
    }
    return least;
}

/* In parts of any size: the other stages are idle until the tensor is there, if any runs one of
 * them, and home is once it has done its own, if it has any. */
static clv_int128 share_out(clv_int128 all, int64_t behind_ns, int64_t sent_ns, int32_t others)
{
    clv_int128 least = all + behind_ns, away = others > 0 ? sent_ns + all / others : least;
    clv_int128 shared = (all + behind_ns + (clv_int128)others * sent_ns) / (1 + others);
    least = away < least ? away : least;
    return others > 0 && shared < least ? shared : least;
}

int64_t clv_shard_branches_ns(const clv_shard_branches *b, int32_t choice, int32_t others)
{
    const clv_shard_branch *at = b->at + (int64_t)choice * b->n;
    int64_t sent_ns = b->sent_ns[choice], behind_ns = INT64_MAX;
    clv_int128 all = 0, least = 0;
    for (int32_t i = 0; i < b->n; i++) {
        all += at[i].ns;
        behind_ns = at[i].behind_ns < behind_ns ? at[i].behind_ns : behind_ns;
        clv_int128 some = share_out(all, behind_ns, sent_ns, others);
        least = some > least ? some : least;
        if (i >= LARGE_MAX)
            continue;
        some = deal_out(i + 1, (clv_shard_branch){ at[i].ns, behind_ns }, sent_ns, others);
        least = some > least ? some : least;
    }
    return least < CLV_INTRA_OP_NEVER ? (int64_t)least : CLV_INTRA_OP_NEVER;
}
