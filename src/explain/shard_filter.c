#include "explain/shard_filter.h"

#include "base/glob.h"
#include "base/suggest.h"

#define NAMES_LOOKED_AT 4096 /* for the nearest one */

typedef struct {
    const clv_shard_filter *filter;
    clv_arena *arena;
    bool node_seen, tensor_seen; /* something matched */
} sieve;

static bool node_passes(sieve *s, clv_str node)
{
    bool yes = !s->filter->node || clv_glob_match(s->filter->node, node);
    s->node_seen |= yes;
    return yes;
}

static bool tensor_passes(sieve *s, const char *tensor)
{
    bool yes =
        !s->filter->tensor || (tensor && clv_glob_match(s->filter->tensor, clv_str_of(tensor)));
    s->tensor_seen |= yes;
    return yes;
}

/* Of a sentence about a node as a whole, no tensor is asked. */
static bool site_passes(sieve *s, const clv_shard_site *at)
{
    return node_passes(s, at->node) && (!at->tensor || tensor_passes(s, at->tensor));
}

static clv_status sift_rows(sieve *s, const clv_shard_node *from, clv_shard_list *to,
                            clv_shard_node *ret, clv_error *err)
{
    clv_shard_row *rows = CLV_NEW_ARRAY(s->arena, clv_shard_row, from->n_rows);
    if (!rows)
        return clv_fail_nomem(err, "shards");
    *ret = *from;
    ret->rows = rows;
    ret->n_rows = 0;
    for (int32_t i = 0; i < from->n_rows; i++) {
        const clv_shard_row *row = &from->rows[i];
        if (!tensor_passes(s, row->tensor))
            continue;
        rows[ret->n_rows++] = *row;
        to->n_uneven += row->shards.uneven;
        to->n_open += row->open;
        to->n_wrong += row->wrong != NULL;
    }
    to->n_rows += ret->n_rows;
    return CLV_OK;
}

static clv_status sift_nodes(sieve *s, const clv_shard_list *list, clv_shard_list *to,
                             clv_error *err)
{
    to->nodes = CLV_NEW_ARRAY(s->arena, clv_shard_node, list->n_nodes);
    if (!to->nodes)
        return clv_fail_nomem(err, "shards");
    for (int32_t i = 0; i < list->n_nodes; i++) {
        const clv_shard_node *node = &list->nodes[i];
        if (!node_passes(s, node->node))
            continue;
        CLV_TRY(sift_rows(s, node, to, &to->nodes[to->n_nodes], err));
        if (to->nodes[to->n_nodes].n_rows == 0 && !node->wrong && s->filter->tensor)
            continue;
        to->n_wrong += node->wrong != NULL;
        to->n_nodes++;
    }
    return CLV_OK;
}

static clv_status sift_remarks(sieve *s, clv_shard_remark **at, int32_t *n, clv_error *err)
{
    clv_shard_remark *kept = CLV_NEW_ARRAY(s->arena, clv_shard_remark, *n);
    int32_t n_kept = 0;
    if (!kept)
        return clv_fail_nomem(err, "shards");
    for (int32_t i = 0; i < *n; i++)
        if (site_passes(s, &(*at)[i].at))
            kept[n_kept++] = (*at)[i];
    *at = kept;
    *n = n_kept;
    return CLV_OK;
}

static clv_status sift_what_follows(sieve *s, const clv_shard_list *list, clv_shard_list *to,
                                    clv_error *err)
{
    to->inferred = CLV_NEW_ARRAY(s->arena, clv_shard_inferred, list->n_inferred);
    to->moves = CLV_NEW_ARRAY(s->arena, clv_shard_move, list->n_moves);
    if (!to->inferred || !to->moves)
        return clv_fail_nomem(err, "shards");
    to->n_inferred = to->n_moves = 0;
    for (int32_t i = 0; i < list->n_inferred; i++)
        if (site_passes(s, &list->inferred[i].at))
            to->inferred[to->n_inferred++] = list->inferred[i];
    for (int32_t i = 0; i < list->n_moves; i++)
        if (site_passes(s, &list->moves[i].at))
            to->moves[to->n_moves++] = list->moves[i];
    CLV_TRY(sift_remarks(s, &to->unchecked, &to->n_unchecked, err));
    CLV_TRY(sift_remarks(s, &to->entries, &to->n_entries, err));
    return sift_remarks(s, &to->unsupported, &to->n_unsupported, err);
}

/* The nearest of the first names, of nodes or of tensors; NULL. */
static const char *nearest(const clv_shard_list *list, const char *pattern, bool tensors,
                           clv_arena *arena)
{
    const char **names = CLV_NEW_ARRAY(arena, const char *, NAMES_LOOKED_AT);
    int n = 0;
    for (int32_t i = 0; names && i < list->n_nodes && n < NAMES_LOOKED_AT; i++) {
        const clv_shard_node *node = &list->nodes[i];
        if (!tensors)
            names[n++] = clv_arena_str(arena, node->node);
        for (int32_t k = 0; tensors && k < node->n_rows && n < NAMES_LOOKED_AT; k++)
            names[n++] = node->rows[k].tensor;
        if (n > 0 && !names[n - 1])
            return NULL;
    }
    return names ? clv_suggest(pattern, names, n) : NULL;
}

static clv_status no_match(const clv_shard_list *list, const char *pattern, bool tensors,
                           clv_arena *arena, clv_error *err)
{
    const char *near = nearest(list, pattern, tensors, arena);
    return clv_fail(err, CLV_EUSAGE, "'%.100s' matches no %s of the annotations%s%.100s%s", pattern,
                    tensors ? "tensor" : "node", near ? ", did you mean '" : "", near ? near : "",
                    near ? "'?" : "");
}

clv_status clv_shard_list_filter(const clv_shard_list *list, const clv_shard_filter *filter,
                                 clv_arena *arena, clv_shard_list *ret, clv_error *err)
{
    sieve s = { .filter = filter, .arena = arena };
    clv_shard_list to = *list;
    to.n_nodes = to.n_rows = to.n_uneven = to.n_open = 0;
    to.n_wrong = list->n_faults;
    CLV_TRY(sift_nodes(&s, list, &to, err));
    CLV_TRY(sift_what_follows(&s, list, &to, err));
    if (!s.node_seen)
        return no_match(list, filter->node, false, arena, err);
    if (!s.tensor_seen && filter->tensor && filter->node)
        return clv_fail(err, CLV_EUSAGE, "no tensor '%.100s' is annotated at a node '%.100s'",
                        filter->tensor, filter->node);
    if (!s.tensor_seen && filter->tensor)
        return no_match(list, filter->tensor, true, arena, err);
    *ret = to;
    return CLV_OK;
}
