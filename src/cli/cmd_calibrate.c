#include <stdlib.h>
#include <unistd.h>

#include "base/json_out.h"
#include "base/units.h"
#include "cli/cli.h"

/* cleave calibrate: this machine's processor as a cluster, from a short measurement. */

enum { RUNNER, OUTPUT, DEVICES, COMMON, N_OPTIONS = COMMON + 3 };

#define DEVICES_MAX 64
#define NS_PER_S    1e9

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

static int tell_json(cli *c, const char *path, const cleave_calibrated *made, double seconds)
{
    clv_json_out out;
    clv_error err;
    clv_json_begin(&out, c->arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_put_string(&out, "cluster", path);
    clv_json_put_string(&out, "runtime", made->runtime);
    clv_json_put_int(&out, "devices", made->devices);
    clv_json_put_int(&out, "measurements", made->measurements);
    clv_json_put_int(&out, "operators", made->operators);
    clv_json_put_number(&out, "matrix_flops_per_s", made->matrix_flops);
    clv_json_put_number(&out, "vector_flops_per_s", made->vector_flops);
    clv_json_put_number(&out, "memory_bytes_per_s", made->memory_bytes_per_s);
    clv_json_put_number(&out, "launch_us", made->launch_s * 1e6);
    clv_json_put_number(&out, "link_latency_us", made->link_latency_s * 1e6);
    clv_json_put_number(&out, "link_bytes_per_s", made->link_bytes_per_s);
    clv_json_put_number(&out, "error", made->error);
    clv_json_put_number(&out, "seconds", seconds);
    clv_json_close_object(&out);
    return clv_json_end(&out, &err) == CLV_OK ? cli_print(c, out.text) : cli_nomem(c);
}

static int tell(cli *c, const char *path, const cleave_calibrated *made, double seconds)
{
    char flops[32], memory[32], link[32], launch[32], latency[32];
    if (c->json)
        return tell_json(c, path, made, seconds);
    const char *shown = cli_show(c, path);
    const char *text =
        shown ? clv_arena_printf(
                    c->arena,
                    "%s: %d devices, fitted to %d measurements of %d operators on ONNX Runtime %s\n"
                    "products %s/s, memory %s/s, launch %s; between devices %s/s after %s\n"
                    "the fit is off by %.0f %% in the middle\n",
                    shown, made->devices, made->measurements, made->operators, made->runtime,
                    clv_show_flops(flops, made->matrix_flops),
                    clv_show_bytes(memory, (int64_t)made->memory_bytes_per_s),
                    clv_show_time(launch, (int64_t)(made->launch_s * NS_PER_S)),
                    clv_show_bytes(link, (int64_t)made->link_bytes_per_s),
                    clv_show_time(latency, (int64_t)(made->link_latency_s * NS_PER_S)),
                    made->error * 100)
              : NULL;
    if (!text)
        return cli_nomem(c);
    return c->quiet ? CLI_EXIT_OK : cli_print(c, text);
}

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
    cleave_calibrated made;
    cleave_error error;
    double start = cli_now();
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (args->n_operands > 0)
        return cli_usage(c, "'%s' is one too many, expected options only", args->operands[0]);
    if (!v[OUTPUT].by)
        return cli_usage(c, "no file is given, expected -o FILE");
    cleave_calibrate_options how = { .runner = find_runner(c, v[RUNNER].text),
                                     .devices = v[DEVICES].by         ? (int)v[DEVICES].number
                                                : cores > DEVICES_MAX ? DEVICES_MAX
                                                : cores > 1           ? (int)cores
                                                                      : 2,
                                     .stop = cli_on_stop };
    cli_catch_signals(c);
    cli_be_careful(true); /* a folder and a process have to go first */
    cleave_status status = cleave_calibrate(&how, v[OUTPUT].text, &made, &error);
    cli_forget_signals();
    return status == CLEAVE_OK ? tell(c, v[OUTPUT].text, &made, cli_now() - start)
                               : cli_fail_library(c, &error);
}

const cli_command cli_cmd_calibrate = {
    .name = "calibrate",
    .operands = "",
    .summary = "Describe this machine by what it measures",
    .details =
        "Runs small models with cleave-run for some seconds and writes a cluster of devices\n"
        "with one thread each. docs/calibration.md says what is measured and what is assumed.\n",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
