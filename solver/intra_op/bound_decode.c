/* bound_decode.c - see bound_decode.h. */
#include "solver/intra_op/bound_decode.h"

#include <string.h>

#include "solver/intra_op/cost_rows.h"

/* The least room in each span of v. */
static void find_span_room(clv_intra_op_bound *b, int32_t v)
{
    const clv_intra_op_problem *p = b->p;

    for (int32_t i = p->first_span[v]; b->n_rows && i < p->first_span[v + 1]; i++) {
        int64_t least = p->usage_limit;

        for (int64_t r = p->span_lo[i]; r < p->span_hi[i]; r++)
            least = b->room[r] < least ? b->room[r] : least;
        b->span_room[i - p->first_span[v]] = least;
    }
}

static bool fits(const clv_intra_op_bound *b, int32_t v, int32_t c)
{
    const clv_intra_op_problem *p = b->p;

    for (int32_t i = p->first_span[v]; b->n_rows && i < p->first_span[v + 1]; i++)
        if (p->usage[p->span_usage[i] + c] > b->span_room[i - p->first_span[v]])
            return false;
    return true;
}

void clv_bound_conditional_costs(clv_intra_op_bound *b, int32_t v, bool forward,
                                 const int32_t *choice)
{
    const clv_intra_op_problem *p = b->p;
    int32_t n = clv_intra_op_n_choices(p, v), mid = b->first_spoke[v] + b->n_earlier[v];
    const double *cost = b->cost + p->first_choice[v], *paid = b->paid + p->first_choice[v];
    const int64_t *own = b->own + p->first_choice[v];
    double *sum = b->sum;

    for (int32_t c = 0; c < n; c++)
        sum[c] = own[c] >= CLV_INTRA_OP_NEVER ? HUGE_COST : cost[c] + paid[c];
    for (int32_t i = b->first_spoke[v]; i < b->first_spoke[v + 1]; i++) {
        const spoke *s = &b->spoke[i];
        /* turned: the row of the other's choice */
        const double *more = (i < mid) == forward
                                 ? b->entry[s->first][s->matrix] + (int64_t)n * choice[s->other]
                                 : b->message + s->in;

        clv_row_add(sum, more, n);
    }
}

bool clv_intra_op_bound_decode(clv_intra_op_bound *b, bool forward, double price, int32_t *choice)
{
    const clv_intra_op_problem *p = b->p;

    for (int32_t r = 0; r < b->n_rows; r++)
        b->room[r] = p->usage_limit;
    for (int32_t k = 0; k < p->n_nodes; k++) {
        int32_t v = forward ? k : p->n_nodes - 1 - k, n = clv_intra_op_n_choices(p, v), best = -1;

        clv_bound_conditional_costs(b, v, forward, choice);
        find_span_room(b, v);
        for (int32_t c = 0; c < n; c++)
            b->sum[c] += (price - 1) * b->paid[p->first_choice[v] + c];
        for (int32_t c = 0; c < n; c++)
            if (b->sum[c] < HUGE_COST / 2 && (best < 0 || b->sum[c] < b->sum[best]) &&
                fits(b, v, c))
                best = c;
        if (best < 0)
            return false;
        choice[v] = best;
        for (int32_t i = p->first_span[v]; b->n_rows && i < p->first_span[v + 1]; i++) {
            int64_t u = p->usage[p->span_usage[i] + best];

            for (int64_t r = p->span_lo[i]; u && r < p->span_hi[i]; r++)
                b->room[r] -= u;
        }
    }
    return true;
}
