/* constraints_nodes.h - which operators a value of a constraints file stands for. */
#ifndef CLV_RULES_CONSTRAINTS_NODES_H
#define CLV_RULES_CONSTRAINTS_NODES_H

#include "base/json.h"
#include "base/map.h"
#include "rules/constraints.h"

typedef struct {
    const clv_graph *g;
    clv_arena *arena;
    const clv_map *labels; /* to operator ids */
    clv_constraints *out;  /* takes the warnings */
    const char *rule;      /* its label, for warnings */
    char says[200];        /* what the rule says, in words */
    size_t n_says;
} clv_node_reader;

/* Marks the operators in in (n_ops), and says them. A name that matches none is a warning. */
clv_status clv_constraint_nodes(clv_node_reader *r, const clv_json_at *at, bool *in,
                                clv_error *err);
/* For readers that know more than these: a value, or each of a list that must not be empty, is
 * matched in turn, and said with ", " between. */
typedef clv_status clv_node_match(clv_node_reader *r, const clv_json_at *at, void *ctx,
                                  clv_error *err);
clv_status clv_constraint_each(clv_node_reader *r, const clv_json_at *at, clv_node_match *match,
                               void *ctx, clv_error *err);
/* text NULL is taken for lack of memory. */
clv_status clv_constraint_warn(clv_node_reader *r, const char *text, clv_error *err);
/* Goes on with what the rule says; too long ends in "...". */
void clv_constraint_say(clv_node_reader *r, const char *fmt, ...) CLV_PRINTF(2, 3);

/* '*' stands for any characters, '?' for one. O(pattern * name). */
bool clv_glob_match(const char *pattern, clv_str name);

#endif
