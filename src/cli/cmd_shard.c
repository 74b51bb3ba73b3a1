#include "cli/cli.h"

/* cleave shard: cuts a model's weights into files, as a layout says. */

enum { LAYOUT, PLAN, KIND, FILL, MAX_FILE, OUTPUT, COMMON, N_OPTIONS = COMMON + 3 };

static const char *const kinds[] = { "external", "safetensors", "ranges", NULL };

static const char *const fills[] = { "zeros", "ones", NULL };

static const cli_option options[N_OPTIONS] = {
    [LAYOUT] = { .name = "--layout",
                 .kind = CLI_TEXT,
                 .value = "FILE",
                 .help = "which device has which part of which weight" },
    [PLAN] = { .name = "--plan",
               .kind = CLI_TEXT,
               .value = "FILE",
               .same_as = "--layout",
               .help = "the same, as a plan of 'cleave plan' has it" },
    [KIND] = { .name = "--weights",
               .kind = CLI_CHOICE,
               .value = "external|safetensors|ranges",
               .help = "what is written; external",
               .choices = kinds },
    [FILL] = { .name = "--fill",
               .kind = CLI_CHOICE,
               .value = "zeros|ones",
               .help = "read no weights, write these",
               .choices = fills },
    [MAX_FILE] = { .name = "--max-file-size",
                   .kind = CLI_BYTES,
                   .value = "SIZE",
                   .help = "begin a new safetensors file above it; any" },
    [OUTPUT] = { .name = "--output",
                 .letter = "-o",
                 .kind = CLI_TEXT,
                 .value = "DIR",
                 .help = "the new folder; MODEL.shards if not given" },
    CLI_COMMON_OPTIONS,
};

static int tell(cli *c, const char *folder, double seconds)
{
    cli_result result = { .model_path = folder, .seconds = seconds };

    if (c->json)
        return cli_print_result(c, &result);
    const char *shown = cli_show(c, folder);
    const char *line = shown ? clv_arena_printf(c->arena, "The shards are in %s\n", shown) : NULL;
    if (!line)
        return cli_nomem(c);
    return c->quiet ? CLI_EXIT_OK : cli_print(c, line);
}

static int shard(cli *c, const cli_value *v, const char *path, const char *folder)
{
    cleave_shard_options o = { .kind = (cleave_weights_kind)(v[KIND].by ? v[KIND].number : 0),
                               .fill =
                                   v[FILL].by ? (cleave_fill)(v[FILL].number + 1) : CLEAVE_FILL_NOT,
                               .max_file_bytes = v[MAX_FILE].by ? v[MAX_FILE].number : 0,
                               .stop = cli_on_stop,
                               .note = c->quiet ? NULL : cli_note };
    double start = cli_now();
    cleave_model *model = NULL;
    cleave_error error;
    int code = cli_open(c, path, &model);

    if (code != CLI_EXIT_OK)
        return code;
    cli_warn(c, model);
    cli_catch_signals(c);
    cli_be_careful(true); /* a half-written folder has to go first */
    cleave_status status = cleave_shard(model, v[LAYOUT].text, folder, &o, &error);
    cli_forget_signals();
    cleave_model_free(model);
    return status == CLEAVE_OK ? tell(c, folder, cli_now() - start) : cli_fail_library(c, &error);
}

static int run(cli *c, const cli_args *args)
{
    const char *path = NULL, *folder = args->values[OUTPUT].text;
    int code = cli_model_operand(c, args, NULL, &path);

    if (code != CLI_EXIT_OK)
        return code;
    if (!args->values[LAYOUT].by)
        return cli_usage(c, "no layout is given, expected --layout FILE or --plan FILE");
    if (!folder)
        folder = clv_arena_printf(c->arena, "%s.shards", path);
    return folder ? shard(c, args->values, path, folder) : cli_nomem(c);
}

const cli_command cli_cmd_shard = {
    .name = "shard",
    .operands = "MODEL",
    .summary = "Cut the weights of a model into a folder of files",
    .details =
        "A layout is JSON: docs/formats/weights.md, docs/formats/placement-spec.md. DIR must not\n"
        "exist yet, or be empty. What 'cleave collect' makes of it is the model again, byte for\n"
        "byte.\n",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
