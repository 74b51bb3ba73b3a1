#include "verify/elem_sets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHAT "a proof"

clv_status clv_elem_sets_init(clv_elem_sets *all, clv_arena *arena, clv_error *err)
{
    *all = (clv_elem_sets){ .arena = arena, .room = CLV_ELEM_RUNS_MAX };
    CLV_TRY(clv_map_init(&all->by_runs, arena, 64, err));
    return clv_map_init(&all->by_pair, arena, 64, err);
}

static clv_status add_run(clv_elem_sets *all, int32_t *n, int64_t from, int64_t to, clv_error *err)
{
    if (*n > 0 && all->scratch[*n - 1].to == from) {
        all->scratch[*n - 1].to = to;
        return CLV_OK;
    }
    if (*n >= all->room)
        return clv_fail(err, CLV_ELIMIT,
                        "the parts of a tensor are scattered over more than %" PRId64 " runs",
                        CLV_ELEM_RUNS_MAX);
    if (!CLV_PUSH_ROOM(all->arena, all->scratch, *n, all->cap_scratch))
        return clv_fail_nomem(err, WHAT);
    all->scratch[(*n)++] = (clv_elem_run){ from, to };
    return CLV_OK;
}

/* The number of the n runs in scratch. */
static clv_status intern(clv_elem_sets *all, int32_t n, int32_t *ret, clv_error *err)
{
    const clv_elem_run none = { 0, 0 };
    clv_elem_set set = { NULL, n, 0 };
    CLV_TRY(clv_map_put_key(&all->by_runs, n ? all->scratch : &none,
                            (size_t)(n ? n : 1) * sizeof none, all->n, ret, err));
    if (*ret < all->n)
        return CLV_OK;
    clv_elem_run *copy = CLV_NEW_ARRAY(all->arena, clv_elem_run, n);
    if (!copy || !CLV_PUSH_ROOM(all->arena, all->at, all->n, all->cap))
        return clv_fail_nomem(err, WHAT);
    if (n)
        memcpy(copy, all->scratch, (size_t)n * sizeof *copy);
    for (int32_t i = 0; i < n; i++)
        set.count += copy[i].to - copy[i].from;
    set.run = copy;
    all->room -= n;
    all->at[all->n++] = set;
    return CLV_OK;
}

/* The set in scratch, of *io runs and numbers below size, becomes that with one digit more in
 * front.
 */
static clv_status prepend_digit(clv_elem_sets *all, const clv_digit *digit, int64_t size,
                                int32_t *io, clv_error *err)
{
    int32_t n = *io, made = 0;
    if (n == 1 && all->scratch[0].from == 0 && all->scratch[0].to == size) {
        all->scratch[0] = (clv_elem_run){ digit->low * size, digit->high * size };
        *io = digit->low < digit->high;
        return CLV_OK;
    }
    if (digit->low >= digit->high || n == 0) {
        *io = 0;
        return CLV_OK;
    }
    clv_elem_run *behind = CLV_NEW_ARRAY(all->arena, clv_elem_run, n);
    if (!behind)
        return clv_fail_nomem(err, WHAT);
    memcpy(behind, all->scratch, (size_t)n * sizeof *behind);
    for (int64_t k = digit->low; k < digit->high; k++)
        for (int32_t i = 0; i < n; i++)
            CLV_TRY(add_run(all, &made, k * size + behind[i].from, k * size + behind[i].to, err));
    *io = made;
    return CLV_OK;
}

clv_status clv_elem_sets_of_digits(clv_elem_sets *all, const clv_digit *digit, int32_t n,
                                   int32_t *ret, clv_error *err)
{
    int64_t size = 1;
    int32_t runs = 0;
    CLV_TRY(add_run(all, &runs, 0, 1, err));
    for (int32_t i = n - 1; i >= 0; i--) {
        CLV_TRY(prepend_digit(all, &digit[i], size, &runs, err));
        size *= digit[i].size;
    }
    return intern(all, runs, ret, err);
}

static int64_t count_common(const clv_elem_set *a, const clv_elem_set *b)
{
    int64_t sum = 0;
    for (int32_t i = 0, j = 0; i < a->n && j < b->n;) {
        int64_t from = a->run[i].from > b->run[j].from ? a->run[i].from : b->run[j].from;
        int64_t to = a->run[i].to < b->run[j].to ? a->run[i].to : b->run[j].to;
        sum += to > from ? to - from : 0;
        if (a->run[i].to < b->run[j].to)
            i++;
        else
            j++;
    }
    return sum;
}

clv_status clv_elem_sets_common(clv_elem_sets *all, int32_t a, int32_t b, int64_t *ret,
                                clv_error *err)
{
    int32_t key[2] = { a < b ? a : b, a < b ? b : a }, at;
    if (a == b) {
        *ret = all->at[a].count;
        return CLV_OK;
    }
    CLV_TRY(clv_map_put_key(&all->by_pair, key, sizeof key, all->n_common, &at, err));
    if (at == all->n_common) {
        if (!CLV_PUSH_ROOM(all->arena, all->common, all->n_common, all->cap_common))
            return clv_fail_nomem(err, WHAT);
        all->common[all->n_common++] = count_common(&all->at[a], &all->at[b]);
    }
    *ret = all->common[at];
    return CLV_OK;
}

static int by_start(const void *a, const void *b)
{
    const clv_elem_run *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

clv_status clv_elem_sets_cover(clv_elem_sets *all, const int32_t *set, int32_t n, int64_t size,
                               clv_coverage *ret, clv_error *err)
{
    clv_mark mark = clv_arena_mark(all->arena);
    int64_t total = 0, at = 0, i = 0;
    for (int32_t k = 0; k < n; k++)
        total += all->at[set[k]].n;
    clv_elem_run *run = CLV_NEW_ARRAY(all->arena, clv_elem_run, total);
    if (!run)
        return clv_fail_nomem(err, WHAT);
    total = 0;
    for (int32_t k = 0; k < n; k++) {
        const clv_elem_set *one = &all->at[set[k]];
        if (one->n)
            memcpy(run + total, one->run, (size_t)one->n * sizeof *run);
        total += one->n;
    }
    qsort(run, (size_t)total, sizeof *run, by_start);
    for (; i < total && run[i].from == at; i++)
        at = run[i].to;
    ret->holds = i == total && at == size;
    ret->is_twice = i < total && run[i].from < at;
    ret->at = ret->is_twice ? run[i].from : at;
    clv_arena_rewind(all->arena, mark);
    return CLV_OK;
}

const char *clv_elem_set_show(char buf[static CLV_ELEM_SET_TEXT], const clv_elem_set *set)
{
    size_t n = 0;
    buf[0] = '\0';
    for (int32_t i = 0; i < set->n && n < CLV_ELEM_SET_TEXT; i++) {
        const clv_elem_run *one = &set->run[i];
        n = one->to - one->from == 1
                ? clv_add_words(buf, CLV_ELEM_SET_TEXT, n, "%s%" PRId64, i ? ", " : "", one->from)
                : clv_add_words(buf, CLV_ELEM_SET_TEXT, n, "%s%" PRId64 " to %" PRId64,
                                i ? ", " : "", one->from, one->to - 1);
    }
    if (set->n == 0)
        snprintf(buf, CLV_ELEM_SET_TEXT, "none");
    return buf;
}
