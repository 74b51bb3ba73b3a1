/* cleave_calibrate.c - the public API that describes this machine by what it measures, and others
 * by what was measured on them. */
#include "api/configs_path.h"
#include "api/control.h"
#include "api/measured_report.h"
#include "api/report.h"
#include "api/status.h"
#include "api/write_file.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "base/units.h"
#include "calibrate/calibration_json.h"
#include "calibrate/measured_fit.h"
#include "calibrate/measured_folder.h"
#include "calibrate/measured_json.h"
#include "cluster/device_file.h"
#include "explain/text.h"
#include "proto/out_file.h"

#define DEFAULT_RUNNER  "cleave-run"
#define DEFAULT_DEVICES 2
#define NS_PER_S        1e9

static clv_status write_json(const clv_calibration *made, const char *path, int64_t start_ns,
                             cleave_report *report, clv_error *err)
{
    clv_json_out out;
    clv_json_begin(&out, report->arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_put_string(&out, "cluster", path);
    clv_json_put_string(&out, "runtime", made->runtime);
    clv_json_put_int(&out, "devices", made->devices);
    clv_json_put_int(&out, "measurements", made->n_points);
    clv_json_put_int(&out, "operators", made->fit.n_ops);
    clv_json_put_number(&out, "matrix_flops_per_s", made->fit.matrix_per_s);
    clv_json_put_number(&out, "vector_flops_per_s", made->fit.vector_per_s);
    clv_json_put_number(&out, "memory_bytes_per_s", made->fit.bytes_per_s);
    clv_json_put_number(&out, "launch_us", made->fit.launch_s * 1e6);
    clv_json_put_number(&out, "link_latency_us", made->latency_s * 1e6);
    clv_json_put_number(&out, "link_bytes_per_s", made->bytes_per_s);
    clv_json_put_number(&out, "error", made->fit.error);
    clv_json_put_number(&out, "seconds", clv_seconds_since(start_ns));
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    report->json = out.text;
    report->json_size = out.n;
    return CLV_OK;
}

static clv_status write_report(const clv_calibration *made, const char *path, int64_t start_ns,
                               cleave_report *report, clv_error *err)
{
    char flops[32], memory[32], link[32], launch[32], latency[32];
    const char *shown = clv_show_name(report->arena, clv_str_of(path));
    report->text =
        shown ? clv_arena_printf(
                    report->arena,
                    "%s: %d devices, fitted to %d measurements of %d operators on ONNX Runtime %s\n"
                    "products %s/s, memory %s/s, launch %s; between devices %s/s after %s\n"
                    "the fit is off by %.0f %% in the middle\n",
                    shown, made->devices, made->n_points, made->fit.n_ops, made->runtime,
                    clv_show_flops(flops, made->fit.matrix_per_s),
                    clv_show_bytes(memory, (int64_t)made->fit.bytes_per_s),
                    clv_show_time(launch, (int64_t)(made->fit.launch_s * NS_PER_S)),
                    clv_show_bytes(link, (int64_t)made->bytes_per_s),
                    clv_show_time(latency, (int64_t)(made->latency_s * NS_PER_S)),
                    made->fit.error * 100)
              : NULL;
    if (!report->text)
        return clv_fail_nomem(err, "a report");
    return write_json(made, path, start_ns, report, err);
}

static clv_status calibrate(const cleave_calibrate_options *given, const char *path, clv_control *c,
                            cleave_report *report, clv_error *err)
{
    cleave_calibrate_options o;
    clv_calibration made;
    const char *text;
    size_t n;
    clv_arena *arena = report->arena;
    cleave_calibrate_options_init(&o);
    CLV_TRY(clv_struct_read(given, sizeof o, "cleave_calibrate_options", &o, err));
    clv_calibrate_options how = { .runner = o.runner ? o.runner : DEFAULT_RUNNER,
                                  .devices = o.devices ? o.devices : DEFAULT_DEVICES,
                                  .stop = clv_control_stops,
                                  .stop_ctx = c };
    CLV_TRY(clv_out_try(path, clv_arena_alloc(arena), err));
    CLV_TRY(clv_calibrate(&how, arena, &made, err));
    CLV_TRY(clv_calibration_json(&made, arena, &text, &n, err));
    CLV_TRY(clv_write_text(path, clv_arena_alloc(arena), text, n, err));
    return write_report(&made, path, c->start_ns, report, err);
}

cleave_status cleave_calibrate(const cleave_calibrate_options *options, const char *path,
                               const cleave_control *control, cleave_report **ret_report,
                               cleave_error *error)
{
    clv_error err;
    clv_control c;
    cleave_report *report = NULL;
    if (!path)
        return clv_refuse(error, "cleave_calibrate needs a path");
    clv_status status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK) {
        report = clv_report_new(clv_control_alloc(&c));
        status = report ? calibrate(options, path, &c, report, &err)
                        : clv_fail_nomem(&err, "calibrating");
    }
    if (status == CLV_OK && ret_report)
        *ret_report = report;
    else
        cleave_report_free(report);
    return clv_return(status, &err, error);
}

/* -- measured times -- */

/* A call, and what both kinds of calls need. */
typedef struct {
    const char *folder, *path; /* path NULL: not written */
    bool fit;                  /* else the device's tables are judged */
    cleave_measured_options o;
    const char *configs;
    clv_device_kind device;
    clv_measured_rows rows;
} measured;

static clv_status begin_measured(measured *m, const cleave_measured_options *given,
                                 clv_arena *arena, clv_error *err)
{
    cleave_measured_options_init(&m->o);
    CLV_TRY(clv_struct_read(given, sizeof m->o, "cleave_measured_options", &m->o, err));
    if (!m->o.device)
        return clv_fail(err, CLV_EUSAGE, "no device is given, expected a name or a path");
    m->configs = m->o.configs_path ? m->o.configs_path : clv_configs_path(arena);
    if (!m->configs)
        return clv_fail_nomem(err, "a path");
    CLV_TRY(clv_device_load(m->o.device, m->configs, arena, &m->device, err));
    if ((!m->fit || m->o.keep) && !m->device.measured)
        return clv_fail(err, CLV_EUSAGE, "the device '%.60s' has no measured times",
                        m->device.name);
    return clv_measured_folder(m->folder, arena, &m->rows, err);
}

/* Names whose kernels they are, and where the times are from. */
static clv_status say_source(const measured *m, clv_kernel_times *times, clv_arena *arena,
                             clv_error *err)
{
    clv_timed_table *tables = CLV_NEW_ARRAY(arena, clv_timed_table, times->n);
    if (!tables)
        return clv_fail_nomem(err, "tables of times");
    for (int32_t i = 0; i < times->n; i++) {
        tables[i] = times->at[i];
        if (!tables[i].library)
            tables[i].library = m->o.library;
    }
    times->at = tables;
    times->name = m->device.name;
    times->source = m->o.source ? m->o.source : m->folder;
    times->date = m->o.date ? m->o.date : "not given";
    return CLV_OK;
}

static bool has_alike(const clv_kernel_times *times, const clv_timed_table *table)
{
    for (int32_t i = 0; i < times->n; i++)
        if (clv_timed_tables_alike(&times->at[i], table))
            return true;
    return false;
}

/* Adds new tables to those that the device has of other kernels, kind by kind; each new one says
 * its source, as the file says that of the others. O(tables^2). */
static clv_status keep_tables(const clv_kernel_times *old, const clv_kernel_times *new,
                              clv_arena *arena, clv_kernel_times *ret, clv_error *err)
{
    clv_timed_table *tables = CLV_NEW_ARRAY(arena, clv_timed_table, old->n + new->n);
    const char *source = clv_arena_printf(arena, "%s, %s", new->source, new->date);
    int32_t n = 0;
    if (!tables || !source)
        return clv_fail_nomem(err, "tables of times");
    for (int kind = 0; kind < CLV_N_TIMED; kind++) {
        for (int32_t i = 0; i < old->n; i++)
            if (old->at[i].kind == (clv_timed)kind && !has_alike(new, &old->at[i]))
                tables[n++] = old->at[i];
        for (int32_t i = 0; i < new->n; i++)
            if (new->at[i].kind == (clv_timed)kind) {
                tables[n] = new->at[i];
                tables[n++].source = source;
            }
    }
    *ret = (clv_kernel_times){
        .name = old->name, .source = old->source, .date = old->date, .n = n, .at = tables
    };
    return CLV_OK;
}

static clv_status write_tables(measured *m, const clv_kernel_times *times, clv_arena *arena,
                               clv_error *err)
{
    clv_kernel_times all = *times;
    const char *text;
    size_t n;
    CLV_TRY(say_source(m, &all, arena, err));
    if (m->o.keep) {
        CLV_TRY(clv_device_load_times(&m->device, m->configs, arena, err));
        CLV_TRY(keep_tables(m->device.times, &all, arena, &all, err));
    }
    if (!m->path)
        return CLV_OK;
    CLV_TRY(clv_measured_json(&all, arena, &text, &n, err));
    return clv_write_text(m->path, clv_arena_alloc(arena), text, n, err);
}

static clv_status run_measured(measured *m, const cleave_measured_options *given,
                               const clv_control *c, cleave_report *report, clv_error *err)
{
    clv_arena *arena = report->arena;
    clv_kernel_times times = { .n = 0 };
    clv_measured_errors errors;
    if (m->path)
        CLV_TRY(clv_out_try(m->path, clv_arena_alloc(arena), err));
    CLV_TRY(begin_measured(m, given, arena, err));
    CLV_TRY(clv_control_check(c, "fitting measured times", err));
    if (m->fit) {
        CLV_TRY(clv_measured_fit(&m->rows, &m->device, arena, &times, &errors, err));
        CLV_TRY(write_tables(m, &times, arena, err));
    } else {
        CLV_TRY(clv_device_load_times(&m->device, m->configs, arena, err));
        times = *m->device.times;
        CLV_TRY(clv_measured_score(&m->rows, &times, &m->device, arena, &errors, err));
    }
    return clv_report_measured(&(clv_measured_report){ .device = m->device.name,
                                                       .folder = m->folder,
                                                       .path = m->path,
                                                       .fitted = m->fit,
                                                       .rows = m->rows.n,
                                                       .times = &times,
                                                       .errors = &errors,
                                                       .seconds = clv_seconds_since(c->start_ns) },
                               report, err);
}

static cleave_status call_measured(measured *m, const cleave_measured_options *options,
                                   const cleave_control *control, cleave_report **ret_report,
                                   cleave_error *error)
{
    clv_error err;
    clv_control c;
    cleave_report *report = NULL;
    if (!m->folder)
        return clv_refuse(error, m->fit ? "cleave_measured_fit needs a folder"
                                        : "cleave_measured_score needs a folder");
    clv_status status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK) {
        report = clv_report_new(clv_control_alloc(&c));
        if (report)
            report->form = clv_control_form(&c);
        status = report ? run_measured(m, options, &c, report, &err)
                        : clv_fail_nomem(&err, "measured times");
    }
    if (status == CLV_OK && ret_report)
        *ret_report = report;
    else
        cleave_report_free(report);
    return clv_return(status, &err, error);
}

cleave_status cleave_measured_fit(const char *folder, const cleave_measured_options *options,
                                  const char *path, const cleave_control *control,
                                  cleave_report **ret_report, cleave_error *error)
{
    measured m = { .folder = folder, .path = path, .fit = true };
    return call_measured(&m, options, control, ret_report, error);
}

cleave_status cleave_measured_score(const char *folder, const cleave_measured_options *options,
                                    const cleave_control *control, cleave_report **ret_report,
                                    cleave_error *error)
{
    measured m = { .folder = folder };
    return call_measured(&m, options, control, ret_report, error);
}
