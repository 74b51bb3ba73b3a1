#include "compile/external_answer.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/show.h"

#define LATENCY_MS_MAX 1e12               /* 31 years; in nanoseconds still far from 2^63 */
#define THROUGHPUT_MIN 1e-9               /* samples a second: a period of 31 years */
#define THROUGHPUT_MAX 1e9                /* a period of one nanosecond */
#define BYTES_MAX      (INT64_C(1) << 53) /* what JSON numbers hold exactly */

/* A reason is one line, whatever the command wrote; so line breaks and tabs become spaces. */
CLV_PRINTF(2, 3) static void set_reason(clv_verdict *v, const char *fmt, ...)
{
    char words[2 * sizeof v->reason];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(words, sizeof words, fmt, ap);
    va_end(ap);
    for (char *c = words; *c; c++)
        if (strchr("\t\n\v\f\r", *c))
            *c = ' ';
    clv_show(v->reason, sizeof v->reason, words, strlen(words));
}

/* With the last line of stderr behind it, if there is one. */
static void set_failed_with_errors(clv_verdict *v, const clv_process_result *result,
                                   const char *what)
{
    clv_str line = clv_process_last_error_line(result);
    *v = (clv_verdict){ .outcome = CLV_FAILED };
    if (line.n > 0)
        set_reason(v, "%s: %.*s", what, CLV_STR_ARG(line));
    else
        set_reason(v, "%s", what);
}

/* False, and a reason, where the command did not come to a good end. */
static bool ended_well(const clv_process_result *result, clv_verdict *v)
{
    char what[64] = "";
    switch (result->end) {
    case CLV_PROCESS_EXITED:
        if (result->code == 0)
            return true;
        snprintf(what, sizeof what,
                 result->code == 127 ? "exit status 127, command not found" : "exit status %d",
                 result->code);
        break;
    case CLV_PROCESS_SIGNALED:
        snprintf(what, sizeof what, "ended by signal %d", result->code);
        break;
    case CLV_PROCESS_LOST:
        return true; /* nobody knows; the answer decides */
    case CLV_PROCESS_TIMED_OUT:
        snprintf(what, sizeof what, "no end within the time allowed");
        break;
    case CLV_PROCESS_OUTPUT_TOO_LONG:
        snprintf(what, sizeof what, "the answer is longer than allowed");
        break;
    case CLV_PROCESS_OUTPUT_HELD_OPEN:
        snprintf(what, sizeof what, "left a process behind that keeps its output open");
        break;
    case CLV_PROCESS_STOPPED:
        snprintf(what, sizeof what, "stopped");
        break;
    case CLV_PROCESS_NOT_STARTED:
        snprintf(what, sizeof what, "could not be started: %s", strerror(result->code));
        break;
    }
    set_failed_with_errors(v, result, what);
    return false;
}

static clv_status read_int(const clv_json_at *root, const char *key, int64_t min, int64_t max,
                           int64_t *ret, clv_error *err)
{
    clv_json_at at;
    CLV_TRY(clv_json_member(root, key, true, &at, err));
    return clv_json_int(&at, min, max, ret, err);
}

/* How long each device computes. All are checked before any is written. */
static clv_status read_busy(const clv_json_at *root, const clv_cluster *cluster, int64_t *busy_ns,
                            clv_error *err)
{
    clv_json_at busy, at;
    int32_t n;
    double ms;
    CLV_TRY(clv_json_member(root, "busy_ms", false, &busy, err));
    if (!busy.json)
        return CLV_OK;
    CLV_TRY(clv_json_length(&busy, &n, err));
    if (n != cluster->n_devices)
        return clv_fail(err, CLV_EFORMAT,
                        "answer: busy_ms has %d number%s, expected one for each of %d devices", n,
                        n == 1 ? "" : "s", cluster->n_devices);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t d = 0; d < n; d++) {
            at = clv_json_element(&busy, d, d > 0 ? &at : NULL);
            CLV_TRY(clv_json_number(&at, 0, LATENCY_MS_MAX, &ms, err));
            if (pass == 1 && busy_ns)
                busy_ns[d] = (int64_t)llround(ms * 1e6);
        }
    return CLV_OK;
}

static clv_status read_fits(const clv_json_at *root, const clv_cluster *cluster, int64_t *busy_ns,
                            clv_verdict *v, clv_error *err)
{
    static const char *const keys[] = { "version",    "outcome", "latency_ms",
                                        "throughput", "busy_ms", NULL };
    clv_json_at latency, throughput;
    double ms, per_s;
    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(clv_json_member(root, "latency_ms", true, &latency, err));
    CLV_TRY(clv_json_number(&latency, 1e-6, LATENCY_MS_MAX, &ms, err));
    CLV_TRY(clv_json_member(root, "throughput", false, &throughput, err));
    v->outcome = CLV_FITS;
    v->latency_ns = v->period_ns = (int64_t)llround(ms * 1e6);
    if (throughput.json) {
        CLV_TRY(clv_json_number(&throughput, THROUGHPUT_MIN, THROUGHPUT_MAX, &per_s, err));
        v->period_ns = (int64_t)llround(1e9 / per_s);
    }
    return read_busy(root, cluster, busy_ns, err);
}

/* Tiles are counted through all devices. bytes is what the tile would hold; what is missing is the
 * part beyond its own memory. */
static clv_status read_tile(const clv_json_at *root, const clv_cluster *cluster, int64_t bytes,
                            clv_verdict *v, clv_error *err)
{
    int64_t tile, left;
    CLV_TRY(read_int(root, "tile", 0, INT32_MAX, &tile, err));
    v->device = 0;
    for (left = tile; v->device < cluster->n_devices; v->device++) {
        int64_t tiles = clv_device_kind_of(cluster, v->device)->tiles;
        if (left < tiles)
            break;
        left -= tiles;
    }
    if (v->device == cluster->n_devices)
        return clv_fail(err, CLV_EFORMAT,
                        "answer: tile is %lld, but the %d devices have fewer tiles",
                        (long long)tile, cluster->n_devices);
    const clv_device_kind *kind = clv_device_kind_of(cluster, v->device);
    int64_t memory = kind->memory_bytes / kind->tiles;
    v->short_bytes = bytes > memory ? bytes - memory : 1;
    set_reason(v, "tile %lld", (long long)tile);
    return CLV_OK;
}

static clv_status read_oom(const clv_json_at *root, const clv_cluster *cluster, clv_verdict *v,
                           clv_error *err)
{
    static const char *const keys[] = { "version", "outcome", "device",      "tile",
                                        "bytes",   "place",   "total_bytes", NULL };
    clv_json_at device, place, total;
    int64_t bytes, number;
    const char *text;
    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(read_int(root, "bytes", 1, BYTES_MAX, &bytes, err));
    CLV_TRY(clv_json_member(root, "device", false, &device, err));
    v->outcome = CLV_OOM;
    if (device.json) {
        CLV_TRY(clv_json_int(&device, 0, cluster->n_devices - 1, &number, err));
        v->device = (int32_t)number;
        v->short_bytes = bytes;
    } else {
        CLV_TRY(read_tile(root, cluster, bytes, v, err));
    }
    CLV_TRY(clv_json_member(root, "place", false, &place, err));
    if (place.json) {
        CLV_TRY(clv_json_string(&place, &text, err));
        set_reason(v, "%s", text);
    }
    v->total_short_bytes = v->short_bytes;
    CLV_TRY(clv_json_member(root, "total_bytes", false, &total, err));
    return total.json ? clv_json_int(&total, v->short_bytes, BYTES_MAX, &v->total_short_bytes, err)
                      : CLV_OK;
}

static clv_status read_json(const clv_json *json, const clv_cluster *cluster, int64_t *busy_ns,
                            clv_verdict *v, clv_error *err)
{
    static const char *const failed_keys[] = { "version", "outcome", "reason", NULL };
    clv_json_at root = clv_json_root(json, "answer"), outcome, reason;
    int64_t version;
    const char *text;
    CLV_TRY(read_int(&root, "version", CLV_PROTOCOL_VERSION, CLV_PROTOCOL_VERSION, &version, err));
    CLV_TRY(clv_json_member(&root, "outcome", true, &outcome, err));
    CLV_TRY(clv_json_string(&outcome, &text, err));
    if (strcmp(text, "fits") == 0)
        return read_fits(&root, cluster, busy_ns, v, err);
    if (strcmp(text, "oom") == 0)
        return read_oom(&root, cluster, v, err);
    if (strcmp(text, "failed") != 0)
        return clv_fail(err, CLV_EFORMAT, "answer: outcome is '%s', expected fits, oom or failed",
                        text);
    CLV_TRY(clv_json_keys(&root, failed_keys, err));
    CLV_TRY(clv_json_member(&root, "reason", true, &reason, err));
    CLV_TRY(clv_json_string(&reason, &text, err));
    v->outcome = CLV_FAILED;
    set_reason(v, "%s", *text ? text : "failed, without a reason");
    return CLV_OK;
}

clv_status clv_external_answer_read(const clv_process_result *result, const clv_cluster *cluster,
                                    int64_t *busy_ns, clv_verdict *ret, clv_error *err)
{
    assert(result->end != CLV_PROCESS_STOPPED);
    clv_verdict v = { 0 };
    clv_error why = { CLV_OK, "" };
    clv_json *json = NULL;
    if (!ended_well(result, &v)) {
        *ret = v;
        return CLV_OK;
    }
    if (result->n_output == 0) {
        set_failed_with_errors(ret, result, "no answer on standard output");
        return CLV_OK;
    }
    clv_status status = clv_json_parse(result->output, result->n_output, "answer", &json, &why);
    if (status == CLV_OK)
        status = read_json(json, cluster, busy_ns, &v, &why);
    clv_json_free(json);
    if (status == CLV_ENOMEM) {
        if (err)
            *err = why;
        return status;
    }
    if (status != CLV_OK) {
        v = (clv_verdict){ .outcome = CLV_FAILED };
        set_reason(&v, "%s", why.message);
    }
    *ret = v;
    return CLV_OK;
}
