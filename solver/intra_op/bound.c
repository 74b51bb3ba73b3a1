/* bound.c - see bound.h. */
#include "solver/intra_op/bound.h"

#include <string.h>

#include "solver/intra_op/bound_count.h"
#include "solver/intra_op/bound_extrapolate.h"
#include "solver/intra_op/bound_price.h"
#include "solver/intra_op/cost_rows.h"

clv_status clv_intra_op_bound_new(const clv_intra_op_problem *p, clv_arena *arena,
                                  clv_intra_op_bound **ret, clv_error *err)
{
    CLV_TRY(clv_bound_state_new(p, arena, ret, err));
    clv_bound_count(*ret);
    return CLV_OK;
}

clv_int128 clv_intra_op_bound_value(const clv_intra_op_bound *b) { return b->bound; }
int32_t clv_intra_op_bound_n_rows(const clv_intra_op_bound *b) { return b->n_rows; }
const double *clv_intra_op_bound_price(const clv_intra_op_bound *b) { return b->best_price; }
const int64_t *clv_intra_op_bound_min_marginals(const clv_intra_op_bound *b) { return b->least; }

int32_t clv_intra_op_bound_fix_choices(const clv_intra_op_bound *b, clv_int128 cost, bool *alive)
{
    int32_t n = 0;

    for (int32_t c = 0; c < b->p->first_choice[b->p->n_nodes]; c++)
        if (alive[c] && b->least[c] >= cost) {
            alive[c] = false;
            n++;
        }
    return n;
}

/* b->sum: cost of each choice of v with what memory costs and all that its neighbours say. */
static void sum_beliefs(clv_intra_op_bound *b, int32_t v)
{
    const clv_intra_op_problem *p = b->p;
    int32_t n = clv_intra_op_n_choices(p, v), best = 0;
    const double *cost = b->cost + p->first_choice[v], *paid = b->paid + p->first_choice[v];
    double *sum = b->sum;

    for (int32_t c = 0; c < n; c++)
        sum[c] = cost[c] + paid[c];
    for (int32_t i = b->first_spoke[v]; i < b->first_spoke[v + 1]; i++)
        clv_row_add(sum, b->message + b->spoke[i].in, n);
    for (int32_t c = 1; c < n; c++)
        best = sum[c] < sum[best] ? c : best;
    b->taken[v] = best;
}

/* The message that v sends over a spoke, of a share of b->sum. */
static void send_message(clv_intra_op_bound *b, int32_t v, const spoke *s, double share)
{
    int32_t n = clv_intra_op_n_choices(b->p, v), width = s->width;
    const double *in = b->message + s->in;
    double *out = b->message + s->out, *part = b->part, least = HUGE_COST, enough = b->enough;

    for (int32_t c = 0; c < n; c++)
        part[c] = share * b->sum[c] - in[c];
    clv_row_min_plus(part, (clv_cost_rows){ b->entry[!s->first][s->matrix], width, n, width },
                     HUGE_COST, out);
    for (int32_t j = 0; j < width; j++)
        least = clv_lesser(out[j], least);
    for (int32_t j = 0; j < width; j++)
        out[j] = clv_lesser(out[j] - least, enough);
}

static void sweep(clv_intra_op_bound *b, bool forward)
{
    for (int32_t k = 0, n = b->p->n_nodes; k < n; k++) {
        int32_t v = forward ? k : n - 1 - k;
        int32_t earlier = b->n_earlier[v], mid = b->first_spoke[v] + earlier;
        int32_t later = b->first_spoke[v + 1] - mid, end = forward ? b->first_spoke[v + 1] : mid;
        double share = earlier + later ? 1.0 / (earlier > later ? earlier : later) : 0;

        sum_beliefs(b, v);
        for (int32_t i = forward ? mid : b->first_spoke[v]; i < end; i++)
            send_message(b, v, &b->spoke[i], share);
    }
}

void clv_intra_op_bound_run(clv_intra_op_bound *b, int32_t rounds, clv_int128 cost,
                            bool (*stop)(void *ctx), void *ctx)
{
    for (int32_t i = 0; i < rounds && !(stop && stop(ctx)); i++) {
        bool back = false;

        if (cost >= 0 && b->bound >= cost)
            return;
        sweep(b, false);
        sweep(b, true);
        b->rounds++;
        if (b->rounds % COUNT_EVERY == 0) {
            b->since = clv_bound_count(b) ? 0 : b->since + 1;
            if (b->since >= PATIENCE) { /* smaller steps, from the best prices */
                b->since = 0;
                b->step *= SMALLER;
                memcpy(b->price, b->best_price, (size_t)b->n_rows * sizeof *b->price);
                clv_bound_set_memory_costs(b);
            }
        }
        if (b->rounds % EXTRAPOLATE_EVERY == 0)
            back = !clv_bound_extrapolate(b);
        if (b->n_rows && b->rounds > QUIET && !back)
            clv_bound_update_prices(b, cost);
    }
}
