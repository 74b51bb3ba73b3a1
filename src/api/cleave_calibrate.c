/* cleave_calibrate.c - the public API that describes this machine by what it measures. */
#include "api/control.h"
#include "api/report.h"
#include "api/status.h"
#include "api/write_file.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "base/units.h"
#include "calibrate/calibration_json.h"
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
