#include "cli/cmd_solve.h"

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/files.h"
#include "cli/search.h"
#include "cli/signals.h"

/* cleave solve: chooses for each node of a strategy problem, with a bound. */

enum { DEADLINE, GAP, JOBS, SEED, OUTPUT, COMMON, N_OPTIONS = COMMON + CLI_N_COMMON };

/* A cost of this stands for "never" (docs/formats/strategy.md). */
#define NEVER 1e18

static const cli_option options[N_OPTIONS] = {
    [DEADLINE] = CLI_DEADLINE_OPTION,
    [GAP] = CLI_GAP_OPTION("enough when proven to be that near, as 1%; 0"),
    [JOBS] = CLI_JOBS_OPTION("threads; 2"),
    [SEED] = CLI_SEED_OPTION,
    [OUTPUT] = CLI_SOLUTION_OPTION,
    CLI_COMMON_OPTIONS,
};

static int solve(cli *c, const cli_value *v, cleave_intra_op_problem *problem)
{
    cli_search search;
    cleave_intra_op_solution *solution = NULL;
    cleave_error error;
    cleave_intra_op_options o;

    cleave_intra_op_options_init(&o);
    o.deadline_s = v[DEADLINE].seconds;
    o.gap = v[GAP].real;
    o.jobs = (int)v[JOBS].number;
    o.seed = (uint64_t)v[SEED].number;
    cli_search_begin(c, &search, 15);
    search.never = NEVER;
    cli_be_careful(true); /* the flag is looked at often, and the best solution so far is printed */
    cleave_status status = cleave_intra_op_solve(problem, &o, &search.control, &solution, &error);
    const cleave_report *report = solution ? cleave_intra_op_solution_report(solution) : NULL;
    int code = cli_print_solution(c, status, &error, report, v[OUTPUT].text);
    cleave_intra_op_solution_free(solution);
    return code;
}

static int check(cli *c, const cli_args *args)
{
    const char *others[] = { args->n_operands ? args->operands[0] : NULL };
    int code = cli_one_operand(c, args, "problem");

    return code == CLI_EXIT_OK ? cli_prepare_output(c, &args->values[OUTPUT], others, 1) : code;
}

static int run(cli *c, const cli_args *args)
{
    cleave_control control = cli_control(c);
    cleave_intra_op_problem *problem = NULL;
    cleave_error error;
    int code = check(c, args);

    if (code != CLI_EXIT_OK)
        return code;
    cli_catch_signals(c);
    if (cleave_intra_op_problem_open(args->operands[0], &control, &problem, &error) != CLEAVE_OK)
        return cli_fail_library(c, &error);
    code = solve(c, args->values, problem);
    cleave_intra_op_problem_free(problem);
    return code;
}

const cli_command cli_cmd_solve = {
    .name = "solve",
    .operands = "PROBLEM",
    .summary = "Choose for each node of a strategy problem, with a proven bound",
    .details = "PROBLEM is a JSON file of the contest on intra-operator parallelism "
               "(docs/formats/strategy.md). What follows ';' is the default. Exit code 3: no "
               "choices are within the memory limit, or none were found before the deadline.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
