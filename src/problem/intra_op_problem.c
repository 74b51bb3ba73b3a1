#include "problem/intra_op_problem.h"

#include <stdlib.h>

/* Memory taken or given back at a time. */
typedef struct {
    int64_t time, change;
} event;

/* The first rule broken is the one reported. */
static void CLV_PRINTF(2, 3) break_rule(clv_intra_op_value *value, const char *fmt, ...)
{
    va_list args;
    if (!value->legal)
        return;
    value->legal = false;
    va_start(args, fmt);
    clv_words(value->why, sizeof value->why, fmt, args);
    va_end(args);
}

static void add_cost(clv_intra_op_value *value, int64_t cost)
{
    value->cost += cost;
    value->nevers += cost >= CLV_INTRA_OP_NEVER;
}

static void add_costs(const clv_intra_op_problem *p, const int32_t *choice_of,
                      clv_intra_op_value *value)
{
    for (int32_t v = 0; v < p->n_nodes; v++)
        add_cost(value, p->cost[p->first_choice[v] + choice_of[v]]);
    for (int32_t e = 0; e < p->n_edges; e++) {
        int64_t at = 0;
        for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++)
            at = at * clv_intra_op_n_choices(p, p->end[i]) + choice_of[p->end[i]];
        add_cost(value, p->entry[p->first_entry[p->matrix_of[e]] + at]);
    }
}

clv_int128 clv_intra_op_cost(const clv_intra_op_problem *p, const int32_t *choice_of)
{
    clv_intra_op_value value = { .cost = 0 };
    add_costs(p, choice_of, &value);
    return value.cost;
}

static int compare_events(const void *a, const void *b)
{
    const event *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* Sorts all changes in memory by time and walks through them. events: two a span. */
static void find_peak(const clv_intra_op_problem *p, const int32_t *choice_of, event *events,
                      clv_intra_op_value *value)
{
    size_t n = 0;
    clv_int128 now = 0;
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t s = p->first_span[v]; s < p->first_span[v + 1]; s++) {
            int64_t usage = p->usage[p->span_usage[s] + choice_of[v]];
            events[n++] = (event){ p->span_lo[s], usage };
            events[n++] = (event){ p->span_hi[s], -usage };
        }
    qsort(events, n, sizeof *events, compare_events);
    for (size_t i = 0; i < n; i++) {
        now += events[i].change;
        bool ends = i + 1 == n || events[i + 1].time != events[i].time;
        if (ends && now > value->peak) {
            value->peak = now;
            value->peak_at = events[i].time;
        }
    }
}

clv_status clv_intra_op_judge(const clv_intra_op_problem *p, const int32_t *choice_of,
                              clv_arena *arena, clv_intra_op_value *ret, clv_error *err)
{
    clv_intra_op_value value = { .legal = true };
    char held[CLV_INT128_TEXT], over[CLV_INT128_TEXT];
    clv_mark mark = clv_arena_mark(arena);
    event *events = CLV_NEW_ARRAY(arena, event, 2 * (size_t)p->first_span[p->n_nodes]);
    if (!events)
        return clv_fail_nomem(err, "the judge of a strategy");
    for (int32_t v = 0; v < p->n_nodes && value.legal; v++)
        if (choice_of[v] < 0 || choice_of[v] >= clv_intra_op_n_choices(p, v))
            break_rule(&value, "node %d takes choice %d, and it has %d", v, choice_of[v],
                       clv_intra_op_n_choices(p, v));
    if (value.legal) {
        add_costs(p, choice_of, &value);
        find_peak(p, choice_of, events, &value);
        if (p->usage_limit != CLV_INTRA_OP_UNLIMITED && value.peak > p->usage_limit)
            break_rule(
                &value, "at time %lld the nodes hold %s, which is %s more than the limit of %lld",
                (long long)value.peak_at, clv_int128_text(held, value.peak),
                clv_int128_text(over, value.peak - p->usage_limit), (long long)p->usage_limit);
    }
    clv_arena_rewind(arena, mark);
    *ret = value;
    return CLV_OK;
}
