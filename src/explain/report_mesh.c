#include "explain/report_mesh.h"

#include <stdlib.h>

#include "base/units.h"
#include "explain/table.h"
#include "plan/plan_mesh.h"

#define COLLECTIVES_SHOWN 8
#define UNSAID_SHOWN      5
#define FAMILIES_MAX      64 /* above seven kinds along seven sets of axes */

/* -- in words -- */

/* A phrase behind those before it, on a line of its own where it does not fit; *column is where
 * the line ends. */
static void put_phrase(clv_text *text, const char *phrase, int32_t *column)
{
    int32_t n = clv_show_width(phrase), label = CLV_LABEL_COLUMNS;

    if (*column == label) {
        clv_text_printf(text, "%s", phrase);
    } else if (*column + n + 3 <= clv_text_columns(text)) { /* and a comma behind it */
        clv_text_printf(text, ", %s", phrase);
        n += 2;
    } else {
        clv_text_printf(text, ",\n%*s%s", CLV_LABEL_COLUMNS, "", phrase);
        *column = label;
    }
    *column += n;
}

static void put_found(const clv_plan *plan, clv_text *text)
{
    int32_t column = CLV_LABEL_COLUMNS;

    if (plan->n_found == 0)
        return;
    clv_text_printf(text, "found       ");
    for (int32_t i = 0; i < plan->n_found; i++) {
        const clv_plan_finding *f = &plan->found[i];
        const char *axes = f->axes ? f->axes : "";
        int of = (int)strlen(f->of) - (f->n == 1); /* "matmuls", or one "matmul" */
        const char *phrase =
            clv_arena_printf(text->arena, "%s%s%s (%d %.*s)", f->name, *axes ? " over " : "", axes,
                             (int)f->n, of > 0 ? of : 0, f->of);
        if (!phrase) {
            text->failed = true;
            return;
        }
        put_phrase(text, clv_cell_name(text, phrase), &column);
    }
    clv_text_printf(text, "\n");
}

static void put_uneven(const clv_plan *plan, clv_text *text)
{
    int32_t n = plan->n_uneven;

    if (n == 0)
        return;
    clv_text_labelled(text, "uneven",
                      "%d tensor%s in parts of unequal size; specs cannot say it, the model's "
                      "metadata does:",
                      (int)n, n == 1 ? "" : "s");
    for (int32_t i = 0; i < n && i < UNSAID_SHOWN; i++)
        clv_text_printf(text, "  %s: axis %d in %s\n", clv_cell_short(text, plan->uneven[i].tensor),
                        (int)plan->uneven[i].dim, clv_cell_short(text, plan->uneven[i].sizes));
    if (n > UNSAID_SHOWN)
        clv_text_printf(text, "  ... and %d more\n", (int)(n - UNSAID_SHOWN));
}

void clv_report_mesh(const clv_plan *plan, clv_text *text)
{
    int32_t n_partial = plan->n_partial;

    if (!clv_plan_has_mesh(plan))
        return;
    const char *form = clv_plan_mesh_text(plan, text->arena);
    if (!form) {
        text->failed = true;
        return;
    }
    clv_text_printf(text, "\nmesh        %s: each stage has %d devices, which share its tensors\n",
                    clv_cell_name(text, form), (int)plan->mesh_devices);
    if (plan->overlap > 0)
        clv_text_labelled(text, "overlap",
                          "%.3g %% of the bytes of collectives are taken to pass beside compute",
                          100 * plan->overlap);
    put_found(plan, text);
    put_uneven(plan, text);
    if (n_partial > 0)
        clv_text_labelled(text, "partial",
                          "%d tensor%s made as parts of a sum, which specs cannot say; the "
                          "model's metadata does, and collectives below reduce them",
                          (int)n_partial, n_partial == 1 ? "" : "s");
}

/* -- collectives -- */

/* All of one kind along the same axes. */
typedef struct {
    const char *kind, *axes;
    int32_t n, first;  /* how many; the first of them */
    int64_t bytes, ns; /* CLV_PLAN_UNKNOWN where one is not known */
} family;

static int64_t sum_known(int64_t a, int64_t b)
{
    if (a < 0 || b < 0)
        return CLV_PLAN_UNKNOWN;
    return b > INT64_MAX - a ? INT64_MAX : a + b;
}

/* What takes longest first. */
static int by_time(const void *a, const void *b)
{
    const family *x = a, *y = b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

/* So few that there is no need to look them up faster. */
static int32_t find_families(const clv_plan *plan, family families[FAMILIES_MAX])
{
    int32_t n = 0;

    for (int32_t i = 0; i < plan->n_collectives; i++) {
        const clv_plan_collective *c = &plan->collectives[i];
        int32_t k = 0;
        if (clv_plan_collective_is_local(c))
            continue;
        while (k < n &&
               (strcmp(families[k].kind, c->kind) != 0 || strcmp(families[k].axes, c->axes) != 0))
            k++;
        if (k == FAMILIES_MAX)
            continue;
        if (k == n)
            families[n++] = (family){ c->kind, c->axes, 0, i, 0, 0 };
        families[k].n++;
        families[k].bytes = sum_known(families[k].bytes, c->bytes);
        families[k].ns = sum_known(families[k].ns, c->ns);
    }
    return n;
}

static void put_families(const clv_plan *plan, clv_text *text)
{
    static const char *const titles[] = { "collectives", "over", ">number", ">sent by each",
                                          ">time" };
    clv_table table = clv_table_of(titles, 5);
    family families[FAMILIES_MAX];
    int32_t n = find_families(plan, families);

    qsort(families, (size_t)n, sizeof *families, by_time);
    for (int32_t i = 0; i < n; i++)
        clv_table_row(&table, text,
                      (const char *[]){ clv_cell_name(text, families[i].kind),
                                        clv_cell_short(text, families[i].axes),
                                        clv_cell_count(text, families[i].n),
                                        clv_cell_bytes(text, families[i].bytes),
                                        clv_cell_time(text, families[i].ns) });
    clv_text_printf(text, "\n");
    clv_table_write(&table, text);
}

static int compare_texts(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : ""); }

/* Larger first; then what differs in its tensor alone is side by side, as layers repeat. 0: alike.
 */
static int compare_collectives(const clv_plan_collective *x, const clv_plan_collective *y)
{
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    int order = compare_texts(x->kind, y->kind);
    if (!order)
        order = compare_texts(x->axes, y->axes);
    if (!order)
        order = compare_texts(x->from, y->from);
    return order ? order : compare_texts(x->to, y->to);
}

static int by_bytes(const void *a, const void *b)
{
    const clv_plan_collective *x = *(const clv_plan_collective *const *)a;
    const clv_plan_collective *y = *(const clv_plan_collective *const *)b;
    int order = compare_collectives(x, y);

    return order ? order : (x > y) - (x < y);
}

/* Those that send something; of alike ones the first, and how many they are. */
static void put_largest(const clv_plan *plan, clv_text *text)
{
    static const char *const titles[] = {
        "largest collectives", "kind", "over", "for", ">bytes", ">time", ">number"
    };
    clv_table table = clv_table_of(titles, 7);
    int32_t n = plan->n_collectives;
    const clv_plan_collective **at = CLV_NEW_ARRAY(text->arena, const clv_plan_collective *, n);

    if (!at) {
        text->failed = true;
        return;
    }
    for (int32_t i = 0; i < n; i++)
        at[i] = &plan->collectives[i];
    qsort(at, (size_t)n, sizeof *at, by_bytes);
    for (int32_t i = 0, end; i < n && table.n_rows < COLLECTIVES_SHOWN && at[i]->bytes != 0;
         i = end) {
        for (end = i + 1; end < n && compare_collectives(at[end], at[i]) == 0; end++)
            continue;
        const clv_plan_collective *c = at[i];
        const char *reader = c->reader ? clv_cell_short(text, c->reader) : "all readers";
        clv_table_row(
            &table, text,
            (const char *[]){ clv_cell_name(text, c->tensor), clv_cell_name(text, c->kind),
                              clv_cell_short(text, c->axes), reader, clv_cell_bytes(text, c->bytes),
                              clv_cell_time(text, c->ns), clv_cell_count(text, end - i) });
    }
    if (table.n_rows == 0)
        return;
    clv_text_printf(text, "\n");
    clv_table_write(&table, text);
}

static void put_sum(const clv_plan *plan, int32_t n, clv_text *text)
{
    int64_t bytes = 0, ns = 0;

    for (int32_t i = 0; i < plan->n_collectives; i++) {
        bytes = sum_known(bytes, plan->collectives[i].bytes);
        ns = sum_known(ns, plan->collectives[i].ns);
    }
    clv_text_printf(text, "%d collective%s a run", (int)n, n == 1 ? "" : "s");
    if (bytes >= 0 && ns >= 0)
        clv_text_printf(text, ": %s sent and %s, of one device of each stage",
                        clv_show_bytes((char[32]){ 0 }, bytes), clv_show_time((char[32]){ 0 }, ns));
    clv_text_printf(text, "\n");
}

void clv_report_collectives(const clv_plan *plan, clv_text *text)
{
    int32_t n = clv_plan_count_sending(plan), n_local = plan->n_collectives - n;

    if (!clv_plan_has_mesh(plan))
        return;
    if (n == 0) {
        clv_text_printf(text,
                        "\nno collectives: the devices of a stage need nothing of each other\n");
    } else {
        put_families(plan, text);
        put_largest(plan, text);
        put_sum(plan, n, text);
    }
    if (n_local > 0)
        clv_text_printf(text, "%d tensor%s cut where %s, without a collective\n", (int)n_local,
                        n_local == 1 ? " is" : "s are", n_local == 1 ? "it lies" : "they lie");
}
