#include "cli/cmd_rules.h"

#include "cli/answer.h"
#include "cli/control.h"

/* cleave rules: which operators may be split over devices, and how. */

enum { COMMON, N_OPTIONS = COMMON + CLI_N_COMMON };

static const cli_option options[N_OPTIONS] = {
    CLI_COMMON_OPTIONS,
};

static int run(cli *c, const cli_args *args)
{
    cleave_error error;
    cleave_control control = cli_control(c);
    cleave_report *report = NULL;

    if (args->n_operands > 1)
        return cli_usage(c, "'%s' is one operator too many, expected one", args->operands[1]);
    if (cleave_rules(args->n_operands ? args->operands[0] : NULL, &control, &report, &error) !=
        CLEAVE_OK)
        return cli_fail_library(c, &error);
    int code = cli_print_report(c, report);
    cleave_report_free(report);
    return code;
}

const cli_command cli_cmd_rules = {
    .name = "rules",
    .operands = "[OPERATOR]",
    .summary = "Show how operators may be split over devices",
    .details = "Without OPERATOR all of them. docs/sharding.md explains the notation.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
