/* says.h - what a report says, for tests. */
#ifndef CLV_TESTS_EXPLAIN_SAYS_H
#define CLV_TESTS_EXPLAIN_SAYS_H

#include <criterion/criterion.h>
#include <string.h>

#include "explain/report_plan.h"

static inline const char *plan_report(clv_arena *arena, const clv_plan *plan)
{
    const char *ret = NULL;
    clv_error err;
    cr_assert_eq(clv_report_plan(plan, (clv_text_form){ 0 }, true, arena, &ret, &err), CLV_OK, "%s",
                 err.message);
    return ret;
}

static inline void expect_words(const char *all, const char *words)
{
    cr_expect(strstr(all, words), "no '%s' in:\n%s", words, all);
}

static inline void expect_no_words(const char *all, const char *words)
{
    cr_expect(!strstr(all, words), "'%s' in:\n%s", words, all);
}

#endif
