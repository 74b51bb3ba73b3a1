/* intra_op_report.h - the solution of an intra-operator problem, for people and programs. */
#ifndef CLV_API_INTRA_OP_REPORT_H
#define CLV_API_INTRA_OP_REPORT_H

#include "api/report.h"
#include "solver/intra_op/solve.h"

/* Fills *report, in its arena; file: the name of the problem's. CLV_ENOMEM only. O(nodes). */
clv_status clv_intra_op_solution_report(const clv_intra_op_problem *p, const clv_intra_op_result *r,
                                        const char *file, cleave_report *report, clv_error *err);

#endif
