/* emit_lookup.h - rows of a table chosen by number, on a device that has some of the rows: numbers
 * are counted from its first row, those of other devices look up row 0, and give 0.
 */
#ifndef CLV_LOWER_EMIT_LOOKUP_H
#define CLV_LOWER_EMIT_LOOKUP_H

#include "lower/emit.h"

/* The rows of a table, along one of its dimensions: those that the device has, and all. */
typedef struct {
    int32_t dim;
    int64_t low, high, n;
} clv_table_rows;

/* Does the operator choose rows of its first input by the numbers in its second? */
bool clv_emit_is_lookup(const clv_op_info *op);
/* Writes node, which looks up in the whole table, for the rows of the device at a position.
 * CLV_EUNSUPP: the operator set is too old, or the type has no zero. */
clv_status clv_emit_lookup(clv_emit *e, const clv_spmd_instr *instr, int32_t position,
                           const clv_new_node *node, const clv_table_rows *rows, clv_error *err);

#endif
