/* describe.c - a calibration as the JSON of a cluster whose device stands in place. */
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "calibrate/calibrate.h"
#include "graph/ops.h"

#define DIGITS      4 /* what a measurement is worth */
#define SHARE_LEAST 1e-6
#define ONE_THREAD  "measured by cleave calibrate on ONNX Runtime %s, one thread, optimisations off"

typedef struct {
    clv_json_out out;
    const clv_calibration *c;
    char measured[160];
} writer;

/* -- numbers with their sources -- */

static double rounded(double v)
{
    double scale = v > 0 ? pow(10, DIGITS - 1 - floor(log10(v))) : 1;

    return round(v * scale) / scale;
}

static void put_text(writer *w, const char *key, const char *value, const char *source)
{
    clv_json_open_object(&w->out, key);
    clv_json_put_string(&w->out, "value", value);
    clv_json_put_string(&w->out, "source", source);
    clv_json_close_object(&w->out);
}

static void put_share(writer *w, const char *key, double v, const char *source)
{
    double share = rounded(v);

    clv_json_open_object(&w->out, key);
    clv_json_put_number(&w->out, "value",
                        share > 1             ? 1
                        : share < SHARE_LEAST ? SHARE_LEAST
                                              : share);
    clv_json_put_string(&w->out, "source", source);
    clv_json_close_object(&w->out);
}

static void put_giga(writer *w, const char *key, double per_s, const char *unit, const char *what)
{
    char value[64], source[320];

    snprintf(value, sizeof value, "%.*gG%s", DIGITS, per_s * 1e-9, unit);
    snprintf(source, sizeof source, "%s: %s", w->measured, what);
    put_text(w, key, value, source);
}

static void put_ns(writer *w, const char *key, double s, const char *what)
{
    char value[64], source[320];

    snprintf(value, sizeof value, "%.0fns", s * 1e9);
    snprintf(source, sizeof source, "%s: %s", w->measured, what);
    put_text(w, key, value, source);
}

static void put_rate(writer *w, const char *key, double per_s, const char *what)
{
    clv_json_open_object(&w->out, key);
    put_giga(w, "FLOAT", per_s, "FLOP/s", what);
    clv_json_close_object(&w->out);
}

/* -- parts of the device -- */

static void put_memory(writer *w)
{
    char value[64];

    snprintf(value, sizeof value, "%lldB", (long long)(w->c->memory_bytes / w->c->devices));
    put_text(w, "memory", value, "the machine's memory, as the system tells it, over the devices");
    put_text(w, "reserved", "0B", "assumption: what the runtime itself takes is small beside it");
    put_giga(w, "memory_bandwidth", w->c->fit.bytes_per_s, "B/s",
             "the most that any operator reached");
}

static void put_efficiency(writer *w)
{
    const clv_fit *f = &w->c->fit;
    char source[320];

    snprintf(source, sizeof source, "%s: the middle of the operators that this bounds",
             w->measured);
    clv_json_open_object(&w->out, "efficiency");
    put_share(w, "matrix", f->matrix_share, source);
    put_share(w, "vector", f->vector_share, source);
    put_share(w, "memory", f->bytes_share, source);
    clv_json_close_object(&w->out);
}

/* What does not bound an operator is at its peak. */
static void put_operator(writer *w, const clv_fit_op *op)
{
    const clv_fit *f = &w->c->fit;
    char source[320], name[CLV_SPEED_NAME_SIZE];

    snprintf(source, sizeof source, "%s: off by %.0f %% in the middle", w->measured,
             op->error * 100);
    clv_json_open_object(&w->out, clv_speed_name(op->speed, name));
    clv_json_open_object(&w->out, "efficiency");
    if (op->matrix_per_s > 0)
        put_share(w, "matrix", op->matrix_per_s / f->matrix_per_s, source);
    put_share(w, "vector", op->vector_per_s > 0 ? op->vector_per_s / f->vector_per_s : 1, source);
    put_share(w, "memory", op->bytes_per_s > 0 ? op->bytes_per_s / f->bytes_per_s : 1, source);
    clv_json_close_object(&w->out);
    put_ns(w, "launch", op->launch_s, "its smallest size");
    clv_json_close_object(&w->out);
}

static void put_device(writer *w)
{
    const clv_fit *f = &w->c->fit;

    clv_json_open_object(&w->out, "kind");
    clv_json_put_int(&w->out, "version", 1);
    clv_json_put_string(&w->out, "name", "calibrated-cpu");
    clv_json_put_string(&w->out, "vendor", "this machine");
    put_memory(w);
    put_rate(w, "matrix", f->matrix_per_s, "the most that any product reached");
    put_rate(w, "vector", f->vector_per_s, "the most that any operator reached");
    put_efficiency(w);
    put_ns(w, "launch", f->launch_s, "the middle of all operators' smallest sizes");
    clv_json_open_object(&w->out, "operators");
    for (int32_t i = 0; i < f->n_ops; i++)
        put_operator(w, &f->ops[i]);
    clv_json_close_object(&w->out);
    clv_json_open_object(&w->out, "workspace_proportion");
    clv_json_put_number(&w->out, "value", 1);
    clv_json_put_string(&w->out, "source", "assumption: scratch is taken as it is needed");
    clv_json_close_object(&w->out);
    clv_json_close_object(&w->out);
}

static void put_level(writer *w)
{
    clv_json_open_array(&w->out, "levels");
    clv_json_open_object(&w->out, NULL);
    clv_json_put_string(&w->out, "name", "memory");
    clv_json_put_int(&w->out, "size", w->c->devices);
    put_giga(w, "bandwidth", w->c->bytes_per_s, "B/s", "all-reduces of two devices");
    put_ns(w, "latency", w->c->latency_s, "all-reduces of two devices");
    clv_json_close_object(&w->out);
    clv_json_close_array(&w->out);
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
    put_device(&w);
    clv_json_put_int(&w.out, "count", c->devices);
    clv_json_put_string(&w.out, "name", "cpu");
    clv_json_close_object(&w.out);
    clv_json_close_array(&w.out);
    if (c->devices > 1)
        put_level(&w);
    clv_json_close_object(&w.out);
    CLV_TRY(clv_json_end(&w.out, err));
    *ret = w.out.text;
    *ret_n = w.out.n;
    return CLV_OK;
}
