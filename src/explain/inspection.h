/* inspection.h - what inspecting a model found: its operators by type, the symbols still open.
 *
 * report_inspect.h shows it to people, report_inspect_json.h writes it down for programs. All of it
 * is about the main graph.
 */
#ifndef CLV_EXPLAIN_INSPECTION_H
#define CLV_EXPLAIN_INSPECTION_H

#include "cluster/cluster.h"
#include "cost/subgraph.h"
#include "graph/states.h"

typedef struct {
    const char *name; /* of the file, for the head line */
    const clv_model *model;
    const clv_inference *inference;
    const clv_costs *costs;
    const clv_subgraphs *subgraphs;
    clv_states states;          /* those that a run begins, too (first_caches.h) */
    const clv_cluster *cluster; /* on which something is to fit; NULL: not asked */
} clv_inspection;

typedef struct {
    const char *type; /* "MatMul", "com.microsoft.Attention" */
    int32_t count;
    double flops;
} clv_type_count;

/* Operators by type: most FLOPs first, then most operators, then by name. In the arena; CLV_ENOMEM.
 * O(operators + types log types). */
clv_status clv_inspection_count_types(const clv_inspection *in, clv_arena *arena,
                                      clv_type_count **ret, int32_t *ret_n, clv_error *err);

/* States that grow along the same dimension. */
typedef struct {
    clv_str along;       /* its symbol; empty: it has none */
    int32_t n;           /* states */
    int64_t token_bytes; /* of all of them, for one position of one sequence; -1: not known */
} clv_state_growth;

/* By dimension, in the order of the states; those that keep their size are in none. In the arena;
 * CLV_ENOMEM. O(states * dimensions that differ). */
clv_status clv_inspection_growths(const clv_inspection *in, clv_arena *arena,
                                  clv_state_growth **ret, int32_t *ret_n, clv_error *err);
/* How many of them a run begins, having no input. O(states). */
int32_t clv_inspection_n_begun(const clv_inspection *in);
/* Bytes of all states as they go out; -1: a dimension is open. O(states). */
int64_t clv_inspection_state_bytes(const clv_inspection *in);

/* What fits on the devices of the cluster: each weight once on one of them, and states. */
typedef struct {
    int64_t capacity_bytes; /* of all devices */
    int64_t token_bytes;    /* for each token of a sequence; 0: nothing grows; -1: not known */
    int64_t tokens;         /* of all sequences; -1: not known; nothing is left for activations */
} clv_state_room;
clv_state_room clv_inspection_room(const clv_inspection *in, const clv_state_growth *growths,
                                   int32_t n);

/* What there is to say of a symbol. */
typedef struct {
    bool open;                /* does it still stand in a type? */
    bool asked;               /* does somebody have to give it a size? */
    int64_t size;             /* that nobody gave; 0: it has none, or it was given */
    const char *follows_from; /* what its size does, or will; NULL: nothing, or its name says it */
} clv_symbol_state;

/* By symbol of the model. In the arena; CLV_ENOMEM. O(tensors * rank + symbols + relations). */
clv_status clv_inspection_symbols(const clv_inspection *in, clv_arena *arena,
                                  clv_symbol_state **ret, clv_error *err);

#endif
