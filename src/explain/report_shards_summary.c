#include "explain/report_shards_summary.h"

#include <inttypes.h>

#include "base/units.h"
#include "explain/shard_layers.h"
#include "explain/shard_sentences.h"
#include "explain/table.h"

#define DEVICES_SHOWN   8  /* of more, as many lines as differ */
#define SENTENCES_SHOWN 10 /* of each kind */

typedef struct {
    const clv_shard_list *list;
    clv_shard_summary sum;
    clv_text text;
} report;

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

static void put_counts(report *r, const clv_shard_sums *s)
{
    clv_text_labelled(&r->text, "tensors",
                      "%d in %d spec%s of %d node%s: %d sharded, %d replicated, %d on one device",
                      s->n_tensors, s->n_specs, plural(s->n_specs), s->n_nodes, plural(s->n_nodes),
                      s->n_sharded, s->n_replicated, s->n_single);
    if (s->n_open > 0)
        clv_text_labelled(&r->text, "", "%d of unknown size or with a spec that is wrong",
                          s->n_open);
}

/* -- devices -- */

static bool hold_alike(const clv_shard_device *a, const clv_shard_device *b)
{
    return a->weight_bytes == b->weight_bytes && a->other_bytes == b->other_bytes;
}

static const char *cell_devices(report *r, const clv_shard_device *first,
                                const clv_shard_device *last)
{
    const char *shown = first == last ? clv_arena_printf(r->text.arena, "%" PRId64, first->device)
                                      : clv_arena_printf(r->text.arena, "%" PRId64 " to %" PRId64,
                                                         first->device, last->device);
    r->text.failed |= !shown;
    return shown;
}

/* A row for all in a row that hold as much. */
static void put_devices(report *r, const clv_shard_sums *s)
{
    static const char *const titles[] = { "devices", ">weights of each", ">others" };
    clv_table table = clv_table_of(titles, 3);
    int32_t n = 0;

    for (int32_t i = 0, end; i < s->n_devices && table.n_rows < DEVICES_SHOWN; i = end) {
        for (end = i + 1; end < s->n_devices; end++)
            if (!hold_alike(&s->devices[i], &s->devices[end]) ||
                s->devices[end].device != s->devices[end - 1].device + 1)
                break;
        n = end;
        clv_table_row(&table, &r->text,
                      (const char *[]){ cell_devices(r, &s->devices[i], &s->devices[end - 1]),
                                        clv_cell_bytes(&r->text, s->devices[i].weight_bytes),
                                        clv_cell_bytes(&r->text, s->devices[i].other_bytes) });
    }
    if (n == 0)
        return;
    clv_text_printf(&r->text, "\n");
    clv_table_write(&table, &r->text);
    if (n < s->n_devices)
        clv_text_printf(&r->text, "... and %d more\n", (int)(s->n_devices - n));
}

/* -- layers -- */

static void put_layers(report *r, int32_t configuration)
{
    static const char *const titles[] = { "layers",   ">alike",   ">nodes",  ">tensors",
                                          ">sharded", ">weights", ">others", ">moves" };
    clv_table table = clv_table_of(titles, 8);
    clv_text *text = &r->text;

    table.whole_names = true;
    for (int32_t i = 0; i < r->sum.n_layers; i++) {
        const clv_shard_layer *l = &r->sum.layers[i];
        if (l->configuration != configuration)
            continue;
        clv_table_row(&table, text,
                      (const char *[]){
                          clv_cell_name(text, l->name), clv_cell_count(text, l->n_layers),
                          clv_cell_count(text, l->n_nodes), clv_cell_count(text, l->n_tensors),
                          clv_cell_count(text, l->n_sharded), clv_cell_bytes(text, l->weight_bytes),
                          clv_cell_bytes(text, l->other_bytes), clv_cell_count(text, l->n_moves) });
    }
    if (table.n_rows == 0)
        return;
    clv_text_printf(text, "\n");
    clv_table_write(&table, text);
    clv_text_labelled(text, "",
                      "numbers of one layer, bytes of the device that has most; others are all "
                      "other tensors, not all there at once");
}

static void put_configuration(report *r, int32_t configuration)
{
    int32_t n = r->list->n_configurations;
    const clv_shard_sums *s = &r->sum.sums[configuration < 0 ? n : configuration];

    if (configuration >= 0)
        clv_shards_put_head(&r->list->configurations[configuration], &r->text);
    else if (s->n_nodes > 0)
        clv_text_printf(&r->text, "\nof configurations that the file does not have\n");
    if (s->n_nodes == 0 && configuration >= 0)
        clv_text_printf(&r->text, "no node is annotated for it\n");
    if (s->n_nodes == 0)
        return;
    put_counts(r, s);
    put_devices(r, s);
    put_layers(r, configuration);
}

/* -- what follows -- */

static void put_inferred(report *r)
{
    static const char *const why[] = {
        [CLV_SHARD_OF_PRODUCER] = "as the producer delivers it",
        [CLV_SHARD_OF_INPUT] = "as it enters the model",
        [CLV_SHARD_BY_INPUTS] = "as the node's other inputs ask",
        [CLV_SHARD_BY_RULE] = "by the operator's rule",
    };
    int32_t n[sizeof why / sizeof *why] = { 0 };
    bool is_first = true;

    if (r->list->n_inferred == 0)
        return;
    for (int32_t i = 0; i < r->list->n_inferred; i++)
        n[r->list->inferred[i].why]++;
    clv_text_printf(&r->text, "\ninferred: %d (", (int)r->list->n_inferred);
    for (size_t i = 0; i < sizeof why / sizeof *why; i++) {
        if (n[i] == 0)
            continue;
        clv_text_printf(&r->text, "%s%d %s", is_first ? "" : ", ", (int)n[i], why[i]);
        is_first = false;
    }
    clv_text_printf(&r->text, ")\n");
}

static void put_traffic(report *r)
{
    static const char *const titles[] = { "communication", ">over", ">number", ">sent by each" };
    clv_table table = clv_table_of(titles, 4);
    clv_text *text = &r->text;

    if (r->list->n_moves == 0)
        return;
    for (int32_t i = 0; i < r->sum.n_traffic; i++) {
        const clv_shard_traffic *t = &r->sum.traffic[i];
        clv_table_row(
            &table, text,
            (const char *[]){ t->name, t->devices > 0 ? clv_cell_count(text, t->devices) : NULL,
                              clv_cell_count(text, t->n), clv_cell_bytes(text, t->bytes) });
    }
    clv_text_printf(text, "\n");
    if (table.n_rows > 0)
        clv_table_write(&table, text);
    clv_text_printf(text, "%d tensor%s brought from one spec to another\n", (int)r->list->n_moves,
                    r->list->n_moves == 1 ? " is" : "s are");
}

clv_status clv_report_shards_summary(const clv_shard_list *list, clv_text_form form,
                                     clv_arena *arena, const char **ret_text, clv_error *err)
{
    report r = { .list = list, .text = { .arena = arena, .form = form } };
    CLV_TRY(clv_shard_summarise(list, arena, &r.sum, err));

    clv_text_printf(&r.text, "%s\n", clv_cell_name(&r.text, list->model_name));
    for (int32_t c = 0; c < list->n_configurations; c++)
        put_configuration(&r, c);
    put_configuration(&r, -1);
    if (list->n_configurations == 0 && list->n_nodes == 0)
        clv_text_printf(&r.text, "\nno multi-device annotations\n");
    if (list->n_uneven + list->n_open + list->n_in_bodies + list->n_in_functions > 0)
        clv_text_printf(&r.text, "\n");
    clv_shards_put_sums(list, &r.text);
    put_inferred(&r);
    put_traffic(&r);
    clv_shards_put_entries(list, SENTENCES_SHOWN, &r.text);
    clv_shards_put_findings(list, SENTENCES_SHOWN, &r.text);
    const char *text = clv_text_end(&r.text);
    if (!text)
        return clv_fail_nomem(err, "a report");
    *ret_text = text;
    return CLV_OK;
}
