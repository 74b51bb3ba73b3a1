#include "cli/cli.h"

int cli_need_layout(cli *c, const cli_value *layout)
{
    return layout->by ? CLI_EXIT_OK
                      : cli_usage(c, "no layout is given, expected --layout FILE or --plan FILE");
}

cleave_shard_options cli_shard_options(const cli *c, const cli_value *weights,
                                       const cli_value *max_file)
{
    return (cleave_shard_options){ .kind = (cleave_weights_kind)(weights->by ? weights->number : 0),
                                   .max_file_bytes = max_file->by ? max_file->number : 0,
                                   .stop = cli_on_stop,
                                   .note = c->quiet ? NULL : cli_note };
}
