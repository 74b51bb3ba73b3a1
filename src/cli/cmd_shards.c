#include "cli/cmd_shards.h"

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/files.h"

/* cleave shards: what the annotations of a model put where, and what follows from them. Annotations
 * are hints, so what is wrong with them is listed, and is an error only with --check.
 */

enum {
    ALL,
    NODE,
    TENSOR,
    CONFIGURATION,
    UNEVEN,
    TILES,
    CHECK,
    PROFILE,
    BIND,
    COMMON,
    N_OPTIONS = COMMON + CLI_N_COMMON
};

static const char *const policies[] = { "refuse", "ceil", "balanced", NULL };

static const cli_option options[N_OPTIONS] = {
    [ALL] = { .name = "--all",
              .kind = CLI_FLAG,
              .help = "list the part of each tensor on each device" },
    [NODE] = { .name = "--node",
               .kind = CLI_TEXT,
               .value = "GLOB",
               .help = "the same, of nodes of these names; * and ? as in a shell" },
    [TENSOR] = { .name = "--tensor",
                 .kind = CLI_TEXT,
                 .value = "GLOB",
                 .help = "the same, of tensors of these names" },
    [CONFIGURATION] = { .name = "--configuration",
                        .kind = CLI_TEXT,
                        .value = "NAME",
                        .help = "only this configuration; all of them" },
    [UNEVEN] = { .name = "--uneven",
                 .kind = CLI_CHOICE,
                 .value = "refuse|ceil|balanced",
                 .help = "how an axis is split that does not divide; ceil",
                 .choices = policies },
    [TILES] = { .name = "--tiles", .kind = CLI_FLAG, .help = "say each in tile notation too" },
    [CHECK] = { .name = "--check", .kind = CLI_FLAG, .help = "fail if an annotation is wrong" },
    [PROFILE] = { .name = "--profile",
                  .kind = CLI_TEXT,
                  .value = "NAME|FILE",
                  .help = "list what this backend does not support; of configs/backends" },
    [BIND] = { .name = "--bind",
               .kind = CLI_TEXT,
               .value = "NAME=SIZE,...",
               .help = "give symbolic dimensions a size",
               .repeats = true },
    CLI_COMMON_OPTIONS,
};

static int shards(cli *c, const cli_value *v, cleave_model *model)
{
    static const cleave_uneven policies_of[] = { CLEAVE_UNEVEN_REFUSE, CLEAVE_UNEVEN_CEIL,
                                                 CLEAVE_UNEVEN_BALANCED };
    cleave_control control = cli_control(c);
    cleave_shards_options o;
    cleave_report *report = NULL;
    cleave_error error;
    int wrong = 0;

    cleave_shards_options_init(&o);
    o.configuration = v[CONFIGURATION].text;
    o.uneven = v[UNEVEN].by ? policies_of[v[UNEVEN].number] : CLEAVE_UNEVEN_CEIL;
    o.show_tiles = v[TILES].by != NULL;
    o.backend = v[PROFILE].text;
    o.node = v[NODE].text;
    o.tensor = v[TENSOR].text;
    o.all = v[ALL].by != NULL;
    if (cleave_model_shards(model, &o, &control, &report, &wrong, &error) != CLEAVE_OK)
        return cli_fail_library(c, &error);
    int code = cli_print_report(c, report);
    cleave_report_free(report);
    if (code != CLI_EXIT_OK || !v[CHECK].by || wrong == 0)
        return code;
    if (c->json) /* the object printed says it */
        return CLI_EXIT_INPUT;
    const char *line = clv_arena_printf(
        c->arena,
        v[PROFILE].text ? "wrong or unsupported annotations: %d" : "wrong annotations: %d", wrong);
    return line ? cli_fail(c, CLI_EXIT_INPUT, "input", line) : cli_nomem(c);
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
        code = shards(c, args->values, model);
    cleave_model_free(model);
    return code;
}

const cli_command cli_cmd_shards = {
    .name = "shards",
    .operands = "MODEL",
    .summary = "Show the part of each annotated tensor on each device",
    .details = "Without --all, --node, --tensor and --tiles it sums up: layers that are annotated "
               "alike are one line.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
