/* cleave_clusters.c - the public API: the clusters that there are. */
#include <string.h>

#include "api/configs_path.h"
#include "api/control.h"
#include "api/report.h"
#include "api/status.h"
#include "cluster/config_file.h"
#include "explain/report_clusters.h"
#include "explain/report_clusters_json.h"

/* name: of a file of configs, or a path. */
static clv_status describe(const char *name, const char *configs, bool with_times, clv_arena *arena,
                           clv_described_cluster *ret, clv_error *err)
{
    clv_cluster_source source;
    const char *kept = clv_config_is_path(name) ? NULL : name;
    CLV_TRY(clv_cluster_open(name, configs, arena, &source, err));
    return clv_cluster_describe(&source, kept, with_times, arena, ret, err);
}

/* A file that has become unreadable, or is wrong, is no reason not to show the others. */
static clv_status add_wrong(const char *name, const char *why, clv_arena *arena,
                            clv_wrong_cluster *ret, clv_error *err)
{
    ret->name = name;
    ret->why = clv_arena_printf(arena, "%s", why);
    return ret->why ? CLV_OK : clv_fail_nomem(err, "the clusters");
}

static clv_status describe_all(const clv_control *c, const char *configs, clv_arena *arena,
                               clv_cluster_list *ret, clv_error *err)
{
    const clv_config_search search = { NULL, configs, "clusters" };
    const char *const *names;
    char places[CLV_KNOWN_SIZE];
    int32_t n;
    CLV_TRY(clv_config_names(&search, arena, &names, &n, err));
    if (n == 0)
        return clv_fail(err, CLV_EUSAGE, "there is no cluster in %s, expected files NAME.json",
                        clv_config_places(&search, places, sizeof places));
    clv_described_cluster *at = CLV_NEW_ARRAY(arena, clv_described_cluster, n);
    clv_wrong_cluster *wrong = CLV_NEW_ARRAY(arena, clv_wrong_cluster, n);
    if (!at || !wrong)
        return clv_fail_nomem(err, "the clusters");
    for (int32_t i = 0; i < n; i++) {
        CLV_TRY(clv_control_check(c, "the clusters were read", err));
        clv_status status = describe(names[i], configs, false, arena, &at[ret->n], err);
        if (status == CLV_ENOMEM)
            return status;
        if (status == CLV_OK)
            ret->n++;
        else
            CLV_TRY(add_wrong(names[i], err->message, arena, &wrong[ret->n_wrong++], err));
    }
    ret->at = at;
    ret->wrong = wrong;
    return CLV_OK;
}

static clv_status describe_one(const char *name, const char *configs, clv_arena *arena,
                               clv_cluster_list *ret, clv_error *err)
{
    clv_described_cluster *one = CLV_NEW(arena, clv_described_cluster);
    if (!one)
        return clv_fail_nomem(err, "a cluster");
    CLV_TRY(describe(name, configs, true, arena, one, err));
    *ret = (clv_cluster_list){ .at = one, .n = 1, .details = true };
    return CLV_OK;
}

static clv_status report_clusters(const clv_control *c, const cleave_clusters_options *o,
                                  clv_arena *scratch, cleave_report *report, clv_error *err)
{
    clv_cluster_list list = { 0 };
    const char *configs = o->configs_path ? o->configs_path : clv_configs_path(scratch);
    if (!configs)
        return clv_fail_nomem(err, "a path");
    CLV_TRY(o->cluster ? describe_one(o->cluster, configs, scratch, &list, err)
                       : describe_all(c, configs, scratch, &list, err));
    if (c->given.report != CLEAVE_REPORT_JSON)
        CLV_TRY(clv_report_clusters(&list, clv_control_form(c), report->arena, &report->text, err));
    if (c->given.report != CLEAVE_REPORT_TEXT) {
        CLV_TRY(clv_report_clusters_json(&list, report->arena, &report->json, err));
        report->json_size = strlen(report->json);
    }
    return clv_control_check(c, "the report was made", err);
}

cleave_status cleave_clusters(const cleave_clusters_options *options, const cleave_control *control,
                              cleave_report **ret_report, cleave_error *error)
{
    clv_error err;
    clv_control c;
    cleave_clusters_options o;
    cleave_clusters_options_init(&o);
    if (!ret_report)
        return clv_refuse(error, "cleave_clusters needs a place for the report");
    clv_status status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK)
        status = clv_struct_read(options, sizeof o, "cleave_clusters_options", &o, &err);
    if (status != CLV_OK)
        return clv_return(status, &err, error);
    clv_arena *scratch = clv_arena_new(clv_control_alloc(&c), 0);
    cleave_report *report = clv_report_new(clv_control_alloc(&c));
    status = scratch && report ? report_clusters(&c, &o, scratch, report, &err)
                               : clv_fail_nomem(&err, "a report");
    clv_arena_free(scratch);
    if (status == CLV_OK)
        *ret_report = report;
    else
        cleave_report_free(report);
    return clv_return(status, &err, error);
}
