/* writers.h - the functions that write rules, by the name that ops.def gives them. */
#ifndef CLV_SHARDING_WRITERS_H
#define CLV_SHARDING_WRITERS_H

#include "sharding/rule_writer.h"

/* By the name in "=name" or "=name:param" of ops.def; NULL: there is none. */
clv_rule_writer clv_rule_writer_find(clv_str name);
/* What a function of "=name" lets be split, in words; NULL: there is none. */
const char *clv_rule_writer_about(clv_str name);

#endif
