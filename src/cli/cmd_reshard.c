#include "cli/cli.h"

/* cleave reshard: shards of one layout into those of another. */

enum { LAYOUT, PLAN, DRY, KIND, MAX_FILE, OUTPUT, COMMON, N_OPTIONS = COMMON + 3 };

static const char *const kinds[] = { "external", "safetensors", NULL };

static const cli_option options[N_OPTIONS] = {
    [LAYOUT] = { .name = "--layout",
                 .kind = CLI_TEXT,
                 .value = "FILE",
                 .help = "which device is to have which part of which weight" },
    [PLAN] = { .name = "--plan",
               .kind = CLI_TEXT,
               .value = "FILE",
               .same_as = "--layout",
               .help = "the same, as a plan of 'cleave plan' has it" },
    [DRY] = { .name = "--dry-run",
              .kind = CLI_FLAG,
              .help = "tell what would move, write nothing" },
    [KIND] = { .name = "--weights",
               .kind = CLI_CHOICE,
               .value = "external|safetensors",
               .help = "what is written; external",
               .choices = kinds },
    [MAX_FILE] = { .name = "--max-file-size",
                   .kind = CLI_BYTES,
                   .value = "SIZE",
                   .help = "begin a new safetensors file above it; any" },
    [OUTPUT] = { .name = "--output",
                 .letter = "-o",
                 .kind = CLI_TEXT,
                 .value = "DIR",
                 .help = "the new folder" },
    CLI_COMMON_OPTIONS,
};

static int reshard(cli *c, const cli_value *v, const char *folder)
{
    cleave_shard_options o = { .kind = (cleave_weights_kind)(v[KIND].by ? v[KIND].number : 0),
                               .max_file_bytes = v[MAX_FILE].by ? v[MAX_FILE].number : 0,
                               .stop = cli_on_stop,
                               .note = c->quiet ? NULL : cli_note };
    const char *to = v[DRY].by ? NULL : v[OUTPUT].text;
    cleave_error error;
    char *text = NULL;

    cli_catch_signals(c);
    cli_be_careful(true); /* a half-written folder has to go first */
    cleave_status status = cleave_reshard(folder, v[LAYOUT].text, to, &o, c->json, &text, &error);
    cli_forget_signals();
    if (status != CLEAVE_OK)
        return cli_fail_library(c, &error);
    int code = c->quiet && !c->json ? CLI_EXIT_OK : cli_print(c, text);
    cleave_text_free(NULL, text);
    return code;
}

static int run(cli *c, const cli_args *args)
{
    const cli_value *v = args->values;
    int code = cli_one_operand(c, args, "folder");

    if (code != CLI_EXIT_OK)
        return code;
    if (!v[LAYOUT].by)
        return cli_usage(c, "no layout is given, expected --layout FILE or --plan FILE");
    if (!v[DRY].by && !v[OUTPUT].by)
        return cli_usage(c, "no folder is given to write to, expected -o DIR or --dry-run");
    return reshard(c, v, args->operands[0]);
}

const cli_command cli_cmd_reshard = {
    .name = "reshard",
    .operands = "DIR",
    .summary = "Cut the shards of a folder anew, for any other devices",
    .details =
        "DIR is what 'cleave shard' wrote; the model itself is not needed. Prints what moves\n"
        "between devices, and how much memory that takes.\n",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
