/* write_reshape.h - rule writers (rule_writer.h) of Reshape and its like. */
#ifndef CLV_SHARDING_WRITE_RESHAPE_H
#define CLV_SHARDING_WRITE_RESHAPE_H

#include "sharding/rule_writer.h"

clv_status clv_write_reshape(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);

#endif
