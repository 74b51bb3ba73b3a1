#include "sharding/rule_context.h"

clv_status clv_rule_keep_whole(clv_rule_context *w, const char *sentence, clv_error *err)
{
    w->why = sentence ? clv_arena_printf(w->arena, "%.*s %s", CLV_STR_ARG(w->r->op->type), sentence)
                      : NULL;
    return w->why ? CLV_OK : clv_fail_nomem(err, "a sharding rule");
}

const clv_type *clv_rule_out_type(const clv_rule_context *w, int32_t k)
{
    static const clv_type unknown = { .rank = CLV_RANK_UNKNOWN };
    clv_tensor t = k >= 0 ? clv_op_output(w->r->graph, w->r->op, k) : CLV_NO_TENSOR;
    return t.i >= 0 ? &w->r->types->of[t.i] : &unknown;
}
