#include "cli/cmd_reshard.h"

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/cutting.h"
#include "cli/files.h"
#include "cli/signals.h"

/* cleave reshard: shards of one layout into those of another. */

enum { LAYOUT, PLAN, DRY, KIND, MAX_FILE, OUTPUT, COMMON, N_OPTIONS = COMMON + CLI_N_COMMON };

static const char *const kinds[] = { "external", "safetensors", NULL };

static const cli_option options[N_OPTIONS] = {
    [LAYOUT] = CLI_LAYOUT_OPTION("which device is to have which part of which weight"),
    [PLAN] = CLI_LAYOUT_BY_PLAN_OPTION,
    [DRY] = { .name = "--dry-run",
              .kind = CLI_FLAG,
              .help = "report what would move, write nothing" },
    [KIND] = CLI_WEIGHTS_OPTION("external|safetensors", kinds),
    [MAX_FILE] = CLI_MAX_FILE_OPTION,
    [OUTPUT] = CLI_NEW_FOLDER_OPTION("the new folder"),
    CLI_COMMON_OPTIONS,
};

static int reshard(cli *c, const cli_value *v, const char *folder)
{
    cleave_control control = cli_control(c);
    cleave_shard_options o = cli_shard_options(&v[KIND], &v[MAX_FILE]);
    const char *to = v[DRY].by ? NULL : v[OUTPUT].text;
    cleave_error error;
    cleave_report *report = NULL;

    cli_catch_signals(c);
    cli_be_careful(true); /* a half-written folder has to go first */
    cleave_status status =
        cleave_reshard(folder, v[LAYOUT].text, to, &o, &control, &report, &error);
    cli_forget_signals();
    if (status != CLEAVE_OK)
        return cli_fail_library(c, &error);
    int code = cli_print_report(c, report);
    cleave_report_free(report);
    return code;
}

static int run(cli *c, const cli_args *args)
{
    const cli_value *v = args->values;
    int code = cli_one_operand(c, args, "folder");

    if (code == CLI_EXIT_OK)
        code = cli_need_layout(c, &v[LAYOUT]);
    if (code != CLI_EXIT_OK)
        return code;
    if (!v[DRY].by && !v[OUTPUT].by)
        return cli_usage(c, "no folder is given to write to, expected -o DIR or --dry-run");
    return reshard(c, v, args->operands[0]);
}

const cli_command cli_cmd_reshard = {
    .name = "reshard",
    .operands = "DIR",
    .summary = "Cut the shards of a folder anew, for any other devices",
    .details = "DIR is what 'cleave shard' wrote; the model itself is not needed. Prints what "
               "moves between devices, and how much memory that takes.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
