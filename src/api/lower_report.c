#include "api/lower_report.h"

#include "base/clock.h"
#include "base/json_out.h"
#include "base/units.h"
#include "explain/text.h"

#define SCHEMA_VERSION 1 /* docs/formats/lower.schema.json */

static const char *plural(int n) { return n == 1 ? "" : "s"; }

clv_status clv_lower_report(const clv_lower_summary *made, const clv_lowered_folder *folder,
                            cleave_report *report, clv_error *err)
{
    char bytes[32];
    clv_json_out out;
    clv_arena *arena = report->arena;
    const char *shown = clv_show_name(arena, clv_str_of(folder->path));
    report->text =
        shown
            ? clv_arena_printf(arena,
                               "%s: %d model%s, %d collective%s, %d tensor%s from one to another, "
                               "%s in %d file%s\n",
                               shown, made->n_models, plural(made->n_models), made->n_collectives,
                               plural(made->n_collectives), made->n_transfers,
                               plural(made->n_transfers), clv_show_bytes(bytes, made->bytes),
                               made->n_files, plural(made->n_files))
            : NULL;
    if (!report->text)
        return clv_fail_nomem(err, "a report");
    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", SCHEMA_VERSION);
    clv_json_put_string(&out, "folder", folder->path);
    clv_json_put_string(&out, "form", folder->form);
    clv_json_put_int(&out, "models", made->n_models);
    clv_json_put_int(&out, "files", made->n_files);
    clv_json_put_int(&out, "collectives", made->n_collectives);
    clv_json_put_int(&out, "transfers", made->n_transfers);
    clv_json_put_int(&out, "bytes", made->bytes);
    clv_json_put_number(&out, "seconds", clv_seconds_since(folder->start_ns));
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    report->json = out.text;
    report->json_size = out.n;
    return CLV_OK;
}
