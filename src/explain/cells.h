/* cells.h - numbers and names as cells of tables, in the text's arena.
 *
 * What is not known (a number below 0) is NULL, which a table shows as "-". Without memory the text
 * is marked as failed.
 */
#ifndef CLV_EXPLAIN_CELLS_H
#define CLV_EXPLAIN_CELLS_H

#include <stdint.h>

#include "explain/text.h"

const char *clv_cell_bytes(clv_text *text, int64_t bytes);
const char *clv_cell_flops(clv_text *text, int64_t flops);
const char *clv_cell_time(clv_text *text, int64_t ns);
const char *clv_cell_count(clv_text *text, int64_t n);
/* "?" for NULL. */
const char *clv_cell_name(clv_text *text, const char *name);
/* For running text, and for columns but the first. */
const char *clv_cell_short(clv_text *text, const char *name);

#endif
