/* presolve.c - see presolve.h. */
#include "solver/intra_op/presolve.h"

#include <stdio.h>
#include <string.h>

#include "solver/intra_op/presolve_arc_consistency.h"
#include "solver/intra_op/presolve_dominated.h"
#include "solver/intra_op/presolve_forced.h"
#include "solver/intra_op/presolve_low_degree.h"
#include "solver/intra_op/presolve_moments.h"
#include "solver/intra_op/presolve_pack.h"
#include "solver/intra_op/presolve_rows.h"

/* More usage than this in all is not added up: sums stay well within 64 bits. */
#define MOST_USAGE (INT64_MAX / 4)
/* A fixpoint is reached long before; each round costs a pass over the problem. */
enum { MOST_ROUNDS = 200 };
/* A dear pass that takes away less than one part in so many has found little. */
enum { LITTLE = 128, LITTLE_ROWS = 16 };

struct clv_presolved {
    const clv_intra_op_problem *p;
    clv_int128 base;
    clv_pre_layer *last;
    int32_t n_nodes; /* of p, without the one that holds what is held whatever is chosen */
    bool finite;
};

typedef struct {
    clv_arena *keep;
    clv_pre_matrices set;
    clv_arena *scratch[2];
    int side; /* w lives in scratch[side] */
    clv_pre_problem w;
    clv_pre_layer *last;
    clv_presolved *made; /* NULL: the problem is infeasible */
} presolve;

/* Every node has a place of its own among the nodes of the whole problem, and keeps it. */
static clv_status find_places(presolve *s, clv_pre_layer *l, int32_t n_new,
                              const clv_pre_fold *fold, clv_error *err)
{
    int32_t *place = NULL;

    if (!s->last) {
        place = CLV_NEW_ARRAY(s->keep, int32_t, l->n_old);
        for (int32_t v = 0; place && v < l->n_old; v++)
            place[v] = v;
    }
    l->place = s->last ? s->last->place_new : place;
    l->place_new = CLV_NEW_ARRAY(s->keep, int32_t, n_new);
    if (!l->place || !l->place_new)
        return clv_fail_nomem(err, "a smaller strategy problem");
    for (int32_t v = 0; v < l->n_old; v++)
        if (fold->into[v] == v && l->into[v] >= 0)
            l->place_new[l->into[v]] = l->place[v];
    return CLV_OK;
}

/* The next problem takes the place of w, where the fold says anything. */
static clv_status pack(presolve *s, const clv_pre_fold *fold, clv_error *err)
{
    clv_pre_problem next;
    int other = !s->side;

    if (!fold->any)
        return CLV_OK;
    clv_arena_free(s->scratch[other]);
    s->scratch[other] = clv_arena_new(clv_arena_alloc(s->keep), 0);
    if (!s->scratch[other])
        return clv_fail_nomem(err, "a smaller strategy problem");
    CLV_TRY(clv_pre_pack(&s->w, fold, s->scratch[other], s->keep, &next, err));
    CLV_TRY(find_places(s, next.layer, next.p.n_nodes, fold, err));
    next.layer->before = s->last;
    s->last = next.layer;
    s->w = next;
    s->side = other;
    return CLV_OK;
}

static bool has_empty_node(const clv_pre_fold *fold, int32_t n)
{
    for (int32_t v = 0; v < n; v++)
        if (!fold->n_new[v])
            return true;
    return false;
}

typedef enum { ARCS, FORCED, ROWS, LEAVES, DOMINATED, PAIRS, N_PASSES } pass;

static clv_status run_pass(presolve *s, pass which, bool *any, clv_error *err)
{
    clv_arena *arena = s->scratch[s->side];
    clv_pre_fold fold = { 0 };
    clv_pre_problem next;

    switch (which) {
    case ARCS:
        CLV_TRY(clv_pre_arc_consistency(&s->w, arena, &fold, err));
        if (has_empty_node(&fold, s->w.p.n_nodes))
            s->w.trouble = CLV_PRE_NEVER;
        break;
    case FORCED:
        CLV_TRY(clv_pre_forced(&s->w, arena, &fold, err));
        break;
    case ROWS:
    case PAIRS:
        CLV_TRY(clv_pre_rows(&s->w, which == PAIRS, arena, &fold, err));
        break;
    case LEAVES:
        CLV_TRY(clv_pre_low_degree(&s->w, arena, s->keep, &next, &fold, err));
        s->w = next;
        break;
    case DOMINATED:
        CLV_TRY(clv_pre_dominated(&s->w, arena, &fold, err));
        break;
    case N_PASSES:
        break;
    }
    *any = fold.any;
    return s->w.trouble == CLV_PRE_FINE ? pack(s, &fold, err) : CLV_OK;
}

/* What a dear pass takes away from. */
static int32_t size_of(const presolve *s, pass which)
{
    return which == PAIRS ? s->w.n_rows : s->w.p.first_choice[s->w.p.n_nodes];
}

static bool usable(presolve *s)
{
    for (int32_t r = 0; s->w.trouble == CLV_PRE_FINE && r < s->w.n_rows; r++)
        if (s->w.held[r] > s->w.p.usage_limit)
            s->w.trouble = CLV_PRE_FULL;
    return s->w.trouble == CLV_PRE_FINE;
}

/* The first pass that finds something is followed by the first of all: the cheap ones come first,
 * and the dear ones see the smaller problem. A dear one that found little rests until
 * another one has found more. */
static clv_status reduce(presolve *s, const bool *alive, clv_error *err)
{
    bool rests[N_PASSES] = { 0 }, any = true;
    clv_pre_fold fold;

    CLV_TRY(clv_pre_matrices_new(&s->set, &s->w.p, clv_arena_alloc(s->keep), err));
    s->w.set = &s->set;
    if (alive)
        CLV_TRY(clv_pre_fold_alive(&s->w, alive, s->scratch[s->side], &fold, err));
    else /* most often few rows stay, of many: the first problem is the largest that is packed */
        CLV_TRY(clv_pre_rows(&s->w, false, s->scratch[s->side], &fold, err));
    if (has_empty_node(&fold, s->w.p.n_nodes)) {
        s->w.trouble = CLV_PRE_NEVER;
        return CLV_OK;
    }
    fold.any = true; /* brings the problem into the form that packing leaves */
    CLV_TRY(pack(s, &fold, err));
    for (int32_t round = 0; any && round < MOST_ROUNDS; round++) {
        any = false;
        for (int i = 0; i < N_PASSES && !any; i++) {
            int32_t size = size_of(s, (pass)i);

            if (!usable(s))
                return CLV_OK;
            if (rests[i])
                continue;
            CLV_TRY(run_pass(s, (pass)i, &any, err));
            if (i < DOMINATED)
                continue;
            rests[i] = size - size_of(s, (pass)i) <= size / (i == PAIRS ? LITTLE_ROWS : LITTLE);
            if (!rests[i])
                rests[DOMINATED] = rests[PAIRS] = false;
        }
    }
    usable(s);
    return CLV_OK;
}

/* n elements of `from`, with room for some more. */
static void *copy(clv_arena *arena, const void *from, int64_t n, int64_t room, size_t size,
                  bool *ok)
{
    void *to = clv_arena_take_array(arena, (size_t)(n + room), size);

    *ok = *ok && to;
    if (to && n)
        memcpy(to, from, (size_t)n * size);
    return to;
}

#define COPY(from, n, room) copy(arena, from, n, room, sizeof *(from), &ok)

/* The matrices in use, numbered in the order in which edges of many nodes, then those of two, first
 * have them. */
static bool copy_matrices(const clv_pre_problem *w, clv_arena *arena, clv_intra_op_problem *q)
{
    const clv_intra_op_problem *p = &w->p;
    int32_t *of = CLV_NEW_ARRAY(arena, int32_t, p->n_edges), n = 0;
    int32_t *number = CLV_NEW_ARRAY(w->set->arena, int32_t, w->set->n); /* from 1 on */
    int64_t *first = CLV_NEW_ARRAY(arena, int64_t, p->n_edges + 1), *entry, total = 0;

    if (!of || !number || !first)
        return false;
    for (int turn = 0; turn < 2; turn++)
        for (int32_t e = 0; e < p->n_edges; e++) {
            int32_t m = p->matrix_of[e];

            if ((p->first_end[e + 1] - p->first_end[e] == 2) != (turn == 1))
                continue;
            if (!number[m]) {
                number[m] = ++n;
                first[n] = total += w->set->of[m].n;
            }
            of[e] = number[m] - 1;
        }
    entry = CLV_NEW_ARRAY(arena, int64_t, total);
    for (int32_t m = 0; entry && m < w->set->n; m++)
        if (number[m])
            memcpy(entry + first[number[m] - 1], w->set->of[m].entry,
                   (size_t)w->set->of[m].n * sizeof *entry);
    q->n_matrices = n;
    q->matrix_of = of;
    q->first_entry = first;
    q->entry = entry;
    return entry != NULL;
}

/* A copy that has, if there are rows, one more node of one choice: what is held anyway. */
static clv_status copy_out(const clv_pre_problem *w, clv_arena *arena, clv_intra_op_problem *q,
                           clv_error *err)
{
    const clv_intra_op_problem *p = &w->p;
    int32_t n = p->n_nodes, n_spans = p->first_span[n], rows = w->n_rows;
    int64_t used = 0; /* the end of usage[] that is in use */
    bool ok = true;

    for (int32_t v = 0; v < n; v++)
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++)
            if (p->span_usage[i] + clv_intra_op_n_choices(p, v) > used)
                used = p->span_usage[i] + clv_intra_op_n_choices(p, v);
    int32_t *first_choice = COPY(p->first_choice, n + 1, 1);
    int32_t *first_span = COPY(p->first_span, n + 1, 1);
    int64_t *lo = COPY(p->span_lo, n_spans, rows), *hi = COPY(p->span_hi, n_spans, rows);
    int64_t *at = COPY(p->span_usage, n_spans, rows), *usage = COPY(p->usage, used, rows);

    *q = *p;
    q->first_choice = first_choice;
    q->cost = COPY(p->cost, p->first_choice[n], 1);
    q->first_span = first_span;
    q->span_lo = lo;
    q->span_hi = hi;
    q->span_usage = at;
    q->usage = usage;
    q->first_end = COPY(p->first_end, p->n_edges + 1, 0);
    q->end = COPY(p->end, p->first_end[p->n_edges], 0);
    if (!ok || !copy_matrices(w, arena, q))
        return clv_fail_nomem(err, "a smaller strategy problem");
    for (int32_t r = 0; r < rows; r++) {
        lo[n_spans + r] = r;
        hi[n_spans + r] = r + 1;
        at[n_spans + r] = used + r;
        usage[used + r] = w->held[r];
    }
    first_choice[n + 1] = first_choice[n] + 1;
    first_span[n + 1] = n_spans + rows;
    q->n_nodes += rows > 0;
    return CLV_OK;
}

/* Largest usages of all spans together are small enough to be added up in 64 bits. */
static bool countable(const clv_intra_op_problem *p)
{
    clv_int128 sum = 0;

    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++) {
            const int64_t *u = p->usage + p->span_usage[i];
            int64_t most = 0;

            for (int32_t c = 0, n = clv_intra_op_n_choices(p, v); c < n; c++)
                most = u[c] > most ? u[c] : most;
            sum += most;
        }
    return sum <= MOST_USAGE;
}

/* Where not even the least of everything is within the limit. */
static bool is_infeasible(const clv_intra_op_problem *p, int32_t n_rows, const int64_t *row_time,
                          clv_int128 *least, char why[static 200])
{
    clv_int128 sum = 0;

    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++) {
            const int64_t *u = p->usage + p->span_usage[i];
            int64_t low = u[0];

            for (int32_t c = 1, n = clv_intra_op_n_choices(p, v); c < n; c++)
                low = u[c] < low ? u[c] : low;
            least[p->span_lo[i]] += low;
            least[p->span_hi[i]] -= low;
        }
    for (int32_t r = 0; r < n_rows; r++) {
        sum += least[r];
        if (sum <= p->usage_limit)
            continue;
        /* As doubles: they may pass 64 bits, and the words are for people. */
        snprintf(why, 200,
                 "at time %lld the smallest usages sum to %.17g, which is %.17g over the limit "
                 "of %lld",
                 (long long)row_time[r], (double)sum, (double)(sum - p->usage_limit),
                 (long long)p->usage_limit);
        return true;
    }
    return false;
}

/* Only the rows: nodes, choices and edges as given. */
static clv_status rows_alone(presolve *s, const clv_pre_problem *given, clv_error *err)
{
    const clv_intra_op_problem *p = &given->p;
    int32_t n = p->first_span[p->n_nodes], rows = 0;
    int32_t *number = CLV_NEW_ARRAY(s->keep, int32_t, given->n_rows + 1);
    int32_t *first = CLV_NEW_ARRAY(s->keep, int32_t, p->n_nodes + 1);
    int64_t *lo = CLV_NEW_ARRAY(s->keep, int64_t, n), *hi = CLV_NEW_ARRAY(s->keep, int64_t, n);
    int64_t *usage = CLV_NEW_ARRAY(s->keep, int64_t, n);
    int32_t kept = 0;
    clv_pre_fold fold;

    if (!number || !first || !lo || !hi || !usage)
        return clv_fail_nomem(err, "a smaller strategy problem");
    CLV_TRY(clv_pre_rows(given, false, s->scratch[s->side], &fold, err));
    for (int32_t r = 0; r < given->n_rows; r++) {
        number[r] = rows;
        rows += fold.row_keep[r];
    }
    number[given->n_rows] = rows;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++) {
            lo[kept] = number[p->span_lo[i]];
            hi[kept] = number[p->span_hi[i]];
            usage[kept] = p->span_usage[i];
            kept += lo[kept] < hi[kept];
        }
        first[v + 1] = kept;
    }
    s->w = *given;
    s->w.p.first_span = first;
    s->w.p.span_lo = lo;
    s->w.p.span_hi = hi;
    s->w.p.span_usage = usage;
    s->last = NULL;
    return CLV_OK;
}

/* finite: solutions with a cost of never may be left out. alive: NULL for all choices. */
static clv_status run(presolve *s, const clv_intra_op_problem *p, bool finite, const bool *alive,
                      char why[static 200], clv_error *err)
{
    clv_pre_problem given = { 0 };
    clv_intra_op_problem *q;
    clv_presolved *made;
    clv_int128 *least;
    int64_t *held;

    CLV_TRY(clv_pre_moments(p, s->keep, &given.p, &given.n_rows, &given.row_time, err));
    least = CLV_NEW_ARRAY(s->keep, clv_int128, given.n_rows + 1);
    given.held = held = CLV_NEW_ARRAY(s->keep, int64_t, given.n_rows);
    if (!least || !held)
        return clv_fail_nomem(err, "the rows of a strategy problem");
    if (is_infeasible(&given.p, given.n_rows, given.row_time, least, why))
        return CLV_OK;
    s->w = given;
    finite = finite && countable(&given.p);
    if (finite)
        CLV_TRY(reduce(s, alive, err));
    if (alive && s->w.trouble != CLV_PRE_FINE && s->w.trouble != CLV_PRE_BIG) {
        snprintf(why, 200, "no solution is left that uses only the choices still open");
        return CLV_OK;
    }
    if (!finite || s->w.trouble != CLV_PRE_FINE) {
        CLV_TRY(rows_alone(s, &given, err));
        finite = false;
    }
    made = CLV_NEW(s->keep, clv_presolved);
    q = CLV_NEW(s->keep, clv_intra_op_problem);
    if (!made || !q)
        return clv_fail_nomem(err, "a smaller strategy problem");
    *q = s->w.p;
    if (finite)
        CLV_TRY(copy_out(&s->w, s->keep, q, err));
    *made = (clv_presolved){
        .p = q, .base = s->w.base, .last = s->last, .n_nodes = s->w.p.n_nodes, .finite = finite
    };
    s->made = made;
    return CLV_OK;
}

/* With the scratch that it needs. */
static clv_status run_all(presolve *s, const clv_intra_op_problem *p, bool finite,
                          const bool *alive, char why[static 200], clv_error *err)
{
    clv_status status;

    for (int i = 0; i < 2; i++)
        s->scratch[i] = clv_arena_new(clv_arena_alloc(s->keep), 0);
    status = s->scratch[0] && s->scratch[1] ? run(s, p, finite, alive, why, err)
                                            : clv_fail_nomem(err, "a smaller strategy problem");
    for (int i = 0; i < 2; i++)
        clv_arena_free(s->scratch[i]);
    clv_pre_matrices_free(&s->set);
    return status;
}

clv_status clv_presolve(const clv_intra_op_problem *p, clv_arena *arena, clv_presolved **ret,
                        char why[static 200], clv_error *err)
{
    return clv_presolve_alive(p, NULL, arena, ret, why, err);
}

clv_status clv_presolve_alive(const clv_intra_op_problem *p, const bool *alive, clv_arena *arena,
                              clv_presolved **ret, char why[static 200], clv_error *err)
{
    presolve s = { .keep = arena };

    CLV_TRY(run_all(&s, p, true, alive, why, err));
    *ret = s.made;
    return CLV_OK;
}

clv_status clv_presolve_rows(const clv_intra_op_problem *p, clv_arena *arena, clv_presolved **ret,
                             char why[static 200], clv_error *err)
{
    presolve s = { .keep = arena };

    CLV_TRY(run_all(&s, p, false, NULL, why, err));
    *ret = s.made;
    return CLV_OK;
}

const clv_intra_op_problem *clv_presolve_problem(const clv_presolved *s) { return s->p; }

clv_int128 clv_presolve_base(const clv_presolved *s) { return s->base; }

bool clv_presolve_finite(const clv_presolved *s) { return s->finite; }

/* Choices of the layer's old nodes from those of its new ones, each in the place of a node of the
 * whole problem. A node that stays keeps its place, so it comes after those that need to know what
 * it was. */
static void lift_layer(const clv_pre_layer *l, int32_t *choice_of)
{
    for (int turn = 0; turn < 2; turn++)
        for (int32_t v = 0; v < l->n_old; v++) {
            int32_t to = l->into[v];
            bool stays = to >= 0 && l->place_new[to] == l->place[v];

            if (stays == (turn == 1) && to != CLV_PRE_GONE)
                choice_of[l->place[v]] =
                    l->map[l->at[v] + (to < 0 ? 0 : choice_of[l->place_new[to]])];
        }
    for (int32_t i = l->n_gone - 1; i >= 0; i--) {
        const clv_pre_eliminated *x = &l->gone[i];
        int32_t a = x->a < 0 ? 0 : choice_of[l->place[x->a]];
        int32_t b = x->b < 0 ? 0 : choice_of[l->place[x->b]];

        choice_of[l->place[x->node]] = x->best[a * x->n_b + b];
    }
}

void clv_presolve_lift(const clv_presolved *s, const int32_t *choice, int32_t *choice_of)
{
    const clv_pre_layer *l = s->last;

    for (int32_t i = 0; i < s->n_nodes; i++)
        choice_of[l ? l->place_new[i] : i] = choice[i];
    for (; l; l = l->before)
        lift_layer(l, choice_of);
}
