/* intra_op_json.h - intra-operator problems in the JSON of the ASPLOS/EuroSys 2025 contest.
 *
 * {"problem": {"name", "nodes": {"intervals", "costs", "usages"}, "edges": {"nodes", "costs"},
 * "usage_limit"}}, keys in any order; docs/formats/strategy.md. The text is read once from front to
 * back and never held: what is held is the problem, with each matrix once.
 */
#ifndef CLV_PROBLEM_INTRA_OP_JSON_H
#define CLV_PROBLEM_INTRA_OP_JSON_H

#include "problem/intra_op_problem.h"

/* what names the text in messages. CLV_EFORMAT with one sentence for what is not JSON, missing, not
 * a whole number of 64 bits, negative, ragged, out of range; CLV_ELIMIT for more than 2^31 - 2 of
 * anything. The problem lives in the arena. O(text), and O(log) for spans out of order. */
clv_status clv_intra_op_read_text(const char *text, size_t n, const char *what, clv_arena *arena,
                                  const clv_intra_op_problem **ret, clv_error *err);
/* The same from a regular file. */
clv_status clv_intra_op_read_file(const char *path, clv_arena *arena,
                                  const clv_intra_op_problem **ret, clv_error *err);

#endif
