/* write_attention.h - rule writers (rule_writer.h) of attention: the batch and the heads may be
 * split. */
#ifndef CLV_SHARDING_WRITE_ATTENTION_H
#define CLV_SHARDING_WRITE_ATTENTION_H

#include "sharding/rule_writer.h"

clv_status clv_write_attention(clv_rule_context *w, clv_str param, const char **ret,
                               clv_error *err);
clv_status clv_write_mha(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);
clv_status clv_write_gqa(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);
clv_status clv_write_ms_attention(clv_rule_context *w, clv_str param, const char **ret,
                                  clv_error *err);

#endif
