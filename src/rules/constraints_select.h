/* constraints_select.h - which operators a value of a constraints file stands for: what the readers
 * of such a file (constraints_read.h, constraints_read_split.h) share.
 */
#ifndef CLV_RULES_CONSTRAINTS_SELECT_H
#define CLV_RULES_CONSTRAINTS_SELECT_H

#include "base/json.h"
#include "base/map.h"
#include "cluster/cluster.h"
#include "rules/constraints.h"

#define CLV_CONSTRAINT_MEMBERS_MAX                                                                 \
    100000000 /* operators in all rules: 400 MB; a hostile file asks more */

/* The reading of one file. */
typedef struct {
    const clv_graph *g;
    const clv_cluster *cluster;
    clv_arena *arena;
    clv_map labels;  /* to operator ids */
    clv_map devices; /* names, to their numbers */
    clv_constraints *out;
    bool *in;          /* n_ops: the operators that are selected */
    bool *side;        /* n_ops: scratch */
    int64_t n_members; /* operators and tensors in the rules so far */
    const char *rule;  /* the label of the one at hand, for warnings */
    char says[200];    /* what it says, in words */
    size_t n_says;
} clv_constraints_reader;

/* Where a value stands, for a message. */
#define CLV_CONSTRAINTS_PATH(at) clv_json_path((at), (char[256]){ 0 }, 256)

/* No operator is selected. O(operators). */
void clv_constraints_select_none(clv_constraints_reader *r);
/* Adds to r->in the operators that a value names: text, {"op_type": ...}, {"tensor": ...} or a list
 * of them, and describes them. A name that matches none is a warning. CLV_EFORMAT says where.
 * O(operators) for each pattern. */
clv_status clv_constraints_select_ops(clv_constraints_reader *r, const clv_json_at *at,
                                      clv_error *err);
/* For readers that know more than these: a value, or each of a list that must not be empty, is
 * matched in turn, and described with ", " between. */
typedef clv_status clv_constraints_match(clv_constraints_reader *r, const clv_json_at *at,
                                         void *ctx, clv_error *err);
clv_status clv_constraints_for_each(clv_constraints_reader *r, const clv_json_at *at,
                                    clv_constraints_match *match, void *ctx, clv_error *err);

/* So many operators or tensors more are in a rule. CLV_ELIMIT above CLV_CONSTRAINT_MEMBERS_MAX. */
clv_status clv_constraints_count_members(clv_constraints_reader *r, int32_t n, clv_error *err);
/* text NULL is taken for lack of memory. */
clv_status clv_constraints_warn(clv_constraints_reader *r, const char *text, clv_error *err);
/* Goes on with what the rule says; too long ends in "...". */
void clv_constraints_describe(clv_constraints_reader *r, const char *fmt, ...) CLV_PRINTF(2, 3);

#endif
