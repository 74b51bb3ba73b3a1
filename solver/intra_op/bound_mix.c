/* bound_mix.c - see bound_mix.h. */
#include "solver/intra_op/bound_mix.h"

#include <string.h>

#include "solver/intra_op/bound_decode.h"

enum {
    MOST_ROWS = 8,   /* looked at after each node */
    BISECTIONS = 10, /* of the factor on prices */
};

/* The factor on prices is between 1 / FARTHEST and FARTHEST. */
#define FARTHEST 4.0

/* Cheapest choices one after the other at so many times the prices, whatever they hold. */
static bool read_loose(clv_intra_op_bound *b, bool forward, double factor, int32_t *choice)
{
    const clv_intra_op_problem *p = b->p;

    for (int32_t k = 0; k < p->n_nodes; k++) {
        int32_t v = forward ? k : p->n_nodes - 1 - k, best = 0, n = clv_intra_op_n_choices(p, v);
        const double *paid = b->paid + p->first_choice[v];
        double *sum = b->sum;

        clv_bound_conditional_costs(b, v, forward, choice);
        for (int32_t c = 0; c < n; c++)
            sum[c] += (factor - 1) * paid[c];
        for (int32_t c = 1; c < n; c++)
            best = sum[c] < sum[best] ? c : best;
        if (sum[best] >= HUGE_COST / 2)
            return false;
        choice[v] = best;
    }
    return true;
}

/* What is left in each row. Choices are taken that may be over the limit, whatever they hold. */
typedef struct {
    clv_int128 row[MOST_ROWS];
    int32_t n;
} room_left;

static void hold(const clv_intra_op_problem *p, room_left *room, int32_t v, int32_t c, int32_t sign)
{
    for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++)
        for (int64_t r = p->span_lo[i]; r < p->span_hi[i]; r++)
            room->row[r] -= (clv_int128)sign * p->usage[p->span_usage[i] + c];
}

static bool all_fits(const room_left *room)
{
    for (int32_t r = 0; r < room->n; r++)
        if (room->row[r] < 0)
            return false;
    return true;
}

static bool fits_whole(const clv_intra_op_bound *b, const int32_t *choice, room_left *room)
{
    room->n = b->n_rows;
    for (int32_t r = 0; r < b->n_rows; r++)
        room->row[r] = b->p->usage_limit;
    for (int32_t v = 0; v < b->p->n_nodes; v++)
        hold(b->p, room, v, choice[v], 1);
    return all_fits(room);
}

/* What v costs with choice c, with its edges to the others as they are; nevers apart. */
static double cost_at(const clv_intra_op_bound *b, const int32_t *choice, int32_t v, int32_t c,
                      int32_t *nevers)
{
    const clv_intra_op_problem *p = b->p;
    double sum = b->cost[p->first_choice[v] + c];
    int32_t n = clv_intra_op_n_choices(p, v);

    for (int32_t i = b->first_spoke[v]; i < b->first_spoke[v + 1]; i++) {
        const spoke *s = &b->spoke[i];
        double x = b->entry[s->first][s->matrix][(int64_t)n * choice[s->other] + c];

        if (x >= HUGE_COST / 2)
            ++*nevers;
        else
            sum += x;
    }
    return sum;
}

/* Into mix[3]: nodes at which the two differ, each piece of them breadth first from its lowest. */
static int32_t order_nodes(clv_intra_op_bound *b, const int32_t *choice, const int32_t *to)
{
    int32_t *order = b->mix[3], *seen = b->mix[4], n = 0;

    memset(seen, 0, (size_t)b->p->n_nodes * sizeof *seen);
    for (int32_t v = 0; v < b->p->n_nodes; v++) {
        if (seen[v] || choice[v] == to[v])
            continue;
        seen[v] = 1;
        order[n] = v;
        for (int32_t next = n++; next < n; next++)
            for (int32_t i = b->first_spoke[order[next]]; i < b->first_spoke[order[next] + 1];
                 i++) {
                int32_t w = b->spoke[i].other;

                if (seen[w] || choice[w] == to[w])
                    continue;
                seen[w] = 1;
                order[n++] = w;
            }
    }
    return n;
}

/* From choice, which fits, to `to`, along that order or backwards; choice becomes the best solution
 * on the way. */
static void walk_between(clv_intra_op_bound *b, bool forward, int32_t *choice, const int32_t *to)
{
    room_left room;
    int32_t n = order_nodes(b, choice, to), best = -1, nevers = 0;
    double cost = 0, least = 0;
    int32_t *from = b->mix[2];

    fits_whole(b, choice, &room);
    memcpy(from, choice, (size_t)b->p->n_nodes * sizeof *from);
    for (int32_t k = 0; k < n; k++) {
        int32_t v = b->mix[3][forward ? k : n - 1 - k], before = 0;

        cost -= cost_at(b, choice, v, choice[v], &before);
        nevers -= before;
        hold(b->p, &room, v, choice[v], -1);
        choice[v] = to[v];
        cost += cost_at(b, choice, v, choice[v], &nevers);
        hold(b->p, &room, v, choice[v], 1);
        if (nevers <= 0 && cost < least && all_fits(&room)) {
            least = cost;
            best = k;
        }
    }
    for (int32_t k = best + 1; k < n; k++) {
        int32_t v = b->mix[3][forward ? k : n - 1 - k];

        choice[v] = from[v];
    }
}

bool clv_intra_op_bound_mix(clv_intra_op_bound *b, bool forward, int32_t *choice)
{
    size_t size = (size_t)b->p->n_nodes * sizeof *choice;
    int32_t *most = b->mix[0], *now = b->mix[1];
    double low = 1 / FARTHEST, high = FARTHEST;
    room_left room;
    bool over = false;

    if (!b->n_rows || b->n_rows > MOST_ROWS || !read_loose(b, forward, high, choice) ||
        !fits_whole(b, choice, &room))
        return false;
    for (int i = 0; i < BISECTIONS; i++) {
        double factor = i ? (low + high) / 2 : 1;

        if (!read_loose(b, forward, factor, now))
            return false;
        if (fits_whole(b, now, &room)) {
            memcpy(choice, now, size);
            high = factor;
        } else {
            memcpy(most, now, size);
            over = true;
            low = factor;
        }
    }
    if (over) {
        walk_between(b, forward, choice, most);
        walk_between(b, !forward, choice, most);
    }
    return true;
}
