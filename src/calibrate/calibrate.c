#include "calibrate/calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_out.h"
#include "calibrate/probe_model.h"
#include "calibrate/timing.h"
#include "compile/folder.h"

#define DEFAULT_PARENT "/tmp"
#define MANIFEST       "manifest.json"

/* All-reduces of two devices: of a size that is all latency, of one that caches hold, of a larger.
 */
static const int64_t sum_elements[] = { 1024, 32768, 262144 };
#define N_SUM_SIZES ((int32_t)(sizeof sum_elements / sizeof *sum_elements))
#define N_SUMS      16 /* one behind the other */
#define PAIR        2  /* devices */
#define ROUNDS      3  /* of all operators; of each the least time counts */

typedef struct {
    clv_timing_job timing;
    clv_arena *arena;
    clv_calibration *c;
} job;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "calibrating"); }

static const char *file_of(const job *j, int32_t i)
{
    return clv_arena_printf(j->arena, "%s/%d.onnx", j->timing.folder, (int)i);
}

/* -- manifests -- */

/* An input or output, all of it. */
static void write_tensor(clv_json_out *out, const char *name)
{
    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "name", name);
    clv_json_close_object(out);
}

static void write_model(clv_json_out *out, const char *input, const char *output, int32_t i)
{
    char file[32];
    snprintf(file, sizeof file, "%d.onnx", (int)i);
    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "file", file);
    clv_json_open_array(out, "inputs");
    if (input) {
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "name", "x");
        clv_json_put_string(out, "from", "model");
        clv_json_put_string(out, "tensor", input);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
    clv_json_open_array(out, "outputs");
    write_tensor(out, output);
    clv_json_close_array(out);
    clv_json_close_object(out);
}

static void write_sums(clv_json_out *out)
{
    clv_json_open_array(out, "collectives");
    for (int32_t i = 0; i < N_SUMS; i++) {
        char node[32];
        snprintf(node, sizeof node, "sum%d", (int)i);
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "node", node);
        clv_json_put_string(out, "kind", "all-reduce");
        clv_json_open_array(out, "groups");
        clv_json_put_ints(out, NULL, (const int32_t[]){ 0, 1 }, PAIR);
        clv_json_close_array(out);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static clv_status write_manifest(const job *j, clv_json_out *out, clv_error *err)
{
    const char *path = clv_arena_printf(j->arena, "%s/" MANIFEST, j->timing.folder);
    if (!path)
        return nomem(err);
    (void)unlink(path); /* of the measurement before */
    CLV_TRY(clv_json_end(out, err));
    return clv_folder_write(j->timing.folder, MANIFEST, out->text, out->n, j->arena, err);
}

static bool has_input(const clv_probe *p)
{
    for (int32_t i = 0; i < CLV_PROBE_INS; i++)
        if (p->op->in[i].kind == CLV_PROBE_X)
            return true;
    return false;
}

/* Of those from first to end. */
static clv_status write_probe_manifest(const job *j, const clv_probe *probes, int32_t first,
                                       int32_t end, clv_error *err)
{
    clv_json_out out;
    char name[32];
    clv_json_begin(&out, j->arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_put_string(&out, "form", "stages");
    clv_json_open_array(&out, "inputs");
    for (int32_t i = first; i < end; i++) {
        snprintf(name, sizeof name, "x%d", (int)i);
        if (has_input(&probes[i]))
            write_tensor(&out, name);
    }
    clv_json_close_array(&out);
    clv_json_open_array(&out, "outputs");
    clv_json_close_array(&out);
    clv_json_open_array(&out, "models");
    for (int32_t i = first; i < end; i++) {
        snprintf(name, sizeof name, "x%d", (int)i);
        write_model(&out, has_input(&probes[i]) ? name : NULL, CLV_PROBE_END, i);
    }
    clv_json_close_array(&out);
    clv_json_close_object(&out);
    return write_manifest(j, &out, err);
}

static clv_status write_sum_manifest(const job *j, clv_error *err)
{
    clv_json_out out;
    char last[32];
    snprintf(last, sizeof last, "sum%d", N_SUMS - 1);
    clv_json_begin(&out, j->arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_put_string(&out, "form", "devices");
    clv_json_open_array(&out, "inputs");
    write_tensor(&out, "x");
    clv_json_close_array(&out);
    clv_json_open_array(&out, "outputs");
    clv_json_close_array(&out);
    clv_json_open_array(&out, "models");
    for (int32_t i = 0; i < PAIR; i++)
        write_model(&out, "x", last, i);
    clv_json_close_array(&out);
    write_sums(&out);
    clv_json_close_object(&out);
    return write_manifest(j, &out, err);
}

/* -- measuring -- */

/* Of one of equal nodes; what is not more than the empty model is a nanosecond. */
static double one_of(double all_s, double empty_s, int32_t n)
{
    double s = (all_s - empty_s) / n;
    return s > 1e-9 ? s : 1e-9;
}

/* Lowers the least times of the probes from first to end by those of one start of the runner. */
static clv_status time_stretch(job *j, const clv_probe *probes, int32_t first, int32_t end,
                               double *least_s, clv_error *err)
{
    clv_timing answer;
    CLV_TRY(write_probe_manifest(j, probes, first, end, err));
    j->timing.optimized = probes[first].optimized;
    j->timing.in_cache = !probes[first].optimized;
    CLV_TRY(clv_timing_run(&j->timing, end - first, j->arena, &answer, err));
    for (int32_t i = first; i < end; i++)
        if (least_s[i] == 0 || answer.least_s[i - first] < least_s[i])
            least_s[i] = answer.least_s[i - first];
    j->c->runtime = answer.runtime;
    return CLV_OK;
}

/* The least times of all probes, from several rounds: what others do to the clock and to the other
 * half of a core lasts longer than a start of the runner. */
static clv_status time_probes(job *j, const clv_probe *probes, int32_t n, double *least_s,
                              clv_error *err)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int32_t first = 0, end; first < n; first = end) {
            for (end = first; end < n && probes[end].optimized == probes[first].optimized;)
                end++;
            CLV_TRY(time_stretch(j, probes, first, end, least_s, err));
        }
    j->timing.optimized = j->timing.in_cache = false;
    return CLV_OK;
}

static clv_status measure_operators(job *j, double *ret_empty_s, clv_error *err)
{
    const clv_probe *probes;
    int32_t n, n_points = 0;
    CLV_TRY(clv_probes_list(j->arena, &probes, &n, err));
    clv_fit_point *points = CLV_NEW_ARRAY(j->arena, clv_fit_point, n);
    double *least_s = CLV_NEW_ARRAY(j->arena, double, n); /* 0: not measured yet */
    if (!points || !least_s)
        return nomem(err);
    for (int32_t i = 0; i < n; i++) {
        clv_mark mark = clv_arena_mark(j->arena);
        const char *file = file_of(j, i);
        clv_probe_work work = { 0 };
        if (!file)
            return nomem(err);
        CLV_TRY(clv_probe_write(&probes[i], file, j->arena, err));
        CLV_TRY(clv_probe_work_of(file, j->arena, &work, err));
        clv_arena_rewind(j->arena, mark);
        points[i] = (clv_fit_point){ work.speed, work.matrix, work.vector, work.bytes, 0 };
    }
    CLV_TRY(time_probes(j, probes, n, least_s, err));
    *ret_empty_s = least_s[0];
    for (int32_t i = 1; i < n; i++) {
        points[n_points] = points[i];
        points[n_points++].seconds = one_of(least_s[i], least_s[0], probes[i].nodes);
    }
    j->c->n_points = n_points;
    return clv_fit_points(points, n_points, j->arena, &j->c->fit, err);
}

static clv_status measure_sums(const job *j, double empty_s, clv_error *err)
{
    clv_fit_transfer at[N_SUM_SIZES];
    CLV_TRY(write_sum_manifest(j, err));
    for (int32_t i = 0; i < N_SUM_SIZES; i++) {
        double all_s = 0;
        for (int32_t d = 0; d < PAIR; d++) {
            const char *file = file_of(j, d);
            if (!file)
                return nomem(err);
            CLV_TRY(clv_probe_write_sums(file, sum_elements[i], N_SUMS, j->arena, err));
        }
        CLV_TRY(clv_timing_period(&j->timing, j->arena, &all_s, err));
        at[i] = (clv_fit_transfer){ (double)sum_elements[i] * (double)sizeof(float),
                                    one_of(all_s, empty_s, N_SUMS) };
    }
    return clv_fit_line(at, N_SUM_SIZES, &j->c->latency_s, &j->c->bytes_per_s, err);
}

clv_status clv_calibrate(const clv_calibrate_options *options, clv_arena *arena,
                         clv_calibration *ret, clv_error *err)
{
    const char *given = getenv("TMPDIR"), *parent = given && *given ? given : DEFAULT_PARENT;
    clv_calibration made = { .devices = options->devices, .repeat = options->repeat };
    job j = { .timing = { .runner = options->runner,
                          .repeat = options->repeat,
                          .stop = options->stop,
                          .stop_ctx = options->stop_ctx },
              .arena = arena,
              .c = &made };
    clv_folder folder;
    double empty_s = 0;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (options->devices < 1 || options->devices > CLV_CALIBRATE_DEVICES_MAX)
        return clv_fail(err, CLV_EUSAGE, "devices is %d: expected 1 to %d", (int)options->devices,
                        CLV_CALIBRATE_DEVICES_MAX);
    if (pages < 1 || page < 1)
        return clv_fail(err, CLV_EUNSUPP, "the system does not report how much memory it has");
    made.memory_bytes = (int64_t)pages * page;
    clv_folder_tidy(parent);
    CLV_TRY(clv_folder_make(parent, arena, &folder, err));
    j.timing.folder = folder.path;
    clv_status status = measure_operators(&j, &empty_s, err);
    if (status == CLV_OK)
        status = measure_sums(&j, empty_s, err);
    clv_folder_remove(&folder);
    if (status == CLV_OK)
        *ret = made;
    return status;
}
