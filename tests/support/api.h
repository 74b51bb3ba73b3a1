/* api.h - the public API with fewer words, for tests. */
#ifndef CLV_TESTS_SUPPORT_API_H
#define CLV_TESTS_SUPPORT_API_H

#include "cleave.h"

static inline cleave_plan_options plan_options(void)
{
    cleave_plan_options o;
    cleave_plan_options_init(&o);
    return o;
}

static inline const char *plan_text(const cleave_plan *plan)
{
    return cleave_report_text(cleave_plan_report(plan));
}

static inline const char *plan_json(const cleave_plan *plan)
{
    return cleave_report_json(cleave_plan_report(plan), NULL);
}

static inline cleave_control control_of(const cleave_allocator *allocator)
{
    cleave_control c;
    cleave_control_init(&c);
    c.allocator = allocator;
    return c;
}

#endif
