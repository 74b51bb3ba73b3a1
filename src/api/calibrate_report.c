#include "api/calibrate_report.h"

#include "base/clock.h"
#include "base/json_out.h"
#include "base/units.h"
#include "explain/text.h"

#define NS_PER_S 1e9

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

clv_status clv_calibrate_report(const clv_calibration *made, const char *path, int64_t start_ns,
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
