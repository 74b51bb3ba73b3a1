/* search.c - lives of a searcher. */
#include "solver/intra_op/search.h"

#include <math.h>
#include <string.h>

#include "solver/common/random.h"

/* Sweeps of the first ascent: searcher 0 has an answer soon, each further one goes deeper. */
#define CLV_SEARCH_SWEEPS      60
#define CLV_SEARCH_MORE_SWEEPS 60
/* Regions of moves: nodes, thrown evenly in the logarithm. */
#define CLV_SEARCH_SMALLEST 16
#define CLV_SEARCH_LARGEST  3000
#define CLV_SEARCH_SEEDS    4
/* Tables of moves: 2^11 to 2^15 entries; of crossings, where nodes have two choices: 2^17. */
#define CLV_SEARCH_CAP_LOW   11
#define CLV_SEARCH_CAP_RANGE 5
#define CLV_SEARCH_CAP_CROSS 17
#define CLV_SEARCH_ENTRIES   4000000
#define CLV_SEARCH_TRIES     3
#define CLV_SEARCH_BRANCHES  300
/* Of a node with more choices, the likeliest and some others. */
#define CLV_SEARCH_VALUES 24
/* A life is over after so many moves that did not help, and one more for so many of its nodes. */
#define CLV_SEARCH_STALE       12
#define CLV_SEARCH_STALE_NODES 40
#define CLV_SEARCH_CROSSINGS   4
/* Memory above the limits costs this share of all there is to pay, and by this much more after so
 * many moves that left some. */
#define CLV_SEARCH_PENALTY      1e-3
#define CLV_SEARCH_DEARER       1.5
#define CLV_SEARCH_DEARER_AFTER 32
/* Kicks: one in so many by another choice of one node, the others by noise. Noise of own costs, as
 * exponents of e, times the mean cost of a node; regions of it, nodes and share of all. */
#define CLV_SEARCH_CHOICE_ONE_IN 4
#define CLV_SEARCH_NOISE_LOW     (-2.0)
#define CLV_SEARCH_NOISE_HIGH    4.0
#define CLV_SEARCH_KICK_LEAST    4
#define CLV_SEARCH_KICK_SHARE    3
/* Throws for another choice; solves around it until it has no nevers. */
#define CLV_SEARCH_THROWS 12
#define CLV_SEARCH_SETTLE 3
/* One in so many with an answer given from outside, if there is one. */
#define CLV_SEARCH_GUESTS 2
/* What a step costs beside its tables, in entries. */
#define CLV_SEARCH_STEP 2000
/* One life in so many begins with an ascent. */
#define CLV_SEARCH_ASCENTS 10

clv_status clv_searcher_new(const clv_flat *f, int32_t number, uint64_t seed, clv_arena *arena,
                            clv_searcher *ret, clv_error *err)
{
    clv_searcher s = { .f = f, .number = number, .random = seed };
    for (int32_t i = 0; i <= number; i++)
        s.random = clv_random(&s.random);
    s.price = CLV_NEW_ARRAY(arena, double, f->n_rows);
    s.kicked = CLV_NEW_ARRAY(arena, int32_t, f->n);
    s.guest = CLV_NEW_ARRAY(arena, int32_t, f->n);
    if (!s.price || !s.kicked || !s.guest)
        return clv_fail_nomem(err, "a search");
    CLV_TRY(clv_ascent_new(f, arena, &s.ascent, err));
    CLV_TRY(clv_state_new(f, arena, &s.now, err));
    CLV_TRY(clv_state_new(f, arena, &s.best, err));
    CLV_TRY(clv_region_new(f, arena, &s.region, err));
    s.now.over = s.best.over = INFINITY; /* nothing chosen yet: worse than anything */
    s.n_ascent = CLV_SEARCH_SWEEPS + number * CLV_SEARCH_MORE_SWEEPS;
    s.penalty = CLV_SEARCH_PENALTY * f->total;
    s.found_by = "messages";
    *ret = s;
    return CLV_OK;
}

void clv_searcher_start(clv_searcher *s, const clv_state *from, const double *price,
                        const double *likely)
{
    clv_state_copy(&s->now, from);
    clv_state_copy(&s->best, from);
    if (price)
        memcpy(s->price, price, (size_t)s->f->n_rows * sizeof *price);
    memcpy(s->ascent.messages.belief, likely, (size_t)s->f->first_choice[s->f->n] * sizeof *likely);
    s->found_by = NULL;
    s->stage = CLV_SEARCH_POLISH;
    s->n_kicked = s->n_stale = 0;
}

static void keep_best(clv_searcher *s, const char *found_by)
{
    if (clv_state_better(&s->now, &s->best)) {
        clv_state_copy(&s->best, &s->now);
        s->found_by = found_by;
    }
}

static int32_t log_throw(clv_searcher *s, int32_t low, int32_t high)
{
    if (high <= low)
        return high;
    double x = log(low) + clv_random_unit(&s->random) * log((double)high / low);
    return (int32_t)exp(x);
}

static void ascend(clv_searcher *s)
{
    double known = s->best.over <= 0 ? s->best.cost : INFINITY;
    clv_ascent_step(&s->ascent, known);
    s->work += 2 * s->ascent.messages.work + s->f->n_rows;
    if (clv_state_better(&s->ascent.read, &s->now)) {
        clv_state_copy(&s->now, &s->ascent.read);
        keep_best(s, "messages");
    }
    if (s->ascent.n_sweeps < s->n_ascent)
        return;
    for (int32_t r = 0; r < s->f->n_rows; r++)
        s->price[r] = s->ascent.best_price[r];
    s->stage = CLV_SEARCH_POLISH;
    s->n_kicked = s->n_stale = 0;
}

static void choose_region(clv_searcher *s)
{
    int32_t largest = s->f->n < CLV_SEARCH_LARGEST ? s->f->n : CLV_SEARCH_LARGEST;
    int32_t size = log_throw(s, CLV_SEARCH_SMALLEST, largest);
    int32_t seeds = 1 + clv_random_below(&s->random, CLV_SEARCH_SEEDS);
    if (s->n_kicked > 0) {
        if (size > 4 * s->n_kicked + CLV_SEARCH_SMALLEST)
            size = 4 * s->n_kicked + CLV_SEARCH_SMALLEST;
        clv_region_grow_from(&s->region, s->kicked, s->n_kicked, size, seeds, &s->random);
    } else if (clv_random_below(&s->random, 2) == 0) {
        clv_region_grow_tight(&s->region, &s->now, size, seeds, &s->random);
    } else {
        clv_region_grow(&s->region, size, seeds, &s->random);
    }
}

static clv_status polish(clv_searcher *s, clv_bench *b, clv_error *err)
{
    static const int32_t values[] = { 2, 3, 4, 6, 8, 12, 24, 64 };
    clv_improve_options o = { .caps = { CLV_SEARCH_CAP_LOW +
                                            CLV_SEARCH_CAP_RANGE * clv_random_unit(&s->random),
                                        CLV_SEARCH_ENTRIES },
                              .n_tries = CLV_SEARCH_TRIES,
                              .n_branches = CLV_SEARCH_BRANCHES,
                              .max_values = CLV_SEARCH_VALUES,
                              .alive = s->alive,
                              .penalty = s->penalty };
    if (clv_random_below(&s->random, 2) == 0) {
        bool proven = s->likely && clv_random_below(&s->random, 2) == 0;
        o.belief = proven ? s->likely : s->ascent.messages.belief;
        o.max_values = values[clv_random_below(&s->random, 8)];
    }
    double over = s->now.over, cost = s->now.cost;
    choose_region(s);
    CLV_TRY(clv_improve(b, &s->now, s->region.node, s->region.n, &o, s->price, &s->random, &s->work,
                        err));
    if (s->now.over < over || s->now.cost < cost) {
        s->n_stale = 0;
        keep_best(s, "regions");
    } else {
        s->n_stale++;
    }
    if (s->now.over > 0 && s->n_stale % CLV_SEARCH_DEARER_AFTER == CLV_SEARCH_DEARER_AFTER - 1)
        s->penalty *= CLV_SEARCH_DEARER;
    int32_t nodes = s->n_kicked > 0 ? s->n_kicked : s->f->n;
    if (s->n_stale > CLV_SEARCH_STALE + nodes / CLV_SEARCH_STALE_NODES) {
        s->stage = CLV_SEARCH_CROSS;
    }
    return CLV_OK;
}

/* The best of two answers, node by node: exact where the tables allow. */
static clv_status cross(clv_searcher *s, clv_bench *b, const clv_state *shared, clv_error *err)
{
    const clv_state *other = clv_state_better(shared, &s->best) ? shared : &s->best;
    const int32_t *pool[] = { other->choice };
    clv_improve_options o = { .caps = { CLV_SEARCH_CAP_CROSS, CLV_SEARCH_ENTRIES },
                              .n_tries = CLV_SEARCH_TRIES,
                              .n_branches = CLV_SEARCH_BRANCHES,
                              .pool = pool,
                              .n_pool = 1,
                              .penalty = s->penalty };
    s->stage = CLV_SEARCH_KICK;
    for (int32_t i = 0; i < CLV_SEARCH_CROSSINGS && other->over <= 0; i++) {
        clv_region_differing(&s->region, s->now.choice, other->choice);
        if (s->region.n == 0)
            break;
        CLV_TRY(clv_improve(b, &s->now, s->region.node, s->region.n, &o, s->price, &s->random,
                            &s->work, err));
    }
    keep_best(s, "crossing");
    return CLV_OK;
}

static void start_ascent(clv_searcher *s)
{
    for (int32_t r = 0; r < s->f->n_rows; r++)
        s->price[r] = s->ascent.best_price[r] * exp(clv_random_unit(&s->random) - 0.5);
    clv_ascent_start(&s->ascent, s->price);
    s->n_ascent = CLV_SEARCH_SWEEPS + clv_random_below(&s->random, CLV_SEARCH_MORE_SWEEPS);
    s->now.over = INFINITY;
    s->stage = CLV_SEARCH_ASCEND;
}

/* The region around the kicked ones that a life is polished in. */
static void set_kicked(clv_searcher *s)
{
    s->n_kicked = s->region.n;
    memcpy(s->kicked, s->region.node, (size_t)s->region.n * sizeof *s->kicked);
}

static clv_improve_options kick_options(clv_searcher *s)
{
    return (clv_improve_options){ .caps = { CLV_SEARCH_CAP_LOW +
                                                CLV_SEARCH_CAP_RANGE * clv_random_unit(&s->random),
                                            CLV_SEARCH_ENTRIES },
                                  .n_tries = CLV_SEARCH_TRIES,
                                  .max_values = CLV_SEARCH_VALUES,
                                  .alive = s->alive,
                                  .penalty = s->penalty };
}

/* A region solved at costs with noise on them. */
static clv_status kick_noise(clv_searcher *s, clv_bench *b, clv_error *err)
{
    int32_t size = log_throw(s, CLV_SEARCH_KICK_LEAST, s->f->n / CLV_SEARCH_KICK_SHARE + 1);
    if (clv_random_below(&s->random, 2) == 0)
        clv_region_grow_tight(&s->region, &s->now, size, 1, &s->random);
    else
        clv_region_grow(&s->region, size, 1, &s->random);
    set_kicked(s);
    clv_improve_options o = kick_options(s);
    o.must_move = true;
    o.noise = s->now.cost / s->f->n *
              exp(CLV_SEARCH_NOISE_LOW +
                  (CLV_SEARCH_NOISE_HIGH - CLV_SEARCH_NOISE_LOW) * clv_random_unit(&s->random));
    return clv_improve(b, &s->now, s->region.node, s->region.n, &o, s->price, &s->random, &s->work,
                       err);
}

/* Another choice of a node that messages think well of: of some thrown, hubs more often, the one
 * that costs the least more than the present one. False: none was found. */
static bool choose_other(clv_searcher *s, int32_t *node, int32_t *choice)
{
    const clv_flat *f = s->f;
    int32_t n_arcs = f->first_arc[f->n];
    double least = INFINITY;
    for (int32_t i = 0; i < CLV_SEARCH_THROWS; i++) {
        int32_t v = n_arcs > 0 && clv_random_below(&s->random, 2) == 0
                        ? f->arc[clv_random_below(&s->random, n_arcs)].to
                        : clv_random_below(&s->random, f->n);
        int32_t c = clv_random_below(&s->random, clv_flat_choices(f, v));
        const double *belief = s->ascent.messages.belief + f->first_choice[v];
        bool out = s->alive && v < f->n_given && !s->alive[f->first_choice[v] + c];
        double more = belief[c] - belief[s->now.choice[v]];
        if (c == s->now.choice[v] || out || more >= least)
            continue;
        least = more;
        *node = v;
        *choice = c;
    }
    return least < INFINITY;
}

/* A node takes another choice; then those around it are solved while it keeps that: so walls of
 * nevers are passed. */
static clv_status kick_choice(clv_searcher *s, clv_bench *b, clv_error *err)
{
    int32_t node = 0, choice = 0;
    if (!choose_other(s, &node, &choice))
        return CLV_OK;
    int32_t size = log_throw(s, CLV_SEARCH_SMALLEST, s->f->n);
    int32_t degree = s->f->first_arc[node + 1] - s->f->first_arc[node];
    size = size < 2 * degree + 2 ? 2 * degree + 2 : size;
    size = size > CLV_SEARCH_LARGEST ? CLV_SEARCH_LARGEST : size;
    size = size > s->f->n ? s->f->n : size;
    clv_region_grow_from(&s->region, &node, 1, size, 1, &s->random);
    set_kicked(s);
    clv_state_apply(&s->now, &node, &choice, 1);
    for (int32_t i = 0; i < CLV_SEARCH_SETTLE; i++) {
        clv_improve_options o = kick_options(s);
        CLV_TRY(clv_improve(b, &s->now, s->kicked + 1, s->n_kicked - 1, &o, s->price, &s->random,
                            &s->work, err));
        if (s->now.cost < s->f->never)
            break;
    }
    return CLV_OK;
}

static clv_status kick(clv_searcher *s, clv_bench *b, const clv_state *shared, clv_error *err)
{
    s->n_lives++;
    if (clv_state_better(shared, &s->best)) {
        clv_state_copy(&s->best, shared);
        s->found_by = NULL;
    }
    if (s->has_guest && s->n_lives % CLV_SEARCH_GUESTS == 0) {
        clv_state_set(&s->now, s->guest);
        s->has_guest = false;
        s->stage = CLV_SEARCH_POLISH;
        s->n_kicked = s->n_stale = 0;
        return CLV_OK;
    }
    if (s->n_lives % CLV_SEARCH_ASCENTS == 0) {
        start_ascent(s);
        return CLV_OK;
    }
    clv_state_copy(&s->now, &s->best);
    if (clv_random_below(&s->random, CLV_SEARCH_CHOICE_ONE_IN) == 0)
        CLV_TRY(kick_choice(s, b, err));
    else
        CLV_TRY(kick_noise(s, b, err));
    /* Not every kick gets over its wall, and some are far worse than anything could mend. */
    bool hopeless = s->now.cost >= s->f->never && s->best.cost < s->f->never;
    s->stage = hopeless ? CLV_SEARCH_KICK : CLV_SEARCH_POLISH;
    s->n_stale = 0;
    return CLV_OK;
}

clv_status clv_searcher_round(clv_searcher *s, clv_bench *b, const clv_state *shared, int64_t work,
                              clv_error *err)
{
    int64_t until = s->work + work;
    while (s->work < until && !(b->piece->halt && clv_limits_over(b->piece->halt))) {
        s->work += CLV_SEARCH_STEP + s->f->n + s->f->n_rows;
        switch (s->stage) {
        case CLV_SEARCH_ASCEND:
            ascend(s);
            break;
        case CLV_SEARCH_POLISH:
            CLV_TRY(polish(s, b, err));
            break;
        case CLV_SEARCH_CROSS:
            CLV_TRY(cross(s, b, shared, err));
            break;
        case CLV_SEARCH_KICK:
            CLV_TRY(kick(s, b, shared, err));
            break;
        }
    }
    return CLV_OK;
}
