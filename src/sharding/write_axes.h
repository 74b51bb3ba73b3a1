/* write_axes.h - rule writers (rule_writer.h) of Transpose, reductions, and what chooses, joins,
 * cuts, pads and repeats along an axis. */
#ifndef CLV_SHARDING_WRITE_AXES_H
#define CLV_SHARDING_WRITE_AXES_H

#include "sharding/rule_writer.h"

clv_status clv_write_transpose(clv_rule_context *w, clv_str param, const char **ret,
                               clv_error *err);
clv_status clv_write_dropout(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);
clv_status clv_write_reduce(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);
clv_status clv_write_norm_axes(clv_rule_context *w, clv_str param, const char **ret,
                               clv_error *err);
clv_status clv_write_elements(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);
clv_status clv_write_concat(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);
clv_status clv_write_split(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);
clv_status clv_write_tile(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);
clv_status clv_write_slice(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);
clv_status clv_write_pad(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);
clv_status clv_write_same_dims(clv_rule_context *w, clv_str param, const char **ret,
                               clv_error *err);

#endif
