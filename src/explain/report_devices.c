#include "explain/report_devices.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "explain/table.h"
#include "plan/plan_mesh.h"

#define TRANSFERS_SHOWN 8
#define COPIES_SHOWN    3 /* and the last */

/* -- devices of a mesh -- */

bool clv_report_is_shown(const clv_plan *plan, int32_t device)
{
    return plan->devices[device].stage >= 0 && clv_plan_lead(plan, device) == device;
}

/* The devices that a lead stands for, itself first. */
static const int32_t *mesh_of(const clv_plan *plan, const int32_t *lead, int32_t *ret_n)
{
    *ret_n = 1;
    if (!clv_plan_has_mesh(plan))
        return lead;
    for (int32_t m = 0; m < plan->n_meshes; m++)
        if (plan->mesh_device[m * plan->mesh_devices] == *lead) {
            *ret_n = plan->mesh_devices;
            return plan->mesh_device + m * plan->mesh_devices;
        }
    return lead;
}

/* Where the number at the end of a name starts; at most so many digits, that fit an int. */
#define DIGITS_MAX 9

static size_t number_at(const char *name)
{
    size_t n = strlen(name), at = n;

    while (at > 0 && n - at < DIGITS_MAX && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at;
}

/* Do the names of the devices differ in their last number alone, which counts up by one? */
static bool counts_up(const clv_plan *plan, const int32_t *device, int32_t n)
{
    const char *first = plan->devices[device[0]].name;
    size_t prefix = number_at(first);

    for (int32_t i = 1; i < n; i++) {
        const char *name = plan->devices[device[i]].name;
        if (number_at(name) != prefix || memcmp(name, first, prefix) != 0 || !first[prefix] ||
            !name[prefix] || atoi(name + prefix) != atoi(first + prefix) + i)
            return false;
    }
    return true;
}

/* "gpu0-7"; "n0/gpu6..n1/gpu1 (4)" where the numbers do not follow each other. */
static const char *name_of(const clv_plan *plan, const int32_t *device, int32_t n, clv_text *text)
{
    const char *first = plan->devices[device[0]].name, *last = plan->devices[device[n - 1]].name;
    char *all;

    if (n == 1)
        return clv_cell_name(text, first);
    if (counts_up(plan, device, n))
        all = clv_arena_printf(text->arena, "%s-%s", first, last + number_at(last));
    else
        all = clv_arena_printf(text->arena, "%s..%s (%d)", first, last, (int)n);
    if (!all) {
        text->failed = true;
        return NULL;
    }
    return clv_cell_name(text, all);
}

static const char *cell_kind(const clv_plan *plan, int32_t lead, clv_text *text)
{
    int32_t n;
    const int32_t *device = mesh_of(plan, &lead, &n);
    const char *kind = plan->devices[lead].kind;

    for (int32_t i = 1; i < n; i++) {
        const char *other = plan->devices[device[i]].kind;
        if (!kind != !other || (kind && strcmp(kind, other) != 0))
            return "mixed";
    }
    return clv_cell_name(text, kind);
}

/* The device of a mesh that has least to spare. */
static const clv_plan_device *tightest(const clv_plan *plan, int32_t lead)
{
    int32_t n;
    const int32_t *device = mesh_of(plan, &lead, &n);
    const clv_plan_device *ret = &plan->devices[lead];

    for (int32_t i = 1; i < n; i++) {
        const clv_plan_device *d = &plan->devices[device[i]];
        if (d->capacity_bytes - d->peak_bytes < ret->capacity_bytes - ret->peak_bytes)
            ret = d;
    }
    return ret;
}

const char *clv_report_devices_name(const clv_plan *plan, int32_t lead, clv_text *text)
{
    int32_t n;
    const int32_t *device = mesh_of(plan, &lead, &n);
    return name_of(plan, device, n, text);
}

void clv_report_copy_devices(const clv_plan *plan, clv_text *text)
{
    int32_t n = clv_plan_copies(plan), last = n - 1;

    for (int32_t c = 0; c < n; c = c + 1 == COPIES_SHOWN && c < last ? last : c + 1)
        clv_text_printf(
            text, "%s%s",
            c == 0                              ? ""
            : c == last && n > COPIES_SHOWN + 1 ? " ... "
                                                : ", ",
            name_of(plan, plan->copy_device + c * plan->copy_devices, plan->copy_devices, text));
}

void clv_report_copies(const clv_plan *plan, clv_text *text)
{
    if (clv_plan_copies(plan) == 1)
        return;
    clv_text_printf(text, "\ncopies      ");
    clv_report_copy_devices(plan, text);
    clv_text_printf(text, ": requests go round\n");
}

/* -- tables -- */

void clv_report_devices(const clv_plan *plan, clv_text *text)
{
    static const char *const titles[] = { "device",     "kind",   ">stage",
                                          ">operators", ">FLOPs", ">busy" };
    bool busy_known = false;

    for (int32_t i = 0; i < plan->n_devices && plan->n_kernels == 0; i++) /* else report_time.c */
        busy_known |= plan->devices[i].stage >= 0 && plan->devices[i].busy_ns >= 0;
    clv_table table = clv_table_of(titles, busy_known ? 6 : 5);

    for (int32_t i = 0; i < plan->n_devices; i++) {
        const clv_plan_device *d = &plan->devices[i];
        if (!clv_report_is_shown(plan, i))
            continue;
        clv_table_row(
            &table, text,
            (const char *[]){ clv_report_devices_name(plan, i, text), cell_kind(plan, i, text),
                              clv_cell_count(text, d->stage), clv_cell_count(text, d->n_ops),
                              clv_cell_flops(text, d->flops), clv_cell_time(text, d->busy_ns) });
    }
    clv_text_printf(text, "\n");
    clv_table_write(&table, text);
}

/* What of the peak is none of the three, the holes between tensors. Not known where a plan file was
 * edited so that they are more than the peak. */
static const char *cell_gaps(clv_text *text, const clv_plan_device *d)
{
    if (d->peak_bytes < 0 || d->weight_bytes < 0 || d->activation_bytes < 0 ||
        d->workspace_bytes < 0)
        return NULL;
    int64_t gaps = d->peak_bytes - d->weight_bytes;
    if (gaps >= 0)
        gaps -= d->activation_bytes;
    if (gaps >= 0)
        gaps -= d->workspace_bytes;
    if (gaps >= 0 && d->in_flight_bytes > 0)
        gaps -= d->in_flight_bytes;
    return clv_cell_memory(text, gaps);
}

static bool keeps_alike(const clv_plan_device *a, const clv_plan_device *b)
{
    return a->reserved_bytes == b->reserved_bytes && a->buffer_bytes == b->buffer_bytes &&
           a->headroom_bytes == b->headroom_bytes && a->capacity_bytes == b->capacity_bytes;
}

/* The first that is used and keeps as much? */
static bool is_first_to_keep(const clv_plan *plan, int32_t device)
{
    for (int32_t i = 0; i < device; i++)
        if (plan->devices[i].stage >= 0 && keeps_alike(&plan->devices[i], &plan->devices[device]))
            return false;
    return plan->devices[device].stage >= 0;
}

/* What makes a capacity less than the memory; a line for each that there is. */
static void put_kept(const clv_plan *plan, clv_text *text)
{
    for (int32_t i = 0; i < plan->n_devices; i++) {
        const clv_plan_device *d = &plan->devices[i];
        const int64_t kept[] = { d->reserved_bytes, d->buffer_bytes, d->headroom_bytes };
        static const char *const names[] = { "reserved", "buffers" };
        int64_t memory = d->capacity_bytes;
        if (!is_first_to_keep(plan, i) || d->capacity_bytes < 0)
            continue;
        for (int k = 0; k < 3; k++)
            memory += kept[k] > 0 && memory <= INT64_MAX - kept[k] ? kept[k] : 0;
        if (memory == d->capacity_bytes)
            continue;
        clv_text_printf(text, "capacity    %s", clv_show_bytes((char[32]){ 0 }, memory));
        for (int k = 0; k < 2; k++)
            if (kept[k] > 0)
                clv_text_printf(text, " - %s %s", clv_show_bytes((char[32]){ 0 }, kept[k]),
                                names[k]);
        if (d->headroom_bytes > 0)
            clv_text_printf(text, " - %.3g %% headroom",
                            100 * (double)d->headroom_bytes / (double)memory);
        clv_text_printf(text, "\n");
    }
}

/* How many tokens more its states could hold, where the tightest device has as much room for what
 * each takes there; 0: not known. */
static int64_t more_tokens(const clv_plan *plan)
{
    double most = INFINITY;
    for (int32_t i = 0; i < plan->n_devices; i++) {
        const clv_plan_device *d = &plan->devices[i];
        if (d->stage < 0 || d->state_bytes <= 0)
            continue;
        double room = (double)(d->capacity_bytes - d->peak_bytes) / (double)d->state_bytes;
        most = room < most ? room : most;
    }
    most *= (double)plan->state_tokens;
    return most >= 1 && most < 9e15 && plan->microbatches <= 1 ? (int64_t)most : 0;
}

/* What of the activations the model keeps from run to run. */
static void put_states(const clv_plan *plan, clv_text *text)
{
    int64_t least = INT64_MAX, most = 0;
    for (int32_t i = 0; i < plan->n_devices; i++) {
        const clv_plan_device *d = &plan->devices[i];
        if (d->stage < 0)
            continue;
        least = d->state_bytes < least ? d->state_bytes : least;
        most = d->state_bytes > most ? d->state_bytes : most;
    }
    if (most <= 0)
        return;
    clv_text_printf(text, "states      %s%s%s a device of its activations",
                    least < most ? clv_show_bytes((char[32]){ 0 }, least > 0 ? least : 0) : "",
                    least < most ? " to " : "", clv_show_bytes((char[32]){ 0 }, most));
    if (plan->state_tokens > 0)
        clv_text_printf(text, ", for %" PRId64 " tokens", plan->state_tokens);
    if (plan->outcome == CLV_FITS && more_tokens(plan) > 0)
        clv_text_printf(text, "; room for %" PRId64 " more", more_tokens(plan));
    clv_text_printf(text, "\n");
}

#define USED_NEARLY 0.95 /* from here on it deserves a look */

static const char *cell_used(clv_text *text, double used)
{
    char shown[32];

    snprintf(shown, sizeof shown, "%.1f %%", 100 * used);
    if (used > USED_NEARLY)
        return clv_toned(text, used > 1 ? CLV_TONE_BAD : CLV_TONE_LOOK, clv_text_keep(text, shown));
    return clv_text_keep(text, shown);
}

void clv_report_memory(const clv_plan *plan, clv_text *text)
{
    static const char *const titles[] = { "memory", ">weights", ">activations", ">workspace",
                                          ">gaps",  ">peak",    ">capacity",    ">used" };
    static const char *const with_flight[] = { "memory",     ">weights",   ">activations",
                                               ">workspace", ">in flight", ">peak",
                                               ">capacity",  ">used" };
    bool known = false, in_flight = false;

    for (int32_t i = 0; i < plan->n_devices; i++) {
        const clv_plan_device *d = &plan->devices[i];
        if (d->stage < 0)
            continue;
        in_flight |= d->in_flight_bytes > 0;
        known |= d->weight_bytes >= 0 || d->activation_bytes >= 0 || d->workspace_bytes >= 0 ||
                 d->peak_bytes >= 0;
    }
    if (!known)
        return;
    clv_table table = clv_table_of(in_flight ? with_flight : titles, 8);
    for (int32_t i = 0; i < plan->n_devices; i++) {
        const clv_plan_device *d = tightest(plan, i);
        const char *capacity = NULL, *used = NULL;
        if (!clv_report_is_shown(plan, i))
            continue;
        if (d->capacity_bytes > 0)
            capacity = clv_cell_memory(text, d->capacity_bytes);
        if (d->capacity_bytes > 0 && d->peak_bytes >= 0)
            used = cell_used(text, (double)d->peak_bytes / (double)d->capacity_bytes);
        clv_table_row(&table, text,
                      (const char *[]){ clv_report_devices_name(plan, i, text),
                                        clv_cell_memory(text, d->weight_bytes),
                                        clv_cell_memory(text, d->activation_bytes),
                                        clv_cell_memory(text, d->workspace_bytes),
                                        in_flight ? clv_cell_memory(text, d->in_flight_bytes)
                                                  : cell_gaps(text, d),
                                        clv_cell_memory(text, d->peak_bytes), capacity, used });
    }
    clv_text_printf(text, "\n");
    clv_table_write(&table, text);
    put_kept(plan, text);
    put_states(plan, text);
}

/* Larger first; equal ones as in the plan. */
static int by_bytes(const void *a, const void *b)
{
    const clv_plan_transfer *x = *(const clv_plan_transfer *const *)a;
    const clv_plan_transfer *y = *(const clv_plan_transfer *const *)b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x > y) - (x < y);
}

/* What the bandwidths of the links rest on that they go over. */
static void put_basis(const clv_plan *plan, clv_text *text)
{
    clv_basis least = plan->transfers[0].basis, most = least;

    for (int32_t i = 1; i < plan->n_transfers; i++) {
        clv_basis basis = plan->transfers[i].basis;
        least = basis < least ? basis : least;
        most = basis > most ? basis : most;
    }
    clv_text_printf(text, "; bandwidth %s%s", least < most ? "partly " : "", clv_basis_name(least));
}

void clv_report_transfers(const clv_plan *plan, clv_text *text)
{
    static const char *const titles[] = { "largest transfers", "from", "to", ">bytes", ">time" };
    static const char *const of_each[] = { "largest transfers", "from", "to", ">bytes of each",
                                           ">time" };
    clv_table table = clv_table_of(clv_plan_has_mesh(plan) ? of_each : titles, 5);
    int32_t n = plan->n_transfers;
    const clv_plan_transfer **sorted = CLV_NEW_ARRAY(text->arena, const clv_plan_transfer *, n);
    double total_bytes = 0;
    bool known = true;

    text->failed |= !sorted;
    if (n == 0 || !sorted)
        return;
    for (int32_t i = 0; i < n; i++) {
        sorted[i] = &plan->transfers[i];
        known &= sorted[i]->bytes >= 0;
        total_bytes += (double)sorted[i]->bytes;
    }
    qsort(sorted, (size_t)n, sizeof *sorted, by_bytes);
    for (int32_t i = 0; i < n && table.n_rows < TRANSFERS_SHOWN; i++) {
        const clv_plan_transfer *t = sorted[i];
        if (!clv_report_is_shown(plan, t->from) || !clv_report_is_shown(plan, t->to))
            continue;
        clv_table_row(&table, text,
                      (const char *[]){ clv_cell_name(text, t->tensor),
                                        clv_report_devices_name(plan, t->from, text),
                                        clv_report_devices_name(plan, t->to, text),
                                        clv_cell_bytes(text, t->bytes),
                                        clv_cell_time(text, t->ns) });
    }
    clv_text_printf(text, "\n");
    clv_table_write(&table, text);
    clv_text_printf(text, "%d transfer%s", (int)n, n == 1 ? "" : "s");
    if (known)
        clv_text_printf(
            text, ", %s a run",
            clv_show_bytes((char[32]){ 0 }, total_bytes < 9e18 ? (int64_t)total_bytes : INT64_MAX));
    put_basis(plan, text);
    clv_text_printf(text, "\n");
}
