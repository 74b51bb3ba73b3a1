/* cleave_rules.c - the public API: what is known of operators under sharding. */
#include <string.h>

#include "api/control.h"
#include "api/report.h"
#include "api/status.h"
#include "explain/report_op_rules.h"

static clv_status describe(const char *name, const cleave_control *control, cleave_report **ret,
                           clv_error *err)
{
    clv_control c;
    CLV_TRY(clv_control_begin(control, &c, err));
    cleave_report *report = clv_report_new(clv_control_alloc(&c));
    if (!report)
        return clv_fail_nomem(err, "the rules");
    clv_status status = CLV_OK;
    if (c.given.report != CLEAVE_REPORT_JSON)
        status = clv_report_op_rules(name, false, report->arena, &report->text, err);
    if (status == CLV_OK && c.given.report != CLEAVE_REPORT_TEXT)
        status = clv_report_op_rules(name, true, report->arena, &report->json, err);
    if (status == CLV_OK)
        status = clv_control_check(&c, "the report was made", err);
    if (status != CLV_OK) {
        cleave_report_free(report);
        return status;
    }
    report->json_size = report->json ? strlen(report->json) : 0;
    *ret = report;
    return CLV_OK;
}

cleave_status cleave_rules(const char *operator_name, const cleave_control *control,
                           cleave_report **ret_report, cleave_error *error)
{
    clv_error err;
    if (!ret_report)
        return clv_refuse(error, "cleave_rules needs a place for the report");
    return clv_return(describe(operator_name, control, ret_report, &err), &err, error);
}
