#include "base/json_out.h"
#include "base/units.h"
#include "cli/cli.h"

/* cleave lower: a plan as models that runtimes execute. */

#define SCHEMA_VERSION 1 /* docs/formats/lower.schema.json */

enum { FORM, OUTPUT, COLLECTIVES, WEIGHTS, COMMON, N_OPTIONS = COMMON + 3 };

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

static int tell_json(cli *c, const char *folder, const char *form, const cleave_lowered *made,
                     double seconds)
{
    clv_json_out out;
    clv_error err;
    clv_json_begin(&out, c->arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", SCHEMA_VERSION);
    clv_json_put_string(&out, "folder", folder);
    clv_json_put_string(&out, "form", form);
    clv_json_put_int(&out, "models", made->models);
    clv_json_put_int(&out, "files", made->files);
    clv_json_put_int(&out, "collectives", made->collectives);
    clv_json_put_int(&out, "transfers", made->transfers);
    clv_json_put_int(&out, "bytes", made->bytes);
    clv_json_put_number(&out, "seconds", seconds);
    clv_json_close_object(&out);
    return clv_json_end(&out, &err) == CLV_OK ? cli_print(c, out.text) : cli_nomem(c);
}

/* "s" but for one. */
static const char *s(int n) { return n == 1 ? "" : "s"; }

static int tell(cli *c, const char *folder, const char *form, const cleave_lowered *made,
                double seconds)
{
    char bytes[32];
    if (c->json)
        return tell_json(c, folder, form, made, seconds);
    const char *shown = cli_show(c, folder);
    const char *line =
        shown
            ? clv_arena_printf(c->arena,
                               "%s: %d model%s, %d collective%s, %d tensor%s from one to another, "
                               "%s in %d file%s\n",
                               shown, made->models, s(made->models), made->collectives,
                               s(made->collectives), made->transfers, s(made->transfers),
                               clv_show_bytes(bytes, made->bytes), made->files, s(made->files))
            : NULL;
    if (!line)
        return cli_nomem(c);
    return c->quiet ? CLI_EXIT_OK : cli_print(c, line);
}

static int lower(cli *c, const char *input, const char *plan_path, const char *folder,
                 const cleave_lower_options *how)
{
    double start = cli_now();
    cleave_model *model = NULL;
    cleave_plan *plan = NULL;
    cleave_lowered made;
    cleave_error error;
    int code = cli_open(c, input, &model);

    if (code != CLI_EXIT_OK)
        return code;
    cli_warn(c, model);
    cli_catch_signals(c);
    cleave_status status = cleave_plan_load(model, plan_path, &plan, &error);
    cli_be_careful(true); /* a folder has to go first */
    if (status == CLEAVE_OK)
        status = cleave_lower(model, plan, how, folder, &made, &error);
    cli_forget_signals();
    code = status == CLEAVE_OK ? tell(c, folder, how->form, &made, cli_now() - start)
                               : cli_fail_library(c, &error);
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
    if (v[COLLECTIVES].by && strcmp(v[FORM].text, "devices") != 0)
        return cli_usage(c, "--collectives is of --form devices, not of %s", v[FORM].text);
    bool whole = strcmp(v[FORM].text, "ort-options") == 0 || strcmp(v[FORM].text, "olive") == 0;
    if (whole && v[WEIGHTS].by && strcmp(v[WEIGHTS].text, "safetensors") == 0)
        return cli_usage(c,
                         "the model of --form %s keeps its weights, expected --weights external or "
                         "ranges",
                         v[FORM].text);
    return lower(c, args->operands[0], args->operands[1], v[OUTPUT].text,
                 &(cleave_lower_options){ v[FORM].text, v[COLLECTIVES].text, v[WEIGHTS].text });
}

const cli_command cli_cmd_lower = {
    .name = "lower",
    .operands = "MODEL PLAN",
    .summary = "Write a plan as models that runtimes execute",
    .details =
        "The folder has models, their weights, and manifest.json, which says who sends what to\n"
        "whom (docs/lowering.md). The forms are\n\n"
        "  stages       a model a stage, with whole operators\n"
        "  devices      a model a device, weights cut, with collectives as nodes\n"
        "  emulate      one plain model in which all devices stand side by side\n"
        "  ort-options  the model, annotated for ONNX Runtime to place it, and session options\n"
        "  olive        the model with Olive's split assignments\n",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
