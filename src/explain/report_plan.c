#include "explain/report_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "explain/no_fit.h"
#include "explain/report_batch.h"
#include "explain/report_choice.h"
#include "explain/report_devices.h"
#include "explain/report_mesh.h"
#include "explain/report_profile.h"
#include "explain/report_time.h"
#include "problem/micro.h"

#define NAMES_SHOWN  5
#define ORDER_STAGES 8 /* of more, the order of work is not listed */

typedef struct {
    const clv_plan *plan;
    clv_text text;
} report;

static bool fits(const clv_plan *plan) { return plan->outcome == CLV_FITS; }

/* "8 copies of "; "" of one. */
static const char *show_copies(report *r, const char *of)
{
    int32_t n = clv_plan_copies(r->plan);
    const char *text = n > 1 ? clv_arena_printf(r->text.arena, "%d%s", (int)n, of) : "";
    r->text.failed |= !text;
    return text ? text : "";
}

/* What of the head line is the answer. */
static const char *show_outcome(report *r)
{
    const clv_plan *p = r->plan;
    const char *text = NULL;

    switch (p->outcome) {
    case CLV_FITS:
        text = clv_arena_printf(r->text.arena, "fits %d of %d device%s in %s%d stage%s",
                                (int)clv_plan_devices_used(p), (int)p->n_devices,
                                p->n_devices == 1 ? "" : "s", show_copies(r, " copies of "),
                                (int)p->n_stages, p->n_stages == 1 ? "" : "s");
        break;
    case CLV_OOM:
        text = clv_arena_printf(r->text.arena,
                                "cannot be sharded into %d device%s; the best plan so far:",
                                (int)p->n_devices, p->n_devices == 1 ? "" : "s");
        break;
    case CLV_FAILED:
        text = "no candidate compiled; the first one:";
        break;
    case CLV_LATE:
        text = clv_arena_printf(r->text.arena, "no plan within %s was found; the fastest:",
                                clv_show_time((char[32]){ 0 }, p->max_latency_ns));
        break;
    case CLV_INFEASIBLE:
        text = "no plan satisfies the rules; this one breaks some:";
        break;
    }
    r->text.failed |= !text;
    return text ? text : "";
}

/* Two lines where names are too wide for one; cut only where they are too wide for a line of their
 * own: the longer one, or both alike. */
static void put_head(report *r)
{
    const char *end = show_outcome(r);
    const char *model = r->plan->model ? r->plan->model : "?";
    const char *cluster = r->plan->cluster ? r->plan->cluster : "?";
    int32_t model_width = clv_show_width(clv_cell_name(&r->text, model));
    int32_t cluster_width = clv_show_width(clv_cell_name(&r->text, cluster));
    int32_t room = clv_text_columns(&r->text) - (int32_t)strlen(" on :");
    bool apart = model_width + cluster_width + 1 + clv_show_width(end) > room;

    if (cluster_width > room - model_width && cluster_width > room / 2)
        cluster_width = model_width > room / 2 ? room / 2 : room - model_width;
    clv_text_printf(&r->text, "%s on %s:%s%s\n",
                    clv_cell_str_cut(&r->text, clv_str_of(model), room - cluster_width),
                    clv_cell_str_cut(&r->text, clv_str_of(cluster), cluster_width),
                    apart ? "\n" : " ",
                    clv_toned(&r->text, fits(r->plan) ? CLV_TONE_GOOD : CLV_TONE_BAD, end));
}

/* Why the search stopped, for people. NULL: a word that is not ours. */
static const char *stop_sentence(const clv_plan *p)
{
    static const char *const words[][2] = {
        { "optimal", "the bound is met" },
        { "gap", "near enough, as asked" },
        { "searched", "searched to the end" },
        { "first fit", "stopped at the first that fits" },
        { "limit", "stopped at the limit of candidates" },
        { "deadline", "stopped at the deadline" },
        { "stopped", "stopped" },
        { "infeasible", "proven that none fits" },
    };
    for (size_t i = 0; p->stopped && i < sizeof words / sizeof *words; i++)
        if (strcmp(p->stopped, words[i][0]) == 0)
            return words[i][1];
    return NULL;
}

/* How far the plan is at most from the best one. */
static void put_bound(report *r)
{
    const clv_plan *p = r->plan;
    bool is_share = clv_plan_has_run(p) && p->why_microbatches != CLV_MICRO_FILLED;
    const char *by_pace = is_share ? "time a micro-batch" : "time between runs";
    const char *measure = p->objective == CLV_THROUGHPUT ? by_pace : "latency";
    const char *any_latency = p->objective == CLV_THROUGHPUT && p->max_latency_ns > 0
                                  ? ",\n            whatever its latency"
                                  : "";
    double gap = clv_plan_gap(p), percent = ceil(gap * 1e4) / 1e2;
    bool is_wide = gap > CLV_GAP_WIDE, is_joint = p->search && strcmp(p->search, "joint") == 0;

    if (gap >= 0)
        clv_text_printf(&r->text, "bound       no %s has less %s than %s%s; %sgap %.*f %%%s\n",
                        is_joint ? "plan of the forms tried" : "cut of these units", measure,
                        clv_show_time((char[32]){ 0 }, p->bound_ns), any_latency,
                        is_wide ? clv_tone_begin(&r->text, CLV_TONE_LOOK) : "", gap > 0 ? 2 : 0,
                        percent, is_wide ? clv_tone_end(&r->text) : "");
    else if (fits(p) && p->stopped)
        clv_text_printf(&r->text, "bound       not known\n");
}

/* A run of the pipeline: the sum, then what is lost at its ends. */
static void put_pipeline(report *r)
{
    const clv_plan *p = r->plan;
    int64_t ns = clv_plan_run_ns(p);

    if (!fits(p) || !clv_plan_has_run(p) || ns <= 0)
        return;
    clv_text_printf(&r->text, "pipeline    %d micro-batch%s in %s, %s runs a second%s\n",
                    p->microbatches, p->microbatches == 1 ? "" : "es",
                    clv_show_time((char[32]){ 0 }, ns),
                    clv_show_number((char[32]){ 0 }, 1e9 * p->microbatches / (double)ns),
                    clv_plan_copies(p) > 1 ? ", each copy" : "");
    clv_text_printf(&r->text, "            ");
    if (p->microbatches > 1 && p->fill_ns >= 0 && p->drain_ns >= 0)
        clv_text_printf(&r->text, "fill %s, drain %s, ", clv_show_time((char[32]){ 0 }, p->fill_ns),
                        clv_show_time((char[32]){ 0 }, p->drain_ns));
    clv_text_printf(&r->text, "bubble %.1f %%%s\n", 100 * clv_plan_bubble(p),
                    p->why_microbatches == CLV_MICRO_MEMORY ? "; no more fit in memory" : "");
}

/* The n-th thing that a stage does in 1F1B order (Narayanan et al. 2019): as many forward parts as
 * it may keep, then one backward and one forward in turn, then the backward parts that are left. -1
 * - i: backward part i.
 */
static int32_t step_of(const clv_plan *p, int32_t stage, int32_t n)
{
    int32_t warm = clv_micro_stashed(p->microbatches, p->n_stages, stage);
    if (n < warm)
        return n;
    int32_t pairs = p->microbatches - warm, after = n - warm;
    if (after < 2 * pairs)
        return after % 2 ? warm + after / 2 : -1 - after / 2;
    return -1 - (after - pairs);
}

/* What each stage does one after the other, as far as the line is wide. */
static void put_order(report *r)
{
    const clv_plan *p = r->plan;
    int32_t n_backward = 0;

    for (int32_t i = 0; p->backward_op && i < p->n_ops; i++)
        n_backward += p->backward_op[i];
    if (!fits(p) || n_backward == 0 || p->microbatches < 1)
        return;
    clv_text_labelled(&r->text, "training",
                      "%d operators backward, in 1F1B order: a stage keeps at most as many "
                      "micro-batches as there are stages from it to the last",
                      n_backward);
    for (int32_t s = 0; s < p->n_stages && p->n_stages <= ORDER_STAGES; s++) {
        char line[CLV_REPORT_WIDTH + 1] = "";
        int32_t n = 0, room = CLV_REPORT_WIDTH - (int32_t)strlen("            stage 00: ...");
        for (int32_t k = 0; k < 2 * p->microbatches; k++) {
            char word[16];
            int32_t step = step_of(p, s, k);
            int32_t size = snprintf(word, sizeof word, " %c%d", step < 0 ? 'B' : 'F',
                                    step < 0 ? -1 - step : step);
            bool is_last = k == 2 * p->microbatches - 1;
            if (n + size > room) {
                memcpy(line + n, " ...", sizeof " ...");
                break;
            }
            memcpy(line + n, word, (size_t)size + 1);
            n += is_last ? 0 : size;
        }
        clv_text_printf(&r->text, "            stage %d:%s\n", s, line);
    }
}

/* Runs a second: of the pipeline, or where memory does not let it fill, of what fits. */
static double runs_per_s(const clv_plan *p)
{
    double copies = clv_plan_copies(p);
    if (p->why_microbatches == CLV_MICRO_MEMORY && clv_plan_run_ns(p) > 0)
        return 1e9 * copies * p->microbatches / (double)clv_plan_run_ns(p);
    return 1e9 * copies / (double)p->period_ns;
}

static void put_throughput(report *r)
{
    const clv_plan *p = r->plan;
    char every[32];

    bool is_no_pipeline = p->n_stages == 1 && clv_plan_copies(p) == 1;

    if (p->period_ns <= 0 || (is_no_pipeline && p->period_ns == p->latency_ns))
        return; /* the line of the latency says so */
    clv_text_printf(&r->text, "throughput  %s runs a second ",
                    clv_show_number((char[32]){ 0 }, runs_per_s(p)));
    clv_show_time(every, p->period_ns / clv_plan_copies(p));
    if (p->why_microbatches == CLV_MICRO_MEMORY)
        clv_text_printf(&r->text, "in what memory allows; one every %s if all stages were busy\n",
                        every);
    else if (clv_plan_copies(p) > 1)
        clv_text_printf(&r->text, "of %s%s, one every %s\n", show_copies(r, " copies"),
                        p->n_stages > 1 ? " of a pipeline" : "", every);
    else
        clv_text_printf(&r->text, "as a pipeline, one every %s\n", every);
    if (p->batch_symbol)
        clv_text_printf(&r->text, "            %s samples a second, %" PRId64 " a run\n",
                        clv_show_number((char[32]){ 0 }, (double)p->batch * runs_per_s(p)),
                        p->batch);
}

static int64_t bytes_of(const clv_plan_host_copy *at, int32_t n)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum = at[i].bytes > INT64_MAX - sum ? INT64_MAX : sum + at[i].bytes;
    return sum;
}

/* Inputs and outputs, which no other time has in it. */
static void put_host_copies(report *r)
{
    const clv_plan_host_copies *h = r->plan->host_copies;

    if (!h)
        return;
    clv_text_printf(&r->text, "in and out  %s in, %s; %s out, %s; not in the latency\n",
                    clv_show_bytes((char[32]){ 0 }, bytes_of(h->inputs, h->n_inputs)),
                    clv_show_time((char[32]){ 0 }, h->inputs_ns),
                    clv_show_bytes((char[32]){ 0 }, bytes_of(h->outputs, h->n_outputs)),
                    clv_show_time((char[32]){ 0 }, h->outputs_ns));
}

static void put_speed(report *r)
{
    const clv_plan *p = r->plan;

    clv_text_printf(&r->text, "\n");
    if (p->latency_ns > 0)
        clv_text_printf(&r->text,
                        "latency     %s for one run; one after another, %s runs a second\n",
                        clv_show_time((char[32]){ 0 }, p->latency_ns),
                        clv_show_number((char[32]){ 0 }, 1e9 / (double)p->latency_ns));
    if (p->max_latency_ns > 0)
        clv_text_printf(&r->text, "limit       %s of latency, as asked\n",
                        clv_show_time((char[32]){ 0 }, p->max_latency_ns));
    if (p->host_ns > 0)
        clv_text_printf(&r->text, "host        %s of each run, while its devices wait\n",
                        clv_show_time((char[32]){ 0 }, p->host_ns));
    if (p->first_token_ns > 0)
        clv_text_printf(&r->text, "first token %s after the request, %s of it in the front end\n",
                        clv_show_time((char[32]){ 0 }, p->first_token_ns),
                        clv_show_time((char[32]){ 0 }, p->first_token_ns - p->latency_ns));
    put_host_copies(r);
    put_throughput(r);
    put_pipeline(r);
    put_order(r);
    if (p->proportion > 0)
        clv_text_printf(&r->text, "memory      available memory proportion lowered to %g\n",
                        p->proportion);
    clv_report_basis(p, &r->text);
    const char *end = stop_sentence(p);
    if (p->search)
        clv_text_printf(&r->text, "search      %s: %d candidate%s judged by %s, %d fit%s%s%s\n",
                        p->search, (int)p->n_judged, p->n_judged == 1 ? "" : "s",
                        clv_cell_short(&r->text, p->compiler), (int)p->n_fitting,
                        p->n_fitting == 1 ? "s" : "", end ? "; " : "", end ? end : "");
    put_bound(r);
    int n_in_force = 0;
    for (int32_t i = 0; i < p->n_rules; i++)
        n_in_force += strcmp(p->rules[i].state, "in force") == 0;
    if (p->n_rules > 0)
        clv_text_printf(&r->text, "rules       %d in force of %d\n", n_in_force, (int)p->n_rules);
}

static void put_names(report *r, const char *title, const char *const *names, int32_t n)
{
    if (n == 0)
        return;
    clv_text_printf(&r->text, "%s: %d\n", title, (int)n);
    for (int32_t i = 0; i < n && i < NAMES_SHOWN; i++)
        clv_text_printf(
            &r->text, "  %s\n",
            clv_cell_str_cut(&r->text, clv_str_of(names[i]), clv_text_columns(&r->text) - 2));
    if (n > NAMES_SHOWN)
        clv_text_printf(&r->text, "  ... and %d more\n", (int)(n - NAMES_SHOWN));
}

/* The device of the last stage, behind which nothing is cut; -1: there is none. */
static int32_t last_device(const clv_plan *p)
{
    int32_t last = -1;

    for (int32_t d = 0; d < p->n_devices; d++)
        if (clv_report_is_shown(p, d) &&
            (last < 0 || p->devices[d].stage >= p->devices[last].stage))
            last = d;
    return last;
}

/* The operators behind which the model is cut, as a Python list. */
static void put_nodes(report *r, const clv_plan_device *d)
{
    clv_text_printf(&r->text, "[");
    for (int32_t k = 0; k < d->n_sharding_nodes; k++) {
        clv_text_printf(&r->text, "%s", k ? ", " : "");
        clv_text_quoted(&r->text, d->sharding_nodes[k]);
    }
    clv_text_printf(&r->text, "]\n");
}

static void put_sharding_nodes(report *r)
{
    const clv_plan *p = r->plan;
    int32_t last = last_device(p);

    for (int32_t i = 0; i < p->n_devices; i++) {
        if (!clv_report_is_shown(p, i) || i == last)
            continue;
        clv_text_printf(&r->text, "Sharding nodes: Device %d - ", (int)i);
        put_nodes(r, &p->devices[i]);
    }
}

/* Only of what is proven: a search that ends for want of candidates may have missed the best plan.
 */
static bool is_optimal(const clv_plan *p) { return clv_plan_is_optimal(p) && p->proportion == 0; }

/* -- the end, in our own words -- */

static void put_cuts(report *r)
{
    const clv_plan *p = r->plan;
    int32_t last = last_device(p);

    for (int32_t i = 0; i < p->n_devices; i++) {
        if (!clv_report_is_shown(p, i) || i == last || p->devices[i].n_sharding_nodes == 0)
            continue;
        clv_text_printf(&r->text, "cut behind  %s: ", clv_report_devices_name(p, i, &r->text));
        put_nodes(r, &p->devices[i]);
    }
}

/* "optimal" is for a bound that is met; what the bound is of stands in its line. */
static void put_result(report *r)
{
    const clv_plan *p = r->plan;
    double gap = clv_plan_gap(p);
    const char *words =
        is_optimal(p) ? p->batch_symbol ? "optimal of all that was searched for this batch"
                                        : "optimal of all that was searched"
        : gap >= 0
            ? clv_arena_printf(r->text.arena, "best found, gap %.2f %%", ceil(gap * 1e4) / 1e2)
            : "best found, gap not known";

    r->text.failed |= !words;
    if (words)
        clv_text_printf(&r->text, "result      %s\n",
                        gap > CLV_GAP_WIDE ? clv_toned(&r->text, CLV_TONE_LOOK, words) : words);
}

static void put_no_result(report *r)
{
    const clv_plan *p = r->plan;
    const char *words =
        p->outcome == CLV_FAILED ? "the compiler did not accept any candidate"
        : p->outcome == CLV_LATE ? clv_show_late(p, (char[CLV_LATE_WORDS]){ 0 })
        : p->outcome != CLV_INFEASIBLE
            ? clv_arena_printf(r->text.arena, "no plan fits: %s lacks %s",
                               clv_cell_short(&r->text, p->devices[p->short_device].name),
                               clv_show_bytes((char[32]){ 0 }, p->short_bytes))
        : p->conflict ? clv_cell_name(&r->text, p->conflict)
                      : "the rules contradict each other";

    r->text.failed |= !words;
    if (words)
        clv_text_labelled(&r->text, "result", "%s", clv_toned(&r->text, CLV_TONE_BAD, words));
}

static void put_end(report *r)
{
    put_cuts(r);
    if (fits(r->plan))
        put_result(r);
    else
        put_no_result(r);
}

/* -- the end, in the words of auto_sharding.py -- */

static void put_success(report *r)
{
    const clv_plan *p = r->plan;
    double latency_ms = (double)p->latency_ns / 1e6, rate = 1000 / latency_ms;

    if (p->objective == CLV_THROUGHPUT && p->period_ns > 0)
        rate = runs_per_s(p);
    /* Words of auto_sharding.py. */
    if (p->proportion > 0)
        clv_text_printf(&r->text,
                        "[Success] Compile successfully available_memory_proportion %g "
                        "and solution:\n",
                        p->proportion);
    else
        clv_text_printf(&r->text, "[Success] %s\n",
                        is_optimal(p) ? "The optimal solution:"
                                      : "Compile successfully and solution:");
    put_sharding_nodes(r);
    if (p->latency_ns <= 0)
        return;
    clv_text_printf(&r->text, "[Success] The %s ",
                    is_optimal(p) && p->objective == CLV_LATENCY ? "optimal latency" : "latency");
    clv_text_printf(&r->text, "%s ms, tput %s\n", clv_show_number((char[32]){ 0 }, latency_ms),
                    clv_show_number((char[32]){ 0 }, rate));
}

static void put_failure(report *r)
{
    const clv_plan *p = r->plan;
    const char *bad = clv_tone_begin(&r->text, CLV_TONE_BAD), *end = clv_tone_end(&r->text);

    if (p->outcome == CLV_FAILED) { /* says nothing of whether the model fits */
        clv_text_printf(&r->text, "%s[Failed] The compiler did not accept any candidate%s\n", bad,
                        end);
        put_sharding_nodes(r);
        return;
    }
    if (p->outcome == CLV_INFEASIBLE || p->outcome == CLV_LATE) {
        clv_text_printf(&r->text, "%s[Failed] %s%s\n", bad,
                        p->outcome == CLV_LATE ? clv_show_late(p, (char[CLV_LATE_WORDS]){ 0 })
                        : p->conflict          ? clv_cell_name(&r->text, p->conflict)
                                               : "The rules contradict each other",
                        end);
        put_sharding_nodes(r);
        return;
    }
    clv_text_printf(&r->text, "%s[Failed] The model cannot be sharded into %d device%s%s\n", bad,
                    (int)p->n_devices, p->n_devices == 1 ? "" : "s", end);
    put_sharding_nodes(r);
    clv_text_printf(
        &r->text, "%s[Failed] Out of memory: device %d (%s) lacks %s (%" PRId64 " bytes)%s\n", bad,
        (int)p->short_device, clv_cell_short(&r->text, p->devices[p->short_device].name),
        clv_show_bytes((char[32]){ 0 }, p->short_bytes), p->short_bytes, end);
}

clv_status clv_report_plan(const clv_plan *plan, clv_text_form form, bool poprt, clv_arena *arena,
                           const char **ret_text, clv_error *err)
{
    report r = { .plan = plan, .text = { .arena = arena, .form = form } };

    put_head(&r);
    clv_report_copies(plan, &r.text);
    clv_report_choice(plan, &r.text);
    clv_report_profile(plan, &r.text);
    clv_report_batch(plan, &r.text);
    clv_report_mesh(plan, &r.text);
    clv_report_devices(plan, &r.text);
    clv_report_memory(plan, &r.text);
    clv_report_time(plan, &r.text);
    clv_report_transfers(plan, &r.text);
    clv_report_collectives(plan, &r.text);
    put_speed(&r);
    put_names(&r, "symbols given", plan->bindings, plan->n_bindings);
    put_names(&r, "tensors whose shape is open", plan->open_tensors, plan->n_open_tensors);
    put_names(&r, "operators that are not known", plan->unknown_ops, plan->n_unknown_ops);
    for (int32_t i = 0; i < plan->n_notes; i++)
        clv_text_printf(&r.text, "note: %s\n", clv_cell_name(&r.text, plan->notes[i]));
    clv_text_printf(&r.text, "\n");
    if (poprt && fits(plan))
        put_success(&r);
    else if (poprt)
        put_failure(&r);
    else
        put_end(&r);
    const char *text = clv_text_end(&r.text);
    if (!text)
        return clv_fail_nomem(err, "the report of a plan");
    *ret_text = text;
    return CLV_OK;
}
