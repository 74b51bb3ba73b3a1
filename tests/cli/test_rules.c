/* test_rules.c - cleave rules: what is supported, and under which conditions. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cleave.h"
#include "support/run.h"

static char *says(int code, const char *line)
{
    run_result r = run_in(".", "%s %s", TEST_CLEAVE, line);
    cr_assert_eq(r.code, code, "'%s' gave %d: %s%s", line, r.code, r.out, r.err);
    if (code == 0) {
        free(r.err);
        return r.out;
    }
    free(r.out);
    return r.err;
}

static void expect_in(const char *line, int code, const char *words)
{
    char *out = says(code, line);
    cr_expect(strstr(out, words), "'%s' does not say '%s': %s", line, words, out);
    free(out);
}

/* covers: C.011 */
Test(rules, one_operator)
{
    expect_in("rules MatMul", 0, "(...,m,k),(...,k,n)->(...,m,n)\n");
    expect_in("rules MatMul", 0, "k       reduced by sum\n");
    expect_in("rules MatMul", 0, "m       parallel\n");
    expect_in("rules Add", 0, "    parts of a sum go through all inputs together\n");
    expect_in("rules Mul", 0, "    parts of a sum go through input 0 or input 1\n");
    expect_in("rules --json Slice | tr -d ' \\n'", 0, "\"linear_in\":\"input0\"}");
    expect_in("rules Softmax", 0, "if v<13:");
    expect_in("rules Softmax", 0, "n       whole\n");
    expect_in("rules NonZero", 0, "gives as many indices as it finds");
    expect_in("rules Reshape", 0, "factors that both shapes have in common");
    expect_in("rules com.microsoft.MoE", 0, "com.microsoft.MoE\n");
    expect_in("rules --json Gather | tr -d ' \\n'", 0,
              "{\"name\":\"v\",\"run\":false,\"kind\":\"reduced\",\"reduced_by\":\"sum\","
              "\"by_index\":true,\"granule\":1}");
    expect_in("rules --json NonZero | tr -d '\\n'", 0, "\"whole\": \"gives as many");
}

/* Every operator is listed, and the answer is one JSON object. covers: C.011 */
Test(rules, all_operators)
{
    expect_in("rules --json | python3 -c 'import json, sys; "
              "o = json.load(sys.stdin)[\"operators\"]; "
              "print(len(o) > 300 and all(x[\"cases\"] for x in o))'",
              0, "True");
    expect_in("rules", 0, "\nMatMul\n");
    expect_in("rules", 0, "\ncom.microsoft.GroupQueryAttention\n");
    char *quiet = says(0, "rules --quiet");
    cr_expect_str_eq(quiet, "");
    free(quiet);
}

Test(rules, wrong_requests)
{
    expect_in("rules MatMull", 2, "operator 'MatMull' is not known, did you mean 'MatMul'?");
    expect_in("rules MatMul Add", 2, "'Add' is one operator too many");
}

Test(rules, from_the_library)
{
    cleave_report *report = NULL;
    cleave_error error;
    cr_assert_eq(cleave_rules("Add", NULL, &report, &error), CLEAVE_OK);
    cr_expect(strstr(cleave_report_text(report), "(...),(...)->(...)"));
    cleave_report_free(report);
    cr_expect_eq(cleave_rules("NoSuchThing", NULL, &report, &error), CLEAVE_EUSAGE);
    cr_expect_eq(cleave_rules("Add", NULL, NULL, &error), CLEAVE_EUSAGE);
}
