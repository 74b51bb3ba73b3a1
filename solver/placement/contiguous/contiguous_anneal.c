#include "solver/placement/contiguous/contiguous_anneal.h"

#include <math.h>
#include <string.h>

#include "solver/common/annealing.h"
#include "solver/common/random.h"
#include "solver/placement/contiguous/contiguous_state.h"

/* Temperatures at the begin and at the end of rounds, in turn, as parts of the energy: few large
 * blocks freeze early, many small ones late. MEAN: times the part that a block of mean size has. */
typedef struct {
    double hot, cold;
} heat_range;
static const heat_range HEAT[] = { { 0.1, 4e-4 }, { 1, 0.01 }, { 0.2, 1e-3 } };
enum { MEAN = 1, N_HEAT = (int)(sizeof HEAT / sizeof *HEAT) };
/* Work of a round, 0.6 s; and for each pair of a block and a device at most, and at least, and to
 * begin hot, for with less it ends above where it began. */
#define ROUND_WORK  INT64_C(100000000)
#define PAIR_MOST   INT64_C(100000)
#define PAIR_LEAST  INT64_C(5000)
#define PAIR_TO_HOT INT64_C(8000)
/* Price of memory overdrawn by a whole device, in energies. */
#define OVER_PRICE 3.0
/* Work of any move, beside what it looks at; and between looks whether the run is over. */
#define WORK_A_MOVE 20
#define WORK_A_LOOK 100000
/* Of 16 moves: so many take one block, and so many more two; the rest, all behind or before. */
#define SINGLE 8
#define SWAPS  10
/* Of 16 targets: so many are devices of a neighbour. */
#define NEAR 12
/* Draws of a block until one is on the busiest device. */
#define BUSY_DRAWS 12
/* Blocks that go together: up to 2 to a power below this. */
#define POWERS 12

struct clv_contiguous_anneal {
    clv_contiguous_state state;
    bool (*stop)(void *ctx);
    void *stop_ctx;
    uint64_t random;
    double scale;          /* 1 / the largest load at the start of a round */
    int32_t *moved, *back; /* blocks that the move at hand took, and where they were */
    int32_t n_moved, round;
    int32_t *mark, epoch; /* by block: the epoch when it was last marked */
    int32_t *kept;        /* the best of the round that is legal */
    int64_t kept_top;
    int32_t *of_block; /* scratch: devices */
};

static int32_t below(clv_contiguous_anneal *w, int32_t n)
{
    return clv_random_below(&w->random, n);
}

/* The 16th root of the sum of 16th powers, and memory. O(devices). */
static double energy(const clv_contiguous_anneal *w)
{
    double sum = 0;
    for (int32_t d = 0; d < w->state.n_devices; d++) {
        double x = (double)w->state.load[d] * w->scale;
        x *= x;
        x *= x;
        x *= x;
        sum += x * x;
    }
    return sqrt(sqrt(sqrt(sqrt(sum)))) + OVER_PRICE * w->state.over;
}

/* -- moves -- */

static void mark_block(clv_contiguous_anneal *w, int32_t block)
{
    w->mark[block] = w->epoch;
    w->moved[w->n_moved++] = block;
}

static void undo(clv_contiguous_anneal *w)
{
    while (w->n_moved > 0) {
        w->n_moved--;
        clv_contiguous_state_move(&w->state, w->moved[w->n_moved], w->back[w->n_moved]);
    }
}

/* Marks all on the block's device that lists lead to from it. False where that are too many, or one
 * does not run there. */
static bool mark_side(clv_contiguous_anneal *w, int32_t to, const int32_t *first,
                      const int32_t *list)
{
    const clv_contiguous_state *s = &w->state;
    int32_t from = s->device_of[w->moved[0]], most = 1 << (1 + below(w, POWERS));
    for (int32_t done = 0; done < w->n_moved; done++) {
        for (int32_t i = first[w->moved[done]]; i < first[w->moved[done] + 1]; i++) {
            int32_t v = list[i];
            if (s->device_of[v] != from || w->mark[v] == w->epoch)
                continue;
            if (w->n_moved == most || !clv_contiguous_state_can_run(s, v, to))
                return false;
            mark_block(w, v);
        }
    }
    return true;
}

/* Any block; in every other draw one of the busiest device, most likely. */
static int32_t draw_block(clv_contiguous_anneal *w)
{
    const clv_contiguous_state *s = &w->state;
    int32_t u = below(w, s->b->n), busiest = 0;
    if (below(w, 2) == 0)
        return u;
    for (int32_t d = 1; d < s->n_devices; d++)
        busiest = s->load[d] > s->load[busiest] ? d : busiest;
    for (int32_t i = 0; i < BUSY_DRAWS && s->device_of[u] != busiest; i++)
        u = below(w, s->b->n);
    return u;
}

static int32_t draw_device(clv_contiguous_anneal *w, int32_t block)
{
    const clv_contraction *b = w->state.b;
    int32_t nets = b->at_first[block + 1] - b->at_first[block];
    if (nets == 0 || below(w, 16) >= NEAR)
        return below(w, w->state.n_devices);
    int32_t e = b->at[b->at_first[block] + below(w, nets)];
    int32_t pin = below(w, b->net_first[e + 1] - b->net_first[e]);
    return w->state.device_of[b->pins[b->net_first[e] + pin]];
}

/* A block of that device that can take this place. */
static bool mark_partner(clv_contiguous_anneal *w, int32_t from, int32_t to)
{
    const clv_contiguous_state *s = &w->state;
    for (int32_t i = 0; i < BUSY_DRAWS; i++) {
        int32_t v = below(w, s->b->n);
        if (s->device_of[v] != to || !clv_contiguous_state_can_run(s, v, from))
            continue;
        mark_block(w, v);
        return true;
    }
    return false;
}

/* Applies a random move; undone where devices would wait for each other. False: there was none. */
static bool propose_move(clv_contiguous_anneal *w)
{
    clv_contiguous_state *s = &w->state;
    const clv_contraction *b = s->b;
    int32_t u = draw_block(w), to = draw_device(w, u), from = s->device_of[u];
    int32_t dice = below(w, 16);
    bool swap = dice >= SINGLE && dice < SWAPS;
    s->work += WORK_A_MOVE + s->n_devices;
    w->n_moved = 0;
    w->epoch++;
    if (to == from || !clv_contiguous_state_can_run(s, u, to))
        return false;
    mark_block(w, u);
    if (swap && !mark_partner(w, from, to))
        return false;
    if (dice >= SWAPS && !(dice % 2 ? mark_side(w, to, b->after_first, b->after)
                                    : mark_side(w, to, b->before_first, b->before)))
        return false;
    for (int32_t i = 0; i < w->n_moved; i++) {
        w->back[i] = s->device_of[w->moved[i]];
        clv_contiguous_state_move(s, w->moved[i], swap && i > 0 ? from : to);
    }
    if (!clv_contiguous_state_has_cycle(s, to) &&
        !(swap && clv_contiguous_state_has_cycle(s, from)))
        return true;
    undo(w);
    return false;
}

/* -- rounds -- */

static int64_t pairs(const clv_contiguous_anneal *w)
{
    return (int64_t)w->state.b->n * w->state.n_devices;
}

/* One round; the best is kept. */
static void anneal(clv_contiguous_anneal *w, int64_t work)
{
    clv_contiguous_state *s = &w->state;
    int32_t turn = work < PAIR_TO_HOT * pairs(w) ? MEAN : w->round % N_HEAT;
    double part = turn == MEAN ? (double)s->n_devices / s->b->n : 1;
    const heat_range range = { HEAT[turn].hot * part, HEAT[turn].cold * part };
    int64_t begin = s->work, look = begin;
    double here = energy(w), temperature = 0;
    while (s->work - begin < work) {
        if (s->work >= look) {
            if (w->stop(w->stop_ctx))
                break;
            look = s->work + WORK_A_LOOK;
            double done = (double)(s->work - begin) / (double)work;
            temperature = clv_annealing_temperature(here * range.hot, range.cold / range.hot, done);
        }
        if (!propose_move(w))
            continue;
        double there = energy(w);
        if (!clv_annealing_takes(there - here, temperature, clv_random_unit(&w->random))) {
            undo(w);
            continue;
        }
        here = there;
        int64_t top = clv_contiguous_state_max_load(s);
        if (s->n_over > 0 || top >= w->kept_top)
            continue;
        w->kept_top = top;
        memcpy(w->kept, s->device_of, (size_t)s->b->n * sizeof *w->kept);
    }
}

int64_t clv_contiguous_anneal_improve(clv_contiguous_anneal *w, int64_t work,
                                      bool (*stop)(void *ctx), void *ctx, int32_t *device_of)
{
    int64_t before = w->state.work, most = PAIR_MOST * pairs(w), least = PAIR_LEAST * pairs(w);
    int64_t each = ROUND_WORK < most ? ROUND_WORK : most;
    each = each > least ? each : least;
    w->stop = stop;
    w->stop_ctx = ctx;
    clv_contiguous_state_assign(&w->state, device_of);
    int64_t max_load = clv_contiguous_state_max_load(&w->state);
    int64_t top = w->kept_top = w->state.n_over > 0 ? INT64_MAX : max_load;
    w->scale = max_load > 0 ? 1 / (double)max_load : 1;
    if (w->state.n_devices < 2 || (w->state.n_over == 0 && top == 0))
        return work;
    anneal(w, work < each ? work : each);
    w->round++;
    if (w->kept_top < top)
        memcpy(device_of, w->kept, (size_t)w->state.b->n * sizeof *device_of);
    return w->state.work - before;
}

/* All on one device that runs all, more than it has memory for. False: there is none. */
static bool assign_to_one(clv_contiguous_anneal *w)
{
    const clv_contiguous_state *s = &w->state;
    for (int32_t d = 0; d < s->n_devices; d++) {
        bool runs = true;
        for (int32_t u = 0; u < s->b->n && runs; u++) {
            runs = clv_contiguous_state_can_run(s, u, d);
            w->of_block[u] = d;
        }
        if (runs)
            return true;
    }
    return false;
}

clv_status clv_contiguous_anneal_run(clv_contiguous_anneal *w, clv_place_search *search,
                                     int64_t work, clv_error *err)
{
    const clv_contraction *b = w->state.b;
    if (!clv_place_best_solution(search) && !assign_to_one(w))
        return CLV_OK;
    while (work > 0 && !clv_place_over(search)) {
        const int32_t *solution = clv_place_best_solution(search);
        for (int32_t v = 0; v < b->p->n_nodes && solution; v++)
            w->of_block[b->block_of[v]] = solution[v];
        work -= clv_contiguous_anneal_improve(w, work, clv_place_over_ctx, search, w->of_block);
        CLV_TRY(clv_place_offer_groups(search, "annealing", b->block_of, w->of_block, err));
    }
    return CLV_OK;
}

clv_status clv_contiguous_anneal_new(const clv_contraction *b, uint64_t seed, clv_arena *arena,
                                     clv_contiguous_anneal **ret, clv_error *err)
{
    bool fits;
    clv_contiguous_anneal *w = CLV_NEW(arena, clv_contiguous_anneal);
    *ret = NULL;
    if (!w)
        return clv_fail_nomem(err, "annealing");
    *w = (clv_contiguous_anneal){ .random = seed,
                                  .moved = CLV_NEW_ARRAY(arena, int32_t, b->n),
                                  .back = CLV_NEW_ARRAY(arena, int32_t, b->n),
                                  .mark = CLV_NEW_ARRAY(arena, int32_t, b->n),
                                  .kept = CLV_NEW_ARRAY(arena, int32_t, b->n),
                                  .of_block = CLV_NEW_ARRAY(arena, int32_t, b->n) };
    if (!w->moved || !w->back || !w->mark || !w->kept || !w->of_block)
        return clv_fail_nomem(err, "annealing");
    CLV_TRY(clv_contiguous_state_new(b, arena, &w->state, &fits, err));
    *ret = fits ? w : NULL;
    return CLV_OK;
}
