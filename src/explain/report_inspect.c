#include "explain/report_inspect.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/units.h"
#include "explain/table.h"

#define ROWS_SHOWN     8 /* of tables whose rest is in the JSON form */
#define NAMES_SHOWN    5
#define SYMBOLS_SHOWN  12
#define TYPE_WIDTH     30  /* left for the type of an input or output */
#define RELATION_SHOWN 400 /* characters */

typedef struct {
    const clv_inspection *in;
    clv_text text;
} report;

static void put_head(report *r)
{
    const clv_model *m = r->in->model;

    clv_text_printf(&r->text, "%s: ONNX, IR version %" PRId64,
                    clv_cell_str(&r->text, clv_str_of(r->in->name)), m->ir_version);
    if (m->producer.n)
        clv_text_printf(&r->text, ", written by %s", clv_cell_str(&r->text, m->producer));
    clv_text_printf(&r->text, "\noperator sets:");
    for (int32_t i = 0; i < m->main->n_opsets; i++) {
        const clv_opset *o = &m->main->opsets[i];
        clv_text_printf(&r->text, "%s %s %" PRId64, i ? "," : "",
                        o->domain.n ? clv_cell_str(&r->text, o->domain) : "ai.onnx", o->version);
    }
    clv_text_printf(&r->text, "\noperators: %d", (int)m->main->n_ops);
    if (m->n_functions)
        clv_text_printf(&r->text, ", and %d functions", (int)m->n_functions);
    clv_text_printf(&r->text, "\n");
}

static void put_left_out(report *r, int32_t n, int32_t shown)
{
    if (n > shown)
        clv_text_printf(&r->text, "  ... and %d more\n", (int)(n - shown));
}

/* Inputs or outputs: the first few with their types in a column; a model with a cache has hundreds.
 */
static void put_ends(report *r, const char *title, const clv_tensor *at, int32_t n)
{
    int32_t shown = n < ROWS_SHOWN ? n : ROWS_SHOWN, width = 0;
    const char *names[ROWS_SHOWN];

    for (int32_t i = 0; i < shown; i++) {
        names[i] = clv_cell_str_cut(&r->text, clv_tensor_at(r->in->model->main, at[i])->name,
                                    clv_text_columns(&r->text) - TYPE_WIDTH);
        width = clv_show_width(names[i]) > width ? clv_show_width(names[i]) : width;
    }
    clv_text_printf(&r->text, "\n%s: %d\n", title, (int)n);
    for (int32_t i = 0; i < shown; i++) {
        char type[256];
        clv_type_show(r->in->model, &r->in->inference->main->of[at[i].i], type, sizeof type);
        clv_text_printf(&r->text, "  %s%*s  %s\n", names[i],
                        (int)(width - clv_show_width(names[i])), "",
                        clv_cell_str(&r->text, clv_str_of(type)));
    }
    put_left_out(r, n, ROWS_SHOWN);
}

static void put_symbol(report *r, clv_str symbol, const clv_symbol_state *state)
{
    const char *name = clv_cell_str(&r->text, symbol);
    const char *from =
        state->follows_from ? clv_cell_str(&r->text, clv_str_of(state->follows_from)) : NULL;
    if (state->open && state->asked)
        clv_text_printf(&r->text, "  %s  open: give it a size with --bind '%s=N'\n", name, name);
    else if (state->open)
        clv_text_printf(&r->text, "  %s  open: follows from %s\n", name,
                        from ? from : "the names in it");
    else if (from && state->size > 0)
        clv_text_printf(&r->text, "  %s  bound: %" PRId64 " follows from %s\n", name, state->size,
                        from);
    else
        clv_text_printf(&r->text, "  %s  bound\n", name);
}

/* Those that are asked for first, which is what the user has to do; those that are bound last. */
static clv_status put_symbols(report *r, clv_error *err)
{
    const clv_model *m = r->in->model;
    clv_symbol_state *states;
    if (m->n_symbols == 0)
        return CLV_OK;
    CLV_TRY(clv_inspection_symbols(r->in, r->text.arena, &states, err));
    clv_text_printf(&r->text, "\nsymbols: %d\n", (int)m->n_symbols);
    for (int bound = 0; bound < 2; bound++) {
        int32_t n = 0;
        for (int follows = 0; follows < 2; follows++)
            for (int32_t i = 0; i < m->n_symbols; i++) {
                bool later = bound ? !states[i].follows_from : !states[i].asked;
                if (states[i].open != bound && later == follows && n++ < SYMBOLS_SHOWN)
                    put_symbol(r, m->symbols[i], &states[i]);
            }
        put_left_out(r, n, SYMBOLS_SHOWN);
    }
    return CLV_OK;
}

static void put_relations(report *r)
{
    const clv_relations *relations = r->in->inference->relations;
    char text[RELATION_SHOWN];
    if (relations->n > 0)
        clv_text_printf(&r->text, "\nrelations of symbols: %d\n", (int)relations->n);
    for (int32_t i = 0; i < relations->n && i < ROWS_SHOWN; i++) {
        clv_relation_show(relations, &relations->at[i], text, sizeof text);
        clv_text_printf(&r->text, "  %s\n", clv_cell_str(&r->text, clv_str_of(text)));
    }
    put_left_out(r, relations->n, ROWS_SHOWN);
}

static void put_costs(report *r)
{
    const clv_costs *c = r->in->costs;
    char a[32], b[32];

    clv_text_printf(&r->text, "\nparameters: %" PRId64 "\n", c->parameters);
    clv_text_printf(&r->text, "weights: %s, and %s in Constant nodes\n",
                    clv_show_bytes(a, c->total.weight_bytes), clv_show_bytes(b, c->constant_bytes));
    clv_text_printf(&r->text, "computation: %s%s a run", c->n_unsized ? "at least " : "",
                    clv_show_flops(a, (double)c->total.flops));
    if (c->total.flops > 0)
        clv_text_printf(&r->text, ", %.1f %% of it on matrix units",
                        100 * (double)c->total.matmul_flops / (double)c->total.flops);
    clv_text_printf(&r->text, "\n");
}

/* What fits beside the weights. */
static void put_room(report *r, const clv_state_growth *growths, int32_t n)
{
    const clv_cluster *c = r->in->cluster;
    clv_state_room room = clv_inspection_room(r->in, growths, n);
    int64_t left = room.capacity_bytes - r->in->costs->total.weight_bytes;
    char size[32];

    clv_text_printf(&r->text, "room: %d device%s of %s for %s", (int)c->n_devices,
                    c->n_devices == 1 ? "" : "s", clv_cell_short(&r->text, c->name),
                    clv_show_bytes(size, room.capacity_bytes));
    if (left < 0)
        clv_text_printf(&r->text, ", %s\n",
                        clv_toned(&r->text, CLV_TONE_BAD, "less than the weights"));
    else if (room.tokens >= 0)
        clv_text_printf(&r->text, ": the weights, and at most %" PRId64 " tokens\n", room.tokens);
    else
        clv_text_printf(&r->text, ": the weights, and %s\n", clv_show_bytes(size, left));
}

/* Inputs that come back as outputs, and how they grow. */
static clv_status put_states(report *r, clv_error *err)
{
    const clv_inspection *in = r->in;
    clv_state_growth *growths;
    char size[32];
    int32_t n;

    CLV_TRY(clv_inspection_growths(in, r->text.arena, &growths, &n, err));
    if (in->states.n > 0) {
        int64_t bytes = clv_inspection_state_bytes(in);
        int32_t begun = clv_inspection_n_begun(in), back = in->states.n - begun;
        clv_text_printf(&r->text, "state: ");
        if (back > 0)
            clv_text_printf(&r->text, "%d input%s%s", (int)back,
                            back == 1 ? " comes back as an output" : "s come back as outputs",
                            begun > 0 ? ", " : "");
        if (begun > 0)
            clv_text_printf(&r->text, "%d output%s of attention", (int)begun,
                            begun == 1 ? " is keys or values" : "s are keys or values");
        if (bytes >= 0)
            clv_text_printf(&r->text, ", %s", clv_show_bytes(size, bytes));
        clv_text_printf(&r->text, "\n");
    }
    for (int32_t k = 0; k < n; k++) {
        const clv_state_growth *g = &growths[k];
        if (g->token_bytes >= 0)
            clv_text_printf(&r->text, "  %" PRId64 " bytes a token of a sequence", g->token_bytes);
        else
            clv_text_printf(&r->text, "  they grow by token");
        if (g->along.n)
            clv_text_printf(&r->text, " along %s", clv_cell_str(&r->text, g->along));
        clv_text_printf(&r->text, ", in %d of them\n", (int)g->n);
    }
    if (in->cluster)
        put_room(r, growths, n);
    return CLV_OK;
}

/* Types that compute nothing: "Constant 389, Transpose 145, ...", in lines of the report's width.
 */
static void put_without_flops(report *r, const clv_type_count *at, int32_t n)
{
    const char *title = r->in->costs->n_unsized ? "FLOPs none or not known:" : "without FLOPs:";
    int32_t column = clv_show_width(title);

    clv_text_printf(&r->text, "%s", title);
    for (int32_t i = 0; i < n; i++) {
        const char *word = clv_arena_printf(r->text.arena, "%s %d%s",
                                            clv_cell_str(&r->text, clv_str_of(at[i].type)),
                                            (int)at[i].count, i + 1 < n ? "," : "");
        r->text.failed |= !word;
        int32_t width = word ? clv_show_width(word) + 1 : 0;
        bool wraps = i > 0 && column + width > clv_text_columns(&r->text);
        clv_text_printf(&r->text, "%s%s", wraps ? "\n  " : " ", word ? word : "");
        column = (wraps ? 1 : column) + width;
    }
    clv_text_printf(&r->text, "\n");
}

static clv_status put_types(report *r, clv_error *err)
{
    static const char *const titles[] = { "operator type", ">count", ">FLOPs", ">share" };
    clv_table table = clv_table_of(titles, 4);
    double total = (double)r->in->costs->total.flops;
    clv_type_count *at = NULL;
    int32_t n = 0, i = 0;

    CLV_TRY(clv_inspection_count_types(r->in, r->text.arena, &at, &n, err));
    for (; i < n && at[i].flops > 0; i++) {
        const char *share = NULL;
        if (total > 0) {
            share = clv_arena_printf(r->text.arena, "%.1f %%", 100 * at[i].flops / total);
            r->text.failed |= !share;
        }
        clv_table_row(
            &table, &r->text,
            (const char *[]){ clv_cell_str(&r->text, clv_str_of(at[i].type)),
                              clv_cell_count(&r->text, at[i].count),
                              clv_text_keep(&r->text, clv_show_flops((char[32]){ 0 }, at[i].flops)),
                              share });
    }
    if (n > 0)
        clv_text_printf(&r->text, "\n");
    if (i > 0)
        clv_table_write(&table, &r->text);
    if (i < n)
        put_without_flops(r, at + i, n - i);
    return CLV_OK;
}

static void put_name(report *r, clv_str name)
{
    clv_text_printf(&r->text, "  %s\n",
                    clv_cell_str_cut(&r->text, name, clv_text_columns(&r->text) - 2));
}

static void put_ops(report *r, const char *title, const clv_op *at, int32_t n)
{
    if (n > 0)
        clv_text_printf(&r->text, "\n%s: %d\n", title, (int)n);
    for (int32_t i = 0; i < n && i < NAMES_SHOWN; i++)
        put_name(r, clv_op_at(r->in->model->main, at[i])->label);
    put_left_out(r, n, NAMES_SHOWN);
}

static void put_open(report *r)
{
    const clv_inference *inf = r->in->inference;

    if (inf->n_open > 0)
        clv_text_printf(&r->text, "\ntensors whose shape is open: %d\n", (int)inf->n_open);
    for (int32_t i = 0; i < inf->n_open && i < NAMES_SHOWN; i++)
        put_name(r, clv_tensor_at(r->in->model->main, inf->open[i])->name);
    put_left_out(r, inf->n_open, NAMES_SHOWN);
    if (inf->n_open_in_bodies > 0)
        clv_text_printf(&r->text, "and in bodies of operators: %d\n", (int)inf->n_open_in_bodies);
}

static void put_sentences(report *r, const char *title, const clv_str *at, int32_t n)
{
    if (n > 0)
        clv_text_printf(&r->text, "\n%s: %d\n", title, (int)n);
    for (int32_t i = 0; i < n && i < ROWS_SHOWN; i++)
        clv_text_printf(&r->text, "  %s\n", clv_cell_str(&r->text, at[i]));
    put_left_out(r, n, ROWS_SHOWN);
}

/* -- subgraphs -- */

/* More weights first, then more computation, then earlier. */
static int by_cost(const void *a, const void *b)
{
    const clv_subgraph *x = *(const clv_subgraph *const *)a;
    const clv_subgraph *y = *(const clv_subgraph *const *)b;

    if (x->bytes_cost != y->bytes_cost)
        return x->bytes_cost < y->bytes_cost ? 1 : -1;
    if (x->flops_cost != y->flops_cost)
        return x->flops_cost < y->flops_cost ? 1 : -1;
    return (x > y) - (x < y);
}

static void put_subgraphs(report *r)
{
    static const char *const titles[] = { "largest subgraphs", ">position", ">operators",
                                          ">weights", ">FLOPs" };
    const clv_subgraphs *s = r->in->subgraphs;
    clv_text *text = &r->text;
    clv_table table = clv_table_of(titles, 5);
    const clv_subgraph **sorted = CLV_NEW_ARRAY(text->arena, const clv_subgraph *, s->n);

    text->failed |= !sorted;
    for (int32_t i = 0; sorted && i < s->n; i++)
        sorted[i] = &s->at[i];
    if (sorted && s->n > 0)
        qsort(sorted, (size_t)s->n, sizeof *sorted, by_cost);
    for (int32_t i = 0; sorted && i < s->n && i < ROWS_SHOWN; i++) {
        const clv_subgraph *u = sorted[i];
        clv_str name = u->candidate.i >= 0 ? clv_op_at(s->graph, u->candidate)->label
                                           : clv_str_of("(left over)");
        clv_table_row(
            &table, text,
            (const char *[]){
                clv_cell_str(text, name), clv_cell_count(text, u - s->at),
                clv_cell_count(text, u->n),
                clv_text_keep(text, clv_show_bytes((char[32]){ 0 }, u->bytes_cost)),
                clv_text_keep(text, clv_show_flops((char[32]){ 0 }, (double)u->flops_cost)) });
    }
    clv_text_printf(text, "\nplaces to cut: %d candidates, %d subgraphs after merging\n",
                    (int)s->n_candidates, (int)s->n);
    clv_table_write(&table, text);
}

clv_status clv_report_inspect(const clv_inspection *in, clv_text_form form, clv_arena *arena,
                              const char **ret_text, clv_error *err)
{
    const clv_graph *g = in->model->main;
    report r = { .in = in, .text = { .arena = arena, .form = form } };

    put_head(&r);
    put_ends(&r, "inputs", g->inputs, g->n_inputs);
    put_ends(&r, "outputs", g->outputs, g->n_outputs);
    CLV_TRY(put_symbols(&r, err));
    put_relations(&r);
    put_costs(&r);
    CLV_TRY(put_states(&r, err));
    CLV_TRY(put_types(&r, err));
    put_ops(&r, "operators that are not known", in->costs->unknown, in->costs->n_unknown);
    put_ops(&r, "operators whose cost is short because a shape is open", in->costs->unsized,
            in->costs->n_unsized);
    put_open(&r);
    put_sentences(&r, "declared shapes that do not agree", in->inference->conflicts,
                  in->inference->n_conflicts);
    put_sentences(&r, "warnings", in->model->warnings, in->model->n_warnings);
    put_subgraphs(&r);
    const char *text = clv_text_end(&r.text);
    if (!text)
        return clv_fail_nomem(err, "the report of a model");
    *ret_text = text;
    return CLV_OK;
}
