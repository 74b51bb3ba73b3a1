/* pareto_dp.c - sums from the end, then fronts from the start. */
#include "solver/placement/noncontiguous/pareto_dp.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Pairs kept behind one block, in all states together. */
#define POINTS_MAX 60000
/* Ways are kept in 31 bits, one of which is the side. */
#define TRAIL_MAX (1 << 30)
/* How near pairs must be to become one: tried from a part of the mean distance, then more. */
#define GAIN_FIRST 64
#define GAIN_RISE  1.7
/* Weighted sums in floating point are off by far less than this part of all that is added up. */
#define ROUNDING_PART 1e-11

typedef struct {
    int64_t total[2];
    int64_t bytes; /* of side 0 */
    int32_t trail; /* into the trail; while a front is made: 2 * that of the source + side */
} point;

typedef struct {
    int32_t first, n; /* points */
} front;

typedef struct {
    point *at;
    int32_t n, cap;
} points;

struct clv_pareto_dp {
    const clv_contraction *b;
    clv_arena *arena;
    const clv_diagram *diagram;
    bool done;
    int64_t work;
    double *least;        /* by state: weighted sum of what can follow */
    int64_t (*follow)[2]; /* by state: the totals of it */
    int32_t cap_least, cap_follow;
    double slack;               /* what weighted sums may be off by */
    points now, next, one, two; /* one, two: a front being merged */
    front *fronts;              /* by state */
    int32_t cap_fronts;
    int32_t *trail, n_trail, cap_trail; /* 2 * the step before + side; -1 before the first block */
    clv_pareto_pair *pairs;
    int32_t n_pairs, cap_pairs;
    int64_t all_bytes; /* of the blocks placed */
};

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "splitting blocks in two"); }

clv_status clv_pareto_dp_new(const clv_contraction *b, clv_arena *arena, clv_pareto_dp **ret,
                             clv_error *err)
{
    clv_pareto_dp *s = CLV_NEW(arena, clv_pareto_dp);
    if (!s)
        return nomem(err);
    s->b = b;
    s->arena = arena;
    *ret = s;
    return CLV_OK;
}

void clv_pareto_dp_use(clv_pareto_dp *s, const clv_diagram *diagram)
{
    s->diagram = diagram;
    s->done = false;
}

bool clv_pareto_dp_done(const clv_pareto_dp *s) { return s->done; }
int64_t clv_pareto_dp_work(const clv_pareto_dp *s) { return s->work; }

int32_t clv_pareto_dp_pairs(const clv_pareto_dp *s, const clv_pareto_pair **ret)
{
    *ret = s->pairs;
    return s->n_pairs;
}

/* Room for so many elements, what is there lost. */
#define ROOM(s, ptr, cap, want)                                                                    \
    ((want) <= (cap) ||                                                                            \
     ((cap) = (want) + (want) / 2,                                                                 \
      (ptr) = clv_arena_take_array((s)->arena, (size_t)(cap), sizeof *(ptr))) != NULL)

/* -- steps -- */

/* What a step adds to both totals. False where its block may not be on its side. */
static bool step_cost(const clv_pareto_dp *s, const clv_pareto_query *ask, int32_t block,
                      int32_t step, int64_t add[2])
{
    const clv_diagram_arc *t = &s->diagram->step[step];
    int32_t side = step & 1;
    if (ask->cost[side][block] == CLV_PARETO_NEVER)
        return false;
    add[0] = ask->pays[0] ? t->pay[0] : 0;
    add[1] = ask->pays[1] ? t->pay[1] : 0;
    add[side] += ask->cost[side][block];
    return true;
}

static double weigh(const clv_pareto_query *ask, const int64_t total[2])
{
    return ask->weight[0] * (double)total[0] + ask->weight[1] * (double)total[1];
}

/* -- sums from the end -- */

static void find_least(clv_pareto_dp *s, const clv_pareto_query *ask, int32_t state, int32_t block)
{
    s->least[state] = (double)INFINITY;
    for (int32_t side = 0; side < 2; side++) {
        int32_t step = 2 * state + side, to = s->diagram->step[step].to;
        int64_t add[2];
        if (!step_cost(s, ask, block, step, add))
            continue;
        double sum = weigh(ask, add) + s->least[to];
        if (sum >= s->least[state])
            continue;
        s->least[state] = sum;
        s->follow[state][0] = add[0] + s->follow[to][0];
        s->follow[state][1] = add[1] + s->follow[to][1];
    }
}

static clv_status find_all_least(clv_pareto_dp *s, const clv_pareto_query *ask, clv_error *err)
{
    const clv_diagram *diagram = s->diagram;
    if (!ROOM(s, s->least, s->cap_least, diagram->n_states) ||
        !ROOM(s, s->follow, s->cap_follow, diagram->n_states))
        return nomem(err);
    int32_t end = diagram->layer[diagram->n];
    s->least[end] = 0;
    s->follow[end][0] = s->follow[end][1] = 0;
    for (int32_t place = diagram->n - 1; place >= 0; place--)
        for (int32_t t = diagram->layer[place]; t < diagram->layer[place + 1]; t++)
            find_least(s, ask, t, diagram->blocks[place]);
    s->work += 2 * diagram->n_states;
    return CLV_OK;
}

clv_status clv_pareto_dp_least(clv_pareto_dp *s, const clv_pareto_query *ask, clv_pareto_pair *ret,
                               clv_error *err)
{
    CLV_TRY(find_all_least(s, ask, err));
    memcpy(ret->total, s->follow[0], sizeof ret->total);
    return CLV_OK;
}

/* -- fronts -- */

static bool fits(const clv_pareto_dp *s, const clv_pareto_query *ask, int32_t state, const point *p)
{
    if (p->total[0] > ask->limit[0] || p->total[1] > ask->limit[1])
        return false;
    if (weigh(ask, p->total) + s->least[state] > ask->weighted + s->slack)
        return false;
    if (ask->relaxed)
        return true;
    return (ask->bytes[0] < 0 || p->bytes <= ask->bytes[0]) &&
           (ask->bytes[1] < 0 || s->all_bytes - p->bytes <= ask->bytes[1]);
}

/* What a front becomes by a step. */
typedef struct {
    int32_t side, to;
    int64_t add[2], bytes;
} shift;

static point extend_point(const point *p, const shift *m)
{
    point q = { { p->total[0] + m->add[0], p->total[1] + m->add[1] },
                p->bytes + (m->side == 0 ? m->bytes : 0),
                2 * p->trail + m->side };
    return q;
}

static bool comes_first(const point *p, const point *q)
{
    return p->total[0] != q->total[0] ? p->total[0] < q->total[0] : p->total[1] <= q->total[1];
}

/* Merges into `two` what `one` has with a front shifted, without what is beaten; swaps them. */
static clv_status merge(clv_pareto_dp *s, const clv_pareto_query *ask, const front *f,
                        const shift *m, clv_error *err)
{
    const point *from = s->now.at + f->first;
    int32_t i = 0, j = 0, n = 0;
    if (!ROOM(s, s->two.at, s->two.cap, s->one.n + f->n))
        return nomem(err);
    point *out = s->two.at;
    while (i < s->one.n || j < f->n) {
        point p;
        bool old = j >= f->n;
        if (!old) {
            p = extend_point(&from[j], m);
            old = i < s->one.n && comes_first(&s->one.at[i], &p);
        }
        if (old)
            p = s->one.at[i++];
        else
            j++;
        if ((n == 0 || out[n - 1].total[1] > p.total[1]) && (old || fits(s, ask, m->to, &p)))
            out[n++] = p;
    }
    s->work += i + j;
    s->two.n = n;
    points swap = s->one;
    s->one = s->two;
    s->two = swap;
    return CLV_OK;
}

static int64_t sum_of(const point *p) { return p->total[0] + p->total[1]; }

/* At most width pairs: of those in a cell of side 0's range the one with the least sum stays. */
static void sample_front(points *f, int32_t width)
{
    int64_t low = f->at[0].total[0], cell = (f->at[f->n - 1].total[0] - low) / width + 1;
    int64_t last = -1;
    int32_t n = 0;
    for (int32_t i = 0; i < f->n; i++) {
        point p = f->at[i];
        int64_t c = (p.total[0] - low) / cell;
        if (c != last) {
            f->at[n++] = p;
            last = c;
        } else if (sum_of(&p) < sum_of(&f->at[n - 1])) {
            f->at[n - 1] = p;
        }
    }
    f->n = n;
}

/* Where a cluster of labels ends that begins at first and become one with the smallest totals of
 * all: one whose weighted sum is below that of each of them by no more than gain. */
static int32_t end_of_cluster(const points *f, const clv_pareto_query *ask, int32_t first,
                              double gain)
{
    const point *p = f->at;
    double least = weigh(ask, p[first].total);
    int32_t end = first + 1;
    for (; end < f->n; end++) {
        double sum = weigh(ask, p[end].total);
        least = sum < least ? sum : least;
        const int64_t both[2] = { p[first].total[0], p[end].total[1] };
        if (least - weigh(ask, both) > gain)
            break;
    }
    return end;
}

static int32_t count_clusters(const points *f, const clv_pareto_query *ask, double gain,
                              int32_t most)
{
    int32_t n = 0;
    for (int32_t i = 0; i < f->n && n <= most; n++)
        i = end_of_cluster(f, ask, i, gain);
    return n;
}

/* At most width pairs: near ones become one, with the smallest totals and the way of the one that
 * has least on side 1, so that weighted sums become too small by as little as may be. */
static void relax_front(points *f, const clv_pareto_query *ask, int32_t width)
{
    const point *last = &f->at[f->n - 1];
    double range = ask->weight[0] * (double)(last->total[0] - f->at[0].total[0]) +
                   ask->weight[1] * (double)(f->at[0].total[1] - last->total[1]);
    double gain = range / width / GAIN_FIRST;
    while (count_clusters(f, ask, gain, width) > width)
        gain = gain * GAIN_RISE + 1;
    int32_t n = 0;
    for (int32_t i = 0; i < f->n; n++) {
        int32_t end = end_of_cluster(f, ask, i, gain);
        point p = f->at[end - 1];
        p.total[0] = f->at[i].total[0];
        f->at[n] = p;
        i = end;
    }
    f->n = n;
}

/* Puts `one` behind the next layer's points, as the front of a state. */
static clv_status keep_front(clv_pareto_dp *s, int32_t state, clv_error *err)
{
    s->fronts[state] = (front){ s->next.n, s->one.n };
    if (s->n_trail > TRAIL_MAX - s->one.n)
        return clv_fail(err, CLV_ELIMIT, "splitting blocks in two made too many pairs");
    for (int32_t i = 0; i < s->one.n; i++) {
        point *p = &s->one.at[i];
        if (!CLV_PUSH_ROOM(s->arena, s->trail, s->n_trail, s->cap_trail) ||
            !CLV_PUSH_ROOM(s->arena, s->next.at, s->next.n, s->next.cap))
            return nomem(err);
        s->trail[s->n_trail] = p->trail;
        p->trail = s->n_trail++;
        s->next.at[s->next.n++] = *p;
    }
    return CLV_OK;
}

static clv_status make_front(clv_pareto_dp *s, const clv_pareto_query *ask, int32_t block,
                             int32_t state, int32_t width, clv_error *err)
{
    const clv_diagram *diagram = s->diagram;
    s->one.n = 0;
    for (int32_t i = diagram->in_first[state]; i < diagram->in_first[state + 1]; i++) {
        int32_t step = diagram->in[i];
        const front *f = &s->fronts[step / 2];
        shift m = { .side = step & 1, .to = state, .bytes = s->b->bytes[block] };
        if (f->n > 0 && step_cost(s, ask, block, step, m.add))
            CLV_TRY(merge(s, ask, f, &m, err));
    }
    if (s->one.n > width && ask->relaxed)
        relax_front(&s->one, ask, width);
    else if (s->one.n > width)
        sample_front(&s->one, width);
    return keep_front(s, state, err);
}

static clv_status extend_layer(clv_pareto_dp *s, const clv_pareto_query *ask, int32_t place,
                               clv_error *err)
{
    const clv_diagram *diagram = s->diagram;
    int32_t block = diagram->blocks[place];
    int32_t first = diagram->layer[place + 1];
    int32_t end = diagram->layer[place + 2];
    int32_t width = POINTS_MAX / (end - first);
    width = width < ask->width ? width : ask->width;
    s->all_bytes += s->b->bytes[block];
    s->next.n = 0;
    for (int32_t t = first; t < end; t++)
        CLV_TRY(make_front(s, ask, block, t, width > 1 ? width : 1, err));
    points swap = s->now;
    s->now = s->next;
    s->next = swap;
    return CLV_OK;
}

/* -- layer by layer -- */

static clv_status init_run(clv_pareto_dp *s, const clv_pareto_query *ask, clv_error *err)
{
    s->done = false;
    s->n_pairs = s->n_trail = s->now.n = 0;
    s->all_bytes = 0;
    CLV_TRY(find_all_least(s, ask, err));
    if (!ROOM(s, s->fronts, s->cap_fronts, s->diagram->n_states) ||
        !CLV_PUSH_ROOM(s->arena, s->now.at, 0, s->now.cap) ||
        !CLV_PUSH_ROOM(s->arena, s->trail, 0, s->cap_trail))
        return nomem(err);
    double all = fabs(s->least[0]) + (isinf(ask->weighted) ? 0 : fabs(ask->weighted));
    for (int32_t i = 0; i < s->diagram->n; i++)
        for (int32_t side = 0; side < 2; side++)
            if (ask->cost[side][s->diagram->blocks[i]] != CLV_PARETO_NEVER)
                all += fabs(ask->weight[side] * (double)ask->cost[side][s->diagram->blocks[i]]);
    s->slack = isinf(all) ? 0 : ROUNDING_PART * all;
    s->trail[s->n_trail++] = -1; /* the way of the start */
    s->now.at[s->now.n++] = (point){ .trail = 0 };
    s->fronts[0] = (front){ 0, 1 };
    return CLV_OK;
}

clv_status clv_pareto_dp_run(clv_pareto_dp *s, const clv_pareto_query *ask,
                             clv_place_search *search, clv_error *err)
{
    CLV_TRY(init_run(s, ask, err));
    for (int32_t i = 0; i < s->diagram->n; i++) {
        if (search && clv_place_over(search))
            return CLV_OK;
        CLV_TRY(extend_layer(s, ask, i, err));
    }
    int32_t n = s->now.n;
    if (!ROOM(s, s->pairs, s->cap_pairs, n))
        return nomem(err);
    for (int32_t i = 0; i < n; i++)
        memcpy(s->pairs[i].total, s->now.at[i].total, sizeof s->pairs[i].total);
    s->n_pairs = n;
    s->done = true;
    return CLV_OK;
}

void clv_pareto_dp_sides(const clv_pareto_dp *s, int32_t pair, uint8_t *side)
{
    assert(s->done && pair >= 0 && pair < s->n_pairs);
    int32_t at = s->now.at[pair].trail;
    for (int32_t i = s->diagram->n - 1; i >= 0; i--) {
        side[i] = s->trail[at] & 1;
        at = s->trail[at] >> 1;
    }
}
