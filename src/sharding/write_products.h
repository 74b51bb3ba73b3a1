/* write_products.h - rule writers (rule_writer.h) of Einsum, packed weights, experts. */
#ifndef CLV_SHARDING_WRITE_PRODUCTS_H
#define CLV_SHARDING_WRITE_PRODUCTS_H

#include "sharding/rule_writer.h"

clv_status clv_write_einsum(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);
clv_status clv_write_nbits(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);
clv_status clv_write_moe(clv_rule_context *w, clv_str param, const char **ret, clv_error *err);

#endif
