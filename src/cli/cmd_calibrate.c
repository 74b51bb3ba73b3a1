#include "cli/cmd_calibrate.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/signals.h"

/* cleave calibrate: this machine's processor as a cluster, from a short measurement. */

enum {
    RUNNER,
    OUTPUT,
    DEVICES,
    MEASURED,
    SCORE,
    DEVICE,
    SOURCE,
    DATE,
    LIBRARY,
    KEEP,
    CONFIGS,
    COMMON,
    N_OPTIONS = COMMON + CLI_N_COMMON
};

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
                 .help =
                     "where to write the cluster, for cleave plan --cluster; with --measured the "
                     "tables" },
    [DEVICES] = { .name = "--devices",
                  .kind = CLI_INT,
                  .value = "N",
                  .help = "of the cluster, with one thread each; as many as there are cores",
                  .min = 1,
                  .max = DEVICES_MAX },
    [MEASURED] = { .name = "--measured",
                   .kind = CLI_TEXT,
                   .value = "FOLDER",
                   .help = "instead, fit tables of times to those measured on a device" },
    [SCORE] = { .name = "--score",
                .kind = CLI_TEXT,
                .value = "FOLDER",
                .help = "instead, hold the tables of a device against times measured on it" },
    [DEVICE] = { .name = "--device",
                 .kind = CLI_TEXT,
                 .value = "NAME",
                 .help = "the device, or a file that describes it" },
    [SOURCE] = { .name = "--source",
                 .kind = CLI_TEXT,
                 .value = "TEXT",
                 .help = "where the times are from; the folder" },
    [DATE] = { .name = "--date",
               .kind = CLI_TEXT,
               .value = "DATE",
               .help = "when they were measured" },
    [LIBRARY] = { .name = "--library",
                  .kind = CLI_TEXT,
                  .value = "TEXT",
                  .help = "whose kernels they are" },
    [KEEP] = { .name = "--keep",
               .kind = CLI_FLAG,
               .help = "keep the tables that the device has of other kernels" },
    [CONFIGS] = { .name = "--configs",
                  .kind = CLI_TEXT,
                  .value = "PATH",
                  .help = "folders with devices and measured times, separated by ':'" },
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

/* Which of the options that only some of the three ways have is given with another one. */
static const char *out_of_place(const cli_value *v)
{
    static const int own[] = { RUNNER, DEVICES }, others[] = { DEVICE, CONFIGS },
                     fit[] = { SOURCE, DATE, LIBRARY, KEEP };
    bool given = v[MEASURED].by || v[SCORE].by;
    for (size_t i = 0; i < 2; i++) {
        if (given && v[own[i]].by)
            return v[own[i]].by;
        if (!given && v[others[i]].by)
            return v[others[i]].by;
    }
    for (size_t i = 0; i < sizeof fit / sizeof *fit; i++)
        if (!v[MEASURED].by && v[fit[i]].by)
            return v[fit[i]].by;
    return v[SCORE].by && v[OUTPUT].by ? v[OUTPUT].by : NULL;
}

static int run_measured(cli *c, const cli_value *v)
{
    cleave_control control = cli_control(c);
    cleave_measured_options how;
    cleave_report *report = NULL;
    cleave_error error;
    if (v[MEASURED].by && v[SCORE].by)
        return cli_usage(c, "--measured and --score are given, expected one of them");
    if (!v[DEVICE].by)
        return cli_usage(c, "no device is given, expected --device NAME");
    cleave_measured_options_init(&how);
    how.device = v[DEVICE].text;
    how.configs_path = v[CONFIGS].text;
    how.source = v[SOURCE].text;
    how.date = v[DATE].text;
    how.library = v[LIBRARY].text;
    how.keep = v[KEEP].by != NULL;
    cli_catch_signals(c);
    cleave_status status =
        v[SCORE].by ? cleave_measured_score(v[SCORE].text, &how, &control, &report, &error)
                    : cleave_measured_fit(v[MEASURED].text, &how, v[OUTPUT].text, &control, &report,
                                          &error);
    cli_forget_signals();
    int code = status == CLEAVE_OK ? cli_print_report(c, report) : cli_fail_library(c, &error);
    cleave_report_free(report);
    return code;
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
    const char *odd = out_of_place(v);
    if (odd)
        return cli_usage(c, "%s does not go with the other options", odd);
    if (v[MEASURED].by || v[SCORE].by)
        return run_measured(c, v);
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
        "one thread each. docs/calibration.md says what is measured and what is assumed.\n\n"
        "With --measured, fits tables of times of kernels to files of them (gemm.csv, "
        "convolution.csv, attention_full.csv, attention_prefill.csv, attention_decode.csv, "
        "moe.csv, collectives.csv "
        "and what nccl-tests print), for the member \"measured\" of a device's description, and "
        "prints how far tables "
        "that were fitted without every fifth row are off these.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
