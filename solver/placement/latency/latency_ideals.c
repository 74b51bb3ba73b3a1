#include "solver/placement/latency/latency_ideals.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "solver/placement/latency/ideal_search_state.h"

#define NO_END   (INT64_MAX / 4)
#define ROUNDING 0x1p-50
/* What a search may hold, each once more while it grows: 64 MB of times, 128 MB of labels, 64 MB of
 * sets. */
#define MOST_TIMES     (INT32_C(1) << 23)
#define MOST_LABELS    (INT32_C(1) << 21)
#define MOST_SET_WORDS (INT64_C(1) << 23)
/* Steps between tests of the limits. */
#define WORK_A_LOOK 1024

static bool count_work(clv_ideal_search_state *s)
{
    if (++s->work % WORK_A_LOOK == 0 && !s->ended)
        s->ended =
            s->work > s->most_work || s->f.n_times > MOST_TIMES || s->f.n_labels > MOST_LABELS ||
            (int64_t)s->f.n_ideals * s->f.words > MOST_SET_WORDS || clv_place_over(s->search);
    return !s->ended;
}

/* -- labels of the ideal that a step leads to -- */

/* Ticks from the end of node to the end of all, at least, when the units in the set are done. */
static int64_t rest_after(const clv_ideal_search_state *s, int32_t node, const uint64_t *set,
                          int32_t places)
{
    const clv_place_problem *p = s->u->tables->p;
    int32_t first = s->first[node] > places ? s->first[node] : places;
    int64_t rest = first < s->chain->n && s->first[node] < s->chain->n ? s->rest.begin[first] : 0;
    for (int32_t e = p->out_first[node]; e < p->out_first[node + 1]; e++)
        if (!clv_bit(set, s->u->unit_of[p->out[e]]))
            rest = clv_later(rest, s->after[p->out[e]] + clv_ideal_least_time(s->u, p->out[e]));
    return rest;
}

static bool read_outside(const clv_ideal_search_state *s, int32_t node, const uint64_t *set)
{
    const clv_place_problem *p = s->u->tables->p;
    for (int32_t e = p->out_first[node]; e < p->out_first[node + 1]; e++)
        if (!clv_bit(set, s->u->unit_of[p->out[e]]))
            return true;
    return false;
}

/* The ideal of the set at hand: that of the step's start, and the chosen units. */
static clv_status open_ideal(clv_ideal_search_state *s, int32_t *ret, clv_error *err)
{
    int32_t to = clv_ideal_labels_find(&s->f, s->set, s->hash);
    if (to < 0) {
        int32_t front = s->f.ideals[s->ideal].front, n = s->f.ideals[s->ideal].n_front;
        clv_ideal_set made = { .bits = s->set,
                               .hash = s->hash,
                               .n_units = s->f.ideals[s->ideal].n_units + s->n_chosen,
                               .places = s->places };
        CLV_TRY(clv_ideal_labels_add(&s->f, &made, &to, err));
        for (int32_t i = 0; i < n; i++) {
            int32_t v = s->f.front_node[front + i];
            if (read_outside(s, v, s->set))
                CLV_TRY(
                    clv_ideal_labels_add_node(&s->f, v, rest_after(s, v, s->set, s->places), err));
        }
        for (int32_t i = 0; i < s->n_chosen; i++)
            for (int32_t e = s->nodes_of.first[s->chosen[i]];
                 e < s->nodes_of.first[s->chosen[i] + 1]; e++) {
                int32_t v = s->nodes_of.at[e];
                if (read_outside(s, v, s->set))
                    CLV_TRY(clv_ideal_labels_add_node(&s->f, v, rest_after(s, v, s->set, s->places),
                                                      err));
            }
    }
    *ret = to;
    return CLV_OK;
}

typedef struct {
    bool pays;
    int64_t end;  /* of the piece; else of the last node of the unit, whose nodes' are in ends */
    int64_t held; /* bytes on devices that pay */
    bool counts;  /* takes a device by itself */
    bool rides;   /* costs no device */
} step;

/* What room for this many bytes is worth at the price of memory: what is behind may take all of it,
 * and its times with the price say so much too much. */
static int64_t room_worth(const clv_ideal_search_state *s, int64_t held)
{
    return (int64_t)ceil(s->price * (double)(s->most_held - held) * (1 + ROUNDING));
}

/* Adds the label that a step makes of another one, if it can lead below the limit. */
static clv_status add_label(clv_ideal_search_state *s, int32_t from, int32_t to, const step *by,
                            clv_error *err)
{
    int32_t id;
    CLV_TRY(clv_ideal_labels_draft(&s->f, to, &id, err));
    const clv_ideal_label *old = s->f.labels + from;
    clv_ideal_label *new = s->f.labels + id;
    const clv_ideal *ideal = s->f.ideals + to;
    new->parent = from;
    new->end = clv_later(old->end, by->end);
    new->pays = by->pays;
    new->open = by->rides ? old->open : !by->pays;
    new->rides = by->rides;
    new->held = old->held + by->held;
    new->pieces = old->pieces + by->counts;
    new->segments = old->segments + (!by->pays && !by->rides && !old->open);
    if (new->end >= s->limit ||
        (s->counts && (new->pieces > s->most_pieces || new->segments > s->most_segments ||
                       (s->most_held != CLV_PLACE_UNLIMITED && new->held > s->most_held))))
        return CLV_OK;
    int32_t n = s->chain->n;
    const int64_t *counted = s->rest.counted_rest;
    counted = counted ? counted + (size_t)(s->most_pieces - new->pieces) * (size_t)(n + 1) : NULL;
    for (int32_t i = 0; i < ideal->n_front; i++) {
        int32_t v = s->f.front_node[ideal->front + i], place = s->place_in_front[v];
        bool is_exit = ideal->places > 0 && v == s->chain->exit[ideal->places - 1];
        int64_t end = place >= 0 ? s->f.times[old->times + place] : by->pays ? by->end : s->ends[v];
        s->f.times[new->times + i] = end;
        if (end + s->f.front_rest[ideal->front + i] >= s->limit ||
            (counted && is_exit && end + counted[ideal->places] >= s->limit) ||
            (s->priced.rest && is_exit &&
             end + s->priced.rest[ideal->places] - room_worth(s, new->held) >= s->limit))
            return CLV_OK;
    }
    if (!clv_ideal_labels_keep(&s->f, id, s->counts) || ideal->n_units < s->u->n)
        return CLV_OK;
    s->best = id;
    s->limit = new->end;
    return CLV_OK;
}

/* All labels of the ideal at hand, with the chosen units as a piece. */
static clv_status add_piece_labels(clv_ideal_search_state *s, clv_error *err)
{
    const clv_ideal *ideal = s->f.ideals + s->ideal;
    int32_t n = ideal->n_front, to = -1;
    int64_t rest = s->places > ideal->places ? s->rest.rest[s->places] : s->tail;
    for (int32_t l = ideal->label; l >= 0; l = s->f.labels[l].next) {
        int64_t start = 0;
        for (int32_t i = 0; i < n; i++)
            if (s->n_reads[i] > 0)
                start = clv_later(start, s->f.times[s->f.labels[l].times + i]);
        step piece = { .pays = true, .end = start + s->time + s->cut };
        piece.held = s->most_held == CLV_PLACE_UNLIMITED ? 0 : s->bytes;
        piece.counts =
            s->u->whole || (s->u->capacity != CLV_PLACE_UNLIMITED && s->bytes > s->u->capacity / 2);
        if (piece.end + rest >= s->limit)
            continue;
        count_work(s);
        if (to < 0)
            CLV_TRY(open_ideal(s, &to, err));
        CLV_TRY(add_label(s, l, to, &piece, err));
        ideal = s->f.ideals + s->ideal; /* the table may have moved */
    }
    return CLV_OK;
}

/* -- pieces -- */

static void choose(clv_ideal_search_state *s, int32_t unit)
{
    const clv_latency_units *u = s->u;
    const clv_latency_tables *f = u->tables;
    s->where[unit] = CLV_CHOSEN;
    s->chosen[s->n_chosen++] = unit;
    s->bytes += u->bytes[unit];
    s->time += u->paying_time[unit];
    s->hash += s->f.key[unit];
    clv_bit_set(s->set, unit);
    s->places += s->place_of[unit] >= 0;
    for (int32_t e = s->nets_of.first[unit]; e < s->nets_of.first[unit + 1]; e++) {
        int32_t net = s->nets_of.at[e];
        if (s->n_in[net]++ == 0) {
            s->cut += u->net_cost[net];
            s->sure += s->n_out[net] > 0 ? u->net_cost[net] : 0;
        }
        if (s->n_in[net] == u->pins.first[net + 1] - u->pins.first[net])
            s->cut -= u->net_cost[net];
    }
    for (int32_t e = s->nodes_of.first[unit]; e < s->nodes_of.first[unit + 1]; e++) {
        int32_t v = s->nodes_of.at[e];
        for (int32_t i = f->in.first[v]; i < f->in.first[v + 1]; i++) {
            int32_t place = s->place_in_front[f->in.at[i]];
            if (place < 0)
                continue;
            s->n_reads[place]++;
            s->start = clv_later(s->start, s->earliest[place]);
        }
    }
    int32_t first = s->unit_first[unit], places = s->f.ideals[s->ideal].places;
    first = first < places ? places : first;
    if (first < s->chain->n)
        s->tail = clv_later(s->tail, s->rest.begin[first]);
    for (int32_t e = u->out.first[unit]; e < u->out.first[unit + 1]; e++)
        s->waits[u->out.at[e]]--;
}

/* start and tail are the caller's to restore. */
static void unchoose(clv_ideal_search_state *s, int32_t unit)
{
    const clv_latency_units *u = s->u;
    const clv_latency_tables *f = u->tables;
    for (int32_t e = u->out.first[unit]; e < u->out.first[unit + 1]; e++)
        s->waits[u->out.at[e]]++;
    for (int32_t e = s->nodes_of.first[unit]; e < s->nodes_of.first[unit + 1]; e++) {
        int32_t v = s->nodes_of.at[e];
        for (int32_t i = f->in.first[v]; i < f->in.first[v + 1]; i++)
            if (s->place_in_front[f->in.at[i]] >= 0)
                s->n_reads[s->place_in_front[f->in.at[i]]]--;
    }
    for (int32_t e = s->nets_of.first[unit]; e < s->nets_of.first[unit + 1]; e++) {
        int32_t net = s->nets_of.at[e];
        if (s->n_in[net] == u->pins.first[net + 1] - u->pins.first[net])
            s->cut += u->net_cost[net];
        if (--s->n_in[net] == 0) {
            s->cut -= u->net_cost[net];
            s->sure -= s->n_out[net] > 0 ? u->net_cost[net] : 0;
        }
    }
    s->places -= s->place_of[unit] >= 0;
    clv_bit_clear(s->set, unit);
    s->hash -= s->f.key[unit];
    s->time -= u->paying_time[unit];
    s->bytes -= u->bytes[unit];
    s->n_chosen--;
    s->where[unit] = CLV_OUTSIDE;
}

static void set_barred(clv_ideal_search_state *s, int32_t unit, bool barred)
{
    s->where[unit] = barred ? CLV_BARRED : CLV_OUTSIDE;
    for (int32_t e = s->nets_of.first[unit]; e < s->nets_of.first[unit + 1]; e++) {
        int32_t net = s->nets_of.at[e], others = barred ? s->n_out[net]++ : --s->n_out[net];
        if (others == 0 && s->n_in[net] > 0)
            s->sure += barred ? s->u->net_cost[net] : -s->u->net_cost[net];
    }
}

/* Can no piece that has the chosen units, and not those barred, lead below the limit? */
static bool is_pruned(const clv_ideal_search_state *s)
{
    int32_t n = s->chain->n, from = s->f.ideals[s->ideal].places;
    const int64_t *rest = s->rest.rest, *reach = s->rest.reach;
    if (s->rest.counted_rest && s->left >= 0) { /* after this piece */
        rest = s->rest.counted_rest + (size_t)s->left * (size_t)(n + 1);
        reach = s->rest.counted_reach + (size_t)s->left * (size_t)n * (size_t)n;
    }
    int64_t base =
        from > 0 && from < n ? s->earliest[s->place_in_front[s->chain->exit[from - 1]]] : 0;
    int64_t known = s->start + s->time + s->sure;
    bool closed = s->places == n || s->where[s->chain->unit[s->places]] == CLV_BARRED;
    if (s->rest.counted_rest && s->left < 0)
        return true; /* no device is left */
    if (s->places > from && s->priced.rest) {
        int64_t worth = room_worth(s, s->least_held) - (int64_t)(s->price * (double)s->bytes);
        size_t ends = (size_t)from * (size_t)n + (size_t)s->places - 1;
        if (closed ? known + s->priced.rest[s->places] - worth >= s->limit
                   : base + s->priced.reach[ends] - room_worth(s, s->least_held) >= s->limit)
            return true;
    }
    if (s->places > from) {
        known = clv_later(known, base + s->time + s->sure);
        if (closed)
            return known + rest[s->places] >= s->limit;
        return known + s->chain_rest[s->places] >= s->limit ||
               base + reach[(size_t)from * (size_t)n + (size_t)s->places - 1] >= s->limit;
    }
    if (known + s->tail < s->limit)
        return false;
    if (closed)
        return true;
    return clv_later(known, base + s->time + s->sure) + s->chain_rest[from] >= s->limit ||
           base + reach[(size_t)from * (size_t)n + (size_t)from] >= s->limit;
}

static clv_status push(clv_ideal_search_state *s, int32_t unit, clv_error *err)
{
    if (!CLV_PUSH_ROOM(s->f.arena, s->stack, s->n_stack, s->cap_stack))
        return clv_fail_nomem(err, "a search");
    s->stack[s->n_stack++] = unit;
    return CLV_OK;
}

/* All pieces that have the chosen units and others of stack[begin .. n_stack) and behind. Each unit
 * in turn is chosen, and then barred for those after it: so each piece comes once. */
static clv_status extend_piece(clv_ideal_search_state *s, int32_t begin, clv_error *err)
{
    const clv_latency_units *u = s->u;
    int32_t end = s->n_stack, n_barred = 0;
    clv_status status = CLV_OK;
    if (s->n_chosen > 0)
        CLV_TRY(add_piece_labels(s, err));
    for (int32_t i = begin; i < end; i++) /* one of the chain first: in or out, it decides most */
        if (s->place_of[s->stack[i]] >= 0) {
            int32_t unit = s->stack[i];
            s->stack[i] = s->stack[begin];
            s->stack[begin] = unit;
            break;
        }
    for (int32_t i = begin; i < end && status == CLV_OK && count_work(s) && !is_pruned(s); i++) {
        int32_t unit = s->stack[i];
        int64_t start = s->start, tail = s->tail;
        if (u->paying_time[unit] != CLV_UNIT_NEVER &&
            (u->capacity == CLV_PLACE_UNLIMITED || s->bytes + u->bytes[unit] <= u->capacity)) {
            choose(s, unit);
            if (!is_pruned(s)) {
                for (int32_t j = i + 1; j < end && status == CLV_OK; j++)
                    status = push(s, s->stack[j], err);
                for (int32_t e = u->out.first[unit]; e < u->out.first[unit + 1]; e++)
                    if (!s->waits[u->out.at[e]] && status == CLV_OK)
                        status = push(s, u->out.at[e], err);
                if (status == CLV_OK)
                    status = extend_piece(s, end, err);
                s->n_stack = end;
            }
            unchoose(s, unit);
            s->start = start;
            s->tail = tail;
        }
        set_barred(s, unit, true);
        n_barred++;
    }
    for (int32_t i = begin; i < begin + n_barred; i++)
        set_barred(s, s->stack[i], false);
    return status;
}

/* -- one unit on a device that does not pay -- */

static clv_status add_unit_labels(clv_ideal_search_state *s, int32_t unit, bool rides,
                                  clv_error *err)
{
    const clv_latency_tables *f = s->u->tables;
    int32_t to = -1;
    const clv_ideal *ideal = s->f.ideals + s->ideal;
    s->chosen[0] = unit;
    s->n_chosen = 1;
    clv_bit_set(s->set, unit);
    s->hash += s->f.key[unit];
    s->places += s->place_of[unit] >= 0;
    for (int32_t l = ideal->label; l >= 0; l = s->f.labels[l].next) {
        step alone = { .pays = false, .rides = rides };
        int32_t times = s->f.labels[l].times;
        for (int32_t e = s->nodes_of.first[unit]; e < s->nodes_of.first[unit + 1]; e++) {
            int32_t v = s->nodes_of.at[e];
            int64_t start = 0;
            for (int32_t i = f->in.first[v]; i < f->in.first[v + 1]; i++) {
                int32_t place = s->place_in_front[f->in.at[i]];
                start =
                    clv_later(start, place >= 0 ? s->f.times[times + place] : s->ends[f->in.at[i]]);
            }
            s->ends[v] = start + s->u->node_free[v];
            alone.end = clv_later(alone.end, s->ends[v]);
        }
        count_work(s);
        if (alone.end >= s->limit)
            continue;
        if (to < 0)
            CLV_TRY(open_ideal(s, &to, err));
        CLV_TRY(add_label(s, l, to, &alone, err));
        ideal = s->f.ideals + s->ideal;
    }
    s->places -= s->place_of[unit] >= 0;
    s->hash -= s->f.key[unit];
    clv_bit_clear(s->set, unit);
    s->n_chosen = 0;
    return CLV_OK;
}

static bool runs_alone(const clv_ideal_search_state *s, int32_t unit)
{
    for (int32_t e = s->nodes_of.first[unit]; e < s->nodes_of.first[unit + 1]; e++)
        if (s->u->node_free[s->nodes_of.at[e]] == CLV_UNIT_NEVER)
            return false;
    return true;
}

/* A unit that costs nothing where it does not pay, and that nobody would have in a piece begun
 * later: nothing is behind it, or nothing before it and nothing to send. */
static bool rides(const clv_ideal_search_state *s, int32_t unit)
{
    const clv_latency_units *u = s->u;
    if (!runs_alone(s, unit))
        return false;
    for (int32_t e = s->nodes_of.first[unit]; e < s->nodes_of.first[unit + 1]; e++)
        if (u->node_free[s->nodes_of.at[e]] > 0)
            return false;
    if (u->out.first[unit + 1] == u->out.first[unit])
        return true;
    return u->in.first[unit + 1] == u->in.first[unit] &&
           s->nets_of.first[unit + 1] == s->nets_of.first[unit];
}

/* -- ideal by ideal -- */

static void open_search_at(clv_ideal_search_state *s, int32_t id)
{
    const clv_latency_units *u = s->u;
    const clv_ideal *ideal = s->f.ideals + id;
    s->ideal = id;
    s->n_chosen = 0;
    s->places = ideal->places;
    s->hash = ideal->hash;
    s->bytes = s->time = s->cut = s->sure = s->start = s->tail = 0;
    memcpy(s->set, clv_ideal_labels_set(&s->f, id), (size_t)s->f.words * sizeof *s->set);
    memset(s->n_in, 0, (size_t)u->n_nets * sizeof *s->n_in);
    memset(s->n_out, 0, (size_t)u->n_nets * sizeof *s->n_out);
    for (int32_t i = 0; i < u->n; i++) {
        bool done = clv_bit(s->set, i);
        s->where[i] = done ? CLV_DONE : CLV_OUTSIDE;
        s->waits[i] = 0;
        for (int32_t e = u->in.first[i]; e < u->in.first[i + 1]; e++)
            s->waits[i] += !clv_bit(s->set, u->in.at[e]);
        for (int32_t e = s->nets_of.first[i]; done && e < s->nets_of.first[i + 1]; e++)
            s->n_out[s->nets_of.at[e]]++;
    }
    s->left = -1;
    s->least_held = INT64_MAX;
    for (int32_t l = ideal->label; l >= 0; l = s->f.labels[l].next)
        if (s->f.labels[l].held < s->least_held)
            s->least_held = s->f.labels[l].held;
    for (int32_t l = ideal->label; l >= 0; l = s->f.labels[l].next)
        if (s->left < s->most_pieces - s->f.labels[l].pieces - 1)
            s->left = s->most_pieces - s->f.labels[l].pieces - 1;
    for (int32_t i = 0; i < ideal->n_front; i++) {
        s->place_in_front[s->f.front_node[ideal->front + i]] = i;
        s->n_reads[i] = 0;
        s->earliest[i] = NO_END;
        for (int32_t l = ideal->label; l >= 0; l = s->f.labels[l].next) {
            int64_t end = s->f.times[s->f.labels[l].times + i];
            s->earliest[i] = end < s->earliest[i] ? end : s->earliest[i];
        }
    }
}

static clv_status expand(clv_ideal_search_state *s, int32_t id, clv_error *err)
{
    clv_status status = CLV_OK;
    int32_t rider = -1;
    open_search_at(s, id);
    s->n_stack = 0;
    for (int32_t i = 0; i < s->u->n && status == CLV_OK; i++)
        if (s->where[i] == CLV_OUTSIDE && !s->waits[i]) {
            status = push(s, i, err);
            if (rider < 0 && rides(s, i))
                rider = i;
        }
    if (rider >= 0 && status == CLV_OK) {
        status = add_unit_labels(s, rider, true, err);
    } else {
        for (int32_t i = 0; i < s->n_stack && status == CLV_OK; i++)
            if (runs_alone(s, s->stack[i]))
                status = add_unit_labels(s, s->stack[i], false, err);
        if (status == CLV_OK)
            status = extend_piece(s, 0, err);
    }
    const clv_ideal *ideal = s->f.ideals + id;
    for (int32_t i = 0; i < ideal->n_front; i++)
        s->place_in_front[s->f.front_node[ideal->front + i]] = -1;
    return status;
}

static clv_status trace_back(clv_ideal_search_state *s, clv_arena *arena, clv_ideal_result *ret,
                             clv_error *err)
{
    int32_t n = 0;
    ret->step_of = CLV_NEW_ARRAY(arena, int32_t, s->u->n);
    for (int32_t l = s->best; s->f.labels[l].parent >= 0; l = s->f.labels[l].parent)
        n++;
    ret->n_steps = n;
    ret->step_pays = CLV_NEW_ARRAY(arena, bool, n);
    ret->step_rides = CLV_NEW_ARRAY(arena, bool, n);
    if (!ret->step_of || !ret->step_pays || !ret->step_rides)
        return clv_fail_nomem(err, "a search");
    for (int32_t l = s->best; s->f.labels[l].parent >= 0; l = s->f.labels[l].parent) {
        const clv_ideal_label *label = s->f.labels + l;
        const uint64_t *set = clv_ideal_labels_set(&s->f, label->ideal);
        const uint64_t *before = clv_ideal_labels_set(&s->f, s->f.labels[label->parent].ideal);
        ret->step_pays[--n] = label->pays;
        ret->step_rides[n] = label->rides;
        for (int32_t i = 0; i < s->u->n; i++)
            if (clv_bit(set, i) && !clv_bit(before, i))
                ret->step_of[i] = n;
    }
    return CLV_OK;
}

static clv_status add_empty_ideal(clv_ideal_search_state *s, clv_error *err)
{
    int32_t none, label;
    CLV_TRY(clv_ideal_labels_add(&s->f, &(clv_ideal_set){ .bits = s->set }, &none, err));
    CLV_TRY(clv_ideal_labels_draft(&s->f, none, &label, err));
    s->f.labels[label].parent = -1;
    clv_ideal_labels_keep(&s->f, label, s->counts);
    return CLV_OK;
}

clv_status clv_latency_ideals(clv_place_search *search, const clv_chain_division *chain,
                              const clv_ideal_limits *limits, clv_arena *arena,
                              clv_ideal_result *ret, clv_error *err)
{
    bool strict = limits->strict;
    const clv_latency_tables *tables = chain->units->tables;
    clv_ideal_search_state *s = CLV_NEW(arena, clv_ideal_search_state);
    if (!s)
        return clv_fail_nomem(err, "a search");
    s->search = search;
    s->u = chain->units;
    s->chain = chain;
    s->limit = limits->limit;
    s->most_work = limits->most_work;
    s->best = -1;
    s->counts = s->u->whole || strict;
    s->most_pieces = tables->n_columns;
    s->most_segments = s->u->whole ? tables->n_devices - tables->n_columns : INT32_MAX;
    s->most_held =
        !s->u->whole && strict ? clv_latency_most_held(chain->units) : CLV_PLACE_UNLIMITED;
    CLV_TRY(clv_ideal_search_state_new(s, arena, err));
    CLV_TRY(add_empty_ideal(s, err));
    for (int32_t size = 0; size < s->u->n && !s->ended; size++)
        for (int32_t i = s->f.by_size[size]; i >= 0 && !s->ended; i = s->f.ideals[i].next)
            if (s->f.ideals[i].label >= 0)
                CLV_TRY(expand(s, i, err));
    *ret = (clv_ideal_result){ .work = s->work, .value = s->limit };
    ret->end = s->ended ? CLV_IDEAL_ENDED : s->best >= 0 ? CLV_IDEAL_FOUND : CLV_IDEAL_NONE;
    return s->best >= 0 ? trace_back(s, arena, ret, err) : CLV_OK;
}
