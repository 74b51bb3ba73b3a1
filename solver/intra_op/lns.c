/* lns.c - see lns.h. */
#include "solver/intra_op/lns.h"

#include <math.h>
#include <string.h>

#include "solver/common/random.h"

/* Sweeps of the first subgradient phase: searcher 0 has a solution soon, each further one goes
 * deeper. */
#define CLV_LNS_SWEEPS      60
#define CLV_LNS_MORE_SWEEPS 60
/* Regions of moves: nodes, drawn evenly in the logarithm. */
#define CLV_LNS_SMALLEST 16
#define CLV_LNS_LARGEST  3000
#define CLV_LNS_SEEDS    4
/* Tables of moves: 2^11 to 2^15 entries; of crossings, where nodes have two choices: 2^17. */
#define CLV_LNS_CAP_LOW     11
#define CLV_LNS_CAP_RANGE   5
#define CLV_LNS_CAP_COMBINE 17
#define CLV_LNS_ENTRIES     4000000
#define CLV_LNS_TRIES       3
#define CLV_LNS_BRANCHES    300
/* Of a node with more choices, the likeliest and some others. */
#define CLV_LNS_VALUES 24
/* A restart comes after so many moves that did not help, and one more for so many of its nodes. */
#define CLV_LNS_STALE        12
#define CLV_LNS_STALE_NODES  40
#define CLV_LNS_COMBINATIONS 4
/* Memory above the limits costs this share of all there is to pay, and by this much more after so
 * many moves that left some. */
#define CLV_LNS_PENALTY        1e-3
#define CLV_LNS_PENALTY_GROWTH 1.5
#define CLV_LNS_PENALTY_AFTER  32
/* Perturbations: one in so many by another choice of one node, the others by noise. Noise of own
 * costs, as exponents of e, times the mean cost of a node; regions of it, nodes and share of all.
 */
#define CLV_LNS_CHOICE_ONE_IN 4
#define CLV_LNS_NOISE_LOW     (-2.0)
#define CLV_LNS_NOISE_HIGH    4.0
#define CLV_LNS_PERTURB_LEAST 4
#define CLV_LNS_PERTURB_SHARE 3
/* Draws for another choice; solves around it until it has no nevers. */
#define CLV_LNS_DRAWS  12
#define CLV_LNS_SETTLE 3
/* One in so many with a solution given from outside, if there is one. */
#define CLV_LNS_IMPORT_ONE_IN 2
/* What a step costs beside its tables, in entries. */
#define CLV_LNS_STEP_WORK 2000
/* One restart in so many begins with a subgradient phase. */
#define CLV_LNS_SUBGRADIENT_ONE_IN 10

clv_status clv_lns_new(const clv_pairwise *f, int32_t number, uint64_t seed, clv_arena *arena,
                       clv_lns *ret, clv_error *err)
{
    clv_lns s = { .f = f, .number = number, .progress = { .random = seed } };
    for (int32_t i = 0; i <= number; i++)
        s.progress.random = clv_random(&s.progress.random);
    s.progress.price = CLV_NEW_ARRAY(arena, double, f->n_rows);
    s.perturbed = CLV_NEW_ARRAY(arena, int32_t, f->n);
    s.imported = CLV_NEW_ARRAY(arena, int32_t, f->n);
    if (!s.progress.price || !s.perturbed || !s.imported)
        return clv_fail_nomem(err, "a search");
    CLV_TRY(clv_subgradient_new(f, arena, &s.subgradient, err));
    CLV_TRY(clv_search_state_new(f, arena, &s.now, err));
    CLV_TRY(clv_search_state_new(f, arena, &s.best, err));
    CLV_TRY(clv_neighbourhood_new(f, arena, &s.neighbourhood, err));
    s.now.over = s.best.over = INFINITY; /* nothing chosen yet: worse than anything */
    s.n_sweeps_most = CLV_LNS_SWEEPS + number * CLV_LNS_MORE_SWEEPS;
    s.penalty = CLV_LNS_PENALTY * f->total;
    s.found_by = "messages";
    *ret = s;
    return CLV_OK;
}

void clv_lns_start_from(clv_lns *s, const clv_search_state *from, const double *price,
                        const double *likely)
{
    clv_search_state_copy(&s->now, from);
    clv_search_state_copy(&s->best, from);
    if (price)
        memcpy(s->progress.price, price, (size_t)s->f->n_rows * sizeof *price);
    memcpy(s->subgradient.trws.belief, likely,
           (size_t)s->f->first_choice[s->f->n] * sizeof *likely);
    s->found_by = NULL;
    s->stage = CLV_LNS_IMPROVE;
    s->n_perturbed = s->n_stale = 0;
}

static void keep_best(clv_lns *s, const char *found_by)
{
    if (clv_search_state_is_better(&s->now, &s->best)) {
        clv_search_state_copy(&s->best, &s->now);
        s->found_by = found_by;
    }
}

static int32_t draw_log(clv_lns *s, int32_t low, int32_t high)
{
    if (high <= low)
        return high;
    double x = log(low) + clv_random_unit(&s->progress.random) * log((double)high / low);
    return (int32_t)exp(x);
}

static void run_subgradient(clv_lns *s)
{
    double known = s->best.over <= 0 ? s->best.cost : INFINITY;
    clv_subgradient_step(&s->subgradient, known);
    s->progress.work += 2 * s->subgradient.trws.work + s->f->n_rows;
    if (clv_search_state_is_better(&s->subgradient.read, &s->now)) {
        clv_search_state_copy(&s->now, &s->subgradient.read);
        keep_best(s, "messages");
    }
    if (s->subgradient.n_sweeps < s->n_sweeps_most)
        return;
    for (int32_t r = 0; r < s->f->n_rows; r++)
        s->progress.price[r] = s->subgradient.best_price[r];
    s->stage = CLV_LNS_IMPROVE;
    s->n_perturbed = s->n_stale = 0;
}

static void choose_neighbourhood(clv_lns *s)
{
    int32_t largest = s->f->n < CLV_LNS_LARGEST ? s->f->n : CLV_LNS_LARGEST;
    int32_t size = draw_log(s, CLV_LNS_SMALLEST, largest);
    int32_t seeds = 1 + clv_random_below(&s->progress.random, CLV_LNS_SEEDS);
    if (s->n_perturbed > 0) {
        if (size > 4 * s->n_perturbed + CLV_LNS_SMALLEST)
            size = 4 * s->n_perturbed + CLV_LNS_SMALLEST;
        clv_neighbourhood_grow_from(&s->neighbourhood, s->perturbed, s->n_perturbed, size, seeds,
                                    &s->progress.random);
    } else if (clv_random_below(&s->progress.random, 2) == 0) {
        clv_neighbourhood_grow_tight(&s->neighbourhood, &s->now, size, seeds, &s->progress.random);
    } else {
        clv_neighbourhood_grow(&s->neighbourhood, size, seeds, &s->progress.random);
    }
}

static clv_status improve(clv_lns *s, clv_workspace *b, clv_error *err)
{
    static const int32_t values[] = { 2, 3, 4, 6, 8, 12, 24, 64 };
    clv_reoptimize_options o = {
        .caps = { CLV_LNS_CAP_LOW + CLV_LNS_CAP_RANGE * clv_random_unit(&s->progress.random),
                  CLV_LNS_ENTRIES },
        .n_tries = CLV_LNS_TRIES,
        .n_branches = CLV_LNS_BRANCHES,
        .max_values = CLV_LNS_VALUES,
        .alive = s->alive,
        .penalty = s->penalty
    };
    if (clv_random_below(&s->progress.random, 2) == 0) {
        bool proven = s->likely && clv_random_below(&s->progress.random, 2) == 0;
        o.belief = proven ? s->likely : s->subgradient.trws.belief;
        o.max_values = values[clv_random_below(&s->progress.random, 8)];
    }
    double over = s->now.over, cost = s->now.cost;
    choose_neighbourhood(s);
    o.node = s->neighbourhood.node;
    o.n = s->neighbourhood.n;
    CLV_TRY(clv_reoptimize(b, &s->now, &o, &s->progress, err));
    if (s->now.over < over || s->now.cost < cost) {
        s->n_stale = 0;
        keep_best(s, "regions");
    } else {
        s->n_stale++;
    }
    if (s->now.over > 0 && s->n_stale % CLV_LNS_PENALTY_AFTER == CLV_LNS_PENALTY_AFTER - 1)
        s->penalty *= CLV_LNS_PENALTY_GROWTH;
    int32_t nodes = s->n_perturbed > 0 ? s->n_perturbed : s->f->n;
    if (s->n_stale > CLV_LNS_STALE + nodes / CLV_LNS_STALE_NODES) {
        s->stage = CLV_LNS_COMBINE;
    }
    return CLV_OK;
}

/* The best of two solutions, node by node: exact where the tables allow. */
static clv_status combine(clv_lns *s, clv_workspace *b, const clv_search_state *shared,
                          clv_error *err)
{
    const clv_search_state *other =
        clv_search_state_is_better(shared, &s->best) ? shared : &s->best;
    const int32_t *pool[] = { other->choice };
    clv_reoptimize_options o = { .caps = { CLV_LNS_CAP_COMBINE, CLV_LNS_ENTRIES },
                                 .n_tries = CLV_LNS_TRIES,
                                 .n_branches = CLV_LNS_BRANCHES,
                                 .pool = pool,
                                 .n_pool = 1,
                                 .penalty = s->penalty };
    s->stage = CLV_LNS_PERTURB;
    for (int32_t i = 0; i < CLV_LNS_COMBINATIONS && other->over <= 0; i++) {
        clv_neighbourhood_differing(&s->neighbourhood, s->now.choice, other->choice);
        if (s->neighbourhood.n == 0)
            break;
        o.node = s->neighbourhood.node;
        o.n = s->neighbourhood.n;
        CLV_TRY(clv_reoptimize(b, &s->now, &o, &s->progress, err));
    }
    keep_best(s, "crossing");
    return CLV_OK;
}

/* The neighbourhood around the perturbed ones that is improved next. */
static void set_perturbed(clv_lns *s)
{
    s->n_perturbed = s->neighbourhood.n;
    memcpy(s->perturbed, s->neighbourhood.node, (size_t)s->neighbourhood.n * sizeof *s->perturbed);
}

static clv_reoptimize_options perturb_options(clv_lns *s)
{
    return (clv_reoptimize_options){
        .caps = { CLV_LNS_CAP_LOW + CLV_LNS_CAP_RANGE * clv_random_unit(&s->progress.random),
                  CLV_LNS_ENTRIES },
        .n_tries = CLV_LNS_TRIES,
        .max_values = CLV_LNS_VALUES,
        .alive = s->alive,
        .penalty = s->penalty
    };
}

/* A neighbourhood solved at costs with noise on them. */
static clv_status perturb_costs(clv_lns *s, clv_workspace *b, clv_error *err)
{
    int32_t size = draw_log(s, CLV_LNS_PERTURB_LEAST, s->f->n / CLV_LNS_PERTURB_SHARE + 1);
    if (clv_random_below(&s->progress.random, 2) == 0)
        clv_neighbourhood_grow_tight(&s->neighbourhood, &s->now, size, 1, &s->progress.random);
    else
        clv_neighbourhood_grow(&s->neighbourhood, size, 1, &s->progress.random);
    set_perturbed(s);
    clv_reoptimize_options o = perturb_options(s);
    o.must_move = true;
    o.noise = s->now.cost / s->f->n *
              exp(CLV_LNS_NOISE_LOW +
                  (CLV_LNS_NOISE_HIGH - CLV_LNS_NOISE_LOW) * clv_random_unit(&s->progress.random));
    o.node = s->neighbourhood.node;
    o.n = s->neighbourhood.n;
    return clv_reoptimize(b, &s->now, &o, &s->progress, err);
}

/* Another choice of a node that messages think well of: of some drawn, hubs more often, the one
 * that costs the least more than the present one. False: none was found. */
static bool choose_other(clv_lns *s, int32_t *node, int32_t *choice)
{
    const clv_pairwise *f = s->f;
    int32_t n_arcs = f->first_arc[f->n];
    double least = INFINITY;
    for (int32_t i = 0; i < CLV_LNS_DRAWS; i++) {
        int32_t v = n_arcs > 0 && clv_random_below(&s->progress.random, 2) == 0
                        ? f->arc[clv_random_below(&s->progress.random, n_arcs)].to
                        : clv_random_below(&s->progress.random, f->n);
        int32_t c = clv_random_below(&s->progress.random, clv_pairwise_n_choices(f, v));
        const double *belief = s->subgradient.trws.belief + f->first_choice[v];
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
static clv_status perturb_choice(clv_lns *s, clv_workspace *b, clv_error *err)
{
    int32_t node = 0, choice = 0;
    if (!choose_other(s, &node, &choice))
        return CLV_OK;
    int32_t size = draw_log(s, CLV_LNS_SMALLEST, s->f->n);
    int32_t degree = s->f->first_arc[node + 1] - s->f->first_arc[node];
    size = size < 2 * degree + 2 ? 2 * degree + 2 : size;
    size = size > CLV_LNS_LARGEST ? CLV_LNS_LARGEST : size;
    size = size > s->f->n ? s->f->n : size;
    clv_neighbourhood_grow_from(&s->neighbourhood, &node, 1, size, 1, &s->progress.random);
    set_perturbed(s);
    clv_search_state_apply(&s->now, &node, &choice, 1);
    for (int32_t i = 0; i < CLV_LNS_SETTLE; i++) {
        clv_reoptimize_options o = perturb_options(s);
        o.node = s->perturbed + 1;
        o.n = s->n_perturbed - 1;
        CLV_TRY(clv_reoptimize(b, &s->now, &o, &s->progress, err));
        if (s->now.cost < s->f->never)
            break;
    }
    return CLV_OK;
}

static clv_status perturb(clv_lns *s, clv_workspace *b, const clv_search_state *shared,
                          clv_error *err)
{
    s->n_restarts++;
    if (clv_search_state_is_better(shared, &s->best)) {
        clv_search_state_copy(&s->best, shared);
        s->found_by = NULL;
    }
    if (s->has_imported && s->n_restarts % CLV_LNS_IMPORT_ONE_IN == 0) {
        clv_search_state_set(&s->now, s->imported);
        s->has_imported = false;
        s->stage = CLV_LNS_IMPROVE;
        s->n_perturbed = s->n_stale = 0;
        return CLV_OK;
    }
    if (s->n_restarts % CLV_LNS_SUBGRADIENT_ONE_IN == 0) {
        for (int32_t r = 0; r < s->f->n_rows; r++)
            s->progress.price[r] =
                s->subgradient.best_price[r] * exp(clv_random_unit(&s->progress.random) - 0.5);
        clv_subgradient_start(&s->subgradient, s->progress.price);
        s->n_sweeps_most =
            CLV_LNS_SWEEPS + clv_random_below(&s->progress.random, CLV_LNS_MORE_SWEEPS);
        s->now.over = INFINITY;
        s->stage = CLV_LNS_SUBGRADIENT;
        return CLV_OK;
    }
    clv_search_state_copy(&s->now, &s->best);
    if (clv_random_below(&s->progress.random, CLV_LNS_CHOICE_ONE_IN) == 0)
        CLV_TRY(perturb_choice(s, b, err));
    else
        CLV_TRY(perturb_costs(s, b, err));
    /* Not every perturbation gets over its wall, and some are far worse than anything could mend.
     */
    bool hopeless = s->now.cost >= s->f->never && s->best.cost < s->f->never;
    s->stage = hopeless ? CLV_LNS_PERTURB : CLV_LNS_IMPROVE;
    s->n_stale = 0;
    return CLV_OK;
}

clv_status clv_lns_run_round(clv_lns *s, clv_workspace *b, const clv_search_state *shared,
                             int64_t work, clv_error *err)
{
    int64_t until = s->progress.work + work;
    while (s->progress.work < until &&
           !(b->subproblem->halt && clv_limits_over(b->subproblem->halt))) {
        s->progress.work += CLV_LNS_STEP_WORK + s->f->n + s->f->n_rows;
        switch (s->stage) {
        case CLV_LNS_SUBGRADIENT:
            run_subgradient(s);
            break;
        case CLV_LNS_IMPROVE:
            CLV_TRY(improve(s, b, err));
            break;
        case CLV_LNS_COMBINE:
            CLV_TRY(combine(s, b, shared, err));
            break;
        case CLV_LNS_PERTURB:
            CLV_TRY(perturb(s, b, shared, err));
            break;
        }
    }
    return CLV_OK;
}
