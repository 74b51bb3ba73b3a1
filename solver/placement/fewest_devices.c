#include "solver/placement/fewest_devices.h"

#include <math.h>
#include <string.h>

#define NAME "fewest devices"

/* One way to take devices from the kinds. */
typedef struct {
    clv_place_search *search;
    clv_arena *arena;
    clv_place_problem part; /* the problem with so many of each kind */
    clv_place_kind *kinds;
    double max_load;  /* INFINITY: any */
    int32_t n;        /* devices taken */
    bool enough;      /* a solution within it is known, or that there is none */
    bool all_refuted; /* so far, of this count of devices */
} taking;

static void check_progress(void *ctx, const clv_solve_progress *p)
{
    taking *t = ctx;
    bool found = !clv_objval_is_infinite(p->value), none = clv_objval_is_infinite(p->bound);
    t->enough = none || (found && p->value.real <= t->max_load) || p->bound.real > t->max_load;
}

static bool is_over(void *ctx)
{
    taking *t = ctx;
    return t->enough || clv_place_over(t->search);
}

static bool has_room(const taking *t)
{
    clv_int128 room = clv_place_room(&t->part);
    return room == CLV_PLACE_UNLIMITED || clv_place_bytes(&t->part) <= room;
}

/* Devices of the part are the first ones of their kinds in the whole. */
static clv_status offer(const taking *t, const int32_t *device_of, clv_error *err)
{
    const clv_place_problem *p = t->search->p;
    int32_t *of = CLV_NEW_ARRAY(t->arena, int32_t, p->n_nodes);
    if (!of)
        return clv_fail_nomem(err, "the fewest devices");
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t device = device_of[v], first = 0, k = 0;
        for (; device >= t->kinds[k].count; k++) {
            device -= t->kinds[k].count;
            first += p->kinds[k].count;
        }
        of[v] = first + device;
    }
    return clv_place_offer(t->search, NAME, of, err);
}

static clv_status try_part(taking *t, clv_error *err)
{
    clv_place_result r;
    const clv_solve_options *whole = &t->search->options->solve;
    clv_place_options o = { .solve = { .deadline_ns = whole->deadline_ns,
                                       .seed = whole->seed,
                                       .stop = is_over,
                                       .stop_ctx = t,
                                       .progress = check_progress,
                                       .progress_ctx = t },
                            .rules = { CLV_PLACE_THROUGHPUT, false, 0 },
                            .late_enumeration = t->search->options->late_enumeration };
    if (!has_room(t))
        return CLV_OK;
    t->enough = false;
    clv_mark mark = clv_arena_mark(t->arena);
    CLV_TRY(t->search->solve_part(&t->part, &o, t->arena, &r, err));
    if (r.solve.found && r.value.objective <= t->max_load)
        CLV_TRY(offer(t, r.solve.solution, err));
    else if (!(r.solve.bound.real > t->max_load || isinf(r.solve.bound.real)))
        t->all_refuted = false;
    else if (t->n == clv_place_devices(t->search->p))
        clv_place_raise(t->search, NAME, INFINITY); /* not with all of them */
    clv_arena_rewind(t->arena, mark);
    return CLV_OK;
}

/* All ways to take n more devices from kind k on. */
static clv_status enumerate_counts(taking *t, int32_t k, int32_t n, clv_error *err)
{
    const clv_place_problem *p = t->search->p;
    if (k == p->n_kinds)
        return n == 0 && !clv_place_over(t->search) && clv_place_best(t->search) > t->n
                   ? try_part(t, err)
                   : CLV_OK;
    int32_t most = n < p->kinds[k].count ? n : p->kinds[k].count;
    for (int32_t i = most; i >= 0; i--) {
        t->kinds[k].count = i;
        CLV_TRY(enumerate_counts(t, k + 1, n - i, err));
    }
    return CLV_OK;
}

clv_status clv_fewest_devices_solve(clv_place_search *search, clv_arena *arena, clv_error *err)
{
    const clv_place_problem *p = search->p;
    double max_load = search->options->rules.max_load;
    taking t = { .search = search,
                 .arena = arena,
                 .part = *p,
                 .kinds = CLV_NEW_ARRAY(arena, clv_place_kind, p->n_kinds),
                 .max_load = max_load > 0 ? max_load : INFINITY };
    bool refuted = true; /* all counts below n */
    if (!t.kinds)
        return clv_fail_nomem(err, "the fewest devices");
    memcpy(t.kinds, p->kinds, (size_t)p->n_kinds * sizeof *t.kinds);
    t.part.kinds = t.kinds;
    t.n = clv_place_devices(p);
    CLV_TRY(enumerate_counts(&t, 0, t.n, err)); /* a solution, whatever comes of the rest */
    for (t.n = 1;
         t.n < clv_place_devices(p) && clv_place_best(search) > t.n && !clv_place_over(search);
         t.n++) {
        t.all_refuted = true;
        CLV_TRY(enumerate_counts(&t, 0, t.n, err));
        refuted =
            refuted && t.all_refuted && clv_place_best(search) > t.n && !clv_place_over(search);
        if (refuted)
            clv_place_raise(search, NAME, t.n + 1.0);
    }
    return CLV_OK;
}
