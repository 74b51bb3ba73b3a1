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
#include "proto/read_annotations.h"

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
/* One in a body against the entries of the node that has it: those from first to before end. O(end
 * - first + devices of specs). */
clv_status clv_inner_entry_check_body(const clv_annotated_node *entries, int32_t first, int32_t end,
                                      const clv_node_annotation *inner, clv_arena *arena,
                                      clv_error *err);

#endif
