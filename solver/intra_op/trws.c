/* trws.c - see trws.h. */
#include "solver/intra_op/trws.h"

#include <math.h>
#include <string.h>

#include "solver/intra_op/cost_rows.h"
#include "solver/intra_op/search_state.h"

clv_status clv_trws_new(const clv_pairwise *f, clv_arena *arena, clv_trws *ret, clv_error *err)
{
    int32_t n_arcs = f->first_arc[f->n];
    clv_trws m = { .f = f, .first = CLV_NEW_ARRAY(arena, int64_t, (int64_t)n_arcs + 1) };
    if (!m.first)
        return clv_fail_nomem(err, "a search");
    for (int32_t v = 0; v < f->n; v++)
        for (int32_t a = f->first_arc[v]; a < f->first_arc[v + 1]; a++) {
            int32_t k = clv_pairwise_n_choices(f, v);
            m.first[a + 1] = m.first[a] + k;
            m.work += (int64_t)k * clv_pairwise_n_choices(f, f->arc[a].to);
        }
    m.into = CLV_NEW_ARRAY(arena, double, m.first[n_arcs]);
    m.belief = CLV_NEW_ARRAY(arena, double, f->first_choice[f->n]);
    m.scratch = CLV_NEW_ARRAY(arena, double, f->max_choices);
    m.choice = CLV_NEW_ARRAY(arena, int32_t, f->n);
    if (!m.into || !m.belief || !m.scratch || !m.choice)
        return clv_fail_nomem(err, "a search");
    *ret = m;
    return CLV_OK;
}

void clv_trws_clear(clv_trws *m)
{
    memset(m->into, 0, (size_t)m->first[m->f->first_arc[m->f->n]] * sizeof *m->into);
}

/* The message along arc a of v, to the other end; its least is taken out and returned. */
static double send_message(clv_trws *m, int32_t v, int32_t a, const double *belief, double share)
{
    const clv_pairwise *f = m->f;
    int32_t w = f->arc[a].to, n = clv_pairwise_n_choices(f, v),
            width = clv_pairwise_n_choices(f, w);
    const double *into = m->into + m->first[a];
    double *out = m->into + m->first[f->arc[a].back], *part = m->scratch;
    for (int32_t c = 0; c < n; c++)
        part[c] = share * belief[c] - into[c];
    clv_row_min_plus(part, (clv_cost_rows){ f->arc[a].cost, width, n, width }, INFINITY, out);
    double least = out[0];
    for (int32_t k = 1; k < width; k++)
        least = clv_lesser(out[k], least);
    for (int32_t k = 0; k < width; k++)
        out[k] -= least;
    return least;
}

static void update_node(clv_trws *m, int32_t v, const double *sum, bool up)
{
    const clv_pairwise *f = m->f;
    int32_t below = 0, above = 0;
    for (int32_t a = f->first_arc[v]; a < f->first_arc[v + 1]; a++) {
        below += f->arc[a].to < v;
        above += f->arc[a].to > v;
    }
    /* Own costs and all messages into the node. */
    int32_t n = clv_pairwise_n_choices(f, v);
    double *belief = m->belief + f->first_choice[v];
    for (int32_t c = 0; c < n; c++)
        belief[c] = f->cost[f->first_choice[v] + c] + clv_priced(f, v, c, sum);
    for (int32_t a = f->first_arc[v]; a < f->first_arc[v + 1]; a++)
        clv_row_add(belief, m->into + m->first[a], n);
    double least = belief[0];
    for (int32_t c = 1; c < n; c++)
        least = belief[c] < least ? belief[c] : least;
    for (int32_t c = 0; c < n; c++)
        belief[c] -= least;
    m->level += least;
    int32_t most = below > above ? below : above;
    for (int32_t a = f->first_arc[v]; a < f->first_arc[v + 1]; a++)
        if ((f->arc[a].to > v) == up)
            m->level += send_message(m, v, a, belief, 1.0 / most);
}

void clv_trws_sweep(clv_trws *m, const double *sum)
{
    m->level = 0;
    for (int32_t v = 0; v < m->f->n; v++)
        update_node(m, v, sum, true);
    m->level = 0;
    for (int32_t v = m->f->n - 1; v >= 0; v--)
        update_node(m, v, sum, false);
}

void clv_trws_decode(const clv_trws *m, int32_t *choice)
{
    const clv_pairwise *f = m->f;
    for (int32_t v = 0; v < f->n; v++) {
        int32_t n = clv_pairwise_n_choices(f, v), best = 0;
        double *cost = m->scratch;
        memcpy(cost, m->belief + f->first_choice[v], (size_t)n * sizeof *cost);
        for (int32_t a = f->first_arc[v]; a < f->first_arc[v + 1]; a++) {
            int32_t w = f->arc[a].to;
            if (w > v)
                continue;
            const double *into = m->into + m->first[a];
            const double *column = f->arc[a].cost + choice[w];
            int32_t width = clv_pairwise_n_choices(f, w);
            for (int32_t c = 0; c < n; c++)
                cost[c] += column[(int64_t)c * width] - into[c];
        }
        for (int32_t c = 1; c < n; c++)
            if (cost[c] < cost[best])
                best = c;
        choice[v] = best;
    }
}
