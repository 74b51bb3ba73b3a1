/* room_options.h - options that say which devices there are, and what of their memory is to be
 * used, alike in `plan` and `inspect`.
 */
#ifndef CLV_CLI_ROOM_OPTIONS_H
#define CLV_CLI_ROOM_OPTIONS_H

#include "cli/options.h"

#define CLI_MEMORY_OPTION                                                                          \
    {                                                                                              \
        .name = "--memory", .kind = CLI_BYTES, .value = "SIZE",                                    \
        .help = "memory for tensors, as 80GiB; as described"                                       \
    }
#define CLI_HEADROOM_OPTION                                                                        \
    {                                                                                              \
        .name = "--headroom", .kind = CLI_TEXT, .value = "SIZE|P%",                                \
        .help = "memory left free; 10%, with --memory 0"                                           \
    }
#define CLI_CONFIGS_OPTION                                                                         \
    {                                                                                              \
        .name = "--configs", .kind = CLI_TEXT, .value = "FOLDER:...",                              \
        .help = "where clusters/ and devices/ are; those of cleave"                                \
    }

#endif
