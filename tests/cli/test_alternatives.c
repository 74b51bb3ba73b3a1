/* test_alternatives.c - the table of plans of other forms: each row against a plan of that form
 * alone. */
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
    run_result r =
        run_in(folder,
               "%s plan --json --no-output --objective throughput --cluster dgx-h100 "
               "--alternatives %d %s m.onnx | python3 -c \"import json, sys; [print(a['form'], "
               "a['period_ns'] / a['copies'], a['options'], sep=';') for a in "
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

/* Rows with one mesh are found from what the first of them knows of it, and more copies have less
 * memory each: 26 tables of 3.3 GiB, whose fastest strategies for two stages of four devices do not
 * fit into a copy on four alone. Memory is not compared, as strategies may tie in time. */
Test(alternatives, rows_are_what_their_options_give)
{
    char *folder = folder_new(), path[4096], options[160];
    table_row rows[ROWS_MAX], alone[ROWS_MAX];
    int of_mesh_4 = 0;
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    net_dlrm(26, 7000000, 128, 2048, path);
    int n = rows_of(folder, ROWS_MAX, "--devices 8 --worth 0", rows);
    for (int i = 0; i < n; i++) {
        snprintf(options, sizeof options, "--devices 8 --worth 0 %s", rows[i].options);
        rows_of(folder, 1, options, alone);
        cr_expect_str_eq(alone[0].form, rows[i].form);
        cr_expect_eq(alone[0].period_ns, rows[i].period_ns, "%s", rows[i].form);
        of_mesh_4 += strncmp(rows[i].options, "--mesh 4 ", 9) == 0;
    }
    cr_expect_geq(of_mesh_4, 2);
    folder_free(folder);
}

/* Strategies of a form that cannot beat another are left as near enough: where it is chosen all the
 * same, as so much is given for its latency, they are the best. */
Test(alternatives, the_chosen_is_the_best_of_its_form)
{
    static const net_sizes decoder = { .layers = 36,
                                       .batch = 256,
                                       .sequence = 1,
                                       .past = 4095,
                                       .hidden = 4096,
                                       .heads = 32,
                                       .kv_heads = 4,
                                       .inner = 14336,
                                       .words = 32000 };
    char *folder = folder_new(), path[4096], options[160];
    table_row rows[ROWS_MAX], alone[ROWS_MAX];
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    net_llama(&decoder, path);
    int n = rows_of(folder, 5, "--devices 6 --worth 0.3", rows);
    cr_assert_geq(n, 2);
    cr_expect_gt(rows[0].period_ns, rows[1].period_ns, "%s is slower than %s", rows[0].form,
                 rows[1].form);
    snprintf(options, sizeof options, "--devices 6 --worth 0 %s", rows[0].options);
    rows_of(folder, 1, options, alone);
    cr_expect_str_eq(alone[0].form, rows[0].form);
    cr_expect_eq(alone[0].period_ns, rows[0].period_ns, "%.0f ns instead of %.0f",
                 rows[0].period_ns, alone[0].period_ns);
    folder_free(folder);
}
