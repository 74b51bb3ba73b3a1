#include "cli/cmd_clusters.h"

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/room_options.h"

/* cleave clusters: which clusters there are, and what is known of one. */

enum { CONFIGS, COMMON, N_OPTIONS = COMMON + CLI_N_COMMON };

static const cli_option options[N_OPTIONS] = {
    [CONFIGS] = CLI_CONFIGS_OPTION,
    CLI_COMMON_OPTIONS,
};

static int run(cli *c, const cli_args *args)
{
    cleave_control control = cli_control(c);
    cleave_clusters_options asked;
    cleave_report *report = NULL;
    cleave_error error;

    if (args->n_operands > 1)
        return cli_usage(c, "'%s' is one cluster too many, expected one", args->operands[1]);
    cleave_clusters_options_init(&asked);
    asked.cluster = args->n_operands ? args->operands[0] : NULL;
    asked.configs_path = args->values[CONFIGS].text;
    if (cleave_clusters(&asked, &control, &report, &error) != CLEAVE_OK)
        return cli_fail_library(c, &error);
    int code = cli_print_report(c, report);
    cleave_report_free(report);
    return code;
}

const cli_command cli_cmd_clusters = {
    .name = "clusters",
    .operands = "[NAME|FILE]",
    .summary = "Show the clusters that there are, or one with its sources",
    .details = "Without NAME all of configs/clusters. docs/formats/cluster.md says how to describe "
               "another one.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
