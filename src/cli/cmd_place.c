#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* cleave place: puts the nodes of a workload on devices, with a bound. */

enum {
    OBJECTIVE,
    CONTIGUOUS,
    FREE,
    MAX_LOAD,
    DEADLINE,
    GAP,
    SEED,
    OUTPUT,
    MPS,
    COMMON,
    N_OPTIONS = COMMON + 3
};

static const char *const objectives[] = { "throughput", "latency", "devices", NULL };

static const cli_option options[N_OPTIONS] = {
    [OBJECTIVE] = { .name = "--objective",
                    .kind = CLI_CHOICE,
                    .value = "throughput|latency|devices",
                    .help = "least load, least latency, fewest devices; throughput",
                    .choices = objectives },
    [CONTIGUOUS] = { .name = "--contiguous",
                     .kind = CLI_FLAG,
                     .help = "the devices form a line; the default" },
    [FREE] = { .name = "--free", .kind = CLI_FLAG, .help = "any node on any device" },
    [MAX_LOAD] = { .name = "--max-load",
                   .kind = CLI_NUMBER,
                   .value = "X",
                   .help = "for the fewest devices: no load above X; any" },
    [DEADLINE] = { .name = "--deadline",
                   .kind = CLI_SECONDS,
                   .value = "S",
                   .help = "the best found within S seconds; none" },
    [GAP] = { .name = "--gap",
              .kind = CLI_PART,
              .value = "G",
              .help = "enough when proven to be that near, as 1%; 0" },
    [SEED] = { .name = "--seed",
               .kind = CLI_INT,
               .value = "N",
               .help = "of what is tried at random; 0",
               .min = 0,
               .max = INT64_MAX },
    [OUTPUT] = { .name = "--output",
                 .letter = "-o",
                 .kind = CLI_TEXT,
                 .value = "PATH",
                 .help = "write the answer there as JSON" },
    [MPS] = { .name = "--mps",
              .kind = CLI_TEXT,
              .value = "PATH",
              .help = "also write the problem there, as an integer program in MPS" },
    CLI_COMMON_OPTIONS,
};

/* Better answers as they come, for who looks on. */
static void show_news(void *ctx, const cleave_place_news *news)
{
    const bool *shown = ctx;

    if (!*shown)
        return;
    if (isinf(news->objective))
        fprintf(stderr, "%8.3f s  no answer yet, bound %.9g (%s)\n", news->seconds, news->bound,
                news->solver);
    else
        fprintf(stderr, "%8.3f s  %.9g, bound %.9g (%s)\n", news->seconds, news->objective,
                news->bound, news->solver);
}

static int save_program(cli *c, cleave_workload *workload, const cleave_place_options *o,
                        const cli_value *output)
{
    cleave_error error;

    if (!output->by)
        return CLI_EXIT_OK;
    cli_be_careful_of(output->text);
    cleave_status status = cleave_workload_save_mps(workload, o, output->text, &error);
    if (status == CLEAVE_OK)
        cli_has_written(c, output->by);
    cli_be_careful(false);
    return status == CLEAVE_OK ? CLI_EXIT_OK : cli_fail_library(c, &error);
}

static int save(cli *c, const cleave_placement *placement, const char *path)
{
    cleave_error error;

    if (!path)
        return CLI_EXIT_OK;
    cli_be_careful_of_answer(path);
    cleave_status status = cleave_placement_save(placement, path, &error);
    cli_forget_signals();
    return status == CLEAVE_OK ? CLI_EXIT_OK : cli_fail_library(c, &error);
}

static int tell(cli *c, const cleave_placement *placement)
{
    if (c->json)
        return cli_print(c, cleave_placement_json(placement));
    return c->quiet ? CLI_EXIT_OK : cli_print(c, cleave_placement_text(placement));
}

static int place(cli *c, const cli_value *v, cleave_workload *workload)
{
    static const cleave_place_objective of[] = { CLEAVE_PLACE_THROUGHPUT, CLEAVE_PLACE_LATENCY,
                                                 CLEAVE_PLACE_DEVICES };
    bool shown = !c->quiet && isatty(STDERR_FILENO);
    cleave_placement *placement = NULL;
    cleave_error error;
    cleave_place_options o = {
        .objective = of[v[OBJECTIVE].number],
        .free_assignment = v[FREE].by != NULL,
        .max_load = v[MAX_LOAD].real,
        .deadline_s = v[DEADLINE].seconds,
        .gap = v[GAP].real,
        .seed = (uint64_t)v[SEED].number,
        .news = show_news,
        .news_ctx = &shown,
        .stop = cli_on_stop,
    };
    int code = save_program(c, workload, &o, &v[MPS]);
    if (code != CLI_EXIT_OK)
        return code;
    cli_be_careful(true); /* the flag is looked at often, and the best answer so far is told */
    cleave_status status = cleave_place(workload, &o, &placement, &error);
    if (status != CLEAVE_OK && status != CLEAVE_NO_PLAN)
        return cli_fail_library(c, &error);
    code = status == CLEAVE_OK ? save(c, placement, v[OUTPUT].text) : CLI_EXIT_OK;
    if (code == CLI_EXIT_OK)
        code = status == CLEAVE_NO_PLAN && c->quiet && !c->json
                   ? cli_fail(c, CLI_EXIT_NO_PLAN, "no plan", error.message)
                   : tell(c, placement);
    cleave_placement_free(placement);
    return cli_end_search(code, status == CLEAVE_OK);
}

static int check(cli *c, const cli_args *args)
{
    const cli_value *v = args->values;
    const char *others[] = { args->n_operands ? args->operands[0] : NULL, NULL };

    int code = cli_one_operand(c, args, "workload");
    if (code != CLI_EXIT_OK)
        return code;
    if (v[CONTIGUOUS].by && v[FREE].by)
        return cli_usage(c, "--contiguous and --free exclude each other");
    if (v[MAX_LOAD].by && v[OBJECTIVE].number != CLEAVE_PLACE_DEVICES)
        return cli_usage(c, "--max-load goes with --objective devices");
    if (v[MPS].by && v[OBJECTIVE].number != CLEAVE_PLACE_THROUGHPUT)
        return cli_usage(c, "--mps goes with --objective throughput");
    code = cli_prepare_output(c, &v[OUTPUT], others, 1);
    others[1] = v[OUTPUT].by ? v[OUTPUT].text : NULL;
    return code == CLI_EXIT_OK ? cli_prepare_output(c, &v[MPS], others, 2) : code;
}

static int run(cli *c, const cli_args *args)
{
    cleave_workload *workload = NULL;
    cleave_error error;
    int code = check(c, args);

    if (code != CLI_EXIT_OK)
        return code;
    cli_catch_signals(c);
    if (cleave_workload_open(args->operands[0], NULL, &workload, &error) != CLEAVE_OK)
        return cli_fail_library(c, &error);
    code = place(c, args->values, workload);
    cleave_workload_free(workload);
    return code;
}

const cli_command cli_cmd_place = {
    .name = "place",
    .operands = "WORKLOAD",
    .summary = "Put the nodes of a workload on devices, with a bound on how good it can get",
    .details =
        "WORKLOAD is a JSON file of the device-placement benchmark (docs/formats/workload.md).\n"
        "What follows ';' is the default. Exit code 3: there is no legal answer, or none was\n"
        "found before the deadline.\n",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
