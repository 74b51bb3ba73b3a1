/* test_alternatives.c - the table of plans of other forms: each row against a plan of that form
 * alone.
 *
 * Rows with one mesh are found from what the first of them knows of it, and more copies have less
 * memory each: a row that took strategies which do not fit its own would not be there. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/nets.h"
#include "support/run.h"

#define ROWS_MAX 9

typedef struct {
    char options[80], form[40];
    double period_ns;
} table_row;

/* The plans in the table for a model in that folder; how many. */
static int rows_of(const char *folder, int alternatives, const char *options, table_row *ret)
{
    int n = 0;
    run_result r = run_in(
        folder,
        "%s plan --json --no-output --objective throughput --cluster dgx-h100 --devices 8 "
        "--worth 0 --alternatives %d %s m.onnx | python3 -c \"import json, sys; [print(a['form'], "
        "a['period_ns'], a['options'], sep=';') for a in "
        "json.load(sys.stdin)['plan']['choice']['alternatives']]\"",
        TEST_CLEAVE, alternatives, options);
    for (char *line = strtok(r.out, "\n"); line && n < ROWS_MAX; line = strtok(NULL, "\n"), n++)
        cr_assert_geq(
            sscanf(line, "%39[^;];%lf;%79[^;]", ret[n].form, &ret[n].period_ns, ret[n].options), 2,
            "%s", line);
    cr_assert_gt(n, 0, "%s: %s", options, r.err);
    run_free(&r);
    return n;
}

/* 26 tables of 3.3 GiB: the fastest strategies for two stages of four devices do not fit into
 * a copy on four alone. Memory is not compared, as strategies may tie in time. */
Test(alternatives, rows_are_what_their_options_give)
{
    char *folder = folder_new(), path[4096];
    table_row rows[ROWS_MAX], alone[ROWS_MAX];
    int of_mesh_4 = 0;
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    net_dlrm(26, 7000000, 128, 2048, path);
    int n = rows_of(folder, ROWS_MAX, "", rows);
    for (int i = 0; i < n; i++) {
        rows_of(folder, 1, rows[i].options, alone);
        cr_expect_str_eq(alone[0].form, rows[i].form);
        cr_expect_eq(alone[0].period_ns, rows[i].period_ns, "%s", rows[i].form);
        of_mesh_4 += strncmp(rows[i].options, "--mesh 4 ", 9) == 0;
    }
    cr_expect_geq(of_mesh_4, 2);
    folder_free(folder);
}
