#include "cli/cmd_place.h"

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/files.h"
#include "cli/search.h"
#include "cli/signals.h"

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
    N_OPTIONS = COMMON + CLI_N_COMMON
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
    [DEADLINE] = CLI_DEADLINE_OPTION,
    [GAP] = CLI_GAP_OPTION("enough when proven to be that near, as 1%; 0"),
    [SEED] = CLI_SEED_OPTION,
    [OUTPUT] = CLI_SOLUTION_OPTION,
    [MPS] = { .name = "--mps",
              .kind = CLI_TEXT,
              .value = "PATH",
              .help = "also write the problem there, as an integer program in MPS" },
    CLI_COMMON_OPTIONS,
};

static const cleave_objective objective_of[] = { CLEAVE_THROUGHPUT, CLEAVE_LATENCY,
                                                 CLEAVE_DEVICES };

static int save_program(cli *c, cleave_place_problem *problem, const cleave_place_options *o,
                        const cli_value *output)
{
    cleave_control control = cli_control(c);
    cleave_error error;

    if (!output->by)
        return CLI_EXIT_OK;
    cli_be_careful_of(output->text);
    cleave_status status =
        cleave_place_problem_save_mps(problem, o, output->text, &control, &error);
    if (status == CLEAVE_OK)
        cli_has_written(c, output->by);
    cli_be_careful(false);
    return status == CLEAVE_OK ? CLI_EXIT_OK : cli_fail_library(c, &error);
}

static int place(cli *c, const cli_value *v, cleave_place_problem *problem)
{
    cli_search search;
    cleave_place_solution *solution = NULL;
    cleave_error error;
    cleave_place_options o;

    cleave_place_options_init(&o);
    o.objective = objective_of[v[OBJECTIVE].number];
    o.free_assignment = v[FREE].by != NULL;
    o.max_load = v[MAX_LOAD].real;
    o.deadline_s = v[DEADLINE].seconds;
    o.gap = v[GAP].real;
    o.seed = (uint64_t)v[SEED].number;
    int code = save_program(c, problem, &o, &v[MPS]);
    if (code != CLI_EXIT_OK)
        return code;
    cli_search_begin(c, &search, 9);
    cli_be_careful(true); /* the flag is looked at often, and the best solution so far is printed */
    cleave_status status = cleave_place_solve(problem, &o, &search.control, &solution, &error);
    const cleave_report *report = solution ? cleave_place_solution_report(solution) : NULL;
    code = cli_print_solution(c, status, &error, report, v[OUTPUT].text);
    cleave_place_solution_free(solution);
    return code;
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
    if (v[MAX_LOAD].by && objective_of[v[OBJECTIVE].number] != CLEAVE_DEVICES)
        return cli_usage(c, "--max-load goes with --objective devices");
    if (v[MPS].by && objective_of[v[OBJECTIVE].number] != CLEAVE_THROUGHPUT)
        return cli_usage(c, "--mps goes with --objective throughput");
    code = cli_prepare_output(c, &v[OUTPUT], others, 1);
    others[1] = v[OUTPUT].by ? v[OUTPUT].text : NULL;
    return code == CLI_EXIT_OK ? cli_prepare_output(c, &v[MPS], others, 2) : code;
}

static int run(cli *c, const cli_args *args)
{
    cleave_control control = cli_control(c);
    cleave_place_problem *problem = NULL;
    cleave_error error;
    int code = check(c, args);

    if (code != CLI_EXIT_OK)
        return code;
    cli_catch_signals(c);
    if (cleave_place_problem_open(args->operands[0], &control, &problem, &error) != CLEAVE_OK)
        return cli_fail_library(c, &error);
    code = place(c, args->values, problem);
    cleave_place_problem_free(problem);
    return code;
}

const cli_command cli_cmd_place = {
    .name = "place",
    .operands = "WORKLOAD",
    .summary = "Put the nodes of a workload on devices, with a proven bound",
    .details = "WORKLOAD is a JSON file of the device-placement benchmark "
               "(docs/formats/workload.md). What follows ';' is the default. Exit code 3: there is "
               "no legal solution, or none was found before the deadline.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
