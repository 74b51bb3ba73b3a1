#include "compile/cuts.h"

/* A slot read in another unit is a net; constants, folded values and model inputs never are, since
 * every device can have its own copy. A position where an operator reads another unit's net starts
 * a segment, as does each unit. What follows depends on the number of segments and nets, not of
 * operators, so a schedule is as cheap as the cut is small.
 */
typedef struct {
    clv_program *p;
    int32_t *unit_of; /* n_ops, by position */
    uint8_t *starts;  /* n_ops: a segment starts here */
    int32_t n_cross;  /* reads across units, at least the number of edges */
} cutter;

static bool crosses(const cutter *c, int32_t slot, int32_t position)
{
    int32_t writer = c->p->position[slot];
    return writer >= 0 && c->unit_of[writer] != c->unit_of[position] &&
           !(c->p->flags[slot] & (CLV_SLOT_CONSTANT | CLV_SLOT_FOLDED));
}

static void mark_units(cutter *c)
{
    for (int32_t u = 0; u < c->p->n_units; u++) {
        const clv_subgraph *unit = &c->p->workload.units->at[u];
        for (int32_t k = 0; k < unit->n; k++)
            c->unit_of[unit->first + k] = u;
        if (unit->n > 0)
            c->starts[unit->first] = 1;
    }
}

/* Marks nets in net_of (0, numbered below) and the positions that read one. */
static void mark_crossings(cutter *c)
{
    clv_program *p = c->p;
    for (int32_t s = 0; s < p->n_slots; s++)
        p->net_of[s] = -1;
    for (int32_t i = 0; i < p->n_ops; i++) {
        for (int32_t r = p->first_read[i]; r < p->first_read[i + 1]; r++) {
            if (!crosses(c, p->reads[r], i))
                continue;
            p->net_of[p->reads[r]] = 0;
            c->starts[i] = 1;
            c->n_cross++;
        }
        p->n_segments += c->starts[i];
    }
    for (int32_t s = 0; s < p->n_slots; s++)
        if (p->net_of[s] == 0)
            p->net_of[s] = p->n_nets++;
}

static bool take_room(cutter *c, clv_arena *a)
{
    clv_program *p = c->p;
    p->unit_segment = CLV_NEW_ARRAY(a, int32_t, p->n_units + 1);
    p->segment_first = CLV_NEW_ARRAY(a, int32_t, p->n_segments + 1);
    p->segment_unit = CLV_NEW_ARRAY(a, int32_t, p->n_segments);
    p->segment_edge = CLV_NEW_ARRAY(a, int32_t, p->n_segments + 1);
    p->segment_net = CLV_NEW_ARRAY(a, int32_t, p->n_segments + 1);
    p->edge_segment = CLV_NEW_ARRAY(a, int32_t, c->n_cross);
    p->edge_net = CLV_NEW_ARRAY(a, int32_t, c->n_cross);
    p->net_slot = CLV_NEW_ARRAY(a, int32_t, p->n_nets);
    p->net_edge = CLV_NEW_ARRAY(a, int32_t, p->n_nets + 1);
    p->net_edges = CLV_NEW_ARRAY(a, int32_t, c->n_cross);
    return p->unit_segment && p->segment_first && p->segment_unit && p->segment_edge &&
           p->segment_net && p->edge_segment && p->edge_net && p->net_slot && p->net_edge &&
           p->net_edges;
}

/* seen: n_nets, the segment + 1 that read a net last, so that each net is an edge once. */
static void build_segments(cutter *c, int32_t *seen)
{
    clv_program *p = c->p;
    int32_t segment = 0, net = 0;
    for (int32_t i = 0; i < p->n_ops; i++) {
        if (!c->starts[i])
            continue;
        p->segment_first[segment] = i;
        p->segment_unit[segment] = c->unit_of[i];
        p->segment_edge[segment] = p->n_edges;
        while (net < p->n_nets && p->position[p->net_slot[net]] < i)
            net++;
        p->segment_net[segment] = net;
        for (int32_t r = p->first_read[i]; r < p->first_read[i + 1]; r++) {
            int32_t slot = p->reads[r];
            if (!crosses(c, slot, i) || seen[p->net_of[slot]] == segment + 1)
                continue;
            seen[p->net_of[slot]] = segment + 1;
            p->edge_segment[p->n_edges] = segment;
            p->edge_net[p->n_edges++] = p->net_of[slot];
        }
        segment++;
    }
    p->segment_first[segment] = p->n_ops;
    p->segment_edge[segment] = p->n_edges;
    p->segment_net[segment] = p->n_nets;
}

static void build_unit_segments(clv_program *p)
{
    int32_t segment = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        p->unit_segment[u] = segment;
        while (segment < p->n_segments && p->segment_unit[segment] == u)
            segment++;
    }
    p->unit_segment[p->n_units] = segment;
}

/* Counting sort: edges of each net, ascending. */
static void build_net_edges(clv_program *p, int32_t *next)
{
    for (int32_t e = 0; e < p->n_edges; e++)
        p->net_edge[p->edge_net[e] + 1]++;
    for (int32_t n = 0; n < p->n_nets; n++) {
        p->net_edge[n + 1] += p->net_edge[n];
        next[n] = p->net_edge[n];
    }
    for (int32_t e = 0; e < p->n_edges; e++)
        p->net_edges[next[p->edge_net[e]]++] = e;
}

clv_status clv_cuts_build(clv_program *p, clv_arena *arena, clv_arena *scratch, clv_error *err)
{
    cutter c = { .p = p,
                 .unit_of = CLV_NEW_ARRAY(scratch, int32_t, p->n_ops),
                 .starts = CLV_NEW_ARRAY(scratch, uint8_t, p->n_ops) };
    if (!c.unit_of || !c.starts)
        return clv_fail_nomem(err, "the cuts");
    mark_units(&c);
    mark_crossings(&c);
    int32_t *seen = CLV_NEW_ARRAY(scratch, int32_t, p->n_nets);
    int32_t *next = CLV_NEW_ARRAY(scratch, int32_t, p->n_nets);
    if (!seen || !next || !take_room(&c, arena))
        return clv_fail_nomem(err, "the cuts");
    for (int32_t s = 0; s < p->n_slots; s++)
        if (p->net_of[s] >= 0)
            p->net_slot[p->net_of[s]] = s;
    build_segments(&c, seen);
    build_unit_segments(p);
    build_net_edges(p, next);
    return CLV_OK;
}
