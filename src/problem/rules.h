/* rules.h - rules of a user as numbers: what an assignment must satisfy besides being legal.
 *
 * Devices and stages are sets of bits of `words` words each. The stage of a unit is the level of
 * its device in the quotient graph (clv_partition_stages). Rules say nothing of memory or time.
 */
#ifndef CLV_PROBLEM_RULES_H
#define CLV_PROBLEM_RULES_H

#include "problem/quotient.h"

typedef struct clv_rules {
    size_t words;            /* clv_bits_words(n_devices) */
    const uint64_t *devices; /* [unit * words]: where each may be; NULL: anywhere */
    /* Units that must be on one device. Closed: what lies between two of a group is in it
     * (rules_close.h). */
    int32_t n_groups;
    const int32_t *group_of;    /* n_units, -1: in none; NULL: no groups */
    const int32_t *group_first; /* n_groups + 1, into group_units */
    const int32_t *group_units; /* ascending in each group */
    /* No device holds units with two different tags of one family. In a family that is in order,
     * which has two tags, all stages with the first come before all stages with the second. */
    int32_t n_tags, n_families;
    const int32_t *tag_first; /* n_units + 1, into tags; NULL: no tags */
    const int32_t *tags;      /* ascending in each unit */
    const int32_t *family_of; /* n_tags, ascending */
    const bool *in_order;     /* n_families */
    /* Units that must be at one of some stages. */
    int32_t n_stage_sets;
    const uint64_t *stage_sets;  /* [set * words] */
    const int32_t *stage_set_of; /* n_units, -1: any stage; NULL: all of them */
    int32_t max_stages;          /* 0: as many as there are */
} clv_rules;

/* May a unit be on a device? */
static inline bool clv_rules_allow(const clv_rules *r, int32_t unit, int32_t device)
{
    return !r->devices || clv_bit(r->devices + (size_t)unit * r->words, device);
}

/* Do any of them speak of stages? */
static inline bool clv_rules_order_stages(const clv_rules *r)
{
    bool ordered = r->max_stages > 0 || r->stage_set_of;
    for (int32_t f = 0; f < r->n_families; f++)
        ordered |= r->in_order[f];
    return ordered;
}

/* What of the rules' subjects is where: follows single moves. */
typedef struct {
    const clv_partition_problem *p;
    const clv_rules *rules;
    int32_t *tagged; /* [tag * n_devices + device]: units */
    int32_t *mixed;  /* [family * n_devices + device]: different tags */
    int32_t *staged; /* [stage set * n_devices + device]: units */
    int32_t *level;  /* scratch: 3 * n_devices */
    bool order_stages;
} clv_rule_counts;

/* p has rules. Memory O((tags + families + stage sets) * devices). */
clv_status clv_rule_counts_new(const clv_partition_problem *p, clv_arena *arena,
                               clv_rule_counts *ret, clv_error *err);
/* As if no unit were anywhere. */
void clv_rule_counts_clear(clv_rule_counts *c);
/* The unit comes to the device (sign 1) or leaves it (-1). O(its tags). */
void clv_rule_counts_add(clv_rule_counts *c, int32_t unit, int32_t device, int32_t sign);
/* Are the unit's tags the only ones of their families on the device? O(its tags). */
bool clv_rule_counts_is_apart(const clv_rule_counts *c, int32_t unit, int32_t device);
/* Are the rules on stages satisfied? rows: the acyclic quotient graph (clv_quotient_rows).
 * O(devices^2 + (families
 * + stage sets) * devices); O(1) without rules on stages. */
bool clv_rule_counts_stages_satisfied(clv_rule_counts *c, const uint64_t *rows);

/* Does a legal assignment satisfy the rules of p? True without rules; without memory false. What it
 * takes from the arena is given back. O(units + tags + nets' readers + devices * (devices + tags)).
 */
bool clv_partition_satisfies_rules(const clv_partition_problem *p, const int32_t *device_of,
                                   clv_arena *arena);

#endif
