#include "run/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json_out.h"
#include "base/show.h"
#include "base/units.h"

#define NODES_SHOWN 20 /* of each model, the slowest; JSON has all */

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

    append(p, "\noutputs\n");
    for (int32_t i = 0; i < program->n_outputs; i++) {
        const clr_value_stats *f = &r->outputs[i];
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
        if (r->files && r->files[i])
            append(p, "  in %s", shown(p, r->files[i]));
        append(p, "\n");
    }
}

static void append_models(page *p, const clr_report *r)
{
    const clr_program *program = r->x->program;

    append(p, "\n%-24s %10s %10s %10s %10s %10s\n", "model", "load", "run", "waited", "held",
           "to run");
    for (int32_t i = 0; i < program->n_models; i++) {
        char load[32], run[32], waited[32], held[32], more[32];
        show_seconds(load, r->x->sessions[i].load_s);
        show_seconds(run, r->measured.times[i].run_s);
        show_seconds(waited, r->measured.times[i].waited_s);
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

const char *clr_report_text(const clr_report *r, clv_arena *arena)
{
    const clr_program *program = r->x->program;
    page p = { .arena = arena };
    char time[32], peak[32];

    show_seconds(time, r->measured.median_s);
    if (program->n_models == 1)
        append(&p, "%s", shown(&p, program->models[0].file));
    else
        append(&p, "%" PRId32 " models, %s%s", program->n_models, program->folder ? "form " : "a ",
               program->form);
    append(&p, " on ONNX Runtime %s: %s", r->x->ort->version, time);
    if (r->measured.n > 1)
        append(&p, ", the median of %d runs", r->measured.n);
    if (r->measured.pipelined > 0) {
        show_seconds(time, r->measured.period_s);
        append(&p, "\nas a pipeline: one every %s, over %d run%s", time, r->measured.pipelined,
               r->measured.pipelined == 1 ? "" : "s");
    }
    append(&p, "\npeak memory of the process: %s\n", clv_show_bytes(peak, r->x->peak_bytes));
    append_models(&p, r);
    for (int32_t i = 0; r->nodes && i < program->n_models; i++)
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
    clv_json_put_number(out, "run_ms", r->measured.times[i].run_s * 1e3);
    clv_json_put_number(out, "waited_ms", r->measured.times[i].waited_s * 1e3);
    clv_json_open_array(out, "cpu_runs_ms");
    for (int k = 0; k < r->measured.n; k++)
        clv_json_put_number(out, NULL,
                            r->measured.all[k * r->x->program->n_models + i].cpu_s * 1e3);
    clv_json_close_array(out);
    clv_json_put_int(out, "loaded_bytes", r->x->memory[i].loaded_bytes);
    clv_json_put_int(out, "load_peak_bytes", r->x->memory[i].load_peak_bytes);
    clv_json_put_int(out, "run_peak_bytes", r->x->memory[i].run_peak_bytes);
    if (r->nodes)
        put_nodes(out, &r->nodes[i]);
    clv_json_close_object(out);
}

static void put_output(clv_json_out *out, const clr_report *r, int32_t i)
{
    const clr_value_stats *f = &r->outputs[i];
    char checksum[17];

    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "name", r->x->program->outputs[i].name);
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
    if (r->files && r->files[i])
        clv_json_put_string(out, "file", r->files[i]);
    clv_json_close_object(out);
}

static void put_times(clv_json_out *out, const clr_report *r)
{
    clv_json_put_number(out, "ms", r->measured.median_s * 1e3);
    clv_json_put_int(out, "warmup", r->measured.warmup);
    clv_json_open_array(out, "runs_ms");
    for (int i = 0; i < r->measured.n; i++)
        clv_json_put_number(out, NULL, r->measured.run_s[i] * 1e3);
    clv_json_close_array(out);
    if (r->measured.pipelined > 0) {
        clv_json_open_object(out, "pipeline");
        clv_json_put_int(out, "runs", r->measured.pipelined);
        clv_json_put_number(out, "period_ms", r->measured.period_s * 1e3);
        clv_json_open_array(out, "ends_ms");
        for (int i = 0; i < r->measured.pipelined; i++)
            clv_json_put_number(out, NULL, r->measured.end_s[i] * 1e3);
        clv_json_close_array(out);
        clv_json_close_object(out);
    }
    clv_json_put_int(out, "peak_bytes", r->x->peak_bytes);
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
    clv_json_open_array(&out, "outputs");
    for (int32_t i = 0; i < program->n_outputs; i++)
        put_output(&out, r, i);
    clv_json_close_array(&out);
    clv_json_close_object(&out);
    return clv_json_end(&out, NULL) == CLV_OK ? out.text : NULL;
}
