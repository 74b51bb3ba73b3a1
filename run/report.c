#include "run/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json_out.h"
#include "base/show.h"
#include "base/units.h"

#define NODES_SHOWN    20 /* of each model, the slowest; JSON has all */
#define REQUESTS_SHOWN 20 /* the first ones; JSON has all */

/* Is there more to say than of one run? */
static bool has_requests(const clr_report *r)
{
    return r->requests->n > 1 || clr_program_copies(r->x->program) > 1;
}

/* -- for people -- */

typedef struct {
    clv_arena *arena;
    char *text;
    size_t n, cap;
    bool failed;
} page;

CLV_PRINTF(2, 3) static void append(page *p, const char *fmt, ...)
{
    va_list args, again;

    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    size_t room = p->n + (size_t)(n > 0 ? n : 0) + 1;
    if (room > p->cap) {
        char *grown = clv_arena_grow(p->arena, p->text, p->cap, 2 * room, 1);
        p->failed = p->failed || !grown;
        p->text = grown ? grown : p->text;
        p->cap = grown ? 2 * room : p->cap;
    }
    if (room <= p->cap) {
        vsnprintf(p->text + p->n, p->cap - p->n, fmt, again);
        p->n = room - 1;
    }
    va_end(again);
    va_end(args);
}

/* A name of the model's or a path: a terminal gets no control characters. */
static const char *shown(page *p, const char *name)
{
    size_t n = strlen(name), size = n * CLV_SHOWN_MAX + 1;
    char *text = clv_arena_take(p->arena, size);
    if (!text) {
        p->failed = true;
        return "";
    }
    clv_show(text, size, name, n);
    return text;
}

static void show_seconds(char buf[static 32], double seconds)
{
    clv_show_time(buf, (int64_t)(seconds * 1e9 + 0.5));
}

static void append_outputs(page *p, const clr_report *r)
{
    const clr_program *program = r->x->program;
    const char *const *files = clr_output_files_of(r->files, 0);

    append(p, "\noutputs%s\n", r->requests->n > 1 ? " of request 0" : "");
    for (int32_t i = 0; i < program->n_outputs; i++) {
        const clr_value_stats *f = &r->requests->at[0].outputs[i];
        char shape[400], min[32], max[32];
        if (!f->is_tensor) {
            append(p, "  %s  is no tensor\n", shown(p, program->outputs[i].name));
            continue;
        }
        append(p, "  %s  %s  %016" PRIx64, shown(p, program->outputs[i].name),
               clr_shape_text(shape, sizeof shape, &f->shape), f->checksum);
        if (f->has_numbers && f->finite)
            append(p, "  %s to %s", clv_json_number_text(min, f->min),
                   clv_json_number_text(max, f->max));
        if (f->nan || f->inf)
            append(p, "  %" PRId64 " NaN, %" PRId64 " infinite", f->nan, f->inf);
        if (files)
            append(p, "  in %s", shown(p, files[i]));
        append(p, "\n");
    }
}

static void append_requests(page *p, const clr_report *r)
{
    const clr_program *program = r->x->program;
    int32_t n = r->requests->n, n_shown = n > REQUESTS_SHOWN ? REQUESTS_SHOWN : n;
    bool copies = clr_program_copies(program) > 1;

    append(p, "\n%7s %10s%s\n", "request", "run", copies ? "  copy  first device" : "");
    for (int32_t k = 0; k < n_shown; k++) {
        const clr_request *q = &r->requests->at[k];
        char time[32];
        show_seconds(time, q->median_s);
        append(p, "%7" PRId32 " %10s", k, time);
        if (copies)
            append(p, "  %4" PRId32 "  %s", q->copy, shown(p, program->copies[q->copy].devices[0]));
        append(p, "\n");
    }
    if (n > n_shown)
        append(p, "and %" PRId32 " more\n", n - n_shown);
}

static void append_models(page *p, const clr_report *r)
{
    const clr_program *program = r->x->program;

    append(p, "\n%-24s %10s %10s %10s %10s %10s\n", "model", "load", "run", "waited", "held",
           "to run");
    for (int32_t i = 0; i < program->n_models; i++) {
        char load[32], run[32], waited[32], held[32], more[32];
        show_seconds(load, r->x->sessions[i].load_s);
        show_seconds(run, r->requests->first.times[i].run_s);
        show_seconds(waited, r->requests->first.times[i].waited_s);
        append(p, "%-24s %10s %10s %10s %10s %10s\n", shown(p, program->models[i].file), load, run,
               waited, clv_show_bytes(held, r->x->memory[i].loaded_bytes),
               clv_show_bytes(more, r->x->memory[i].run_peak_bytes));
    }
}

/* The slowest first; NODES_SHOWN passes over the nodes, so that they need not be sorted. */
static void append_nodes(page *p, const clr_report *r, int32_t model)
{
    const clr_node_times *nodes = &r->nodes[model];
    double below = 0;
    int32_t last = -1;

    append(p, "\nslowest nodes of %s\n", shown(p, r->x->program->models[model].file));
    for (int k = 0; k < NODES_SHOWN && k < nodes->n; k++) {
        int32_t best = -1;
        for (int32_t i = 0; i < nodes->n; i++) {
            double s = nodes->at[i].seconds;
            bool after = last < 0 || s < below || (s <= below && i > last);
            if (after && (best < 0 || s > nodes->at[best].seconds))
                best = i;
        }
        if (best < 0)
            return;
        char time[32];
        below = nodes->at[best].seconds;
        last = best;
        show_seconds(time, below / (double)(nodes->at[best].runs > 0 ? nodes->at[best].runs : 1));
        append(p, "  %10s  %-20s %s\n", time, shown(p, nodes->at[best].op_type),
               shown(p, nodes->at[best].name));
    }
}

static void append_head(page *p, const clr_report *r)
{
    const clr_program *program = r->x->program;
    const clr_requests *q = r->requests;
    char time[32], peak[32];

    show_seconds(time, q->first.median_s);
    if (program->n_models == 1)
        append(p, "%s", shown(p, program->models[0].file));
    else
        append(p, "%" PRId32 " models, %s%s", program->n_models, program->folder ? "form " : "a ",
               program->form);
    append(p, " on ONNX Runtime %s: ", r->x->ort->version);
    if (q->n > 1)
        append(p, "%" PRId32 " requests", q->n);
    else
        append(p, "%s", time);
    int32_t copies = clr_program_copies(program), busy = q->n < copies ? q->n : copies;
    if (copies > busy)
        append(p, " on %" PRId32 " of %" PRId32 " copies", busy, copies);
    else if (copies > 1)
        append(p, " on %" PRId32 " copies", copies);
    if (q->first.n > 1)
        append(p, ", the median of %d runs%s", q->first.n, q->n > 1 ? " each" : "");
    if (q->pipelined > 0) {
        show_seconds(time, q->period_s);
        append(p, "\nas a pipeline: one every %s, over %" PRId32 " run%s", time, q->pipelined,
               q->pipelined == 1 ? "" : "s");
    }
    append(p, "\npeak memory of the process: %s\n", clv_show_bytes(peak, r->peak_bytes));
}

const char *clr_report_text(const clr_report *r, clv_arena *arena)
{
    page p = { .arena = arena };

    append_head(&p, r);
    if (has_requests(r))
        append_requests(&p, r);
    append_models(&p, r);
    for (int32_t i = 0; r->nodes && i < r->x->program->n_models; i++)
        append_nodes(&p, r, i);
    append_outputs(&p, r);
    return p.failed ? NULL : p.text;
}

/* -- JSON -- */

static void put_nodes(clv_json_out *out, const clr_node_times *nodes)
{
    clv_json_open_array(out, "nodes");
    for (int32_t i = 0; i < nodes->n; i++) {
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "name", nodes->at[i].name);
        clv_json_put_string(out, "op_type", nodes->at[i].op_type);
        clv_json_put_int(out, "runs", nodes->at[i].runs);
        clv_json_put_number(out, "ms", nodes->at[i].seconds * 1e3);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static void put_model(clv_json_out *out, const clr_report *r, int32_t i)
{
    const clr_program_model *m = &r->x->program->models[i];

    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "file", m->file);
    if (m->device)
        clv_json_put_string(out, "device", m->device);
    if (m->stage >= 0)
        clv_json_put_int(out, "stage", m->stage);
    clv_json_put_number(out, "load_ms", r->x->sessions[i].load_s * 1e3);
    clv_json_put_number(out, "run_ms", r->requests->first.times[i].run_s * 1e3);
    clv_json_put_number(out, "waited_ms", r->requests->first.times[i].waited_s * 1e3);
    clv_json_open_array(out, "cpu_runs_ms");
    for (int k = 0; k < r->requests->first.n; k++)
        clv_json_put_number(out, NULL,
                            r->requests->first.all[k * r->x->program->n_models + i].cpu_s * 1e3);
    clv_json_close_array(out);
    clv_json_put_int(out, "loaded_bytes", r->x->memory[i].loaded_bytes);
    clv_json_put_int(out, "load_peak_bytes", r->x->memory[i].load_peak_bytes);
    clv_json_put_int(out, "run_peak_bytes", r->x->memory[i].run_peak_bytes);
    if (r->nodes)
        put_nodes(out, &r->nodes[i]);
    clv_json_close_object(out);
}

static void put_output(clv_json_out *out, const char *name, const clr_value_stats *f,
                       const char *file)
{
    char checksum[17];

    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "name", name);
    clv_json_put_string(out, "dtype", f->is_tensor ? clr_dtype_name((int)f->shape.dtype) : NULL);
    if (f->is_tensor) {
        snprintf(checksum, sizeof checksum, "%016" PRIx64, f->checksum);
        clv_json_open_array(out, "dims");
        for (int32_t d = 0; d < f->shape.rank; d++)
            clv_json_put_int(out, NULL, f->shape.dims[d]);
        clv_json_close_array(out);
        clv_json_put_int(out, "bytes", f->bytes);
        clv_json_put_string(out, "checksum", checksum);
    }
    if (f->has_numbers) {
        clv_json_put_number(out, "min", f->finite ? f->min : 0.0 / 0.0);
        clv_json_put_number(out, "max", f->finite ? f->max : 0.0 / 0.0);
        clv_json_put_number(out, "mean", f->finite ? f->mean : 0.0 / 0.0);
        clv_json_put_int(out, "nan", f->nan);
        clv_json_put_int(out, "inf", f->inf);
    }
    if (file)
        clv_json_put_string(out, "file", file);
    clv_json_close_object(out);
}

static void put_outputs(clv_json_out *out, const clr_report *r, int32_t request)
{
    const char *const *files = clr_output_files_of(r->files, request);

    clv_json_open_array(out, "outputs");
    for (int32_t i = 0; i < r->x->program->n_outputs; i++)
        put_output(out, r->x->program->outputs[i].name, &r->requests->at[request].outputs[i],
                   files ? files[i] : NULL);
    clv_json_close_array(out);
}

static void put_requests(clv_json_out *out, const clr_report *r)
{
    const clr_program *p = r->x->program;

    if (p->n_copies > 0)
        clv_json_open_array(out, "copies");
    for (int32_t c = 0; c < p->n_copies; c++) {
        clv_json_open_array(out, NULL);
        for (int32_t i = 0; i < p->copies[c].n; i++)
            clv_json_put_string(out, NULL, p->copies[c].devices[i]);
        clv_json_close_array(out);
    }
    if (p->n_copies > 0)
        clv_json_close_array(out);
    clv_json_open_array(out, "requests");
    for (int32_t k = 0; k < r->requests->n; k++) {
        clv_json_open_object(out, NULL);
        clv_json_put_int(out, "request", k);
        clv_json_put_int(out, "copy", r->requests->at[k].copy);
        clv_json_put_number(out, "ms", r->requests->at[k].median_s * 1e3);
        put_outputs(out, r, k);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static void put_times(clv_json_out *out, const clr_report *r)
{
    clv_json_put_number(out, "ms", r->requests->first.median_s * 1e3);
    clv_json_put_int(out, "warmup", r->requests->first.warmup);
    clv_json_open_array(out, "runs_ms");
    for (int i = 0; i < r->requests->first.n; i++)
        clv_json_put_number(out, NULL, r->requests->first.run_s[i] * 1e3);
    clv_json_close_array(out);
    if (r->requests->pipelined > 0) {
        clv_json_open_object(out, "pipeline");
        clv_json_put_int(out, "runs", r->requests->pipelined);
        clv_json_put_number(out, "period_ms", r->requests->period_s * 1e3);
        clv_json_open_array(out, "ends_ms");
        for (int32_t i = 0; i < r->requests->pipelined; i++)
            clv_json_put_number(out, NULL, r->requests->end_s[i] * 1e3);
        clv_json_close_array(out);
        clv_json_close_object(out);
    }
    clv_json_put_int(out, "peak_bytes", r->peak_bytes);
}

const char *clr_report_json(const clr_report *r, clv_arena *arena)
{
    const clr_program *program = r->x->program;
    clv_json_out out;

    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_put_string(&out, "command", "run");
    clv_json_put_string(&out, "form", program->form);
    clv_json_put_string(&out, "runtime", r->x->ort->version);
    put_times(&out, r);
    clv_json_open_array(&out, "models");
    for (int32_t i = 0; i < program->n_models; i++)
        put_model(&out, r, i);
    clv_json_close_array(&out);
    put_outputs(&out, r, 0);
    if (has_requests(r))
        put_requests(&out, r);
    clv_json_close_object(&out);
    return clv_json_end(&out, NULL) == CLV_OK ? out.text : NULL;
}
