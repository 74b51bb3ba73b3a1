/* reoptimize.c - see reoptimize.h. */
#include "solver/intra_op/reoptimize.h"

#include <math.h>
#include <string.h>

#include "solver/common/random.h"

/* Steps of the prices: so much of the way to where bound and solution would meet. */
#define CLV_REOPTIMIZE_STEP 0.7
/* A gap counts as no more than this share of the bound: far away it says nothing. */
#define CLV_REOPTIMIZE_MAX_GAP 0.2
/* Costs are whole numbers: less than this much better is no better. */
#define CLV_REOPTIMIZE_MIN_GAIN 0.5

typedef struct {
    clv_workspace *b;
    clv_search_state *s;
    const clv_reoptimize_options *o;
    clv_subproblem *x;
    double *price;
    double outside; /* cost without the subproblem */
    double best;    /* merit of the best solution known, in old */
    bool any;       /* old holds a solution */
    bool moved;     /* which is not the one that was there */
    double old_over, old_cost;
    bool whole;    /* all choices of the nodes are in the subproblem */
    double tables; /* what the tables say that every solution costs, at their prices */
} job;

clv_status clv_workspace_new(const clv_pairwise *f, clv_arena *arena, clv_workspace **ret,
                             clv_error *err)
{
    clv_workspace *b = CLV_NEW(arena, clv_workspace);
    if (!b)
        return clv_fail_nomem(err, "a search");
    b->f = f;
    b->price = CLV_NEW_ARRAY(arena, double, f->n_rows);
    b->sum = CLV_NEW_ARRAY(arena, double, (int64_t)f->n_rows + 1);
    b->used = CLV_NEW_ARRAY(arena, int64_t, (int64_t)f->n_rows + 1);
    b->room = CLV_NEW_ARRAY(arena, int64_t, f->n_rows);
    b->chosen = CLV_NEW_ARRAY(arena, int32_t, f->n);
    b->old = CLV_NEW_ARRAY(arena, int32_t, f->n);
    b->list = CLV_NEW_ARRAY(arena, int32_t, f->n);
    b->keep = CLV_NEW_ARRAY(arena, bool, f->max_choices);
    b->score = CLV_NEW_ARRAY(arena, double, f->max_choices);
    b->regret = CLV_NEW_ARRAY(arena, double, f->first_choice[f->n]);
    b->spent = CLV_NEW_ARRAY(arena, double, (int64_t)f->n + 1);
    b->on_top = CLV_NEW_ARRAY(arena, double, f->first_choice[f->n]);
    if (!b->price || !b->sum || !b->used || !b->room || !b->chosen || !b->old || !b->list ||
        !b->keep || !b->score || !b->on_top || !b->regret || !b->spent)
        return clv_fail_nomem(err, "a search");
    CLV_TRY(clv_subproblem_new(f, arena, &b->subproblem, err));
    *ret = b;
    return CLV_OK;
}

void clv_workspace_free(clv_workspace *b)
{
    if (b)
        clv_subproblem_free(b->subproblem);
}

/* ---- few values of large nodes ---- */

/* What a choice costs at least: edges inside the subproblem at their cheapest. */
static double least_cost(const job *j, int32_t v, int32_t c)
{
    const clv_pairwise *f = j->s->f;
    double r = f->cost[f->first_choice[v] + c] + clv_priced(f, v, c, j->b->sum);
    for (int32_t a = f->first_arc[v]; a < f->first_arc[v + 1]; a++) {
        int32_t w = f->arc[a].to, width = clv_pairwise_n_choices(f, w);
        const double *row = f->arc[a].cost + (int64_t)c * width;
        double least = row[0];
        if (j->x->local[w] < 0) {
            least = j->s->choice[w] >= 0 ? row[j->s->choice[w]] : 0;
        } else {
            for (int32_t k = 1; k < width; k++)
                least = row[k] < least ? row[k] : least;
        }
        r += least;
    }
    return r;
}

/* Keeps the present choice, the likeliest, and some at random. */
static void restrict_choices(job *j, int32_t local, uint64_t *random)
{
    clv_workspace *b = j->b;
    int32_t v = j->x->node[local], n = clv_pairwise_n_choices(j->s->f, v), most = j->o->max_values;
    const bool *alive = j->o->alive ? j->o->alive + j->s->f->first_choice[v] : NULL;
    if (alive && v >= j->s->f->n_given)
        alive = NULL; /* nodes of wide edges have no say there */
    if (!j->o->pool && (most == 0 || n <= most) && !alive)
        return;
    memset(b->keep, 0, (size_t)n * sizeof *b->keep);
    if (!j->o->pool && (most == 0 || n <= most)) {
        memcpy(b->keep, alive, (size_t)n * sizeof *b->keep);
    } else if (j->o->pool) {
        j->whole = false;
        for (int32_t i = 0; i < j->o->n_pool; i++)
            b->keep[j->o->pool[i][v]] = true;
    } else {
        j->whole = false;
        for (int32_t c = 0; c < n; c++)
            b->score[c] =
                j->o->belief ? j->o->belief[j->s->f->first_choice[v] + c] : least_cost(j, v, c);
        for (int32_t k = most - most / 4; k > 0; k--) { /* those with the least scores */
            int32_t best = -1;
            for (int32_t c = 0; c < n; c++)
                if (!b->keep[c] && (best < 0 || b->score[c] < b->score[best]))
                    best = c;
            b->keep[best] = true;
        }
        for (int32_t k = 0; k < most / 4; k++)
            b->keep[clv_random_below(random, n)] = true;
    }
    int32_t n_kept = 0;
    for (int32_t c = 0; c < n; c++) {
        b->keep[c] = b->keep[c] && (!alive || alive[c]);
        n_kept += b->keep[c];
    }
    if (j->s->choice[v] >= 0)
        b->keep[j->s->choice[v]] = true;
    else if (n_kept == 0)
        return;
    clv_subproblem_restrict(j->x, local, b->keep);
}

/* ---- solutions ---- */

static double merit(const job *j, double over, double cost)
{
    if (over <= 0)
        return cost;
    return j->any && j->old_over <= 0 ? INFINITY : cost + j->o->penalty * over;
}

static void clear_choices(job *j)
{
    for (int32_t p = 0; p < j->x->n_order; p++)
        j->b->chosen[p] = -1;
    clv_search_state_apply(j->s, j->b->list, j->b->chosen, j->x->n_order);
}

/* Judges the subproblem's solution; the better one stays in old. The state is as before. */
static void evaluate(job *j)
{
    clv_workspace *b = j->b;
    for (int32_t p = 0; p < j->x->n_order; p++) {
        int32_t local = j->x->order[p];
        b->chosen[p] = j->x->value[j->x->first_value[local] + j->x->chosen[local]];
    }
    clv_search_state_apply(j->s, b->list, b->chosen, j->x->n_order);
    double over = j->s->over, cost = j->s->cost, m = merit(j, over, cost);
    if (!j->any || m < j->best - CLV_REOPTIMIZE_MIN_GAIN ||
        (j->o->must_move && (over <= 0 || over <= j->old_over))) {
        j->moved = true;
        memcpy(b->old, b->chosen, (size_t)j->x->n_order * sizeof *b->old);
        j->any = true;
        j->best = m;
        j->old_over = over;
        j->old_cost = cost;
    }
    clear_choices(j);
}

/* ---- memory ---- */

/* Rows' use by the subproblem's solution. */
static void count_used(job *j)
{
    const clv_pairwise *f = j->s->f;
    int64_t *used = j->b->used;
    memset(used, 0, ((size_t)f->n_rows + 1) * sizeof *used);
    for (int32_t p = 0; p < j->x->n_order; p++) {
        int32_t local = j->x->order[p], v = j->x->node[local];
        int32_t c = j->x->value[j->x->first_value[local] + j->x->chosen[local]];
        for (int32_t s = f->first_span[v]; s < f->first_span[v + 1]; s++) {
            used[f->span[s].lo] += f->span[s].usage[c];
            used[f->span[s].hi] -= f->span[s].usage[c];
        }
    }
    for (int32_t r = 1; r < f->n_rows; r++)
        used[r] += used[r - 1];
}

/* Rows' room that is left when every node of the subproblem holds its least. */
static void least_room(job *j)
{
    const clv_pairwise *f = j->s->f;
    int64_t *left = j->b->used;
    memset(left, 0, ((size_t)f->n_rows + 1) * sizeof *left);
    for (int32_t p = 0; p < j->x->n_order; p++) {
        int32_t v = j->x->node[j->x->order[p]];
        for (int32_t s = f->first_span[v]; s < f->first_span[v + 1]; s++) {
            left[f->span[s].lo] -= f->span[s].least;
            left[f->span[s].hi] += f->span[s].least;
        }
    }
    for (int32_t r = 1; r < f->n_rows; r++)
        left[r] += left[r - 1];
    for (int32_t r = 0; r < f->n_rows; r++)
        left[r] += j->b->room[r];
}

/* Memory above the room that a choice adds, in limits. */
static double added_over(const job *j, int32_t v, int32_t c)
{
    const clv_pairwise *f = j->s->f;
    const int64_t *left = j->b->used;
    double over = 0;
    for (int32_t s = f->first_span[v]; s < f->first_span[v + 1]; s++) {
        int64_t more = f->span[s].usage[c] - f->span[s].least;
        if (more == 0)
            continue;
        for (int32_t r = f->span[s].lo; r < f->span[s].hi; r++)
            if (more > left[r])
                over += (double)(more - (left[r] > 0 ? left[r] : 0)) / ((double)f->limit[r] + 1);
    }
    return over;
}

/* sign -1: gives it back. */
static void hold_choice(const job *j, int32_t v, int32_t c, int64_t sign)
{
    const clv_pairwise *f = j->s->f;
    for (int32_t s = f->first_span[v]; s < f->first_span[v + 1]; s++) {
        int64_t more = f->span[s].usage[c] - f->span[s].least;
        for (int32_t r = f->span[s].lo; more != 0 && r < f->span[s].hi; r++)
            j->b->used[r] -= sign * more;
    }
}

/* Choices one after the other, each the cheapest for all that is to come, as memory allows; where
 * it does not, the penalty decides. */
static void dive(job *j, double penalty)
{
    clv_subproblem *x = j->x;
    double *cost = j->b->score;
    least_room(j);
    for (int32_t p = x->n_order - 1; p >= 0; p--) {
        int32_t local = x->order[p], v = x->node[local], n = clv_subproblem_n_values(x, local);
        const int32_t *value = x->value + x->first_value[local];
        clv_elimination_costs(x, p, cost);
        int32_t best = -1;
        double best_score = INFINITY;
        for (int32_t tried = 0; tried < n; tried++) {
            int32_t next = -1;
            for (int32_t k = 0; k < n; k++)
                if (cost[k] < INFINITY && (next < 0 || cost[k] < cost[next]))
                    next = k;
            if (next < 0 || cost[next] >= best_score)
                break;
            double over = added_over(j, v, value[next]);
            double score = cost[next] + penalty * over;
            if (score < best_score) {
                best_score = score;
                best = next;
            }
            if (over <= 0)
                break;
            cost[next] = INFINITY;
        }
        x->chosen[local] = best < 0 ? 0 : best;
        hold_choice(j, v, value[x->chosen[local]], 1);
    }
}

/* ---- prices ---- */

static void set_prices(job *j, uint64_t *random)
{
    const clv_pairwise *f = j->s->f;
    const clv_subproblem *x = j->x;
    clv_price_sums(f, j->price, j->b->sum);
    for (int32_t i = 0; i < x->n; i++)
        for (int32_t k = x->first_value[i]; k < x->first_value[i + 1]; k++) {
            j->b->on_top[k] = clv_priced(f, x->node[i], x->value[k], j->b->sum);
            if (j->o->noise > 0)
                j->b->on_top[k] += j->o->noise * clv_random_unit(random);
        }
}

/* The step that would close the gap if the bound were linear; used holds the solution's rows. */
static void update_prices(job *j, double bound)
{
    const clv_pairwise *f = j->s->f;
    double square = 0, gap = CLV_REOPTIMIZE_MAX_GAP * (fabs(bound - j->outside) + 1);
    if (j->any && j->best - bound < gap)
        gap = j->best - bound;
    for (int32_t r = 0; r < f->n_rows; r++) {
        double g = (double)(j->b->used[r] - j->b->room[r]);
        if (g > 0 || j->price[r] > 0)
            square += g * g;
    }
    if (square <= 0 || gap <= 0)
        return;
    bool soft = !j->any || j->old_over > 0;
    for (int32_t r = 0; r < f->n_rows; r++) {
        double g = (double)(j->b->used[r] - j->b->room[r]);
        if (g <= 0 && j->price[r] <= 0)
            continue;
        double most = soft ? j->o->penalty / ((double)f->limit[r] + 1) : INFINITY;
        double price = j->price[r] + CLV_REOPTIMIZE_STEP * gap * g / square;
        j->price[r] = price < 0 ? 0 : price > most ? most : price;
    }
}

/* ---- branch and bound ---- */

/* What each choice at a position costs above the cheapest, all later ones being chosen. */
static void count_regrets(const job *j, int32_t p)
{
    const clv_subproblem *x = j->x;
    int32_t local = x->order[p], n = clv_subproblem_n_values(x, local);
    double *regret = j->b->regret + x->first_value[local], least = INFINITY;
    clv_elimination_costs(x, p, regret);
    for (int32_t k = 0; k < n; k++)
        least = regret[k] < least ? regret[k] : least;
    for (int32_t k = 0; k < n; k++)
        regret[k] -= least;
}

/* The choice that comes after `last` (-1: the first) in order of regret, then of number; -1: none
 * is left. */
static int32_t next_choice(const double *regret, int32_t n, int32_t last)
{
    int32_t best = -1;
    for (int32_t k = 0; k < n; k++) {
        bool later =
            last < 0 || regret[k] > regret[last] || (regret[k] >= regret[last] && k > last);
        if (later && (best < 0 || regret[k] < regret[best]))
            best = k;
    }
    return best;
}

/* Takes the next choice at a position that memory allows and that can still lead to a better
 * solution; false without one. */
static bool descend(job *j, int32_t p, int32_t last, int32_t *steps)
{
    clv_subproblem *x = j->x;
    int32_t local = x->order[p], v = x->node[local], n = clv_subproblem_n_values(x, local);
    const double *regret = j->b->regret + x->first_value[local];
    const int32_t *value = x->value + x->first_value[local];
    for (int32_t k = last; (k = next_choice(regret, n, k)) >= 0;) {
        double spent = j->b->spent[p + 1] + regret[k];
        if (j->tables + spent >= j->best - CLV_REOPTIMIZE_MIN_GAIN)
            return false;
        ++*steps;
        if (added_over(j, v, value[k]) > 0)
            continue;
        x->chosen[local] = k;
        j->b->spent[p] = spent;
        hold_choice(j, v, value[k], 1);
        return true;
    }
    return false;
}

/* All solutions that may be better than the best, the likeliest first; false: not all were seen. */
static bool branch(job *j)
{
    clv_subproblem *x = j->x;
    int32_t p = x->n_order - 1, steps = 0, last = -1;
    least_room(j);
    for (int32_t r = 0; r < j->s->f->n_rows; r++)
        if (j->b->used[r] < 0)
            return true; /* no solution is legal */
    j->b->spent[x->n_order] = 0;
    if (p >= 0)
        count_regrets(j, p);
    while (p < x->n_order && steps < j->o->n_branches && !(x->halt && clv_limits_over(x->halt))) {
        if (p >= 0 && descend(j, p, last, &steps)) {
            last = -1;
            if (--p >= 0)
                count_regrets(j, p);
            continue;
        }
        if (p < 0) {
            if (x->n_order == 0)
                break;
            evaluate(j);
            steps += x->n_order; /* what judging costs */
        }
        if (++p < x->n_order) { /* back: the choice there was not the one */
            int32_t local = x->order[p];
            last = x->chosen[local];
            hold_choice(j, x->node[local], x->value[x->first_value[local] + last], -1);
        }
    }
    return p >= x->n_order || x->n_order == 0;
}

/* ---- the move ---- */

static void try_prices(job *j, clv_search_progress *progress)
{
    const clv_pairwise *f = j->s->f;
    for (int32_t t = 0; t < j->o->n_tries; t++) {
        set_prices(j, &progress->random);
        double bound = j->outside + clv_elimination_solve(j->x, j->b->on_top);
        progress->work += j->x->work + f->n_rows;
        if (bound <= -INFINITY)
            return;
        for (int32_t r = 0; r < f->n_rows; r++)
            bound -= j->price[r] * (double)j->b->room[r];
        j->tables = bound;
        if (bound > j->b->bound)
            j->b->bound = bound;
        if (j->any && !j->o->must_move && bound >= j->best - CLV_REOPTIMIZE_MIN_GAIN)
            return;
        clv_elimination_read_solution(j->x);
        count_used(j);
        bool fit = true;
        for (int32_t r = 0; r < f->n_rows; r++)
            fit = fit && j->b->used[r] <= j->b->room[r];
        if (fit || !j->any || j->old_over > 0)
            evaluate(j);
        if (!fit) {
            update_prices(j, bound);
            dive(j, j->any && j->old_over <= 0 ? f->never : j->o->penalty);
            evaluate(j);
        } else {
            update_prices(j, bound);
        }
        if (j->o->must_move && j->moved)
            return;
    }
    if (j->o->n_branches == 0)
        return;
    if (j->old_over > 0)
        j->best = INFINITY; /* any legal solution is better */
    if (branch(j) && j->best > j->b->bound)
        j->b->bound = j->best;
}

clv_status clv_reoptimize(clv_workspace *b, clv_search_state *s, const clv_reoptimize_options *o,
                          clv_search_progress *progress, clv_error *err)
{
    const int32_t *node = o->node;
    int32_t n = o->n;
    clv_subproblem *x = b->subproblem;
    job j = {
        .b = b, .s = s, .o = o, .x = x, .price = progress->price, .any = true, .whole = true
    };
    CLV_TRY(clv_subproblem_begin(x, node, n, s->choice, err));
    clv_price_sums(s->f, progress->price, b->sum);
    for (int32_t i = 0; i < n; i++)
        restrict_choices(&j, i, &progress->random);
    memcpy(b->chosen, s->choice, (size_t)s->f->n * sizeof *b->chosen);
    CLV_TRY(clv_elimination_prepare(x, &o->caps, b->chosen, &progress->random, err));
    b->bound = -INFINITY;
    b->whole = j.whole && x->n_held == 0;
    if (o->whole_only && !b->whole)
        return CLV_OK;
    for (int32_t i = 0; i < n; i++) /* held at last, and not chosen before */
        if (x->position[i] < 0 && s->choice[node[i]] < 0)
            clv_search_state_apply(s, &node[i], &b->chosen[node[i]], 1);
    j.old_over = s->over;
    j.old_cost = s->cost;
    for (int32_t p = 0; p < x->n_order; p++) {
        b->list[p] = x->node[x->order[p]];
        b->old[p] = s->choice[b->list[p]];
        j.any = j.any && b->old[p] >= 0;
    }
    j.best = j.any ? merit(&j, s->over, s->cost) : INFINITY;
    if (j.any && s->over > 0)
        j.best = s->cost + o->penalty * s->over;
    clear_choices(&j);
    j.outside = s->cost;
    for (int32_t r = 0; r < s->f->n_rows; r++)
        b->room[r] = s->f->limit[r] - s->load[r];
    try_prices(&j, progress);
    clv_search_state_apply(s, b->list, b->old, x->n_order);
    return CLV_OK;
}
