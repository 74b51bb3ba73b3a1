#include "cli/cmd_inspect.h"

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/files.h"
#include "cli/room_options.h"

/* cleave inspect: what a model is, before any planning. */

enum {
    BIND,
    CLUSTER,
    DEVICES,
    MEMORY,
    HEADROOM,
    CONFIGS,
    COMMON,
    N_OPTIONS = COMMON + CLI_N_COMMON
};

static const cli_option options[N_OPTIONS] = {
    [BIND] = { .name = "--bind",
               .kind = CLI_TEXT,
               .value = "NAME=SIZE,...",
               .help = "give symbolic dimensions a size",
               .repeats = true },
    [CLUSTER] = { .name = "--cluster",
                  .kind = CLI_TEXT,
                  .value = "NAME|FILE",
                  .help = "say what fits on the devices of this cluster" },
    [DEVICES] = { .name = "--devices",
                  .kind = CLI_INT,
                  .value = "N",
                  .help = "say what fits on its first N; on all",
                  .min = 1,
                  .max = 65536 },
    [MEMORY] = CLI_MEMORY_OPTION,
    [HEADROOM] = CLI_HEADROOM_OPTION,
    [CONFIGS] = CLI_CONFIGS_OPTION,
    CLI_COMMON_OPTIONS,
};

static int inspect(cli *c, cleave_model *model, const cli_value *v)
{
    cleave_control control = cli_control(c);
    cleave_inspect_options asked;
    cleave_report *report = NULL;
    cleave_error error;

    cleave_inspect_options_init(&asked);
    asked.cluster = v[CLUSTER].text;
    asked.devices = (int)v[DEVICES].number;
    asked.memory_bytes = v[MEMORY].number;
    asked.headroom = v[HEADROOM].text;
    asked.configs_path = v[CONFIGS].text;
    if (cleave_model_inspect_with(model, &asked, &control, &report, &error) != CLEAVE_OK)
        return cli_fail_library(c, &error);
    int code = cli_print_report(c, report);
    cleave_report_free(report);
    return code;
}

static int run(cli *c, const cli_args *args)
{
    const char *path = NULL;
    cleave_model *model = NULL;
    int code = cli_model_operand(c, args, NULL, &path);

    if (code == CLI_EXIT_OK)
        code = cli_open(c, path, &model);
    if (code != CLI_EXIT_OK)
        return code;
    code = cli_bind(c, model, args->values[BIND].text);
    if (code == CLI_EXIT_OK)
        code = inspect(c, model, args->values);
    cleave_model_free(model);
    return code;
}

const cli_command cli_cmd_inspect = {
    .name = "inspect",
    .operands = "MODEL",
    .summary = "Show what a model is, what it costs and where it may be cut",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
