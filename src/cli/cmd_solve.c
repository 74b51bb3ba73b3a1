#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"

/* cleave solve: chooses for each node of a strategy problem, with a bound. */

enum { DEADLINE, GAP, JOBS, SEED, OUTPUT, COMMON, N_OPTIONS = COMMON + 3 };

static const cli_option options[N_OPTIONS] = {
    [DEADLINE] = { .name = "--deadline",
                   .kind = CLI_SECONDS,
                   .value = "S",
                   .help = "the best found within S seconds; none" },
    [GAP] = { .name = "--gap",
              .kind = CLI_PART,
              .value = "G",
              .help = "enough when proven to be that near, as 1%; 0" },
    [JOBS] = { .name = "--jobs",
               .kind = CLI_INT,
               .value = "N",
               .help = "threads; 2",
               .min = 1,
               .max = 1024 },
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
    CLI_COMMON_OPTIONS,
};

/* Better answers as they come, for who looks on. Doubles up to 2^53 are exact, so most costs are
 * shown as they are. */
static void show_news(void *ctx, const cleave_solve_news *news)
{
    const bool *shown = ctx;

    if (!*shown)
        return;
    if (isinf(news->cost))
        fprintf(stderr, "%8.3f s  no answer yet, bound %.15g (%s)\n", news->seconds, news->bound,
                news->method);
    else
        fprintf(stderr, "%8.3f s  %.15g, bound %.15g (%s)\n", news->seconds, news->cost,
                news->bound, news->method);
}

static int save(cli *c, const cleave_solution *solution, const char *path)
{
    cleave_error error;

    if (!path)
        return CLI_EXIT_OK;
    cli_be_careful_of_answer(path);
    cleave_status status = cleave_solution_save(solution, path, &error);
    cli_forget_signals();
    return status == CLEAVE_OK ? CLI_EXIT_OK : cli_fail_library(c, &error);
}

static int tell(cli *c, const cleave_solution *solution)
{
    if (c->json)
        return cli_print(c, cleave_solution_json(solution));
    return c->quiet ? CLI_EXIT_OK : cli_print(c, cleave_solution_text(solution));
}

static int solve(cli *c, const cli_value *v, cleave_strategies *strategies)
{
    bool shown = !c->quiet && isatty(STDERR_FILENO);
    cleave_solution *solution = NULL;
    cleave_error error;
    cleave_solve_options o = {
        .deadline_s = v[DEADLINE].seconds,
        .gap = v[GAP].real,
        .jobs = (int)v[JOBS].number,
        .seed = (uint64_t)v[SEED].number,
        .news = show_news,
        .news_ctx = &shown,
        .stop = cli_on_stop,
    };
    cli_be_careful(true); /* the flag is looked at often, and the best answer so far is told */
    cleave_status status = cleave_solve(strategies, &o, &solution, &error);
    if (status != CLEAVE_OK && status != CLEAVE_NO_PLAN)
        return cli_fail_library(c, &error);
    int code = status == CLEAVE_OK ? save(c, solution, v[OUTPUT].text) : CLI_EXIT_OK;
    if (code == CLI_EXIT_OK)
        code = status == CLEAVE_NO_PLAN && c->quiet && !c->json
                   ? cli_fail(c, CLI_EXIT_NO_PLAN, "no plan", error.message)
                   : tell(c, solution);
    cleave_solution_free(solution);
    return cli_end_search(code, status == CLEAVE_OK);
}

static int check(cli *c, const cli_args *args)
{
    const char *others[] = { args->n_operands ? args->operands[0] : NULL };
    int code = cli_one_operand(c, args, "problem");

    return code == CLI_EXIT_OK ? cli_prepare_output(c, &args->values[OUTPUT], others, 1) : code;
}

static int run(cli *c, const cli_args *args)
{
    cleave_strategies *strategies = NULL;
    cleave_error error;
    int code = check(c, args);

    if (code != CLI_EXIT_OK)
        return code;
    cli_catch_signals(c);
    if (cleave_strategies_open(args->operands[0], NULL, &strategies, &error) != CLEAVE_OK)
        return cli_fail_library(c, &error);
    code = solve(c, args->values, strategies);
    cleave_strategies_free(strategies);
    return code;
}

const cli_command cli_cmd_solve = {
    .name = "solve",
    .operands = "PROBLEM",
    .summary = "Choose for each node of a strategy problem, with a bound on how good it can get",
    .details =
        "PROBLEM is a JSON file of the contest on intra-operator parallelism\n"
        "(docs/formats/strategy.md). What follows ';' is the default. Exit code 3: no choices are\n"
        "within the memory limit, or none were found before the deadline.\n",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
