/* external_answer.h - an external compiler's answer -> a verdict. docs/compiler-protocol.md has the
 * form. */
#ifndef CLV_COMPILE_EXTERNAL_ANSWER_H
#define CLV_COMPILE_EXTERNAL_ANSWER_H

#include "cluster/cluster.h"
#include "compile/process.h"
#include "problem/partition_problem.h"

/* Of options.json and of the answer. */
#define CLV_PROTOCOL_VERSION 1

/* How a command ended and what it said. Anything but a good answer is CLV_FAILED with a reason; the
 * only failure of the call is CLV_ENOMEM. A process that was stopped is not for here.
 * busy_ns: as in clv_assignment; written only where the answer is good and has them. */
clv_status clv_external_answer_read(const clv_process_result *result, const clv_cluster *cluster,
                                    int64_t *busy_ns, clv_verdict *ret, clv_error *err);

#endif
