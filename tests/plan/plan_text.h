/* plan_text.h - a plan written and read again, for tests. */
#ifndef CLV_TESTS_PLAN_PLAN_TEXT_H
#define CLV_TESTS_PLAN_PLAN_TEXT_H

#include <criterion/criterion.h>

#include "plan/plan_json_read.h"
#include "plan/plan_json_write.h"

static inline const char *text_of_plan(clv_arena *arena, const clv_plan *plan)
{
    const char *text = NULL;
    size_t n = 0;
    clv_error err;
    cr_assert_eq(clv_plan_write(plan, arena, &text, &n, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(strlen(text), n);
    return text;
}

static inline clv_plan *plan_of_text(clv_arena *arena, const char *text)
{
    clv_plan *plan = NULL;
    clv_error err;
    cr_assert_eq(clv_plan_read(text, strlen(text), "p.json", arena, &plan, &err), CLV_OK, "%s",
                 err.message);
    return plan;
}

#endif
