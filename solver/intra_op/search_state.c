/* search_state.c - choices applied, costs and loads kept up to date. */
#include "solver/intra_op/search_state.h"

#include <string.h>

clv_status clv_search_state_new(const clv_pairwise *f, clv_arena *arena, clv_search_state *ret,
                                clv_error *err)
{
    clv_search_state s = { .f = f,
                           .choice = CLV_NEW_ARRAY(arena, int32_t, f->n),
                           .load = CLV_NEW_ARRAY(arena, int64_t, f->n_rows),
                           .step = CLV_NEW_ARRAY(arena, int64_t, (int64_t)f->n_rows + 1) };
    if (!s.choice || !s.load || !s.step)
        return clv_fail_nomem(err, "a search");
    clv_search_state_set(&s, NULL);
    *ret = s;
    return CLV_OK;
}

/* Cost of the node with edges to chosen neighbours. */
static double node_cost(const clv_search_state *s, int32_t v)
{
    const clv_pairwise *f = s->f;
    int32_t c = s->choice[v];
    if (c < 0)
        return 0;
    double r = f->cost[f->first_choice[v] + c];
    for (int32_t a = f->first_arc[v]; a < f->first_arc[v + 1]; a++) {
        int32_t w = f->arc[a].to;
        if (s->choice[w] >= 0)
            r += f->arc[a].cost[(int64_t)c * clv_pairwise_n_choices(f, w) + s->choice[w]];
    }
    return r;
}

/* Into step: what the loads change from row to row. */
static void add_usage(clv_search_state *s, int32_t v, int32_t choice, int64_t sign)
{
    const clv_pairwise *f = s->f;
    if (choice < 0)
        return;
    for (int32_t i = f->first_span[v]; i < f->first_span[v + 1]; i++) {
        int64_t usage = sign * f->span[i].usage[choice];
        s->step[f->span[i].lo] += usage;
        s->step[f->span[i].hi] -= usage;
    }
}

/* Loads take their steps, which are 0 again then. */
static void update_loads(clv_search_state *s)
{
    int64_t more = 0;
    for (int32_t r = 0; r < s->f->n_rows; r++) {
        more += s->step[r];
        s->load[r] += more;
        s->step[r] = 0;
    }
    s->step[s->f->n_rows] = 0;
}

static void count_over(clv_search_state *s)
{
    double over = 0;
    for (int32_t r = 0; r < s->f->n_rows; r++)
        if (s->load[r] > s->f->limit[r])
            over += (double)(s->load[r] - s->f->limit[r]) / ((double)s->f->limit[r] + 1);
    s->over = over;
}

void clv_search_state_set(clv_search_state *s, const int32_t *choice)
{
    const clv_pairwise *f = s->f;
    for (int32_t v = 0; v < f->n; v++)
        s->choice[v] = choice ? choice[v] : -1;
    for (int32_t r = 0; r < f->n_rows; r++)
        s->load[r] = 0;
    s->cost = 0;
    for (int32_t v = 0; v < f->n; v++) {
        int32_t c = s->choice[v];
        if (c < 0)
            continue;
        add_usage(s, v, c, 1);
        s->cost += f->cost[f->first_choice[v] + c];
        for (int32_t a = f->first_arc[v]; a < f->first_arc[v + 1]; a++) {
            int32_t w = f->arc[a].to;
            if (w < v && s->choice[w] >= 0)
                s->cost += f->arc[a].cost[(int64_t)c * clv_pairwise_n_choices(f, w) + s->choice[w]];
        }
    }
    update_loads(s);
    count_over(s);
}

void clv_search_state_copy(clv_search_state *to, const clv_search_state *from)
{
    if (from->f->n > 0)
        memcpy(to->choice, from->choice, (size_t)from->f->n * sizeof *to->choice);
    if (from->f->n_rows > 0)
        memcpy(to->load, from->load, (size_t)from->f->n_rows * sizeof *to->load);
    to->cost = from->cost;
    to->over = from->over;
}

void clv_search_state_apply(clv_search_state *s, const int32_t *node, const int32_t *choice,
                            int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t v = node[i];
        if (s->choice[v] == choice[i])
            continue;
        s->cost -= node_cost(s, v);
        add_usage(s, v, s->choice[v], -1);
        s->choice[v] = choice[i];
        s->cost += node_cost(s, v);
        add_usage(s, v, s->choice[v], 1);
    }
    update_loads(s);
    count_over(s);
}

bool clv_search_state_is_better(const clv_search_state *a, const clv_search_state *b)
{
    if (a->over < b->over)
        return true;
    return a->over <= b->over && a->cost < b->cost;
}

void clv_price_sums(const clv_pairwise *f, const double *price, double *sum)
{
    sum[0] = 0;
    for (int32_t r = 0; r < f->n_rows; r++)
        sum[r + 1] = sum[r] + price[r];
}
