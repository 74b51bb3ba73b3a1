#include "cli/cmd_lower.h"

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/files.h"
#include "cli/signals.h"

/* cleave lower: a plan as models that runtimes execute. */

enum { FORM, OUTPUT, COLLECTIVES, WEIGHTS, COMMON, N_OPTIONS = COMMON + CLI_N_COMMON };

/* In the order of cleave_form, cleave_collectives and cleave_weights. */
static const char *const forms[] = { "stages", "devices", "emulate", "ort-options", "olive", NULL };
static const char *const dialects[] = { "ort", "tensorrt", NULL };
static const char *const kinds[] = { "external", "safetensors", "ranges", NULL };

static const cli_option options[N_OPTIONS] = {
    [FORM] = { .name = "--form",
               .kind = CLI_CHOICE,
               .value = "FORM",
               .choices = forms,
               .help = "stages, devices, emulate, ort-options or olive: see below" },
    [OUTPUT] = { .name = "--output",
                 .letter = "-o",
                 .kind = CLI_TEXT,
                 .value = "FOLDER",
                 .help = "where to write; it must not be there yet, or be empty" },
    [COLLECTIVES] = { .name = "--collectives",
                      .kind = CLI_CHOICE,
                      .value = "DIALECT",
                      .choices = dialects,
                      .help = "of devices: ort (com.microsoft) or tensorrt (DistCollective); ort" },
    [WEIGHTS] = { .name = "--weights",
                  .kind = CLI_CHOICE,
                  .value = "KIND",
                  .choices = kinds,
                  .help =
                      "external (ONNX), safetensors, or ranges: where in the original; external" },
    CLI_COMMON_OPTIONS,
};

static int lower(cli *c, const char *input, const char *plan_path, const char *folder,
                 const cleave_lower_options *how)
{
    cleave_control control = cli_control(c);
    cleave_model *model = NULL;
    cleave_plan *plan = NULL;
    cleave_report *report = NULL;
    cleave_error error;
    int code = cli_open(c, input, &model);

    if (code != CLI_EXIT_OK)
        return code;
    cli_warn(c, model);
    cli_catch_signals(c);
    cleave_status status = cleave_plan_load(model, plan_path, &control, &plan, &error);
    cli_be_careful(true); /* a folder has to go first */
    if (status == CLEAVE_OK)
        status = cleave_lower(model, plan, how, folder, &control, &report, &error);
    cli_forget_signals();
    code = status == CLEAVE_OK ? cli_print_report(c, report) : cli_fail_library(c, &error);
    cleave_report_free(report);
    cleave_plan_free(plan);
    cleave_model_free(model);
    return code;
}

static int run(cli *c, const cli_args *args)
{
    const cli_value *v = args->values;
    if (args->n_operands != 2)
        return cli_usage(c, "a model and its plan are expected, %d given", args->n_operands);
    if (!v[FORM].by)
        return cli_usage(c,
                         "no form is given, expected --form stages, devices, emulate, ort-options "
                         "or olive");
    if (!v[OUTPUT].by)
        return cli_usage(c, "no folder is given, expected -o FOLDER");
    cleave_lower_options how;
    cleave_lower_options_init(&how);
    how.form = (cleave_form)v[FORM].number;
    how.collectives = (cleave_collectives)v[COLLECTIVES].number;
    how.weights = (cleave_weights)v[WEIGHTS].number;
    if (v[COLLECTIVES].by && how.form != CLEAVE_FORM_DEVICES)
        return cli_usage(c, "--collectives is of --form devices, not of %s", v[FORM].text);
    bool whole = how.form == CLEAVE_FORM_ORT_OPTIONS || how.form == CLEAVE_FORM_OLIVE;
    if (whole && how.weights == CLEAVE_WEIGHTS_SAFETENSORS)
        return cli_usage(c,
                         "the model of --form %s keeps its weights, expected --weights external or "
                         "ranges",
                         v[FORM].text);
    return lower(c, args->operands[0], args->operands[1], v[OUTPUT].text, &how);
}

const cli_command cli_cmd_lower = {
    .name = "lower",
    .operands = "MODEL PLAN",
    .summary = "Write a plan as models that runtimes execute",
    .details =
        "The folder has models, their weights, and manifest.json, which says who sends what to "
        "whom (docs/lowering.md). The forms are\n\n"
        "  stages       a model a stage, with whole operators\n"
        "  devices      a model a device, weights cut, with collectives as nodes\n"
        "  emulate      one plain model in which all devices stand side by side\n"
        "  ort-options  the model and session options by which ONNX Runtime places it\n"
        "  olive        the model with Olive's split assignments",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
