/* place_problem.c - the judge: the rules one after the other, then loads, then latency. */
#include "problem/place_problem.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problem/sums.h"

/* A sum with what its roundings lost (Neumaier 1974), so that the order of terms does not show. */
typedef struct {
    double sum, lost;
} exact_sum;

static void add_to(exact_sum *s, double x)
{
    double t = s->sum + x;
    s->lost += fabs(s->sum) >= fabs(x) ? (s->sum - t) + x : (x - t) + s->sum;
    s->sum = t;
}

static double value_of(const exact_sum *s) { return s->sum + s->lost; }

typedef struct {
    const clv_place_problem *p;
    const clv_place_rules *rules;
    const int32_t *device_of;
    int32_t n_devices;
    int32_t *kind_of;
    clv_arena *arena;
    clv_place_value *value;
} judging;

int32_t clv_place_devices(const clv_place_problem *p)
{
    int32_t n = 0;
    for (int32_t k = 0; k < p->n_kinds; k++)
        n += p->kinds[k].count;
    return n;
}

clv_int128 clv_place_bytes(const clv_place_problem *p)
{
    clv_int128 sum = 0;
    for (int32_t v = 0; v < p->n_nodes; v++)
        sum += p->bytes[v];
    return sum;
}

clv_int128 clv_place_room(const clv_place_problem *p)
{
    clv_int128 room = 0;
    for (int32_t k = 0; k < p->n_kinds; k++) {
        if (p->kinds[k].count > 0 && p->kinds[k].capacity_bytes < 0)
            return CLV_PLACE_UNLIMITED;
        room += (clv_int128)p->kinds[k].count * p->kinds[k].capacity_bytes;
    }
    return room;
}

void clv_place_kinds(const clv_place_problem *p, int32_t *kind_of)
{
    int32_t d = 0;
    for (int32_t k = 0; k < p->n_kinds; k++)
        for (int32_t i = 0; i < p->kinds[k].count; i++)
            kind_of[d++] = k;
}

static const clv_place_kind *kind(const judging *j, int32_t device)
{
    return &j->p->kinds[j->kind_of[device]];
}

/* The first rule broken is the one reported. */
static void CLV_PRINTF(2, 3) break_rule(judging *j, const char *fmt, ...)
{
    va_list args;
    if (!j->value->legal)
        return;
    j->value->legal = false;
    va_start(args, fmt);
    clv_words(j->value->why, sizeof j->value->why, fmt, args);
    va_end(args);
}

/* -- rules -- */

static void check_devices(judging *j)
{
    const clv_place_problem *p = j->p;
    for (int32_t v = 0; v < p->n_nodes && j->value->legal; v++) {
        int32_t d = j->device_of[v];
        if (d < 0 || d >= j->n_devices)
            break_rule(j, "node %lld is on device %d, and there are %d", (long long)p->id[v], d,
                       j->n_devices);
        else if (p->time[(size_t)j->kind_of[d] * (size_t)p->n_nodes + (size_t)v] < 0)
            break_rule(j, "node %lld cannot run on device %d, of kind %s", (long long)p->id[v], d,
                       kind(j, d)->name);
    }
}

static clv_status check_classes(judging *j, clv_error *err)
{
    const clv_place_problem *p = j->p;
    int32_t *first = CLV_NEW_ARRAY(j->arena, int32_t, p->n_classes); /* a member, plus 1 */
    if (!first)
        return clv_fail_nomem(err, "the judge of a placement");
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t *f = &first[p->class_of[v]];
        if (*f == 0)
            *f = v + 1;
        else if (j->device_of[v] != j->device_of[*f - 1])
            break_rule(j, "nodes %lld and %lld are of one color class, on devices %d and %d",
                       (long long)p->id[*f - 1], (long long)p->id[v], j->device_of[*f - 1],
                       j->device_of[v]);
    }
    return CLV_OK;
}

static clv_status check_memory(judging *j, clv_error *err)
{
    const clv_place_problem *p = j->p;
    int64_t *bytes = CLV_NEW_ARRAY(j->arena, int64_t, j->n_devices);
    if (!bytes)
        return clv_fail_nomem(err, "the judge of a placement");
    for (int32_t v = 0; v < p->n_nodes; v++)
        bytes[j->device_of[v]] = clv_add_sat(bytes[j->device_of[v]], p->bytes[v]);
    for (int32_t d = 0; d < j->n_devices; d++)
        if (kind(j, d)->capacity_bytes >= 0 && bytes[d] > kind(j, d)->capacity_bytes)
            break_rule(j, "device %d holds %lld bytes, at most %lld fit", d, (long long)bytes[d],
                       (long long)kind(j, d)->capacity_bytes);
    return CLV_OK;
}

/* Kahn's algorithm over a matrix of n devices: can they be put in order? */
static bool is_acyclic(const bool *before, int32_t n, int32_t *waits, int32_t *queue)
{
    int32_t n_queue = 0, done = 0;
    for (int32_t b = 0; b < n; b++) {
        waits[b] = 0;
        for (int32_t a = 0; a < n; a++)
            waits[b] += before[(size_t)a * (size_t)n + (size_t)b];
        if (waits[b] == 0)
            queue[n_queue++] = b;
    }
    for (; done < n_queue; done++)
        for (int32_t b = 0; b < n; b++)
            if (before[(size_t)queue[done] * (size_t)n + (size_t)b] && --waits[b] == 0)
                queue[n_queue++] = b;
    return n_queue == n;
}

static clv_status check_contiguous(judging *j, clv_error *err)
{
    const clv_place_problem *p = j->p;
    size_t n = (size_t)j->n_devices;
    bool *has_forward = CLV_NEW_ARRAY(j->arena, bool, p->n_classes);
    bool *before = clv_arena_take_array(j->arena, n * n, 1);
    int32_t *waits = CLV_NEW_ARRAY(j->arena, int32_t, n),
            *queue = CLV_NEW_ARRAY(j->arena, int32_t, n);
    if (!has_forward || !before || !waits || !queue)
        return clv_fail_nomem(err, "the judge of a placement");
    for (int32_t v = 0; v < p->n_nodes; v++)
        has_forward[p->class_of[v]] |= !p->backward[v];
    for (int32_t u = 0; u < p->n_nodes; u++) {
        for (int32_t i = p->out_first[u]; i < p->out_first[u + 1]; i++) {
            int32_t v = p->out[i], a = j->device_of[u], b = j->device_of[v];
            if (a == b)
                continue;
            if (!p->backward[u] && !p->backward[v])
                before[(size_t)a * n + (size_t)b] = true;
            else if (p->backward[u] && p->backward[v] &&
                     (!has_forward[p->class_of[u]] || !has_forward[p->class_of[v]]))
                before[(size_t)b * n + (size_t)a] = true;
        }
    }
    if (!is_acyclic(before, j->n_devices, waits, queue))
        break_rule(j, "devices wait for each other, so they cannot be put in a line");
    return CLV_OK;
}

/* -- loads -- */

/* Adds the send cost of u to the load of every device that pays for its transfers. stamp: by
 * device, the last u plus 1. */
static void pay_transfers(const judging *j, int32_t u, int32_t *stamp, exact_sum *load)
{
    const clv_place_problem *p = j->p;
    int32_t home = j->device_of[u];
    for (int32_t i = p->out_first[u]; i < p->out_first[u + 1]; i++) {
        int32_t d = j->device_of[p->out[i]];
        if (d == home)
            continue;
        if (stamp[d] != u + 1 && kind(j, d)->pays)
            add_to(&load[d], p->send_cost[u]);
        stamp[d] = u + 1;
        if (stamp[home] != u + 1 && kind(j, home)->pays)
            add_to(&load[home], p->send_cost[u]);
        stamp[home] = u + 1;
    }
}

static clv_status sum_loads(judging *j, double *loads, clv_error *err)
{
    const clv_place_problem *p = j->p;
    exact_sum *load = CLV_NEW_ARRAY(j->arena, exact_sum, j->n_devices);
    int32_t *stamp = CLV_NEW_ARRAY(j->arena, int32_t, j->n_devices);
    bool *used = CLV_NEW_ARRAY(j->arena, bool, j->n_devices);
    if (!load || !stamp || !used)
        return clv_fail_nomem(err, "the judge of a placement");
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t d = j->device_of[v];
        used[d] = true;
        add_to(&load[d], p->time[(size_t)j->kind_of[d] * (size_t)p->n_nodes + (size_t)v]);
        pay_transfers(j, v, stamp, load);
    }
    for (int32_t d = 0; d < j->n_devices; d++) {
        double ns = value_of(&load[d]);
        j->value->n_used += used[d];
        if (ns > j->value->max_load) {
            j->value->max_load = ns;
            j->value->busiest = d;
        }
        if (loads)
            loads[d] = ns;
    }
    return CLV_OK;
}

/* -- latency -- */

/* What runs as one: a piece of a paying device, or one node elsewhere. */
typedef struct {
    exact_sum in, work, out;
    double ready, finish;
    int32_t waits;
    bool pays;
} part;

typedef struct {
    part *parts;
    int32_t n;
    int32_t *part_of;      /* by node */
    int32_t *first, *node; /* nodes of each part */
} parts;

/* Numbers the pieces of one device: a node's level is how often a path to it has come in. */
static void number_pieces(const judging *j, int32_t d, int32_t *level, int32_t *piece_at, parts *q)
{
    const clv_place_problem *p = j->p;
    int32_t base = q->n, most = 0;
    memset(level, 0, (size_t)p->n_nodes * sizeof *level);
    for (int32_t i = 0; i < p->n_nodes; i++) {
        int32_t u = p->order[i];
        bool in = j->device_of[u] == d;
        if (in && level[u] < 1)
            level[u] = 1;
        if (in && level[u] > most)
            most = level[u];
        for (int32_t e = p->out_first[u]; e < p->out_first[u + 1]; e++) {
            int32_t v = p->out[e], l = level[u] + (j->device_of[v] == d && !in);
            if (l > level[v])
                level[v] = l;
        }
    }
    for (int32_t l = 0; l <= most; l++)
        piece_at[l] = -1;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        if (j->device_of[v] != d)
            continue;
        if (piece_at[level[v]] < 0)
            piece_at[level[v]] = q->n++;
        q->part_of[v] = piece_at[level[v]];
    }
    for (int32_t i = base; i < q->n; i++)
        q->parts[i].pays = true;
}

static clv_status make_parts(const judging *j, parts *q, clv_error *err)
{
    const clv_place_problem *p = j->p;
    bool *used = CLV_NEW_ARRAY(j->arena, bool, j->n_devices);
    int32_t *level = CLV_NEW_ARRAY(j->arena, int32_t, p->n_nodes);
    int32_t *piece_at = CLV_NEW_ARRAY(j->arena, int32_t, p->n_nodes + 1);
    q->parts = CLV_NEW_ARRAY(j->arena, part, p->n_nodes);
    q->part_of = CLV_NEW_ARRAY(j->arena, int32_t, p->n_nodes);
    if (!used || !level || !piece_at || !q->parts || !q->part_of)
        return clv_fail_nomem(err, "the judge of a placement");
    for (int32_t v = 0; v < p->n_nodes; v++) {
        used[j->device_of[v]] = true;
        if (!kind(j, j->device_of[v])->pays)
            q->part_of[v] = q->n++;
    }
    for (int32_t d = 0; d < j->n_devices; d++)
        if (used[d] && kind(j, d)->pays)
            number_pieces(j, d, level, piece_at, q);
    return CLV_OK;
}

static clv_status list_nodes(const judging *j, parts *q, clv_error *err)
{
    int32_t n = j->p->n_nodes;
    q->first = CLV_NEW_ARRAY(j->arena, int32_t, q->n + 1);
    q->node = CLV_NEW_ARRAY(j->arena, int32_t, n);
    if (!q->first || !q->node)
        return clv_fail_nomem(err, "the judge of a placement");
    for (int32_t v = 0; v < n; v++)
        q->first[q->part_of[v] + 1]++;
    for (int32_t i = 0; i < q->n; i++)
        q->first[i + 1] += q->first[i];
    for (int32_t v = n - 1; v >= 0; v--)
        q->node[q->first[q->part_of[v] + 1] - 1 - q->parts[q->part_of[v]].waits++] = v;
    for (int32_t i = 0; i < q->n; i++)
        q->parts[i].waits = 0;
    return CLV_OK;
}

/* What each part pays and for how many edges it waits. stamp: by part, the last sender plus 1. */
static void sum_parts(const judging *j, parts *q, int32_t *stamp)
{
    const clv_place_problem *p = j->p;
    for (int32_t u = 0; u < p->n_nodes; u++) {
        int32_t own = q->part_of[u], k = j->kind_of[j->device_of[u]];
        bool sent = false;
        add_to(&q->parts[own].work, p->time[(size_t)k * (size_t)p->n_nodes + (size_t)u]);
        for (int32_t i = p->out_first[u]; i < p->out_first[u + 1]; i++) {
            int32_t to = q->part_of[p->out[i]];
            if (to == own)
                continue;
            sent = true;
            q->parts[to].waits++;
            if (stamp[to] != u + 1)
                add_to(&q->parts[to].in, p->send_cost[u]);
            stamp[to] = u + 1;
        }
        if (sent)
            add_to(&q->parts[own].out, p->send_cost[u]);
    }
}

/* Runs the parts as they become ready; INFINITY when some never do. */
static double run_parts(const judging *j, parts *q, int32_t *queue)
{
    const clv_place_problem *p = j->p;
    int32_t n_queue = 0;
    double last = 0;
    for (int32_t i = 0; i < q->n; i++)
        if (q->parts[i].waits == 0)
            queue[n_queue++] = i;
    for (int32_t done = 0; done < n_queue; done++) {
        int32_t own = queue[done];
        part *t = &q->parts[own];
        t->finish = t->ready + value_of(&t->work);
        if (t->pays)
            t->finish += value_of(&t->in) + value_of(&t->out);
        last = t->finish > last ? t->finish : last;
        for (int32_t i = q->first[own]; i < q->first[own + 1]; i++) {
            int32_t u = q->node[i];
            for (int32_t e = p->out_first[u]; e < p->out_first[u + 1]; e++) {
                int32_t to = q->part_of[p->out[e]];
                if (to == own)
                    continue;
                if (t->finish > q->parts[to].ready)
                    q->parts[to].ready = t->finish;
                if (--q->parts[to].waits == 0)
                    queue[n_queue++] = to;
            }
        }
    }
    return n_queue == q->n ? last : INFINITY;
}

static clv_status sum_latency(judging *j, clv_error *err)
{
    parts q = { 0 };
    CLV_TRY(make_parts(j, &q, err));
    CLV_TRY(list_nodes(j, &q, err));
    int32_t *scratch = CLV_NEW_ARRAY(j->arena, int32_t, q.n + 1);
    if (!scratch)
        return clv_fail_nomem(err, "the judge of a placement");
    sum_parts(j, &q, scratch);
    j->value->latency = run_parts(j, &q, scratch);
    return CLV_OK;
}

/* -- the call -- */

static void set_objective(judging *j)
{
    clv_place_value *v = j->value;
    switch (j->rules->objective) {
    case CLV_PLACE_THROUGHPUT:
        v->objective = v->max_load;
        break;
    case CLV_PLACE_LATENCY:
        v->objective = v->latency;
        if (isinf(v->latency))
            break_rule(j, "pieces of devices wait for each other, so it never ends");
        break;
    case CLV_PLACE_DEVICES:
        v->objective = v->n_used;
        if (j->rules->max_load > 0 && v->max_load > j->rules->max_load)
            break_rule(j, "device %d has load %.15g, at most %.15g is allowed", v->busiest,
                       v->max_load, j->rules->max_load);
        break;
    }
}

static clv_status judge(judging *j, clv_error *err)
{
    check_devices(j);
    if (!j->value->legal)
        return CLV_OK; /* nothing below could index by device */
    CLV_TRY(check_classes(j, err));
    CLV_TRY(check_memory(j, err));
    if (j->rules->contiguous)
        CLV_TRY(check_contiguous(j, err));
    if (!j->value->legal)
        return CLV_OK;
    CLV_TRY(sum_loads(j, NULL, err));
    CLV_TRY(sum_latency(j, err));
    set_objective(j);
    return CLV_OK;
}

/* Of one solution; what it takes from the arena is for the caller to give back. */
static clv_status begin(judging *j, const clv_place_problem *p, const int32_t *device_of,
                        clv_arena *arena, clv_place_value *value, clv_error *err)
{
    *value = (clv_place_value){ .legal = true };
    *j = (judging){ .p = p,
                    .device_of = device_of,
                    .n_devices = clv_place_devices(p),
                    .arena = arena,
                    .value = value };
    j->kind_of = CLV_NEW_ARRAY(arena, int32_t, j->n_devices);
    if (!j->kind_of)
        return clv_fail_nomem(err, "the judge of a placement");
    clv_place_kinds(p, j->kind_of);
    return CLV_OK;
}

clv_status clv_place_judge(const clv_place_problem *p, const clv_place_rules *rules,
                           const int32_t *device_of, clv_arena *arena, clv_place_value *ret,
                           clv_error *err)
{
    assert(p && rules && arena && ret && (device_of || p->n_nodes == 0));
    clv_mark mark = clv_arena_mark(arena);
    clv_place_value value;
    judging j;
    clv_status status = begin(&j, p, device_of, arena, &value, err);
    j.rules = rules;
    if (status == CLV_OK)
        status = judge(&j, err);
    clv_arena_rewind(arena, mark);
    if (status == CLV_OK)
        *ret = value;
    return status;
}

clv_status clv_place_loads(const clv_place_problem *p, const int32_t *device_of, clv_arena *arena,
                           double *loads, clv_error *err)
{
    clv_mark mark = clv_arena_mark(arena);
    clv_place_value value;
    judging j;
    clv_status status = begin(&j, p, device_of, arena, &value, err);
    if (status == CLV_OK)
        status = sum_loads(&j, loads, err);
    clv_arena_rewind(arena, mark);
    return status;
}
