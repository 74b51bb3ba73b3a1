/* rule_supernodes.h - units that the rules want on one device, contracted to supernodes, and what
 * the rules say of each: the graph on which rule_nearest.h, rule_stages.h and rule_exact.h work.
 * Families of units that must be apart are held against the devices by bipartite matching with
 * augmenting paths (Kuhn 1955).
 */
#ifndef CLV_SOLVER_PARTITION_RULE_SUPERNODES_H
#define CLV_SOLVER_PARTITION_RULE_SUPERNODES_H

#include "problem/rules.h"

typedef struct {
    const clv_partition_problem *p;
    const clv_rules *rules;
    clv_arena *arena;
    int32_t n; /* supernodes, in topological order */
    size_t words;
    int32_t *supernode_of;       /* by unit */
    int32_t *unit_first, *units; /* n + 1; units of a supernode */
    uint64_t *devices;           /* [supernode * words] */
    uint64_t *stages;            /* [supernode * words]; NULL: any */
    int32_t *tag_first, *tags;   /* n + 1 */
    int32_t *read_first, *reads; /* n + 1: supernodes that it reads from */
    int32_t *sent_first, *sent;  /* n + 1: supernodes that read it */
    int32_t *class_of;           /* by device: the first one that all rules treat alike */
    bool is_impossible; /* proven: a supernode has no device, no stage or tags that are apart, or
                           there are too few devices for the tags of a family */
} clv_supernodes;

static inline bool clv_supernode_allows(const clv_supernodes *g, int32_t supernode, int32_t device)
{
    return clv_bit(g->devices + (size_t)supernode * g->words, device);
}

/* Is the tag of a family that is in order? */
static inline bool clv_tag_is_in_order(const clv_supernodes *g, int32_t tag)
{
    return g->rules->in_order[g->rules->family_of[tag]];
}

/* The first tag of its family: in order, that of what comes before the boundary. */
static inline bool clv_tag_is_first(const clv_supernodes *g, int32_t tag)
{
    return tag == 0 || g->rules->family_of[tag - 1] != g->rules->family_of[tag];
}

/* The assignment of units by the supernodes' devices. */
static inline void clv_supernodes_expand(const clv_supernodes *g, const int32_t *device_of_node,
                                         int32_t *device_of)
{
    for (int32_t u = 0; u < g->p->n_units; u++)
        device_of[u] = device_of_node[g->supernode_of[u]];
}

/* p has rules, whose groups are closed (clv_rules_close); all lives in the arena. CLV_ENOMEM.
 * O(units + nets' readers + units * devices / 64 + devices^2). */
clv_status clv_supernodes_new(const clv_partition_problem *p, clv_arena *arena, clv_supernodes *ret,
                              clv_error *err);

#endif
