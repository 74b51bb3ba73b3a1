#include "explain/table.h"

#include <assert.h>
#include <string.h>

/* Two spaces between columns. Widths are counted in characters, not bytes. */

#define GAP        2
#define NAME_LEAST 8  /* the first column is never cut below this */
#define NAME_SAYS  12 /* below it, names of a model look alike */
#define WORD_MOST  14 /* the other columns of words are cut to this in the usual width */

static const char *cell_text(const char *cell) { return cell ? cell : "-"; }

static bool is_to_the_right(const char *title) { return title[0] == '>'; }

static const char *const *row_at(const clv_table *t, int32_t r)
{
    return t->cells + (int64_t)r * t->n_columns;
}

static bool is_heading(const clv_table *t, const char *const *cells)
{
    for (int32_t c = 1; c < t->n_columns; c++)
        if (!cells[c] || *cells[c])
            return false;
    return true;
}

/* What is more than the report's usual width goes to the first column and the others alike. */
static int32_t word_most(int32_t columns)
{
    return columns > CLV_REPORT_WIDTH ? WORD_MOST + (columns - CLV_REPORT_WIDTH) / 2 : WORD_MOST;
}

static void find_widths(const clv_table *t, int32_t columns, int32_t *width)
{
    int32_t total = -GAP, most = word_most(columns);

    for (int32_t c = 0; c < t->n_columns; c++) {
        bool right = is_to_the_right(t->titles[c]);
        width[c] = clv_show_width(t->titles[c] + right);
        for (int32_t r = 0; r < t->n_rows; r++) {
            const char *const *cells = row_at(t, r);
            int32_t w = is_heading(t, cells) ? 0 : clv_show_width(cell_text(cells[c]));
            width[c] = w > width[c] ? w : width[c];
        }
        if (c > 0 && !right && width[c] > most && !t->whole_names)
            width[c] = most;
        total += width[c] + GAP;
    }
    if (columns < CLV_REPORT_WIDTH && total - width[0] + NAME_SAYS > columns)
        columns = CLV_REPORT_WIDTH; /* too narrow: names cut to fit would say nothing */
    int32_t over = total - columns;
    if (over > 0 && width[0] > NAME_LEAST)
        width[0] = width[0] - over > NAME_LEAST ? width[0] - over : NAME_LEAST;
}

static void add_spaces(clv_text *text, int32_t n)
{
    static const char spaces[] = "                ";
    const int32_t most = sizeof spaces - 1;

    for (; n > 0; n -= most)
        clv_text_add(text, spaces, (size_t)(n < most ? n : most));
}

static void put_row(const clv_table *t, clv_text *text, const int32_t *width,
                    const char *const *cells)
{
    for (int32_t c = 0; c < t->n_columns; c++) {
        bool right = is_to_the_right(t->titles[c]), last = c + 1 == t->n_columns;
        const char *cell = cell_text(cells[c]);
        if (cells == t->titles)
            cell += right;
        if (!right)
            cell = clv_cell_str_cut(text, clv_str_of(cell), width[c]);
        int32_t pad = width[c] - clv_show_width(cell);
        add_spaces(text, right ? pad : 0);
        clv_text_add(text, cell, strlen(cell));
        if (!last)
            add_spaces(text, (right || pad < 0 ? 0 : pad) + GAP);
    }
}

clv_table clv_table_of(const char *const *titles, int32_t n_columns)
{
    assert(n_columns > 0 && n_columns <= CLV_TABLE_COLUMNS_MAX);
    return (clv_table){ .titles = titles, .n_columns = n_columns };
}

void clv_table_row(clv_table *table, clv_text *text, const char *const *cells)
{
    for (int32_t c = 0; c < table->n_columns; c++) {
        int32_t n = table->n_rows * table->n_columns + c;
        if (!CLV_PUSH_ROOM(text->arena, table->cells, n, table->cap)) {
            text->failed = true;
            return;
        }
        table->cells[n] = cells[c];
    }
    table->n_rows++;
}

void clv_table_write(const clv_table *table, clv_text *text)
{
    int32_t width[CLV_TABLE_COLUMNS_MAX] = { 0 };

    if (text->failed)
        return;
    find_widths(table, clv_text_columns(text), width);
    clv_text_printf(text, "%s", clv_tone_begin(text, CLV_TONE_HEAD));
    put_row(table, text, width, table->titles);
    clv_text_printf(text, "%s\n", clv_tone_end(text));
    for (int32_t r = 0; r < table->n_rows; r++) {
        const char *cells[CLV_TABLE_COLUMNS_MAX];
        memcpy(cells, row_at(table, r), (size_t)table->n_columns * sizeof *cells);
        const char *first = cell_text(cells[0]);
        bool heading = is_heading(table, cells);
        /* a name without room in its column has a line of its own */
        if (heading || (table->whole_names && clv_show_width(first) > width[0])) {
            clv_text_printf(text, "%s\n", first);
            cells[0] = "";
        }
        if (heading)
            continue;
        put_row(table, text, width, cells);
        clv_text_add(text, "\n", 1);
    }
}
