#include "cli/cmd_calibrate.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/signals.h"

/* cleave calibrate: this machine's processor as a cluster, from a short measurement. */

enum { RUNNER, OUTPUT, DEVICES, COMMON, N_OPTIONS = COMMON + 3 };

#define DEVICES_MAX 64

static const cli_option options[N_OPTIONS] = {
    [RUNNER] = { .name = "--runner",
                 .kind = CLI_TEXT,
                 .value = "PATH",
                 .help = "the program cleave-run; the one beside this command" },
    [OUTPUT] = { .name = "--output",
                 .letter = "-o",
                 .kind = CLI_TEXT,
                 .value = "FILE",
                 .help = "where to write the cluster, for cleave plan --cluster" },
    [DEVICES] = { .name = "--devices",
                  .kind = CLI_INT,
                  .value = "N",
                  .help = "of the cluster, with one thread each; as many as there are cores",
                  .min = 1,
                  .max = DEVICES_MAX },
    CLI_COMMON_OPTIONS,
};

/* The measuring runs in another folder, so a path from here becomes one from the root. Without one,
 * what lies beside this program, or else what the shell finds. */
static const char *find_runner(cli *c, const char *given)
{
    char own[4096];
    if (given && strchr(given, '/')) {
        char *real = realpath(given, NULL);
        const char *kept = real ? clv_arena_printf(c->arena, "%s", real) : given;
        free(real);
        return kept;
    }
    ssize_t n = given ? 0 : readlink("/proc/self/exe", own, sizeof own - 1);
    own[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(own, '/');
    const char *beside =
        slash ? clv_arena_printf(c->arena, "%.*s/cleave-run", (int)(slash - own), own) : NULL;
    return beside && access(beside, X_OK) == 0 ? beside : given;
}

static int run(cli *c, const cli_args *args)
{
    const cli_value *v = args->values;
    cleave_control control = cli_control(c);
    cleave_calibrate_options how;
    cleave_report *report = NULL;
    cleave_error error;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (args->n_operands > 0)
        return cli_usage(c, "'%s' is one too many, expected options only", args->operands[0]);
    if (!v[OUTPUT].by)
        return cli_usage(c, "no file is given, expected -o FILE");
    cleave_calibrate_options_init(&how);
    how.runner = find_runner(c, v[RUNNER].text);
    how.devices = v[DEVICES].by         ? (int)v[DEVICES].number
                  : cores > DEVICES_MAX ? DEVICES_MAX
                  : cores > 1           ? (int)cores
                                        : 2;
    cli_catch_signals(c);
    cli_be_careful(true); /* a folder and a process have to go first */
    cleave_status status = cleave_calibrate(&how, v[OUTPUT].text, &control, &report, &error);
    cli_forget_signals();
    int code = status == CLEAVE_OK ? cli_print_report(c, report) : cli_fail_library(c, &error);
    cleave_report_free(report);
    return code;
}

const cli_command cli_cmd_calibrate = {
    .name = "calibrate",
    .operands = "",
    .summary = "Describe this machine by what it measures",
    .details =
        "Runs small models with cleave-run for some seconds and writes a cluster of devices with "
        "one thread each. docs/calibration.md says what is measured and what is assumed.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
