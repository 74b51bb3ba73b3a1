#include "solver/placement/latency/chain_start.h"

typedef struct {
    clv_chain_division *chain;
    int32_t *span_of;   /* by unit; -1: not known yet */
    int32_t *device_of; /* by span */
    bool *chosen;       /* by unit: scratch */
} rounding;

/* Units of the pieces, then the others: not before what they read, else where they are read. */
static void find_spans(rounding *m)
{
    clv_chain_division *c = m->chain;
    const clv_latency_units *u = c->units;
    for (int32_t i = 0; i < u->n; i++)
        m->span_of[i] = -1;
    for (int32_t s = 0; s < c->n_spans; s++) {
        if (c->spans[s].pays)
            clv_chain_division_piece(c, &c->spans[s], m->chosen);
        for (int32_t i = 0; i < u->n && c->spans[s].pays; i++)
            if (m->chosen[i] && m->span_of[i] < 0)
                m->span_of[i] = s;
        if (!c->spans[s].pays)
            m->span_of[c->unit[c->spans[s].from]] = s;
    }
    for (int32_t i = 0; i < u->n; i++)
        for (int32_t e = u->in.first[i]; e < u->in.first[i + 1]; e++)
            if (m->span_of[u->in.at[e]] > m->span_of[i])
                m->span_of[i] = m->span_of[u->in.at[e]];
    for (int32_t i = u->n - 1; i >= 0; i--) {
        if (m->span_of[i] >= 0)
            continue;
        int32_t first = c->n_spans - 1;
        for (int32_t e = u->out.first[i]; e < u->out.first[i + 1]; e++)
            if (m->span_of[u->out.at[e]] < first)
                first = m->span_of[u->out.at[e]];
        m->span_of[i] = first;
    }
}

/* A device for each piece, and one for each run of units between. False: there are too few. */
static bool assign_devices(rounding *m)
{
    const clv_latency_tables *f = m->chain->units->tables;
    const clv_chain_span *spans = m->chain->spans;
    int32_t next[2] = { 0, 0 }; /* that does not pay, that does */
    for (int32_t s = 0; s < m->chain->n_spans; s++) {
        bool pays = spans[s].pays;
        if (!pays && s > 0 && !spans[s - 1].pays) {
            m->device_of[s] = m->device_of[s - 1];
            continue;
        }
        while (next[pays] < f->n_devices && (f->column_of[next[pays]] >= 0) != pays)
            next[pays]++;
        if (next[pays] == f->n_devices)
            return false;
        m->device_of[s] = next[pays]++;
    }
    return true;
}

clv_status clv_chain_start(clv_place_search *search, clv_chain_division *chain, clv_arena *arena,
                           clv_error *err)
{
    const clv_latency_units *u = chain->units;
    const clv_place_problem *p = u->tables->p;
    rounding m = { .chain = chain,
                   .span_of = CLV_NEW_ARRAY(arena, int32_t, u->n),
                   .device_of = CLV_NEW_ARRAY(arena, int32_t, chain->n_spans),
                   .chosen = CLV_NEW_ARRAY(arena, bool, u->n) };
    int32_t *of_class = CLV_NEW_ARRAY(arena, int32_t, p->n_classes);
    if (!m.span_of || !m.device_of || !m.chosen || !of_class)
        return clv_fail_nomem(err, "a solution");
    if (chain->n_spans == 0 || !assign_devices(&m))
        return CLV_OK;
    find_spans(&m);
    for (int32_t i = p->n_nodes - 1; i >= 0; i--) { /* a class goes where its first unit is */
        int32_t v = p->order[i];
        of_class[p->class_of[v]] = m.device_of[m.span_of[u->unit_of[v]]];
    }
    return clv_place_offer_groups(search, "chain", p->class_of, of_class, err);
}
