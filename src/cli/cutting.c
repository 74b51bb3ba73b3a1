#include "cli/cutting.h"

#include "cli/answer.h"

int cli_need_layout(cli *c, const cli_value *layout)
{
    return layout->by ? CLI_EXIT_OK
                      : cli_usage(c, "no layout is given, expected --layout FILE or --plan FILE");
}

cleave_shard_options cli_shard_options(const cli_value *weights, const cli_value *max_file)
{
    cleave_shard_options o;
    cleave_shard_options_init(&o);
    o.weights = (cleave_weights)(weights->by ? weights->number : 0);
    o.max_file_bytes = max_file->by ? max_file->number : 0;
    return o;
}
