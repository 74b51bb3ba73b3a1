#include "explain/report_clusters.h"

#include <stdio.h>
#include <string.h>

#include "explain/table.h"

/* A table of clusters, one of the kinds of their devices, and where one cluster is asked for its
 * numbers with their sources. Sizes and times are shown as they are written, rates in one unit, so
 * that they can be compared.
 */

#define VALUE_COLUMN 34 /* of a number among those with sources */

/* Four digits: "450" "0.125" "1979" "12000". */
static const char *cell_in(clv_text *text, double value, double unit)
{
    char shown[32];
    double v = value / unit;
    if (!(v > 0))
        return NULL;
    snprintf(shown, sizeof shown, v < 10000 ? "%.4g" : "%.0f", v);
    return clv_text_keep(text, shown);
}

static const char *value_of(const clv_described_kind *kind, const char *name)
{
    const clv_described_number *number = clv_described_find(kind->numbers, kind->n_numbers, name);
    return number ? number->value : NULL;
}

#define SIZE_CHARS 7 /* "1536MiB" */

/* As it is written, unless that is a long number of bytes. */
static const char *cell_size(clv_text *text, const clv_described_kind *kind)
{
    const char *written = value_of(kind, "memory");
    if (written && strlen(written) <= SIZE_CHARS)
        return clv_cell_name(text, written);
    const char *shown =
        clv_arena_printf(text->arena, "%.4gMiB", (double)kind->kind->memory_bytes / (1 << 20));
    text->failed |= !shown;
    return shown;
}

/* -- clusters -- */

static const char *cell_joins(clv_text *text, const clv_described_link *link)
{
    if (link->n_links == 0)
        return clv_cell_count(text, link->n_devices);
    const char *shown =
        clv_arena_printf(text->arena, "%d %s%s", (int)link->n_links,
                         link->both_ways ? "pair" : "way", link->n_links == 1 ? "" : "s");
    text->failed |= !shown;
    return shown;
}

/* A row for each kind of device and, beside these, for each level or link. */
static void add_cluster(clv_table *table, clv_text *text, const clv_described_cluster *c)
{
    int32_t rows = c->n_kinds > c->n_links ? c->n_kinds : c->n_links;
    for (int32_t i = 0; i < rows; i++) {
        const char *cells[] = { "", "", "", "", "", "", "" };
        if (i == 0)
            cells[0] = clv_cell_name(text, c->name);
        if (i < c->n_kinds) {
            const clv_described_kind *kind = &c->kinds[i];
            cells[1] = clv_arena_printf(text->arena, "%2d %s", (int)kind->n_devices,
                                        clv_cell_name(text, kind->name));
            text->failed |= !cells[1];
            cells[2] = cell_size(text, kind);
        }
        if (i < c->n_links) {
            const clv_described_link *link = &c->links[i];
            cells[3] = clv_cell_name(text, link->name);
            cells[4] = cell_joins(text, link);
            cells[5] = cell_in(text, link->speed.peak_bytes_per_s, 1e9);
            cells[6] = clv_cell_name(text, link->latency);
        }
        clv_table_row(table, text, cells);
    }
}

static void put_clusters(clv_text *text, const clv_cluster_list *list)
{
    static const char *const titles[] = { "cluster", "devices", ">memory", "link",
                                          ">joins",  ">GB/s",   ">latency" };
    clv_table table = clv_table_of(titles, 7);
    table.whole_names = true;
    for (int32_t i = 0; i < list->n; i++)
        add_cluster(&table, text, &list->at[i]);
    if (list->n > 0)
        clv_table_write(&table, text);
}

/* -- kinds of devices -- */

static void put_kinds(clv_text *text, const clv_cluster_list *list)
{
    static const char *const titles[] = { "device", "vendor", ">memory", ">for tensors",
                                          ">GB/s",  ">FLOAT", ">16 bit", ">8 bit" };
    int32_t n = 0;
    clv_table table = clv_table_of(titles, 8);
    table.whole_names = true;
    const clv_described_kind **kinds = clv_cluster_list_kinds(list, text->arena, &n);
    text->failed |= !kinds;
    if (n == 0)
        return;
    for (int32_t i = 0; i < n; i++) {
        const clv_device_kind *kind = kinds[i]->kind;
        clv_table_row(&table, text,
                      (const char *[]){ clv_cell_name(text, kinds[i]->name),
                                        clv_cell_name(text, kind->vendor),
                                        cell_size(text, kinds[i]),
                                        clv_cell_memory(text, clv_device_capacity(kind)),
                                        cell_in(text, kind->memory_bytes_per_s, 1e9),
                                        cell_in(text, kind->matrix_per_s[CLV_DT_FLOAT], 1e12),
                                        cell_in(text, clv_kind_matrix_peak(kind, 16), 1e12),
                                        cell_in(text, clv_kind_matrix_peak(kind, 8), 1e12) });
    }
    clv_text_printf(text, "\n");
    clv_table_write(&table, text);
    clv_text_printf(text, "FLOAT, 16 and 8 bit are peaks of matrix units in TFLOP/s or TOP/s\n");
}

/* -- numbers with their sources -- */

/* A source once behind all numbers in a row that have it. */
static void put_numbers(clv_text *text, const clv_described_number *at, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const char *name = clv_cell_name(text, at[i].name);
        clv_text_printf(text, "  %-*s  %s\n", VALUE_COLUMN - 4, name,
                        clv_cell_name(text, at[i].value));
        if (i + 1 < n && strcmp(at[i].source, at[i + 1].source) == 0)
            continue;
        clv_text_printf(text, "      ");
        clv_text_wrapped(text, 6, clv_cell_name(text, at[i].source));
    }
}

static void put_details(clv_text *text, const clv_described_cluster *c)
{
    for (int32_t i = 0; i < c->n_links; i++) {
        clv_text_printf(text, "\nlink %s\n", clv_cell_name(text, c->links[i].name));
        put_numbers(text, c->links[i].numbers, c->links[i].n_numbers);
    }
    for (int32_t i = 0; i < c->n_kinds; i++) {
        const clv_described_kind *kind = &c->kinds[i];
        clv_text_printf(text, "\ndevice %s%s%s\n", clv_cell_name(text, kind->name),
                        kind->file ? ": " : "", kind->file ? clv_cell_name(text, kind->file) : "");
        if (kind->kind->runtime)
            clv_text_printf(text, "  %-*s  %s\n", VALUE_COLUMN - 4, "runtime",
                            clv_cell_name(text, kind->kind->runtime));
        put_numbers(text, kind->numbers, kind->n_numbers);
    }
}

static void put_head(clv_text *text, const clv_described_cluster *c)
{
    const clv_cluster *cluster = c->cluster;
    clv_text_printf(text, "%s: %d device%s, %s", clv_cell_name(text, c->name),
                    (int)cluster->n_devices, cluster->n_devices == 1 ? "" : "s",
                    clv_cell_name(text, cluster->devices[0].name));
    if (cluster->n_devices > 1)
        clv_text_printf(text, " to %s",
                        clv_cell_name(text, cluster->devices[cluster->n_devices - 1].name));
    clv_text_printf(text, "\nfile: %s\n\n", clv_cell_name(text, c->file));
}

clv_status clv_report_clusters(const clv_cluster_list *list, clv_text_form form, clv_arena *arena,
                               const char **ret_text, clv_error *err)
{
    clv_text text = { .arena = arena, .form = form };
    if (list->details)
        put_head(&text, &list->at[0]);
    put_clusters(&text, list);
    put_kinds(&text, list);
    if (list->details)
        put_details(&text, &list->at[0]);
    if (list->n_wrong > 0)
        clv_text_printf(&text, "%s%snot valid: %d%s\n", list->n ? "\n" : "",
                        clv_tone_begin(&text, CLV_TONE_BAD), (int)list->n_wrong,
                        clv_tone_end(&text));
    for (int32_t i = 0; i < list->n_wrong; i++)
        clv_text_printf(&text, "  %s\n", clv_cell_name(&text, list->wrong[i].why));
    const char *shown = clv_text_end(&text);
    if (!shown)
        return clv_fail_nomem(err, "a report of clusters");
    *ret_text = shown;
    return CLV_OK;
}
