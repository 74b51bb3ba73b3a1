#include "lower/annotated.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/map.h"
#include "lower/manifest.h"
#include "lower/olive.h"
#include "proto/onnx_properties.h"
#include "proto/stoppable.h"

#define WHAT          "writing an annotated model"

#define MODEL_FILE    "model.onnx"
#define OPTIONS_FILE  "session_options.json"
#define OLIVE_FILE    "olive.json"

#define LAYER_KEY     "layer_ann"
#define LAYER_SETTING "session.layer_assignment_settings"
#define SPLIT_KEY     "split_assignments"

#define COPY_BYTES    ((size_t)1 << 20) /* of external data at a time: calls are few */

typedef struct {
    const clv_onnx_file *file;
    const clv_model *model;
    const clv_plan *plan;
    const clv_lower_options *options;
    const char *folder;
    clv_arena *arena;
    clv_annotated *ret;
    clv_setting *settings;
    clv_error *err;
} writing;

static clv_status no_memory(const writing *w) { return clv_fail_nomem(w->err, WHAT); }

/* -- files of the folder -- */

/* Opens one; *out is to be committed or aborted. */
static clv_status open_file(writing *w, const char *name, clv_out_file **out)
{
    const char *path = clv_arena_printf(w->arena, "%s/%s", w->folder, name);
    if (!path)
        return no_memory(w);
    CLV_TRY(clv_out_open(path, clv_arena_alloc(w->arena), out, w->err));
    w->ret->files[w->ret->n_files++] = name;
    return CLV_OK;
}

static clv_status close_file(const writing *w, clv_out_file *out, clv_status status)
{
    if (status == CLV_OK)
        return clv_out_commit(out, w->err);
    clv_out_abort(out);
    return status;
}

static clv_stoppable stoppable(const writing *w, clv_out_file *out)
{
    return (clv_stoppable){ clv_out_sink(out), w->options->stop, w->options->stop_ctx,
                            "weights were" };
}

static clv_status write_model(writing *w, const clv_properties *p)
{
    clv_out_file *out;
    CLV_TRY(open_file(w, MODEL_FILE, &out));
    clv_stoppable s = stoppable(w, out);
    clv_sink sink = clv_stoppable_sink(&s);
    return close_file(w, out, clv_onnx_put_properties(w->file, p, &sink, w->arena, w->err));
}

static clv_status write_json(writing *w, const char *name, clv_json_out *json)
{
    clv_out_file *out;
    CLV_TRY(clv_json_end(json, w->err));
    CLV_TRY(open_file(w, name, &out));
    clv_sink sink = clv_out_sink(out);
    return close_file(w, out, sink.write(sink.ctx, json->text, json->n, w->err));
}

/* -- external data -- */

/* The folders that a file's name goes through. */
static clv_status make_folders(const writing *w, const char *name)
{
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        const char *path =
            clv_arena_printf(w->arena, "%s/%.*s", w->folder, (int)(slash - name), name);
        if (!path)
            return no_memory(w);
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return clv_fail(w->err, CLV_EIO, "cannot make the folder %s: %s", path,
                            strerror(errno));
    }
    return CLV_OK;
}

static clv_status copy_bytes(writing *w, int fd, const char *name, const clv_stoppable *s)
{
    char *buffer = clv_arena_take(w->arena, COPY_BYTES);
    if (!buffer)
        return no_memory(w);
    for (;;) {
        ssize_t n = read(fd, buffer, COPY_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return clv_fail(w->err, CLV_EIO, "external data file '%s' could not be read: %s", name,
                            strerror(errno));
        if (n == 0)
            return CLV_OK;
        CLV_TRY(s->to.write(s->to.ctx, buffer, (size_t)n, w->err));
        CLV_TRY(clv_stoppable_ask(s, w->err));
    }
}

static clv_status copy_external(writing *w, const char *name)
{
    const char *folder = clv_onnx_folder(w->file);
    const char *from = clv_arena_printf(w->arena, "%s/%s", folder ? folder : ".", name);
    clv_out_file *out;
    if (!from)
        return no_memory(w);
    int fd = folder ? open(from, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return clv_fail(w->err, CLV_EIO,
                        "external data file '%s' is not there: with --weights ranges it stays "
                        "where it is",
                        name);
    clv_mark mark = clv_arena_mark(w->arena);
    clv_status status = make_folders(w, name);
    if (status == CLV_OK)
        status = open_file(w, name, &out);
    if (status == CLV_OK) {
        clv_stoppable s = stoppable(w, out);
        status = close_file(w, out, copy_bytes(w, fd, name, &s));
    }
    clv_arena_rewind(w->arena, mark);
    close(fd);
    return status;
}

static clv_status copy_all(writing *w)
{
    static const char *const ours[] = { MODEL_FILE, OPTIONS_FILE, OLIVE_FILE, CLV_MANIFEST_NAME };
    for (int32_t i = 0; i < w->model->n_external; i++) {
        const char *name = w->model->external[i].at;
        for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
            if (strcmp(name, ours[k]) == 0)
                return clv_fail(w->err, CLV_EUNSUPP,
                                "external data file '%s' would take the place of a file of the "
                                "folder",
                                name);
        if (w->options->weights != CLV_PARTS_RANGES)
            CLV_TRY(copy_external(w, name));
    }
    if (w->options->weights == CLV_PARTS_RANGES && w->model->n_external)
        w->ret->note = "the model looks for its external data in this folder, where it is not: "
                       "copy or link it there";
    return CLV_OK;
}

/* -- ONNX Runtime -- */

/* What its settings call a device: "cpu", "gpu:1", ... ; what is neither goes by the word for all
 * that is no CPU. */
static const char *designator(const writing *w, const char *name)
{
    static const char *const kinds[] = { "cpu", "npu", "fpga" };
    size_t n = 0;
    while (isalpha((unsigned char)name[n]))
        n++;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (n == strlen(kinds[k]) && strncmp(name, kinds[k], n) == 0)
            return kinds[k];
    size_t digits = strspn(name + n, "0123456789");
    bool gpu = n == 3 && strncmp(name, "gpu", n) == 0 && digits && name[n + digits] == '\0';
    return gpu ? clv_arena_printf(w->arena, "gpu:%s", name + n) : "accelerator";
}

/* A device's name as an annotation: the settings give ',', ';' and brackets another meaning, and
 * blanks at the ends do not count. */
static clv_status annotations(const writing *w, clv_str *ret)
{
    clv_map seen;
    CLV_TRY(clv_map_init(&seen, w->arena, w->plan->n_devices, w->err));
    for (int32_t d = 0; d < w->plan->n_devices; d++) {
        char *text = clv_arena_printf(w->arena, "%s", w->plan->devices[d].name);
        int32_t id;
        for (char *c = text; c && *c; c++)
            if (!isalnum((unsigned char)*c) && !strchr("_-.", *c))
                *c = '_';
        if (!text)
            return no_memory(w);
        CLV_TRY(clv_map_put(&seen, clv_str_of(text), d, &id, w->err));
        if (id != d || !*text)
            text = clv_arena_printf(w->arena, "%s.device%d", text, (int)d);
        if (!text)
            return no_memory(w);
        ret[d] = clv_str_of(text);
    }
    return CLV_OK;
}

/* "gpu:0(=gpu0); gpu:1(=gpu1)", of devices with operators. */
static clv_status layer_setting(writing *w, const clv_str *annotation, const char **ret)
{
    int32_t n_others = 0;
    *ret = "";
    for (int32_t d = 0; d < w->plan->n_devices; d++) {
        if (w->plan->devices[d].stage < 0)
            continue;
        const char *device = designator(w, w->plan->devices[d].name);
        if (device)
            *ret = clv_arena_printf(w->arena, "%s%s%s(=%.*s)", *ret, **ret ? "; " : "", device,
                                    CLV_STR_ARG(annotation[d]));
        if (!device || !*ret)
            return no_memory(w);
        n_others += strcmp(device, "cpu") != 0;
    }
    if (n_others > 1)
        w->ret->note = "a session of ONNX Runtime has one execution provider of a kind: of several "
                       "devices of one kind it uses the one that the provider is opened for";
    return CLV_OK;
}

static clv_status write_ort(writing *w)
{
    int32_t n = w->model->main->n_ops;
    clv_str *annotation = CLV_NEW_ARRAY(w->arena, clv_str, w->plan->n_devices);
    clv_str *value = CLV_NEW_ARRAY(w->arena, clv_str, n);
    clv_properties p = { .key = clv_str_of(LAYER_KEY), .value = value, .n_nodes = n };
    clv_setting *setting = w->settings;
    clv_json_out json;
    if (!annotation || !value)
        return no_memory(w);
    CLV_TRY(annotations(w, annotation));
    for (int32_t i = 0; i < n; i++)
        value[i] = annotation[w->plan->device_of_op[i]];
    setting->name = LAYER_SETTING;
    CLV_TRY(layer_setting(w, annotation, &setting->value));
    CLV_TRY(write_model(w, &p));
    clv_json_begin(&json, w->arena, true);
    clv_json_open_object(&json, NULL);
    clv_json_put_string(&json, setting->name, setting->value);
    clv_json_close_object(&json);
    return write_json(w, OPTIONS_FILE, &json);
}

/* -- Olive -- */

static clv_status write_olive(writing *w)
{
    clv_setting *setting = w->settings;
    clv_json_out json;
    setting->name = SPLIT_KEY;
    CLV_TRY(clv_olive_assignments(w->model, w->plan, w->arena, &setting->value, w->err));
    clv_new_property property = { clv_str_of(SPLIT_KEY), clv_str_of(setting->value) };
    clv_properties p = { .model = &property, .n_model = 1 };
    CLV_TRY(write_model(w, &p));
    clv_json_begin(&json, w->arena, true);
    clv_json_open_object(&json, NULL);
    clv_json_open_object(&json, "input_model");
    clv_json_put_string(&json, "type", "ONNXModel");
    clv_json_put_string(&json, "model_path", MODEL_FILE);
    clv_json_close_object(&json);
    clv_json_open_object(&json, "passes");
    clv_json_open_object(&json, "split");
    clv_json_put_string(&json, "type", "SplitModel");
    clv_json_close_object(&json);
    clv_json_close_object(&json);
    clv_json_close_object(&json);
    return write_json(w, OLIVE_FILE, &json);
}

/* -- both -- */

static clv_status check_plan(const writing *w)
{
    if (w->plan->mesh_devices <= 1)
        return CLV_OK;
    return clv_fail(w->err, CLV_EFORMAT,
                    "the plan splits operators over %d devices, and form %s says only where whole "
                    "operators go: use --form devices",
                    (int)w->plan->mesh_devices, clv_form_name(w->options->form));
}

clv_status clv_annotated_write(const clv_onnx_file *file, const clv_model *model,
                               const clv_plan *plan, const clv_lower_options *options,
                               const char *folder, clv_arena *arena, clv_annotated *ret,
                               clv_error *err)
{
    enum { OWN_FILES = 2 }; /* the model, and the settings */
    writing w = { .file = file,
                  .model = model,
                  .plan = plan,
                  .options = options,
                  .folder = folder,
                  .arena = arena,
                  .ret = ret,
                  .err = err };
    *ret = (clv_annotated){ .n_settings = 1 };
    CLV_TRY(check_plan(&w));
    ret->files = CLV_NEW_ARRAY(arena, const char *, OWN_FILES + (int64_t)model->n_external);
    w.settings = CLV_NEW(arena, clv_setting);
    if (!ret->files || !w.settings)
        return no_memory(&w);
    ret->settings = w.settings;
    CLV_TRY(options->form == CLV_FORM_OLIVE ? write_olive(&w) : write_ort(&w));
    return copy_all(&w);
}
