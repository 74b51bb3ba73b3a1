/* cutting.h - what shard and reshard do alike. */
#ifndef CLV_CLI_CUTTING_H
#define CLV_CLI_CUTTING_H

#include "cli/cli.h"

/* Rows of their tables; each says itself what its layout and its folder are for. */
#define CLI_LAYOUT_OPTION(help_)                                                                   \
    {                                                                                              \
        .name = "--layout", .kind = CLI_TEXT, .value = "FILE", .help = (help_)                     \
    }
#define CLI_LAYOUT_BY_PLAN_OPTION                                                                  \
    {                                                                                              \
        .name = "--plan", .kind = CLI_TEXT, .value = "FILE", .same_as = "--layout",                \
        .help = "the same, as a plan of 'cleave plan' has it"                                      \
    }
#define CLI_WEIGHTS_OPTION(value_, choices_)                                                       \
    {                                                                                              \
        .name = "--weights", .kind = CLI_CHOICE, .value = (value_),                                \
        .help = "what is written; external", .choices = (choices_)                                 \
    }
#define CLI_MAX_FILE_OPTION                                                                        \
    {                                                                                              \
        .name = "--max-file-size", .kind = CLI_BYTES, .value = "SIZE",                             \
        .help = "begin a new safetensors file above it; any"                                       \
    }
#define CLI_NEW_FOLDER_OPTION(help_)                                                               \
    {                                                                                              \
        .name = "--output", .letter = "-o", .kind = CLI_TEXT, .value = "DIR", .help = (help_)      \
    }

/* That a layout is given, or usage error. */
int cli_need_layout(cli *c, const cli_value *layout);
/* From values of these rows. */
cleave_shard_options cli_shard_options(const cli_value *weights, const cli_value *max_file);

#endif
