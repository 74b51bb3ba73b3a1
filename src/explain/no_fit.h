/* no_fit.h - sentences for a plan that does not fit: what is missing where, and why no cut helps.
 *
 * They become notes of the plan. All live in the arena. CLV_ENOMEM.
 */
#ifndef CLV_EXPLAIN_NO_FIT_H
#define CLV_EXPLAIN_NO_FIT_H

#include "compile/compiler.h"
#include "plan/plan.h"
#include "problem/fit.h"
#include "solver/partition/solve.h"

/* Which device is out of memory by how much, at which operator, and what is alive there; or why no
 * candidate compiled. report: of the plan; NULL: the compiler reports nothing. */
clv_status clv_note_shortage(const clv_verdict *verdict, const clv_graph *g,
                             const clv_compile_report *report, clv_plan *plan, clv_arena *arena,
                             clv_error *err);

/* What other verdicts of the search say of memory: where it is missing, if the compiler knows more
 * than the device, and what each lower proportion lacked, but for those that were tried only in the
 * hope of something faster. O(plans judged). */
clv_status clv_note_shortages_tried(const clv_partition_result *result, clv_plan *plan,
                                    clv_arena *arena, clv_error *err);

/* That no cut can help, where bound proves it: none at all where the weights alone are too much,
 * else none of the search, whose parts a cut by hand (by_hand) may divide. last_op: the label of
 * the operator that ends the part that fits nowhere; unused where bound->unit < 0. */
clv_status clv_note_fit_bound(const clv_fit_bound *bound, bool by_hand, clv_str last_op,
                              clv_plan *plan, clv_arena *arena, clv_error *err);

/* "no plan within 5 ms was found: the least latency is 8.2 ms ...", of a plan that is CLV_LATE.
 * Returns buf. */
#define CLV_LATE_WORDS 200
const char *clv_show_late(const clv_plan *plan, char buf[static CLV_LATE_WORDS]);

#endif
