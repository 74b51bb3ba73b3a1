#include "explain/report_shards.h"

#include <inttypes.h>

#include "base/units.h"
#include "explain/shard_sentences.h"
#include "explain/table.h"

/* A line for each node, then a row for each shard; what is the same as in the row above (the
 * tensor) is said once, so that a tensor stands as a block.
 */

enum { TENSOR, WHOLE, DEVICE, OFFSET, SHAPE, BYTES, N_COLUMNS };

static const char *const titles[N_COLUMNS] = { "  tensor", "whole", ">device",
                                               "offset",   "shape", ">bytes" };

typedef struct {
    const clv_shard_list *list;
    clv_text text;
    clv_table table;
} report;

static const char *show(report *r, const char *name)
{
    return clv_cell_str(&r->text, clv_str_of(name));
}

#define NUMBER_CHARS 21 /* of 64 bits, with a sign, and a comma */

static const char *show_numbers(report *r, const int64_t *at, int32_t n)
{
    size_t size = (size_t)n * NUMBER_CHARS + sizeof "[]", used = 0;
    char *buf = clv_arena_take_array(r->text.arena, size, 1);

    r->text.failed |= !buf;
    if (!buf)
        return "";
    used = clv_add_words(buf, size, used, "[");
    for (int32_t i = 0; i < n; i++)
        used = clv_add_words(buf, size, used, "%s%" PRId64, i ? "," : "", at[i]);
    clv_add_words(buf, size, used, "]");
    return buf;
}

/* "float32[8]", and where it was taken apart "float32[8] as [2,4]". */
static const char *show_whole(report *r, const clv_shard_row *row)
{
    char type[256];
    const char *shown = "?";

    if (row->type)
        shown = clv_arena_printf(r->text.arena, "%s",
                                 clv_type_show(r->list->model, row->type, type, sizeof type));
    if (shown && row->shards.n > 0 && row->shards.rank > row->type->rank)
        shown = clv_arena_printf(r->text.arena, "%s as %s", shown,
                                 show_numbers(r, row->shards.dims, row->shards.rank));
    r->text.failed |= !shown;
    return shown ? shown : "";
}

static void put_rows(report *r, const clv_shard_row *row)
{
    const char *cells[N_COLUMNS] = { NULL };

    cells[TENSOR] = clv_arena_printf(r->text.arena, "  %s", show(r, row->tensor));
    r->text.failed |= !cells[TENSOR];
    cells[WHOLE] = show_whole(r, row);
    if (row->wrong)
        cells[OFFSET] = "wrong";
    else if (row->open)
        cells[OFFSET] = "size not known";
    if (row->shards.n == 0)
        clv_table_row(&r->table, &r->text, cells);
    for (int32_t i = 0; i < row->shards.n; i++) {
        const clv_shard *shard = &row->shards.at[i];
        cells[DEVICE] = clv_cell_count(&r->text, shard->device);
        cells[OFFSET] = show_numbers(r, shard->offset, row->shards.rank);
        cells[SHAPE] = show_numbers(r, shard->size, row->shards.rank);
        cells[BYTES] = clv_cell_count(&r->text, shard->bytes);
        clv_table_row(&r->table, &r->text, cells);
        cells[TENSOR] = cells[WHOLE] = "";
    }
}

static void put_node(report *r, const clv_shard_node *node)
{
    const char *cells[N_COLUMNS] = { [WHOLE] = "", "", "", "", "" };

    cells[TENSOR] =
        clv_arena_printf(r->text.arena, "node '%s'%s%s", clv_cell_str(&r->text, node->node),
                         node->has_stage ? ", stage " : "",
                         node->has_stage ? clv_cell_count(&r->text, node->stage) : "");
    r->text.failed |= !cells[TENSOR];
    clv_table_row(&r->table, &r->text, cells);
    for (int32_t i = 0; i < node->n_rows; i++)
        put_rows(r, &node->rows[i]);
}

/* The nodes of one configuration, from *at on. */
static void put_table(report *r, int32_t configuration, int32_t *at)
{
    const clv_shard_list *list = r->list;

    r->table = clv_table_of(titles, N_COLUMNS);
    r->table.whole_names = true;
    for (; *at < list->n_nodes && list->nodes[*at].configuration == configuration; ++*at)
        put_node(r, &list->nodes[*at]);
    if (r->table.n_rows > 0)
        clv_table_write(&r->table, &r->text);
    else
        clv_text_printf(&r->text, "no node is annotated for it\n");
}

/* -- tiles -- */

static void put_tiles(report *r)
{
    const clv_shard_list *list = r->list;

    if (!list->tiles)
        return;
    clv_text_printf(&r->text, "\ntiles, in row-major order: %d\n", (int)list->n_rows);
    for (int32_t i = 0; i < list->n_nodes; i++)
        for (int32_t k = 0; k < list->nodes[i].n_rows; k++) {
            const clv_shard_node *node = &list->nodes[i];
            const clv_shard_row *row = &node->rows[k];
            clv_text_printf(&r->text, "  node '%s': '%s' ", clv_cell_str(&r->text, node->node),
                            show(r, row->tensor));
            if (row->tiles)
                clv_text_printf(&r->text, "%s%s\n", row->tiles,
                                row->shards.uneven ? ", whose tiles have sizes of their own" : "");
            else
                clv_text_printf(&r->text, "has none: %s\n",
                                row->no_tiles ? show(r, row->no_tiles) : "its spec is wrong");
        }
}

/* -- what follows from the specs -- */

static void put_inferred(report *r)
{
    static const char *const why[] = {
        [CLV_SHARD_OF_PRODUCER] = "as its producer delivers it",
        [CLV_SHARD_OF_INPUT] = "it enters the model so",
        [CLV_SHARD_BY_INPUTS] = "as the node's other inputs ask",
        [CLV_SHARD_BY_RULE] = "by the operator's rule",
    };
    const clv_shard_list *list = r->list;

    if (list->n_inferred == 0)
        return;
    clv_text_printf(&r->text, "\ninferred: %d\n", (int)list->n_inferred);
    for (int32_t i = 0; i < list->n_inferred; i++) {
        const clv_shard_inferred *one = &list->inferred[i];
        clv_shards_put_place(list, &one->at, &r->text);
        clv_text_printf(&r->text, "%s, %s", one->text, why[one->why]);
        if (one->n_summands > 1)
            clv_text_printf(&r->text, "; partial until %" PRId64 " parts are reduced (%s)",
                            one->n_summands, one->reduce);
        clv_text_printf(&r->text, "\n");
    }
}

static void put_moves(report *r)
{
    const clv_shard_list *list = r->list;

    if (list->n_moves == 0)
        return;
    clv_text_printf(&r->text, "\ncommunication: %d\n", (int)list->n_moves);
    for (int32_t i = 0; i < list->n_moves; i++) {
        const clv_shard_move *one = &list->moves[i];
        clv_shards_put_place(list, &one->at, &r->text);
        clv_text_printf(&r->text,
                        one->is_output ? "is computed as %s and delivered as %s"
                                       : "is made as %s and taken as %s",
                        one->from, one->to);
        for (int32_t k = 0; k < one->n_steps; k++) {
            const clv_shard_step *step = &one->steps[k];
            clv_text_printf(&r->text, "%s%s", k ? ", " : ": ", step->name);
            if (step->devices > 0)
                clv_text_printf(&r->text, " over %" PRId64 " devices", step->devices);
            if (step->bytes > 0)
                clv_text_printf(&r->text, " (%s each)",
                                clv_show_bytes((char[32]){ 0 }, step->bytes));
        }
        clv_text_printf(&r->text, "\n");
    }
}

clv_status clv_report_shards(const clv_shard_list *list, clv_text_form form, clv_arena *arena,
                             const char **ret_text, clv_error *err)
{
    report r = { .list = list, .text = { .arena = arena, .form = form } };
    int32_t at = 0;

    clv_text_printf(&r.text, "%s\n", show(&r, list->model_name));
    for (int32_t c = 0; c < list->n_configurations; c++) {
        clv_shards_put_head(&list->configurations[c], &r.text);
        put_table(&r, c, &at);
    }
    if (at < list->n_nodes) {
        clv_text_printf(&r.text, "\nof configurations that the file does not have\n");
        put_table(&r, -1, &at);
    }
    if (list->n_configurations == 0 && list->n_nodes == 0)
        clv_text_printf(&r.text, "\nno multi-device annotations\n");
    clv_text_printf(&r.text, "\nannotated tensors: %d\n", (int)list->n_rows);
    clv_shards_put_sums(list, &r.text);
    put_tiles(&r);
    put_inferred(&r);
    clv_shards_put_entries(list, INT32_MAX, &r.text);
    put_moves(&r);
    clv_shards_put_findings(list, INT32_MAX, &r.text);
    const char *text = clv_text_end(&r.text);
    if (!text)
        return clv_fail_nomem(err, "a report");
    *ret_text = text;
    return CLV_OK;
}
