/* mip_formulation.c - columns in the order x, T, g, p, then those of nets as they come. */
#include "solver/placement/mip/mip_formulation.h"

#include <assert.h>
#include <math.h>

#include "solver/common/ilp/ilp_mps.h"

/* A place: a device, or a seat in the line with a kind of device. */
typedef struct {
    int32_t kind;
    int32_t seat; /* device number where free */
} place;

typedef struct {
    const clv_contraction *b;
    bool contiguous;
    double unit, most;
    int32_t n_places, n_seats, n_sorts; /* sorts: kinds that have devices */
    place *places;                      /* seat by seat */
    int32_t *net_column;                /* [place * n_nets + net] */
    clv_ilp *ilp;
} program;

static int32_t column_x(const program *p, int32_t block, int32_t q)
{
    return block * p->n_places + q;
}

static int32_t column_t(const program *p) { return p->b->n * p->n_places; }

static int32_t column_g(const program *p, int32_t q) { return column_t(p) + 1 + q; }

/* Seats but the last: there everything is at it or before. */
static int32_t column_p(const program *p, int32_t block, int32_t seat)
{
    int32_t n_g = p->n_sorts > 1 ? p->n_places : 0;
    return column_t(p) + 1 + n_g + block * (p->n_seats - 1) + seat;
}

static const clv_place_kind *kind_at(const program *p, int32_t q)
{
    return &p->b->p->kinds[p->places[q].kind];
}

static clv_status list_places(program *p, clv_arena *arena, clv_error *err)
{
    const clv_place_problem *x = p->b->p;
    int32_t n = 0;
    p->n_seats = clv_place_devices(x);
    for (int32_t k = 0; k < x->n_kinds; k++)
        p->n_sorts += x->kinds[k].count > 0;
    p->n_places = p->contiguous ? p->n_seats * p->n_sorts : p->n_seats;
    p->places = CLV_NEW_ARRAY(arena, place, p->n_places);
    p->net_column = CLV_NEW_ARRAY(arena, int32_t, (size_t)p->b->n_nets * (size_t)p->n_places);
    if (!p->places || !p->net_column)
        return clv_fail_nomem(err, "the program of a placement");
    for (int32_t s = 0; s < p->n_seats && p->contiguous; s++)
        for (int32_t k = 0; k < x->n_kinds; k++)
            if (x->kinds[k].count > 0)
                p->places[n++] = (place){ k, s };
    for (int32_t k = 0; k < x->n_kinds && !p->contiguous; k++)
        for (int32_t i = 0; i < x->kinds[k].count; i++, n++)
            p->places[n] = (place){ k, n };
    return CLV_OK;
}

static void add_columns(program *p)
{
    const clv_contraction *b = p->b;
    for (int32_t i = 0; i < b->n; i++)
        for (int32_t q = 0; q < p->n_places; q++) {
            bool can = clv_block_time(b, p->places[q].kind, i) != CLV_BLOCK_NEVER;
            clv_ilp_add_column(
                p->ilp, (clv_ilp_column){
                            .hi = can ? 1 : 0, .whole = true, .letter = 'x', .a = i, .b = q });
        }
    clv_ilp_add_column(
        p->ilp, (clv_ilp_column){ .hi = p->most, .cost = 1, .letter = 'T', .a = -1, .b = -1 });
    if (!p->contiguous)
        return;
    for (int32_t q = 0; q < p->n_places && p->n_sorts > 1; q++)
        clv_ilp_add_column(p->ilp, (clv_ilp_column){ .hi = 1,
                                                     .whole = true,
                                                     .letter = 'g',
                                                     .a = p->places[q].seat,
                                                     .b = p->places[q].kind });
    for (int32_t i = 0; i < b->n; i++)
        for (int32_t s = 0; s + 1 < p->n_seats; s++)
            clv_ilp_add_column(p->ilp, (clv_ilp_column){ .hi = 1, .letter = 'p', .a = i, .b = s });
}

/* -- nets -- */

static int32_t add_spread(program *p, int32_t net, int32_t q)
{
    const clv_contraction *b = p->b;
    int32_t h =
        clv_ilp_add_column(p->ilp, (clv_ilp_column){ .hi = 1, .letter = 'h', .a = net, .b = q });
    int32_t l =
        clv_ilp_add_column(p->ilp, (clv_ilp_column){ .hi = 1, .letter = 'l', .a = net, .b = q });
    for (int32_t i = b->net_first[net]; i < b->net_first[net + 1]; i++) {
        clv_ilp_add_row(p->ilp, 0, INFINITY);
        clv_ilp_add_term(p->ilp, h, 1);
        clv_ilp_add_term(p->ilp, column_x(p, b->pins[i], q), -1);
        clv_ilp_add_row(p->ilp, 0, INFINITY);
        clv_ilp_add_term(p->ilp, column_x(p, b->pins[i], q), 1);
        clv_ilp_add_term(p->ilp, l, -1);
    }
    return h;
}

static int32_t add_pair(program *p, int32_t net, int32_t q)
{
    const int32_t *pins = p->b->pins + p->b->net_first[net];
    int32_t y =
        clv_ilp_add_column(p->ilp, (clv_ilp_column){ .hi = 1, .letter = 'y', .a = net, .b = q });
    for (int sign = -1; sign <= 1; sign += 2) {
        clv_ilp_add_row(p->ilp, 0, INFINITY);
        clv_ilp_add_term(p->ilp, y, 1);
        clv_ilp_add_term(p->ilp, column_x(p, pins[0], q), sign);
        clv_ilp_add_term(p->ilp, column_x(p, pins[1], q), -sign);
    }
    return y;
}

static bool is_pair(const clv_contraction *b, int32_t net)
{
    return b->net_first[net + 1] - b->net_first[net] == 2;
}

/* The terms of a place in the load of its seat, or in that of all devices of its kind. */
static void add_share(program *p, int32_t q)
{
    const clv_contraction *b = p->b;
    const int32_t *net_column = p->net_column + (size_t)q * (size_t)b->n_nets;
    for (int32_t i = 0; i < b->n; i++) {
        int64_t t = clv_block_time(b, p->places[q].kind, i);
        if (t > 0)
            clv_ilp_add_term(p->ilp, column_x(p, i, q), -(double)t * p->unit);
    }
    for (int32_t e = 0; e < b->n_nets && kind_at(p, q)->pays; e++) {
        double cost = (double)b->net_cost[e] * p->unit;
        clv_ilp_add_term(p->ilp, net_column[e], -cost);
        if (!is_pair(b, e))
            clv_ilp_add_term(p->ilp, net_column[e] + 1, cost);
    }
}

/* T - times - charges >= 0. One row for the places of a seat, of which one at most has blocks: a
 * tighter relaxation than one for each. */
static void add_load(program *p, int32_t first, int32_t n)
{
    const clv_contraction *b = p->b;
    for (int32_t q = first; q < first + n; q++)
        for (int32_t e = 0; e < b->n_nets && kind_at(p, q)->pays; e++) {
            int32_t *column = &p->net_column[(size_t)q * (size_t)b->n_nets + (size_t)e];
            *column = is_pair(b, e) ? add_pair(p, e, q) : add_spread(p, e, q);
        }
    clv_ilp_add_row(p->ilp, 0, INFINITY);
    clv_ilp_add_term(p->ilp, column_t(p), 1);
    for (int32_t q = first; q < first + n; q++)
        add_share(p, q);
}

/* In parts of the capacity, so that all numbers are near 1. */
static void add_memory(program *p, int32_t q)
{
    int64_t capacity = kind_at(p, q)->capacity_bytes;
    if (capacity < 0)
        return;
    double unit = capacity > 0 ? (double)capacity : 1;
    bool shared = p->contiguous && p->n_sorts > 1; /* the seat: only room for who has it */
    clv_ilp_add_row(p->ilp, -INFINITY, shared ? 0 : (double)capacity / unit);
    if (shared && capacity > 0)
        clv_ilp_add_term(p->ilp, column_g(p, q), -1);
    for (int32_t i = 0; i < p->b->n; i++)
        if (p->b->bytes[i] > 0)
            clv_ilp_add_term(p->ilp, column_x(p, i, q), (double)p->b->bytes[i] / unit);
}

/* -- free: one order of devices that are alike -- */

static int64_t longest_time(const clv_contraction *b, int32_t block)
{
    int64_t most = 0;
    for (int32_t k = 0; k < b->n_kinds; k++)
        most = clv_block_time(b, k, block) > most ? clv_block_time(b, k, block) : most;
    return most;
}

/* The i-th of the longest blocks is on the j-th device of a kind only if an earlier one is on the
 * one before. */
static clv_status add_order(program *p, clv_arena *arena, clv_error *err)
{
    int32_t n = p->n_seats < p->b->n ? p->n_seats : p->b->n;
    int32_t *longest = CLV_NEW_ARRAY(arena, int32_t, n);
    if (!longest)
        return clv_fail_nomem(err, "the program of a placement");
    for (int32_t u = 0, m = 0; u < p->b->n; u++) { /* the longest first */
        int32_t at = m < n ? m++ : n;
        for (; at > 0 && longest_time(p->b, u) > longest_time(p->b, longest[at - 1]); at--)
            if (at < n)
                longest[at] = longest[at - 1];
        if (at < n)
            longest[at] = u;
    }
    for (int32_t q = 1; q < p->n_places; q++) {
        if (p->places[q].kind != p->places[q - 1].kind)
            continue;
        for (int32_t i = 0; i < n; i++) {
            clv_ilp_add_row(p->ilp, 0, INFINITY);
            clv_ilp_add_term(p->ilp, column_x(p, longest[i], q), -1);
            for (int32_t before = 0; before < i; before++)
                clv_ilp_add_term(p->ilp, column_x(p, longest[before], q - 1), 1);
        }
    }
    return CLV_OK;
}

/* -- contiguous -- */

/* A seat has one device, a kind as many seats as devices, and blocks go where their kind sits. */
static void add_seats(program *p)
{
    const clv_place_problem *x = p->b->p;
    for (int32_t s = 0; s < p->n_seats; s++) {
        clv_ilp_add_row(p->ilp, 1, 1);
        for (int32_t i = 0; i < p->n_sorts; i++)
            clv_ilp_add_term(p->ilp, column_g(p, s * p->n_sorts + i), 1);
    }
    for (int32_t i = 0; i < p->n_sorts; i++) {
        double count = x->kinds[p->places[i].kind].count;
        clv_ilp_add_row(p->ilp, count, count);
        for (int32_t s = 0; s < p->n_seats; s++)
            clv_ilp_add_term(p->ilp, column_g(p, s * p->n_sorts + i), 1);
    }
    for (int32_t i = 0; i < p->b->n; i++)
        for (int32_t q = 0; q < p->n_places; q++) {
            clv_ilp_add_row(p->ilp, 0, INFINITY);
            clv_ilp_add_term(p->ilp, column_g(p, q), 1);
            clv_ilp_add_term(p->ilp, column_x(p, i, q), -1);
        }
}

static void add_line(program *p)
{
    const clv_contraction *b = p->b;
    for (int32_t i = 0; i < b->n; i++) {
        for (int32_t s = 0; s + 1 < p->n_seats; s++) {
            clv_ilp_add_row(p->ilp, 0, 0);
            clv_ilp_add_term(p->ilp, column_p(p, i, s), 1);
            if (s > 0)
                clv_ilp_add_term(p->ilp, column_p(p, i, s - 1), -1);
            for (int32_t k = 0; k < p->n_sorts; k++)
                clv_ilp_add_term(p->ilp, column_x(p, i, s * p->n_sorts + k), -1);
        }
        for (int32_t a = b->after_first[i]; a < b->after_first[i + 1]; a++)
            for (int32_t s = 0; s + 1 < p->n_seats; s++) {
                clv_ilp_add_row(p->ilp, 0, INFINITY);
                clv_ilp_add_term(p->ilp, column_p(p, i, s), 1);
                clv_ilp_add_term(p->ilp, column_p(p, b->after[a], s), -1);
            }
    }
}

/* -- the whole -- */

int64_t clv_mip_count_terms(const clv_contraction *b, const clv_place_rules *rules)
{
    int64_t places = clv_place_devices(b->p), pins = b->net_first[b->n_nets];
    if (rules->contiguous)
        places *= b->n_kinds;
    /* at each place: T and the seat's own; a block's placing, load, bytes and seat; and a net's one
     * or two columns, tied to each pin and in the loads */
    int64_t each = 8 + 8 * (int64_t)b->n + 6 * pins;
    if (rules->contiguous)
        each += 2 * (int64_t)b->after_first[b->n] + 2 * (int64_t)b->n;
    if (each > 0 && places > INT64_MAX / 2 / each)
        return INT64_MAX;
    return places * each + (rules->contiguous ? 0 : places * places * places);
}

clv_status clv_mip_formulate(const clv_contraction *b, const clv_place_rules *rules,
                             clv_mip_scale scale, clv_arena *arena, clv_ilp *ret, clv_error *err)
{
    assert(b && rules && scale.unit > 0 && arena && ret);
    clv_ilp ilp = clv_ilp_new(arena);
    program p = {
        .b = b, .contiguous = rules->contiguous, .unit = scale.unit, .most = scale.most, .ilp = &ilp
    };
    if (rules->objective != CLV_PLACE_THROUGHPUT)
        return clv_fail(err, CLV_EUSAGE, "only throughput can be written as an integer program");
    if (clv_mip_count_terms(b, rules) > CLV_MIP_TERMS_MAX)
        return clv_fail(err, CLV_ELIMIT,
                        "the integer program of %d blocks on %d devices would have more than %lld "
                        "terms",
                        b->n, clv_place_devices(b->p), (long long)CLV_MIP_TERMS_MAX);
    CLV_TRY(list_places(&p, arena, err));
    add_columns(&p);
    for (int32_t i = 0; i < b->n; i++) {
        clv_ilp_add_row(&ilp, 1, 1);
        for (int32_t q = 0; q < p.n_places; q++)
            clv_ilp_add_term(&ilp, column_x(&p, i, q), 1);
    }
    int32_t at_seat = p.contiguous ? p.n_sorts : 1;
    for (int32_t q = 0; q < p.n_places; q += at_seat)
        add_load(&p, q, at_seat);
    /* All devices of a kind together are within T times their number. Follows from the rest for
     * whole numbers, but not in the relaxation, where every seat is shared by all kinds. */
    for (int32_t k = 0; k < at_seat && at_seat > 1; k++) {
        clv_ilp_add_row(&ilp, 0, INFINITY);
        clv_ilp_add_term(&ilp, column_t(&p), b->p->kinds[p.places[k].kind].count);
        for (int32_t q = k; q < p.n_places; q += p.n_sorts)
            add_share(&p, q);
    }
    for (int32_t q = 0; q < p.n_places; q++)
        add_memory(&p, q);
    if (p.contiguous && p.n_sorts > 1)
        add_seats(&p);
    if (p.contiguous)
        add_line(&p);
    else
        CLV_TRY(add_order(&p, arena, err));
    if (ilp.failed)
        return clv_fail_nomem(err, "the program of a placement");
    *ret = ilp;
    return CLV_OK;
}

clv_status clv_mip_write_mps(const clv_contraction *b, const clv_place_rules *rules,
                             clv_arena *arena, const char **ret, size_t *ret_n, clv_error *err)
{
    clv_ilp ilp;
    CLV_TRY(clv_mip_formulate(b, rules, (clv_mip_scale){ b->tick, INFINITY }, arena, &ilp, err));
    return clv_ilp_mps(&ilp, rules->contiguous ? "contiguous" : "free", arena, ret, ret_n, err);
}

clv_status clv_mip_read_solution(const clv_contraction *b, const clv_place_rules *rules,
                                 const double *values, int32_t *device_of, clv_arena *arena,
                                 clv_error *err)
{
    program p = { .b = b, .contiguous = rules->contiguous };
    CLV_TRY(list_places(&p, arena, err));
    int32_t *device_at = CLV_NEW_ARRAY(arena, int32_t, p.n_places);
    if (!device_at)
        return clv_fail_nomem(err, "the program of a placement");
    for (int32_t q = 0; q < p.n_places && !p.contiguous; q++)
        device_at[q] = q;
    for (int32_t k = 0, first = 0; k < b->n_kinds && p.contiguous; k++) {
        int32_t n = 0, count = b->p->kinds[k].count; /* a kind's devices get its seats in order */
        for (int32_t q = 0; q < p.n_places; q++)
            if (p.places[q].kind == k && (p.n_sorts == 1 || values[column_g(&p, q)] > 0.5) &&
                n < count)
                device_at[q] = first + n++;
        first += count;
    }
    for (int32_t i = 0; i < b->n; i++)
        for (int32_t q = 0; q < p.n_places; q++)
            if (values[column_x(&p, i, q)] > 0.5)
                device_of[i] = device_at[q];
    return CLV_OK;
}
