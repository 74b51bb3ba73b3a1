#include "run/batch_entry.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_out.h"
#include "run/inputs.h"
#include "run/manifest.h"
#include "run/run_program.h"
#include "run/value_file.h"

typedef struct {
    const clr_ort *ort;
    const clr_batch_entry *e;
    clv_arena *arena;
    clr_program program;
    clr_execution_options options;
    clr_execution x;
    clr_inputs inputs;
    const char *output; /* the first that differs */
    clr_difference worst;
    int32_t compared;
    double run_s, max_abs;
} entry_run;

static clv_status open_program(entry_run *r, clv_error *err)
{
    struct stat st;

    if (stat(r->e->model, &st) != 0)
        return clv_fail(err, CLV_EIO, "cannot read %s", r->e->model);
    if (S_ISDIR(st.st_mode)) {
        CLV_TRY(clr_manifest_read(r->e->model, r->arena, &r->program, err));
        CLV_TRY(clr_manifest_check_files(&r->program, r->arena, err));
    } else
        CLV_TRY(clr_program_from_paths(&r->e->model, 1, r->arena, &r->program, err));
    return clr_execution_open(r->ort, &r->program, &r->options, r->arena, &r->x, err);
}

static clv_status make_inputs(entry_run *r, clv_error *err)
{
    clr_input_options options = { .seed = 0 };
    const char **paths = CLV_NEW_ARRAY(r->arena, const char *, r->e->n_inputs + 1);

    if (!paths)
        return clv_fail_nomem(err, "an entry");
    if (r->e->data)
        paths[options.n_paths++] = r->e->data;
    for (int32_t i = 0; i < r->e->n_inputs; i++) {
        const clr_named_file *f = &r->e->inputs[i];
        paths[options.n_paths] = clv_arena_printf(r->arena, "%s=%s", f->name, f->path);
        if (!paths[options.n_paths++])
            return clv_fail_nomem(err, "an entry");
    }
    options.paths = paths;
    return clr_inputs_make(&r->x, &options, r->arena, &r->inputs, err);
}

/* -- comparing -- */

static clv_status compare_with_file(entry_run *r, int32_t output, const char *path,
                                    const OrtValue *got, clv_error *err)
{
    const clr_piece *piece = &r->program.outputs[output].pieces[0];
    const clr_ports *ports = &r->x.sessions[piece->model].outputs;
    enum ONNXType type = ONNX_TYPE_UNKNOWN;
    clr_shape shape = { 0 };
    OrtValue *expected = NULL;
    clr_difference d;

    CLV_TRY(clr_value_read(r->ort, path, ports->at[clr_find_port(ports, piece->name)].kind,
                           r->arena, &expected, err));
    /* a value that is no tensor has no element type to read the file as */
    if (clr_ort_check(r->ort, r->ort->api->GetValueType(got, &type), "a value", NULL) != CLV_OK ||
        type != ONNX_TYPE_TENSOR || clr_tensor_shape(r->ort, got, &shape, NULL) != CLV_OK)
        shape.dtype = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    clv_status status = clr_value_reinterpret(r->ort, &expected, shape.dtype, err);
    if (status == CLV_OK)
        status = clr_compare(r->ort, got, expected, &r->e->tolerance, &d, err);
    clr_value_free(r->ort, expected);
    if (status != CLV_OK)
        return status;
    r->compared++;
    r->max_abs = d.max_abs > r->max_abs ? d.max_abs : r->max_abs;
    if (!d.equal && !r->output) {
        r->output = r->program.outputs[output].name;
        r->worst = d;
    }
    return CLV_OK;
}

static clv_status compare_output(entry_run *r, int32_t output, const char *path, clv_error *err)
{
    const OrtValue *got = NULL;
    OrtValue *own = NULL;

    CLV_TRY(clr_execution_output(&r->x, output, &got, &own, err));
    clv_status status = got ? compare_with_file(r, output, path, got, err)
                            : clv_fail(err, CLV_EUNSUPP, "output '%s' has no value",
                                       r->program.outputs[output].name);
    clr_value_free(r->ort, own);
    return status;
}

static clv_status compare_outputs(entry_run *r, clv_error *err)
{
    /* files of the data folder are the outputs in their order; there may be fewer */
    for (int32_t i = 0; r->e->data && i < r->program.n_outputs; i++) {
        const char *path = clv_arena_printf(r->arena, "%s/output_%d.pb", r->e->data, (int)i);
        if (!path)
            return clv_fail_nomem(err, "an entry");
        if (access(path, F_OK) == 0)
            CLV_TRY(compare_output(r, i, path, err));
    }
    for (int32_t i = 0; i < r->e->n_outputs; i++) {
        int32_t id = r->program.n_outputs;
        while (id-- > 0)
            if (strcmp(r->program.outputs[id].name, r->e->outputs[i].name) == 0)
                break;
        if (id < 0)
            return clv_fail(err, CLV_EUSAGE, "the model has no output '%s'", r->e->outputs[i].name);
        CLV_TRY(compare_output(r, id, r->e->outputs[i].path, err));
    }
    return r->compared ? CLV_OK
                       : clv_fail(err, CLV_EUSAGE, "nothing to compare: no expected outputs");
}

static clv_status run_and_compare(entry_run *r, clv_error *err)
{
    CLV_TRY(open_program(r, err));
    CLV_TRY(make_inputs(r, err));
    CLV_TRY(clr_execution_run(&r->x, r->inputs.values, &r->run_s, err));
    return compare_outputs(r, err);
}

/* -- the line -- */

static void put_head(clv_json_out *out, const clr_batch_entry *e, const char *outcome)
{
    clv_json_open_object(out, NULL);
    clv_json_put_int(out, "entry", e->number);
    if (e->id)
        clv_json_put_string(out, "id", e->id);
    clv_json_put_string(out, "model", e->model);
    clv_json_put_string(out, "outcome", outcome);
}

clv_status clr_batch_entry_run(const clr_ort *ort, const clr_batch_entry *entry, int threads,
                               clv_arena *arena, const char **ret, clv_error *err)
{
    clv_error why = { 0 };
    entry_run r = { .ort = ort,
                    .e = entry,
                    .arena = arena,
                    .options = { .threads = threads, .level = CLR_OPT_ALL } };
    clv_json_out out;
    clv_status status = run_and_compare(&r, &why);

    clv_json_begin(&out, arena, false);
    put_head(&out, entry,
             status == CLV_OK        ? (r.output ? "differs" : "equal")
             : status == CLV_EUNSUPP ? "unsupported"
                                     : "error");
    if (status != CLV_OK)
        clv_json_put_string(&out, "reason", why.message);
    else {
        clv_json_put_int(&out, "outputs", r.compared);
        clv_json_put_number(&out, "max_abs", r.max_abs);
        clv_json_put_number(&out, "ms", r.run_s * 1e3);
    }
    if (status == CLV_OK && r.output) {
        clv_json_put_string(&out, "output", r.output);
        clv_json_put_int(&out, "differing", r.worst.differing);
        clv_json_put_int(&out, "first", r.worst.first);
        clv_json_put_string(&out, "reason", r.worst.why);
    }
    clv_json_close_object(&out);
    clr_inputs_free(ort, &r.inputs);
    clr_execution_close(&r.x);
    CLV_TRY(clv_json_end(&out, err));
    *ret = out.text;
    return CLV_OK;
}

const char *clr_batch_entry_lost(const clr_batch_entry *entry, const char *outcome,
                                 const char *reason, clv_arena *arena)
{
    clv_json_out out;

    clv_json_begin(&out, arena, false);
    put_head(&out, entry, outcome);
    clv_json_put_string(&out, "reason", reason);
    clv_json_close_object(&out);
    return clv_json_end(&out, NULL) == CLV_OK ? out.text : NULL;
}
