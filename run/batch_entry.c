#include "run/batch_entry.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "run/command.h"
#include "run/execution.h"
#include "run/inputs.h"
#include "run/value_file.h"

typedef struct {
    const clr_ort *ort;
    const clr_batch_entry *e;
    clv_arena *arena;
    clr_program program;
    clr_execution_options options;
    clr_execution x;
    OrtValue **inputs;
    const char *output; /* the first that differs */
    clr_difference worst;
    int32_t compared;
    double run_s, max_abs;
    clv_error *err;
} job;

static clv_status nomem(job *j) { return clv_fail_nomem(j->err, "an entry"); }

static clv_status open_program(job *j)
{
    struct stat st;

    if (stat(j->e->model, &st) != 0)
        return clv_fail(j->err, CLV_EIO, "cannot read %s", j->e->model);
    if (S_ISDIR(st.st_mode)) {
        CLV_TRY(clr_manifest_read(j->e->model, j->arena, &j->program, j->err));
        CLV_TRY(clr_manifest_check_files(&j->program, j->arena, j->err));
    } else
        CLV_TRY(clr_program_from_paths(&j->e->model, 1, j->arena, &j->program, j->err));
    return clr_execution_open(j->ort, &j->program, &j->options, j->arena, &j->x, j->err);
}

static clv_status make_inputs(job *j)
{
    clr_input_options wishes = { .seed = 0 };
    const char **paths = CLV_NEW_ARRAY(j->arena, const char *, j->e->n_inputs + 1);

    j->inputs = CLV_NEW_ARRAY(j->arena, OrtValue *, j->program.n_inputs);
    if (!paths || !j->inputs)
        return nomem(j);
    if (j->e->data)
        paths[wishes.n_paths++] = j->e->data;
    for (int32_t i = 0; i < j->e->n_inputs; i++) {
        const clr_named_file *f = &j->e->inputs[i];
        paths[wishes.n_paths] = clv_arena_printf(j->arena, "%s=%s", f->name, f->path);
        if (!paths[wishes.n_paths++])
            return nomem(j);
    }
    wishes.paths = paths;
    return clr_inputs_make(j->ort, &j->program, j->x.sessions, &wishes, j->arena, j->inputs,
                           j->err);
}

/* -- comparing -- */

static ONNXType kind_of(const job *j, int32_t output)
{
    const clr_piece *piece = &j->program.outputs[output].pieces[0];
    const clr_session *s = &j->x.sessions[piece->model];

    return s->outputs[clr_find_port(s->outputs, s->n_outputs, piece->name)].kind;
}

/* 0 where it is no tensor. */
static ONNXTensorElementDataType type_of(const job *j, const OrtValue *value)
{
    enum ONNXType type = ONNX_TYPE_UNKNOWN;
    clr_shape shape = { 0 };
    clv_error unused;

    if (clr_ort_check(j->ort, j->ort->api->GetValueType(value, &type), "a value", &unused) !=
            CLV_OK ||
        type != ONNX_TYPE_TENSOR || clr_tensor_shape(j->ort, value, &shape, &unused) != CLV_OK)
        return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    return shape.dtype;
}

static clv_status compare_with(job *j, int32_t output, const char *path, const OrtValue *got)
{
    const char *unused;
    OrtValue *expected = NULL;
    clr_difference d;

    CLV_TRY(clr_value_read(j->ort, path, kind_of(j, output), j->arena, &expected, &unused, j->err));
    clv_status status = clr_value_reinterpret(j->ort, &expected, type_of(j, got), j->err);
    if (status == CLV_OK)
        status = clr_compare(j->ort, got, expected, &j->e->tolerance, &d, j->err);
    clr_value_free(j->ort, expected);
    if (status != CLV_OK)
        return status;
    j->compared++;
    j->max_abs = d.max_abs > j->max_abs ? d.max_abs : j->max_abs;
    if (!d.equal && !j->output) {
        j->output = j->program.outputs[output].name;
        j->worst = d;
    }
    return CLV_OK;
}

static clv_status compare_output(job *j, int32_t output, const char *path)
{
    const OrtValue *got = NULL;
    OrtValue *own = NULL;

    CLV_TRY(clr_execution_output(&j->x, output, &got, &own, j->err));
    clv_status status = got ? compare_with(j, output, path, got)
                            : clv_fail(j->err, CLV_EUNSUPP, "output '%s' has no value",
                                       j->program.outputs[output].name);
    clr_value_free(j->ort, own);
    return status;
}

/* Files of the data folder are the outputs in their order; there may be fewer. */
static clv_status compare_data(job *j)
{
    for (int32_t i = 0; j->e->data && i < j->program.n_outputs; i++) {
        const char *path = clv_arena_printf(j->arena, "%s/output_%d.pb", j->e->data, (int)i);
        if (!path)
            return nomem(j);
        if (access(path, F_OK) == 0)
            CLV_TRY(compare_output(j, i, path));
    }
    return CLV_OK;
}

static clv_status compare_named(job *j)
{
    for (int32_t i = 0; i < j->e->n_outputs; i++) {
        int32_t id = j->program.n_outputs;
        while (id-- > 0)
            if (strcmp(j->program.outputs[id].name, j->e->outputs[i].name) == 0)
                break;
        if (id < 0)
            return clv_fail(j->err, CLV_EUSAGE, "the model has no output '%s'",
                            j->e->outputs[i].name);
        CLV_TRY(compare_output(j, id, j->e->outputs[i].path));
    }
    return CLV_OK;
}

static clv_status run_entry(job *j)
{
    CLV_TRY(open_program(j));
    CLV_TRY(make_inputs(j));
    CLV_TRY(clr_execution_run(&j->x, j->inputs, &j->run_s, j->err));
    CLV_TRY(compare_data(j));
    CLV_TRY(compare_named(j));
    return j->compared ? CLV_OK
                       : clv_fail(j->err, CLV_EUSAGE, "nothing to compare: no expected outputs");
}

/* -- telling -- */

static void put_head(clv_json_out *out, const clr_batch_entry *e, int32_t number,
                     const char *outcome)
{
    clv_json_open_object(out, NULL);
    clv_json_put_int(out, "entry", number);
    if (e->id)
        clv_json_put_string(out, "id", e->id);
    clv_json_put_string(out, "model", e->model);
    clv_json_put_string(out, "outcome", outcome);
}

static const char *outcome_of(const job *j, clv_status status)
{
    if (status == CLV_OK)
        return j->output ? "differs" : "equal";
    return status == CLV_EUNSUPP ? "unsupported" : "error";
}

clv_status clr_batch_entry_run(const clr_ort *ort, const clr_batch_entry *entry, int32_t number,
                               int threads, clv_arena *arena, const char **ret, clv_error *err)
{
    clv_error why = { 0 };
    job j = { .ort = ort,
              .e = entry,
              .arena = arena,
              .options = { .threads = threads, .level = CLR_OPT_ALL },
              .err = &why };
    clv_json_out out;
    clv_status status = run_entry(&j);

    clv_json_begin(&out, arena, false);
    put_head(&out, entry, number, outcome_of(&j, status));
    if (status != CLV_OK)
        clv_json_put_string(&out, "reason", why.message);
    else {
        clv_json_put_int(&out, "outputs", j.compared);
        clv_json_put_number(&out, "max_abs", j.max_abs);
        clv_json_put_number(&out, "ms", j.run_s * 1e3);
    }
    if (status == CLV_OK && j.output) {
        clv_json_put_string(&out, "output", j.output);
        clv_json_put_int(&out, "differing", j.worst.differing);
        clv_json_put_int(&out, "first", j.worst.first);
        clv_json_put_string(&out, "reason", j.worst.why);
    }
    clv_json_close_object(&out);
    clr_values_free(ort, j.inputs, j.program.n_inputs);
    clr_execution_close(&j.x);
    CLV_TRY(clv_json_end(&out, err));
    *ret = out.text;
    return CLV_OK;
}

const char *clr_batch_entry_lost(const clr_batch_entry *entry, int32_t number, const char *outcome,
                                 const char *reason, clv_arena *arena)
{
    clv_json_out out;

    clv_json_begin(&out, arena, false);
    put_head(&out, entry, number, outcome);
    clv_json_put_string(&out, "reason", reason);
    clv_json_close_object(&out);
    return clv_json_end(&out, NULL) == CLV_OK ? out.text : NULL;
}
