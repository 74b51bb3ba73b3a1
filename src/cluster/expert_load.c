#include "cluster/expert_load.h"

#include <math.h>

#define DRAWS       16
#define CLIP_ROUNDS 20
#define SEED        12345u

/* Quantiles of the law x^-skew between two bounds, the middle of each of n equal parts. */
static void draw_loads(double skew, double low, double high, int32_t n, double *ret)
{
    double a = 1 - skew, from = pow(low, a), to = pow(high, a);
    for (int32_t i = 0; i < n; i++) {
        double q = (i + 0.5) / n;
        ret[i] = fabs(a) < 1e-9 ? low * pow(high / low, q) : pow((to - from) * q + from, 1 / a);
    }
}

/* Scaled to rows in sum, none above most: what is cut off goes to the others in proportion. */
static void share_out(double rows, double most, int32_t n, double *loads)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += loads[i];
    for (int32_t i = 0; i < n; i++)
        loads[i] *= rows / sum;
    for (int32_t round = 0; round < CLIP_ROUNDS; round++) {
        double full = 0, rest = 0, highest = 0;
        for (int32_t i = 0; i < n; i++) {
            highest = loads[i] > highest ? loads[i] : highest;
            if (loads[i] >= most)
                full += most;
            else
                rest += loads[i];
        }
        if (highest <= most * (1 + 1e-9))
            return;
        for (int32_t i = 0; i < n; i++)
            loads[i] = loads[i] >= most ? most : rest > 0 ? loads[i] * (rows - full) / rest : 0;
    }
}

/* Of Fisher and Yates, with a generator of 32 bits that is written out: the same everywhere. */
static void shuffle(uint32_t *state, int32_t n, int16_t *ret)
{
    for (int32_t i = 0; i < n; i++)
        ret[i] = (int16_t)i;
    for (int32_t i = n - 1; i > 0; i--) {
        *state = 1664525u * *state + 1013904223u;
        int32_t j = (int32_t)((*state >> 8) % (uint32_t)(i + 1));
        int16_t kept = ret[i];
        ret[i] = ret[j];
        ret[j] = kept;
    }
}

/* The part with the most rows, the first of those. */
static clv_expert_load fullest(const double *loads, const int16_t *order, int32_t n, int32_t parts)
{
    clv_expert_load most = { 0, 0 };
    for (int32_t p = 0; p < parts; p++) {
        clv_expert_load one = { 0, 0 };
        int32_t end = (int32_t)((int64_t)n * (p + 1) / parts);
        for (int32_t i = (int32_t)((int64_t)n * p / parts); i < end; i++) {
            double load = loads[order[i]];
            one.rows += load;
            one.hit += load < 1 ? load : 1;
        }
        if (one.rows > most.rows)
            most = one;
    }
    return most;
}

static clv_expert_load by_law(const clv_kernel_shape *s, double rows)
{
    double loads[CLV_EXPERTS_MAX];
    int16_t order[CLV_EXPERTS_MAX];
    int32_t n = (int32_t)s->experts, draws = s->parts > 1 ? DRAWS : 1;
    bool many = rows > (double)n;
    double low = many ? 1 : 0.01, high = many ? 0.8 * (double)s->tokens : 2;
    clv_expert_load sum = { 0, 0 };
    uint32_t state = SEED;
    draw_loads(s->skew, low, high > low ? high : low, n, loads);
    share_out(rows, (double)s->tokens, n, loads);
    for (int32_t i = 0; i < draws; i++) {
        shuffle(&state, n, order);
        clv_expert_load one = fullest(loads, order, n, (int32_t)s->parts);
        sum.rows += one.rows / draws;
        sum.hit += one.hit / draws;
    }
    return sum;
}

bool clv_expert_load_of(const clv_kernel_shape *s, clv_expert_load *ret)
{
    if (s->experts < 1 || s->experts > CLV_EXPERTS_MAX || s->parts < 1 || s->parts > s->experts ||
        s->top_k < 1 || s->top_k > s->experts || s->tokens < 1 || !(s->skew >= 0))
        return false;
    double rows = (double)s->tokens * (double)s->top_k, own = rows / (double)s->parts;
    clv_expert_load load = { own, ceil(own) };
    if (s->skew > 0)
        load = by_law(s, rows);
    else if (load.hit > (double)s->experts / (double)s->parts)
        load.hit = (double)s->experts / (double)s->parts;
    ret->rows = load.rows > 1 ? load.rows : 1;
    ret->hit = load.hit > 1 ? load.hit : 1;
    return true;
}
