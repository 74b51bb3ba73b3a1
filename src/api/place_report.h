/* place_report.h - the solution of a placement problem, for people and programs. */
#ifndef CLV_API_PLACE_REPORT_H
#define CLV_API_PLACE_REPORT_H

#include "api/report.h"
#include "solver/placement/common/place_search.h"

/* A problem, and how it was solved. */
typedef struct {
    const clv_place_problem *problem;
    const clv_place_rules *rules;
    const clv_place_result *result;
    const char *name; /* of the problem's file */
} clv_place_solved;

/* Fills *report, in its arena. CLV_ENOMEM only. O(nodes + devices). */
clv_status clv_place_solution_report(const clv_place_solved *s, cleave_report *report,
                                     clv_error *err);

#endif
