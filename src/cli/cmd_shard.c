#include "cli/cmd_shard.h"

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/cutting.h"
#include "cli/files.h"
#include "cli/signals.h"

/* cleave shard: cuts a model's weights into files, as a layout says. */

enum { LAYOUT, PLAN, KIND, FILL, MAX_FILE, OUTPUT, COMMON, N_OPTIONS = COMMON + CLI_N_COMMON };

static const char *const kinds[] = { "external", "safetensors", "ranges", NULL };

static const char *const fills[] = { "zeros", "ones", NULL };

static const cli_option options[N_OPTIONS] = {
    [LAYOUT] = CLI_LAYOUT_OPTION("which device has which part of which weight"),
    [PLAN] = CLI_LAYOUT_BY_PLAN_OPTION,
    [KIND] = CLI_WEIGHTS_OPTION("external|safetensors|ranges", kinds),
    [FILL] = { .name = "--fill",
               .kind = CLI_CHOICE,
               .value = "zeros|ones",
               .help = "read no weights, write these",
               .choices = fills },
    [MAX_FILE] = CLI_MAX_FILE_OPTION,
    [OUTPUT] = CLI_NEW_FOLDER_OPTION("the new folder; MODEL.shards if not given"),
    CLI_COMMON_OPTIONS,
};

static int shard(cli *c, const cli_value *v, const char *path, const char *folder)
{
    cleave_control control = cli_control(c);
    cleave_shard_options o = cli_shard_options(&v[KIND], &v[MAX_FILE]);
    double start = cli_now();
    cleave_model *model = NULL;
    cleave_error error;
    int code = cli_open(c, path, &model);

    if (code != CLI_EXIT_OK)
        return code;
    if (v[FILL].by)
        o.fill = (cleave_fill)(v[FILL].number + 1);
    cli_warn(c, model);
    cli_catch_signals(c);
    cli_be_careful(true); /* a half-written folder has to go first */
    cleave_status status = cleave_shard(model, v[LAYOUT].text, folder, &o, &control, &error);
    cli_forget_signals();
    cleave_model_free(model);
    if (status != CLEAVE_OK)
        return cli_fail_library(c, &error);
    cli_result result = { .model_path = folder, .seconds = cli_now() - start };
    return cli_print_written(c, &result, "The shards are in");
}

static int run(cli *c, const cli_args *args)
{
    const char *path = NULL, *folder = args->values[OUTPUT].text;
    int code = cli_model_operand(c, args, NULL, &path);

    if (code == CLI_EXIT_OK)
        code = cli_need_layout(c, &args->values[LAYOUT]);
    if (code != CLI_EXIT_OK)
        return code;
    if (!folder)
        folder = clv_arena_printf(c->arena, "%s.shards", path);
    return folder ? shard(c, args->values, path, folder) : cli_nomem(c);
}

const cli_command cli_cmd_shard = {
    .name = "shard",
    .operands = "MODEL",
    .summary = "Cut the weights of a model into a folder of files",
    .details = "A layout is JSON: docs/formats/weights.md, docs/formats/placement-spec.md. DIR "
               "must not exist yet, or be empty. What 'cleave collect' makes of it is the model "
               "again, byte for byte.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
