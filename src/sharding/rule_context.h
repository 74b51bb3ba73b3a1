/* rule_context.h - what resolving the sharding rule of one operator works with. */
#ifndef CLV_SHARDING_RULE_CONTEXT_H
#define CLV_SHARDING_RULE_CONTEXT_H

#include "graph/rule.h"

typedef struct {
    clv_rule *r;      /* its attributes, versions and values; r->arena is scratch */
    clv_arena *arena; /* for what is returned */
    const char *why;  /* set: it stays whole, for this reason */
    bool must;        /* with why: its rule says so, or there is nothing in it to split */
} clv_rule_context;

/* The operator stays whole: a sentence, which follows the operator's type. NULL: no memory. */
clv_status clv_rule_keep_whole(clv_rule_context *w, const char *sentence, clv_error *err);

const clv_type *clv_rule_out_type(const clv_rule_context *w, int32_t k); /* unknown: left out */

#endif
