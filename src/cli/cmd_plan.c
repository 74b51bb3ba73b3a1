#include "cli/cmd_plan.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/streams.h"
#include "cli/answer.h"
#include "cli/control.h"
#include "cli/external.h"
#include "cli/files.h"
#include "cli/room_options.h"
#include "cli/search.h"
#include "cli/signals.h"

#define SHARDING_FILE_MAX ((size_t)64 << 20) /* a node a line for a million nodes */

/* cleave plan: finds a plan, prints it, writes it into the model.
 *
 * The last four options are spelled as in PopRT's auto_sharding.py. A call with --input_model means
 * what it means there: operators stay whole, and without --optimal_perf the search stops at the
 * first plan that compiles.
 */

enum {
    CLUSTER,
    DEVICES,
    MEMORY,
    HEADROOM,
    BIND,
    OBJECTIVE,
    OPTIMAL_PERF,
    FIRST_FIT,
    SEARCH,
    SHARDING_NODES,
    CONSTRAINTS,
    JOBS,
    MAX_CANDIDATES,
    DEADLINE,
    GAP,
    MICROBATCHES,
    MESH,
    MAX_TP,
    STAGES,
    COPIES,
    BATCH_SYMBOL,
    MAX_LATENCY,
    WORTH,
    ALTERNATIVES,
    PROFILE,
    DATA_PARALLEL,
    OVERLAP,
    RUNTIME,
    WEIGHTS,
    KV,
    BACKWARD,
    COMPILER,
    COMPILER_TIMEOUT,
    CONFIGS,
    OUTPUT,
    NO_OUTPUT,
    PLAN_OUT,
    INPUT_MODEL,
    NUM_IPUS,
    OUTPUT_MODEL,
    NUM_PROCESSES,
    COMMON,
    N_OPTIONS = COMMON + CLI_N_COMMON
};

static const char *const objectives[] = { "latency", "throughput", "devices", NULL };
static const char *const searches[] = { "default", "documented", NULL };

static const cli_option options[N_OPTIONS] = {
    [CLUSTER] = { .name = "--cluster",
                  .kind = CLI_TEXT,
                  .value = "NAME|FILE",
                  .help = "the devices and what joins them; dgx-h100" },
    [DEVICES] = { .name = "--devices",
                  .kind = CLI_INT,
                  .value = "N",
                  .help = "use exactly the first N; as many as are best",
                  .min = 1,
                  .max = 65536 },
    [MEMORY] = CLI_MEMORY_OPTION,
    [HEADROOM] = CLI_HEADROOM_OPTION,
    [BIND] = { .name = "--bind",
               .kind = CLI_TEXT,
               .value = "NAME=SIZE,...",
               .help = "give symbolic dimensions a size",
               .repeats = true },
    [OBJECTIVE] = { .name = "--objective",
                    .kind = CLI_CHOICE,
                    .value = "latency|throughput|devices",
                    .help = "what is to be least: time, time between runs, devices",
                    .choices = objectives },
    [OPTIMAL_PERF] = { .name = "--optimal_perf",
                       .kind = CLI_FLAG,
                       .help = "search to the end, take the fastest; the default" },
    [FIRST_FIT] = { .name = "--first-fit",
                    .kind = CLI_FLAG,
                    .help = "stop at the first plan that compiles" },
    [SEARCH] = { .name = "--search",
                 .kind = CLI_CHOICE,
                 .value = "default|documented",
                 .help = "the search of cleave, or that of PopRT",
                 .choices = searches },
    [SHARDING_NODES] = { .name = "--sharding-nodes",
                         .kind = CLI_TEXT,
                         .value = "NODE=DEVICE,...|FILE",
                         .help = "cut here instead of searching" },
    [CONSTRAINTS] = { .name = "--constraints",
                      .kind = CLI_TEXT,
                      .value = "FILE",
                      .help = "rules that the plan has to satisfy, as JSON" },
    [JOBS] = CLI_JOBS_OPTION("candidates compiled at once; 2"),
    [MAX_CANDIDATES] = { .name = "--max-candidates",
                         .kind = CLI_INT,
                         .value = "N",
                         .help = "compile at most N candidates",
                         .min = 1,
                         .max = INT32_MAX },
    [DEADLINE] = CLI_DEADLINE_OPTION,
    [GAP] = CLI_GAP_OPTION("enough when proven to be that near the best, as 1%; 0"),
    [MICROBATCHES] = { .name = "--microbatches",
                       .kind = CLI_INT,
                       .value = "N",
                       .help = "a run of the pipeline; 1, or to fill it",
                       .min = 1,
                       .max = 1000000 },
    [MESH] = { .name = "--mesh",
               .kind = CLI_TEXT,
               .value = "AxB",
               .help = "split tensors over meshes like this, one a stage; any" },
    [MAX_TP] = { .name = "--max-tp",
                 .kind = CLI_INT,
                 .value = "N",
                 .help = "split tensors over N devices of a stage at most; all",
                 .min = 1,
                 .max = 65536 },
    [STAGES] = { .name = "--stages",
                 .kind = CLI_INT,
                 .value = "N",
                 .help = "in N stages, each of equally many devices; any",
                 .min = 1,
                 .max = 65536 },
    [COPIES] = { .name = "--copies",
                 .kind = CLI_INT,
                 .value = "N",
                 .help = "N times the plan, requests go round; by throughput any",
                 .min = 1,
                 .max = 65536 },
    [BATCH_SYMBOL] = { .name = "--batch-symbol",
                       .kind = CLI_TEXT,
                       .value = "NAME",
                       .help = "by throughput, find its best size; all inputs' first" },
    [MAX_LATENCY] = { .name = "--max-latency",
                      .kind = CLI_TIME,
                      .value = "TIME",
                      .help = "no plan that takes longer, as 20ms; any" },
    [WORTH] = { .name = "--worth",
                .kind = CLI_PART,
                .value = "P",
                .help = "what more devices or memory must bring, as 5%; 2%" },
    [ALTERNATIVES] = { .name = "--alternatives",
                       .kind = CLI_INT,
                       .value = "N",
                       .help = "compare the best plans of N forms; 5",
                       .min = 0,
                       .max = 100 },
    [PROFILE] = { .name = "--profile",
                  .kind = CLI_TEXT,
                  .value = "NAME|FILE",
                  .help = "only what this runs: vllm, tensorrt-llm, sglang; anyone" },
    [DATA_PARALLEL] = { .name = "--data-parallel",
                        .kind = CLI_FLAG,
                        .help = "the outermost axis of the mesh splits the batch alone" },
    [OVERLAP] = { .name = "--overlap",
                  .kind = CLI_PART,
                  .value = "P",
                  .help = "part of collectives' bytes that compute hides, as 50%; 0" },
    [WEIGHTS] = { .name = "--weights",
                  .kind = CLI_TEXT,
                  .value = "TYPE",
                  .help = "as if products stored theirs as bf16, fp8, int8, int4, nvfp4" },
    [KV] = { .name = "--kv",
             .kind = CLI_TEXT,
             .value = "TYPE",
             .help = "the same of caches of keys and values" },
    [RUNTIME] = { .name = "--runtime",
                  .kind = CLI_TEXT,
                  .value = "NAME|FILE",
                  .help = "who forms kernels: none, onnxruntime, engine, serving;\n"
                          "as the devices say, engine for accelerators" },
    [BACKWARD] = { .name = "--backward",
                   .kind = CLI_TEXT,
                   .value = "NODE,...|none",
                   .help = "where training's backward pass begins; by names" },
    [COMPILER] = { .name = "--compiler",
                   .kind = CLI_TEXT,
                   .value = "CMD",
                   .help = "a command, run in a folder of its own; built in" },
    [COMPILER_TIMEOUT] = { .name = "--compiler-timeout",
                           .kind = CLI_SECONDS,
                           .value = "S",
                           .help = "seconds for one candidate; 600" },
    [CONFIGS] = CLI_CONFIGS_OPTION,
    [OUTPUT] = { .name = "--output",
                 .letter = "-o",
                 .kind = CLI_TEXT,
                 .value = "PATH",
                 .help = "where to write; MODEL.auto_sharded.onnx" },
    [NO_OUTPUT] = { .name = "--no-output", .kind = CLI_FLAG, .help = "write no model" },
    [PLAN_OUT] = { .name = "--plan-out",
                   .kind = CLI_TEXT,
                   .value = "PATH",
                   .help = "where to write the plan; PATH.plan.json of -o" },
    [INPUT_MODEL] = { .name = "--input_model",
                      .kind = CLI_TEXT,
                      .value = "MODEL",
                      .help = "MODEL, as with --max-tp 1; --first-fit unless --optimal_perf" },
    [NUM_IPUS] = { .name = "--num_ipus",
                   .kind = CLI_INT,
                   .value = "N",
                   .help = "as --devices, but at least 2",
                   .min = 2,
                   .max = 65536,
                   .same_as = "--devices" },
    [OUTPUT_MODEL] = { .name = "--output_model",
                       .kind = CLI_TEXT,
                       .value = "PATH",
                       .help = "as --output",
                       .same_as = "--output" },
    [NUM_PROCESSES] = { .name = "--num_processes",
                        .kind = CLI_INT,
                        .value = "N",
                        .help = "as --jobs",
                        .min = 1,
                        .max = 1024,
                        .same_as = "--jobs" },
    CLI_COMMON_OPTIONS,
};

typedef struct {
    const char *input, *bindings;
    const char *output, *plan_out; /* NULL: not written */
    cleave_plan_options options;
    cli_search search;
    double start;
} job;

/* -- what is asked for -- */

static int check_together(cli *c, const cli_value *v)
{
    if (v[OPTIMAL_PERF].by && v[FIRST_FIT].by)
        return cli_usage(c, "--optimal_perf and --first-fit exclude each other");
    if (v[OUTPUT].by && v[NO_OUTPUT].by)
        return cli_usage(c, "%s and --no-output exclude each other", v[OUTPUT].by);
    return CLI_EXIT_OK;
}

/* A value that may be a word or a file. */
static const char *file_of(const cli_value *v)
{
    return v->text && access(v->text, F_OK) == 0 ? v->text : NULL;
}

static int find_paths(cli *c, const cli_value *v, job *j)
{
    const char *others[] = { j->input,
                             file_of(&v[CLUSTER]),
                             file_of(&v[SHARDING_NODES]),
                             file_of(&v[CONSTRAINTS]),
                             file_of(&v[PROFILE]),
                             NULL };
    const int n_others = sizeof others / sizeof *others;
    int code = CLI_EXIT_OK;

    if (v[OUTPUT].by && (v[WEIGHTS].by || v[KV].by))
        return cli_usage(c, "%s and %s exclude each other: such a plan is of no use for the file",
                         v[OUTPUT].by, v[WEIGHTS].by ? v[WEIGHTS].by : v[KV].by);
    if (!v[NO_OUTPUT].by && !v[WEIGHTS].by && !v[KV].by) {
        j->output = v[OUTPUT].by ? v[OUTPUT].text
                                 : clv_arena_printf(c->arena, "%s.auto_sharded.onnx", j->input);
        if (!j->output)
            return cli_nomem(c);
        if (!clv_is_stream(j->output)) {
            j->plan_out = clv_arena_printf(c->arena, "%s.plan.json", j->output);
            if (!j->plan_out)
                return cli_nomem(c);
        }
        code = cli_check_output(c, v[OUTPUT].by ? v[OUTPUT].by : "--output", j->output, others,
                                n_others);
    }
    if (v[PLAN_OUT].by)
        j->plan_out = v[PLAN_OUT].text;
    others[n_others - 1] = j->output;
    if (code == CLI_EXIT_OK && j->plan_out)
        code = cli_check_output(c, "--plan-out", j->plan_out, others, n_others);
    return code;
}

static bool asks_for_shards(const cli_value *v)
{
    return v[MESH].by || v[MAX_TP].by || v[STAGES].by || v[DATA_PARALLEL].by;
}

/* The words are those of cleave_objective, in its order. */
static void read_options(const cli_value *v, cleave_plan_options *o)
{
    cleave_plan_options_init(o);
    o->cluster = v[CLUSTER].text;
    o->configs_path = v[CONFIGS].text;
    o->devices = (int)v[DEVICES].number;
    o->memory_bytes = v[MEMORY].number;
    o->headroom = v[HEADROOM].text;
    o->objective = (cleave_objective)v[OBJECTIVE].number;
    o->first_fit = v[FIRST_FIT].by || (v[INPUT_MODEL].by && !v[OPTIMAL_PERF].by);
    o->documented_search = v[SEARCH].number == 1;
    o->jobs = (int)v[JOBS].number;
    o->max_candidates = (int)v[MAX_CANDIDATES].number;
    o->compiler = v[COMPILER].text;
    o->compiler_timeout_s = v[COMPILER_TIMEOUT].seconds;
    o->deadline_s = v[DEADLINE].seconds;
    o->gap = v[GAP].real;
    o->microbatches = (int)v[MICROBATCHES].number;
    o->backward = v[BACKWARD].text;
    o->mesh = v[MESH].text;
    o->max_tensor_devices = v[INPUT_MODEL].by && !asks_for_shards(v) ? 1 : (int)v[MAX_TP].number;
    o->stages = (int)v[STAGES].number;
    o->copies = v[INPUT_MODEL].by && !v[COPIES].by ? 1 : (int)v[COPIES].number;
    o->batch_symbol = v[BATCH_SYMBOL].text;
    o->max_latency_s = v[MAX_LATENCY].seconds;
    o->poprt_report = v[INPUT_MODEL].by != NULL;
    o->worth = v[WORTH].by && v[WORTH].real <= 0 ? -1 : v[WORTH].real;
    o->alternatives =
        v[ALTERNATIVES].by && v[ALTERNATIVES].number == 0 ? -1 : (int)v[ALTERNATIVES].number;
    o->data_parallel = v[DATA_PARALLEL].by != NULL;
    o->backend = v[PROFILE].text;
    o->overlap = v[OVERLAP].real;
    o->runtime = v[RUNTIME].text;
    o->weights = v[WEIGHTS].text;
    o->kv = v[KV].text;
}

/* JSON text, a list, or the name of a file with JSON. */
static int read_sharding_nodes(cli *c, const cli_value *v, job *j)
{
    const char *text = v[SHARDING_NODES].text;
    size_t n = text ? strlen(text) : 0;
    j->options.sharding_nodes = text;
    if (n < 5 || strcmp(text + n - 5, ".json") != 0 || strchr(text, '='))
        return CLI_EXIT_OK;
    clv_error err;
    size_t size;
    clv_status status =
        clv_read_file(text, SHARDING_FILE_MAX, c->arena, &j->options.sharding_nodes, &size, &err);
    if (status != CLV_OK)
        return cli_fail(c, CLI_EXIT_IO, "io", err.message);
    const char *held = j->options.sharding_nodes;
    if (held[strspn(held, " \t\r\n")] == '{')
        return CLI_EXIT_OK;
    char *words = clv_arena_printf(c->arena, "%s holds no JSON object of sharding nodes", text);
    return words ? cli_fail(c, CLI_EXIT_INPUT, "input", words) : cli_nomem(c);
}

static int read_constraints(cli *c, const cli_value *v, job *j)
{
    clv_error err;
    size_t size;
    if (!v[CONSTRAINTS].text)
        return CLI_EXIT_OK;
    clv_status status = clv_read_file(v[CONSTRAINTS].text, SHARDING_FILE_MAX, c->arena,
                                      &j->options.constraints, &size, &err);
    if (status != CLV_OK)
        return cli_fail(c, status == CLV_ELIMIT ? CLI_EXIT_INPUT : CLI_EXIT_IO,
                        status == CLV_ELIMIT ? "input" : "io", err.message);
    if (strlen(j->options.constraints) == size)
        return CLI_EXIT_OK;
    char *words =
        clv_arena_printf(c->arena, "%s holds a NUL byte: expected JSON", v[CONSTRAINTS].text);
    return words ? cli_fail(c, CLI_EXIT_INPUT, "input", words) : cli_nomem(c);
}

static int read_job(cli *c, const cli_args *args, job *j)
{
    const cli_value *v = args->values;
    int code = check_together(c, v);

    if (code == CLI_EXIT_OK)
        code = cli_model_operand(c, args, v[INPUT_MODEL].text, &j->input);
    if (code != CLI_EXIT_OK)
        return code;
    j->bindings = v[BIND].text;
    j->start = cli_now();
    read_options(v, &j->options);
    code = read_sharding_nodes(c, v, j);
    if (code == CLI_EXIT_OK)
        code = read_constraints(c, v, j);
    return code == CLI_EXIT_OK ? find_paths(c, v, j) : code;
}

/* -- what is done -- */

static int print_saved(cli *c, const job *j, const cli_result *result)
{
    const char *output = cli_show(c, j->output ? j->output : "");
    const char *plan_out = cli_show(c, j->plan_out ? j->plan_out : "");
    if (!output || !plan_out)
        return cli_nomem(c);
    char *text =
        clv_arena_printf(c->arena, "%s%s%s%s%s%s",
                         !j->output                ? ""
                         : j->options.poprt_report ? "[Success] Save the sharded model to "
                                                   : "The annotated model is in ",
                         output, j->output ? "\n" : "", j->plan_out ? "The plan is in " : "",
                         plan_out, j->plan_out ? "\n" : "");
    int code = text ? cli_print(c, text) : cli_nomem(c);
    return code == CLI_EXIT_OK ? cli_print_notes(c, result) : code;
}

static int print_plan(cli *c, const job *j, const cleave_model *model, const cleave_plan *plan)
{
    cli_result result = { .plan = plan,
                          .model_path = j->output,
                          .plan_path = j->plan_out,
                          .seconds = cli_now() - j->start };
    int code = CLI_EXIT_OK;

    if (j->output)
        code = cli_note_external(c, model, j->input, j->output, &result.notes[0]);
    if (code == CLI_EXIT_OK && c->json)
        return cli_print_result(c, &result);
    if (code == CLI_EXIT_OK && !c->quiet)
        code = cli_print_report(c, cleave_plan_report(plan));
    return code == CLI_EXIT_OK && !c->quiet ? print_saved(c, j, &result) : code;
}

/* Nothing was written. */
static int print_no_plan(cli *c, const job *j, const cleave_plan *plan, const cleave_error *error)
{
    int code = CLI_EXIT_OK;

    if (c->json)
        code = cli_print_result(c, &(cli_result){ .plan = plan, .seconds = cli_now() - j->start });
    else if (c->quiet)
        return cli_fail_no_solution(c, error);
    else
        code = cli_print_report(c, cleave_plan_report(plan));
    return code == CLI_EXIT_OK ? CLI_EXIT_NO_PLAN : code;
}

static cleave_status save_model(cli *c, const char *path, cleave_model *model,
                                const cleave_plan *plan, cleave_error *error)
{
    cleave_control control = cli_control(c);

    if (!path)
        return CLEAVE_OK;
    cli_be_careful_of(path);
    return cleave_annotate(model, plan, NULL, path, &control, error);
}

static cleave_status save_plan(const char *path, const cleave_plan *plan, cleave_error *error)
{
    if (!path)
        return CLEAVE_OK;
    cli_be_careful_of(path);
    return cleave_report_save(cleave_plan_report(plan), path, error);
}

/* Before anything is printed: a reader of our output that goes away must not cost the user the
 * result. Streams come first, as a file would stay where they fail. */
static int save(cli *c, const job *j, cleave_model *model, const cleave_plan *plan)
{
    cleave_control control = cli_control(c);
    cleave_error error;
    cleave_status status = CLEAVE_OK;
    const char *model_stream = j->output && clv_is_stream(j->output) ? j->output : NULL;
    const char *plan_stream = j->plan_out && clv_is_stream(j->plan_out) ? j->plan_out : NULL;

    if (j->output && j->plan_out && !model_stream && !plan_stream) {
        cli_be_careful(true);
        status = cleave_plan_save(model, plan, NULL, j->output, j->plan_out, &control, &error);
    } else {
        status = save_model(c, model_stream, model, plan, &error);
        if (status == CLEAVE_OK)
            status = save_plan(plan_stream, plan, &error);
        if (status == CLEAVE_OK && (model_stream || plan_stream))
            cli_has_written(c, plan_stream ? "--plan-out" : "--output");
        if (status == CLEAVE_OK && !model_stream)
            status = save_model(c, j->output, model, plan, &error);
        if (status == CLEAVE_OK && !plan_stream)
            status = save_plan(j->plan_out, plan, &error);
    }
    cli_forget_signals();
    return status == CLEAVE_OK ? CLI_EXIT_OK : cli_fail_library(c, &error);
}

static int make(cli *c, job *j, cleave_model *model)
{
    cleave_plan *plan = NULL;
    cleave_error error;
    int code = CLI_EXIT_OK;

    cli_search_begin(c, &j->search, 0);
    cli_be_careful(j->options.compiler != NULL);
    cleave_status status = cleave_plan_make(model, &j->options, &j->search.control, &plan, &error);
    cli_be_careful(false);
    cli_search_end(&j->search);
    if (cli_signal()) /* the search may have given its best so far; the user wants out */
        code = cli_fail_library(c, &(cleave_error){ .status = CLEAVE_ECANCELED });
    else if (status != CLEAVE_OK && status != CLEAVE_NO_PLAN)
        code = cli_fail_library(c, &error);
    else if (status == CLEAVE_NO_PLAN)
        code = print_no_plan(c, j, plan, &error);
    else
        code = save(c, j, model, plan);
    if (code == CLI_EXIT_OK)
        code = print_plan(c, j, model, plan);
    cleave_plan_free(plan);
    return code;
}

static int run(cli *c, const cli_args *args)
{
    job j = { .input = NULL };
    cleave_model *model = NULL;
    int code = read_job(c, args, &j);

    cli_catch_signals(c);
    if (code == CLI_EXIT_OK)
        code = cli_open(c, j.input, &model);
    if (code != CLI_EXIT_OK)
        return code;
    code = cli_bind(c, model, j.bindings);
    if (code == CLI_EXIT_OK)
        code = cli_try_output(c, model, j.output);
    if (code == CLI_EXIT_OK)
        code = cli_try_output(c, model, j.plan_out);
    if (code == CLI_EXIT_OK)
        code = make(c, &j, model);
    cleave_model_free(model);
    return code;
}

const cli_command cli_cmd_plan = {
    .name = "plan",
    .operands = "MODEL",
    .summary = "Find how to run a model on a cluster and write the plan into it",
    .details = "What follows ';' is the default. Exit code 3: no plan fits or satisfies the rules, "
               "or no candidate compiled; the report says what is missing where, or the reason.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
