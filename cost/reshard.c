#include "cost/reshard.h"

#include <stdio.h>

#include "base/units.h"
#include "notation/layout_text.h"

/* Steps from layout i are at[start[i]] to at[start[i + 1] - 1]. A row holds what Dijkstra's
 * algorithm finds from one layout: time, then the number of steps, then the smaller layout and step
 * number settle what is taken, so a chain depends on nothing else.
 *
 * Layouts here are partial by a sum; what they are partial by in truth does not change times. Only
 * a chain between two different reductions has to pass a layout that is not partial at all: then
 * the second half starts from all those at once. */

typedef struct {
    int64_t ns;
    int32_t steps;  /* of the way */
    int32_t before; /* the layout before this one; -1 at the start */
    int32_t step;   /* the step from there */
} label;

struct clv_reshard {
    const clv_comms *comms;
    const clv_layouts *all;
    clv_arena *arena;
    int32_t *start;
    clv_step_list steps;
    int64_t *step_ns;
    bool *partial;     /* by layout */
    const label **row; /* by layout; NULL: not asked yet */
    int32_t *heap;     /* layouts, nearest first */
    int32_t *place;    /* in the heap; -1: not in it */
    int32_t n_heap;
};

/* -- times of steps -- */

static const clv_curve *curve_of(const clv_comms *comms, const clv_layout *from,
                                 const clv_layout *to, clv_step_kind kind, uint32_t axes)
{
    int32_t a[CLV_MESH_AXES_MAX], b[CLV_MESH_AXES_MAX];

    switch (kind) {
    case CLV_STEP_ALL_GATHER:
        return &comms->curve[axes][CLV_ALL_GATHER];
    case CLV_STEP_REDUCE_SCATTER:
        return &comms->curve[axes][CLV_REDUCE_SCATTER];
    case CLV_STEP_ALL_REDUCE:
        return &comms->curve[axes][CLV_ALL_REDUCE];
    case CLV_STEP_ALL_TO_ALL:
        return &comms->curve[axes][CLV_ALL_TO_ALL];
    case CLV_STEP_PERMUTE:
        clv_layout_order(from, a);
        clv_layout_order(to, b);
        return &comms->permute[clv_order_index(a)][clv_order_index(b)];
    case CLV_STEP_SLICE:
    case CLV_STEP_NEUTRAL:
    case CLV_N_STEPS:
        break;
    }
    return &comms->curve[0][0]; /* no lines: nothing is sent */
}

static clv_status make_steps(clv_reshard *r, clv_error *err)
{
    for (int32_t i = 0; i < r->all->n; i++) {
        r->start[i] = r->steps.n;
        CLV_TRY(clv_layouts_steps(r->all, i, r->arena, &r->steps, err));
    }
    r->start[r->all->n] = r->steps.n;
    r->step_ns = CLV_NEW_ARRAY(r->arena, int64_t, r->steps.n);
    if (!r->step_ns)
        return clv_fail_nomem(err, "the steps between layouts");
    for (int32_t i = 0; i < r->all->n; i++)
        for (int32_t k = r->start[i]; k < r->start[i + 1]; k++) {
            const clv_step_to *s = &r->steps.at[k];
            const clv_layout *from = &r->all->at[i], *to = &r->all->at[s->to];
            r->step_ns[k] = clv_curve_ns(curve_of(r->comms, from, to, s->kind, s->axes), s->bytes);
        }
    return CLV_OK;
}

clv_status clv_reshard_make(const clv_comms *comms, const clv_reshard_tensor *tensor,
                            clv_arena *arena, clv_reshard **ret, clv_error *err)
{
    clv_reshard *r = CLV_NEW(arena, clv_reshard);
    if (!r)
        return clv_fail_nomem(err, "the layouts of a tensor");
    *r = (clv_reshard){ .comms = comms, .arena = arena };
    CLV_TRY(clv_layouts_make(comms->mesh, tensor->split,
                             (clv_slots){ tensor->more, tensor->n_more }, arena, &r->all, err));
    size_t n = (size_t)r->all->n;
    r->start = CLV_NEW_ARRAY(arena, int32_t, n + 1);
    r->partial = CLV_NEW_ARRAY(arena, bool, n);
    r->row = clv_arena_take_array(arena, n, sizeof *r->row);
    r->heap = CLV_NEW_ARRAY(arena, int32_t, n);
    r->place = CLV_NEW_ARRAY(arena, int32_t, n);
    if (!r->start || !r->partial || !r->row || !r->heap || !r->place)
        return clv_fail_nomem(err, "the layouts of a tensor");
    for (int32_t i = 0; i < r->all->n; i++)
        r->partial[i] = clv_layout_partial_axes(&r->all->at[i]) != 0;
    CLV_TRY(make_steps(r, err));
    *ret = r;
    return CLV_OK;
}

const clv_layouts *clv_reshard_layouts(const clv_reshard *r) { return r->all; }
const clv_comms *clv_reshard_comms(const clv_reshard *r) { return r->comms; }

/* -- shortest paths -- */

static bool nearer(const label *row, int32_t a, int32_t b)
{
    if (row[a].ns != row[b].ns)
        return row[a].ns < row[b].ns;
    if (row[a].steps != row[b].steps)
        return row[a].steps < row[b].steps;
    return a < b;
}

static void heap_set(clv_reshard *r, int32_t i, int32_t layout)
{
    r->heap[i] = layout;
    r->place[layout] = i;
}

static void sift_up(clv_reshard *r, const label *row, int32_t layout)
{
    int32_t i = r->place[layout] >= 0 ? r->place[layout] : r->n_heap++;
    for (; i > 0 && nearer(row, layout, r->heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap_set(r, i, r->heap[(i - 1) / 2]);
    heap_set(r, i, layout);
}

static int32_t heap_pop(clv_reshard *r, const label *row)
{
    int32_t top = r->heap[0], last = r->heap[--r->n_heap], i = 0;
    for (int32_t k; (k = 2 * i + 1) < r->n_heap; i = k) {
        if (k + 1 < r->n_heap && nearer(row, r->heap[k + 1], r->heap[k]))
            k++;
        if (!nearer(row, r->heap[k], last))
            break;
        heap_set(r, i, r->heap[k]);
    }
    if (r->n_heap > 0)
        heap_set(r, i, last);
    r->place[top] = -1;
    return top;
}

/* Dijkstra's algorithm (1959) with a binary heap, from the layouts that row has a time below
 * INT64_MAX for, with what they have already. */
static void find_shortest(clv_reshard *r, label *row)
{
    r->n_heap = 0;
    for (int32_t i = 0; i < r->all->n; i++)
        r->place[i] = -1;
    for (int32_t i = 0; i < r->all->n; i++)
        if (row[i].ns < INT64_MAX)
            sift_up(r, row, i);
    while (r->n_heap > 0) {
        int32_t at = heap_pop(r, row);
        for (int32_t k = r->start[at]; k < r->start[at + 1]; k++) {
            int32_t to = r->steps.at[k].to;
            int64_t ns = clv_comm_add_ns(row[at].ns, r->step_ns[k]);
            if (ns > row[to].ns || (ns == row[to].ns && row[at].steps + 1 >= row[to].steps))
                continue;
            row[to] = (label){ ns, row[at].steps + 1, at, k };
            sift_up(r, row, to);
        }
    }
}

static clv_status new_row(const clv_reshard *r, clv_arena *arena, label **ret, clv_error *err)
{
    label *row = CLV_NEW_ARRAY(arena, label, r->all->n);
    if (!row)
        return clv_fail_nomem(err, "the times between layouts");
    for (int32_t i = 0; i < r->all->n; i++)
        row[i] = (label){ INT64_MAX, 0, -1, -1 };
    *ret = row;
    return CLV_OK;
}

static clv_status row_from(clv_reshard *r, int32_t from, clv_error *err)
{
    label *row = NULL;
    if (r->row[from])
        return CLV_OK;
    CLV_TRY(new_row(r, r->arena, &row, err));
    row[from] = (label){ 0, 0, -1, -1 };
    find_shortest(r, row);
    r->row[from] = row;
    return CLV_OK;
}

/* By way of layouts that are nowhere partial; first becomes what leads to those. */
static clv_status row_through_whole(clv_reshard *r, int32_t from, clv_arena *arena, label **ret,
                                    clv_error *err)
{
    label *row = NULL;
    CLV_TRY(row_from(r, from, err));
    CLV_TRY(new_row(r, arena, &row, err));
    for (int32_t i = 0; i < r->all->n; i++)
        if (!r->partial[i])
            row[i] = (label){ r->row[from][i].ns, r->row[from][i].steps, -1, -1 };
    find_shortest(r, row);
    *ret = row;
    return CLV_OK;
}

/* -- between two layouts -- */

/* Of a layout that is `plain` where it is written so, which may have fewer partial axes. */
static clv_reduce reduce_of(const clv_layout *layout, const clv_layout *plain)
{
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (plain->dim[a] == CLV_AXIS_PARTIAL)
            return (clv_reduce)layout->reduce[a];
    return CLV_REDUCE_NONE;
}

clv_status clv_reshard_find_end(const clv_reshard *r, const clv_layout *layout,
                                clv_reshard_end *ret, clv_error *err)
{
    char text[CLV_LAYOUT_TEXT];

    *ret = (clv_reshard_end){ .at = -1, .reduce = CLV_REDUCE_NONE };
    CLV_TRY(clv_layout_check(layout, r->all->mesh, r->all->tensor.rank, &r->all->tensor, err));
    ret->at = clv_layouts_find(r->all, layout);
    if (ret->at < 0)
        return clv_fail(err, CLV_EUSAGE, "layout %s splits a factor that is not among those known",
                        clv_layout_show(text, layout, r->all->mesh, r->all->tensor.rank));
    ret->reduce = reduce_of(layout, &r->all->at[ret->at]);
    return CLV_OK;
}

static bool are_apart(clv_reduce a, clv_reduce b)
{
    return a != CLV_REDUCE_NONE && b != CLV_REDUCE_NONE && a != b;
}

clv_status clv_reshard_find_ends(clv_reshard *r, const clv_layout *from, const clv_layout *to,
                                 clv_reshard_ends *ret, clv_error *err)
{
    clv_reshard_end before, after;
    *ret = (clv_reshard_ends){ .from = -1 };
    CLV_TRY(clv_reshard_find_end(r, from, &before, err));
    CLV_TRY(clv_reshard_find_end(r, to, &after, err));
    *ret = (clv_reshard_ends){ before.at, after.at, before.reduce, after.reduce,
                               are_apart(before.reduce, after.reduce) };
    return CLV_OK;
}

clv_status clv_reshard_ends_ns(clv_reshard *r, clv_reshard_end from, clv_reshard_end to,
                               int64_t *ret, clv_error *err)
{
    label *row = NULL;

    CLV_TRY(row_from(r, from.at, err));
    *ret = r->row[from.at][to.at].ns;
    if (!are_apart(from.reduce, to.reduce))
        return CLV_OK;
    clv_mark mark = clv_arena_mark(r->arena);
    CLV_TRY(row_through_whole(r, from.at, r->arena, &row, err));
    *ret = row[to.at].ns;
    clv_arena_rewind(r->arena, mark);
    return CLV_OK;
}

clv_status clv_reshard_ns(clv_reshard *r, const clv_layout *from, const clv_layout *to,
                          int64_t *ret, clv_error *err)
{
    clv_reshard_end before, after;

    CLV_TRY(clv_reshard_find_end(r, from, &before, err));
    CLV_TRY(clv_reshard_find_end(r, to, &after, err));
    return clv_reshard_ends_ns(r, before, after, ret, err);
}

static void describe_step(const clv_reshard *r, int32_t before, int32_t k, clv_reduce reduce,
                          clv_step *ret)
{
    const clv_step_to *s = &r->steps.at[k];
    const clv_line *line = clv_curve_line(
        curve_of(r->comms, &r->all->at[before], &r->all->at[s->to], s->kind, s->axes), s->bytes);

    *ret = (clv_step){ s->kind,
                       s->axes,
                       r->all->at[s->to],
                       s->bytes,
                       line ? s->sent : 0,
                       r->all->bytes[s->to],
                       r->step_ns[k],
                       line ? line->by : CLV_BY_DIRECT };
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (ret->to.dim[a] == CLV_AXIS_PARTIAL)
            ret->to.reduce[a] = (int8_t)reduce;
}

static int64_t sum(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

/* Writes the steps that lead to layout `to` into steps[0..n - 1], the last at the end; what is left
 * over is where the row began. */
static int32_t trace(const clv_reshard *r, const label *row, int32_t to, clv_reduce reduce,
                     clv_step *steps, int32_t *n)
{
    for (; row[to].before >= 0; to = row[to].before)
        describe_step(r, row[to].before, row[to].step, reduce, &steps[--*n]);
    return to;
}

clv_status clv_reshard_chain(clv_reshard *r, const clv_layout *from, const clv_layout *to,
                             clv_arena *arena, clv_chain *ret, clv_error *err)
{
    clv_reshard_ends ends;
    label *second = NULL;

    CLV_TRY(clv_reshard_find_ends(r, from, to, &ends, err));
    CLV_TRY(row_from(r, ends.from, err));
    if (ends.apart)
        CLV_TRY(row_through_whole(r, ends.from, arena, &second, err));
    const label *end = second ? &second[ends.to] : &r->row[ends.from][ends.to];
    clv_step *steps = CLV_NEW_ARRAY(arena, clv_step, end->steps);
    if (!steps)
        return clv_fail_nomem(err, "the steps between layouts");
    clv_chain chain = { .steps = steps, .n = end->steps, .ns = end->ns };
    int32_t left = chain.n, at = ends.to;
    if (second)
        at = trace(r, second, at, ends.after, steps, &left);
    trace(r, r->row[ends.from], at, ends.before != CLV_REDUCE_NONE ? ends.before : ends.after,
          steps, &left);
    chain.peak = r->all->bytes[ends.from];
    for (int32_t i = 0; i < chain.n; i++) {
        int64_t before = i > 0 ? steps[i - 1].held : r->all->bytes[ends.from];
        int64_t both = sum(before, steps[i].held);
        chain.sent = sum(chain.sent, steps[i].sent);
        chain.peak = both > chain.peak ? both : chain.peak;
    }
    *ret = chain;
    return CLV_OK;
}

/* -- text -- */
