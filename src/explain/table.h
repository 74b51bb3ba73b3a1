/* table.h - rows of cells in columns as wide as they need, for people.
 *
 * A table that would be wider than the text's columns has the words of its first column cut in the
 * middle; words of other columns are always short. Where names must be whole, nothing is cut: a
 * name that is too wide for the first column has a line of its own above its row.
 */
#ifndef CLV_EXPLAIN_TABLE_H
#define CLV_EXPLAIN_TABLE_H

#include "explain/text.h"

#define CLV_TABLE_COLUMNS_MAX 12

typedef struct {
    const char *const *titles; /* a title that starts with '>' is of a column set to the right */
    int32_t n_columns;
    const char **cells; /* n_rows * n_columns; NULL cells are shown as "-". A row whose cells are
                         * all "" but the first one goes over all columns. */
    int32_t n_rows;
    int32_t cap;
    bool whole_names; /* nothing is cut */
} clv_table;

/* titles: n_columns of them, at most CLV_TABLE_COLUMNS_MAX; kept, not copied. */
clv_table clv_table_of(const char *const *titles, int32_t n_columns);
/* Adds a row: n_columns cells, printable text that lives as long as the table. Without memory the
 * text is marked as failed. */
void clv_table_row(clv_table *table, clv_text *text, const char *const *cells);
/* Writes titles and rows. O(cells). */
void clv_table_write(const clv_table *table, clv_text *text);

#endif
