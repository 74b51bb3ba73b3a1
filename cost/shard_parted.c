#include "cost/shard_parted.h"

#include <stdlib.h>

#include "base/compare.h"
#include "cost/shard_places.h"

#define WHAT "what a pipeline saves"
#define NONE (-1)

/* The most of each row and column of a matrix, and of all. */
typedef struct {
    const int64_t *of[2]; /* by choice of its first and second node; NULL: not looked at yet */
    int64_t most;
} extremes;

typedef struct {
    const clv_shard_problem *s;
    const clv_intra_op_problem *p;
    const clv_shard_path *path;
    clv_shard_places at;
    extremes *matrix;   /* by matrix */
    clv_int128 *change; /* by choice: what it costs at worst, with its edges */
    clv_int128 *window; /* by window: what is saved where it is parted */
    clv_int128 outside; /* what is saved in any case */
    clv_arena *arena;
} saver;

/* -- costs -- */

static clv_status find_extremes(saver *v, int32_t edge, extremes **ret, clv_error *err)
{
    const clv_intra_op_problem *p = v->p;
    const int32_t *end = p->end + p->first_end[edge];
    int32_t n = clv_intra_op_n_choices(p, end[0]), m = clv_intra_op_n_choices(p, end[1]);
    extremes *x = *ret = &v->matrix[p->matrix_of[edge]];
    if (x->of[0])
        return CLV_OK;
    int64_t *row = CLV_NEW_ARRAY(v->arena, int64_t, n),
            *column = CLV_NEW_ARRAY(v->arena, int64_t, m);
    if (!row || !column)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < m; j++) {
            int64_t ns = p->entry[p->first_entry[p->matrix_of[edge]] + (int64_t)i * m + j];
            row[i] = ns > row[i] ? ns : row[i];
            column[j] = ns > column[j] ? ns : column[j];
            x->most = ns > x->most ? ns : x->most;
        }
    x->of[0] = row;
    x->of[1] = column;
    return CLV_OK;
}

/* In which windows it is lost: those between its ends, both kept or in another window; where one
 * of its ends is changed it counts there. */
static void add_lost(saver *v, int32_t a, int32_t b, int64_t most)
{
    int32_t low = v->at.place[a] < v->at.place[b] ? v->at.place[a] : v->at.place[b];
    int32_t high = v->at.place[a] + v->at.place[b] - low;
    int32_t first = (low + 1) / 2, last = high / 2;
    if (low == high && low % 2 == 1) { /* at a cut: by either window */
        first--;
        last++;
    }
    for (int32_t w = first < 0 ? 0 : first; w <= last && w < v->path->n_windows; w++) {
        bool changed = (!v->at.kept[a] && v->at.place[a] == clv_place_of_window(w)) ||
                       (!v->at.kept[b] && v->at.place[b] == clv_place_of_window(w));
        v->window[w] += changed ? 0 : most;
    }
}

static clv_status add_edges(saver *v, clv_error *err)
{
    const clv_intra_op_problem *p = v->p;
    for (int32_t e = 0; e < p->n_edges; e++) {
        const int32_t *end = p->end + p->first_end[e];
        extremes *x;
        CLV_TRY(find_extremes(v, e, &x, err));
        for (int32_t k = 0; k < 2; k++)
            for (int32_t c = p->first_choice[end[k]]; c < p->first_choice[end[k] + 1]; c++)
                v->change[c] += x->of[k][c - p->first_choice[end[k]]];
        if (v->at.place[end[0]] != CLV_PLACE_OUTSIDE && v->at.place[end[1]] != CLV_PLACE_OUTSIDE &&
            v->at.edge[end[0]] != e && v->at.edge[end[1]] != e)
            add_lost(v, end[0], end[1], x->most);
    }
    return CLV_OK;
}

/* Does a choice hold no more memory than any other of its node, at any moment? */
static bool is_lightest(const clv_intra_op_problem *p, int32_t node, int32_t choice)
{
    int32_t n = clv_intra_op_n_choices(p, node);
    for (int32_t s = p->first_span[node]; s < p->first_span[node + 1]; s++)
        for (int32_t c = 0; c < n; c++)
            if (p->usage[p->span_usage[s] + c] < p->usage[p->span_usage[s] + choice])
                return false;
    return true;
}

/* What is saved with each node that is not kept; false: that is not known of one. */
static bool add_nodes(saver *v)
{
    const clv_intra_op_problem *p = v->p;
    for (int32_t n = 0; n < p->n_nodes; n++) {
        clv_int128 least = NONE;
        for (int32_t c = p->first_choice[n]; !v->at.kept[n] && c < p->first_choice[n + 1]; c++) {
            clv_int128 ns = v->change[c] + p->cost[c];
            if ((least == NONE || ns < least) &&
                (p->usage_limit < 0 || is_lightest(p, n, c - p->first_choice[n])))
                least = ns;
        }
        if (!v->at.kept[n] && least == NONE)
            return false;
        if (!v->at.kept[n] && v->at.place[n] == CLV_PLACE_OUTSIDE)
            v->outside += least;
        else if (!v->at.kept[n])
            v->window[v->at.place[n] / 2] += least;
    }
    return true;
}

/* -- all -- */

static clv_status sum_up(saver *v, int32_t stages, clv_int128 *ret, clv_error *err)
{
    int32_t n = v->path->n_windows;
    CLV_TRY(clv_shard_places_find(v->s, v->path, v->arena, &v->at, err));
    CLV_TRY(add_edges(v, err));
    *ret = NONE;
    if (!add_nodes(v))
        return CLV_OK;
    qsort(v->window, (size_t)n, sizeof *v->window, clv_compare_int128_down);
    clv_int128 sum = v->outside;
    for (int32_t w = 0; w < n && w < stages - 1; w++)
        sum += v->window[w];
    *ret = sum < CLV_INTRA_OP_NEVER ? sum : NONE;
    return CLV_OK;
}

clv_status clv_shard_parted_ns(const clv_shard_problem *s, const clv_shard_path *path,
                               int32_t stages, clv_arena *arena, clv_int128 *ret, clv_error *err)
{
    const clv_intra_op_problem *p = s->problem;
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    if (!scratch)
        return clv_fail_nomem(err, WHAT);
    saver v = { .s = s,
                .p = p,
                .path = path,
                .matrix = CLV_NEW_ARRAY(scratch, extremes, p->n_matrices),
                .change = CLV_NEW_ARRAY(scratch, clv_int128, p->first_choice[p->n_nodes]),
                .window = CLV_NEW_ARRAY(scratch, clv_int128, path->n_windows),
                .arena = scratch };
    bool ok = v.matrix && v.change && v.window;
    clv_status status = ok ? sum_up(&v, stages, ret, err) : clv_fail_nomem(err, WHAT);
    clv_arena_free(scratch);
    return status;
}
