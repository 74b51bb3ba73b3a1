/* main.c - the command: finds which cmd_*.c is meant, parses its options, runs it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/streams.h"
#include "cli/answer.h"
#include "cli/cmd_annotate.h"
#include "cli/cmd_calibrate.h"
#include "cli/cmd_clusters.h"
#include "cli/cmd_collect.h"
#include "cli/cmd_help.h"
#include "cli/cmd_inspect.h"
#include "cli/cmd_lower.h"
#include "cli/cmd_place.h"
#include "cli/cmd_plan.h"
#include "cli/cmd_reshard.h"
#include "cli/cmd_rules.h"
#include "cli/cmd_shard.h"
#include "cli/cmd_shards.h"
#include "cli/cmd_solve.h"
#include "cli/cmd_strip.h"
#include "cli/cmd_verify.h"
#include "cli/command_list.h"

static const cli_command *const commands[] = { &cli_cmd_plan,
                                               &cli_cmd_inspect,
                                               &cli_cmd_shards,
                                               &cli_cmd_annotate,
                                               &cli_cmd_strip,
                                               &cli_cmd_lower,
                                               &cli_cmd_verify,
                                               &cli_cmd_shard,
                                               &cli_cmd_reshard,
                                               &cli_cmd_collect,
                                               &cli_cmd_calibrate,
                                               &cli_cmd_place,
                                               &cli_cmd_solve,
                                               &cli_cmd_rules,
                                               &cli_cmd_clusters,
                                               &cli_cmd_help,
                                               NULL };

/* jemalloc reads this symbol before main. A thread that finds no memory for an arena or a cache of
 * its own would end in a signal; without them the allocation fails as any other. We allocate little
 * but large blocks for our own arenas, so nothing is slower. What is given back goes back to the
 * system after a second: at once would cost a search over many meshes half of its time in page
 * faults, and later would keep what reading a large problem needs no more. Large pages, where the
 * system has them, save a quarter of the time of a search and cost some 20 MiB. */
__attribute__((visibility("default"))) const char *const malloc_conf =
    "narenas:1,tcache:false,dirty_decay_ms:1000,thp:always";

/* The first thread has one where memory is not limited, so that there is some for it: a file of
 * JSON is made into many small pieces, which are taken and given back three times as fast by a
 * cache. */
extern int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size)
    __attribute__((weak));

static void cache_small_pieces(void)
{
    bool yes = true;
    struct rlimit room, data;
    if (mallctl && getrlimit(RLIMIT_AS, &room) == 0 && room.rlim_cur == RLIM_INFINITY &&
        getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur == RLIM_INFINITY)
        (void)mallctl("thread.tcache.enabled", NULL, NULL, &yes, sizeof yes);
}

/* Before the options are parsed, so that an error in them is reported in the form that was asked
 * for.
 */
static bool has_flag(int argc, char **argv, const char *flag)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], flag) == 0)
            return true;
    return false;
}

static const cli_value *value_of(const cli_command *command, const cli_args *args, const char *name)
{
    for (int i = 0; i < command->n_options; i++)
        if (strcmp(command->options[i].name, name) == 0)
            return &args->values[i];
    return NULL;
}

static bool given(const cli_command *command, const cli_args *args, const char *name)
{
    const cli_value *v = value_of(command, args, name);
    return v && v->by;
}

static int run_command(cli *c, int argc, char **argv)
{
    const cli_command *command = c->command;
    cli_args args;
    clv_error err;

    c->json = has_flag(argc, argv, "--json");
    if (has_flag(argc, argv, "--help") || has_flag(argc, argv, "-h"))
        return cli_print_help(c, command);
    const cli_table table = { command->options, command->n_options };
    if (cli_parse(&table, argc, argv, c->arena, &args, &err) != CLV_OK)
        return err.status == CLV_ENOMEM ? cli_nomem(c) : cli_usage(c, "%s", err.message);
    c->json = given(command, &args, "--json");
    c->quiet = given(command, &args, "--quiet");
    c->colour = cli_wants_colour(value_of(command, &args, "--color"));
    return command->run(c, &args);
}

static int dispatch(cli *c, int argc, char **argv)
{
    if (argc < 2)
        return cli_usage(c, "no command is given");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return cli_print_help(c, NULL);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        char *line = clv_arena_printf(c->arena, "cleave %s\n", cleave_version());
        return line ? cli_print(c, line) : cli_nomem(c);
    }
    if (argv[1][0] == '-')
        return cli_usage(c, "unknown option '%s' before the command", argv[1]);
    c->command = cli_find_command(c, argv[1]);
    if (!c->command)
        return cli_unknown_command(c, argv[1]);
    return run_command(c, argc - 2, argv + 2);
}

int main(int argc, char **argv)
{
    clv_fill_streams();
    cache_small_pieces();
    cli c = { .arena = clv_arena_new(NULL, 0), .commands = commands };

    if (!c.arena)
        return cli_nomem(&c);
    /* A reader of our output that goes away is seen as a failed write, not as a death that could
     * come while a model is being saved. */
    signal(SIGPIPE, SIG_IGN);
    int code = dispatch(&c, argc, argv);
    clv_arena_free(c.arena);
    return code;
}
