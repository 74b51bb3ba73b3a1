#include "lower/annotated_model.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/json_out.h"
#include "base/map.h"
#include "base/open_inside.h"
#include "lower/olive.h"
#include "plan/plan_mesh.h"
#include "proto/onnx_properties.h"
#include "proto/out_file.h"
#include "proto/stoppable_sink.h"

#define WHAT          "writing an annotated model"

#define MODEL_FILE    "model.onnx"
#define OPTIONS_FILE  "session_options.json"
#define OLIVE_FILE    "olive.json"

#define LAYER_KEY     "layer_ann"
#define LAYER_SETTING "session.layer_assignment_settings"
#define SPLIT_KEY     "split_assignments"

#define COPY_BYTES    ((size_t)1 << 20) /* of external data at a time: calls are few */

typedef struct {
    const clv_lowering *l;
    const clv_out_folder *folder;
    clv_arena *arena;
    clv_annotated *ret;
    clv_setting *setting;
} writing;

/* -- files of the folder -- */

/* Opens one; *out is to be committed or aborted. */
static clv_status open_file(writing *w, const char *name, clv_out_file **out, clv_error *err)
{
    CLV_TRY(clv_out_open_in(w->folder, name, clv_arena_alloc(w->arena), out, err));
    w->ret->files[w->ret->n_files++] = name;
    return CLV_OK;
}

/* Commits it where all of it was written. */
static clv_status close_file(clv_out_file *out, clv_status status, clv_error *err)
{
    if (status == CLV_OK)
        return clv_out_commit(out, err);
    clv_out_abort(out);
    return status;
}

static clv_stoppable stoppable(const writing *w, clv_out_file *out)
{
    return (clv_stoppable){ clv_out_sink(out), w->l->stop, w->l->stop_ctx, "weights were" };
}

static clv_status write_model(writing *w, const clv_properties *p, clv_error *err)
{
    clv_out_file *out;
    CLV_TRY(open_file(w, MODEL_FILE, &out, err));
    clv_stoppable s = stoppable(w, out);
    clv_sink sink = clv_stoppable_sink(&s);
    return close_file(out, clv_onnx_put_properties(w->l->file, p, &sink, w->arena, err), err);
}

static clv_status write_json(writing *w, const char *name, clv_json_out *json, clv_error *err)
{
    clv_out_file *out;
    CLV_TRY(clv_json_end(json, err));
    CLV_TRY(open_file(w, name, &out, err));
    clv_sink sink = clv_out_sink(out);
    return close_file(out, sink.write(sink.ctx, json->text, json->n, err), err);
}

/* -- external data -- */

static clv_status copy_bytes(writing *w, int fd, int32_t i, const clv_stoppable *s, clv_error *err)
{
    const char *name = w->l->model->external[i].at;
    const clv_file_id *known = w->l->model->external_ids;
    char *buffer = clv_arena_take(w->arena, COPY_BYTES);
    int64_t at = 0;
    if (!buffer)
        return clv_fail_nomem(err, WHAT);
    for (;;) {
        ssize_t n = read(fd, buffer, COPY_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return clv_fail(err, CLV_EIO, "external data file '%s' could not be read: %s", name,
                            strerror(errno));
        if (n == 0 && known && at < known[i].bytes)
            return clv_fail(err, CLV_EIO,
                            "external data file '%s' became shorter while it was read: it ends at "
                            "byte %lld, expected %lld bytes",
                            name, (long long)at, (long long)known[i].bytes);
        if (n == 0)
            return CLV_OK;
        at += n;
        CLV_TRY(s->to.write(s->to.ctx, buffer, (size_t)n, err));
        CLV_TRY(clv_stoppable_ask(s, err));
    }
}

/* The file that was there when the model was read. *ret_fd is to be closed. */
static clv_status open_external(const writing *w, int32_t i, int *ret_fd, clv_error *err)
{
    const clv_onnx_file *file = w->l->file;
    const char *name = w->l->model->external[i].at;
    const clv_file_id *known = w->l->model->external_ids;
    clv_file_id id;
    clv_inside found = file->folder_fd >= 0
                           ? clv_open_inside(file->folder_fd, name, O_RDONLY, ret_fd, &id)
                           : CLV_INSIDE_ABSENT;
    if (found == CLV_INSIDE_LEAVES)
        return clv_fail(err, CLV_EFORMAT,
                        "external data file '%s' is a link that leads out of the model's folder",
                        name);
    if (found != CLV_INSIDE_OPENED)
        return clv_fail(err, CLV_EIO,
                        "external data file '%s' is not there: with --weights ranges it stays "
                        "where it is",
                        name);
    if (!known || clv_is_same_file(*ret_fd, &known[i]))
        return CLV_OK;
    close(*ret_fd);
    return clv_fail(err, CLV_EIO,
                    "external data file '%s' was changed while it was read: it has %lld bytes, "
                    "expected the file of %lld that was there at first",
                    name, (long long)id.bytes, (long long)known[i].bytes);
}

static clv_status copy_external(writing *w, int32_t i, clv_error *err)
{
    const char *name = w->l->model->external[i].at;
    clv_out_file *out;
    int fd = -1;
    CLV_TRY(open_external(w, i, &fd, err));
    clv_mark mark = clv_arena_mark(w->arena);
    clv_status status = open_file(w, name, &out, err);
    if (status == CLV_OK) {
        clv_stoppable s = stoppable(w, out);
        status = close_file(out, copy_bytes(w, fd, i, &s, err), err);
    }
    clv_arena_rewind(w->arena, mark);
    close(fd);
    return status;
}

static clv_status copy_all(writing *w, clv_error *err)
{
    static const char *const ours[] = { MODEL_FILE, OPTIONS_FILE, OLIVE_FILE, CLV_MANIFEST_NAME };
    for (int32_t i = 0; i < w->l->model->n_external; i++) {
        const char *name = w->l->model->external[i].at;
        for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
            if (strcmp(name, ours[k]) == 0)
                return clv_fail(err, CLV_EUNSUPP,
                                "external data file '%s' would take the place of a file of the "
                                "folder",
                                name);
        if (w->l->weights != CLV_PARTS_RANGES)
            CLV_TRY(copy_external(w, i, err));
    }
    if (w->l->weights == CLV_PARTS_RANGES && w->l->model->n_external)
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
static clv_status name_annotations(const writing *w, clv_str *ret, clv_error *err)
{
    clv_map seen;
    CLV_TRY(clv_map_init(&seen, w->arena, w->l->plan->n_devices, err));
    for (int32_t d = 0; d < w->l->plan->n_devices; d++) {
        char *text = clv_arena_printf(w->arena, "%s", w->l->plan->devices[d].name);
        int32_t id;
        for (char *c = text; c && *c; c++)
            if (!isalnum((unsigned char)*c) && !strchr("_-.", *c))
                *c = '_';
        if (!text)
            return clv_fail_nomem(err, WHAT);
        CLV_TRY(clv_map_put(&seen, clv_str_of(text), d, &id, err));
        if (id != d || !*text)
            text = clv_arena_printf(w->arena, "%s.device%d", text, (int)d);
        if (!text)
            return clv_fail_nomem(err, WHAT);
        ret[d] = clv_str_of(text);
    }
    return CLV_OK;
}

/* "gpu:0(=gpu0); gpu:1(=gpu1)", of devices with operators; of copies those of the first. */
static clv_status layer_setting(writing *w, const clv_str *annotation, const char **ret,
                                clv_error *err)
{
    int32_t n_others = 0;
    *ret = "";
    for (int32_t d = 0; d < w->l->plan->n_devices; d++) {
        if (w->l->plan->devices[d].stage < 0 || clv_plan_lead(w->l->plan, d) != d)
            continue;
        const char *device = designator(w, w->l->plan->devices[d].name);
        if (device)
            *ret = clv_arena_printf(w->arena, "%s%s%s(=%.*s)", *ret, **ret ? "; " : "", device,
                                    CLV_STR_ARG(annotation[d]));
        if (!device || !*ret)
            return clv_fail_nomem(err, WHAT);
        n_others += strcmp(device, "cpu") != 0;
    }
    if (n_others > 1)
        w->ret->note = "a session of ONNX Runtime has one execution provider of a kind: of several "
                       "devices of one kind it uses the one that the provider is opened for";
    return CLV_OK;
}

static clv_status write_ort(writing *w, clv_error *err)
{
    int32_t n = w->l->model->main->n_ops;
    clv_str *annotation = CLV_NEW_ARRAY(w->arena, clv_str, w->l->plan->n_devices);
    clv_str *value = CLV_NEW_ARRAY(w->arena, clv_str, n);
    clv_properties p = { .key = clv_str_of(LAYER_KEY), .value = value, .n_nodes = n };
    clv_json_out json;
    if (!annotation || !value)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(name_annotations(w, annotation, err));
    for (int32_t i = 0; i < n; i++)
        value[i] = annotation[w->l->plan->device_of_op[i]];
    w->setting->name = LAYER_SETTING;
    CLV_TRY(layer_setting(w, annotation, &w->setting->value, err));
    CLV_TRY(write_model(w, &p, err));
    clv_json_begin(&json, w->arena, true);
    clv_json_open_object(&json, NULL);
    clv_json_put_string(&json, w->setting->name, w->setting->value);
    clv_json_close_object(&json);
    return write_json(w, OPTIONS_FILE, &json, err);
}

/* -- Olive -- */

static clv_status write_olive(writing *w, clv_error *err)
{
    clv_json_out json;
    w->setting->name = SPLIT_KEY;
    CLV_TRY(clv_olive_assignments(w->l->model, w->l->plan, w->arena, &w->setting->value, err));
    clv_new_property property = { clv_str_of(SPLIT_KEY), clv_str_of(w->setting->value) };
    clv_properties p = { .model = &property, .n_model = 1 };
    CLV_TRY(write_model(w, &p, err));
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
    return write_json(w, OLIVE_FILE, &json, err);
}

/* -- both -- */

clv_status clv_annotated_write(const clv_lowering *l, const clv_out_folder *folder,
                               clv_arena *arena, clv_annotated *ret, clv_error *err)
{
    enum { OWN_FILES = 2 }; /* the model, and the settings */
    writing w = { l, folder, arena, ret, CLV_NEW(arena, clv_setting) };
    *ret = (clv_annotated){ .settings = w.setting, .n_settings = 1 };
    if (l->plan->mesh_devices > 1)
        return clv_fail(err, CLV_EFORMAT,
                        "the plan splits operators over %d devices, and form %s says only where "
                        "whole operators go: use --form devices",
                        (int)l->plan->mesh_devices, clv_lower_form_name(l->form));
    ret->files = CLV_NEW_ARRAY(arena, const char *, OWN_FILES + (int64_t)l->model->n_external);
    if (!ret->files || !w.setting)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(l->form == CLV_FORM_OLIVE ? write_olive(&w, err) : write_ort(&w, err));
    return copy_all(&w, err);
}
