/* test_contiguous_anneal.c - placements that move block by block against the judge; annealing where
 * ideals are too many, against a placement that is known. */
#include "solver/placement/contiguous/contiguous_anneal.h"

#include <criterion/criterion.h>
#include <math.h>

#include "solver/placement/contiguous/contiguous_state.h"
#include "solver/placement/portfolio.h"
#include "solver/placement/small_placement.h"
#include "support/effort.h"

TestSuite(contiguous_anneal, .timeout = 600);

#define PROBLEMS test_effort(1000)
#define MOVES    60
/* Of a load: what ticks lose (solver/placement/common/contraction.h). */
#define TICKS_PART 1e-9

static const clv_place_rules contiguous = { CLV_PLACE_THROUGHPUT, true, 0 };

/* -- the state -- */

static bool is_near(double a, double b) { return fabs(a - b) <= TICKS_PART * (1 + fabs(b)); }

/* Are all devices without circles? */
static bool in_line(clv_contiguous_state *s)
{
    for (int32_t d = 0; d < s->n_devices; d++)
        if (clv_contiguous_state_has_cycle(s, d))
            return false;
    return true;
}

static void is_as_judged(clv_contiguous_state *s, unsigned seed, clv_arena *arena)
{
    const clv_place_problem *p = s->b->p;
    clv_place_value value;
    clv_mark mark = clv_arena_mark(arena);
    int32_t *device_of = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    double *loads = CLV_NEW_ARRAY(arena, double, s->n_devices), top = 0;
    clv_contraction_project(s->b, s->device_of, device_of);
    cr_assert_eq(clv_place_judge(p, &contiguous, device_of, arena, &value, NULL), CLV_OK);
    cr_assert_eq(clv_place_loads(p, device_of, arena, loads, NULL), CLV_OK);
    cr_assert_eq(value.legal, in_line(s) && s->n_over == 0, "%u: %s", seed, value.why);
    cr_assert_eq(s->n_over > 0, s->over > 0, "%u", seed);
    for (int32_t d = 0; d < s->n_devices && value.legal; d++) {
        cr_assert(is_near(clv_contraction_from_ticks(s->b, s->load[d]), loads[d]), "%u: device %d",
                  seed, d);
        top = loads[d] > top ? loads[d] : top;
    }
    cr_assert(!value.legal ||
                  is_near(clv_contraction_from_ticks(s->b, clv_contiguous_state_max_load(s)), top),
              "%u", seed);
    clv_arena_rewind(arena, mark);
}

static int32_t some_device(const clv_contiguous_state *s, small_dice *dice, int32_t block)
{
    for (;;) {
        int32_t d = small_roll(dice, s->n_devices);
        if (clv_contiguous_state_can_run(s, block, d))
            return d;
    }
}

static bool runs_somewhere(const clv_contiguous_state *s, int32_t block)
{
    bool runs = false;
    for (int32_t d = 0; d < s->n_devices; d++)
        runs = runs || clv_contiguous_state_can_run(s, block, d);
    return runs;
}

/* Random moves; and back again. */
static void moves_are_right(unsigned seed, clv_arena *arena)
{
    const small_size size = { 12, 12, 4, 2 };
    const clv_place_problem *p = small_placement(seed, &size, arena);
    small_dice dice = small_dice_of(seed + 1);
    clv_contraction *b;
    clv_contiguous_state s;
    bool fits;
    cr_assert_eq(clv_contraction_new(p, &contiguous, arena, &b, NULL), CLV_OK);
    cr_assert_eq(clv_contiguous_state_new(b, arena, &s, &fits, NULL), CLV_OK);
    cr_assert(fits);
    int32_t *start = CLV_NEW_ARRAY(arena, int32_t, b->n), moved[MOVES], from[MOVES];
    for (int32_t u = 0; u < b->n; u++) {
        if (!runs_somewhere(&s, u))
            return;
        start[u] = some_device(&s, &dice, u);
    }
    clv_contiguous_state_assign(&s, start);
    int64_t top = clv_contiguous_state_max_load(&s);
    for (int i = 0; i < MOVES; i++) {
        is_as_judged(&s, seed, arena);
        moved[i] = small_roll(&dice, b->n);
        from[i] = s.device_of[moved[i]];
        clv_contiguous_state_move(&s, moved[i], some_device(&s, &dice, moved[i]));
    }
    for (int i = MOVES - 1; i >= 0; i--)
        clv_contiguous_state_move(&s, moved[i], from[i]);
    is_as_judged(&s, seed, arena);
    cr_assert_eq(clv_contiguous_state_max_load(&s), top, "%u", seed);
}

Test(contiguous_anneal, sums_follow_every_move)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (unsigned seed = 1; seed <= PROBLEMS; seed++) {
        clv_mark mark = clv_arena_mark(arena);
        moves_are_right(seed, arena);
        clv_arena_rewind(arena, mark);
    }
    clv_arena_free(arena);
}

/* -- a line of more than 64 devices -- */

/* A chain of nodes, one on each device; then the last arc is turned into a circle by moving the
 * last node beside the first. */
Test(contiguous_anneal, circles_over_many_devices)
{
    enum { N = 150 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p = CLV_NEW(arena, clv_place_problem);
    clv_place_kind kind = { "accelerator", N, CLV_PLACE_UNLIMITED, true };
    int32_t list[N], first[N + 1] = { 0 }, out[N];
    int64_t bytes[N] = { 0 }, id[N];
    double time[N], cost[N];
    bool backward[N] = { false }, fits;
    for (int32_t v = 0; v < N; v++) {
        list[v] = v;
        id[v] = v;
        time[v] = cost[v] = 1;
        first[v + 1] = v + 1 < N ? v + 1 : v;
        out[v] = v + 1;
    }
    *p = (clv_place_problem){ .n_nodes = N,
                              .n_edges = N - 1,
                              .n_classes = N,
                              .n_kinds = 1,
                              .kinds = &kind,
                              .id = id,
                              .time = time,
                              .bytes = bytes,
                              .send_cost = cost,
                              .backward = backward,
                              .class_of = list,
                              .out_first = first,
                              .out = out,
                              .order = list };
    clv_contraction *b;
    clv_contiguous_state s;
    cr_assert_eq(clv_contraction_new(p, &contiguous, arena, &b, NULL), CLV_OK);
    cr_assert_eq(b->n, N);
    cr_assert_eq(clv_contiguous_state_new(b, arena, &s, &fits, NULL), CLV_OK);
    clv_contiguous_state_assign(&s, list);
    is_as_judged(&s, 0, arena);
    cr_assert(in_line(&s));
    clv_contiguous_state_move(&s, N - 1, 0);
    for (int32_t d = 0; d < N; d++)
        cr_assert_eq(clv_contiguous_state_has_cycle(&s, d), d < N - 1, "%d", d);
    clv_contiguous_state_move(&s, N - 1, N - 2);
    cr_assert(in_line(&s));
    clv_arena_free(arena);
}

/* -- small ones, against all assignments -- */

#define SMALL_WORK 2000000

static bool never(void *ctx)
{
    (void)ctx;
    return false;
}

static bool runs_all(const clv_contraction *b, int32_t kind)
{
    bool runs = b->p->kinds[kind].count > 0;
    for (int32_t u = 0; u < b->n && runs; u++)
        runs = clv_block_time(b, kind, u) != CLV_BLOCK_NEVER;
    return runs;
}

/* From everything on the first device, whether it has the memory or not. Is it the best of all? */
static bool is_best(unsigned seed, bool *ret_tried, clv_arena *arena)
{
    const small_size size = { 9, 9, 3, 1 };
    const clv_place_problem *p = small_placement(seed, &size, arena);
    clv_contraction *b;
    clv_contiguous_anneal *w;
    double best = small_best(p, &contiguous, arena);
    cr_assert_eq(clv_contraction_new(p, &contiguous, arena, &b, NULL), CLV_OK);
    cr_assert_eq(clv_contiguous_anneal_new(b, seed, arena, &w, NULL), CLV_OK);
    int32_t *of_block = CLV_NEW_ARRAY(arena, int32_t, b->n),
            *of_node = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    *ret_tried = runs_all(b, 0);
    for (int64_t work = SMALL_WORK; work > 0 && *ret_tried;)
        work -= clv_contiguous_anneal_improve(w, work, never, NULL, of_block);
    clv_contraction_project(b, of_block, of_node);
    clv_place_value value = small_judged(p, &contiguous, of_node, arena);
    if (!*ret_tried || !value.legal)
        return isinf(best);
    cr_assert_geq(value.objective, best * (1 - TICKS_PART), "%u", seed);
    return value.objective <= best * (1 + TICKS_PART);
}

Test(contiguous_anneal, small_ones_are_best)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    int n_tried = 0, n_best = 0;
    for (unsigned seed = 1; seed <= PROBLEMS / 5; seed++) {
        clv_mark mark = clv_arena_mark(arena);
        bool tried;
        bool best = is_best(seed, &tried, arena);
        n_tried += tried;
        n_best += tried && best;
        clv_arena_rewind(arena, mark);
    }
    cr_assert_gt(n_tried, (int)PROBLEMS / 20);
    cr_assert_eq(n_best, n_tried, "%d of %d", n_best, n_tried);
    clv_arena_free(arena);
}

/* -- the search -- */

/* Parts side by side, numbered in turn so that their order says nothing; each has two halves, in
 * each of which every node sends much, while only little is sent from half to half. */
#define PARTS    4
#define HALF     20 /* nodes of a half */
#define WIDTH    5  /* of a layer */
#define MUCH     3.0
#define LITTLE   0.125
#define TIME_ALL 24.0 /* of a half: sums to this */

typedef struct {
    clv_place_problem *p;
    int32_t *planted; /* by node */
    double most;      /* its largest load */
} planted;

/* Layers of WIDTH nodes, each with one to three readers in the next one. */
static planted plant(unsigned seed, clv_arena *arena)
{
    enum { PART = 2 * HALF, N = PARTS * PART };
    small_dice dice = small_dice_of(seed);
    planted ret = { CLV_NEW(arena, clv_place_problem), CLV_NEW_ARRAY(arena, int32_t, N), 0 };
    int32_t *list = CLV_NEW_ARRAY(arena, int32_t, N), *out = CLV_NEW_ARRAY(arena, int32_t, 3 * N),
            *first = CLV_NEW_ARRAY(arena, int32_t, N + 1), n_edges = 0;
    int64_t *bytes = CLV_NEW_ARRAY(arena, int64_t, N), *id = CLV_NEW_ARRAY(arena, int64_t, N);
    double *time = CLV_NEW_ARRAY(arena, double, N), *cost = CLV_NEW_ARRAY(arena, double, N);
    clv_place_kind *kind = CLV_NEW(arena, clv_place_kind);
    *kind = (clv_place_kind){ "accelerator", 2 * PARTS, HALF, true };
    for (int32_t v = 0; v < N; v++) {
        int32_t part = v % PARTS, at = v / PARTS, layer = at / WIDTH;
        bool reader[WIDTH] = { false }, between = layer == HALF / WIDTH - 1;
        list[v] = v;
        id[v] = v;
        bytes[v] = 1;
        time[v] = TIME_ALL / HALF;
        ret.planted[v] = 2 * part + (at >= HALF);
        cost[v] = between ? LITTLE : MUCH;
        for (int i = 0; i < 3; i++)
            reader[small_roll(&dice, WIDTH)] = true;
        for (int32_t i = 0; i < WIDTH && (layer + 1) * WIDTH < PART; i++)
            if (reader[i])
                out[n_edges++] = ((layer + 1) * WIDTH + i) * PARTS + part;
        cost[v] = first[v] == n_edges ? 0 : cost[v];
        first[v + 1] = n_edges;
    }
    *ret.p = (clv_place_problem){ .n_nodes = N,
                                  .n_edges = n_edges,
                                  .n_classes = N,
                                  .n_kinds = 1,
                                  .kinds = kind,
                                  .id = id,
                                  .time = time,
                                  .bytes = bytes,
                                  .send_cost = cost,
                                  .backward = CLV_NEW_ARRAY(arena, bool, N),
                                  .class_of = list,
                                  .out_first = first,
                                  .out = out,
                                  .order = list };
    ret.most = TIME_ALL + WIDTH * LITTLE;
    return ret;
}

/* Bytes that hardly go into the devices, in any line. */
static void make_tight(clv_place_problem *p, clv_arena *arena)
{
    small_dice dice = small_dice_of(1);
    int64_t *bytes = CLV_NEW_ARRAY(arena, int64_t, p->n_nodes), all = 0;
    clv_place_kind *kind = CLV_NEW(arena, clv_place_kind);
    for (int32_t v = 0; v < p->n_nodes; v++)
        all += bytes[v] = 1 + small_roll(&dice, 100);
    *kind = p->kinds[0];
    kind->capacity_bytes = all / kind->count + 10;
    p->bytes = bytes;
    p->kinds = kind;
}

static bool count_down(void *ctx)
{
    int *left = ctx;
    return --*left < 0;
}

/* Looks at the clock, so many that the first round of annealing ends. */
#define LOOKS 3000

Test(contiguous_anneal, parts_with_dear_insides)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (unsigned seed = 1; seed <= 2; seed++) {
        planted q = plant(seed, arena);
        clv_place_value value = small_judged(q.p, &contiguous, q.planted, arena);
        clv_place_result result;
        int left = LOOKS;
        clv_place_options options = { .late_enumeration = true,
                                      .rules = contiguous,
                                      .solve.stop = count_down,
                                      .solve.stop_ctx = &left };
        cr_assert(value.legal, "%s", value.why);
        cr_assert(is_near(value.objective, q.most), "%g", value.objective);
        cr_assert_eq(clv_place_solve(q.p, &options, arena, &result, NULL), CLV_OK);
        cr_assert(result.solve.found);
        cr_assert_leq(result.value.objective, q.most, "%u: %g", seed, result.value.objective);
        cr_assert_leq(result.solve.bound.real, q.most);
    }
    clv_arena_free(arena);
}

Test(contiguous_anneal, memory_just_enough)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p = plant(1, arena).p;
    clv_place_result result;
    int left = LOOKS;
    clv_place_options options = { .late_enumeration = true,
                                  .rules = contiguous,
                                  .solve.stop = count_down,
                                  .solve.stop_ctx = &left };
    make_tight(p, arena);
    cr_assert_eq(clv_place_solve(p, &options, arena, &result, NULL), CLV_OK);
    cr_assert(result.solve.found);
    cr_assert(small_judged(p, &contiguous, result.solve.solution, arena).legal);
    clv_arena_free(arena);
}
