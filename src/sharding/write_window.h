/* write_window.h - rule writers (rule_writer.h) of convolutions and poolings. */
#ifndef CLV_SHARDING_WRITE_WINDOW_H
#define CLV_SHARDING_WRITE_WINDOW_H

#include "sharding/rule_writer.h"

clv_status clv_write_conv(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);
clv_status clv_write_pool(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);

#endif
