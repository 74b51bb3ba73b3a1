/* inner_entries.h - entries of nodes in bodies and in functions, held against those of the main
 * graph's nodes that run them.
 *
 * A node in a body runs where the node with the body runs, one in a function where its calls run.
 * So an entry of it decides nothing, but it may contradict: by another pipeline_stage, or by a
 * device that the outer node's specs do not name.
 */
#ifndef CLV_PROTO_INNER_ENTRIES_H
#define CLV_PROTO_INNER_ENTRIES_H

#include "base/map.h"
#include "notation/sharding_spec.h"

/* An entry of a node in a body against one, of the same configuration, of the node number
 * file_index of the main graph that has the body. CLV_EFORMAT: it contradicts it. Scratch is given
 * back. O(devices of specs, and sorting them). */
clv_status clv_inner_entry_check(const clv_node_annotation *inner, const clv_node_annotation *outer,
                                 int32_t file_index, clv_arena *arena, clv_error *err);

typedef struct {
    clv_str domain, name, overload; /* domain "" is the standard one */
} clv_function_name;

/* Entries of calls: of each function and configuration one for each stage. */
typedef struct {
    clv_arena *arena;
    struct clv_outer_entry *at;
    int32_t n, cap;
    clv_map functions, first, distinct;
} clv_outer_entries;

clv_status clv_outer_entries_init(clv_outer_entries *outer, clv_arena *arena, clv_error *err);

/* Adds the entry of a node of the main graph, which may be a call; configuration: its number. What
 * note points to must live as long. O(1). */
clv_status clv_outer_entries_add(clv_outer_entries *outer, const clv_function_name *callee,
                                 int32_t configuration, const clv_node_annotation *note,
                                 int32_t file_index, clv_error *err);

/* Holds an entry of a node in a function against those of calls. CLV_EFORMAT: it contradicts one.
 * O(stages of the calls + devices of their specs). */
clv_status clv_inner_entry_check_calls(clv_outer_entries *outer, const clv_function_name *of,
                                       int32_t configuration, const clv_node_annotation *inner,
                                       clv_error *err);

#endif
