/* cleave_calibrate.c - the public API that describes this machine by what it measures. */
#include <string.h>

#include "api/calibrate_report.h"
#include "api/control.h"
#include "api/status.h"
#include "api/write_file.h"
#include "calibrate/calibration_json.h"
#include "proto/out_file.h"

#define DEFAULT_RUNNER  "cleave-run"
#define DEFAULT_DEVICES 2

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
    return clv_calibrate_report(&made, path, c->start_ns, report, err);
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
