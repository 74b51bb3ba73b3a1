/* rule_writer.h - functions that write the rule of one operator from its shapes and attributes,
 * where it depends on them more than the notation can say; and what they share.
 */
#ifndef CLV_SHARDING_RULE_WRITER_H
#define CLV_SHARDING_RULE_WRITER_H

#include "sharding/rule_context.h"

/* `param` is what follows the function's name in ops.def. The text lives in w->r->arena. NULL in
 * *ret: w->why is set. */
typedef clv_status (*clv_rule_writer)(clv_rule_context *w, clv_str param, const char **ret,
                                      clv_error *err);

/* Text that grows; NULL text: no memory. */
typedef struct {
    clv_arena *arena;
    char *at;
    int32_t n, cap;
    bool failed;
} clv_rule_writing;
void clv_rule_write(clv_rule_writing *t, const char *fmt, ...) CLV_PRINTF(2, 3);

/* "(a0,a1,n!,a3)": factors by axis, and `other` for the special ones. */
void clv_writer_axes(clv_rule_writing *t, int32_t rank, const bool *special, const char *other);
/* ",-" for each further input. */
void clv_writer_other_inputs(clv_rule_writing *t, const clv_rule_context *w);
/* The end of every writer: the text, or no memory. */
clv_status clv_writer_done(const clv_rule_writing *t, const char **ret, clv_error *err);

/* Reasons to stay whole. */
clv_status clv_writer_open(clv_rule_context *w, clv_error *err);
clv_status clv_writer_bad_axis(clv_rule_context *w, clv_error *err);

/* An axis as a file writes it, from -rank on; false: there is no such. */
bool clv_writer_axis(int64_t axis, int32_t rank, int32_t *ret);

#endif
