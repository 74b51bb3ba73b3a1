#include "explain/shard_sentences.h"

#include <inttypes.h>

#define NAMES_SHOWN 8 /* devices of a configuration */

const char *clv_uneven_word(clv_uneven_policy policy)
{
    switch (policy) {
    case CLV_UNEVEN_REFUSE:
        break;
    case CLV_UNEVEN_CEIL:
        return "ceil";
    case CLV_UNEVEN_BALANCED:
        return "balanced";
    }
    return "refuse";
}

void clv_shards_put_head(const clv_shard_configuration *c, clv_text *text)
{
    clv_text_printf(text, "\nconfiguration '%s', devices: %" PRId64, clv_cell_name(text, c->name),
                    c->num_devices);
    for (int32_t i = 0; i < c->n_device && i < NAMES_SHOWN; i++)
        clv_text_printf(text, "%s%s", i ? ", " : " (", clv_cell_name(text, c->device[i]));
    if (c->n_device > 0)
        clv_text_printf(text, c->n_device > NAMES_SHOWN ? ", ...)" : ")");
    clv_text_printf(text, "\n");
}

void clv_shards_put_place(const clv_shard_list *list, const clv_shard_site *at, clv_text *text)
{
    if (at->node.n == 0)
        clv_text_printf(text, "  configuration '%s': ",
                        clv_cell_name(text, list->configurations[at->configuration].name));
    else
        clv_text_printf(text, "  node '%s'%s", clv_cell_str(text, at->node),
                        at->tensor ? ": '" : ": ");
    if (at->tensor)
        clv_text_printf(text, "%s' ", clv_cell_name(text, at->tensor));
}

void clv_shards_put_sums(const clv_shard_list *list, clv_text *text)
{
    if (list->n_uneven > 0)
        clv_text_printf(text, "split unevenly, by '%s': %d\n", clv_uneven_word(list->policy),
                        (int)list->n_uneven);
    if (list->n_open > 0)
        clv_text_printf(text, "of unknown size, %s: %d\n",
                        list->inputs_are_open ? "see cleave inspect and --bind"
                                              : "which only a run knows",
                        (int)list->n_open);
    if (list->n_in_bodies + list->n_in_functions > 0)
        clv_text_printf(
            text,
            "annotations in bodies: %d, in functions: %d; names, devices and stages are "
            "checked, shapes are not\n",
            (int)list->n_in_bodies, (int)list->n_in_functions);
}

/* -- sentences about single nodes -- */

static void put_left_out(clv_text *text, int32_t n, int32_t most)
{
    if (n > most)
        clv_text_printf(text, "  ... and %d more, see --all\n", (int)(n - most));
}

typedef struct {
    const char *title;
    const clv_shard_remark *at;
    int32_t n;
} remarks;

static void put_remarks(const clv_shard_list *list, const remarks *r, int32_t most, clv_text *text)
{
    if (r->n == 0)
        return;
    clv_text_printf(text, "\n%s: %d\n", r->title, (int)r->n);
    for (int32_t i = 0; i < r->n && i < most; i++) {
        clv_shards_put_place(list, &r->at[i].at, text);
        clv_text_printf(text, "%s\n", clv_cell_name(text, r->at[i].text));
    }
    put_left_out(text, r->n, most);
}

/* A line, unless there are enough. */
static void put_one(clv_text *text, const char *sentence, int32_t *n, int32_t most)
{
    if (sentence && (*n)++ < most)
        clv_text_printf(text, "  %s\n", clv_cell_name(text, sentence));
}

static void put_wrong(const clv_shard_list *list, int32_t most, clv_text *text)
{
    int32_t n = 0;

    if (list->n_wrong == 0)
        return;
    clv_text_printf(text, "\n%swrong: %d%s\n", clv_tone_begin(text, CLV_TONE_BAD),
                    (int)list->n_wrong, clv_tone_end(text));
    for (int32_t i = 0; i < list->n_faults; i++)
        put_one(text, list->faults[i], &n, most);
    for (int32_t i = 0; i < list->n_nodes; i++) {
        for (int32_t k = 0; k < list->nodes[i].n_rows; k++)
            put_one(text, list->nodes[i].rows[k].wrong, &n, most);
        put_one(text, list->nodes[i].wrong, &n, most);
    }
    put_left_out(text, n, most);
}

void clv_shards_put_entries(const clv_shard_list *list, int32_t most, clv_text *text)
{
    put_remarks(list,
                &(remarks){ "model inputs that enter whole and are split by their node (a file "
                            "cannot say that an input is sharded)",
                            list->entries, list->n_entries },
                most, text);
}

void clv_shards_put_findings(const clv_shard_list *list, int32_t most, clv_text *text)
{
    put_remarks(list, &(remarks){ "unchecked", list->unchecked, list->n_unchecked }, most, text);
    if (list->backend)
        clv_text_printf(text, "\nchecked for backend '%s'\n", clv_cell_name(text, list->backend));
    put_remarks(list,
                &(remarks){ "valid, but not supported by this backend", list->unsupported,
                            list->n_unsupported },
                most, text);
    put_wrong(list, most, text);
}
