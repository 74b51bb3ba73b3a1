#include "calibrate/calibration_json.h"

#include <math.h>
#include <stdio.h>

#include "base/json_out.h"
#include "cluster/cluster_json.h"
#include "graph/ops.h"

#define DIGITS      4 /* what a measurement is worth */
#define SHARE_LEAST 1e-6
#define ONE_THREAD  "measured by cleave calibrate on ONNX Runtime %s, one thread"

#define RUNTIME     "onnxruntime" /* configs/runtimes: what cleave-run runs models on */

typedef struct {
    clv_json_out out;
    const clv_calibration *c;
    char measured[160];
} writer;

/* -- numbers with their sources -- */

static void write_text(writer *w, const char *key, const char *value, const char *source)
{
    clv_json_open_object(&w->out, key);
    clv_json_put_string(&w->out, "value", value);
    clv_json_put_string(&w->out, "source", source);
    clv_json_close_object(&w->out);
}

static void write_share(writer *w, const char *key, double v, const char *source)
{
    double scale = v > 0 ? pow(10, DIGITS - 1 - floor(log10(v))) : 1;
    double share = round(v * scale) / scale;
    clv_json_open_object(&w->out, key);
    clv_json_put_number(&w->out, "value",
                        share > 1             ? 1
                        : share < SHARE_LEAST ? SHARE_LEAST
                                              : share);
    clv_json_put_string(&w->out, "source", source);
    clv_json_close_object(&w->out);
}

static void write_giga(writer *w, const char *key, double per_s, const char *unit, const char *what)
{
    char value[64], source[320];
    snprintf(value, sizeof value, "%.*gG%s", DIGITS, per_s * 1e-9, unit);
    snprintf(source, sizeof source, "%s: %s", w->measured, what);
    write_text(w, key, value, source);
}

static void write_ns(writer *w, const char *key, double s, const char *what)
{
    char value[64], source[320];
    snprintf(value, sizeof value, "%.0fns", s * 1e9);
    snprintf(source, sizeof source, "%s: %s", w->measured, what);
    write_text(w, key, value, source);
}

static void write_rate(writer *w, const char *key, double per_s, const char *what)
{
    clv_json_open_object(&w->out, key);
    write_giga(w, "FLOAT", per_s, "FLOP/s", what);
    clv_json_close_object(&w->out);
}

/* -- parts of the device -- */

static void write_efficiency(writer *w)
{
    const clv_fit *f = &w->c->fit;
    char source[320];
    snprintf(source, sizeof source, "%s: the middle of the operators that this bounds",
             w->measured);
    clv_json_open_object(&w->out, "efficiency");
    write_share(w, "matrix", f->matrix_share, source);
    write_share(w, "vector", f->vector_share, source);
    write_share(w, "memory", f->bytes_share, source);
    clv_json_close_object(&w->out);
}

/* The devices are parts of their host. */
static void write_host(writer *w)
{
    clv_json_open_object(&w->out, "host");
    write_giga(w, "bandwidth", w->c->fit.bytes_per_s, "B/s",
               "a copy inside the machine's memory, at the most that any operator reached");
    write_text(w, "latency", "0ns", "assumption: what a runtime is given it need not wait for");
    clv_json_close_object(&w->out);
}

/* What does not bound an operator is at its peak. */
static void write_operator(writer *w, const clv_fit_op *op)
{
    const clv_fit *f = &w->c->fit;
    char source[320], name[CLV_SPEED_NAME_SIZE];
    snprintf(source, sizeof source, "%s: off by %.0f %% in the middle", w->measured,
             op->error * 100);
    clv_json_open_object(&w->out, clv_speed_name(op->speed, name));
    clv_json_open_object(&w->out, "efficiency");
    if (op->matrix_per_s > 0)
        write_share(w, "matrix", op->matrix_per_s / f->matrix_per_s, source);
    write_share(w, "vector", op->vector_per_s > 0 ? op->vector_per_s / f->vector_per_s : 1, source);
    write_share(w, "memory", op->bytes_per_s > 0 ? op->bytes_per_s / f->bytes_per_s : 1, source);
    clv_json_close_object(&w->out);
    write_ns(w, "launch", op->launch_s, "its smallest size");
    clv_json_close_object(&w->out);
}

static void write_device(writer *w)
{
    const clv_fit *f = &w->c->fit;
    char memory[64];
    clv_json_open_object(&w->out, "kind");
    clv_json_put_int(&w->out, "version", 1);
    clv_json_put_string(&w->out, "name", "calibrated-cpu");
    clv_json_put_string(&w->out, "vendor", "this machine");
    clv_json_put_string(&w->out, "runtime", RUNTIME);
    snprintf(memory, sizeof memory, "%lldB", (long long)(w->c->memory_bytes / w->c->devices));
    write_text(w, "memory", memory,
               "the machine's memory, as the system reports it, over the devices");
    write_text(w, "reserved", "0B", "assumption: what the runtime itself takes is small beside it");
    write_share(w, "headroom", 0,
                "assumption: the system's memory is shared, and --headroom leaves part of it");
    write_host(w);
    write_giga(w, "memory_bandwidth", f->bytes_per_s, "B/s", "the most that any operator reached");
    write_rate(w, "matrix", f->matrix_per_s, "the most that any product reached");
    write_rate(w, "vector", f->vector_per_s, "the most that any operator reached");
    write_efficiency(w);
    write_ns(w, "launch", f->launch_s, "the middle of all operators' smallest sizes");
    clv_json_open_object(&w->out, "operators");
    for (int32_t i = 0; i < f->n_ops; i++)
        write_operator(w, &f->ops[i]);
    clv_json_close_object(&w->out);
    clv_json_open_object(&w->out, "workspace_proportion");
    clv_json_put_number(&w->out, "value", 1);
    clv_json_put_string(&w->out, "source", "assumption: scratch is taken as it is needed");
    clv_json_close_object(&w->out);
    clv_json_close_object(&w->out);
}

/* Times of a nanosecond beside times of a minute make a device that no plan can be made for: that
 * is said now, not by who is given the file. */
static clv_status check_readable(const clv_json_out *out, clv_arena *arena, clv_error *err)
{
    clv_cluster *cluster;
    clv_cluster_source source = { .text = out->text, .n = out->n, .what = "what was measured" };
    return clv_cluster_parse(&source, arena, &cluster, err);
}

clv_status clv_calibration_json(const clv_calibration *c, clv_arena *arena, const char **ret,
                                size_t *ret_n, clv_error *err)
{
    writer w = { .c = c };
    snprintf(w.measured, sizeof w.measured, ONE_THREAD, c->runtime);
    clv_json_begin(&w.out, arena, true);
    clv_json_open_object(&w.out, NULL);
    clv_json_put_int(&w.out, "version", 1);
    clv_json_put_string(&w.out, "name", "calibrated");
    clv_json_open_array(&w.out, "devices");
    clv_json_open_object(&w.out, NULL);
    write_device(&w);
    clv_json_put_int(&w.out, "count", c->devices);
    clv_json_put_string(&w.out, "name", "cpu");
    clv_json_close_object(&w.out);
    clv_json_close_array(&w.out);
    if (c->devices > 1) {
        clv_json_open_array(&w.out, "levels");
        clv_json_open_object(&w.out, NULL);
        clv_json_put_string(&w.out, "name", "memory");
        clv_json_put_int(&w.out, "size", c->devices);
        write_giga(&w, "bandwidth", c->bytes_per_s, "B/s", "all-reduces of two devices");
        write_ns(&w, "latency", c->latency_s, "all-reduces of two devices");
        clv_json_close_object(&w.out);
        clv_json_close_array(&w.out);
    }
    clv_json_close_object(&w.out);
    CLV_TRY(clv_json_end(&w.out, err));
    CLV_TRY(check_readable(&w.out, arena, err));
    *ret = w.out.text;
    *ret_n = w.out.n;
    return CLV_OK;
}
