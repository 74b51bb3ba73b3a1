/* constraints.h - rules of a user that a plan has to obey (docs/formats/constraints.md).
 *
 * A rule speaks of operators of the main graph, by name, type or the tensor they write, of devices
 * as a plan file numbers or names them, and of stages as it numbers them.
 */
#ifndef CLV_PLAN_CONSTRAINTS_H
#define CLV_PLAN_CONSTRAINTS_H

#include "base/arena.h"
#include "graph/graph.h"

typedef enum {
    CLV_RULE_PLACE,     /* one set: on some devices, at some stages */
    CLV_RULE_TOGETHER,  /* one set: all on one device */
    CLV_RULE_APART,     /* two sets or more: no device has operators of two of them */
    CLV_RULE_BOUNDARY,  /* two sets: all stages with the first come before all with the second */
    CLV_RULE_MAX_STAGES /* no set */
} clv_rule_kind;

typedef struct {
    clv_rule_kind kind;
    const char *name, *why; /* as the user gave them; NULL: not given */
    const char *says;       /* "place '/embed*' on device 0" */
    int32_t n_sets;
    int32_t *set_first; /* n_sets + 1, into ops */
    clv_op *ops;        /* ascending in each set */
    uint64_t *devices;  /* PLACE: one bit each, clv_constraints.words; NULL: any */
    uint64_t *stages;   /* PLACE: those that n_devices can have; NULL: any */
    int32_t max_stages;
    bool unused; /* it binds nothing; a warning says why */
} clv_rule;

typedef struct {
    int32_t n, n_devices;
    size_t words; /* of a set of devices or stages */
    clv_rule *at;
    const char **warnings; /* sentences: rules and names that match nothing */
    int32_t n_warnings, cap_warnings;
} clv_constraints;

/* CLV_EFORMAT, naming the place in the text and the rule's name if it has one; CLV_ELIMIT where
 * there are more rules, or more operators in all rules, than are looked at. Strings are copied.
 * O(text + patterns with wildcards * operators + operators in rules). */
clv_status clv_constraints_parse(const char *text, size_t n, const clv_graph *g,
                                 const char *const *device_names, int32_t n_devices,
                                 clv_arena *arena, clv_constraints *ret, clv_error *err);

/* "rules[2] 'embeddings'", into buf. Returns buf. */
const char *clv_rule_label(const clv_constraints *c, int32_t rule, char *buf, size_t size);

/* The first rule that a placement breaks; -1: none. device_of: by operator id; stage_of: by device.
 * skip: by rule, those that do not count; may be NULL. O(operators in rules + sets * devices). */
int32_t clv_constraints_broken(const clv_constraints *c, const int32_t *device_of,
                               const int32_t *stage_of, int32_t n_stages, const bool *skip,
                               clv_arena *arena);

#endif
