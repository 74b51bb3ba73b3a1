#include "api/report.h"

#include "api/status.h"
#include "api/write_file.h"

cleave_report *clv_report_new(const clv_alloc *alloc)
{
    clv_arena *arena = clv_arena_new(alloc, 0);
    cleave_report *report = arena ? CLV_NEW(arena, cleave_report) : NULL;
    if (!report) {
        clv_arena_free(arena);
        return NULL;
    }
    report->arena = arena;
    report->is_own = true;
    return report;
}

const char *cleave_report_text(const cleave_report *report) { return report->text; }

const char *cleave_report_json(const cleave_report *report, size_t *ret_size)
{
    if (ret_size)
        *ret_size = report->json_size;
    return report->json;
}

cleave_status cleave_report_save(const cleave_report *report, const char *path, cleave_error *error)
{
    clv_error err;
    if (!report || !path)
        return clv_refuse(error, "cleave_report_save needs a report and a path");
    if (!report->json)
        return clv_refuse(error, "cleave_report_save needs a report that has its JSON");
    clv_status status =
        clv_write_text(path, clv_arena_alloc(report->arena), report->json, report->json_size, &err);
    return clv_return(status, &err, error);
}

void cleave_report_free(cleave_report *report)
{
    if (report && report->is_own)
        clv_arena_free(report->arena);
}
