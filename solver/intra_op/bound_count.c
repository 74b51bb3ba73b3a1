/* bound_count.c - see bound_count.h. */
#include "solver/intra_op/bound_count.h"

#include <math.h>
#include <string.h>

/* Whole numbers are in parts of 2^-bits. */
typedef struct {
    int32_t price; /* prices; their sum stays below 2^SUM_BITS */
    int32_t cost;  /* costs, messages and shares; each stays below 2^COST_BITS */
    double scale;  /* 2^cost */
} bits;

enum {
    MOST_PRICE_BITS = 40,
    SUM_BITS = 61, /* times a usage: within 128 bits */
    MOST_COST_BITS = 20,
    COST_BITS = 57, /* a few of them together are within 64 bits */
};

#define NEVER_WHOLE ((int64_t)1 << 61) /* where a cost is never */

/* Added to edges where a node's choice costs never by itself; the node says so already. */
#define DEAD ((int64_t)1 << 59)

/* The largest cost, share or message, about. */
static double largest(clv_intra_op_bound *b)
{
    const clv_intra_op_problem *p = b->p;
    double most = b->largest_entry;

    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t c = p->first_choice[v], k = 0; c < p->first_choice[v + 1]; c++, k++) {
            double sum = b->cost[c] + b->paid[c];

            for (int32_t i = b->first_spoke[v]; i < b->first_spoke[v + 1]; i++)
                sum += fabs(b->message[b->spoke[i].in + k]);
            most = sum > most ? sum : most;
        }
    return most;
}

/* False: the numbers are too large to be counted. */
static bool choose_bits(clv_intra_op_bound *b, bits *ret)
{
    double sum = 1;

    for (int32_t r = 0; r < b->n_rows; r++)
        sum += b->price[r];
    ret->price = (int32_t)(SUM_BITS - 1 - ceil(log2(sum)));
    ret->cost = (int32_t)(COST_BITS - 1 - ceil(log2(1 + largest(b))));
    if (ret->price < 0 || ret->cost < 0)
        return false;
    ret->price = ret->price > MOST_PRICE_BITS ? MOST_PRICE_BITS : ret->price;
    ret->cost = ret->cost > MOST_COST_BITS ? MOST_COST_BITS : ret->cost;
    ret->cost = ret->cost > ret->price ? ret->price : ret->cost;
    ret->scale = ldexp(1, ret->cost);
    return true;
}

/* b->now: costs of the node's choices with what they pay and what comes over edges. */
static void count_node(clv_intra_op_bound *b, int32_t v, bits at)
{
    const clv_intra_op_problem *p = b->p;
    int64_t *now = b->now + p->first_choice[v];
    const int64_t *own = b->own + p->first_choice[v];
    int32_t n = clv_intra_op_n_choices(p, v);
    clv_int128 *paid = b->whole_paid;

    for (int32_t c = 0; c < n; c++)
        paid[c] = 0;
    for (int32_t i = p->first_span[v]; b->n_rows && i < p->first_span[v + 1]; i++) {
        clv_int128 price = b->whole_before[p->span_hi[i]] - b->whole_before[p->span_lo[i]];

        for (int32_t c = 0; price && c < n; c++)
            paid[c] += price * p->usage[p->span_usage[i] + c];
    }
    for (int32_t c = 0; c < n; c++)
        now[c] = (int64_t)(paid[c] >> (at.price - at.cost));
    for (int32_t i = b->first_spoke[v]; i < b->first_spoke[v + 1]; i++)
        for (int32_t c = 0; c < n; c++)
            now[c] += (int64_t)(b->message[b->spoke[i].in + c] * at.scale);
    for (int32_t c = 0; c < n; c++)
        now[c] = own[c] >= CLV_INTRA_OP_NEVER ? NEVER_WHOLE : now[c] + (own[c] << at.cost);
}

/* Takes the shares for edges to later nodes out of the node; returns the least that is left. */
static int64_t share_out(clv_intra_op_bound *b, int32_t v)
{
    const clv_intra_op_problem *p = b->p;
    int64_t *now = b->now + p->first_choice[v], *given = b->given + p->first_choice[v];
    int32_t n = clv_intra_op_n_choices(p, v), earlier = b->n_earlier[v];
    int32_t later = b->first_spoke[v + 1] - b->first_spoke[v] - earlier;
    int32_t parts = earlier > later ? earlier : later;
    int64_t least = NEVER_WHOLE;

    for (int32_t c = 0; c < n; c++) {
        given[c] = now[c] >= NEVER_WHOLE ? DEAD : parts ? now[c] / parts : 0;
        now[c] -= now[c] >= NEVER_WHOLE ? 0 : given[c] * later;
        least = now[c] < least ? now[c] : least;
    }
    for (int32_t c = 0; c < n; c++)
        b->worse[p->first_choice[v] + c] = now[c] - least;
    return least;
}

/* The least of an edge; worse[] of its nodes' choices grows by what each is above it. */
static int64_t count_edge(clv_intra_op_bound *b, int32_t v, const spoke *s, bits at)
{
    const clv_intra_op_problem *p = b->p;
    int32_t n = clv_intra_op_n_choices(p, v), w = s->width;
    const int64_t *m = p->entry + p->first_entry[s->matrix], *given = b->given + p->first_choice[v];
    int64_t row = s->first ? w : 1, column = s->first ? 1 : n, least = NEVER_WHOLE;
    int64_t *by_row = b->row_least, *by_column = b->row_least + n;

    for (int32_t j = 0; j < w; j++)
        b->whole_out[j] = b->own[p->first_choice[s->other] + j] >= CLV_INTRA_OP_NEVER
                              ? -DEAD
                              : (int64_t)(b->message[s->out + j] * at.scale);
    for (int32_t k = 0; k < n + w; k++)
        by_row[k] = NEVER_WHOLE;
    for (int32_t c = 0; c < n; c++) {
        int64_t part = given[c] - (int64_t)(b->message[s->in + c] * at.scale);

        for (int32_t j = 0; j < w; j++) {
            int64_t x = m[row * c + column * j], y = part - b->whole_out[j];

            y = x >= CLV_INTRA_OP_NEVER ? NEVER_WHOLE : y + (x << at.cost);
            by_row[c] = y < by_row[c] ? y : by_row[c];
            by_column[j] = y < by_column[j] ? y : by_column[j];
        }
        least = by_row[c] < least ? by_row[c] : least;
    }
    for (int32_t c = 0; c < n; c++)
        b->worse[p->first_choice[v] + c] += by_row[c] - least;
    for (int32_t j = 0; j < w; j++)
        b->worse[p->first_choice[s->other] + j] += by_column[j] - least;
    return least;
}

/* Costs are whole, so what they are at least may be rounded up. */
static int64_t round_up(clv_int128 x, bits at)
{
    const clv_int128 never = (clv_int128)CLV_INTRA_OP_NEVER << at.cost;

    return x >= never ? CLV_INTRA_OP_NEVER
                      : (int64_t)((x + ((clv_int128)1 << at.cost) - 1) >> at.cost);
}

/* A part that is never at all makes the whole never. */
static void add(clv_int128 *sum, int64_t part, bits at)
{
    *sum += part < NEVER_WHOLE / 2 ? part : (clv_int128)2 * CLV_INTRA_OP_NEVER << at.cost;
}

bool clv_bound_count(clv_intra_op_bound *b)
{
    const clv_intra_op_problem *p = b->p;
    clv_int128 sum, bound;
    bits at;

    b->counts = choose_bits(b, &at);
    if (!b->counts)
        return false;
    /* What the limit is worth, rounded up; whole prices before each row. */
    sum = (clv_int128)b->edges_alone << at.cost;
    for (int32_t r = 0; r < b->n_rows; r++)
        b->whole_before[r + 1] = b->whole_before[r] + (int64_t)ldexp(b->price[r], at.price);
    if (b->n_rows)
        sum -= (b->whole_before[b->n_rows] * p->usage_limit +
                ((clv_int128)1 << (at.price - at.cost)) - 1) >>
               (at.price - at.cost);
    for (int32_t v = 0; v < p->n_nodes; v++) {
        count_node(b, v, at);
        add(&sum, share_out(b, v), at);
    }
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t i = b->first_spoke[v] + b->n_earlier[v]; i < b->first_spoke[v + 1]; i++)
            add(&sum, count_edge(b, v, &b->spoke[i], at), at);
    for (int32_t c = 0; c < p->first_choice[p->n_nodes]; c++) {
        bool never = b->worse[c] >= NEVER_WHOLE / 2;
        int64_t least = never ? CLV_INTRA_OP_NEVER : round_up(sum + b->worse[c], at);

        b->least[c] = least > b->least[c] ? least : b->least[c];
    }
    b->level = bound = round_up(sum, at);
    if (bound <= b->bound)
        return false;
    b->bound = bound;
    memcpy(b->best_price, b->price, (size_t)b->n_rows * sizeof *b->price);
    return true;
}
