#include "weights/weight_layout.h"

#include <stdlib.h>

#include "weights/box_cover.h"

clv_status clv_weight_list_of(const clv_model *model, clv_arena *arena, clv_weight_list *ret,
                              clv_error *err)
{
    const clv_graph *g = model->main;
    clv_weight *at = CLV_NEW_ARRAY(arena, clv_weight, g->n_weights);
    if (!at)
        return clv_fail_nomem(err, "the weights of a model");
    for (int32_t i = 0; i < g->n_weights; i++) {
        const clv_const *w = &g->weights[i];
        at[i] = (clv_weight){ w->name, w->dtype, w->rank, w->dims, w->elems, w->bytes };
    }
    *ret = (clv_weight_list){ at, g->n_weights };
    return CLV_OK;
}

/* Shards by weight: a counting sort, so that they keep their order. */
static clv_status by_weight(const clv_weight_layout *t, int32_t n_weights, clv_arena *arena,
                            int32_t **ret_first, const clv_weight_shard ***ret, clv_error *err)
{
    int32_t *first = CLV_NEW_ARRAY(arena, int32_t, n_weights + 1);
    int32_t *next = CLV_NEW_ARRAY(arena, int32_t, n_weights);
    const clv_weight_shard **at = CLV_NEW_ARRAY(arena, const clv_weight_shard *, t->n_shards);
    if (!first || !next || !at)
        return clv_fail_nomem(err, "a check of shards");
    for (int32_t i = 0; i < t->n_shards; i++)
        first[t->shards[i].weight + 1]++;
    for (int32_t w = 0; w < n_weights; w++) {
        first[w + 1] += first[w];
        next[w] = first[w];
    }
    for (int32_t i = 0; i < t->n_shards; i++)
        at[next[t->shards[i].weight]++] = &t->shards[i];
    *ret_first = first;
    *ret = at;
    return CLV_OK;
}

/* The shards of one weight. */
typedef struct {
    const clv_weight_layout *layout;
    const clv_weight *w;
    const clv_weight_shard *const *at;
    int32_t n;
} shards_of;

static clv_status check_shard(const shards_of *s, int32_t i, clv_arena *arena, clv_error *err)
{
    clv_mark mark = clv_arena_mark(arena);
    const clv_weight *w = s->w;
    const char *what =
        clv_arena_printf(arena, "weight '%.*s', shard %d on device '%s'", CLV_STR_ARG(w->name), i,
                         s->layout->devices[s->at[i]->device]);
    if (!what)
        return clv_fail_nomem(err, "a check of shards");
    clv_status status = clv_dtype_bits(w->dtype) == 0
                            ? clv_fail(err, CLV_EFORMAT, "%s: elements of type %s cannot be cut",
                                       what, clv_dtype_name(w->dtype))
                            : clv_box_check(&s->at[i]->box, w->elems, what, err);
    clv_arena_rewind(arena, mark);
    return status;
}

typedef struct {
    int32_t group, device;
} holder;

static int by_group(const void *a, const void *b)
{
    const holder *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->device > y->device) - (x->device < y->device);
}

/* No device has two copies of a part; empty parts are nothing. */
static clv_status check_once(const shards_of *s, const int32_t *group_of, clv_arena *arena,
                             clv_error *err)
{
    int32_t n = 0;
    holder *holders = CLV_NEW_ARRAY(arena, holder, s->n);
    if (!holders)
        return clv_fail_nomem(err, "a check of shards");
    for (int32_t i = 0; i < s->n; i++)
        if (clv_box_elems(&s->at[i]->box) > 0)
            holders[n++] = (holder){ group_of[i], s->at[i]->device };
    qsort(holders, (size_t)n, sizeof *holders, by_group);
    for (int32_t i = 1; i < n; i++)
        if (by_group(&holders[i - 1], &holders[i]) == 0)
            return clv_fail(err, CLV_EFORMAT,
                            "weight '%.*s': device '%s' has the same part twice, expected once",
                            CLV_STR_ARG(s->w->name), s->layout->devices[holders[i].device]);
    return CLV_OK;
}

static clv_status check_weight(const shards_of *s, clv_arena *arena, clv_error *err)
{
    const clv_box **all = CLV_NEW_ARRAY(arena, const clv_box *, s->n);
    int32_t *group_of = CLV_NEW_ARRAY(arena, int32_t, s->n);
    int32_t groups = 0, next = 0;
    if (!all || !group_of)
        return clv_fail_nomem(err, "a check of shards");
    for (int32_t i = 0; i < s->n; i++) {
        CLV_TRY(check_shard(s, i, arena, err));
        all[i] = &s->at[i]->box;
    }
    CLV_TRY(clv_boxes_group(all, s->n, arena, group_of, &groups, err));
    CLV_TRY(check_once(s, group_of, arena, err));
    for (int32_t i = 0; i < s->n; i++) /* the first of each group; groups are numbered by them */
        if (group_of[i] == next)
            all[next++] = &s->at[i]->box;
    const char *what = clv_arena_printf(arena, "weight '%.*s'", CLV_STR_ARG(s->w->name));
    if (!what)
        return clv_fail_nomem(err, "a check of shards");
    return clv_boxes_cover(all, groups, s->w->elems, what, arena, err);
}

static clv_status check_all(const clv_weight_layout *t, const clv_weight_list *weights,
                            clv_arena *arena, clv_error *err)
{
    int32_t *first = NULL;
    const clv_weight_shard **at = NULL;
    CLV_TRY(by_weight(t, weights->n, arena, &first, &at, err));
    for (int32_t w = 0; w < weights->n; w++) {
        clv_mark mark = clv_arena_mark(arena);
        shards_of s = { t, &weights->at[w], at + first[w], first[w + 1] - first[w] };
        if (s.n > 0)
            CLV_TRY(check_weight(&s, arena, err));
        clv_arena_rewind(arena, mark);
    }
    return CLV_OK;
}

clv_status clv_weight_layout_check(const clv_weight_layout *t, const clv_weight_list *weights,
                                   clv_arena *arena, clv_error *err)
{
    clv_mark mark = clv_arena_mark(arena);
    for (int32_t i = 0; i < t->n_shards; i++) {
        const clv_weight_shard *s = &t->shards[i];
        if (s->weight < 0 || s->weight >= weights->n)
            return clv_fail(err, CLV_EFORMAT, "shard %d is of weight %d, but there are only %d", i,
                            s->weight, weights->n);
        if (s->device < 0 || s->device >= t->n_devices)
            return clv_fail(err, CLV_EFORMAT, "shard %d is on device %d, but there are only %d", i,
                            s->device, t->n_devices);
    }
    clv_status status = check_all(t, weights, arena, err);
    clv_arena_rewind(arena, mark);
    return status;
}

clv_status clv_weight_layout_sort(const clv_weight_layout *t, int32_t n_weights, clv_arena *arena,
                                  clv_weight_layout *ret, clv_error *err)
{
    int32_t *first = NULL;
    const clv_weight_shard **at = NULL;
    clv_weight_shard *sorted = CLV_NEW_ARRAY(arena, clv_weight_shard, t->n_shards);
    if (!sorted)
        return clv_fail_nomem(err, "the shards of a model");
    CLV_TRY(by_weight(t, n_weights, arena, &first, &at, err));
    for (int32_t i = 0; i < t->n_shards; i++)
        sorted[i] = *at[i];
    *ret = *t;
    ret->shards = sorted;
    return CLV_OK;
}
